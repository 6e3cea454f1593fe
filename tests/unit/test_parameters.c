/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "planner/core/parameters.h"

/* Published models, by the shapes of their configuration files. */
static gl_model llama(int layers, int hidden, int heads, int kv_heads, int ffn, int vocab)
{
    gl_model m = gl_workload_defaults().model;
    m.layers = layers;
    m.hidden = hidden;
    m.heads = heads;
    m.kv_heads = kv_heads;
    m.head_dim = hidden / heads;
    m.ffn = ffn;
    m.vocab = vocab;
    m.sequence = 4096;
    return m;
}

static gl_model deepseek_v3(void)
{
    gl_model m = llama(61, 7168, 128, 128, 18432, 129280);
    m.head_dim = 128;
    m.attention = (gl_attention){.kind = GL_ATTENTION_MLA,
                                 .q_lora = 1536,
                                 .kv_lora = 512,
                                 .qk_nope = 128,
                                 .qk_rope = 64,
                                 .v_head = 128};
    m.moe.experts = 256;
    m.moe.top_k = 8;
    m.moe.expert_ffn = 2048;
    m.moe.shared_ffn = 2048;
    m.moe.first_dense_layers = 3;
    m.moe.router_bias = true;
    return m;
}

static gl_model mixtral(void)
{
    gl_model m = llama(32, 4096, 32, 8, 14336, 32000);
    m.moe.experts = 8;
    m.moe.top_k = 2;
    m.moe.expert_ffn = 14336;
    return m;
}

static gl_parallel alone(void)
{
    return gl_workload_defaults().parallel;
}

typedef struct fixture {
    gl_arena *arena;
    gl_parameters p;
} fixture;

static int setup(void **state)
{
    static fixture f;
    f.arena = gl_arena_create();
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    gl_arena_destroy(((fixture *)*state)->arena);
    return 0;
}

static const gl_parameters *count(void **state, const gl_model *model, const gl_parallel *parallel)
{
    fixture *f = *state;
    gl_parameters_build(model, parallel, f->arena, &f->p);
    return &f->p;
}

static const gl_tensor *tensor(const gl_parameters *p, gl_block_kind kind, const char *name)
{
    const gl_block *block = &p->blocks[kind];
    for (size_t i = 0; i < block->tensor_count; i++)
        if (strcmp(block->tensors[i].name, name) == 0)
            return &block->tensors[i];
    return NULL;
}

static void test_published_counts(void **state)
{
    const struct {
        gl_model model;
        int64_t total;
    } cases[] = {
        {llama(32, 4096, 32, 8, 14336, 128256), 8030261248},
        {llama(80, 8192, 64, 8, 28672, 128256), 70553706496},
        {llama(22, 2048, 32, 4, 5632, 32000), 1100048384},
        {llama(28, 3072, 24, 8, 8192, 128256), 3606752256},
        {mixtral(), 46702792704},
        {deepseek_v3(), 671026419200},
    };
    gl_parallel parallel = alone();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(count(state, &cases[i].model, &parallel)->total, cases[i].total);
        gl_model separate = cases[i].model;
        separate.fused_weights = false;
        assert_int_equal(count(state, &separate, &parallel)->total, cases[i].total);
    }
}

static void test_active_parameters(void **state)
{
    gl_parallel parallel = alone();
    gl_model m = mixtral(), d = deepseek_v3();
    assert_int_equal(count(state, &m, &parallel)->active, 12879925248);
    /* 37 billion activated, as the technical report says (arXiv 2412.19437). */
    assert_close((double)count(state, &d, &parallel)->active, 37.55e9, 0.001);
}

static void test_gpt2_small(void **state)
{
    /* The 124M model: 124,439,808 with tied tables. */
    gl_model m = llama(12, 768, 12, 12, 3072, 50257);
    m.gated_mlp = false;
    m.tied_embeddings = true;
    m.learned_positions = 1024;
    m.biases = GL_BIASES_ALL;
    m.norms = GL_NORMS_LAYERNORM;
    gl_parallel parallel = alone();
    assert_int_equal(count(state, &m, &parallel)->total, 124439808);
    parallel.pp = 2; /* the last stage's copy of the table is no new parameter */
    const gl_parameters *p = count(state, &m, &parallel);
    assert_int_equal(p->total, 124439808);
    assert_non_null(tensor(p, GL_BLOCK_HEAD, "head"));
}

static void test_bloom_and_qwen(void **state)
{
    gl_parallel parallel = alone();
    gl_model bloom = llama(70, 14336, 112, 112, 57344, 250880);
    bloom.gated_mlp = false;
    bloom.tied_embeddings = bloom.embedding_norm = true;
    bloom.biases = GL_BIASES_ALL;
    bloom.norms = GL_NORMS_LAYERNORM;
    assert_int_equal(count(state, &bloom, &parallel)->total, 176247271424);
    gl_model qwen = llama(36, 4096, 32, 8, 12288, 151936); /* Qwen3-8B */
    qwen.qk_norm = true;
    qwen.fused_weights = false;
    assert_int_equal(count(state, &qwen, &parallel)->total, 8190735360);
    gl_model qwen2 = llama(28, 3584, 28, 4, 18944, 152064); /* Qwen2.5-7B */
    qwen2.biases = GL_BIASES_QKV;
    assert_int_equal(count(state, &qwen2, &parallel)->total, 7615616512);
}

static void test_registration_order(void **state)
{
    static const char *const fused[] = {"norm1", "norm2", "qkv", "o", "gate_up", "down"};
    static const char *const moe[] = {"norm1",
                                      "norm2",
                                      "q_a",
                                      "q_a_norm",
                                      "q_b",
                                      "kv_a",
                                      "kv_a_norm",
                                      "kv_b",
                                      "o",
                                      "router",
                                      "router.bias",
                                      "experts.gate_up",
                                      "experts.down",
                                      "shared.gate_up",
                                      "shared.down"};
    gl_parallel parallel = alone();
    gl_model m = llama(4, 512, 8, 2, 1024, 1000), d = deepseek_v3();
    const gl_parameters *p = count(state, &m, &parallel);
    assert_int_equal(p->blocks[GL_BLOCK_DENSE].tensor_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(p->blocks[GL_BLOCK_DENSE].tensors[i].name, fused[i]);
    assert_int_equal(p->blocks[GL_BLOCK_MOE].tensor_count, 0);
    p = count(state, &d, &parallel);
    assert_int_equal(p->blocks[GL_BLOCK_MOE].tensor_count, 15);
    for (size_t i = 0; i < 15; i++)
        assert_string_equal(p->blocks[GL_BLOCK_MOE].tensors[i].name, moe[i]);
}

static void test_tensor_parallel(void **state)
{
    /* The shard of the measured run: 2,007,109,632 with replicated tables. */
    gl_model m = llama(16, 4096, 32, 8, 14336, 32000);
    gl_parallel parallel = alone();
    parallel.tp = 2;
    parallel.vocab_parallel = false;
    gl_stage *stages;
    const gl_parameters *p = count(state, &m, &parallel);
    gl_stages_build(&m, &parallel, ((fixture *)*state)->arena, &stages);
    assert_int_equal(gl_stage_elements(p, &stages[0], NULL), 2007109632);
    parallel.vocab_parallel = true;
    p = count(state, &m, &parallel);
    assert_int_equal(gl_stage_elements(p, &stages[0], NULL), 2007109632 - 131072000);
    parallel.tp = 16; /* more ranks than KV heads: each holds one */
    p = count(state, &m, &parallel);
    assert_int_equal(tensor(p, GL_BLOCK_DENSE, "qkv")->local_elements, 4096 * 128 * (2 + 2));
    assert_int_equal(tensor(p, GL_BLOCK_DENSE, "norm1")->local_elements, 4096);
}

static void test_expert_parallel(void **state)
{
    gl_model m = llama(12, 2048, 16, 16, 0, 32000);
    m.moe.experts = 32;
    m.moe.top_k = 4;
    m.moe.expert_ffn = 1024;
    gl_parallel parallel = alone();
    parallel.dp = parallel.ep = 2;
    gl_stage *stages;
    const gl_parameters *p = count(state, &m, &parallel);
    gl_stages_build(&m, &parallel, ((fixture *)*state)->arena, &stages);
    int64_t experts;
    assert_int_equal(gl_stage_elements(p, &stages[0], &experts), 1541195776);
    assert_int_equal(1541195776 - experts, 333236224);
    const gl_tensor *t = tensor(p, GL_BLOCK_MOE, "experts.down");
    assert_int_equal(t->copies, 16);
    assert_true(t->expert);
    parallel.tp = 2;
    p = count(state, &m, &parallel);
    assert_int_equal(tensor(p, GL_BLOCK_MOE, "experts.down")->local_elements, 512 * 2048);
}

static void test_stated_count(void **state)
{
    gl_model m = gl_workload_defaults().model;
    m.parameters = 70.6e9;
    gl_parallel parallel = alone();
    const gl_parameters *p = count(state, &m, &parallel);
    assert_false(p->exact);
    assert_int_equal(p->total, 70600000000);
    gl_stage *stages;
    gl_stages_build(&m, &parallel, ((fixture *)*state)->arena, &stages);
    assert_int_equal(stages[0].block_count, 1);
    assert_int_equal(gl_stage_elements(p, &stages[0], NULL), 70600000000);
}

static void test_uneven_stages(void **state)
{
    gl_model m = llama(126, 16384, 128, 8, 53248, 128256);
    gl_parallel parallel = alone();
    parallel.pp = 16;
    gl_stage *s;
    gl_stages_build(&m, &parallel, ((fixture *)*state)->arena, &s);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(s[i].layers, i == 0 || i == 15 ? 7 : 8);
        assert_int_equal(s[i].has_embedding, i == 0);
        assert_int_equal(s[i].has_head, i == 15);
    }
    assert_int_equal(s[0].sequence[0], GL_BLOCK_EMBEDDING);
    assert_int_equal(s[15].sequence[s[15].block_count - 1], GL_BLOCK_HEAD);
    parallel.pp = 4;
    m.layers = 7; /* 1 2 2 2 would load the last stage: 2 2 2 1 */
    gl_stages_build(&m, &parallel, ((fixture *)*state)->arena, &s);
    assert_int_equal(s[0].layers, 2);
    assert_int_equal(s[3].layers, 1);
}

static void test_virtual_stages(void **state)
{
    gl_model m = deepseek_v3();
    gl_parallel parallel = alone();
    parallel.pp = 4;
    parallel.virtual_stages = 2;
    gl_stage *s;
    gl_stages_build(&m, &parallel, ((fixture *)*state)->arena, &s);
    assert_int_equal(s[0].layers, 15); /* one chunk each, unless the schedule is interleaved */
    parallel.schedule = GL_SCHEDULE_INTERLEAVED;
    gl_stages_build(&m, &parallel, ((fixture *)*state)->arena, &s);
    int dense = 0, moe = 0;
    for (int i = 0; i < 4; i++) {
        dense += s[i].dense_layers;
        moe += s[i].moe_layers;
        assert_int_equal(s[i].layers, s[i].dense_layers + s[i].moe_layers);
        assert_int_equal(s[i].block_count, s[i].layers + s[i].has_embedding + s[i].has_head);
    }
    assert_int_equal(dense, 3);
    assert_int_equal(moe, 58);
    assert_int_equal(s[0].layers, 15); /* chunks of 7 and 8 */
}

static void test_every(void **state)
{
    (void)state;
    gl_model m = mixtral();
    m.moe.first_dense_layers = 1;
    m.moe.every = 2;
    const gl_block_kind kinds[] = {GL_BLOCK_DENSE, GL_BLOCK_DENSE, GL_BLOCK_MOE, GL_BLOCK_DENSE,
                                   GL_BLOCK_MOE};
    for (int i = 0; i < 5; i++)
        assert_int_equal(gl_layer_kind(&m, i), kinds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_published_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_active_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gpt2_small, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bloom_and_qwen, setup, teardown),
        cmocka_unit_test_setup_teardown(test_registration_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tensor_parallel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_expert_parallel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stated_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_uneven_stages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_virtual_stages, setup, teardown),
        cmocka_unit_test(test_every),
    };
    return cmocka_run_group_tests_name("parameters", tests, NULL, NULL);
}
