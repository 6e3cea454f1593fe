/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data/gpus, data/links and data/transports: figures with their sources. */
#ifndef GL_INPUT_CATALOGUE_H
#define GL_INPUT_CATALOGUE_H

#include "common/arena.h"
#include "common/error.h"
#include "planner/core/hardware.h"

/* Catalogue entries by name (for GPUs also by what a driver prints), or a file of one's own when
 * the name has a '/' or ends in .yaml. NULL when absent. Problems of the file are diagnosed. */
const gl_gpu *gl_catalogue_gpu(const char *name, gl_arena *arena, gl_diagnostics *diagnostics);
const gl_link *gl_catalogue_link(const char *name, gl_arena *arena, gl_diagnostics *diagnostics);
const gl_overlap_taxes *gl_catalogue_overlap(gl_arena *arena, gl_diagnostics *diagnostics);

/* Is the name that of a file, and not of the catalogue? */
bool gl_catalogue_is_own_file(const char *name);

#endif
