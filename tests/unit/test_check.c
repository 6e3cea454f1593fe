/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules between fields, on structs: no files, no positions. */
#include "tests/support.h"

#include "planner/core/check.h"

/* A workload that every rule accepts. */
static gl_workload valid(void)
{
    gl_workload w = gl_workload_defaults();
    w.model.layers = 8;
    w.model.hidden = 1024;
    w.model.heads = 16;
    w.model.kv_heads = 8;
    w.model.head_dim = 64;
    w.model.ffn = 4096;
    w.model.vocab = 32000;
    w.model.sequence = 2048;
    return w;
}

static gl_workload valid_moe(void)
{
    gl_workload w = valid();
    w.model.moe.experts = 16;
    w.model.moe.top_k = 2;
    w.model.moe.expert_ffn = 512;
    return w;
}

static gl_findings check(gl_arena *arena, const gl_workload *w)
{
    gl_findings findings = {.arena = arena};
    gl_check_workload(w, &findings);
    return findings;
}

/* Exactly one finding, at the path, with this message. */
#define assert_finding(w, fatal, path, message)                                                    \
    assert_finding_at((w), (fatal), (path), (message), __FILE__, __LINE__)

static void assert_finding_at(const gl_workload *w, bool fatal, const char *path,
                              const char *message, const char *file, int line)
{
    gl_arena *arena = gl_arena_create();
    gl_findings f = check(arena, w);
    bool right = f.count == 1 && f.items[0].fatal == fatal && strcmp(f.items[0].path, path) == 0 &&
                 strcmp(f.items[0].message, message) == 0;
    for (size_t i = 0; !right && i < f.count; i++)
        fprintf(stderr, "found: %s: %s\n", f.items[i].path, f.items[i].message);
    gl_arena_destroy(arena);
    if (!right)
        _fail(file, line);
}

#define assert_fine(w) assert_fine_at((w), __FILE__, __LINE__)

static void assert_fine_at(const gl_workload *w, const char *file, int line)
{
    gl_arena *arena = gl_arena_create();
    gl_findings f = check(arena, w);
    for (size_t i = 0; i < f.count; i++)
        fprintf(stderr, "found: %s: %s\n", f.items[i].path, f.items[i].message);
    size_t count = f.count;
    gl_arena_destroy(arena);
    if (count > 0)
        _fail(file, line);
}

static void test_valid(void **state)
{
    (void)state;
    gl_workload w = valid();
    assert_fine(&w);
    w.parallel.tp = 8;
    w.parallel.pp = 4;
    w.parallel.cp = 2;
    w.parallel.dp = 4;
    w.parallel.sequence_parallel = true;
    w.batch.global = 64;
    assert_fine(&w);
    w = valid_moe();
    w.parallel.dp = 8;
    w.parallel.ep = 8;
    assert_fine(&w);
}

static void test_tensor_parallelism(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.parallel.tp = 4;
    w.model.heads = 30;
    w.model.kv_heads = 30;
    w.model.head_dim = 64;
    gl_arena *arena = gl_arena_create();
    gl_findings f = check(arena, &w);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.items[0].message, "heads (30) must be a multiple of tp (4)");
    assert_string_equal(f.items[1].message,
                        "kv_heads (30) must be a multiple or a divisor of tp (4)");
    gl_arena_destroy(arena);
    w = valid();
    w.parallel.tp = 4;
    w.model.ffn = 4098;
    assert_finding(&w, true, "parallel.tp", "ffn (4098) must be a multiple of tp (4)");
    w = valid();
    w.parallel.tp = 8;
    w.model.vocab = 50257;
    assert_finding(
        &w, true, "parallel.tp",
        "vocab (50257) must be a multiple of tp (8): pad it, for example to 51200, or set "
        "parallel.vocab_parallel: false");
    w.parallel.vocab_parallel = false;
    assert_fine(&w);
    w = valid();
    w.parallel.tp = 16;
    assert_finding(&w, false, "parallel.tp",
                   "kv_heads (8) is below tp (16): each K and V head is held by 2 ranks");
    w = valid_moe();
    w.parallel.tp = 4;
    w.model.moe.expert_ffn = 510;
    assert_finding(&w, true, "parallel.tp", "moe.expert_ffn (510) must be a multiple of tp (4)");
    w = valid();
    w.model.kv_heads = 3;
    assert_finding(&w, true, "model.kv_heads", "heads (16) must be a multiple of kv_heads (3)");
}

static void test_pipeline(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.parallel.pp = 3;
    assert_finding(&w, false, "parallel.pp",
                   "layers (8) is no multiple of pp (3), the stages are uneven; layers held by "
                   "stages 0-1: 3, stage 2: 2");
    w.parallel.pp = 9;
    assert_finding(&w, true, "parallel.pp",
                   "pp (9) x virtual_stages (1) makes 9 chunks, more than the 8 layers");
    w = valid();
    w.parallel.virtual_stages = 2;
    assert_finding(&w, true, "parallel.virtual_stages",
                   "virtual_stages (2) needs schedule: interleaved");
    w = valid();
    w.parallel.schedule = GL_SCHEDULE_INTERLEAVED;
    w.parallel.pp = 4;
    w.batch.global = 8;
    assert_finding(&w, true, "parallel.virtual_stages",
                   "the interleaved schedule needs virtual_stages of 2 or more, found 1");
    w.parallel.virtual_stages = 2;
    assert_fine(&w);
    w.batch.global = 6;
    assert_finding(&w, true, "parallel.schedule",
                   "the microbatches of the interleaved schedule (6) must be a multiple of pp (4)");
    w.parallel.pp = 1;
    assert_finding(&w, true, "parallel.schedule",
                   "the interleaved schedule needs pp of 2 or more, found 1");
}

static void test_sequence(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.parallel.cp = 3;
    assert_finding(&w, true, "model.sequence", "sequence (2048) must be a multiple of cp (3)");
    w = valid();
    w.parallel.tp = 4;
    w.parallel.cp = 2;
    w.model.sequence = 2050;
    assert_fine(&w);
    w.parallel.sequence_parallel = true;
    assert_finding(&w, true, "model.sequence",
                   "sequence (2050) must be a multiple of cp x tp, with sequence_parallel, (8)");
    w = valid();
    w.parallel.cp = 32;
    w.parallel.cp_method = GL_CP_ULYSSES;
    assert_finding(&w, true, "parallel.cp",
                   "heads (16) must be a multiple of tp x cp, with ulysses, (32)");
    w = valid();
    w.model.learned_positions = 1024;
    assert_finding(&w, true, "model.sequence",
                   "sequence (2048) is longer than the table of learned positions (1024)");
}

static void test_experts(void **state)
{
    (void)state;
    gl_workload w = valid_moe();
    w.parallel.dp = 4;
    w.parallel.cp = 2;
    w.parallel.ep = 16;
    assert_finding(&w, true, "parallel.ep",
                   "ep (16) is above dp x cp (8), inside which experts are spread");
    w.parallel.dp = 3;
    w.parallel.cp = 2;
    w.parallel.ep = 4;
    assert_finding(&w, true, "parallel.ep", "dp x cp (6) must be a multiple of ep (4)");
    w.parallel.ep = 3;
    assert_finding(&w, true, "parallel.ep", "moe.experts (16) must be a multiple of ep (3)");
    w = valid();
    w.parallel.dp = 4;
    w.parallel.ep = 4;
    assert_finding(&w, true, "parallel.ep",
                   "ep (4) needs a model with experts; model.moe.experts is missing");
    w = valid_moe();
    w.model.moe.top_k = 17;
    assert_finding(&w, true, "model.moe.top_k", "top_k (17) is above experts (16)");
    w = valid_moe();
    w.model.moe.top_k = 0;
    assert_finding(&w, true, "model.moe.top_k", "missing; a mixture of experts needs it");
    w = valid_moe();
    w.model.moe.expert_ffn = 0;
    assert_finding(&w, true, "model.moe.expert_ffn", "missing; a mixture of experts needs it");
    w = valid_moe();
    w.model.moe.experts = 0;
    assert_finding(&w, true, "model.moe.experts", "missing; a mixture of experts needs it");
    w = valid_moe();
    w.model.moe.first_dense_layers = 8;
    assert_finding(&w, true, "model.moe.first_dense_layers",
                   "first_dense_layers (8) leaves none of the 8 layers for experts");
    w = valid_moe();
    w.model.moe.every = 9;
    assert_finding(&w, true, "model.moe.every",
                   "every (9) is above the 8 layers that follow the dense ones");
}

static void test_latent_attention(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.model.attention = (gl_attention){
        .kind = GL_ATTENTION_MLA, .kv_lora = 512, .qk_nope = 128, .qk_rope = 64, .v_head = 128};
    assert_fine(&w);
    w.model.attention.v_head = 0;
    assert_finding(&w, true, "model.attention.v_head", "missing; attention of kind mla needs it");
    w = valid();
    w.model.attention.kv_lora = 512;
    assert_finding(&w, true, "model.attention",
                   "q_lora, kv_lora, qk_nope, qk_rope and v_head need kind: mla");
}

static void test_batch(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.parallel.dp = 4;
    w.batch.global = 10;
    assert_finding(&w, true, "batch.global", "global (10) must be a multiple of dp x micro (4)");
    w.batch.global = 2;
    assert_finding(&w, true, "batch.global", "global (2) must be a multiple of dp x micro (4)");
    w.batch.global = 40000000;
    assert_finding(&w, true, "batch.global",
                   "global (40000000) makes 10000000 microbatches a step; at most 1000000 are "
                   "planned");
}

static void test_sharding(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.parallel.dp = 16;
    w.parallel.zero = 3;
    w.parallel.shard = 8;
    assert_fine(&w);
    w.parallel.shard = 5;
    assert_finding(&w, true, "parallel.shard", "dp x cp (16) must be a multiple of shard (5)");
    w.parallel.shard = 8;
    w.parallel.zero = 1;
    assert_fine(&w);
    w.parallel.zero = 0;
    assert_finding(&w, true, "parallel.shard", "shard needs zero: 1, 2 or 3, found 0");
    w.parallel.zero = 3;
    w.parallel.reduce_scatter = false;
    assert_finding(&w, true, "parallel.reduce_scatter",
                   "reduce_scatter: false needs zero: 1 or 2, found 3");
}

static void test_compute(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.compute.step_s = 0.24;
    w.compute.mfu_frac = 0.45;
    assert_finding(&w, true, "compute.mfu", "state compute.step or compute.mfu, not both");
}

static void test_stated_parameters(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.model.parameters = 191382528;
    assert_fine(&w);
    w.model.parameters = 191382528 * 1.019;
    assert_fine(&w);
    w.model.parameters = 250e6;
    assert_finding(&w, true, "model.parameters",
                   "stated 2.5e+08, but the architecture has 191382528 (-23.4 %); they may differ "
                   "by 2 %");
}

static void test_without_sequence(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.model.sequence = 0;
    w.parallel.dp = 8;
    w.parallel.zero = 3;
    assert_fine(&w);
    w.parallel.tp = 2;
    assert_finding(&w, true, "parallel.tp",
                   "tensor parallelism needs the model's architecture; missing: model.sequence");
}

/* Nothing that a field table lets through may overflow, or take long. */
static void test_absurd_sizes(void **state)
{
    (void)state;
    gl_workload w = valid();
    w.parallel.dp = 1000000;
    w.parallel.tp = w.parallel.pp = w.parallel.cp = 10000;
    assert_finding(
        &w, true, "parallel",
        "tp 10000 x cp 10000 x dp 1000000 x pp 10000 makes 1e+18 ranks; at most 10000000 "
        "are planned");
    w = valid_moe();
    w.model.layers = 10000;
    w.model.hidden = 1048576;
    w.model.moe.experts = 65536;
    w.model.moe.expert_ffn = 16777216;
    gl_arena *arena = gl_arena_create();
    gl_findings f = check(arena, &w);
    assert_int_equal(f.count, 1);
    assert_string_equal(f.items[0].path, "model");
    gl_arena_destroy(arena);
    w = valid();
    w.model.sequence = 100000000;
    w.batch.micro = 65536;
    arena = gl_arena_create();
    f = check(arena, &w);
    assert_int_equal(f.count, 1);
    assert_string_equal(f.items[0].path, "model.sequence");
    gl_arena_destroy(arena);
    w = valid_moe();
    w.model.sequence = 100000000;
    w.model.moe.experts = w.model.moe.top_k = 65536;
    w.model.moe.capacity = 1000;
    assert_finding(&w, true, "model.moe",
                   "sequence (100000000) x micro (1) x hidden (1024) x top_k (65536) x capacity "
                   "(1000) sends 6.71e+18 elements to experts; at most 1e+15 are planned");
    w = valid();
    w.model.layers = w.parallel.pp = 10000;
    assert_finding(&w, true, "parallel.pp",
                   "pp (10000) x virtual_stages (1) makes 10000 chunks; at most 1024 are planned");
}

/* ---- on a cluster ---- */

static void test_cluster(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_link link = {.name = "nvlink4", .domain_gpus = {.value = 8, .kind = GL_FIGURE_ASSUMED}};
    gl_cluster cluster = {
        .nodes = 2, .gpus_per_node = 8, .bounded = true, .intra = {.link = &link}};
    gl_findings f = {.arena = arena};
    gl_workload w = valid();
    w.parallel.tp = 8;
    w.parallel.dp = 2;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 0);
    w.parallel.dp = 3;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 1);
    assert_true(f.items[0].fatal);
    assert_string_equal(f.items[0].message, "tp 8 x cp 1 x dp 3 x pp 1 needs 24 GPUs; the cluster "
                                            "has 16 (2 nodes of 8)");
    cluster.bounded = false;
    f.count = 0;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 1);
    assert_non_null(strstr(f.items[0].message, "was measured on 16: name it in a cluster"));
    gl_cluster_extend(&cluster, gl_workload_ranks(&w));
    assert_int_equal(cluster.nodes, 3);
    f.count = 0;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 0);
    w.parallel.tp = 16;
    gl_cluster_extend(&cluster, gl_workload_ranks(&w));
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 1);
    assert_false(f.items[0].fatal);
    assert_string_equal(f.items[0].message, "tp (16) is larger than a node (8 GPUs): its "
                                            "collectives cross the network");
    f.count = 0;
    w.parallel.tp = 3;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 1);
    assert_string_equal(f.items[0].message,
                        "tp (3) does not divide a node's 8 GPUs: some groups cross the network");
    gl_arena_destroy(arena);
}

/* NVLink bridges join pairs: groups of eight, or two groups of two crosswise, leave the pair. */
static void test_sites(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_cluster cluster = {
        .nodes = 2, .gpus_per_node = 1, .sites = {.count = 2, .bw_bytes_per_s = 1e9}};
    gl_findings f = {.arena = arena};
    gl_workload w = valid();
    w.parallel.dp = 2;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 0);
    w.parallel.dp = 1;
    w.parallel.tp = 2;
    gl_check_cluster(&w, &cluster, &f);
    assert_string_equal(f.items[f.count - 1].message,
                        "tensor parallel groups span sites: every layer waits for the line "
                        "between them");
    assert_false(f.items[f.count - 1].fatal);
    gl_arena_destroy(arena);
}

static void test_link_domain(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_link bridge = {.name = "bridge", .domain_gpus = {.value = 2, .kind = GL_FIGURE_ASSUMED}};
    gl_cluster cluster = {.nodes = 1, .gpus_per_node = 8, .intra = {.link = &bridge}};
    gl_findings f = {.arena = arena};
    gl_workload w = valid();
    w.parallel.dp = 2;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 0);
    w.parallel.tp = 2;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 1);
    assert_false(f.items[0].fatal);
    assert_string_equal(f.items[0].message,
                        "4 GPUs of a node work together, but bridge joins at most 2: what moves "
                        "between those is slower than planned; plan with the link that joins them "
                        "all");
    gl_curve measured = {.placement = {.ranks = 8, .nodes = 1, .ranks_per_node = 8}};
    cluster.intra.curves = &measured;
    cluster.intra.curve_count = 1;
    f.count = 0;
    gl_check_cluster(&w, &cluster, &f);
    assert_int_equal(f.count, 0);
    gl_arena_destroy(arena);
}

static void test_peak(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_gpu gpu = {.name = "mine", .fp16_flop_per_s = {.value = 1e14, .kind = GL_FIGURE_ASSUMED}};
    gl_cluster cluster = {.nodes = 1, .gpus_per_node = 8, .gpu = &gpu};
    const struct {
        gl_dtype type;
        bool fatal;
        const char *message;
    } cases[] = {
        {GL_FP32, true, "the GPU 'mine' has no peak for fp32 (gpu.fp32)"},
        {GL_FP8, false, "the GPU 'mine' has no FP8: fp8 is planned at its 16-bit peak"},
        {GL_BF16, false, "the GPU 'mine' has no BF16: bf16 is planned at its FP16 peak"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gl_findings f = {.arena = arena};
        gl_workload w = valid();
        w.precision.compute = cases[i].type;
        gl_check_cluster(&w, &cluster, &f);
        assert_int_equal(f.count, 1);
        assert_int_equal(f.items[0].fatal, cases[i].fatal);
        assert_string_equal(f.items[0].message, cases[i].message);
    }
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_tensor_parallelism),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_latent_attention),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_sharding),
        cmocka_unit_test(test_compute),
        cmocka_unit_test(test_stated_parameters),
        cmocka_unit_test(test_without_sequence),
        cmocka_unit_test(test_absurd_sizes),
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_link_domain),
        cmocka_unit_test(test_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
