/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine's own tools say of it. Needs no CUDA. */
#ifndef GL_MEASURE_NCCL_MACHINE_H
#define GL_MEASURE_NCCL_MACHINE_H

#include "calibrate/measure/backend.h"

/* Texts of the tools that are there; none is an error. */
void gl_machine_texts(gl_arena *arena, const gl_machine_text **texts, size_t *count);

/* Takes out terminal colours, and identifiers of a device (UUIDs become zeros), in place. */
void gl_machine_clean(char *text);

#endif
