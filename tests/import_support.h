/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of the importer: fixtures and texts in, results out. */
#ifndef TESTS_IMPORT_SUPPORT_H
#define TESTS_IMPORT_SUPPORT_H

#include "tests/support.h"

#include "calibrate/import/importer.h"

#include <stdlib.h>

/* One arena for each test, made by the set-up function. */
static gl_arena *arena;

static inline int set_up(void **state)
{
    (void)state;
    arena = gl_arena_create();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    gl_arena_destroy(arena);
    return 0;
}

static inline char *read_fixture(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/fixtures/nccl/%s", TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("no fixture %s", path);
    char *text = gl_arena_alloc(arena, 1 << 20, 1);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static const gl_import_options nothing_said = {.recorded_at = "2026-11-30T03:00:00Z"};

static inline bool import_text(const char *text, const char *path,
                               const gl_import_options *options, gl_import_result *result,
                               gl_error *err)
{
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    bool ok = gl_import_stream(stream, path, options, arena, result, err);
    fclose(stream);
    return ok;
}

/* Imports a fixture that must be taken. */
static inline gl_import_result import_fixture(const char *name, const gl_import_options *options)
{
    gl_import_result result;
    gl_error err;
    if (!import_text(read_fixture(name), name, options, &result, &err))
        fail_msg("%s: %s", name, err.message);
    return result;
}

/* Imports a text that must be refused with these words in the message. */
static inline void assert_refused(const char *text, const char *path,
                                  const gl_import_options *options, const char *words)
{
    gl_import_result result;
    gl_error err;
    if (import_text(text, path, options, &result, &err))
        fail_msg("%s was taken", path);
    assert_int_equal(err.status, GL_ERROR_INPUT);
    if (strstr(err.message, words) == NULL)
        fail_msg("%s: \"%s\" does not say \"%s\"", path, err.message, words);
}

static inline bool has_warning(const gl_import_run *run, const char *words)
{
    return strstr(run->run.warnings, words) != NULL;
}

/* The sample of a size, which must be there. */
static inline const gl_sample *sample_of(const gl_curve *curve, double size_bytes)
{
    for (size_t i = 0; i < curve->sample_count; i++)
        if (curve->samples[i].size_bytes == size_bytes)
            return &curve->samples[i];
    fail_msg("no sample of %g bytes", size_bytes);
    return NULL;
}

#endif
