/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of CPUs as the kernel, nvidia-smi and NCCL write them. */
#ifndef GL_DOCTOR_CPUS_H
#define GL_DOCTOR_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GL_CPUS_MAX = 2048 };

typedef struct gl_cpus {
    uint64_t bits[GL_CPUS_MAX / 64];
} gl_cpus;

typedef enum gl_cpus_form {
    GL_CPUS_LIST,   /* "0-15,32-47" */
    GL_CPUS_MASK,   /* hexadecimal, eight digits a group: "ffff,0000ffff" */
    GL_CPUS_EITHER, /* its form tells, as far as it does */
} gl_cpus_form;

/* Reads `length` bytes. False when they are no set of that form, name CPUs beyond the maximum, or
 * (EITHER) mean different sets as list and as mask, unless both are a single CPU. */
bool gl_cpus_parse(const char *text, size_t length, gl_cpus_form form, gl_cpus *cpus);

size_t gl_cpus_count(const gl_cpus *cpus);

/* Is any CPU in both? */
bool gl_cpus_overlap(const gl_cpus *a, const gl_cpus *b);

#endif
