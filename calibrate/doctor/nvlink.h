/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `nvidia-smi nvlink -s` says of each GPU's links, and the error counters of `nvlink -e`. */
#ifndef GL_DOCTOR_NVLINK_H
#define GL_DOCTOR_NVLINK_H

#include "calibrate/doctor/quote.h"
#include "common/error.h"

#include <stdbool.h>

enum { GL_NVLINK_GPUS_MAX = 1024 };

typedef struct gl_nvlink_gpu {
    int index;
    const char *name; /* "NVIDIA H200"; "" unknown */
    const char *file; /* GPUs are compared within a file */
    int active, inactive;
    double least_bytes_per_s, most_bytes_per_s, sum_bytes_per_s; /* of active links */
    double errors;  /* counted by -e: replay, recovery, CRC */
    gl_quote quote; /* the GPU's line */
    gl_quote inactive_quote, slow_quote, error_quote;
} gl_nvlink_gpu;

typedef struct gl_nvlink {
    gl_nvlink_gpu items[GL_NVLINK_GPUS_MAX];
    size_t count;
    gl_quote none;   /* "all links are inActive", "does not have or support NVLink" */
    gl_quote unread; /* the first link whose speed is no speed */
} gl_nvlink;

/* Adds what a text says. An empty text is allowed: on cards without NVLink the command prints
 * nothing. A text that says something else is an input error. */
bool gl_nvlink_read(const char *text, size_t length, const char *file, gl_arena *arena,
                    gl_nvlink *links, gl_error *err);

#endif
