/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process drives which GPUs; the environment of launchers; texts of the machine. */
#include "calibrate/measure/nccl/launch.h"
#include "calibrate/measure/nccl/machine.h"
#include "calibrate/measure/nccl/places.h"
#include "tests/support.h"

#include <stdlib.h>

/* GPUs first … first + visible − 1 of a machine. */
static gl_place place(uint64_t machine, uint64_t node, int first, int visible)
{
    gl_place p = {.machine = machine, .node = node, .visible = visible};
    for (int i = 0; i < visible; i++) {
        p.gpus[i][0] = (unsigned char)(first + i);
        p.gpus[i][1] = (unsigned char)machine;
    }
    return p;
}

static void one_process_takes_all(void **state)
{
    (void)state;
    gl_place p = place(1, 1, 0, 8);
    gl_share s;
    assert_true(gl_places_share(&p, 1, &s, NULL));
    assert_int_equal(s.count, 8);
    assert_int_equal(s.rank, 0);
}

static void processes_divide_a_machine(void **state)
{
    (void)state;
    gl_place p[3] = {place(1, 1, 0, 7), place(1, 1, 0, 7), place(1, 1, 0, 7)};
    gl_share s[3];
    assert_true(gl_places_share(p, 3, s, NULL));
    int next = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s[i].first, next);
        assert_int_equal(s[i].rank, next);
        assert_int_equal(s[i].node, 0);
        next += s[i].count;
    }
    assert_int_equal(next, 7);
}

/* srun --gpus-per-task=1 shows each process its own. */
static void own_gpus_are_kept(void **state)
{
    (void)state;
    gl_place p[2] = {place(1, 1, 0, 1), place(1, 1, 1, 1)};
    gl_share s[2];
    assert_true(gl_places_share(p, 2, s, NULL));
    assert_int_equal(s[0].first + s[1].first, 0);
    assert_int_equal(s[0].count + s[1].count, 2);
}

/* NCCL_HOSTID makes two nodes of one machine: GPUs are divided by machine, nodes follow NCCL. */
static void nodes_are_nccls(void **state)
{
    (void)state;
    gl_place p[4] = {place(1, 11, 0, 2), place(1, 12, 0, 2), place(2, 2, 0, 2), place(1, 11, 5, 1)};
    gl_share s[4];
    assert_true(gl_places_share(p, 3, s, NULL));
    assert_int_equal(s[0].count, 1);
    assert_int_equal(s[1].first, 1);
    assert_int_equal(s[1].node, 1);
    assert_int_equal(s[2].count, 2);
    assert_int_equal(s[2].node, 2);
    assert_true(gl_places_share(p, 4, s, NULL));
    assert_int_equal(s[3].node, 0);
    assert_int_equal(s[3].rank, 4);
}

static void what_cannot_be_is_said(void **state)
{
    (void)state;
    gl_error err;
    gl_share s[3];
    gl_place many[3] = {place(1, 1, 0, 2), place(1, 1, 0, 2), place(1, 1, 0, 2)};
    assert_false(gl_places_share(many, 3, s, &err));
    assert_int_equal(err.status, GL_ERROR_DEVICE);
    assert_non_null(strstr(err.message, "at most one a GPU"));
    gl_place overlapping[2] = {place(1, 1, 0, 2), place(1, 1, 1, 2)};
    assert_false(gl_places_share(overlapping, 2, s, &err));
    assert_non_null(strstr(err.message, "CUDA_VISIBLE_DEVICES"));
}

static void launchers(void **state)
{
    (void)state;
    const char *names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                           "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    assert_int_equal(gl_launch_expected(), 1);
    setenv("SLURM_STEP_NUM_TASKS", "16", 1);
    assert_int_equal(gl_launch_expected(), 16);
    setenv("SLURM_STEP_NUM_TASKS", "many", 1);
    assert_int_equal(gl_launch_expected(), 1);
    unsetenv("SLURM_STEP_NUM_TASKS");
}

static void machine_texts_are_clean(void **state)
{
    (void)state;
    char text[] =
        "\033[4mGPU0\tGPU1\033[0m\nGPU 0: NVIDIA H200 (UUID: GPU-12ab34cd-00ff-11)\n\033[";
    gl_machine_clean(text);
    assert_string_equal(text, "GPU0\tGPU1\nGPU 0: NVIDIA H200 (UUID: GPU-00000000-0000-00)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_takes_all),   cmocka_unit_test(processes_divide_a_machine),
        cmocka_unit_test(own_gpus_are_kept),       cmocka_unit_test(nodes_are_nccls),
        cmocka_unit_test(what_cannot_be_is_said),  cmocka_unit_test(launchers),
        cmocka_unit_test(machine_texts_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
