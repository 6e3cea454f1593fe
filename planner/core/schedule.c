/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/schedule.h"

#include <math.h>
#include <string.h>

/* Compute never stops altogether beside communication. */
static const double TAX_MAX = 0.9;
static const double ROUNDING_FRAC = 1e-12;

/* ------------------------------------------------------------------------------------------------
 * One microbatch on one stage: a compute stream that runs the blocks forward, then backward, and a
 * communication stream that takes the data parallel messages in order.
 */

typedef struct queued {
    double release; /* position on the compute timeline from which it may run */
    double time_s;
    int gate;   /* segment that must wait for it; −1 = none */
    double tax; /* share of compute's rate that it takes */
    size_t row;
} queued;

typedef struct timeline {
    double *end; /* position at which each segment ends; segments = 2·blocks */
    int segments;
    queued *queue;
    size_t queue_count;
    int *gate_last; /* by segment: 1 + index of the last message that it waits for */
} timeline;

typedef struct microbatch {
    double time_s;  /* until compute and communication are done */
    double stall_s; /* of it, compute waiting for communication */
    double tax_s;   /* of it, compute slowed by communication */
} microbatch;

static double segment_start(const timeline *t, int segment)
{
    return segment > 0 ? t->end[segment - 1] : 0;
}

static microbatch run_timeline(const timeline *t, double *row_exposed_s)
{
    microbatch result = {0};
    double total = t->segments > 0 ? t->end[t->segments - 1] : 0, position = 0;
    double left = t->queue_count > 0 ? t->queue[0].time_s : 0;
    size_t next = 0;
    int segment = 0;
    while (segment < t->segments || next < t->queue_count) {
        bool computing = segment < t->segments;
        bool gated = computing && (size_t)t->gate_last[segment] > next &&
                     position <= segment_start(t, segment);
        bool sending =
            next < t->queue_count && (t->queue[next].release <= position || gated || !computing);
        double tax = sending ? t->queue[next].tax : 0;
        double rate = !computing || gated ? 0 : 1 - tax;
        double dt = sending ? left : (double)INFINITY;
        double stop = computing ? t->end[segment] : total;
        if (!sending && next < t->queue_count)
            stop = fmin(stop, t->queue[next].release);
        if (rate > 0)
            dt = fmin(dt, (stop - position) / rate);
        result.time_s += dt;
        if (rate > 0)
            result.tax_s += dt * tax;
        if (sending && !(rate > 0)) {
            result.stall_s += dt;
            if (row_exposed_s != NULL)
                row_exposed_s[t->queue[next].row] += dt;
        }
        /* Land on boundaries exactly: rounding must not leave a sliver that never ends. */
        bool reached = rate > 0 && dt >= (stop - position) / rate;
        position = reached ? stop : position + rate * dt;
        if (computing && rate > 0 && reached && stop >= t->end[segment])
            segment++;
        if (sending && (left -= dt) <= 0) {
            next++;
            left = next < t->queue_count ? t->queue[next].time_s : 0;
        }
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------
 * Building a stage's timeline.
 */

typedef struct context {
    const gl_workload *workload;
    const gl_compute *compute;
    const gl_scales *scales;
    gl_arena *scratch;
    double microbatches;
} context;

static double row_time(const context *c, const gl_stage_plan *plan, size_t row)
{
    const double *tier_s = plan->times[row].tier_s, *scale = c->scales->tier;
    return plan->traffic.rows[row].load_factor * fmax(tier_s[0] * scale[0], tier_s[1] * scale[1]);
}

static double row_tax(const context *c, const gl_stage_plan *plan, size_t row)
{
    return fmin(plan->overlap_tax[row] * c->scales->overlap_tax, TAX_MAX);
}

/* Communication of a microbatch that is tied to its compute (TP, CP, EP): what of it stalls. */
typedef struct inline_share {
    double exposed_s[2];    /* forward, backward */
    double tax_s[2];        /* what the hidden rest costs */
    double exposed_frac[2]; /* of the rows that may hide */
} inline_share;

static bool is_inline(const gl_stage_plan *plan, size_t row, const bool *has_message)
{
    const gl_traffic_row *r = &plan->traffic.rows[row];
    return r->phase != GL_PHASE_OPTIMIZER && r->dimension != GL_TRAFFIC_PP &&
           r->dimension != GL_TRAFFIC_EMBEDDING && r->dimension != GL_TRAFFIC_OPTIMIZER &&
           !has_message[row];
}

static bool *rows_with_messages(const context *c, const gl_stage_plan *plan)
{
    bool *has = GL_ARENA_NEW(c->scratch, bool, plan->traffic.row_count);
    for (size_t i = 0; i < plan->traffic.message_count; i++)
        has[plan->traffic.messages[i].row] = true;
    return has;
}

static inline_share share_inline(const context *c, const gl_stage_plan *plan,
                                 const bool *has_message, const double compute_s[2])
{
    double blocking[2] = {0, 0}, hideable[2] = {0, 0}, taxed[2] = {0, 0};
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &plan->traffic.rows[i];
        if (!is_inline(plan, i, has_message))
            continue;
        double s = row_time(c, plan, i) * (double)r->calls_per_step / c->microbatches;
        (r->may_hide ? hideable : blocking)[r->phase] += s;
        taxed[r->phase] += r->may_hide ? s * row_tax(c, plan, i) : 0;
    }
    inline_share share = {0};
    for (int phase = 0; phase < 2; phase++) {
        double stalled = fmax(0, hideable[phase] - compute_s[phase]);
        share.exposed_frac[phase] = hideable[phase] > 0 ? stalled / hideable[phase] : 0;
        share.exposed_s[phase] = blocking[phase] + stalled;
        share.tax_s[phase] = taxed[phase] * (1 - share.exposed_frac[phase]);
    }
    return share;
}

static void stage_compute(const context *c, const gl_stage *stage, double compute_s[2])
{
    compute_s[0] = compute_s[1] = 0;
    for (int i = 0; i < stage->block_count; i++) {
        compute_s[0] += c->compute->forward_s[stage->sequence[i]] * c->scales->compute;
        compute_s[1] += c->compute->backward_s[stage->sequence[i]] * c->scales->compute;
    }
}

/* Segment ends: each block's compute, with the stage's inline stalls spread over it in proportion.
 */
static void fill_segments(const context *c, const gl_stage_plan *plan, const double compute_s[2],
                          const double extra_s[2], timeline *t)
{
    const gl_stage *stage = plan->stage;
    double stretch[2];
    for (int phase = 0; phase < 2; phase++)
        stretch[phase] = compute_s[phase] > 0 ? 1 + extra_s[phase] / compute_s[phase] : 1;
    t->segments = 2 * stage->block_count;
    t->end = GL_ARENA_NEW(c->scratch, double, (size_t)t->segments + 1);
    t->gate_last = GL_ARENA_NEW(c->scratch, int, (size_t)t->segments + 1);
    double position = 0;
    for (int s = 0; s < t->segments; s++) {
        bool forward = s < stage->block_count;
        gl_block_kind kind = stage->sequence[forward ? s : t->segments - 1 - s];
        double block = forward ? c->compute->forward_s[kind] : c->compute->backward_s[kind];
        position += block * c->scales->compute * stretch[!forward];
        t->end[s] = position;
    }
}

static queued enqueue(const context *c, const gl_stage_plan *plan, const timeline *t,
                      const gl_message *m)
{
    const gl_overlap *overlap = &c->workload->overlap;
    queued q = {.time_s = row_time(c, plan, m->row),
                .gate = -1,
                .tax = row_tax(c, plan, m->row),
                .row = m->row};
    if (m->when == GL_AFTER_BACKWARD) {
        int s = t->segments - 1 - m->block;
        double start = segment_start(t, s);
        q.release = overlap->dp ? start + m->within * (t->end[s] - start) : t->end[t->segments - 1];
        return q;
    }
    q.gate = m->when == GL_BEFORE_FORWARD ? m->block : t->segments - 1 - m->block;
    /* Prefetch: the next unit is gathered while this one computes. */
    int early = overlap->zero3_prefetch && q.gate > 0 ? q.gate - 1 : q.gate;
    q.release = segment_start(t, early);
    return q;
}

/* Stable insertion by release: messages come nearly sorted. */
static void fill_queue(const context *c, const gl_stage_plan *plan, bool last, timeline *t)
{
    const gl_traffic *traffic = &plan->traffic;
    t->queue = GL_ARENA_NEW(c->scratch, queued, traffic->message_count);
    t->queue_count = 0;
    for (size_t i = 0; i < traffic->message_count; i++) {
        const gl_message *m = &traffic->messages[i];
        if (m->when == GL_AFTER_STEP || (!m->every_microbatch && !last))
            continue;
        queued q = enqueue(c, plan, t, m);
        size_t at = t->queue_count++;
        for (; at > 0 && t->queue[at - 1].release > q.release; at--)
            t->queue[at] = t->queue[at - 1];
        t->queue[at] = q;
    }
    for (size_t i = 0; i < t->queue_count; i++) {
        if (t->queue[i].gate >= 0)
            t->gate_last[t->queue[i].gate] = (int)i + 1;
    }
}

/* ------------------------------------------------------------------------------------------------
 * A stage over the whole step.
 */

typedef struct stage_time {
    double forward_s, backward_s; /* compute of one microbatch */
    double microbatch_s;          /* of every microbatch but the last, stalls included */
    double last_s;                /* of the last, with its data parallel messages */
    double stall_s, tax_s;        /* summed over the step */
    double backward_all_s;        /* backward of one microbatch with stalls: the drain's unit */
    double once_s;                /* communication after the last backward that nothing hides */
    double send_s;                /* one activation and one gradient to the neighbours */
    double sends_s;               /* all of the step's sends */
} stage_time;

static void add_exposed(double *row_exposed_s, size_t row, double s)
{
    if (row_exposed_s != NULL)
        row_exposed_s[row] += s;
}

static void add_inline_rows(const context *c, const gl_stage_plan *plan, const bool *has_message,
                            const inline_share *share, double *row_exposed_s)
{
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &plan->traffic.rows[i];
        if (!is_inline(plan, i, has_message))
            continue;
        double s = row_time(c, plan, i) * (double)r->calls_per_step;
        add_exposed(row_exposed_s, i, r->may_hide ? s * share->exposed_frac[r->phase] : s);
    }
}

/* Rows that happen once, after the backward: nothing hides them. */
static double once_rows(const context *c, const gl_stage_plan *plan, const bool *has_message,
                        double *row_exposed_s)
{
    double sum = 0;
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &plan->traffic.rows[i];
        bool once = (r->phase == GL_PHASE_OPTIMIZER && !has_message[i]) ||
                    r->dimension == GL_TRAFFIC_EMBEDDING ||
                    (r->dimension == GL_TRAFFIC_OPTIMIZER && !has_message[i]);
        if (!once)
            continue;
        double s = row_time(c, plan, i) * (double)r->calls_per_step;
        add_exposed(row_exposed_s, i, s);
        sum += s;
    }
    for (size_t i = 0; i < plan->traffic.message_count; i++) {
        const gl_message *m = &plan->traffic.messages[i];
        if (m->when != GL_AFTER_STEP)
            continue;
        double s = row_time(c, plan, m->row);
        add_exposed(row_exposed_s, m->row, s);
        sum += s;
    }
    return sum;
}

/* Sends between stages: the first microbatch's travel the whole pipeline in any case; the others
 * are hidden when they may hide. */
static void send_rows(const context *c, const gl_stage_plan *plan, stage_time *t,
                      double *row_exposed_s)
{
    double stages = c->workload->parallel.pp;
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &plan->traffic.rows[i];
        if (r->dimension != GL_TRAFFIC_PP)
            continue;
        double one = row_time(c, plan, i), all = one * (double)r->calls_per_step;
        t->send_s += one;
        t->sends_s += all;
        double fill = fmin(all, one * (stages - 1));
        add_exposed(row_exposed_s, i, r->may_hide ? fill : all);
    }
}

static bool has_every_microbatch(const gl_traffic *traffic)
{
    for (size_t i = 0; i < traffic->message_count; i++) {
        if (traffic->messages[i].every_microbatch)
            return true;
    }
    return false;
}

static stage_time time_stage(const context *c, const gl_stage_plan *plan, double *row_exposed_s)
{
    stage_time t = {0};
    double m = c->microbatches, compute_s[2];
    bool *has_message = rows_with_messages(c, plan);
    stage_compute(c, plan->stage, compute_s);
    inline_share share = share_inline(c, plan, has_message, compute_s);
    double extra[2];
    for (int phase = 0; phase < 2; phase++)
        extra[phase] = share.exposed_s[phase] + share.tax_s[phase];

    timeline line = {0};
    fill_segments(c, plan, compute_s, extra, &line);
    double plain = compute_s[0] + compute_s[1] + extra[0] + extra[1];
    double *repeated = NULL;
    microbatch each = {.time_s = plain};
    if (m > 1 && has_every_microbatch(&plan->traffic)) {
        repeated = GL_ARENA_NEW(c->scratch, double, plan->traffic.row_count);
        fill_queue(c, plan, false, &line);
        each = run_timeline(&line, repeated);
        memset(line.gate_last, 0, sizeof *line.gate_last * (size_t)(line.segments + 1));
    }
    fill_queue(c, plan, true, &line);
    microbatch last = run_timeline(&line, row_exposed_s);

    for (size_t i = 0; repeated != NULL && i < plan->traffic.row_count; i++)
        add_exposed(row_exposed_s, i, repeated[i] * (m - 1));
    add_inline_rows(c, plan, has_message, &share, row_exposed_s);
    t.once_s = once_rows(c, plan, has_message, row_exposed_s);
    send_rows(c, plan, &t, row_exposed_s);

    t.forward_s = compute_s[0];
    t.backward_s = compute_s[1];
    t.microbatch_s = each.time_s;
    t.last_s = last.time_s;
    t.backward_all_s = compute_s[1] + extra[1];
    t.stall_s =
        (m - 1) * each.stall_s + last.stall_s + m * (share.exposed_s[0] + share.exposed_s[1]);
    t.tax_s = (m - 1) * each.tax_s + last.tax_s + m * (share.tax_s[0] + share.tax_s[1]);
    return t;
}

/* ------------------------------------------------------------------------------------------------
 * The pipeline: closed forms.
 */

/* Times of all stages; equal entries (same traffic, same blocks) are computed once. */
static stage_time *time_stages(const context *c, const gl_stage_plan *stages, int report_stage,
                               double *row_exposed_s)
{
    int pp = c->workload->parallel.pp;
    stage_time *times = GL_ARENA_NEW(c->scratch, stage_time, (size_t)pp);
    for (int i = 0; i < pp; i++) {
        int same = -1;
        for (int j = 0; j < i && same < 0; j++)
            same = stages[j].traffic.rows == stages[i].traffic.rows ? j : -1;
        bool report = i == report_stage && row_exposed_s != NULL;
        times[i] = same >= 0 && !report ? times[same]
                                        : time_stage(c, &stages[i], report ? row_exposed_s : NULL);
    }
    return times;
}

static int slowest(const stage_time *times, int pp)
{
    int worst = 0;
    for (int i = 1; i < pp; i++) {
        if (times[i].microbatch_s > times[worst].microbatch_s)
            worst = i;
    }
    return worst;
}

/* What the gradients' messages add after the pipeline has drained: a stage that ends early waits
 * for the last chunks of those before it, and its messages hide in that time. */
static double gradient_tail(const stage_time *times, int pp, double chunks)
{
    double tail = 0, drained = 0;
    for (int i = 0; i < pp; i++) {
        double extra = times[i].last_s - times[i].microbatch_s - drained;
        if (extra > tail)
            tail = extra;
        drained += times[i].backward_all_s / chunks;
    }
    return tail;
}

gl_schedule gl_schedule_eval(const gl_workload *workload, const gl_compute *compute,
                             const gl_stage_plan *stages, const gl_scales *scales, int report_stage,
                             double *row_exposed_s, gl_arena *scratch)
{
    const gl_parallel *p = &workload->parallel;
    double m = (double)gl_workload_microbatches(workload);
    context c = {.workload = workload,
                 .compute = compute,
                 .scales = scales,
                 .scratch = scratch,
                 .microbatches = m};
    const stage_time *times = time_stages(&c, stages, report_stage, row_exposed_s);
    int worst = slowest(times, p->pp);
    const stage_time *w = &times[worst];
    double chunks = gl_parallel_chunks(p);

    gl_schedule s = {.slowest_stage = worst};
    s.compute_s = m * (w->forward_s + w->backward_s);
    s.optimizer_s = stages[worst].optimizer_s * scales->compute;
    /* Filling and draining: the first microbatch visits every stage before the slowest is busy, the
     * last one afterwards: the sum of the other stages, over the chunks that interleave. */
    for (int i = 0; i < p->pp; i++)
        s.bubble_s += i != worst ? times[i].microbatch_s / chunks : 0;
    double once = 0;
    for (int i = 0; i < p->pp; i++)
        once = fmax(once, times[i].once_s);
    double sends = p->pp > 1 ? w->send_s * (p->pp - 1) : 0;
    if (!workload->overlap.pp)
        sends = fmax(sends, w->sends_s + w->send_s * (p->pp - 2));
    double tail = gradient_tail(times, p->pp, chunks);
    /* The tail is partly compute slowed down (tax), partly communication alone. */
    double with_last = m * w->microbatch_s + tail;
    double stall = with_last - s.compute_s;
    /* Sums in another order differ in their last digits: without communication nothing waits. */
    if (stall < ROUNDING_FRAC * s.compute_s)
        stall = 0;
    s.overlap_tax_s = fmin(w->tax_s, fmax(stall, 0));
    s.exposed_s = fmax(stall - s.overlap_tax_s, 0) + once + sends;
    s.time_s = s.compute_s + s.overlap_tax_s + s.exposed_s + s.bubble_s + s.optimizer_s;
    return s;
}
