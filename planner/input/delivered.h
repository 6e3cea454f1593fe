/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A calibration database as it is, all runs and all transports: evidence of a delivered machine. */
#ifndef GL_INPUT_DELIVERED_H
#define GL_INPUT_DELIVERED_H

#include "planner/core/acceptance.h"

/* Reads "FILE.db", "FILE.db#LABEL" (runs with that label alone) or a bundled calibration, with all
 * samples and texts of the machine. A database without runs or curves is no error here: what is not
 * there is missing. */
bool gl_delivered_load(const char *name, gl_arena *arena, gl_delivered *out, gl_error *err);

#endif
