/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bundled models on bundled clusters. What cannot be loaded or planned fails the test. */
#ifndef TESTS_BUNDLED_H
#define TESTS_BUNDLED_H

#include "tests/support.h"

#include "planner/core/plan.h"
#include "planner/input/cluster_file.h"
#include "planner/input/model_file.h"

/* models/MODEL.yaml with `count` settings. */
static inline void load_bundled_model(const char *model, const gl_setting *settings, size_t count,
                                      gl_arena *arena, gl_workload *workload)
{
    gl_texts notes = {0};
    gl_diagnostics diagnostics = {.count = 0};
    const char *path = gl_arena_printf(arena, TEST_SOURCE_DIR "/../models/%s.yaml", model);
    *workload = gl_workload_defaults();
    if (!gl_model_file_load(path, settings, count, arena, workload, &notes, &diagnostics))
        fail_msg("%s", diagnostics.items[0].message);
}

static inline void load_bundled_cluster(const char *name, gl_arena *arena, gl_cluster *cluster)
{
    gl_texts notes = {0};
    gl_diagnostics diagnostics = {.count = 0};
    if (!gl_cluster_load(name, NULL, 0, arena, cluster, &notes, &diagnostics))
        fail_msg("%s", diagnostics.items[0].message);
}

static inline void build_plan(const gl_workload *workload, const gl_cluster *cluster,
                              const gl_plan_options *options, gl_arena *arena, gl_plan *plan)
{
    gl_error err;
    if (!gl_plan_build(workload, cluster, options, arena, plan, &err))
        fail_msg("%s", err.message);
}

#endif
