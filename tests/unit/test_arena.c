/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/arena.h"
#include "tests/support.h"

#include <stdalign.h>

static int set_up(void **state)
{
    *state = gl_arena_create();
    return 0;
}

static int tear_down(void **state)
{
    gl_arena_destroy(*state);
    return 0;
}

static void memory_is_zeroed_and_aligned(void **state)
{
    for (size_t size = 1; size < 300; size += 7) {
        unsigned char *memory = gl_arena_alloc(*state, 3, size);
        assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < 3 * size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xAA, 3 * size);
    }
}

static void objects_do_not_overlap(void **state)
{
    enum { COUNT = 3000 };
    int *objects[COUNT];
    for (int i = 0; i < COUNT; i++) {
        /* Some larger than a block, which get one of their own. */
        objects[i] = GL_ARENA_NEW(*state, int, i % 500 == 7 ? 20000 : 5);
        objects[i][0] = i;
        objects[i][4] = -i;
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(objects[i][0], i);
        assert_int_equal(objects[i][4], -i);
    }
}

static void nothing_is_a_valid_pointer(void **state)
{
    assert_non_null(gl_arena_alloc(*state, 0, 8));
    gl_arena_destroy(NULL);
}

static void grow_keeps_the_contents(void **state)
{
    size_t capacity = 0;
    int *array = NULL;
    for (int i = 0; i < 10000; i++) {
        array = gl_arena_grow(*state, array, &capacity, (size_t)i + 1, sizeof *array);
        array[i] = i;
        assert_true(capacity > (size_t)i);
    }
    for (int i = 0; i < 10000; i++)
        assert_int_equal(array[i], i);
    assert_ptr_equal(gl_arena_grow(*state, array, &capacity, 5, sizeof *array), array);
}

static void texts_are_copied(void **state)
{
    char source[] = "nvlink";
    char *whole = gl_arena_strdup(*state, source);
    char *part = gl_arena_strndup(*state, source, 2);
    source[0] = 'X';
    assert_string_equal(whole, "nvlink");
    assert_string_equal(part, "nv");
    assert_string_equal(gl_arena_strdup(*state, ""), "");
    assert_string_equal(gl_arena_printf(*state, "%s-%d", "tp", 8), "tp-8");
    assert_string_equal(gl_arena_printf(*state, "%s", ""), "");
}

static void an_arena_is_used_again(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_arena_reset(arena); /* empty as it is */
    for (int round = 0; round < 3; round++) {
        for (size_t size = 1; size < 100000; size *= 3) {
            unsigned char *memory = gl_arena_alloc(arena, size, 1);
            assert_true(memory[0] == 0 && memory[size - 1] == 0);
            memset(memory, 0xff, size);
        }
        gl_arena_reset(arena);
    }
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arena_is_used_again),
        cmocka_unit_test_setup_teardown(memory_is_zeroed_and_aligned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(objects_do_not_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_a_valid_pointer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(grow_keeps_the_contents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_are_copied, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
