/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulated step, stage by stage (table `timeline`). */
#include "planner/report/chart_build.h"

#include <string.h>

static int hue_of(const char *what)
{
    static const struct {
        const char *what;
        int hue;
    } hues[] = {{"forward", GL_HUE_COMPUTE},        {"backward", GL_HUE_TAX},
                {"optimizer", GL_HUE_OPTIMIZER},    {"data parallel", GL_HUE_DP},
                {"tensor parallel", GL_HUE_TP},     {"pipeline send", GL_HUE_PP},
                {"pipeline send back", GL_HUE_BAD}, {"context parallel", GL_HUE_CP},
                {"expert parallel", GL_HUE_EP},     {"forward and backward", GL_HUE_MIXED}};
    for (size_t i = 0; i < sizeof hues / sizeof hues[0]; i++)
        if (strcmp(what, hues[i].what) == 0)
            return hues[i].hue;
    return GL_HUE_IDLE;
}

/* Which row of the chart a row of the table belongs to: its stage, and what lies beside compute
 * beneath it. */
static size_t category_of(gl_chart *chart, gl_arena *arena, const char *name)
{
    for (size_t i = 0; i < chart->category_count; i++)
        if (strcmp(chart->categories[i], name) == 0)
            return i;
    return gl_chart__category(chart, arena, name);
}

static void add_slice(gl_chart *chart, gl_arena *arena, const gl_table *slices, size_t row)
{
    const char *name = gl_chart__text(slices, row, "row");
    const char *what = gl_chart__text(slices, row, "what");
    double count = gl_chart__number(slices, row, "events");
    if (name == NULL || what == NULL)
        return;
    const gl_datum datum = {.category = category_of(chart, arena, name),
                            .low = gl_chart__number(slices, row, "start_s"),
                            .high = gl_chart__number(slices, row, "end_s"),
                            .note =
                                count > 1 ? gl_arena_printf(arena, "%.0f together", count) : NULL};
    gl_chart__add(gl_chart__named(chart, arena, what, GL_MARK_SPAN, hue_of(what)), arena, datum);
}

/* What is not drawn as it is, and what is not drawn. */
static const char *note_of(const gl_chart *chart, const gl_table *slices, gl_arena *arena)
{
    size_t merged = 0, shown = 0;
    bool links = false;
    const char *note = "";
    double stages = gl_chart__number(slices, slices->row_count - 1, "stage") + 1;
    for (size_t row = 0; row < slices->row_count; row++)
        merged += gl_chart__number(slices, row, "events") > 1;
    for (size_t i = 0; i < chart->category_count; i++) {
        bool link = strstr(chart->categories[i], "links") != NULL;
        links = links || link;
        shown += !link;
    }
    if (merged == slices->row_count)
        note = "Passes are too short to be seen one by one: they are drawn together. ";
    else if (merged > 0)
        note = gl_arena_printf(arena,
                               "What is too short to see is drawn together: %zu of %zu slices. ",
                               merged, slices->row_count);
    if ((double)shown < stages)
        note = gl_arena_printf(arena, "%s%zu of %.0f stages are shown. ", note, shown, stages);
    if (!links && stages > 1)
        note = gl_arena_printf(arena, "%sLinks are left out. ", note);
    return note[0] != '\0' ? gl_arena_printf(arena, "%s--format trace has all of it.", note) : NULL;
}

static void chart_slices(gl_charting *c, size_t at, const char *table, gl_chart chart)
{
    const gl_scenario *part = gl_report_part(c->report, at);
    const gl_table *slices = gl_chart__table(part, table);
    chart.table = gl_chart__table(part, "stages") != NULL ? "stages" : table;
    chart.wide = true;
    chart.x = (gl_chart_axis){.title = "from the start of the step", .dimension = GL_SECONDS};
    for (size_t row = 0; slices != NULL && row < slices->row_count; row++)
        add_slice(&chart, c->arena, slices, row);
    if (chart.category_count == 0)
        return;
    chart.note = note_of(&chart, slices, c->arena);
    gl_chart__hang(c, at, &chart);
}

void gl_charts__timeline(gl_charting *c)
{
    static const gl_chart whole = {.title = "The simulated step",
                                   .words = "What each pipeline stage computes, and what its links "
                                            "move meanwhile; gaps are waits."};
    static const gl_chart beginning = {.title = "The simulated step: its beginning",
                                       .words = "How the pipeline fills, and the first passes that "
                                                "it then repeats."};
    for (size_t i = 0; gl_report_part(c->report, i) != NULL; i++) {
        chart_slices(c, i, "timeline", whole);
        chart_slices(c, i, "timeline_start", beginning);
    }
}
