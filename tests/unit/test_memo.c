/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/memo.h"
#include "tests/support.h"

static void values_stay_where_they_are(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_memo *memo = gl_memo_create(arena, 2, sizeof(double));
    enum { KEYS = 5000 };
    static double *values[KEYS];
    bool found;
    for (int i = 0; i < KEYS; i++) {
        const gl_memo_key key = {{gl_memo_pair(i % 70, i), i / 70}};
        values[i] = gl_memo_get(memo, &key, &found);
        assert_false(found);
        assert_true(*values[i] == 0);
        *values[i] = i;
    }
    for (int i = 0; i < KEYS; i++) {
        const gl_memo_key key = {{gl_memo_pair(i % 70, i), i / 70}};
        assert_ptr_equal(gl_memo_get(memo, &key, &found), values[i]);
        assert_true(found && *values[i] == i);
    }
    gl_arena_destroy(arena);
}

static void what_was_forgotten_is_new_again(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_memo *memo = gl_memo_create(arena, 1, sizeof(double));
    const gl_memo_key kept = {{1}}, forgotten = {{2}};
    bool found;
    *(double *)gl_memo_get(memo, &kept, &found) = 7;
    *(double *)gl_memo_get(memo, &forgotten, &found) = 8;
    gl_memo_forget_last(memo);
    assert_true(*(double *)gl_memo_get(memo, &forgotten, &found) == 0);
    assert_false(found);
    assert_true(*(double *)gl_memo_get(memo, &kept, &found) == 7);
    assert_true(found);
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stay_where_they_are),
        cmocka_unit_test(what_was_forgotten_is_new_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
