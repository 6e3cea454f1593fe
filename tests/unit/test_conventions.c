/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a row and what is known of its framework to a workload on a cluster: one row of each source,
 * and conventions that are wrong. */
#include "tests/support.h"

#include "common/datadir.h"
#include "planner/input/conventions.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct fixture {
    gl_arena *arena;
    gl_conventions *conventions;
    gl_known_runs runs;
} fixture;

static void print_problems(const gl_diagnostics *diagnostics)
{
    char text[1400];
    for (size_t i = 0; i < diagnostics->count; i++)
        print_message("%s\n", gl_error_text(&diagnostics->items[i], text, sizeof text));
}

static int setup(void **state)
{
    static fixture f;
    size_t count;
    gl_diagnostics diagnostics = {.count = 0};
    f.arena = gl_arena_create();
    f.conventions = gl_conventions_load(NULL, f.arena, &diagnostics);
    const char *const *names = gl_datadir_list(f.arena, "validation", "csv", &count);
    for (size_t i = 0; i < count; i++)
        gl_known_runs_load(gl_datadir_find(f.arena, "validation", names[i], "csv"), f.arena,
                           &f.runs, &diagnostics);
    print_problems(&diagnostics);
    *state = &f;
    return diagnostics.count == 0 && f.runs.count > 400 ? 0 : 1;
}

static int teardown(void **state)
{
    gl_arena_destroy(((fixture *)*state)->arena);
    return 0;
}

static gl_run_case made(const fixture *f, const char *id)
{
    gl_run_case out = {0};
    for (size_t i = 0; i < f->runs.count; i++) {
        if (strcmp(f->runs.items[i].texts[GL_RUN_ID], id) != 0)
            continue;
        gl_run_case_build(f->conventions, &f->runs.items[i], f->arena, &out);
        if (out.reason != NULL)
            print_message("%s: %s\n", id, out.reason);
        return out;
    }
    fail_msg("no run %s", id);
    return out;
}

static gl_run_case planned(const fixture *f, const char *id)
{
    gl_run_case out = made(f, id);
    assert_null(out.reason);
    assert_non_null(out.cluster);
    return out;
}

/* ---- one row of each source ---- */

static void test_megatron(void **state)
{
    gl_run_case c = planned(*state, "kort-006");
    const gl_workload *w = &c.workload;
    assert_string_equal(c.family, "Megatron-LM 2022");
    assert_string_equal(c.gpu, "a100-sxm-80gb");
    assert_int_equal(w->model.layers, 105);
    assert_int_equal(w->model.ffn, 81920);
    assert_int_equal(w->model.learned_positions, 2048); /* $seq */
    assert_false(w->model.gated_mlp);
    assert_true(w->model.tied_embeddings);
    assert_int_equal(w->model.biases, GL_BIASES_ALL);
    assert_int_equal(w->kernels.attention, GL_ATTENTION_UNFUSED);
    assert_int_equal(w->parallel.tp, 8);
    assert_int_equal(w->parallel.pp, 35);
    assert_int_equal(w->parallel.virtual_stages, 3);
    assert_int_equal(w->parallel.schedule, GL_SCHEDULE_INTERLEAVED);
    assert_true(w->parallel.sequence_parallel);
    assert_int_equal(w->parallel.recompute, GL_RECOMPUTE_SELECTIVE);
    assert_int_equal(w->batch.global, 280);
    assert_int_equal(w->precision.compute, GL_FP16);
    assert_int_equal(c.cluster->nodes, 35);
    assert_string_equal(c.cluster->inter.link->name, "ib-hdr");
    assert_int_equal(c.cluster->nics_per_node, 8);
    c = planned(*state, "meg21-007");
    assert_int_equal(c.workload.parallel.dp, 24);
    assert_true(c.workload.parallel.scatter_gather);
    assert_int_equal(c.workload.precision.gradients, GL_FP16);
    c = planned(*state, "meg20-011"); /* sequence, layers and vocabulary are not in the table */
    assert_int_equal(c.workload.model.layers, 42);
    assert_int_equal(c.workload.model.sequence, 1024);
    assert_int_equal(c.workload.batch.micro, 16);
    assert_string_equal(c.cluster->gpu->name, "a100-sxm-40gb");
}

static void test_bloom(void **state)
{
    gl_run_case c = planned(*state, "bloom-132");
    assert_true(c.workload.model.embedding_norm);
    assert_int_equal(c.workload.model.vocab, 250880);
    assert_int_equal(c.workload.parallel.zero, 1);
    assert_int_equal(c.workload.precision.gradients, GL_FP32); /* BF16 optimizer */
    assert_string_equal(c.cluster->inter.link->name, "omni-path-100");
    assert_int_equal(c.cluster->nics_per_node, 4); /* 50 Gbit/s a GPU */
    assert_int_equal(planned(*state, "bloom-034").workload.model.heads, 64);
    assert_int_equal(planned(*state, "bloom-010").workload.model.layers, 77);
    assert_int_equal(planned(*state, "bloom-044").workload.batch.global, 512);
}

static void test_fsdp(void **state)
{
    gl_run_case c = planned(*state, "llmf-140");
    assert_int_equal(c.workload.parallel.zero, 3);
    assert_int_equal(c.workload.precision.gradients, GL_BF16); /* PURE */
    assert_int_equal(c.workload.model.learned_positions, 2048);
    assert_int_equal(planned(*state, "llmf-080").workload.precision.gradients, GL_FP32);
    c = planned(*state, "ttan-013");
    assert_int_equal(c.workload.batch.micro, 4); /* as many microbatches as stages */
    assert_int_equal(c.workload.precision.compute, GL_FP8);
    assert_true(c.workload.overlap.tp);
    assert_false(planned(*state, "ttan-011").workload.overlap.tp); /* no AsyncTP */
    assert_int_equal(planned(*state, "ttan-016").workload.parallel.cp_method, GL_CP_ALLGATHER);
    c = planned(*state, "intern-016");
    assert_int_equal(c.workload.parallel.shard, 8);
    assert_int_equal(c.workload.parallel.zero, 1);
}

static void test_vendor(void **state)
{
    gl_run_case c = planned(*state, "dgxc-177");
    assert_int_equal(c.workload.model.layers, 126); /* no multiple of pp x vpp: 126 + 2 is */
    assert_int_equal(c.workload.parallel.pp * c.workload.parallel.virtual_stages, 64);
    assert_true(c.workload.parallel.sequence_parallel);
    c = planned(*state, "mbr-020"); /* four racks of 64 GPUs */
    assert_int_equal(c.cluster->gpus_per_node, 64);
    assert_int_equal(c.cluster->nodes, 4);
    assert_int_equal(c.cluster->nics_per_node, 64);
    assert_string_equal(c.cluster->intra.link->name, "nvl72");
    assert_int_equal(c.workload.model.attention.kind, GL_ATTENTION_MLA);
    assert_int_equal(c.workload.model.moe.expert_ffn, 2048);
    assert_int_equal(c.workload.model.ffn, 18432);
    assert_int_equal(c.workload.precision.activations, GL_BF16);
    assert_int_equal(planned(*state, "mbr-024").cluster->nodes, 1);
    assert_int_equal(planned(*state, "mbr-236").workload.parallel.zero, 3); /* Megatron-FSDP */
}

/* Throttled: a port has less than its name says, and the delay that was put in. */
static void test_slow_links(void **state)
{
    gl_run_case c = planned(*state, "dfm-016");
    const gl_link *link = c.cluster->inter.link;
    assert_string_equal(link->name, "ethernet-10");
    assert_close(link->bw_bytes_per_s.value, 2e9 / 8, 1e-9);
    assert_true(link->step_latency_s.value > 5e-3 && link->step_latency_s.value < 5.2e-3);
    assert_int_equal(c.workload.parallel.schedule, GL_SCHEDULE_GPIPE);
    c = planned(*state, "dfm-038"); /* 25 Gbit/s a node, exactly one port */
    assert_close(c.cluster->inter.link->bw_bytes_per_s.value, 25e9 / 8, 1e-9);
    assert_int_equal(c.cluster->nics_per_node, 1);
    c = planned(*state, "llmq-007");
    assert_string_equal(c.cluster->intra.link->name, "pcie4-x16-host");
    assert_int_equal(c.workload.model.biases, GL_BIASES_QKV);
    assert_true(c.workload.model.tied_embeddings);
}

static void assert_reason(const fixture *f, const char *id, const char *fragment)
{
    gl_run_case c = made(f, id);
    assert_non_null(c.reason);
    assert_non_null(strstr(c.reason, fragment));
}

static void test_left_out(void **state)
{
    assert_reason(*state, "meg20-003", "network between them is not stated");
    assert_reason(*state, "bloom-134", "model.ffn");
    assert_reason(*state, "intern-056", "neither the time of a step");
    assert_reason(*state, "llmq-013", "offloads to host memory");
    assert_reason(*state, "mbr-004", "architecture is not stated");
    assert_reason(*state, "mbr-076", "NVFP4");
    assert_reason(*state, "dfm-010", "parameter server");
}

/* ---- rows of one's own ---- */

/* The case of one row, with the bundled conventions. */
static gl_run_case made_of(const fixture *f, const char *text)
{
    gl_known_runs runs = {0};
    gl_diagnostics diagnostics = {.count = 0};
    gl_run_case out = {0};
    bool ok = gl_known_runs_parse("own.csv", text, strlen(text), f->arena, &runs, &diagnostics);
    print_problems(&diagnostics);
    assert_true(ok);
    gl_run_case_build(f->conventions, &runs.items[0], f->arena, &out);
    return out;
}

#define OWN_HEADER                                                                                 \
    "id,layers,hidden,heads,ffn,vocab,seq,gpu,gpus,gpus_per_node,intra_link,inter_link,"           \
    "inter_gbps_per_gpu,precision,tp,pp,global_batch,measured_step_s,settings\n"

static void test_own_row(void **state)
{
    /* Names of the catalogue are understood as they are; dp follows from the GPUs. */
    gl_run_case c = made_of(*state, OWN_HEADER
                            "own,8,1024,16,4096,32000,2048,h100-sxm,32,8,nvlink4,ib-ndr,400,BF16,"
                            "4,2,64,1,batch.micro=2; kernels.elementwise=fused\n");
    assert_null(c.reason);
    assert_string_equal(c.family, "other");
    assert_int_equal(c.workload.parallel.dp, 4);
    assert_int_equal(c.workload.batch.micro, 2);
    assert_int_equal(c.workload.kernels.elementwise, GL_ELEMENTWISE_FUSED);
    assert_int_equal(c.cluster->nics_per_node, 8);
}

static void assert_own_reason(const fixture *f, const char *row, const char *fragment)
{
    gl_run_case c = made_of(f, gl_arena_printf(f->arena, OWN_HEADER "%s\n", row));
    assert_non_null(c.reason);
    if (strstr(c.reason, fragment) == NULL)
        fail_msg("%s", c.reason);
}

static void test_own_rows_that_cannot_be(void **state)
{
    const fixture *f = *state;
    assert_own_reason(f, "a,8,1024,16,4096,32000,2048,h100-sxm,8,8,nvlink4,,,FP7,,,8,1,",
                      "precision 'FP7' is in no convention");
    assert_own_reason(f, "b,8,1024,16,4096,32000,2048,h101-sxm,8,8,nvlink4,,,BF16,,,8,1,",
                      "the catalogue has no GPU 'h101-sxm'");
    assert_own_reason(f, "c,8,1024,16,4096,32000,2048,h100-sxm,8,8,nvlink9,,,BF16,,,8,1,",
                      "the catalogue has no link 'nvlink9'");
    assert_own_reason(f,
                      "d,8,1024,16,4096,32000,2048,h100-sxm,12,8,nvlink4,ib-ndr,400,BF16,8,,12,1,",
                      "12 GPUs are no multiple of tp x pp x cp (8)");
    assert_own_reason(f, "e,8,1024,15,4096,32000,2048,h100-sxm,8,8,nvlink4,,,BF16,4,,8,1,",
                      "hidden (1024) is no multiple of heads (15)");
    assert_own_reason(f, "g,8,1024,16,4096,32000,2048,h100-sxm,16,8,nvlink4,ib-ndr,,BF16,,,16,1,",
                      "network's bandwidth is not stated");
    assert_own_reason(f,
                      "h,8,1024,16,4096,32000,2048,h100-sxm,16,8,nvlink4,ib-ndr,400,BF16,,,16,1,"
                      "parallel.dp=8",
                      "makes 8 ranks, the run had 16 GPUs");
    assert_own_reason(f, "i,8,1024,16,4096,32000,2048,h100-sxm,8,8,,,,BF16,,,8,1,",
                      "link between the GPUs of a node is not stated");
    assert_own_reason(f, "j,8,1024,16,4096,32000,2048,h100-sxm,,8,nvlink4,,,BF16,,,8,1,",
                      "number of GPUs is not stated");
}

/* ---- conventions of one's own ---- */

static gl_conventions *load_text(gl_arena *arena, const char *text, gl_diagnostics *diagnostics)
{
    char path[] = "/tmp/conventions-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    gl_conventions *out = gl_conventions_load(path, arena, diagnostics);
    unlink(path);
    return out;
}

static void assert_wrong(const char *text, int line, const char *fragment)
{
    gl_arena *arena = gl_arena_create();
    gl_diagnostics diagnostics = {.count = 0};
    assert_null(load_text(arena, text, &diagnostics));
    if (diagnostics.count != 1 || diagnostics.items[0].line != line ||
        strstr(diagnostics.items[0].message, fragment) == NULL) {
        print_problems(&diagnostics);
        fail_msg("expected line %d: %s", line, fragment);
    }
    gl_arena_destroy(arena);
}

static void test_wrong_conventions(void **state)
{
    (void)state;
    assert_wrong("other: []\n", 1, "needed: conventions, a list");
    assert_wrong("conventions:\n  - 3\n", 2, "needed: a mapping");
    assert_wrong("conventions:\n  - because: x\n", 2, "'when' is missing");
    assert_wrong("conventions:\n  - when: {id: a}\n", 2, "'because' is missing");
    assert_wrong("conventions:\n  - when: {idd: a}\n    because: x\n", 2, "no column 'idd'");
    assert_wrong("conventions:\n  - when: {id: []}\n    because: x\n", 2, "needed: a pattern");
    assert_wrong("conventions:\n  - when: a\n    because: x\n", 2, "needed: a mapping of columns");
    assert_wrong("conventions:\n  - when: {id: a}\n    because: x\n    modle: {}\n", 4,
                 "unknown key 'modle'");
    assert_wrong("conventions:\n  - when: {id: a}\n    because: x\n    model: {layres: 3}\n", 4,
                 "did you mean 'layers'");
    assert_wrong("conventions:\n  - when: {id: a}\n    because: x\n    parallel: {tp: 0}\n", 4,
                 "out of range");
    assert_wrong("conventions:\n  - when: {id: a}\n    because: x\n    model: {layers: $depth}\n",
                 4, "no column 'depth'");
    assert_wrong("conventions:\n  - when: {id: a}\n    because: x\n    cluster: {nodes: many}\n", 4,
                 "many");
}

/* Later statements win, `settings` over all; an empty cell that is referred to states nothing. */
static void test_order(void **state)
{
    (void)state;
    static const char text[] = "conventions:\n"
                               "  - when: {id: [x, \"o*n\"]}\n"
                               "    because: test\n"
                               "    model: {vocab: 100, learned_positions: $kv_heads}\n"
                               "    parallel: {tp: 2, zero: 1}\n"
                               "    fitted: nothing\n"
                               "  - when: {id: own, pp: \"\"}\n"
                               "    because: test\n"
                               "    parallel: {zero: 2}\n"
                               "  - when: {id: ow}\n"
                               "    because: test\n"
                               "    leave_out: never\n"
                               "  - when: {precision: BF16}\n"
                               "    because: test\n"
                               "    precision: {compute: bf16}\n";
    fixture f = {.arena = gl_arena_create()};
    gl_diagnostics diagnostics = {.count = 0};
    f.conventions = load_text(f.arena, text, &diagnostics);
    print_problems(&diagnostics);
    assert_non_null(f.conventions);
    gl_run_case c =
        made_of(&f, OWN_HEADER "own,8,1024,16,4096,,2048,h100-sxm,8,8,nvlink4,,,BF16,4,,8,1,"
                               "model.vocab=200\n");
    assert_null(c.reason);
    assert_int_equal(c.workload.parallel.tp, 2);
    assert_int_equal(c.workload.parallel.zero, 2);
    assert_int_equal(c.workload.parallel.dp, 4);
    assert_int_equal(c.workload.model.vocab, 200);
    assert_int_equal(c.workload.model.learned_positions, 0);
    assert_string_equal(c.fitted, "nothing");
    gl_arena_destroy(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_megatron),
        cmocka_unit_test(test_bloom),
        cmocka_unit_test(test_fsdp),
        cmocka_unit_test(test_vendor),
        cmocka_unit_test(test_slow_links),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_own_row),
        cmocka_unit_test(test_own_rows_that_cannot_be),
        cmocka_unit_test(test_wrong_conventions),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
