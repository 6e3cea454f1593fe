/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/gemm.h"

#include <math.h>

/* A GEMM reaches k/(k + this) of its rate: filling and draining the tile pipeline (assumed). */
static const double GEMM_DEPTH_LOST = 100;
/* Half of the wave-quantisation loss is seen: stream-K and split-K kernels win back the rest. */
static const double WAVE_LOSS_SEEN = 0.5;
/* A product that adds to what its output holds ends with reading and writing it, which later tiles
 * hide in part: t = (c^p + b^p)^(1/p) of compute and memory time. Measured on an H200, BF16 and FP8
 * products of 1k to 16k deep into FP32 gradients: within 10 %. */
static const double ACCUMULATE_NORM = 1.25;
/* Rows of an operand that do not start at 16 bytes are read by narrower loads, and tensor cores
 * wait. Measured on an H200: head sizes between multiples of 8 reach 0.20 to 0.26 of what their
 * neighbours do, 50260 columns 0.28 to 0.32, 50257 columns 0.12 to 0.14. */
enum { ALIGNED_BYTES = 16, HALF_ALIGNED_BYTES = 4 };
static const double HALF_ALIGNED_SHARE = 0.25, UNALIGNED_SHARE = 0.12;
/* Inputs and gradients are cast to FP8 for each product (weights once a step, which is little): 16
 * bits read, FP8 written twice, as it is and transposed. */
static const double FP8_CAST_BYTES = 4;

/* The first of two peaks that the GPU has; NaN when it has neither. */
static double first_peak(const gl_figure *wanted, const gl_figure *otherwise)
{
    if (wanted->kind != GL_FIGURE_ABSENT)
        return wanted->value;
    return otherwise->kind != GL_FIGURE_ABSENT ? otherwise->value : (double)NAN;
}

double gl_peak_flop_per_s(const gl_gpu *gpu, gl_dtype dtype)
{
    if (gpu == NULL)
        return (double)NAN;
    const gl_figure *bf16 = &gpu->bf16_flop_per_s, *fp16 = &gpu->fp16_flop_per_s;
    switch (dtype) {
    case GL_FP8:
        if (gpu->fp8_flop_per_s.kind != GL_FIGURE_ABSENT)
            return gpu->fp8_flop_per_s.value;
        return first_peak(bf16, fp16);
    case GL_FP16:
        return first_peak(fp16, bf16);
    case GL_FP32:
        return first_peak(&gpu->fp32_flop_per_s, &gpu->fp32_flop_per_s);
    default:
        return first_peak(bf16, fp16);
    }
}

void gl_gemm_set_type(gl_gemm_rates *r, gl_dtype dtype)
{
    const gl_gpu *g = r->gpu;
    r->operand_bytes = gl_dtype_bytes(dtype);
    r->result_bytes = dtype == GL_FP8 ? gl_dtype_bytes(GL_BF16) : r->operand_bytes;
    r->cast_bytes = dtype == GL_FP8 ? FP8_CAST_BYTES : 0;
    if (g == NULL)
        return;
    bool fp8 = dtype == GL_FP8 && g->fp8_gemm_efficiency.kind != GL_FIGURE_ABSENT;
    r->efficiency = fp8 ? &g->fp8_gemm_efficiency : &g->gemm_efficiency;
    r->flop_per_s = gl_peak_flop_per_s(g, dtype) * r->efficiency->value;
}

/* Padding to whole tiles, and waves of tiles over the multiprocessors. */
static double tile_share(const gl_gpu *g, double m, double n)
{
    if (g == NULL || g->gemm_tile_m.kind == GL_FIGURE_ABSENT ||
        g->gemm_tile_n.kind == GL_FIGURE_ABSENT || g->sm_count.kind == GL_FIGURE_ABSENT)
        return 1;
    double tm = g->gemm_tile_m.value, tn = g->gemm_tile_n.value;
    double tiles = ceil(m / tm) * ceil(n / tn);
    double waves = tiles / g->sm_count.value;
    double wave_share = 1 - WAVE_LOSS_SEEN * (1 - waves / ceil(waves));
    return wave_share * m * n / (tiles * tm * tn);
}

static double alignment_share(double row_bytes)
{
    if (fmod(row_bytes, ALIGNED_BYTES) == 0)
        return 1;
    return fmod(row_bytes, HALF_ALIGNED_BYTES) == 0 ? HALF_ALIGNED_SHARE : UNALIGNED_SHARE;
}

/* Rows are as long as the sides of weights, n and k; that of tokens, m, is never a row of both. */
double gl_gemm_shape_share(const gl_gpu *gpu, double m, double n, double k, double operand_bytes)
{
    double aligned = fmin(alignment_share(n * operand_bytes), alignment_share(k * operand_bytes));
    return tile_share(gpu, m, n) * aligned * k / (k + GEMM_DEPTH_LOST);
}

/* Compute time and memory time of a product, before they are put together. */
typedef struct gemm_parts {
    double compute_s, memory_s;
} gemm_parts;

static gemm_parts split(const gl_gemm_rates *r, double m, double n, double k, double output_bytes)
{
    double rate = r->flop_per_s * gl_gemm_shape_share(r->gpu, m, n, k, r->operand_bytes);
    double bytes = m * n * output_bytes + (m * k + n * k) * r->operand_bytes;
    return (gemm_parts){2 * m * n * k / rate, bytes / r->memory_bytes_per_s};
}

double gl_gemm_s(const gl_gemm_rates *r, double m, double n, double k)
{
    if (m <= 0 || n <= 0 || k <= 0)
        return 0;
    gemm_parts p = split(r, m, n, k, r->result_bytes);
    return fmax(p.compute_s, p.memory_s) + r->launch_s;
}

double gl_gemm_weight_gradient_s(const gl_gemm_rates *r, const gl_accumulation *a, double n,
                                 double k, double tokens)
{
    if (tokens <= 0 || n <= 0 || k <= 0)
        return 0;
    if (!(a->in_product_bytes > 0))
        return gl_gemm_s(r, n, k, tokens) + n * k * a->apart_bytes / r->memory_bytes_per_s;
    gemm_parts p = split(r, n, k, tokens, 2 * a->in_product_bytes);
    double sum = pow(p.compute_s, ACCUMULATE_NORM) + pow(p.memory_s, ACCUMULATE_NORM);
    return pow(sum, 1 / ACCUMULATE_NORM) + r->launch_s;
}

double gl_gemm_cast_s(const gl_gemm_rates *r, double elements)
{
    return elements * r->cast_bytes / r->memory_bytes_per_s;
}
