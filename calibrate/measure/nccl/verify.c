/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call with known data, compared on the host: every element of a small result, stretches of a
 * large one (gl_pattern_stretch). The same call tells which algorithm NCCL takes. */
#include "calibrate/measure/nccl/gpu.h"
#include "calibrate/measure/nccl/pattern.h"

#include <stdlib.h>

enum { SENTINEL = 0xa5 }; /* what stands where nothing arrived */

static unsigned char *result_of(const gl_nccl_gpu *gpu, const gl_gpu_layout *layout, bool in_place)
{
    size_t offset = in_place ? layout->recv_offset * (size_t)gpu->group_rank : 0;
    return gpu->recv + offset * layout->element_bytes;
}

static bool prepare(gl_nccl *self, gl_nccl_gpu *gpu, const gl_gpu_layout *layout, bool in_place,
                    gl_error *err)
{
    size_t offset = in_place ? layout->send_offset * (size_t)gpu->group_rank : 0;
    unsigned char *input = in_place ? gpu->recv : gpu->send;
    GL_CUDA(self, cudaSetDevice(gpu->device));
    GL_CUDA(self,
            cudaMemsetAsync(gpu->recv, SENTINEL, (size_t)gl_gpu_layout_size(layout), gpu->stream));
    return gl_gpu_fill(self, gpu, input + offset * layout->element_bytes,
                       layout->send_elements * layout->element_bytes, err);
}

static bool compare(gl_nccl *self, const gl_nccl_gpu *gpu, const gl_gpu_layout *layout,
                    bool in_place, unsigned char *host, double *wrong, gl_error *err)
{
    const unsigned char *result = result_of(gpu, layout, in_place);
    size_t first, length, bytes = layout->element_bytes;
    GL_CUDA(self, cudaSetDevice(gpu->device));
    for (int i = 0; gl_pattern_stretch(layout->recv_elements, i, &first, &length); i++) {
        GL_CUDA(self, cudaMemcpyAsync(host, result + first * bytes, length * bytes,
                                      cudaMemcpyDeviceToHost, gpu->stream));
        GL_CUDA(self, cudaStreamSynchronize(gpu->stream));
        *wrong += (double)gl_pattern_wrong(self->collective, self->dtype, gpu->group_ranks,
                                           gpu->group_rank, layout->count, first, length, host);
    }
    return true;
}

static bool prepare_all(gl_nccl *self, const gl_gpu_layout *layout, bool in_place, gl_error *err)
{
    for (int i = 0; i < self->gpu_count; i++)
        if (self->gpus[i].group != NULL && !prepare(self, &self->gpus[i], layout, in_place, err))
            return false;
    return true;
}

static bool compare_all(gl_nccl *self, const gl_gpu_layout *layout, bool in_place, double *wrong,
                        gl_error *err)
{
    unsigned char *host = malloc((size_t)GL_PATTERN_STRETCH_MAX * layout->element_bytes);
    bool ok = host != NULL || gl_fail(err, GL_ERROR_SYSTEM, "no memory to verify results in");
    for (int i = 0; ok && i < self->gpu_count; i++)
        if (self->gpus[i].group != NULL)
            ok = compare(self, &self->gpus[i], layout, in_place, host, wrong, err);
    free(host);
    return ok;
}

bool gl_gpu_verify(gl_backend *backend, double size_bytes, bool in_place, double *wrong,
                   gl_error *err)
{
    gl_nccl *self = (gl_nccl *)backend;
    gl_gpu_layout layout;
    double found = 0;
    gl_gpu_layout_of(&layout, self->collective, self->dtype, self->placement.ranks, size_bytes);
    if (gl_gpu_layout_size(&layout) > (double)self->buffer_bytes)
        return gl_fail(err, GL_ERROR_INTERNAL, "%.0f bytes do not fit in buffers of %zu",
                       size_bytes, self->buffer_bytes);
    if (!prepare_all(self, &layout, in_place, err) ||
        !gl_gpu_call_and_listen(self, size_bytes, in_place, err) ||
        !compare_all(self, &layout, in_place, &found, err))
        return false;
    gl_launch_sum(&self->launch, &found, 1);
    *wrong = found;
    return true;
}
