/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arena: memory that is released all at once.
 *
 * Ownership in one sentence: what a loader or a model function returns lives in the arena handed to
 * it, and nobody frees parts of it.
 */
#ifndef GL_COMMON_ARENA_H
#define GL_COMMON_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct gl_arena gl_arena;

/* Creates an empty arena. Ends the process with a message and GL_ERROR_SYSTEM when memory is
 * exhausted, as all functions here do: a planner that needs a few megabytes cannot do better. */
gl_arena *gl_arena_create(void);

/* Ends the process the same way when `memory` is NULL, and returns it otherwise: for what libraries
 * allocate, where going on without it would change an answer. */
void *gl_memory_checked(void *memory);

/* Releases the arena and everything in it. NULL is allowed. */
void gl_arena_destroy(gl_arena *arena);

/* Empties the arena and keeps some of its memory for what comes next. */
void gl_arena_reset(gl_arena *arena);

/* Zeroed memory for `count` objects of `size` bytes, aligned for any type. count × size must not
 * overflow (aborts). A zero count gives a valid pointer to nothing. */
void *gl_arena_alloc(gl_arena *arena, size_t count, size_t size);

/* The same without zeroes: for what is written at once. */
void *gl_arena_alloc_raw(gl_arena *arena, size_t count, size_t size);

/* `count` zeroed objects of a type. */
#define GL_ARENA_NEW(arena, type, count) ((type *)gl_arena_alloc((arena), (count), sizeof(type)))

/* Grows an array that holds *capacity objects so that it holds at least `needed`: returns the array
 * (moved or not) and updates *capacity. */
void *gl_arena_grow(gl_arena *arena, void *array, size_t *capacity, size_t needed, size_t size);

/* Copies of text. */
char *gl_arena_strdup(gl_arena *arena, const char *text);
char *gl_arena_strndup(gl_arena *arena, const char *text, size_t length);
char *gl_arena_printf(gl_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* `text` and `more` as one, with `between` only when there is a text before it. */
char *gl_arena_append(gl_arena *arena, const char *text, const char *between, const char *more);

/* All of the texts as one, with `between` each two. */
char *gl_arena_join(gl_arena *arena, const char *const *texts, size_t count, const char *between);

#endif
