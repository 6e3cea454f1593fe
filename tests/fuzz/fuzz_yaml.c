/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model description from memory, through the fields and the rules. */
#include "planner/input/model_file.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree;
    gl_error err;
    /* No file is opened: what a configuration file holds is the other target's. */
    if (gl_yaml_parse("fuzz.yaml", (const char *)data, size, arena, &tree, &err) &&
        gl_yaml_find(&tree, "model.huggingface") == NULL) {
        gl_workload workload;
        gl_texts warnings = {0};
        gl_diagnostics diagnostics = {0};
        if (gl_model_tree_load(&tree, false, arena, &workload, &warnings, &diagnostics))
            for (const gl_field *field = gl_model_fields; field->path != NULL; field++)
                gl_field_cell(field, &workload, arena);
    }
    gl_arena_destroy(arena);
    return 0;
}
