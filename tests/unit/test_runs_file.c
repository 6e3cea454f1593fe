/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of measured runs: columns, cells, settings, and every bad one at its place. */
#include "tests/support.h"

#include "planner/input/runs_file.h"

#include <math.h>
#include <stdlib.h>

typedef struct read_result {
    gl_arena *arena;
    gl_known_runs runs;
    gl_diagnostics diagnostics;
    bool ok;
} read_result;

static read_result read_text(const char *text)
{
    read_result r = {.arena = gl_arena_create()};
    r.ok = gl_known_runs_parse("t.csv", text, strlen(text), r.arena, &r.runs, &r.diagnostics);
    return r;
}

static void done(read_result *r)
{
    gl_arena_destroy(r->arena);
}

static void test_columns_in_any_order(void **state)
{
    (void)state;
    read_result r = read_text("measured_step_s,gpus,id,settings\n"
                              "1.5,8,a,\n"
                              "2,16,b,parallel.tp=4; buckets.gradient=25 MiB;\n");
    assert_true(r.ok);
    assert_int_equal(r.runs.count, 2);
    const gl_known_run *a = &r.runs.items[0], *b = &r.runs.items[1];
    assert_string_equal(a->texts[GL_RUN_ID], "a");
    assert_string_equal(a->texts[GL_RUN_GPU], "");
    assert_close(a->numbers[GL_RUN_GPUS], 8, 0);
    assert_true(isnan(a->numbers[GL_RUN_TP]));
    assert_close(a->measured_s, 1.5, 0);
    assert_int_equal(b->mark.line, 3);
    assert_int_equal(b->marks[GL_RUN_ID].column, 6);
    assert_int_equal(b->setting_count, 2);
    assert_string_equal(b->settings[1].key, "buckets.gradient");
    assert_string_equal(b->settings[1].value, "25 MiB");
    done(&r);
}

/* B·s / (tokens per second and GPU · GPUs) */
static void test_step_from_tokens(void **state)
{
    (void)state;
    read_result r = read_text("id,measured_tokens_s_gpu,gpus,seq,global_batch\n"
                              "a,1000,8,4000,16\nb,1000,8,,16\n");
    assert_true(r.ok);
    assert_close(r.runs.items[0].measured_s, 8, 1e-12);
    assert_true(isnan(r.runs.items[1].measured_s));
    done(&r);
}

static void assert_problem(const char *text, int line, int column, const char *fragment)
{
    read_result r = read_text(text);
    assert_false(r.ok);
    bool found = false;
    for (size_t i = 0; i < r.diagnostics.count; i++) {
        const gl_error *e = &r.diagnostics.items[i];
        bool here = e->line == line && e->column == column && strstr(e->message, fragment) != NULL;
        found = found || here;
        if (!here)
            print_message("t.csv:%d:%d: %s: %s\n", e->line, e->column, e->path, e->message);
    }
    assert_true(found);
    done(&r);
}

#define HEADER "id,measured_step_s,tp,params_b,settings\n"

static void test_bad_tables(void **state)
{
    (void)state;
    assert_problem("id,measured_step_s,hiden\na,1,2\n", 1, 20, "did you mean 'hidden'?");
    assert_problem("id,measured_step_s,zzzz\na,1,2\n", 1, 20, "unknown column 'zzzz'; allowed:");
    assert_problem("measured_step_s\n1\n", 1, 1, "the column 'id' is missing");
    assert_problem("id\n1\n", 1, 1, "measured_step_s");
    assert_problem(HEADER ",1,,,\n", 2, 1, "is empty");
    assert_problem(HEADER "a,1,,,\nb,1,,,\na,2,,,\n", 4, 1, "'a' is there already (t.csv:2)");
    assert_problem(HEADER "a,1,two,,\n", 2, 5, "two");
    assert_problem(HEADER "a,1,0,,\n", 2, 5, "out of range; allowed: 1 to 1e12");
    assert_problem(HEADER "a,1,1.5,,\n", 2, 5, "1.5");
    assert_problem(HEADER "a,1 s,,,\n", 2, 3, "takes no unit");
    assert_problem(HEADER "a,-1,,,\n", 2, 3, "out of range; allowed: 1e-6 to 1e15");
    assert_problem(HEADER "a,1e-308,,,\n", 2, 3, "out of range; allowed: 1e-6 to 1e15");
    assert_problem(HEADER "a,nan,,,\n", 2, 3, "nan");
    assert_problem(HEADER "a,1,,1e99,\n", 2, 6, "out of range; allowed: 1e-6 to 1e15");
}

static void test_bad_settings(void **state)
{
    (void)state;
    assert_problem(HEADER "a,1,,,parallel.tp\n", 2, 7, "not of the form key=value");
    assert_problem(HEADER "a,1,,,parallel.shrad=4\n", 2, 7, "unknown field; did you mean");
    assert_problem(HEADER "a,1,,,parallel.tp=four\n", 2, 7, "four");
    assert_problem(HEADER "a,1,,,buckets.gradient=25\n", 2, 7, "unit");
    assert_problem(HEADER "a,1,,,cluster.nodes=0\n", 2, 7, "out of range");
    assert_problem(HEADER "a,1,,,parallel..tp=4\n", 2, 7, "dotted path");
}

/* Hostile sizes do not take forever: ids are compared with all before them. */
static void test_number_of_runs(void **state)
{
    (void)state;
    enum { ROWS = 10001 };
    char *text = calloc(ROWS, 16), *end = text;
    assert_non_null(text);
    end += sprintf(end, "id,measured_step_s\n");
    for (int i = 0; i < ROWS; i++)
        end += sprintf(end, "%d,1\n", i);
    read_result r = read_text(text);
    assert_false(r.ok);
    assert_non_null(strstr(r.diagnostics.items[0].message, "at most 10000 are read"));
    done(&r);
    free(text);
}

static void test_schema_names_every_column(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    const gl_table *schema = gl_known_runs_schema(arena);
    assert_int_equal(schema->row_count, GL_RUN_COLUMN_COUNT);
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++) {
        const char *name = gl_run_column_name((gl_run_column)i);
        const char *path = gl_run_column_path((gl_run_column)i);
        assert_int_equal(gl_run_column_find(name, strlen(name)), i);
        if (path != NULL)
            assert_true(gl_fields_find(gl_model_fields, path) != NULL ||
                        gl_fields_find(gl_cluster_fields, path) != NULL);
    }
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_in_any_order),
        cmocka_unit_test(test_step_from_tokens),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_number_of_runs),
        cmocka_unit_test(test_schema_names_every_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
