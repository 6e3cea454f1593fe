/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of what to measure for an acceptance: CSV with a header, as `gpulink-plan accept --list`
 * writes it. Columns collective, ranks and size_bytes must be there; dtype, nodes (1),
 * ranks_per_node (ranks over nodes) and concurrent_groups (1) may be; all others are passed over.
 */
#ifndef GL_MEASURE_ACCEPTANCE_LIST_H
#define GL_MEASURE_ACCEPTANCE_LIST_H

#include "common/arena.h"
#include "common/calibration.h"
#include "common/error.h"

/* All sizes of one collective and type on one placement. */
typedef struct gl_acceptance_item {
    gl_collective collective;
    gl_dtype dtype; /* NONE: the backend's default */
    gl_placement placement;
    double *sizes; /* ascending, distinct; two at least: one beside a single one is added */
    size_t size_count, size_capacity;
} gl_acceptance_item;

typedef struct gl_acceptance_list {
    gl_acceptance_item *items;
    size_t count, capacity;
} gl_acceptance_list;

/* Reads a file of at most 4 MiB. A YAML file is refused with the command
 * that makes a list of it. */
bool gl_acceptance_list_load(const char *path, gl_arena *arena, gl_acceptance_list *out,
                             gl_error *err);

/* The same from memory; `name` stands for the file in messages. */
bool gl_acceptance_list_parse(const char *name, const char *text, size_t length, gl_arena *arena,
                              gl_acceptance_list *out, gl_error *err);

/* A number that tells lists apart: of two runs with it, the same was asked for. */
unsigned gl_acceptance_list_digest(const gl_acceptance_list *list);

#endif
