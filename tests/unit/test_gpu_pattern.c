/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known data and what collectives must make of it: checked against a plain execution on the host.
 */
#include "calibrate/measure/nccl/layout.h"
#include "calibrate/measure/nccl/pattern.h"
#include "tests/support.h"

#include <stdlib.h>

static void numbers_in_types(void **state)
{
    (void)state;
    const float seven = 7;
    uint32_t bits;
    memcpy(&bits, &seven, sizeof bits);
    assert_int_equal(gl_pattern_number(GL_FP32, 7), bits);
    assert_int_equal(gl_pattern_number(GL_BF16, 7), bits >> 16);
    assert_int_equal(gl_pattern_number(GL_FP16, 1), 0x3c00);
    assert_int_equal(gl_pattern_number(GL_FP16, 16), 0x4c00);
    assert_int_equal(gl_pattern_number(GL_FP8, 1), 0x38);
    assert_int_equal(gl_pattern_number(GL_FP8, 13), 0x55); /* 1.101b × 2^3 */
    assert_int_equal(gl_pattern_number(GL_FP8, 16), 0x58);
    assert_int_equal(gl_pattern_number(GL_FP64, 1), INT64_C(0x3ff0000000000000));
    assert_int_equal(gl_pattern_number(GL_INT8, 16), 16);
    assert_int_equal(gl_pattern_number(GL_FP8, 0), 0);
}

/* The value of a number's bits in E4M3, for sums on the host. */
static unsigned value_of(uint64_t bits)
{
    unsigned exponent = (unsigned)bits >> 3 & 15, fraction = (unsigned)bits & 7;
    return bits == 0        ? 0
           : exponent >= 10 ? (8 + fraction) << (exponent - 10)
                            : (8 + fraction) >> (10 - exponent);
}

/* What arrives at `rank`, element `i`, by the definition of the collective. */
static uint64_t executed(gl_collective op, gl_dtype dtype, int n, int rank, size_t count, size_t i)
{
    unsigned sum = 0;
    switch (op) {
    case GL_ALL_REDUCE:
    case GL_REDUCE_SCATTER:
        for (int r = 0; r < n; r++)
            sum += value_of(gl_pattern_sent(op, GL_FP8, n, r,
                                            op == GL_ALL_REDUCE ? i : (size_t)rank * count + i));
        assert_true(sum <= GL_PATTERN_SUM_MAX);
        return gl_pattern_number(dtype, sum);
    case GL_ALL_GATHER:
        return gl_pattern_sent(op, dtype, n, (int)(i / count), i % count);
    case GL_ALLTOALL:
        return gl_pattern_sent(op, dtype, n, (int)(i / count), (size_t)rank * count + i % count);
    case GL_SENDRECV:
        return gl_pattern_sent(op, dtype, n, rank == 0 ? n - 1 : rank - 1, i);
    default:
        return gl_pattern_sent(op, dtype, n, 0, i);
    }
}

static void expectations(void **state)
{
    (void)state;
    const int ranks[] = {1, 2, 3, 8, 9, 100};
    for (int op = GL_ALL_REDUCE; op <= GL_BROADCAST; op++)
        for (size_t r = 0; r < 6; r++)
            for (int rank = 0; rank < ranks[r]; rank += 3)
                for (size_t i = 0; i < 200000; i += 4999) {
                    size_t count = op == GL_ALL_REDUCE ? 200000 : 200000 / (size_t)ranks[r];
                    if (i / count >= (size_t)ranks[r])
                        continue;
                    assert_int_equal(
                        gl_pattern_expected((gl_collective)op, GL_BF16, ranks[r], rank, count, i),
                        executed((gl_collective)op, GL_BF16, ranks[r], rank, count, i));
                }
}

/* A rank whose contribution is missing, and a block that came from elsewhere, are seen. */
static void faults_are_seen(void **state)
{
    (void)state;
    enum { N = 4096 };
    unsigned char *tile = malloc(GL_PATTERN_PERIOD * sizeof(float));
    assert_non_null(tile);
    gl_pattern_tile(GL_BROADCAST, GL_FP32, 2, 0, tile);
    assert_int_equal(gl_pattern_wrong(GL_BROADCAST, GL_FP32, 2, 1, N, 0, N, tile), 0);
    assert_int_equal(gl_pattern_wrong(GL_BROADCAST, GL_FP32, 2, 1, N, 16, N, tile), N);
    tile[5] ^= 1;
    assert_int_equal(gl_pattern_wrong(GL_BROADCAST, GL_FP32, 2, 1, N, 0, N, tile), 1);
    gl_pattern_tile(GL_ALL_REDUCE, GL_FP32, 2, 0, tile); /* not summed */
    assert_int_equal(gl_pattern_wrong(GL_ALL_REDUCE, GL_FP32, 2, 0, N, 0, N, tile), N);
    free(tile);
}

static void stretches(void **state)
{
    (void)state;
    size_t first = 1, length = 0, end = 0, looked_at = 0;
    assert_true(gl_pattern_stretch(1000, 0, &first, &length));
    assert_int_equal(first, 0);
    assert_int_equal(length, 1000);
    assert_false(gl_pattern_stretch(1000, 1, &first, &length));
    size_t large = (size_t)1 << 34;
    for (int i = 0; gl_pattern_stretch(large, i, &first, &length); i++) {
        assert_true(first >= end && length <= GL_PATTERN_STRETCH_MAX);
        end = first + length;
        looked_at += length;
    }
    assert_int_equal(end, large);
    assert_true(looked_at >= 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_types),
        cmocka_unit_test(expectations),
        cmocka_unit_test(faults_are_seen),
        cmocka_unit_test(stretches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
