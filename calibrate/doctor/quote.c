/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/quote.h"

#include "common/text.h"

#include <string.h>

enum { QUOTE_MAX = 240 };

/* Terminal escapes go, tabs become one blank. Returns the length. */
static size_t tidy(const char *text, size_t length, char *out, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < room; i++) {
        if (text[i] == '\x1b') {
            while (i + 1 < length && text[i + 1] != 'm' && text[i + 1] != 'K')
                i++;
            i++;
        } else {
            out[used++] = text[i] == '\t' ? ' ' : text[i];
        }
    }
    while (used > 0 && (out[used - 1] == ' ' || out[used - 1] == '\r' || out[used - 1] == '\n'))
        used--;
    out[used] = '\0';
    return used;
}

gl_quote gl_quote_make(gl_arena *arena, const char *file, int line, const char *text, size_t length)
{
    char tidied[2 * QUOTE_MAX], printable[QUOTE_MAX];
    tidy(text, length, tidied, sizeof tidied);
    const char *start = tidied + strspn(tidied, " ");
    return (gl_quote){.file = file,
                      .line = line,
                      .text =
                          gl_arena_strdup(arena, gl_printable(start, printable, sizeof printable))};
}

void gl_quote_once(gl_quote *quote, gl_arena *arena, const char *file, int line, const char *text)
{
    if (quote->text == NULL)
        *quote = gl_quote_make(arena, file, line, text, strlen(text));
}
