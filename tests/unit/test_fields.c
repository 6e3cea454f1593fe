/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine, on a table of its own; and the project's tables as a whole. */
#include "input_support.h"

#include "common/collective.h"
#include "planner/input/field_rows.h"

typedef struct sample {
    int count;
    int64_t large;
    double size_bytes, share, power_w;
    bool on;
    int colour;
    gl_dtype type;
    const char *name;
    const char *const *tags;
    gl_axis order[GL_ORDER_MAX];
    gl_figure figure;
} sample;

#define TARGET sample

static const char *const colours[] = {"red", "green", NULL};
static const char *const types[] = {"bf16", "none", NULL};

static const gl_field fields[] = {
    INT_ROW("a.count", count, 1, 10, "3", "A count."),
    {.path = "a.large",
     .type = GL_FIELD_INT64,
     .required = true,
     .doc = "A large one.",
     .offset = offsetof(TARGET, large)},
    {.path = "a.b.size",
     .type = GL_FIELD_REAL,
     .dimension = GL_BYTES,
     .minimum = GL_ABOVE_ZERO,
     .maximum = (double)INFINITY,
     .word = "all",
     .word_value = (double)INFINITY,
     .doc = "A size.",
     .offset = offsetof(TARGET, size_bytes)},
    REAL_ROW("a.b.share", share, GL_FRACTION, 0, 1, "10 %", "A share."),
    REAL_ROW("a.power", power_w, GL_WATTS, 1, INFINITY, "", "A power."),
    BOOL_ROW("on", on, "false", "A switch."),
    CHOICE_ROW("colour", colour, colours, "red", "A colour."),
    DTYPE_ROW("type", type, types, "bf16", "A type."),
    TEXT_ROW("name", name, "", "A name."),
    {.path = "tags", .type = GL_FIELD_TEXTS, .doc = "Tags.", .offset = offsetof(TARGET, tags)},
    {.path = "order",
     .type = GL_FIELD_ORDER,
     .doc = "An order.",
     .offset = offsetof(TARGET, order)},
    FIGURE_ROW("figure", figure, GL_SECONDS, 0, 1, false, "A figure."),
    SPECIAL_ROW("special", false, "Read elsewhere."),
    {.path = NULL},
};

/* Loads a text; the outcome's workload is not used. */
static outcome load(const char *text, sample *target)
{
    outcome o = {.arena = gl_arena_create()};
    gl_error err;
    assert_true(gl_yaml_parse("f.yaml", text, strlen(text), o.arena, &o.tree, &err));
    o.ok = gl_fields_load(fields, &o.tree, o.arena, target, &o.diagnostics);
    return o;
}

static void refused(const char *text, const char *expected)
{
    sample target = {0};
    outcome o = load(text, &target);
    assert_false(o.ok);
    assert_problem(&o, expected);
    assert_int_equal(o.diagnostics.count, 1);
    outcome_free(&o);
}

static gl_cell cell(const outcome *o, const char *path, const sample *target)
{
    return gl_field_cell(gl_fields_find(fields, path), target, o->arena);
}

static void test_every_type(void **state)
{
    (void)state;
    sample s = {0};
    outcome o =
        load("a: {count: 7, large: 9000000000, power: 700 W, b: {size: 2 KiB, share: 25%}}\n"
             "on: true\ncolour: green\ntype: none\nname: A name\ntags: [x, \"y z\"]\n"
             "order: dp-pp-tp-cp\nfigure: {value: 3 us, low: 1 us, source: s}\n"
             "special: {anything: [1, 2]}\n",
             &s);
    assert_loaded(&o);
    assert_int_equal(cell(&o, "a.count", &s).as.integer, 7);
    assert_int_equal(cell(&o, "a.large", &s).as.integer, 9000000000);
    assert_close(cell(&o, "a.b.size", &s).as.real, 2048, 0);
    assert_close(cell(&o, "a.b.share", &s).as.real, 0.25, 0);
    assert_close(cell(&o, "a.power", &s).as.real, 700, 0);
    assert_true(cell(&o, "on", &s).as.boolean);
    assert_string_equal(cell(&o, "colour", &s).as.text, "green");
    assert_string_equal(cell(&o, "type", &s).as.text, "none");
    assert_string_equal(cell(&o, "name", &s).as.text, "A name");
    assert_string_equal(cell(&o, "tags", &s).as.text, "x, y z");
    assert_string_equal(cell(&o, "order", &s).as.text, "dp-pp-tp-cp");
    assert_close(cell(&o, "figure", &s).as.real, 3e-6, 0);
    assert_close(s.figure.low, 1e-6, 0);
    assert_close(s.figure.high, 3e-6, 0);
    assert_int_equal(cell(&o, "special", &s).type, GL_CELL_EMPTY);
    outcome_free(&o);
    o = load("a: {large: 1, b: {size: all}}\n", &s);
    assert_loaded(&o);
    assert_string_equal(cell(&o, "a.b.size", &s).as.text, "all");
    outcome_free(&o);
}

static void test_required(void **state)
{
    (void)state;
    refused("a: {count: 1}\n", "f.yaml:1:1: a.large: missing; it is required");
    refused("on: true\n", "f.yaml:1:1: a.large: missing; it is required");
}

static void test_limits(void **state)
{
    (void)state;
    refused("a: {large: 1, count: 11}\n",
            "f.yaml:1:22: a.count: '11' is out of range; allowed: 1 to 10");
    refused("a: {large: 1, b: {size: 0 B}}\n",
            "f.yaml:1:25: a.b.size: '0 B' is out of range; allowed: above 0");
    refused("a: {large: 1, power: 0.5 W}\n",
            "f.yaml:1:22: a.power: '0.5 W' is out of range; allowed: at least 1 W");
    sample s = {.count = 5};
    outcome o = load("a: {large: 1, count: 11}\n", &s);
    assert_int_equal(s.count, 5);
    outcome_free(&o);
}

static void test_figures(void **state)
{
    (void)state;
    const char *a = "a: {large: 1}\n";
    const struct {
        const char *figure, *expected;
    } cases[] = {
        {"figure: 3 us", "f.yaml:2:9: figure: found a single value; needed: a mapping, such as "
                         "{value: …, source: NAME}"},
        {"figure: {value: 3 us}", "f.yaml:2:9: figure: a figure needs a value and a source"},
        {"figure: {source: s}", "f.yaml:2:9: figure: a figure needs a value and a source"},
        {"figure: {value: 3, source: s}",
         "f.yaml:2:17: figure.value: '3' has no unit; needed: seconds, such as 3.5 us"},
        {"figure: {value: 2 s, source: s}",
         "f.yaml:2:17: figure.value: '2 s' is out of range; allowed: 0 s to 1 s"},
        {"figure: {value: 3 us, low: 4 us, source: s}",
         "f.yaml:2:17: figure: low <= value <= high does not hold"},
        {"figure: {value: 3 us, high: 2 us, source: s}",
         "f.yaml:2:17: figure: low <= value <= high does not hold"},
        {"figure: {value: 3 us, lo: 2 us, source: s}",
         "f.yaml:2:23: figure: unknown key in a figure; allowed: value, low, high, source"},
        {"figure: {value: 3 us, low: null, source: s}",
         "f.yaml:2:28: figure.low: has no value; needed: seconds, such as 3.5 us"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s\n", a, cases[i].figure);
        refused(text, cases[i].expected);
    }
}

static void test_lists(void **state)
{
    (void)state;
    refused("a: {large: 1}\ntags: x\n",
            "f.yaml:2:7: tags: found a single value; needed: a list of texts, such as [a, b]");
    refused("a: {large: 1}\ntags: [x, [y]]\n", "f.yaml:2:11: tags: found a list; needed: a list…");
}

static void test_schema(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_table *table = gl_fields_schema(fields, "sample", arena);
    assert_int_equal(table->column_count, 6);
    assert_int_equal(table->row_count, 13);
    const gl_cell *row = table->cells;
    assert_string_equal(row[0].as.text, "a.count");
    assert_string_equal(row[1].as.text, "integer");
    assert_string_equal(row[3].as.text, "1 to 10");
    assert_string_equal(row[4].as.text, "3");
    assert_string_equal(row[5].as.text, "A count.");
    assert_string_equal(row[6 + 4].as.text, "required");
    assert_string_equal(row[2 * 6 + 2].as.text, "bytes");
    assert_string_equal(row[2 * 6 + 3].as.text, "above 0, all");
    assert_string_equal(row[6 * 6 + 3].as.text, "red, green");
    gl_arena_destroy(arena);
}

/* Every table of the project: rows are complete, paths are distinct, no field lies inside another.
 */
static void check_table(const gl_field *table)
{
    for (const gl_field *f = table; f->path != NULL; f++) {
        size_t length = strlen(f->path), doc = strlen(f->doc);
        assert_true(f->doc[doc - 1] == '.');
        assert_true(f->minimum <= f->maximum);
        assert_true((f->type == GL_FIELD_CHOICE || f->type == GL_FIELD_DTYPE) ==
                    (f->choices != NULL));
        for (const gl_field *g = table; g->path != NULL; g++) {
            if (f != g)
                assert_string_not_equal(f->path, g->path);
            assert_false(strncmp(f->path, g->path, length) == 0 && g->path[length] == '.');
        }
    }
}

static void test_tables(void **state)
{
    (void)state;
    check_table(gl_model_fields);
    check_table(gl_cluster_fields);
    check_table(gl_gpu_fields);
    check_table(gl_link_fields);
}

/* The defaults that the schema prints are those that loading gives. */
static void test_printed_defaults_are_true(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    const gl_workload defaults = gl_workload_defaults();
    for (const gl_field *f = gl_model_fields; f->path != NULL; f++) {
        gl_cell value = gl_field_cell(f, &defaults, arena);
        char text[64];
        const char *printed = f->initial != NULL ? f->initial : "";
        if (f->type == GL_FIELD_BOOL)
            assert_string_equal(printed, value.as.boolean ? "true" : "false");
        if (f->type == GL_FIELD_ORDER)
            assert_string_equal(printed, value.as.text);
        if (f->type == GL_FIELD_CHOICE && value.type == GL_CELL_TEXT)
            assert_string_equal(printed, value.as.text);
        if (f->type == GL_FIELD_INT && value.as.integer != 0 && printed[0] != 'd') {
            snprintf(text, sizeof text, "%lld", (long long)value.as.integer);
            assert_string_equal(printed, text);
        }
    }
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type), cmocka_unit_test(test_required),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_figures),
        cmocka_unit_test(test_lists),      cmocka_unit_test(test_schema),
        cmocka_unit_test(test_tables),     cmocka_unit_test(test_printed_defaults_are_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
