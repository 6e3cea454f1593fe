/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as one of a kind: a refusal has a reason, every finding a proof. */
#ifndef TESTS_FUZZ_DOCTOR_TEXT_H
#define TESTS_FUZZ_DOCTOR_TEXT_H

#include "calibrate/doctor/findings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void check(bool condition)
{
    if (!condition)
        abort();
}

static inline int fuzz_doctor_text(gl_source kind, const uint8_t *data, size_t size)
{
    static gl_expected_gpu gpus[] = {{.name = "NVIDIA H200",
                                      .links = 18,
                                      .is_on_board = true,
                                      .has_multicast = true,
                                      .has_rack = true,
                                      .nvlink = "nvlink4",
                                      .pcie = "pcie5-x16",
                                      .host_path = "pcie5-x16-host",
                                      .sm = 90,
                                      .devices = "2335",
                                      .source = ""}};
    static gl_expected_link links[] = {{.name = "nvlink4",
                                        .transport = GL_TRANSPORT_NVLINK,
                                        .line_bytes_per_s = 450e9,
                                        .assumed_bytes_per_s = 370e9,
                                        .source = ""}};
    gl_expected expected = {links, 1, gpus, 1};
    gl_arena *arena = gl_arena_create();
    gl_facts facts;
    gl_error err = {0};
    char *text = gl_arena_alloc(arena, size + 1, 1);
    memcpy(text, data, size);
    gl_facts_begin(&facts, &expected, arena);
    bool ok = gl_facts_read_text(&facts, kind, "x", text, size, &err);
    check(ok || (err.status == GL_ERROR_INPUT && err.message[0] != '\0'));
    gl_facts_finish(&facts);
    gl_findings findings = gl_findings_of(&facts);
    for (size_t i = 0; i < findings.count; i++)
        check(findings.items[i].proof_count > 0 && findings.items[i].title[0] != '\0');
    gl_arena_destroy(arena);
    return 0;
}

#endif
