/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library in several threads at once: each opens, plans, evaluates and searches, with handles
 * of its own and with shared ones, and gets what one thread alone gets. Built with ThreadSanitizer
 * (preset tsan) it also shows that they share nothing else.
 */
#include "tests/support.h"

#include "lib/gpulink.h"

#include <locale.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

#define MODEL TEST_SOURCE_DIR "/../models/llama3-8b.yaml"
#define DDP   TEST_SOURCE_DIR "/../models/llama-1.1b-ddp.yaml"

enum { THREADS = 4, LAYOUTS = 300, FOUND = 5 };

/* All that a thread finds out. */
typedef struct answer {
    char *shared_json, *own_json; /* of plans on shared handles, and on its own */
    gpulink_step step;
    gpulink_evaluation evaluations[LAYOUTS];
    gpulink_layout found[FOUND];
    gpulink_evaluation found_evaluations[FOUND];
    size_t evaluated, found_count;
    gpulink_error error; /* of a file that is not there, and of a layout that can not be */
    gpulink_error refused;
} answer;

typedef struct job {
    gpulink_model *model; /* shared */
    gpulink_cluster *cluster;
    answer got;
} job;

static char *plan_json(gpulink_model *model, gpulink_cluster *cluster, gpulink_step *step)
{
    gpulink_plan *plan = gpulink_plan_create(model, cluster, NULL, NULL);
    if (plan == NULL)
        return NULL;
    gpulink_plan_step(plan, step, sizeof *step);
    const char *text = gpulink_plan_json(plan, NULL);
    char *copy = malloc(strlen(text) + 1);
    if (copy != NULL)
        strcpy(copy, text);
    gpulink_plan_close(plan);
    return copy;
}

static void plan_own(answer *got)
{
    gpulink_step step;
    gpulink_model *model = gpulink_model_open(DDP, NULL, NULL);
    gpulink_cluster *cluster = gpulink_cluster_open("h200-nvlink", NULL, NULL);
    if (model != NULL && cluster != NULL)
        got->own_json = plan_json(model, cluster, &step);
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
    gpulink_model_open("absent.yaml", NULL, &got->error);
}

static void evaluate(const job *j, answer *got)
{
    static const int32_t degrees[] = {1, 2, 4, 8, 16};
    gpulink_layout layouts[LAYOUTS];
    gpulink_evaluator *evaluator = gpulink_evaluator_create(j->model, j->cluster, NULL, NULL);
    if (evaluator == NULL)
        return;
    for (int32_t i = 0; i < LAYOUTS; i++) {
        gpulink_layout *l = &layouts[i];
        gpulink_model_layout(j->model, l, sizeof *l);
        l->tp = degrees[i % 5];
        l->pp = degrees[i / 5 % 3];
        l->micro_batch = degrees[i / 15 % 2];
        l->zero = i / 30 % 5; /* 4: there is none */
        l->recompute = i / 150 % 3;
        l->dp = 64 / (l->tp * l->pp);
    }
    got->evaluated = gpulink_evaluate(evaluator, layouts, sizeof *layouts, LAYOUTS,
                                      got->evaluations, sizeof *got->evaluations, &got->refused);
    gpulink_evaluator_close(evaluator);
}

static void *work(void *context)
{
    job *j = context;
    const gpulink_options options = {.size = sizeof options, .gpus = 8, .threads = 1};
    answer *got = &j->got;
    got->shared_json = plan_json(j->model, j->cluster, &got->step);
    plan_own(got);
    evaluate(j, got);
    gpulink_search(j->model, j->cluster, &options, got->found, sizeof *got->found,
                   got->found_evaluations, sizeof *got->found_evaluations, FOUND, &got->found_count,
                   NULL);
    return NULL;
}

static void release(answer *got)
{
    free(got->shared_json);
    free(got->own_json);
    *got = (answer){.shared_json = NULL};
}

static void check(const answer *got, const answer *expected)
{
    assert_string_equal(got->shared_json, expected->shared_json);
    assert_string_equal(got->own_json, expected->own_json);
    assert_memory_equal(&got->step, &expected->step, sizeof got->step);
    assert_int_equal(got->evaluated, expected->evaluated);
    assert_memory_equal(got->evaluations, expected->evaluations, sizeof got->evaluations);
    assert_int_equal(got->found_count, FOUND);
    assert_memory_equal(got->found, expected->found, sizeof got->found);
    assert_memory_equal(got->found_evaluations, expected->found_evaluations,
                        sizeof got->found_evaluations);
    assert_string_equal(got->error.message, expected->error.message);
    assert_string_equal(got->refused.message, expected->refused.message);
}

static void test_threads_agree_with_one(void **state)
{
    (void)state;
    assert_int_not_equal(sqlite3_threadsafe(), 0);
    static job jobs[THREADS], alone;
    pthread_t threads[THREADS];
    gpulink_model *model = gpulink_model_open(MODEL, NULL, NULL);
    gpulink_cluster *cluster = gpulink_cluster_open("hgx-h100-16-ndr", NULL, NULL);
    assert_true(model != NULL && cluster != NULL);
    alone = (job){.model = model, .cluster = cluster};
    work(&alone);
    assert_non_null(alone.got.shared_json);
    assert_non_null(alone.got.own_json);
    assert_true(alone.got.evaluated > 0 && alone.got.evaluated < LAYOUTS);
    assert_int_equal(alone.got.error.status, GPULINK_ERROR_INPUT);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.model = model, .cluster = cluster};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        check(&jobs[i].got, &alone.got);
        release(&jobs[i].got);
    }
    release(&alone.got);
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
}

/* The last of several threads to close a handle takes it away, whoever that is. */
static void *close_plan(void *context)
{
    gpulink_plan_close(context);
    return NULL;
}

static void test_handles_are_closed_anywhere(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    gpulink_model *model = gpulink_model_open(DDP, NULL, NULL);
    gpulink_cluster *cluster = gpulink_cluster_open("h200-nvlink", NULL, NULL);
    gpulink_plan *plans[THREADS];
    for (int i = 0; i < THREADS; i++) {
        plans[i] = gpulink_plan_create(model, cluster, NULL, NULL);
        assert_non_null(plans[i]);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, close_plan, plans[i]), 0);
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_agree_with_one),
        cmocka_unit_test(test_handles_are_closed_anywhere),
    };
    setlocale(LC_ALL, "");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
