/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of runs from memory; each run that it holds becomes a workload, with the bundled
 * conventions. */
#include "planner/input/conventions.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What opens files is another target's: clusters by name, configurations of Hugging Face. */
static bool opens_files(const gl_known_run *run)
{
    return run->texts[GL_RUN_CLUSTER][0] != '\0' ||
           strstr(run->texts[GL_RUN_SETTINGS], "huggingface") != NULL ||
           strstr(run->texts[GL_RUN_SETTINGS], "calibration") != NULL;
}

/* The conventions keep the clusters that they made: from time to time they are read anew. */
static gl_conventions *bundled(void)
{
    enum { KEPT = 500 };
    static gl_arena *arena;
    static gl_conventions *conventions;
    static int used;
    gl_diagnostics diagnostics = {.count = 0};
    if (used++ % KEPT == 0) {
        gl_arena_destroy(arena);
        arena = gl_arena_create();
        conventions = gl_conventions_load(NULL, arena, &diagnostics);
    }
    return conventions;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gl_arena *arena = gl_arena_create();
    gl_diagnostics diagnostics = {.count = 0};
    gl_known_runs runs = {0};
    gl_conventions *conventions = bundled();
    if (conventions != NULL &&
        gl_known_runs_parse("fuzz.csv", (const char *)data, size, arena, &runs, &diagnostics))
        for (size_t i = 0; i < runs.count && i < 20; i++) {
            gl_run_case made;
            if (!opens_files(&runs.items[i]))
                gl_run_case_build(conventions, &runs.items[i], arena, &made);
        }
    gl_arena_destroy(arena);
    return 0;
}
