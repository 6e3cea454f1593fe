/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time of matrix products: tiles, depth, alignment, bytes, and what adding to the output costs.
 * Formulas and what they were checked against: docs/models/compute.md.
 */
#ifndef GL_CORE_GEMM_H
#define GL_CORE_GEMM_H

#include "planner/core/hardware.h"

/* Rates of products in one type on one GPU. */
typedef struct gl_gemm_rates {
    const gl_gpu *gpu;           /* NULL: one tile size fits all */
    const gl_figure *efficiency; /* that flop_per_s rests on; NULL without a GPU */
    double flop_per_s;           /* peak × efficiency */
    double memory_bytes_per_s;   /* as reached */
    double launch_s;             /* of a kernel */
    double operand_bytes;        /* of an element that goes into a product */
    double result_bytes;         /* of one that comes out */
    double cast_bytes;           /* moved to cast one element of an operand; 0: none is */
} gl_gemm_rates;

/* What adding up the gradients of microbatches costs; all 0: nothing is added up. */
typedef struct gl_accumulation {
    double in_product_bytes; /* of a gradient that the product itself reads and writes */
    double apart_bytes;      /* moved per gradient by a kernel of its own */
} gl_accumulation;

/* Dense peak in a type. A type that the GPU has no units for runs in a wider one of 16 bits: FP8 as
 * BF16, BF16 and FP16 as each other (16-bit peaks are equal where both exist). NaN: none is known.
 */
double gl_peak_flop_per_s(const gl_gpu *gpu, gl_dtype dtype);

/* Sets what depends on the type; memory and launch are the caller's. FP8 needs casts and gives 16
 * bits. */
void gl_gemm_set_type(gl_gemm_rates *rates, gl_dtype dtype);

/*
 * Share of the rate of large products that those of a shape keep, in (0, 1]: padding of the m × n
 * output to whole tiles and waves of tiles over the multiprocessors (not when the GPU's tiles are
 * not known), k steps of the inner loop to fill and drain, and rows of n or k operands of
 * `operand_bytes` that do not start at 16 bytes.
 */
double gl_gemm_shape_share(const gl_gpu *gpu, double m, double n, double k, double operand_bytes);

/* Time of [m,k]·[k,n]; n and k are the sides of weights, whose rows' alignment counts. 0 when a
 * side is. */
double gl_gemm_s(const gl_gemm_rates *rates, double m, double n, double k);

/* Time of the gradient of weights of n × k over tokens, added to what earlier microbatches left. */
double gl_gemm_weight_gradient_s(const gl_gemm_rates *rates, const gl_accumulation *accumulation,
                                 double n, double k, double tokens);

/* Time to cast so many elements of an operand. */
double gl_gemm_cast_s(const gl_gemm_rates *rates, double elements);

#endif
