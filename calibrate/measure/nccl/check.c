/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/gpu.h"

#include <stdio.h>
#include <string.h>

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

/* The call's name without its arguments. */
static int name_length(const char *call)
{
    return (int)strcspn(call, "(");
}

bool(gl_gpu_cuda_failed)(gl_nccl *self, cudaError_t status, const char *call, const char *file,
                         int line, gl_error *err)
{
    gl_fail(err, GL_ERROR_DEVICE, "%.*s at %s:%d in process %d: CUDA: %s", name_length(call), call,
            base_name(file), line, self->launch.process, cudaGetErrorString(status));
    gl_gpu_abort_communicators(self);
    return false;
}

bool(gl_gpu_nccl_failed)(gl_nccl *self, ncclResult_t status, const char *call, const char *file,
                         int line, gl_error *err)
{
    const char *last = ncclGetLastError(NULL);
    bool more = last != NULL && last[0] != '\0';
    char detail[300] = "";
    snprintf(detail, sizeof detail, "%s", more ? last : "");
    detail[strcspn(detail, "\n")] = '\0';
    gl_fail(err, GL_ERROR_DEVICE, "%.*s at %s:%d in process %d: NCCL: %s%s%s", name_length(call),
            call, base_name(file), line, self->launch.process, ncclGetErrorString(status),
            more ? ": " : "", detail);
    gl_gpu_abort_communicators(self);
    return false;
}

bool(gl_gpu_timed_out)(gl_nccl *self, const char *what, gl_error *err)
{
    gl_fail(err, GL_ERROR_DEVICE,
            "%s: no answer in process %d within the limit: a peer may be gone", what,
            self->launch.process);
    gl_gpu_abort_communicators(self);
    return false;
}

void gl_gpu_warn(gl_nccl *self, const char *text)
{
    for (size_t i = 0; i < self->warning_count; i++)
        if (strcmp(self->warnings[i], text) == 0)
            return;
    if (self->warning_count < GL_GPU_WARNINGS_MAX)
        self->warnings[self->warning_count++] = gl_arena_strdup(self->arena, text);
}

bool gl_gpu_all_agree(gl_nccl *self, bool mine, const char *what, gl_error *err)
{
    double failed = mine ? 0 : 1;
    gl_launch_max(&self->launch, &failed, 1);
    if (mine && failed > 0)
        gl_fail(err, GL_ERROR_DEVICE, "%s failed in another process", what);
    return failed == 0;
}

double gl_gpu_limit_s(double size_bytes)
{
    return 60 + size_bytes / 100e6;
}
