/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calibration store: the only code that speaks SQLite.
 *
 * A store file is treated as hostile: application_id and user_version are checked first, schema
 * trust is off, views and triggers of the file are never run, every value is checked on reading
 * (range, kind, length) and a bad one is an error that names table, row and column.
 */
#ifndef GL_COMMON_STORE_H
#define GL_COMMON_STORE_H

#include "common/arena.h"
#include "common/calibration.h"
#include "common/error.h"

typedef struct gl_store gl_store;

enum { GL_STORE_VERSION = 1, GL_STORE_APPLICATION_ID = 0x676c6e6b /* "glnk" */ };

/* Opens for reading only. An older version is read through its migration in memory or refused with
 * advice; a newer one is refused. A journal that a killed writer left beside the file is rolled
 * back first, which is the only change that reading makes. Messages tell apart: not there, a
 * directory, not a database, a database of another program, truncated, corrupt, newer. */
bool gl_store_open(const char *path, gl_store **store, gl_error *err);

/* Opens for writing, creating or migrating the file as needed. quick_check is run on an existing
 * file. A file that another process is writing gives a GL_ERROR_INPUT that says so. */
bool gl_store_open_writable(const char *path, gl_store **store, gl_error *err);

/* Whom to tell, once in each wait of more than a second, that another program keeps the file
 * locked; without, waiting is silent. To be set at the start of a program, before any store is
 * open. */
void gl_store_on_wait(void (*say)(const char *path));

/* Closes; NULL is allowed. An open transaction is rolled back. */
void gl_store_close(gl_store *store);

/* What is in the file, without samples (curve.samples is NULL, sample_count is set). Sorted by id.
 */
typedef struct gl_catalog {
    gl_run *runs;
    size_t run_count;
    gl_curve *curves;
    size_t curve_count;
    gl_compute_rate *compute;
    size_t compute_count;
    gl_overlap_rate *overlap;
    size_t overlap_count;
} gl_catalog;

bool gl_store_read_catalog(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_error *err);

/* Fills curve->samples and sample_count (ascending sizes). */
bool gl_store_read_samples(gl_store *store, gl_arena *arena, gl_curve *curve, gl_error *err);

/* The machine texts of all runs, sorted by run. They may be large: the catalog leaves them out. */
bool gl_store_read_topology(gl_store *store, gl_arena *arena, gl_topology **texts, size_t *count,
                            gl_error *err);

/* Transactions: what is written between begin and commit appears at once or not at all. */
bool gl_store_begin(gl_store *store, gl_error *err);
bool gl_store_commit(gl_store *store, gl_error *err);
void gl_store_rollback(gl_store *store);

/* Writers; each sets the new row's id. Texts are copied. */
bool gl_store_add_run(gl_store *store, const gl_run *run, int64_t *id, gl_error *err);
bool gl_store_set_run_state(gl_store *store, int64_t id, gl_run_state state, gl_error *err);
/* State and warnings together: the end of a measuring session. */
bool gl_store_finish_run(gl_store *store, int64_t id, gl_run_state state, const char *warnings,
                         gl_error *err);
bool gl_store_add_curve(gl_store *store, const gl_curve *curve, int64_t *id, gl_error *err);
/* Transport, NICs, algorithm and protocol of a curve (by its id), as they come to be known. */
bool gl_store_update_curve(gl_store *store, const gl_curve *curve, gl_error *err);
bool gl_store_add_sample(gl_store *store, int64_t curve_id, const gl_sample *sample, gl_error *err);
bool gl_store_add_compute(gl_store *store, const gl_compute_rate *rate, gl_error *err);
bool gl_store_add_overlap(gl_store *store, const gl_overlap_rate *rate, gl_error *err);
/* Machine texts: kind such as "nvidia-smi topo -m". */
bool gl_store_add_topology(gl_store *store, int64_t run_id, const char *kind, const char *text,
                           gl_error *err);

/* Version of the SQLite library in use, for --version. */
const char *gl_store_sqlite_version(void);

#endif
