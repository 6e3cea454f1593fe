/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where data goes: standard output or a file. Every write is checked when the output is closed, so
 * that a full disk is an error and never a truncated answer. A file is written beside its final
 * name and renamed when complete: a failed run leaves an older file as it was.
 */
#ifndef GL_COMMON_OUTPUT_H
#define GL_COMMON_OUTPUT_H

#include "common/error.h"

#include <stdio.h>

typedef struct gl_output gl_output;

/* `path` NULL or "-" = standard output. Finds a path that cannot be written before any work is
 * done. A file that this program has read (see inputs.h) is refused, and so is any database: both
 * are a GL_ERROR_USAGE. A device or pipe ("/dev/null") is written as it is, without a rename. */
bool gl_output_open(const char *path, gl_output **out, gl_error *err);

/* Does the path mean standard output? */
bool gl_output_is_standard(const char *path);

/* An output into memory: gl_output_text gives what was written so far. */
gl_output *gl_output_memory(void);
const char *gl_output_text(gl_output *out);

void gl_output_write(gl_output *out, const char *text, size_t length);
void gl_output_puts(gl_output *out, const char *text);
void gl_output_printf(gl_output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes, checks, renames, closes, frees (also when it fails). Status GL_ERROR_SYSTEM with the
 * reason when anything was not written. A reader that closed the pipe gives the same status with
 * an empty message: there is nothing to tell. */
bool gl_output_close(gl_output *out, gl_error *err);

/* Closes without renaming and frees: what was written is dropped. NULL is allowed. */
void gl_output_discard(gl_output *out);

#endif
