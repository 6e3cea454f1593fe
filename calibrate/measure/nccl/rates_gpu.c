/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What calibrate/measure/rates.h promises, on GPUs. Compute rates are those of the leader's first
 * GPU; the others wait. */
#include "calibrate/measure/nccl/lab.h"
#include "calibrate/measure/rates.h"

#include <string.h>

static bool try_blas(const gl_nccl *self, gl_error *err)
{
    gl_blas *blas = NULL;
    if (cudaSetDevice(self->gpus[0].device) != cudaSuccess)
        return gl_fail(err, GL_ERROR_DEVICE, "GPU %d does not answer", self->gpus[0].device);
    bool opened = gl_blas_open(&blas, err);
    if (opened)
        gl_blas_close(blas);
    return opened;
}

bool gl_rates_available(gl_backend *backend, gl_error *err)
{
    if (strcmp(backend->vtable->name, "nccl") != 0)
        return gl_fail(err, GL_ERROR_DEVICE,
                       "--compute and --overlap measure GPUs: they go with --backend nccl");
    gl_nccl *self = (gl_nccl *)backend;
    return gl_gpu_all_agree(self, try_blas(self, err), "loading cuBLASLt", err);
}

static void enlarge(size_t *size, size_t other)
{
    *size = other > *size ? other : *size;
}

/* Room for every shape of the grid, and for copies of a gigabyte. */
static gl_gemm_bytes room_for_grid(void)
{
    gl_gemm_bytes room = {.outputs = (size_t)2 << 30}, bytes;
    gl_gemm_shape shape;
    for (size_t i = 0; gl_gemm_grid(i, &shape); i++) {
        gl_gemm_bytes_of(&shape, &bytes);
        enlarge(&room.weights, bytes.weights);
        enlarge(&room.inputs, bytes.inputs);
        enlarge(&room.outputs, bytes.outputs);
    }
    return room;
}

static bool measure_compute(gl_nccl *self, double budget_s, const gl_rates_sink *sink,
                            gl_error *err)
{
    gl_lab lab;
    gl_gemm_bytes room = room_for_grid();
    memset(&lab, 0, sizeof lab);
    bool done = gl_lab_open(&lab, self, &self->gpus[0], &room, err) &&
                gl_lab_measure_launch(&lab, sink, err) && gl_lab_measure_memory(&lab, sink, err) &&
                gl_lab_measure_gemms(&lab, budget_s, sink, err);
    gl_lab_close(&lab);
    return done;
}

bool gl_rates_measure_compute(gl_backend *backend, double budget_s, const gl_rates_sink *sink,
                              gl_error *err)
{
    gl_nccl *self = (gl_nccl *)backend;
    gl_gpu_release_buffers(self);
    bool done = sink == NULL || measure_compute(self, budget_s, sink, err);
    return gl_gpu_all_agree(self, done, "measuring compute rates", err);
}
