/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/delivered.h"

#include "common/datadir.h"
#include "common/store/store.h"
#include "common/text.h"
#include "planner/input/calibration.h"

#include <string.h>

static bool wanted(const gl_run *run, const char *label)
{
    return label == NULL || strcmp(run->label, label) == 0;
}

static bool is_kept(const gl_delivered *d, int64_t run_id)
{
    return gl_run_find(d->runs, d->run_count, run_id) != NULL;
}

static bool take_runs(const gl_catalog *catalog, const char *file, const char *label,
                      gl_arena *arena, gl_delivered *out, gl_error *err)
{
    gl_run *runs = GL_ARENA_NEW(arena, gl_run, catalog->run_count);
    for (size_t i = 0; i < catalog->run_count; i++)
        if (wanted(&catalog->runs[i], label))
            runs[out->run_count++] = catalog->runs[i];
    out->runs = runs;
    char shown[64];
    return label == NULL || out->run_count > 0 ||
           gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL,
                      "no run has the label '%s'", gl_printable(label, shown, sizeof shown));
}

static bool take_curves(gl_store *store, const gl_catalog *catalog, gl_arena *arena,
                        gl_delivered *out, gl_error *err)
{
    gl_curve *curves = GL_ARENA_NEW(arena, gl_curve, catalog->curve_count);
    for (size_t i = 0; i < catalog->curve_count; i++) {
        if (!is_kept(out, catalog->curves[i].run_id))
            continue;
        gl_curve *curve = &curves[out->curve_count++];
        *curve = catalog->curves[i];
        if (!gl_store_read_samples(store, arena, curve, err))
            return false;
    }
    out->curves = curves;
    return true;
}

static void take_rates(const gl_catalog *catalog, gl_arena *arena, gl_delivered *out)
{
    gl_compute_rate *compute = GL_ARENA_NEW(arena, gl_compute_rate, catalog->compute_count);
    gl_overlap_rate *overlap = GL_ARENA_NEW(arena, gl_overlap_rate, catalog->overlap_count);
    for (size_t i = 0; i < catalog->compute_count; i++)
        if (is_kept(out, catalog->compute[i].run_id))
            compute[out->compute_count++] = catalog->compute[i];
    for (size_t i = 0; i < catalog->overlap_count; i++)
        if (is_kept(out, catalog->overlap[i].run_id))
            overlap[out->overlap_count++] = catalog->overlap[i];
    out->compute = compute;
    out->overlap = overlap;
}

static bool take_texts(gl_store *store, gl_arena *arena, gl_delivered *out, gl_error *err)
{
    gl_topology *texts;
    size_t count, kept = 0;
    if (!gl_store_read_topology(store, arena, &texts, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (is_kept(out, texts[i].run_id))
            texts[kept++] = texts[i];
    out->texts = texts;
    out->text_count = kept;
    return true;
}

static bool read_all(gl_store *store, const char *file, const char *label, gl_arena *arena,
                     gl_delivered *out, gl_error *err)
{
    gl_catalog catalog;
    if (!gl_store_read_catalog(store, arena, &catalog, err) ||
        !take_runs(&catalog, file, label, arena, out, err) ||
        !take_curves(store, &catalog, arena, out, err) || !take_texts(store, arena, out, err))
        return false;
    take_rates(&catalog, arena, out);
    return true;
}

static bool fail_name(const char *name, gl_error *err)
{
    char shown[128];
    return gl_fail_at(err, GL_ERROR_INPUT, NULL, "--measured",
                      "no such file: '%s'; a calibration database is expected, as "
                      "gpulink-calibrate run and import make it",
                      gl_printable(name, shown, sizeof shown));
}

bool gl_delivered_load(const char *name, gl_arena *arena, gl_delivered *out, gl_error *err)
{
    gl_store *store;
    const char *label = NULL, *file = gl_calibration_find(name, NULL, arena, &label);
    gl_delivered read = {0};
    if (file == NULL)
        return fail_name(name, err);
    if (!gl_store_open(file, &store, err))
        return false;
    read.name = gl_calibration_name(file, label, arena);
    bool ok = read_all(store, file, label, arena, &read, err);
    gl_store_close(store);
    if (ok)
        *out = read;
    return ok;
}
