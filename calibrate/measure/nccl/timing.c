/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time of a collective.
 *
 * nccl-tests times a run of calls back to back with the host's clock and prints the mean. Here the
 * calls are issued back to back in the same way, through the same walk over the buffers, and events
 * on each GPU's stream cut the run into iterations. An event between every two calls would slow
 * short ones (it takes the stream and the host a microsecond or two), so an iteration of a short
 * call is a batch of them, of at least 200 us (gl_gpu_batch), and its time the mean of the batch.
 * The slowest GPU of each iteration counts.
 */
#include "calibrate/measure/nccl/gpu.h"
#include "common/clock.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum {
    CALLS_AHEAD = 128, /* that wait in the streams: CUDA's queue holds about a thousand launches,
                          and a full one blocks without a limit */
    PROBE_CALLS = 8,   /* that tell how long a short call takes */
    POLLS_PER_CHECK = 256
};

static const double short_call_s = 1e-3;

/* ---- events ---- */

static bool reserve_events(gl_nccl *self, size_t count, gl_error *err)
{
    for (int i = 0; i < self->gpu_count; i++) {
        gl_nccl_gpu *gpu = &self->gpus[i];
        if (gpu->event_count >= count)
            continue;
        GL_CUDA(self, cudaSetDevice(gpu->device));
        cudaEvent_t *events = GL_ARENA_NEW(self->arena, cudaEvent_t, 2 * count);
        if (gpu->event_count > 0)
            memcpy(events, gpu->events, gpu->event_count * sizeof *events);
        gpu->events = events;
        for (; gpu->event_count < 2 * count; gpu->event_count++)
            GL_CUDA(self, cudaEventCreate(&gpu->events[gpu->event_count]));
    }
    return true;
}

/* On the stream of each GPU. */
static bool record_event(gl_nccl *self, size_t event, gl_error *err)
{
    for (int i = 0; i < self->gpu_count; i++)
        if (self->gpus[i].group != NULL)
            GL_CUDA(self, cudaEventRecord(self->gpus[i].events[event], self->gpus[i].stream));
    return true;
}

static bool check_communicator(gl_nccl *self, const gl_nccl_gpu *gpu, gl_error *err)
{
    ncclResult_t state = ncclSuccess;
    GL_NCCL(self, ncclCommGetAsyncError(gpu->group, &state));
    if (state != ncclSuccess && state != ncclInProgress)
        return gl_gpu_nccl_failed(self, state, "a collective", __FILE__, __LINE__, err);
    return true;
}

bool gl_gpu_wait_event(gl_nccl *self, const gl_nccl_gpu *gpu, cudaEvent_t event, gl_error *err)
{
    const struct timespec nap = {.tv_nsec = 20000};
    for (unsigned polls = 1;; polls++) {
        cudaError_t status = cudaEventQuery(event);
        if (status == cudaSuccess)
            break;
        if (status != cudaErrorNotReady)
            GL_CUDA(self, status);
        if (gl_watchdog_expired(self->dog))
            return gl_gpu_timed_out(self, gl_collective_name(self->collective), err);
        if (polls % POLLS_PER_CHECK == 0 && !check_communicator(self, gpu, err))
            return false;
        nanosleep(&nap, NULL);
    }
    gl_watchdog_kick(self->dog);
    return true;
}

/* On each GPU. */
static bool wait_for(gl_nccl *self, size_t event, gl_error *err)
{
    for (int i = 0; i < self->gpu_count; i++)
        if (self->gpus[i].group != NULL &&
            !gl_gpu_wait_event(self, &self->gpus[i], self->gpus[i].events[event], err))
            return false;
    return true;
}

/* Seconds between two events on the slowest GPU of this process. */
static bool elapsed(gl_nccl *self, size_t from, size_t to, double *seconds, gl_error *err)
{
    *seconds = 0;
    for (int i = 0; i < self->gpu_count; i++) {
        float ms = 0;
        gl_nccl_gpu *gpu = &self->gpus[i];
        if (gpu->group == NULL)
            continue;
        GL_CUDA(self, cudaEventElapsedTime(&ms, gpu->events[from], gpu->events[to]));
        double s = 1e-3 * (double)ms;
        *seconds = s > *seconds ? s : *seconds;
    }
    return true;
}

/* ---- the run ---- */

typedef struct timed_run {
    gl_gpu_layout layout;
    bool in_place;
    size_t calls; /* issued so far: where in the buffers the next one goes */
} timed_run;

static bool issue_calls(gl_nccl *self, timed_run *run, int calls, gl_error *err)
{
    for (int i = 0; i < calls; i++, run->calls++) {
        size_t shift = gl_gpu_shift(&run->layout, self->walk_bytes, run->calls);
        if (!gl_gpu_issue(self, &run->layout, shift, run->in_place, err))
            return false;
    }
    return true;
}

/* `calls` calls and what one takes by the events, on the slowest rank of all. */
static bool probe(gl_nccl *self, timed_run *run, int calls, double *call_s, gl_error *err)
{
    double total_s = 0;
    if (!record_event(self, 0, err) || !issue_calls(self, run, calls, err) ||
        !record_event(self, 1, err) || !wait_for(self, 1, err) ||
        !elapsed(self, 0, 1, &total_s, err))
        return false;
    *call_s = total_s / calls;
    gl_launch_max(&self->launch, call_s, 1);
    return true;
}

/* Warms up (connections are made at the first call of an algorithm) and estimates a call's time. */
static bool warm_up(gl_nccl *self, timed_run *run, int warmup, double *call_s, gl_error *err)
{
    double start_s = gl_monotonic_s(), first_s;
    if (!probe(self, run, 1, call_s, err))
        return false;
    first_s = gl_monotonic_s() - start_s;
    gl_launch_max(&self->launch, &first_s, 1);
    bool is_short = first_s < short_call_s || *call_s < short_call_s;
    int more = is_short && warmup <= PROBE_CALLS ? PROBE_CALLS : warmup - 1;
    if (more < 1)
        return true;
    return (!is_short || issue_calls(self, run, 1, err)) && probe(self, run, more, call_s, err);
}

/* Iterations of `batch` calls, events between them; never too many calls ahead of the GPUs. The
 * first event follows a call, so that all ranks have started and the GPUs are busy. */
static bool run_iterations(gl_nccl *self, timed_run *run, int iterations, int batch, gl_error *err)
{
    int lag = CALLS_AHEAD / batch;
    if (!issue_calls(self, run, 1, err) || !record_event(self, 0, err))
        return false;
    for (int i = 0; i < iterations; i++) {
        if (!issue_calls(self, run, batch, err) || !record_event(self, (size_t)i + 1, err))
            return false;
        if (i >= lag && !wait_for(self, (size_t)(i + 1 - lag), err))
            return false;
    }
    return wait_for(self, (size_t)iterations, err);
}

static bool collect(gl_nccl *self, int iterations, int batch, double *times_s, gl_error *err)
{
    for (int i = 0; i < iterations; i++) {
        if (!elapsed(self, (size_t)i, (size_t)i + 1, &times_s[i], err))
            return false;
        times_s[i] /= batch;
    }
    gl_launch_max(&self->launch, times_s, (size_t)iterations);
    return true;
}

static bool measure(gl_nccl *self, timed_run *run, int warmup, int iterations, double *times_s,
                    gl_error *err)
{
    double call_s = 0;
    gl_launch_barrier(&self->launch);
    if (!reserve_events(self, (size_t)iterations + 1, err) ||
        !warm_up(self, run, warmup, &call_s, err))
        return false;
    int batch = gl_gpu_batch(call_s);
    gl_launch_barrier(&self->launch);
    return run_iterations(self, run, iterations, batch, err) &&
           collect(self, iterations, batch, times_s, err);
}

static bool begin(gl_nccl *self, timed_run *run, double size_bytes, bool in_place, gl_error *err)
{
    const char *name = gl_collective_name(self->collective);
    if (self->aborted || self->group_of_rank == NULL)
        return gl_fail(err, GL_ERROR_DEVICE, "%s: NCCL has ended after an earlier error", name);
    if (in_place && !gl_gpu_has_in_place(self->collective))
        return gl_fail(err, GL_ERROR_USAGE, "%s has no in-place form in NCCL", name);
    *run = (timed_run){.in_place = in_place};
    gl_gpu_layout_of(&run->layout, self->collective, self->dtype, self->placement.ranks,
                     size_bytes);
    if (gl_gpu_layout_size(&run->layout) > (double)self->buffer_bytes)
        return gl_fail(err, GL_ERROR_INTERNAL, "%s: %.0f bytes do not fit in buffers of %zu", name,
                       size_bytes, self->buffer_bytes);
    gl_watchdog_arm(self->dog, name, gl_gpu_limit_s(size_bytes));
    return true;
}

bool gl_gpu_measure(gl_backend *backend, double size_bytes, bool in_place, int warmup,
                    int iterations, double *times_s, gl_error *err)
{
    gl_nccl *self = (gl_nccl *)backend;
    timed_run run;
    if (!begin(self, &run, size_bytes, in_place, err))
        return false;
    bool done = measure(self, &run, warmup, iterations, times_s, err);
    gl_watchdog_disarm(self->dog);
    return done;
}

/* One call at the start of the buffers, to its end. */
bool gl_gpu_call_once(gl_nccl *self, double size_bytes, bool in_place, gl_error *err)
{
    timed_run run;
    if (!begin(self, &run, size_bytes, in_place, err))
        return false;
    bool done = reserve_events(self, 2, err) && issue_calls(self, &run, 1, err) &&
                record_event(self, 0, err) && wait_for(self, 0, err);
    gl_watchdog_disarm(self->dog);
    return done;
}
