/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the links of a cluster are known to give, from the bundled data. */
#ifndef GL_INPUT_YARDSTICK_H
#define GL_INPUT_YARDSTICK_H

#include "planner/core/acceptance.h"

/* Loads data/expected and finds the cluster's links. A tier without a link, as of a bare
 * calibration database, gets what its curves' transport is on this GPU. What is not known stays
 * empty. */
bool gl_yardstick_load(const gl_cluster *cluster, gl_arena *arena, gl_acceptance_yardstick *out,
                       gl_diagnostics *diagnostics);

#endif
