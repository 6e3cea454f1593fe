/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the list of an acceptance comes from: a file, or gpulink-plan asked about a model. */
#ifndef GL_CALIBRATE_CLI_ACCEPTANCE_SOURCE_H
#define GL_CALIBRATE_CLI_ACCEPTANCE_SOURCE_H

#include "calibrate/measure/acceptance_list.h"

/*
 * `path` is a list (CSV), or a model description (*.yaml, *.yml): then gpulink-plan, beside this
 * program or in PATH, makes the list for `cluster`. Its messages go to standard error where
 * `audible`: of several processes, one tells.
 */
bool gl_acceptance_source_load(const char *path, const char *cluster, bool audible, gl_arena *arena,
                               gl_acceptance_list *out, gl_error *err);

#endif
