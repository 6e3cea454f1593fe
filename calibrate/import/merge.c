/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/merge.h"

#include "calibrate/import/digest.h"
#include "common/store/store.h"

/* Everything of one input. */
typedef struct source {
    gl_catalog catalog;
    gl_digest *digests;
    gl_topology *topology;
    size_t topology_count;
} source;

static bool read_source(const char *path, gl_arena *arena, source *s, gl_error *err)
{
    gl_store *store;
    if (!gl_store_open(path, &store, err))
        return false;
    bool ok = gl_store_read_catalog(store, arena, &s->catalog, err) &&
              gl_digest_store(store, arena, &s->catalog, &s->digests, err) &&
              gl_store_read_topology(store, arena, &s->topology, &s->topology_count, err);
    gl_store_close(store);
    return ok;
}

static bool copy_curves(gl_store *out, const source *s, int64_t from, int64_t to, gl_error *err)
{
    for (size_t i = 0; i < s->catalog.curve_count; i++) {
        gl_curve curve = s->catalog.curves[i];
        int64_t id;
        if (curve.run_id != from)
            continue;
        curve.run_id = to;
        if (!gl_store_add_curve(out, &curve, &id, err))
            return false;
        for (size_t k = 0; k < curve.sample_count; k++)
            if (!gl_store_add_sample(out, id, &curve.samples[k], err))
                return false;
    }
    return true;
}

static bool copy_rates(gl_store *out, const source *s, int64_t from, int64_t to, gl_error *err)
{
    for (size_t i = 0; i < s->catalog.compute_count; i++) {
        gl_compute_rate rate = s->catalog.compute[i];
        bool mine = rate.run_id == from;
        rate.run_id = to;
        if (mine && !gl_store_add_compute(out, &rate, err))
            return false;
    }
    for (size_t i = 0; i < s->catalog.overlap_count; i++) {
        gl_overlap_rate rate = s->catalog.overlap[i];
        bool mine = rate.run_id == from;
        rate.run_id = to;
        if (mine && !gl_store_add_overlap(out, &rate, err))
            return false;
    }
    for (size_t i = 0; i < s->topology_count; i++)
        if (s->topology[i].run_id == from &&
            !gl_store_add_topology(out, to, s->topology[i].kind, s->topology[i].text, err))
            return false;
    return true;
}

/* The digests of what the output holds by now. */
typedef struct known_runs {
    gl_digest *items;
    size_t count, capacity;
} known_runs;

static bool copy_source(gl_store *out, const source *s, gl_arena *arena, known_runs *known,
                        gl_merge_counts *counts, gl_error *err)
{
    for (size_t i = 0; i < s->catalog.run_count; i++) {
        const gl_run *run = &s->catalog.runs[i];
        int64_t id;
        if (gl_digest_find(known->items, known->count, &s->digests[i]) < known->count) {
            counts->known++;
            continue;
        }
        if (!gl_store_add_run(out, run, &id, err) || !copy_curves(out, s, run->id, id, err) ||
            !copy_rates(out, s, run->id, id, err))
            return false;
        known->items = gl_arena_grow(arena, known->items, &known->capacity, known->count + 1,
                                     sizeof *known->items);
        known->items[known->count++] = s->digests[i];
        counts->added++;
    }
    return true;
}

static bool read_known(gl_store *out, gl_arena *arena, known_runs *known, gl_error *err)
{
    gl_catalog catalog;
    if (!gl_store_read_catalog(out, arena, &catalog, err) ||
        !gl_digest_store(out, arena, &catalog, &known->items, err))
        return false;
    known->count = known->capacity = catalog.run_count;
    return true;
}

bool gl_merge_files(const char *const *inputs, size_t count, const char *output,
                    gl_merge_counts *counts, gl_error *err)
{
    gl_arena *arena = gl_arena_create();
    source *sources = GL_ARENA_NEW(arena, source, count);
    gl_store *out = NULL;
    known_runs known = {0};
    *counts = (gl_merge_counts){0};
    /* All inputs are read before the output is touched: it may be one of them. */
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = read_source(inputs[i], arena, &sources[i], err);
    ok = ok && gl_store_open_writable(output, &out, err) && gl_store_begin(out, err) &&
         read_known(out, arena, &known, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = copy_source(out, &sources[i], arena, &known, counts, err);
    ok = ok && gl_store_commit(out, err);
    gl_store_close(out);
    gl_arena_destroy(arena);
    return ok;
}
