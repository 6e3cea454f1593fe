/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would make a plan fit that does not. */
#ifndef GL_CORE_FITTING_H
#define GL_CORE_FITTING_H

#include "planner/core/knob.h"

/* What of the training would have to change so that it fits in the memory of the GPU: the first of
 * one, two or three steps that keep the GPUs and the batch: "parallel.zero=1, batch.micro=1". NULL:
 * nothing that was tried is enough. */
const char *gl_fitting_change(const gl_setup *setup, gl_arena *arena);

/* Memory of the fullest stage. */
double gl_fullest_bytes(const gl_setup *setup);

#endif
