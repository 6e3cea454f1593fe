/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of measurements from memory; what is taken is within its limits. */
#include "calibrate/measure/acceptance_list.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gl_arena *arena = gl_arena_create();
    gl_acceptance_list list;
    gl_error err;
    if (gl_acceptance_list_parse("fuzz.csv", (const char *)data, size, arena, &list, &err)) {
        for (size_t i = 0; i < list.count; i++) {
            const gl_acceptance_item *item = &list.items[i];
            if (item->placement.ranks < 2 || item->placement.nodes > item->placement.ranks ||
                item->size_count < 2)
                abort();
            for (size_t k = 1; k < item->size_count; k++)
                if (!(item->sizes[k - 1] < item->sizes[k]))
                    abort();
        }
        gl_acceptance_list_digest(&list);
    }
    gl_arena_destroy(arena);
    return 0;
}
