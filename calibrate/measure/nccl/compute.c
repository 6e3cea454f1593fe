/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --compute: GEMMs, memory copies and kernel launches of one GPU.
 *
 * Calls run back to back between events, in batches of at least a millisecond: a batch's mean is a
 * sample, the median of the samples the time. A GPU that is busy all the while runs at the clock
 * that its power allows, as in training.
 */
#include "calibrate/measure/nccl/lab.h"
#include "common/clock.h"

#include <math.h>
#include <string.h>

enum { WARM_CALLS = 3, SAMPLES_MIN = 5, SAMPLES_MAX = 25, BATCH_MAX = 200 };

static const double sample_s = 1e-3;

typedef struct task {
    gl_lab *lab;
    const gl_gemm *gemm; /* or */
    size_t copy_bytes;   /* or a tiny kernel */
    size_t calls;
} task;

static bool call_once(task *t, gl_error *err)
{
    gl_lab *lab = t->lab;
    size_t i = t->calls++;
    if (t->gemm != NULL)
        return gl_lab_gemm(lab, t->gemm, i, err);
    if (t->copy_bytes > 0)
        GL_CUDA(lab->backend,
                cudaMemcpyAsync(lab->outputs + t->copy_bytes, lab->outputs, t->copy_bytes,
                                cudaMemcpyDeviceToDevice, lab->stream));
    else
        GL_CUDA(lab->backend, cudaMemsetAsync(lab->outputs, 0, 16, lab->stream));
    return true;
}

static bool call_many(task *t, int calls, gl_error *err)
{
    for (int i = 0; i < calls; i++)
        if (!call_once(t, err))
            return false;
    return true;
}

static bool record(task *t, int event, gl_error *err)
{
    GL_CUDA(t->lab->backend, cudaEventRecord(t->lab->events[event], t->lab->stream));
    return true;
}

static bool elapsed(task *t, int from, int to, double *seconds, gl_error *err)
{
    float ms = 0;
    GL_CUDA(t->lab->backend, cudaEventSynchronize(t->lab->events[to]));
    GL_CUDA(t->lab->backend, cudaEventElapsedTime(&ms, t->lab->events[from], t->lab->events[to]));
    *seconds = 1e-3 * (double)ms;
    return true;
}

/* Samples follow a first batch without a pause. */
static bool take_samples(task *t, int samples, int batch, double *times, gl_error *err)
{
    for (int s = 0; s <= samples; s++)
        if (!call_many(t, batch, err) || !record(t, s, err))
            return false;
    for (int s = 0; s < samples; s++) {
        if (!elapsed(t, s, s + 1, &times[s], err))
            return false;
        times[s] /= batch;
    }
    return true;
}

/* Median and 95th percentile of a call, in about `budget_s`. */
static bool time_task(task *t, double budget_s, gl_compute_rate *rate, gl_error *err)
{
    double times[SAMPLES_MAX], probe_s = 0;
    if (!call_many(t, WARM_CALLS, err) || !record(t, 0, err) || !call_many(t, WARM_CALLS, err) ||
        !record(t, 1, err) || !elapsed(t, 0, 1, &probe_s, err))
        return false;
    double call_s = fmax(probe_s / WARM_CALLS, 1e-7);
    int batch = (int)fmin(fmax(ceil(sample_s / call_s), 1), BATCH_MAX);
    double fitting = budget_s / (batch * call_s);
    int samples = (int)fmin(fmax(fitting, SAMPLES_MIN), SAMPLES_MAX);
    if (!take_samples(t, samples, batch, times, err))
        return false;
    gl_rates_summary(times, (size_t)samples, &rate->time_s, &rate->time_p95_s);
    return true;
}

/* ---- which are there already ---- */

static bool known(const gl_rates_sink *sink, const gl_compute_rate *rate)
{
    for (size_t i = 0; i < sink->compute_count; i++) {
        const gl_compute_rate *k = &sink->compute[i];
        if (strcmp(k->kind, rate->kind) == 0 && k->dtype == rate->dtype && k->m == rate->m &&
            k->n == rate->n && k->k == rate->k)
            return true;
    }
    return false;
}

static bool stopped(const gl_rates_sink *sink)
{
    return sink->stopped != NULL && sink->stopped(sink->context);
}

/* ---- GEMMs ---- */

static bool measure_gemm(gl_lab *lab, const gl_gemm_shape *shape, double budget_s,
                         const gl_rates_sink *sink, gl_error *err)
{
    gl_compute_rate rate = {
        .kind = "gemm", .dtype = shape->dtype, .m = shape->m, .n = shape->n, .k = shape->k};
    gl_gemm gemm;
    gl_error none = {.status = GL_OK};
    if (!gl_lab_has(lab, shape->dtype) || !gl_lab_fits(lab, shape) || known(sink, &rate) ||
        !gl_gemm_prepare(lab->blas, shape, &gemm, &none))
        return true;
    task t = {.lab = lab, .gemm = &gemm};
    bool done = gl_lab_fill(lab, shape->dtype, err) && time_task(&t, budget_s, &rate, err);
    gl_gemm_release(lab->blas, &gemm);
    return done && sink->add_compute(sink->context, &rate, err);
}

static size_t grid_size(void)
{
    gl_gemm_shape shape;
    size_t count = 0;
    while (gl_gemm_grid(count, &shape))
        count++;
    return count;
}

bool gl_lab_measure_gemms(gl_lab *lab, double budget_s, const gl_rates_sink *sink, gl_error *err)
{
    double end_s = gl_monotonic_s() + budget_s, each_s = 0.7 * budget_s / (double)grid_size();
    gl_gemm_shape shape;
    for (size_t i = 0; gl_gemm_grid(i, &shape); i++) {
        if (gl_monotonic_s() > end_s || stopped(sink))
            break;
        if (!measure_gemm(lab, &shape, each_s, sink, err))
            return false;
    }
    return true;
}

/* ---- memory and launches ---- */

/* A copy reads and writes: it moves twice its size. From what a cache holds up to a quarter of a
 * gigabyte. */
bool gl_lab_measure_memory(gl_lab *lab, const gl_rates_sink *sink, gl_error *err)
{
    for (size_t bytes = 1 << 20; bytes <= (size_t)1 << 30; bytes *= 4) {
        gl_compute_rate rate = {.kind = "memory", .dtype = GL_DTYPE_NONE, .m = 2 * (int64_t)bytes};
        task t = {.lab = lab, .copy_bytes = bytes};
        if (2 * bytes > lab->room.outputs || known(sink, &rate) || stopped(sink))
            continue;
        if (!time_task(&t, 0.05, &rate, err) || !sink->add_compute(sink->context, &rate, err))
            return false;
    }
    return true;
}

bool gl_lab_measure_launch(gl_lab *lab, const gl_rates_sink *sink, gl_error *err)
{
    gl_compute_rate rate = {.kind = "launch", .dtype = GL_DTYPE_NONE};
    task t = {.lab = lab};
    if (known(sink, &rate) || stopped(sink))
        return true;
    return time_task(&t, 0.05, &rate, err) && sink->add_compute(sink->context, &rate, err);
}
