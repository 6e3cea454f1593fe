/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the interval comes from (table `uncertainty`), and what a step owes to each property of the
 * cluster (table `sensitivity`). */
#include "planner/report/chart_build.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8 };

void gl_charts__uncertainty(gl_charting *c)
{
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        const gl_table *sources = gl_chart__table(part, "uncertainty");
        gl_chart chart = {.table = "uncertainty",
                          .title = "What the interval comes from",
                          .x = {.title = "share of the variance", .dimension = GL_FRACTION}};
        gl_series *shares =
            gl_chart__series(&chart, c->arena, "share", GL_MARK_BAR, GL_HUE_COMPUTE);
        for (size_t row = 0; sources != NULL && row < sources->row_count && row < SHOWN; row++) {
            const char *name = gl_chart__text(sources, row, "source");
            double share = gl_chart__number(sources, row, "variance_share_frac");
            if (name == NULL || !(share >= 0.001))
                continue;
            gl_chart__add(shares, c->arena,
                          (gl_datum){.category = gl_chart__category(&chart, c->arena, name),
                                     .x = share,
                                     .note = gl_chart__text(sources, row, "evidence")});
        }
        if (chart.category_count == 0)
            continue;
        chart.words = gl_arena_printf(c->arena, "Most comes from %s (%s).", chart.categories[0],
                                      gl_quantity_text(shares->data[0].x, GL_FRACTION, c->arena));
        gl_chart__hang(c, i, &chart);
    }
}

typedef struct swing {
    const char *name;
    double low, high; /* change of the step, a fraction of it */
} swing;

static int by_size(const void *a, const void *b)
{
    const swing *x = a, *y = b;
    double p = fmax(fabs(x->low), fabs(x->high)), q = fmax(fabs(y->low), fabs(y->high));
    return p < q ? 1 : p > q ? -1 : strcmp(x->name, y->name);
}

static size_t collect_swings(const gl_table *table, swing *swings)
{
    size_t count = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        const swing s = {gl_chart__text(table, row, "property"),
                         gl_chart__number(table, row, "low_change_frac"),
                         gl_chart__number(table, row, "high_change_frac")};
        if (s.name != NULL && (fabs(s.low) >= 5e-4 || fabs(s.high) >= 5e-4))
            swings[count++] = s;
    }
    qsort(swings, count, sizeof *swings, by_size);
    return count;
}

/* A bar from the step as planned to the step with the property lowered, and raised. */
static void add_swing(gl_chart *chart, gl_arena *arena, const swing *s)
{
    static const char *const names[] = {"property lowered", "property raised"};
    const double changes[] = {s->low, s->high};
    size_t category = gl_chart__category(chart, arena, s->name);
    for (size_t i = 0; i < 2; i++)
        if (!isnan(changes[i]))
            gl_chart__add(gl_chart__named(chart, arena, names[i], GL_MARK_BAR,
                                          i == 0 ? GL_HUE_DP : GL_HUE_COMPUTE),
                          arena, (gl_datum){.category = category, .x = changes[i]});
}

static void chart_sensitivity(gl_charting *c, size_t part, const gl_table *table, size_t which)
{
    const char *option = strrchr(table->title, '(');
    gl_chart chart = {.table = "sensitivity",
                      .which = which,
                      .title = "What the step owes to the cluster",
                      .stacked = true, /* low and high lie on either side of 0 */
                      .x = {.title = "change of the step time", .dimension = GL_FRACTION}};
    swing *swings = GL_ARENA_NEW(c->arena, swing, table->row_count);
    size_t count = collect_swings(table, swings);
    for (size_t k = 0; k < count && k < 2 * (size_t)SHOWN; k++)
        add_swing(&chart, c->arena, &swings[k]);
    if (count == 0)
        return;
    if (option != NULL)
        chart.title = gl_arena_printf(c->arena, "%s %s", chart.title, option);
    chart.words = gl_arena_printf(
        c->arena, "Half and twice of each. %s matters most; what changes nothing is left out.",
        swings[0].name);
    gl_chart__hang(c, part, &chart);
}

/* A part may have a table for each option. */
void gl_charts__sensitivity(gl_charting *c)
{
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        size_t which = 0;
        for (size_t k = 0; k < part->table_count; k++)
            if (strcmp(part->tables[k]->name, "sensitivity") == 0)
                chart_sensitivity(c, i, part->tables[k], which++);
    }
}
