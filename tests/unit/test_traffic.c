/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/known_runs.h"

#include "planner/core/traffic.h"

typedef struct table {
    gl_arena *arena;
    gl_parameters parameters;
    gl_stage *stages;
    gl_layout layout;
    gl_traffic traffic;
} table;

static table build(const gl_workload *w, int stage)
{
    table t = {.arena = gl_arena_create()};
    gl_parameters_build(&w->model, &w->parallel, t.arena, &t.parameters);
    gl_stages_build(&w->model, &w->parallel, t.arena, &t.stages);
    t.layout = gl_layout_build(&w->parallel, 8);
    gl_traffic_base base;
    gl_traffic_prepare(w, &t.parameters, &t.stages[stage], &t.layout, t.arena, &base);
    gl_traffic_complete(&base, w, &t.parameters, &t.stages[stage], &t.layout, t.arena, &t.traffic);
    return t;
}

/* Calls of a collective with messages of one size (0: of any size), optimizer's small ones apart.
 */
static int64_t calls(const table *t, gl_collective collective, int64_t size)
{
    int64_t n = 0;
    for (size_t i = 0; i < t->traffic.row_count; i++) {
        const gl_traffic_row *row = &t->traffic.rows[i];
        if (row->dimension != GL_TRAFFIC_OPTIMIZER && row->collective == collective &&
            (size == 0 || row->size_bytes == size))
            n += row->calls_per_step;
    }
    return n;
}

static int64_t payload(const table *t, gl_collective collective)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < t->traffic.row_count; i++) {
        const gl_traffic_row *row = &t->traffic.rows[i];
        if (row->dimension != GL_TRAFFIC_OPTIMIZER && row->collective == collective)
            bytes += row->size_bytes * row->calls_per_step;
    }
    return bytes;
}

static const gl_traffic_row *find(const table *t, const char *operation, gl_phase phase)
{
    for (size_t i = 0; i < t->traffic.row_count; i++)
        if (strcmp(t->traffic.rows[i].operation, operation) == 0 &&
            t->traffic.rows[i].phase == phase)
            return &t->traffic.rows[i];
    return NULL;
}

static void expect_row(const table *t, const char *operation, gl_phase phase,
                       gl_collective collective, int64_t size, int64_t n)
{
    const gl_traffic_row *row = find(t, operation, phase);
    assert_non_null(row);
    assert_int_equal(row->collective, collective);
    assert_int_equal(row->size_bytes, size);
    assert_int_equal(row->calls_per_step, n);
    assert_true(row->load_factor >= 1);
    assert_non_null(row->formula);
}

static void done(table *t)
{
    gl_arena_destroy(t->arena);
}

/* ---- the measured runs, call by call and byte by byte ---- */

/* A profiler's kernel name: what was called, elements' size, ranks' share in its input. */
static bool parse_kernel(const char *name, int gpus, gl_collective *collective, int64_t *scale)
{
    static const struct {
        const char *prefix;
        gl_collective collective;
        bool input_is_share;
    } kernels[] = {
        {"allreduce", GL_ALL_REDUCE, false},
        {"_allgather_base", GL_ALL_GATHER, true},
        {"_reduce_scatter_base", GL_REDUCE_SCATTER, false},
        {"all_to_allv", GL_ALLTOALL, false},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strncmp(name, kernels[i].prefix, strlen(kernels[i].prefix)) == 0) {
            *collective = kernels[i].collective;
            *scale =
                (strstr(name, "|Float") != NULL ? 4 : 2) * (kernels[i].input_is_share ? gpus : 1);
            return true;
        }
    return false;
}

/* What NCCL was asked for: every (collective, size) as often, and nothing else. */
static void compare_kernels(const known_run *run, const table *t)
{
    const char *name, *elements;
    json_t *kernel, *times;
    json_object_foreach(json_object_get(run->seen, "nccl_kernels"), name, kernel)
    {
        gl_collective collective;
        int64_t scale;
        if (!parse_kernel(name, (int)gl_workload_ranks(run->workload), &collective, &scale))
            continue;
        json_object_foreach(json_object_get(kernel, "in_sizes"), elements, times) assert_int_equal(
            calls(t, collective, strtoll(elements, NULL, 10) * scale), json_integer_value(times));
        assert_int_equal(calls(t, collective, 0),
                         json_integer_value(json_object_get(kernel, "calls")));
    }
}

/* The same as counted by the training program itself. */
static void compare_counts(const known_run *run, const table *t)
{
    static const struct {
        const char *key;
        gl_collective collective;
        int ways; /* sends go forward and backward; only one way was counted */
    } counts[] = {
        {"tp_all_reduce", GL_ALL_REDUCE, 1},         {"tp_all_gather", GL_ALL_GATHER, 1},
        {"tp_reduce_scatter", GL_REDUCE_SCATTER, 1}, {"ep_all_to_all", GL_ALLTOALL, 1},
        {"dp_all_reduce", GL_ALL_REDUCE, 1},         {"dp_reduce_scatter", GL_REDUCE_SCATTER, 1},
        {"dp_all_gather", GL_ALL_GATHER, 1},         {"cp_all_gather", GL_ALL_GATHER, 1},
        {"cp_reduce_scatter", GL_REDUCE_SCATTER, 1}, {"pp_send", GL_SENDRECV, 2},
    };
    const json_t *known = json_object_get(run->seen, "calls_and_bytes");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const json_t *pair = json_object_get(known, counts[i].key);
        if (pair == NULL)
            continue;
        int64_t n = json_integer_value(json_array_get(pair, 0));
        int64_t bytes = json_integer_value(json_array_get(pair, 1));
        assert_int_equal(calls(t, counts[i].collective, 0), n * counts[i].ways);
        assert_int_equal(payload(t, counts[i].collective), bytes * counts[i].ways);
    }
}

static int64_t kinds_of_collectives(const table *t)
{
    int64_t kinds = 0;
    for (int c = 0; c < GL_COLLECTIVE_COUNT; c++)
        kinds += calls(t, (gl_collective)c, 0) > 0;
    return kinds;
}

static void visit_run(const known_run *run)
{
    table t = build(run->workload, 0);
    const json_t *all = json_object_get(run->seen, "params");
    const json_t *on_one = json_object_get(run->seen, "params_per_gpu");
    printf("%-20s %zu rows\n", run->id, t.traffic.row_count);
    if (all != NULL)
        assert_int_equal(t.parameters.total, json_integer_value(all));
    if (on_one != NULL)
        assert_int_equal(gl_stage_elements(&t.parameters, &t.stages[0], NULL),
                         json_integer_value(on_one));
    compare_kernels(run, &t);
    compare_counts(run, &t);
    assert_int_equal(kinds_of_collectives(&t),
                     json_object_size(json_object_get(run->seen, "nccl_kernels")));
    done(&t);
}

static void test_known_runs(void **state)
{
    (void)state;
    known_runs(visit_run);
}

/* ---- data parallelism ---- */

static gl_workload tiny(void)
{
    gl_workload w = gl_workload_defaults();
    w.model = (gl_model){.name = "1.1B",
                         .layers = 22,
                         .hidden = 2048,
                         .heads = 32,
                         .kv_heads = 4,
                         .head_dim = 64,
                         .ffn = 5632,
                         .vocab = 32000,
                         .sequence = 2048,
                         .gated_mlp = true,
                         .fused_weights = true,
                         .moe = {.every = 1, .capacity = 1, .imbalance = 1}};
    w.parallel.dp = 2;
    w.precision.gradients = GL_BF16;
    w.batch.micro = 8;
    w.batch.global = 16;
    return w;
}

static void test_ddp_caps(void **state)
{
    (void)state;
    gl_workload w = tiny();
    table t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 45);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), 2200096768);
    done(&t);
    w.buckets.gradient_bytes = 200.0 * 1024 * 1024;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 10);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), 2200096768);
    done(&t);
    w.buckets.first_bytes = w.buckets.gradient_bytes;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 10);
    done(&t);
    w.buckets.gradient_bytes = (double)INFINITY;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 2200096768), 1);
    done(&t);
}

static void test_ddp_messages(void **state)
{
    (void)state;
    gl_workload w = tiny();
    table t = build(&w, 0);
    assert_int_equal(t.traffic.message_count, 45);
    const gl_message *m = t.traffic.messages;
    assert_int_equal(t.traffic.rows[m[0].row].size_bytes, 131072000); /* LM head alone */
    assert_int_equal(m[0].block, 23);
    assert_close(m[0].within, 65536000.0 / 65538048.0, 1e-12);
    assert_int_equal(m[1].block, 22); /* final norm, down, gate-up of the last layer */
    assert_close(m[1].within, (11534336.0 + 23068672.0) / 44044288.0, 1e-12);
    assert_int_equal(m[44].block, 0);
    assert_close(m[44].within, 1, 0);
    for (size_t i = 0; i < 45; i++) {
        assert_int_equal(m[i].when, GL_AFTER_BACKWARD);
        assert_false(m[i].every_microbatch);
    }
    done(&t);
}

static void test_ddp_without_accumulation(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.batch.global = 64;
    w.parallel.accumulate = false;
    table t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 180);
    assert_true(t.traffic.messages[0].every_microbatch);
    done(&t);
    w.parallel.accumulate = true;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 45);
    done(&t);
}

static void test_compression(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.buckets.gradient_bytes = (double)INFINITY;
    w.buckets.compression = 4;
    table t = build(&w, 0);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), 2200096768 / 4);
    done(&t);
}

static void test_stated_count(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.model = gl_workload_defaults().model;
    w.model.parameters = 1100048384;
    table t = build(&w, 0);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), 2200096768);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 26214400), 83); /* and the first of 1 MiB, the rest */
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 85);
    done(&t);
    w.parallel.zero = 3;
    t = build(&w, 0);
    assert_int_equal(payload(&t, GL_ALL_GATHER), 2 * 2200096768);
    done(&t);
}

static void test_zero_stages(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.zero = 1;
    w.parallel.accumulate = false;
    w.batch.global = 64; /* four microbatches */
    table t = build(&w, 0);
    assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 2200096768);
    assert_int_equal(payload(&t, GL_ALL_GATHER), 2200096768);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 0);
    done(&t);
    w.parallel.zero = 2;
    t = build(&w, 0);
    assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 4 * 2200096768);
    assert_int_equal(payload(&t, GL_ALL_GATHER), 2200096768);
    done(&t);
    w.parallel.zero = 3;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_GATHER, 0), 4 * 2 * 23);
    assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 4 * 2200096768);
    assert_int_equal(t.traffic.message_count, 3 * 23);
    done(&t);
    w.parallel.reshard = false;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_GATHER, 0), 4 * 23);
    done(&t);
}

static void test_fsdp_messages(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.zero = 3;
    table t = build(&w, 0);
    const gl_message *m = t.traffic.messages;
    assert_int_equal(m[0].when, GL_BEFORE_FORWARD); /* root, with the first block */
    assert_int_equal(m[0].block, 0);
    assert_int_equal(m[1].block, 1);
    assert_int_equal(m[23].when, GL_BEFORE_BACKWARD); /* root again, with the last */
    assert_int_equal(m[23].block, 23);
    assert_int_equal(m[24].block, 22);
    assert_int_equal(m[25].when, GL_AFTER_BACKWARD);
    assert_int_equal(m[68].block, 0); /* root's gradients, last of all */
    assert_int_equal(t.traffic.rows[m[68].row].size_bytes, 2 * (2 * 65536000 + 2048));
    done(&t);
}

static void test_hsdp(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.dp = 16;
    w.parallel.zero = 3;
    w.parallel.shard = 8;
    w.batch.global = 256; /* two microbatches */
    table t = build(&w, 0);
    const gl_traffic_row *row = find(&t, "gradient shards", GL_PHASE_BACKWARD);
    assert_int_equal(row->placement.ranks, 2);
    assert_int_equal(row->collective, GL_ALL_REDUCE);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), 2200096768 / 8);
    row = find(&t, "gradients", GL_PHASE_BACKWARD);
    assert_int_equal(row->group, GL_GROUP_SHARD);
    assert_int_equal(row->placement.nodes, 1);
    assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 2 * 2200096768);
    done(&t);
    w.parallel.accumulate = false;
    t = build(&w, 0);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), 2 * 2200096768 / 8);
    done(&t);
}

/* ZeRO-1 inside a node: what is moved inside shards is all of it, across them one shard. */
static void test_zero1_inside_a_node(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.dp = 16;
    w.parallel.zero = 1;
    w.parallel.shard = 8;
    w.batch.global = 256; /* two microbatches */
    w.buckets.gradient_bytes = w.buckets.first_bytes = (double)INFINITY;
    table t = build(&w, 0);
    assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 2200096768);
    assert_int_equal(payload(&t, GL_ALL_GATHER), 2200096768);
    const gl_traffic_row *row = find(&t, "gradient shards", GL_PHASE_BACKWARD);
    assert_int_equal(row->size_bytes, 2200096768 / 8);
    assert_int_equal(row->calls_per_step, 1);
    assert_int_equal(row->placement.nodes, 2);
    assert_int_equal(find(&t, "parameters", GL_PHASE_OPTIMIZER)->group, GL_GROUP_SHARD);
    assert_int_equal(t.traffic.message_count, 3);
    done(&t);
    w.parallel.reduce_scatter = false; /* all of the gradients over all, then as before */
    t = build(&w, 0);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), 2200096768);
    assert_int_equal(find(&t, "gradients", GL_PHASE_BACKWARD)->placement.ranks, 16);
    assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 0);
    assert_int_equal(payload(&t, GL_ALL_GATHER), 2200096768);
    assert_int_equal(t.traffic.message_count, 2);
    done(&t);
    w.parallel.rank_broadcast = true; /* the shards of the eight, one after the other */
    t = build(&w, 0);
    assert_int_equal(payload(&t, GL_ALL_GATHER), 0);
    assert_int_equal(calls(&t, GL_BROADCAST, 2200096768 / 8), 8);
    done(&t);
}

/* ---- layers ---- */

static void test_megatron_sequence_parallel(void **state)
{
    (void)state;
    gl_workload w = tiny(); /* A = 8 · 2048 · 2048 · 2 B */
    int64_t a = 67108864;
    w.parallel.dp = 1;
    w.parallel.tp = 4;
    w.parallel.sequence_parallel = true;
    w.batch.global = 24; /* three microbatches */
    table t = build(&w, 0);
    expect_row(&t, "attention and MLP inputs", GL_PHASE_FORWARD, GL_ALL_GATHER, a, 3 * 44);
    expect_row(&t, "inputs again for weight gradients", GL_PHASE_BACKWARD, GL_ALL_GATHER, a,
               3 * 44);
    assert_true(find(&t, "inputs again for weight gradients", GL_PHASE_BACKWARD)->may_hide);
    assert_false(find(&t, "output gradients", GL_PHASE_BACKWARD)->may_hide);
    expect_row(&t, "embedding output", GL_PHASE_FORWARD, GL_REDUCE_SCATTER, a, 3);
    expect_row(&t, "LM head input", GL_PHASE_FORWARD, GL_ALL_GATHER, a, 3);
    expect_row(&t, "LM head input gradient", GL_PHASE_BACKWARD, GL_REDUCE_SCATTER, a, 3);
    expect_row(&t, "loss: maximum, target logit, sum", GL_PHASE_FORWARD, GL_ALL_REDUCE,
               8 * 2048 * 4, 9);
    assert_int_equal(calls(&t, GL_ALL_GATHER, 0), 3 * (6 * 22 + 1));
    assert_int_equal(calls(&t, GL_REDUCE_SCATTER, 0), 3 * (4 * 22 + 2));
    done(&t);
    w.parallel.recompute = GL_RECOMPUTE_SELECTIVE; /* the attention core: no collective in it */
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_GATHER, 0), 3 * (6 * 22 + 1));
    done(&t);
    w.parallel.recompute = GL_RECOMPUTE_FULL;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_GATHER, 0), 3 * (8 * 22 + 1));
    assert_int_equal(calls(&t, GL_REDUCE_SCATTER, 0), 3 * (6 * 22 + 2));
    done(&t);
}

static void test_tensor_parallel_recompute(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.dp = 1;
    w.parallel.tp = 2;
    w.parallel.vocab_parallel = false;
    w.parallel.recompute = GL_RECOMPUTE_FULL;
    w.batch.global = 8;
    table t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 6 * 22);
    done(&t);
    w.parallel.recompute_early_stop = true;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 5 * 22);
    done(&t);
    w.parallel.recompute = GL_RECOMPUTE_NONE;
    w.parallel.vocab_parallel = true; /* embedding, head backward, three for the loss */
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_REDUCE, 0), 4 * 22 + 5);
    done(&t);
}

/* Megatron's: a quarter of an activation to the next stage, which joins the parts. */
static void test_scatter_gather(void **state)
{
    (void)state;
    gl_workload w = tiny();
    int64_t a = 67108864; /* A = 8 · 2048 · 2048 · 2 B */
    w.parallel.dp = 1;
    w.parallel.tp = 4;
    w.parallel.pp = 2;
    w.parallel.scatter_gather = true;
    w.batch.global = 24; /* three microbatches */
    table t = build(&w, 0);
    expect_row(&t, "activations", GL_PHASE_FORWARD, GL_SENDRECV, a / 4, 3);
    /* The first stage receives gradients only, the last activations. */
    expect_row(&t, "joined activation gradients", GL_PHASE_BACKWARD, GL_ALL_GATHER, a, 3);
    assert_int_equal(calls(&t, GL_ALL_GATHER, a), 3);
    done(&t);
    t = build(&w, 1);
    expect_row(&t, "joined activations", GL_PHASE_FORWARD, GL_ALL_GATHER, a, 3);
    assert_int_equal(calls(&t, GL_ALL_GATHER, a), 3);
    done(&t);
    w.parallel.sequence_parallel = true;
    t = build(&w, 0);
    expect_row(&t, "activations", GL_PHASE_FORWARD, GL_SENDRECV, a / 4, 3);
    for (size_t i = 0; i < t.traffic.row_count; i++)
        assert_string_not_equal(t.traffic.rows[i].operation, "joined activations");
    done(&t);
}

/* FP8 is a type of matrix products; what travels is BF16 unless it is said. */
static void test_fp8_travels_as_bf16(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.dp = 1;
    w.parallel.tp = 4;
    w.precision.compute = GL_FP8;
    table t = build(&w, 0);
    int64_t bytes = payload(&t, GL_ALL_REDUCE);
    done(&t);
    w.precision.compute = GL_BF16;
    t = build(&w, 0);
    assert_int_equal(payload(&t, GL_ALL_REDUCE), bytes);
    done(&t);
    w.precision.activations = GL_FP8;
    t = build(&w, 0);
    assert_true(payload(&t, GL_ALL_REDUCE) < bytes * 6 / 10);
    done(&t);
}

static void test_pipeline(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.model.layers = 16;
    w.parallel.dp = 1;
    w.parallel.pp = 4;
    w.batch.global = 64; /* eight microbatches */
    for (int stage = 0; stage < 4; stage++) {
        table t = build(&w, stage);
        expect_row(&t, "activations", GL_PHASE_FORWARD, GL_SENDRECV, 67108864, 8);
        expect_row(&t, "activation gradients", GL_PHASE_BACKWARD, GL_SENDRECV, 67108864, 8);
        done(&t);
    }
    w.parallel.schedule = GL_SCHEDULE_INTERLEAVED;
    w.parallel.virtual_stages = 2;
    w.parallel.tp = 2;
    w.parallel.sequence_parallel = true;
    w.model.tied_embeddings = true;
    table t = build(&w, 0);
    expect_row(&t, "activations", GL_PHASE_FORWARD, GL_SENDRECV, 67108864 / 2, 16);
    expect_row(&t, "tied embedding gradients", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE,
               32000 / 2 * 2048 * 2, 1);
    done(&t);
    t = build(&w, 1);
    assert_null(find(&t, "tied embedding gradients", GL_PHASE_OPTIMIZER));
    assert_null(find(&t, "embedding output", GL_PHASE_FORWARD));
    assert_null(find(&t, "loss", GL_PHASE_OPTIMIZER));
    done(&t);
}

static void test_fsdp_root_of_a_stage(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.pp = 11;
    w.parallel.zero = 3;
    const int64_t roots[] = {2 * 65536000, 0, 2 * (65536000 + 2048)};
    const int stages[] = {0, 5, 10};
    for (int i = 0; i < 3; i++) {
        table t = build(&w, stages[i]);
        assert_int_equal(calls(&t, GL_ALL_GATHER, 0), roots[i] > 0 ? 6 : 4);
        assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 2 * 2 * 44044288 + roots[i]);
        done(&t);
    }
}

static void test_context_parallel(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.dp = 1;
    w.parallel.cp = 4;
    w.batch.global = 8;
    int64_t kv = 2LL * 8 * 2048 * 4 * 64 * 2 / 4; /* K and V of one rank */
    table t = build(&w, 0);
    expect_row(&t, "keys and values", GL_PHASE_FORWARD, GL_SENDRECV, kv, 22 * 3);
    expect_row(&t, "keys and values, and their gradients", GL_PHASE_BACKWARD, GL_SENDRECV, kv,
               2 * 22 * 3);
    assert_int_equal(find(&t, "gradients", GL_PHASE_BACKWARD)->placement.ranks, 4);
    done(&t);
    w.parallel.cp_method = GL_CP_ULYSSES;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALLTOALL, 8LL * 2048 / 4 * 2048 * 2), 2 * 2 * 22);
    assert_int_equal(calls(&t, GL_ALLTOALL, kv / 2), 2 * 2 * 22);
    done(&t);
    w.model.kv_heads = 2; /* for four ranks: K and V are sent twice */
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALLTOALL, kv / 2), 2 * 2 * 22);
    done(&t);
    w.model.kv_heads = 4;
    w.parallel.recompute = GL_RECOMPUTE_SELECTIVE; /* the exchanges are part of the core */
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALLTOALL, kv / 2), 3 * 2 * 22);
    done(&t);
    w.parallel.cp_method = GL_CP_RING;
    t = build(&w, 0);
    expect_row(&t, "recomputed keys and values", GL_PHASE_BACKWARD, GL_SENDRECV, kv, 22 * 3);
    done(&t);
    w.parallel.cp_method = GL_CP_ALLGATHER;
    w.parallel.recompute = GL_RECOMPUTE_FULL;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_GATHER, kv / 2 * 4), 4 * 22);
    assert_int_equal(calls(&t, GL_REDUCE_SCATTER, kv / 2 * 4), 2 * 22);
    done(&t);
    w.kernels.repeat_kv = true; /* 32 heads travel instead of 4 */
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALL_GATHER, kv / 2 * 4 * 8), 4 * 22);
    assert_int_equal(calls(&t, GL_REDUCE_SCATTER, kv / 2 * 4 * 8), 2 * 22);
    done(&t);
}

static gl_workload mixture(void)
{
    gl_workload w = tiny();
    w.model.layers = 12;
    w.model.moe.experts = 32;
    w.model.moe.top_k = 4;
    w.model.moe.expert_ffn = 1024;
    w.parallel.dp = 8;
    w.parallel.ep = 4;
    w.batch.global = 64;
    return w;
}

static void test_expert_parallel(void **state)
{
    (void)state;
    gl_workload w = mixture();
    int64_t tokens = 8 * 2048, elements = tokens * 4 * 2048;
    w.precision.dispatch = GL_FP8;
    w.model.moe.capacity = 1.25;
    w.model.moe.imbalance = 1.5;
    table t = build(&w, 0);
    expect_row(&t, "dispatch", GL_PHASE_FORWARD, GL_ALLTOALL, elements * 5 / 4, 12);
    expect_row(&t, "combine", GL_PHASE_FORWARD, GL_ALLTOALL, elements * 5 / 2, 12);
    expect_row(&t, "combine gradients", GL_PHASE_BACKWARD, GL_ALLTOALL, elements * 5 / 4, 12);
    expect_row(&t, "dispatch gradients", GL_PHASE_BACKWARD, GL_ALLTOALL, elements * 5 / 2, 12);
    assert_close(find(&t, "dispatch", GL_PHASE_FORWARD)->load_factor, 1.5, 0);
    done(&t);
    w.parallel.recompute = GL_RECOMPUTE_FULL;
    w.parallel.recompute_early_stop = true;
    t = build(&w, 0);
    assert_int_equal(calls(&t, GL_ALLTOALL, 0), 5 * 12);
    done(&t);
}

static void test_expert_gradients(void **state)
{
    (void)state;
    gl_workload w = mixture();
    w.buckets.gradient_bytes = (double)INFINITY;
    int64_t experts;
    table t = build(&w, 0);
    int64_t all = gl_stage_elements(&t.parameters, &t.stages[0], &experts);
    expect_row(&t, "gradients", GL_PHASE_BACKWARD, GL_ALL_REDUCE, 2 * (all - experts), 1);
    expect_row(&t, "expert gradients", GL_PHASE_BACKWARD, GL_ALL_REDUCE, 2 * experts, 1);
    assert_int_equal(find(&t, "expert gradients", GL_PHASE_BACKWARD)->placement.ranks, 2);
    done(&t);
    w.parallel.zero = 3;
    t = build(&w, 0);
    assert_int_equal(payload(&t, GL_REDUCE_SCATTER), 2 * all);
    assert_int_equal(payload(&t, GL_ALL_GATHER), 2 * 2 * all);
    done(&t);
    w.parallel.zero = 0;
    w.parallel.ep = 1; /* experts share the buckets of the others */
    t = build(&w, 0);
    assert_null(find(&t, "expert gradients", GL_PHASE_BACKWARD));
    done(&t);
}

static void test_one_gpu_is_silent(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.parallel.dp = 1;
    w.batch.global = 8;
    table t = build(&w, 0);
    assert_int_equal(t.traffic.row_count, 0);
    assert_int_equal(t.traffic.message_count, 0);
    done(&t);
}

static void test_small_ones(void **state)
{
    (void)state;
    gl_workload w = tiny();
    w.precision.compute = GL_FP16;
    table t = build(&w, 0);
    expect_row(&t, "gradient norm", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE, 4, 1);
    expect_row(&t, "overflow flag", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE, 4, 1);
    expect_row(&t, "loss", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE, 4, 1);
    done(&t);
}

static void test_wire_bytes_and_names(void **state)
{
    (void)state;
    gl_traffic_row row = {
        .collective = GL_ALL_REDUCE, .size_bytes = 1000, .placement = {.ranks = 4}};
    assert_close(gl_traffic_wire_bytes(&row), 1500, 1e-12);
    row.collective = GL_ALL_GATHER;
    assert_close(gl_traffic_wire_bytes(&row), 750, 1e-12);
    row.collective = GL_SENDRECV;
    assert_close(gl_traffic_wire_bytes(&row), 1000, 1e-12);
    assert_string_equal(gl_traffic_dimension_name(GL_TRAFFIC_EMBEDDING), "embedding");
    assert_string_equal(gl_phase_name(GL_PHASE_OPTIMIZER), "optimizer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_runs),
        cmocka_unit_test(test_ddp_caps),
        cmocka_unit_test(test_ddp_messages),
        cmocka_unit_test(test_ddp_without_accumulation),
        cmocka_unit_test(test_compression),
        cmocka_unit_test(test_stated_count),
        cmocka_unit_test(test_zero_stages),
        cmocka_unit_test(test_fsdp_messages),
        cmocka_unit_test(test_hsdp),
        cmocka_unit_test(test_zero1_inside_a_node),
        cmocka_unit_test(test_scatter_gather),
        cmocka_unit_test(test_fp8_travels_as_bf16),
        cmocka_unit_test(test_megatron_sequence_parallel),
        cmocka_unit_test(test_tensor_parallel_recompute),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_fsdp_root_of_a_stage),
        cmocka_unit_test(test_context_parallel),
        cmocka_unit_test(test_expert_parallel),
        cmocka_unit_test(test_expert_gradients),
        cmocka_unit_test(test_one_gpu_is_silent),
        cmocka_unit_test(test_small_ones),
        cmocka_unit_test(test_wire_bytes_and_names),
    };
    return cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
}
