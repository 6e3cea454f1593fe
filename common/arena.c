/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/arena.h"

#include "common/error.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 32 * 1024 };

typedef struct block {
    struct block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
} block;

struct gl_arena {
    block *first;
};

void *gl_memory_checked(void *memory)
{
    if (memory == NULL) {
        fputs("gpulink: out of memory\n", stderr);
        _Exit(GL_ERROR_SYSTEM);
    }
    return memory;
}

gl_arena *gl_arena_create(void)
{
    return gl_memory_checked(calloc(1, sizeof(gl_arena)));
}

void gl_arena_destroy(gl_arena *arena)
{
    if (arena == NULL)
        return;
    for (block *b = arena->first; b != NULL;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(arena);
}

static block *add_block(gl_arena *arena, size_t size)
{
    block *b = gl_memory_checked(malloc(sizeof *b + size));
    b->used = 0;
    b->size = size;
    /* A large object gets a block of its own behind the current one, which stays in use. */
    if (arena->first != NULL && size > BLOCK_BYTES) {
        b->next = arena->first->next;
        arena->first->next = b;
    } else {
        b->next = arena->first;
        arena->first = b;
    }
    return b;
}

/* One block as large as all that were needed: the next round finds it and asks for no more. */
void gl_arena_reset(gl_arena *arena)
{
    size_t size = 0;
    for (const block *b = arena->first; b != NULL; b = b->next)
        size += b->size;
    if (arena->first == NULL)
        return;
    if (arena->first->next != NULL) {
        for (block *b = arena->first; b != NULL;) {
            block *next = b->next;
            free(b);
            b = next;
        }
        arena->first = NULL;
        add_block(arena, size);
    }
    arena->first->used = 0;
}

void *gl_arena_alloc_raw(gl_arena *arena, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size != 0 && count > (SIZE_MAX / 2) / size)
        gl_memory_checked(NULL);
    size_t bytes = (count * size + align - 1) / align * align;
    block *b = arena->first;
    if (b == NULL || b->size - b->used < bytes)
        b = add_block(arena, bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
    void *memory = b->bytes + b->used;
    b->used += bytes;
    return memory;
}

void *gl_arena_alloc(gl_arena *arena, size_t count, size_t size)
{
    return memset(gl_arena_alloc_raw(arena, count, size), 0, count * size);
}

void *gl_arena_grow(gl_arena *arena, void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return array;
    size_t larger = *capacity * 2 > needed ? *capacity * 2 : needed;
    if (larger < 8)
        larger = 8;
    void *moved = gl_arena_alloc(arena, larger, size);
    if (*capacity > 0)
        memcpy(moved, array, *capacity * size);
    *capacity = larger;
    return moved;
}

char *gl_arena_strndup(gl_arena *arena, const char *text, size_t length)
{
    char *copy = gl_arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *gl_arena_strdup(gl_arena *arena, const char *text)
{
    return gl_arena_strndup(arena, text, strlen(text));
}

char *gl_arena_printf(gl_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = gl_arena_alloc(arena, (size_t)(length < 0 ? 0 : length) + 1, 1);
    if (length > 0)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *gl_arena_append(gl_arena *arena, const char *text, const char *between, const char *more)
{
    return gl_arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? between : "", more);
}

char *gl_arena_join(gl_arena *arena, const char *const *texts, size_t count, const char *between)
{
    size_t length = 1;
    for (size_t i = 0; i < count; i++)
        length += strlen(texts[i]) + strlen(between);
    char *joined = gl_arena_alloc(arena, length, 1), *end = joined;
    for (size_t i = 0; i < count; i++)
        end += sprintf(end, "%s%s", i > 0 ? between : "", texts[i]);
    return joined;
}
