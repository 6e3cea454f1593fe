/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/options.h"
#include "tests/support.h"

typedef struct sample_options {
    bool quiet, verbose, allow;
    const char *output;
    gl_texts clusters;
    long long top;
    double headroom, budget_s;
    int format;
} sample_options;

#define AT(member) .offset = offsetof(sample_options, member)

static const char *const formats[] = {"table", "csv", "json", NULL};

static const gl_option table[] = {
    {.name = "cluster",
     .letter = 'c',
     .type = GL_OPTION_LIST,
     .value_name = "CLUSTER",
     .help = "A cluster; may be given several times.",
     AT(clusters)},
    {.name = "output",
     .letter = 'o',
     .type = GL_OPTION_TEXT,
     .value_name = "FILE",
     .help = "Where the answer goes. Default: standard output.",
     AT(output)},
    {.name = "format",
     .type = GL_OPTION_CHOICE,
     .value_name = "FORMAT",
     .choices = formats,
     .help = "Form of the answer. Default: table.",
     AT(format)},
    {.name = "top",
     .type = GL_OPTION_INTEGER,
     .value_name = "K",
     .minimum = 1,
     .maximum = 1000,
     .help = "How many layouts are shown. Default: 10.",
     AT(top)},
    {.name = "headroom",
     .type = GL_OPTION_QUANTITY,
     .value_name = "X",
     .dimension = GL_NUMBER,
     .help = "Factor on required bandwidth. Default: 1.25.",
     AT(headroom)},
    {.name = "budget",
     .type = GL_OPTION_QUANTITY,
     .value_name = "TIME",
     .dimension = GL_SECONDS,
     .minimum = 1,
     .maximum = 3600,
     .help = "Time to spend. Default: 120 s.",
     AT(budget_s)},
    {.name = "allow-extrapolation-beyond-the-evidence",
     .type = GL_OPTION_FLAG,
     .help = "Answer beyond what the evidence carries, and mark such an answer as extrapolated.",
     AT(allow)},
    {.name = "quiet", .letter = 'q', .type = GL_OPTION_FLAG, .help = "No messages.", AT(quiet)},
    {.name = "verbose", .letter = 'v', .type = GL_OPTION_FLAG, .help = "More.", AT(verbose)},
    {.name = NULL}};

static const gl_command plan = {.name = "plan",
                                .synopsis = "MODEL.yaml --cluster CLUSTER [options]",
                                .summary = "Plans one model on one or several clusters.",
                                .examples = "gpulink-plan plan a.yaml --cluster x\n"
                                            "gpulink-plan plan a.yaml --cluster x --format csv\n",
                                .options = table,
                                .minimum_arguments = 1,
                                .maximum_arguments = 2};

/* The result of one parse; reset for each. */
static struct {
    gl_arena *arena;
    sample_options options;
    gl_texts arguments;
    bool help;
    gl_error err;
} got;

static int set_up(void **state)
{
    (void)state;
    got.arena = gl_arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gl_arena_destroy(got.arena);
    return 0;
}

/* Parses a command line given as one text, words apart by single blanks. */
static bool parse(const char *line)
{
    char verb[] = "plan", *words[32] = {verb};
    int count = 1;
    char *copy = gl_arena_strdup(got.arena, line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        words[count++] = word;
    got.options = (sample_options){.top = 10, .headroom = 1.25, .output = "-"};
    got.arguments = (gl_texts){0};
    memset(&got.err, 0, sizeof got.err);
    return gl_options_parse(&plan, count, words, got.arena, &got.options, &got.arguments, &got.help,
                            &got.err);
}

static void defaults_stay(void **state)
{
    (void)state;
    assert_true(parse("m.yaml"));
    assert_int_equal(got.options.top, 10);
    assert_string_equal(got.options.output, "-");
    assert_false(got.options.quiet);
    assert_false(got.help);
    assert_int_equal(got.arguments.count, 1);
    assert_string_equal(got.arguments.items[0], "m.yaml");
}

static void every_type_is_stored(void **state)
{
    (void)state;
    assert_true(parse("--cluster a --top 5 m.yaml --cluster=b --format json --headroom=1.5 "
                      "--budget 2min -q --output - n.yaml"));
    assert_int_equal(got.options.clusters.count, 2);
    assert_string_equal(got.options.clusters.items[0], "a");
    assert_string_equal(got.options.clusters.items[1], "b");
    assert_int_equal(got.options.top, 5);
    assert_int_equal(got.options.format, 2);
    assert_true(got.options.headroom == 1.5);
    assert_true(got.options.budget_s == 120);
    assert_true(got.options.quiet);
    assert_string_equal(got.options.output, "-");
    assert_int_equal(got.arguments.count, 2);
    assert_string_equal(got.arguments.items[1], "n.yaml");
}

static void letters_and_double_dash(void **state)
{
    (void)state;
    assert_true(parse("-qv -oout.txt -c a m.yaml"));
    assert_true(got.options.quiet && got.options.verbose);
    assert_string_equal(got.options.output, "out.txt");
    assert_string_equal(got.options.clusters.items[0], "a");
    assert_true(parse("-- --top -q"));
    assert_int_equal(got.arguments.count, 2);
    assert_string_equal(got.arguments.items[0], "--top");
    assert_false(got.options.quiet);
    assert_true(parse("- m.yaml"));
    assert_string_equal(got.arguments.items[0], "-");
    assert_true(parse("m.yaml --output="));
    assert_string_equal(got.options.output, "");
    assert_true(parse("m.yaml --output=--odd"));
    assert_string_equal(got.options.output, "--odd");
}

static void help_ends_the_checks(void **state)
{
    (void)state;
    assert_true(parse("--help --bogus"));
    assert_true(got.help);
    assert_true(parse("-qh"));
    assert_true(got.help);
    assert_true(parse("m.yaml"));
    assert_false(got.help);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    const struct {
        const char *line, *text;
    } cases[] = {
        {"m.yaml --form json", "unknown option '--form'; did you mean '--format'?"},
        {"m.yaml --formt json", "unknown option '--formt'; did you mean '--format'?"},
        {"m.yaml --allow", "unknown option '--allow'; did you mean "
                           "'--allow-extrapolation-beyond-the-evidence'?"},
        {"m.yaml --hlep", "unknown option '--hlep'; did you mean '--help'?"},
        {"m.yaml --zzz=3", "unknown option '--zzz'"},
        {"m.yaml -x", "unknown option '-x'"},
        {"m.yaml -qx", "unknown option '-x'"},
        {"m.yaml --quiet=1", "--quiet: takes no value"},
        {"m.yaml --output", "--output: needs a value: FILE"},
        {"m.yaml -o", "--output: needs a value: FILE"},
        {"m.yaml --output --format json", "--output: needs a value, FILE, but '--format' follows"},
        {"m.yaml --format jsn",
         "--format: 'jsn' is none of table, csv, json; did you mean 'json'?"},
        {"m.yaml --format xml", "--format: 'xml' is none of table, csv, json"},
        {"m.yaml --top 0", "--top: 0 is too small; at least 1"},
        {"m.yaml --top 1001", "--top: 1001 is too large; at most 1000"},
        {"m.yaml --top 2.5", "--top: '2.5' is not a whole number, such as 4096"},
        {"m.yaml --budget 120", "--budget: '120' has no unit; needed: seconds, such as 3.5 us"},
        {"m.yaml --budget 2h", "--budget: 7200 s is too large; at most 3600 s"},
        {"m.yaml --top 3 --headroom 2 --top 3", "--top: is given twice, and takes one value"},
        {"m.yaml -o a -ob", "--output: is given twice, and takes one value"},
        {"m.yaml --format csv --format=json", "--format: is given twice, and takes one value"},
        {"", "an argument is missing; usage: plan MODEL.yaml --cluster CLUSTER [options]"},
        {"a b c", "unexpected argument 'c'; usage: plan MODEL.yaml --cluster CLUSTER [options]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1400];
        assert_false(parse(cases[i].line));
        assert_int_equal(got.err.status, GL_ERROR_USAGE);
        assert_string_equal(gl_error_text(&got.err, text, sizeof text), cases[i].text);
    }
}

static void command_help(void **state)
{
    (void)state;
    gl_output *out = gl_output_memory();
    gl_options_help("gpulink-plan", &plan, out);
    assert_string_equal(
        gl_output_text(out),
        "Usage: gpulink-plan plan MODEL.yaml --cluster CLUSTER [options]\n"
        "\n"
        "Plans one model on one or several clusters.\n"
        "\n"
        "Examples:\n"
        "  gpulink-plan plan a.yaml --cluster x\n"
        "  gpulink-plan plan a.yaml --cluster x --format csv\n"
        "\n"
        "Options:\n"
        "  -c, --cluster CLUSTER       A cluster; may be given several times.\n"
        "  -o, --output FILE           Where the answer goes. Default: standard output.\n"
        "      --format FORMAT         Form of the answer. Default: table. One of: table, csv, "
        "json.\n"
        "      --top K                 How many layouts are shown. Default: 10.\n"
        "      --headroom X            Factor on required bandwidth. Default: 1.25.\n"
        "      --budget TIME           Time to spend. Default: 120 s.\n"
        "      --allow-extrapolation-beyond-the-evidence\n"
        "                              Answer beyond what the evidence carries, and mark such an "
        "answer as\n"
        "                              extrapolated.\n"
        "  -q, --quiet                 No messages.\n"
        "  -v, --verbose               More.\n"
        "  -h, --help                  Print this help and exit.\n");
    gl_output_discard(out);
}

static void program_help(void **state)
{
    (void)state;
    const gl_command *const commands[] = {&plan};
    gl_output *out = gl_output_memory();
    gl_program_help("gpulink-plan", "Plans GPU interconnects.", "gpulink-plan a.yaml\n", commands,
                    1, out);
    const char *text = gl_output_text(out);
    assert_non_null(strstr(text, "Usage: gpulink-plan COMMAND"));
    assert_non_null(strstr(text, "Plans GPU interconnects.\n"));
    assert_non_null(strstr(
        text, "  plan                        Plans one model on one or several clusters.\n"));
    assert_non_null(strstr(text, "--version"));
    gl_output_discard(out);
}

#define PARSING(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PARSING(defaults_stay),           PARSING(every_type_is_stored),
        PARSING(letters_and_double_dash), PARSING(help_ends_the_checks),
        PARSING(mistakes_are_explained),  cmocka_unit_test(command_help),
        cmocka_unit_test(program_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
