/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers on the GPUs: plain cudaMalloc, one to send from and one to receive into. */
#include "calibrate/measure/nccl/gpu.h"
#include "calibrate/measure/nccl/pattern.h"

#include <stdlib.h>

/* Left to NCCL's own buffers and to CUDA, of what is free. */
static const double usable = 0.85, reserve_bytes = 2e9;

/* No collective needs more than both buffers in full. */
double gl_gpu_max_size(gl_backend *backend, gl_dtype dtype)
{
    (void)dtype;
    gl_nccl *self = (gl_nccl *)backend;
    double least = 0; /* negated: gl_launch_max finds the least */
    for (int i = 0; i < self->gpu_count; i++) {
        size_t available = 0, total = 0;
        if (cudaSetDevice(self->gpus[i].device) != cudaSuccess ||
            cudaMemGetInfo(&available, &total) != cudaSuccess)
            available = 0;
        double ours = self->gpus[i].send != NULL ? 2 * (double)self->buffer_bytes : 0;
        double bytes = ((double)available + ours) * usable - reserve_bytes;
        bytes = bytes > 0 ? bytes / 2 : 0;
        least = i == 0 || -bytes > least ? -bytes : least;
    }
    gl_launch_max(&self->launch, &least, 1);
    return -least;
}

void gl_gpu_release_buffers(gl_nccl *self)
{
    for (int i = 0; i < self->gpu_count; i++) {
        if (cudaSetDevice(self->gpus[i].device) != cudaSuccess)
            continue;
        cudaFree(self->gpus[i].send);
        cudaFree(self->gpus[i].recv);
        self->gpus[i].send = self->gpus[i].recv = NULL;
    }
    self->buffer_bytes = 0;
}

/* Repeats the rank's tile through the buffer: one small upload, then copies that double. */
bool gl_gpu_fill(gl_nccl *self, gl_nccl_gpu *gpu, unsigned char *buffer, size_t bytes,
                 gl_error *err)
{
    size_t tile_bytes = GL_PATTERN_PERIOD * (size_t)gl_dtype_bytes(self->dtype);
    unsigned char *tile = malloc(tile_bytes);
    if (tile == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "no memory for %zu bytes", tile_bytes);
    gl_pattern_tile(self->collective, self->dtype, gpu->group_ranks, gpu->group_rank, tile);
    size_t filled = bytes < tile_bytes ? bytes : tile_bytes;
    cudaError_t status = cudaSetDevice(gpu->device);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(buffer, tile, filled, cudaMemcpyHostToDevice, gpu->stream);
    while (status == cudaSuccess && filled < bytes) {
        size_t more = bytes - filled < filled ? bytes - filled : filled;
        status =
            cudaMemcpyAsync(buffer + filled, buffer, more, cudaMemcpyDeviceToDevice, gpu->stream);
        filled += more;
    }
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(gpu->stream);
    free(tile);
    GL_CUDA(self, status);
    return true;
}

static bool allocate(gl_nccl *self, gl_nccl_gpu *gpu, size_t bytes, gl_error *err)
{
    GL_CUDA(self, cudaSetDevice(gpu->device));
    GL_CUDA(self, cudaMalloc((void **)&gpu->send, bytes));
    GL_CUDA(self, cudaMalloc((void **)&gpu->recv, bytes));
    return true;
}

bool gl_gpu_get_buffers(gl_nccl *self, size_t bytes, gl_error *err)
{
    bool grow = bytes > self->buffer_bytes;
    if (grow)
        gl_gpu_release_buffers(self);
    for (int i = 0; i < self->gpu_count; i++) {
        gl_nccl_gpu *gpu = &self->gpus[i];
        if (grow && !allocate(self, gpu, bytes, err))
            return false;
        if (gpu->group == NULL)
            continue;
        if (!gl_gpu_fill(self, gpu, gpu->send, bytes, err) ||
            !gl_gpu_fill(self, gpu, gpu->recv, bytes, err))
            return false;
    }
    self->buffer_bytes = grow ? bytes : self->buffer_bytes;
    return true;
}
