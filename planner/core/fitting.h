/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would make a plan possible that is not, or fit that does not. Each answer has been planned:
 * it breaks no rule, the network has times for it, and it fits. */
#ifndef GL_CORE_FITTING_H
#define GL_CORE_FITTING_H

#include "planner/core/knob.h"

/* Whether the workload can run on the cluster, as above. */
bool gl_setup_runs(const gl_setup *setup, bool allow_extrapolation);

/* What of the training would have to change so that it fits in the memory of the GPU: the first of
 * up to four steps that keep the GPUs and the batch: "parallel.zero=1, batch.micro=1". NULL:
 * nothing that was tried is enough. */
const char *gl_fitting_change(const gl_setup *setup, bool allow_extrapolation, gl_arena *arena);

/* A cluster of `gpus` GPUs or more: of as many more of its nodes, or what was measured extended. */
gl_cluster gl_cluster_of(const gl_cluster *cluster, int64_t gpus);

/* Where the layout needs more GPUs than there are: the settings with which it runs on more nodes,
 * and those with the most replicas that run on what there is: "cluster.nodes=18", "parallel.dp=4,
 * parallel.ep=32", with steps of gl_fitting_change where it fits by them alone. NULL: none do. */
const char *gl_larger_change(const gl_setup *setup, bool allow_extrapolation, gl_arena *arena);
const char *gl_smaller_change(const gl_setup *setup, bool allow_extrapolation, gl_arena *arena);

/* Memory of the fullest stage, and whether a GPU has as much; true where its memory is not known.
 */
double gl_fullest_bytes(const gl_setup *setup);
bool gl_setup_fits(const gl_setup *setup);

#endif
