/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library as other programs see it, in a locale with a decimal comma. */
#include "tests/support.h"

#include "lib/gpulink.h"
#include "planner/cli/commands.h"

#include <jansson.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MODELS      TEST_SOURCE_DIR "/../models/"
#define DDP         MODELS "llama-1.1b-ddp.yaml"
#define PIPELINE    MODELS "llama3-405b.yaml"
#define H100        "hgx-h100-16-ndr"
#define MEASURED    "h200-nvlink"
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static gpulink_model *open_model(const char *path, const char *const *settings)
{
    gpulink_error error;
    gpulink_model *model = gpulink_model_open(path, settings, &error);
    if (model == NULL)
        print_error("%s: %s: %s\n", error.file, error.path, error.message);
    assert_non_null(model);
    return model;
}

static gpulink_cluster *open_cluster(const char *name, const char *const *settings)
{
    gpulink_error error;
    gpulink_cluster *cluster = gpulink_cluster_open(name, settings, &error);
    if (cluster == NULL)
        print_error("%s: %s: %s\n", error.file, error.path, error.message);
    assert_non_null(cluster);
    return cluster;
}

static gpulink_plan *make_plan(const char *path, const char *const *settings, const char *name)
{
    gpulink_error error;
    gpulink_model *model = open_model(path, settings);
    gpulink_cluster *cluster = open_cluster(name, NULL);
    gpulink_plan *plan = gpulink_plan_create(model, cluster, NULL, &error);
    if (plan == NULL)
        print_error("%s: %s\n", error.path, error.message);
    assert_non_null(plan);
    gpulink_model_close(model); /* the plan keeps them */
    gpulink_cluster_close(cluster);
    return plan;
}

static json_t *parse(gpulink_plan *plan)
{
    gpulink_error error;
    json_error_t where;
    json_t *root = json_loads(gpulink_plan_json(plan, &error), 0, &where);
    assert_non_null(root);
    return root;
}

static const json_t *scenario_of(const json_t *root)
{
    return json_array_get(json_object_get(root, "scenarios"), 0);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* ---- the host ---- */

static void test_host_has_decimal_comma(void **state)
{
    (void)state;
    assert_string_equal(localeconv()->decimal_point, ",");
    assert_true(strtod("1.5", NULL) == 1.0);
}

static void test_locale_is_left_as_it_was(void **state)
{
    (void)state;
    gpulink_error error;
    locale_t own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = uselocale(own);
    gpulink_plan_close(make_plan(DDP, NULL, MEASURED));
    assert_null(gpulink_model_open("absent.yaml", NULL, &error));
    assert_ptr_equal(uselocale(before), own);
    freelocale(own);
    assert_string_equal(localeconv()->decimal_point, ",");
}

/* ---- plans ---- */

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    char *text = calloc((size_t)length + 1, 1);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)length, file), length);
    fclose(file);
    return text;
}

static void test_json_is_the_programs(void **state)
{
    (void)state;
    static const struct {
        const char *model, *cluster;
    } cases[] = {{DDP, MEASURED}, {PIPELINE, H100}};
    gpulink_error error;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char output[] = TEST_BINARY_DIR "/library-XXXXXX", plan_verb[] = "plan";
        close(mkstemp(output));
        char *argv[] = {plan_verb,
                        (char *)(uintptr_t)cases[i].model,
                        (char *)(uintptr_t) "--cluster",
                        (char *)(uintptr_t)cases[i].cluster,
                        (char *)(uintptr_t) "--format",
                        (char *)(uintptr_t) "json",
                        (char *)(uintptr_t) "--quiet",
                        (char *)(uintptr_t) "--output",
                        output};
        locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
        gl_arena *arena = gl_arena_create();
        assert_int_equal(gl_cmd_plan.run(COUNT_OF(argv), argv, arena), 0);
        gl_arena_destroy(arena);
        uselocale(before);
        freelocale(plain);
        char *expected = read_whole(output);
        gpulink_plan *plan = make_plan(cases[i].model, NULL, cases[i].cluster);
        assert_string_equal(gpulink_plan_json(plan, &error), expected);
        gpulink_plan_close(plan);
        free(expected);
        unlink(output);
    }
}

static void test_step_is_that_of_the_json(void **state)
{
    (void)state;
    gpulink_step step;
    gpulink_plan *plan = make_plan(DDP, NULL, MEASURED);
    json_t *root = parse(plan);
    const json_t *expected = json_object_get(scenario_of(root), "step");
    gpulink_plan_step(plan, &step, sizeof step);
    assert_close(step.time_s, number(expected, "time_s"), 1e-15);
    assert_close(step.time_p10_s, number(expected, "time_p10_s"), 1e-15);
    assert_close(step.time_p90_s, number(expected, "time_p90_s"), 1e-15);
    assert_true(step.time_p10_s < step.time_p50_s && step.time_p50_s < step.time_p90_s);
    assert_close(step.mfu_frac, number(expected, "mfu"), 1e-15);
    assert_close(step.tokens_per_s, number(expected, "tokens_per_s"), 1e-15);
    assert_close(step.exposed_communication_s, number(expected, "exposed_communication_s"), 1e-15);
    assert_string_equal(gpulink_evidence_name(step.evidence),
                        json_string_value(json_object_get(expected, "evidence")));
    json_decref(root);
    gpulink_plan_close(plan);
}

static void test_traffic_is_the_sum_of_the_rows(void **state)
{
    (void)state;
    static const char *const names[] = {"dp", "tp", "pp", "cp", "ep", "embedding", "optimizer"};
    gpulink_plan *plan = make_plan(PIPELINE, NULL, H100);
    gpulink_traffic traffic;
    json_t *root = parse(plan), *row;
    size_t k;
    double all_bytes = 0;
    for (int32_t i = 0; i < GPULINK_DIMENSIONS; i++) {
        double bytes = 0, time_s = 0, exposed_s = 0;
        json_array_foreach(json_object_get(scenario_of(root), "traffic"), k, row)
        {
            if (strcmp(json_string_value(json_object_get(row, "dimension")), names[i]) != 0)
                continue;
            bytes += number(row, "payload_bytes_per_step");
            time_s += number(row, "time_s");
            exposed_s += number(row, "exposed_s");
        }
        assert_true(gpulink_plan_traffic(plan, i, &traffic, sizeof traffic));
        assert_close(traffic.payload_bytes, bytes, 1e-12);
        assert_close(traffic.time_s, time_s, 1e-12);
        assert_close(traffic.exposed_s, exposed_s, 1e-12);
        assert_int_equal(traffic.calls > 0, bytes > 0);
        all_bytes += bytes;
    }
    assert_true(all_bytes > 0);
    assert_false(gpulink_plan_traffic(plan, GPULINK_DIMENSIONS, &traffic, sizeof traffic));
    assert_false(gpulink_plan_traffic(plan, -1, &traffic, sizeof traffic));
    json_decref(root);
    gpulink_plan_close(plan);
}

static void test_memory_of_each_stage(void **state)
{
    (void)state;
    gpulink_plan *plan = make_plan(PIPELINE, NULL, H100);
    gpulink_memory memory;
    double most = 0;
    json_t *root = parse(plan);
    const json_t *expected = json_object_get(scenario_of(root), "memory");
    int32_t stages = gpulink_plan_stages(plan);
    assert_true(stages > 1);
    for (int32_t i = 0; i < stages; i++) {
        assert_true(gpulink_plan_memory(plan, i, &memory, sizeof memory));
        double parts = memory.parameters_bytes + memory.gradients_bytes + memory.optimizer_bytes +
                       memory.activations_bytes + memory.logits_bytes + memory.buffers_bytes +
                       memory.reserve_bytes - memory.not_together_bytes;
        assert_close(memory.total_bytes, parts, 1e-12);
        most = fmax(most, memory.total_bytes);
    }
    assert_close(most, number(expected, "per_gpu_bytes"), 1e-12);
    assert_close(memory.capacity_bytes, number(expected, "capacity_bytes"), 1e-15);
    assert_false(gpulink_plan_memory(plan, stages, &memory, sizeof memory));
    assert_false(gpulink_plan_memory(plan, -1, &memory, sizeof memory));
    json_decref(root);
    gpulink_plan_close(plan);
}

static void test_tiers(void **state)
{
    (void)state;
    static const char *const verdicts[] = {"not used", "enough", "tight", "short", "unknown"};
    gpulink_plan *plan = make_plan(PIPELINE, NULL, H100);
    gpulink_tier tier;
    json_t *root = parse(plan), *row;
    size_t i;
    json_array_foreach(json_object_get(scenario_of(root), "required_bandwidth"), i, row)
    {
        assert_true(gpulink_plan_tier(plan, (int32_t)i, &tier, sizeof tier));
        assert_close(tier.required_bytes_per_s, number(row, "required_bytes_per_s"), 1e-15);
        assert_close(tier.available_bytes_per_s, number(row, "available_bytes_per_s"), 1e-15);
        assert_string_equal(verdicts[tier.verdict],
                            json_string_value(json_object_get(row, "verdict")));
    }
    assert_int_equal(i, GPULINK_TIERS);
    assert_false(gpulink_plan_tier(plan, GPULINK_TIERS, &tier, sizeof tier));
    json_decref(root);
    gpulink_plan_close(plan);
}

static void test_warnings_are_those_of_the_json(void **state)
{
    (void)state;
    gpulink_plan *plan = make_plan(PIPELINE, NULL, H100);
    json_t *root = parse(plan), *text;
    size_t i;
    json_array_foreach(json_object_get(scenario_of(root), "warnings"), i, text)
        assert_string_equal(gpulink_plan_warning(plan, i), json_string_value(text));
    assert_true(i > 0);
    assert_null(gpulink_plan_warning(plan, i));
    json_decref(root);
    gpulink_plan_close(plan);
}

/* ---- descriptions and errors ---- */

static void test_model_from_text(void **state)
{
    (void)state;
    static const char text[] = "model: {name: Tiny, parameters: 1.5e9}\nparallel: {dp: 2}\n";
    gpulink_error error;
    gpulink_layout layout;
    const char *const settings[] = {"batch.micro=3", NULL};
    gpulink_model *model =
        gpulink_model_parse("tiny.yaml", text, sizeof text - 1, settings, &error);
    assert_non_null(model);
    assert_string_equal(gpulink_model_name(model), "Tiny");
    gpulink_model_layout(model, &layout, sizeof layout);
    assert_int_equal(layout.dp, 2);
    assert_int_equal(layout.micro_batch, 3);
    assert_int_equal(layout.global_batch, 6);
    assert_int_equal(layout.schedule, GPULINK_1F1B);
    gpulink_model_close(model);
}

static void test_errors_say_where(void **state)
{
    (void)state;
    static const char text[] = "model:\n  name: Tiny\n  parameters: 1,5e9\n  layer: 2\n";
    gpulink_error error;
    assert_null(gpulink_model_parse("tiny.yaml", text, sizeof text - 1, NULL, &error));
    assert_int_equal(error.status, GPULINK_ERROR_INPUT);
    assert_string_equal(error.file, "tiny.yaml");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 15);
    assert_string_equal(error.path, "model.parameters");
    assert_int_equal(error.problems, 2);
    assert_null(gpulink_model_parse("tiny.yaml", text, sizeof text - 1, NULL, NULL));
    static const char configuration[] = "{model_type: llama, hidden_size: 4096}";
    assert_null(
        gpulink_model_parse("config.json", configuration, sizeof configuration - 1, NULL, &error));
    assert_string_equal(error.file, "config.json");
    assert_non_null(strstr(error.message, "is a Hugging Face configuration: give its file"));
}

/* What is refused, with which status and a part of which message. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *model, *cluster, *setting;
        int32_t status;
        const char *message;
    } cases[] = {
        {"absent.yaml", NULL, NULL, GPULINK_ERROR_INPUT, "no such file"},
        {"-", NULL, NULL, GPULINK_ERROR_ARGUMENT, "standard input"},
        {NULL, NULL, NULL, GPULINK_ERROR_ARGUMENT, "the path is NULL"},
        {DDP, NULL, "parallel.tp", GPULINK_ERROR_ARGUMENT, "not of the form key=value"},
        {DDP, NULL, "cluster.nodes=2", GPULINK_ERROR_ARGUMENT, "gpulink_cluster_open"},
        {DDP, NULL, "parallel.tq=2", GPULINK_ERROR_ARGUMENT, "unknown field"},
        {DDP, NULL, "parallel.tp=1000000", GPULINK_ERROR_ARGUMENT, "out of range"},
        {NULL, "absent", NULL, GPULINK_ERROR_INPUT, "no such cluster"},
        {NULL, "-", NULL, GPULINK_ERROR_ARGUMENT, "standard input"},
        {NULL, H100, "parallel.tp=2", GPULINK_ERROR_ARGUMENT, "gpulink_model_open"},
        {NULL, MEASURED, "cluster.nodes=2", GPULINK_ERROR_ARGUMENT, "needs a cluster description"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gpulink_error error = {.status = GPULINK_OK};
        const char *const settings[] = {cases[i].setting, NULL};
        if (cases[i].cluster == NULL)
            assert_null(gpulink_model_open(cases[i].model, settings, &error));
        else
            assert_null(gpulink_cluster_open(cases[i].cluster, settings, &error));
        if (error.status != cases[i].status || strstr(error.message, cases[i].message) == NULL)
            fail_msg("case %zu: status %d: %s", i, error.status, error.message);
    }
}

static void test_plan_that_can_not_be(void **state)
{
    (void)state;
    static const char *const settings[] = {"parallel.dp=64", "batch.global=512", NULL};
    gpulink_error error;
    gpulink_model *model = open_model(DDP, settings);
    gpulink_cluster *cluster = open_cluster(MEASURED, NULL);
    assert_int_equal(gpulink_cluster_gpus(cluster), 2);
    assert_null(gpulink_plan_create(model, cluster, NULL, &error));
    assert_int_equal(error.status, GPULINK_ERROR_INPUT);
    assert_string_equal(error.path, "parallel");
    const gpulink_options insist = {.size = sizeof insist, .allow_extrapolation = 1};
    gpulink_plan *plan = gpulink_plan_create(model, cluster, &insist, &error);
    assert_non_null(plan);
    assert_int_equal(gpulink_cluster_gpus(cluster), 2); /* the handle's never changes */
    gpulink_plan_close(plan);
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
}

/* ---- structures of other versions ---- */

static void test_sizes(void **state)
{
    (void)state;
    gpulink_error error;
    gpulink_model *model = open_model(DDP, NULL);
    gpulink_cluster *cluster = open_cluster(MEASURED, NULL);
    struct {
        gpulink_options known;
        int64_t newer;
    } options = {.known = {.size = sizeof options}};
    gpulink_plan *plan = gpulink_plan_create(model, cluster, &options.known, &error);
    assert_non_null(plan);
    double times[3] = {0, 0, 7};
    gpulink_step step;
    gpulink_plan_step(plan, &step, sizeof step);
    gpulink_plan_step(plan, (gpulink_step *)(void *)times, 2 * sizeof *times);
    assert_true(times[0] == step.time_s && times[1] == step.time_p10_s && times[2] == 7);
    gpulink_plan_close(plan);
    options.newer = 1;
    assert_null(gpulink_plan_create(model, cluster, &options.known, &error));
    assert_int_equal(error.status, GPULINK_ERROR_ARGUMENT);
    options.known.size = 0;
    assert_null(gpulink_plan_create(model, cluster, &options.known, &error));
    options.known = (gpulink_options){.size = sizeof options.known, .headroom = 0.5};
    assert_null(gpulink_plan_create(model, cluster, &options.known, &error));
    assert_string_equal(error.message,
                        "options.headroom is 0.5; allowed: 1 to 100, 0 for the default");
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
}

/* ---- layouts ---- */

/* Equal stages: the closed form of an evaluation is what a plan simulates. */
static void test_evaluation_is_the_plan(void **state)
{
    (void)state;
    static const char *const settings[] = {"parallel.dp=8", "parallel.tp=4",    "parallel.pp=1",
                                           "batch.micro=2", "parallel.zero=3",  "batch.global=512",
                                           "parallel.cp=1", "parallel.shard=0", NULL};
    gpulink_error error;
    gpulink_model *model = open_model(MODELS "llama3-8b.yaml", NULL);
    gpulink_cluster *cluster = open_cluster(H100, NULL);
    gpulink_evaluator *evaluator = gpulink_evaluator_create(model, cluster, NULL, &error);
    gpulink_layout layouts[2];
    gpulink_evaluation evaluations[2];
    gpulink_model_layout(model, &layouts[0], sizeof layouts[0]);
    layouts[0].dp = 8;
    layouts[0].tp = 4;
    layouts[0].pp = layouts[0].cp = 1;
    layouts[0].micro_batch = 2;
    layouts[0].global_batch = 512;
    layouts[0].zero = 3;
    layouts[0].shard = 0;
    layouts[1] = layouts[0];
    layouts[1].dp = 1024;
    assert_int_equal(gpulink_evaluate(evaluator, layouts, sizeof *layouts, 2, evaluations,
                                      sizeof *evaluations, &error),
                     1);
    assert_int_equal(evaluations[1].status, GPULINK_ILLEGAL);
    assert_true(isnan(evaluations[1].time_s));
    assert_string_equal(error.path, "batch.global");
    gpulink_plan *plan = make_plan(MODELS "llama3-8b.yaml", settings, H100);
    gpulink_step step;
    gpulink_memory memory;
    gpulink_plan_step(plan, &step, sizeof step);
    gpulink_plan_memory(plan, 0, &memory, sizeof memory);
    assert_close(evaluations[0].time_s, step.time_s, 1e-9);
    assert_close(evaluations[0].tokens_per_s, step.tokens_per_s, 1e-9);
    assert_close(evaluations[0].exposed_communication_s, step.exposed_communication_s, 1e-9);
    assert_close(evaluations[0].memory_bytes, memory.total_bytes, 1e-12);
    assert_int_equal(evaluations[0].fits, memory.fits);
    gpulink_plan_close(plan);
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
    gpulink_evaluator_close(evaluator);
}

/* Every field of a layout is held to its limits, as in a description. */
static void test_layout_limits(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        int32_t value;
        const char *path;
    } cases[] = {
        {offsetof(gpulink_layout, dp), 0, "parallel.dp"},
        {offsetof(gpulink_layout, tp), -1, "parallel.tp"},
        {offsetof(gpulink_layout, pp), INT32_MAX, "parallel.pp"},
        {offsetof(gpulink_layout, cp), 0, "parallel.cp"},
        {offsetof(gpulink_layout, ep), 0, "parallel.ep"},
        {offsetof(gpulink_layout, micro_batch), 0, "batch.micro"},
        {offsetof(gpulink_layout, global_batch), 0, "batch.global"},
        {offsetof(gpulink_layout, zero), 4, "parallel.zero"},
        {offsetof(gpulink_layout, shard), -1, "parallel.shard"},
        {offsetof(gpulink_layout, schedule), 3, "parallel.schedule"},
        {offsetof(gpulink_layout, virtual_stages), 0, "parallel.virtual_stages"},
        {offsetof(gpulink_layout, recompute), 3, "parallel.recompute"},
        {offsetof(gpulink_layout, cp_method), -1, "parallel.cp_method"},
        {offsetof(gpulink_layout, sequence_parallel), 2, "parallel.sequence_parallel"},
        {offsetof(gpulink_layout, accumulate), 2, "parallel.accumulate"},
    };
    gpulink_error error;
    gpulink_model *model = open_model(MODELS "llama3-8b.yaml", NULL);
    gpulink_cluster *cluster = open_cluster(H100, NULL);
    gpulink_evaluator *evaluator = gpulink_evaluator_create(model, cluster, NULL, &error);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gpulink_layout layout;
        gpulink_evaluation evaluation;
        gpulink_model_layout(model, &layout, sizeof layout);
        if (strcmp(cases[i].path, "batch.global") == 0)
            layout.global_batch = cases[i].value;
        else
            memcpy((unsigned char *)&layout + cases[i].offset, &cases[i].value, sizeof(int32_t));
        assert_int_equal(gpulink_evaluate(evaluator, &layout, sizeof layout, 1, &evaluation,
                                          sizeof evaluation, &error),
                         0);
        assert_int_equal(evaluation.status, GPULINK_ILLEGAL);
        assert_string_equal(error.path, cases[i].path);
        assert_non_null(strstr(error.message, "out of range; allowed: "));
    }
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
    gpulink_evaluator_close(evaluator);
}

static void test_search(void **state)
{
    (void)state;
    enum { ROOM = 5 };
    gpulink_error error;
    gpulink_layout layouts[ROOM];
    gpulink_evaluation found[ROOM], again[ROOM];
    size_t count = 0;
    const gpulink_options options = {.size = sizeof options, .gpus = 16};
    gpulink_model *model = open_model(MODELS "llama3-8b.yaml", NULL);
    gpulink_cluster *cluster = open_cluster(H100, NULL);
    assert_true(gpulink_search(model, cluster, &options, layouts, sizeof *layouts, found,
                               sizeof *found, ROOM, &count, &error));
    assert_int_equal(count, ROOM);
    gpulink_evaluator *evaluator = gpulink_evaluator_create(model, cluster, NULL, &error);
    assert_int_equal(
        gpulink_evaluate(evaluator, layouts, sizeof *layouts, count, again, sizeof *again, &error),
        count);
    for (size_t i = 0; i < count; i++) {
        const gpulink_layout *l = &layouts[i];
        assert_int_equal((int64_t)l->dp * l->tp * l->pp * l->cp, 16);
        assert_int_equal(found[i].fits, 1);
        assert_true(i == 0 || found[i].time_s >= found[i - 1].time_s);
        assert_memory_equal(&found[i], &again[i], sizeof *found);
    }
    assert_false(gpulink_search(model, cluster, &options, layouts, sizeof *layouts, found,
                                sizeof *found, 0, &count, &error));
    assert_int_equal(error.status, GPULINK_ERROR_ARGUMENT);
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
    gpulink_evaluator_close(evaluator);
}

/* ---- memory ---- */

/* Sanitizers reserve address space of their own, and know no limit to it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_LIMIT false
#elif defined(__has_feature)
#define HAS_LIMIT !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define HAS_LIMIT true
#endif

static void test_memory_that_is_not_there(void **state)
{
    (void)state;
    if (!HAS_LIMIT)
        skip();
    gpulink_error error = {.status = GPULINK_OK};
    gpulink_layout layout;
    gpulink_evaluation evaluation;
    gpulink_model *model = open_model(DDP, NULL);
    gpulink_cluster *cluster = open_cluster(MEASURED, NULL);
    gpulink_plan *plan = make_plan(DDP, NULL, MEASURED);
    gpulink_evaluator *evaluator = gpulink_evaluator_create(model, cluster, NULL, &error);
    gpulink_model_layout(model, &layout, sizeof layout);
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    low = before;
    low.rlim_cur = 1; /* no more than what is mapped already */
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    gpulink_model *no_model = gpulink_model_open(DDP, NULL, &error);
    gpulink_cluster *no_cluster = gpulink_cluster_open(MEASURED, NULL, NULL);
    gpulink_plan *no_plan = gpulink_plan_create(model, cluster, NULL, NULL);
    gpulink_evaluator *no_evaluator = gpulink_evaluator_create(model, cluster, NULL, NULL);
    const char *no_text = gpulink_plan_json(plan, NULL);
    size_t evaluated = gpulink_evaluate(evaluator, &layout, sizeof layout, 1, &evaluation,
                                        sizeof evaluation, NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_null(no_model);
    assert_int_equal(error.status, GPULINK_ERROR_SYSTEM);
    assert_string_equal(error.message, "not enough memory: 64 MiB are needed");
    assert_true(no_cluster == NULL && no_plan == NULL && no_evaluator == NULL && no_text == NULL);
    assert_int_equal(evaluated, 0);
    assert_non_null(gpulink_plan_json(plan, NULL));
    gpulink_plan_close(plan);
    gpulink_evaluator_close(evaluator);
    gpulink_model_close(model);
    gpulink_cluster_close(cluster);
}

static void test_null(void **state)
{
    (void)state;
    gpulink_error error;
    gpulink_model *model = open_model(DDP, NULL);
    size_t found;
    assert_null(gpulink_plan_create(NULL, NULL, NULL, &error));
    assert_int_equal(error.status, GPULINK_ERROR_ARGUMENT);
    assert_string_equal(error.message, "the model is NULL");
    assert_null(gpulink_evaluator_create(model, NULL, NULL, &error));
    assert_string_equal(error.message, "the cluster is NULL");
    assert_false(gpulink_search(model, NULL, NULL, NULL, 1, NULL, 1, 1, &found, &error));
    gpulink_model_close(model);
    gpulink_model_close(NULL);
    gpulink_cluster_close(NULL);
    gpulink_plan_close(NULL);
    gpulink_evaluator_close(NULL);
    assert_null(gpulink_evidence_name(-1));
    assert_null(gpulink_evidence_name(GPULINK_EVIDENCE_CATALOGUE + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_has_decimal_comma),
        cmocka_unit_test(test_locale_is_left_as_it_was),
        cmocka_unit_test(test_json_is_the_programs),
        cmocka_unit_test(test_step_is_that_of_the_json),
        cmocka_unit_test(test_traffic_is_the_sum_of_the_rows),
        cmocka_unit_test(test_memory_of_each_stage),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_warnings_are_those_of_the_json),
        cmocka_unit_test(test_model_from_text),
        cmocka_unit_test(test_errors_say_where),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_plan_that_can_not_be),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_evaluation_is_the_plan),
        cmocka_unit_test(test_layout_limits),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_memory_that_is_not_there),
        cmocka_unit_test(test_null),
    };
    if (setlocale(LC_ALL, "") == NULL)
        print_error("the locale of the environment is not there (package locales)\n");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
