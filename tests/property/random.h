/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers for property tests: a fixed generator with a printed seed. GPULINK_SEED in the
 * environment repeats a run. */
#ifndef TESTS_PROPERTY_RANDOM_H
#define TESTS_PROPERTY_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint64_t random_seed(void)
{
    const char *text = getenv("GPULINK_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 20260301;
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    return seed;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* An integer of low … high, both included. */
static inline int random_between(uint64_t *state, int low, int high)
{
    return low + (int)(random_next(state) % (uint64_t)(high - low + 1));
}

/* One of `count` values. */
static inline int random_of(uint64_t *random, const int *values, int count)
{
    return values[random_between(random, 0, count - 1)];
}

#endif
