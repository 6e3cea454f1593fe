/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms. A pass's time, with what its messages cost it, comes from running it once
 * (pass_run.h); what p stages make of m microbatches is the longest way through their passes
 * (docs/models/schedule.md).
 */
#include "planner/core/pass_run.h"

#include <math.h>

static const double ROUNDING_FRAC = 1e-12;

enum { FORWARD = GL_PHASE_FORWARD, BACKWARD = GL_PHASE_BACKWARD };

/* ---- a stage ---- */

typedef struct stage_time {
    double pass_s[2]; /* forward, backward: all chunks of a microbatch, what they wait for, too */
    double compute_s[2]; /* of it, compute alone */
    double last_s;       /* the last backward of the step, that of the first chunk */
    double late_s;       /* of it, because of messages that move once a step */
    double tail_s;       /* what is left of these after it */
    double tax_s;        /* compute lost to communication beside it, over the step */
    double stall_s;      /* passes waiting for communication, over the step */
} stage_time;

typedef struct context {
    const gl_workload *workload;
    gl_arena *scratch;
    int64_t microbatches;
    int64_t last_group;
} context;

static gl_pass_stream empty_stream(const context *c)
{
    return (gl_pass_stream){.arena = c->scratch, .started_s = (double)NAN};
}

/* The queue of every microbatch but the last; of the last when there is but one. */
static const gl_pass_queue *usual_queue(const context *c, const gl_pass *pass)
{
    return c->microbatches > 1 ? &pass->each : &pass->last;
}

static bool same_queue(const gl_pass_queue *a, const gl_pass_queue *b)
{
    return a->items == b->items && a->count == b->count;
}

/* A usual pass, so often, over an empty stream. */
static double time_pass(const context *c, const gl_pass *pass, double times, gl_pass_stream *stream,
                        stage_time *t)
{
    *stream = empty_stream(c);
    double s = gl_pass_run(pass, usual_queue(c, pass), 0, stream);
    t->tax_s += times * stream->tax_s;
    t->stall_s += times * stream->stall_s;
    return s;
}

/* The last backward of each chunk; between them the other microbatches of their group. `stream`: as
 * the usual pass of the last chunk left it, which is the first to end. */
static void time_last(const context *c, const gl_stage_work *work, const double *backward_s,
                      gl_pass_stream *stream, stage_time *t)
{
    int kind = c->workload->parallel.pp > 1 ? BACKWARD : FORWARD, first = work->chunks - 1;
    double now_s = backward_s[first], before_s = 0;
    const gl_pass *ending = &work->pass[kind][first];
    if (!same_queue(usual_queue(c, ending), &ending->last)) {
        *stream = empty_stream(c);
        now_s = gl_pass_run(ending, &ending->last, 0, stream);
    }
    for (int chunk = first - 1; chunk >= 0; chunk--) {
        const gl_pass *pass = &work->pass[kind][chunk];
        double rest_s = backward_s[chunk] * (double)(c->last_group - 1);
        const gl_pass others = {.end = &rest_s, .segments = 1};
        before_s = now_s = gl_pass_run(&others, &others.each, now_s, stream);
        now_s = gl_pass_run(pass, &pass->last, now_s, stream);
    }
    t->last_s = now_s - before_s;
    t->late_s = t->last_s - backward_s[0];
    t->tail_s = gl_larger(0, gl_pass_stream_follow(stream, (double)INFINITY) - now_s);
    t->tax_s += stream->tax_s;
    t->stall_s += stream->stall_s;
}

static stage_time time_stage(const context *c, const gl_stage_work *work)
{
    stage_time t = {.compute_s = {work->phase[FORWARD].compute_s, work->phase[BACKWARD].compute_s}};
    double *each_s = GL_ARENA_NEW(c->scratch, double, (size_t)work->chunks);
    double m = (double)c->microbatches;
    int ending = c->workload->parallel.pp == 1 ? FORWARD : BACKWARD;
    gl_pass_stream stream = empty_stream(c), ended = stream;
    for (int phase = 0; phase < 2; phase++) {
        t.tax_s += m * work->phase[phase].tax_s;
        t.stall_s += m * work->phase[phase].exposed_s;
        for (int chunk = 0; chunk < work->chunks; chunk++) {
            double s =
                time_pass(c, &work->pass[phase][chunk], phase == ending ? m - 1 : m, &stream, &t);
            t.pass_s[phase] += s;
            if (phase != ending)
                continue;
            each_s[chunk] = s;
            ended = stream;
        }
    }
    time_last(c, work, each_s, &ended, &t);
    return t;
}

static stage_time *time_stages(const context *c, const gl_stage_work *works)
{
    int pp = c->workload->parallel.pp;
    stage_time *times = GL_ARENA_NEW(c->scratch, stage_time, (size_t)pp);
    for (int i = 0; i < pp; i++) {
        int same = i;
        for (int j = 0; j < i && same == i; j++)
            same = works[j].pass[FORWARD] == works[i].pass[FORWARD] ? j : i;
        times[i] = same < i ? times[same] : time_stage(c, &works[i]);
    }
    return times;
}

static int find_slowest(const stage_time *times, int pp)
{
    int worst = 0;
    for (int i = 1; i < pp; i++) {
        if (times[i].pass_s[FORWARD] + times[i].pass_s[BACKWARD] >
            times[worst].pass_s[FORWARD] + times[worst].pass_s[BACKWARD])
            worst = i;
    }
    return worst;
}

/* ---- the pipeline ---- */

typedef struct pipeline {
    int p, v;
    int64_t m;
    const double *pass_s[2]; /* by stage: all its chunks */
    double send_s[2];
    double hold_s[2]; /* of it, in which the link carries nothing else */
    bool blocking;    /* sends stop the sender's compute */
} pipeline;

/* What a microbatch costs a stage; a blocking send is part of the stage's work. */
static double phase_s(const pipeline *l, int phase, int stage)
{
    bool sends = phase == FORWARD ? stage < l->p - 1 : stage > 0;
    return l->pass_s[phase][stage] + (l->blocking && sends ? l->send_s[phase] : 0);
}

/* All forwards, then all backwards: each phase is a line of p machines, and of p − 1 links. */
static double gpipe_s(const pipeline *l)
{
    double time_s = 0;
    for (int phase = 0; phase < 2; phase++) {
        double link_s = l->blocking ? 0 : l->send_s[phase];
        double most_s = l->blocking ? 0 : l->hold_s[phase];
        for (int i = 0; i < l->p; i++) {
            time_s += phase_s(l, phase, i) + (i > 0 ? link_s : 0);
            most_s = gl_larger(most_s, phase_s(l, phase, i));
        }
        time_s += (double)(l->m - 1) * most_s;
    }
    return time_s;
}

/*
 * 1F1B. The longest way goes down with the first microbatch's forward and comes back with its
 * backward. On stage a it turns: the stage's next forward is p − a microbatches later. Down to
 * stage b and back it gains b − a + 1 microbatches, and so on to the last one, which goes down to
 * the last stage and up to the first. sum(a, b): the stages' work and twice b − a hops.
 */
typedef struct turns {
    double *sum_s;  /* work of the stages before */
    double *best_s; /* by microbatches gained: the most that one turn takes */
    double hop_s;   /* there and back */
    double link_s;  /* a link moves one message at a time */
} turns;

static double turn_s(const turns *t, int a, int b)
{
    double s = t->sum_s[b + 1] - t->sum_s[a] + (b - a) * t->hop_s;
    return a == b ? gl_larger(s, t->link_s) : s;
}

static turns prepare_turns(const pipeline *l, gl_arena *scratch)
{
    turns t = {.sum_s = GL_ARENA_NEW(scratch, double, (size_t)l->p + 1),
               .best_s = GL_ARENA_NEW(scratch, double, (size_t)l->p + 1)};
    if (!l->blocking) {
        t.hop_s = l->send_s[FORWARD] + l->send_s[BACKWARD];
        t.link_s = gl_larger(l->hold_s[FORWARD], l->hold_s[BACKWARD]);
    }
    for (int i = 0; i < l->p; i++)
        t.sum_s[i + 1] = t.sum_s[i] + phase_s(l, FORWARD, i) + phase_s(l, BACKWARD, i);
    for (int a = 0; a < l->p; a++)
        for (int b = a; b < l->p; b++)
            t.best_s[b - a + 1] = gl_larger(t.best_s[b - a + 1], turn_s(&t, a, b));
    return t;
}

/* From the second turn on: down to the last stage, and then as often as possible between two. */
static double turns_s(const pipeline *l, const turns *t)
{
    double most_s = 0;
    int64_t gains = l->m - 1;
    for (int a = l->p - 1; a >= 0 && l->p - a <= gains; a--)
        for (int b = a; b < l->p; b++) {
            int64_t left = gains - (l->p - a), n = b - a + 1;
            int64_t whole = left / n;
            double s = turn_s(t, a, l->p - 1) + (double)whole * turn_s(t, a, b);
            most_s = gl_larger(most_s, s + t->best_s[left % n]);
        }
    return most_s;
}

/* Uneven stages: the forwards with which a stage begins and the backwards with which one ends
 * follow one another, each gaining a microbatch; the others on the last stage. */
static double ends_s(const pipeline *l)
{
    double most_s = 0, last_s = phase_s(l, FORWARD, l->p - 1) + phase_s(l, BACKWARD, l->p - 1);
    double gains = (double)(l->m - 1);
    for (int a = 0; a < l->p; a++)
        for (int b = 0; b < l->p; b++) {
            double x = gl_smaller(gains, l->p - 1 - a), y = gl_smaller(gains - x, l->p - 1 - b);
            most_s = gl_larger(most_s, x * phase_s(l, FORWARD, a) + y * phase_s(l, BACKWARD, b) +
                                           (gains - x - y) * last_s);
        }
    return most_s;
}

/* … or one stage is busy all the time between the first microbatch's arrival and the last one's
 * return. */
static double busy_s(const pipeline *l, const turns *t)
{
    double most_s = 0;
    for (int i = 0; i < l->p; i++)
        most_s = gl_larger(most_s, t->sum_s[i] + i * t->hop_s + (double)l->m * turn_s(t, i, i));
    return most_s;
}

static double one_f_one_b_s(const pipeline *l, gl_arena *scratch)
{
    turns t = prepare_turns(l, scratch);
    double once_s = t.sum_s[l->p] + (l->p - 1) * t.hop_s;
    return gl_larger(once_s + gl_larger(turns_s(l, &t), ends_s(l)), busy_s(l, &t));
}

/*
 * Interleaved. Filling and draining take a chunk of each other stage; a microbatch that has come
 * round before the group is through waits for it (fewer microbatches than stages). Sends: the first
 * microbatch's way through all p·v chunks, and once round they must not take longer than the other
 * phase's passes of a group.
 */
static double interleaved_s(const pipeline *l)
{
    double work_s = 0, most_s = 0, chunk_s[2] = {0, 0};
    for (int i = 0; i < l->p; i++) {
        double s = l->pass_s[FORWARD][i] + l->pass_s[BACKWARD][i];
        work_s += s;
        most_s = gl_larger(most_s, s);
        for (int phase = 0; phase < 2; phase++)
            chunk_s[phase] = gl_larger(chunk_s[phase], l->pass_s[phase][i] / l->v);
    }
    double m = (double)l->m, p = l->p, v = l->v, hop_s = l->send_s[FORWARD] + l->send_s[BACKWARD];
    double time_s =
        m * most_s + (work_s - most_s) / v + (v - 1) / v * gl_larger(0, work_s - m * most_s);
    if (!l->blocking) {
        double late_s = gl_larger(0, l->send_s[FORWARD] - chunk_s[BACKWARD]) +
                        gl_larger(0, l->send_s[BACKWARD] - chunk_s[FORWARD]);
        return time_s + (p * v - 1) * hop_s + (v - 1) * gl_larger(0, m - p) * late_s;
    }
    double middle_s = m * (most_s + v * hop_s) + (chunk_s[FORWARD] + chunk_s[BACKWARD]);
    double ends_s = time_s + hop_s / 2 * ((2 * v - 1) * m + 2 * p - 3);
    return l->p > 2 ? gl_larger(ends_s, middle_s) : ends_s;
}

static double pipeline_s(const pipeline *l, gl_schedule_kind kind, gl_arena *scratch)
{
    if (l->p == 1)
        return (double)l->m * (l->pass_s[FORWARD][0] + l->pass_s[BACKWARD][0]);
    if (kind == GL_SCHEDULE_GPIPE)
        return gpipe_s(l);
    return l->v > 1 ? interleaved_s(l) : one_f_one_b_s(l, scratch);
}

/* ---- the step ---- */

/* A send and what of it is the wire's, by phase. */
typedef struct send_times {
    double send_s[2], way_s[2];
} send_times;

static double line_s(const context *c, const stage_time *times, const send_times *s)
{
    const gl_parallel *p = &c->workload->parallel;
    double *pass_s[2];
    for (int phase = 0; phase < 2; phase++) {
        pass_s[phase] = GL_ARENA_NEW(c->scratch, double, (size_t)p->pp);
        for (int i = 0; i < p->pp; i++)
            pass_s[phase][i] = times[i].pass_s[phase];
    }
    const pipeline line = {.p = p->pp,
                           .v = gl_pass_chunks(p),
                           .m = c->microbatches,
                           .pass_s = {pass_s[FORWARD], pass_s[BACKWARD]},
                           .send_s = {s->send_s[FORWARD], s->send_s[BACKWARD]},
                           .hold_s = {s->send_s[FORWARD] - s->way_s[FORWARD],
                                      s->send_s[BACKWARD] - s->way_s[BACKWARD]},
                           .blocking = !c->workload->overlap.pp};
    return pipeline_s(&line, p->schedule, c->scratch);
}

/* When the messages of all stages are done and the tied embedding is added up. A stage's last
 * backward follows that of the next one: the last stage is done first. */
static double gradients_done_s(const context *c, const gl_stage_work *works,
                               const stage_time *times, double first_done_s, double send_back_s)
{
    int pp = c->workload->parallel.pp;
    double done_s = 0, tied_s = 0, end_s = first_done_s;
    for (int i = 0; i < pp; i++) {
        double own_s = end_s + times[i].tail_s;
        done_s = gl_larger(done_s, own_s);
        if (works[i].once_s[GL_ONCE_EMBEDDING] > 0)
            tied_s = gl_larger(tied_s, own_s);
        end_s -= times[i].last_s + send_back_s;
    }
    for (int i = 0; i < pp; i++) {
        if (works[i].once_s[GL_ONCE_EMBEDDING] > 0)
            done_s = gl_larger(done_s, tied_s + works[i].once_s[GL_ONCE_EMBEDDING]);
    }
    return done_s;
}

/* The gradient norm holds all stages together; then each updates and gathers its own. */
static double update_s(const gl_stage_work *works, int pp)
{
    double most_s = 0;
    for (int i = 0; i < pp; i++)
        most_s = gl_larger(most_s, works[i].once_s[GL_ONCE_NORM] + works[i].optimizer_s +
                                       works[i].once_s[GL_ONCE_GATHER]);
    return most_s;
}

gl_schedule gl_schedule__parts(const gl_step_facts *f)
{
    gl_schedule s = {.compute_s = f->compute_s,
                     .overlap_tax_s = f->tax_s,
                     .optimizer_s = f->optimizer_s,
                     .slowest_stage = f->slowest_stage};
    double sends_s = gl_larger(0, f->time_s - f->without_sends_s);
    double once_s = gl_larger(0, f->update_s - f->optimizer_s);
    double left_s = f->time_s - f->compute_s - f->tax_s - f->optimizer_s;
    s.exposed_s = gl_larger(0, gl_smaller(f->stall_s + sends_s + f->tail_s + once_s, left_s));
    s.bubble_s = left_s - s.exposed_s;
    /* Sums in another order differ in their last digits: without other stages nothing waits. */
    if (s.bubble_s < ROUNDING_FRAC * f->time_s)
        s.bubble_s = 0;
    if (s.exposed_s < ROUNDING_FRAC * f->time_s)
        s.exposed_s = 0;
    s.time_s = s.compute_s + s.overlap_tax_s + s.exposed_s + s.bubble_s + s.optimizer_s;
    return s;
}

/* The whole step over links with these times for a send. */
static double step_s(const context *c, const gl_stage_work *works, const stage_time *times,
                     const send_times *sends, gl_step_facts *facts)
{
    int pp = c->workload->parallel.pp;
    double end_s = line_s(c, times, sends);
    for (int i = 0; i < pp; i++)
        end_s += times[i].late_s;
    double done_s = gradients_done_s(c, works, times, end_s, sends->send_s[BACKWARD]);
    facts->tail_s = done_s - end_s;
    facts->update_s = update_s(works, pp);
    return done_s + facts->update_s;
}

gl_schedule gl_schedule_eval(const gl_workload *workload, const gl_compute *compute,
                             const gl_stage_plan *stages, const gl_scales *scales,
                             gl_arena *scratch)
{
    int pp = workload->parallel.pp;
    int64_t m = gl_workload_microbatches(workload);
    context c = {workload, scratch, m, gl_last_group(m, pp)};
    const gl_stage_work *works = gl_stage_works(workload, compute, stages, scales, scratch);
    const stage_time *times = time_stages(&c, works);
    int worst = find_slowest(times, pp);
    const stage_time *w = &times[worst];
    gl_step_facts facts = {.slowest_stage = worst, .tax_s = w->tax_s, .stall_s = w->stall_s};
    facts.compute_s = (double)m * (w->compute_s[FORWARD] + w->compute_s[BACKWARD]);
    send_times sends = {{0}, {0}};
    const send_times none = {{0}, {0}};
    for (int i = 0; i < pp; i++) {
        facts.optimizer_s = gl_larger(facts.optimizer_s, works[i].optimizer_s);
        for (int phase = 0; phase < 2; phase++) {
            sends.send_s[phase] = gl_larger(sends.send_s[phase], works[i].send_s[phase]);
            sends.way_s[phase] = gl_larger(sends.way_s[phase], works[i].way_s[phase]);
        }
    }
    facts.without_sends_s = pp > 1 ? step_s(&c, works, times, &none, &facts) : 0;
    facts.time_s = step_s(&c, works, times, &sends, &facts);
    if (pp == 1)
        facts.without_sends_s = facts.time_s;
    return gl_schedule__parts(&facts);
}

/* ---- compute as stated ---- */

/* Of a step; 0: nothing was stated. */
static double stated_s(const gl_workload *w, const gl_cluster *cluster, const gl_compute *compute)
{
    if (!(w->compute.mfu_frac > 0))
        return w->compute.step_s;
    double tokens_per_gpu = gl_workload_step_tokens(w) / (double)gl_workload_ranks(w);
    return compute->model_flop_per_token * tokens_per_gpu /
           (gl_peak_flop_per_s(cluster->gpu, w->precision.compute) * w->compute.mfu_frac);
}

void gl_schedule_state_compute(const gl_workload *workload, const gl_cluster *cluster,
                               gl_compute *c, gl_stage_plan *stages)
{
    double stated = c->known ? stated_s(workload, cluster, c) : 0;
    if (!(stated > 0))
        return;
    gl_arena *scratch = gl_arena_create();
    const gl_scales alone = {1, {0, 0}, 1};
    gl_schedule s = gl_schedule_eval(workload, c, stages, &alone, scratch);
    gl_arena_destroy(scratch);
    /* The optimizer step is part of what was stated, as long as it leaves most of it to compute. */
    double rest = gl_larger(stated - s.optimizer_s, stated / 2);
    double factor = s.compute_s > 0 ? rest / s.compute_s : 1;
    for (int i = 0; i < GL_BLOCK_KIND_COUNT; i++) {
        c->forward_s[i] *= factor;
        c->backward_s[i] *= factor;
    }
    for (size_t i = 0; i < c->operator_count; i++) {
        c->operators[i].forward_s *= factor;
        c->operators[i].backward_s *= factor;
    }
    for (int i = 0; i < workload->parallel.pp; i++)
        stages[i].optimizer_s = stated - rest;
}
