/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules between fields of a workload, and between a workload and a cluster. Single fields (type,
 * range) were checked by the loader. Each finding names the fields by dotted path; the loader adds
 * the position.
 */
#ifndef GL_CORE_CHECK_H
#define GL_CORE_CHECK_H

#include "common/arena.h"
#include "common/error.h"
#include "planner/core/hardware.h"
#include "planner/core/workload.h"

typedef struct gl_finding {
    const char *path;    /* "parallel.tp" */
    const char *message; /* "heads (30) must be a multiple of tp (4)" */
    bool fatal;          /* false: a warning, the plan goes on */
} gl_finding;

typedef struct gl_findings {
    gl_finding *items;
    size_t count, capacity;
    gl_arena *arena;
} gl_findings;

/* The first of the findings from `from` on with which there is no plan; NULL: none. */
const gl_finding *gl_findings_first_fatal(const gl_findings *findings, size_t from);

/* heads, kv heads, ffn, vocab against tp; ep against dp·cp and experts; layers against pp·v (uneven
 * is a warning that says which stages hold how many); sequence against cp and sp; batch against
 * dp·micro; MLA and MoE fields complete; shard against dp·cp; architecture present for anything but
 * data parallelism; stated parameters against the count (2 %). */
void gl_check_workload(const gl_workload *workload, gl_findings *findings);

/* Enough GPUs, a peak for the compute type; tp within a node and a node within its link's domain
 * are warnings when they are not. */
void gl_check_cluster(const gl_workload *workload, const gl_cluster *cluster,
                      gl_findings *findings);

#endif
