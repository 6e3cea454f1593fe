/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model descriptions (models/x.yaml) to workloads. */
#ifndef GL_INPUT_MODEL_FILE_H
#define GL_INPUT_MODEL_FILE_H

#include "common/arena.h"
#include "common/error.h"
#include "common/options.h"
#include "planner/core/workload.h"
#include "planner/input/fields.h"

/*
 * Loads and checks a model description: fields, `huggingface:` files (relative to the description),
 * rules between fields (core/check.h). Settings are applied first;
 * those of a cluster ("cluster.…", "prices") are left to gl_cluster_load. All problems are
 * collected in `diagnostics`; returns true when there are none. Warnings are appended to
 * `warnings`.
 */
bool gl_model_file_load(const char *path, const gl_setting *settings, size_t setting_count,
                        gl_arena *arena, gl_workload *workload, gl_texts *warnings,
                        gl_diagnostics *diagnostics);

#endif
