/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/simulation.h"

#include "planner/core/pass_run.h"

#include <assert.h>
#include <math.h>

enum { FORWARD = GL_PHASE_FORWARD, BACKWARD = GL_PHASE_BACKWARD };

const char *gl_stream_name(gl_stream stream)
{
    static const char *const names[GL_STREAM_COUNT] = {
        [GL_STREAM_COMPUTE] = "compute",
        [GL_STREAM_DP] = "data parallel",
        [GL_STREAM_TP] = "tensor parallel",
        [GL_STREAM_CP] = "context parallel",
        [GL_STREAM_EP] = "expert parallel",
        [GL_STREAM_SEND] = "pipeline send",
        [GL_STREAM_SEND_BACK] = "pipeline send back",
    };
    assert((unsigned)stream < GL_STREAM_COUNT);
    return names[stream];
}

/* A place in the order of passes: which microbatch goes through which chunk. The backward's order
 * has the chunks from the last to the first. */
typedef struct slot {
    int32_t microbatch, chunk;
} slot;

typedef struct simulator simulator;

/* What listeners need to know of the pass under way. */
typedef struct under_way {
    int phase;
    slot slot;
    double places[2]; /* stage's timeline of a whole phase: a piece's share of its inline rows */
    double turn;      /* the place at which forward ends, in a pass that is both */
} under_way;

typedef struct stage_state {
    simulator *sim;
    const gl_stage_work *work;
    int index;
    int64_t next;   /* pass to run, 0 … 2·m·v − 1 */
    int64_t warmup; /* forwards before the first backward */
    double free_s;  /* the compute stream, from here on */
    double link_free_s[2];
    gl_pass_stream stream;
    gl_pass_listener listener;
    under_way now;
    double parts[2]; /* of whole phases that were computed */
    gl_stage_usage *usage;
    bool queued;
} stage_state;

struct simulator {
    const gl_workload *workload;
    gl_arena *arena;
    gl_event_sink *sink;
    void *context;
    int pp, chunks;
    int64_t microbatches, passes; /* of one phase: m·v */
    const slot *order;
    double *arrived_s[2]; /* by virtual stage and microbatch; negative: not yet */
    stage_state *stages;
    int *queue; /* stages that may have something to do, a ring of pp */
    int queue_first, queue_count;
    gl_simulation *out;
};

/* ---- events ---- */

static void emit(stage_state *s, gl_stream stream, gl_event_kind kind, slot at, size_t row,
                 double start_s, double end_s)
{
    simulator *sim = s->sim;
    if (!(end_s > start_s))
        return;
    s->usage->busy_s[stream] += end_s - start_s;
    if (sim->sink == NULL)
        return;
    sim->out->event_count++;
    const gl_event event = {.start_s = start_s,
                            .end_s = end_s,
                            .stage = s->index,
                            .stream = stream,
                            .kind = kind,
                            .chunk = at.chunk,
                            .microbatch = at.microbatch,
                            .row = row};
    sim->sink(sim->context, &event);
}

static const slot no_slot = {-1, -1};

static gl_stream stream_of(const gl_traffic_row *row)
{
    static const gl_stream streams[GL_TRAFFIC_DIMENSION_COUNT] = {
        [GL_TRAFFIC_DP] = GL_STREAM_DP,        [GL_TRAFFIC_TP] = GL_STREAM_TP,
        [GL_TRAFFIC_PP] = GL_STREAM_SEND,      [GL_TRAFFIC_CP] = GL_STREAM_CP,
        [GL_TRAFFIC_EP] = GL_STREAM_EP,        [GL_TRAFFIC_EMBEDDING] = GL_STREAM_DP,
        [GL_TRAFFIC_OPTIMIZER] = GL_STREAM_DP,
    };
    return streams[row->dimension];
}

/*
 * Computing went on from start_s to end_s. In truth inline calls lie between the layers; they are
 * shown together, at the end of the piece: first compute, the hidden ones beside its end, then the
 * others one after the other.
 */
static void on_computed(void *context, double start_s, double end_s, double from, double to)
{
    stage_state *s = context;
    const under_way *now = &s->now;
    int phase = now->phase == FORWARD && from >= now->turn ? BACKWARD : now->phase;
    const gl_phase_share *share = &s->work->phase[phase];
    double part = now->places[phase] > 0 ? (to - from) / now->places[phase] : 0;
    double computed_s = end_s - share->exposed_s * part, waited_s = computed_s;
    double hidden_from_s[GL_STREAM_COUNT];
    gl_event_kind kind = phase == FORWARD ? GL_EVENT_FORWARD : GL_EVENT_BACKWARD;
    s->usage->tax_s += share->tax_s * part;
    s->usage->stall_s += share->exposed_s * part;
    emit(s, GL_STREAM_COMPUTE, kind, now->slot, 0, start_s, computed_s);
    for (int i = 0; i < GL_STREAM_COUNT; i++)
        hidden_from_s[i] = computed_s;
    for (size_t i = 0; i < share->row_count; i++) {
        const gl_inline_row *r = &share->rows[i];
        hidden_from_s[stream_of(&s->work->plan->traffic.rows[r->row])] -= r->hidden_s * part;
    }
    for (int i = 0; i < GL_STREAM_COUNT; i++)
        hidden_from_s[i] = gl_larger(hidden_from_s[i], start_s); /* rounding */
    for (size_t i = 0; i < share->row_count; i++) {
        const gl_inline_row *r = &share->rows[i];
        gl_stream stream = stream_of(&s->work->plan->traffic.rows[r->row]);
        double until_s = hidden_from_s[stream] + r->hidden_s * part;
        emit(s, stream, kind, now->slot, r->row, hidden_from_s[stream], until_s);
        hidden_from_s[stream] = until_s;
    }
    for (size_t i = 0; i < share->row_count; i++) {
        const gl_inline_row *r = &share->rows[i];
        double until_s = waited_s + r->exposed_s * part;
        emit(s, stream_of(&s->work->plan->traffic.rows[r->row]), kind, now->slot, r->row, waited_s,
             until_s);
        waited_s = until_s;
        if (s->usage->row_exposed_s != NULL)
            s->usage->row_exposed_s[r->row] += r->exposed_s * part;
    }
}

/* The same when nobody hears of it: summed up at the end. */
static void on_computed_quietly(void *context, double start_s, double end_s, double from, double to)
{
    stage_state *s = context;
    int phase = s->now.phase == FORWARD && from >= s->now.turn ? BACKWARD : s->now.phase;
    if (s->now.places[phase] > 0)
        s->parts[phase] += (to - from) / s->now.places[phase];
    s->usage->busy_s[GL_STREAM_COMPUTE] += end_s - start_s;
}

static void sum_quiet_parts(stage_state *s)
{
    gl_stage_usage *usage = s->usage;
    for (int phase = 0; phase < 2; phase++) {
        const gl_phase_share *share = &s->work->phase[phase];
        double parts = s->parts[phase];
        usage->tax_s += share->tax_s * parts;
        usage->stall_s += share->exposed_s * parts;
        usage->busy_s[GL_STREAM_COMPUTE] -= share->exposed_s * parts;
        for (size_t i = 0; i < share->row_count; i++) {
            const gl_inline_row *r = &share->rows[i];
            usage->busy_s[stream_of(&s->work->plan->traffic.rows[r->row])] +=
                (r->hidden_s + r->exposed_s) * parts;
            if (usage->row_exposed_s != NULL)
                usage->row_exposed_s[r->row] += r->exposed_s * parts;
        }
    }
}

static void on_sent(void *context, const gl_queued *message, double start_s, double end_s)
{
    stage_state *s = context;
    const gl_traffic_row *row = &s->work->plan->traffic.rows[message->of->row];
    gl_event_kind kind = row->phase == GL_PHASE_FORWARD ? GL_EVENT_FORWARD : GL_EVENT_BACKWARD;
    emit(s, GL_STREAM_DP, kind, s->now.slot, message->of->row, start_s, end_s);
}

/* ---- the order of passes ---- */

/* Megatron's table (core/pipeline_parallel/schedules.py, get_schedule_table): a group of p
 * microbatches goes through a chunk, then through the next one. The last group takes what is left
 * over as well, which Megatron refuses. */
static slot *make_order(const simulator *sim)
{
    slot *order = GL_ARENA_NEW(sim->arena, slot, (size_t)sim->passes);
    int64_t last = gl_last_group(sim->microbatches, sim->pp), at = 0;
    for (int64_t first = 0; first < sim->microbatches;) {
        int64_t size = sim->microbatches - first > last ? sim->pp : last;
        for (int chunk = 0; chunk < sim->chunks; chunk++)
            for (int64_t i = 0; i < size; i++)
                order[at++] = (slot){(int32_t)(first + i), chunk};
        first += size;
    }
    return order;
}

/* Forwards that a stage runs before its first backward. 1F1B: one for each stage behind; its
 * interleaved form two, and a group for each chunk but one (Megatron, as above). */
static int64_t warmup_of(const simulator *sim, int stage)
{
    int64_t behind = sim->pp - 1 - stage, wanted = behind;
    if (sim->workload->parallel.schedule == GL_SCHEDULE_GPIPE)
        wanted = sim->passes;
    else if (sim->chunks > 1)
        wanted = 2 * behind + (sim->chunks - 1) * gl_last_group(sim->microbatches, sim->pp);
    return wanted < sim->passes ? wanted : sim->passes;
}

/* The stage's next pass: its phase and the place in that phase's order. */
static int64_t next_pass(const stage_state *s, int *phase)
{
    int64_t k = s->next, steady = 2 * (s->sim->passes - s->warmup);
    if (k < s->warmup) {
        *phase = FORWARD;
        return k;
    }
    k -= s->warmup;
    if (k >= steady) {
        *phase = BACKWARD;
        return steady / 2 + k - steady;
    }
    *phase = k % 2 == 0 ? FORWARD : BACKWARD;
    return k / 2 + (*phase == FORWARD ? s->warmup : 0);
}

static slot slot_of(const simulator *sim, int phase, int64_t place)
{
    slot at = sim->order[place];
    if (phase == BACKWARD)
        at.chunk = sim->chunks - 1 - at.chunk;
    return at;
}

/* ---- passes ---- */

static double *arrival(const simulator *sim, int phase, int virtual_stage, int64_t microbatch)
{
    return &sim->arrived_s[phase][(int64_t)virtual_stage * sim->microbatches + microbatch];
}

/* When the input of a pass is there; negative: not known yet. */
static double input_s(const stage_state *s, int phase, slot at)
{
    const simulator *sim = s->sim;
    int virtual_stage = at.chunk * sim->pp + s->index;
    if (virtual_stage == (phase == FORWARD ? 0 : sim->pp * sim->chunks - 1))
        return 0;
    return *arrival(sim, phase, virtual_stage, at.microbatch);
}

static void enqueue(simulator *sim, int stage)
{
    if (sim->stages[stage].queued)
        return;
    sim->stages[stage].queued = true;
    sim->queue[(sim->queue_first + sim->queue_count++) % sim->pp] = stage;
}

/* Sends what a pass made to the stage that waits for it. */
static void send(stage_state *s, int phase, slot at, double done_s)
{
    simulator *sim = s->sim;
    int next = at.chunk * sim->pp + s->index + (phase == FORWARD ? 1 : -1);
    if (next < 0 || next >= sim->pp * sim->chunks)
        return;
    double start_s = gl_larger(done_s, s->link_free_s[phase]);
    double end_s = start_s + s->work->send_s[phase];
    double held_s = end_s - s->work->way_s[phase]; /* then the link is free for the next */
    if (!sim->workload->overlap.pp)
        s->free_s = held_s = end_s;
    s->link_free_s[phase] = held_s;
    emit(s, phase == FORWARD ? GL_STREAM_SEND : GL_STREAM_SEND_BACK,
         phase == FORWARD ? GL_EVENT_FORWARD : GL_EVENT_BACKWARD, at, s->work->send_row[phase],
         start_s, held_s);
    *arrival(sim, phase, next, at.microbatch) = end_s;
    if (next % sim->pp != s->index)
        enqueue(sim, next % sim->pp);
}

static void run_pass(stage_state *s, int phase, slot at, double start_s)
{
    const gl_pass *pass = &s->work->pass[phase][at.chunk];
    bool last = at.microbatch == s->sim->microbatches - 1;
    gl_pass_stream_follow(&s->stream, start_s);
    s->now.phase = phase;
    s->now.slot = at;
    s->now.turn = (double)INFINITY;
    if (pass->forward_segments > 0 && pass->segments > pass->forward_segments)
        s->now.turn = pass->end[pass->forward_segments - 1];
    s->free_s = gl_pass_run(pass, last ? &pass->last : &pass->each, start_s, &s->stream);
    s->usage->backward_end_s = s->free_s;
    send(s, phase, at, s->free_s);
}

/* Runs what a stage can run. */
static void run_stage(stage_state *s)
{
    while (s->next < 2 * s->sim->passes) {
        int phase;
        int64_t place = next_pass(s, &phase);
        slot at = slot_of(s->sim, phase, place);
        double ready_s = input_s(s, phase, at);
        if (ready_s < 0)
            return;
        s->next++;
        run_pass(s, phase, at, gl_larger(ready_s, s->free_s));
    }
}

static void run_passes(simulator *sim)
{
    for (int i = 0; i < sim->pp; i++)
        enqueue(sim, i);
    while (sim->queue_count > 0) {
        stage_state *s = &sim->stages[sim->queue[sim->queue_first]];
        sim->queue_first = (sim->queue_first + 1) % sim->pp;
        sim->queue_count--;
        s->queued = false;
        run_stage(s);
    }
    for (int i = 0; i < sim->pp; i++)
        assert(sim->stages[i].next == 2 * sim->passes);
}

/* ---- the end of the step ---- */

/* Rests of messages after a stage's last pass: exposed is what comes after all stages' compute. */
typedef struct tail {
    stage_state *stage;
    double end_s; /* of all compute */
} tail;

static void on_tail(void *context, const gl_queued *message, double start_s, double end_s)
{
    const tail *t = context;
    on_sent(t->stage, message, start_s, end_s);
    if (t->stage->usage->row_exposed_s != NULL)
        t->stage->usage->row_exposed_s[message->of->row] +=
            gl_larger(0, end_s - gl_larger(start_s, t->end_s));
}

static double finish_messages(stage_state *s, double end_s)
{
    tail t = {s, end_s};
    const gl_pass_listener listener = {.sent = on_tail, .context = &t};
    s->now.slot = no_slot;
    s->stream.listener = &listener;
    double done_s = gl_pass_stream_follow(&s->stream, (double)INFINITY);
    s->stream.listener = NULL;
    return gl_larger(done_s, s->free_s);
}

/* The stage's calls of a kind that happen once a step, one after the other. */
static double run_once(stage_state *s, gl_once_kind kind, double start_s)
{
    const gl_stage_work *work = s->work;
    for (size_t i = 0; i < work->once_count; i++) {
        const gl_once *once = &work->once[i];
        if (once->kind != kind)
            continue;
        for (int64_t k = 0; k < once->calls; k++) {
            emit(s, GL_STREAM_DP, GL_EVENT_OPTIMIZER, no_slot, once->row, start_s,
                 start_s + once->time_s);
            start_s += once->time_s;
        }
        if (s->usage->row_exposed_s != NULL)
            s->usage->row_exposed_s[once->row] += once->time_s * (double)once->calls;
    }
    return start_s;
}

static double update(stage_state *s, double start_s)
{
    double norm_s = run_once(s, GL_ONCE_NORM, start_s), end_s = norm_s + s->work->optimizer_s;
    emit(s, GL_STREAM_COMPUTE, GL_EVENT_OPTIMIZER, no_slot, 0, norm_s, end_s);
    return run_once(s, GL_ONCE_GATHER, end_s);
}

static void finish_step(simulator *sim)
{
    double computed_s = 0, tied_s = 0, ready_s = 0;
    for (int i = 0; i < sim->pp; i++)
        computed_s = gl_larger(computed_s, sim->stages[i].usage->backward_end_s);
    for (int i = 0; i < sim->pp; i++) {
        stage_state *s = &sim->stages[i];
        double done_s = finish_messages(s, computed_s);
        ready_s = gl_larger(ready_s, done_s);
        if (s->work->once_s[GL_ONCE_EMBEDDING] > 0)
            tied_s = gl_larger(tied_s, done_s);
    }
    for (int i = 0; i < sim->pp; i++)
        if (sim->stages[i].work->once_s[GL_ONCE_EMBEDDING] > 0)
            ready_s = gl_larger(ready_s, run_once(&sim->stages[i], GL_ONCE_EMBEDDING, tied_s));
    sim->out->computed_s = computed_s;
    sim->out->ready_s = ready_s;
    for (int i = 0; i < sim->pp; i++)
        sim->out->time_s = gl_larger(sim->out->time_s, update(&sim->stages[i], ready_s));
}

/* ---- all of it ---- */

static void prepare_stage(simulator *sim, int index, const gl_stage_work *work)
{
    stage_state *s = &sim->stages[index];
    *s =
        (stage_state){.sim = sim,
                      .work = work,
                      .index = index,
                      .warmup = warmup_of(sim, index),
                      .now = {.places = {gl_phase_s(&work->phase[0]), gl_phase_s(&work->phase[1])}},
                      .usage = &sim->out->stages[index]};
    s->listener =
        (gl_pass_listener){.computed = sim->sink != NULL ? on_computed : on_computed_quietly,
                           .sent = on_sent,
                           .context = s};
    s->stream = (gl_pass_stream){.started_s = (double)NAN,
                                 .arena = sim->arena,
                                 .listener = &s->listener,
                                 .row_exposed_s = s->usage->row_exposed_s};
}

static void prepare(simulator *sim, const gl_stage_work *works)
{
    size_t pp = (size_t)sim->pp;
    size_t inputs = pp * (size_t)sim->chunks * (size_t)sim->microbatches;
    sim->order = make_order(sim);
    sim->queue = GL_ARENA_NEW(sim->arena, int, pp);
    sim->stages = GL_ARENA_NEW(sim->arena, stage_state, pp);
    for (int phase = 0; phase < 2; phase++) {
        sim->arrived_s[phase] = GL_ARENA_NEW(sim->arena, double, inputs);
        for (size_t i = 0; i < inputs; i++)
            sim->arrived_s[phase][i] = -1;
    }
    for (int i = 0; i < sim->pp; i++)
        prepare_stage(sim, i, &works[i]);
}

/* `microbatches`: to be simulated, all of the step's or fewer. */
static gl_simulation simulate(const gl_workload *workload, const gl_stage_work *works,
                              int64_t microbatches, gl_event_sink *sink, void *context,
                              int report_stage, gl_arena *arena)
{
    int pp = workload->parallel.pp, chunks = gl_pass_chunks(&workload->parallel);
    gl_simulation out = {.stages = GL_ARENA_NEW(arena, gl_stage_usage, (size_t)pp)};
    simulator sim = {.workload = workload,
                     .arena = arena,
                     .sink = sink,
                     .context = context,
                     .pp = pp,
                     .chunks = chunks,
                     .microbatches = microbatches,
                     .passes = microbatches * chunks,
                     .out = &out};
    if (report_stage >= 0)
        out.stages[report_stage].row_exposed_s =
            GL_ARENA_NEW(arena, double, works[report_stage].plan->traffic.row_count);
    prepare(&sim, works);
    run_passes(&sim);
    finish_step(&sim);
    for (int i = 0; i < pp; i++) {
        sum_quiet_parts(&sim.stages[i]);
        out.stages[i].tax_s += sim.stages[i].stream.tax_s;
        out.stages[i].stall_s += sim.stages[i].stream.stall_s;
    }
    return out;
}

gl_simulation gl_simulate(const gl_workload *workload, const gl_compute *compute,
                          const gl_stage_plan *stages, const gl_scales *scales, gl_event_sink *sink,
                          void *context, gl_arena *arena)
{
    const gl_stage_work *works = gl_stage_works(workload, compute, stages, scales, arena);
    return simulate(workload, works, gl_workload_microbatches(workload), sink, context, -1, arena);
}

/* Events of one stage that every microbatch and chunk has: two passes, and what goes with each. */
static double events_of_pass(const gl_traffic *traffic)
{
    double events = 2;
    for (size_t i = 0; i < traffic->row_count; i++) {
        gl_traffic_dimension d = traffic->rows[i].dimension;
        events +=
            d == GL_TRAFFIC_TP || d == GL_TRAFFIC_CP || d == GL_TRAFFIC_EP || d == GL_TRAFFIC_PP;
    }
    return events;
}

double gl_simulation_events(const gl_workload *workload, const gl_stage_plan *stages)
{
    const gl_parallel *p = &workload->parallel;
    double m = (double)gl_workload_microbatches(workload), events = 0;
    for (int i = 0; i < p->pp; i++) {
        const gl_traffic *traffic = &stages[i].traffic;
        double pass = events_of_pass(traffic);
        events += m * gl_pass_chunks(p) * pass + 1 + (double)traffic->row_count;
        /* A pass that waits for a message goes on as a new event. */
        for (size_t k = 0; k < traffic->message_count; k++)
            events += traffic->messages[k].every_microbatch ? m * (1 + pass / 2) : 1;
    }
    return events;
}

/* ---- the parts of a step ---- */

/* Past so many events only some of the microbatches are simulated (see below). */
static const double EVENTS_MAX = 300000;

typedef struct step_case {
    const gl_workload *workload;
    const gl_stage_work *works, *without_sends;
    int slowest, report;
    gl_arena *scratch;
} step_case;

/* What is measured of a simulation; the rows' exposed times follow in row_exposed_s. */
typedef struct step_sample {
    double time_s, without_sends_s, tail_s, update_s, tax_s, stall_s;
    const double *row_exposed_s;
} step_sample;

static step_sample sample(const step_case *c, int64_t microbatches)
{
    gl_simulation full =
        simulate(c->workload, c->works, microbatches, NULL, NULL, c->report, c->scratch);
    const gl_stage_usage *slowest = &full.stages[c->slowest];
    step_sample s = {.time_s = full.time_s,
                     .without_sends_s = full.time_s,
                     .tail_s = full.ready_s - full.computed_s,
                     .update_s = full.time_s - full.ready_s,
                     .tax_s = slowest->tax_s,
                     .stall_s = slowest->stall_s};
    if (c->workload->parallel.pp > 1)
        s.without_sends_s =
            simulate(c->workload, c->without_sends, microbatches, NULL, NULL, -1, c->scratch)
                .time_s;
    if (c->report >= 0)
        s.row_exposed_s = full.stages[c->report].row_exposed_s;
    return s;
}

/* The line through two samples. */
static double extend(double first, double second, double factor)
{
    return first + (second - first) * factor;
}

/*
 * In the middle of a step every p microbatches are like those before. Of a step with very many,
 * two with fewer are simulated, some rounds of p apart, and what a round adds is added for the
 * others.
 */
static step_sample sample_step(const step_case *c, double events, double *row_exposed_s)
{
    int64_t m = gl_workload_microbatches(c->workload), p = c->workload->parallel.pp;
    size_t rows = c->report >= 0 ? c->works[c->report].plan->traffic.row_count : 0;
    int64_t rounds = (int64_t)((double)m * EVENTS_MAX / events) / p / 3;
    rounds = rounds > 4 ? rounds : 4;
    int64_t less = m % p + rounds * p, more = less + rounds * p;
    bool all = events <= EVENTS_MAX || more >= m;
    step_sample a = sample(c, all ? m : less);
    step_sample b = all ? a : sample(c, more);
    double factor = all ? 0 : (double)(m - less) / (double)(more - less);
    for (size_t i = 0; i < rows; i++)
        row_exposed_s[i] = extend(a.row_exposed_s[i], b.row_exposed_s[i], factor);
    return (step_sample){
        .time_s = extend(a.time_s, b.time_s, factor),
        .without_sends_s = extend(a.without_sends_s, b.without_sends_s, factor),
        .tail_s = extend(a.tail_s, b.tail_s, factor),
        .update_s = a.update_s,
        .tax_s = extend(a.tax_s, b.tax_s, factor),
        .stall_s = extend(a.stall_s, b.stall_s, factor),
    };
}

/* What sends cost: the step against one in which they take no time, in proportion to the time of
 * each row; joining what was sent in parts is one of its own. */
static void expose_sends(const gl_stage_work *work, double cost_s, double *row_exposed_s)
{
    const gl_stage_plan *plan = work->plan;
    double both_s = work->send_s[FORWARD] + work->send_s[BACKWARD];
    for (size_t i = 0; i < plan->traffic.row_count && both_s > 0; i++) {
        const gl_traffic_row *r = &plan->traffic.rows[i];
        if (r->dimension != GL_TRAFFIC_PP)
            continue;
        double call_s = plan->times[i].time_s * r->load_factor;
        row_exposed_s[i] = gl_smaller(call_s * (double)r->calls_per_step, cost_s * call_s / both_s);
    }
}

static const gl_stage_work *free_sends(const gl_stage_work *works, int pp, gl_arena *scratch)
{
    gl_stage_work *copies = GL_ARENA_NEW(scratch, gl_stage_work, (size_t)pp);
    for (int i = 0; i < pp; i++) {
        copies[i] = works[i];
        copies[i].send_s[FORWARD] = copies[i].send_s[BACKWARD] = 0;
        copies[i].way_s[FORWARD] = copies[i].way_s[BACKWARD] = 0;
    }
    return copies;
}

gl_schedule gl_simulate_step(const gl_workload *workload, const gl_compute *compute,
                             const gl_stage_plan *stages, const gl_scales *scales, int report_stage,
                             double *row_exposed_s, gl_arena *scratch)
{
    int pp = workload->parallel.pp;
    gl_schedule closed = gl_schedule_eval(workload, compute, stages, scales, scratch);
    const gl_stage_work *works = gl_stage_works(workload, compute, stages, scales, scratch);
    const step_case c = {workload,
                         works,
                         free_sends(works, pp, scratch),
                         closed.slowest_stage,
                         row_exposed_s != NULL ? report_stage : -1,
                         scratch};
    step_sample s = sample_step(&c, gl_simulation_events(workload, stages), row_exposed_s);
    if (c.report >= 0)
        expose_sends(&works[c.report], gl_larger(0, s.time_s - s.without_sends_s), row_exposed_s);
    const gl_step_facts facts = {.time_s = s.time_s,
                                 .without_sends_s = s.without_sends_s,
                                 .tail_s = s.tail_s,
                                 .update_s = s.update_s,
                                 .optimizer_s = closed.optimizer_s,
                                 .compute_s = closed.compute_s,
                                 .tax_s = s.tax_s,
                                 .stall_s = s.stall_s,
                                 .slowest_stage = closed.slowest_stage};
    return gl_schedule__parts(&facts);
}
