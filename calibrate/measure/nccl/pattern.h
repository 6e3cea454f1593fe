/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known data for verification, and what a collective must make of it. Pure arithmetic: built and
 * tested without CUDA.
 *
 * Data repeats after GL_PATTERN_PERIOD elements, so a buffer of any size is filled from one tile by
 * copies on the device. The period is a prime: blocks that land at a wrong offset differ.
 *
 * Sums are of small whole numbers, at most 16 in all, which every type holds exactly, FP8 E4M3 too:
 * any order of summation gives the same bits. Data that is only moved is arbitrary bits.
 */
#ifndef GL_MEASURE_NCCL_PATTERN_H
#define GL_MEASURE_NCCL_PATTERN_H

#include "common/collective.h"

#include <stddef.h>
#include <stdint.h>

enum { GL_PATTERN_PERIOD = 65521, GL_PATTERN_SUM_MAX = 16 };

/* One element of a small whole number 0 … 16 in a type, as its bits. */
uint64_t gl_pattern_number(gl_dtype dtype, unsigned value);

/* Element `index` of what rank `rank` of `ranks` sends. */
uint64_t gl_pattern_sent(gl_collective collective, gl_dtype dtype, int ranks, int rank,
                         size_t index);

/* Element `index` of what `rank` must hold afterwards. `count` as in gl_gpu_layout. */
uint64_t gl_pattern_expected(gl_collective collective, gl_dtype dtype, int ranks, int rank,
                             size_t count, size_t index);

/* Writes the tile of a rank: GL_PATTERN_PERIOD elements. */
void gl_pattern_tile(gl_collective collective, gl_dtype dtype, int ranks, int rank,
                     unsigned char *tile);

/* Wrong elements among `elements` at `data`, which begin at `first` of the received buffer. */
size_t gl_pattern_wrong(gl_collective collective, gl_dtype dtype, int ranks, int rank, size_t count,
                        size_t first, size_t elements, const unsigned char *data);

/* Stretch `i` of those that are looked at of a buffer of `elements`; false when there are no more.
 * All of a small buffer; of a large one its start, its end and stretches evenly between. */
bool gl_pattern_stretch(size_t elements, int i, size_t *first, size_t *length);

enum { GL_PATTERN_STRETCH_MAX = 1 << 18 }; /* longest stretch, elements */

#endif
