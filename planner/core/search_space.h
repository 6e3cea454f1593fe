/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The space of a search: groups of layouts with the same degrees (GPUs, tp, cp, pp, dp, ep), and
 * inside a group microbatch x schedule x variant. Internal to the core.
 */
#ifndef GL_CORE_SEARCH_SPACE_H
#define GL_CORE_SEARCH_SPACE_H

#include "planner/core/search.h"

typedef struct gl_search_space {
    const gl_workload *workload;
    const gl_cluster *cluster;
    const gl_search_options *options;
    int64_t global;   /* sequences of a step */
    int tp_max;       /* that a node allows */
    const char *link; /* that joins fewer GPUs than a node has; NULL: the node decides */
} gl_search_space;

typedef struct gl_search_degrees {
    int gpus, tp, cp, pp, dp, ep;
    int64_t first; /* place of its first layout */
} gl_search_degrees;

typedef struct gl_search_schedule {
    gl_schedule_kind kind;
    int virtual_stages;
} gl_search_schedule;

/* What varies without changing the degrees. */
typedef struct gl_search_variant {
    bool sequence_parallel;
    gl_cp_method cp_method;
    int zero, shard;
    bool accumulate;
    gl_recompute recompute;
} gl_search_variant;

/* The lists of a group, in the order of the enumeration: the last turns fastest. */
typedef struct gl_search_lists {
    int *micro;
    gl_search_schedule *schedules;
    gl_search_variant *variants;
    size_t micro_count, schedule_count, variant_count;
} gl_search_lists;

/* Are two layouts the same in all that a search varies? */
bool gl_search__is_same(const gl_parallel *a, const gl_batch *x, const gl_parallel *b,
                        const gl_batch *y);

gl_search_space gl_search_space_of(const gl_workload *workload, const gl_cluster *cluster,
                                   const gl_search_options *options);

/* All groups, illegal ones included, at least one for each number of GPUs; `total` layouts in them.
 */
gl_search_degrees *gl_search__groups(const gl_search_space *space, gl_arena *arena, size_t *count,
                                     int64_t *total);

void gl_search__lists(const gl_search_space *space, const gl_search_degrees *degrees,
                      gl_arena *arena, gl_search_lists *lists);

/* Layouts in the lists of a group; at least 1, so that a group that is out counts. */
int64_t gl_search__size(const gl_search_lists *lists);

/* The layout of a group without its variant. */
gl_parallel gl_search__parallel(const gl_search_space *space, const gl_search_degrees *degrees);

/* Why no layout of the group is legal, and the rule's name; NULL: some may be. */
const char *gl_search__refuse(const gl_search_space *space, const gl_search_degrees *degrees,
                              const gl_search_lists *lists, gl_arena *arena, const char **rule);

/* … why none with this variant is, or with these microbatches and schedule. */
const char *gl_search__refuse_variant(const gl_search_space *space,
                                      const gl_search_degrees *degrees,
                                      const gl_search_variant *variant, const char **rule);
const char *gl_search__refuse_schedule(const gl_search_space *space,
                                       const gl_search_degrees *degrees, int micro,
                                       const gl_search_schedule *schedule, const char **rule);

void gl_search__apply(const gl_search_schedule *schedule, const gl_search_variant *variant,
                      gl_parallel *parallel);

#endif
