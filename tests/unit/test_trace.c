/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of bundled models, read back: what viewers need, and what the plan says. */
#include "planner/report/trace.h"

#include "planner/core/check.h"
#include "planner/core/simulation.h"
#include "tests/bundled.h"

#include <jansson.h>

enum { PROCESSES_MAX = 64, THREADS_MAX = GL_STREAM_COUNT + 1 };

/* Slices are rounded to 1/64 us. */
static const double TICK_US = 1.0 / 64;

static const gl_plan *plan_with(const char *model, const char *cluster_name,
                                const gl_setting *settings, size_t count, gl_arena *arena)
{
    gl_plan *plan = GL_ARENA_NEW(arena, gl_plan, 1);
    gl_cluster *cluster = GL_ARENA_NEW(arena, gl_cluster, 1);
    gl_workload *workload = GL_ARENA_NEW(arena, gl_workload, 1);
    const gl_plan_options options = {.headroom = 1.25, .stage = -1};
    load_bundled_model(model, settings, count, arena, workload);
    load_bundled_cluster(cluster_name, arena, cluster);
    build_plan(workload, cluster, &options, arena, plan);
    return plan;
}

static json_t *trace_of(const gl_plan *const *plans, size_t count, gl_arena *arena)
{
    gl_trace trace;
    gl_output *out = gl_output_memory();
    gl_error err;
    gl_trace_begin(&trace, out, count > 1);
    for (size_t i = 0; i < count; i++) {
        assert_true(gl_trace_check(plans[i], gl_trace_size(plans[i]), &err));
        gl_trace_add(&trace, plans[i], i == 0 ? "this" : "that", arena);
    }
    gl_trace_end(&trace);
    json_error_t problem;
    json_t *root = json_loads(gl_output_text(out), JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL)
        fail_msg("line %d: %s", problem.line, problem.text);
    gl_output_discard(out);
    return root;
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    assert_non_null(value);
    return value;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

typedef struct reading {
    double end_us[PROCESSES_MAX][THREADS_MAX], last_us, ts_us;
    const char *stage[PROCESSES_MAX], *thread[PROCESSES_MAX][THREADS_MAX];
    size_t slices, arrows_out, arrows_in;
    double arrow_sum; /* ids that left minus ids that came */
} reading;

static void read_metadata(const json_t *event, size_t pid, size_t tid, reading *r)
{
    const json_t *args = json_object_get(event, "args");
    const char *name = text(event, "name");
    if (strcmp(name, "process_name") == 0)
        r->stage[pid] = text(args, "name");
    if (strcmp(name, "thread_name") == 0)
        r->thread[pid][tid] = text(args, "name");
}

static void read_slice(const json_t *event, size_t pid, size_t tid, reading *r)
{
    double ts = number(event, "ts"), dur = number(event, "dur");
    assert_true(dur > 0 && json_is_object(json_object_get(event, "args")));
    /* Exact: the times are binary fractions. */
    assert_true(ts >= r->end_us[pid][tid]);
    assert_non_null(r->stage[pid]);
    assert_non_null(r->thread[pid][tid]);
    r->end_us[pid][tid] = ts + dur;
    r->last_us = fmax(r->last_us, ts + dur);
    r->slices++;
    if (strcmp(text(event, "cat"), "communication") == 0) {
        const json_t *args = json_object_get(event, "args");
        assert_true(number(args, "bytes") > 0 && number(args, "calls") > 0);
        text(args, "collective");
        text(args, "algorithm");
        text(args, "evidence");
    }
}

static void read_event(const json_t *event, reading *r)
{
    const char *type = text(event, "ph");
    size_t pid = (size_t)number(event, "pid"), tid = (size_t)number(event, "tid");
    assert_true(pid < PROCESSES_MAX && tid > 0 && tid < THREADS_MAX);
    assert_true(text(event, "name")[0] != '\0');
    if (strcmp(type, "M") == 0) {
        read_metadata(event, pid, tid, r);
        return;
    }
    double ts = number(event, "ts");
    assert_true(ts >= r->ts_us); /* sorted */
    r->ts_us = ts;
    if (strcmp(type, "X") == 0) {
        read_slice(event, pid, tid, r);
    } else {
        bool leaves = strcmp(type, "s") == 0;
        assert_true(leaves || strcmp(type, "f") == 0);
        r->arrows_out += leaves;
        r->arrows_in += !leaves;
        r->arrow_sum += (leaves ? 1 : -1) * number(event, "id");
    }
}

static reading read_trace(const json_t *root)
{
    reading r = {.slices = 0};
    const json_t *events = json_object_get(root, "traceEvents");
    assert_true(json_array_size(events) > 0);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        read_event(event, &r);
    }
    assert_int_equal(r.arrows_out, r.arrows_in);
    assert_true(r.arrow_sum == 0);
    return r;
}

static void check_plan(const gl_plan *plan, size_t arrows, gl_arena *arena)
{
    json_t *root = trace_of(&plan, 1, arena);
    reading r = read_trace(root);
    assert_true(fabs(r.last_us - plan->step.time_s * 1e6) <= TICK_US);
    assert_int_equal(r.arrows_out, arrows);
    assert_true((double)r.slices <= gl_trace_size(plan));
    for (int i = 0; i < plan->workload->parallel.pp; i++) {
        assert_string_equal(r.stage[i], gl_arena_printf(arena, "stage %d", i));
        assert_string_equal(r.thread[i][1], "compute");
    }
    json_decref(root);
}

static void data_parallel(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    check_plan(plan_with("llama-1.1b-ddp", "h200-nvlink", NULL, 0, arena), 0, arena);
    gl_arena_destroy(arena);
}

static void uneven_pipeline(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    const gl_plan *plan = plan_with("llama3-405b", "hgx-h100-16-ndr", NULL, 0, arena);
    size_t m = (size_t)gl_workload_microbatches(plan->workload);
    check_plan(plan, 2 * 15 * m, arena);
    gl_arena_destroy(arena);
}

static void chunks_and_every_kind_of_communication(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    const gl_setting settings[] = {{"parallel.schedule", "interleaved", "--set"},
                                   {"parallel.virtual_stages", "2", "--set"},
                                   {"parallel.zero", "3", "--set"},
                                   {"overlap.tp", "true", "--set"},
                                   {"batch.global", "48", "--set"}};
    const gl_plan *plan = plan_with("llama3-70b", "hgx-h100-16-ndr", settings, 5, arena);
    size_t m = (size_t)gl_workload_microbatches(plan->workload);
    size_t pp = (size_t)plan->workload->parallel.pp;
    check_plan(plan, 2 * (2 * pp - 1) * m, arena);
    json_t *root = trace_of(&plan, 1, arena);
    static const char *const names[] = {"compute", "data parallel", "tensor parallel", NULL,
                                        NULL,      "pipeline send"};
    reading r = read_trace(root);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i] != NULL)
            assert_string_equal(r.thread[0][i + 1], names[i]);
    assert_string_equal(r.thread[1][GL_STREAM_SEND_BACK + 1], "pipeline send back");
    json_decref(root);
    gl_arena_destroy(arena);
}

static void scenarios_side_by_side(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    const gl_setting slower[] = {{"batch.micro", "2", "--set"}};
    const gl_plan *plans[] = {plan_with("llama-1.1b-ddp", "h200-nvlink", NULL, 0, arena),
                              plan_with("llama-1.1b-ddp", "h200-nvlink", slower, 1, arena)};
    json_t *root = trace_of(plans, 2, arena);
    const json_t *events = json_object_get(root, "traceEvents");
    bool first = false, second = false;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (strcmp(text(event, "name"), "process_name") != 0)
            continue;
        const char *name = text(json_object_get(event, "args"), "name");
        first = first || strcmp(name, "stage 0, this") == 0;
        second = second || (strcmp(name, "stage 0, that") == 0 && number(event, "pid") == 1);
    }
    assert_true(first && second);
    json_decref(root);
    gl_arena_destroy(arena);
}

static void refusals(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_error err;
    gl_plan plan = *plan_with("llama-1.1b-ddp", "h200-nvlink", NULL, 0, arena);
    assert_false(gl_trace_check(&plan, 6e6, &err));
    assert_non_null(strstr(err.message, "6e+06 entries"));
    plan.step.time_s = 1e12; /* ticks would leave 64 bits */
    assert_false(gl_trace_check(&plan, 10, &err));
    assert_non_null(strstr(err.message, "1e+12 seconds"));
    plan.compute.known = false;
    assert_false(gl_trace_check(&plan, 10, &err));
    assert_non_null(strstr(err.message, "compute time is not known"));
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_parallel),
        cmocka_unit_test(uneven_pipeline),
        cmocka_unit_test(chunks_and_every_kind_of_communication),
        cmocka_unit_test(scenarios_side_by_side),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
