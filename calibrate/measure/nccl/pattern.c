/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/pattern.h"

#include <string.h>

enum { ACTIVE_RANKS = 8, STRETCHES = 64, STRETCH_ELEMENTS = 1024 };

/* ---- encoding ---- */

/* A binary floating-point number with the given widths; whole numbers that fit, no rounding. */
static uint64_t float_bits(unsigned value, int exponent_bits, int fraction_bits)
{
    if (value == 0)
        return 0;
    int exponent = 0;
    while (value >> (exponent + 1) != 0)
        exponent++;
    uint64_t bias = (UINT64_C(1) << (exponent_bits - 1)) - 1;
    uint64_t fraction = value - (1u << exponent);
    fraction = fraction_bits >= exponent ? fraction << (fraction_bits - exponent)
                                         : fraction >> (exponent - fraction_bits);
    return (bias + (uint64_t)exponent) << fraction_bits | fraction;
}

uint64_t gl_pattern_number(gl_dtype dtype, unsigned value)
{
    switch (dtype) {
    case GL_FP32:
        return float_bits(value, 8, 23);
    case GL_BF16:
        return float_bits(value, 8, 7);
    case GL_FP16:
        return float_bits(value, 5, 10);
    case GL_FP8:
        return float_bits(value, 4, 3);
    case GL_FP64:
        return float_bits(value, 11, 52);
    default:
        return value;
    }
}

/* ---- what is sent ---- */

static bool sums(gl_collective collective)
{
    return collective == GL_ALL_REDUCE || collective == GL_REDUCE_SCATTER ||
           collective == GL_REDUCE;
}

/* splitmix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of x. */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t hash_of(int rank, size_t place)
{
    return mixed((uint64_t)rank << 32 | (uint64_t)place);
}

static uint64_t low_bits(uint64_t value, gl_dtype dtype)
{
    unsigned bits = 8 * (unsigned)gl_dtype_bytes(dtype);
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* Of many ranks only eight, which differ from element to element, add something but zero. */
static unsigned addend(int ranks, int rank, size_t place)
{
    size_t turn = ((size_t)rank + place) % (size_t)ranks;
    return turn < ACTIVE_RANKS ? 1 + (unsigned)(hash_of(rank, place) >> 63) : 0;
}

uint64_t gl_pattern_sent(gl_collective collective, gl_dtype dtype, int ranks, int rank,
                         size_t index)
{
    size_t place = index % GL_PATTERN_PERIOD;
    if (sums(collective))
        return gl_pattern_number(dtype, addend(ranks, rank, place));
    return low_bits(hash_of(rank, place), dtype);
}

/* ---- what must arrive ---- */

static uint64_t expected_sum(gl_dtype dtype, int ranks, size_t index)
{
    size_t place = index % GL_PATTERN_PERIOD, n = (size_t)ranks;
    unsigned sum = 0;
    for (size_t turn = 0; turn < n && turn < ACTIVE_RANKS; turn++)
        sum += addend(ranks, (int)((turn + n - place % n) % n), place);
    return gl_pattern_number(dtype, sum);
}

uint64_t gl_pattern_expected(gl_collective collective, gl_dtype dtype, int ranks, int rank,
                             size_t count, size_t index)
{
    size_t block = index / count, within = index % count;
    switch (collective) {
    case GL_ALL_REDUCE:
        return expected_sum(dtype, ranks, index);
    case GL_REDUCE_SCATTER:
        return expected_sum(dtype, ranks, (size_t)rank * count + index);
    case GL_ALL_GATHER:
        return gl_pattern_sent(collective, dtype, ranks, (int)block, within);
    case GL_ALLTOALL:
        return gl_pattern_sent(collective, dtype, ranks, (int)block, (size_t)rank * count + within);
    case GL_SENDRECV:
        return gl_pattern_sent(collective, dtype, ranks, (rank + ranks - 1) % ranks, index);
    default: /* broadcast from rank 0 */
        return gl_pattern_sent(collective, dtype, ranks, 0, index);
    }
}

void gl_pattern_tile(gl_collective collective, gl_dtype dtype, int ranks, int rank,
                     unsigned char *tile)
{
    size_t bytes = (size_t)gl_dtype_bytes(dtype);
    for (size_t i = 0; i < GL_PATTERN_PERIOD; i++) {
        uint64_t bits = gl_pattern_sent(collective, dtype, ranks, rank, i);
        memcpy(tile + i * bytes, &bits, bytes); /* GPUs and their hosts are little-endian */
    }
}

size_t gl_pattern_wrong(gl_collective collective, gl_dtype dtype, int ranks, int rank, size_t count,
                        size_t first, size_t elements, const unsigned char *data)
{
    size_t bytes = (size_t)gl_dtype_bytes(dtype), wrong = 0;
    for (size_t i = 0; i < elements; i++) {
        uint64_t found = 0;
        memcpy(&found, data + i * bytes, bytes);
        wrong += found != gl_pattern_expected(collective, dtype, ranks, rank, count, first + i);
    }
    return wrong;
}

bool gl_pattern_stretch(size_t elements, int i, size_t *first, size_t *length)
{
    if (elements <= GL_PATTERN_STRETCH_MAX) {
        *first = 0;
        *length = elements;
        return i == 0;
    }
    *length = STRETCH_ELEMENTS;
    *first = i == STRETCHES - 1 ? elements - STRETCH_ELEMENTS
                                : (elements - STRETCH_ELEMENTS) / (STRETCHES - 1) * (size_t)i;
    return i < STRETCHES;
}
