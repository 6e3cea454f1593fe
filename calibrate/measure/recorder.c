/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/recorder.h"

#include "calibrate/measure/write_lock.h"

#include <string.h>

static bool same_command(const gl_run *a, const gl_run *b)
{
    const char *const mine[] = {a->tool,        a->tool_version,   a->backend,      a->host,
                                a->gpu,         a->driver_version, a->cuda_version, a->nccl_version,
                                a->environment, a->label,          a->parameters};
    const char *const other[] = {
        b->tool,         b->tool_version, b->backend,     b->host,  b->gpu,       b->driver_version,
        b->cuda_version, b->nccl_version, b->environment, b->label, b->parameters};
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        if (strcmp(mine[i], other[i]) != 0)
            return false;
    return true;
}

static bool bury_the_dead(gl_recorder *r, gl_error *err)
{
    for (size_t i = 0; i < r->before.run_count; i++) {
        gl_run *run = &r->before.runs[i];
        if (run->state != GL_RUN_RUNNING)
            continue;
        if (!gl_store_set_run_state(r->store, run->id, GL_RUN_INTERRUPTED, err))
            return false;
        run->state = GL_RUN_INTERRUPTED;
    }
    return true;
}

static bool load_samples(gl_recorder *r, gl_error *err)
{
    for (size_t i = 0; i < r->before.curve_count; i++)
        if (r->before.curves[i].run_id == r->run_id &&
            !gl_store_read_samples(r->store, r->arena, &r->before.curves[i], err))
            return false;
    return true;
}

static bool add_run(gl_recorder *r, const gl_run *run, const gl_machine_text *texts,
                    size_t text_count, gl_error *err)
{
    gl_run started = *run;
    started.state = GL_RUN_RUNNING;
    if (!gl_store_add_run(r->store, &started, &r->run_id, err))
        return false;
    for (size_t i = 0; i < text_count; i++)
        if (!gl_store_add_topology(r->store, r->run_id, texts[i].kind, texts[i].text, err))
            return false;
    return true;
}

/* In one transaction. */
static bool start_run(gl_recorder *r, const gl_run *run, const gl_machine_text *texts,
                      size_t text_count, gl_error *err)
{
    if (!gl_store_read_catalog(r->store, r->arena, &r->before, err) || !bury_the_dead(r, err))
        return false;
    for (size_t i = r->before.run_count; i-- > 0 && !r->resumed;) {
        const gl_run *old = &r->before.runs[i];
        r->resumed = old->state == GL_RUN_INTERRUPTED && same_command(old, run);
        if (r->resumed)
            r->run_id = old->id;
    }
    if (!r->resumed)
        return add_run(r, run, texts, text_count, err);
    return gl_store_set_run_state(r->store, r->run_id, GL_RUN_RUNNING, err) && load_samples(r, err);
}

bool gl_recorder_open(gl_recorder *recorder, const char *path, const gl_run *run,
                      const gl_machine_text *texts, size_t text_count, gl_arena *arena,
                      gl_error *err)
{
    *recorder = (gl_recorder){.lock = -1, .arena = arena};
    if (gl_write_lock_take(path, &recorder->lock, err) &&
        gl_store_open_writable(path, &recorder->store, err) &&
        gl_store_begin(recorder->store, err) && start_run(recorder, run, texts, text_count, err) &&
        gl_store_commit(recorder->store, err))
        return true;
    gl_recorder_close(recorder);
    return false;
}

void gl_recorder_close(gl_recorder *recorder)
{
    gl_store_close(recorder->store);
    gl_write_lock_release(recorder->lock);
    recorder->store = NULL;
    recorder->lock = -1;
}

void gl_recorder_find(const gl_recorder *recorder, gl_curve *curve)
{
    curve->id = 0;
    for (size_t i = 0; i < recorder->before.curve_count; i++) {
        const gl_curve *old = &recorder->before.curves[i];
        if (old->run_id == recorder->run_id && old->collective == curve->collective &&
            old->dtype == curve->dtype && old->in_place == curve->in_place &&
            gl_placement_equal(&old->placement, &curve->placement))
            *curve = *old;
    }
    curve->run_id = recorder->run_id;
}

static bool write_point(gl_store *store, const gl_curve *curve, int64_t *id, bool path_changed,
                        const gl_sample *sample, gl_error *err)
{
    if (*id == 0 && !gl_store_add_curve(store, curve, id, err))
        return false;
    if (curve->id != 0 && path_changed && !gl_store_update_curve(store, curve, err))
        return false;
    return gl_store_add_sample(store, *id, sample, err);
}

bool gl_recorder_add(gl_recorder *recorder, gl_curve *curve, bool path_changed,
                     const gl_sample *sample, gl_error *err)
{
    int64_t id = curve->id;
    if (!gl_store_begin(recorder->store, err))
        return false;
    if (!write_point(recorder->store, curve, &id, path_changed, sample, err) ||
        !gl_store_commit(recorder->store, err)) {
        gl_store_rollback(recorder->store);
        return false;
    }
    curve->id = id; /* only now: a curve that was rolled back has none */
    return true;
}

/* A single INSERT is a transaction by itself. */
bool gl_recorder_add_compute(gl_recorder *recorder, const gl_compute_rate *rate, gl_error *err)
{
    gl_compute_rate row = *rate;
    row.run_id = recorder->run_id;
    return gl_store_add_compute(recorder->store, &row, err);
}

bool gl_recorder_add_overlap(gl_recorder *recorder, const gl_overlap_rate *rate, gl_error *err)
{
    gl_overlap_rate row = *rate;
    row.run_id = recorder->run_id;
    return gl_store_add_overlap(recorder->store, &row, err);
}

bool gl_recorder_finish(gl_recorder *recorder, gl_run_state state, const char *warnings,
                        gl_error *err)
{
    return gl_store_finish_run(recorder->store, recorder->run_id, state, warnings, err);
}
