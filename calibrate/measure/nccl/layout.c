/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/layout.h"

#include <math.h>

enum { SHARE_ALIGNMENT = 16, STEP_ALIGNMENT = 512, BATCH_MAX = 64 };

/* An event between two calls costs about 2 us on the stream and as much on the host: below 1 %. */
static const double batch_s = 200e-6;

static size_t share_of(size_t elements, size_t ranks, size_t element_bytes)
{
    size_t share = elements / ranks, unit = SHARE_ALIGNMENT / element_bytes;
    if (share >= unit)
        return share / unit * unit;
    return share > 0 ? share : 1;
}

void gl_gpu_layout_of(gl_gpu_layout *layout, gl_collective collective, gl_dtype dtype, int ranks,
                      double size_bytes)
{
    size_t n = (size_t)(ranks > 0 ? ranks : 1), element = (size_t)gl_dtype_bytes(dtype);
    size_t elements = (size_t)(size_bytes / (double)element);
    size_t share = share_of(elements, n, element);
    bool gathers = collective == GL_ALL_GATHER, scatters = collective == GL_REDUCE_SCATTER;
    bool shares = gathers || scatters || collective == GL_ALLTOALL;
    *layout = (gl_gpu_layout){.element_bytes = element};
    layout->count = shares ? share : elements > 0 ? elements : 1;
    size_t whole = shares ? layout->count * n : layout->count;
    layout->send_elements = gathers ? layout->count : whole;
    layout->recv_elements = scatters ? layout->count : whole;
    layout->send_offset = gathers ? layout->count : 0;
    layout->recv_offset = scatters ? layout->count : 0;
    layout->step_bytes = (whole * element + STEP_ALIGNMENT - 1) / STEP_ALIGNMENT * STEP_ALIGNMENT;
}

double gl_gpu_layout_size(const gl_gpu_layout *layout)
{
    size_t elements = layout->send_elements > layout->recv_elements ? layout->send_elements
                                                                    : layout->recv_elements;
    return (double)elements * (double)layout->element_bytes;
}

size_t gl_gpu_shift(const gl_gpu_layout *layout, size_t buffer_bytes, size_t i)
{
    size_t steps = buffer_bytes / layout->step_bytes;
    return steps > 1 ? i % steps * layout->step_bytes : 0;
}

bool gl_gpu_has_in_place(gl_collective collective)
{
    return collective != GL_ALLTOALL && collective != GL_SENDRECV;
}

int gl_gpu_batch(double call_s)
{
    if (!(call_s > 0))
        return BATCH_MAX;
    double calls = ceil(batch_s / call_s);
    return calls < 1 ? 1 : calls > BATCH_MAX ? BATCH_MAX : (int)calls;
}
