/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws that hold for every workload: sums, proportions, and what must not matter. */
#include "tests/property/random.h"
#include "tests/support.h"

#include "planner/core/traffic.h"

enum { RUNS = 400 };

typedef struct table {
    gl_parameters parameters;
    gl_stage *stages;
    gl_layout layout;
    gl_traffic traffic;
} table;

static table build(const gl_workload *w, int stage, gl_arena *arena)
{
    table t;
    gl_parameters_build(&w->model, &w->parallel, arena, &t.parameters);
    gl_stages_build(&w->model, &w->parallel, arena, &t.stages);
    t.layout = gl_layout_build(&w->parallel, 8);
    gl_traffic_base base;
    gl_traffic_prepare(w, &t.parameters, &t.stages[stage], &t.layout, arena, &base);
    gl_traffic_complete(&base, w, &t.parameters, &t.stages[stage], &t.layout, arena, &t.traffic);
    return t;
}

typedef double (*measure)(const gl_traffic_row *row);

static double payload(const gl_traffic_row *row)
{
    return (double)row->size_bytes;
}

static double sum(const table *t, gl_traffic_dimension dimension, measure of)
{
    double total = 0;
    for (size_t i = 0; i < t->traffic.row_count; i++)
        if (t->traffic.rows[i].dimension == dimension)
            total += of(&t->traffic.rows[i]) * (double)t->traffic.rows[i].calls_per_step;
    return total;
}

static bool coin(uint64_t *state)
{
    return random_between(state, 0, 1) == 1;
}

/* Shapes in which everything divides: powers of two, with a few odd factors. */
static gl_model random_model(uint64_t *state)
{
    gl_model m = gl_workload_defaults().model;
    m.layers = random_between(state, 8, 40);
    m.heads = 16 * random_between(state, 1, 4);
    m.kv_heads = coin(state) ? m.heads : 16;
    m.head_dim = 64;
    m.hidden = m.heads * m.head_dim;
    m.ffn = 16 * random_between(state, 40, 400);
    m.vocab = 16 * random_between(state, 100, 4000);
    m.sequence = 1024 * random_between(state, 1, 4);
    m.gated_mlp = coin(state);
    m.fused_weights = coin(state);
    m.norms = coin(state) ? GL_NORMS_LAYERNORM : GL_NORMS_RMSNORM;
    m.biases = (gl_biases)random_between(state, GL_BIASES_NONE, GL_BIASES_QKV);
    if (coin(state)) {
        m.moe.experts = 16 * random_between(state, 1, 4);
        m.moe.top_k = random_between(state, 1, 8);
        m.moe.expert_ffn = 16 * random_between(state, 10, 60);
        m.moe.first_dense_layers = random_between(state, 0, 2);
    }
    return m;
}

static gl_workload random_workload(uint64_t *state)
{
    gl_workload w = gl_workload_defaults();
    gl_parallel *p = &w.parallel;
    w.model = random_model(state);
    p->tp = 1 << random_between(state, 0, 3);
    p->cp = 1 << random_between(state, 0, 2);
    p->dp = 1 << random_between(state, 0, 4);
    p->pp = random_between(state, 1, 8);
    p->ep = w.model.moe.experts > 0 ? p->dp : 1;
    p->sequence_parallel = coin(state);
    p->vocab_parallel = coin(state);
    p->sp_regather = coin(state);
    p->accumulate = coin(state);
    p->zero = random_between(state, 0, 3);
    p->recompute = (gl_recompute)random_between(state, GL_RECOMPUTE_NONE, GL_RECOMPUTE_FULL);
    p->cp_method = (gl_cp_method)random_between(state, GL_CP_RING, GL_CP_ULYSSES);
    w.batch.micro = random_between(state, 1, 4);
    w.batch.global = (int64_t)w.batch.micro * p->dp * random_between(state, 1, 8);
    w.buckets.gradient_bytes = 1048576.0 * random_between(state, 1, 200);
    return w;
}

/* Twice the microbatch with as many of them: activations double, weights do not. */
static void test_linear_in_microbatch(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&state), twice = w;
        twice.batch.micro *= 2;
        twice.batch.global *= 2;
        int stage = random_between(&state, 0, w.parallel.pp - 1);
        table a = build(&w, stage, arena), b = build(&twice, stage, arena);
        for (int d = 0; d < GL_TRAFFIC_DIMENSION_COUNT; d++) {
            gl_traffic_dimension dimension = (gl_traffic_dimension)d;
            bool activations = d == GL_TRAFFIC_TP || d == GL_TRAFFIC_PP || d == GL_TRAFFIC_CP ||
                               d == GL_TRAFFIC_EP;
            double factor = activations ? 2 : 1;
            assert_close(sum(&b, dimension, payload), factor * sum(&a, dimension, payload), 1e-12);
        }
        gl_arena_destroy(arena);
    }
}

static void test_caps_do_not_change_bytes(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&state), other = w;
        w.parallel.zero = other.parallel.zero = random_between(&state, 0, 2);
        other.buckets.gradient_bytes =
            coin(&state) ? (double)INFINITY : 1048576.0 * random_between(&state, 1, 400);
        other.buckets.first_bytes = 1048576.0 * random_between(&state, 1, 400);
        int stage = random_between(&state, 0, w.parallel.pp - 1);
        table a = build(&w, stage, arena), b = build(&other, stage, arena);
        assert_close(sum(&a, GL_TRAFFIC_DP, payload), sum(&b, GL_TRAFFIC_DP, payload), 0);
        gl_arena_destroy(arena);
    }
}

/* An all-reduce is a reduce-scatter and an all-gather, so ZeRO-1 moves what DDP moves. */
static void test_zero1_moves_what_ddp_moves(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&state), zero1 = w;
        w.precision.gradients = zero1.precision.gradients = w.precision.compute;
        w.parallel.accumulate = zero1.parallel.accumulate = true;
        w.parallel.zero = 0;
        zero1.parallel.zero = 1;
        int stage = random_between(&state, 0, w.parallel.pp - 1);
        table a = build(&w, stage, arena), b = build(&zero1, stage, arena);
        assert_close(sum(&a, GL_TRAFFIC_DP, gl_traffic_wire_bytes),
                     sum(&b, GL_TRAFFIC_DP, gl_traffic_wire_bytes), 1e-12);
        gl_arena_destroy(arena);
    }
}

/* Sequence parallelism moves what all-reduces move, without the second gather. */
static void test_sequence_parallel_moves_the_same(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&state);
        w.parallel.vocab_parallel = w.parallel.sp_regather = false;
        w.parallel.sequence_parallel = false;
        gl_workload sp = w;
        sp.parallel.sequence_parallel = true;
        table a = build(&w, 0, arena), b = build(&sp, 0, arena);
        assert_close(sum(&a, GL_TRAFFIC_TP, gl_traffic_wire_bytes),
                     sum(&b, GL_TRAFFIC_TP, gl_traffic_wire_bytes), 1e-12);
        gl_arena_destroy(arena);
    }
}

static int64_t elements_of_stages(const gl_parallel *p, const table *t)
{
    int64_t elements = 0, experts;
    for (int stage = 0; stage < p->pp; stage++) {
        elements += gl_stage_elements(&t->parameters, &t->stages[stage], &experts);
        elements += experts * (p->ep - 1);
    }
    return elements;
}

static void test_stages_add_up(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&state);
        w.parallel.tp = 1;
        if (coin(&state) && w.parallel.pp * 2 <= w.model.layers) {
            w.parallel.schedule = GL_SCHEDULE_INTERLEAVED;
            w.parallel.virtual_stages = 2;
        }
        table t = build(&w, 0, arena);
        assert_int_equal(elements_of_stages(&w.parallel, &t), t.parameters.total);
        int layers = 0;
        for (int stage = 0; stage < w.parallel.pp; stage++) {
            layers += t.stages[stage].layers;
            assert_in_range(t.stages[stage].layers, w.model.layers / w.parallel.pp - 1,
                            w.model.layers / w.parallel.pp + 2);
        }
        assert_int_equal(layers, w.model.layers);
        gl_arena_destroy(arena);
    }
}

/* Who is whose neighbour decides where messages go, never what is sent. */
static void test_order_moves_no_bytes(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&state), other = w;
        int from = random_between(&state, 0, 3), to = random_between(&state, 0, 3);
        other.parallel.order[from] = w.parallel.order[to];
        other.parallel.order[to] = w.parallel.order[from];
        table a = build(&w, 0, arena), b = build(&other, 0, arena);
        assert_int_equal(a.traffic.row_count, b.traffic.row_count);
        for (size_t i = 0; i < a.traffic.row_count; i++) {
            assert_int_equal(a.traffic.rows[i].size_bytes, b.traffic.rows[i].size_bytes);
            assert_int_equal(a.traffic.rows[i].calls_per_step, b.traffic.rows[i].calls_per_step);
        }
        gl_arena_destroy(arena);
    }
}

static void check_messages(const gl_workload *w, const table *t, int64_t *calls)
{
    for (size_t i = 0; i < t->traffic.message_count; i++) {
        const gl_message *m = &t->traffic.messages[i];
        assert_true(m->row < t->traffic.row_count);
        assert_true(m->within >= 0 && m->within <= 1);
        calls[m->row] += m->every_microbatch ? gl_workload_microbatches(w) : 1;
    }
}

/* Every call of the data parallel rows has its place in the schedule. */
static void test_messages_are_the_calls(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&state);
        int stage = random_between(&state, 0, w.parallel.pp - 1);
        table t = build(&w, stage, arena);
        int64_t *calls = GL_ARENA_NEW(arena, int64_t, t.traffic.row_count);
        check_messages(&w, &t, calls);
        for (size_t i = 0; i < t.traffic.row_count; i++)
            if (t.traffic.rows[i].dimension == GL_TRAFFIC_DP)
                assert_int_equal(calls[i], t.traffic.rows[i].calls_per_step);
        gl_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_in_microbatch),
        cmocka_unit_test(test_caps_do_not_change_bytes),
        cmocka_unit_test(test_zero1_moves_what_ddp_moves),
        cmocka_unit_test(test_sequence_parallel_moves_the_same),
        cmocka_unit_test(test_stages_add_up),
        cmocka_unit_test(test_order_moves_no_bytes),
        cmocka_unit_test(test_messages_are_the_calls),
    };
    return cmocka_run_group_tests_name("traffic sums", tests, NULL, NULL);
}
