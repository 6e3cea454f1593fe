/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/import_support.h"

static void test_document_agrees_with_text(void **state)
{
    static const char *const pairs[][2] = {{"json_all_reduce.json", "json_all_reduce.txt"},
                                           {"json_alltoall.json", "json_alltoall.txt"},
                                           {"json_periter.json", "periter_all_gather.txt"}};
    (void)state;
    for (size_t f = 0; f < sizeof pairs / sizeof *pairs; f++) {
        gl_import_result json = import_fixture(pairs[f][0], &nothing_said);
        gl_import_result text = import_fixture(pairs[f][1], &nothing_said);
        assert_int_equal(json.runs[0].curve_count, text.runs[0].curve_count);
        assert_string_equal(json.runs[0].run.nccl_version, text.runs[0].run.nccl_version);
        assert_string_equal(json.runs[0].run.gpu, text.runs[0].run.gpu);
        for (size_t c = 0; c < json.runs[0].curve_count; c++) {
            const gl_curve *a = &json.runs[0].curves[c], *b = &text.runs[0].curves[c];
            assert_memory_equal(&a->placement, &b->placement, sizeof a->placement);
            assert_int_equal(a->collective, b->collective);
            assert_int_equal(a->sample_count, b->sample_count);
            for (size_t i = 0; i < a->sample_count; i++)
                assert_close(a->samples[i].time_median_s, b->samples[i].time_median_s, 1e-3);
        }
    }
}

static void test_what_a_document_says_of_itself(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("json_all_reduce.json", &nothing_said);
    const gl_run *run = &result.runs[0].run;
    assert_string_equal(run->started_at, "2026-11-30T02:26:29");
    assert_string_equal(run->environment, "NCCL_NVLS_ENABLE=0");
    assert_string_equal(run->host, "");
    assert_non_null(strstr(run->parameters, "time over ranks: average"));
    assert_int_equal(run->state, GL_RUN_COMPLETE);
    assert_false(has_warning(&result.runs[0], "rows are missing"));
}

static void test_host_is_kept_when_asked_for(void **state)
{
    (void)state;
    gl_import_options said = nothing_said;
    said.keep_host = true;
    gl_import_result result = import_fixture("json_all_reduce.json", &said);
    assert_string_equal(result.runs[0].run.host, "vm");
}

static void test_percentiles(void **state)
{
    (void)state;
    gl_import_result result = import_fixture("json_periter.json", &nothing_said);
    const gl_sample *sample = sample_of(&result.runs[0].curves[0], 8192);
    assert_close(sample->time_median_s, 23.72395e-6, 1e-9);
    assert_close(sample->time_p95_s, 29.376e-6, 1e-9);
    assert_close(sample->time_min_s, 18.848e-6, 1e-9);
    assert_true(sample->time_p05_s > sample->time_min_s &&
                sample->time_p05_s < sample->time_median_s);
}

/* A document cut anywhere gives its complete results or a clear refusal, and never more. */
static void test_truncated_documents(void **state)
{
    (void)state;
    char *text = read_fixture("json_alltoall.json");
    size_t length = strlen(text), taken = 0, last = 0;
    for (size_t cut = 1; cut < length; cut += cut % 7 + 1) {
        char *part = gl_arena_strndup(arena, text, cut);
        gl_import_result result;
        gl_error err;
        if (!import_text(part, "cut.json", &nothing_said, &result, &err)) {
            assert_int_equal(err.status, GL_ERROR_INPUT);
            continue;
        }
        taken++;
        assert_int_equal(result.runs[0].run.state, GL_RUN_INTERRUPTED);
        assert_true(has_warning(&result.runs[0], "the document ends early"));
        assert_true(result.runs[0].curves[0].sample_count >= last);
        last = result.runs[0].curves[0].sample_count;
    }
    assert_true(taken > 100);
    assert_int_equal(last, 10);
}

/* Replaces the first occurrence of `from`. */
static char *replace(const char *text, const char *from, const char *to)
{
    const char *found = strstr(text, from);
    assert_non_null(found);
    return gl_arena_printf(arena, "%.*s%s%s", (int)(found - text), text, to, found + strlen(from));
}

static void test_odd_values(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    char *text = read_fixture("json_alltoall.json");
    char *odd = replace(text, "\"time\":13.73535", "\"time\":\"nan\"");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_int_equal(result.runs[0].curves[1].sample_count, 9);
    odd = replace(text,
                  "\"in_place\":{\"time\":15.7277,\"alg_bw\":0.065108,\"bus_bw\":0.032554,"
                  "\"nwrong\":null}",
                  "\"in_place\":null");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_int_equal(result.runs[0].curve_count, 2);
    assert_true(has_warning(&result.runs[0], "rows are missing"));
    odd = replace(text, "\"nwrong\":0.0", "\"nwrong\":12.0");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "12 wrong elements"));
    static const char *const no_counts[] = {"\"nwrong\":-1", "\"nwrong\":\"5\"",
                                            "\"nwrong\":\"nan\"", "\"nwrong\":true",
                                            "\"nwrong\":1e308"};
    for (size_t i = 0; i < sizeof no_counts / sizeof *no_counts; i++) {
        odd = replace(text, "\"nwrong\":0.0", no_counts[i]);
        assert_true(import_text(odd, "x", &nothing_said, &result, &err));
        assert_true(
            has_warning(&result.runs[0], "validation FAILED: the check of 1 values gave no count"));
    }
    odd = replace(text, "\"nwrong\":0.0", "\"nwrong\":\"N/A\"");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_false(has_warning(&result.runs[0], "validation FAILED"));
    odd = replace(text, "\"out_of_bounds\":{\"count\":0,\"okay\":\"true\"}",
                  "\"out_of_bounds\":{\"count\":3,\"okay\":\"false\"}");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "validation FAILED: 3 values out of bounds"));
    odd = replace(text, "\"errors\":[\"\"]", "\"errors\":[\"node01: Test CUDA failure x.cu:1\"]");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "INCOMPLETE: Test CUDA failure"));
    assert_false(has_warning(&result.runs[0], "node01"));
    odd = replace(text, "\"errors\":[\"\"]",
                  "\"errors\":[\"node01: Test NCCL failure x.cu:1 'to 10.1.2.3<4> on node01'\"]");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_true(has_warning(&result.runs[0], "Test NCCL failure"));
    assert_false(has_warning(&result.runs[0], "node01"));
    assert_false(has_warning(&result.runs[0], "10.1.2.3"));
}

/* "cat a.json b.json": no document is lost without a word. */
static void test_several_documents(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    char *one = read_fixture("json_alltoall.json"), *two = read_fixture("json_all_reduce.json");
    const char *text = gl_arena_printf(arena, "\xef\xbb\xbf%s\n\n%s\n", one, two);
    assert_true(import_text(text, "x", &nothing_said, &result, &err));
    assert_int_equal(result.run_count, 2);
    assert_int_equal(result.runs[1].curves[0].collective, GL_ALL_REDUCE);
    assert_refused(gl_arena_printf(arena, "%s\ngarbage", one), "x", &nothing_said,
                   "this is no JSON document");
}

/* Somebody's shell holds bytes that JSON does not allow. */
static void test_bytes_of_other_encodings(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    char *text = read_fixture("json_all_reduce.json");
    char *odd = replace(text, "HOSTNAME=node01", "NAME=J\xfcrgen \x1b[0m \\\" }");
    assert_true(import_text(odd, "x", &nothing_said, &result, &err));
    assert_int_equal(result.runs[0].curves[0].sample_count, 28);
    assert_int_equal(result.runs[0].run.state, GL_RUN_COMPLETE);
}

/* NCCL_ in front does not make a password one of NCCL's variables. */
static void test_secrets_with_the_prefix(void **state)
{
    (void)state;
    gl_import_result result;
    gl_error err;
    char *text = replace(read_fixture("json_all_reduce.json"), "API_TOKEN=not-a-real-secret",
                         "NCCL_API_TOKEN=geheim\",\"NCCL_PASSWORD=geheim\","
                         "\"NCCL_IB_HCA=mlx5_0\\nOTHER=geheim");
    assert_true(import_text(text, "x", &nothing_said, &result, &err));
    assert_null(strstr(result.runs[0].run.environment, "geheim"));
    assert_non_null(strstr(result.runs[0].run.environment, "NCCL_API_TOKEN=(set)"));
    assert_non_null(strstr(result.runs[0].run.environment, "NCCL_IB_HCA=mlx5_0\n"));
}

static void test_refusals(void **state)
{
    (void)state;
    char *text = read_fixture("json_alltoall.json");
    assert_refused("{\"a\": 1}", "x", &nothing_said, "not one of nccl-tests");
    assert_refused("{\"a\": ", "x", &nothing_said, "no JSON document");
    assert_refused("{", "x", &nothing_said, "no JSON document");
    assert_refused("{]", "x", &nothing_said, "no JSON document");
    assert_refused(replace(text, "\"ngpus\":2", "\"ngpus\":4"), "x", &nothing_said,
                   "is 2 ranks; the configuration (ngpus x nthreads) says 4");
    assert_refused(replace(text, "\"alltoall_perf\"", "\"./alltoallv_perf\""), "x", &nothing_said,
                   "is not a test of a collective");
    assert_refused(replace(text, "\"time\":13.73535", "\"cpu_time\":13.73535"), "x", &nothing_said,
                   "CPU times");
    /* Cutting needs balanced brackets; depth is limited. */
    char deep[400];
    memset(deep, '[', sizeof deep - 1);
    deep[0] = '{';
    deep[sizeof deep - 1] = '\0';
    assert_refused(deep, "x", &nothing_said, "no JSON document");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_document_agrees_with_text),   TEST(test_what_a_document_says_of_itself),
        TEST(test_host_is_kept_when_asked_for), TEST(test_percentiles),
        TEST(test_truncated_documents),         TEST(test_odd_values),
        TEST(test_several_documents),           TEST(test_bytes_of_other_encodings),
        TEST(test_secrets_with_the_prefix),     TEST(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
