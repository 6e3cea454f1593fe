/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a message says that was meant. */
#include "input_support.h"

#include "common/text.h"
#include "planner/input/field_hints.h"

enum { SIZE = 160 };

static void assert_hint(const gl_field *fields, const char *path, const char *wanted)
{
    char text[SIZE];
    assert_string_equal(gl_field_hint_nearest(fields, path, NULL, text, sizeof text), wanted);
}

static void test_the_name_in_another_section(void **state)
{
    (void)state;
    assert_hint(gl_model_fields, "micro", "; did you mean 'batch.micro'?");
    assert_hint(gl_model_fields, "model.experts", "; did you mean 'model.moe.experts'?");
    assert_hint(gl_model_fields, "parallel.seq.micro", "; did you mean 'batch.micro'?");
    assert_hint(gl_model_fields, "Virtual-Stages", "; did you mean 'parallel.virtual_stages'?");
    assert_hint(gl_model_fields, "zero", "; did you mean 'parallel.zero'?");
    assert_hint(gl_model_fields, "tp", "; did you mean 'parallel.tp' or 'overlap.tp'?");
    /* Fields that lie deeper are meant less often. */
    assert_hint(gl_cluster_fields, "nodes", "; did you mean 'cluster.nodes'?");
}

/* Of fields of one name the one is meant that takes the value. */
static void test_the_value_decides(void **state)
{
    static const char *const cases[][3] = {
        {"tp", "4", "; did you mean 'parallel.tp'?"},
        {"tp", "true", "; did you mean 'overlap.tp'?"},
        {"tp", "fast", "; did you mean 'parallel.tp' or 'overlap.tp'?"},
        {"overlaps.tp", "0", "; did you mean 'parallel.tp' or 'overlap.tp'?"},
        {"mlp.compute", "fp8", "; did you mean 'precision.compute'?"},
        {"batch_size", "8", "; did you mean 'batch.global' or 'batch.micro'?"},
        {"batch_size", "1e6", "; did you mean 'batch.global'?"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[SIZE];
        const gl_yaml_node value = {.kind = GL_YAML_SCALAR, .text = cases[i][1]};
        assert_string_equal(
            gl_field_hint_nearest(gl_model_fields, cases[i][0], &value, text, sizeof text),
            cases[i][2]);
    }
}

static void test_the_other_description(void **state)
{
    (void)state;
    assert_hint(gl_model_fields, "nodes", "; did you mean 'cluster.nodes'?");
    assert_hint(gl_model_fields, "gpus_per_node", "; did you mean 'cluster.gpus_per_node'?");
    assert_hint(gl_model_fields, "link",
                "; did you mean 'cluster.intra_node.link' or 'cluster.inter_node.link'?");
    assert_hint(gl_cluster_fields, "cluster.vocab", "; did you mean 'model.vocab'?");
    assert_hint(gl_model_fields, "cluster.nodes",
                "; it belongs to a cluster description, given with --cluster");
    assert_hint(gl_cluster_fields, "parallel", "; it belongs to a model description");
    /* A GPU, a link and a price list have none beside them. */
    assert_hint(gl_gpu_fields, "nodes", "");
    assert_hint(gl_link_fields, "seq_len", "");
    assert_hint(gl_gpu_fields, "power", "; did you mean 'gpu.power'?");
}

static void test_what_frameworks_say(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"seq_len", "; did you mean 'model.sequence'?"},
        {"model.seq-length", "; did you mean 'model.sequence'?"},
        {"batch_size", "; did you mean 'batch.global' or 'batch.micro'?"},
        {"batch.micro_batch_size", "; did you mean 'batch.micro'?"},
        {"num_layers", "; did you mean 'model.layers'?"},
        {"num_hidden_layers", "; did you mean 'model.layers'?"},
        {"hidden_size", "; did you mean 'model.hidden'?"},
        {"n_gpus", "; did you mean 'cluster.nodes' or 'cluster.gpus_per_node'?"},
        {"tensor_parallel_size", "; did you mean 'parallel.tp'?"},
        {"tensor_model_parallel_size", "; did you mean 'parallel.tp'?"},
        {"pipeline_parallel_size", "; did you mean 'parallel.pp'?"},
        {"parallel.zero_stage", "; did you mean 'parallel.zero'?"},
        {"fsdp", "; did you mean 'parallel.zero'?"},
        {"laeyrs", "; did you mean 'model.layers'?"},
        {"oversubscripton", "; did you mean 'cluster.inter_node.oversubscription'?"},
        {"activation_checkpointing", "; did you mean 'parallel.recompute'?"},
        {"num_stages", "; did you mean 'parallel.pp'?"},
        {"bogus", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_hint(gl_model_fields, cases[i][0], cases[i][1]);
}

/* What no field stands for is explained, and no field of the same last name is suggested. */
static void test_what_has_no_field(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"cluster.intra_node.bandwidth", "; it is the link's inside a node: name another "
                                         "cluster.intra_node.link, or a link file of your own"},
        {"optimizer.name",
         "; the optimizer is Adam with two moments; their type is precision.optimizer"},
        {"batch.gradient_accumulation", "; microbatches follow from the batch: batch.global / "
                                        "(parallel.dp x batch.micro) of them a step"},
        {"lora_rank",
         "; adapters over frozen weights (LoRA, QLoRA) are not planned: all weights are trained"},
        {"lora.r",
         "; adapters over frozen weights (LoRA, QLoRA) are not planned: all weights are trained"},
        {"qlora",
         "; adapters over frozen weights (LoRA, QLoRA) are not planned: all weights are trained"},
        {"precision.weights", "; weights are held in precision.compute and precision.master; "
                              "adapters over frozen weights (LoRA, QLoRA) are not planned: all "
                              "weights are trained"},
        {"q_lora", "; did you mean 'model.attention.q_lora'?"},
        {"model.q_lora_rank", "; did you mean 'model.attention.q_lora'?"},
    };
    for (size_t i = 1; i < sizeof cases / sizeof cases[0]; i++)
        assert_hint(gl_model_fields, cases[i][0], cases[i][1]);
    assert_hint(gl_cluster_fields, cases[0][0], cases[0][1]);
    /* No advice hides a field. */
    for (const gl_advice *a = gl_field_advices; a->name != NULL; a++) {
        assert_null(gl_fields_find(gl_model_fields, a->name));
        assert_null(gl_fields_find(gl_cluster_fields, a->name));
        assert_true(strlen(a->text) + sizeof "; " <= SIZE);
    }
}

static bool is_path(const char *path)
{
    return gl_fields_find(gl_model_fields, path) != NULL ||
           gl_fields_find(gl_cluster_fields, path) != NULL;
}

/* Every synonym leads to fields that there are, is written as it is looked for, and is not itself
 * the name of a field, which would hide it. */
static void test_synonyms_are_of_use(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    char text[SIZE];
    for (const gl_synonym *s = gl_field_synonyms; s->name != NULL; s++) {
        size_t length = strlen(s->name);
        assert_int_equal(strspn(s->name, "abcdefghijklmnopqrstuvwxyz0123456789"), length);
        for (const char *path = s->paths; *path != '\0';) {
            length = strcspn(path, ",");
            const char *one = gl_arena_strndup(arena, path, length);
            if (!is_path(one))
                fail_msg("%s: there is no field %s", s->name, one);
            path += length + (path[length] == ',');
        }
        const char *first = gl_arena_strndup(arena, s->paths, strcspn(s->paths, ","));
        if (strstr(gl_field_hint(gl_model_fields, s->name, NULL, text, sizeof text), first) == NULL)
            fail_msg("%s: says '%s', not %s", s->name, text, first);
    }
    gl_arena_destroy(arena);
}

static void test_values(void **state)
{
    (void)state;
    char text[SIZE];
    const gl_field *zero = gl_fields_find(gl_model_fields, "parallel.zero");
    const gl_field *schedule = gl_fields_find(gl_model_fields, "parallel.schedule");
    assert_string_equal(gl_value_hint(zero, "FSDP", text, sizeof text), "; did you mean '3'?");
    assert_string_equal(gl_value_hint(zero, "zero-1", text, sizeof text), "; did you mean '1'?");
    assert_string_equal(gl_value_hint(zero, "FULL_SHARD", text, sizeof text),
                        "; did you mean '3'?");
    assert_string_equal(gl_value_hint(gl_fields_find(gl_model_fields, "precision.compute"), "nf4",
                                      text, sizeof text),
                        "; adapters over frozen weights (LoRA, QLoRA) are not planned: all weights "
                        "are trained;");
    assert_string_equal(gl_value_hint(zero, "auto", text, sizeof text), ";");
    assert_string_equal(gl_value_hint(schedule, "1F1B", text, sizeof text),
                        "; did you mean '1f1b'?");
    /* What is suggested is taken. */
    for (const gl_synonym *s = gl_value_synonyms; s->name != NULL; s++) {
        char guess[SIZE];
        const gl_field *field = gl_fields_find(gl_model_fields, s->paths);
        assert_non_null(field);
        snprintf(guess, sizeof guess, "; did you mean '%s'?", s->value);
        assert_string_equal(gl_value_hint(field, s->name, text, sizeof text), guess);
        outcome o = load_model_with(ARCHITECTURE, s->paths, s->name);
        assert_true(o.diagnostics.count > 0); /* but only suggested */
        outcome_free(&o);
        o = load_model_with(ARCHITECTURE, s->paths, s->value);
        for (size_t i = 0; i < o.diagnostics.count; i++)
            assert_null(strstr(o.diagnostics.items[i].message, "allowed"));
        outcome_free(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_name_in_another_section),
        cmocka_unit_test(test_the_value_decides),
        cmocka_unit_test(test_the_other_description),
        cmocka_unit_test(test_what_frameworks_say),
        cmocka_unit_test(test_what_has_no_field),
        cmocka_unit_test(test_synonyms_are_of_use),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
