/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/texts.h"

#include <string.h>

void gl_texts_add(gl_texts *texts, gl_arena *arena, const char *text)
{
    texts->items = gl_arena_grow(arena, texts->items, &texts->capacity, texts->count + 1,
                                 sizeof *texts->items);
    texts->items[texts->count++] = text;
}

bool gl_texts_have(const gl_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], text) == 0)
            return true;
    return false;
}
