/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An acceptance as a report: the verdict in words, then the tests, what is known of the
 * measurements, the plan made again, what is missing and how to measure it, and lines to sign.
 */
#ifndef GL_REPORT_ACCEPTANCE_TABLES_H
#define GL_REPORT_ACCEPTANCE_TABLES_H

#include "common/table.h"
#include "planner/core/acceptance.h"

typedef struct gl_acceptance_view {
    const char *name;  /* of the scenario */
    const char *model; /* as on the command line, and so below: for the commands that are shown */
    const char *cluster;
    const char *measured;     /* database; NULL: none yet */
    const gl_plan *again;     /* the plan with what was measured; NULL: none */
    bool for_people;          /* long texts are cut, and what only machines read is left out */
    const char *only;         /* this table alone; NULL = all */
    const char *const *notes; /* warnings of the loaders */
    size_t note_count;
} gl_acceptance_view;

void gl_acceptance_report(const gl_acceptance *acceptance, const gl_acceptance_view *view,
                          gl_arena *arena, gl_scenario *out);

/* The commands of table `nccl_tests`, one a line, with a comment above each. */
const char *gl_acceptance_commands(const gl_acceptance *acceptance, gl_arena *arena);

/* Names of the tables, NULL-terminated. */
const char *const *gl_acceptance_table_names(void);

#endif
