/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as topo -m and as topo -p2p: rows and columns stay in bounds, rules run. */
#include "calibrate/doctor/findings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gl_expected expected = {0};
    gl_arena *arena = gl_arena_create();
    gl_facts facts;
    gl_error err = {0};
    char *text = gl_arena_alloc(arena, size + 1, 1);
    memcpy(text, data, size);
    gl_facts_begin(&facts, &expected, arena);
    for (int p2p = 0; p2p < 2; p2p++) {
        gl_matrices *all = p2p ? &facts.p2p : &facts.topology;
        bool ok = gl_facts_read_text(&facts, p2p ? GL_SOURCE_P2P : GL_SOURCE_TOPOLOGY, "x", text,
                                     size, &err);
        check(ok ? all->count > 0 : err.status == GL_ERROR_INPUT);
        for (size_t i = 0; i < all->count; i++) {
            check(all->items[i]->row_count <= GL_MATRIX_SIZE_MAX);
            check(all->items[i]->column_count <= GL_MATRIX_SIZE_MAX);
            for (size_t r = 0; r < all->items[i]->row_count; r++)
                check(all->items[i]->rows[r].column < (int)all->items[i]->column_count);
        }
    }
    gl_facts_finish(&facts);
    gl_findings findings = gl_findings_of(&facts);
    for (size_t i = 0; i < findings.count; i++)
        check(findings.items[i].proof_count > 0);
    gl_arena_destroy(arena);
    return 0;
}
