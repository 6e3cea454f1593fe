/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells whether two runs are the same, whatever their ids and the time they were recorded. */
#ifndef GL_CALIBRATE_DIGEST_H
#define GL_CALIBRATE_DIGEST_H

#include "common/calibration.h"
#include "common/store/store.h"

typedef struct gl_digest {
    uint64_t high, low;
} gl_digest;

void gl_digest_begin(gl_digest *digest);
void gl_digest_run(gl_digest *digest, const gl_run *run);
void gl_digest_curve(gl_digest *digest, const gl_curve *curve); /* with its samples */
void gl_digest_compute(gl_digest *digest, const gl_compute_rate *rate);
void gl_digest_overlap(gl_digest *digest, const gl_overlap_rate *rate);

/* Digests of the runs of a store in the order of its catalog, whose samples are loaded. With a
 * `source`, only runs of that source are looked at and the others get a digest that no run has. */
bool gl_digest_store(gl_store *store, gl_arena *arena, gl_catalog *catalog, const char *source,
                     gl_digest **digests, gl_error *err);

bool gl_digest_find(const gl_digest *digests, size_t count, const gl_digest *wanted);

#endif
