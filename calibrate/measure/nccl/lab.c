/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/lab.h"
#include "calibrate/measure/nccl/pattern.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 1024 };

/* Shrinks all three alike until they take no more than most of what is free. */
static gl_gemm_bytes affordable(const gl_gemm_bytes *wanted)
{
    size_t available = 0, total = 0;
    gl_gemm_bytes room = *wanted;
    if (cudaMemGetInfo(&available, &total) != cudaSuccess)
        available = 0;
    double sum = (double)wanted->weights + (double)wanted->inputs + (double)wanted->outputs;
    double scale = sum > 0 ? 0.8 * (double)available / sum : 1;
    if (scale < 1) {
        room.weights = (size_t)((double)wanted->weights * scale);
        room.inputs = (size_t)((double)wanted->inputs * scale);
        room.outputs = (size_t)((double)wanted->outputs * scale);
    }
    return room;
}

static bool allocate(gl_lab *lab, gl_error *err)
{
    gl_nccl *self = lab->backend;
    GL_CUDA(self, cudaStreamCreateWithFlags(&lab->stream, cudaStreamNonBlocking));
    GL_CUDA(self, cudaMalloc((void **)&lab->weights, lab->room.weights));
    GL_CUDA(self, cudaMalloc((void **)&lab->inputs, lab->room.inputs));
    GL_CUDA(self, cudaMalloc((void **)&lab->outputs, lab->room.outputs));
    GL_CUDA(self, cudaMalloc(&lab->workspace, GL_BLAS_WORKSPACE));
    for (int i = 0; i < GL_LAB_EVENTS; i++)
        GL_CUDA(self, cudaEventCreate(&lab->events[i]));
    return true;
}

bool gl_lab_open(gl_lab *lab, gl_nccl *backend, gl_nccl_gpu *gpu, const gl_gemm_bytes *wanted,
                 gl_error *err)
{
    lab->backend = backend;
    lab->gpu = gpu;
    GL_CUDA(backend, cudaSetDevice(gpu->device));
    if (!gl_blas_open(&lab->blas, err))
        return false;
    lab->room = affordable(wanted);
    return allocate(lab, err);
}

void gl_lab_close(gl_lab *lab)
{
    if (lab->gpu == NULL || cudaSetDevice(lab->gpu->device) != cudaSuccess)
        return;
    if (lab->stream != NULL)
        cudaStreamSynchronize(lab->stream);
    gl_blas_close(lab->blas);
    for (int i = 0; i < GL_LAB_EVENTS; i++)
        if (lab->events[i] != NULL)
            cudaEventDestroy(lab->events[i]);
    cudaFree(lab->weights);
    cudaFree(lab->inputs);
    cudaFree(lab->outputs);
    cudaFree(lab->workspace);
    if (lab->stream != NULL)
        cudaStreamDestroy(lab->stream);
    memset(lab, 0, sizeof *lab);
}

bool gl_lab_fits(const gl_lab *lab, const gl_gemm_shape *shape)
{
    gl_gemm_bytes bytes;
    gl_gemm_bytes_of(shape, &bytes);
    return bytes.weights <= lab->room.weights && bytes.inputs <= lab->room.inputs &&
           bytes.outputs <= lab->room.outputs;
}

static cudaError_t repeat(unsigned char *buffer, size_t bytes, const unsigned char *tile,
                          size_t tile_bytes, cudaStream_t stream)
{
    size_t filled = bytes < tile_bytes ? bytes : tile_bytes;
    cudaError_t status = cudaMemcpyAsync(buffer, tile, filled, cudaMemcpyHostToDevice, stream);
    while (status == cudaSuccess && filled < bytes) {
        size_t more = bytes - filled < filled ? bytes - filled : filled;
        status = cudaMemcpyAsync(buffer + filled, buffer, more, cudaMemcpyDeviceToDevice, stream);
        filled += more;
    }
    return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

bool gl_lab_fill(gl_lab *lab, gl_dtype dtype, gl_error *err)
{
    if (lab->filled == dtype)
        return true;
    size_t bytes = GL_PATTERN_PERIOD * (size_t)gl_dtype_bytes(dtype);
    unsigned char *tile = malloc(bytes);
    if (tile == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "no memory for %zu bytes", bytes);
    gl_gemm_data(dtype, GL_PATTERN_PERIOD, tile);
    cudaError_t status = repeat(lab->weights, lab->room.weights, tile, bytes, lab->stream);
    if (status == cudaSuccess)
        status = repeat(lab->inputs, lab->room.inputs, tile, bytes, lab->stream);
    free(tile);
    GL_CUDA(lab->backend, status);
    lab->filled = dtype;
    return true;
}

/* Where the i-th matrix of `bytes` begins in a room that holds several. */
static size_t place(size_t room, size_t bytes, size_t i)
{
    size_t step = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, steps = room / step;
    return steps > 1 ? i % steps * step : 0;
}

bool gl_lab_gemm(gl_lab *lab, const gl_gemm *gemm, size_t i, gl_error *err)
{
    gl_gemm_bytes b;
    gl_gemm_bytes_of(&gemm->shape, &b);
    return gl_gemm_run(lab->blas, gemm, lab->weights + place(lab->room.weights, b.weights, i),
                       lab->inputs + place(lab->room.inputs, b.inputs, i),
                       lab->outputs + place(lab->room.outputs, b.outputs, i), lab->workspace,
                       lab->stream, err);
}

bool gl_lab_has(const gl_lab *lab, gl_dtype dtype)
{
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, lab->gpu->device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, lab->gpu->device);
    int capability = 10 * major + minor;
    return dtype == GL_FP8 ? capability >= 89 : capability >= 80;
}
