/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/gemm_grid.h"
#include "common/quantile.h"

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- the grid ---- */

/* Linear layers: outputs × inputs. Square ones, then those of models: attention and MLP of 1B to
 * 405B models whole and divided by tensor parallelism, experts, vocabularies. */
static const struct {
    int n, k;
} layers[] = {{4096, 4096},  {8192, 8192},   {2048, 2048},   {1024, 1024},  {16384, 16384},
              {14336, 4096}, {4096, 14336},  {5632, 2048},   {2048, 5632},  {28672, 8192},
              {8192, 28672}, {32000, 4096},  {128256, 4096}, {6144, 4096},  {10240, 8192},
              {1024, 8192},  {8192, 1024},   {3584, 8192},   {8192, 3584},  {14400, 3600},
              {3600, 14400}, {14400, 14400}, {28672, 4096},  {57344, 8192}, {11264, 2048},
              {5120, 5120},  {13824, 5120},  {5120, 13824},  {2048, 8192},  {8192, 2048},
              {7168, 8192},  {1408, 2048},   {2048, 1408},   {4096, 1024},  {1024, 4096},
              {32000, 2048}, {128256, 8192}, {16032, 8192},  {16384, 6656}, {6656, 16384}};

static const int tokens[] = {8192, 2048, 512, 16384, 4096, 128, 1024};
static const gl_dtype types[] = {GL_BF16, GL_FP8};

bool gl_gemm_grid(size_t i, gl_gemm_shape *shape)
{
    size_t layer = i % COUNT(layers), rest = i / COUNT(layers);
    size_t type = rest % COUNT(types), m = rest / COUNT(types);
    if (m >= COUNT(tokens))
        return false;
    *shape = (gl_gemm_shape){types[type], tokens[m], layers[layer].n, layers[layer].k};
    return true;
}

void gl_gemm_bytes_of(const gl_gemm_shape *shape, gl_gemm_bytes *bytes)
{
    size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
    size_t element = (size_t)gl_dtype_bytes(shape->dtype);
    *bytes = (gl_gemm_bytes){n * k * element, m * k * element, m * n * 2};
}

/* ---- data ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13; /* xorshift64 (Marsaglia 2003) */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Sum of twelve uniform numbers less six: mean 0, variance 1. */
static float normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(next_random(state) >> 11) * 0x1p-53;
    return (float)sum;
}

/* Cut, not rounded: only the spread of the bits matters. */
static uint16_t bf16_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* E4M3: bias 7, no infinities; what is too small for a normal number becomes zero. */
static uint8_t fp8_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 23 & 0xff) - 127 + 7;
    uint32_t sign = bits >> 31 << 7, fraction = bits >> 20 & 7;
    if (exponent < 1)
        return (uint8_t)sign;
    if (exponent > 14)
        exponent = 14;
    return (uint8_t)(sign | (uint32_t)exponent << 3 | fraction);
}

void gl_gemm_data(gl_dtype dtype, size_t count, unsigned char *out)
{
    uint64_t state = UINT64_C(88172645463325252);
    for (size_t i = 0; i < count; i++) {
        float value = normal(&state);
        uint16_t bf16 = bf16_bits(value);
        if (dtype == GL_FP8)
            out[i] = fp8_bits(value);
        else
            memcpy(out + 2 * i, &bf16, sizeof bf16);
    }
}

/* ---- overlap ---- */

/* Long enough that the start of a series, a few tens of microseconds, does not matter. */
static const double series_s = 20e-3;
enum { SERIES_MAX = 2000 };

static int at_least_one(double count)
{
    return count < 1 ? 1 : count > SERIES_MAX ? SERIES_MAX : (int)count;
}

gl_overlap_series gl_overlap_series_of(double gemm_s, double collective_s, double share)
{
    double compute_s = fmax(series_s, collective_s / share);
    gl_overlap_series series = {.gemms = at_least_one(ceil(compute_s / gemm_s))};
    series.collectives = at_least_one(floor(series.gemms * gemm_s * share / collective_s + 0.01));
    return series;
}

int gl_overlap_due(const gl_overlap_series *series, int i)
{
    int64_t due = ((int64_t)series->collectives * (i + 1) + series->gemms - 1) / series->gemms;
    return due < series->collectives ? (int)due : series->collectives;
}

static const struct {
    int m, n, k;
} beside[] = {{8192, 8192, 8192}, {4096, 14336, 4096}, {16384, 2048, 2048}};

static const gl_collective collectives[] = {GL_ALL_REDUCE, GL_ALL_GATHER, GL_REDUCE_SCATTER,
                                            GL_ALLTOALL, GL_SENDRECV};
static const double sizes[] = {64 << 20, 4 << 20, 16 << 20, 256 << 20};
static const double shares[] = {0.5, 0.2};

bool gl_overlap_grid(size_t i, gl_overlap_case *c)
{
    size_t collective = i % COUNT(collectives), rest = i / COUNT(collectives);
    size_t size = rest % COUNT(sizes);
    rest /= COUNT(sizes);
    size_t shape = rest % COUNT(beside), share = rest / COUNT(beside);
    if (share >= COUNT(shares))
        return false;
    *c = (gl_overlap_case){{GL_BF16, beside[shape].m, beside[shape].n, beside[shape].k},
                           collectives[collective],
                           sizes[size],
                           shares[share],
                           share};
    return true;
}

/* ---- summary ---- */

void gl_rates_summary(double *times, size_t count, double *median, double *p95)
{
    *median = gl_median(times, count);
    *p95 = gl_quantile(times, count, 0.95); /* gl_median sorted them */
}
