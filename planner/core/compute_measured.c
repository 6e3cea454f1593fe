/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the calibration measured of this GPU, in place of the catalogue's figures. */
#include "planner/core/compute.h"
#include "planner/core/gemm.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

/* What counts as large among measured rates: past launch and cache (assumed). */
static const double LARGE_GEMM_FLOP = 2e11, LARGE_COPY_BYTES = 268435456;

/* Median, P10 and P90 of shares of a peak; the figure stays when there are none. */
static void replace_figure(gl_figure *figure, double *shares, size_t count, const char *source)
{
    if (count == 0)
        return;
    gsl_sort(shares, 1, count);
    *figure = (gl_figure){.value = shares[count / 2],
                          .low = shares[count / 10],
                          .high = shares[count - 1 - count / 10],
                          .kind = GL_FIGURE_MEASURED,
                          .source = source,
                          .date = ""};
}

/* What a large GEMM reaches of the peak, beside what the model takes for tiles and depth anyway.
 * NaN: not such a one. */
static double gemm_share(const gl_gpu *gpu, const gl_compute_rate *r, gl_dtype dtype)
{
    double m = (double)r->m, n = (double)r->n, k = (double)r->k, flop = 2 * m * n * k;
    if (strcmp(r->kind, "gemm") != 0 || r->dtype != dtype || flop < LARGE_GEMM_FLOP)
        return (double)NAN;
    return flop / r->time_s / gl_peak_flop_per_s(gpu, dtype) /
           gl_gemm_shape_share(gpu, m, n, k, gl_dtype_bytes(dtype));
}

static double copy_share(const gl_gpu *gpu, const gl_compute_rate *r)
{
    if (strcmp(r->kind, "memory") != 0 || (double)r->m < LARGE_COPY_BYTES)
        return (double)NAN;
    return (double)r->m / r->time_s / gpu->memory_bw_bytes_per_s.value;
}

const gl_gpu *gl_compute_measured_gpu(const gl_cluster *cluster, gl_arena *arena)
{
    if (cluster->gpu == NULL || cluster->compute_count == 0)
        return cluster->gpu;
    gl_gpu *gpu = GL_ARENA_NEW(arena, gl_gpu, 1);
    *gpu = *cluster->gpu;
    double *shares[3];
    size_t counts[3] = {0};
    for (size_t i = 0; i < 3; i++)
        shares[i] = GL_ARENA_NEW(arena, double, cluster->compute_count);
    for (size_t i = 0; i < cluster->compute_count; i++) {
        const gl_compute_rate *r = &cluster->compute[i];
        const double share[3] = {gemm_share(cluster->gpu, r, GL_BF16),
                                 gemm_share(cluster->gpu, r, GL_FP8), copy_share(cluster->gpu, r)};
        for (size_t j = 0; j < 3; j++) {
            if (share[j] > 0)
                shares[j][counts[j]++] = share[j];
        }
    }
    replace_figure(&gpu->gemm_efficiency, shares[0], counts[0],
                   "large BF16 GEMMs of the calibration");
    replace_figure(&gpu->fp8_gemm_efficiency, shares[1], counts[1],
                   "large FP8 GEMMs of the calibration");
    replace_figure(&gpu->memory_efficiency, shares[2], counts[2],
                   "large copies of the calibration");
    return gpu;
}
