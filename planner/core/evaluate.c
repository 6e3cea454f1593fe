/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/evaluate.h"

#include "planner/core/stage_plans.h"

struct gl_evaluator {
    gl_workload workload; /* the base with the layout at hand */
    gl_cluster cluster;
    const gl_network *network;
    gl_overlap_losses losses;
    bool allow_extrapolation;
    gl_arena *kept;    /* what layouts share */
    gl_arena *scratch; /* of the layout at hand */
    gl_memo *parameters, *stages, *layouts, *compute, *calls, *bases;
};

gl_evaluator *gl_evaluator_create(const gl_workload *base, const gl_cluster *cluster,
                                  bool allow_extrapolation)
{
    gl_arena *kept = gl_arena_create();
    gl_evaluator *e = GL_ARENA_NEW(kept, gl_evaluator, 1);
    const char *const *warnings;
    *e = (gl_evaluator){.workload = *base,
                        .cluster = *cluster,
                        .losses = gl_overlap_losses_of(cluster),
                        .allow_extrapolation = allow_extrapolation,
                        .kept = kept,
                        .scratch = gl_arena_create()};
    e->cluster.gpu = gl_compute_measured_gpu(cluster, kept);
    e->network = gl_network_create(&e->cluster, kept, &warnings);
    e->parameters = gl_memo_create(kept, 2, sizeof(gl_parameters));
    e->stages = gl_memo_create(kept, 1, sizeof(gl_stage *));
    e->layouts = gl_memo_create(kept, 4, sizeof(gl_layout));
    e->compute = gl_memo_create(kept, 4, sizeof(gl_compute));
    e->calls = gl_call_memo(&e->cluster, kept);
    e->bases = gl_base_memo(kept);
    return e;
}

void gl_evaluator_destroy(gl_evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    gl_arena_destroy(evaluator->scratch);
    gl_arena_destroy(evaluator->kept);
}

/* ---- what layouts share: by the fields that decide it ---- */

static const gl_parameters *parameters_of(gl_evaluator *e)
{
    const gl_parallel *p = &e->workload.parallel;
    const gl_memo_key key = {{gl_memo_pair(p->tp, p->ep), (p->pp > 1) + 2 * p->vocab_parallel}};
    bool found;
    gl_parameters *parameters = gl_memo_get(e->parameters, &key, &found);
    if (!found)
        gl_parameters_build(&e->workload.model, p, e->kept, parameters);
    return parameters;
}

static const gl_stage *stages_of(gl_evaluator *e)
{
    const gl_parallel *p = &e->workload.parallel;
    const gl_memo_key key = {{gl_memo_pair(p->pp, gl_parallel_chunks(p))}};
    bool found;
    gl_stage **stages = gl_memo_get(e->stages, &key, &found);
    if (!found)
        gl_stages_build(&e->workload.model, p, e->kept, stages);
    return *stages;
}

static const gl_layout *layout_of(gl_evaluator *e)
{
    const gl_parallel *p = &e->workload.parallel;
    int64_t order = 0;
    for (int i = 0; i < GL_ORDER_MAX; i++)
        order = order * GL_ORDER_MAX + p->order[i];
    const gl_memo_key key = {{gl_memo_pair(p->dp, p->tp), gl_memo_pair(p->pp, p->cp),
                              gl_memo_pair(p->ep, p->shard), order}};
    bool found;
    gl_layout *layout = gl_memo_get(e->layouts, &key, &found);
    if (!found)
        *layout = gl_layout_on(p, &e->cluster);
    return layout;
}

/* Compute of a microbatch on a rank: whatever does not only say how often it is repeated. */
static const gl_compute *compute_of(gl_evaluator *e, const gl_parameters *parameters)
{
    const gl_parallel *p = &e->workload.parallel;
    int flags = (p->pp > 1) + 2 * p->sequence_parallel + 4 * p->recompute_early_stop +
                8 * p->cp_balanced + 16 * p->vocab_parallel + 32 * (int)p->recompute +
                128 * (int)p->cp_method + 1024 * (p->zero == 3) +
                2048 * (gl_workload_microbatches(&e->workload) > 1);
    const gl_memo_key key = {{gl_memo_pair(p->tp, p->cp), p->ep, flags, e->workload.batch.micro}};
    bool found;
    gl_compute *compute = gl_memo_get(e->compute, &key, &found);
    if (!found)
        gl_compute_build(&e->workload, parameters, &e->cluster, e->kept, compute);
    return compute;
}

/* ---- a layout ---- */

static bool find_step(gl_evaluator *e, const gl_parameters *parameters, const gl_stage *stages,
                      gl_evaluation *out, gl_error *err)
{
    static const gl_scales as_predicted = {1, {1, 1}, 1};
    bool sites = e->cluster.sites.count > 1;
    gl_layout over_sites;
    if (sites)
        over_sites =
            gl_layout_over_sites(&e->workload.parallel, gl_cluster_gpus_per_site(&e->cluster));
    const gl_stage_planner planner = {.workload = &e->workload,
                                      .cluster = &e->cluster,
                                      .parameters = parameters,
                                      .layout = layout_of(e),
                                      .over_sites = sites ? &over_sites : NULL,
                                      .network = e->network,
                                      .losses = &e->losses,
                                      .allow_extrapolation = e->allow_extrapolation,
                                      .arena = e->scratch,
                                      .calls = e->calls,
                                      .texts = e->kept,
                                      .bases = e->bases,
                                      .base_arena = e->kept};
    gl_stage_plan *plans;
    if (!gl_stage_plans_build(&planner, stages, &plans, err))
        return false;
    gl_compute compute = *compute_of(e, parameters);
    compute.operator_count = 0; /* shared with other layouts, and not needed */
    out->known = compute.known;
    if (!compute.known)
        return true;
    gl_schedule_state_compute(&e->workload, &e->cluster, &compute, plans);
    out->step = gl_schedule_eval(&e->workload, &compute, plans, &as_predicted, e->scratch);
    return true;
}

void gl_evaluate_memory(gl_evaluator *e, const gl_parallel *parallel, const gl_batch *batch,
                        gl_evaluation *out)
{
    *out = (gl_evaluation){0};
    e->workload.parallel = *parallel;
    e->workload.batch = *batch;
    out->memory_stage = gl_memory_fullest(&e->workload, parameters_of(e), stages_of(e),
                                          e->cluster.gpu, &out->memory);
}

bool gl_evaluate_time(gl_evaluator *e, gl_evaluation *out, gl_error *err)
{
    gl_arena_reset(e->scratch);
    return find_step(e, parameters_of(e), stages_of(e), out, err);
}

bool gl_evaluate(gl_evaluator *e, const gl_parallel *parallel, const gl_batch *batch,
                 gl_evaluation *out, gl_error *err)
{
    gl_evaluate_memory(e, parallel, batch, out);
    return gl_evaluate_time(e, out, err);
}
