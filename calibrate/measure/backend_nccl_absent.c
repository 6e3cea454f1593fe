/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the backend where NCCL is absent. */
#include "calibrate/measure/backend.h"

bool gl_backend_nccl_open(gl_backend **backend, gl_error *err)
{
    (void)backend;
    return gl_fail(err, GL_ERROR_DEVICE,
                   "this program was built without NCCL: install CUDA and NCCL and build again, or "
                   "measure host memory with --backend mpi");
}

const char *gl_backend_nccl_version(void)
{
    return "NCCL: absent";
}
