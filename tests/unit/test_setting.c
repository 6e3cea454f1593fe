/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/setting.h"

#include "tests/support.h"

#include <string.h>

static void test_what_is_kept(void **state)
{
    static const struct {
        const char *variable, *kept; /* NULL: nothing */
    } cases[] = {
        {"NCCL_X_TOKEN=geheim", "NCCL_X_TOKEN=(set)"},
        {"NCCL_X_SECRET=/a/geheim", "NCCL_X_SECRET=(set)"},
        {"NCCL_X_PASSWORD=geheim", "NCCL_X_PASSWORD=(set)"},
        {"NCCL_X_CREDENTIALS=geheim", "NCCL_X_CREDENTIALS=(set)"},
        {"NCCL_X_AUTH=geheim", "NCCL_X_AUTH=(set)"},
        {"NCCL_X_KEY=geheim", "NCCL_X_KEY=(set)"},
        {"NCCL_COMM_ID=10.0.0.1:1234", "NCCL_COMM_ID=(set)"},
        {"NCCL_HOSTID=node7", "NCCL_HOSTID=(set)"},
        {"NCCL_IB_PKEY=1", "NCCL_IB_PKEY=1"},
        {"NCCL_TOPO_FILE=/home/someone/topo.xml", "NCCL_TOPO_FILE=topo.xml"},
        {"NCCL_ALGO=Ring\nAPI=geheim", "NCCL_ALGO=Ring"},
        {"NCCL_ALGO", NULL},
        {"NCCL_lower=1", NULL},
        {"API_TOKEN=geheim", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gl_arena *arena = gl_arena_create();
        const char *const environment[] = {cases[i].variable, NULL};
        assert_string_equal(gl_settings_kept(arena, environment),
                            cases[i].kept != NULL ? cases[i].kept : "");
        gl_arena_destroy(arena);
    }
}

static void test_sorted(void **state)
{
    static const char *const environment[] = {"NCCL_P2P_DISABLE=1", "HOME=/root", "NCCL_ALGO=Tree",
                                              NULL};
    gl_arena *arena = gl_arena_create();
    (void)state;
    assert_string_equal(gl_settings_kept(arena, environment), "NCCL_ALGO=Tree\nNCCL_P2P_DISABLE=1");
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
