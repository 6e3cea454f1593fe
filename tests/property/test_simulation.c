/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event simulation of a step against its closed forms, against bounds, and against itself, over
 * random pipelines: schedules, stages, messages of every kind, sends, taxes both ways.
 */
#include "planner/core/simulation.h"

#include "tests/property/random.h"
#include "tests/support.h"

enum {
    UNIFORM_CASES = 3000,
    UNEVEN_CASES = 2000,
    STAGES_MAX = 8,
    BLOCKS_MAX = 24,
    ROWS_MAX = 12,
    MESSAGES_MAX = 3 * BLOCKS_MAX + 8,
    CHUNKS_MAX = 4
};

static double real(uint64_t *random, double low, double high)
{
    return low + (high - low) * (double)(random_next(random) >> 11) / 9007199254740992.0;
}

static bool chance(uint64_t *random, int one_in)
{
    return random_between(random, 1, one_in) == 1;
}

/* One stage with its rows and messages. */
typedef struct stage_case {
    gl_block_kind sequence[BLOCKS_MAX];
    int chunk_end[CHUNKS_MAX];
    gl_stage stage;
    gl_traffic_row rows[ROWS_MAX];
    gl_network_time times[ROWS_MAX];
    double tax[ROWS_MAX], slowdown[ROWS_MAX];
    gl_message messages[MESSAGES_MAX];
    size_t row_count, message_count;
    double optimizer_s;
} stage_case;

typedef struct pipeline_case {
    gl_workload workload;
    gl_compute compute;
    stage_case stages[STAGES_MAX];
    gl_stage_plan plans[STAGES_MAX];
    bool has_inline, slowed;
    double optimizer_s;
} pipeline_case;

/* What all stages of a case have in common. */
typedef struct recipe {
    double bucket_s, gather_s, scatter_s, inline_s[2], hidden_s[2], send_s, norm_s, tied_s, after_s;
    double tax, slowdown;
    double way_frac; /* of a send, on the wire */
    double within;
    bool every; /* the bucket moves with every microbatch */
    bool sharded;
} recipe;

static size_t add_row(stage_case *c, gl_traffic_dimension dimension, gl_phase phase, double time_s,
                      int64_t calls, bool may_hide, const recipe *r)
{
    size_t i = c->row_count++;
    c->rows[i] = (gl_traffic_row){.dimension = dimension,
                                  .phase = phase,
                                  .calls_per_step = calls,
                                  .load_factor = 1,
                                  .may_hide = may_hide,
                                  .placement = {2, 1, 2, 1}};
    c->times[i].time_s = c->times[i].tier_s[0] = time_s;
    c->times[i].way_s = dimension == GL_TRAFFIC_PP ? time_s * r->way_frac : 0;
    c->tax[i] = may_hide ? r->tax : 0;
    c->slowdown[i] = may_hide ? r->slowdown : 0;
    return i;
}

static void add_message(stage_case *c, size_t row, int block, double within, gl_message_when when,
                        bool every)
{
    c->messages[c->message_count++] = (gl_message){
        .row = row, .block = block, .within = within, .when = when, .every_microbatch = every};
}

/* One bucket a chunk, ready when `within` of the chunk's first block is done. */
static void add_buckets(stage_case *c, const recipe *r, const gl_workload *w, int64_t m)
{
    int chunks = gl_parallel_chunks(&w->parallel);
    if (!(r->bucket_s > 0))
        return;
    size_t row = add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, r->bucket_s,
                         chunks * (r->every ? m : 1), w->overlap.dp, r);
    for (int k = chunks - 1; k >= 0; k--)
        add_message(c, row, k > 0 ? c->chunk_end[k - 1] : 0, r->within, GL_AFTER_BACKWARD,
                    r->every);
}

static void add_shards(stage_case *c, const recipe *r, const gl_workload *w, int64_t m)
{
    int blocks = c->stage.block_count;
    size_t forward = add_row(c, GL_TRAFFIC_DP, GL_PHASE_FORWARD, r->gather_s, blocks * m,
                             w->overlap.zero3_prefetch, r);
    size_t backward = add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, r->gather_s, blocks * m,
                              w->overlap.zero3_prefetch, r);
    size_t scatter =
        add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, r->scatter_s, blocks * m, w->overlap.dp, r);
    for (int i = 0; i < blocks; i++)
        add_message(c, forward, i, 0, GL_BEFORE_FORWARD, true);
    for (int i = blocks - 1; i >= 0; i--) {
        add_message(c, backward, i, 0, GL_BEFORE_BACKWARD, true);
        add_message(c, scatter, i, 1, GL_AFTER_BACKWARD, true);
    }
}

static void add_communication(stage_case *c, const recipe *r, const gl_workload *w, bool ends)
{
    int64_t m = gl_workload_microbatches(w), chunks = gl_parallel_chunks(&w->parallel);
    add_buckets(c, r, w, m);
    if (r->sharded)
        add_shards(c, r, w, m);
    for (int phase = 0; phase < 2; phase++) {
        if (r->inline_s[phase] > 0)
            add_row(c, GL_TRAFFIC_TP, (gl_phase)phase, r->inline_s[phase], 3 * m, false, r);
        if (r->hidden_s[phase] > 0)
            add_row(c, GL_TRAFFIC_CP, (gl_phase)phase, r->hidden_s[phase], 2 * m, true, r);
        if (w->parallel.pp > 1 && r->send_s > 0)
            add_row(c, GL_TRAFFIC_PP, (gl_phase)phase, r->send_s, chunks * m, w->overlap.pp, r);
    }
    if (r->norm_s > 0)
        add_row(c, GL_TRAFFIC_OPTIMIZER, GL_PHASE_OPTIMIZER, r->norm_s, 1, false, r);
    if (ends && r->tied_s > 0)
        add_row(c, GL_TRAFFIC_EMBEDDING, GL_PHASE_OPTIMIZER, r->tied_s, 1, false, r);
    if (r->after_s > 0)
        add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_OPTIMIZER, r->after_s, 1, false, r), 0, 0,
                    GL_AFTER_STEP, false);
}

static void fill_blocks(stage_case *c, uint64_t *random, int chunks, int layers, bool first,
                        bool last, bool uniform)
{
    int count = 0;
    if (first)
        c->sequence[count++] = GL_BLOCK_EMBEDDING;
    for (int k = 0; k < chunks; k++) {
        int here = uniform ? layers : random_between(random, 1, layers);
        for (int i = 0; i < here; i++)
            c->sequence[count++] = uniform || !chance(random, 3) ? GL_BLOCK_DENSE : GL_BLOCK_MOE;
        c->chunk_end[k] = count;
    }
    if (last)
        c->sequence[count++] = GL_BLOCK_HEAD;
    c->chunk_end[chunks - 1] = count;
    c->stage = (gl_stage){.sequence = c->sequence, .chunk_end = c->chunk_end, .block_count = count};
}

static void random_schedule(gl_workload *w, uint64_t *random)
{
    static const int stages[] = {1, 2, 2, 3, 4, 5, 8};
    gl_parallel *p = &w->parallel;
    p->pp = stages[random_between(random, 0, 6)];
    p->schedule = (gl_schedule_kind)random_between(random, 0, 2);
    if (p->pp == 1 && p->schedule == GL_SCHEDULE_INTERLEAVED)
        p->schedule = GL_SCHEDULE_1F1B;
    if (p->schedule == GL_SCHEDULE_INTERLEAVED)
        p->virtual_stages = random_between(random, 2, CHUNKS_MAX);
    w->batch.global = chance(random, 4) ? random_between(random, 1, 3)
                                        : random_between(random, p->pp, 4 * p->pp + 3);
    w->overlap.dp = !chance(random, 4);
    w->overlap.zero3_prefetch = !chance(random, 4);
}

static recipe random_recipe(uint64_t *random, double layer_s)
{
    recipe r = {.within = real(random, 0, 1), .every = chance(random, 4)};
    r.sharded = chance(random, 4);
    r.gather_s = real(random, 0, layer_s);
    r.scatter_s = real(random, 0, layer_s);
    r.bucket_s = chance(random, 2) ? real(random, 0, 6 * layer_s) : 0;
    for (int phase = 0; phase < 2; phase++) {
        r.inline_s[phase] = chance(random, 2) ? real(random, 0, layer_s / 4) : 0;
        r.hidden_s[phase] = chance(random, 3) ? real(random, 0, 2 * layer_s) : 0;
    }
    r.send_s = chance(random, 2) ? real(random, 0, layer_s / 2) : 0;
    r.norm_s = chance(random, 2) ? real(random, 0, layer_s / 10) : 0;
    r.tied_s = chance(random, 3) ? real(random, 0, layer_s) : 0;
    r.after_s = chance(random, 3) ? real(random, 0, layer_s) : 0;
    r.way_frac = chance(random, 2) ? real(random, 0, 1) : 0;
    r.tax = chance(random, 2) ? real(random, 0, 0.8) : 0;
    r.slowdown = chance(random, 3) ? real(random, 0, 0.5) : 0;
    return r;
}

/*
 * Where the closed forms are exact (docs/models/schedule.md): equal stages; sends no longer than a
 * pass; interleaved: sends that overlap, are no longer than the other phase's pass and go with a
 * multiple of p microbatches; no gradients that move once a step beside sends, at a tax, or before
 * what every pass gathers.
 */
static void keep_exact(gl_workload *w, recipe *r, uint64_t *random)
{
    if (w->parallel.schedule != GL_SCHEDULE_INTERLEAVED) {
        w->overlap.pp = !chance(random, 3);
        return;
    }
    if (w->batch.global % w->parallel.pp != 0)
        r->send_s = 0;
    if (w->batch.global < w->parallel.pp)
        r->every = true;
    r->every = r->every || r->sharded;
    if (!r->every && r->bucket_s > 0) {
        r->send_s = 0;
        r->tax = r->slowdown = 0;
    }
}

static gl_traffic traffic_of(stage_case *s)
{
    gl_traffic traffic = {.rows = s->rows, .row_count = s->row_count, .messages = s->messages};
    for (size_t i = 0; i < s->message_count; i++) {
        const gl_message message = s->messages[i];
        gl_traffic_put(&traffic, &message);
    }
    return traffic;
}

static void random_case(pipeline_case *c, uint64_t *random, bool uniform)
{
    memset(c, 0, sizeof *c);
    gl_workload *w = &c->workload;
    *w = gl_workload_defaults();
    random_schedule(w, random);
    c->compute.known = true;
    for (int i = 0; i < GL_BLOCK_KIND_COUNT; i++) {
        c->compute.forward_s[i] = real(random, 0.2, 2);
        c->compute.backward_s[i] = real(random, 0.2, 4);
    }
    recipe r = random_recipe(
        random, fmin(c->compute.forward_s[GL_BLOCK_DENSE], c->compute.backward_s[GL_BLOCK_DENSE]));
    if (uniform)
        keep_exact(w, &r, random);
    else
        w->overlap.pp = !chance(random, 3);
    if (uniform && w->parallel.pp > 1)
        r.tied_s = 0;
    c->has_inline = r.inline_s[0] + r.inline_s[1] + r.hidden_s[0] + r.hidden_s[1] > 0;
    c->slowed = r.slowdown > 0;
    c->optimizer_s = chance(random, 2) ? real(random, 0, 3) : 0;
    int layers = random_between(random, 1, 4), pp = w->parallel.pp;
    for (int i = 0; i < pp; i++) {
        stage_case *s = &c->stages[uniform ? 0 : i];
        bool ends = i == 0 || i == pp - 1;
        if (!uniform || i == 0) {
            fill_blocks(s, random, gl_parallel_chunks(&w->parallel), layers, !uniform && i == 0,
                        !uniform && i == pp - 1, uniform);
            add_communication(s, &r, w, ends);
        }
        c->plans[i] = (gl_stage_plan){.stage = &s->stage,
                                      .traffic = traffic_of(s),
                                      .times = s->times,
                                      .overlap_tax = s->tax,
                                      .slowdown = s->slowdown,
                                      .optimizer_s = c->optimizer_s};
    }
}

/* ---- what is seen of a simulation ---- */

typedef struct observer {
    double busy_s[STAGES_MAX][GL_STREAM_COUNT], end_s[STAGES_MAX][GL_STREAM_COUNT], last_s;
    size_t count;
} observer;

static void observe(void *context, const gl_event *e)
{
    observer *o = context;
    /* In order, and never two at once on a stream. */
    assert_true(e->start_s >= 0 && e->end_s > e->start_s);
    assert_true(e->start_s >= o->end_s[e->stage][e->stream] * (1 - 1e-12));
    o->end_s[e->stage][e->stream] = e->end_s;
    o->busy_s[e->stage][e->stream] += e->end_s - e->start_s;
    o->last_s = fmax(o->last_s, e->end_s);
    o->count++;
}

/* The work that goes in, from the inputs alone: compute without tax; rows when nothing slows them.
 */
static void expected_work(const pipeline_case *c, int stage, double work_s[GL_STREAM_COUNT])
{
    static const gl_stream streams[] = {
        [GL_TRAFFIC_DP] = GL_STREAM_DP,        [GL_TRAFFIC_TP] = GL_STREAM_TP,
        [GL_TRAFFIC_PP] = GL_STREAM_SEND,      [GL_TRAFFIC_CP] = GL_STREAM_CP,
        [GL_TRAFFIC_EP] = GL_STREAM_EP,        [GL_TRAFFIC_EMBEDDING] = GL_STREAM_DP,
        [GL_TRAFFIC_OPTIMIZER] = GL_STREAM_DP,
    };
    const gl_stage_plan *plan = &c->plans[stage];
    int pp = c->workload.parallel.pp;
    double m = (double)gl_workload_microbatches(&c->workload);
    memset(work_s, 0, GL_STREAM_COUNT * sizeof *work_s);
    for (int i = 0; i < plan->stage->block_count; i++) {
        gl_block_kind kind = plan->stage->sequence[i];
        work_s[GL_STREAM_COMPUTE] += m * (c->compute.forward_s[kind] + c->compute.backward_s[kind]);
    }
    work_s[GL_STREAM_COMPUTE] += plan->optimizer_s;
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *row = &plan->traffic.rows[i];
        gl_stream stream = streams[row->dimension];
        /* On the wire a message does not hold its link. */
        double way_s = c->workload.overlap.pp ? plan->times[i].way_s : 0;
        double each_s = plan->times[i].time_s - way_s, s = each_s * (double)row->calls_per_step;
        if (stream == GL_STREAM_SEND && row->phase == GL_PHASE_BACKWARD)
            stream = GL_STREAM_SEND_BACK;
        /* At the ends of the model a chunk sends nothing. */
        bool at_end = stream == GL_STREAM_SEND        ? stage == pp - 1
                      : stream == GL_STREAM_SEND_BACK ? stage == 0
                                                      : false;
        work_s[stream] += s - (at_end ? each_s * m : 0);
    }
}

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * scale;
}

/* Nothing is lost and nothing is done twice. */
static void check_conservation(const pipeline_case *c, const gl_simulation *s, const observer *o)
{
    assert_int_equal(o->count, s->event_count);
    assert_true(o->last_s <= s->time_s * (1 + 1e-12));
    for (int i = 0; i < c->workload.parallel.pp; i++) {
        double work_s[GL_STREAM_COUNT];
        expected_work(c, i, work_s);
        for (int k = 0; k < GL_STREAM_COUNT; k++) {
            double busy_s = s->stages[i].busy_s[k];
            assert_true(near(o->busy_s[i][k], busy_s, s->time_s));
            if (k == GL_STREAM_COMPUTE)
                busy_s -= s->stages[i].tax_s;
            bool same = k == GL_STREAM_COMPUTE || !c->slowed;
            if (busy_s < work_s[k] - 1e-9 * s->time_s ||
                (same && !near(busy_s, work_s[k], s->time_s)))
                fail_msg("stage %d, %s: %g s of work in %g s", i, gl_stream_name((gl_stream)k),
                         work_s[k], busy_s);
        }
    }
}

static gl_simulation simulate(const pipeline_case *c, const gl_scales *scales, observer *o,
                              gl_arena *arena)
{
    return gl_simulate(&c->workload, &c->compute, c->plans, scales, o != NULL ? observe : NULL, o,
                       arena);
}

static const gl_scales plain = {1, {1, 1}, 1};

static gl_schedule closed_form(const pipeline_case *c, const gl_scales *scales, gl_arena *arena)
{
    return gl_schedule_eval(&c->workload, &c->compute, c->plans, scales, arena);
}

static void describe(const pipeline_case *c, int number)
{
    const gl_parallel *p = &c->workload.parallel;
    fprintf(stderr, "case %d: pp %d schedule %d v %d m %lld blocks %d dp %d pp %d prefetch %d rows",
            number, p->pp, (int)p->schedule, p->virtual_stages,
            (long long)gl_workload_microbatches(&c->workload), c->stages[0].stage.block_count,
            c->workload.overlap.dp, c->workload.overlap.pp, c->workload.overlap.zero3_prefetch);
    for (size_t i = 0; i < c->stages[0].row_count; i++)
        fprintf(stderr, " [%d %d %g x%lld tax %g slow %g]", (int)c->stages[0].rows[i].dimension,
                (int)c->stages[0].rows[i].phase, c->stages[0].times[i].time_s,
                (long long)c->stages[0].rows[i].calls_per_step, c->stages[0].tax[i],
                c->stages[0].slowdown[i]);
    fprintf(stderr, "\n");
}

/* ---- equal stages ---- */

static void equal_stages_keep_the_closed_forms(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    static pipeline_case c;
    for (int i = 0; i < UNIFORM_CASES; i++) {
        gl_arena *arena = gl_arena_create();
        observer o = {.count = 0};
        random_case(&c, &random, true);
        gl_simulation s = simulate(&c, &plain, &o, arena);
        gl_schedule closed = closed_form(&c, &plain, arena);
        gl_schedule parts =
            gl_simulate_step(&c.workload, &c.compute, c.plans, &plain, 0, NULL, arena);
        if (!near(s.time_s, closed.time_s, closed.time_s)) {
            describe(&c, i);
            fail_msg("simulated %.12g, closed form %.12g", s.time_s, closed.time_s);
        }
        if (!near(parts.time_s, closed.time_s, closed.time_s) ||
            !near(parts.bubble_s, closed.bubble_s, closed.time_s) ||
            !near(parts.compute_s, closed.compute_s, closed.time_s))
            fail_msg("case %d: other parts", i);
        check_conservation(&c, &s, &o);
        gl_arena_destroy(arena);
    }
}

/* ---- uneven stages ---- */

/* Work of a stage, with what it must wait for in any case. */
static double stage_work_s(const pipeline_case *c, int stage)
{
    double work_s[GL_STREAM_COUNT];
    expected_work(c, stage, work_s);
    return work_s[GL_STREAM_COMPUTE];
}

/* One microbatch alone goes through all stages there and back. */
static double path_s(const pipeline_case *c)
{
    double sum_s = 0;
    double m = (double)gl_workload_microbatches(&c->workload);
    for (int i = 0; i < c->workload.parallel.pp; i++)
        sum_s += (stage_work_s(c, i) - c->plans[i].optimizer_s) / m;
    return sum_s + c->optimizer_s;
}

/* The pipeline with every stage as slow as the slowest, no communication hidden, one phase after
 * the other. */
static double upper_s(const pipeline_case *c)
{
    double m = (double)gl_workload_microbatches(&c->workload), p = c->workload.parallel.pp;
    double most_s = 0, once_s = 0;
    for (int i = 0; i < c->workload.parallel.pp; i++) {
        double work_s[GL_STREAM_COUNT], sum_s = 0;
        expected_work(c, i, work_s);
        for (int k = 0; k < GL_STREAM_COUNT; k++)
            sum_s += work_s[k] * (k == GL_STREAM_COMPUTE ? 1 : 2); /* tax < 1, slowdown ≤ 1/2 */
        most_s = fmax(most_s, sum_s / m);
        once_s += sum_s;
    }
    return 2 * (m + p) * most_s + once_s;
}

/* Simulation over closed form, by schedule. */
static double above[3], below[3];

static void check_uneven(const pipeline_case *c, gl_arena *arena)
{
    observer o = {.count = 0};
    gl_simulation s = simulate(c, &plain, &o, arena);
    gl_schedule closed = closed_form(c, &plain, arena);
    check_conservation(c, &s, &o);
    for (int i = 0; i < c->workload.parallel.pp; i++) {
        assert_true(s.time_s >= stage_work_s(c, i) * (1 - 1e-9));
        assert_true(closed.time_s >= stage_work_s(c, i) * (1 - 1e-9));
    }
    assert_true(s.time_s >= path_s(c) * (1 - 1e-9));
    assert_true(closed.time_s >= path_s(c) * (1 - 1e-9));
    assert_true(s.time_s <= upper_s(c));
    gl_schedule_kind kind = c->workload.parallel.schedule;
    if (kind == GL_SCHEDULE_GPIPE)
        assert_true(s.time_s <= closed.time_s * (1 + 1e-9));
    above[kind] = fmax(above[kind], s.time_s / closed.time_s - 1);
    below[kind] = fmin(below[kind], s.time_s / closed.time_s - 1);
}

/* Longer passes or messages never make the step shorter: no schedule here has a choice. */
static void check_monotone(const pipeline_case *c, int number, uint64_t *random, gl_arena *arena)
{
    double before_s = simulate(c, &plain, NULL, arena).time_s;
    static pipeline_case slower;
    slower = *c;
    int kind = random_between(random, 0, GL_BLOCK_KIND_COUNT - 1);
    gl_scales scales = {1.3, {1, 1}, 1};
    assert_true(simulate(c, &scales, NULL, arena).time_s >= before_s * (1 - 1e-9));
    /* Inline calls are spread over blocks in proportion to compute: one kind alone moves them. */
    for (int phase = 0; phase < 2 && !c->has_inline; phase++) {
        (phase == 0 ? slower.compute.forward_s : slower.compute.backward_s)[kind] *= 1.3;
        double after_s = simulate(&slower, &plain, NULL, arena).time_s;
        if (!(after_s >= before_s * (1 - 1e-9))) {
            describe(c, number);
            fail_msg("slower blocks of kind %d, phase %d: %.12g after %.12g", kind, phase, after_s,
                     before_s);
        }
    }
    scales = (gl_scales){1, {1.5, 1}, 1};
    if (!(simulate(c, &scales, NULL, arena).time_s >= before_s * (1 - 1e-9))) {
        describe(c, number);
        fail_msg("slower links: %.12g after %.12g", simulate(c, &scales, NULL, arena).time_s,
                 before_s);
    }
}

static void uneven_stages_keep_to_bounds(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    static pipeline_case c;
    for (int i = 0; i < UNEVEN_CASES; i++) {
        gl_arena *arena = gl_arena_create();
        random_case(&c, &random, false);
        check_uneven(&c, arena);
        check_monotone(&c, i, &random, arena);
        gl_arena_destroy(arena);
    }
    static const char *const names[] = {"GPipe", "1F1B", "interleaved"};
    for (int i = 0; i < 3; i++)
        printf("uneven stages, %s: simulation over closed form %+.1f %% to %+.1f %%\n", names[i],
               100 * below[i], 100 * above[i]);
}

/* With many microbatches of 1F1B only the slowest stage counts. */
static void many_microbatches_cost_the_slowest_stage(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    static pipeline_case c;
    for (int i = 0; i < 50; i++) {
        gl_arena *arena = gl_arena_create();
        random_case(&c, &random, false);
        if (c.workload.parallel.schedule != GL_SCHEDULE_1F1B) {
            gl_arena_destroy(arena);
            continue;
        }
        for (int k = 0; k < c.workload.parallel.pp; k++)
            c.plans[k].traffic.row_count = c.plans[k].traffic.message_count = 0;
        c.workload.batch.global = 4000;
        double most_s = 0;
        for (int k = 0; k < c.workload.parallel.pp; k++)
            most_s = fmax(most_s, stage_work_s(&c, k));
        double time_s = simulate(&c, &plain, NULL, arena).time_s;
        assert_true(time_s >= most_s * (1 - 1e-9) && time_s <= most_s * 1.02);
        gl_arena_destroy(arena);
    }
}

/* A step with so many microbatches that only some are simulated for its parts. */
static void long_steps_are_extended(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    static pipeline_case c;
    double worst = 0;
    for (int i = 0; i < 60; i++) {
        gl_arena *arena = gl_arena_create();
        random_case(&c, &random, i % 2 == 0);
        c.workload.batch.global = random_between(&random, 3000, 4000);
        double full_s = simulate(&c, &plain, NULL, arena).time_s;
        double parts_s =
            gl_simulate_step(&c.workload, &c.compute, c.plans, &plain, 0, NULL, arena).time_s;
        worst = fmax(worst, fabs(parts_s / full_s - 1));
        gl_arena_destroy(arena);
    }
    printf("long steps: extended against whole %.2g\n", worst);
    assert_true(worst < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stages_keep_the_closed_forms),
        cmocka_unit_test(uneven_stages_keep_to_bounds),
        cmocka_unit_test(many_microbatches_cost_the_slowest_stage),
        cmocka_unit_test(long_steps_are_extended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
