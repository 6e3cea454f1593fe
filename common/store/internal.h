/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the store, and by its tests; nobody else includes this. */
#ifndef GL_COMMON_STORE_INTERNAL_H
#define GL_COMMON_STORE_INTERNAL_H

#include "common/store/store.h"

#include <sqlite3.h>

/* A hostile file must not keep us busy: a few hundred bytes of B-tree pages that point at each
 * other can pretend to hold any number of rows. */
enum {
    GL_STORE__RUNS_MAX = 100000,
    GL_STORE__CURVES_MAX = 1000000,
    GL_STORE__RATES_MAX = 1000000,
    GL_STORE__SAMPLES_MAX = 5000000,
    GL_STORE__TEXT_MAX = 8 * 1024 * 1024, /* topology texts */
    GL_STORE__LONG_MAX = 1024 * 1024,     /* environment, warnings */
    GL_STORE__NAME_MAX = 1024,            /* every other text */
    GL_STORE__RANKS_MAX = 10000000
};

#define GL_STORE__WRONG_MAX 1e300 /* wrong elements */

struct gl_store {
    sqlite3 *db;
    char *path;                  /* as the user wrote it, for messages */
    sqlite3_stmt *insert_sample; /* kept: samples are written by the thousand */
    long steps_left;             /* of the running statement, in progress-handler calls */
    bool in_transaction;
    double wait_began_s; /* by gl_monotonic_s, of the present wait for another program … */
    bool wait_said;      /* … and was it told? */
};

/* schema.sql, from the build. */
extern const char gl_store__schema[];

/* One step of the schema: brings a database from version − 1 to `version`. */
typedef struct gl_migration {
    int version;
    const char *sql;
} gl_migration;

/* Runs the steps above the version of the file, all in one transaction. */
bool gl_store__migrate(gl_store *store, const gl_migration *steps, size_t count, gl_error *err);

/* Turns the failed SQLite call `doing` ("reading runs") into an error about the file. */
bool gl_store__fail(gl_store *store, int rc, const char *doing, gl_error *err);

/* Prepares one statement; allows it its full share of steps. */
bool gl_store__prepare(gl_store *store, const char *sql, sqlite3_stmt **statement, gl_error *err);

/* Runs SQL that returns nothing. */
bool gl_store__run(gl_store *store, const char *sql, const char *doing, gl_error *err);

#endif
