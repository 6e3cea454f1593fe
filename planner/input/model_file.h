/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model descriptions (models/x.yaml) to workloads. */
#ifndef GL_INPUT_MODEL_FILE_H
#define GL_INPUT_MODEL_FILE_H

#include "common/arena.h"
#include "common/error.h"
#include "common/texts.h"
#include "planner/core/check.h"
#include "planner/core/workload.h"
#include "planner/input/fields.h"

/*
 * Loads and checks a model description: fields, `huggingface:` files (relative to the description),
 * rules between fields (core/check.h). Settings are applied first; those of a cluster ("cluster.…",
 * "prices") are left to gl_cluster_load. A Hugging Face configuration in a description's place is
 * one that names it; sequence and batch are then assumed, with a warning. All problems are
 * collected in `diagnostics`; returns true when there are none. Warnings are appended to
 * `warnings`.
 */
bool gl_model_file_load(const char *path, const gl_setting *settings, size_t setting_count,
                        gl_arena *arena, gl_workload *workload, gl_texts *warnings,
                        gl_diagnostics *diagnostics);

/* The two halves of it, for callers that want to place later findings (gl_check_cluster) in the
 * document: the document with the settings applied … */
bool gl_model_tree_open(const char *path, const gl_setting *settings, size_t setting_count,
                        gl_arena *arena, gl_yaml_tree *tree, gl_diagnostics *diagnostics);

/* … or from memory: `name` stands for the file in messages, and for what lies beside it … */
bool gl_model_tree_parse(const char *name, const char *text, size_t length,
                         const gl_setting *settings, size_t setting_count, gl_arena *arena,
                         gl_yaml_tree *tree, gl_diagnostics *diagnostics);

/* … and the workload that it describes, checked. With `any_layout`, for a search, its layout
 * (`parallel`, `batch.micro`) is read and not checked: neither problems nor warnings of it.
 * Where each field is right and they contradict each other, `workload` is written all the same: a
 * sweep tells what it left out. */
bool gl_model_tree_load(const gl_yaml_tree *tree, bool any_layout, gl_arena *arena,
                        gl_workload *workload, gl_texts *warnings, gl_diagnostics *diagnostics);

/* Fatal findings become diagnostics, others warnings, each with the position of the field that it
 * names. `tree` may be NULL: no positions. */
void gl_findings_report(const gl_findings *findings, const gl_yaml_tree *tree, gl_arena *arena,
                        gl_texts *warnings, gl_diagnostics *diagnostics);

/* Does a setting belong to a cluster description? */
bool gl_setting_is_cluster(const gl_setting *setting);

#endif
