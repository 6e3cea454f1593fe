/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input_support.h"

#include "planner/core/check.h"

#include <unistd.h>

/* ---- what is read ---- */

static void test_minimal(void **state)
{
    (void)state;
    outcome o = load_model("model:\n  parameters: 70.6e9\nparallel:\n  dp: 8\n");
    assert_loaded(&o);
    const gl_workload *w = &o.workload;
    assert_string_equal(w->model.name, "m");
    assert_close(w->model.parameters, 70.6e9, 0);
    assert_false(gl_model_has_architecture(&w->model));
    assert_int_equal(gl_workload_ranks(w), 8);
    assert_int_equal(w->batch.global, 8);
    assert_int_equal(gl_workload_microbatches(w), 1);
    outcome_free(&o);
}

static void test_defaults(void **state)
{
    (void)state;
    outcome o = load_model(ARCHITECTURE);
    assert_loaded(&o);
    const gl_workload *w = &o.workload;
    assert_true(w->model.fused_weights && w->model.gated_mlp);
    assert_false(w->model.tied_embeddings);
    assert_int_equal(w->model.head_dim, 64);
    assert_true(w->parallel.sp_regather && w->parallel.reshard && w->parallel.accumulate);
    assert_true(w->parallel.vocab_parallel);
    assert_int_equal(w->parallel.cp_method, GL_CP_RING);
    assert_int_equal(w->parallel.schedule, GL_SCHEDULE_1F1B);
    assert_int_equal(w->parallel.order[2], GL_AXIS_DP);
    assert_int_equal(w->precision.compute, GL_BF16);
    assert_int_equal(w->precision.gradients, GL_FP32);
    assert_int_equal(w->precision.master, GL_FP32);
    assert_int_equal(w->precision.dispatch, GL_BF16);
    assert_close(w->buckets.gradient_bytes, 25 * 1048576.0, 0);
    assert_close(w->buckets.first_bytes, 1048576.0, 0);
    assert_close(w->buckets.compression, 1, 0);
    assert_true(w->overlap.dp && w->overlap.pp && w->overlap.cp && w->overlap.zero3_prefetch);
    assert_false(w->overlap.tp || w->overlap.ep);
    assert_close(w->target_exposed_frac, 0.1, 0);
    outcome_free(&o);
}

static void test_everything_stated(void **state)
{
    (void)state;
    outcome o = load_model(
        "model:\n  name: Everything\n  layers: 8\n  hidden: 1024\n  heads: 16\n  kv_heads: 4\n"
        "  head_dim: 128\n  ffn: 4096\n  vocab: 32000\n  sequence: 2048\n  gated_mlp: false\n"
        "  tied_embeddings: true\n  fused_weights: false\n  biases: qkv\n"
        "  learned_positions: 2048\n  norms: layernorm\n  qk_norm: true\n  embedding_norm: true\n"
        "  attention: {kind: gqa, window: 1024}\n"
        "  moe: {experts: 16, top_k: 2, expert_ffn: 512, shared_ffn: 512, first_dense_layers: 2,\n"
        "        every: 2, router_bias: true, capacity: 1.25, imbalance: 1.5}\n"
        "parallel:\n  dp: 4\n  tp: 2\n  pp: 2\n  cp: 2\n  ep: 8\n  sequence_parallel: true\n"
        "  zero: 3\n  schedule: interleaved\n  virtual_stages: 2\n  recompute: full\n"
        "  recompute_early_stop: true\n  sp_regather: false\n  reshard: false\n"
        "  accumulate: false\n  cp_method: ulysses\n  shard: 4\n  vocab_parallel: false\n"
        "  order: pp-dp-cp-tp\n"
        "batch: {global: 64, micro: 2}\n"
        "precision: {compute: fp16, gradients: bf16, optimizer: bf16, master: none,\n"
        "            dispatch: fp8, combine: float}\n"
        "buckets: {gradient: all, first: 2 MiB, compression: 4}\n"
        "overlap: {dp: false, tp: true, pp: false, cp: false, ep: true, zero3_prefetch: false}\n"
        "target: {exposed_communication: 5%}\n"
        "compute: {step: 240 ms}\n");
    assert_loaded(&o);
    const gl_workload *w = &o.workload;
    assert_string_equal(w->model.name, "Everything");
    assert_int_equal(w->model.biases, GL_BIASES_QKV);
    assert_int_equal(w->model.norms, GL_NORMS_LAYERNORM);
    assert_int_equal(w->model.attention.window, 1024);
    assert_true(w->model.moe.router_bias);
    assert_close(w->model.moe.imbalance, 1.5, 0);
    assert_int_equal(w->parallel.zero, 3);
    assert_int_equal(w->parallel.recompute, GL_RECOMPUTE_FULL);
    assert_int_equal(w->parallel.cp_method, GL_CP_ULYSSES);
    assert_int_equal(w->parallel.order[0], GL_AXIS_PP);
    assert_int_equal(w->parallel.order[3], GL_AXIS_TP);
    assert_int_equal(w->precision.master, GL_DTYPE_NONE);
    assert_int_equal(w->precision.dispatch, GL_FP8);
    assert_int_equal(w->precision.combine, GL_FP32);
    assert_true(isinf(w->buckets.gradient_bytes));
    assert_close(w->buckets.first_bytes, 2 * 1048576.0, 0);
    assert_true(w->overlap.ep && !w->overlap.zero3_prefetch);
    assert_close(w->target_exposed_frac, 0.05, 1e-15);
    assert_close(w->compute.step_s, 0.240, 1e-15);
    assert_int_equal(gl_workload_microbatches(w), 8);
    outcome_free(&o);
}

static void test_all_buckets_as_one(void **state)
{
    (void)state;
    outcome o = load_model(ARCHITECTURE "buckets: {gradient: all}\n");
    assert_loaded(&o);
    assert_true(isinf(o.workload.buckets.first_bytes));
    outcome_free(&o);
}

static void test_latent_attention(void **state)
{
    (void)state;
    outcome o = load_model("model:\n  layers: 2\n  hidden: 512\n  heads: 3\n  ffn: 64\n"
                           "  vocab: 100\n  attention: {kind: mla, q_lora: 96, kv_lora: 64,\n"
                           "              qk_nope: 16, qk_rope: 8, v_head: 16}\n");
    assert_loaded(&o);
    assert_int_equal(o.workload.model.attention.kind, GL_ATTENTION_MLA);
    assert_int_equal(o.workload.model.head_dim, 24);
    outcome_free(&o);
}

static void test_only_experts_need_no_ffn(void **state)
{
    (void)state;
    outcome o = load_model("model:\n  layers: 2\n  hidden: 512\n  heads: 8\n  vocab: 100\n"
                           "  moe: {experts: 4, top_k: 1, expert_ffn: 64}\n");
    assert_loaded(&o);
    outcome_free(&o);
    assert_refused("model:\n  layers: 2\n  hidden: 512\n  heads: 8\n  vocab: 100\n"
                   "  moe: {experts: 4, top_k: 1, expert_ffn: 64, first_dense_layers: 1}\n",
                   "m.yaml:1:1: model.ffn: missing; an architecture needs layers, hidden, heads, "
                   "ffn and vocab");
}

/* ---- single fields ---- */

static void test_units(void **state)
{
    (void)state;
    assert_refused(ARCHITECTURE "buckets: {gradient: 25}\n",
                   "m.yaml:9:21: buckets.gradient: '25' has no unit; needed: bytes, such as 25 "
                   "MiB, or the word 'all'");
    assert_refused(ARCHITECTURE "buckets: {first: 25 ms}\n",
                   "m.yaml:9:18: buckets.first: 'ms' measures a time, not an amount of bytes…");
    assert_refused(ARCHITECTURE "buckets: {first: 25 Mb}\n",
                   "m.yaml:9:18: buckets.first: 'Mb': a small 'b' is a bit…");
    assert_refused(ARCHITECTURE "compute:\n  step: 240\n",
                   "m.yaml:10:9: compute.step: '240' has no unit; needed: seconds, such as 3.5 us");
    assert_refused(ARCHITECTURE "compute:\n  step: 0 ms\n",
                   "m.yaml:10:9: compute.step: '0 ms' is out of range; allowed: above 0, …");
}

static void test_numbers(void **state)
{
    (void)state;
    assert_refused(ARCHITECTURE "parallel: {dp: 0x10}\n",
                   "m.yaml:9:16: parallel.dp: '0x10': hexadecimal is not allowed…");
    assert_refused(ARCHITECTURE "parallel: {dp: 1_000}\n",
                   "m.yaml:9:16: parallel.dp: '1_000': thousands separators…");
    assert_refused(ARCHITECTURE "parallel: {dp: 1:30}\n",
                   "m.yaml:9:16: parallel.dp: '1:30' is not…");
    assert_refused(ARCHITECTURE "parallel: {dp: 2.5}\n",
                   "m.yaml:9:16: parallel.dp: '2.5' is not a whole number, such as 4096");
    assert_refused(ARCHITECTURE "parallel: {dp: \"8\"}\n",
                   "m.yaml:9:16: parallel.dp: '8' is in quotes, which makes it a text; needed: a "
                   "whole number, such as 4096");
    assert_refused(ARCHITECTURE "parallel: {dp: [8]}\n",
                   "m.yaml:9:16: parallel.dp: found a list; needed: a whole number, such as 4096");
    assert_refused("model: {parameters: .nan}\n",
                   "m.yaml:1:21: model.parameters: '.nan' does not start with a finite decimal "
                   "number; needed: a number, such as 1e9");
    assert_refused("model: {parameters: nan}\n", "m.yaml:1:21: model.parameters: 'nan' does not…");
    assert_refused("model: {parameters: .inf}\n", "m.yaml:1:21: model.parameters: '.inf' does…");
    assert_refused("model: {parameters: 1e999}\n",
                   "m.yaml:1:21: model.parameters: '1e999' is too…");
    outcome o = load_model(ARCHITECTURE "parallel: {dp: 010}\n");
    assert_loaded(&o);
    assert_int_equal(o.workload.parallel.dp, 10);
    outcome_free(&o);
}

static void test_ranges(void **state)
{
    (void)state;
    assert_refused(ARCHITECTURE "parallel:\n  tp: 0\n",
                   "m.yaml:10:7: parallel.tp: '0' is out of range; allowed: 1 to 10000");
    assert_refused(ARCHITECTURE "parallel:\n  tp: -8\n",
                   "m.yaml:10:7: parallel.tp: '-8' is out of range; allowed: 1 to 10000");
    assert_refused(ARCHITECTURE "parallel:\n  zero: 4\n",
                   "m.yaml:10:9: parallel.zero: '4' is out of range; allowed: 0 to 3");
    assert_refused(ARCHITECTURE "  moe: {experts: 2000000000, top_k: 1, expert_ffn: 1}\n",
                   "m.yaml:9:18: model.moe.experts: '2000000000' is out of range; allowed: 1 to "
                   "65536");
    assert_refused(ARCHITECTURE "batch: {micro: 99999999999999999999}\n",
                   "m.yaml:9:16: batch.micro: '99999999999999999999' is too large…");
    assert_refused(ARCHITECTURE "target: {exposed_communication: 150%}\n",
                   "m.yaml:9:33: target.exposed_communication: '150%' is out of range; allowed: …");
}

static void test_words(void **state)
{
    (void)state;
    assert_refused(ARCHITECTURE "overlap: {dp: yes}\n",
                   "m.yaml:9:15: overlap.dp: found 'yes'; allowed: true, false");
    assert_refused(ARCHITECTURE "overlap: {dp: True}\n",
                   "m.yaml:9:15: overlap.dp: found 'True'; allowed: true, false");
    assert_refused(ARCHITECTURE "overlap: {dp: 'true'}\n",
                   "m.yaml:9:15: overlap.dp: 'true' is in quotes, which makes it a text; needed: "
                   "true or false");
    assert_refused(ARCHITECTURE "parallel: {schedule: 1f1}\n",
                   "m.yaml:9:22: parallel.schedule: found '1f1'; did you mean '1f1b'? allowed: "
                   "gpipe, 1f1b, interleaved");
    assert_refused(ARCHITECTURE "parallel: {recompute: everything}\n",
                   "m.yaml:9:23: parallel.recompute: found 'everything'; allowed: none, selective, "
                   "full");
    assert_refused(ARCHITECTURE "precision: {compute: int8}\n",
                   "m.yaml:9:22: precision.compute: found 'int8'; allowed: bf16, fp16, fp32, fp8");
    assert_refused(ARCHITECTURE "precision: {compute: none}\n",
                   "m.yaml:9:22: precision.compute: found 'none'; allowed: bf16, fp16, fp32, fp8");
    const char *orders[] = {"tp-cp-dp",       "tp-tp-dp-pp",    "tp-cp-dp-pp-",
                            "tp-cp-dp-pp-tp", "tp-cp-ep-dp-pp", "tpcpdppp"};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        char text[512], expected[256];
        snprintf(text, sizeof text, "%sparallel: {order: %s}\n", ARCHITECTURE, orders[i]);
        snprintf(expected, sizeof expected,
                 "m.yaml:9:19: parallel.order: found '%s'; allowed: tp, cp, dp and pp, each once…",
                 orders[i]);
        assert_refused(text, expected);
    }
}

static void test_no_value(void **state)
{
    (void)state;
    assert_refused(ARCHITECTURE "parallel:\n  tp:\n",
                   "m.yaml:10:6: parallel.tp: has no value; needed: a whole number, such as 4096");
    assert_refused(ARCHITECTURE "parallel:\n  tp: null\n", "m.yaml:10:7: parallel.tp: has no…");
    assert_refused(ARCHITECTURE "parallel:\n  tp: ~\n", "m.yaml:10:7: parallel.tp: has no value…");
    assert_refused(ARCHITECTURE "compute:\n",
                   "m.yaml:9:9: compute: has no value; needed: a mapping ({} when empty)");
    assert_refused(ARCHITECTURE "  name: \"\"\n", "m.yaml:9:9: model.name: is empty");
    outcome o = load_model(ARCHITECTURE "compute: {}\n");
    assert_loaded(&o);
    outcome_free(&o);
}

static void test_texts(void **state)
{
    (void)state;
    assert_refused(ARCHITECTURE "  name: \"a\\eb\"\n",
                   "m.yaml:9:9: model.name: holds a character that cannot be printed");
    char text[4096] = ARCHITECTURE "  name: ";
    for (int i = 0; i < 1100; i++)
        strcat(text, "x");
    assert_refused(text, "m.yaml:9:9: model.name: is longer than 1024 bytes");
}

static void test_keys(void **state)
{
    (void)state;
    assert_refused(ARCHITECTURE "  layer: 4\n",
                   "m.yaml:9:3: model.layer: unknown field; did you mean 'layers'?");
    assert_refused(ARCHITECTURE "tp: 4\n",
                   "m.yaml:9:1: tp: unknown field; did you mean 'parallel.tp'?");
    assert_refused(ARCHITECTURE "train: {seq_len: 4}\n",
                   "m.yaml:9:1: train: unknown field; did you mean 'model.sequence'?");
    assert_refused(ARCHITECTURE "  parallel: {tp: 4}\n",
                   "m.yaml:9:3: model.parallel: unknown field; did you mean 'parallel.tp'?");
    assert_refused(ARCHITECTURE "  colour: red\n",
                   "m.yaml:9:3: model.colour: unknown field; allowed here: name, parameters, …");
    assert_refused(ARCHITECTURE "cluster: {gpu: h200}\n",
                   "m.yaml:9:1: cluster: unknown field; it belongs to a cluster description, given "
                   "with --cluster");
    assert_refused(ARCHITECTURE "colour: {of: red, or: blue}\n",
                   "m.yaml:9:1: colour: unknown field; allowed here: model, parallel, batch, "
                   "precision, optimizer, buckets, kernels, overlap, target, compute, training");
    assert_refused(ARCHITECTURE "parallel.tp: 4\n", "m.yaml:9:1: parallel.tp: unknown field…");
    assert_refused(ARCHITECTURE "\"\": 4\n", "m.yaml:9:1: unknown field; allowed here: model…");
    assert_refused(ARCHITECTURE "batch: 512\n",
                   "m.yaml:9:8: batch: found a single value; needed: a mapping");
    assert_refused(
        "[1, 2]\n",
        "m.yaml:1:1: the document is a list; needed: a mapping with the keys "
        "model, parallel, batch, precision, optimizer, buckets, kernels, overlap, target, "
        "compute, training");
    assert_refused(ARCHITECTURE "  layers: 4\n",
                   "m.yaml:9:3: model.layers: the key stands twice, first in line 2");
}

static void test_all_problems_at_once(void **state)
{
    (void)state;
    outcome o = load_model("model:\n  layer: 8\n  hidden: wide\nparallel:\n  tp: 0\n  dp:\n"
                           "overlap: {tp: maybe}\n");
    assert_false(o.ok);
    assert_int_equal(o.diagnostics.count, 5);
    assert_problem(&o, "m.yaml:2:3: model.layer: unknown field; did you mean 'layers'?");
    assert_problem(
        &o, "m.yaml:3:11: model.hidden: 'wide' is not a whole number; allowed: 1 to 1048576");
    assert_problem(&o, "m.yaml:5:7: parallel.tp: '0' is out of range; allowed: 1 to 10000");
    assert_problem(&o, "m.yaml:6:6: parallel.dp: has no value…");
    assert_problem(&o, "m.yaml:7:15: overlap.tp: found 'maybe'; allowed: true, false");
    outcome_free(&o);
    char text[2048] = "";
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "unknown%d: 1\n", i);
    o = load_model(text);
    assert_int_equal(o.diagnostics.count, GL_DIAGNOSTICS_MAX);
    assert_int_equal(o.diagnostics.dropped, 10);
    outcome_free(&o);
}

/* ---- completeness ---- */

static void test_half_an_architecture(void **state)
{
    (void)state;
    outcome o = load_model("model:\n  parameters: 7e9\n  layers: 32\n  hidden: 4096\n");
    assert_int_equal(o.diagnostics.count, 3);
    assert_problem(&o, "m.yaml:1:1: model.heads: missing; an architecture needs layers, hidden, "
                       "heads, ffn and vocab");
    assert_problem(&o, "m.yaml:1:1: model.ffn: missing; …");
    assert_problem(&o, "m.yaml:1:1: model.vocab: missing; …");
    outcome_free(&o);
    assert_refused("parallel: {dp: 8}\n",
                   "m.yaml:1:1: model: needs an architecture (layers, hidden, heads, ffn, vocab), "
                   "huggingface: FILE, or parameters");
    assert_refused("model:\n  layers: 2\n  hidden: 100\n  heads: 3\n  ffn: 8\n  vocab: 8\n",
                   "m.yaml:4:10: model.heads: hidden (100) is no multiple of heads (3); state "
                   "model.head_dim");
}

static void test_what_needs_an_architecture(void **state)
{
    (void)state;
    const char *missing = "needs the model's architecture; missing: model.layers, model.hidden, "
                          "model.heads, model.ffn, model.vocab, model.sequence";
    const struct {
        const char *line, *problem;
    } cases[] = {
        {"tp: 8", "m.yaml:4:7: parallel.tp: tensor parallelism"},
        {"pp: 8", "m.yaml:4:7: parallel.pp: pipeline parallelism"},
        {"cp: 8", "m.yaml:4:7: parallel.cp: context parallelism"},
        {"recompute: full", "m.yaml:4:14: parallel.recompute: recomputation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256], expected[400];
        snprintf(text, sizeof text, "model:\n  parameters: 7e9\nparallel:\n  %s\n", cases[i].line);
        snprintf(expected, sizeof expected, "%s %s", cases[i].problem, missing);
        assert_refused(text, expected);
    }
    outcome o = load_model("model: {parameters: 7e9}\nparallel: {dp: 8, zero: 3}\n");
    assert_loaded(&o);
    assert_true(has_warning(&o, "m.yaml:2:25: parallel.zero: without the model's architecture"));
    outcome_free(&o);
    assert_refused("model: {parameters: 7e9}\nparallel: {dp: 8, ep: 8}\n",
                   "m.yaml:2:23: parallel.ep: expert parallelism needs the model's architecture…");
}

/* ---- findings carry positions ---- */

static void test_rules_have_positions(void **state)
{
    (void)state;
    outcome o = load_model(ARCHITECTURE "parallel:\n  tp: 3\n");
    assert_int_equal(o.diagnostics.count, 4);
    assert_problem(&o, "m.yaml:10:7: parallel.tp: heads (16) must be a multiple of tp (3)");
    assert_problem(&o, "m.yaml:10:7: parallel.tp: vocab (32000) must be a multiple of tp (3): pad "
                       "it, for example to 32256, or set parallel.vocab_parallel: false");
    outcome_free(&o);
    assert_refused(ARCHITECTURE "  biases: true\nparallel: {dp: 3}\nbatch: {global: 16}\n",
                   "m.yaml:11:17: batch.global: global (16) must be a multiple of dp x micro (3)");
    assert_refused(
        ARCHITECTURE "  parameters: 1e9\n",
        "m.yaml:9:15: model.parameters: stated 1e+09, but the architecture has 191382528 "
        "(-80.9 %); they may differ by 2 %");
    o = load_model(ARCHITECTURE "parallel:\n  pp: 3\n");
    assert_loaded(&o);
    assert_true(has_warning(&o,
                            "m.yaml:10:7: parallel.pp: layers (8) is no multiple of pp (3), the "
                            "stages are uneven; layers held by stages 0-1: 3, stage 2: 2"));
    outcome_free(&o);
}

static void test_more_gpus_than_the_cluster_has(void **state)
{
    (void)state;
    outcome o = load_model(ARCHITECTURE "parallel:\n  tp: 4\n  dp: 64\n");
    assert_loaded(&o);
    gl_cluster cluster = {.name = "small", .nodes = 16, .gpus_per_node = 8, .bounded = true};
    gl_findings findings = {.arena = o.arena};
    gl_check_cluster(&o.workload, &cluster, &findings);
    gl_findings_report(&findings, &o.tree, o.arena, &o.warnings, &o.diagnostics);
    assert_int_equal(o.diagnostics.count, 1);
    assert_problem(&o,
                   "m.yaml:9:1: parallel: tp 4 x cp 1 x dp 64 x pp 1 needs 256 GPUs; the cluster "
                   "has 128 (16 nodes of 8)");
    outcome_free(&o);
}

/* ---- settings ---- */

static void test_settings(void **state)
{
    (void)state;
    outcome o = load_model_with(ARCHITECTURE "parallel: {tp: 2}\n", "parallel.tp", "4");
    assert_loaded(&o);
    assert_int_equal(o.workload.parallel.tp, 4);
    outcome_free(&o);
    o = load_model_with(ARCHITECTURE, "parallel.recompte", "full");
    assert_int_equal(o.diagnostics.count, 1);
    assert_problem(&o, "--set parallel.recompte=full: parallel.recompte: unknown field; did you "
                       "mean 'recompute'?");
    outcome_free(&o);
    o = load_model_with(ARCHITECTURE, "buckets.gradient", "40");
    assert_problem(&o, "--set buckets.gradient=40: buckets.gradient: '40' has no unit…");
    outcome_free(&o);
    o = load_model_with(ARCHITECTURE "parallel: {tp: 2}\n", "parallel.tp", "5");
    assert_problem(&o, "--set parallel.tp=5: parallel.tp: heads (16) must be a multiple of tp (5)");
    outcome_free(&o);
}

static void test_files(void **state)
{
    (void)state;
    char path[512];
    gl_arena *arena = gl_arena_create();
    gl_workload workload;
    gl_texts warnings = {0};
    gl_diagnostics diagnostics = {0};
    const gl_setting settings[] = {{"parallel.dp", "2", "--set"},
                                   {"cluster.nodes", "4", "--set"},
                                   {"prices", "standard", "--set"}};
    snprintf(path, sizeof path, "%s/model_file_%d.yaml", TEST_BINARY_DIR, (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(ARCHITECTURE, file);
    fclose(file);
    assert_true(gl_model_file_load(path, settings, 3, arena, &workload, &warnings, &diagnostics));
    assert_int_equal(workload.parallel.dp, 2);
    assert_true(strncmp(workload.model.name, "model_file_", 11) == 0);
    unlink(path);
    assert_false(gl_model_file_load(path, settings, 3, arena, &workload, &warnings, &diagnostics));
    assert_int_equal(diagnostics.count, 1);
    assert_string_equal(diagnostics.items[0].message, "no such file");
    gl_arena_destroy(arena);
}

/* A search finds its own layout: the described one may be impossible, the model may not. */
static void test_a_search_asks_for_no_layout(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool described, any_layout;
    } cases[] = {
        {ARCHITECTURE "parallel: {dp: 64}\nbatch: {global: 96}\n", false, true},
        {ARCHITECTURE "parallel: {tp: 3, cp: 5, ep: 2}\nbatch: {global: 15}\n", false, true},
        {ARCHITECTURE "parallel: {dp: 64}\nbatch: {global: 128}\n", true, true},
        {ARCHITECTURE "batch: {global: 8}\ncompute: {step: 1 s, mfu: 0.4}\n", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        outcome o = load_model(cases[i].text);
        gl_workload any = gl_workload_defaults();
        gl_texts warnings = {0};
        gl_diagnostics diagnostics = {.count = 0};
        assert_int_equal(o.ok, cases[i].described);
        assert_int_equal(gl_model_tree_load(&o.tree, true, o.arena, &any, &warnings, &diagnostics),
                         cases[i].any_layout);
        assert_int_equal(diagnostics.count == 0, cases[i].any_layout);
        outcome_free(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimal),
        cmocka_unit_test(test_a_search_asks_for_no_layout),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_everything_stated),
        cmocka_unit_test(test_all_buckets_as_one),
        cmocka_unit_test(test_latent_attention),
        cmocka_unit_test(test_only_experts_need_no_ffn),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_no_value),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_all_problems_at_once),
        cmocka_unit_test(test_half_an_architecture),
        cmocka_unit_test(test_what_needs_an_architecture),
        cmocka_unit_test(test_rules_have_positions),
        cmocka_unit_test(test_more_gpus_than_the_cluster_has),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
