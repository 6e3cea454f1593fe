/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups of ranks are measured. Pure. */
#ifndef GL_MEASURE_PLACEMENTS_H
#define GL_MEASURE_PLACEMENTS_H

#include "calibrate/measure/backend.h"

typedef struct gl_placements_options {
    int ranks;               /* measuring ranks in all, ≥ 2 */
    const int *node_of_rank; /* counted from 0, without gaps */
    const int *wanted;       /* sizes of groups (--ranks); NULL = all that make sense */
    int wanted_count;
    bool concurrent; /* also all groups of a kind at once */
} gl_placements_options;

/*
 * The groupings, smallest first, in the arena:
 * - in a node: 2, 4, 8, … ranks and all of the fullest node, on that node;
 * - across nodes: one rank on each of 2, 4, 8, … and all nodes;
 * - whole nodes: all ranks of 2, 4, 8, … and all nodes.
 * `concurrent` adds, where more than one fits, as many groups as fit on a node: of the first kind
 * on every node, of the second one for each of its ranks. Sizes in `wanted` replace 2, 4, 8. A
 * wanted size that no kind can give is a GL_ERROR_USAGE.
 */
bool gl_placements_plan(const gl_placements_options *options, gl_arena *arena,
                        gl_grouping **groupings, size_t *count, gl_error *err);

/*
 * The grouping of one placement, whatever its kind: as many such groups as fit on the machine at
 * once, as training runs them, `concurrent_groups` of them on a node; the slowest decides. Nodes
 * with too few ranks are left out. False when not a single set of groups fits.
 */
bool gl_placements_exact(const gl_placements_options *options, const gl_placement *placement,
                         gl_arena *arena, gl_grouping *grouping);

#endif
