/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --overlap: a series of GEMMs on one stream, a series of collectives on another, each alone and
 * both at once. Every rank issues the same numbers of both, which the leader decides, or NCCL would
 * wait for ever.
 */
#include "calibrate/measure/nccl/lab.h"
#include "calibrate/measure/rates.h"
#include "common/clock.h"

#include <math.h>
#include <stdlib.h>

enum {
    REPEATS = 5,
    PROBE_GEMMS = 8,
    PROBE_CALLS = 5,
    START = 0,
    COMPUTE_END = 1,
    COLLECTIVE_END = 2
};
enum { GEMMS = 1, COLLECTIVES = 2 }; /* what a run holds */

typedef struct bench {
    gl_nccl *self;
    gl_lab *labs; /* by GPU of this process */
    gl_gemm *gemms;
    gl_gpu_layout layout;
    size_t gemm_calls, collective_calls; /* so far: where in the memory the next one works */
} bench;

/* ---- one run ---- */

static bool active(const bench *b, int i)
{
    return b->self->gpus[i].group != NULL;
}

static bool issue_gemm(bench *b, gl_error *err)
{
    for (int i = 0; i < b->self->gpu_count; i++) {
        if (!active(b, i))
            continue;
        GL_CUDA(b->self, cudaSetDevice(b->self->gpus[i].device));
        if (!gl_lab_gemm(&b->labs[i], &b->gemms[i], b->gemm_calls, err))
            return false;
    }
    b->gemm_calls++;
    return true;
}

static bool issue_collective(bench *b, gl_error *err)
{
    size_t shift = gl_gpu_shift(&b->layout, b->self->walk_bytes, b->collective_calls++);
    return gl_gpu_issue(b->self, &b->layout, shift, false, err);
}

static bool issue(bench *b, const gl_overlap_series *series, int what, gl_error *err)
{
    int issued = 0;
    for (int i = 0; i < series->gemms; i++) {
        if ((what & GEMMS) != 0 && !issue_gemm(b, err))
            return false;
        int due = (what & COLLECTIVES) != 0 ? gl_overlap_due(series, i) : 0;
        for (; issued < due; issued++)
            if (!issue_collective(b, err))
                return false;
    }
    return true;
}

/* Both streams of each GPU start at the same event. */
static bool record_start(bench *b, gl_error *err)
{
    for (int i = 0; i < b->self->gpu_count; i++) {
        gl_lab *lab = &b->labs[i];
        if (!active(b, i))
            continue;
        GL_CUDA(b->self, cudaEventRecord(lab->events[START], lab->stream));
        GL_CUDA(b->self, cudaStreamWaitEvent(b->self->gpus[i].stream, lab->events[START], 0));
    }
    return true;
}

static bool record_ends(bench *b, gl_error *err)
{
    for (int i = 0; i < b->self->gpu_count; i++) {
        gl_lab *lab = &b->labs[i];
        if (!active(b, i))
            continue;
        GL_CUDA(b->self, cudaEventRecord(lab->events[COMPUTE_END], lab->stream));
        GL_CUDA(b->self, cudaEventRecord(lab->events[COLLECTIVE_END], b->self->gpus[i].stream));
    }
    return true;
}

static bool later_end(bench *b, int i, double *seconds, gl_error *err)
{
    for (int end = COMPUTE_END; end <= COLLECTIVE_END; end++) {
        float ms = 0;
        cudaEvent_t *events = b->labs[i].events;
        if (!gl_gpu_wait_event(b->self, &b->self->gpus[i], events[end], err))
            return false;
        GL_CUDA(b->self, cudaEventElapsedTime(&ms, events[START], events[end]));
        *seconds = fmax(*seconds, 1e-3 * (double)ms);
    }
    return true;
}

/* Time from the common start to the last end, of the slowest rank. */
static bool run_once(bench *b, const gl_overlap_series *series, int what, double *seconds,
                     gl_error *err)
{
    *seconds = 0;
    gl_launch_barrier(&b->self->launch);
    if (!record_start(b, err) || !issue(b, series, what, err) || !record_ends(b, err))
        return false;
    for (int i = 0; i < b->self->gpu_count; i++)
        if (active(b, i) && !later_end(b, i, seconds, err))
            return false;
    gl_launch_max(&b->self->launch, seconds, 1);
    return true;
}

/* The median of several runs after one to warm up. */
static bool run_many(bench *b, const gl_overlap_series *series, int what, double *seconds,
                     gl_error *err)
{
    double times[REPEATS], ignored;
    if (!run_once(b, series, what, &ignored, err))
        return false;
    for (int i = 0; i < REPEATS; i++)
        if (!run_once(b, series, what, &times[i], err))
            return false;
    gl_rates_summary(times, REPEATS, seconds, &ignored);
    return true;
}

/* ---- one case ---- */

static bool measure_alone(bench *b, const gl_overlap_case *c, double *gemm_s, double *collective_s,
                          gl_error *err)
{
    const gl_overlap_series probe = {.gemms = PROBE_GEMMS};
    double times[PROBE_CALLS], ignored;
    /* Twice: the first warms up. NOLINTNEXTLINE(misc-redundant-expression) */
    if (!run_once(b, &probe, GEMMS, gemm_s, err) || !run_once(b, &probe, GEMMS, gemm_s, err) ||
        !gl_gpu_measure(&b->self->base, c->size_bytes, false, 1, PROBE_CALLS, times, err))
        return false;
    *gemm_s /= PROBE_GEMMS;
    gl_rates_summary(times, PROBE_CALLS, collective_s, &ignored);
    return true;
}

static bool measure_series(bench *b, const gl_overlap_series *series, gl_overlap_rate *rate,
                           gl_error *err)
{
    return run_many(b, series, GEMMS, &rate->compute_alone_s, err) &&
           run_many(b, series, COLLECTIVES, &rate->communication_alone_s, err) &&
           run_many(b, series, GEMMS | COLLECTIVES, &rate->together_s, err);
}

/* Three kinds of run, each several times, and what is around them. */
static double cost_s(const gl_overlap_series *series, double gemm_s, double collective_s)
{
    double compute_s = series->gemms * gemm_s;
    return (REPEATS + 1) * (2.5 * compute_s + series->collectives * collective_s);
}

static bool prepare_gemms(bench *b, const gl_overlap_case *c, bool *there, gl_error *err)
{
    double missing = 0;
    for (int i = 0; i < b->self->gpu_count; i++) {
        gl_error none = {.status = GL_OK};
        GL_CUDA(b->self, cudaSetDevice(b->self->gpus[i].device));
        if (!gl_lab_fits(&b->labs[i], &c->gemm) || !gl_lab_has(&b->labs[i], c->gemm.dtype) ||
            !gl_gemm_prepare(b->labs[i].blas, &c->gemm, &b->gemms[i], &none))
            missing = 1;
        else if (!gl_lab_fill(&b->labs[i], c->gemm.dtype, err))
            return false;
    }
    gl_launch_max(&b->self->launch, &missing, 1);
    *there = missing == 0;
    return true;
}

static bool store(const bench *b, const gl_overlap_case *c, gl_overlap_rate *rate,
                  const gl_rates_sink *sink, gl_error *err)
{
    const char *why;
    rate->transport = gl_nccl_log_transport(b->self->log, b->self->placement.nodes, &why);
    rate->collective = c->collective;
    rate->size_bytes = gl_gpu_layout_size(&b->layout);
    rate->m = c->gemm.m;
    rate->n = c->gemm.n;
    rate->k = c->gemm.k;
    return sink == NULL || sink->add_overlap(sink->context, rate, err);
}

/* With the collective joined and the GEMMs prepared. */
static bool measure_case(bench *b, const gl_overlap_case *c, double left_s,
                         const gl_rates_sink *sink, gl_error *err)
{
    gl_backend *backend = &b->self->base;
    gl_overlap_rate rate = {.size_bytes = 0};
    double gemm_s = 0, collective_s = 0, wrong = 0;
    if (!gl_gpu_verify(backend, c->size_bytes, false, &wrong, err)) /* which names the transport */
        return false;
    gl_watchdog_arm(b->self->dog, "overlap", gl_gpu_limit_s(c->size_bytes));
    if (!measure_alone(b, c, &gemm_s, &collective_s, err))
        return false;
    gl_overlap_series series = gl_overlap_series_of(gemm_s, collective_s, c->share);
    double fits = cost_s(&series, gemm_s, collective_s) < left_s;
    if (backend->vtable->agree(backend, fits) == 0)
        return true;
    gl_watchdog_arm(b->self->dog, "overlap",
                    gl_gpu_limit_s(c->size_bytes * (double)series.collectives));
    return measure_series(b, &series, &rate, err) &&
           gl_gpu_all_agree(b->self, store(b, c, &rate, sink, err), "storing", err);
}

static bool run_case(bench *b, const gl_grouping *grouping, const gl_overlap_case *c, double left_s,
                     const gl_rates_sink *sink, gl_error *err)
{
    bool there = false;
    gl_backend *backend = &b->self->base;
    if (!backend->vtable->join(backend, grouping, c->collective, GL_BF16, c->size_bytes, err))
        return false;
    gl_gpu_layout_of(&b->layout, c->collective, GL_BF16, grouping->placement.ranks, c->size_bytes);
    bool done =
        prepare_gemms(b, c, &there, err) && (!there || measure_case(b, c, left_s, sink, err));
    gl_watchdog_disarm(b->self->dog);
    for (int i = 0; i < b->self->gpu_count; i++)
        gl_gemm_release(b->labs[i].blas, &b->gemms[i]);
    backend->vtable->leave(backend);
    return done;
}

/* ---- all cases ---- */

/* The shares of a case are not stored: the first of a key is the first share, and so on. */
static bool known(const gl_rates_sink *sink, const gl_overlap_case *c, size_t share_index)
{
    size_t count = 0;
    for (size_t i = 0; i < sink->overlap_count; i++) {
        const gl_overlap_rate *o = &sink->overlap[i];
        count += o->collective == c->collective && o->m == c->gemm.m && o->n == c->gemm.n &&
                 o->k == c->gemm.k && fabs(o->size_bytes / c->size_bytes - 1) < 0.01;
    }
    return count > share_index;
}

enum { MEASURE, SKIP, STOP };

/* The leader's word, in all processes. */
static int decide(const bench *b, const gl_overlap_case *c, double left_s,
                  const gl_rates_sink *sink)
{
    gl_backend *backend = &b->self->base;
    double choice = MEASURE;
    if (sink != NULL) {
        bool stop = left_s <= 0 || (sink->stopped != NULL && sink->stopped(sink->context));
        choice = stop ? STOP : known(sink, c, c->share_index) ? SKIP : MEASURE;
    }
    return (int)backend->vtable->agree(backend, choice);
}

static bool measure_all(bench *b, const gl_grouping *grouping, double budget_s,
                        const gl_rates_sink *sink, gl_error *err)
{
    double end_s = gl_monotonic_s() + budget_s;
    gl_overlap_case c;
    for (size_t i = 0; gl_overlap_grid(i, &c); i++) {
        double left_s = end_s - gl_monotonic_s();
        int choice = decide(b, &c, left_s, sink);
        if (choice == STOP)
            break;
        if (choice == MEASURE && !run_case(b, grouping, &c, left_s, sink, err))
            return false;
    }
    return true;
}

static bool open_labs(bench *b, gl_error *err)
{
    /* Twice the largest shapes of gl_overlap_grid. */
    const gl_gemm_bytes room = {.weights = 512 << 20, .inputs = 512 << 20, .outputs = 512 << 20};
    for (int i = 0; i < b->self->gpu_count; i++)
        if (!gl_lab_open(&b->labs[i], b->self, &b->self->gpus[i], &room, err))
            return false;
    return true;
}

bool gl_rates_measure_overlap(gl_backend *backend, const gl_grouping *grouping, double budget_s,
                              const gl_rates_sink *sink, gl_error *err)
{
    gl_nccl *self = (gl_nccl *)backend;
    size_t count = (size_t)self->gpu_count;
    bench b = {.self = self,
               .labs = GL_ARENA_NEW(self->arena, gl_lab, count),
               .gemms = GL_ARENA_NEW(self->arena, gl_gemm, count)};
    gl_gpu_release_buffers(self);
    bool done = gl_gpu_all_agree(self, open_labs(&b, err), "preparing overlap", err) &&
                measure_all(&b, grouping, budget_s, sink, err);
    for (size_t i = 0; i < count; i++)
        gl_lab_close(&b.labs[i]);
    return done;
}
