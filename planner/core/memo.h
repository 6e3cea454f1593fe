/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers by key, in an arena: what many layouts ask for again and again. */
#ifndef GL_CORE_MEMO_H
#define GL_CORE_MEMO_H

#include "common/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { GL_MEMO_KEY_MAX = 8 };

/* Numbers that tell one question from another; unused ones are 0. */
typedef struct gl_memo_key {
    int64_t part[GL_MEMO_KEY_MAX];
} gl_memo_key;

/* Two numbers, neither negative, in one part. */
static inline int64_t gl_memo_pair(int a, int b)
{
    return (int64_t)a << 32 | b;
}

typedef struct gl_memo gl_memo;

/* Keys have `parts` numbers, values `value_size` bytes. */
gl_memo *gl_memo_create(gl_arena *arena, size_t parts, size_t value_size);

/* The value of a key, zeroed when it is new (`found` tells). It stays where it is. */
void *gl_memo_get(gl_memo *memo, const gl_memo_key *key, bool *found);

/* Forgets the key that was got last: its answer could not be made. */
void gl_memo_forget_last(gl_memo *memo);

#endif
