/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a file to the store: recognises the format, parses, judges, writes. */
#ifndef GL_CALIBRATE_IMPORTER_H
#define GL_CALIBRATE_IMPORTER_H

#include "calibrate/import/evaluate.h"
#include "common/store/store.h"

#include <stdio.h>

/* What a file gave. */
typedef struct gl_import_result {
    gl_arena *arena; /* that holds all of it */
    gl_import_run *runs;
    size_t run_count;
    gl_error *refused; /* why other runs of the file were not taken */
    size_t refused_count;
} gl_import_result;

/*
 * Reads a file (text or JSON of nccl-tests or rccl-tests, CSV of rates) from an open stream. `path`
 * names it. False when nothing in it could be taken: *err says why, with the line.
 */
bool gl_import_stream(FILE *stream, const char *path, const gl_import_options *options,
                      gl_arena *arena, gl_import_result *result, gl_error *err);

/* Opens the file and reads it; "-" is standard input. */
bool gl_import_file(const char *path, const gl_import_options *options, gl_arena *arena,
                    gl_import_result *result, gl_error *err);

/*
 * Writes the runs of all results in one transaction, but for those whose samples the store holds
 * already: they get the id of that run (same_as). Where that run's transport is not known and this
 * one's is, the store gets to know it (named).
 */
bool gl_import_write(gl_store *store, gl_import_result *results, size_t count, gl_error *err);

#endif
