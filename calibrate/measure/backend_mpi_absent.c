/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the backend where MPI is absent. */
#include "calibrate/measure/backend.h"

bool gl_backend_mpi_open(gl_backend **backend, gl_error *err)
{
    (void)backend;
    return gl_fail(err, GL_ERROR_DEVICE,
                   "this program was built without MPI: install libopenmpi-dev or libmpich-dev (or "
                   "another MPI-3.1) and build again");
}

const char *gl_backend_mpi_version(void)
{
    return "MPI: absent";
}
