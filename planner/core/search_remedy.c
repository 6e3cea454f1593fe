/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows a search: what would make a model fit, and which of the best layouts is the best. */
#include "common/units.h"
#include "planner/core/fitting.h"
#include "planner/core/layout_text.h"
#include "planner/core/memory.h"
#include "planner/core/search.h"

#include <limits.h>
#include <math.h>

/* ---- what would fit ---- */

enum {
    FACTOR_MAX = 1024, /* of the GPUs that there are */
    COUNTS_MAX = 48,   /* numbers of GPUs that are tried between two */
    FEWER_MAX = 512,   /* … below those that there are */
    MISSES_MAX = 4     /* … of them with layouts that do not fit */
};

/* What of a remedy was tried. */
typedef struct trial {
    const char *text; /* the layout that needs least memory, of those that fit and can be planned;
                         NULL: none does */
    bool legal;       /* there are layouts, whether or not they fit */
} trial;

static const gl_rejection *nearest_miss(const gl_search_result *result)
{
    const gl_rejection *nearest = NULL;
    for (size_t i = 0; i < result->rejection_count; i++) {
        const gl_rejection *r = &result->rejections[i];
        if (!isnan(r->miss_bytes) && (nearest == NULL || r->miss_bytes < nearest->miss_bytes))
            nearest = r;
    }
    return nearest;
}

static trial least_memory(const gl_workload *workload, const gl_cluster *cluster,
                          gl_search_options options, gl_arena *arena)
{
    gl_search_result result;
    options.memory_only = true;
    options.watch = NULL;
    if (!gl_search(workload, cluster, &options, arena, &result, NULL))
        return (trial){.text = NULL};
    for (size_t i = 0; i < result.top_count; i++) {
        const gl_found *best = &result.top[i];
        gl_workload w = *workload;
        w.parallel = best->parallel;
        w.batch = best->batch;
        if (gl_setup_runs(&(gl_setup){&w, cluster}, options.allow_extrapolation))
            return (trial){gl_arena_printf(arena, "%s (%s of %s)",
                                           gl_layout_text(&best->parallel, &best->batch, arena),
                                           gl_gib_text(best->memory_bytes, arena),
                                           gl_gib_text(best->capacity_bytes, arena)),
                           true};
    }
    return (trial){.legal = nearest_miss(&result) != NULL};
}

static const char *without_constraints(const gl_workload *workload, const gl_cluster *cluster,
                                       gl_search_options o, gl_arena *arena)
{
    const unsigned recompute = 1u << GL_SEARCH_RECOMPUTE;
    trial tried;
    if (o.no_recompute || (o.fixed & recompute) != 0) {
        o.no_recompute = false;
        o.fixed &= ~recompute;
        tried = least_memory(workload, cluster, o, arena);
        if (tried.text != NULL)
            return gl_arena_printf(arena, "with recomputation: %s\n", tried.text);
    }
    if (o.fixed == 0 && o.min_microbatches <= 1 && o.max_tp == 0)
        return "";
    o.fixed = 0;
    o.max_tp = 0;
    o.min_microbatches = 0;
    tried = least_memory(workload, cluster, o, arena);
    return tried.text != NULL
               ? gl_arena_printf(arena, "without the other constraints: %s\n", tried.text)
               : "";
}

static int most_gpus(const gl_cluster *cluster, const gl_search_options *o)
{
    int most = 0;
    for (size_t i = 0; i < o->gpu_count; i++)
        most = o->gpus[i] > most ? o->gpus[i] : most;
    return most > 0 ? most : cluster->nodes * cluster->gpus_per_node;
}

/* On a cluster of so many GPUs of the same kind. */
static trial with_gpus(const gl_workload *workload, const gl_cluster *cluster, gl_search_options o,
                       int gpus, gl_arena *arena)
{
    const gl_cluster of = gl_cluster_of(cluster, gpus);
    o.gpus = &gpus;
    o.gpu_count = 1;
    return least_memory(workload, &of, o, arena);
}

/* However it is split, so many GPUs hold weights and states of the optimizer at least once. */
static int64_t fewest_by_states(const gl_workload *workload, const gl_cluster *cluster)
{
    double least_bytes = (double)INFINITY;
    if (cluster->gpu == NULL)
        return 1;
    for (int zero = 0; zero <= 3; zero += 3) {
        gl_workload w = *workload;
        gl_arena *scratch = gl_arena_create();
        gl_parameters parameters;
        gl_stage *stages;
        gl_memory memory;
        w.parallel = gl_workload_defaults().parallel;
        w.parallel.zero = zero;
        w.batch = (gl_batch){.global = 1, .micro = 1};
        gl_parameters_build(&w.model, &w.parallel, scratch, &parameters);
        gl_stages_build(&w.model, &w.parallel, scratch, &stages);
        gl_memory_estimate(&w, &parameters, &stages[0], cluster->gpu, &memory);
        least_bytes = fmin(least_bytes, memory.parameters_bytes + memory.optimizer_bytes);
        gl_arena_destroy(scratch);
    }
    return (int64_t)ceil(least_bytes / cluster->gpu->memory_bytes.value * (1 - 1e-9));
}

/* The next number of GPUs that makes whole nodes, or divides one, in steps of so many nodes. */
static int64_t next_count(const gl_cluster *cluster, int64_t gpus, int64_t step)
{
    int64_t node = cluster->gpus_per_node, nodes = gpus / node;
    if (gpus >= node)
        return (nodes / step + 1) * step * node;
    do
        gpus++;
    while (node % gpus != 0);
    return gpus;
}

/* Where `to` GPUs are enough and `from` are not: the fewest between that are, one by one, or, where
 * there are too many, the fewest of those tried, then of those below it. */
static int fewest(const gl_workload *workload, const gl_cluster *cluster,
                  const gl_search_options *o, int64_t from, int64_t to, bool *all_tried,
                  gl_arena *arena)
{
    int64_t step = 1;
    while ((to - from) / cluster->gpus_per_node / step > COUNTS_MAX)
        step *= 2;
    *all_tried = *all_tried && step == 1;
    for (int64_t n = next_count(cluster, from, step); n < to; n = next_count(cluster, n, step)) {
        if (with_gpus(workload, cluster, *o, (int)n, arena).text != NULL)
            to = n;
        else
            from = n;
    }
    return step > 1 ? fewest(workload, cluster, o, from, to, all_tried, arena) : (int)to;
}

/* As many more nodes of the same kind: found by doubling, then the fewest. */
static const char *with_more_gpus(const gl_workload *workload, const gl_cluster *cluster,
                                  gl_search_options o, gl_arena *arena)
{
    const unsigned sizes = 1u << GL_SEARCH_DP | 1u << GL_SEARCH_PP;
    const int from = most_gpus(cluster, &o);
    const int64_t least = fewest_by_states(workload, cluster);
    const char *freed = (o.fixed & sizes) != 0 ? ", dp and pp not fixed" : "";
    int64_t most = (int64_t)GL_NODES_MAX * cluster->gpus_per_node;
    if (most > (int64_t)from * FACTOR_MAX)
        most = (int64_t)from * FACTOR_MAX;
    o.fixed &= ~sizes;
    if (!cluster->bounded && !o.allow_extrapolation) {
        o.allow_extrapolation = true;
        freed = gl_arena_printf(arena, "%s and --allow-extrapolation", freed);
    }
    for (int64_t to = next_count(cluster, 2 * (int64_t)from - 1, 1); to <= most && to <= INT_MAX;
         to = next_count(cluster, 2 * to - 1, 1)) {
        if (to < least || with_gpus(workload, cluster, o, (int)to, arena).text == NULL)
            continue;
        bool all_tried = true;
        int gpus =
            fewest(workload, cluster, &o, from >= least ? from : least - 1, to, &all_tried, arena);
        return gl_arena_printf(arena, "with %d such GPUs%s%s: %s\n", gpus, freed,
                               all_tried ? "" : " (fewer may do: not all numbers were tried)",
                               with_gpus(workload, cluster, o, gpus, arena).text);
    }
    return gl_arena_printf(arena, "not with %lld such GPUs either\n", (long long)most);
}

/* Where a number of GPUs has no layout at all: the most of fewer that have one. */
static const char *with_fewer_gpus(const gl_workload *workload, const gl_cluster *cluster,
                                   const gl_search_options *o, gl_arena *arena)
{
    const int from = most_gpus(cluster, o);
    const int64_t least = fewest_by_states(workload, cluster);
    int misses = 0;
    for (int gpus = from - 1; gpus >= least && gpus >= from - FEWER_MAX; gpus--) {
        const trial tried = with_gpus(workload, cluster, *o, gpus, arena);
        if (tried.text != NULL)
            return gl_arena_printf(arena, "with %d of the %d GPUs: %s\n", gpus, from, tried.text);
        if (tried.legal && ++misses == MISSES_MAX)
            break;
    }
    return "";
}

/* The nearest layout on GPUs with more memory, of which a share is kept in reserve, in whole
 * hundredths of a GiB. */
static const char *with_larger_gpus(const gl_workload *workload, const gl_cluster *cluster,
                                    const gl_search_options *o, const gl_rejection *miss,
                                    gl_arena *arena)
{
    const double unit = 1024.0 * 1024 * 1024 / 100, had = cluster->gpu->memory_bytes.value;
    gl_workload w = *workload;
    gl_gpu gpu = *cluster->gpu;
    gl_cluster of = *cluster;
    const gl_setup setup = {&w, &of};
    w.parallel = miss->nearest;
    w.batch = miss->nearest_batch;
    of.gpu = &gpu;
    gpu.memory_bytes.value = had + miss->miss_bytes;
    for (double needs = gl_fullest_bytes(&setup); needs > gpu.memory_bytes.value;
         needs = gl_fullest_bytes(&setup))
        gpu.memory_bytes.value = ceil(needs / unit) * unit;
    if (!gl_setup_runs(&setup, o->allow_extrapolation))
        return "";
    return gl_arena_printf(arena, "with GPUs of %s instead of %s: %s\n",
                           gl_gib_text(gpu.memory_bytes.value, arena), gl_gib_text(had, arena),
                           gl_layout_text(&w.parallel, &w.batch, arena));
}

const char *gl_search_remedy(const gl_workload *workload, const gl_cluster *cluster,
                             const gl_search_options *options, const gl_search_result *result,
                             gl_arena *arena)
{
    const gl_rejection *miss = nearest_miss(result);
    const char *text = without_constraints(workload, cluster, *options, arena);
    if (miss == NULL)
        return gl_arena_printf(arena, "%s%s", text,
                               with_fewer_gpus(workload, cluster, options, arena));
    const char *more = with_more_gpus(workload, cluster, *options, arena);
    return gl_arena_printf(arena, "%s%s%s", text, more,
                           with_larger_gpus(workload, cluster, options, miss, arena));
}

/* ---- the best of the best ---- */

static bool plan_step(const gl_workload *workload, const gl_cluster *cluster,
                      const gl_plan_options *options, double *time_s, gl_error *err)
{
    gl_arena *scratch = gl_arena_create();
    gl_plan plan;
    bool built = gl_plan_build(workload, cluster, options, scratch, &plan, err);
    if (built)
        *time_s = plan.step.time_s;
    gl_arena_destroy(scratch);
    return built;
}

static const char *why_none(const gl_search_result *result, gl_arena *arena)
{
    const gl_rejection *miss = nearest_miss(result);
    if (result->stopped)
        return "interrupted before a layout was found that fits";
    if (miss != NULL)
        return gl_arena_printf(arena, "no layout fits: the nearest lacks %s",
                               gl_gib_text(miss->miss_bytes, arena));
    if (result->rejection_count == 0)
        return "no layout is possible";
    return gl_arena_printf(arena, "no layout is possible%s%s",
                           result->rejection_count > 1 ? ", for example: " : ": ",
                           result->rejections[0].reason);
}

/* The fastest of those worth a plan. */
static bool plan_contenders(gl_workload *workload, const gl_cluster *cluster,
                            const gl_plan_options *options, const gl_search_result *result,
                            gl_error *err)
{
    gl_workload best = *workload;
    double best_s = (double)INFINITY;
    for (size_t i = 0; i < result->top_count + result->front_count; i++) {
        const gl_found *found =
            i < result->top_count ? &result->top[i] : &result->front[i - result->top_count];
        gl_workload candidate = *workload;
        double time_s;
        candidate.parallel = found->parallel;
        candidate.batch = found->batch;
        if (!plan_step(&candidate, cluster, options, &time_s, err))
            return false;
        if (time_s < best_s) {
            best_s = time_s;
            best = candidate;
        }
    }
    *workload = best;
    return true;
}

bool gl_search_best(gl_workload *workload, const gl_cluster *cluster,
                    const gl_plan_options *options, const gl_search_options *search,
                    gl_arena *arena, gl_best_layout *out, gl_error *err)
{
    const gl_search_options own = {.top = GL_SEARCH_PLANNED,
                                   .allow_extrapolation = options->allow_extrapolation,
                                   .jobs = search->jobs,
                                   .watch = search->watch,
                                   .context = search->context};
    gl_search_result result;
    if (!gl_search(workload, cluster, &own, arena, &result, err))
        return false;
    *out = (gl_best_layout){
        .stopped = result.stopped, .looked_at = result.looked_at, .total = result.total};
    if (result.top_count > 0)
        return plan_contenders(workload, cluster, options, &result, err);
    out->why_not = why_none(&result, arena);
    if (!result.stopped)
        out->remedy = gl_search_remedy(workload, cluster, &own, &result, arena);
    return true;
}
