/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/line_reader.h"

#include <string.h>

void gl_line_reader_begin(gl_line_reader *reader, FILE *stream)
{
    reader->stream = stream;
    reader->number = 0;
    reader->start = reader->end = 0;
    reader->finished = reader->failed = reader->is_cut = false;
}

/* Refills the empty buffer. */
static bool refill(gl_line_reader *reader)
{
    if (reader->finished)
        return false;
    reader->start = 0;
    reader->end = fread(reader->buffer, 1, sizeof reader->buffer, reader->stream);
    reader->finished = reader->end < sizeof reader->buffer;
    reader->failed = reader->finished && ferror(reader->stream) != 0;
    return reader->end > 0;
}

const char *gl_line_reader_peek(gl_line_reader *reader, size_t *length)
{
    if (reader->start == reader->end)
        refill(reader);
    *length = reader->end - reader->start;
    return reader->buffer + reader->start;
}

/* Appends to the line what fits of `length` bytes. */
static void append(gl_line_reader *reader, size_t *used, const char *text, size_t length)
{
    size_t room = GL_LINE_MAX - *used;
    size_t taken = length < room ? length : room;
    memcpy(reader->line + *used, text, taken);
    *used += taken;
}

char *gl_line_reader_next(gl_line_reader *reader, size_t *length)
{
    size_t used = 0;
    bool any = false;
    while (reader->start < reader->end || refill(reader)) {
        const char *text = reader->buffer + reader->start;
        const char *newline = memchr(text, '\n', reader->end - reader->start);
        size_t taken = newline != NULL ? (size_t)(newline - text) : reader->end - reader->start;
        any = true;
        reader->is_cut = newline == NULL;
        append(reader, &used, text, taken);
        reader->start += taken + (newline != NULL);
        if (newline != NULL)
            break;
    }
    if (!any || reader->failed)
        return NULL;
    reader->number++;
    for (char *zero = reader->line;
         (zero = memchr(zero, '\0', used - (size_t)(zero - reader->line)));)
        *zero = ' ';
    reader->line[used] = '\0';
    *length = used;
    return reader->line;
}
