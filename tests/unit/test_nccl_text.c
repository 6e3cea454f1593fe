/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/import_support.h"

#include "calibrate/import/digest.h"
#include "calibrate/import/nccl_row.h"
#include "calibrate/import/prefix.h"

/* ---- layouts ---- */

typedef struct expectation {
    const char *file;
    gl_collective collective;
    int ranks, nodes, ranks_per_node, groups;
    size_t curves, samples;    /* of the first curve */
    double size_bytes, time_s; /* of one of its samples */
    const char *redop;
    int root;
} expectation;

static const expectation expected[] = {
    {"nvl_all_reduce_g2.txt", GL_ALL_REDUCE, 2, 1, 2, 1, 2, 30, 4294967296, 12480.8e-6, "sum", -1},
    {"nvl_all_gather_g2.txt", GL_ALL_GATHER, 2, 1, 2, 1, 2, 28, 32, 13.52e-6, "", -1},
    {"nvl_reduce_scatter_g2.txt", GL_REDUCE_SCATTER, 2, 1, 2, 1, 2, 28, 32, 17.78e-6, "sum", -1},
    {"nvl_alltoall_g2.txt", GL_ALLTOALL, 2, 1, 2, 1, 2, 28, 64, 17.94e-6, "", -1},
    {"nvl_broadcast_g2.txt", GL_BROADCAST, 2, 1, 2, 1, 2, 30, 16, 13.74e-6, "", 0},
    {"nvl_sendrecv_g2.txt", GL_SENDRECV, 2, 1, 2, 1, 2, 30, 2147483648, 5912.05e-6, "", -1},
    {"sock_alltoall_g2.txt", GL_ALLTOALL, 2, 1, 2, 1, 2, 22, 32, 30.64e-6, "", -1},
    {"check_all_reduce.txt", GL_ALL_REDUCE, 2, 1, 2, 1, 2, 9, 1024, 19.88e-6, "sum", -1},
    {"stamp_all_reduce.txt", GL_ALL_REDUCE, 2, 1, 2, 1, 2, 9, 4096, 13.79e-6, "sum", -1},
    {"mem_reduce_scatter.txt", GL_REDUCE_SCATTER, 2, 1, 2, 1, 2, 9, 1024, 18.41e-6, "sum", -1},
    {"graph_all_gather.txt", GL_ALL_GATHER, 2, 1, 2, 1, 2, 9, 1024, 6.49e-6, "", -1},
    {"periter_all_gather.txt", GL_ALL_GATHER, 2, 1, 2, 1, 2, 6, 1024, 33.53e-6, "", -1},
    {"types_all_reduce.txt", GL_ALL_REDUCE, 2, 1, 2, 1, 144, 3, 1048576, 24.68e-6, "sum", -1},
    {"debug_all_reduce_g2.txt", GL_ALL_REDUCE, 2, 1, 2, 1, 2, 18, 16, 22.90e-6, "sum", -1},
    {"tuning_all_reduce.txt", GL_ALL_REDUCE, 2, 1, 2, 1, 2, 9, 1024, 16.87e-6, "sum", -1},
    {"made_v1_all_reduce.txt", GL_ALL_REDUCE, 8, 1, 8, 1, 2, 7, 65536, 31e-6, "sum", -1},
    {"made_v20_all_reduce.txt", GL_ALL_REDUCE, 8, 1, 8, 1, 2, 11, 1024, 22.01e-6, "sum", -1},
    {"made_v20_reduce.txt", GL_REDUCE, 8, 1, 8, 1, 2, 11, 1024, 22.01e-6, "sum", 0},
    {"made_v20_broadcast.txt", GL_BROADCAST, 8, 1, 8, 1, 2, 11, 1024, 22.01e-6, "", 0},
    {"made_v20_all_gather.txt", GL_ALL_GATHER, 8, 1, 8, 1, 2, 11, 1024, 22.01e-6, "", -1},
    {"made_v20_alltoall.txt", GL_ALLTOALL, 8, 1, 8, 1, 2, 11, 1024, 22.01e-6, "", -1},
    {"made_v20_reduce_scatter.txt", GL_REDUCE_SCATTER, 8, 1, 8, 1, 2, 11, 1024, 22.01e-6, "sum",
     -1},
    {"made_v20_sendrecv.txt", GL_SENDRECV, 8, 1, 8, 1, 2, 11, 1024, 22.01e-6, "", -1},
    {"made_v213_all_reduce.txt", GL_ALL_REDUCE, 16, 2, 8, 1, 2, 11, 1024, 35.02e-6, "sum", -1},
    {"made_v213_alltoall.txt", GL_ALLTOALL, 16, 2, 8, 1, 1, 11, 1024, 35.01e-6, "", -1},
    {"made_two_nodes.txt", GL_ALL_REDUCE, 16, 2, 8, 1, 2, 11, 1024, 20.01e-6, "sum", -1},
    {"made_split.txt", GL_ALL_REDUCE, 2, 2, 1, 8, 2, 11, 1024, 20.00e-6, "sum", -1},
    {"made_one_of_eight_group.txt", GL_ALL_GATHER, 4, 1, 4, 2, 2, 11, 1024, 20.00e-6, "", -1},
    {"made_rccl.txt", GL_ALL_GATHER, 8, 1, 8, 1, 2, 11, 1024, 20.00e-6, "", -1},
    {"made_tag_output.txt", GL_ALL_REDUCE, 16, 2, 8, 1, 2, 11, 1024, 20.01e-6, "sum", -1},
    {"made_markdown.txt", GL_REDUCE_SCATTER, 8, 1, 8, 1, 2, 11, 1024, 20.00e-6, "sum", -1},
    {"made_roots.txt", GL_BROADCAST, 2, 1, 2, 1, 8, 2, 1048576, 24.56e-6, "", 0},
};

static void test_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const expectation *e = &expected[i];
        gl_import_result result = import_fixture(e->file, &nothing_said);
        print_message("%s\n", e->file);
        assert_int_equal(result.run_count, 1);
        assert_int_equal(result.refused_count, 0);
        const gl_import_run *run = &result.runs[0];
        const gl_curve *curve = &run->curves[0];
        assert_int_equal(run->curve_count, e->curves);
        assert_int_equal(curve->collective, e->collective);
        assert_int_equal(curve->placement.ranks, e->ranks);
        assert_int_equal(curve->placement.nodes, e->nodes);
        assert_int_equal(curve->placement.ranks_per_node, e->ranks_per_node);
        assert_int_equal(curve->placement.concurrent_groups, e->groups);
        assert_int_equal(curve->sample_count, e->samples);
        assert_string_equal(curve->redop, e->redop);
        assert_int_equal(curve->root, e->root);
        assert_false(curve->in_place);
        assert_close(sample_of(curve, e->size_bytes)->time_median_s, e->time_s, 3e-3);
        assert_int_equal(run->run.state, GL_RUN_COMPLETE);
        assert_false(has_warning(run, "rows are missing"));
        assert_false(has_warning(run, "left out"));
    }
}

static void test_what_a_run_says_of_itself(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("stamp_all_reduce.txt", &nothing_said);
    const gl_run *run = &result.runs[0].run;
    assert_string_equal(run->started_at, "2026-11-30T02:26:38");
    assert_string_equal(run->recorded_at, "2026-11-30T03:00:00Z");
    assert_string_equal(run->tool, "nccl-tests");
    assert_string_equal(run->tool_version, "2.19.6");
    assert_string_equal(run->nccl_version, "2.28.3");
    assert_string_equal(run->gpu, "NVIDIA H200");
    assert_string_equal(run->host, "");
    assert_string_equal(run->source, "stamp_all_reduce.txt");
    assert_string_equal(run->parameters, "iters 20, warmup 1, agg iters 1, validation 1, graph 0, "
                                         "time over ranks: not stated");
    assert_int_equal(result.runs[0].curves[0].samples[0].iterations, 20);
    assert_close(result.runs[0].curves[0].samples[0].wrong, 0, 0);
}

static void test_unchecked_results_are_not_right_ones(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("nvl_all_reduce_g2.txt", &nothing_said);
    assert_true(isnan(result.runs[0].curves[0].samples[0].wrong));
}

static void test_rccl_is_labelled(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_rccl.txt", &nothing_said);
    assert_string_equal(result.runs[0].run.tool, "rccl-tests");
    assert_string_equal(result.runs[0].run.tool_version, "develop:ae5a4a6");
    assert_string_equal(result.runs[0].run.backend, "rccl");
    assert_string_equal(result.runs[0].run.gpu, "AMD Instinct MI300X");
}

static void test_per_iteration_columns(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("periter_all_gather.txt", &nothing_said);
    const gl_sample *sample = sample_of(&result.runs[0].curves[1], 4194304);
    assert_close(sample->time_median_s, 30.03e-6, 1e-9);
    assert_close(sample->time_min_s, 27.26e-6, 1e-9);
    assert_true(isnan(sample->time_p95_s));
}

static void test_roots_and_types_are_curves_of_their_own(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_roots.txt", &nothing_said);
    int half = 0, root_one = 0, in_place = 0;
    for (size_t i = 0; i < result.runs[0].curve_count; i++) {
        half += result.runs[0].curves[i].dtype == GL_FP16;
        root_one += result.runs[0].curves[i].root == 1;
        in_place += result.runs[0].curves[i].in_place;
    }
    assert_int_equal(half, 4);
    assert_int_equal(root_one, 4);
    assert_int_equal(in_place, 4);
}

static void test_cycles_become_medians(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_cycles.txt", &nothing_said);
    const gl_curve *curve = &result.runs[0].curves[0];
    assert_int_equal(curve->sample_count, 11);
    const gl_sample *sample = sample_of(curve, 1024);
    assert_close(sample->time_median_s, 20.01e-6, 1e-3);
    assert_close(sample->time_min_s, 19.61e-6, 1e-3);
    assert_true(sample->time_p95_s > sample->time_median_s);
    assert_true(sample->time_p05_s < sample->time_median_s);
    assert_int_equal(sample->iterations, 60);
    assert_true(has_warning(&result.runs[0], "several times"));
    assert_false(has_warning(&result.runs[0], "rows are missing"));
}

/* ---- prefixes: the same log in every wrapping gives the same curves ---- */

static gl_digest curves_digest(const gl_import_result *result)
{
    gl_digest digest;
    gl_digest_begin(&digest);
    for (size_t i = 0; i < result->run_count; i++)
        for (size_t k = 0; k < result->runs[i].curve_count; k++)
            gl_digest_curve(&digest, &result->runs[i].curves[k]);
    return digest;
}

/* Puts `prefix` before and `suffix` behind each line; '%' in the prefix becomes a digit that
 * changes from line to line. */
static char *wrap(const char *text, const char *prefix, const char *suffix)
{
    size_t lines = 1;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    char *wrapped =
        gl_arena_alloc(arena, strlen(text) + lines * (strlen(prefix) + strlen(suffix)) + 1, 1);
    char *to = wrapped;
    size_t number = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        for (const char *c = prefix; *c != '\0'; c++)
            *to++ = *c == '%' ? (char)('0' + number / 7 % 10) : *c;
        to += sprintf(to, "%.*s%s\n", (int)length, text, suffix);
        text += length + (text[length] == '\n');
        number++;
    }
    return wrapped;
}

static const struct {
    const char *prefix, *suffix;
} wrappings[] = {
    {"[1,0]<stdout>:", ""},
    {"[1,%]<stderr>:", ""},
    {"[48211,0]<stdout>: ", ""},
    {"[prterun-gpu-a01-421@1,0]<stdout>: ", ""},
    {"[prterun-gpu-a01-421,0]", " "},
    {"[0] ", ""},
    {" 0: ", ""},
    {"  0: ", "   "},
    {"2026-11-30T02:26:3%.123456Z ", ""},
    {"2026-11-30T02:26:3%.123456Z stdout F ", ""},
    {"2026-11-30 02:26:3% ", ""},
    {"[02:26:3%] ", ""},
    {"Nov 30 02:26:3% gpu-a01 slurmstepd[4121]: ", ""},
    {"nccl-test-launcher-x7k2p: ", ""},
    {"[pod/nccl-test-worker-0/main] ", ""},
    {"worker-0  | ", ""},
    {"    ", ""},
    {"> ", ""},
    {"\t", "\t"},
    {"", "\r"},
    {"\x1b[0m", "\x1b[0m"},
    {"\x1b[36mworker-0 |\x1b[0m ", "\r"},
};

static void test_prefixes_change_nothing(void **state)
{
    static const char *const files[] = {
        "check_all_reduce.txt",   "nvl_broadcast_g2.txt",    "periter_all_gather.txt",
        "stamp_all_reduce.txt",   "made_v20_alltoall.txt",   "made_v1_all_reduce.txt",
        "made_v213_alltoall.txt", "made_two_nodes.txt",      "made_several.txt",
        "tuning_all_reduce.txt",  "debug_all_reduce_g2.txt", "debug_sock.txt",
        "made_cycles.txt"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char *text = read_fixture(files[f]);
        gl_import_result plain = import_fixture(files[f], &nothing_said);
        gl_digest wanted = curves_digest(&plain);
        for (size_t i = 0; i < sizeof wrappings / sizeof *wrappings; i++) {
            gl_import_result result;
            gl_error err;
            const char *wrapped = wrap(text, wrappings[i].prefix, wrappings[i].suffix);
            if (!import_text(wrapped, files[f], &nothing_said, &result, &err))
                fail_msg("%s with \"%s\": %s", files[f], wrappings[i].prefix, err.message);
            gl_digest digest = curves_digest(&result);
            if (digest.high != wanted.high || digest.low != wanted.low ||
                strcmp(result.runs[0].run.warnings, plain.runs[0].run.warnings) != 0)
                fail_msg("%s with \"%s\" is not the same: %s", files[f], wrappings[i].prefix,
                         result.runs[0].run.warnings);
        }
    }
}

/* ---- torn rows ---- */

/* Tears every row after its preamble and between its placements, as a process that flushes in three
 * pieces does while NCCL writes. */
static char *tear(const char *text, const char *between)
{
    char *torn = gl_arena_alloc(arena, strlen(text) * 4 + 1, 1), *to = torn;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        bool is_row = length > 100 && text[0] == ' ';
        const char *first = text + 54, *second = is_row ? text + 54 + (length - 54) / 2 : text;
        if (is_row)
            to += sprintf(to, "%.*s%s%.*s%s%.*s\n", 54, text, between, (int)(second - first), first,
                          between, (int)(text + length - second), second);
        else
            to += sprintf(to, "%.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
    return torn;
}

static void test_torn_rows_are_put_together(void **state)
{
    static const char *const between[] = {
        "vm:653:653 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL\n",
        "node-17:653:653 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n",
        "10-0-0-7:653:653 [0] NCCL INFO x\n10-0-0-7:653:654 [1] NCCL INFO y\n",
        "[2026-11-30 02:26:33] vm:653:653 [0] NCCL INFO x\n",
        "\nvm:653:653 [0] NCCL INFO x\n",
        "vm:653:653 [0] transport.cc:12 NCCL WARN x\n",
        "\n"};
    (void)state;
    char *text = read_fixture("check_all_reduce.txt");
    gl_import_result plain = import_fixture("check_all_reduce.txt", &nothing_said);
    const char *intro = "10-0-0-7:653:653 [0] NCCL INFO cudaDriverVersion 13000\n";
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        gl_import_result result;
        gl_error err;
        const char *torn = gl_arena_printf(arena, "%s%s", intro, tear(text, between[i]));
        if (!import_text(torn, "torn.txt", &nothing_said, &result, &err))
            fail_msg("%s: %s", between[i], err.message);
        assert_int_equal(result.runs[0].curve_count, 2);
        for (size_t k = 0; k < 2; k++) {
            const gl_curve *a = &plain.runs[0].curves[k], *b = &result.runs[0].curves[k];
            if (a->sample_count != b->sample_count)
                fail_msg("%s: %zu samples", between[i], b->sample_count);
            assert_memory_equal(&a->samples[3].time_median_s, &b->samples[3].time_median_s, 8);
        }
        assert_false(has_warning(&result.runs[0], "rows are missing"));
    }
}

static void test_half_a_row_is_kept_and_flagged(void **state)
{
    (void)state;
    const char *text = gl_arena_printf(
        arena,
        "%s        8192          2048     float     sum      -1    20.00    0.41    0.41"
        "       0\n",
        read_fixture("made_aborted_rows.txt"));
    gl_import_result result;
    gl_error err;
    /* 16 ranks: busbw must be 1.875 × algbw. */
    char *row = strstr(text, "0.41    0.41");
    memcpy(row, "0.41    0.77", 12);
    assert_true(import_text(text, "half.txt", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "torn"));
    assert_close(sample_of(&result.runs[0].curves[0], 8192)->time_median_s, 20e-6, 1e-9);
    assert_int_equal(result.runs[0].curves[1].sample_count, 5);
}

static void test_wrongly_joined_values_are_left_out(void **state)
{
    (void)state;
    /* A line of values that belongs to another row: size / time contradicts algbw. */
    char *text = read_fixture("check_all_reduce.txt");
    char *row = strstr(text, "    25.66   40.86   40.86       0");
    memcpy(row, "    95.66   40.86   40.86       0", 33);
    gl_import_result result;
    gl_error err;
    assert_true(import_text(text, "x.txt", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "left out"));
    assert_int_equal(result.runs[0].curves[0].sample_count, 8);
    assert_int_equal(result.runs[0].curves[1].sample_count, 9);
}

/* ---- what is refused ---- */

static void test_refusals(void **state)
{
    static const struct {
        const char *file, *words;
    } refused[] = {
        {"one_rank.txt", "one rank alone"},
        {"cpu_all_reduce.txt", "CPU times"},
        {"made_without_mpi.txt", "rebuild nccl-tests with MPI=1"},
        {"made_mixed_processes.txt", "mixed line by line"},
        {"made_mockup.txt", "would be 19.97 ranks; the device list says 8 ranks"},
        {"made_wrong_ranks.txt", "is 16 ranks; the device list says 8"},
        {"made_2019_all_gather.txt", "older than June 2020"},
        {"made_aborted_early.txt", "INCOMPLETE: the run stopped before its first row: Test CUDA"},
        {"made_v213_unnamed.txt", "give --collective"},
        {"made_no_devices.txt", "give --nodes"},
        {"made_no_devices_512.txt", "give --ranks"},
        {"made_same_names.txt", "give --nodes"},
        {"other_osu.txt", "OSU"},
        {"other_ib_write_bw.txt", "ib_write_bw"},
        {"other_nccom.txt", "nccom-test"},
        {"other_nvbandwidth.txt", "nvbandwidth"},
        {"other_oneccl.txt", "oneCCL"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_refused(read_fixture(refused[i].file), refused[i].file, &nothing_said,
                       refused[i].words);
    assert_refused("hello\nworld\n", "x", &nothing_said, "no output of nccl-tests");
}

static void test_failed_check_is_flagged_and_kept(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_failed_check.txt", &nothing_said);
    assert_true(has_warning(&result.runs[0], "validation FAILED: 768 wrong elements"));
    assert_close(sample_of(&result.runs[0].curves[1], 16777216)->wrong, 768, 0);
    assert_close(sample_of(&result.runs[0].curves[0], 16777216)->wrong, 0, 0);
}

/* The footer may be all that says so, and what is no count is no proof either. */
static void test_checks_that_did_not_pass(void **state)
{
    static const struct {
        const char *file, *from, *to, *warning;
    } cases[] = {
        {"nvl_all_reduce_g2.txt", "values : 0 OK", "values : 3 FAILED",
         "validation FAILED: 3 values out of bounds"},
        {"made_v20_all_reduce.txt", "values : 0 OK", "values : 42 FAILED",
         "validation FAILED: 42 values out of bounds"},
        {"check_all_reduce.txt", "      0\n", "    inf\n",
         "validation FAILED: the check of 1 values gave no count"},
        {"check_all_reduce.txt", "      0\n", "    nan\n",
         "validation FAILED: the check of 1 values gave no count"},
        {"check_all_reduce.txt", "      0\n", "     -1\n",
         "validation FAILED: the check of 1 values gave no count"},
        {"check_all_reduce.txt", "      0\n", "  1e301\n",
         "validation FAILED: the check of 1 values gave no count"},
        {"made_v20_all_reduce.txt", "  5e-07\n", "    nan\n",
         "validation FAILED: the check of 1 values gave no count"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gl_import_result result;
        gl_error err;
        size_t length;
        const char *text = read_fixture(cases[i].file), *found = strstr(text, cases[i].from);
        assert_non_null(found);
        const char *odd = gl_arena_printf(arena, "%.*s%s%s", (int)(found - text), text, cases[i].to,
                                          found + strlen(cases[i].from));
        assert_true(import_text(odd, cases[i].file, &nothing_said, &result, &err));
        const gl_import_run *run = &result.runs[0];
        if (!has_warning(run, cases[i].warning))
            fail_msg("case %zu: %s", i, run->run.warnings);
        assert_non_null(gl_run_validation_failure(&run->run, &length));
        size_t unproven = 0;
        for (size_t c = 0; c < run->curve_count; c++)
            for (size_t k = 0; k < run->curves[c].sample_count; k++)
                unproven += isnan(run->curves[c].samples[k].wrong) ? 1 : 0;
        assert_true(unproven > 0);
    }
}

static void test_aborted_run_keeps_its_rows(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_aborted_rows.txt", &nothing_said);
    assert_int_equal(result.runs[0].run.state, GL_RUN_INTERRUPTED);
    assert_true(has_warning(&result.runs[0], "INCOMPLETE: Test NCCL failure"));
    assert_int_equal(result.runs[0].curves[0].sample_count, 5);
    /* No host names and addresses, unless asked for. */
    assert_false(has_warning(&result.runs[0], "gpu-a0"));
}

static void test_second_run_after_an_aborted_one(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_aborted_then_good.txt", &nothing_said);
    assert_int_equal(result.run_count, 1);
    assert_int_equal(result.refused_count, 1);
    assert_int_equal(result.runs[0].run.state, GL_RUN_COMPLETE);
}

static void test_several_runs(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_several.txt", &nothing_said);
    assert_int_equal(result.run_count, 3);
    assert_int_equal(result.runs[0].curves[0].collective, GL_ALL_REDUCE);
    assert_int_equal(result.runs[1].curves[0].collective, GL_ALL_GATHER);
    assert_int_equal(result.runs[2].curves[0].collective, GL_BROADCAST);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(result.runs[i].curves[0].sample_count, 11);
}

static void test_elided_rows_are_found_by_the_mean(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("made_elided.txt", &nothing_said);
    assert_true(has_warning(&result.runs[0], "average 124.986 GB/s"));
    assert_true(has_warning(&result.runs[0], "line says 100.653 GB/s"));
}

/* ---- what the user says ---- */

static void test_options_complete_and_never_contradict(void **state)
{
    (void)state;
    gl_import_options said = nothing_said;
    said.nodes = 1;
    gl_import_result result = import_fixture("made_no_devices.txt", &said);
    assert_int_equal(result.runs[0].curves[0].placement.ranks, 8);
    assert_refused(read_fixture("made_two_nodes.txt"), "x", &said,
                   "the device list has 2 hosts, --nodes says 1");
    said.nodes = 64;
    result = import_fixture("made_no_devices_gather_512.txt", &said);
    assert_int_equal(result.runs[0].curves[0].placement.ranks, 512);
    assert_int_equal(result.runs[0].curves[0].placement.ranks_per_node, 8);
    said.ranks = 512;
    result = import_fixture("made_no_devices_512.txt", &said);
    assert_int_equal(result.runs[0].curves[0].placement.ranks, 512);
    said.ranks = 500;
    assert_refused(read_fixture("made_no_devices_512.txt"), "x", &said,
                   "which is 502 to 519 ranks; --ranks says 500");
    said = nothing_said;
    said.ranks = 4;
    assert_refused(read_fixture("made_two_nodes.txt"), "x", &said, "--ranks says 4");
    said = nothing_said;
    said.nodes = 2;
    result = import_fixture("made_same_names.txt", &said);
    assert_int_equal(result.runs[0].curves[0].placement.nodes, 2);
    said = nothing_said;
    said.has_collective = true;
    said.collective = GL_ALL_GATHER;
    result = import_fixture("made_v213_unnamed.txt", &said);
    assert_int_equal(result.runs[0].curves[0].collective, GL_ALL_GATHER);
    assert_refused(read_fixture("made_two_nodes.txt"), "x", &said, "--collective says all_gather");
}

static void test_file_name_tells_the_collective(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    char *text = read_fixture("made_v213_unnamed.txt");
    assert_true(import_text(text, "/logs/a100-AllGather-2n.txt", &nothing_said, &result, &err));
    assert_int_equal(result.runs[0].curves[0].collective, GL_ALL_GATHER);
    assert_true(import_text(text, "all_to_all.log", &nothing_said, &result, &err) == false ||
                result.runs[0].curves[0].collective == GL_ALLTOALL);
    const char *command = gl_arena_printf(arena, "+ ./build/all_gather_perf -b 1K -e 1G\n%s", text);
    assert_true(import_text(command, "x", &nothing_said, &result, &err));
    assert_int_equal(result.runs[0].curves[0].collective, GL_ALL_GATHER);
}

/* The name of a run does not become that of a table that follows it. */
static void test_names_do_not_carry_over(void **state)
{
    (void)state;
    const char *text = gl_arena_printf(arena, "%s%s", read_fixture("made_two_nodes.txt"),
                                       read_fixture("made_v213_unnamed.txt"));
    gl_import_result result;
    gl_error err;
    assert_true(import_text(text, "x", &nothing_said, &result, &err));
    assert_int_equal(result.run_count, 1);
    assert_int_equal(result.refused_count, 1);
    assert_non_null(strstr(result.refused[0].message, "give --collective"));
}

static void test_transport_said_and_proven(void **state)
{
    (void)state;
    gl_import_options said = nothing_said;
    said.has_transport = true;
    said.transport = GL_TRANSPORT_NVLINK;
    gl_import_result result = import_fixture("nvl_all_reduce_g2.txt", &said);
    assert_int_equal(result.runs[0].curves[0].transport, GL_TRANSPORT_NVLINK);
    assert_false(has_warning(&result.runs[0], "transport"));
    result = import_fixture("debug_all_reduce_g2.txt", &said);
    assert_int_equal(result.runs[0].curves[0].transport, GL_TRANSPORT_NVLINK);
    assert_refused(read_fixture("debug_shm.txt"), "x", &said,
                   "the log shows shm (SHM channels), --transport says nvlink");
    said.transport = GL_TRANSPORT_SHM;
    assert_refused(read_fixture("debug_all_reduce_g2.txt"), "x", &said, "the log shows nvlink");
    result = import_fixture("debug_sock.txt", &nothing_said);
    assert_int_equal(result.runs[0].curves[0].transport, GL_TRANSPORT_NET_SOCKET);
    assert_int_equal(result.runs[0].curves[0].placement.nodes, 1);
    assert_true(has_warning(&result.runs[0], "NCCL counts 2 nodes, the device list has 1 host"));
    result = import_fixture("nvl_all_reduce_g2.txt", &nothing_said);
    assert_int_equal(result.runs[0].curves[0].transport, GL_TRANSPORT_UNKNOWN);
    assert_true(has_warning(&result.runs[0], "transport unknown"));
}

/* ---- small parts ---- */

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        double value, error;
    } numbers[] = {{"14.08", 14.08, 0.005}, {"12480.8", 12480.8, 0.05},
                   {"39121", 39121, 0.5},   {"1.7e+07", 1.7e7, 5e5},
                   {"0", 0, 0.5},           {"0e+00", 0, 0.5},
                   {"-1", -1, 0.5},         {"5e-07", 5e-7, 5e-8}};
    static const char *const bad[] = {"",   "x",  "1.2.3", "0x10", "12:",     "1,5",
                                      "--", "e5", "1e999", "[0]",  "02:26:38"};
    (void)state;
    gl_printed printed;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_true(gl_printed_read(numbers[i].text, strlen(numbers[i].text), &printed));
        assert_close(printed.value, numbers[i].value, 1e-12);
        assert_close(printed.error, numbers[i].error, 1e-9);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (gl_printed_read(bad[i], strlen(bad[i]), &printed))
            fail_msg("\"%s\" is a number", bad[i]);
    assert_true(gl_printed_read("N/A", 3, &printed) && isnan(printed.value));
    assert_true(gl_printed_read("nan", 3, &printed) && isnan(printed.value));
    assert_true(gl_printed_read("inf", 3, &printed) && isinf(printed.value));
}

static void test_cleaning(void **state)
{
    static const struct {
        const char *line, *cleaned;
    } cases[] = {{"[1,0]<stdout>:a", "a"},
                 {"# a", "a"},
                 {"x [0000:9d:00] y", "x [0000:9d:00] y"},
                 {"[0] a", "[0] a"},
                 {"a[1,3]<stderr>:b", "a b"},
                 {"[prterun-h-1@1,0] a", "a"},
                 {"[a,b] c", "[a,b] c"},
                 {"\x1b[1;31mred\x1b[0m", "red"},
                 {"[1,", "[1,"},
                 {"\x1b", ""},
                 {"\x1b[", ""},
                 {"> | # a", "a"},
                 {"\x1b]0;me@host: ~\a# a", "a"},
                 {"\x1b]0;title\x1b\\a", "a"},
                 {"\x1b]0;no end", ""},
                 {"| 8 | 2 | float |", "8 2 float"},
                 {"nccl-1  | # a", "nccl-1 # a"},
                 {"a|b", "a|b"},
                 {"\xc2\xa0"
                  "8\xc2\xa0"
                  "2",
                  "8 2"},
                 {"\xef\xbb\xbf# a", "a"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *line = gl_arena_strdup(arena, cases[i].line);
        gl_words words, wanted;
        gl_prefix_clean(line);
        gl_words_split(line, strlen(line), &words);
        gl_words_split(cases[i].cleaned, strlen(cases[i].cleaned), &wanted);
        assert_int_equal(words.count, wanted.count);
        for (size_t k = 0; k < words.count; k++) {
            assert_int_equal(words.items[k].length, wanted.items[k].length);
            assert_memory_equal(words.items[k].text, wanted.items[k].text, words.items[k].length);
        }
    }
}

/* Escapes and no-break spaces between the words of a line do not pull them apart. */
static void test_phrases_survive_cleaning(void **state)
{
    static const char *const lines[] = {"\x1b[1mAvg\x1b[0m \x1b[1mbus\x1b[0m bandwidth",
                                        "Avg\xc2\xa0"
                                        "bus\xc2\xa0"
                                        "bandwidth"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *line = gl_arena_strdup(arena, lines[i]);
        gl_prefix_clean(line);
        assert_string_equal(line, "Avg bus bandwidth");
    }
}

static const char frame[] =
    "# Collective test starting: %s\n"
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 1 iters: 20 agg "
    "iters: 1 validation: 1 graph: 0\n"
    "#  Rank  0 Group  0 Pid  1 on  gpu-17 device  0 [0000:00:06] NVIDIA H200\n"
    "#  Rank  1 Group  0 Pid  1 on  gpu-17 device  1 [0000:00:07] NVIDIA H200\n"
    "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    "%s";

static const char *framed(const char *test, const char *rows)
{
    return gl_arena_printf(arena, frame, test, rows);
}

/* One value short, the root must not become the time, nor a bandwidth the wrong elements. */
static void test_row_that_lacks_its_last_value(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *text = framed(
        "all_reduce_perf", "1048576 262144 float sum -1 24.68 42.49 42.49 0 24.00 43.69 43.69 0\n"
                           "2097152 524288 float sum -1 25.00 83.89 83.89 0 25.00 83.89 83.89\n");
    assert_true(import_text(text, "x", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "1 rows were torn"));
    assert_false(has_warning(&result.runs[0], "wrong elements"));
    assert_int_equal(result.runs[0].curves[0].sample_count, 1);
    /* The same with a root that could be a time. */
    text = framed("broadcast_perf",
                  "1048576 262144 float none 0 24.68 42.49 42.49 0 24.00 43.69 43.69 0\n"
                  "2097152 524288 float none 1 25.00 83.89 83.89 0 25.00 83.89 83.89\n");
    assert_true(import_text(text, "x", &nothing_said, &result, &err));
    assert_int_equal(result.runs[0].curve_count, 2);
    assert_false(has_warning(&result.runs[0], "wrong elements"));
}

static void test_roots_are_ranks(void **state)
{
    (void)state;
    assert_refused(framed("broadcast_perf",
                          "1048576 262144 float none 2 24.68 42.49 42.49 0 24.00 43.69 43.69 0\n"),
                   "x", &nothing_said, "root 2, but there are 2 ranks");
}

/* Whatever is left out is said. */
static void test_values_without_a_time_are_counted(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *text = framed("all_reduce_perf",
                              "0 0 float sum -1 0.25 0.00 0.00 0 0.25 0.00 0.00 0\n"
                              "1048576 262144 float sum -1 24.68 42.49 42.49 0 nan nan 43.69 0\n");
    assert_true(import_text(text, "x", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "1 values left out: size or time is no number"));
}

/* Of rows that fit and rows that do not, the message names one that does not. */
static void test_contradiction_names_the_row(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *text = framed(
        "all_reduce_perf", "1048576 262144 float sum -1 24.68 42.49 42.49 0 24.00 43.69 45.87 0\n");
    assert_false(import_text(text, "x", &nothing_said, &result, &err));
    assert_non_null(strstr(err.message, "busbw / algbw is 1.0499 "));
    assert_null(strstr(err.message, "which is 2 ranks"));
}

static void test_messages_name_no_machine(void **state)
{
    static const char *const secrets[] = {"gpu-17", "10.1.2.3", "10.4.5.6", "fe80", "storage-9"};
    (void)state;
    gl_import_result result;
    gl_error err;
    const char *text =
        framed("all_reduce_perf",
               "1048576 262144 float sum -1 24.68 42.49 42.49 0 24.00 43.69 43.69 0\n"
               "storage-9: Test NCCL failure all_reduce.cu:44 'Connect to 10.1.2.3<5> failed; "
               "10.4.5.6 fe80::1%eth0 gpu-17.cluster.local (storage-9)'\n");
    assert_true(import_text(text, "x", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "INCOMPLETE: Test NCCL failure all_reduce.cu:44"));
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        assert_false(has_warning(&result.runs[0], secrets[i]));
}

/* Pasted without their first lines. */
static void test_other_programs_without_their_names(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"[ ID] Interval           Transfer     Bitrate\n", "iperf"},
        {" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n", "ib_write_lat"},
        {"memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n", "nvbandwidth"},
        {"SUM host_to_device_memcpy_ce 444.7\n", "nvbandwidth"},
        {"Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n", "p2pBandwidthLatencyTest"},
        {"# Size       Avg Latency(us)\n4 12.3\n", "OSU"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, "x", &nothing_said, cases[i].words);
}

static void test_headers(void **state)
{
    (void)state;
    gl_layout layout;
    gl_words words;
    const char *line = "size count type redop root time algbw busbw #wrong time algbw busbw #wrong "
                       "timestamp";
    gl_words_split(line, strlen(line), &words);
    assert_true(gl_layout_read(&words, &layout));
    assert_int_equal(layout.count, 4);
    assert_true(layout.has_redop && layout.has_root && !layout.is_old);
    line = "bytes N type op time algbw busbw res time algbw busbw res";
    gl_words_split(line, strlen(line), &words);
    assert_true(gl_layout_read(&words, &layout));
    assert_true(layout.is_old);
    line = "size count type time algbw busbw";
    gl_words_split(line, strlen(line), &words);
    assert_false(gl_layout_read(&words, &layout));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_layouts),
        TEST(test_what_a_run_says_of_itself),
        TEST(test_unchecked_results_are_not_right_ones),
        TEST(test_rccl_is_labelled),
        TEST(test_per_iteration_columns),
        TEST(test_roots_and_types_are_curves_of_their_own),
        TEST(test_cycles_become_medians),
        TEST(test_prefixes_change_nothing),
        TEST(test_torn_rows_are_put_together),
        TEST(test_half_a_row_is_kept_and_flagged),
        TEST(test_wrongly_joined_values_are_left_out),
        TEST(test_refusals),
        TEST(test_failed_check_is_flagged_and_kept),
        TEST(test_checks_that_did_not_pass),
        TEST(test_aborted_run_keeps_its_rows),
        TEST(test_second_run_after_an_aborted_one),
        TEST(test_several_runs),
        TEST(test_elided_rows_are_found_by_the_mean),
        TEST(test_options_complete_and_never_contradict),
        TEST(test_file_name_tells_the_collective),
        TEST(test_names_do_not_carry_over),
        TEST(test_transport_said_and_proven),
        TEST(test_numbers),
        TEST(test_cleaning),
        TEST(test_phrases_survive_cleaning),
        TEST(test_row_that_lacks_its_last_value),
        TEST(test_roots_are_ranks),
        TEST(test_values_without_a_time_are_counted),
        TEST(test_contradiction_names_the_row),
        TEST(test_messages_name_no_machine),
        TEST(test_other_programs_without_their_names),
        TEST(test_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
