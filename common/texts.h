/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of texts that grows in an arena. */
#ifndef GL_COMMON_TEXTS_H
#define GL_COMMON_TEXTS_H

#include "common/arena.h"

#include <stdbool.h>

typedef struct gl_texts {
    const char **items;
    size_t count, capacity;
} gl_texts;

/* Appends a text, which is borrowed. */
void gl_texts_add(gl_texts *texts, gl_arena *arena, const char *text);

bool gl_texts_have(const gl_texts *texts, const char *text);

#endif
