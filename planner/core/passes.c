/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/passes.h"

#include <assert.h>
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

static double total(const gl_pass *pass)
{
    return pass->segments > 0 ? pass->end[pass->segments - 1] : 0;
}

/* Adds a phase's blocks to a pass: forward in order, backward in reverse. */
static void add_segments(const builder *b, gl_pass *pass, gl_phase phase, block_range range)
{
    const double *times =
        phase == GL_PHASE_FORWARD ? b->compute->forward_s : b->compute->backward_s;
    const gl_block_kind *sequence = b->plan->stage->sequence;
    double place = total(pass);
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
        return total(pass);
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

/* ---- running ---- */

static const gl_queued *head(const gl_pass_stream *stream)
{
    return stream->first < stream->count ? &stream->items[stream->first] : NULL;
}

static void start_next(gl_pass_stream *stream)
{
    stream->started_s = (double)NAN;
    if (stream->first < stream->count)
        stream->left_s = stream->items[stream->first].of->time_s;
    else
        stream->first = stream->count = 0;
}

static void finish_message(gl_pass_stream *stream, double now_s)
{
    const gl_pass_listener *l = stream->listener;
    if (l != NULL && l->sent != NULL)
        l->sent(l->context, head(stream), stream->started_s, now_s);
    stream->first++;
    start_next(stream);
}

/* Behind what earlier passes left, which may run at any time now: its places were of those passes.
 */
static void append(gl_pass_stream *stream, const gl_pass_queue *queue)
{
    size_t left = stream->count - stream->first, needed = left + queue->count;
    if (needed > stream->capacity) {
        stream->capacity = 2 * needed;
        stream->own = gl_arena_alloc_raw(stream->arena, stream->capacity, sizeof *stream->own);
    }
    memmove(stream->own, stream->items + stream->first, left * sizeof *stream->own);
    for (size_t i = 0; i < left; i++)
        stream->own[i].release = -(double)INFINITY;
    if (queue->count > 0)
        memcpy(stream->own + left, queue->items, queue->count * sizeof *stream->own);
    stream->items = stream->own;
    stream->first = 0;
    stream->count = needed;
}

/* Issues a pass's messages; returns the index of the first. A queue that nobody is before is read
 * where it lies. */
static size_t issue(gl_pass_stream *stream, const gl_pass_queue *queue)
{
    size_t left = stream->count - stream->first;
    if (left > 0) {
        append(stream, queue);
        return left;
    }
    stream->items = queue->items;
    stream->first = 0;
    stream->count = queue->count;
    start_next(stream);
    return 0;
}

/* A pass under way. Without gates the bounds between its blocks do not matter, but for the end of
 * forward. */
typedef struct run {
    gl_pass_stream *stream;
    const double *end;
    const int *gate_last;
    size_t base;
    int segments, turn;
    double ends[2];
    double now_s, place;
    int segment;
    double piece_s, piece_place; /* where the compute that is running began; NaN: it stands */
} run;

static void start_run(run *r, const gl_pass *pass, const gl_pass_queue *queue)
{
    r->end = pass->end;
    r->segments = pass->segments;
    r->turn = pass->forward_segments;
    r->gate_last = queue->gate_last;
    if (queue->gate_last != NULL || pass->segments <= 1)
        return;
    bool both = pass->forward_segments > 0 && pass->forward_segments < pass->segments;
    r->ends[0] = pass->end[both ? pass->forward_segments - 1 : pass->segments - 1];
    r->ends[1] = pass->end[pass->segments - 1];
    r->end = r->ends;
    r->segments = both ? 2 : 1;
    r->turn = both ? 1 : pass->forward_segments > 0 ? 1 : 0;
}

static void end_piece(run *r)
{
    const gl_pass_listener *l = r->stream->listener;
    if (l != NULL && l->computed != NULL && r->now_s > r->piece_s)
        l->computed(l->context, r->piece_s, r->now_s, r->piece_place, r->place);
    r->piece_s = (double)NAN;
}

/* Must the segment wait for messages before it begins? */
static bool is_gated(const run *r)
{
    if (r->gate_last == NULL || r->segment >= r->segments)
        return false;
    size_t last = (size_t)r->gate_last[r->segment];
    return last > 0 && head(r->stream) != NULL && r->base + last > r->stream->first &&
           r->place <= (r->segment > 0 ? r->end[r->segment - 1] : 0);
}

/* The compute stream stands until the message at the head is done. */
static void wait_for_message(run *r)
{
    gl_pass_stream *stream = r->stream;
    const gl_queued *message = head(stream);
    assert(message != NULL);
    end_piece(r);
    if (isnan(stream->started_s))
        stream->started_s = r->now_s;
    r->now_s += stream->left_s;
    stream->stall_s += stream->left_s;
    if (stream->row_exposed_s != NULL)
        stream->row_exposed_s[message->of->row] += stream->left_s;
    finish_message(stream, r->now_s);
}

/* Computes from here to the segment's end or to the next start or end of a message. */
static void compute_on(run *r)
{
    gl_pass_stream *stream = r->stream;
    const gl_queued *message = head(stream);
    bool sending = message != NULL && message->release <= r->place;
    double stop = r->end[r->segment], rate = 1;
    if (isnan(r->piece_s)) {
        r->piece_s = r->now_s;
        r->piece_place = r->place;
    }
    if (message != NULL && !sending && message->release < stop)
        stop = message->release;
    double dt = stop - r->place;
    bool reached = true;
    if (sending) {
        double send_rate = 1 - message->of->slowdown, left_s = stream->left_s / send_rate;
        rate = 1 - message->of->tax;
        dt /= rate;
        if (isnan(stream->started_s))
            stream->started_s = r->now_s;
        reached = dt <= left_s;
        bool done = dt >= left_s;
        if (!reached)
            dt = left_s;
        stream->tax_s += dt * message->of->tax;
        r->now_s += dt;
        stream->left_s -= dt * send_rate;
        if (done)
            finish_message(stream, r->now_s);
    } else {
        r->now_s += dt;
    }
    /* Land on bounds exactly: rounding must not leave a sliver that never ends. */
    r->place = reached ? stop : r->place + rate * dt;
    if (reached && stop >= r->end[r->segment] && ++r->segment == r->turn)
        end_piece(r);
}

/* Without messages. */
static double run_plainly(const gl_pass *pass, double start_s, gl_pass_stream *stream)
{
    const gl_pass_listener *l = stream->listener;
    double place = total(pass), end_s = start_s + place;
    stream->now_s = end_s;
    if (l == NULL || l->computed == NULL || !(place > 0))
        return end_s;
    double turn = pass->forward_segments > 0 ? pass->end[pass->forward_segments - 1] : 0;
    if (turn > 0)
        l->computed(l->context, start_s, start_s + turn, 0, turn);
    if (turn < place)
        l->computed(l->context, start_s + turn, end_s, turn, place);
    return end_s;
}

/* With messages that compute does not wait for, none before them, and nobody listening: what
 * compute_on does step by step, message by message. Returns when the pass is computed. */
static const double SURELY = 1 - 1e-9; /* within rounding of it the exact question is asked */

static double run_quietly(const gl_pass *pass, double start_s, gl_pass_stream *stream)
{
    double place = 0, now_s = start_s, end = total(pass);
    for (; stream->first < stream->count; stream->first++) {
        const gl_row_time *m = stream->items[stream->first].of;
        double release = stream->items[stream->first].release;
        stream->left_s = m->time_s;
        if (release >= end || place >= end)
            break;
        if (release > place) {
            now_s += release - place;
            place = release;
        }
        if (m->computed_s > SURELY * (end - place)) {
            double room_s = (end - place) / (1 - m->tax);
            if (m->beside_s > room_s) { /* it goes on after the pass */
                now_s += room_s;
                stream->tax_s += m->tax * room_s;
                stream->left_s -= room_s * (1 - m->slowdown);
                place = end;
                break;
            }
        }
        now_s += m->beside_s;
        stream->tax_s += m->taxed_s;
        place += m->computed_s;
    }
    if (stream->first == stream->count)
        stream->first = stream->count = 0;
    return place < end ? now_s + (end - place) : now_s;
}

double gl_pass_run(const gl_pass *pass, const gl_pass_queue *queue, double start_s,
                   gl_pass_stream *stream)
{
    run r = {.stream = stream, .now_s = start_s, .piece_s = (double)NAN};
    if (queue->count == 0 && stream->first == stream->count)
        return run_plainly(pass, start_s, stream);
    bool quiet = stream->listener == NULL && queue->gate_last == NULL;
    r.base = issue(stream, queue);
    size_t barrier = queue->barrier > 0 ? r.base + queue->barrier : 0;
    if (quiet && r.base == 0) {
        r.now_s = run_quietly(pass, start_s, stream);
    } else {
        start_run(&r, pass, queue);
        while (r.segment < r.segments) {
            if (is_gated(&r))
                wait_for_message(&r);
            else
                compute_on(&r);
        }
    }
    while (stream->first < barrier && head(stream) != NULL)
        wait_for_message(&r);
    end_piece(&r);
    stream->now_s = r.now_s;
    return r.now_s;
}

double gl_pass_stream_follow(gl_pass_stream *stream, double until)
{
    double done_s = stream->now_s;
    while (head(stream) != NULL && stream->now_s < until) {
        if (isnan(stream->started_s))
            stream->started_s = stream->now_s;
        bool done = stream->left_s <= until - stream->now_s;
        double dt = done ? stream->left_s : until - stream->now_s;
        stream->now_s += dt;
        stream->left_s -= dt;
        if (!done)
            break;
        done_s = stream->now_s;
        finish_message(stream, stream->now_s);
    }
    if (!isinf(until) && stream->now_s < until)
        stream->now_s = until;
    return done_s;
}
