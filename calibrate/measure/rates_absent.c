/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the rates where CUDA is absent. */
#include "calibrate/measure/rates.h"

bool gl_rates_available(gl_backend *backend, gl_error *err)
{
    (void)backend;
    return gl_fail(err, GL_ERROR_DEVICE,
                   "--compute and --overlap measure GPUs, and this program was built without CUDA, "
                   "NCCL and cuBLASLt: install them and build again");
}

bool gl_rates_measure_compute(gl_backend *backend, double budget_s, const gl_rates_sink *sink,
                              gl_error *err)
{
    (void)budget_s;
    (void)sink;
    return gl_rates_available(backend, err);
}

bool gl_rates_measure_overlap(gl_backend *backend, const gl_grouping *grouping, double budget_s,
                              const gl_rates_sink *sink, gl_error *err)
{
    (void)grouping;
    (void)budget_s;
    (void)sink;
    return gl_rates_available(backend, err);
}
