/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a table of published runs does not say (data/validation/conventions.yaml): statements about
 * the rows whose cells match patterns, in the words of a model and a cluster description.
 *
 *   conventions:
 *     - when: {id: "kort-*", recompute: [full, selective]}   # all must match; of a list any
 *       because: where it is known from                      # required
 *       family: Megatron-LM 2022                             # group in the summary
 *       leave_out: why such a row cannot be planned
 *       fitted: which figures were chosen with this row
 *       model: {gated_mlp: false, learned_positions: $seq}   # $column: that cell of the row
 *       cluster: {inter_node: {link: ib-hdr}}
 *
 * Statements are applied in order, the later over the earlier, all over the row's own columns; what
 * stands in its `settings` comes last. In a pattern * is any text, "" an empty cell.
 */
#ifndef GL_INPUT_CONVENTIONS_H
#define GL_INPUT_CONVENTIONS_H

#include "planner/input/cluster_file.h"
#include "planner/input/model_file.h"
#include "planner/input/runs_file.h"

typedef struct gl_conventions gl_conventions;

/* Loads and checks the statements; NULL after a diagnosis. `path` NULL: the bundled ones. */
gl_conventions *gl_conventions_load(const char *path, gl_arena *arena, gl_diagnostics *diagnostics);

/* What a run is in the planner's terms. */
typedef struct gl_run_case {
    const char *family;   /* group in the summary; never NULL */
    const char *gpu;      /* name of the GPU, in the catalogue or as published; NULL: none stated */
    const char *fitted;   /* which figures were chosen with it; NULL: none */
    const char *reason;   /* why it cannot be planned; NULL: it can */
    bool broken;          /* the reason is none of the run's: memory or a disk fails */
    gl_workload workload; /* when it can */
    const gl_cluster *cluster;
    gl_texts notes; /* warnings of the loaders */
} gl_run_case;

/* Makes workload and cluster of a run, checked against each other. Clusters are kept by the
 * conventions and shared by the runs on them. */
void gl_run_case_build(gl_conventions *conventions, const gl_known_run *run, gl_arena *arena,
                       gl_run_case *out);

#endif
