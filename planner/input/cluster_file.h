/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters: a calibration database, a cluster YAML, or the name of a bundled one of either. */
#ifndef GL_INPUT_CLUSTER_FILE_H
#define GL_INPUT_CLUSTER_FILE_H

#include "common/arena.h"
#include "common/error.h"
#include "common/texts.h"
#include "planner/core/hardware.h"
#include "planner/input/fields.h"

/*
 * Resolves and loads a cluster. `name` is tried as a file first, then as a bundled name
 * (data/clusters/NAME.yaml, data/calibrations/NAME.db).
 *
 * A database makes a cluster whose size is the largest placement measured and whose GPU is found in
 * the catalogue by the name that the driver prints. "FILE.db#LABEL" takes only the runs with that
 * label. Of several curves with the same key (collective, floating-point or integer type,
 * placement, transport, in-place) the newest complete run's is taken, and a warning says so. A file
 * with several known transports in one tier is refused when nothing says which is meant (a link of
 * the cluster description, a label); beside a known one, curves of an unknown transport are left
 * out.
 *
 * Settings of a cluster description ("cluster.nodes=4") are applied to it; all others are left to
 * the model description.
 *
 * Where it returns false, `cluster` has what was read until then, none of it to be planned with: a
 * sweep names what it left out. Its nodes are 0 when not even the fields were right.
 */
bool gl_cluster_load(const char *name, const gl_setting *settings, size_t setting_count,
                     gl_arena *arena, gl_cluster *cluster, gl_texts *warnings,
                     gl_diagnostics *diagnostics);

/* The same from a document that is there already, such as one made of a table's row. */
bool gl_cluster_tree_load(const gl_yaml_tree *tree, gl_arena *arena, gl_cluster *cluster,
                          gl_texts *warnings, gl_diagnostics *diagnostics);

#endif
