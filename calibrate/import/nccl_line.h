/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single lines of NCCL's log, behind "NCCL INFO ": what they say, for the import of logs and for
 * doctor, which keep different things of them. Texts are parts of the line.
 */
#ifndef GL_IMPORT_NCCL_LINE_H
#define GL_IMPORT_NCCL_LINE_H

#include "common/arena.h"
#include "common/collective.h"

/* Names of algorithms and protocols in the order of NCCL's own numbers, which logs before 2.24
 * print instead; the last is "mixed": several. */
enum { GL_NCCL_NVLS = 4, GL_NCCL_NVLS_TREE = 5, GL_NCCL_ALGORITHMS = 7, GL_NCCL_PROTOCOLS = 3 };
extern const char *const gl_nccl_algorithms[GL_NCCL_ALGORITHMS + 1];
extern const char *const gl_nccl_protocols[GL_NCCL_PROTOCOLS + 1];

/* The number of a name, regardless of case and '_', or of NCCL's own number; −1 none of them. */
int gl_nccl_name_find(const char *text, size_t length, const char *const *names, int count);

/* "NCCL version 2.28.9+cuda13.0": where the version begins; NULL: the line says none. */
const char *gl_nccl_line_version(const char *text);

/* "NCCL_X set by environment to Y." (the full stop since 2.27), "NCCL_IB_HCA set to mlx5_0:1" */
typedef struct gl_nccl_said_setting {
    const char *name, *value;
    size_t name_length, value_length; /* without what may end the line */
    bool by_environment;
} gl_nccl_said_setting;
bool gl_nccl_line_setting(const char *text, gl_nccl_said_setting *setting);

/* "AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}", older "8 Bytes -> Algo 1 proto
 * 0 time 7.2" */
typedef struct gl_nccl_choice {
    int collective; /* GL_COLLECTIVE_COUNT: it names none */
    double size_bytes;
    const char *algorithm_text;
    int algorithm, protocol; /* −1: none that is known */
} gl_nccl_choice;
bool gl_nccl_line_choice(const char *text, gl_nccl_choice *choice);

/* The integer from −1 to 1e8 behind a word in `text`, or `missing`. */
long gl_nccl_line_number(const char *text, const char *word, long missing);

/* What stands before one of the characters `ends`, 60 bytes at most, printable. */
const char *gl_nccl_line_word(gl_arena *arena, const char *text, const char *ends);

#endif
