/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "calibrate/measure/acceptance_list.h"

static gl_arena *arena;
static gl_acceptance_list list;
static gl_error err;

static bool parse(const char *text)
{
    return gl_acceptance_list_parse("list.csv", text, strlen(text), arena, &list, &err);
}

#define assert_refused(text, line_number, words)                                                   \
    do {                                                                                           \
        assert_false(parse(text));                                                                 \
        if (err.line != (line_number) || strstr(err.message, (words)) == NULL)                     \
            fail_msg("%d: %s", err.line, err.message);                                             \
        assert_int_equal(err.status, GL_ERROR_INPUT);                                              \
    } while (0)

static void test_as_written(void **state)
{
    (void)state;
    assert_true(parse("\xef\xbb\xbfscenario,collective,dtype,ranks,nodes,ranks_per_node,"
                      "concurrent_groups,size_bytes,limit_s,for\r\n"
                      "\"a, \"\"b\"\"\",all_reduce,fp32,4,2,2,3,4096,0.5,norm\r\n"
                      "x,all_reduce,fp32,4,2,2,3,1024,,\"a second, smaller\"\r\n"
                      "x,all_reduce,fp32,4,2,2,3,4096,,\r\n"
                      "\r\n"
                      "x,sendrecv,,2,1,2,1,8,,\r\n"));
    assert_int_equal(list.count, 2);
    const gl_acceptance_item *item = &list.items[0];
    assert_int_equal(item->collective, GL_ALL_REDUCE);
    assert_int_equal(item->dtype, GL_FP32);
    assert_int_equal(item->placement.nodes, 2);
    assert_int_equal(item->placement.concurrent_groups, 3);
    assert_int_equal(item->size_count, 2);
    assert_close(item->sizes[0], 1024, 0);
    assert_close(item->sizes[1], 4096, 0);
    assert_int_equal(list.items[1].dtype, GL_DTYPE_NONE);
}

/* By hand: three columns are enough, and sizes may have units. */
static void test_by_hand(void **state)
{
    (void)state;
    assert_true(parse("size_bytes,ranks,collective\n1 MiB,3,alltoall"));
    assert_int_equal(list.items[0].placement.ranks_per_node, 3);
    assert_int_equal(list.items[0].size_count, 2); /* a plan can use no curve of one size */
    assert_close(list.items[0].sizes[0], 524256, 0);
    assert_close(list.items[0].sizes[1], 1048576, 0);
    unsigned digest = gl_acceptance_list_digest(&list);
    assert_true(parse("size_bytes,ranks,collective\n2 MiB,3,alltoall"));
    assert_int_not_equal(digest, gl_acceptance_list_digest(&list));
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("", 1, "is empty");
    assert_refused("ranks,size_bytes\n", 1, "there is no column: 'collective'");
    assert_refused("model:\n  layers: 2\n", 1, "as 'gpulink-plan accept --list' writes it");
    assert_refused("collective,ranks,size_bytes\n", 1, "the list is empty");
    assert_refused("collective,ranks,size_bytes\nall_reduse,2,8\n", 2, "'all_reduse'");
    assert_refused("collective,ranks,size_bytes\nreduce,2,8\n", 2, "is none of");
    assert_refused("collective,ranks,size_bytes\nall_reduce,1,8\n", 2, "two ranks");
    assert_refused("collective,ranks,size_bytes\nall_reduce,2x,8\n", 2, "'2x'");
    assert_refused("collective,ranks,size_bytes\nall_reduce,,8\n", 2, "is missing");
    assert_refused("collective,ranks,size_bytes\nall_reduce,2,0\n", 2, "is no size");
    assert_refused("collective,ranks,size_bytes\n\nall_reduce,2\n", 3,
                   "2 cells where the header has 3");
    assert_refused("collective,ranks,size_bytes,nodes\nall_reduce,2,8,3\n", 2, "on so many nodes");
    assert_refused("collective,ranks,size_bytes,dtype\nall_reduce,2,8,fp5\n", 2,
                   "is unknown: 'fp5'");
    assert_refused("collective,ranks,size_bytes\n\"all_reduce,2,8\n", 2, "never closed");
    assert_refused("collective,ranks,size_bytes\n\"all_reduce\"x,2,8\n", 2, "closing quote");
    assert_false(gl_acceptance_list_parse("l", "a\0b", 3, arena, &list, &err));
    assert_false(gl_acceptance_list_load("/nowhere/list.csv", arena, &list, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_written),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_refused),
    };
    arena = gl_arena_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gl_arena_destroy(arena);
    return failed;
}
