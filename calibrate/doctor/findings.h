/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is concluded from facts. */
#ifndef GL_DOCTOR_FINDINGS_H
#define GL_DOCTOR_FINDINGS_H

#include "calibrate/doctor/facts.h"

typedef enum gl_severity { GL_NOTE, GL_WARNING, GL_FAULT } gl_severity;

enum { GL_PROOFS_MAX = 4 };

typedef struct gl_finding {
    const char *id; /* "shm-fallback" */
    gl_severity severity;
    const char *subject; /* what it is about, where there may be several: "GPU3"; "" */
    const char *title;   /* the fact in one line */
    const char *meaning, *advice;
    gl_quote proofs[GL_PROOFS_MAX];
    size_t proof_count;
} gl_finding;

typedef struct gl_findings {
    gl_finding *items; /* worst first */
    size_t count;
} gl_findings;

gl_findings gl_findings_of(const gl_facts *facts);

const char *gl_severity_name(gl_severity severity);

#endif
