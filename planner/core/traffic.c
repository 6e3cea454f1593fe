/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/traffic_builder.h"

#include <assert.h>
#include <string.h>

static bool same_row(const gl_traffic_row *row, const gl_traffic_row *kind, int64_t size_bytes)
{
    return row->size_bytes == size_bytes && row->dimension == kind->dimension &&
           row->phase == kind->phase && row->collective == kind->collective &&
           row->group == kind->group &&
           (row->operation == kind->operation || strcmp(row->operation, kind->operation) == 0);
}

static int find_row(const gl_traffic *traffic, const gl_traffic_row *kind, int64_t size_bytes)
{
    for (size_t i = 0; i < traffic->row_count; i++)
        if (same_row(&traffic->rows[i], kind, size_bytes))
            return (int)i;
    return GL_NO_ROW;
}

int gl_traffic__add(gl_traffic_builder *builder, const gl_traffic_row *kind, int64_t size_bytes,
                    int64_t calls)
{
    gl_traffic *out = builder->out;
    const gl_placement *placement = &builder->layout->groups[kind->group];
    if (placement->ranks < 2 || calls <= 0 || size_bytes <= 0)
        return GL_NO_ROW;
    int found = find_row(out, kind, size_bytes);
    if (found != GL_NO_ROW) {
        out->rows[found].calls_per_step += calls;
        return found;
    }
    out->rows = gl_arena_grow(builder->arena, out->rows, &builder->row_capacity, out->row_count + 1,
                              sizeof *out->rows);
    gl_traffic_row *row = &out->rows[out->row_count];
    *row = *kind;
    row->placement = *placement;
    row->size_bytes = size_bytes;
    row->calls_per_step = calls;
    if (row->load_factor < 1)
        row->load_factor = 1;
    return (int)out->row_count++;
}

void gl_traffic__expect_messages(gl_traffic_builder *builder, size_t count)
{
    gl_traffic *out = builder->out;
    out->messages = gl_arena_grow(builder->arena, out->messages, &builder->message_capacity,
                                  out->message_count + count, sizeof *out->messages);
}

void gl_traffic_put(gl_traffic *traffic, const gl_message *m)
{
    traffic->has_every |= m->every_microbatch;
    traffic->has_last |= !m->every_microbatch && m->when != GL_AFTER_STEP;
    traffic->has_gate |= m->when == GL_BEFORE_FORWARD || m->when == GL_BEFORE_BACKWARD;
    traffic->messages[traffic->message_count++] = *m;
}

void gl_traffic__message(gl_traffic_builder *builder, int row, const gl_message *message)
{
    gl_message numbered = *message;
    if (row == GL_NO_ROW)
        return;
    gl_traffic__expect_messages(builder, 1);
    numbered.row = (size_t)row;
    gl_traffic_put(builder->out, &numbered);
}

int64_t gl_traffic__bytes(int64_t elements, gl_dtype dtype)
{
    return elements * (int64_t)gl_dtype_bytes(dtype);
}

static gl_traffic_builder start(const gl_workload *workload, const gl_parameters *parameters,
                                const gl_stage *stage, const gl_layout *layout, gl_arena *arena,
                                gl_traffic *out)
{
    *out = (gl_traffic){0};
    return (gl_traffic_builder){
        .workload = workload,
        .parameters = parameters,
        .stage = stage,
        .layout = layout,
        .arena = arena,
        .out = out,
        .tokens = (int64_t)workload->model.sequence * workload->batch.micro / workload->parallel.cp,
    };
}

void gl_traffic_prepare(const gl_workload *workload, const gl_parameters *parameters,
                        const gl_stage *stage, const gl_layout *layout, gl_arena *arena,
                        gl_traffic_base *out)
{
    gl_traffic_builder builder = start(workload, parameters, stage, layout, arena, &out->traffic);
    builder.microbatches = 1;
    gl_traffic__data_parallel(&builder);
    out->every = GL_ARENA_NEW(arena, bool, out->traffic.row_count);
    for (size_t i = 0; i < out->traffic.message_count; i++) {
        const gl_message *m = &out->traffic.messages[i];
        out->every[m->row] = m->every_microbatch;
    }
}

enum { ROWS_EXPECTED = 24 };

static void take_base(const gl_traffic_base *base, gl_traffic_builder *b)
{
    gl_traffic *out = b->out;
    *out = base->traffic;
    b->row_capacity = out->row_count + ROWS_EXPECTED;
    out->rows = gl_arena_alloc_raw(b->arena, b->row_capacity, sizeof *out->rows);
    for (size_t i = 0; i < out->row_count; i++) {
        gl_traffic_row *row = &out->rows[i];
        *row = base->traffic.rows[i];
        row->placement = b->layout->groups[row->group];
        row->calls_per_step *= base->every[i] ? b->microbatches : 1;
    }
}

void gl_traffic_complete(const gl_traffic_base *base, const gl_workload *workload,
                         const gl_parameters *parameters, const gl_stage *stage,
                         const gl_layout *layout, gl_arena *arena, gl_traffic *out)
{
    gl_traffic_builder builder = start(workload, parameters, stage, layout, arena, out);
    builder.microbatches = gl_workload_microbatches(workload);
    assert(builder.microbatches >= 1); /* check.h: the batch divides by dp · micro */
    take_base(base, &builder);
    if (parameters->exact) {
        gl_traffic__tensor_parallel(&builder);
        gl_traffic__pipeline(&builder);
        gl_traffic__context_parallel(&builder);
        gl_traffic__expert_parallel(&builder);
        gl_traffic__embedding(&builder);
    }
    gl_traffic__optimizer(&builder);
}

double gl_traffic_wire_bytes(const gl_traffic_row *row)
{
    return (double)row->size_bytes * gl_bus_factor(row->collective, row->placement.ranks);
}

double gl_traffic_tier_bytes(const gl_traffic_row *row, int tier)
{
    const gl_placement *g = &row->placement;
    double peers = tier == 0 ? g->ranks_per_node - 1 : g->ranks - g->ranks_per_node;
    if (!(peers > 0))
        return 0;
    if (row->collective == GL_ALLTOALL)
        return (double)row->size_bytes * peers / g->ranks;
    return gl_traffic_wire_bytes(row) / (tier == 0 ? 1 : g->ranks_per_node);
}

const char *gl_traffic_dimension_name(gl_traffic_dimension dimension)
{
    static const char *const names[GL_TRAFFIC_DIMENSION_COUNT] = {
        [GL_TRAFFIC_DP] = "dp",
        [GL_TRAFFIC_TP] = "tp",
        [GL_TRAFFIC_PP] = "pp",
        [GL_TRAFFIC_CP] = "cp",
        [GL_TRAFFIC_EP] = "ep",
        [GL_TRAFFIC_EMBEDDING] = "embedding",
        [GL_TRAFFIC_OPTIMIZER] = "optimizer",
    };
    assert((unsigned)dimension < GL_TRAFFIC_DIMENSION_COUNT);
    return names[dimension];
}

const char *gl_phase_name(gl_phase phase)
{
    static const char *const names[GL_PHASE_COUNT] = {
        [GL_PHASE_FORWARD] = "forward",
        [GL_PHASE_BACKWARD] = "backward",
        [GL_PHASE_OPTIMIZER] = "optimizer",
    };
    assert((unsigned)phase < GL_PHASE_COUNT);
    return names[phase];
}
