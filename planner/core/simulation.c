/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/simulation.h"

#include "planner/core/passes.h"

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
    gl_stage_usage *usage;
    bool queued;
} stage_state;

struct simulator {
    const gl_workload *workload;
    const gl_scales *scales;
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

/* ---- events -----------------------------------------------------------------------------------
 */

static void emit(stage_state *s, gl_stream stream, gl_event_kind kind, slot at, size_t row,
                 double start_s, double end_s)
{
    simulator *sim = s->sim;
    if (!(end_s > start_s))
        return;
    s->usage->busy_s[stream] += end_s - start_s;
    sim->out->event_count++;
    if (sim->sink == NULL)
        return;
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
        hidden_from_s[i] = fmax(hidden_from_s[i], start_s); /* rounding */
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

static void on_sent(void *context, const gl_queued *message, double start_s, double end_s)
{
    stage_state *s = context;
    const gl_traffic_row *row = &s->work->plan->traffic.rows[message->row];
    gl_event_kind kind = row->phase == GL_PHASE_FORWARD ? GL_EVENT_FORWARD : GL_EVENT_BACKWARD;
    emit(s, GL_STREAM_DP, kind, s->now.slot, message->row, start_s, end_s);
}

/* ---- the order of passes ----------------------------------------------------------------------
 */

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

/* ---- passes -----------------------------------------------------------------------------------
 */

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
    double start_s = fmax(done_s, s->link_free_s[phase]);
    double end_s = start_s + s->work->send_s[phase];
    s->link_free_s[phase] = end_s;
    if (!sim->workload->overlap.pp)
        s->free_s = end_s;
    emit(s, phase == FORWARD ? GL_STREAM_SEND : GL_STREAM_SEND_BACK,
         phase == FORWARD ? GL_EVENT_FORWARD : GL_EVENT_BACKWARD, at, s->work->send_row[phase],
         start_s, end_s);
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
        run_pass(s, phase, at, fmax(ready_s, s->free_s));
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

/* ---- the end of the step ----------------------------------------------------------------------
 */

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
        t->stage->usage->row_exposed_s[message->row] += fmax(0, end_s - fmax(start_s, t->end_s));
}

static double finish_messages(stage_state *s, double end_s)
{
    tail t = {s, end_s};
    const gl_pass_listener listener = {.sent = on_tail, .context = &t};
    s->now.slot = no_slot;
    s->stream.listener = &listener;
    double done_s = gl_pass_stream_follow(&s->stream, (double)INFINITY);
    s->stream.listener = NULL;
    return fmax(done_s, s->free_s);
}

/* The stage's calls of a kind that happen once a step, one after the other. */
static double run_once(stage_state *s, gl_once_kind kind, double start_s)
{
    const gl_stage_work *work = s->work;
    for (size_t i = 0; i < work->once_count; i++) {
        const gl_once *once = &work->once[i];
        if (once->kind != kind)
            continue;
        emit(s, GL_STREAM_DP, GL_EVENT_OPTIMIZER, no_slot, once->row, start_s,
             start_s + once->time_s);
        if (s->usage->row_exposed_s != NULL)
            s->usage->row_exposed_s[once->row] += once->time_s;
        start_s += once->time_s;
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
        computed_s = fmax(computed_s, sim->stages[i].usage->backward_end_s);
    for (int i = 0; i < sim->pp; i++) {
        stage_state *s = &sim->stages[i];
        double done_s = finish_messages(s, computed_s);
        ready_s = fmax(ready_s, done_s);
        if (s->work->once_s[GL_ONCE_EMBEDDING] > 0)
            tied_s = fmax(tied_s, done_s);
    }
    for (int i = 0; i < sim->pp; i++)
        if (sim->stages[i].work->once_s[GL_ONCE_EMBEDDING] > 0)
            ready_s = fmax(ready_s, run_once(&sim->stages[i], GL_ONCE_EMBEDDING, tied_s));
    sim->out->computed_s = computed_s;
    sim->out->ready_s = ready_s;
    for (int i = 0; i < sim->pp; i++)
        sim->out->time_s = fmax(sim->out->time_s, update(&sim->stages[i], ready_s));
}

/* ---- all of it --------------------------------------------------------------------------------
 */

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
    s->listener = (gl_pass_listener){.computed = on_computed, .sent = on_sent, .context = s};
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

static gl_simulation simulate(const gl_workload *workload, const gl_stage_work *works,
                              gl_event_sink *sink, void *context, int report_stage, gl_arena *arena)
{
    int pp = workload->parallel.pp, chunks = gl_pass_chunks(&workload->parallel);
    gl_simulation out = {.stages = GL_ARENA_NEW(arena, gl_stage_usage, (size_t)pp)};
    int64_t m = gl_workload_microbatches(workload);
    simulator sim = {.workload = workload,
                     .arena = arena,
                     .sink = sink,
                     .context = context,
                     .pp = pp,
                     .chunks = chunks,
                     .microbatches = m,
                     .passes = m * chunks,
                     .out = &out};
    if (report_stage >= 0)
        out.stages[report_stage].row_exposed_s =
            GL_ARENA_NEW(arena, double, works[report_stage].plan->traffic.row_count);
    prepare(&sim, works);
    run_passes(&sim);
    finish_step(&sim);
    for (int i = 0; i < pp; i++) {
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
    return simulate(workload, works, sink, context, -1, arena);
}

/* What sends cost: the step against one in which they take no time, in proportion to their time. */
static void expose_sends(const gl_stage_work *work, double cost_s, double *row_exposed_s)
{
    double both_s = work->send_s[FORWARD] + work->send_s[BACKWARD];
    for (int phase = 0; phase < 2 && both_s > 0; phase++) {
        size_t row = work->send_row[phase];
        double all_s = work->send_s[phase] * (double)work->plan->traffic.rows[row].calls_per_step;
        if (work->send_s[phase] > 0)
            row_exposed_s[row] = fmin(all_s, cost_s * work->send_s[phase] / both_s);
    }
}

static double simulate_without_sends(const gl_workload *workload, const gl_stage_work *works,
                                     gl_arena *scratch)
{
    size_t pp = (size_t)workload->parallel.pp;
    gl_stage_work *copies = GL_ARENA_NEW(scratch, gl_stage_work, pp);
    for (size_t i = 0; i < pp; i++) {
        copies[i] = works[i];
        copies[i].send_s[FORWARD] = copies[i].send_s[BACKWARD] = 0;
    }
    return simulate(workload, copies, NULL, NULL, -1, scratch).time_s;
}

gl_schedule gl_simulate_step(const gl_workload *workload, const gl_compute *compute,
                             const gl_stage_plan *stages, const gl_scales *scales, int report_stage,
                             double *row_exposed_s, gl_arena *scratch)
{
    int pp = workload->parallel.pp, report = row_exposed_s != NULL ? report_stage : -1;
    gl_schedule closed = gl_schedule_eval(workload, compute, stages, scales, scratch);
    gl_stage_work *works = gl_stage_works(workload, compute, stages, scales, scratch);
    gl_simulation full = simulate(workload, works, NULL, NULL, report, scratch);
    const gl_stage_usage *slowest = &full.stages[closed.slowest_stage];
    gl_step_facts facts = {.time_s = full.time_s,
                           .without_sends_s = full.time_s,
                           .tail_s = full.ready_s - full.computed_s,
                           .update_s = full.time_s - full.ready_s,
                           .optimizer_s = closed.optimizer_s,
                           .compute_s = closed.compute_s,
                           .tax_s = slowest->tax_s,
                           .stall_s = slowest->stall_s,
                           .slowest_stage = closed.slowest_stage};
    if (pp > 1)
        facts.without_sends_s = simulate_without_sends(workload, works, scratch);
    if (report >= 0) {
        for (size_t i = 0; i < works[report].plan->traffic.row_count; i++)
            row_exposed_s[i] = full.stages[report].row_exposed_s[i];
        expose_sends(&works[report], fmax(0, full.time_s - facts.without_sends_s), row_exposed_s);
    }
    return gl_schedule__parts(&facts);
}
