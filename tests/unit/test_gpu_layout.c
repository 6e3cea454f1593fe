/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From message sizes to what NCCL calls take. */
#include "calibrate/measure/nccl/layout.h"
#include "tests/support.h"

static gl_gpu_layout layout_of(gl_collective collective, gl_dtype dtype, int ranks, double size)
{
    gl_gpu_layout layout;
    gl_gpu_layout_of(&layout, collective, dtype, ranks, size);
    return layout;
}

static void whole_buffers(void **state)
{
    (void)state;
    const gl_collective whole[] = {GL_ALL_REDUCE, GL_BROADCAST, GL_SENDRECV};
    for (size_t i = 0; i < 3; i++) {
        gl_gpu_layout l = layout_of(whole[i], GL_BF16, 8, 1 << 20);
        assert_int_equal(l.count, 1 << 19);
        assert_int_equal(l.send_elements, 1 << 19);
        assert_int_equal(l.recv_elements, 1 << 19);
        assert_int_equal(l.send_offset + l.recv_offset, 0);
        assert_true(gl_gpu_layout_size(&l) == 1 << 20);
    }
}

static void shares(void **state)
{
    (void)state;
    gl_gpu_layout gather = layout_of(GL_ALL_GATHER, GL_FP32, 4, 1 << 20);
    assert_int_equal(gather.count, 1 << 16);
    assert_int_equal(gather.send_elements, 1 << 16);
    assert_int_equal(gather.recv_elements, 1 << 18);
    assert_int_equal(gather.send_offset, 1 << 16);
    gl_gpu_layout scatter = layout_of(GL_REDUCE_SCATTER, GL_FP32, 4, 1 << 20);
    assert_int_equal(scatter.send_elements, 1 << 18);
    assert_int_equal(scatter.recv_elements, 1 << 16);
    assert_int_equal(scatter.recv_offset, 1 << 16);
    gl_gpu_layout all = layout_of(GL_ALLTOALL, GL_FP32, 4, 1 << 20);
    assert_int_equal(all.count, 1 << 16);
    assert_int_equal(all.send_elements, 1 << 18);
    assert_int_equal(all.recv_elements, 1 << 18);
}

/* nccl-tests: (count / ranks) & -(16 / element). */
static void odd_ranks_get_aligned_shares(void **state)
{
    (void)state;
    gl_gpu_layout l = layout_of(GL_ALL_GATHER, GL_BF16, 3, 1 << 20);
    assert_int_equal(l.count, ((1 << 19) / 3) & -8);
    assert_true(gl_gpu_layout_size(&l) <= 1 << 20);
    assert_true(gl_gpu_layout_size(&l) > (1 << 20) - 3 * 16);
}

static void tiny_messages_move_something(void **state)
{
    (void)state;
    for (int op = GL_ALL_REDUCE; op <= GL_BROADCAST; op++) {
        gl_gpu_layout l = layout_of((gl_collective)op, GL_FP64, 7, 0);
        assert_int_equal(l.count, 1);
        assert_true(l.step_bytes > 0);
    }
    assert_int_equal(layout_of(GL_ALL_GATHER, GL_FP32, 2, 8).count, 1);
}

/* 16 GiB of one-byte elements does not fit in 32 bits. */
static void large_messages(void **state)
{
    (void)state;
    double size = 16.0 * 1024 * 1024 * 1024;
    gl_gpu_layout l = layout_of(GL_ALL_REDUCE, GL_INT8, 2, size);
    assert_true((double)l.count == size);
    assert_true(gl_gpu_layout_size(&l) == size);
}

static void calls_walk_through_the_buffer(void **state)
{
    (void)state;
    gl_gpu_layout l = layout_of(GL_ALL_REDUCE, GL_FP32, 2, 1000);
    assert_int_equal(l.step_bytes, 1024);
    assert_int_equal(gl_gpu_shift(&l, 4096, 0), 0);
    assert_int_equal(gl_gpu_shift(&l, 4096, 3), 3072);
    assert_int_equal(gl_gpu_shift(&l, 4096, 4), 0);
    assert_int_equal(gl_gpu_shift(&l, 1024, 5), 0);
    assert_int_equal(gl_gpu_shift(&l, 0, 5), 0);
}

static void batches(void **state)
{
    (void)state;
    assert_int_equal(gl_gpu_batch(10e-6), 20);
    assert_int_equal(gl_gpu_batch(1e-3), 1);
    assert_int_equal(gl_gpu_batch(200e-6), 1);
    assert_int_equal(gl_gpu_batch(1e-9), 64);
    assert_int_equal(gl_gpu_batch(0), 64);
}

static void in_place_forms(void **state)
{
    (void)state;
    assert_true(gl_gpu_has_in_place(GL_ALL_REDUCE));
    assert_false(gl_gpu_has_in_place(GL_ALLTOALL));
    assert_false(gl_gpu_has_in_place(GL_SENDRECV));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_buffers),
        cmocka_unit_test(shares),
        cmocka_unit_test(odd_ranks_get_aligned_shares),
        cmocka_unit_test(tiny_messages_move_something),
        cmocka_unit_test(large_messages),
        cmocka_unit_test(calls_walk_through_the_buffer),
        cmocka_unit_test(batches),
        cmocka_unit_test(in_place_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
