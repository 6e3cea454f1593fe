/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text through the importer: what comes out can be stored, and every refusal has a reason. */
#include "calibrate/import/importer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition)
        abort();
}

static void check_curve(const gl_curve *curve)
{
    const gl_placement *p = &curve->placement;
    check(p->ranks >= 2 && p->nodes >= 1 && p->nodes <= p->ranks && p->ranks_per_node >= 1);
    check((int64_t)p->nodes * p->ranks_per_node >= p->ranks && p->concurrent_groups >= 1);
    check(curve->sample_count > 0 && curve->root >= -1 && curve->nics >= 0);
    for (size_t i = 0; i < curve->sample_count; i++) {
        const gl_sample *s = &curve->samples[i];
        check(s->size_bytes >= 1 && isfinite(s->time_median_s) && s->time_median_s > 0);
        check(i == 0 || s->size_bytes > s[-1].size_bytes);
        check(s->iterations >= 0 && !(s->wrong < 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const gl_import_options options[] = {{.recorded_at = ""},
                                                {.recorded_at = "",
                                                 .nodes = 2,
                                                 .ranks = 16,
                                                 .has_collective = true,
                                                 .collective = GL_ALL_REDUCE,
                                                 .keep_host = true}};
    if (size == 0)
        return 0;
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
    if (stream == NULL)
        return 0;
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        gl_arena *arena = gl_arena_create();
        gl_import_result result;
        gl_error err = {0};
        rewind(stream);
        bool ok = gl_import_stream(stream, "x.txt", &options[o], arena, &result, &err);
        check(ok || (err.status == GL_ERROR_INPUT && err.message[0] != '\0'));
        check(!ok || result.run_count > 0);
        for (size_t i = 0; ok && i < result.run_count; i++)
            for (size_t c = 0; c < result.runs[i].curve_count; c++)
                check_curve(&result.runs[i].curves[c]);
        gl_arena_destroy(arena);
    }
    fclose(stream);
    return 0;
}
