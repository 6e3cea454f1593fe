/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured, as texts for other programs. */
#ifndef GL_CALIBRATE_EXPORT_H
#define GL_CALIBRATE_EXPORT_H

#include "common/store/store.h"

/* The configuration of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE): for each collective
 * and placement, which algorithm and protocol was fastest at which sizes. Samples must be loaded.
 * NULL and an error when nothing was measured with two forced choices or more. */
const char *gl_export_tuner(gl_arena *arena, const gl_catalog *catalog, gl_error *err);

/* A script of nccl-tests commands for all placements in the file. */
const char *gl_export_nccl_tests(gl_arena *arena, const gl_catalog *catalog, gl_error *err);

#endif
