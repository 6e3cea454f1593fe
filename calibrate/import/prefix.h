/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What launchers and terminals put around and into lines. */
#ifndef GL_CALIBRATE_PREFIX_H
#define GL_CALIBRATE_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Takes out terminal escapes and blanks out, in place: tabs, carriage returns, no-break spaces,
 * cell borders ('|'), quoting at the start ('#', '>'), and every "[1,0]<stdout>:" or
 * "[prterun-host-12@1,0]" tag wherever it stands: Open MPI tags each flushed piece, so that one row
 * may hold three.
 */
void gl_prefix_clean(char *line);

/* What a container's log file wraps into JSON ({"log":"...\n","stream":"stdout",...}) becomes the
 * text itself, in place; false: it is none. */
bool gl_prefix_unwrap_json(char *line);

/* Only terminal escapes and no-break spaces, in place. */
void gl_prefix_strip_escapes(char *line);

/* NCCL's own prefix: of a word "HOST:PID:TID" the length of HOST; 0 when it is no such word. */
size_t gl_prefix_host_length(const char *word, size_t length);

/* Backwards from `at` in a line, over blanks or over a word: where they begin. */
size_t gl_prefix_blanks_back(const char *line, size_t at);
size_t gl_prefix_word_back(const char *line, size_t at);

/* Where the word "HOST:PID:TID" ends that stands before "[n]" and `mark`, which is where "NCCL
 * INFO" or "NCCL WARN" begins; before a warning its source file may stand. 0: there is no "[n]". */
size_t gl_prefix_host_end(const char *line, size_t mark);

enum { GL_WORDS_MAX = 160 };

/* The words of a line (separated by blanks), as pointers into it. */
typedef struct gl_words {
    struct {
        const char *text;
        size_t length;
    } items[GL_WORDS_MAX];
    size_t count;
    bool more; /* there were more than GL_WORDS_MAX */
} gl_words;

void gl_words_split(const char *line, size_t length, gl_words *words);
bool gl_word_is(const gl_words *words, size_t index, const char *text);

#endif
