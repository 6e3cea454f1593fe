/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole session against a backend that is a formula, on a clock that only it moves. */
#include "tests/support.h"

#include "calibrate/measure/nccl/layout.h"
#include "calibrate/measure/recorder.h"
#include "calibrate/measure/session.h"
#include "calibrate/measure/write_lock.h"

#include <stdlib.h>
#include <unistd.h>

static gl_arena *arena;
/* In memory where there is such a place: every point is a commit, and a disk takes its time. */
static char folder[] = "/dev/shm/gpulink-test-session-XXXXXX";
static char path[64];

/* ---- the backend ---- */

enum { CALLS_MAX = 4096 };

static struct {
    double clock_s;
    int measured, verified, joined;      /* calls so far */
    int fail_measure_at, stop_at;        /* at which call of measure; 0 = never */
    double wrong_above, memory, jump_at; /* 0 = never */
    double verify_s, page_s,
        ready_bytes; /* what else takes time; bytes that prepare was asked for */
    const gl_grouping *grouping;
    double sizes[CALLS_MAX];
    double largest_joined;
} fake;

static const int nodes[] = {0, 0, 0, 0};
static const gl_dtype types[] = {GL_FP32, GL_INT8, GL_DTYPE_NONE};
static const char *const backend_warnings[] = {"the cable is loose", NULL};

static double fake_clock(void)
{
    return fake.clock_s;
}

static bool fake_stopped(void)
{
    return fake.stop_at > 0 && fake.measured >= fake.stop_at;
}

static void fake_describe(gl_backend *b, gl_arena *a, gl_run *run)
{
    (void)b, (void)a;
    run->backend = "fake";
    run->host = "node17";
    run->parameters = "a formula";
}

static void fake_texts(gl_backend *b, gl_arena *a, const gl_machine_text **texts, size_t *count)
{
    static const gl_machine_text text = {"fake topo", "all in one"};
    (void)b, (void)a;
    *texts = &text;
    *count = 1;
}

static double fake_max(gl_backend *b, gl_dtype dtype)
{
    (void)b, (void)dtype;
    return fake.memory > 0 ? fake.memory : 1e12;
}

static bool fake_join(gl_backend *b, const gl_grouping *g, gl_collective c, gl_dtype d, double max,
                      gl_error *err)
{
    (void)b, (void)c, (void)d, (void)err;
    assert_null(fake.grouping);
    fake.grouping = g;
    fake.joined++;
    fake.largest_joined = max;
    return true;
}

static void fake_leave(gl_backend *b)
{
    (void)b;
    fake.grouping = NULL;
}

static bool fake_prepare(gl_backend *b, double size, gl_error *err)
{
    (void)b, (void)err;
    assert_non_null(fake.grouping);
    assert_true(size <= fake.largest_joined);
    fake.clock_s += fmax(size - fake.ready_bytes, 0) * fake.page_s;
    fake.ready_bytes = fmax(size, fake.ready_bytes);
    return true;
}

static double time_of(double size, bool in_place)
{
    double t = (in_place ? 0.9 : 1) * (1e-5 * fake.grouping->placement.ranks + size / 1e9);
    return fake.jump_at > 0 && size >= fake.jump_at ? 1.5 * t : t;
}

static bool fake_measure(gl_backend *b, double size, bool in_place, int warmup, int n,
                         double *times, gl_error *err)
{
    (void)b;
    assert_non_null(fake.grouping);
    assert_true(size <= fake.ready_bytes);
    if (++fake.measured == fake.fail_measure_at)
        return gl_fail(err, GL_ERROR_DEVICE, "the cable fell out");
    assert_true(fake.measured < CALLS_MAX);
    fake.sizes[fake.measured] = size;
    for (int i = 0; i < n; i++)
        times[i] = time_of(size, in_place) * (1 + 0.004 * (i * 5 % 7 - 3));
    fake.clock_s += (warmup + n) * time_of(size, in_place);
    return true;
}

static bool fake_verify(gl_backend *b, double size, bool in_place, double *wrong, gl_error *err)
{
    (void)b, (void)err;
    fake.verified++;
    fake.clock_s += time_of(size, in_place) + fmax(fake.verify_s, 1e-4);
    *wrong = fake.wrong_above > 0 && size > fake.wrong_above ? 3 : 0;
    return true;
}

static void fake_observe(gl_backend *b, double size, gl_arena *a, gl_curve *curve)
{
    (void)b, (void)a;
    curve->transport = GL_TRANSPORT_HOST;
    curve->algorithm = "ring";
    curve->protocol = size < 1000 ? "ll" : "simple";
}

static double fake_agree(gl_backend *b, double value)
{
    (void)b;
    return value;
}

static const gl_backend_vtable fake_vtable = {.name = "fake",
                                              .describe = fake_describe,
                                              .texts = fake_texts,
                                              .max_size_bytes = fake_max,
                                              .join = fake_join,
                                              .leave = fake_leave,
                                              .prepare = fake_prepare,
                                              .measure = fake_measure,
                                              .verify = fake_verify,
                                              .observe = fake_observe,
                                              .agree = fake_agree};

static gl_backend backend = {.vtable = &fake_vtable,
                             .ranks = 4,
                             .node_of_rank = nodes,
                             .leader = true,
                             .dtypes = types,
                             .warnings = backend_warnings};

/* ---- help ---- */

static int set_up(void **state)
{
    (void)state;
    arena = gl_arena_create();
    snprintf(path, sizeof path, "%s/x.db", folder);
    memset(&fake, 0, sizeof fake);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gl_arena_destroy(arena);
    unlink(path);
    return 0;
}

static gl_session_options usual(void)
{
    static const gl_collective both[] = {GL_ALL_REDUCE, GL_SENDRECV};
    return (gl_session_options){.db = path,
                                .label = "a lab",
                                .started_at = "2026-11-30T00:00:00Z",
                                .environment = "",
                                .collectives = both,
                                .collective_count = 2,
                                .min_bytes = 8,
                                .max_bytes = 1 << 20,
                                .budget_s = 10,
                                .precision = 0.02,
                                .clock_s = fake_clock,
                                .stopped = fake_stopped};
}

static bool run(const gl_session_options *o, gl_session_result *r, gl_error *err)
{
    return gl_session_run(&backend, o, arena, r, err);
}

static void run_well(const gl_session_options *o, gl_session_result *r)
{
    gl_error err = {0};
    if (!run(o, r, &err))
        fail_msg("%s", err.message);
}

static gl_catalog read_file(void)
{
    gl_store *store;
    gl_catalog catalog;
    gl_error err;
    if (!gl_store_open(path, &store, &err) || !gl_store_read_catalog(store, arena, &catalog, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < catalog.curve_count; i++)
        assert_true(gl_store_read_samples(store, arena, &catalog.curves[i], &err));
    gl_store_close(store);
    return catalog;
}

/* ---- tests ---- */

static void test_whole_session(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    run_well(&o, &r);
    gl_catalog c = read_file();
    assert_int_equal(c.run_count, 1);
    assert_int_equal(c.runs[0].state, GL_RUN_COMPLETE);
    assert_string_equal(c.runs[0].label, "a lab");
    assert_string_equal(c.runs[0].host, "");
    assert_string_equal(c.runs[0].backend, "fake");
    assert_string_equal(c.runs[0].warnings, "the cable is loose");
    assert_non_null(strstr(c.runs[0].parameters, "a formula, 4 ranks on 1 nodes, fp32, min 8"));
    assert_int_equal(c.curve_count, 6); /* 2 and 4 ranks: all_reduce twice, sendrecv once */
    for (size_t i = 0; i < c.curve_count; i++) {
        const gl_curve *curve = &c.curves[i];
        assert_true(curve->sample_count >= 18);
        assert_string_equal(curve->protocol, "mixed");
        assert_string_equal(curve->algorithm, "ring");
        assert_string_equal(curve->redop, curve->collective == GL_ALL_REDUCE ? "sum" : "");
        fake.grouping = &(gl_grouping){.placement = curve->placement};
        for (size_t k = 0; k < curve->sample_count; k++) {
            const gl_sample *s = &curve->samples[k];
            assert_close(s->time_median_s, time_of(s->size_bytes, curve->in_place), 0.01);
            assert_true(s->time_min_s <= s->time_p05_s && s->time_p05_s <= s->time_median_s &&
                        s->time_median_s <= s->time_p95_s);
            assert_true(s->iterations >= 3);
            assert_close(s->wrong, 0, 0);
        }
    }
    assert_int_equal(fake.verified, r.points);
    assert_int_equal(r.points, r.new_points);
    assert_int_equal(r.curves, 6);
    assert_int_equal(r.short_curves, 0);
    assert_false(r.resumed || r.stopped);
    assert_true(r.wall_s < 10);
    assert_true(r.measuring_s > 0.8 * r.wall_s);
}

static void test_again_is_a_new_run(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    run_well(&o, &r);
    run_well(&o, &r);
    assert_false(r.resumed);
    assert_int_equal(read_file().run_count, 2);
}

static void test_keep_host(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    o.keep_host = true;
    run_well(&o, &r);
    assert_string_equal(read_file().runs[0].host, "node17");
}

/* Stopped at any moment, the session goes on and measures nothing twice. */
static void test_stop_and_go_on(void **state)
{
    gl_session_options o = usual();
    (void)state;
    for (int stop_at = 1; stop_at < 120; stop_at += 7) {
        gl_session_result first, second;
        memset(&fake, 0, sizeof fake);
        fake.stop_at = stop_at;
        run_well(&o, &first);
        assert_true(first.stopped);
        gl_catalog half = read_file();
        assert_int_equal(half.runs[0].state, GL_RUN_INTERRUPTED);
        fake.stop_at = 0;
        fake.verified = 0;
        run_well(&o, &second);
        assert_true(second.resumed);
        assert_int_equal(second.run_id, first.run_id);
        assert_int_equal(second.points, first.points + second.new_points);
        assert_int_equal(fake.verified, second.new_points);
        gl_catalog whole = read_file();
        assert_int_equal(whole.run_count, 1);
        assert_int_equal(whole.runs[0].state, GL_RUN_COMPLETE);
        assert_int_equal(whole.curve_count, 6);
        unlink(path);
    }
}

/* A process that is killed leaves a run that says "running". */
static void test_killed(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    gl_recorder recorder;
    gl_error err;
    (void)state;
    fake.stop_at = 20;
    run_well(&o, &r);
    gl_run run = read_file().runs[0];
    assert_true(gl_recorder_open(&recorder, path, &run, NULL, 0, arena, &err));
    assert_true(recorder.resumed);
    gl_recorder_close(&recorder); /* without a last word */
    assert_int_equal(read_file().runs[0].state, GL_RUN_RUNNING);
    fake.stop_at = 0;
    run_well(&o, &r);
    assert_true(r.resumed);
    assert_int_equal(read_file().run_count, 1);
}

static void test_other_commands_do_not_go_on(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    fake.stop_at = 20;
    run_well(&o, &r);
    fake.stop_at = 0;
    o.label = "another lab";
    run_well(&o, &r);
    assert_false(r.resumed);
    o = usual();
    o.max_bytes = 1 << 10;
    run_well(&o, &r);
    assert_false(r.resumed);
    o = usual();
    o.dtype = GL_INT8;
    run_well(&o, &r);
    assert_false(r.resumed);
    o = usual();
    o.budget_s = 20; /* more time is the same measurement */
    run_well(&o, &r);
    assert_true(r.resumed);
    assert_int_equal(r.run_id, 1);
}

static void test_backend_fails(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    gl_error err;
    (void)state;
    fake.fail_measure_at = 30;
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_DEVICE);
    assert_string_equal(err.message, "the cable fell out");
    assert_true(r.backend_failed);
    gl_catalog c = read_file();
    assert_int_equal(c.runs[0].state, GL_RUN_INTERRUPTED);
    assert_true(c.curves[0].sample_count >= 5);
    fake.grouping = NULL;
    run_well(&o, &r);
    assert_true(r.resumed);
}

static void test_wrong_results(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    fake.wrong_above = 500000;
    run_well(&o, &r);
    assert_true(r.wrong_points >= 12); /* 512 KiB and 1 MiB of 6 curves */
    gl_catalog c = read_file();
    assert_close(c.curves[0].samples[c.curves[0].sample_count - 1].wrong, 3, 0);
    assert_non_null(strstr(c.runs[0].warnings, "WRONG RESULTS: all_reduce of 2 ranks on 1 node, "
                                               "out of place: 3 elements at 524288 bytes"));
}

static void test_memory_is_short(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    fake.memory = 5000;
    run_well(&o, &r);
    gl_catalog c = read_file();
    for (size_t i = 0; i < c.curve_count; i++)
        assert_true(c.curves[i].samples[c.curves[i].sample_count - 1].size_bytes <= 5000);
    assert_true(fake.largest_joined <= 5000);
    assert_int_equal(r.short_curves, 6);
    assert_non_null(strstr(c.runs[0].warnings, "memory"));
}

static void test_budget_is_short(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    o.max_bytes = 8589934592.0;
    o.budget_s = 3; /* a call of 8 GiB takes 8.6 s */
    run_well(&o, &r);
    assert_true(r.wall_s < 3.3);
    assert_int_equal(r.curves, 6);
    assert_int_equal(r.short_curves, 6);
    gl_catalog c = read_file();
    assert_int_equal(c.runs[0].state, GL_RUN_COMPLETE);
    assert_non_null(strstr(c.runs[0].warnings, "did not fit into the budget"));
    for (size_t i = 0; i < c.curve_count; i++)
        assert_true(c.curves[i].sample_count >= 10);
}

/* Time that is short goes into measuring: fewer sizes, over the whole range. */
static void test_points_are_dear(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    fake.verify_s = 0.02;
    o.budget_s = 6;
    run_well(&o, &r);
    assert_true(r.wall_s < 6.6);
    assert_true(r.wall_s - r.measuring_s < 0.2 * r.wall_s);
    assert_int_equal(r.short_curves, 0);
    gl_catalog c = read_file();
    for (size_t i = 0; i < c.curve_count; i++)
        assert_in_range(c.curves[i].sample_count, 5, 12);
}

/* Memory is made ready as far as a part of the budget goes, and not before it is needed. */
static void test_memory_takes_time(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    (void)state;
    o.max_bytes = 8589934592.0;
    fake.page_s = 4e-9;
    run_well(&o, &r);
    assert_true(r.wall_s < 13);
    assert_true(fake.ready_bytes * fake.page_s <= 2.5);
    assert_true(fake.ready_bytes >= 134217728);
    assert_int_equal(r.short_curves, 6);
    gl_catalog c = read_file();
    for (size_t i = 0; i < c.curve_count; i++)
        assert_true(c.curves[i].sample_count >= 10);
}

/* A session that got nowhere says so, and is gone on with. */
static void test_nothing_measured(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    gl_error err;
    (void)state;
    o.budget_s = 0;
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_USAGE);
    assert_non_null(strstr(err.message, "too short for a single point"));
    assert_false(r.backend_failed);
    gl_catalog c = read_file();
    assert_int_equal(c.runs[0].state, GL_RUN_INTERRUPTED);
    o.budget_s = 10;
    run_well(&o, &r);
    assert_true(r.resumed);
}

/* Where time jumps, there are more points. */
static void test_jump(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    int near = 0;
    (void)state;
    fake.jump_at = 100000;
    run_well(&o, &r);
    gl_catalog c = read_file();
    for (size_t k = 0; k < c.curves[0].sample_count; k++)
        near += fabs(log(c.curves[0].samples[k].size_bytes / 1e5)) < log(2);
    assert_true(near >= 4);
}

/* What is stored as size is what NCCL would move, to the byte. */
static void test_sizes_are_moved(void **state)
{
    static const gl_collective in_parts[] = {GL_ALL_GATHER, GL_REDUCE_SCATTER, GL_ALLTOALL};
    gl_session_result r;
    gl_session_options o = usual();
    gl_gpu_layout layout;
    (void)state;
    o.collectives = in_parts;
    o.collective_count = 3;
    o.ranks = (int[]){2, 3};
    o.rank_count = 2;
    o.dtype = GL_INT8;
    fake.jump_at = 200;
    run_well(&o, &r);
    gl_catalog c = read_file();
    for (size_t i = 0; i < c.curve_count; i++)
        for (size_t k = 0; k < c.curves[i].sample_count; k++) {
            const gl_curve *curve = &c.curves[i];
            double size = curve->samples[k].size_bytes;
            gl_gpu_layout_of(&layout, curve->collective, GL_INT8, curve->placement.ranks, size);
            assert_close(gl_gpu_layout_size(&layout), size, 0);
        }
}

static void test_second_writer(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    gl_error err;
    int lock;
    (void)state;
    run_well(&o, &r);
    assert_false(gl_write_lock_held(path));
    assert_true(gl_write_lock_take(path, &lock, &err));
    assert_true(gl_write_lock_held(path));
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "another gpulink-calibrate run measures"));
    assert_false(r.backend_failed);
    gl_write_lock_release(lock);
    run_well(&o, &r);
}

static void test_refused(void **state)
{
    gl_session_result r;
    gl_session_options o = usual();
    gl_error err;
    (void)state;
    o.dtype = GL_BF16;
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_USAGE);
    assert_string_equal(err.message, "the fake backend has no bf16; it measures fp32, int8");
    o = usual();
    o.ranks = (int[]){64};
    o.rank_count = 1;
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_USAGE);
    assert_int_equal(access(path, F_OK), -1); /* no database for a wrong command */
    o = usual();
    backend.ranks = 1;
    assert_false(run(&o, &r, &err));
    backend.ranks = 4;
    assert_int_equal(err.status, GL_ERROR_DEVICE);
    assert_non_null(strstr(err.message, "sees 1 rank: a collective needs two or more"));
    assert_int_equal(access(path, F_OK), -1);
    o = usual();
    o.compute = true;
    backend.leader = true;
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_DEVICE);
    o = usual();
    o.db = folder;
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    o.db = "/tmp/none/x.db";
    assert_false(run(&o, &r, &err));
    assert_int_equal(err.status, GL_ERROR_SYSTEM);
}

static int make_folder(void **state)
{
    (void)state;
    if (access("/dev/shm", W_OK) != 0)
        strcpy(folder, "/tmp/gpulink-test-session-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* A list: its sizes and no others, each on its own placement and type; what does not fit is named.
 */
static void test_list(void **state)
{
    double sizes[] = {4, 1000, 700000}, one[] = {4096};
    gl_acceptance_item items[] = {
        {.collective = GL_ALL_REDUCE, .placement = {4, 1, 4, 1}, .sizes = sizes, .size_count = 3},
        {.collective = GL_SENDRECV,
         .dtype = GL_INT8,
         .placement = {2, 1, 2, 2},
         .sizes = one,
         .size_count = 1},
        {.collective = GL_ALLTOALL, .placement = {8, 2, 4, 1}, .sizes = one, .size_count = 1}};
    const gl_acceptance_list acceptance = {.items = items, .count = 3};
    gl_session_options o = usual();
    gl_session_result r;
    gl_error err;
    (void)state;
    o.acceptance = &acceptance;
    o.max_bytes = 1e15;
    run_well(&o, &r);
    gl_catalog c = read_file();
    assert_int_equal(c.curve_count, 3); /* all_reduce in two places, sendrecv */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(c.curves[i].dtype, GL_FP32);
        assert_int_equal(c.curves[i].sample_count, 3);
        for (size_t k = 0; k < 3; k++)
            assert_close(c.curves[i].samples[k].size_bytes, sizes[k], 0);
    }
    assert_int_equal(c.curves[2].dtype, GL_INT8);
    assert_int_equal(c.curves[2].sample_count, 1);
    assert_int_equal(c.curves[2].placement.concurrent_groups, 2);
    assert_int_equal(r.short_curves, 0);
    assert_non_null(strstr(c.runs[0].warnings, "alltoall of 8 ranks on 2 nodes"));
    assert_non_null(strstr(c.runs[0].parameters, "list "));
    /* Nothing fits, or a type that is not there. */
    items[0].dtype = GL_BF16;
    assert_false(run(&o, &r, &err));
    assert_non_null(strstr(err.message, "no bf16, which the list asks for; it measures fp32"));
    o.dtype = GL_FP32;
    const gl_acceptance_list none = {.items = items + 2, .count = 1};
    o.acceptance = &none;
    assert_false(run(&o, &r, &err));
    assert_non_null(strstr(err.message, "nothing on the list fits on 4 ranks of 1 nodes"));
}

/* Cut off, the same list goes on; a budget that is too short is told of. */
static void test_list_goes_on(void **state)
{
    double sizes[] = {8, 4096, 1 << 20};
    gl_acceptance_item item = {
        .collective = GL_ALL_REDUCE, .placement = {2, 1, 2, 1}, .sizes = sizes, .size_count = 3};
    const gl_acceptance_list acceptance = {.items = &item, .count = 1};
    gl_session_options o = usual();
    gl_session_result r;
    (void)state;
    o.acceptance = &acceptance;
    o.max_bytes = 1e15;
    fake.stop_at = 3;
    run_well(&o, &r);
    assert_true(r.stopped);
    fake.stop_at = 0;
    run_well(&o, &r);
    assert_true(r.resumed);
    assert_int_equal(r.points, 6);
    gl_catalog c = read_file();
    assert_int_equal(c.run_count, 1);
    assert_int_equal(c.runs[0].state, GL_RUN_COMPLETE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(test_whole_session),    WITH_FILE(test_again_is_a_new_run),
        WITH_FILE(test_keep_host),        WITH_FILE(test_stop_and_go_on),
        WITH_FILE(test_killed),           WITH_FILE(test_other_commands_do_not_go_on),
        WITH_FILE(test_backend_fails),    WITH_FILE(test_wrong_results),
        WITH_FILE(test_memory_is_short),  WITH_FILE(test_budget_is_short),
        WITH_FILE(test_points_are_dear),  WITH_FILE(test_memory_takes_time),
        WITH_FILE(test_nothing_measured), WITH_FILE(test_jump),
        WITH_FILE(test_sizes_are_moved),  WITH_FILE(test_second_writer),
        WITH_FILE(test_refused),          WITH_FILE(test_list),
        WITH_FILE(test_list_goes_on),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
