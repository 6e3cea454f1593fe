/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of the user's input, kept as the proof of a fact. */
#ifndef GL_DOCTOR_QUOTE_H
#define GL_DOCTOR_QUOTE_H

#include "common/arena.h"

typedef struct gl_quote {
    const char *file; /* "nccl.log"; borrowed */
    int line;         /* from 1; 0 = unknown */
    const char *text; /* printable, shortened; NULL: there is no such line */
} gl_quote;

/* A copy of `length` bytes: blanks at the ends go, control characters and terminal escapes too. */
gl_quote gl_quote_make(gl_arena *arena, const char *file, int line, const char *text,
                       size_t length);

/* Sets *quote unless it is set. */
void gl_quote_once(gl_quote *quote, gl_arena *arena, const char *file, int line, const char *text);

#endif
