/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curves of one collective over one transport at several rank counts: what the counts that were
 * measured tell of one that was not (docs/models/network.md, "Other rank counts").
 *
 * A time is its curve's floor and a rest. The floor is a line in the depth of the algorithm (steps
 * of a ring, levels of a tree), fitted by least squares through all counts. The rest moves bytes:
 * how its bus bandwidth changes from one count to the next is taken at every size from the measured
 * pair, smoothed by a running median, and goes on.
 */
#ifndef GL_CORE_FAMILY_H
#define GL_CORE_FAMILY_H

#include "planner/core/curve.h"

typedef struct gl_family gl_family;

/* Do two curves differ in nothing but the number of ranks (and of nodes, with as many ranks each)?
 */
bool gl_family_same(const gl_curve *a, const gl_curve *b);

/* Fits a family: `members` are of one family, by ascending rank count, each count once, two or
 * more.
 */
gl_family *gl_family_build(const gl_curve_fit *const *members, size_t count, gl_arena *arena);

/* Has it this many ranks between counts that were measured? */
bool gl_family_between(const gl_family *family, int ranks);

/* Time over `ranks`, which was not measured. `bandwidth_share`: factor on the rest, for groups that
 * get another share of the NICs than the curves' (1 = the same). */
gl_curve_time gl_family_eval(const gl_family *family, int ranks, double bandwidth_share,
                             double size_bytes);

size_t gl_family_count(const gl_family *family);

#endif
