/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bandwidths that nothing on sale has: bits that were taken for bytes, mostly. They are warned of
 * and planned, because there will be faster links. What is on sale is what the catalogue has.
 */
#ifndef GL_INPUT_PLAUSIBLE_H
#define GL_INPUT_PLAUSIBLE_H

#include "common/arena.h"
#include "common/error.h"
#include "common/texts.h"
#include "planner/core/hardware.h"

/* A bandwidth that a description states instead of its link's. */
typedef struct gl_stated_bandwidth {
    double bw_bytes_per_s; /* 0: none is stated */
    const char *path;      /* its field */
    const char *what;      /* "a NIC" */
    gl_mark mark;
} gl_stated_bandwidth;

/* Warns of one that is more than 2.5 times, or less than a quarter, of what the link has. */
void gl_doubt_stated(const gl_stated_bandwidth *stated, const gl_link *link, gl_arena *arena,
                     gl_texts *warnings);

/* Warns when a link that was read from `file`, a file of one's own (a name of the catalogue: no
 * doubt), has more than 2.5 times the bandwidth of every catalogue link of its kind: NVLink, PCIe,
 * network. The next generation has twice that of the last. */
void gl_doubt_link(const gl_link *link, const char *file, gl_arena *arena, gl_texts *warnings);

#endif
