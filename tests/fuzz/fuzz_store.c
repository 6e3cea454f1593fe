/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a database: it is refused with a reason, or read with every value in range. */
#include "common/store/store.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/gpulink-fuzz-store-XXXXXX";
static int fd = -1;

static void check(bool condition)
{
    if (!condition)
        abort();
}

static void remove_file(void)
{
    unlink(path);
}

static bool write_bytes(const uint8_t *data, size_t size)
{
    if (fd < 0) {
        fd = mkstemp(path);
        atexit(remove_file);
    }
    return fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size;
}

static bool read_everything(gl_store *store, gl_arena *arena, gl_error *err)
{
    gl_catalog catalog;
    gl_topology *texts;
    size_t count;
    if (!gl_store_read_catalog(store, arena, &catalog, err))
        return false;
    for (size_t i = 0; i < catalog.curve_count; i++) {
        gl_curve *curve = &catalog.curves[i];
        check(curve->placement.ranks >= 1 && curve->placement.nodes >= 1);
        if (!gl_store_read_samples(store, arena, curve, err))
            return false;
        for (size_t k = 0; k < curve->sample_count; k++) {
            check(curve->samples[k].time_median_s > 0 && isfinite(curve->samples[k].time_median_s));
            check(k == 0 || curve->samples[k].size_bytes > curve->samples[k - 1].size_bytes);
        }
    }
    return gl_store_read_topology(store, arena, &texts, &count, err);
}

/* The header's marks are put right, so that the fuzzer spends its time behind them. */
static void repair(uint8_t *copy, size_t size)
{
    static const uint8_t magic[16] = "SQLite format 3", application[4] = {0x67, 0x6c, 0x6e, 0x6b};
    static const uint8_t version[4] = {0, 0, 0, GL_STORE_VERSION};
    if (size < 100)
        return;
    memcpy(copy, magic, sizeof magic);
    memcpy(copy + 60, version, sizeof version);
    memcpy(copy + 68, application, sizeof application);
}

static void open_both_ways(void)
{
    gl_store *store;
    gl_error err = {0};
    gl_arena *arena = gl_arena_create();
    bool ok = gl_store_open(path, &store, &err);
    if (ok) {
        ok = read_everything(store, arena, &err);
        gl_store_close(store);
    }
    check(ok || err.message[0] != '\0');
    if (gl_store_open_writable(path, &store, &err))
        gl_store_close(store);
    gl_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    repair(copy, size);
    if (write_bytes(copy, size))
        open_both_ways();
    free(copy);
    return 0;
}
