/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole commands under failure: each runs in a child process, with one thing going wrong in it. The
 * allocator and the calls that write are interposed (faults.c), for the libraries, too.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include "tests/support.h"

#include <stdbool.h>

/* What goes wrong in a child. */
typedef enum fault_kind {
    FAULT_NONE,
    FAULT_ALLOCATION,      /* the nth allocation fails */
    FAULT_ALLOCATIONS,     /* the nth and all after it */
    FAULT_WRITE_NO_SPACE,  /* from the nth call that writes on: ENOSPC */
    FAULT_WRITE_BROKEN,    /* the nth call that writes, alone: EIO */
    FAULT_FILE_SIZE_LIMIT, /* files end at n bytes: EFBIG, also for what the C library writes itself
                            */
} fault_kind;

/* A command line without quotes, and what it writes besides standard output; paths are relative to
 * the folder that faults_begin makes, @ is the source folder. */
typedef struct command {
    const char *line;     /* "plan …" or "calibrate …" */
    const char *output;   /* file that it writes; NULL = none */
    const char *database; /* that it adds to; NULL = none. Made from `base` before each run */
    const char *base;     /* NULL = the database is new */
} command;

/* What became of a child. */
typedef struct outcome {
    int status;  /* −1: ended by a signal */
    bool failed; /* something was made to fail */
    long calls;  /* of the kind that may fail */
    long kept; /* allocations that are not freed when the command returns; −1: it did not return */
    char *printed, *written; /* standard output, output file; NULL = there is none */
    char message[4096];
    char *rows; /* of the database, as text */
} outcome;

/* Makes an empty folder, changes to it and prepares what the commands need. */
void faults_begin(void);
void faults_end(void);

/* Runs the command with a fault (n from 1). The outcome is freed by outcome_free. */
outcome command_run(const command *c, fault_kind kind, long n);
void outcome_free(outcome *o);

/* Does the outcome of a fault please, given that without one? Prints what does not. */
bool outcome_is_sound(const command *c, fault_kind kind, long n, const outcome *wanted,
                      const outcome *got);

#endif
