/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layouts that experts chose and published are among the fastest of all that are possible, by
 * predicted time: a model of the wrong trade-offs would put others first. With names of tables in
 * data/validation as arguments it prints the rank of every run in them; --of-its-time before them:
 * among layouts with the run's ZeRO stage, sequence parallelism, recomputation and no more CP.
 */
#include "planner/core/layout_text.h"
#include "planner/core/search.h"
#include "planner/input/conventions.h"
#include "tests/support.h"

static const double BEST_SHARE = 0.05;

typedef struct ranked {
    gl_run_case made;
    gl_search_result result;
    double share; /* of the layouts that fit, those that are faster */
} ranked;

/* What Megatron-LM did not have when the runs of 2021 were made, or they did without: to be kept.
 */
static const unsigned of_its_time = 1u << GL_SEARCH_ZERO | 1u << GL_SEARCH_SEQUENCE_PARALLEL |
                                    1u << GL_SEARCH_CP | 1u << GL_SEARCH_RECOMPUTE;

static bool rank_run(gl_conventions *conventions, const gl_known_run *run, unsigned fixed,
                     gl_arena *arena, ranked *out)
{
    gl_error err;
    gl_run_case_build(conventions, run, arena, &out->made);
    if (out->made.reason != NULL)
        return false;
    int gpus = (int)gl_workload_ranks(&out->made.workload);
    const gl_search_options options = {
        .gpus = &gpus, .gpu_count = 1, .jobs = 1, .top = 1, .fixed = fixed};
    if (!gl_search(&out->made.workload, out->made.cluster, &options, arena, &out->result, &err) ||
        !out->result.given_known || out->result.fitting == 0)
        return false;
    out->share = (double)out->result.faster_than_given / (double)out->result.fitting;
    return true;
}

static gl_known_runs load(const char *table, gl_arena *arena)
{
    gl_known_runs runs = {0};
    gl_diagnostics diagnostics = {.count = 0};
    const char *path = gl_arena_printf(arena, TEST_SOURCE_DIR "/../data/validation/%s.csv", table);
    if (!gl_known_runs_load(path, arena, &runs, &diagnostics))
        fail_msg("%s", diagnostics.items[0].message);
    return runs;
}

static gl_conventions *load_conventions(gl_arena *arena)
{
    gl_diagnostics diagnostics = {.count = 0};
    gl_conventions *conventions = gl_conventions_load(NULL, arena, &diagnostics);
    assert_non_null(conventions);
    return conventions;
}

/* ---- a few, as a test ---- */

static void assert_among_best(const char *table, const char *id, unsigned fixed)
{
    gl_arena *arena = gl_arena_create();
    gl_conventions *conventions = load_conventions(arena);
    gl_known_runs runs = load(table, arena);
    ranked r = {.share = 1};
    for (size_t i = 0; i < runs.count; i++)
        if (strcmp(runs.items[i].texts[GL_RUN_ID], id) == 0)
            assert_true(rank_run(conventions, &runs.items[i], fixed, arena, &r));
    if (r.share > BEST_SHARE)
        fail_msg("%s: %lld of %lld layouts are faster", id, (long long)r.result.faster_than_given,
                 (long long)r.result.fitting);
    gl_arena_destroy(arena);
}

static void gpt3_on_64_a100(void **state)
{
    (void)state;
    assert_among_best("megatron-2022", "kort-004", 0);
}

static void llama_70b_on_64_h100(void **state)
{
    (void)state;
    assert_among_best("dgxc", "dgxc-162", 0);
}

/* ---- BLOOM's sweep over layouts ---- */

enum { RUNS_MAX = 128 };

/* Place of a value among all, from 1; of equals the middle. */
static double place(const double *values, size_t count, double value)
{
    double below = 0, equal = 0;
    for (size_t i = 0; i < count; i++) {
        below += values[i] < value;
        equal += values[i] == value;
    }
    return below + (equal + 1) / 2;
}

/* Spearman's rank correlation. */
static double rank_correlation(const double *x, const double *y, size_t count)
{
    double xy = 0, xx = 0, yy = 0, middle = ((double)count + 1) / 2;
    for (size_t i = 0; i < count; i++) {
        double a = place(x, count, x[i]) - middle, b = place(y, count, y[i]) - middle;
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    return xy / sqrt(xx * yy);
}

static void bloom_on_384_a100(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_conventions *conventions = load_conventions(arena);
    gl_known_runs runs = load("bloom", arena);
    double predicted_s[RUNS_MAX], measured_s[RUNS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < runs.count; i++) {
        gl_run_case made;
        gl_evaluation e;
        gl_run_case_build(conventions, &runs.items[i], arena, &made);
        if (made.reason != NULL || gl_workload_ranks(&made.workload) != 384)
            continue;
        gl_evaluator *evaluator = gl_evaluator_create(&made.workload, made.cluster, false);
        assert_true(
            gl_evaluate(evaluator, &made.workload.parallel, &made.workload.batch, &e, NULL));
        predicted_s[count] = e.step.time_s;
        measured_s[count++] = runs.items[i].measured_s;
        gl_evaluator_destroy(evaluator);
    }
    assert_true(count > 40);
    double correlation = rank_correlation(predicted_s, measured_s, count);
    if (correlation < 0.85)
        fail_msg("rank correlation of %zu runs: %.3f", count, correlation);
    gl_arena_destroy(arena);
}

/* ---- all of a table, for people ---- */

static void print_run(gl_conventions *conventions, const gl_known_run *run, unsigned fixed)
{
    gl_arena *arena = gl_arena_create();
    ranked r = {.share = 1};
    const char *id = run->texts[GL_RUN_ID];
    if (!rank_run(conventions, run, fixed, arena, &r))
        printf("%-10s %-22s not searched: %s\n", id, run->texts[GL_RUN_MODEL],
               r.made.reason != NULL ? r.made.reason : "no time");
    else
        printf("%-10s %-22s %5d GPUs, measured %8.4g s, predicted %8.4g s%s, best %8.4g s: %lld of "
               "%lld faster, %.2f %%; %s | %s\n",
               id, run->texts[GL_RUN_MODEL], r.result.given.gpus, run->measured_s,
               r.result.given.step.time_s, r.result.given_fits ? "" : " (does not fit)",
               r.result.top[0].step.time_s, (long long)r.result.faster_than_given,
               (long long)r.result.fitting, 100 * r.share,
               gl_layout_text(&r.result.given.parallel, &r.result.given.batch, arena),
               gl_layout_text(&r.result.top[0].parallel, &r.result.top[0].batch, arena));
    fflush(stdout);
    gl_arena_destroy(arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt3_on_64_a100),
        cmocka_unit_test(llama_70b_on_64_h100),
        cmocka_unit_test(bloom_on_384_a100),
    };
    if (argc < 2)
        return cmocka_run_group_tests(tests, NULL, NULL);
    gl_arena *arena = gl_arena_create();
    gl_conventions *conventions = load_conventions(arena);
    unsigned fixed = strcmp(argv[1], "--of-its-time") == 0 ? of_its_time : 0;
    for (int i = fixed != 0 ? 2 : 1; i < argc; i++) {
        gl_known_runs runs = load(argv[i], arena);
        for (size_t k = 0; k < runs.count; k++)
            print_run(conventions, &runs.items[k], fixed);
    }
    gl_arena_destroy(arena);
    return 0;
}
