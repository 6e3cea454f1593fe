/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters: a calibration database, a cluster YAML, or the name of a bundled one of either. */
#ifndef GL_INPUT_CLUSTER_FILE_H
#define GL_INPUT_CLUSTER_FILE_H

#include "common/arena.h"
#include "common/error.h"
#include "common/options.h"
#include "planner/core/hardware.h"

/*
 * Resolves and loads a cluster. `name` is tried as a file first, then as a bundled name
 * (data/clusters/NAME.yaml, data/calibrations/NAME.db). A database makes a cluster whose size is
 * the largest placement measured and whose GPU is found in the catalogue by the name that the
 * driver prints. Of several curves with the same key (collective, type class, placement, transport,
 * in-place) the newest complete run's is taken, and a warning says so; a file with several
 * transports is refused unless each tier has one (advice: filter by label when importing).
 */
bool gl_cluster_load(const char *name, gl_arena *arena, gl_cluster *cluster, gl_texts *warnings,
                     gl_diagnostics *diagnostics);

/* Catalogue entries by name (for GPUs also by what a driver prints). NULL when absent. Loading
 * problems of bundled files are diagnosed. */
const gl_gpu *gl_catalogue_gpu(const char *name, gl_arena *arena, gl_diagnostics *diagnostics);
const gl_link *gl_catalogue_link(const char *name, gl_arena *arena, gl_diagnostics *diagnostics);

#endif
