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

/* Warns at `mark` when a stated bandwidth of a NIC (0: not stated) is more than 2.5 times that of
 * the link which it is a NIC of. */
void gl_doubt_nic(double bw_bytes_per_s, const gl_link *link, const gl_mark *mark, gl_arena *arena,
                  gl_texts *warnings);

/* Warns when a link that was read from `file`, a file of one's own (a name of the catalogue: no
 * doubt), has more than 2.5 times the bandwidth of every catalogue link of its kind: NVLink, PCIe,
 * network. The next generation has twice that of the last. */
void gl_doubt_link(const gl_link *link, const char *file, gl_arena *arena, gl_texts *warnings);

#endif
