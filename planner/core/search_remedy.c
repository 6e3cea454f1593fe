/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows a search: what would make a model fit, and which of the best layouts is the best. */
#include "common/units.h"
#include "planner/core/search.h"

#include <limits.h>
#include <math.h>

/* ---- what would fit ---- */

enum { FACTOR_MAX = 1024 };

/* The layout that needs least memory, of those that fit; "" when none does. */
static const char *least_memory(const gl_workload *workload, const gl_cluster *cluster,
                                gl_search_options options, gl_arena *arena)
{
    gl_search_result result;
    options.memory_only = true;
    options.top = 1;
    options.watch = NULL;
    if (!gl_search(workload, cluster, &options, arena, &result, NULL) || result.top_count == 0)
        return "";
    const gl_found *best = &result.top[0];
    return gl_arena_printf(
        arena, "%s (%s of %s)", gl_layout_text(&best->parallel, &best->batch, arena),
        gl_gib_text(best->memory_bytes, arena), gl_gib_text(best->capacity_bytes, arena));
}

static const char *without_constraints(const gl_workload *workload, const gl_cluster *cluster,
                                       gl_search_options o, gl_arena *arena)
{
    const unsigned recompute = 1u << GL_SEARCH_RECOMPUTE;
    const char *text = "";
    if (o.no_recompute || (o.fixed & recompute) != 0) {
        o.no_recompute = false;
        o.fixed &= ~recompute;
        text = least_memory(workload, cluster, o, arena);
        if (text[0] != '\0')
            return gl_arena_printf(arena, "with recomputation: %s\n", text);
    }
    if (o.fixed == 0 && o.min_microbatches <= 1 && o.max_tp == 0)
        return "";
    o.fixed = 0;
    o.max_tp = 0;
    o.min_microbatches = 0;
    text = least_memory(workload, cluster, o, arena);
    return text[0] != '\0' ? gl_arena_printf(arena, "without the other constraints: %s\n", text)
                           : "";
}

static int most_gpus(const gl_cluster *cluster, const gl_search_options *o)
{
    int most = 0;
    for (size_t i = 0; i < o->gpu_count; i++)
        most = o->gpus[i] > most ? o->gpus[i] : most;
    return most > 0 ? most : cluster->nodes * cluster->gpus_per_node;
}

/* Twice as many, four times as many, …: as many more nodes of the same kind. */
static const char *with_more_gpus(const gl_workload *workload, const gl_cluster *cluster,
                                  gl_search_options o, gl_arena *arena)
{
    int from = most_gpus(cluster, &o);
    o.fixed &= ~(1u << GL_SEARCH_DP | 1u << GL_SEARCH_PP);
    for (int factor = 2; factor <= FACTOR_MAX && from <= INT_MAX / factor; factor *= 2) {
        gl_cluster larger = *cluster;
        int gpus = from * factor;
        while ((int64_t)larger.nodes * larger.gpus_per_node < gpus)
            larger.nodes *= 2;
        o.gpus = &gpus;
        o.gpu_count = 1;
        const char *text = least_memory(workload, &larger, o, arena);
        if (text[0] != '\0')
            return gl_arena_printf(arena, "with %d such GPUs: %s\n", gpus, text);
    }
    return gl_arena_printf(arena, "not with %d times as many GPUs either\n", FACTOR_MAX);
}

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

const char *gl_search_remedy(const gl_workload *workload, const gl_cluster *cluster,
                             const gl_search_options *options, const gl_search_result *result,
                             gl_arena *arena)
{
    const gl_rejection *miss = nearest_miss(result);
    const char *text = without_constraints(workload, cluster, *options, arena);
    if (miss == NULL)
        return text;
    const char *layout = gl_layout_text(&miss->nearest, &miss->nearest_batch, arena);
    double capacity = cluster->gpu != NULL ? cluster->gpu->memory_bytes.value : 0;
    const char *more = with_more_gpus(workload, cluster, *options, arena);
    const char *larger = gl_arena_printf(arena, "with GPUs of %s instead of %s: %s\n",
                                         gl_gib_text(capacity + miss->miss_bytes, arena),
                                         gl_gib_text(capacity, arena), layout);
    return gl_arena_printf(arena, "%s%s%s", text, more, larger);
}

/* ---- the best of the best ---- */

/* Closed forms and the simulation may order near equals differently: so many are planned. */
enum { CONTENDERS = 8 };

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
    return result->rejection_count > 0
               ? gl_arena_printf(arena, "no layout is possible: %s", result->rejections[0].reason)
               : "no layout is possible";
}

/* The fastest of the best few, planned fully. */
static bool plan_contenders(gl_workload *workload, const gl_cluster *cluster,
                            const gl_plan_options *options, const gl_search_result *result,
                            gl_error *err)
{
    gl_workload best = *workload;
    double best_s = (double)INFINITY;
    for (size_t i = 0; i < result->top_count; i++) {
        gl_workload candidate = *workload;
        double time_s;
        candidate.parallel = result->top[i].parallel;
        candidate.batch = result->top[i].batch;
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
    const gl_search_options own = {.top = CONTENDERS,
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
