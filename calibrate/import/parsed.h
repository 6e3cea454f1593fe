/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a log says, before anybody judges it: the parsers of text and JSON fill these, and
 * evaluate.h makes runs and curves of them or says why not. Everything lives in the arena of the
 * file. SI units.
 */
#ifndef GL_CALIBRATE_PARSED_H
#define GL_CALIBRATE_PARSED_H

#include "calibrate/import/nccl_log.h"
#include "common/arena.h"
#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Limits: a file beyond them is no log of a benchmark. */
enum {
    GL_PARSED_RUNS_MAX = 2000,
    GL_PARSED_ROWS_MAX = 1000000, /* of a file; each placement counts */
    GL_PARSED_RANKS_MAX = 200000  /* of a file */
};

#define GL_GIGA 1e9

/* A printed number: the true value lies within ± `error` of it. "N/A" is NaN with an error of NaN,
 * "nan" is NaN with an error of 0. */
typedef struct gl_printed {
    double value, error;
} gl_printed;

/* One row, one placement (in place or out of place). */
typedef struct gl_parsed_row {
    int line; /* 0 in JSON */
    double size_bytes, count;
    const char *type, *redop; /* as printed; redop "" when there is none */
    int root;                 /* −1 when there is none */
    bool in_place;
    gl_printed time, algbw, busbw; /* s, bytes/s, bytes/s */
    double min_s, p05_s, p95_s;    /* NaN unless there was a per-iteration report */
    double wrong;                  /* gl_parsed_wrong; NaN when not checked or not counted */
    int iterations;                /* 0 = as the run's */
    bool joined;                   /* put together from torn lines */
} gl_parsed_row;

typedef struct gl_parsed_device {
    int rank, group, device;
    int host;     /* index of the distinct host name */
    uint64_t bus; /* hash of the PCI bus id as printed; the device number restarts in every process
                     that sees its own GPU only */
    const char *gpu;
} gl_parsed_device;

typedef struct gl_parsed_run {
    int line;                                  /* where it begins */
    const char *tool, *tool_version, *backend; /* never NULL */
    const char *nccl_version;                  /* of the version line; "" unknown */
    const char *test_name;                     /* "all_reduce_perf"; "" when nothing says it */
    const char *started_at;                    /* "" unknown */
    unsigned stages;   /* lines that only occur once a run, see nccl_text.c */
    int threads, gpus; /* per process; 0 unknown */
    int iterations, warmup, aggregated, validation, graph; /* −1 unknown */
    const char *averaging;                                 /* "average", …; "" when not stated */

    gl_parsed_device *devices;
    size_t device_count, device_capacity;
    const char **hosts; /* distinct names */
    int host_count;
    size_t host_capacity;
    int *host_table; /* hash table of indices into hosts, −1 = free; a power of two of slots */
    size_t host_slots;
    int rank_zero_count;    /* device lines of a rank 0 */
    bool only_first_device; /* JSON of a build without MPI lists no more */

    gl_parsed_row *rows;
    size_t row_count, row_capacity;
    size_t torn_rows; /* that could not be put together */
    bool has_header, old_header, cpu_time, per_iteration, deviation_column, redop_in_header;

    /* For the self-check: every printed busbw counts, of zero sizes too. */
    double busbw_sum, busbw_error_sum;
    size_t busbw_count;
    gl_printed average_busbw; /* NaN without a footer */
    int average_count;        /* footers seen */
    double out_of_bounds;     /* NaN without a footer */
    bool check_failed, min_bw_failed;
    const char *failure; /* message of an aborted run; NULL */

    gl_nccl_log log;
} gl_parsed_run;

typedef struct gl_parsed_file {
    gl_arena *arena;
    gl_parsed_run **runs;
    size_t run_count, run_capacity;
    size_t row_count, rank_count; /* of all runs */
    int rank_zero_count;
    const char *look_alike; /* name of another program whose output this seems to be; NULL */
} gl_parsed_file;

/* A new run at the end of the file's list, everything unknown. NULL past the limit (err is set). */
gl_parsed_run *gl_parsed_add_run(gl_parsed_file *file, int line, gl_error *err);

/* Adds a row (counts its busbw for the self-check). */
bool gl_parsed_add_row(gl_parsed_file *file, gl_parsed_run *run, const gl_parsed_row *row,
                       gl_error *err);

/* Adds a device; `host` is compared with the hosts seen before. */
bool gl_parsed_add_device(gl_parsed_file *file, gl_parsed_run *run, const gl_parsed_device *device,
                          const char *host, gl_error *err);

/* value × factor as the double nearest to the decimal number (of up to 15 digits) that was printed:
 * 12.70 µs become 1.27e-05 s and not 1.2699999999999999e-05. */
double gl_parsed_scale(double value, double factor);

/* A printed count of wrong elements; infinite when it is none, as after a check that broke: "nan",
 * "inf", −1, more than a buffer has bytes. */
double gl_parsed_wrong(double printed);

/* Hash of some text, never 0. */
uint64_t gl_parsed_hash(const char *text, size_t length);

/* The message of a failing process, from `text` on in `line` ("HOST: " may stand before it),
 * printable and without addresses and the names of hosts. */
const char *gl_parsed_failure(gl_arena *arena, const gl_parsed_run *run, const char *line,
                              const char *text);

/* Text of an NCCL version code: 22809 is "2.28.9", 2708 is "2.7.8". */
const char *gl_parsed_nccl_version(gl_arena *arena, long code);

#endif
