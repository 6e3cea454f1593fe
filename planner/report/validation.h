/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions against measured runs, as tables. */
#ifndef GL_REPORT_VALIDATION_H
#define GL_REPORT_VALIDATION_H

#include "planner/core/plan.h"
#include "planner/input/conventions.h"

/* One run with what was predicted for it. */
typedef struct gl_validated {
    const gl_known_run *run;
    const char *family, *fitted, *reason; /* reason NULL: planned */
    const char *gpu, *layout;
    int64_t ranks;
    gl_step step; /* when planned */
    gl_evidence compute_evidence;
    bool memory_known, memory_fits;
    double parameters; /* counted */
} gl_validated;

/* What a plan says of a run. Texts are copied: the plan may go. */
void gl_validated_fill(const gl_plan *plan, gl_arena *arena, gl_validated *out);

/*
 * The report "validation": tables `accuracy` (by source, by GPU, in all), `validation` (a row for
 * each run that was planned) and `not_planned` (every other one with its reason), and a headline.
 */
void gl_validation_report(const gl_validated *runs, size_t count, gl_arena *arena,
                          gl_scenario *out);

/* Names of these tables, NULL-terminated. */
const char *const *gl_validation_table_names(void);

#endif
