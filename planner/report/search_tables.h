/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search as tables: the best layouts, why the others are out, and what was searched. */
#ifndef GL_REPORT_SEARCH_TABLES_H
#define GL_REPORT_SEARCH_TABLES_H

#include "common/table.h"
#include "planner/core/search.h"

/* A layout that is shown, planned fully. */
typedef struct gl_search_row {
    const gl_found *found;
    gl_step step; /* of its plan */
    bool is_top;  /* one of the fastest; otherwise only on the front */
    bool on_front;
} gl_search_row;

typedef struct gl_search_view {
    const gl_workload *workload; /* as described, with what was fixed */
    const gl_cluster *cluster;
    const gl_search_result *result;
    const gl_search_row *rows; /* in the order in which they are shown */
    size_t row_count;
    const gl_search_row *described; /* the description's own layout; NULL: not known */
    int64_t faster_than_described;  /* layouts */
    const gl_plan *best;            /* of rows[0]; NULL when nothing fits */
    const char *remedy;             /* when nothing fits: what would; NULL or "" = not known */
    const char *const *notes;       /* warnings of the loaders */
    size_t note_count;
    const char *name; /* of the scenario */
    const char *only; /* the table asked for; NULL = all */
    bool for_people;
} gl_search_view;

/* Builds the scenario in `arena`; keeps nothing of the view. */
void gl_search_scenario(const gl_search_view *view, gl_arena *arena, gl_scenario *out);

/* NULL-terminated. */
const char *const *gl_search_table_names(void);

#endif
