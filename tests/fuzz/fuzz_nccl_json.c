/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a document of nccl-tests, and the same with its end cut off. */
#include "calibrate/import/evaluate.h"
#include "calibrate/import/nccl_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const char *text, size_t length)
{
    static const gl_import_options options = {.recorded_at = "", .nodes = 1};
    gl_arena *arena = gl_arena_create();
    gl_parsed_file file = {.arena = arena};
    gl_error err = {0};
    if (!gl_nccl_json_parse(text, length, "x.json", &file, &err)) {
        if (err.message[0] == '\0')
            abort();
    } else {
        gl_import_run imported;
        for (size_t i = 0; i < file.run_count; i++)
            gl_evaluate_run(file.runs[i], "x.json", &options, arena, &imported, &err);
    }
    gl_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run((const char *)data, size);
    run((const char *)data, size - size / 3);
    return 0;
}
