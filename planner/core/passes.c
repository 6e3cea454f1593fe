/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/passes.h"

#include <math.h>
#include <string.h>

/* Compute never stops altogether beside communication, nor does communication beside compute. */
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
    bool *has_message; /* by row: its messages are listed one by one */
    double stretch[2]; /* a phase's time over its compute */
} builder;

int gl_pass_chunks(const gl_parallel *parallel)
{
    return parallel->pp > 1 ? gl_parallel_chunks(parallel) : 1;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static double row_time(const builder *b, size_t row)
{
    const double *tier_s = b->plan->times[row].tier_s, *scale = b->scales->tier;
    return b->plan->traffic.rows[row].load_factor *
           fmax(tier_s[0] * scale[0], tier_s[1] * scale[1]);
}

/* Share of its rate that a row's communication loses beside compute. */
static double row_slowdown(const builder *b, size_t row)
{
    return b->plan->slowdown != NULL ? fmin(b->plan->slowdown[row], TAX_MAX) : 0;
}

/* Compute seconds lost per second of the communication alone. */
static double row_tax(const builder *b, size_t row)
{
    return fmin(b->plan->overlap_tax[row] * b->scales->overlap_tax, TAX_MAX);
}

static bool is_inline(const builder *b, size_t row)
{
    const gl_traffic_row *r = &b->plan->traffic.rows[row];
    return r->phase != GL_PHASE_OPTIMIZER && r->dimension != GL_TRAFFIC_PP &&
           r->dimension != GL_TRAFFIC_EMBEDDING && r->dimension != GL_TRAFFIC_OPTIMIZER &&
           !b->has_message[row];
}

/* ---- inline communication ---------------------------------------------------------------------
 */

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
        if (r->phase != phase || !r->may_hide || !is_inline(b, i))
            continue;
        double s = row_time(b, i) * (double)r->calls_per_step / b->microbatches;
        needed += s / (1 - row_slowdown(b, i));
        taxed += s * row_tax(b, i);
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
        if (r->phase != phase || !is_inline(b, i))
            continue;
        double s = row_time(b, i) * (double)r->calls_per_step / b->microbatches;
        double beside = r->may_hide ? hidden * s : 0;
        gl_inline_row *out = &share->rows[share->row_count++];
        *out = (gl_inline_row){
            .row = i, .exposed_s = s - beside, .hidden_s = beside / (1 - row_slowdown(b, i))};
        share->exposed_s += out->exposed_s;
        share->tax_s += beside * row_tax(b, i);
    }
    b->stretch[phase] = share->compute_s > 0 ? gl_phase_s(share) / share->compute_s : 1;
}

/* ---- timelines --------------------------------------------------------------------------------
 */

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

/* Segment of a pass in which a block's forward or backward is; −1: in another pass. */
static int segment_of(const gl_pass *pass, block_range range, bool forward, int block)
{
    if (block < range.first || block >= range.end)
        return -1;
    if (forward)
        return pass->forward_segments > 0 ? block - range.first : -1;
    return pass->segments > pass->forward_segments ? pass->forward_segments + range.end - 1 - block
                                                   : -1;
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static gl_queued as_queued(const builder *b, const gl_message *m)
{
    double slowdown = row_slowdown(b, m->row);
    return (gl_queued){.time_s = row_time(b, m->row),
                       .gate = -1,
                       .tax = row_tax(b, m->row) * (1 - slowdown),
                       .slowdown = slowdown,
                       .row = m->row};
}

/* Where a message belongs; false: not to this pass. Gradients that may not hide and move once a
 * step leave after the stage's last backward, which is that of its first chunk. */
static bool place_message(const builder *b, const gl_pass *pass, block_range range, bool last_chunk,
                          const gl_message *m, gl_queued *out)
{
    const gl_overlap *overlap = &b->workload->overlap;
    bool gathers = m->when == GL_BEFORE_FORWARD || m->when == GL_BEFORE_BACKWARD;
    *out = as_queued(b, m);
    if (!gathers && !overlap->dp && !m->every_microbatch) {
        out->release = total(pass);
        return last_chunk && pass->segments > pass->forward_segments;
    }
    int segment = segment_of(pass, range, m->when == GL_BEFORE_FORWARD, m->block);
    if (segment < 0)
        return false;
    if (!gathers) {
        double start = segment_start(pass, segment);
        out->release = overlap->dp ? start + m->within * (pass->end[segment] - start) : total(pass);
        return true;
    }
    /* Prefetch: the next unit is gathered while this one computes. */
    out->gate = segment;
    out->release =
        segment_start(pass, overlap->zero3_prefetch && segment > 0 ? segment - 1 : segment);
    return true;
}

/* Stable insertion by release: messages come nearly sorted. */
static void insert(gl_pass_queue *queue, const gl_queued *q)
{
    size_t at = queue->count++;
    for (; at > 0 && queue->items[at - 1].release > q->release; at--)
        queue->items[at] = queue->items[at - 1];
    queue->items[at] = *q;
}

/* The pass waits for what every microbatch moves: a framework ends a backward with it. */
static void set_barrier(gl_pass_queue *queue, const bool *every)
{
    for (size_t i = 0; i < queue->count; i++) {
        if (every[queue->items[i].row])
            queue->barrier = i + 1;
    }
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

static void fill_queue(const builder *b, const gl_pass *pass, block_range range, bool last_chunk,
                       bool last, gl_pass_queue *queue)
{
    const gl_traffic *traffic = &b->plan->traffic;
    bool *every = NULL;
    for (size_t i = 0; i < traffic->message_count; i++) {
        const gl_message *m = &traffic->messages[i];
        gl_queued q;
        if (m->when == GL_AFTER_STEP || (!m->every_microbatch && !last) ||
            !place_message(b, pass, range, last_chunk, m, &q))
            continue;
        if (queue->items == NULL) {
            queue->items = GL_ARENA_NEW(b->arena, gl_queued, traffic->message_count);
            every = GL_ARENA_NEW(b->arena, bool, traffic->row_count);
        }
        every[m->row] = m->every_microbatch;
        insert(queue, &q);
    }
    set_barrier(queue, every);
    set_gates(b, pass, queue);
}

static void build_pass(const builder *b, gl_pass *pass, bool forward, bool backward, int chunk)
{
    block_range range = chunk_blocks(b->plan->stage, chunk, b->work->chunks);
    size_t blocks = (size_t)(range.end - range.first);
    pass->end = GL_ARENA_NEW(b->arena, double, 2 * blocks + 1);
    if (forward)
        add_segments(b, pass, GL_PHASE_FORWARD, range);
    if (backward)
        add_segments(b, pass, GL_PHASE_BACKWARD, range);
    if (b->work->every_microbatch && b->microbatches > 1)
        fill_queue(b, pass, range, chunk == 0, false, &pass->each);
    if (backward || b->work->every_microbatch)
        fill_queue(b, pass, range, chunk == 0, true, &pass->last);
}

/* ---- once a step ------------------------------------------------------------------------------
 */

static void add_once(const builder *b, gl_once_kind kind, size_t row, double calls)
{
    gl_stage_work *work = b->work;
    double s = row_time(b, row) * calls;
    work->once[work->once_count++] = (gl_once){kind, row, s};
    work->once_s[kind] += s;
}

static void build_once(const builder *b)
{
    const gl_traffic *traffic = &b->plan->traffic;
    size_t most = traffic->row_count + traffic->message_count;
    b->work->once = GL_ARENA_NEW(b->arena, gl_once, most);
    for (size_t i = 0; i < traffic->row_count; i++) {
        const gl_traffic_row *r = &traffic->rows[i];
        if (r->dimension == GL_TRAFFIC_EMBEDDING)
            add_once(b, GL_ONCE_EMBEDDING, i, (double)r->calls_per_step);
    }
    for (size_t i = 0; i < traffic->row_count; i++) {
        const gl_traffic_row *r = &traffic->rows[i];
        if (r->dimension != GL_TRAFFIC_EMBEDDING && !b->has_message[i] &&
            (r->phase == GL_PHASE_OPTIMIZER || r->dimension == GL_TRAFFIC_OPTIMIZER))
            add_once(b, GL_ONCE_NORM, i, (double)r->calls_per_step);
    }
    for (size_t i = 0; i < traffic->message_count; i++) {
        if (traffic->messages[i].when == GL_AFTER_STEP)
            add_once(b, GL_ONCE_GATHER, traffic->messages[i].row, 1);
    }
}

/* ---- a stage ----------------------------------------------------------------------------------
 */

static void note_messages(builder *b)
{
    const gl_traffic *traffic = &b->plan->traffic;
    b->has_message = GL_ARENA_NEW(b->arena, bool, traffic->row_count);
    for (size_t i = 0; i < traffic->message_count; i++) {
        b->has_message[traffic->messages[i].row] = true;
        if (traffic->messages[i].every_microbatch)
            b->work->every_microbatch = true;
    }
}

static void note_sends(const builder *b)
{
    for (size_t i = 0; i < b->plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &b->plan->traffic.rows[i];
        if (r->dimension != GL_TRAFFIC_PP || r->phase == GL_PHASE_OPTIMIZER)
            continue;
        b->work->send_s[r->phase] += row_time(b, i);
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
    note_messages(b);
    sum_compute(b);
    share_phase(b, GL_PHASE_FORWARD);
    share_phase(b, GL_PHASE_BACKWARD);
    note_sends(b);
    build_once(b);
    for (int phase = 0; phase < 2; phase++)
        work->pass[phase] = GL_ARENA_NEW(b->arena, gl_pass, (size_t)work->chunks);
    bool joined = p->pp == 1;
    for (int chunk = 0; chunk < work->chunks; chunk++) {
        build_pass(b, &work->pass[FORWARD][chunk], true, joined, chunk);
        build_pass(b, &work->pass[BACKWARD][chunk], false, !joined, chunk);
    }
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

/* ---- running ----------------------------------------------------------------------------------
 */

static const gl_queued *head(const gl_pass_stream *stream)
{
    return stream->first < stream->count ? &stream->items[stream->first] : NULL;
}

static void start_next(gl_pass_stream *stream)
{
    const gl_queued *next = head(stream);
    stream->started_s = (double)NAN;
    if (next != NULL)
        stream->left_s = next->time_s;
    else
        stream->first = stream->count = 0;
}

static void finish_message(gl_pass_stream *stream, double now_s)
{
    const gl_pass_listener *l = stream->listener;
    if (l != NULL && l->sent != NULL)
        l->sent(l->context, head(stream), stream->started_s, now_s);
    stream->first++;
}

/* Appends a pass's messages; returns the index of the first. */
static size_t issue(gl_pass_stream *stream, const gl_pass_queue *queue)
{
    bool idle = head(stream) == NULL;
    /* Released at their places of their own pass: what an earlier one left may run at any time. */
    for (size_t i = stream->first; i < stream->count; i++)
        stream->items[i].release = -(double)INFINITY;
    if (queue->count == 0)
        return stream->count;
    stream->items = gl_arena_grow(stream->arena, stream->items, &stream->capacity,
                                  stream->count + queue->count, sizeof *stream->items);
    memcpy(stream->items + stream->count, queue->items, queue->count * sizeof *queue->items);
    size_t base = stream->count;
    stream->count += queue->count;
    if (idle)
        start_next(stream);
    return base;
}

/* A pass under way. */
typedef struct run {
    const gl_pass *pass;
    gl_pass_stream *stream;
    double now_s, place;
    int segment;
    double piece_s, piece_place; /* where the compute that is running began; NaN: it stands */
} run;

static void end_piece(run *r)
{
    const gl_pass_listener *l = r->stream->listener;
    if (l != NULL && l->computed != NULL && r->now_s > r->piece_s)
        l->computed(l->context, r->piece_s, r->now_s, r->piece_place, r->place);
    r->piece_s = (double)NAN;
}

static void begin_piece(run *r)
{
    if (!isnan(r->piece_s))
        return;
    r->piece_s = r->now_s;
    r->piece_place = r->place;
}

/* From here to the next thing that happens. */
static void advance(run *r, bool gated)
{
    gl_pass_stream *stream = r->stream;
    const gl_pass *pass = r->pass;
    const gl_queued *message = head(stream);
    bool computing = r->segment < pass->segments;
    bool sending = message != NULL && (message->release <= r->place || gated || !computing);
    double rate = !computing || gated ? 0 : sending ? 1 - message->tax : 1;
    double send_rate = sending && rate > 0 ? 1 - message->slowdown : 1;
    double stop = computing ? pass->end[r->segment] : r->place;
    double dt = sending ? stream->left_s / send_rate : (double)INFINITY;
    bool done = sending;
    if (message != NULL && !sending)
        stop = fmin(stop, message->release);
    bool reached = rate > 0 && (stop - r->place) / rate <= dt;
    if (reached) {
        done = done && (stop - r->place) / rate >= dt;
        dt = (stop - r->place) / rate;
    }
    if (rate > 0)
        begin_piece(r);
    else
        end_piece(r);
    if (sending && isnan(stream->started_s))
        stream->started_s = r->now_s;
    r->now_s += dt;
    if (rate > 0)
        stream->tax_s += dt * (1 - rate);
    else
        stream->stall_s += dt;
    if (rate == 0 && stream->row_exposed_s != NULL && sending)
        stream->row_exposed_s[message->row] += dt;
    /* Land on boundaries exactly: rounding must not leave a sliver that never ends. */
    r->place = reached ? stop : r->place + rate * dt;
    if (computing && reached && stop >= pass->end[r->segment]) {
        r->segment++;
        if (r->segment == pass->forward_segments)
            end_piece(r);
    }
    if (!sending)
        return;
    stream->left_s -= dt * send_rate;
    if (done || stream->left_s <= 0) {
        finish_message(stream, r->now_s);
        start_next(stream);
    }
}

double gl_pass_run(const gl_pass *pass, const gl_pass_queue *queue, double start_s,
                   gl_pass_stream *stream)
{
    run r = {.pass = pass, .stream = stream, .now_s = start_s, .piece_s = (double)NAN};
    size_t base = issue(stream, queue), barrier = queue->barrier > 0 ? base + queue->barrier : 0;
    while (r.segment < pass->segments || (stream->first < barrier && head(stream) != NULL)) {
        bool gated = r.segment < pass->segments && queue->gate_last != NULL &&
                     queue->gate_last[r.segment] > 0 && head(stream) != NULL &&
                     base + (size_t)queue->gate_last[r.segment] > stream->first &&
                     r.place <= segment_start(pass, r.segment);
        advance(&r, gated);
    }
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
        double dt = fmin(stream->left_s, until - stream->now_s);
        bool done = dt >= stream->left_s;
        stream->now_s += dt;
        stream->left_s -= dt;
        if (!done)
            break;
        done_s = stream->now_s;
        finish_message(stream, stream->now_s);
        start_next(stream);
    }
    if (!isinf(until))
        stream->now_s = fmax(stream->now_s, until);
    return done_s;
}
