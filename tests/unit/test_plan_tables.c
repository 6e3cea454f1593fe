/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan's tables against the keys that readers of JSON and CSV rely upon. */
#include "tests/bundled.h"

#include "common/render.h"
#include "planner/report/explain.h"
#include "planner/report/plan_schema.h"
#include "planner/report/plan_tables.h"

#include <jansson.h>
#include <stdlib.h>

typedef struct fixture {
    gl_arena *arena;
    gl_workload workload;
    gl_cluster cluster;
    gl_plan plan;
} fixture;

/* Plans a bundled model on a bundled cluster of catalogue links. */
static void plan_model(fixture *f, const char *model, const gl_setting *settings, size_t count)
{
    const gl_plan_options options = {.headroom = 1.25, .stage = -1, .allow_extrapolation = true};
    f->arena = gl_arena_create();
    load_bundled_model(model, settings, count, f->arena, &f->workload);
    load_bundled_cluster("hgx-h100-16-ndr", f->arena, &f->cluster);
    build_plan(&f->workload, &f->cluster, &options, f->arena, &f->plan);
}

static void discard(fixture *f)
{
    gl_arena_destroy(f->arena);
}

static json_t *render_json(gl_scenario *scenario)
{
    const gl_report report = {.scenarios = scenario, .scenario_count = 1};
    const gl_render_options options = {0};
    gl_error err;
    json_error_t where;
    gl_output *out = gl_output_memory();
    assert_true(gl_render(&report, GL_FORMAT_JSON, &options, out, &err));
    json_t *root = json_loads(gl_output_text(out), JSON_REJECT_DUPLICATES, &where);
    if (root == NULL)
        fail_msg("line %d: %s", where.line, where.text);
    gl_output_discard(out);
    return root;
}

static void assert_keys(const json_t *object, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (json_object_get(object, *keys) == NULL)
            fail_msg("no key '%s'", *keys);
}

static const char *const scenario_keys[] = {"name",    "model", "parallel",           "cluster",
                                            "traffic", "step",  "required_bandwidth", "memory",
                                            "cost",    "bom",   "warnings",           NULL};
static const char *const cost_keys[] = {"currency",           "capex",       "per_run",
                                        "per_million_tokens", "per_run_p10", "per_run_p50",
                                        "per_run_p90",        NULL};
static const char *const traffic_keys[] = {"dimension",
                                           "operation",
                                           "phase",
                                           "collective",
                                           "group_ranks",
                                           "nodes",
                                           "ranks_per_node",
                                           "concurrent_groups",
                                           "size_bytes",
                                           "calls_per_step",
                                           "payload_bytes_per_step",
                                           "wire_bytes_per_rank_per_step",
                                           "time_per_call_s",
                                           "time_s",
                                           "exposed_s",
                                           "busbw_bytes_per_s",
                                           "required_busbw_bytes_per_s",
                                           "algorithm",
                                           "transport",
                                           "evidence",
                                           NULL};
static const char *const step_keys[] = {"time_s",
                                        "time_p10_s",
                                        "time_p90_s",
                                        "compute_s",
                                        "communication_s",
                                        "exposed_communication_s",
                                        "bubble_s",
                                        "optimizer_s",
                                        "mfu",
                                        "tokens_per_s",
                                        "tokens_per_s_per_gpu",
                                        "evidence",
                                        NULL};
static const char *const bandwidth_keys[] = {"tier",
                                             "bytes_per_step_per_gpu",
                                             "required_bytes_per_s",
                                             "available_bytes_per_s",
                                             "headroom",
                                             "verdict",
                                             NULL};
static const char *const memory_keys[] = {"per_gpu_bytes",     "capacity_bytes",  "fits",
                                          "parameters_bytes",  "gradients_bytes", "optimizer_bytes",
                                          "activations_bytes", "other_bytes",     NULL};

static void test_json_has_the_keys_of_the_contract(void **state)
{
    (void)state;
    fixture f;
    plan_model(&f, "llama3-405b", NULL, 0);
    gl_scenario scenario;
    const gl_plan_view view = {.name = "s"};
    gl_plan_scenario(&f.plan, &view, f.arena, &scenario);
    json_t *root = render_json(&scenario),
           *first = json_array_get(json_object_get(root, "scenarios"), 0);
    assert_int_equal(json_integer_value(json_object_get(root, "schema_version")), 1);
    assert_keys(first, scenario_keys);
    assert_keys(json_object_get(first, "step"), step_keys);
    assert_keys(json_object_get(first, "memory"), memory_keys);
    assert_keys(json_object_get(first, "cost"), cost_keys);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(first, "cluster"), "name")),
        f.cluster.name);
    json_t *traffic = json_object_get(first, "traffic"),
           *bandwidth = json_object_get(first, "required_bandwidth");
    assert_int_equal(json_array_size(traffic), f.plan.traffic.row_count);
    assert_int_equal(json_array_size(bandwidth), GL_TIER_COUNT);
    for (size_t i = 0; i < json_array_size(traffic); i++)
        assert_keys(json_array_get(traffic, i), traffic_keys);
    for (size_t i = 0; i < json_array_size(bandwidth); i++)
        assert_keys(json_array_get(bandwidth, i), bandwidth_keys);
    json_decref(root);
    discard(&f);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("'%s' is no number", key);
    return json_number_value(value);
}

static void test_json_figures_agree_with_each_other(void **state)
{
    (void)state;
    fixture f;
    plan_model(&f, "llama3-70b", NULL, 0);
    gl_scenario scenario;
    const gl_plan_view view = {.name = "s"};
    gl_plan_scenario(&f.plan, &view, f.arena, &scenario);
    json_t *root = render_json(&scenario),
           *first = json_array_get(json_object_get(root, "scenarios"), 0);
    json_t *traffic = json_object_get(first, "traffic"), *step = json_object_get(first, "step");
    double communication_s = 0;
    for (size_t i = 0; i < json_array_size(traffic); i++) {
        const json_t *row = json_array_get(traffic, i);
        communication_s += number(row, "time_s");
        assert_close(number(row, "payload_bytes_per_step"),
                     number(row, "size_bytes") * number(row, "calls_per_step"), 1e-12);
        assert_true(number(row, "exposed_s") <= number(row, "time_s") * (1 + 1e-9));
    }
    assert_close(number(step, "communication_s"), communication_s, 1e-9);
    assert_close(number(step, "time_s"),
                 number(step, "compute_s") + number(step, "overlap_tax_s") +
                     number(step, "exposed_communication_s") + number(step, "bubble_s") +
                     number(step, "optimizer_s"),
                 1e-9);
    const json_t *memory = json_object_get(first, "memory");
    assert_close(number(memory, "per_gpu_bytes"),
                 number(memory, "parameters_bytes") + number(memory, "gradients_bytes") +
                     number(memory, "optimizer_bytes") + number(memory, "activations_bytes") +
                     number(memory, "other_bytes") - number(memory, "not_together_bytes"),
                 1e-9);
    json_decref(root);
    discard(&f);
}

/* A parameter count alone: no step time, and nothing missing without a reason. */
static void test_unknown_figures_are_null_with_a_reason(void **state)
{
    (void)state;
    fixture f;
    plan_model(&f, "minimal", NULL, 0);
    gl_scenario scenario;
    const gl_plan_view view = {.name = "s"};
    gl_plan_scenario(&f.plan, &view, f.arena, &scenario);
    assert_true(scenario.warning_count >= 2);
    json_t *root = render_json(&scenario),
           *first = json_array_get(json_object_get(root, "scenarios"), 0);
    assert_true(json_is_null(json_object_get(json_object_get(first, "step"), "time_s")));
    assert_true(
        json_is_null(json_object_get(json_object_get(first, "memory"), "activations_bytes")));
    assert_true(json_array_size(json_object_get(first, "warnings")) == scenario.warning_count);
    assert_non_null(strstr(scenario.headline, "at least"));
    json_decref(root);
    discard(&f);
}

/* The scenario keeps nothing of the plan. */
static void test_scenario_outlives_the_plan(void **state)
{
    (void)state;
    fixture f;
    gl_arena *arena = gl_arena_create();
    gl_scenario scenario;
    const gl_plan_view view = {.name = "s"};
    plan_model(&f, "llama-1.1b-ddp", NULL, 0);
    gl_plan_scenario(&f.plan, &view, arena, &scenario);
    discard(&f);
    json_decref(render_json(&scenario));
    gl_arena_destroy(arena);
}

static void test_every_column_for_machines_is_described(void **state)
{
    (void)state;
    static const char *const echoes[] = {"model", "parallel", "training"};
    fixture f;
    gl_scenario scenario;
    const gl_plan_view view = {.name = "s"};
    plan_model(&f, "llama-1.1b-ddp", NULL, 0);
    gl_plan_scenario(&f.plan, &view, f.arena, &scenario);
    for (size_t i = 0; i < scenario.table_count; i++) {
        const gl_table *table = scenario.tables[i];
        bool echo = false;
        for (size_t k = 0; k < sizeof echoes / sizeof echoes[0]; k++)
            echo = echo || strcmp(table->name, echoes[k]) == 0;
        for (size_t k = 0; !echo && k < table->column_count; k++)
            if ((table->columns[k].audience & GL_FOR_MACHINES) != 0 &&
                gl_plan_column_meaning(table->name, table->columns[k].name) == NULL)
                fail_msg("schema csv lacks %s.%s", table->name, table->columns[k].name);
    }
    discard(&f);
}

/* RFC 4180, strictly: a cursor over one CSV. */
static size_t read_record(const char **text, char fields[][1024], size_t most)
{
    size_t count = 0;
    for (;;) {
        char *to = fields[count++];
        assert_true(count <= most);
        if (**text == '"') {
            for ((*text)++; **text != '"' || (*text)[1] == '"'; (*text)++) {
                assert_int_not_equal(**text, '\0');
                *text += **text == '"';
                *to++ = **text;
            }
            (*text)++;
        } else {
            for (; strchr(",\r\n", **text) == NULL; (*text)++) {
                assert_int_not_equal(**text, '"');
                *to++ = **text;
            }
        }
        *to = '\0';
        if (**text == ',') {
            (*text)++;
            continue;
        }
        assert_true((*text)[0] == '\r' && (*text)[1] == '\n');
        *text += 2;
        return count;
    }
}

static void test_csv_is_strict(void **state)
{
    (void)state;
    enum { FIELDS = 80 };
    static char header[FIELDS][1024], fields[FIELDS][1024];
    fixture f;
    gl_scenario scenario;
    gl_error err;
    plan_model(&f, "llama-1.1b-ddp", NULL, 0);
    for (size_t i = 0; gl_plan_table_names()[i] != NULL; i++) {
        const char *table = gl_plan_table_names()[i];
        const gl_plan_view view = {.name = "=a, \"quoted\" name", .only = table};
        gl_plan_scenario(&f.plan, &view, f.arena, &scenario);
        const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
        const gl_render_options options = {.csv_table = table};
        if (strcmp(table, "model") == 0 || strcmp(table, "parallel") == 0 ||
            strcmp(table, "training") == 0)
            continue;
        gl_output *out = gl_output_memory();
        assert_true(gl_render(&report, GL_FORMAT_CSV, &options, out, &err));
        const char *text = gl_output_text(out);
        size_t columns = read_record(&text, header, FIELDS);
        assert_string_equal(header[0], "scenario");
        while (*text != '\0') {
            assert_int_equal(read_record(&text, fields, FIELDS), columns);
            assert_string_equal(fields[0], "'=a, \"quoted\" name");
            for (size_t k = 1; k < columns; k++)
                assert_null(strchr("=+@\t", fields[k][0] != '\0' ? fields[k][0] : 'x'));
        }
        gl_output_discard(out);
    }
    discard(&f);
}

static void test_swept_keys_are_columns_of_the_summary(void **state)
{
    (void)state;
    fixture f;
    gl_scenario scenario, summary;
    const gl_setting swept[] = {{"batch.micro", "4", "--sweep"},
                                {"buckets.gradient", "40 MiB", "--sweep"},
                                {"prices.parts.nic.ib-ndr.typical", "1500", "--sweep"}};
    const gl_plan_view view = {.name = "s", .swept = swept, .swept_count = 3};
    plan_model(&f, "llama-1.1b-ddp", swept, 2); /* prices are the cluster's */
    gl_plan_scenario(&f.plan, &view, f.arena, &scenario);
    size_t tables = scenario.table_count;
    gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    gl_plan_take_summary(&report, f.arena, &summary);
    assert_int_equal(scenario.table_count, tables - 1);
    assert_int_equal(summary.table_count, 1);
    const gl_table *table = summary.tables[0];
    assert_string_equal(table->columns[0].name, "batch_micro");
    assert_int_equal(table->cells[0].type, GL_CELL_INTEGER);
    assert_int_equal(table->cells[0].as.integer, 4);
    assert_string_equal(table->columns[1].name, "buckets_gradient");
    assert_string_equal(table->cells[1].as.text, "40 MiB");
    assert_string_equal(table->columns[2].name, "prices_parts_nic_ib_ndr_typical");
    discard(&f);
}

/* Every figure of the tables has an explanation with the same value. */
static void test_every_figure_is_explained(void **state)
{
    (void)state;
    static const char *const tables[] = {"step", "memory", "cost"};
    fixture f;
    gl_scenario scenario;
    gl_explanation all;
    const gl_plan_view view = {.name = "s"};
    plan_model(&f, "llama3-70b", NULL, 0);
    gl_plan_scenario(&f.plan, &view, f.arena, &scenario);
    gl_explain(&f.plan, f.arena, &all);
    assert_true(all.line_count > f.plan.traffic.row_count);
    for (size_t i = 0; i < scenario.table_count; i++) {
        const gl_table *table = scenario.tables[i];
        if (strcmp(table->name, tables[0]) != 0 && strcmp(table->name, tables[1]) != 0 &&
            strcmp(table->name, tables[2]) != 0)
            continue;
        for (size_t k = 0; k < table->column_count; k++) {
            gl_explanation one = all;
            gl_error err;
            one.figures = GL_ARENA_NEW(f.arena, gl_figure_text, all.figure_count);
            memcpy(one.figures, all.figures, all.figure_count * sizeof *all.figures);
            const char *name =
                gl_arena_printf(f.arena, "%s.%s", table->name, table->columns[k].name);
            if (!gl_explain_select(&one, name, f.arena, &err))
                fail_msg("%s", err.message);
            assert_int_equal(one.figure_count, 1);
            if (table->cells[k].type == GL_CELL_REAL && !isnan(table->cells[k].as.real))
                assert_close(one.figures[0].value.as.real, table->cells[k].as.real, 1e-12);
        }
    }
    discard(&f);
}

static void test_lines_are_found_by_number_name_and_prefix(void **state)
{
    (void)state;
    fixture f;
    gl_explanation all, by_number, by_name;
    gl_error err;
    plan_model(&f, "llama-1.1b-ddp", NULL, 0);
    gl_explain(&f.plan, f.arena, &all);
    gl_explain(&f.plan, f.arena, &by_number);
    gl_explain(&f.plan, f.arena, &by_name);
    assert_true(gl_explain_select(&by_number, "2", f.arena, &err));
    assert_true(gl_explain_select(&by_name, "traffic.2", f.arena, &err));
    assert_int_equal(by_number.figure_count, by_name.figure_count);
    assert_string_equal(by_number.figures[0].name, "traffic.2.size_bytes");
    assert_true(by_name.figure_count < all.figure_count);
    assert_false(gl_explain_select(&all, "traffic.22222", f.arena, &err));
    assert_int_equal(err.status, GL_ERROR_USAGE);
    assert_false(gl_explain_select(&all, "step.time_z", f.arena, &err));
    assert_non_null(strstr(err.message, "did you mean 'step.time_s'"));
    discard(&f);
}

/* The numbers put into a size's formula give the size. */
static void test_size_formulas_with_numbers_give_the_size(void **state)
{
    (void)state;
    fixture f;
    gl_explanation all;
    plan_model(&f, "llama-8b-16l-tp", NULL, 0);
    gl_explain(&f.plan, f.arena, &all);
    size_t checked = 0;
    for (size_t i = 0; i < all.figure_count; i++) {
        const gl_figure_text *figure = &all.figures[i];
        if (strstr(figure->name, ".size_bytes") == NULL || figure->numbers == NULL)
            continue;
        /* Products and quotients without brackets, from left to right. */
        double product = 1;
        char operation = '*';
        for (const char *c = figure->numbers; *c != '\0';) {
            char *end;
            double value = strtod(c, &end);
            if (end == c) {
                operation = *c == '/' ? '/' : (unsigned char)*c == 0xC2 ? '*' : operation;
                c++;
                continue;
            }
            product = operation == '/' ? product / value : product * value;
            c = end;
        }
        assert_close(product, (double)figure->value.as.integer, 1e-12);
        checked++;
    }
    assert_true(checked > 0);
    discard(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_has_the_keys_of_the_contract),
        cmocka_unit_test(test_json_figures_agree_with_each_other),
        cmocka_unit_test(test_unknown_figures_are_null_with_a_reason),
        cmocka_unit_test(test_scenario_outlives_the_plan),
        cmocka_unit_test(test_every_column_for_machines_is_described),
        cmocka_unit_test(test_csv_is_strict),
        cmocka_unit_test(test_swept_keys_are_columns_of_the_summary),
        cmocka_unit_test(test_every_figure_is_explained),
        cmocka_unit_test(test_lines_are_found_by_number_name_and_prefix),
        cmocka_unit_test(test_size_formulas_with_numbers_give_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
