/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole files as text, and names of files. */
#ifndef GL_INPUT_FILE_TEXT_H
#define GL_INPUT_FILE_TEXT_H

#include "common/arena.h"
#include "common/error.h"

enum { GL_FILE_TEXT_MAX = 4 * 1024 * 1024 };

/* Reads a file of at most 4 MiB ("-" = standard input) into the arena, with a NUL behind it. A
 * missing file, a directory, an unreadable or a larger file and a pipe without a writer are a
 * GL_ERROR_INPUT; failing to read is a GL_ERROR_SYSTEM. */
bool gl_file_text_read(const char *path, gl_arena *arena, const char **text, size_t *length,
                       gl_error *err);

/* From now on standard input and pipes can be read again: what they held is kept until the program
 * ends. For programs, which read a description once for each scenario and first of all to see what
 * it is; before their first thread. */
void gl_file_keep_streams(void);

/* Do both paths lead to one regular file? */
bool gl_file_is_same(const char *a, const char *b);

/* Is there something at `path`? */
bool gl_file_exists(const char *path);

/* Is it a regular file: no folder, pipe or device? */
bool gl_file_is_regular(const char *path);

/* What a file is that was given for something else, by its first bytes: an SQLite database, or
 * output of nccl-tests (text or JSON). False for what is no regular file. */
bool gl_file_is_database(const char *path);
bool gl_file_is_nccl_log(const char *path);

/* "; did you mean 'models/a.yaml'?" of the files in the folder of a path that is not there, or "".
 * In the arena. */
const char *gl_file_guess(gl_arena *arena, const char *path);

/* `name` as seen from the folder of `file`; absolute names stay as they are. */
const char *gl_file_beside(gl_arena *arena, const char *file, const char *name);

/* "folder/h200.yaml" → "h200". */
const char *gl_file_stem(gl_arena *arena, const char *path);

#endif
