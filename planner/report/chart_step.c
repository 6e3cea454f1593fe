/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Step time with its interval, by its parts: of each scenario (tables `step` and `traffic`), or of
 * each option (table `options`). */
#include "planner/report/chart_build.h"

#include <string.h>

typedef struct part_kind {
    const char *name, *dimension, *option_column; /* of traffic; of options */
    int hue;
} part_kind;

/* From the left. Waits of a dimension come from the rows of traffic. */
static const part_kind kinds[] = {
    {"compute", NULL, NULL, GL_HUE_COMPUTE},
    {"compute slowed by hidden communication", NULL, "overlap_tax_s", GL_HUE_TAX},
    {"exposed: tp", "tp", "exposed_tp_s", GL_HUE_TP},
    {"exposed: cp", "cp", "exposed_cp_s", GL_HUE_CP},
    {"exposed: ep", "ep", "exposed_ep_s", GL_HUE_EP},
    {"exposed: pp", "pp", "exposed_pp_s", GL_HUE_PP},
    {"exposed: dp", "dp", "exposed_dp_s", GL_HUE_DP},
    {"exposed: embedding", "embedding", "exposed_embedding_s", GL_HUE_GOOD},
    {"exposed: optimizer", "optimizer", "exposed_optimizer_s", GL_HUE_BAD},
    {"pipeline bubble", NULL, "bubble_s", GL_HUE_IDLE},
    {"optimizer", NULL, NULL, GL_HUE_OPTIMIZER},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], COMPUTE = 0, TAX = 1, BUBBLE = 9, OPTIMIZER = 10 };

typedef struct bar {
    const char *name;
    double time_s, low_s, high_s;
    double parts_s[KINDS];
} bar;

static double sum(const bar *b)
{
    double total = 0;
    for (size_t i = 0; i < KINDS; i++)
        total += b->parts_s[i] > 0 ? b->parts_s[i] : 0;
    return total;
}

static void add_bar(gl_chart *chart, gl_arena *arena, const bar *b)
{
    size_t category = gl_chart__category(chart, arena, b->name);
    for (size_t i = 0; i < KINDS; i++)
        if (b->parts_s[i] > 1e-4 * b->time_s)
            gl_chart__add(gl_chart__named(chart, arena, kinds[i].name, GL_MARK_BAR, kinds[i].hue),
                          arena, (gl_datum){.category = category, .x = b->parts_s[i]});
    gl_chart__add(gl_chart__named(chart, arena, "80 % interval", GL_MARK_INTERVAL, GL_HUE_IDLE),
                  arena,
                  (gl_datum){.category = category,
                             .x = b->time_s,
                             .low = b->low_s,
                             .high = b->high_s,
                             .note = gl_quantity_text(b->time_s, GL_SECONDS, arena)});
}

/* Series come in the order of `kinds`, whichever bar had them first: bars are stacked so. */
static int kind_of(const gl_series *series)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(series->name, kinds[i].name) == 0)
            return i;
    return KINDS;
}

static void sort_series(gl_chart *chart)
{
    for (size_t i = 1; i < chart->series_count; i++)
        for (size_t k = i; k > 0 && kind_of(&chart->series[k]) < kind_of(&chart->series[k - 1]);
             k--) {
            gl_series swap = chart->series[k];
            chart->series[k] = chart->series[k - 1];
            chart->series[k - 1] = swap;
        }
}

static double exposed_of(const gl_table *traffic, const char *dimension)
{
    double total_s = 0;
    for (size_t row = 0; traffic != NULL && row < traffic->row_count; row++) {
        const char *found = gl_chart__text(traffic, row, "dimension");
        double exposed_s = gl_chart__number(traffic, row, "exposed_s");
        if (found != NULL && strcmp(found, dimension) == 0 && exposed_s > 0)
            total_s += exposed_s;
    }
    return total_s;
}

static bool bar_of_scenario(const gl_scenario *part, bar *b)
{
    const gl_table *step = gl_chart__table(part, "step");
    if (step == NULL || !(gl_chart__number(step, 0, "time_s") > 0))
        return false;
    b->time_s = gl_chart__number(step, 0, "time_s");
    b->low_s = gl_chart__number(step, 0, "time_p10_s");
    b->high_s = gl_chart__number(step, 0, "time_p90_s");
    b->parts_s[COMPUTE] = gl_chart__number(step, 0, "compute_s");
    b->parts_s[TAX] = gl_chart__number(step, 0, "overlap_tax_s");
    b->parts_s[BUBBLE] = gl_chart__number(step, 0, "bubble_s");
    b->parts_s[OPTIMIZER] = gl_chart__number(step, 0, "optimizer_s");
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].dimension != NULL)
            b->parts_s[i] = exposed_of(gl_chart__table(part, "traffic"), kinds[i].dimension);
    return true;
}

/* What an option's row does not name is compute and the optimizer. */
static bool bar_of_option(const gl_table *options, size_t row, gl_arena *arena, bar *b)
{
    const char *cluster = gl_chart__text(options, row, "cluster");
    double number = gl_chart__number(options, row, "option");
    b->time_s = gl_chart__number(options, row, "step_time_s");
    b->low_s = gl_chart__number(options, row, "step_time_p10_s");
    b->high_s = gl_chart__number(options, row, "step_time_p90_s");
    if (!(b->time_s > 0))
        return false;
    b->name = cluster != NULL ? cluster : "option";
    if (!isnan(number))
        b->name = gl_arena_printf(arena, "%.0f: %s", number, b->name);
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].option_column != NULL)
            b->parts_s[i] = gl_chart__number(options, row, kinds[i].option_column);
    b->parts_s[COMPUTE] = fmax(0, b->time_s - sum(b));
    return true;
}

static gl_chart new_chart(const char *table)
{
    return (gl_chart){.table = table,
                      .title = "Step time, and where it goes",
                      .stacked = true,
                      .wide = true,
                      .x = {.title = "time of a step", .dimension = GL_SECONDS}};
}

/* The shortest and the longest, in words. */
static void set_words(gl_chart *chart, gl_arena *arena)
{
    const gl_datum *least = NULL, *most = NULL;
    for (size_t i = 0; i < chart->series_count; i++) {
        const gl_series *series = &chart->series[i];
        for (size_t k = 0; k < series->count && series->mark == GL_MARK_INTERVAL; k++) {
            const gl_datum *d = &series->data[k];
            least = least == NULL || d->x < least->x ? d : least;
            most = most == NULL || d->x > most->x ? d : most;
        }
    }
    if (least == NULL)
        return;
    chart->words =
        least == most
            ? gl_arena_printf(arena, "%s a step; the whisker is the 80 %% interval.", least->note)
            : gl_arena_printf(arena,
                              "From %s (%s) to %s (%s) a step; whiskers are 80 %% intervals.",
                              least->note, chart->categories[least->category], most->note,
                              chart->categories[most->category]);
}

static void chart_options(gl_charting *c)
{
    gl_chart chart = new_chart("options");
    size_t at = 0;
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        const gl_table *options = gl_chart__table(part, "options");
        for (size_t row = 0; options != NULL && row < options->row_count; row++) {
            bar b = {0};
            if (!bar_of_option(options, row, c->arena, &b))
                continue;
            at = chart.category_count == 0 ? i : at;
            add_bar(&chart, c->arena, &b);
        }
    }
    sort_series(&chart);
    set_words(&chart, c->arena);
    gl_chart__hang(c, at, &chart);
}

/* What was swept stands before the column `cluster`: "parallel_tp 4, batch_micro 2". */
static const char *row_name(const gl_table *summary, size_t row, gl_arena *arena)
{
    const char *name = "";
    for (size_t i = 0; i < summary->column_count; i++) {
        const gl_column *column = &summary->columns[i];
        const gl_cell *cell = &summary->cells[row * summary->column_count + i];
        const char *between = name[0] != '\0' ? ", " : "";
        if (strcmp(column->name, "gpus") == 0)
            break;
        if (cell->type == GL_CELL_TEXT && strcmp(column->name, "cluster") == 0)
            name = gl_arena_printf(arena, "%s%s%s", name, between, cell->as.text);
        else if (cell->type == GL_CELL_TEXT)
            name =
                gl_arena_printf(arena, "%s%s%s %s", name, between, column->heading, cell->as.text);
        else
            name = gl_arena_printf(arena, "%s%s%s %g", name, between, column->heading,
                                   gl_chart__number(summary, row, column->name));
    }
    return name;
}

enum { SUMMARY_MAX = 100 };

/* Where nothing says what a step consists of: its time. */
static void add_summary(gl_charting *c, gl_chart *chart, const gl_table *summary)
{
    for (size_t row = 0; row < summary->row_count && row < SUMMARY_MAX; row++) {
        const bar b = {.name = row_name(summary, row, c->arena),
                       .time_s = gl_chart__number(summary, row, "step_time_s"),
                       .low_s = gl_chart__number(summary, row, "step_time_p10_s"),
                       .high_s = gl_chart__number(summary, row, "step_time_p90_s"),
                       .parts_s = {[COMPUTE] = gl_chart__number(summary, row, "step_time_s")}};
        if (b.time_s > 0)
            add_bar(chart, c->arena, &b);
    }
    if (chart->series_count > 0)
        chart->series[0].name = "step";
    chart->title = "Step time";
}

/* Beside the summary where there is one, else beside the only step. */
void gl_charts__step(gl_charting *c)
{
    gl_chart chart = new_chart("step");
    size_t at = 0, summary_at = 0;
    bool has_summary = false;
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        bar b = {0};
        if (!has_summary && gl_chart__table(part, "summary") != NULL) {
            has_summary = true;
            summary_at = i;
        }
        if (!bar_of_scenario(part, &b))
            continue;
        b.name = gl_chart__short_name(c->report, part, c->arena);
        at = chart.category_count == 0 ? i : at;
        add_bar(&chart, c->arena, &b);
    }
    if (has_summary)
        chart.table = "summary";
    if (has_summary && chart.category_count == 0)
        add_summary(c, &chart, gl_chart__table(gl_report_part(c->report, summary_at), "summary"));
    sort_series(&chart);
    set_words(&chart, c->arena);
    gl_chart__hang(c, has_summary ? summary_at : at, &chart);
    chart_options(c);
}
