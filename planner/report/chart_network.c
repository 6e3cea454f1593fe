/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bandwidth: required and available (table `required_bandwidth`), measured and predicted (table
 * `curves`). */
#include "planner/report/chart_build.h"

#include <string.h>

static const char *tier_words(const char *tier)
{
    if (tier != NULL && strcmp(tier, "intra_node") == 0)
        return "in a node";
    return tier != NULL && strcmp(tier, "inter_node") == 0 ? "between nodes" : tier;
}

static const char *bandwidth_words(const gl_table *needs, gl_arena *arena)
{
    const char *words = "";
    for (size_t row = 0; row < needs->row_count; row++) {
        double required = gl_chart__number(needs, row, "required_bytes_per_s");
        double available = gl_chart__number(needs, row, "available_bytes_per_s");
        const char *tier = tier_words(gl_chart__text(needs, row, "tier"));
        const char *verdict = gl_chart__text(needs, row, "verdict");
        if (isnan(available))
            continue;
        words = gl_arena_printf(arena, "%s%s%s: %s of %s needed%s%s", words,
                                words[0] != '\0' ? "; " : "", tier,
                                gl_quantity_text(available, GL_BYTES_PER_S, arena),
                                isnan(required) ? "an unknown bandwidth"
                                                : gl_quantity_text(required, GL_BYTES_PER_S, arena),
                                verdict != NULL ? ", " : "", verdict != NULL ? verdict : "");
    }
    return gl_arena_printf(arena, "Per GPU and direction. %s.", words);
}

static void add_need(gl_chart *chart, gl_arena *arena, const char *name, double required,
                     double available)
{
    if (!(available > 0) && !(required > 0))
        return;
    size_t category = gl_chart__category(chart, arena, name);
    gl_chart__add(gl_chart__named(chart, arena, "required", GL_MARK_BAR, GL_HUE_DP), arena,
                  (gl_datum){.category = category, .x = required});
    gl_chart__add(gl_chart__named(chart, arena, "available", GL_MARK_BAR, GL_HUE_COMPUTE), arena,
                  (gl_datum){.category = category, .x = available});
}

static gl_chart bandwidth_chart(const char *table)
{
    return (gl_chart){.table = table,
                      .title = "Bandwidth: required and available",
                      .x = {.title = "per GPU and direction", .dimension = GL_BYTES_PER_S}};
}

/* "1, in a node": both tiers of each option. */
static void add_needs_of_option(gl_chart *chart, gl_arena *arena, const gl_table *options,
                                size_t row, const char **words)
{
    static const char *const tiers[] = {"intra_node", "inter_node"};
    for (size_t i = 0; i < 2; i++) {
        const char *tier = tiers[i];
        double number = gl_chart__number(options, row, "option");
        const char *verdict =
            gl_chart__text(options, row, gl_arena_printf(arena, "%s_verdict", tier));
        const char *name = gl_arena_printf(arena, "%.0f, %s", number, tier_words(tier));
        add_need(
            chart, arena, name,
            gl_chart__number(options, row, gl_arena_printf(arena, "%s_required_bytes_per_s", tier)),
            gl_chart__number(options, row,
                             gl_arena_printf(arena, "%s_available_bytes_per_s", tier)));
        if (verdict != NULL)
            *words = gl_arena_printf(arena, "%s%s%s: %s", *words, (*words)[0] != '\0' ? "; " : "",
                                     name, verdict);
    }
}

static void chart_options(gl_charting *c)
{
    const gl_scenario *part;
    const char *words = "";
    gl_chart chart = bandwidth_chart("options");
    size_t at = 0;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        const gl_table *options = gl_chart__table(part, "options");
        at = options != NULL && chart.category_count == 0 ? i : at;
        for (size_t row = 0; options != NULL && row < options->row_count; row++)
            add_needs_of_option(&chart, c->arena, options, row, &words);
    }
    chart.words = gl_arena_printf(c->arena, "Per GPU and direction. %s.", words);
    gl_chart__hang(c, at, &chart);
}

void gl_charts__bandwidth(gl_charting *c)
{
    const gl_scenario *part;
    chart_options(c);
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        const gl_table *needs = gl_chart__table(part, "required_bandwidth");
        gl_chart chart = bandwidth_chart("required_bandwidth");
        for (size_t row = 0; needs != NULL && row < needs->row_count; row++)
            add_need(&chart, c->arena, tier_words(gl_chart__text(needs, row, "tier")),
                     gl_chart__number(needs, row, "required_bytes_per_s"),
                     gl_chart__number(needs, row, "available_bytes_per_s"));
        if (chart.category_count == 0)
            continue;
        chart.words = bandwidth_words(needs, c->arena);
        gl_chart__hang(c, i, &chart);
    }
}

typedef struct last_point {
    const char *group;
    gl_chart_mark mark;
    gl_datum datum;
} last_point;

static bool is_line(gl_chart_mark mark)
{
    return mark == GL_MARK_LINE || mark == GL_MARK_DASHES;
}

/* Where a prediction turns into an extrapolation the one line goes on where the other ends. */
static void add_point(gl_series *series, gl_arena *arena, const gl_datum *datum, last_point *last,
                      const char *group, gl_chart_mark mark)
{
    bool follows = last->group != NULL && strcmp(last->group, group) == 0;
    if (is_line(mark) && follows && is_line(last->mark) && last->mark != mark) {
        if (series->count > 0)
            gl_chart__add(series, arena, (gl_datum){.x = datum->x, .y = (double)NAN});
        gl_chart__add(series, arena, last->datum);
    }
    gl_chart__add(series, arena, *datum);
    *last = (last_point){group, mark, *datum};
}

/* What a point is, how it is drawn, and what the legend calls it. */
typedef struct point_kind {
    gl_chart_mark mark;
    const char *words;
} point_kind;

static point_kind kind_of(const char *kind, const char *evidence)
{
    if (strcmp(kind, "measured") == 0)
        return (point_kind){GL_MARK_POINTS, "measured"};
    if (strcmp(kind, "message") == 0)
        return (point_kind){GL_MARK_DIAMONDS, "this plan"};
    if (evidence != NULL && strncmp(evidence, "extrapolated", 12) == 0)
        return (point_kind){GL_MARK_DASHES, "extrapolated"};
    if (evidence != NULL && strcmp(evidence, "catalogue") == 0)
        return (point_kind){GL_MARK_DASHES, "catalogue"};
    return (point_kind){GL_MARK_LINE, "predicted"};
}

static const int curve_hues[] = {GL_HUE_COMPUTE, GL_HUE_DP, GL_HUE_TP,  GL_HUE_PP,
                                 GL_HUE_CP,      GL_HUE_EP, GL_HUE_BAD, GL_HUE_GOOD};
enum { CURVES_MAX = sizeof curve_hues / sizeof curve_hues[0] };

typedef struct curve_groups {
    const char *names[CURVES_MAX];
    size_t count;
} curve_groups;

/* The colour of a group; CURVES_MAX of them have one. */
static bool find_hue(curve_groups *groups, const char *name, int *hue)
{
    size_t i = 0;
    while (i < groups->count && strcmp(groups->names[i], name) != 0)
        i++;
    if (i == CURVES_MAX)
        return false;
    if (i == groups->count)
        groups->names[groups->count++] = name;
    *hue = curve_hues[i];
    return true;
}

static void add_row(gl_chart *chart, gl_arena *arena, const gl_table *points, size_t row,
                    curve_groups *groups, last_point *last)
{
    const char *group = gl_chart__text(points, row, "group");
    const char *kind = gl_chart__text(points, row, "kind");
    const char *evidence = gl_chart__text(points, row, "evidence");
    const gl_datum datum = {.x = gl_chart__number(points, row, "size_bytes"),
                            .y = gl_chart__number(points, row, "busbw_bytes_per_s"),
                            .note = evidence};
    int hue;
    if (group == NULL || kind == NULL || !(datum.x > 0) || !find_hue(groups, group, &hue))
        return;
    const point_kind how = kind_of(kind, evidence);
    const char *name = gl_arena_printf(arena, "%s: %s", group, how.words);
    add_point(gl_chart__named(chart, arena, name, how.mark, hue), arena, &datum, last, group,
              how.mark);
}

void gl_charts__curves(gl_charting *c)
{
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        const gl_table *points = gl_chart__table(part, "curves");
        curve_groups groups = {.count = 0};
        last_point last = {.group = NULL};
        gl_chart chart = {
            .table = "curves",
            .title = "Bus bandwidth by message size",
            .words = "Circles were measured; lines are what the planner takes between them, dashed "
                     "where nothing was measured; diamonds are this plan's messages.",
            .wide = true,
            .x = {.title = "message size", .dimension = GL_BYTES, .logarithmic = true},
            .y = {.title = "bus bandwidth", .dimension = GL_BYTES_PER_S}};
        for (size_t row = 0; points != NULL && row < points->row_count; row++)
            add_row(&chart, c->arena, points, row, &groups, &last);
        gl_chart__hang(c, i, &chart);
    }
}
