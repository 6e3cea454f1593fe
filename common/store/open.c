/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening: what the file is, is found out from its header before SQLite parses anything in it. */
#include "common/store/internal.h"

#include "common/clock.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 100,
    BUSY_MS = 20000, /* several imports into one database take turns */
    SAY_WAIT_MS = 1000,
    COMMIT_MS = 1000, /* for which a file may look wrong while it is written */
    PAUSE_MS = 20,
    STEPS_PER_CALL = 10000,
    CALLS_MAX = 20000 /* × STEPS_PER_CALL: some seconds */
};

static const gl_migration migrations[] = {{1, gl_store__schema}};

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool fail_file(const char *path, gl_error *err, gl_status status, const char *message)
{
    return gl_fail_at(err, status, &(gl_mark){.file = path}, NULL, "%s", message);
}

/* Reads up to HEADER_BYTES and the size. A missing file is an error unless `may_create`. */
static bool read_header(const char *path, bool may_create, unsigned char *header, size_t *got,
                        uint64_t *file_bytes, gl_error *err)
{
    struct stat info;
    const gl_mark mark = {.file = path};
    *got = 0;
    *file_bytes = 0;
    if (path[0] == '\0')
        return gl_fail(err, GL_ERROR_INPUT, "the name of the calibration database is empty");
    if (stat(path, &info) != 0) {
        if (errno == ENOENT && may_create)
            return true;
        return gl_fail_at(err, gl_open_status(errno), &mark, NULL,
                          "cannot open calibration database: %s", strerror(errno));
    }
    if (S_ISDIR(info.st_mode))
        return fail_file(path, err, GL_ERROR_INPUT,
                         "this is a directory, not a calibration database");
    if (!S_ISREG(info.st_mode))
        return fail_file(path, err, GL_ERROR_INPUT,
                         "this is a device or pipe, not a calibration database file");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return gl_fail_at(err, gl_open_status(errno), &mark, NULL,
                          "cannot open calibration database: %s", strerror(errno));
    ssize_t n = read(fd, header, HEADER_BYTES);
    int saved = errno;
    close(fd);
    if (n < 0)
        return gl_fail_at(err, GL_ERROR_SYSTEM, &mark, NULL, "cannot read: %s", strerror(saved));
    *got = (size_t)n;
    *file_bytes = (uint64_t)info.st_size;
    return true;
}

/* File format: https://www.sqlite.org/fileformat2.html section 1.3. */
static bool check_header(const char *path, const unsigned char *header, size_t got,
                         uint64_t file_bytes, gl_error *err)
{
    const gl_mark mark = {.file = path};
    if (got < HEADER_BYTES || !gl_is_sqlite_head(header, got))
        return fail_file(path, err, GL_ERROR_INPUT,
                         got == 0 ? "this file is empty, not a calibration database"
                                  : "this is not a calibration database (no SQLite file)");
    uint32_t application = big_endian(header + 68);
    if (application != GL_STORE_APPLICATION_ID)
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                          "this is a database of another program (application id 0x%08x, a "
                          "calibration database has 0x%08x)",
                          application, (unsigned)GL_STORE_APPLICATION_ID);
    uint32_t page_bytes = (uint32_t)header[16] << 8 | header[17];
    if (page_bytes == 1)
        page_bytes = 65536;
    uint64_t pages = big_endian(header + 28);
    /* The page count is only valid when it was written by the last change. */
    if (memcmp(header + 24, header + 92, 4) == 0 && pages > 0 && file_bytes < pages * page_bytes)
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                          "this calibration database is truncated: %llu of %llu bytes are there",
                          (unsigned long long)file_bytes, (unsigned long long)pages * page_bytes);
    int32_t version = (int32_t)big_endian(header + 60);
    if (version > GL_STORE_VERSION)
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                          "this calibration database has schema version %d, this program reads up "
                          "to %d: it was written by a newer gpulink",
                          (int)version, GL_STORE_VERSION);
    if (version < 1)
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                          "this calibration database has schema version %d, which never existed",
                          (int)version);
    return true;
}

static gl_status status_of(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR: /* a table or column is not there */
    case SQLITE_AUTH:
    case SQLITE_MISMATCH:
        return GL_ERROR_INPUT;
    case SQLITE_MISUSE:
        return GL_ERROR_INTERNAL;
    default:
        return GL_ERROR_SYSTEM;
    }
}

bool gl_store__fail(gl_store *store, int rc, const char *doing, gl_error *err)
{
    const gl_mark mark = {.file = store->path};
    int system = errno;
    const char *reason = store->db != NULL ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                          "another process is writing to this database; try again when it is done");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                          "this calibration database is corrupt (%s: %s)", doing, reason);
    case SQLITE_INTERRUPT:
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                          "%s takes more steps than any real calibration: the database is corrupt "
                          "or too large",
                          doing);
    case SQLITE_IOERR: /* a quota, a limit on file sizes, a network disk: errno says which */
        return gl_fail_at(err, GL_ERROR_SYSTEM, &mark, NULL, "%s: %s", doing,
                          system != 0 ? strerror(system) : reason);
    case SQLITE_FULL:
        return gl_fail_at(err, GL_ERROR_SYSTEM, &mark, NULL, "%s: the disk is full", doing);
    case SQLITE_READONLY:
        return gl_fail_at(err, GL_ERROR_SYSTEM, &mark, NULL,
                          "%s: the file or its folder is read-only", doing);
    case SQLITE_CANTOPEN:
        return gl_fail_at(err, GL_ERROR_SYSTEM, &mark, NULL,
                          "%s: cannot open or create the file, or its journal in the same folder",
                          doing);
    default:
        return gl_fail_at(err, status_of(rc), &mark, NULL, "%s: %s", doing, reason);
    }
}

bool gl_store__prepare(gl_store *store, const char *sql, sqlite3_stmt **statement, gl_error *err)
{
    store->steps_left = CALLS_MAX;
    errno = 0;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, statement, NULL);
    return rc == SQLITE_OK || gl_store__fail(store, rc, "reading the schema", err);
}

bool gl_store__run(gl_store *store, const char *sql, const char *doing, gl_error *err)
{
    store->steps_left = CALLS_MAX;
    errno = 0;
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK || gl_store__fail(store, rc, doing, err);
}

static void (*say_wait)(const char *path);

void gl_store_on_wait(void (*say)(const char *path))
{
    say_wait = say;
}

/* SQLite calls it again and again while another program holds the lock; 0 gives up. */
static int wait_for_other(void *context, int calls)
{
    gl_store *store = context;
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    double now_s = gl_monotonic_s();
    if (calls == 0) {
        store->wait_began_s = now_s;
        store->wait_said = false;
    }
    double waited_ms = (now_s - store->wait_began_s) * 1e3;
    if (waited_ms >= SAY_WAIT_MS && !store->wait_said && say_wait != NULL) {
        store->wait_said = true;
        say_wait(store->path);
    }
    if (waited_ms >= BUSY_MS)
        return 0;
    nanosleep(&pause, NULL);
    return 1;
}

static int count_steps(void *context)
{
    gl_store *store = context;
    return --store->steps_left < 0;
}

/* https://www.sqlite.org/security.html: what to set for files from strangers. */
static bool harden(gl_store *store, gl_error *err)
{
    static const struct {
        int limit, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, GL_STORE__TEXT_MAX + 65536},
        {SQLITE_LIMIT_SQL_LENGTH, 100000},
        {SQLITE_LIMIT_COLUMN, 100},
        {SQLITE_LIMIT_EXPR_DEPTH, 50},
        {SQLITE_LIMIT_COMPOUND_SELECT, 3},
        {SQLITE_LIMIT_VDBE_OP, 25000},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 50},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    };
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(store->db, limits[i].limit, limits[i].value);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sqlite3_db_config(store->db, options[i].option, options[i].value, (int *)NULL);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_handler(store->db, wait_for_other, store);
    sqlite3_progress_handler(store->db, STEPS_PER_CALL, count_steps, store);
    return gl_store__run(store, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;",
                         "setting up the database", err);
}

/* Debian's SQLite reads "file:…" as a URI with options; a path must stay a path. */
static bool open_handle(gl_store *store, int flags, gl_error *err)
{
    size_t size = strlen(store->path) + 3;
    char *path = malloc(size);
    if (path == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "out of memory");
    snprintf(path, size, "%s%s", store->path[0] == '/' ? "" : "./", store->path);
    int rc = sqlite3_open_v2(path, &store->db,
                             flags | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX, NULL);
    free(path);
    if (rc != SQLITE_OK)
        return gl_store__fail(store, rc, "opening the database", err);
    return harden(store, err);
}

static bool has_journal(const char *path)
{
    char journal[4096];
    struct stat info;
    return snprintf(journal, sizeof journal, "%s-journal", path) < (int)sizeof journal &&
           stat(journal, &info) == 0 && info.st_size > 0;
}

/* The journal of another program's database is not ours to roll back. A file that is no database
 * (yet) may be one of ours that was being created. */
static bool may_be_ours(const char *path)
{
    unsigned char header[HEADER_BYTES];
    size_t got;
    uint64_t file_bytes;
    if (!read_header(path, false, header, &got, &file_bytes, NULL))
        return false;
    return got < HEADER_BYTES || !gl_is_sqlite_head(header, got) ||
           big_endian(header + 68) == GL_STORE_APPLICATION_ID;
}

/* A writer that was killed leaves a journal. SQLite rolls it back, but only for a connection that
 * may write; failing to do so is seen again, with a message, when the file is read. */
static void roll_back_journal(const char *path)
{
    gl_store store = {.path = (char *)(uintptr_t)path};
    if (!has_journal(path) || !may_be_ours(path))
        return;
    if (open_handle(&store, SQLITE_OPEN_READWRITE, NULL))
        gl_store__run(&store, "SELECT name FROM sqlite_schema LIMIT 1", "recovering", NULL);
    sqlite3_close(store.db);
}

static gl_store *new_store(const char *path)
{
    gl_store *store = calloc(1, sizeof *store);
    char *copy = strdup(path);
    if (store == NULL || copy == NULL) {
        free(store);
        free(copy);
        return NULL;
    }
    store->path = copy;
    return store;
}

void gl_store_close(gl_store *store)
{
    if (store == NULL)
        return;
    gl_store_rollback(store);
    sqlite3_finalize(store->insert_sample);
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

static bool read_version(gl_store *store, int *version, gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(store, "PRAGMA user_version", &statement, err))
        return false;
    int rc = sqlite3_step(statement);
    *version = rc == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW || gl_store__fail(store, rc, "reading the schema version", err);
}

bool gl_store__migrate(gl_store *store, const gl_migration *steps, size_t count, gl_error *err)
{
    int version = 0;
    char sql[128];
    if (!gl_store_begin(store, err))
        return false;
    /* Read inside the transaction: another process may just have created the file. */
    bool ok = read_version(store, &version, err);
    int from = version;
    for (size_t i = 0; ok && i < count; i++) {
        if (steps[i].version <= version)
            continue;
        ok = gl_store__run(store, steps[i].sql, "creating the tables", err);
        version = steps[i].version;
    }
    if (ok && version == from)
        return gl_store_commit(store, err);
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             GL_STORE_APPLICATION_ID, version);
    ok = ok && gl_store__run(store, sql, "creating the tables", err) && gl_store_commit(store, err);
    if (!ok)
        gl_store_rollback(store);
    return ok;
}

/* Looks at the file before SQLite does; *file_bytes is 0 for one that is to be created. The look
 * takes no lock, so what seems wrong while another process writes (it has a journal then) is looked
 * at again. */
static bool inspect(const char *path, bool may_create, uint64_t *file_bytes, gl_error *err)
{
    unsigned char header[HEADER_BYTES];
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    for (int waited = 0;; waited += PAUSE_MS) {
        size_t got;
        bool busy = has_journal(path);
        if (!read_header(path, may_create, header, &got, file_bytes, err))
            return false;
        /* An empty file is what mktemp leaves: it becomes a database. */
        if ((may_create && *file_bytes == 0) || check_header(path, header, got, *file_bytes, err))
            return true;
        if ((!busy && !has_journal(path)) || !may_be_ours(path) || waited >= COMMIT_MS)
            return false;
        nanosleep(&pause, NULL);
    }
}

bool gl_store_open(const char *path, gl_store **out, gl_error *err)
{
    uint64_t file_bytes;
    roll_back_journal(path);
    if (!inspect(path, false, &file_bytes, err))
        return false;
    gl_store *store = new_store(path);
    if (store == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "out of memory");
    int version = 0;
    if (!open_handle(store, SQLITE_OPEN_READONLY, err) || !read_version(store, &version, err))
        goto fail;
    if (version < GL_STORE_VERSION) {
        fail_file(path, err, GL_ERROR_INPUT,
                  "this calibration database has an older schema: copy it into a new one with "
                  "gpulink-calibrate merge OLD.db --db NEW.db");
        goto fail;
    }
    /* One transaction until it is closed: what is read belongs together, even while others write.
     */
    if (!gl_store__run(store, "BEGIN", "starting to read", err))
        goto fail;
    store->in_transaction = true;
    *out = store;
    return true;
fail:
    gl_store_close(store);
    return false;
}

static bool quick_check(gl_store *store, gl_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (!gl_store__prepare(store, "PRAGMA quick_check(1)", &statement, err))
        return false;
    int rc = sqlite3_step(statement);
    const char *answer = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool ok = answer != NULL && strcmp(answer, "ok") == 0;
    if (!ok && answer != NULL)
        gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = store->path}, NULL,
                   "this calibration database is corrupt (quick_check: %.200s)", answer);
    else if (!ok)
        gl_store__fail(store, rc, "checking the database", err);
    sqlite3_finalize(statement);
    return ok;
}

/* Has the file the object of the row of `wanted`? */
static bool is_there(gl_store *store, sqlite3_stmt *wanted, sqlite3_stmt *found, gl_error *err)
{
    int rc = SQLITE_OK;
    for (int i = 0; i < 3 && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_value(found, i + 1, sqlite3_column_value(wanted, i));
    rc = rc == SQLITE_OK ? sqlite3_step(found) : rc;
    sqlite3_reset(found);
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE)
        return gl_store__fail(store, rc, "reading the schema", err);
    return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = store->path}, NULL,
                      "%s %s of this calibration database was changed or is missing: not written",
                      (const char *)sqlite3_column_text(wanted, 1),
                      (const char *)sqlite3_column_text(wanted, 0));
}

/* Rows written into tables of a foreign shape would be lost to every reader, so each of our objects
 * must be there word for word. Others (a user's own view) are left alone. */
static bool check_schema(gl_store *store, gl_error *err)
{
    sqlite3 *ours = NULL;
    sqlite3_stmt *wanted = NULL, *found = NULL;
    bool ok =
        sqlite3_open_v2(":memory:", &ours, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_exec(ours, gl_store__schema, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(ours, "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL",
                           -1, &wanted, NULL) == SQLITE_OK;
    if (!ok)
        gl_fail(err, sqlite3_errcode(ours) == SQLITE_NOMEM ? GL_ERROR_SYSTEM : GL_ERROR_INTERNAL,
                "the built-in schema does not work: %s", sqlite3_errmsg(ours));
    ok = ok && gl_store__prepare(
                   store, "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND type = ?2 AND sql = ?3",
                   &found, err);
    int rc = SQLITE_DONE;
    while (ok && (rc = sqlite3_step(wanted)) == SQLITE_ROW)
        ok = is_there(store, wanted, found, err);
    if (ok && rc != SQLITE_DONE)
        ok = gl_store__fail(store, rc, "reading the built-in schema", err);
    sqlite3_finalize(wanted);
    sqlite3_finalize(found);
    sqlite3_close(ours);
    return ok;
}

bool gl_store_open_writable(const char *path, gl_store **out, gl_error *err)
{
    uint64_t file_bytes;
    roll_back_journal(path);
    if (!inspect(path, true, &file_bytes, err))
        return false;
    gl_store *store = new_store(path);
    if (store == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "out of memory");
    if (!open_handle(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err) ||
        (file_bytes > 0 && !quick_check(store, err)) ||
        !gl_store__migrate(store, migrations, sizeof migrations / sizeof *migrations, err) ||
        !check_schema(store, err)) {
        gl_store_close(store);
        return false;
    }
    *out = store;
    return true;
}

const char *gl_store_sqlite_version(void)
{
    return sqlite3_libversion();
}
