/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a description and a cluster to a plan: the way of every command that plans, and of the
 * library. */
#ifndef GL_INPUT_PLANNING_H
#define GL_INPUT_PLANNING_H

#include "planner/core/plan.h"
#include "planner/input/model_file.h"

/* "key=value", split at the first '=' and copied into the arena. `option` is what it came with
 * ("--set"), for messages. */
bool gl_setting_parse(const char *option, const char *text, gl_arena *arena, gl_setting *setting,
                      gl_error *err);

/* A planned scenario, in the arena. */
typedef struct gl_planned {
    gl_workload workload;
    gl_texts notes; /* warnings of the loaders */
    gl_plan plan;
} gl_planned;

/*
 * Checks the workload that `planned` holds against the cluster and plans it; `tree` is its document
 * and says where fields are. The plan has a copy of the cluster, which allow_extrapolation may have
 * extended to the workload's ranks; what it points to must outlive the plan. `diagnostics` comes in
 * empty; returns false with something in it.
 */
bool gl_planned_build(const gl_yaml_tree *tree, const gl_cluster *cluster,
                      const gl_plan_options *options, gl_arena *arena, gl_planned *planned,
                      gl_diagnostics *diagnostics);

#endif
