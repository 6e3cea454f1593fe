/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/sampler.h"

#include "calibrate/measure/statistics.h"

#include <math.h>
#include <string.h>

#define CLOSEST       1.15 /* no interval is split below twice this ratio in logarithms */
#define ALIGNED_UNITS 16.0 /* from 32 times this many units on, sizes are multiples of them */

void gl_sampler_begin(gl_sampler *sampler, double min_bytes, double max_bytes, double unit_bytes,
                      double block_bytes, double precision, gl_arena *arena)
{
    *sampler = (gl_sampler){.min_bytes = min_bytes,
                            .max_bytes = max_bytes,
                            .unit_bytes = unit_bytes,
                            .block_bytes = block_bytes,
                            .precision = precision,
                            .arena = arena};
}

void gl_sampler_fix(gl_sampler *s, const double *sizes, size_t count)
{
    double *fixed = GL_ARENA_NEW(s->arena, double, count);
    s->fixed = fixed;
    s->fixed_count = 0;
    for (size_t i = 0; i < count; i++) {
        double size = fmax(s->unit_bytes * floor(sizes[i] / s->unit_bytes + 0.5), s->unit_bytes);
        if (s->fixed_count == 0 || size > fixed[s->fixed_count - 1])
            fixed[s->fixed_count++] = size;
    }
}

static bool fixed_size(const gl_sampler *s, int index, double *size)
{
    if (index >= s->fixed_count || s->fixed[index] > s->max_bytes)
        return false;
    *size = s->fixed[index];
    return true;
}

/* Large sizes keep the blocks of all ranks aligned, as buffers of training are; a third of 1 MiB
 * would not be. */
static double round_size(const gl_sampler *s, double size)
{
    double unit = size >= s->block_bytes ? s->block_bytes : s->unit_bytes;
    if (size >= 32 * ALIGNED_UNITS * s->unit_bytes)
        unit = ALIGNED_UNITS * s->unit_bytes;
    double rounded = unit * floor(size / unit + 0.5);
    if (rounded > s->max_bytes)
        rounded -= unit;
    return fmax(rounded, s->unit_bytes);
}

static size_t place_of(const gl_sampler *s, double size)
{
    size_t i = 0;
    while (i < s->count && s->points[i].size_bytes < size)
        i++;
    return i;
}

static bool known(const gl_sampler *s, double size)
{
    size_t i = place_of(s, size);
    return i < s->count && s->points[i].size_bytes <= size;
}

void gl_sampler_add(gl_sampler *s, double size_bytes, double time_s, double half_width)
{
    size_t i = place_of(s, size_bytes);
    if (!known(s, size_bytes)) {
        s->points =
            gl_arena_grow(s->arena, s->points, &s->capacity, s->count + 1, sizeof *s->points);
        memmove(s->points + i + 1, s->points + i, (s->count - i) * sizeof *s->points);
        s->count++;
    }
    s->points[i] = (gl_sampler_point){size_bytes, time_s, half_width};
}

/* ---- octaves ---- */

/* Octave `index` counted from the smallest size; the last one is the largest size itself. False
 * beyond it. */
static bool octave(const gl_sampler *s, int index, double *size)
{
    if (s->fixed_count > 0)
        return fixed_size(s, index, size);
    double exact = fmax(s->min_bytes, s->unit_bytes) * exp2(index);
    double before = exact / 2;
    if (index > 0 && before >= s->max_bytes * 0.999)
        return false;
    /* A largest size that is close above an octave takes its place. */
    if (exact > s->max_bytes || exact * 1.2 > s->max_bytes)
        exact = s->max_bytes;
    *size = round_size(s, exact);
    return index == 0 || *size > round_size(s, before);
}

/* How many of every `stride`-th octave, and the largest size, are still to be measured; *next is
 * the first of them. */
static int missing(const gl_sampler *s, int stride, double affordable, double *next)
{
    double size, beyond;
    int count = 0;
    for (int i = 0; octave(s, i, &size) && size <= affordable; i++)
        if ((i % stride == 0 || !octave(s, i + 1, &beyond)) && !known(s, size) && count++ == 0)
            *next = size;
    return count;
}

bool gl_sampler_next_octave(const gl_sampler *s, double affordable_bytes, int stride,
                            double *size_bytes)
{
    return missing(s, stride, affordable_bytes, size_bytes) > 0;
}

int gl_sampler_octaves_left(const gl_sampler *s, double affordable_bytes, int stride)
{
    double next;
    return missing(s, stride, affordable_bytes, &next);
}

double gl_sampler_largest(const gl_sampler *s)
{
    double size, largest = 0;
    for (int i = 0; octave(s, i, &size); i++)
        largest = size;
    return largest;
}

/* ---- expectations ---- */

/* Where the line through two points is at a size, in logarithms. */
static double line(const gl_sampler_point *a, const gl_sampler_point *b, double size)
{
    double part = log(size / a->size_bytes) / log(b->size_bytes / a->size_bytes);
    return a->time_s * pow(b->time_s / a->time_s, part);
}

double gl_sampler_expect(const gl_sampler *s, double size_bytes)
{
    size_t i = place_of(s, size_bytes);
    if (s->count == 0)
        return NAN;
    if (i == 0)
        return s->points[0].time_s;
    if (i == s->count)
        return s->points[i - 1].time_s * size_bytes / s->points[i - 1].size_bytes;
    return line(&s->points[i - 1], &s->points[i], size_bytes);
}

double gl_sampler_affordable(const gl_sampler *s, double time_s)
{
    if (s->count == 0)
        return INFINITY;
    const gl_sampler_point *last = &s->points[s->count - 1];
    if (last->time_s <= time_s)
        return last->size_bytes * time_s / last->time_s;
    size_t i = s->count;
    while (i > 0 && s->points[i - 1].time_s > time_s)
        i--;
    return i > 0 ? s->points[i - 1].size_bytes : 0;
}

/* ---- in between ---- */

/* By how much a point is off the line between its neighbours, beyond what noise explains. */
static double deviation(const gl_sampler *s, size_t i)
{
    const gl_sampler_point *p = &s->points[i];
    double noise = p->half_width + fmax(p[-1].half_width, p[1].half_width);
    double off = fabs(line(p - 1, p + 1, p->size_bytes) / p->time_s - 1);
    return off - noise - s->precision;
}

/* Splits the interval above point i when it is wide enough; the middle must be a new size. */
static bool split(const gl_sampler *s, size_t i, double affordable, double *middle)
{
    const gl_sampler_point *low = &s->points[i], *high = &s->points[i + 1];
    if (high->size_bytes / low->size_bytes < CLOSEST * CLOSEST)
        return false;
    *middle = round_size(s, sqrt(low->size_bytes * high->size_bytes));
    return *middle > low->size_bytes && *middle < high->size_bytes && *middle <= affordable;
}

bool gl_sampler_next_between(const gl_sampler *s, double affordable_bytes, double *size_bytes)
{
    double worst = 0, middle;
    bool found = false;
    for (size_t i = 1; i + 1 < s->count && s->fixed_count == 0; i++) {
        double off = deviation(s, i);
        if (off <= worst)
            continue;
        /* The wider of both sides first: the change is in either. */
        const gl_sampler_point *p = &s->points[i];
        bool above = p[1].size_bytes * p[-1].size_bytes >= p->size_bytes * p->size_bytes;
        if (split(s, above ? i : i - 1, affordable_bytes, &middle) ||
            split(s, above ? i - 1 : i, affordable_bytes, &middle)) {
            worst = off;
            *size_bytes = middle;
            found = true;
        }
    }
    return found;
}

/* ---- iterations ---- */

#define BATCH_S 0.5 /* a batch is not longer, so that a request to stop is heard */

enum { FIRST_BATCH = 10, WARMUP = 3 };

void gl_pacer_begin(gl_pacer *pacer, double *times_s, double precision, double budget_s,
                    double least_s, double call_s)
{
    *pacer = (gl_pacer){.precision = precision,
                        .budget_s = budget_s,
                        .least_s = fmin(least_s, budget_s),
                        .call_s = call_s,
                        .times_s = times_s,
                        .half_width = INFINITY};
}

/* How many calls of `each_s` fit into a time. */
static int fitting(double time_s, double each_s, int least, int most)
{
    double n = floor(time_s / each_s);
    return n >= most ? most : n > least ? (int)n : least; /* also when each_s is not known */
}

int gl_pacer_next(const gl_pacer *p, int *warmup)
{
    double left_s = p->budget_s - p->spent_s;
    *warmup = 0;
    if (p->count == 0) {
        if (isnan(p->call_s))
            return *warmup = WARMUP, FIRST_BATCH;
        *warmup = fitting(left_s / 8, p->call_s, 1, WARMUP);
        return fitting(fmin(left_s / 2, BATCH_S), p->call_s, GL_PACER_LEAST, FIRST_BATCH);
    }
    if (p->count < GL_PACER_LEAST)
        return GL_PACER_LEAST - p->count;
    if ((p->half_width <= p->precision && p->spent_s >= p->least_s) || p->count >= GL_PACER_MAX ||
        left_s < p->call_s)
        return 0;
    /* After a pause the first call is slower; that matters for short ones. */
    *warmup = p->median_s < 1e-3;
    int room = GL_PACER_MAX - p->count, most = p->count < room ? p->count : room;
    return fitting(fmin(left_s, BATCH_S), p->call_s, 1, most);
}

void gl_pacer_add(gl_pacer *p, int warmup, int iterations, double wall_s)
{
    p->count += iterations;
    p->calls += warmup + iterations;
    p->spent_s += wall_s;
    p->call_s = p->spent_s / p->calls;
    gl_statistics statistics = gl_statistics_of(p->times_s, p->count);
    p->median_s = statistics.median;
    p->half_width = gl_statistics_half_width(&statistics);
}
