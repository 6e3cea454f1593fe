/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search finds what trying everything finds, whatever the number of jobs. */
#include "planner/core/search.h"

#include "common/order.h"
#include "tests/bundled.h"
#include "tests/property/layouts.h"

#include <stdlib.h>

/* ---- by brute force ---- */

typedef struct brute {
    gl_evaluator *evaluator;
    int64_t fitting, unfit;
    double best_s, least_bytes;
    double *times_s, *bytes;
    size_t capacity, byte_capacity;
    gl_arena *arena;
} brute;

/* Fields that change nothing have one value only, as in a search. */
static bool is_plain(const gl_parallel *p)
{
    return (p->tp > 1 || !p->sequence_parallel) && (p->cp > 1 || p->cp_method == GL_CP_RING) &&
           (p->dp * p->cp > 1 || p->zero == 0) && (p->pp > 1 || p->schedule == GL_SCHEDULE_1F1B) &&
           p->accumulate == (p->zero != 2) &&
           p->recompute != GL_RECOMPUTE_SELECTIVE; /* nothing with flash attention */
}

static bool chunks_are_even(const gl_workload *w)
{
    int chunks = w->parallel.pp * w->parallel.virtual_stages, over = w->model.layers % chunks;
    return w->parallel.virtual_stages == 1 || over == 0 || over >= chunks - 2;
}

static void try_one(brute *b, const gl_workload *w)
{
    gl_evaluation e;
    gl_error err;
    if (!is_plain(&w->parallel) || !chunks_are_even(w) || !layout_is_possible(w))
        return;
    assert_true(gl_evaluate(b->evaluator, &w->parallel, &w->batch, &e, &err));
    if (!e.memory.fits) {
        b->unfit++;
        return;
    }
    b->times_s = gl_arena_grow(b->arena, b->times_s, &b->capacity, (size_t)b->fitting + 1,
                               sizeof *b->times_s);
    b->bytes = gl_arena_grow(b->arena, b->bytes, &b->byte_capacity, (size_t)b->fitting + 1,
                             sizeof *b->bytes);
    b->times_s[b->fitting] = e.step.time_s;
    b->bytes[b->fitting++] = e.memory.total_bytes;
}

/* Every value of the other fields, possible or not. */
static void try_variants(brute *b, gl_workload w, int node)
{
    gl_parallel *p = &w.parallel;
    int inside = node / p->tp, replicas = p->dp * p->cp;
    bool shards = inside > 1 && inside < replicas && replicas % inside == 0;
    for (int x = 0; x < 3 * 2 * 3 * 4 * 2 * 3; x++) {
        int rest = x;
        p->schedule = (gl_schedule_kind)(rest % 3), rest /= 3;
        p->sequence_parallel = rest % 2, rest /= 2;
        p->cp_method = (gl_cp_method)(rest % 3), rest /= 3;
        p->zero = rest % 4, rest /= 4;
        p->shard = rest % 2 == 0 ? 0 : inside, rest /= 2;
        p->recompute = (gl_recompute)rest;
        p->accumulate = p->zero != 2;
        if (p->shard > 0 && (!shards || p->zero == 0))
            continue;
        int most = p->schedule == GL_SCHEDULE_INTERLEAVED ? w.model.layers : 1;
        for (p->virtual_stages = most > 1 ? 2 : 1; p->virtual_stages <= most; p->virtual_stages++)
            for (w.batch.micro = 1; w.batch.micro <= w.batch.global; w.batch.micro++)
                try_one(b, &w);
    }
}

static void try_all(brute *b, gl_workload w, int gpus, int node)
{
    gl_parallel *p = &w.parallel;
    for (p->tp = 1; p->tp <= gpus && p->tp <= node; p->tp++)
        for (p->cp = 1; p->cp <= gpus; p->cp++)
            for (p->pp = 1; p->pp <= gpus; p->pp++)
                for (p->dp = 1; p->dp <= gpus; p->dp++)
                    for (p->ep = 1; p->ep <= gpus; p->ep++)
                        if (p->tp * p->cp * p->pp * p->dp == gpus && node % p->tp == 0 &&
                            (p->ep == 1 || w.model.moe.experts > 0))
                            try_variants(b, w, node);
}

/* ---- comparing ---- */

static int64_t misses(const gl_search_result *r)
{
    int64_t count = 0;
    for (size_t i = 0; i < r->rejection_count; i++)
        if (strcmp(r->rejections[i].rule, "memory") == 0)
            count += r->rejections[i].layouts;
    return count;
}

static int64_t rejected(const gl_search_result *r)
{
    int64_t count = 0;
    for (size_t i = 0; i < r->rejection_count; i++)
        count += r->rejections[i].layouts;
    return count;
}

/* Nothing that was tried is better than a layout of the front in both, and each is one of those. */
static void check_front(const brute *b, const gl_search_result *r)
{
    for (size_t k = 0; k < r->front_count; k++)
        for (int64_t i = 0; i < b->fitting; i++)
            assert_false(b->times_s[i] < r->front[k].step.time_s &&
                         b->bytes[i] < r->front[k].memory_bytes);
    for (int64_t i = 0; i < b->fitting; i++) {
        bool covered = false;
        for (size_t k = 0; k < r->front_count; k++)
            covered = covered || (r->front[k].step.time_s <= b->times_s[i] &&
                                  r->front[k].memory_bytes <= b->bytes[i]);
        assert_true(covered);
    }
}

static void compare(const char *model, const char *cluster_name, int gpus, int global)
{
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    gl_search_result r;
    brute b = {.arena = arena};
    load_bundled_model(model, NULL, 0, arena, &w);
    load_bundled_cluster(cluster_name, arena, &cluster);
    w.parallel = gl_workload_defaults().parallel;
    w.batch = (gl_batch){.global = global, .micro = 1};
    const gl_search_options options = {.gpus = &gpus, .gpu_count = 1, .jobs = 1, .top = 20};
    assert_true(gl_search(&w, &cluster, &options, arena, &r, &err));
    b.evaluator = gl_evaluator_create(&w, &cluster, false);
    try_all(&b, w, gpus, cluster.gpus_per_node);
    gl_evaluator_destroy(b.evaluator);
    assert_int_equal(r.fitting, b.fitting);
    assert_int_equal(misses(&r), b.unfit);
    assert_int_equal(r.looked_at, r.total);
    assert_int_equal(rejected(&r) + r.fitting, r.total);
    check_front(&b, &r);
    qsort(b.times_s, (size_t)b.fitting, sizeof *b.times_s, gl_compare_doubles);
    assert_true(r.top_count > 0);
    for (size_t i = 0; i < r.top_count; i++)
        assert_close(r.top[i].step.time_s, b.times_s[i], 1e-12);
    gl_arena_destroy(arena);
}

static void dense_model(void **state)
{
    (void)state;
    compare("llama3-8b", "hgx-h100-16-ndr", 4, 4);
}

static void uneven_stages_on_two_nodes(void **state)
{
    (void)state;
    compare("llama3-8b", "hgx-h100-16-ndr", 12, 3);
}

static void experts(void **state)
{
    (void)state;
    compare("mixtral-8x7b", "hgx-h100-16-ndr", 16, 4);
}

/* ---- laws ---- */

static void search_70b(int jobs, double memory_factor, gl_arena *arena, gl_search_result *r)
{
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    static const int gpus[] = {32, 64};
    load_bundled_model("llama3-70b", NULL, 0, arena, &w);
    load_bundled_cluster("hgx-h100-16-ndr", arena, &cluster);
    w.batch.global = 64;
    gl_gpu *gpu = GL_ARENA_NEW(arena, gl_gpu, 1);
    *gpu = *cluster.gpu;
    gpu->memory_bytes.value *= memory_factor;
    cluster.gpu = gpu;
    const gl_search_options options = {.gpus = gpus, .gpu_count = 2, .jobs = jobs};
    assert_true(gl_search(&w, &cluster, &options, arena, r, &err));
}

static void same_found(const gl_found *a, const gl_found *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].place, b[i].place);
        assert_true(a[i].step.time_s == b[i].step.time_s);
        assert_true(a[i].memory_bytes == b[i].memory_bytes);
    }
}

static void jobs_do_not_matter(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_search_result one, three;
    search_70b(1, 1, arena, &one);
    search_70b(3, 1, arena, &three);
    assert_int_equal(one.fitting, three.fitting);
    assert_int_equal(one.faster_than_given, three.faster_than_given);
    assert_int_equal(one.top_count, three.top_count);
    same_found(one.top, three.top, one.top_count);
    assert_int_equal(one.front_count, three.front_count);
    same_found(one.front, three.front, one.front_count);
    assert_int_equal(one.rejection_count, three.rejection_count);
    for (size_t i = 0; i < one.rejection_count; i++) {
        assert_string_equal(one.rejections[i].reason, three.rejections[i].reason);
        assert_int_equal(one.rejections[i].layouts, three.rejections[i].layouts);
        assert_int_equal(one.rejections[i].place, three.rejections[i].place);
    }
    gl_arena_destroy(arena);
}

static void more_memory_is_never_slower(void **state)
{
    (void)state;
    double last_s = (double)INFINITY;
    int64_t fitting = 0;
    for (double factor = 0.5; factor <= 2; factor *= 2) {
        gl_arena *arena = gl_arena_create();
        gl_search_result r;
        search_70b(1, factor, arena, &r);
        if (r.top_count > 0) {
            assert_true(r.top[0].step.time_s <= last_s);
            last_s = r.top[0].step.time_s;
        }
        assert_true(r.fitting >= fitting);
        fitting = r.fitting;
        gl_arena_destroy(arena);
    }
    assert_true(fitting > 0);
}

static bool stop_soon(void *context, const gl_search_progress *progress)
{
    int *calls = context;
    assert_true(progress->done <= progress->total);
    return ++*calls < 3;
}

/* Stopped, it keeps what it has, and says that it is not all. */
static void stopping(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    gl_search_result r;
    int calls = 0;
    load_bundled_model("llama3-70b", NULL, 0, arena, &w);
    load_bundled_cluster("hgx-h100-16-ndr", arena, &cluster);
    const gl_search_options options = {.jobs = 1, .watch = stop_soon, .context = &calls};
    assert_true(gl_search(&w, &cluster, &options, arena, &r, &err));
    assert_true(r.stopped);
    assert_true(r.looked_at > 0 && r.looked_at < r.total);
    gl_arena_destroy(arena);
}

/* ---- the best, and what would fit ---- */

static void best_layout_is_legal_and_planned(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    gl_best_layout found;
    const gl_search_options search = {.jobs = 2};
    const gl_plan_options options = {.headroom = 1.25, .stage = -1, .draws = 50};
    load_bundled_model("llama3-8b", NULL, 0, arena, &w);
    load_bundled_cluster("hgx-h100-16-ndr", arena, &cluster);
    cluster.nodes = 2;
    assert_true(gl_search_best(&w, &cluster, &options, &search, arena, &found, &err));
    assert_null(found.why_not);
    assert_false(found.stopped);
    assert_true(layout_is_possible(&w));
    assert_int_equal(gl_workload_ranks(&w), 16);
    gl_plan plan;
    assert_true(gl_plan_build(&w, &cluster, &options, arena, &plan, &err));
    assert_true(plan.memory.fits);
    gl_arena_destroy(arena);
}

static void what_does_not_fit_says_what_would(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_workload w, before;
    gl_cluster cluster;
    gl_error err;
    gl_best_layout found;
    const gl_search_options search = {.jobs = 2};
    const gl_plan_options options = {.headroom = 1.25, .stage = -1, .draws = 50};
    load_bundled_model("llama3-405b", NULL, 0, arena, &w);
    load_bundled_cluster("hgx-h100-16-ndr", arena, &cluster);
    cluster.nodes = 4;
    before = w;
    assert_true(gl_search_best(&w, &cluster, &options, &search, arena, &found, &err));
    assert_non_null(strstr(found.why_not, "no layout fits: "));
    assert_non_null(strstr(found.remedy, "such GPUs: tp"));
    assert_non_null(strstr(found.remedy, "with GPUs of "));
    assert_memory_equal(&w, &before, sizeof w);
    gl_arena_destroy(arena);
}

/* The answer of a search on a bundled cluster of so many nodes. */
static gl_best_layout best_of(gl_workload *w, const char *cluster, int nodes, gl_arena *arena)
{
    const gl_search_options search = {.jobs = 2};
    const gl_plan_options options = {.headroom = 1.25, .stage = -1, .draws = 50};
    gl_cluster c;
    gl_error err;
    gl_best_layout found;
    load_bundled_cluster(cluster, arena, &c);
    c.nodes = nodes;
    assert_true(gl_search_best(w, &c, &options, &search, arena, &found, &err));
    return found;
}

/* 64 GPUs is what fits one node above 56, and twice 56 is not the least. What is said of larger
 * GPUs counts that a share of their memory is kept in reserve, too. */
static void the_fewest_gpus_are_named(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    load_bundled_model("llama3-70b", NULL, 0, arena, &w);
    const gl_best_layout none = best_of(&w, "geforce-4090-4", 7, arena);
    assert_non_null(strstr(none.remedy, "with 64 such GPUs: "));
    assert_non_null(strstr(none.remedy, "with GPUs of 24.54 GiB instead of 23.99 GiB: "));
    assert_null(best_of(&w, "geforce-4090-4", 8, arena).why_not);
    gl_arena_destroy(arena);
}

/* Seven layers, seven heads and 49 sequences of 1000 tokens do not split over 128 GPUs. */
static void a_count_without_layouts_names_one_that_has_some(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_workload w = gl_workload_defaults();
    w.model = (gl_model){.name = "odd",
                         .layers = 7,
                         .hidden = 777,
                         .heads = 7,
                         .kv_heads = 7,
                         .head_dim = 111,
                         .ffn = 1111,
                         .vocab = 50257,
                         .sequence = 1000};
    w.batch = (gl_batch){.global = 49, .micro = 1};
    const gl_best_layout none = best_of(&w, "hgx-h100-16-ndr", 16, arena);
    assert_non_null(strstr(none.why_not, "no layout is possible, for example: "));
    assert_non_null(strstr(none.remedy, "with 125 of the 128 GPUs: cp 25, pp 5"));
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_model),
        cmocka_unit_test(uneven_stages_on_two_nodes),
        cmocka_unit_test(experts),
        cmocka_unit_test(jobs_do_not_matter),
        cmocka_unit_test(more_memory_is_never_slower),
        cmocka_unit_test(stopping),
        cmocka_unit_test(best_layout_is_legal_and_planned),
        cmocka_unit_test(what_does_not_fit_says_what_would),
        cmocka_unit_test(the_fewest_gpus_are_named),
        cmocka_unit_test(a_count_without_layouts_names_one_that_has_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
