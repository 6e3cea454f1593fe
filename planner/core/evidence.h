/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a figure is known. Ordered from best to worst: the worst in a sum is the sum's. */
#ifndef GL_CORE_EVIDENCE_H
#define GL_CORE_EVIDENCE_H

typedef enum gl_evidence {
    GL_EVIDENCE_NONE,   /* nothing to know: no communication */
    GL_EVIDENCE_STATED, /* by the user */
    GL_EVIDENCE_MEASURED,
    GL_EVIDENCE_INTERPOLATED,
    GL_EVIDENCE_EXTRAPOLATED_SIZE,
    GL_EVIDENCE_EXTRAPOLATED_RANKS,
    GL_EVIDENCE_CATALOGUE
} gl_evidence;

/* "measured", "interpolated", "extrapolated-size", "extrapolated-ranks", "catalogue", … */
const char *gl_evidence_name(gl_evidence evidence);

static inline gl_evidence gl_evidence_worst(gl_evidence a, gl_evidence b)
{
    return a > b ? a : b;
}

#endif
