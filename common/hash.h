/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), of 64 and of 32 bits. Some of these are
 * stored or decide what is drawn: they stay as they are. */
#ifndef GL_COMMON_HASH_H
#define GL_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GL_HASH_START   UINT64_C(14695981039346656037)
#define GL_HASH_PRIME   UINT64_C(1099511628211)
#define GL_HASH32_START UINT32_C(2166136261)

/* The hash of what `hash` is of, and of `length` bytes behind it. */
static inline uint64_t gl_hash_add(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *c = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ c[i]) * GL_HASH_PRIME;
    return hash;
}

static inline uint32_t gl_hash32_add(uint32_t hash, const void *bytes, size_t length)
{
    const unsigned char *c = bytes;
    for (size_t i = 0; i < length; i++)
        /* It loses sight of the bytes of a double behind the first.
         * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        hash = (hash ^ c[i]) * UINT32_C(16777619);
    return hash;
}

static inline uint64_t gl_hash_text(const char *text)
{
    return gl_hash_add(GL_HASH_START, text, strlen(text));
}

#endif
