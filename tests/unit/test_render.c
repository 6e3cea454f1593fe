/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/render.h"
#include "tests/support.h"

#include "common/utf8.h"

#include <jansson.h>

static const gl_column traffic_columns[] = {
    {"dimension", NULL, GL_NUMBER, 0},
    {"operation", "what moves", GL_NUMBER, 0},
    {"size_bytes", "size", GL_BYTES, 0},
    {"calls_per_step", "calls", GL_NUMBER, 0},
    {"time_s", "time", GL_SECONDS, 0},
    {"fits", NULL, GL_NUMBER, 0},
    {"wire_bytes", NULL, GL_BYTES, GL_FOR_MACHINES},
    {"share", "share of the step", GL_FRACTION, GL_FOR_PEOPLE},
};

static const gl_column memory_columns[] = {
    {"per_gpu_bytes", "per GPU", GL_BYTES, GL_AS_GIB},
    {"capex", "investment", GL_NUMBER, GL_FOR_ALL | GL_AS_MONEY},
    {"note", NULL, GL_NUMBER, 0},
};

static const gl_column break_even_columns[] = {{"quantity", NULL, GL_NUMBER, 0},
                                               {"value", NULL, GL_BYTES_PER_S, 0}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* One report in an arena. */
typedef struct sample {
    gl_arena *arena;
    gl_report report;
    gl_scenario scenarios[2];
    gl_scenario comparison;
} sample;

static void add_traffic(gl_table *table, const char *dimension, const char *operation,
                        double size_bytes, double time_s)
{
    gl_cell *row = gl_table_add_row(table);
    row[0] = gl_text(dimension);
    row[1] = gl_text(operation);
    row[2] = gl_real(size_bytes);
    row[3] = gl_integer(10);
    row[4] = gl_real(time_s);
    row[5] = gl_boolean(true);
    row[6] = gl_real(12345.678);
    row[7] = gl_real(0.123);
}

static gl_table **make_tables(gl_arena *arena)
{
    gl_table **tables = GL_ARENA_NEW(arena, gl_table *, 3);
    tables[0] =
        gl_table_create(arena, "traffic", "Traffic", traffic_columns, COUNT(traffic_columns));
    tables[1] = gl_table_create(arena, "memory", "Memory", memory_columns, COUNT(memory_columns));
    tables[2] = gl_table_create(arena, "links", "Links", break_even_columns, 2);
    add_traffic(tables[0], "dp", "gradients", 33554432, 1.234e-3);
    add_traffic(tables[0], "tp", "=SUM(A1), \"all\"", 450.6e6, NAN);
    tables[1]->record = true;
    gl_cell *row = gl_table_add_row(tables[1]);
    row[0] = gl_real(48920000000.0);
    row[1] = gl_real(1234567);
    return tables;
}

static int set_up(void **state)
{
    gl_arena *arena = gl_arena_create();
    sample *s = GL_ARENA_NEW(arena, sample, 1);
    s->arena = arena;
    static const char *warnings[] = {"nothing was measured", "two lines\nof text"};
    s->scenarios[0] = (gl_scenario){.name = "hgx",
                                    .tables = make_tables(arena),
                                    .table_count = 3,
                                    .warnings = warnings,
                                    .warning_count = 2,
                                    .headline = "Step 1.2 s.\nIt fits."};
    s->scenarios[1] =
        (gl_scenario){.name = "-pcie", .tables = make_tables(arena), .table_count = 3};
    s->report = (gl_report){.scenarios = s->scenarios, .scenario_count = 1};
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    gl_arena_destroy(((sample *)*state)->arena);
    return 0;
}

/* The rendered text, in the sample's arena. */
static const char *render(sample *s, gl_format format, gl_render_options options)
{
    gl_output *out = gl_output_memory();
    gl_error err;
    if (!gl_render(&s->report, format, &options, out, &err))
        fail_msg("%s", err.message);
    const char *text = gl_arena_strdup(s->arena, gl_output_text(out));
    gl_output_discard(out);
    return text;
}

static void text_is_aligned(void **state)
{
    assert_string_equal(
        render(*state, GL_FORMAT_TABLE, (gl_render_options){0}),
        "Step 1.2 s.\n"
        "It fits.\n"
        "\n"
        "Traffic\n"
        "-------\n"
        "dimension  what moves         size  calls     time  fits  share of the step\n"
        "dp         gradients        32 MiB     10  1.23 ms  yes              12.3 %\n"
        "tp         =SUM(A1), \"all\"  451 MB     10        -  yes              12.3 %\n"
        "\n"
        "Memory\n"
        "------\n"
        "per GPU     45.56 GiB\n"
        "investment  1,234,567\n"
        "\n"
        "Warnings\n"
        "--------\n"
        "- nothing was measured\n"
        "- two lines\n"
        "  of text\n");
}

static void narrow_text_wraps_headings_then_texts(void **state)
{
    assert_string_equal(
        render(*state, GL_FORMAT_TABLE, (gl_render_options){.width = 60, .only_table = "traffic"}),
        "Step 1.2 s.\n"
        "It fits.\n"
        "\n"
        "Traffic\n"
        "-------\n"
        "dimension  what moves     size  calls     time  fits   share\n"
        "                                                      of the\n"
        "                                                        step\n"
        "dp         gradients    32 MiB     10  1.23 ms  yes   12.3 %\n"
        "tp         =SUM(A1),    451 MB     10        -  yes   12.3 %\n"
        "           \"all\"\n"
        "\n"
        "Warnings\n"
        "--------\n"
        "- nothing was measured\n"
        "- two lines\n"
        "  of text\n");
}

static void words_stay_whole_on_a_page_with_room_for_them(void **state)
{
    static const char *const word = "extrapolated-in-size";
    sample *s = *state;
    add_traffic(s->scenarios[0].tables[0], "pp", "all-to-all of extrapolated-in-size tokens", 1, 1);
    for (int width = 70; width <= 120; width += 10)
        assert_non_null(
            strstr(render(s, GL_FORMAT_TABLE, (gl_render_options){.width = width}), word));
    /* Where nothing else helps, they are broken. */
    assert_null(strstr(render(s, GL_FORMAT_TABLE, (gl_render_options){.width = 40}), word));
}

/* The columns of the widest line. */
static size_t page_width(const char *text)
{
    size_t widest = 0;
    while (*text != '\0') {
        char line[1000];
        size_t length = strcspn(text, "\n");
        assert_true(length < sizeof line);
        memcpy(line, text, length);
        line[length] = '\0';
        if (gl_utf8_width(line) > widest)
            widest = gl_utf8_width(line);
        assert_true(length == 0 || line[length - 1] != ' ');
        text += length + (text[length] == '\n');
    }
    return widest;
}

static void long_texts_stay_on_the_page(void **state)
{
    sample *s = *state;
    gl_table *traffic = s->scenarios[0].tables[0];
    add_traffic(traffic, "µµµ 中文中文中文中文中文中文中文中文",
                "a very long description of what moves between the ranks of one group, with "
                "aWordThatIsLongerThanAnyColumnCouldPossiblyBeOnThisNarrowPageOfText",
                1, 1);
    const int widths[] = {200, 100, 80, 70};
    for (size_t i = 0; i < COUNT(widths); i++)
        assert_true(
            page_width(render(s, GL_FORMAT_TABLE, (gl_render_options){.width = widths[i]})) <=
            (size_t)widths[i]);
    /* Too narrow for the headings: wider, but whole. */
    assert_non_null(strstr(render(s, GL_FORMAT_TABLE, (gl_render_options){.width = 5}), "45.56"));
}

static void colour_is_only_emphasis(void **state)
{
    const char *text = render(*state, GL_FORMAT_TABLE, (gl_render_options){.color = true});
    assert_non_null(strstr(text, "\033[1mTraffic\033[0m\n\033[2mdimension"));
    assert_null(strstr(text, "---"));
    assert_null(strchr(render(*state, GL_FORMAT_TABLE, (gl_render_options){0}), '\033'));
}

static void control_characters_do_not_reach_people(void **state)
{
    sample *s = *state;
    s->scenarios[0].tables[0]->cells[0] = gl_text("d\033[31m\np");
    s->scenarios[0].headline = "bell\a";
    const char *text = render(s, GL_FORMAT_TABLE, (gl_render_options){0});
    assert_non_null(strstr(text, "d?[31m p"));
    assert_non_null(strstr(text, "bell?"));
    text = render(s, GL_FORMAT_MARKDOWN, (gl_render_options){0});
    assert_non_null(strstr(text, "| d?\\[31m p |"));
}

static void several_scenarios_are_named(void **state)
{
    sample *s = *state;
    s->report.scenario_count = 2;
    const char *text = render(s, GL_FORMAT_TABLE, (gl_render_options){.only_table = "links"});
    assert_string_equal(text, "hgx\n"
                              "===\n"
                              "\n"
                              "Step 1.2 s.\n"
                              "It fits.\n"
                              "\n"
                              "Links\n"
                              "-----\n"
                              "(no rows)\n"
                              "\n"
                              "Warnings\n"
                              "--------\n"
                              "- nothing was measured\n"
                              "- two lines\n"
                              "  of text\n"
                              "\n"
                              "-pcie\n"
                              "=====\n"
                              "\n"
                              "Links\n"
                              "-----\n"
                              "(no rows)\n");
}

static void markdown_has_pipe_tables(void **state)
{
    assert_string_equal(
        render(*state, GL_FORMAT_MARKDOWN, (gl_render_options){0}),
        "Step 1.2 s.  \n"
        "It fits.\n"
        "\n"
        "## Traffic\n"
        "\n"
        "| dimension | what moves | size | calls | time | fits | share of the step |\n"
        "| --- | --- | ---: | ---: | ---: | --- | ---: |\n"
        "| dp | gradients | 32 MiB | 10 | 1.23 ms | yes | 12.3 % |\n"
        "| tp | =SUM(A1), \"all\" | 451 MB | 10 | - | yes | 12.3 % |\n"
        "\n"
        "## Memory\n"
        "\n"
        "| quantity | value |\n"
        "| --- | --- |\n"
        "| per GPU | 45.56 GiB |\n"
        "| investment | 1,234,567 |\n"
        "\n"
        "## Warnings\n"
        "\n"
        "- nothing was measured\n"
        "- two lines\n"
        "  of text\n"
        "\n");
}

static void markdown_escapes_markup(void **state)
{
    sample *s = *state;
    s->scenarios[0].tables[0]->cells[0] = gl_text("a|b <i> *x* all_reduce `c`");
    assert_non_null(strstr(render(s, GL_FORMAT_MARKDOWN, (gl_render_options){0}),
                           "| a\\|b \\<i\\> \\*x\\* all_reduce \\`c\\` |"));
}

static void csv_is_rfc_4180(void **state)
{
    sample *s = *state;
    s->report.scenario_count = 2;
    assert_string_equal(
        render(s, GL_FORMAT_CSV, (gl_render_options){0}),
        "scenario,dimension,operation,size_bytes,calls_per_step,time_s,fits,wire_bytes\r\n"
        "hgx,dp,gradients,33554432,10,0.001234,true,12345.678\r\n"
        "hgx,tp,\"'=SUM(A1), \"\"all\"\"\",450600000,10,,true,12345.678\r\n"
        "'-pcie,dp,gradients,33554432,10,0.001234,true,12345.678\r\n"
        "'-pcie,tp,\"'=SUM(A1), \"\"all\"\"\",450600000,10,,true,12345.678\r\n");
    assert_string_equal(render(s, GL_FORMAT_CSV, (gl_render_options){.csv_table = "memory"}),
                        "scenario,per_gpu_bytes,capex,note\r\n"
                        "hgx,48920000000,1234567,\r\n"
                        "'-pcie,48920000000,1234567,\r\n");
    assert_string_equal(render(s, GL_FORMAT_CSV, (gl_render_options){.csv_table = "links"}),
                        "scenario,quantity,value\r\n");
}

static void csv_texts_never_run_as_formulas(void **state)
{
    sample *s = *state;
    const struct {
        const char *text, *cell;
    } cases[] = {{"=1", "\r\nhgx,'=1,"},
                 {"+1", "\r\nhgx,'+1,"},
                 {"-1", "\r\nhgx,'-1,"},
                 {"@x", "\r\nhgx,'@x,"},
                 {"\tx", "\r\nhgx,'\tx,"},
                 {"\rx", "\r\nhgx,\"'\rx\","},
                 {"a=1", "\r\nhgx,a=1,"},
                 {"", "\r\nhgx,,"},
                 {"two\nlines", "\r\nhgx,\"two\nlines\","},
                 {"\xFF", "\r\nhgx,\xEF\xBF\xBD,"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        s->scenarios[0].tables[0]->cells[0] = gl_text(cases[i].text);
        assert_non_null(strstr(render(s, GL_FORMAT_CSV, (gl_render_options){0}), cases[i].cell));
    }
}

static void csv_joins_the_columns_of_all_scenarios(void **state)
{
    sample *s = *state;
    static const gl_column other[] = {{"note", NULL, GL_NUMBER, 0}, {"extra", NULL, GL_NUMBER, 0}};
    gl_table *table = gl_table_create(s->arena, "memory", NULL, other, 2);
    gl_cell *row = gl_table_add_row(table);
    row[0] = gl_text("n");
    row[1] = gl_integer(INT64_MAX);
    s->scenarios[1].tables[1] = table;
    s->report.scenario_count = 2;
    assert_string_equal(render(s, GL_FORMAT_CSV, (gl_render_options){.csv_table = "memory"}),
                        "scenario,per_gpu_bytes,capex,note,extra\r\n"
                        "hgx,48920000000,1234567,,\r\n"
                        "'-pcie,,,n,9223372036854775807\r\n");
}

static json_t *render_json(sample *s, gl_render_options options)
{
    json_error_t error;
    const char *text = render(s, GL_FORMAT_JSON, options);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("%s: %s", error.text, text);
    return root;
}

static void json_holds_full_precision(void **state)
{
    sample *s = *state;
    s->report.scenario_count = 2;
    json_t *root = render_json(s, (gl_render_options){0});
    assert_int_equal(json_integer_value(json_object_get(root, "schema_version")), 1);
    json_t *scenarios = json_object_get(root, "scenarios");
    assert_int_equal(json_array_size(scenarios), 2);
    json_t *first = json_array_get(scenarios, 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "hgx");
    json_t *traffic = json_object_get(first, "traffic");
    assert_int_equal(json_array_size(traffic), 2);
    json_t *row = json_array_get(traffic, 0);
    assert_true(json_number_value(json_object_get(row, "wire_bytes")) == 12345.678);
    assert_true(json_number_value(json_object_get(row, "size_bytes")) == 33554432);
    assert_true(json_is_integer(json_object_get(row, "calls_per_step")));
    assert_true(json_is_true(json_object_get(row, "fits")));
    assert_null(json_object_get(row, "share"));
    assert_true(json_is_null(json_object_get(json_array_get(traffic, 1), "time_s")));
    assert_true(json_is_object(json_object_get(first, "memory")));
    assert_true(json_is_null(json_object_get(json_object_get(first, "memory"), "note")));
    assert_int_equal(json_array_size(json_object_get(first, "links")), 0);
    assert_int_equal(json_array_size(json_object_get(first, "warnings")), 2);
    json_t *second = json_array_get(scenarios, 1);
    assert_true(json_is_array(json_object_get(second, "warnings")));
    assert_null(json_object_get(root, "comparison"));
    json_decref(root);
}

static void json_of_one_table(void **state)
{
    json_t *root = render_json(*state, (gl_render_options){.only_table = "memory"});
    json_t *first = json_array_get(json_object_get(root, "scenarios"), 0);
    assert_non_null(json_object_get(first, "memory"));
    assert_null(json_object_get(first, "traffic"));
    json_decref(root);
}

static void a_comparison_stands_beside_the_scenarios(void **state)
{
    sample *s = *state;
    gl_table **tables = GL_ARENA_NEW(s->arena, gl_table *, 1);
    tables[0] = gl_table_create(s->arena, "break_even", "Break-even", break_even_columns, 2);
    gl_cell *row = gl_table_add_row(tables[0]);
    row[0] = gl_text("inter-node bandwidth");
    row[1] = gl_real(25e9);
    s->comparison = (gl_scenario){.name = "comparison", .tables = tables, .table_count = 1};
    s->report.comparison = &s->comparison;
    json_t *root = render_json(s, (gl_render_options){0});
    json_t *rows = json_object_get(json_object_get(root, "comparison"), "break_even");
    assert_int_equal(json_array_size(rows), 1);
    assert_int_equal(json_array_size(json_object_get(root, "scenarios")), 1);
    json_decref(root);
    assert_string_equal(render(s, GL_FORMAT_CSV, (gl_render_options){.csv_table = "break_even"}),
                        "scenario,quantity,value\r\n"
                        "comparison,inter-node bandwidth,25000000000\r\n");
    assert_non_null(strstr(render(s, GL_FORMAT_TABLE, (gl_render_options){0}),
                           "comparison\n==========\n\nBreak-even\n----------\n"
                           "quantity                  value\n"
                           "inter-node bandwidth  25.0 GB/s\n"));
}

static void unknown_tables_are_usage_errors(void **state)
{
    sample *s = *state;
    const struct {
        gl_format format;
        gl_render_options options;
        const char *message;
    } cases[] = {
        {GL_FORMAT_CSV,
         {.csv_table = "trffic"},
         "no table 'trffic'; did you mean 'traffic'? there are: traffic, memory, links"},
        {GL_FORMAT_JSON,
         {.only_table = "cost"},
         "no table 'cost'; there are: traffic, memory, links"},
        {GL_FORMAT_TABLE, {.only_table = "\n"}, "no table '?'; there are: traffic, memory, links"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        gl_output *out = gl_output_memory();
        gl_error err = {0};
        assert_false(gl_render(&s->report, cases[i].format, &cases[i].options, out, &err));
        assert_int_equal(err.status, GL_ERROR_USAGE);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(gl_output_text(out), "");
        gl_output_discard(out);
    }
}

static void an_empty_report(void **state)
{
    (void)state;
    const gl_report empty = {0};
    gl_output *out = gl_output_memory();
    gl_error err = {0};
    assert_false(gl_render(&empty, GL_FORMAT_CSV, NULL, out, &err));
    assert_int_equal(err.status, GL_ERROR_USAGE);
    assert_true(gl_render(&empty, GL_FORMAT_TABLE, NULL, out, &err));
    assert_true(gl_render(&empty, GL_FORMAT_MARKDOWN, NULL, out, &err));
    assert_string_equal(gl_output_text(out), "");
    assert_true(gl_render(&empty, GL_FORMAT_JSON, NULL, out, &err));
    assert_string_equal(gl_output_text(out),
                        "{\n  \"schema_version\": 1,\n  \"scenarios\": []\n}\n");
    gl_output_discard(out);
}

#define RENDERING(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RENDERING(text_is_aligned),
        RENDERING(words_stay_whole_on_a_page_with_room_for_them),
        RENDERING(narrow_text_wraps_headings_then_texts),
        RENDERING(long_texts_stay_on_the_page),
        RENDERING(colour_is_only_emphasis),
        RENDERING(control_characters_do_not_reach_people),
        RENDERING(several_scenarios_are_named),
        RENDERING(markdown_has_pipe_tables),
        RENDERING(markdown_escapes_markup),
        RENDERING(csv_is_rfc_4180),
        RENDERING(csv_texts_never_run_as_formulas),
        RENDERING(csv_joins_the_columns_of_all_scenarios),
        RENDERING(json_holds_full_precision),
        RENDERING(json_of_one_table),
        RENDERING(a_comparison_stands_beside_the_scenarios),
        RENDERING(unknown_tables_are_usage_errors),
        cmocka_unit_test(an_empty_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
