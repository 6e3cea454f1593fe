/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From files to databases: rates, repetition, merging, odd files. */
#include "tests/import_support.h"

#include "calibrate/cli/curve_stats.h"
#include "calibrate/import/merge.h"

#include <unistd.h>

static char folder[] = "/tmp/gpulink-test-import-XXXXXX";

static const char *path_of(const char *name)
{
    return gl_arena_printf(arena, "%s/%s", folder, name);
}

/* ---- rates ---- */

static const char compute_header[] = "kind,dtype,m,n,k,time_s,time_p95_s\n";
static const char overlap_header[] = "transport,collective,size_bytes,gemm_m,gemm_n,gemm_k,"
                                     "compute_alone_s,communication_alone_s,together_s\n";

static const char curve_header[] =
    "started_at,gpu,driver_version,cuda_version,nccl_version,backend,collective,dtype,redop,ranks,"
    "nodes,ranks_per_node,concurrent_groups,transport,nics,algorithm,protocol,in_place,root,"
    "size_bytes,iterations,time_median_s,time_p05_s,time_p95_s,time_min_s,wrong\n";

static void test_compute_rates(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *text = gl_arena_printf(arena, "%s%s", compute_header,
                                       "gemm,bf16,8192,8192,8192,1.5e-3,1.6e-3\r\n"
                                       "memory,none,1073741824,0,0,0.0006,\n"
                                       "\n"
                                       "\"launch\",none,0,0,0,4e-6,\n");
    gl_import_options said = nothing_said;
    said.label = "lab";
    said.gpu = "h200-sxm";
    assert_true(import_text(text, "a/rates.csv", &said, &result, &err));
    const gl_import_run *run = &result.runs[0];
    assert_int_equal(run->compute_count, 3);
    assert_string_equal(run->compute[0].kind, "gemm");
    assert_int_equal(run->compute[0].dtype, GL_BF16);
    assert_close(run->compute[0].time_s, 1.5e-3, 0);
    assert_true(isnan(run->compute[1].time_p95_s));
    assert_int_equal(run->compute[1].m, 1073741824);
    assert_string_equal(run->run.label, "lab");
    assert_string_equal(run->run.gpu, "h200-sxm");
    assert_string_equal(run->run.source, "rates.csv");
}

static void test_overlap_rates(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *text =
        gl_arena_printf(arena, "\xef\xbb\xbf%s%s", overlap_header,
                        "nvlink,all_reduce,67108864,8192,8192,8192,18.7e-3,1.35e-3,19.55e-3\n");
    assert_true(import_text(text, "o.csv", &nothing_said, &result, &err));
    assert_int_equal(result.runs[0].overlap_count, 1);
    assert_int_equal(result.runs[0].overlap[0].transport, GL_TRANSPORT_NVLINK);
    assert_close(result.runs[0].overlap[0].together_s, 19.55e-3, 0);
}

#define RUN_FACTS "2026-11-30T04:52:57Z,\"NVIDIA H200\",580.159,13.0,2.28.3,nccl,"
#define CURVE_ROW(place, rest)                                                                     \
    RUN_FACTS "all_reduce,bf16,sum,2,1,2,1,nvlink,0,ring,mixed," place ",-1," rest "\n"

static void test_curves(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *text = gl_arena_printf(arena, "%s%s", curve_header,
                                       CURVE_ROW("0", "8,40,1.25e-05,1.2e-05,1.3e-05,1.1e-05,0.0")
                                           CURVE_ROW("0", "16,40,1.26e-05,,,,")
                                               CURVE_ROW("0", "64,40,1.3e-05,,,,2")
                                                   CURVE_ROW("1", "8,40,1.2e-05,,,,"));
    assert_true(import_text(text, "curves.csv", &nothing_said, &result, &err));
    const gl_import_run *run = &result.runs[0];
    assert_string_equal(run->run.gpu, "NVIDIA H200");
    assert_string_equal(run->run.nccl_version, "2.28.3");
    assert_string_equal(run->run.backend, "nccl");
    assert_int_equal(run->curve_count, 2);
    assert_int_equal(run->curves[0].sample_count, 3);
    assert_int_equal(run->curves[0].transport, GL_TRANSPORT_NVLINK);
    assert_false(run->curves[0].in_place);
    assert_true(run->curves[1].in_place);
    assert_close(run->curves[0].samples[0].time_p95_s, 1.3e-5, 0);
    assert_true(isnan(run->curves[0].samples[1].time_p05_s));
    assert_close(run->curves[0].samples[2].wrong, 2, 0);
    assert_close(run->curves[0].samples[2].size_bytes, 64, 0);
}

static void test_bad_rates(void **state)
{
    static const struct {
        const char *header, *row, *words;
    } cases[] = {
        {curve_header, CURVE_ROW("2", "8,1,1e-5,,,,"), "neither 0 nor 1"},
        {curve_header, CURVE_ROW("0", "8,1,,,,,"), "no time in seconds"},
        {curve_header, CURVE_ROW("0", "8,1,1e-5,,,,-1"), "no number of wrong elements"},
        {curve_header, CURVE_ROW("0", "8,1,1e-5,,,,1e301"), "no number of wrong elements"},
        {curve_header, CURVE_ROW("0", "16,1,1e-5,,,,") CURVE_ROW("0", "8,1,1e-5,,,,"),
         "not larger than the size before it"},
        {curve_header, RUN_FACTS "all_reduce,bf16,sum,2,4,2,1,nvlink,0,,,0,-1,8,1,1e-5,,,,\n",
         "no number of ranks that fits"},
        {curve_header,
         RUN_FACTS "all_reduce,bf16,sum,99999999,1,2,1,nvlink,0,,,0,-1,8,1,1e-5,,,,\n",
         "more than 10000000"},
        {curve_header,
         CURVE_ROW("0", "8,1,1e-5,,,,") "2025,x,,,,nccl,all_reduce,bf16,sum,2,1,2,1,nvlink,0,ring,"
                                        "mixed,0,-1,16,1,1e-5,,,,\n",
         "another run's"},
        {compute_header, "", "no rows"},
        {compute_header, "gemm,bf16,8192,8192,8192,1.5e-3\n", "6 cells where the header has 7"},
        {compute_header, "gemm,bf16,8192,8192,8192,1.5e-3,1,1\n", "8 cells"},
        {compute_header, "gemms,bf16,1,1,1,1,1\n", "no kind of rate"},
        {compute_header, "gemm,b16,1,1,1,1,1\n", "no data type"},
        {compute_header, "gemm,none,1,1,1,1,1\n", "needs its data type"},
        {compute_header, "gemm,bf16,0,1,1,1,1\n", "no whole number above zero"},
        {compute_header, "gemm,bf16,1.5,1,1,1,1\n", "no whole number"},
        {compute_header, "gemm,bf16,1,1,1,1 ms,\n", "no time in seconds"},
        {compute_header, "gemm,bf16,1,1,1,nan,\n", "no time in seconds"},
        {compute_header, "gemm,bf16,1,1,1,-1,\n", "no time in seconds"},
        {compute_header, "gemm,bf16,1,1,1,,\n", "no time in seconds"},
        {overlap_header, "nvlnk,all_reduce,1,1,1,1,1,1,1\n", "no transport"},
        {overlap_header, "nvlink,allreduce,1,1,1,1,1,1,1\n", "no collective"},
        {overlap_header, "nvlink,all_reduce,0,1,1,1,1,1,1\n", "no whole number above zero"},
        {overlap_header, "nvlink,all_reduce,1,1,1,1,1,1,0.5\n", "less than either took alone"},
        {overlap_header, "nvlink,all_reduce,1,1,1,1,1,1,50\n", "more than ten times"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = gl_arena_printf(arena, "%s%s", cases[i].header, cases[i].row);
        assert_refused(text, "rates.csv", &nothing_said, cases[i].words);
    }
    gl_import_result result;
    gl_error err;
    const char *text =
        gl_arena_printf(arena, "%sgemm,bf16,1,1,1,1,1\ngemm,bf16,1,1,1,x,1\n", compute_header);
    assert_false(import_text(text, "rates.csv", &nothing_said, &result, &err));
    assert_int_equal(err.line, 3);
    assert_string_equal(err.path, "time_s");
}

/* ---- odd files ---- */

static void test_files_that_are_none(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *path = path_of("x.txt");
    assert_false(gl_import_file(path, &nothing_said, arena, &result, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "No such file"));
    assert_false(gl_import_file(folder, &nothing_said, arena, &result, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "directory"));
    assert_false(gl_import_file("/dev/null", &nothing_said, arena, &result, &err));
    assert_non_null(strstr(err.message, "empty"));
    char head[] = "SQLite format 3\0\x10";
    FILE *stream = fmemopen(head, sizeof head, "rb");
    assert_non_null(stream);
    assert_false(gl_import_stream(stream, "x", &nothing_said, arena, &result, &err));
    assert_non_null(strstr(err.message, "merge"));
    fclose(stream);
    assert_refused("\x01\x02\x03\x04\x05\x06\x07\x08", "x", &nothing_said, "binary");
    assert_refused("\xff\xfe#\x20", "x", &nothing_said, "UTF-16");
}

/* Lines without end and lines of zeros are skipped in bounded memory. */
static void test_long_lines(void **state)
{
    (void)state;
    const char *name = path_of("long.txt");
    FILE *file = fopen(name, "wb");
    for (int i = 0; i < 300000; i++)
        fputs("0123456789", file);
    fputs("\n", file);
    fwrite("\0\0\0\0\n", 1, 5, file);
    fputs(read_fixture("check_all_reduce.txt"), file);
    for (int i = 0; i < 300000; i++)
        fputs("vm:1:2 [0] NCCL INFO ", file);
    fclose(file);
    gl_import_result result;
    gl_error err;
    if (!gl_import_file(name, &nothing_said, arena, &result, &err))
        fail_msg("%s", err.message);
    assert_int_equal(result.runs[0].curves[0].sample_count, 9);
    unlink(name);
}

static void test_too_many_runs(void **state)
{
    (void)state;
    char *text = gl_arena_alloc(arena, 3000 * 40, 1), *end = text;
    for (int i = 0; i < 3000; i++)
        end += sprintf(end, "# nccl-tests version 2.19.6\n");
    assert_refused(text, "x", &nothing_said, "more than 2000 runs");
}

/* ---- writing ---- */

static size_t count_runs(const char *path, size_t *curves)
{
    gl_store *store;
    gl_catalog catalog;
    gl_error err;
    if (!gl_store_open(path, &store, &err) || !gl_store_read_catalog(store, arena, &catalog, &err))
        fail_msg("%s", err.message);
    gl_store_close(store);
    *curves = catalog.curve_count;
    return catalog.run_count;
}

static void write_fixture(const char *db, const char *name, const char *label, size_t known)
{
    gl_store *store;
    gl_error err;
    size_t found = 0;
    gl_import_options said = nothing_said;
    said.label = label;
    gl_import_result result = import_fixture(name, &said);
    assert_true(gl_store_open_writable(db, &store, &err));
    if (!gl_import_write(store, &result, 1, &err))
        fail_msg("%s: %s", name, err.message);
    for (size_t i = 0; i < result.run_count; i++)
        found += result.runs[i].same_as != 0;
    assert_int_equal(found, known);
    gl_store_close(store);
}

static void test_same_file_twice(void **state)
{
    (void)state;
    size_t curves;
    const char *db = path_of("twice.db");
    write_fixture(db, "check_all_reduce.txt", "a", 0);
    write_fixture(db, "check_all_reduce.txt", "a", 1);
    write_fixture(db, "check_all_reduce.txt", "b", 1); /* a label is no measurement */
    write_fixture(db, "stamp_all_reduce.txt", "a", 0);
    assert_int_equal(count_runs(db, &curves), 2);
    assert_int_equal(curves, 4);
    unlink(db);
}

/* Imports a text under a name and says as which run it was known; 0: it is new. */
static int64_t import_known(const char *db, const char *text, const char *name,
                            const gl_import_options *said)
{
    gl_store *store = NULL;
    gl_error err;
    gl_import_result result;
    if (!import_text(text, name, said, &result, &err) ||
        !gl_store_open_writable(db, &store, &err) || !gl_import_write(store, &result, 1, &err))
        fail_msg("%s: %s", name, err.message);
    gl_store_close(store);
    if (result.runs[0].same_as != 0)
        assert_string_equal(result.runs[0].same_source, "first.txt");
    return result.runs[0].same_as;
}

/* Every line with a prefix and an end of line of its own. */
static char *each_line(const char *text, const char *prefix, const char *end)
{
    char *out = gl_arena_alloc(arena, 4 * strlen(text) + 64, 1), *to = out;
    for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n')
        to += sprintf(to, "%s%.*s%s", prefix, (int)strcspn(text, "\n"), text, end);
    return out;
}

/* The same samples to the last digit are the same run, whatever surrounds them. */
static void test_same_samples_are_one_run(void **state)
{
    (void)state;
    const char *db = path_of("same.db");
    const char *text = read_fixture("check_all_reduce.txt");
    gl_import_options labelled = nothing_said, forced = nothing_said;
    labelled.label = "second";
    forced.algorithm = "ring";
    assert_int_equal(import_known(db, text, "first.txt", &nothing_said), 0);
    assert_int_equal(import_known(db, text, "other.txt", &nothing_said), 1);
    assert_int_equal(import_known(db, text, "first.txt", &labelled), 1);
    assert_int_equal(import_known(db, each_line(text, "", "\r\n"), "x.txt", &nothing_said), 1);
    assert_int_equal(
        import_known(db, each_line(text, "[1,0]<stdout>:", "\n"), "x.txt", &nothing_said), 1);
    assert_int_equal(
        import_known(db, gl_arena_printf(arena, "\n%s\n", text), "x.txt", &nothing_said), 1);
    /* What the curves are of counts, and so does the last digit. */
    assert_int_equal(import_known(db, text, "first.txt", &forced), 0);
    char *off = gl_arena_strdup(arena, text), *row = strstr(off, "float"), *time;
    assert_non_null(row);
    time = strchr(row, '.') + 1;
    time[1] = time[1] == '9' ? '8' : (char)(time[1] + 1);
    assert_int_equal(import_known(db, off, "first.txt", &nothing_said), 0);
    unlink(db);
}

/* Every fixture that is taken can be written and read again. */
static void test_all_fixtures_go_through_the_store(void **state)
{
    static const char *const names[] = {"types_all_reduce.txt",    "json_periter.json",
                                        "debug_all_reduce_g2.txt", "debug_sock.txt",
                                        "made_several.txt",        "made_aborted_rows.txt",
                                        "made_failed_check.txt",   "made_v1_all_reduce.txt",
                                        "made_split.txt",          "made_cycles.txt"};
    (void)state;
    const char *db = path_of("all.db");
    size_t curves;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_fixture(db, names[i], NULL, 0);
    assert_int_equal(count_runs(db, &curves), 12);
    unlink(db);
}

static void test_merge(void **state)
{
    (void)state;
    const char *a = path_of("a.db"), *b = path_of("b.db"), *out = path_of("out.db");
    write_fixture(a, "check_all_reduce.txt", "x", 0);
    write_fixture(a, "json_periter.json", "x", 0);
    write_fixture(b, "json_periter.json", "x", 0);
    write_fixture(b, "made_several.txt", "x", 0);
    const char *inputs[] = {a, b};
    gl_merge_counts counts;
    gl_error err;
    size_t curves;
    assert_true(gl_merge_files(inputs, 2, out, &counts, &err));
    assert_int_equal(counts.added, 5);
    assert_int_equal(counts.known, 1);
    assert_int_equal(count_runs(out, &curves), 5);
    assert_int_equal(curves, 10);
    assert_true(gl_merge_files(inputs, 2, out, &counts, &err));
    assert_int_equal(counts.added, 0);
    /* The output may be an input. */
    assert_true(gl_merge_files(inputs, 2, a, &counts, &err));
    assert_int_equal(count_runs(a, &curves), 5);
    /* A bad input leaves the output as it was. */
    const char *bad[] = {b, path_of("missing.db")};
    const char *fresh = path_of("fresh.db");
    assert_false(gl_merge_files(bad, 2, fresh, &counts, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_int_equal(access(fresh, F_OK), -1);
    unlink(a);
    unlink(b);
    unlink(out);
}

/* ---- figures of a curve ---- */

static void test_curve_stats(void **state)
{
    (void)state;
    gl_sample samples[8];
    for (size_t i = 0; i < 8; i++) {
        double size = 1024 * pow(8, (double)i);
        samples[i] = (gl_sample){size, 10e-6 + size / 100e9, NAN, NAN, NAN, 20, i == 3 ? 4 : 0};
    }
    gl_curve curve = {.collective = GL_SENDRECV,
                      .placement = {2, 1, 2, 1},
                      .samples = samples,
                      .sample_count = 8};
    gl_curve_stats stats = gl_curve_stats_of(&curve);
    assert_close(stats.latency_floor_s, 10e-6, 0.01);
    assert_close(stats.plateau_busbw_bytes_per_s, 100e9, 0.05);
    /* time = latency + size / rate: half of the rate where size = latency × rate */
    assert_close(stats.half_bandwidth_size_bytes, 1e6, 0.3);
    assert_int_equal(stats.dips, 0);
    assert_close(stats.wrong, 4, 0);
    assert_true(stats.loo_median > 0 && stats.loo_median < 0.5);
    samples[6].time_median_s *= 3;
    assert_true(gl_curve_is_dip(&curve, 6));
    assert_int_equal(gl_curve_stats_of(&curve).dips, 1);
    curve.sample_count = 0;
    stats = gl_curve_stats_of(&curve);
    assert_true(isnan(stats.plateau_busbw_bytes_per_s) && isnan(stats.loo_median));
    curve.sample_count = 2; /* a small message says nothing of large ones */
    assert_close(gl_curve_plateau(&curve), gl_curve_busbw(&curve, &samples[1]), 0);
    curve.sample_count = 1;
    stats = gl_curve_stats_of(&curve);
    assert_true(isnan(stats.half_bandwidth_size_bytes) && isnan(stats.loo_median));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_compute_rates),
        TEST(test_overlap_rates),
        TEST(test_curves),
        TEST(test_bad_rates),
        TEST(test_files_that_are_none),
        TEST(test_long_lines),
        TEST(test_too_many_runs),
        TEST(test_same_file_twice),
        TEST(test_same_samples_are_one_run),
        TEST(test_all_fixtures_go_through_the_store),
        TEST(test_merge),
        TEST(test_curve_stats),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
