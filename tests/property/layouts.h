/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random layouts of a model that pass its checks, for tests and benchmarks. */
#ifndef TESTS_PROPERTY_LAYOUTS_H
#define TESTS_PROPERTY_LAYOUTS_H

#include "planner/core/check.h"
#include "tests/property/random.h"

static inline bool layout_is_possible(const gl_workload *w)
{
    gl_arena *arena = gl_arena_create();
    gl_findings findings = {.arena = arena};
    gl_check_workload(w, &findings);
    bool possible = true;
    for (size_t i = 0; i < findings.count; i++)
        possible = possible && !findings.items[i].fatal;
    gl_arena_destroy(arena);
    return possible;
}

/* Another layout of the same model, drawn until one is possible. */
static inline void random_layout(gl_workload *w, uint64_t *random)
{
    static const int tp[] = {1, 2, 4, 8}, pp[] = {1, 1, 2, 4, 8, 16}, cp[] = {1, 1, 1, 2, 4},
                     dp[] = {1, 2, 4, 8, 16, 32}, ep[] = {1, 1, 2, 8}, v[] = {2, 3, 4, 5},
                     micro[] = {1, 1, 2, 4}, counts[] = {1, 2, 8, 16, 33, 128};
    do {
        gl_parallel *p = &w->parallel;
        *p = gl_workload_defaults().parallel;
        p->tp = random_of(random, tp, 4);
        p->pp = random_of(random, pp, 6);
        p->cp = random_of(random, cp, 5);
        p->dp = random_of(random, dp, 6);
        p->ep = w->model.moe.experts > 0 ? random_of(random, ep, 4) : 1;
        p->sequence_parallel = p->tp > 1 && random_between(random, 0, 1) == 1;
        p->zero = random_between(random, 0, 3);
        p->schedule = (gl_schedule_kind)random_between(random, 0, 2);
        if (p->schedule == GL_SCHEDULE_INTERLEAVED)
            p->virtual_stages = random_of(random, v, 4);
        p->recompute = (gl_recompute)random_between(random, 0, 2);
        p->accumulate = random_between(random, 0, 3) > 0;
        p->reshard = random_between(random, 0, 3) > 0;
        w->batch.micro = random_of(random, micro, 4);
        w->batch.global = (int64_t)w->batch.micro * p->dp * random_of(random, counts, 6);
    } while (!layout_is_possible(w));
}

#endif
