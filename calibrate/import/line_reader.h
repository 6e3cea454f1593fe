/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a stream, one at a time, in bounded memory. */
#ifndef GL_CALIBRATE_LINE_READER_H
#define GL_CALIBRATE_LINE_READER_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { GL_LINE_MAX = 64 * 1024 };

typedef struct gl_line_reader {
    FILE *stream;
    int number; /* of the line that was read last, from 1 */
    size_t start, end;
    bool finished, failed;
    bool is_cut; /* the line that was read last has no end: the stream ended inside it */
    char line[GL_LINE_MAX + 1];
    char buffer[GL_LINE_MAX];
} gl_line_reader;

void gl_line_reader_begin(gl_line_reader *reader, FILE *stream);

/* What the stream begins with, without taking it: `*length` bytes, up to the buffer. */
const char *gl_line_reader_peek(gl_line_reader *reader, size_t *length);

/* The next line without its end (cut at GL_LINE_MAX), terminated, NUL bytes replaced by blanks;
 * valid until the next call and free to be changed. NULL at the end, and after a read error (then
 * `failed` is set). */
char *gl_line_reader_next(gl_line_reader *reader, size_t *length);

#endif
