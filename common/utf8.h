/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UTF-8 without the locale: programs here never depend on LC_CTYPE. */
#ifndef GL_COMMON_UTF8_H
#define GL_COMMON_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { GL_UTF8_INVALID = 0xFFFD };

/*
 * Reads the character at `text` (not at its end). Returns how many bytes it takes, 1 to 4. Bytes
 * that are no UTF-8 (overlong forms and surrogates too) are taken one at a time and give
 * GL_UTF8_INVALID; `*valid` (may be NULL) tells them from a real U+FFFD by being 0.
 */
size_t gl_utf8_next(const char *text, uint32_t *character, int *valid);

/* Columns of a terminal that a character takes: 0 (combining), 1 or 2 (East Asian, emoji). */
int gl_utf8_char_width(uint32_t character);

/* Columns of a whole text. */
size_t gl_utf8_width(const char *text);

#endif
