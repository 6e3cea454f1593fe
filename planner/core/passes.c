/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/passes.h"

#include <math.h>
#include <string.h>

static const double TAX_MAX = 0.9;

enum { FORWARD = GL_PHASE_FORWARD, BACKWARD = GL_PHASE_BACKWARD };

typedef struct builder {
    const gl_workload *workload;
    const gl_compute *compute;
    const gl_scales *scales;
    gl_arena *arena;
    double microbatches;
    const gl_stage_plan *plan; /* of the stage at hand */
    gl_stage_work *work;
    gl_row_time *rows;
    double stretch[2]; /* a phase's time over its compute */
} builder;

int gl_pass_chunks(const gl_parallel *parallel)
{
    return parallel->pp > 1 ? gl_parallel_chunks(parallel) : 1;
}

/* ---- rows ---- */

/* Compute never stops altogether beside communication, nor does communication beside compute. */
static double below_max(double share)
{
    return share < TAX_MAX ? share : TAX_MAX;
}

/* Factors and shares of all rows, as messages. `tax` is of compute's rate: while a message that is
 * slowed down takes longer, it takes less at a time. */
static void prepare_rows(builder *b)
{
    const gl_stage_plan *plan = b->plan;
    const double *scale = b->scales->tier;
    b->rows = gl_arena_alloc_raw(b->arena, plan->traffic.row_count, sizeof *b->rows);
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_network_time *time = &plan->times[i];
        bool alone = !(scale[0] > 0 && scale[1] > 0);
        const double *tier_s = alone ? time->alone_s : time->tier_s;
        double intra_s = tier_s[0] * scale[0], inter_s = tier_s[1] * scale[1];
        gl_row_time *q = &b->rows[i];
        q->row = i;
        q->time_s = plan->traffic.rows[i].load_factor * (intra_s > inter_s ? intra_s : inter_s);
        q->slowdown = plan->slowdown != NULL ? below_max(plan->slowdown[i]) : 0;
        q->beside_s = q->time_s / (1 - q->slowdown);
        q->tax = below_max(plan->overlap_tax[i] * b->scales->overlap_tax) * (1 - q->slowdown);
        q->computed_s = (1 - q->tax) * q->beside_s;
        q->taxed_s = q->tax * q->beside_s;
    }
}

static bool is_inline(const gl_traffic_row *row)
{
    return row->dimension == GL_TRAFFIC_TP || row->dimension == GL_TRAFFIC_CP ||
           row->dimension == GL_TRAFFIC_EP;
}

/* ---- inline communication ---- */

static void sum_compute(builder *b)
{
    const gl_stage *stage = b->plan->stage;
    for (int i = 0; i < stage->block_count; i++) {
        gl_block_kind kind = stage->sequence[i];
        b->work->phase[FORWARD].compute_s += b->compute->forward_s[kind] * b->scales->compute;
        b->work->phase[BACKWARD].compute_s += b->compute->backward_s[kind] * b->scales->compute;
    }
}

/* Share of what may hide that does: compute is C + Σ tax·t long with all of it beside, which needs
 * Σ t/(1 − slowdown). */
static double hidden_share(const builder *b, gl_phase phase)
{
    double needed = 0, taxed = 0, compute = b->work->phase[phase].compute_s;
    for (size_t i = 0; i < b->plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &b->plan->traffic.rows[i];
        if (r->phase != phase || !r->may_hide || !is_inline(r))
            continue;
        const gl_row_time *q = &b->rows[i];
        double s = q->time_s * (double)r->calls_per_step / b->microbatches / (1 - q->slowdown);
        needed += s;
        taxed += s * q->tax;
    }
    return needed > compute + taxed ? compute / (needed - taxed) : 1;
}

static void share_phase(builder *b, gl_phase phase)
{
    gl_phase_share *share = &b->work->phase[phase];
    double hidden = hidden_share(b, phase);
    share->rows = GL_ARENA_NEW(b->arena, gl_inline_row, b->plan->traffic.row_count);
    for (size_t i = 0; i < b->plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &b->plan->traffic.rows[i];
        if (r->phase != phase || !is_inline(r))
            continue;
        const gl_row_time *q = &b->rows[i];
        double s = q->time_s * (double)r->calls_per_step / b->microbatches;
        double beside = r->may_hide ? hidden * s : 0;
        gl_inline_row *out = &share->rows[share->row_count++];
        *out = (gl_inline_row){
            .row = i, .exposed_s = s - beside, .hidden_s = beside / (1 - q->slowdown)};
        share->exposed_s += out->exposed_s;
        share->tax_s += out->hidden_s * q->tax;
    }
    b->stretch[phase] = share->compute_s > 0 ? gl_phase_s(share) / share->compute_s : 1;
}

/* ---- timelines ---- */

typedef struct block_range {
    int first, end;
} block_range;

static block_range chunk_blocks(const gl_stage *stage, int chunk, int chunks)
{
    if (stage->chunk_end == NULL || chunks == 1)
        return (block_range){0, chunk == 0 ? stage->block_count : 0};
    return (block_range){chunk > 0 ? stage->chunk_end[chunk - 1] : 0, stage->chunk_end[chunk]};
}

static double segment_start(const gl_pass *pass, int segment)
{
    return segment > 0 ? pass->end[segment - 1] : 0;
}

/* Adds a phase's blocks to a pass: forward in order, backward in reverse. */
static void add_segments(const builder *b, gl_pass *pass, gl_phase phase, block_range range)
{
    const double *times =
        phase == GL_PHASE_FORWARD ? b->compute->forward_s : b->compute->backward_s;
    const gl_block_kind *sequence = b->plan->stage->sequence;
    double place = gl_pass_end(pass);
    for (int i = range.first; i < range.end; i++) {
        int block = phase == GL_PHASE_FORWARD ? i : range.end - 1 - (i - range.first);
        place += times[sequence[block]] * b->scales->compute * b->stretch[phase];
        pass->end[pass->segments++] = place;
    }
    if (phase == GL_PHASE_FORWARD)
        pass->forward_segments = pass->segments;
}

/* ---- messages ---- */

/* A pass that messages go to. */
typedef struct destination {
    gl_pass *pass;
    gl_pass_queue *queue; /* of it, the one that is filled */
    block_range range;
} destination;

/* A message goes to the pass of its block's chunk and phase; but gradients that may not hide and
 * move once a step leave after the stage's last backward, which is that of its first chunk. */
static bool is_held(const builder *b, const gl_message *m)
{
    return m->when == GL_AFTER_BACKWARD && !b->workload->overlap.dp && !m->every_microbatch;
}

/* Where in its pass. Prefetch: the next unit is gathered while this one computes. */
static double release_of(const builder *b, const destination *d, const gl_message *m, int *gate)
{
    const gl_overlap *overlap = &b->workload->overlap;
    const gl_pass *pass = d->pass;
    *gate = -1;
    if (m->when == GL_AFTER_BACKWARD && !overlap->dp)
        return gl_pass_end(pass);
    int segment = m->when == GL_BEFORE_FORWARD
                      ? m->block - d->range.first
                      : pass->forward_segments + d->range.end - 1 - m->block;
    if (m->when == GL_AFTER_BACKWARD) {
        double start = segment_start(pass, segment);
        return start + m->within * (pass->end[segment] - start);
    }
    *gate = segment;
    return segment_start(pass, overlap->zero3_prefetch && segment > 0 ? segment - 1 : segment);
}

/* Stable insertion by release: messages come nearly sorted. */
static void insert(const builder *b, const destination *d, const gl_message *m)
{
    gl_pass_queue *queue = d->queue;
    int gate;
    double release = release_of(b, d, m, &gate);
    size_t at = queue->count++;
    for (; at > 0 && queue->items[at - 1].release > release; at--)
        queue->items[at] = queue->items[at - 1];
    queue->items[at] = (gl_queued){release, &b->rows[m->row], gate};
}

static void set_gates(const builder *b, const gl_pass *pass, gl_pass_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        if (queue->items[i].gate < 0)
            continue;
        if (queue->gate_last == NULL)
            queue->gate_last = GL_ARENA_NEW(b->arena, int, (size_t)pass->segments + 1);
        queue->gate_last[queue->items[i].gate] = (int)i + 1;
    }
}

/* The pass waits for what every microbatch moves: a framework ends a backward with it. `every`: by
 * row; NULL: all of them. */
static void set_barrier(const bool *every, gl_pass_queue *queue)
{
    for (size_t i = queue->count; i > 0 && queue->barrier == 0; i--) {
        if (every == NULL || every[queue->items[i - 1].of->row])
            queue->barrier = i;
    }
}

/* The queues that are filled: of the last microbatch, or of the others. */
static void choose_queues(destination *to, int passes, bool last)
{
    for (int i = 0; i < passes; i++)
        to[i].queue = last ? &to[i].pass->last : &to[i].pass->each;
}

enum { NOWHERE = -1 };

/* The pass of each message, as the index of its destination, and room for them in the queues. */
static int *choose_passes(const builder *b, const destination *to, int passes, const int *chunk_of,
                          bool last)
{
    const gl_traffic *traffic = &b->plan->traffic;
    size_t *counts = GL_ARENA_NEW(b->arena, size_t, (size_t)passes), all = 0;
    int *goes_to = gl_arena_alloc_raw(b->arena, traffic->message_count, sizeof *goes_to);
    int backward = b->workload->parallel.pp == 1 ? 0 : b->work->chunks;
    const int first_of[] = {[GL_BEFORE_FORWARD] = 0,
                            [GL_BEFORE_BACKWARD] = backward,
                            [GL_AFTER_BACKWARD] = backward,
                            [GL_AFTER_STEP] = NOWHERE};
    for (size_t i = 0; i < traffic->message_count; i++) {
        const gl_message *m = &traffic->messages[i];
        int pass = first_of[m->when];
        if (pass != NOWHERE && (m->every_microbatch || last)) {
            pass += is_held(b, m) ? 0 : chunk_of[m->block];
            counts[pass]++;
            all++;
        } else {
            pass = NOWHERE;
        }
        goes_to[i] = pass;
    }
    gl_queued *items = gl_arena_alloc_raw(b->arena, all, sizeof *items);
    for (int i = 0; i < passes; i++) {
        to[i].queue->items = items;
        items += counts[i];
    }
    return goes_to;
}

/* Deals the messages out to the passes' queues. */
static void fill_queues(const builder *b, destination *to, int passes, const int *chunk_of,
                        const bool *every, bool last)
{
    const gl_traffic *traffic = &b->plan->traffic;
    choose_queues(to, passes, last);
    const int *goes_to = choose_passes(b, to, passes, chunk_of, last);
    for (size_t i = 0; i < traffic->message_count; i++)
        if (goes_to[i] != NOWHERE)
            insert(b, &to[goes_to[i]], &traffic->messages[i]);
    for (int i = 0; i < passes; i++) {
        if (traffic->has_every)
            set_barrier(every, to[i].queue);
        if (traffic->has_gate)
            set_gates(b, to[i].pass, to[i].queue);
    }
}

static void build_pass(const builder *b, bool forward, bool backward, int chunk, destination *d)
{
    d->range = chunk_blocks(b->plan->stage, chunk, b->work->chunks);
    size_t blocks = (size_t)(d->range.end - d->range.first);
    d->pass->end = gl_arena_alloc_raw(b->arena, 2 * blocks + 1, sizeof *d->pass->end);
    if (forward)
        add_segments(b, d->pass, GL_PHASE_FORWARD, d->range);
    if (backward)
        add_segments(b, d->pass, GL_PHASE_BACKWARD, d->range);
}

/* By row: does it move with every microbatch? */
static const bool *every_rows(const builder *b)
{
    const gl_traffic *traffic = &b->plan->traffic;
    bool *every = GL_ARENA_NEW(b->arena, bool, traffic->row_count);
    for (size_t i = 0; i < traffic->message_count; i++)
        every[traffic->messages[i].row] |= traffic->messages[i].every_microbatch;
    return every;
}

static void build_passes(const builder *b)
{
    gl_stage_work *work = b->work;
    const gl_traffic *traffic = &b->plan->traffic;
    bool joined = b->workload->parallel.pp == 1;
    destination *to = GL_ARENA_NEW(b->arena, destination, (size_t)work->chunks * 2);
    int *chunk_of = GL_ARENA_NEW(b->arena, int, (size_t)b->plan->stage->block_count + 1);
    for (int phase = 0; phase < 2; phase++) {
        work->pass[phase] = GL_ARENA_NEW(b->arena, gl_pass, (size_t)work->chunks);
        for (int chunk = 0; chunk < work->chunks; chunk++) {
            destination *d = &to[phase * work->chunks + chunk];
            d->pass = &work->pass[phase][chunk];
            build_pass(b, phase == FORWARD, joined ? phase == FORWARD : phase == BACKWARD, chunk,
                       d);
            for (int i = d->range.first; i < d->range.end; i++)
                chunk_of[i] = chunk;
        }
    }
    if (traffic->message_count == 0)
        return;
    const bool *every = traffic->has_every && traffic->has_last ? every_rows(b) : NULL;
    if (traffic->has_every && traffic->has_last && b->microbatches > 1)
        fill_queues(b, to, 2 * work->chunks, chunk_of, every, false);
    fill_queues(b, to, 2 * work->chunks, chunk_of, every, true);
    for (int i = 0; i < 2 * work->chunks && !traffic->has_last; i++)
        to[i].pass->each = to[i].pass->last;
}

/* ---- once a step ---- */

/* When a row happens that is of no microbatch; GL_ONCE_KIND_COUNT: it is of one. */
static gl_once_kind once_kind(const gl_traffic_row *r)
{
    if (r->dimension == GL_TRAFFIC_EMBEDDING)
        return GL_ONCE_EMBEDDING;
    if (r->dimension == GL_TRAFFIC_OPTIMIZER)
        return GL_ONCE_NORM;
    return r->phase == GL_PHASE_OPTIMIZER ? GL_ONCE_GATHER : GL_ONCE_KIND_COUNT;
}

static void build_once(const builder *b)
{
    const gl_traffic *traffic = &b->plan->traffic;
    gl_stage_work *work = b->work;
    work->once = gl_arena_alloc_raw(b->arena, traffic->row_count, sizeof *work->once);
    for (size_t i = 0; i < traffic->row_count; i++) {
        const gl_traffic_row *r = &traffic->rows[i];
        gl_once_kind kind = once_kind(r);
        if (kind == GL_ONCE_KIND_COUNT)
            continue;
        work->once[work->once_count++] = (gl_once){kind, i, b->rows[i].time_s, r->calls_per_step};
        work->once_s[kind] += b->rows[i].time_s * (double)r->calls_per_step;
    }
}

/* ---- a stage ---- */

static void note_sends(const builder *b)
{
    for (size_t i = 0; i < b->plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &b->plan->traffic.rows[i];
        if (r->dimension != GL_TRAFFIC_PP || r->phase == GL_PHASE_OPTIMIZER)
            continue;
        b->work->send_s[r->phase] += b->rows[i].time_s;
        b->work->way_s[r->phase] += gl_smaller(b->plan->times[i].way_s, b->rows[i].time_s);
        if (r->collective == GL_SENDRECV)
            b->work->send_row[r->phase] = i;
    }
}

static void build_stage(builder *b, const gl_stage_plan *plan, gl_stage_work *work)
{
    const gl_parallel *p = &b->workload->parallel;
    *work = (gl_stage_work){.plan = plan,
                            .chunks = gl_pass_chunks(p),
                            .optimizer_s = plan->optimizer_s * b->scales->compute};
    b->plan = plan;
    b->work = work;
    prepare_rows(b);
    sum_compute(b);
    share_phase(b, GL_PHASE_FORWARD);
    share_phase(b, GL_PHASE_BACKWARD);
    note_sends(b);
    build_once(b);
    build_passes(b);
}

/* Do two stages do the same, chunk by chunk? */
static bool same_work(const gl_stage_plan *a, const gl_stage_plan *b, int chunks)
{
    if (a->traffic.rows != b->traffic.rows || a->optimizer_s != b->optimizer_s)
        return false;
    if (a->stage == b->stage)
        return true;
    if (a->stage->block_count != b->stage->block_count ||
        memcmp(a->stage->sequence, b->stage->sequence,
               (size_t)a->stage->block_count * sizeof *a->stage->sequence) != 0)
        return false;
    for (int i = 0; i < chunks; i++) {
        block_range x = chunk_blocks(a->stage, i, chunks), y = chunk_blocks(b->stage, i, chunks);
        if (x.first != y.first || x.end != y.end)
            return false;
    }
    return true;
}

gl_stage_work *gl_stage_works(const gl_workload *workload, const gl_compute *compute,
                              const gl_stage_plan *stages, const gl_scales *scales, gl_arena *arena)
{
    int pp = workload->parallel.pp;
    gl_stage_work *works = GL_ARENA_NEW(arena, gl_stage_work, (size_t)pp);
    builder b = {.workload = workload,
                 .compute = compute,
                 .scales = scales,
                 .arena = arena,
                 .microbatches = (double)gl_workload_microbatches(workload)};
    for (int i = 0; i < pp; i++) {
        int same = -1;
        for (int j = 0; j < i && same < 0; j++)
            same = same_work(&stages[j], &stages[i], gl_pass_chunks(&workload->parallel)) ? j : -1;
        if (same >= 0)
            works[i] = works[same];
        else
            build_stage(&b, &stages[i], &works[i]);
    }
    return works;
}
