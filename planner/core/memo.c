/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/memo.h"

#include <assert.h>

/* Open addressing with linear probing, at most half full. */
typedef struct slot {
    uint64_t hash; /* 0 = free */
    void *value;
    gl_memo_key key;
} slot;

struct gl_memo {
    gl_arena *arena;
    size_t parts, value_size;
    slot *slots;
    size_t capacity, count; /* capacity: a power of two */
    slot *last;
};

enum { CAPACITY_FIRST = 64 };

gl_memo *gl_memo_create(gl_arena *arena, size_t parts, size_t value_size)
{
    assert(parts <= GL_MEMO_KEY_MAX);
    gl_memo *memo = GL_ARENA_NEW(arena, gl_memo, 1);
    *memo = (gl_memo){.arena = arena,
                      .parts = parts,
                      .value_size = value_size,
                      .slots = GL_ARENA_NEW(arena, slot, CAPACITY_FIRST),
                      .capacity = CAPACITY_FIRST};
    return memo;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014) over the parts. */
static uint64_t hash_of(const int64_t *key, size_t parts)
{
    uint64_t hash = parts;
    for (size_t i = 0; i < parts; i++) {
        hash = (hash ^ (uint64_t)key[i]) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    hash *= 0x94d049bb133111ebu;
    hash ^= hash >> 31;
    return hash != 0 ? hash : 1;
}

static bool same_key(const int64_t *a, const int64_t *b, size_t parts)
{
    for (size_t i = 0; i < parts; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static slot *find_slot(const gl_memo *memo, const int64_t *key, uint64_t hash)
{
    size_t mask = memo->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        slot *s = &memo->slots[i];
        if (s->hash == 0 || (s->hash == hash && same_key(s->key.part, key, memo->parts)))
            return s;
    }
}

static void grow(gl_memo *memo)
{
    slot *old = memo->slots;
    size_t count = memo->capacity;
    memo->capacity *= 2;
    memo->slots = GL_ARENA_NEW(memo->arena, slot, memo->capacity);
    for (size_t i = 0; i < count; i++)
        if (old[i].hash != 0)
            *find_slot(memo, old[i].key.part, old[i].hash) = old[i];
}

void *gl_memo_get(gl_memo *memo, const gl_memo_key *key, bool *found)
{
    uint64_t hash = hash_of(key->part, memo->parts);
    slot *s = find_slot(memo, key->part, hash);
    *found = s->hash != 0;
    if (*found)
        return s->value;
    if (2 * (memo->count + 1) > memo->capacity) {
        grow(memo);
        s = find_slot(memo, key->part, hash);
    }
    memo->count++;
    s->hash = hash;
    s->key = *key;
    s->value = gl_arena_alloc(memo->arena, 1, memo->value_size);
    memo->last = s;
    return s->value;
}

void gl_memo_forget_last(gl_memo *memo)
{
    /* Nothing was probed past it since: the slot behind the last one is free or of another chain
     * that never met it. */
    memo->last->hash = 0;
    memo->count--;
}
