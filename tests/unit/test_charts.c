/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts from tables by the names of their columns: tables here are made by hand, as any command
 * could make them. */
#include "planner/report/charts.h"
#include "tests/support.h"

typedef struct fixture {
    gl_arena *arena;
    gl_scenario scenarios[2], comparison;
    gl_report report;
} fixture;

static int set_up(void **state)
{
    gl_arena *arena = gl_arena_create();
    fixture *f = GL_ARENA_NEW(arena, fixture, 1);
    f->arena = arena;
    for (size_t i = 0; i < 2; i++)
        f->scenarios[i] = (gl_scenario){.name = i == 0 ? "A model on fast" : "A model on slow",
                                        .tables = GL_ARENA_NEW(arena, gl_table *, 8)};
    f->comparison = (gl_scenario){.tables = GL_ARENA_NEW(arena, gl_table *, 8)};
    f->report =
        (gl_report){.scenarios = f->scenarios, .scenario_count = 2, .comparison = &f->comparison};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    gl_arena_destroy(((fixture *)*state)->arena);
    return 0;
}

/* A table of one row of numbers, or more of them. */
static gl_table *add(fixture *f, gl_scenario *part, const char *name, const gl_column *columns,
                     size_t count)
{
    gl_table *table = gl_table_create(f->arena, name, name, columns, count);
    part->tables[part->table_count++] = table;
    return table;
}

static const gl_chart *chart_named(const gl_scenario *part, const char *title)
{
    for (size_t i = 0; i < part->chart_count; i++)
        if (strcmp(part->charts[i].title, title) == 0)
            return &part->charts[i];
    return NULL;
}

static const gl_series *series_named(const gl_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->series_count; i++)
        if (strcmp(chart->series[i].name, name) == 0)
            return &chart->series[i];
    fail_msg("%s has no series '%s'", chart->title, name);
    return NULL;
}

static const gl_column option_columns[] = {{"option", "#", GL_NUMBER, 0},
                                           {"cluster", "Cluster", GL_NUMBER, 0},
                                           {"step_time_s", "Step", GL_SECONDS, 0},
                                           {"step_time_p10_s", NULL, GL_SECONDS, GL_FOR_MACHINES},
                                           {"step_time_p90_s", NULL, GL_SECONDS, GL_FOR_MACHINES},
                                           {"exposed_dp_s", NULL, GL_SECONDS, GL_FOR_MACHINES},
                                           {"bubble_s", NULL, GL_SECONDS, GL_FOR_MACHINES},
                                           {"per_million_tokens", NULL, GL_NUMBER, 0}};

static void add_option(gl_table *table, int64_t number, const char *name, double step_s,
                       double cost)
{
    gl_cell *cell = gl_table_add_row(table);
    *cell++ = gl_integer(number);
    *cell++ = gl_text(name);
    *cell++ = gl_real(step_s);
    *cell++ = gl_real(0.9 * step_s);
    *cell++ = gl_real(1.2 * step_s);
    *cell++ = gl_real(0.25 * step_s);
    *cell++ = gl_real(0.125 * step_s);
    *cell++ = gl_real(cost);
}

static void options_have_bars_and_a_front(void **state)
{
    fixture *f = *state;
    gl_table *options = add(f, &f->comparison, "options", option_columns, 8);
    add_option(options, 1, "fast", 1, 3);
    add_option(options, 2, "slow", 2, 2);
    add_option(options, 3, "neither", 4, 4);
    const gl_scenario *part = gl_charts_add(&f->report, f->arena)->comparison;
    const gl_chart *step = chart_named(part, "Step time, and where it goes");
    assert_non_null(step);
    assert_string_equal(step->table, "options");
    assert_int_equal(step->category_count, 3);
    assert_string_equal(step->categories[1], "2: slow");
    assert_close(series_named(step, "compute")->data[1].x, 1.25, 1e-12);
    assert_close(series_named(step, "exposed: dp")->data[1].x, 0.5, 1e-12);
    assert_close(series_named(step, "80 % interval")->data[0].high, 1.2, 1e-12);
    const gl_chart *front = chart_named(part, "Cost of tokens against step time");
    assert_non_null(front);
    assert_int_equal(front->series_count, 3);
    assert_non_null(strstr(front->words, "than: fast, slow."));
}

static const gl_column priced_columns[] = {{"cluster", "Cluster", GL_NUMBER, 0},
                                           {"step_time_s", "Step", GL_SECONDS, 0},
                                           {"currency", NULL, GL_NUMBER, GL_FOR_MACHINES},
                                           {"per_million_tokens", NULL, GL_NUMBER, 0}};

static void add_priced(gl_table *table, const char *name, double step_s, const char *currency,
                       double cost)
{
    gl_cell *cell = gl_table_add_row(table);
    cell[0] = gl_text(name);
    cell[1] = gl_real(step_s);
    cell[2] = gl_text(currency);
    cell[3] = gl_real(cost);
}

/* As fast and dearer is beaten, in spite of a step that differs in its last digits; what has
 * another currency is not drawn, and that is said. */
static void a_front_has_ties_and_one_currency(void **state)
{
    fixture *f = *state;
    gl_table *options = add(f, &f->comparison, "options", priced_columns, 4);
    add_priced(options, "dear", 1, "USD", 3);
    add_priced(options, "cheap", 1 + 1e-9, "USD", 2);
    add_priced(options, "same", 1, "USD", 2);
    add_priced(options, "yen", 0.5, "JPY", 1);
    const gl_scenario *part = gl_charts_add(&f->report, f->arena)->comparison;
    const gl_chart *front = chart_named(part, "Cost of tokens against step time");
    assert_non_null(front);
    assert_int_equal(front->series_count, 3);
    assert_string_equal(front->y.title, "USD a million tokens");
    assert_non_null(strstr(front->words, "than: cheap, same. Left out, because it is in another "
                                         "currency: yen (JPY)."));
}

static const gl_column step_columns[] = {
    {"time_s", "Step", GL_SECONDS, 0},     {"time_p10_s", "P10", GL_SECONDS, 0},
    {"time_p90_s", "P90", GL_SECONDS, 0},  {"compute_s", "Compute", GL_SECONDS, 0},
    {"optimizer_s", "Opt", GL_SECONDS, 0},
};
static const gl_column traffic_columns[] = {{"dimension", NULL, GL_NUMBER, 0},
                                            {"exposed_s", NULL, GL_SECONDS, 0}};
static const gl_column cost_columns[] = {{"currency", "Currency", GL_NUMBER, 0},
                                         {"per_million_tokens", "Tokens", GL_NUMBER, 0}};

static void scenarios_share_a_chart(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 2; i++) {
        gl_table *step = add(f, &f->scenarios[i], "step", step_columns, 5);
        gl_table *traffic = add(f, &f->scenarios[i], "traffic", traffic_columns, 2);
        gl_table *cost = add(f, &f->scenarios[i], "cost", cost_columns, 2);
        gl_cell *cell = gl_table_add_row(step);
        for (int k = 0; k < 5; k++)
            cell[k] = gl_real(k == 4 ? (double)NAN : (double)(i + 1));
        for (int k = 0; k < 2; k++) {
            cell = gl_table_add_row(traffic);
            cell[0] = gl_text("tp");
            cell[1] = gl_real(0.125);
        }
        cell = gl_table_add_row(cost);
        cell[0] = gl_text("EUR");
        cell[1] = gl_real(3.0 - (double)i);
    }
    const gl_report *report = gl_charts_add(&f->report, f->arena);
    const gl_chart *chart = chart_named(&report->scenarios[0], "Step time, and where it goes");
    assert_non_null(chart);
    assert_string_equal(chart->categories[1], "slow");
    assert_close(series_named(chart, "exposed: tp")->data[1].x, 0.25, 1e-12);
    chart = chart_named(&report->scenarios[0], "Cost of tokens against step time");
    assert_non_null(chart);
    assert_string_equal(chart->y.title, "EUR a million tokens");
    /* The report that came in has none. */
    assert_int_equal(f->report.scenarios[0].chart_count, 0);
}

static const gl_column swing_columns[] = {{"property", "Property", GL_NUMBER, 0},
                                          {"low_change_frac", NULL, GL_FRACTION, 0},
                                          {"high_change_frac", NULL, GL_FRACTION, 0}};

static void a_tornado_has_the_largest_first(void **state)
{
    static const struct {
        const char *name;
        double low, high;
    } rows[] = {{"latency", 0.01, -0.01}, {"bandwidth", 0.5, -0.2}, {"radix", 0, 0}};
    fixture *f = *state;
    gl_table *table = add(f, &f->scenarios[1], "sensitivity", swing_columns, 3);
    for (size_t i = 0; i < 3; i++) {
        gl_cell *cell = gl_table_add_row(table);
        cell[0] = gl_text(rows[i].name);
        cell[1] = gl_real(rows[i].low);
        cell[2] = gl_real(rows[i].high);
    }
    const gl_report *report = gl_charts_add(&f->report, f->arena);
    assert_int_equal(report->scenarios[1].chart_count, 1);
    const gl_chart *chart = &report->scenarios[1].charts[0];
    assert_int_equal(chart->category_count, 2);
    assert_string_equal(chart->categories[0], "bandwidth");
    assert_close(series_named(chart, "property lowered")->data[0].x, 0.5, 1e-12);
}

static const gl_column stair_columns[] = {{"gpus", "GPUs", GL_NUMBER, 0},
                                          {"tiers", "Tiers", GL_NUMBER, 0},
                                          {"network_per_gpu", "Per GPU", GL_NUMBER, 0}};

static void the_staircase_is_drawn(void **state)
{
    fixture *f = *state;
    gl_table *table = add(f, &f->scenarios[0], "staircase", stair_columns, 3);
    for (int i = 0; i < 4; i++) {
        gl_cell *cell = gl_table_add_row(table);
        cell[0] = gl_integer(8 << i);
        cell[1] = gl_integer(1 + i / 2);
        cell[2] = i == 3 ? (gl_cell){0} : gl_real(1000 + i);
    }
    const gl_report *report = gl_charts_add(&f->report, f->arena);
    assert_int_equal(report->scenarios[0].chart_count, 1);
    const gl_series *stairs = &report->scenarios[0].charts[0].series[0];
    assert_int_equal(stairs->mark, GL_MARK_JOINED);
    assert_int_equal(stairs->count, 3); /* one has no price */
    assert_string_equal(stairs->data[2].note, "2 tiers");
}

static const gl_column staircases_columns[] = {{"cluster", "Cluster", GL_NUMBER, 0},
                                               {"currency", "Currency", GL_NUMBER, 0},
                                               {"gpus", "GPUs", GL_NUMBER, 0},
                                               {"network_per_gpu", "Per GPU", GL_NUMBER, 0}};

static void staircases_have_one_currency(void **state)
{
    fixture *f = *state;
    gl_table *table = add(f, &f->comparison, "staircases", staircases_columns, 4);
    for (int i = 0; i < 6; i++) {
        gl_cell *cell = gl_table_add_row(table);
        cell[0] = gl_text(i < 3 ? "A" : "B");
        cell[1] = gl_text(i < 3 ? "USD" : "JPY");
        cell[2] = gl_integer(8 << i);
        cell[3] = gl_real(1000 + i);
    }
    const gl_chart *chart = chart_named(gl_charts_add(&f->report, f->arena)->comparison,
                                        "Network cost per GPU as the cluster grows");
    assert_non_null(chart);
    assert_int_equal(chart->series_count, 1);
    assert_string_equal(chart->y.title, "network per GPU, USD");
    assert_non_null(strstr(chart->words, "in another currency: B (JPY)."));
}

/* Tables of other shapes under the same names have no charts, and no harm is done. */
static void strange_tables_have_none(void **state)
{
    static const char *const names[] = {
        "options",     "step",        "cost",    "staircase",          "curves",        "timeline",
        "sensitivity", "uncertainty", "summary", "required_bandwidth", "cost_structure"};
    static const gl_column strange[] = {{"strange", NULL, GL_NUMBER, 0}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fixture *f = *state;
        f->scenarios[0].table_count = 0;
        gl_cell *cell = gl_table_add_row(add(f, &f->scenarios[0], names[i], strange, 1));
        *cell = gl_text("x");
        assert_int_equal(gl_charts_add(&f->report, f->arena)->scenarios[0].chart_count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_have_bars_and_a_front, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_front_has_ties_and_one_currency, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scenarios_share_a_chart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tornado_has_the_largest_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_staircase_is_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(staircases_have_one_currency, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strange_tables_have_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
