/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors and collected diagnostics.
 *
 * Every function that can fail returns bool (true = done) and takes a gl_error as its last
 * parameter, which may be NULL. Outputs are written only on success. The function that first knows
 * what is wrong sets the message; callers pass it up unchanged. Nothing below main prints or exits.
 */
#ifndef GL_COMMON_ERROR_H
#define GL_COMMON_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* What went wrong, by whose fault. The values are the exit statuses of both programs. */
typedef enum gl_status {
    GL_OK = 0,
    /* The command line: an option or its value is wrong, also a key or value in --set, --sweep and
     * --fix, or it asks for what the file does not hold. */
    GL_ERROR_USAGE = 2,
    /* A file or database that the user gave is wrong or not there, or the description, with all
     * that was set, makes a plan that cannot be. */
    GL_ERROR_INPUT = 3,
    GL_ERROR_SYSTEM = 4,   /* the operating system: I/O, memory, a full disk */
    GL_ERROR_DEVICE = 5,   /* a GPU, NCCL or MPI */
    GL_ERROR_INTERNAL = 70 /* a fault of this program */
} gl_status;

/* Where in the user's input something stands. */
typedef struct gl_mark {
    const char *file; /* borrowed; NULL when there is no file */
    int line;         /* from 1; 0 = unknown */
    int column;       /* from 1; 0 = unknown */
} gl_mark;

typedef struct gl_error {
    gl_status status;
    char file[512];
    int line, column;
    char path[128];    /* dotted path in the document, such as "parallel.tp"; may be empty */
    char message[512]; /* one line, lower case, states the fact, the limit and the unit */
} gl_error;

/* Tells compilers and analyzers, which look into no function of another file, that this one returns
 * false: so they see that outputs are there where nothing failed. */
static inline bool gl_always_false(bool result)
{
    (void)result;
    return false;
}

/* Sets `err` (if not NULL) and returns false, so that a caller can write `return gl_fail(...)`. */
bool gl_fail(gl_error *err, gl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define gl_fail(...) gl_always_false(gl_fail(__VA_ARGS__))

/* The same with a position and a dotted path (either may be NULL). */
bool gl_fail_at(gl_error *err, gl_status status, const gl_mark *mark, const char *path,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
#define gl_fail_at(...) gl_always_false(gl_fail_at(__VA_ARGS__))

/* Writes "file:line:column: path: message" into `text` (always terminated); parts that are not
 * known are left out, and what a terminal would obey is '?', as in gl_printable. Returns `text`. */
char *gl_error_text(const gl_error *err, char *text, size_t size);

enum { GL_DIAGNOSTICS_MAX = 20 };

/* Problems found while reading one document: all are reported, not just the first. */
typedef struct gl_diagnostics {
    gl_error items[GL_DIAGNOSTICS_MAX];
    size_t count;
    size_t dropped; /* found beyond the maximum */
} gl_diagnostics;

/* How many problems were found, with those beyond the maximum. */
size_t gl_diagnostics_found(const gl_diagnostics *list);

/* Whose fault it is that a text cannot be opened, by errno: the machine's when it runs out of
 * something, otherwise that of who named the file. */
gl_status gl_open_status(int reason);

/* Adds an input error at a position. Returns false always (see gl_fail). */
bool gl_diagnose(gl_diagnostics *list, const gl_mark *mark, const char *path, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
#define gl_diagnose(...) gl_always_false(gl_diagnose(__VA_ARGS__))

#endif
