/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What to measure next: which size of a curve, how many iterations of a size. Pure: no clock, no
 * I/O; time goes in as numbers.
 */
#ifndef GL_MEASURE_SAMPLER_H
#define GL_MEASURE_SAMPLER_H

#include "common/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- sizes ---- */

typedef struct gl_sampler_point {
    double size_bytes, time_s;
    double half_width; /* of the interval of its median, as a part of it */
} gl_sampler_point;

/*
 * Sizes: first the octaves from the smallest to the largest, then the middle (in logarithms) of
 * intervals beside points whose time is off the line between their neighbours (leave-one-out, in
 * the logarithms of both) by more than the precision and what the three medians are uncertain by.
 * That finds where algorithms and protocols change.
 */
typedef struct gl_sampler {
    double min_bytes, max_bytes, unit_bytes, block_bytes, precision;
    gl_sampler_point *points; /* by ascending size */
    size_t count, capacity;
    const double *fixed; /* these sizes instead of octaves; see gl_sampler_fix */
    int fixed_count;
    gl_arena *arena;
} gl_sampler;

/* `unit_bytes`: messages are whole multiples of it (an element for each rank), and from
 * `block_bytes` on of that, a multiple of the unit. Sizes are 1 or more units. */
void gl_sampler_begin(gl_sampler *sampler, double min_bytes, double max_bytes, double unit_bytes,
                      double block_bytes, double precision, gl_arena *arena);

/* These sizes (ascending), as whole units, take the place of octaves; none follow in between. */
void gl_sampler_fix(gl_sampler *sampler, const double *sizes, size_t count);

/* Takes what was measured, now or in an earlier session. A size that is known is replaced. */
void gl_sampler_add(gl_sampler *sampler, double size_bytes, double time_s, double half_width);

/* Of every `stride`-th octave up to `affordable_bytes` and the largest size, the smallest that was
 * not measured; false when there is none. */
bool gl_sampler_next_octave(const gl_sampler *sampler, double affordable_bytes, int stride,
                            double *size_bytes);

/* Of them, those that are still to be measured, this one included. */
int gl_sampler_octaves_left(const gl_sampler *sampler, double affordable_bytes, int stride);

/* The next size between two; false when the curve is as precise as was asked. */
bool gl_sampler_next_between(const gl_sampler *sampler, double affordable_bytes,
                             double *size_bytes);

/* The largest size of the plan, as it would be measured. */
double gl_sampler_largest(const gl_sampler *sampler);

/* What a call of a size is expected to take, by its neighbours; above the largest size by its
 * bandwidth. NaN when nothing was measured. */
double gl_sampler_expect(const gl_sampler *sampler, double size_bytes);

/* The largest size that a call is expected to finish in `time_s`; infinite when nothing is known.
 */
double gl_sampler_affordable(const gl_sampler *sampler, double time_s);

/* ---- iterations ---- */

/*
 * Iterations of one point: batches that grow until the interval of the median is within the
 * precision and a least time is spent, or the time of this point is over. Long messages get fewer:
 * three at least.
 */
typedef struct gl_pacer {
    double precision, budget_s;
    double least_s;   /* measure this long even when precision is reached sooner */
    double call_s;    /* what a call costs with its barrier; first as expected, NaN = unknown */
    double *times_s;  /* GL_PACER_MAX of them: what was measured, unsorted */
    int count, calls; /* that count, and all */
    double spent_s, median_s, half_width;
} gl_pacer;

enum { GL_PACER_MAX = 20000, GL_PACER_LEAST = 3 };

void gl_pacer_begin(gl_pacer *pacer, double *times_s, double precision, double budget_s,
                    double least_s, double call_s);

/* The next batch: iterations, and calls before them that do not count. 0 = the point is done. */
int gl_pacer_next(const gl_pacer *pacer, int *warmup);

/* Takes what the batch took in all; its times stand behind the earlier ones in times_s. */
void gl_pacer_add(gl_pacer *pacer, int warmup, int iterations, double wall_s);

#endif
