/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of a plan, each built by a function of its own; inside of planner/report. plan_tables.h is
 * what others see.
 */
#ifndef GL_REPORT_PLAN_PARTS_H
#define GL_REPORT_PLAN_PARTS_H

#include "planner/report/columns.h"
#include "planner/report/plan_tables.h"

/* What is needed to fill a row. */
typedef struct gl_plan_context {
    const gl_plan *plan;
    const gl_plan_view *view;
    gl_arena *arena;
} gl_plan_context;

/* A column of bytes, which people read in GiB. */
#define GIB_COLUMN(X, name, heading, value)                                                        \
    X(name, heading, GL_BYTES, GL_FOR_ALL | GL_AS_GIB, gl_real(value))

/* "8", "8/2": ranks, and nodes where there are several. */
const char *gl_plan_short_placement(const gl_placement *placement, gl_arena *arena);

/* Empty when it is not known. */
gl_cell gl_plan_fits_cell(const gl_memory *memory);

/* All of them, in the order in which people read them. */
#define GL_PLAN_TABLES(X)                                                                          \
    X(model)                                                                                       \
    X(parallel)                                                                                    \
    X(training)                                                                                    \
    X(cluster)                                                                                     \
    X(summary)                                                                                     \
    X(traffic)                                                                                     \
    X(step)                                                                                        \
    X(required_bandwidth)                                                                          \
    X(demand)                                                                                      \
    X(memory)                                                                                      \
    X(network)                                                                                     \
    X(links)                                                                                       \
    X(uncertainty)                                                                                 \
    X(cost)                                                                                        \
    X(cost_structure)                                                                              \
    X(bom)                                                                                         \
    X(staircase)                                                                                   \
    X(cost_uncertainty)                                                                            \
    X(compute)                                                                                     \
    X(sensitivity)                                                                                 \
    X(break_even)

#define GL_PLAN_TABLE_FUNCTION(name) gl_table *gl_plan_##name##_table(const gl_plan_context *c);
GL_PLAN_TABLES(GL_PLAN_TABLE_FUNCTION)
#undef GL_PLAN_TABLE_FUNCTION

/* The summary of what cannot be planned: the swept values, the cluster and the reason. */
gl_table *gl_plan_absent_summary(const gl_plan_context *c);

#endif
