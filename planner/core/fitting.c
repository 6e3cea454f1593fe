/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/fitting.h"

#include "planner/core/check.h"
#include "planner/core/memory.h"

#include <math.h>

double gl_fullest_bytes(const gl_setup *setup)
{
    const gl_workload *w = setup->workload;
    gl_arena *arena = gl_arena_create();
    gl_parameters parameters;
    gl_stage *stages;
    double most = 0;
    gl_parameters_build(&w->model, &w->parallel, arena, &parameters);
    gl_stages_build(&w->model, &w->parallel, arena, &stages);
    for (int i = 0; i < w->parallel.pp; i++) {
        gl_memory memory;
        gl_memory_estimate(w, &parameters, &stages[i], setup->cluster->gpu, &memory);
        most = fmax(most, memory.total_bytes);
    }
    gl_arena_destroy(arena);
    return most;
}

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

static bool is_legal(const gl_workload *w, gl_arena *arena)
{
    gl_findings findings = {.arena = arena};
    gl_check_workload(w, &findings);
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].fatal)
            return false;
    return true;
}

static const char *add(const char *text, const char *more, gl_arena *arena)
{
    return gl_arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? ", " : "", more);
}

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
        {"parallel.zero", a->zero, b->zero},
        {"batch.global", from->batch.global, to->batch.global},
        {"batch.micro", from->batch.micro, to->batch.micro},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].from != numbers[i].to)
            text =
                add(text, gl_arena_printf(arena, "%s=%lld", numbers[i].key, numbers[i].to), arena);
    if (b->sequence_parallel && !a->sequence_parallel)
        text = add(text, "parallel.sequence_parallel=true", arena);
    if (b->recompute != a->recompute)
        text = add(text, "parallel.recompute=full", arena);
    return text;
}

static bool fits_with(const gl_setup *setup, unsigned chosen, gl_arena *arena, gl_workload *w)
{
    *w = *setup->workload;
    for (int i = 0; i < STEP_COUNT; i++)
        if ((chosen & 1u << i) != 0 && !steps[i](w, setup->cluster))
            return false;
    const gl_setup changed = {w, setup->cluster};
    return is_legal(w, arena) &&
           gl_fullest_bytes(&changed) <= setup->cluster->gpu->memory_bytes.value;
}

const char *gl_fitting_change(const gl_setup *setup, gl_arena *arena)
{
    enum { STEPS_MAX = 4 };
    if (setup->cluster->gpu == NULL)
        return NULL;
    for (int size = 1; size <= STEPS_MAX; size++)
        for (unsigned chosen = 1; chosen < 1u << STEP_COUNT; chosen++) {
            gl_workload w;
            if (__builtin_popcount(chosen) == size && fits_with(setup, chosen, arena, &w))
                return difference(setup->workload, &w, arena);
        }
    return NULL;
}
