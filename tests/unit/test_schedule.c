/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/simulation.h"
#include "tests/support.h"

/* A stage of `layers` blocks, forward 1 s and backward 2 s each, with at most eight rows and
 * messages that a test fills in. */
typedef struct stage_case {
    gl_workload workload;
    gl_compute compute;
    gl_block_kind sequence[8];
    int chunk_end[2];
    gl_stage stage;
    gl_traffic_row rows[8];
    gl_network_time times[8];
    double overlap_tax[8];
    gl_message messages[8];
    gl_stage_plan plan;
} stage_case;

static stage_case *new_case(int layers, int microbatches)
{
    static stage_case c;
    memset(&c, 0, sizeof c);
    c.workload = gl_workload_defaults();
    c.workload.batch.global = microbatches;
    c.compute.forward_s[GL_BLOCK_DENSE] = 1;
    c.compute.backward_s[GL_BLOCK_DENSE] = 2;
    c.compute.known = true;
    for (int i = 0; i < layers; i++)
        c.sequence[i] = GL_BLOCK_DENSE;
    c.stage = (gl_stage){
        .layers = layers, .dense_layers = layers, .sequence = c.sequence, .block_count = layers};
    c.plan = (gl_stage_plan){.stage = &c.stage,
                             .times = c.times,
                             .overlap_tax = c.overlap_tax,
                             .traffic = {.rows = c.rows, .messages = c.messages}};
    return &c;
}

/* Two chunks of equal length in an interleaved schedule. */
static void interleave(stage_case *c)
{
    c->workload.parallel.schedule = GL_SCHEDULE_INTERLEAVED;
    c->workload.parallel.virtual_stages = 2;
    c->chunk_end[0] = c->stage.block_count / 2;
    c->chunk_end[1] = c->stage.block_count;
    c->stage.chunk_end = c->chunk_end;
}

static size_t add_row(stage_case *c, gl_traffic_dimension dimension, gl_phase phase, double time_s,
                      int64_t calls, bool may_hide)
{
    size_t i = c->plan.traffic.row_count++;
    c->rows[i] = (gl_traffic_row){.dimension = dimension,
                                  .phase = phase,
                                  .calls_per_step = calls,
                                  .load_factor = 1,
                                  .may_hide = may_hide,
                                  .placement = {2, 1, 2, 1}};
    c->times[i].time_s = c->times[i].tier_s[0] = time_s;
    return i;
}

static void add_message(stage_case *c, size_t row, int block, double within, gl_message_when when,
                        bool every)
{
    const gl_message message = {
        .row = row, .block = block, .within = within, .when = when, .every_microbatch = every};
    gl_traffic_put(&c->plan.traffic, &message);
}

static void check_equal(const gl_schedule *a, const gl_schedule *b)
{
    const double scale = b->time_s;
    assert_close(a->time_s, b->time_s, 1e-9);
    assert_close(a->compute_s, b->compute_s, 1e-9);
    assert_true(fabs(a->overlap_tax_s - b->overlap_tax_s) <= 1e-9 * scale);
    assert_true(fabs(a->exposed_s - b->exposed_s) <= 1e-9 * scale);
    assert_true(fabs(a->bubble_s - b->bubble_s) <= 1e-9 * scale);
}

/* The closed form, which has to be what the simulation gives. */
static gl_schedule eval(stage_case *c, double *exposed_s)
{
    gl_arena *arena = gl_arena_create();
    gl_stage_plan plans[8];
    const gl_scales scales = {1, {1, 1}, 1};
    for (int i = 0; i < c->workload.parallel.pp; i++)
        plans[i] = c->plan;
    gl_schedule s = gl_schedule_eval(&c->workload, &c->compute, plans, &scales, arena);
    gl_schedule simulated =
        gl_simulate_step(&c->workload, &c->compute, plans, &scales, 0, exposed_s, arena);
    gl_arena_destroy(arena);
    check_equal(&simulated, &s);
    assert_close(s.time_s, s.compute_s + s.overlap_tax_s + s.exposed_s + s.bubble_s + s.optimizer_s,
                 1e-12);
    return s;
}

static void compute_alone(void **state)
{
    (void)state;
    stage_case *c = new_case(4, 3);
    c->plan.optimizer_s = 0.5;
    gl_schedule s = eval(c, NULL);
    assert_close(s.time_s, 3 * 4 * 3 + 0.5, 1e-12);
    assert_close(s.exposed_s, 0, 1e-12);
}

static void gradients_hide_behind_the_rest_of_backward(void **state)
{
    (void)state;
    double exposed[8] = {0};
    stage_case *c = new_case(4, 2);
    /* Ready when the last layer's backward is done, six seconds before the end; takes five. */
    add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, 5, 1, true), 3, 1,
                GL_AFTER_BACKWARD, false);
    gl_schedule s = eval(c, exposed);
    assert_close(s.time_s, 24, 1e-12);
    assert_close(exposed[0], 0, 1e-12);
    c->times[0].tier_s[0] = 10;
    s = eval(c, exposed);
    assert_close(s.time_s, 28, 1e-12);
    assert_close(s.exposed_s, 4, 1e-12);
    assert_close(exposed[0], 4, 1e-12);
}

static void hidden_communication_slows_compute(void **state)
{
    (void)state;
    stage_case *c = new_case(4, 1);
    c->overlap_tax[0] = 0.5;
    add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, 4, 1, true), 3, 1,
                GL_AFTER_BACKWARD, false);
    gl_schedule s = eval(c, NULL);
    /* Beside four seconds of communication compute does two seconds of work. */
    assert_close(s.time_s, 14, 1e-12);
    assert_close(s.overlap_tax_s, 2, 1e-12);
    assert_close(s.exposed_s, 0, 1e-12);
}

/* Messages pay the tax of their own transport. */
static void each_row_has_its_own_tax(void **state)
{
    (void)state;
    stage_case *c = new_case(4, 1);
    add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, 2, 1, true), 3, 1,
                GL_AFTER_BACKWARD, false);
    size_t row = add_row(c, GL_TRAFFIC_TP, GL_PHASE_FORWARD, 3, 1, true);
    c->overlap_tax[0] = 0.5;
    c->overlap_tax[row] = 0.1;
    gl_schedule s = eval(c, NULL);
    assert_close(s.overlap_tax_s, 0.5 * 2 + 0.1 * 3, 1e-12);
    assert_close(s.time_s, 12 + s.overlap_tax_s, 1e-12);
}

static void without_overlap_all_of_it_is_exposed(void **state)
{
    (void)state;
    double exposed[8] = {0};
    stage_case *c = new_case(4, 1);
    c->workload.overlap.dp = false;
    add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, 5, 1, false), 3, 1,
                GL_AFTER_BACKWARD, false);
    add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_OPTIMIZER, 2, 1, false), 0, 0, GL_AFTER_STEP,
                false);
    gl_schedule s = eval(c, exposed);
    assert_close(s.time_s, 12 + 5 + 2, 1e-12);
    assert_close(exposed[0], 5, 1e-12);
    assert_close(exposed[1], 2, 1e-12);
}

static void gathers_gate_their_block(void **state)
{
    (void)state;
    double exposed[8] = {0};
    stage_case *c = new_case(2, 1);
    size_t row = add_row(c, GL_TRAFFIC_DP, GL_PHASE_FORWARD, 0.5, 2, true);
    add_message(c, row, 0, 0, GL_BEFORE_FORWARD, true);
    add_message(c, row, 1, 0, GL_BEFORE_FORWARD, true);
    /* The first is waited for; the second is gathered while block 0 computes. */
    assert_close(eval(c, exposed).time_s, 6.5, 1e-12);
    assert_close(exposed[row], 0.5, 1e-12);
    c->times[row].tier_s[0] = 3; /* longer than a block's forward: 3 + max(1, 3) + 1 + 4 */
    assert_close(eval(c, NULL).time_s, 11, 1e-12);
    c->workload.overlap.zero3_prefetch = false;
    assert_close(eval(c, NULL).time_s, 12, 1e-12);
}

static void every_microbatch_pays_its_own(void **state)
{
    (void)state;
    double exposed[8] = {0};
    stage_case *c = new_case(2, 3);
    size_t row = add_row(c, GL_TRAFFIC_DP, GL_PHASE_FORWARD, 0.5, 6, true);
    add_message(c, row, 0, 0, GL_BEFORE_FORWARD, true);
    add_message(c, row, 1, 0, GL_BEFORE_FORWARD, true);
    assert_close(eval(c, exposed).time_s, 3 * 6.5, 1e-12);
    assert_close(exposed[row], 1.5, 1e-12);
}

static void tensor_parallel_stalls_compute(void **state)
{
    (void)state;
    double exposed[8] = {0};
    stage_case *c = new_case(4, 2);
    add_row(c, GL_TRAFFIC_TP, GL_PHASE_FORWARD, 0.125, 16, false);
    add_row(c, GL_TRAFFIC_TP, GL_PHASE_BACKWARD, 0.25, 16, true);
    gl_schedule s = eval(c, exposed);
    assert_close(s.time_s, 24 + 2, 1e-12); /* the backward's may hide, and does */
    assert_close(exposed[0], 2, 1e-12);
    assert_close(exposed[1], 0, 1e-12);
}

static void a_pipeline_fills_and_drains(void **state)
{
    (void)state;
    stage_case *c = new_case(2, 8);
    c->workload.parallel.pp = 4;
    /* m·t + (p − 1)·t, Narayanan et al. 2021. */
    gl_schedule s = eval(c, NULL);
    assert_close(s.time_s, 8 * 6 + 3 * 6, 1e-12);
    assert_close(s.bubble_s, 18, 1e-12);
    interleave(c);
    assert_close(eval(c, NULL).bubble_s, 9, 1e-12);
}

/*
 * 1F1B leaves no slack for sends: a stage that has its microbatches in flight waits for one to come
 * back from the last stage. Of 8 microbatches over 4 stages the first travels 3 hops there and
 * back; the other 7 follow one another in ⌈7/4⌉ rounds, which travel one hop less each.
 */
static void sends_between_tight_stages_are_exposed(void **state)
{
    (void)state;
    stage_case *c = new_case(2, 8);
    c->workload.parallel.pp = 4;
    add_row(c, GL_TRAFFIC_PP, GL_PHASE_FORWARD, 0.1, 8, true);
    add_row(c, GL_TRAFFIC_PP, GL_PHASE_BACKWARD, 0.1, 8, true);
    assert_close(eval(c, NULL).exposed_s, 0.2 * (3 + 7 - 2), 1e-9);
    c->workload.parallel.schedule = GL_SCHEDULE_GPIPE; /* each phase fills the pipeline once */
    assert_close(eval(c, NULL).exposed_s, 0.2 * 3, 1e-9);
    interleave(c); /* the first microbatch passes all 8 chunks */
    assert_close(eval(c, NULL).exposed_s, 0.2 * 7, 1e-9);
}

/* The last stage sends no activations and the first no gradients: of m + p − 1 passes in a row at
 * least two and one are theirs. */
static void blocking_sends_are_work_of_their_stage(void **state)
{
    (void)state;
    stage_case *c = new_case(2, 8);
    c->workload.parallel.pp = 4;
    c->workload.overlap.pp = false;
    add_row(c, GL_TRAFFIC_PP, GL_PHASE_FORWARD, 0.1, 8, false);
    add_row(c, GL_TRAFFIC_PP, GL_PHASE_BACKWARD, 0.1, 8, false);
    assert_close(eval(c, NULL).exposed_s, 0.1 * (11 - 2) + 0.1 * (11 - 1), 1e-9);
    c->workload.parallel.schedule = GL_SCHEDULE_GPIPE;
    assert_close(eval(c, NULL).exposed_s, 0.2 * (11 - 1), 1e-9);
    interleave(c);
    assert_close(eval(c, NULL).exposed_s, 0.1 * (3 * 8 + 2 * 4 - 3) * 1, 1e-9);
}

static void gradients_of_early_stages_hide_in_the_drain(void **state)
{
    (void)state;
    stage_case *c = new_case(2, 8);
    c->workload.parallel.pp = 2;
    add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, 3, 1, true), 0, 1,
                GL_AFTER_BACKWARD, false);
    /* Stage 0 ends last and has nothing to hide behind; stage 1's is over by then. */
    gl_schedule s = eval(c, NULL);
    assert_close(s.time_s, 9 * 6 + 3, 1e-12);
}

/* The last stage ends before the first; its gradients move in that time, which chunks shorten. */
static void gradients_of_the_last_stage_hide_in_the_drain(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    stage_case *c = new_case(4, 2);
    c->workload.parallel.pp = 2;
    add_message(c, add_row(c, GL_TRAFFIC_DP, GL_PHASE_BACKWARD, 10, 1, true), 0, 1,
                GL_AFTER_BACKWARD, false);
    gl_stage_plan plans[2] = {c->plan, c->plan};
    static gl_traffic_row none[1];
    plans[0].traffic = (gl_traffic){.rows = none};
    gl_scales scales = {1, {1, 1}, 1};
    gl_schedule s = gl_schedule_eval(&c->workload, &c->compute, plans, &scales, arena);
    assert_close(s.exposed_s, 10 - 8, 1e-12);
    interleave(c);
    s = gl_schedule_eval(&c->workload, &c->compute, plans, &scales, arena);
    assert_close(s.exposed_s, 10 - 4, 1e-12);
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compute_alone),
        cmocka_unit_test(gradients_hide_behind_the_rest_of_backward),
        cmocka_unit_test(hidden_communication_slows_compute),
        cmocka_unit_test(each_row_has_its_own_tax),
        cmocka_unit_test(gradients_of_the_last_stage_hide_in_the_drain),
        cmocka_unit_test(without_overlap_all_of_it_is_exposed),
        cmocka_unit_test(gathers_gate_their_block),
        cmocka_unit_test(every_microbatch_pays_its_own),
        cmocka_unit_test(tensor_parallel_stalls_compute),
        cmocka_unit_test(a_pipeline_fills_and_drains),
        cmocka_unit_test(sends_between_tight_stages_are_exposed),
        cmocka_unit_test(blocking_sends_are_work_of_their_stage),
        cmocka_unit_test(gradients_of_early_stages_hide_in_the_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
