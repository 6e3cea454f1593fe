/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small text helpers. */
#ifndef GL_COMMON_TEXT_H
#define GL_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate (of `count`) nearest to `text` by edit distance with swaps, ignoring case, '-' and
 * '_'; NULL when none is near enough to be a likely slip (more than a third of it differs). */
const char *gl_nearest(const char *text, const char *const *candidates, size_t count);

/* "; did you mean 'a', 'b' or 'c'?" in `out`, which is returned; empty when nothing is likely.
 * Names that hold the whole word come before those that are an edit away: 'a100' means
 * 'a100-sxm-80gb', not 'a10'. */
char *gl_guess(const char *text, const char *const *candidates, size_t count, char *out,
               size_t size);

/* Length of the byte order mark of UTF-8, as Windows programs put it, at the start of `text`: 3,
 * or 0 when there is none. */
size_t gl_mark_length(const char *text, size_t length);

enum { GL_SQLITE_HEAD_BYTES = 16 };

/* Are these the first bytes of an SQLite database? (https://www.sqlite.org/fileformat2.html 1.3) */
bool gl_is_sqlite_head(const void *bytes, size_t length);

/* What follows a wrong name and precedes what is allowed: "; did you mean 'x'?" or ";". Written to
 * `text`, which is returned. See gl_guess. */
const char *gl_did_you_mean(const char *found, const char *const *candidates, size_t count,
                            char *text, size_t size);

/* "a, b, c" of `count` names, cut with "…" when they do not fit. Returns `text`. */
const char *gl_list_names(const char *const *names, size_t count, char *text, size_t size);

bool gl_starts_with(const char *text, const char *prefix);
bool gl_ends_with(const char *text, const char *suffix);

/* Is it "2026-11-20", a day that there is? */
bool gl_is_date(const char *text);

/* Copies `text` for a message: control characters become '?', cut to fit with "…". */
char *gl_printable(const char *text, char *buffer, size_t size);

#endif
