/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/pass_run.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Of the room beside a message: within rounding of it the exact question is asked. */
static const double SURELY = 1 - 1e-9;

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
    double place = gl_pass_end(pass), end_s = start_s + place;
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
static double run_quietly(const gl_pass *pass, double start_s, gl_pass_stream *stream)
{
    double place = 0, now_s = start_s, end = gl_pass_end(pass);
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
