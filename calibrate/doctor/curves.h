/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A measured curve beside what is expected of it. */
#ifndef GL_DOCTOR_CURVES_H
#define GL_DOCTOR_CURVES_H

#include "calibrate/doctor/facts.h"

typedef struct gl_curve_verdict {
    double measured; /* bus bandwidth at the large end: median of the three largest sizes */
    double highest;  /* of all sizes */
    gl_expectation expected;
    const char *link; /* "nvlink4"; "" unknown */
    bool is_large;    /* the curve reaches sizes where bandwidth counts */
    bool is_forced;   /* an algorithm or protocol was forced: no measure of the link */
} gl_curve_verdict;

/* The GPU's name of a curve's run; "". */
const char *gl_curve_gpu(const gl_facts_db *db, const gl_curve *curve);

gl_curve_verdict gl_curve_judge(const gl_facts *facts, const gl_facts_db *db, size_t curve);

#endif
