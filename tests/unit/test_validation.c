/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors, intervals and groups, by numbers that can be worked out in the head. */
#include "tests/support.h"

#include "planner/report/plan_schema.h"
#include "planner/report/validation.h"

typedef struct made {
    gl_arena *arena;
    gl_known_run *runs;
    gl_validated *items;
    size_t count;
    gl_scenario scenario;
} made;

enum { RUNS_MAX = 8 };

static made begin(void)
{
    gl_arena *arena = gl_arena_create();
    return (made){.arena = arena,
                  .runs = GL_ARENA_NEW(arena, gl_known_run, RUNS_MAX),
                  .items = GL_ARENA_NEW(arena, gl_validated, RUNS_MAX)};
}

static gl_validated *add(made *m, const char *id, const char *family, double measured_s)
{
    gl_known_run *run = &m->runs[m->count];
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++) {
        run->texts[i] = "";
        run->numbers[i] = (double)NAN;
    }
    run->texts[GL_RUN_ID] = id;
    run->measured_s = measured_s;
    gl_validated *v = &m->items[m->count++];
    *v = (gl_validated){.run = run, .family = family, .gpu = "h100", .layout = "dp8", .ranks = 8};
    return v;
}

static gl_validated *add_planned(made *m, const char *id, const char *family, double measured_s,
                                 double predicted_s)
{
    gl_validated *v = add(m, id, family, measured_s);
    v->step = (gl_step){.time_s = predicted_s,
                        .time_p10_s = 0.9 * predicted_s,
                        .time_p90_s = 1.1 * predicted_s,
                        .compute_s = 0.7 * predicted_s,
                        .overlap_tax_s = 0.1 * predicted_s,
                        .exposed_communication_s = 0.15 * predicted_s,
                        .optimizer_s = 0.05 * predicted_s,
                        .evidence = GL_EVIDENCE_CATALOGUE};
    return v;
}

static const gl_cell *cell(const gl_table *table, size_t row, const char *column)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, column) == 0)
            return &table->cells[row * table->column_count + i];
    fail_msg("no column %s", column);
    return NULL;
}

static double real(const gl_table *table, size_t row, const char *column)
{
    return cell(table, row, column)->as.real;
}

/* The row of a group; fails when there is none. */
static size_t group(const gl_table *table, const char *by, const char *name)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (strcmp(cell(table, row, "by")->as.text, by) == 0 &&
            strcmp(cell(table, row, "name")->as.text, name) == 0)
            return row;
    fail_msg("no group %s %s", by, name);
    return 0;
}

static made example(void)
{
    made m = begin();
    add_planned(&m, "a", "one", 1.0, 1.05); /* held: 0.945 … 1.155 */
    add_planned(&m, "b", "one", 1.0, 0.80); /* not: 0.72 … 0.88 */
    add_planned(&m, "c", "two", 2.0, 2.60)->fitted = "a figure";
    add(&m, "d", "two", 3.0)->reason = "cannot be";
    gl_validation_report(m.items, m.count, m.arena, &m.scenario);
    return m;
}

static void test_summary(void **state)
{
    (void)state;
    made m = example();
    const gl_table *t = m.scenario.tables[0];
    assert_string_equal(t->name, "accuracy");
    size_t row = group(t, "source", "one");
    assert_close(real(t, row, "mean_absolute_error_frac"), 0.125, 1e-12);
    assert_close(real(t, row, "median_absolute_error_frac"), 0.125, 1e-12);
    assert_close(real(t, row, "bias_frac"), -0.075, 1e-12);
    assert_close(real(t, row, "worst_error_frac"), -0.2, 1e-12);
    assert_string_equal(cell(t, row, "worst_id")->as.text, "b");
    assert_close(real(t, row, "coverage_frac"), 0.5, 1e-12);
    row = group(t, "source", "two");
    assert_int_equal(cell(t, row, "runs")->as.integer, 2);
    assert_int_equal(cell(t, row, "planned")->as.integer, 1);
    assert_int_equal(cell(t, row, "fitted")->as.integer, 1);
    row = group(t, "all", "all runs");
    assert_close(real(t, row, "mean_absolute_error_frac"), 0.55 / 3, 1e-12);
    assert_close(real(t, row, "median_absolute_error_frac"), 0.2, 1e-12);
    row = group(t, "all", "not fitted");
    assert_int_equal(cell(t, row, "runs")->as.integer, 3);
    assert_close(real(t, row, "mean_absolute_error_frac"), 0.125, 1e-12);
    group(t, "gpu", "h100");
    group(t, "evidence", "catalogue");
    gl_arena_destroy(m.arena);
}

static void test_rows(void **state)
{
    (void)state;
    made m = example();
    const gl_table *t = m.scenario.tables[1], *left = m.scenario.tables[2];
    assert_string_equal(t->name, "validation");
    assert_int_equal(t->row_count, 3);
    assert_close(real(t, 0, "error_frac"), 0.05, 1e-12);
    assert_true(cell(t, 0, "in_interval")->as.boolean);
    assert_false(cell(t, 1, "in_interval")->as.boolean);
    assert_true(cell(t, 2, "fitted")->as.boolean);
    assert_string_equal(cell(t, 0, "shares")->as.text, "80 15 0 5");
    assert_string_equal(left->name, "not_planned");
    assert_int_equal(left->row_count, 1);
    assert_string_equal(cell(left, 0, "reason")->as.text, "cannot be");
    assert_non_null(strstr(m.scenario.headline, "3 of 4 runs planned, 1 of them used for fitting"));
    assert_non_null(strstr(m.scenario.headline, "at worst 30.0 % (c)"));
    gl_arena_destroy(m.arena);
}

static void test_parameters_far_from_published(void **state)
{
    (void)state;
    made m = begin();
    add_planned(&m, "near", "x", 1, 1)->parameters = 7.1e9;
    m.runs[0].numbers[GL_RUN_PARAMS] = 7;
    add_planned(&m, "far", "x", 1, 1)->parameters = 8e9;
    m.runs[1].numbers[GL_RUN_PARAMS] = 7;
    gl_validation_report(m.items, m.count, m.arena, &m.scenario);
    assert_int_equal(m.scenario.warning_count, 1);
    assert_string_equal(m.scenario.warnings[0],
                        "far: the architecture has 8e+09 parameters, 7e+09 are published");
    gl_arena_destroy(m.arena);
}

static void test_nothing_planned(void **state)
{
    (void)state;
    made m = begin();
    add(&m, "a", "x", 1)->reason = "no";
    gl_validation_report(m.items, m.count, m.arena, &m.scenario);
    assert_string_equal(m.scenario.headline, "0 of 1 runs planned, 0 of them used for fitting");
    assert_true(isnan(real(m.scenario.tables[0], 0, "mean_absolute_error_frac")));
    m.count = 0;
    gl_validation_report(m.items, 0, m.arena, &m.scenario);
    assert_non_null(m.scenario.headline);
    gl_arena_destroy(m.arena);
}

/* Every column for machines is in `gpulink-plan schema csv`. */
static void test_columns_are_described(void **state)
{
    (void)state;
    made m = example();
    for (size_t i = 0; i < m.scenario.table_count; i++) {
        const gl_table *t = m.scenario.tables[i];
        assert_string_equal(t->name, gl_validation_table_names()[i]);
        for (size_t c = 0; c < t->column_count; c++)
            if ((t->columns[c].audience & GL_FOR_MACHINES) != 0 &&
                gl_plan_column_meaning(t->name, t->columns[c].name) == NULL)
                fail_msg("%s.%s is not described", t->name, t->columns[c].name);
    }
    gl_arena_destroy(m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_parameters_far_from_published),
        cmocka_unit_test(test_nothing_planned),
        cmocka_unit_test(test_columns_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
