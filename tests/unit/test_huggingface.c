/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input_support.h"

#include "planner/core/parameters.h"

#define SEQUENCE "  sequence: 1024\n"

/* A description beside the fixtures that names one of them. */
static outcome load_config(const char *file, const char *more)
{
    char text[2048];
    outcome o = {.arena = gl_arena_create()};
    gl_error err;
    snprintf(text, sizeof text, "model:\n  huggingface: %s\n%s", file, more);
    assert_true(gl_yaml_parse(TEST_SOURCE_DIR "/fixtures/huggingface/m.yaml", text, strlen(text),
                              o.arena, &o.tree, &err));
    o.ok = gl_model_tree_load(&o.tree, false, o.arena, &o.workload, &o.warnings, &o.diagnostics);
    return o;
}

static int64_t count_parameters(outcome *o)
{
    gl_parameters counted;
    assert_loaded(o);
    gl_parameters_build(&o->workload.model, &o->workload.parallel, o->arena, &counted);
    return counted.total;
}

/* Counts as published in the models' repositories (safetensors or PyTorch). */
static void test_published_counts(void **state)
{
    (void)state;
    const struct {
        const char *file;
        int64_t parameters;
    } models[] = {
        {"gpt2.json", 124439808},           {"mistral-7b.json", 7241732096},
        {"llama-3-8b.json", 8030261248},    {"qwen3-8b.json", 8190735360},
        {"opt-13b.json", 12853473280},      {"deepseek-v2-lite.json", 15706484224},
        {"gpt-neox-20b.json", 20554567680}, {"qwen3-30b-a3b.json", 30532122624},
        {"mixtral-8x7b.json", 46702792704}, {"llama-3-70b.json", 70553706496},
        {"qwen2.5-72b.json", 72706203648},  {"bloom.json", 176247271424},
        {"deepseek-v3.json", 671026419200},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        outcome o = load_config(models[i].file, SEQUENCE);
        int64_t parameters = count_parameters(&o);
        if (parameters != models[i].parameters) {
            fprintf(stderr, "%s: %lld, published %lld\n", models[i].file, (long long)parameters,
                    (long long)models[i].parameters);
            fail();
        }
        outcome_free(&o);
    }
}

/* What the structure cannot express exactly is near, and a warning says what is missing. */
static void test_nearly_counted(void **state)
{
    (void)state;
    const struct {
        const char *file, *warning;
        double parameters;
    } models[] = {
        {"gpt-j-6b.json", "each layer has one norm and biases in the MLP only", 6050882784},
        {"qwen1.5-moe-a2.7b.json", "the shared expert's gate", 14315784192},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        outcome o = load_config(models[i].file, SEQUENCE);
        assert_close((double)count_parameters(&o), models[i].parameters, 1e-4);
        assert_true(has_warning(&o, models[i].warning));
        outcome_free(&o);
    }
}

static void test_families(void **state)
{
    (void)state;
    outcome o = load_config("deepseek-v3.json", SEQUENCE);
    const gl_model *m = &o.workload.model;
    assert_int_equal(m->attention.kind, GL_ATTENTION_MLA);
    assert_int_equal(m->attention.q_lora, 1536);
    assert_int_equal(m->moe.experts, 256);
    assert_int_equal(m->moe.top_k, 8);
    assert_int_equal(m->moe.shared_ffn, 2048);
    assert_int_equal(m->moe.first_dense_layers, 3);
    assert_true(m->moe.router_bias);
    assert_true(has_warning(&o, "layers for multi-token prediction are not counted"));
    outcome_free(&o);
    o = load_config("deepseek-v2-lite.json", SEQUENCE);
    assert_int_equal(o.workload.model.attention.q_lora, 0);
    assert_int_equal(o.workload.model.moe.shared_ffn, 2816);
    assert_false(o.workload.model.moe.router_bias);
    outcome_free(&o);
    o = load_config("mistral-7b.json", SEQUENCE);
    assert_int_equal(o.workload.model.attention.window, 4096);
    assert_false(o.workload.model.fused_weights);
    outcome_free(&o);
    o = load_config("gpt2.json", SEQUENCE);
    assert_true(o.workload.model.fused_weights && o.workload.model.tied_embeddings);
    assert_int_equal(o.workload.model.learned_positions, 1024);
    assert_int_equal(o.workload.model.ffn, 3072);
    outcome_free(&o);
    o = load_config("bloom.json", SEQUENCE);
    assert_true(o.workload.model.embedding_norm);
    assert_int_equal(o.workload.model.biases, GL_BIASES_ALL);
    outcome_free(&o);
    o = load_config("falcon-40b.json", SEQUENCE);
    assert_int_equal(o.workload.model.kv_heads, 8);
    outcome_free(&o);
    o = load_config("qwen2.5-72b.json", SEQUENCE);
    assert_int_equal(o.workload.model.biases, GL_BIASES_QKV);
    assert_int_equal(o.workload.model.attention.window, 0);
    outcome_free(&o);
    o = load_config("qwen3-30b-a3b.json", SEQUENCE);
    assert_true(o.workload.model.qk_norm);
    assert_int_equal(o.workload.model.head_dim, 128);
    outcome_free(&o);
}

static void test_fields_beside_it_win(void **state)
{
    (void)state;
    outcome o = load_config("llama-3-8b.json", "  layers: 16\n  sequence: 4096\n"
                                               "  fused_weights: true\n  name: Half\n");
    assert_loaded(&o);
    assert_int_equal(o.workload.model.layers, 16);
    assert_int_equal(o.workload.model.sequence, 4096);
    assert_int_equal(o.workload.model.hidden, 4096);
    assert_true(o.workload.model.fused_weights);
    assert_int_equal(o.warnings.count, 0);
    outcome_free(&o);
    o = load_config("llama-3-8b.json", SEQUENCE "  parameters: 70e9\n");
    assert_false(o.ok);
    assert_problem(&o,
                   TEST_SOURCE_DIR "/fixtures/huggingface/m.yaml:4:15: model.parameters: stated "
                                   "7e+10, but the architecture has 8030261248 (-88.5 %); …");
    outcome_free(&o);
}

/* What a configuration allows is not what somebody trains with. */
static void test_sequence_is_stated(void **state)
{
    (void)state;
    outcome o = load_config("llama-3-8b.json", "");
    assert_false(o.ok);
    assert_int_equal(o.diagnostics.count, 1);
    assert_problem(&o, TEST_SOURCE_DIR "/fixtures/huggingface/m.yaml:2:16: model.sequence: is not "
                                       "stated; llama-3-8b.json allows up to 8192 tokens: state "
                                       "the length you train with");
    outcome_free(&o);
    /* BLOOM's does not even say what it allows: then the length is just not known. */
    o = load_config("bloom.json", "");
    assert_loaded(&o);
    assert_int_equal(o.workload.model.sequence, 0);
    outcome_free(&o);
}

/* ---- bad configurations ---- */

static void refused(const char *text, const char *expected)
{
    outcome o = {.arena = gl_arena_create()};
    gl_error err;
    gl_model model = gl_workload_defaults().model;
    int positions;
    if (!gl_yaml_parse("c.json", text, strlen(text), o.arena, &o.tree, &err))
        o.diagnostics.items[o.diagnostics.count++] = err;
    else
        assert_false(
            gl_huggingface_load(&o.tree, o.arena, &model, &positions, &o.warnings, &o.diagnostics));
    assert_problem(&o, expected);
    outcome_free(&o);
}

static void test_refused(void **state)
{
    (void)state;
    refused(
        "{\"model_type\": \"llamas\"}",
        "c.json:1:16: model_type: 'llamas' is not supported; did you mean 'llama'? supported: "
        "llama, mistral, mixtral, qwen2, qwen3, qwen2_moe, qwen3_moe, deepseek_v2, deepseek_v3, "
        "gpt2, gptj, gpt_neox, opt, bloom, falcon");
    refused("{\"model_type\": \"t5\"}", "c.json:1:16: model_type: 't5' is not supported; …");
    refused("{\"hidden_size\": 1}", "c.json: model_type: missing; needed: a Hugging Face…");
    refused("[1]", "c.json:1:1: needed: a mapping, such as a Hugging Face config.json");
    refused("{\"model_type\": \"llama\", \"hidden_size\": 8}",
            "c.json: num_hidden_layers: missing; a configuration of model_type llama needs it");
    refused("{\"model_type\": \"llama\", \"hidden_size\": \"8\"}",
            "c.json:1:40: hidden_size: needed: a whole number");
    refused("{\"model_type\": \"llama\", \"hidden_size\": -8}",
            "c.json:1:40: hidden_size: '-8' is out of range; allowed: 1 to 1048576");
    refused("{\"model_type\": \"llama\", \"hidden_size\": 8.5}",
            "c.json:1:40: hidden_size: '8.5' is not a whole number, such as 4096");
    refused("{\"model_type\": \"llama\", \"tie_word_embeddings\": 1}",
            "c.json:1:48: tie_word_embeddings: needed: true or false");
    refused(
        "{\"model_type\": \"deepseek_v3\", \"n_routed_experts\": 8, \"n_shared_experts\": 16777216,"
        " \"moe_intermediate_size\": 16777216}",
        "c.json:1:74: n_shared_experts: the shared experts together are wider than 16777216");
    refused(
        "{\"model_type\": \"deepseek_v3\"}",
        "c.json: n_routed_experts: missing; a configuration of model_type deepseek_v3 needs it");
    refused(
        "{\"model_type\": \"deepseek_v2\"}",
        "c.json: n_routed_experts: missing; a configuration of model_type deepseek_v2 needs it");
    refused("{\"model_type\": \"opt\", \"hidden_size\": 1024, \"word_embed_proj_dim\": 512}",
            "c.json:1:67: word_embed_proj_dim: embeddings of another width…");
    refused("{\"model_type\": \"qwen3_moe\", \"mlp_only_layers\": [0, 5]}",
            "c.json:1:52: mlp_only_layers: only leading layers (0, 1, …) can be dense here");
    refused("{\"model_type\": \"llama\"", "c.json:2:1: not valid JSON: …");
}

#define SIZES                                                                                      \
    "\"num_hidden_layers\": 4, \"hidden_size\": 64, \"num_attention_heads\": 4, "                  \
    "\"vocab_size\": 100, \"intermediate_size\": 256, "

/* Experts are never overlooked: a family that has none refuses their number. */
static void test_experts_of_dense_families(void **state)
{
    (void)state;
    static const char *const keys[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                       "moe_num_experts", "num_experts_per_tok"};
    static const char *const families[] = {"llama", "mistral", "qwen2", "qwen3", "gpt_neox"};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            char text[512], expected[128];
            snprintf(text, sizeof text, "{\"model_type\": \"%s\",\n" SIZES "\n\"%s\": 8}",
                     families[i], keys[k]);
            snprintf(expected, sizeof expected,
                     "c.json:3:%zu: %s: 8, but model_type %s is a dense…", strlen(keys[k]) + 5,
                     keys[k], families[i]);
            refused(text, expected);
        }
}

static bool loads(const char *text, gl_model *model)
{
    outcome o = {.arena = gl_arena_create()};
    gl_error err;
    int positions;
    *model = gl_workload_defaults().model;
    assert_true(gl_yaml_parse("c.json", text, strlen(text), o.arena, &o.tree, &err));
    bool loaded =
        gl_huggingface_load(&o.tree, o.arena, model, &positions, &o.warnings, &o.diagnostics);
    outcome_free(&o);
    return loaded;
}

/* What says that it has none is dense. */
static void test_no_experts(void **state)
{
    (void)state;
    gl_model model;
    assert_true(loads("{\"model_type\": \"llama\", " SIZES "\"num_local_experts\": 0}", &model));
    assert_true(loads("{\"model_type\": \"llama\", " SIZES "\"num_local_experts\": 1}", &model));
    assert_true(loads("{\"model_type\": \"llama\", " SIZES "\"num_experts\": null}", &model));
    assert_true(loads("{\"model_type\": \"deepseek_v2\", " SIZES
                      "\"kv_lora_rank\": 16, \"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 16, "
                      "\"v_head_dim\": 16, \"n_routed_experts\": null}",
                      &model));
    assert_int_equal(model.moe.experts, 0);
}

static void test_missing_file(void **state)
{
    (void)state;
    assert_refused("model:\n  huggingface: nowhere/config.json\n",
                   "m.yaml:2:16: model.huggingface: no such file: nowhere/config.json");
    assert_refused("model:\n  huggingface: /tmp\n", "/tmp: is a directory; a file is expected");
    assert_refused("model:\n  huggingface: {a: 1}\n",
                   "m.yaml:2:16: model.huggingface: found a mapping; needed: a text");
    assert_refused("model:\n  huggingface:\n", "m.yaml:2:15: model.huggingface: has no value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_counts),
        cmocka_unit_test(test_nearly_counted),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_fields_beside_it_win),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_experts_of_dense_families),
        cmocka_unit_test(test_no_experts),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_sequence_is_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
