/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/error.h"
#include "tests/support.h"

static void fail_sets_message_and_returns_false(void **state)
{
    (void)state;
    gl_error err;
    assert_false(gl_fail(&err, GL_ERROR_SYSTEM, "cannot open %s", "a.db"));
    assert_int_equal(err.status, GL_ERROR_SYSTEM);
    assert_string_equal(err.message, "cannot open a.db");
    assert_string_equal(err.file, "");
    assert_string_equal(err.path, "");
    assert_int_equal(err.line, 0);
}

static void fail_accepts_no_error(void **state)
{
    (void)state;
    assert_false(gl_fail(NULL, GL_ERROR_USAGE, "x"));
    assert_false(gl_fail_at(NULL, GL_ERROR_USAGE, NULL, NULL, "x"));
}

static void text_leaves_out_what_is_unknown(void **state)
{
    (void)state;
    const gl_mark whole = {"m.yaml", 3, 7}, file_only = {"m.yaml", 0, 0};
    gl_error err;
    char text[1400];
    gl_fail_at(&err, GL_ERROR_INPUT, &whole, "parallel.tp", "is %d", 3);
    assert_string_equal(gl_error_text(&err, text, sizeof text), "m.yaml:3:7: parallel.tp: is 3");
    gl_fail_at(&err, GL_ERROR_INPUT, &file_only, NULL, "empty");
    assert_string_equal(gl_error_text(&err, text, sizeof text), "m.yaml: empty");
    gl_fail_at(&err, GL_ERROR_INPUT, NULL, "--top", "too small");
    assert_string_equal(gl_error_text(&err, text, sizeof text), "--top: too small");
    gl_fail(&err, GL_ERROR_INPUT, "plain");
    assert_string_equal(gl_error_text(&err, text, sizeof text), "plain");
    const gl_mark escape = {"no\033[31m.db", 0, 0};
    gl_fail_at(&err, GL_ERROR_INPUT, &escape, "a\tb", "x\033]0;y\a");
    assert_string_equal(gl_error_text(&err, text, sizeof text), "no?[31m.db: a?b: x?]0;y?");
}

static void long_parts_are_cut_and_terminated(void **state)
{
    (void)state;
    char longest[2000], text[40];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const gl_mark mark = {longest, 1, 1};
    gl_error err;
    gl_fail_at(&err, GL_ERROR_INPUT, &mark, longest, "%s", longest);
    assert_int_equal(strlen(err.file), sizeof err.file - 1);
    assert_int_equal(strlen(err.path), sizeof err.path - 1);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(strlen(gl_error_text(&err, text, sizeof text)), sizeof text - 1);
}

static void diagnostics_keep_the_first_twenty(void **state)
{
    (void)state;
    static gl_diagnostics list;
    memset(&list, 0, sizeof list);
    const gl_mark mark = {"m.yaml", 1, 1};
    for (int i = 0; i < GL_DIAGNOSTICS_MAX + 5; i++)
        assert_false(gl_diagnose(&list, &mark, "key", "problem %d", i));
    assert_int_equal(list.count, GL_DIAGNOSTICS_MAX);
    assert_int_equal(list.dropped, 5);
    assert_string_equal(list.items[0].message, "problem 0");
    assert_string_equal(list.items[19].message, "problem 19");
    assert_int_equal(list.items[19].status, GL_ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_sets_message_and_returns_false),
        cmocka_unit_test(fail_accepts_no_error),
        cmocka_unit_test(text_leaves_out_what_is_unknown),
        cmocka_unit_test(long_parts_are_cut_and_terminated),
        cmocka_unit_test(diagnostics_keep_the_first_twenty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
