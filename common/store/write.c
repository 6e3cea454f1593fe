/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing. Values are checked by the schema (STRICT, CHECK), so that no program can store others.
 */
#include "common/store/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

bool gl_store_begin(gl_store *store, gl_error *err)
{
    /* IMMEDIATE takes the write lock now: a busy database is found out before any work is done. */
    if (!gl_store__run(store, "BEGIN IMMEDIATE", "starting a transaction", err))
        return false;
    store->in_transaction = true;
    return true;
}

bool gl_store_commit(gl_store *store, gl_error *err)
{
    if (!gl_store__run(store, "COMMIT", "writing", err)) {
        gl_store_rollback(store);
        return false;
    }
    store->in_transaction = false;
    return true;
}

void gl_store_rollback(gl_store *store)
{
    if (!store->in_transaction)
        return;
    store->in_transaction = false;
    if (store->insert_sample != NULL)
        sqlite3_reset(store->insert_sample);
    gl_store__run(store, "ROLLBACK", "rolling back", NULL);
}

/* Not copied, which could fail: the text outlives the step. */
static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    sqlite3_bind_text(statement, index, text != NULL ? text : "", -1, SQLITE_STATIC);
}

/* NaN is "not measured". */
static void bind_real(sqlite3_stmt *statement, int index, double value)
{
    if (isnan(value))
        sqlite3_bind_null(statement, index);
    else
        sqlite3_bind_double(statement, index, value);
}

/* Steps an INSERT, sets the new id (may be NULL), finalizes. */
static bool insert(gl_store *store, sqlite3_stmt *statement, const char *table, int64_t *id,
                   gl_error *err)
{
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE && id != NULL)
        *id = sqlite3_last_insert_rowid(store->db);
    bool ok = rc == SQLITE_DONE || gl_store__fail(store, rc, table, err);
    sqlite3_finalize(statement);
    return ok;
}

enum { ENVIRONMENT = 11, WARNINGS = 15 }; /* places in the INSERT below */

/* A longer text would be refused by every reader. */
static bool check_texts(gl_store *store, const char *const *texts, size_t count, gl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        bool is_long = i == ENVIRONMENT || i == WARNINGS;
        size_t maximum = is_long ? GL_STORE__LONG_MAX : GL_STORE__NAME_MAX;
        if (texts[i] != NULL && strlen(texts[i]) > maximum)
            return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = store->path}, NULL,
                              "the text \"%.40s...\" is longer than %zu bytes", texts[i], maximum);
    }
    return true;
}

bool gl_store_add_run(gl_store *store, const gl_run *run, int64_t *id, gl_error *err)
{
    const char *texts[] = {gl_run_state_name(run->state),
                           run->started_at,
                           run->recorded_at,
                           run->tool,
                           run->tool_version,
                           run->backend,
                           run->host,
                           run->gpu,
                           run->driver_version,
                           run->cuda_version,
                           run->nccl_version,
                           run->environment,
                           run->source,
                           run->label,
                           run->parameters,
                           run->warnings};
    sqlite3_stmt *statement = NULL;
    if (!check_texts(store, texts, sizeof texts / sizeof *texts, err))
        return false;
    if (!gl_store__prepare(store,
                           "INSERT INTO run (state, started_at, recorded_at, tool, tool_version, "
                           "backend, host, gpu, driver_version, cuda_version, nccl_version, "
                           "environment, source, label, parameters, warnings) "
                           "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                           &statement, err))
        return false;
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        bind_text(statement, i + 1, texts[i]);
    return insert(store, statement, "writing a run", id, err);
}

/* Steps an UPDATE of the one row with that id. */
static bool update(gl_store *store, sqlite3_stmt *statement, const char *table, int64_t id,
                   gl_error *err)
{
    int rc = sqlite3_step(statement);
    bool ok = rc == SQLITE_DONE || gl_store__fail(store, rc, table, err);
    sqlite3_finalize(statement);
    if (ok && sqlite3_changes(store->db) != 1)
        return gl_fail(err, GL_ERROR_INTERNAL, "%s: there is no row %lld", table, (long long)id);
    return ok;
}

bool gl_store_set_run_state(gl_store *store, int64_t id, gl_run_state state, gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(store, "UPDATE run SET state = ?1 WHERE id = ?2", &statement, err))
        return false;
    bind_text(statement, 1, gl_run_state_name(state));
    sqlite3_bind_int64(statement, 2, id);
    return update(store, statement, "writing the state of a run", id, err);
}

bool gl_store_finish_run(gl_store *store, int64_t id, gl_run_state state, const char *warnings,
                         gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(store, "UPDATE run SET state = ?1, warnings = ?2 WHERE id = ?3",
                           &statement, err))
        return false;
    bind_text(statement, 1, gl_run_state_name(state));
    bind_text(statement, 2, warnings);
    sqlite3_bind_int64(statement, 3, id);
    return update(store, statement, "writing the end of a run", id, err);
}

bool gl_store_add_curve(gl_store *store, const gl_curve *curve, int64_t *id, gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(store,
                           "INSERT INTO curve (run_id, collective, dtype, redop, ranks, nodes, "
                           "ranks_per_node, concurrent_groups, transport, nics, algorithm, "
                           "protocol, in_place, root) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                           &statement, err))
        return false;
    sqlite3_bind_int64(statement, 1, curve->run_id);
    bind_text(statement, 2, gl_collective_name(curve->collective));
    bind_text(statement, 3, gl_dtype_name(curve->dtype));
    bind_text(statement, 4, curve->redop);
    sqlite3_bind_int(statement, 5, curve->placement.ranks);
    sqlite3_bind_int(statement, 6, curve->placement.nodes);
    sqlite3_bind_int(statement, 7, curve->placement.ranks_per_node);
    sqlite3_bind_int(statement, 8, curve->placement.concurrent_groups);
    bind_text(statement, 9, gl_transport_name(curve->transport));
    sqlite3_bind_int(statement, 10, curve->nics);
    bind_text(statement, 11, curve->algorithm);
    bind_text(statement, 12, curve->protocol);
    sqlite3_bind_int(statement, 13, curve->in_place);
    sqlite3_bind_int(statement, 14, curve->root);
    return insert(store, statement, "writing a curve", id, err);
}

bool gl_store_update_curve(gl_store *store, const gl_curve *curve, gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(store,
                           "UPDATE curve SET transport = ?1, nics = ?2, algorithm = ?3, "
                           "protocol = ?4 WHERE id = ?5",
                           &statement, err))
        return false;
    bind_text(statement, 1, gl_transport_name(curve->transport));
    sqlite3_bind_int(statement, 2, curve->nics);
    bind_text(statement, 3, curve->algorithm);
    bind_text(statement, 4, curve->protocol);
    sqlite3_bind_int64(statement, 5, curve->id);
    return update(store, statement, "writing a curve", curve->id, err);
}

bool gl_store_add_sample(gl_store *store, int64_t curve_id, const gl_sample *sample, gl_error *err)
{
    if (store->insert_sample == NULL &&
        !gl_store__prepare(store,
                           "INSERT INTO sample (curve_id, size_bytes, iterations, time_median_s, "
                           "time_p05_s, time_p95_s, time_min_s, wrong) VALUES (?,?,?,?,?,?,?,?)",
                           &store->insert_sample, err))
        return false;
    sqlite3_stmt *statement = store->insert_sample;
    if (!(sample->size_bytes >= 1 && sample->size_bytes <= 9007199254740992.0))
        return gl_fail(err, GL_ERROR_INTERNAL, "sample size %g bytes is out of range",
                       sample->size_bytes);
    if (sample->wrong > GL_STORE__WRONG_MAX) /* the schema has no upper limit, every reader has */
        return gl_fail(err, GL_ERROR_INTERNAL, "%g wrong elements are out of range", sample->wrong);
    store->steps_left = 1000;
    errno = 0;
    sqlite3_bind_int64(statement, 1, curve_id);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)sample->size_bytes);
    sqlite3_bind_int(statement, 3, sample->iterations);
    bind_real(statement, 4, sample->time_median_s);
    bind_real(statement, 5, sample->time_p05_s);
    bind_real(statement, 6, sample->time_p95_s);
    bind_real(statement, 7, sample->time_min_s);
    bind_real(statement, 8, sample->wrong);
    int rc = sqlite3_step(statement);
    bool ok = rc == SQLITE_DONE || gl_store__fail(store, rc, "writing a sample", err);
    sqlite3_reset(statement);
    return ok;
}

bool gl_store_add_compute(gl_store *store, const gl_compute_rate *rate, gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(store,
                           "INSERT INTO compute (run_id, kind, dtype, m, n, k, time_s, time_p95_s) "
                           "VALUES (?,?,?,?,?,?,?,?)",
                           &statement, err))
        return false;
    sqlite3_bind_int64(statement, 1, rate->run_id);
    bind_text(statement, 2, rate->kind);
    bind_text(statement, 3, gl_dtype_name(rate->dtype));
    sqlite3_bind_int64(statement, 4, rate->m);
    sqlite3_bind_int64(statement, 5, rate->n);
    sqlite3_bind_int64(statement, 6, rate->k);
    bind_real(statement, 7, rate->time_s);
    bind_real(statement, 8, rate->time_p95_s);
    return insert(store, statement, "writing a compute rate", NULL, err);
}

bool gl_store_add_overlap(gl_store *store, const gl_overlap_rate *rate, gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(
            store,
            "INSERT INTO overlap (run_id, transport, collective, size_bytes, gemm_m, "
            "gemm_n, gemm_k, compute_alone_s, communication_alone_s, together_s) "
            "VALUES (?,?,?,?,?,?,?,?,?,?)",
            &statement, err))
        return false;
    sqlite3_bind_int64(statement, 1, rate->run_id);
    bind_text(statement, 2, gl_transport_name(rate->transport));
    bind_text(statement, 3, gl_collective_name(rate->collective));
    sqlite3_bind_int64(statement, 4, (sqlite3_int64)rate->size_bytes);
    sqlite3_bind_int64(statement, 5, rate->m);
    sqlite3_bind_int64(statement, 6, rate->n);
    sqlite3_bind_int64(statement, 7, rate->k);
    bind_real(statement, 8, rate->compute_alone_s);
    bind_real(statement, 9, rate->communication_alone_s);
    bind_real(statement, 10, rate->together_s);
    return insert(store, statement, "writing an overlap rate", NULL, err);
}

bool gl_store_add_topology(gl_store *store, int64_t run_id, const char *kind, const char *text,
                           gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (strlen(text) > GL_STORE__TEXT_MAX)
        return gl_fail(err, GL_ERROR_INPUT, "%s: a text of more than %d bytes is not stored", kind,
                       GL_STORE__TEXT_MAX);
    if (!gl_store__prepare(store, "INSERT INTO topology (run_id, kind, text) VALUES (?,?,?)",
                           &statement, err))
        return false;
    sqlite3_bind_int64(statement, 1, run_id);
    bind_text(statement, 2, kind);
    bind_text(statement, 3, text);
    return insert(store, statement, "writing a topology text", NULL, err);
}
