/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts in words. Texts live in the arena. */
#ifndef GL_CORE_LAYOUT_TEXT_H
#define GL_CORE_LAYOUT_TEXT_H

#include "common/arena.h"
#include "planner/core/workload.h"

/* "tp 8, pp 4, dp 2": the degrees above 1; "" when there are none. */
const char *gl_degrees_text(const gl_parallel *parallel, gl_arena *arena);

/* "tp 8, pp 4 x 3, dp 2, micro 2, zero 1, sp, recompute full": what differs from plain. */
const char *gl_layout_text(const gl_parallel *parallel, const gl_batch *batch, gl_arena *arena);

#endif
