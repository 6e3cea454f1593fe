/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/fitting.h"

#include "planner/core/arithmetic.h"
#include "planner/core/check.h"
#include "planner/core/memory.h"
#include "planner/core/plan.h"

double gl_fullest_bytes(const gl_setup *setup)
{
    const gl_workload *w = setup->workload;
    gl_arena *arena = gl_arena_create();
    gl_parameters parameters;
    gl_stage *stages;
    gl_memory memory;
    gl_parameters_build(&w->model, &w->parallel, arena, &parameters);
    gl_stages_build(&w->model, &w->parallel, arena, &stages);
    gl_memory_fullest(w, &parameters, stages, setup->cluster->gpu, &memory);
    gl_arena_destroy(arena);
    return memory.total_bytes;
}

/* ---- whether it runs ---- */

static bool is_legal(const gl_setup *setup)
{
    gl_arena *scratch = gl_arena_create();
    gl_findings findings = {.arena = scratch};
    gl_check_workload(setup->workload, &findings);
    gl_check_cluster(setup->workload, setup->cluster, &findings);
    bool legal = gl_findings_first_fatal(&findings, 0) == NULL;
    gl_arena_destroy(scratch);
    return legal;
}

bool gl_setup_fits(const gl_setup *setup)
{
    const gl_gpu *gpu = setup->cluster->gpu;
    return gpu == NULL || gl_fullest_bytes(setup) <= gpu->memory_bytes.value;
}

static bool can_be_planned(const gl_setup *setup, bool allow_extrapolation)
{
    const gl_plan_options options = {
        .headroom = 1, .stage = -1, .allow_extrapolation = allow_extrapolation, .step_only = true};
    gl_arena *scratch = gl_arena_create();
    gl_plan plan;
    bool built = gl_plan_build(setup->workload, setup->cluster, &options, scratch, &plan, NULL);
    gl_arena_destroy(scratch);
    return built;
}

bool gl_setup_runs(const gl_setup *setup, bool allow_extrapolation)
{
    return is_legal(setup) && gl_setup_fits(setup) && can_be_planned(setup, allow_extrapolation);
}

/* ---- steps towards less memory ---- */

/* A step towards less memory: changes a workload and says how; false where it does not apply. What
 * costs least time comes first. */
typedef bool (*step_fn)(gl_workload *w, const gl_cluster *cluster);

static bool micro_1(gl_workload *w, const gl_cluster *cluster)
{
    (void)cluster;
    if (w->batch.micro == 1)
        return false;
    if (w->batch.global == 0)
        w->batch.global = (int64_t)w->batch.micro * w->parallel.dp;
    w->batch.micro = 1;
    return true;
}

static bool zero_to(gl_workload *w, int stage)
{
    if (w->parallel.dp == 1 || w->parallel.zero >= stage)
        return false;
    w->parallel.zero = stage;
    return true;
}

static bool zero_1(gl_workload *w, const gl_cluster *cluster)
{
    (void)cluster;
    return zero_to(w, 1);
}

static bool zero_3(gl_workload *w, const gl_cluster *cluster)
{
    (void)cluster;
    return zero_to(w, 3);
}

static bool full_recompute(gl_workload *w, const gl_cluster *cluster)
{
    (void)cluster;
    if (w->parallel.recompute == GL_RECOMPUTE_FULL || w->model.layers == 0)
        return false;
    w->parallel.recompute = GL_RECOMPUTE_FULL;
    return true;
}

static bool double_tp(gl_workload *w, const gl_cluster *cluster)
{
    if (w->parallel.dp % 2 != 0 || 2 * w->parallel.tp > cluster->gpus_per_node)
        return false;
    w->parallel.tp *= 2;
    w->parallel.dp /= 2;
    w->parallel.sequence_parallel = true;
    return true;
}

static bool double_pp(gl_workload *w, const gl_cluster *cluster)
{
    (void)cluster;
    if (w->parallel.dp % 2 != 0)
        return false;
    w->parallel.pp *= 2;
    w->parallel.dp /= 2;
    return true;
}

static const step_fn steps[] = {zero_1, micro_1, double_tp, zero_3, full_recompute, double_pp};
enum { STEP_COUNT = sizeof steps / sizeof steps[0] };

/* What differs, as settings that a user can give. */
static const char *difference(const gl_workload *from, const gl_workload *to, gl_arena *arena)
{
    const gl_parallel *a = &from->parallel, *b = &to->parallel;
    const struct {
        const char *key;
        long long from, to;
    } numbers[] = {
        {"parallel.tp", a->tp, b->tp},
        {"parallel.pp", a->pp, b->pp},
        {"parallel.dp", a->dp, b->dp},
        {"parallel.ep", a->ep, b->ep},
        {"parallel.zero", a->zero, b->zero},
        {"batch.global", from->batch.global, to->batch.global},
        {"batch.micro", from->batch.micro, to->batch.micro},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].from != numbers[i].to)
            text =
                gl_arena_append(arena, text, ", ",
                                gl_arena_printf(arena, "%s=%lld", numbers[i].key, numbers[i].to));
    if (b->sequence_parallel && !a->sequence_parallel)
        text = gl_arena_append(arena, text, ", ", "parallel.sequence_parallel=true");
    if (b->recompute != a->recompute)
        text = gl_arena_append(arena, text, ", ", "parallel.recompute=full");
    return text;
}

static bool runs_with(const gl_setup *setup, unsigned chosen, bool allow_extrapolation,
                      gl_workload *w)
{
    *w = *setup->workload;
    for (int i = 0; i < STEP_COUNT; i++)
        if ((chosen & 1u << i) != 0 && !steps[i](w, setup->cluster))
            return false;
    return gl_setup_runs(&(gl_setup){w, setup->cluster}, allow_extrapolation);
}

/* The fewest steps, of `least` to STEPS_MAX, with which it runs. */
static bool find_steps(const gl_setup *setup, int least, bool allow_extrapolation, gl_workload *w)
{
    enum { STEPS_MAX = 4 };
    if (setup->cluster->gpu == NULL && least > 0)
        return false;
    for (int size = least; size <= STEPS_MAX; size++)
        for (unsigned chosen = 0; chosen < 1u << STEP_COUNT; chosen++)
            if (__builtin_popcount(chosen) == size &&
                runs_with(setup, chosen, allow_extrapolation, w))
                return true;
    return false;
}

const char *gl_fitting_change(const gl_setup *setup, bool allow_extrapolation, gl_arena *arena)
{
    gl_workload w;
    return find_steps(setup, 1, allow_extrapolation, &w) ? difference(setup->workload, &w, arena)
                                                         : NULL;
}

/* ---- more GPUs, or fewer replicas ---- */

gl_cluster gl_cluster_of(const gl_cluster *cluster, int64_t gpus)
{
    gl_cluster of = *cluster;
    int64_t nodes = gl_divide_up(gpus, cluster->gpus_per_node);
    if (!cluster->bounded)
        gl_cluster_extend(&of, gpus);
    else if (nodes > cluster->nodes)
        of.nodes = (int)nodes;
    return of;
}

const char *gl_larger_change(const gl_setup *setup, bool allow_extrapolation, gl_arena *arena)
{
    const gl_cluster *cluster = setup->cluster;
    int64_t ranks = gl_workload_ranks(setup->workload);
    gl_workload w;
    if (ranks > (int64_t)GL_NODES_MAX * cluster->gpus_per_node)
        return NULL;
    const gl_cluster larger = gl_cluster_of(cluster, ranks);
    if (!find_steps(&(gl_setup){setup->workload, &larger}, 0,
                    allow_extrapolation || !cluster->bounded, &w))
        return NULL;
    const char *size = cluster->bounded ? gl_arena_printf(arena, "cluster.nodes=%d", larger.nodes)
                                        : "--allow-extrapolation";
    const char *training = difference(setup->workload, &w, arena);
    return training[0] != '\0' ? gl_arena_append(arena, size, ", ", training) : size;
}

/* As many of the expert parallel ranks as divide these replicas. */
static int experts_over(const gl_parallel *p, int dp)
{
    int ep = p->ep;
    while (dp * p->cp % ep != 0 || p->ep % ep != 0)
        ep--;
    return ep;
}

const char *gl_smaller_change(const gl_setup *setup, bool allow_extrapolation, gl_arena *arena)
{
    enum { TRIED_MAX = 16 };
    const gl_cluster *cluster = setup->cluster;
    const gl_parallel *p = &setup->workload->parallel;
    int64_t replica = gl_workload_ranks(setup->workload) / p->dp;
    int64_t most = (int64_t)cluster->nodes * cluster->gpus_per_node / replica;
    int tried = 0;
    for (int dp = most < p->dp ? (int)most : p->dp - 1; dp > 0 && tried < TRIED_MAX; dp--) {
        gl_workload smaller = *setup->workload, w;
        smaller.parallel.dp = dp;
        smaller.parallel.ep = experts_over(p, dp);
        const gl_setup changed = {&smaller, cluster};
        if (!is_legal(&changed))
            continue;
        tried++;
        if (find_steps(&changed, 0, allow_extrapolation, &w))
            return difference(setup->workload, &w, arena);
    }
    return NULL;
}
