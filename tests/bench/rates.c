/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates WHAT [COUNT]: how fast the core is, for people to compare before and after a change.
 *   evaluate MODEL CLUSTER COUNT  COUNT random layouts: each for the first time, then again
 *   simulate COUNT                a step of 16 stages, 128 microbatches, 4 chunks
 *   search MODEL CLUSTER GPUS     every layout, with one job
 *   plan MODEL CLUSTER COUNT      whole plans
 * COUNT 0 prepares and does nothing: what to subtract when instructions are counted.
 */
#include "common/order.h"
#include "planner/core/evaluate.h"
#include "planner/core/plan.h"
#include "planner/core/search.h"
#include "planner/core/simulation.h"
#include "planner/input/cluster_file.h"
#include "planner/input/model_file.h"
#include "tests/property/layouts.h"

#include <string.h>
#include <time.h>

static double read_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Of this process alone: other work on the machine does not count. Reading it takes long. */
static double now_us(void)
{
    return read_us(CLOCK_PROCESS_CPUTIME_ID);
}

static void load(const char *model, const char *name, gl_arena *arena, gl_workload *w,
                 gl_cluster *cluster)
{
    gl_texts notes = {0};
    gl_diagnostics diagnostics = {.count = 0};
    *w = gl_workload_defaults();
    if (!gl_cluster_load(name, NULL, 0, arena, cluster, &notes, &diagnostics) ||
        !gl_model_file_load(model, NULL, 0, arena, w, &notes, &diagnostics)) {
        fprintf(stderr, "rates: %s\n", diagnostics.items[0].message);
        exit(1);
    }
}

static void report(const char *what, double us, int count)
{
    if (count > 0)
        printf("%-44s %10.2f us %12.0f a second\n", what, us / count, count / us * 1e6);
}

static void evaluate_all(gl_evaluator *evaluator, const gl_workload *layouts, int count,
                         const char *what)
{
    gl_evaluation e;
    gl_error err;
    double start = now_us();
    for (int i = 0; i < count; i++)
        gl_evaluate(evaluator, &layouts[i].parallel, &layouts[i].batch, &e, &err);
    report(what, now_us() - start, count);
}

static void spread(gl_evaluator *evaluator, const gl_workload *layouts, int count, double *each_us)
{
    gl_evaluation e;
    gl_error err;
    for (int i = 0; i < count; i++) {
        double start = read_us(CLOCK_MONOTONIC);
        gl_evaluate(evaluator, &layouts[i].parallel, &layouts[i].batch, &e, &err);
        each_us[i] = read_us(CLOCK_MONOTONIC) - start;
    }
    qsort(each_us, (size_t)count, sizeof *each_us, gl_compare_doubles);
    if (count > 0)
        printf("%-44s %10.2f us, of nine in ten at most %.2f us\n", "  median, on the clock",
               each_us[count / 2], each_us[count * 9 / 10]);
}

static int evaluate(char **arguments)
{
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    int count = atoi(arguments[2]);
    uint64_t random = 1;
    load(arguments[0], arguments[1], arena, &w, &cluster);
    gl_cluster_extend(&cluster, 1 << 15);
    gl_workload *layouts = GL_ARENA_NEW(arena, gl_workload, (size_t)count);
    double *each_us = GL_ARENA_NEW(arena, double, (size_t)count);
    for (int i = 0; i < count; i++) {
        random_layout(&w, &random);
        layouts[i] = w;
    }
    gl_evaluator *evaluator = gl_evaluator_create(&w, &cluster, true);
    evaluate_all(evaluator, layouts, count, "evaluate, each layout for the first time");
    evaluate_all(evaluator, layouts, count, "evaluate, all seen before");
    spread(evaluator, layouts, count, each_us);
    gl_evaluator_destroy(evaluator);
    gl_arena_destroy(arena);
    return 0;
}

static int search(char **arguments)
{
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    gl_search_result result;
    int gpus = atoi(arguments[2]);
    const gl_search_options options = {.gpus = &gpus, .gpu_count = 1, .jobs = 1};
    load(arguments[0], arguments[1], arena, &w, &cluster);
    double start = now_us();
    if (!gl_search(&w, &cluster, &options, arena, &result, &err)) {
        fprintf(stderr, "rates: %s\n", err.message);
        return 3;
    }
    double us = now_us() - start;
    printf("search: %lld layouts, %lld timed, %.3f s\n", (long long)result.looked_at,
           (long long)result.fitting, us / 1e6);
    report("  of all", us, (int)result.looked_at);
    report("  of those timed", us, (int)result.fitting);
    gl_arena_destroy(arena);
    return 0;
}

static int plan(char **arguments)
{
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    int count = atoi(arguments[2]);
    const gl_plan_options options = {.headroom = 1.25, .stage = -1};
    load(arguments[0], arguments[1], arena, &w, &cluster);
    double start = now_us();
    for (int i = 0; i < count; i++) {
        gl_arena *scratch = gl_arena_create();
        gl_plan built;
        gl_plan_build(&w, &cluster, &options, scratch, &built, &err);
        gl_arena_destroy(scratch);
    }
    report("plan", now_us() - start, count);
    gl_arena_destroy(arena);
    return 0;
}

static int simulate(char **arguments)
{
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    gl_plan built;
    int count = atoi(arguments[0]);
    const gl_plan_options options = {.headroom = 1.25, .stage = -1};
    load("models/llama3-405b.yaml", "hgx-h100-16-ndr", arena, &w, &cluster);
    w.model.layers = 128;
    w.parallel.schedule = GL_SCHEDULE_INTERLEAVED;
    w.parallel.virtual_stages = 4;
    gl_plan_build(&w, &cluster, &options, arena, &built, &err);
    static const gl_scales as_predicted = {1, {1, 1}, 1};
    double start = now_us();
    for (int i = 0; i < count; i++) {
        gl_arena *scratch = gl_arena_create();
        gl_simulate_step(&w, &built.compute, built.stage_plans, &as_predicted, -1, NULL, scratch);
        gl_arena_destroy(scratch);
    }
    report("simulated step, 16 stages, 128 mb, 4 chunks", now_us() - start, count);
    gl_arena_destroy(arena);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "evaluate") == 0)
        return evaluate(argv + 2);
    if (argc == 5 && strcmp(argv[1], "search") == 0)
        return search(argv + 2);
    if (argc == 5 && strcmp(argv[1], "plan") == 0)
        return plan(argv + 2);
    if (argc == 3 && strcmp(argv[1], "simulate") == 0)
        return simulate(argv + 2);
    fprintf(stderr,
            "usage: rates evaluate|plan MODEL CLUSTER COUNT, rates search MODEL CLUSTER GPUS, "
            "rates simulate COUNT\n");
    return 2;
}
