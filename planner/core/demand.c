/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/demand.h"

#include "common/texts.h"

#include <math.h>

double gl_step_alone_s(const gl_plan *plan)
{
    const gl_scales free_links = {1, {0, 0}, 0};
    if (!plan->compute.known)
        return (double)NAN;
    gl_arena *scratch = gl_arena_create();
    gl_schedule s =
        gl_schedule_eval(plan->workload, &plan->compute, plan->stage_plans, &free_links, scratch);
    gl_arena_destroy(scratch);
    return s.time_s;
}

static bool is_of(const gl_traffic_row *row, gl_traffic_dimension dimension)
{
    return dimension == GL_TRAFFIC_DIMENSION_COUNT || row->dimension == dimension;
}

static double row_bytes(const gl_timed_row *row, gl_tier_kind tier)
{
    return gl_call_tier_bytes(row->traffic, &row->per_call, (int)tier) *
           (double)row->traffic->calls_per_step;
}

/* Operations of the rows, each once. */
static const char *tensors(const gl_plan *plan, const gl_demand *d, gl_arena *arena)
{
    gl_texts named = {0};
    const char *text = "";
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *row = &plan->traffic.rows[i];
        if (!is_of(row, d->dimension) || !(row_bytes(&plan->rows[i], d->tier) > 0) ||
            gl_texts_have(&named, row->operation))
            continue;
        gl_texts_add(&named, arena, row->operation);
        text = gl_arena_append(arena, text, ", ", row->operation);
    }
    return text;
}

gl_demand gl_demand_of(const gl_plan *plan, gl_tier_kind tier, gl_traffic_dimension dimension,
                       gl_arena *arena)
{
    gl_demand d = {.tier = tier, .dimension = dimension};
    double headroom = plan->options.headroom;
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *row = &plan->traffic.rows[i];
        const gl_timed_row *timed = &plan->rows[i];
        if (!is_of(row, dimension))
            continue;
        d.bytes_per_step += row_bytes(timed, tier);
        if (gl_slower_tier(&timed->per_call) != (int)tier)
            continue;
        d.time_s += timed->time_s;
        d.exposed_s += timed->exposed_s;
    }
    d.tensors = tensors(plan, &d, arena);
    d.alone_bytes_per_s = headroom * d.bytes_per_step / gl_step_alone_s(plan);
    d.planned_bytes_per_s = headroom * d.bytes_per_step / plan->step.time_s;
    return d;
}
