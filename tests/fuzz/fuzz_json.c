/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Hugging Face configuration from memory, and the rules on what it describes. */
#include "planner/core/check.h"
#include "planner/input/huggingface.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree;
    gl_error err;
    gl_workload workload = gl_workload_defaults();
    gl_texts warnings = {0};
    gl_diagnostics diagnostics = {0};
    if (gl_yaml_parse("config.json", (const char *)data, size, arena, &tree, &err) &&
        gl_huggingface_load(&tree, arena, &workload.model, &warnings, &diagnostics)) {
        gl_model *model = &workload.model;
        gl_findings findings = {.arena = arena};
        if (model->kv_heads == 0)
            model->kv_heads = model->heads;
        if (model->head_dim == 0)
            model->head_dim = 64;
        model->parameters = 1e9; /* so that the parameters are counted */
        gl_check_workload(&workload, &findings);
    }
    gl_arena_destroy(arena);
    return 0;
}
