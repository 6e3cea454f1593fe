/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers that `explain` puts into a formula give the figure that it explains. */
#include "tests/bundled.h"

#include "planner/report/explain.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- sums and products with units ---- */

static double sum(const char **text);

static bool take(const char **text, const char *sign)
{
    *text += strspn(*text, " ");
    size_t length = strlen(sign);
    if (strncmp(*text, sign, length) != 0)
        return false;
    *text += length;
    return true;
}

/* The scale of the unit at *text, which is moved behind it; 1 when there is none. */
static double unit(const char **text)
{
    static const struct {
        const char *name;
        double scale;
    } units[] = {{"B", 1},
                 {"kB", 1e3},
                 {"MB", 1e6},
                 {"GB", 1e9},
                 {"TB", 1e12},
                 {"KiB", 1024.0},
                 {"MiB", 1024.0 * 1024},
                 {"GiB", 1024.0 * 1024 * 1024},
                 {"GB/s", 1e9},
                 {"TB/s", 1e12},
                 {"TFLOP/s", 1e12},
                 {"PFLOP/s", 1e15},
                 {"ns", 1e-9},
                 {"us", 1e-6},
                 {"ms", 1e-3},
                 {"s", 1}};
    const char *start = *text + strspn(*text, " ");
    size_t length = 0;
    while (isalpha((unsigned char)start[length]) || start[length] == '/')
        length++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == length && strncmp(units[i].name, start, length) == 0) {
            *text = start + length;
            return units[i].scale;
        }
    return 1;
}

/* Words, and remarks in brackets. */
static void skip_words(const char **text)
{
    for (;;) {
        *text += strspn(*text, " ");
        if ((*text)[0] == '(' && isalpha((unsigned char)(*text)[1]) &&
            strncmp(*text, "(min(", 5) != 0 && strncmp(*text, "(max(", 5) != 0)
            *text += strcspn(*text, ")") + 1;
        else if (isalpha((unsigned char)**text) && strncmp(*text, "min(", 4) != 0 &&
                 strncmp(*text, "max(", 4) != 0)
            while (isalpha((unsigned char)**text))
                (*text)++;
        else
            return;
    }
}

static double factor(const char **text)
{
    bool least = take(text, "min("), most = !least && take(text, "max(");
    if (least || most || take(text, "(")) {
        double value = sum(text);
        while (take(text, ",")) {
            double other = sum(text);
            value = least ? fmin(value, other) : fmax(value, other);
        }
        assert_true(take(text, ")"));
        return value;
    }
    char *end;
    double value = strtod(*text, &end);
    if (end == *text)
        fail_msg("no number at '%s'", *text);
    *text = end;
    value *= unit(text);
    skip_words(text);
    return value;
}

static double product(const char **text)
{
    double value = factor(text);
    for (;;) {
        if (take(text, "·"))
            value *= factor(text);
        else if (take(text, "/"))
            value /= factor(text);
        else
            return value;
    }
}

static double sum(const char **text)
{
    double value = product(text);
    for (;;) {
        if (take(text, "+"))
            value += product(text);
        else if (take(text, "−"))
            value -= product(text);
        else
            return value;
    }
}

static double evaluate(const char *text)
{
    const char *rest = text;
    double value = sum(&rest);
    if (*rest != '\0')
        fail_msg("'%s' is left of '%s'", rest, text);
    return value;
}

static void test_evaluation_of_the_test_itself(void **state)
{
    (void)state;
    assert_close(evaluate("2 · 32 · 4 MiB"), 268435456, 0);
    assert_close(evaluate("min(2·(4 − 0 − 1) + (5 − 1)·4 + 1, 128·5)"), 23, 0);
    assert_close(evaluate("23/5 · 20 · 8192 · 44032.00 B (mean)"), 23.0 / 5 * 20 * 8192 * 44032, 0);
    assert_close(evaluate("1 · (max(6 / (3 TFLOP/s), 2 B / 1 GB/s) + 1 · 4 us)"), 4.002e-6, 1e-12);
}

/* ---- plans ---- */

typedef struct explained {
    gl_arena *arena;
    gl_workload workload;
    gl_cluster cluster;
    gl_plan plan;
    gl_explanation all;
} explained;

static void explain(explained *x, const char *model, const gl_setting *settings, size_t count)
{
    const gl_plan_options options = {.headroom = 1.25, .stage = -1, .allow_extrapolation = true};
    x->arena = gl_arena_create();
    load_bundled_model(model, settings, count, x->arena, &x->workload);
    load_bundled_cluster("hgx-h100-16-ndr", x->arena, &x->cluster);
    build_plan(&x->workload, &x->cluster, &options, x->arena, &x->plan);
    gl_explain(&x->plan, x->arena, &x->all);
}

static double value_of(const gl_figure_text *figure)
{
    return figure->value.type == GL_CELL_INTEGER ? (double)figure->value.as.integer
                                                 : figure->value.as.real;
}

/* Figures whose name begins and ends so, evaluated: how many there were. */
static size_t check_figures(const explained *x, const char *prefix, const char *suffix,
                            double relative, double absolute)
{
    size_t checked = 0;
    for (size_t i = 0; i < x->all.figure_count; i++) {
        const gl_figure_text *figure = &x->all.figures[i];
        size_t length = strlen(figure->name), end = strlen(suffix);
        if (strncmp(figure->name, prefix, strlen(prefix)) != 0 || length < end ||
            strcmp(figure->name + length - end, suffix) != 0 || figure->numbers == NULL ||
            strstr(figure->numbers, "against") != NULL || strstr(figure->numbers, "…") != NULL)
            continue;
        double expected = value_of(figure), found = evaluate(figure->numbers);
        if (!(fabs(found - expected) <= relative * fabs(expected) + absolute))
            fail_msg("%s: %s = %g, not %g", figure->name, figure->numbers, found, expected);
        checked++;
    }
    return checked;
}

static const gl_figure_text *find(const explained *x, const char *name)
{
    for (size_t i = 0; i < x->all.figure_count; i++)
        if (strcmp(x->all.figures[i].name, name) == 0)
            return &x->all.figures[i];
    fail_msg("no figure %s", name);
    return NULL;
}

static const struct {
    const char *model;
    gl_setting settings[3];
    size_t setting_count;
} plans[] = {
    {.model = "llama-1.1b-ddp"},
    {.model = "llama3-70b"},
    /* The last stage is the fullest: logits of a split vocabulary. */
    {"llama-8b-16l-tp", {{"parallel.vocab_parallel", "true", "--set"}}, 1},
    {"llama-8b-16l-tp",
     {{"parallel.vocab_parallel", "false", "--set"},
      {"parallel.sequence_parallel", "true", "--set"}},
     2},
    {"llama3-8b", {{"parallel.zero", "3", "--set"}, {"parallel.recompute", "full", "--set"}}, 2},
    {.model = "mixtral-8x7b"},
    {.model = "gpt3-175b"},
};
enum { PLANS = sizeof plans / sizeof plans[0] };

static void test_memory_with_numbers_gives_the_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLANS; i++) {
        explained x;
        explain(&x, plans[i].model, plans[i].settings, plans[i].setting_count);
        /* GiB with two decimals, at most six of them. */
        assert_true(check_figures(&x, "memory.", "", 1e-3, 0.03 * 1024 * 1024 * 1024) >= 10);
        gl_arena_destroy(x.arena);
    }
}

static void test_logits_are_those_of_the_model(void **state)
{
    (void)state;
    explained x;
    explain(&x, plans[0].model, NULL, 0);
    const gl_figure_text *logits = find(&x, "memory.logits_bytes");
    assert_close(evaluate(logits->numbers), value_of(logits), 1e-12);
    assert_non_null(strstr(logits->formula, "two FP32 copies"));
    gl_arena_destroy(x.arena);
    explain(&x, plans[2].model, plans[2].settings, plans[2].setting_count);
    logits = find(&x, "memory.logits_bytes");
    assert_close(evaluate(logits->numbers), value_of(logits), 1e-12);
    assert_non_null(strstr(logits->formula, "tokens · V / t"));
    gl_arena_destroy(x.arena);
}

static void test_compute_with_numbers_gives_the_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLANS; i++) {
        explained x;
        explain(&x, plans[i].model, plans[i].settings, plans[i].setting_count);
        size_t operators = x.plan.compute.operator_count;
        assert_int_equal(check_figures(&x, "compute.", ".forward_s", 0.01, 0), operators);
        assert_true(check_figures(&x, "compute.", ".backward_s", 0.01, 0) > 0);
        assert_true(check_figures(&x, "compute.", ".forward_flop", 1e-9, 0) > 0);
        gl_arena_destroy(x.arena);
    }
}

/* What most of a plan rests on can be seen, with its range and its source. */
static void test_gemm_efficiency_is_named(void **state)
{
    (void)state;
    explained x;
    explain(&x, "llama3-70b", NULL, 0);
    const gl_figure_text *gemm = find(&x, "compute.2.forward_s");
    assert_non_null(strstr(gemm->source, "GEMM efficiency of "));
    assert_non_null(strstr(gemm->source, " % to "));
    assert_non_null(strstr(gemm->source, x.cluster.gpu->gemm_efficiency.source));
    assert_non_null(strstr(gemm->note, "multiprocessors"));
    gl_arena_destroy(x.arena);
    /* A stated time is not taken apart by formulas that did not make it. */
    const gl_setting stated = {"compute.step", "300 ms", "--set"};
    explain(&x, "llama-1.1b-ddp", &stated, 1);
    gemm = find(&x, "compute.2.forward_s");
    assert_null(gemm->numbers);
    assert_string_equal(gemm->evidence, "stated");
    gl_arena_destroy(x.arena);
}

/* busbw of a row and bandwidth of a tier differ by the ranks of a node: the numbers say so. */
static void test_shares_between_nodes_are_explained(void **state)
{
    (void)state;
    explained x;
    const gl_setting settings[] = {{"parallel.dp", "16", "--set"},
                                   {"batch.global", "128", "--set"}};
    explain(&x, "llama-1.1b-ddp", settings, 2);
    const gl_figure_text *row = find(&x, "traffic.1.busbw_bytes_per_s");
    assert_non_null(strstr(row->note, " / 8, as a ring enters and leaves a node once for all 8"));
    const gl_figure_text *tier = find(&x, "required_bandwidth.inter_node.available_bytes_per_s");
    assert_non_null(strstr(tier->note, "shared by its ranks on a node"));
    assert_non_null(strstr(tier->note, " / 8"));
    const char *bytes = "required_bandwidth.inter_node.bytes_per_step_per_gpu";
    assert_non_null(strstr(find(&x, bytes)->numbers, " / 8 (traffic.1)"));
    gl_arena_destroy(x.arena);
    explain(&x, "llama-1.1b-ddp", NULL, 0);
    assert_null(find(&x, "traffic.1.busbw_bytes_per_s")->note);
    assert_int_equal(check_figures(&x, "required_bandwidth.intra_node.bytes", "", 0.01, 0) <= 1, 1);
    gl_arena_destroy(x.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evaluation_of_the_test_itself),
        cmocka_unit_test(test_memory_with_numbers_gives_the_memory),
        cmocka_unit_test(test_logits_are_those_of_the_model),
        cmocka_unit_test(test_compute_with_numbers_gives_the_times),
        cmocka_unit_test(test_gemm_efficiency_is_named),
        cmocka_unit_test(test_shares_between_nodes_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
