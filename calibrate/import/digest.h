/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells whether two runs are the same: by what they measured, to the last digit, and by what their
 * curves are of. Names say nothing: the same log under another name, with another label, with the
 * prefixes of a launcher or other ends of line is no second run.
 */
#ifndef GL_CALIBRATE_DIGEST_H
#define GL_CALIBRATE_DIGEST_H

#include "common/calibration.h"
#include "common/store/store.h"

typedef struct gl_digest {
    uint64_t high, low;  /* of everything but the transports */
    uint64_t transports; /* of the curves, in their order */
    bool named;          /* one of them is known */
    size_t values;       /* samples and rates that went in */
} gl_digest;

void gl_digest_begin(gl_digest *digest);
void gl_digest_curve(gl_digest *digest, const gl_curve *curve); /* with its samples */
void gl_digest_compute(gl_digest *digest, const gl_compute_rate *rate);
void gl_digest_overlap(gl_digest *digest, const gl_overlap_rate *rate);
/* The last: a run that measured nothing is known by its names alone. */
void gl_digest_end(gl_digest *digest, const gl_run *run);

/* Digests of the runs of a store in the order of its catalog, whose samples are loaded. */
bool gl_digest_store(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_digest **digests,
                     gl_error *err);

/* The index of the first that is the same; `count` when there is none. */
size_t gl_digest_find(const gl_digest *digests, size_t count, const gl_digest *wanted);

/* The first that measured the same, where the transport is known of one of the two only; `count`
 * when there is none. */
size_t gl_digest_find_unnamed(const gl_digest *digests, size_t count, const gl_digest *wanted);

#endif
