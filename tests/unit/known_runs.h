/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The training steps that this project measured: rows of data/validation/h200-pair.csv, each with
 * what NCCL and PyTorch reported of it (tests/fixtures/train_known.jsonl, by the same id).
 */
#ifndef TESTS_UNIT_KNOWN_RUNS_H
#define TESTS_UNIT_KNOWN_RUNS_H

#include "tests/support.h"

#include "common/datadir.h"
#include "planner/input/conventions.h"

#include <jansson.h>

typedef struct known_run {
    const char *id;
    double step_s;
    const gl_workload *workload;
    const gl_cluster *cluster;
    const json_t *seen;
} known_run;

/* 0 when nothing was reported. */
static inline double known_number(const known_run *run, const char *key)
{
    return json_number_value(json_object_get(run->seen, key));
}

static inline void known_visit(const gl_known_run *row, gl_conventions *conventions, FILE *file,
                               void (*visit)(const known_run *run))
{
    char line[8192];
    gl_arena *arena = gl_arena_create();
    gl_run_case made;
    gl_run_case_build(conventions, row, arena, &made);
    if (made.reason != NULL)
        fail_msg("%s: %s", row->texts[GL_RUN_ID], made.reason);
    assert_non_null(fgets(line, sizeof line, file));
    json_t *seen = json_loads(line, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(seen, "id")), row->texts[GL_RUN_ID]);
    visit(&(known_run){.id = row->texts[GL_RUN_ID],
                       .step_s = row->measured_s,
                       .workload = &made.workload,
                       .cluster = made.cluster,
                       .seen = seen});
    json_decref(seen);
    gl_arena_destroy(arena);
}

/* Calls `visit` for every one. */
static inline void known_runs(void (*visit)(const known_run *run))
{
    gl_arena *arena = gl_arena_create();
    gl_diagnostics diagnostics = {0};
    gl_known_runs runs = {0};
    gl_conventions *conventions = gl_conventions_load(NULL, arena, &diagnostics);
    const char *path = gl_datadir_find(arena, "validation", "h200-pair", "csv");
    FILE *file = fopen(TEST_SOURCE_DIR "/fixtures/train_known.jsonl", "r");
    assert_non_null(conventions);
    assert_non_null(path);
    assert_non_null(file);
    assert_true(gl_known_runs_load(path, arena, &runs, &diagnostics));
    assert_int_equal(runs.count, 17);
    for (size_t i = 0; i < runs.count; i++)
        known_visit(&runs.items[i], conventions, file, visit);
    fclose(file);
    gl_arena_destroy(arena);
}

#endif
