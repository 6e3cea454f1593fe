/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a message size to what a NCCL call takes, by nccl-tests' conventions, so that the figures of
 * both mean the same. Pure arithmetic: built and tested without CUDA.
 */
#ifndef GL_MEASURE_NCCL_LAYOUT_H
#define GL_MEASURE_NCCL_LAYOUT_H

#include "common/collective.h"

#include <stddef.h>

typedef struct gl_gpu_layout {
    size_t element_bytes;
    size_t count; /* that the call takes: of one rank's share for all_gather, reduce_scatter,
                     alltoall; of the whole buffer otherwise */
    size_t send_elements, recv_elements; /* of one rank */
    size_t send_offset, recv_offset; /* in place: elements into the one buffer, times the rank */
    size_t step_bytes;               /* from one call's buffers to the next, see gl_gpu_shift */
} gl_gpu_layout;

/*
 * Fills `layout` for a message of about `size_bytes`. Shares are cut to 16 bytes, as in nccl-tests
 * (NCCL's fast paths want that), unless they are smaller; every rank moves at least one element.
 */
void gl_gpu_layout_of(gl_gpu_layout *layout, gl_collective collective, gl_dtype dtype, int ranks,
                      double size_bytes);

/* Size that the layout really moves, in the meaning of common/calibration.h. */
double gl_gpu_layout_size(const gl_gpu_layout *layout);

/* Bytes into the buffers for call `i`: calls walk through buffers of `buffer_bytes`, as nccl-tests
 * does, so that small messages do not always hit the cache. */
size_t gl_gpu_shift(const gl_gpu_layout *layout, size_t buffer_bytes, size_t i);

/* Does an in-place form exist? alltoall and sendrecv have none in NCCL. */
bool gl_gpu_has_in_place(gl_collective collective);

/* Calls between two events, so that the events' own time (a few microseconds) vanishes. */
int gl_gpu_batch(double call_s);

#endif
