/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process drives which GPUs, and which ranks share a node. Pure. */
#ifndef GL_MEASURE_NCCL_PLACES_H
#define GL_MEASURE_NCCL_PLACES_H

#include "common/error.h"

#include <stdint.h>

enum { GL_PLACES_GPUS_MAX = 64 };

/* What a process says of itself; plain bytes that travel between processes. */
typedef struct gl_place {
    uint64_t machine; /* equal: the same operating system */
    uint64_t node;    /* equal: the same node in NCCL's view (NCCL_HOSTID sets it) */
    int32_t visible;  /* GPUs that CUDA shows it */
    int32_t padding;
    unsigned char gpus[GL_PLACES_GPUS_MAX][16]; /* their UUIDs */
} gl_place;

typedef struct gl_share {
    int first, count; /* of the visible GPUs, those that it drives */
    int rank;         /* of its first GPU */
    int node;         /* counted from 0 in order of appearance */
} gl_share;

/*
 * Processes of one machine that see the same GPUs divide them; processes that see GPUs of their own
 * (srun --gpus-per-task) take all of theirs. Ranks go by process, then by GPU.
 */
bool gl_places_share(const gl_place *places, int processes, gl_share *shares, gl_error *err);

#endif
