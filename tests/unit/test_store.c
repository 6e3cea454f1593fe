/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "common/store/internal.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static gl_arena *arena;
static char folder[] = "/tmp/gpulink-test-store-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    arena = gl_arena_create();
    snprintf(path, sizeof path, "%s/x.db", folder);
    return 0;
}

static int tear_down(void **state)
{
    char journal[80];
    (void)state;
    gl_arena_destroy(arena);
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(journal);
    unlink(path);
    return 0;
}

static const gl_run a_run = {.started_at = "2026-11-30T02:26:33",
                             .recorded_at = "2026-11-30T03:00:00Z",
                             .tool = "nccl-tests",
                             .tool_version = "2.19.6",
                             .backend = "nccl",
                             .host = "",
                             .gpu = "NVIDIA H200",
                             .driver_version = "",
                             .cuda_version = "13.0",
                             .nccl_version = "2.28.9",
                             .environment = "NCCL_ALGO=Ring",
                             .source = "x.txt",
                             .label = "a label, with \"quotes\" and \xc3\xa9",
                             .parameters = "iters 20",
                             .warnings = "one\ntwo",
                             .state = GL_RUN_RUNNING};

static const gl_sample some_samples[] = {{8, 1.3e-5, 1.2e-5, 1.5e-5, 1.1e-5, 20, 0},
                                         {1024, 1.4e-5, NAN, NAN, NAN, 0, NAN},
                                         {4294967296.0, 1.25e-2, NAN, NAN, NAN, 5, 768}};

static gl_curve a_curve(int64_t run_id)
{
    return (gl_curve){.run_id = run_id,
                      .collective = GL_ALL_REDUCE,
                      .dtype = GL_BF16,
                      .redop = "sum",
                      .placement = {16, 2, 8, 1},
                      .transport = GL_TRANSPORT_NET_IB,
                      .nics = 8,
                      .algorithm = "ring",
                      .protocol = "mixed",
                      .in_place = true,
                      .root = -1};
}

/* A file with one of everything. Returns the curve's id. */
static int64_t make_file(void)
{
    gl_store *store;
    gl_error err;
    int64_t run_id, curve_id;
    if (!gl_store_open_writable(path, &store, &err))
        fail_msg("%s", err.message);
    assert_true(gl_store_begin(store, &err));
    assert_true(gl_store_add_run(store, &a_run, &run_id, &err));
    gl_curve curve = a_curve(run_id);
    assert_true(gl_store_add_curve(store, &curve, &curve_id, &err));
    for (size_t i = 3; i-- > 0;)
        assert_true(gl_store_add_sample(store, curve_id, &some_samples[i], &err));
    const gl_compute_rate rate = {run_id, "gemm", GL_BF16, 8192, 8192, 8192, 1.5e-3, NAN};
    assert_true(gl_store_add_compute(store, &rate, &err));
    const gl_overlap_rate overlap = {
        run_id,  GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, 67108864, 8192, 8192, 8192, 18.7e-3, 1.35e-3,
        19.55e-3};
    assert_true(gl_store_add_overlap(store, &overlap, &err));
    assert_true(gl_store_add_topology(store, run_id, "nvidia-smi topo -m", "GPU0\tGPU1\n", &err));
    assert_true(gl_store_set_run_state(store, run_id, GL_RUN_COMPLETE, &err));
    assert_true(gl_store_commit(store, &err));
    gl_store_close(store);
    return curve_id;
}

static void test_round_trip(void **state)
{
    (void)state;
    int64_t curve_id = make_file();
    gl_store *store;
    gl_error err;
    gl_catalog catalog;
    gl_topology *texts;
    size_t count;
    assert_true(gl_store_open(path, &store, &err));
    assert_true(gl_store_read_catalog(store, arena, &catalog, &err));
    assert_int_equal(catalog.run_count, 1);
    assert_int_equal(catalog.runs[0].state, GL_RUN_COMPLETE);
    assert_string_equal(catalog.runs[0].label, a_run.label);
    assert_string_equal(catalog.runs[0].warnings, a_run.warnings);
    assert_string_equal(catalog.runs[0].environment, a_run.environment);
    assert_int_equal(catalog.curve_count, 1);
    gl_curve *curve = &catalog.curves[0];
    gl_curve wanted = a_curve(catalog.runs[0].id);
    assert_int_equal(curve->id, curve_id);
    assert_memory_equal(&curve->placement, &wanted.placement, sizeof wanted.placement);
    assert_int_equal(curve->transport, GL_TRANSPORT_NET_IB);
    assert_int_equal(curve->dtype, GL_BF16);
    assert_true(curve->in_place);
    assert_int_equal(curve->root, -1);
    assert_null(curve->samples);
    assert_int_equal(curve->sample_count, 3);
    assert_true(gl_store_read_samples(store, arena, curve, &err));
    for (size_t i = 0; i < 3; i++) {
        assert_close(curve->samples[i].size_bytes, some_samples[i].size_bytes, 0);
        assert_close(curve->samples[i].time_median_s, some_samples[i].time_median_s, 0);
        assert_int_equal(isnan(curve->samples[i].time_p95_s), isnan(some_samples[i].time_p95_s));
        assert_int_equal(isnan(curve->samples[i].wrong), isnan(some_samples[i].wrong));
        assert_int_equal(curve->samples[i].iterations, some_samples[i].iterations);
    }
    assert_int_equal(catalog.compute_count, 1);
    assert_true(isnan(catalog.compute[0].time_p95_s));
    assert_int_equal(catalog.overlap_count, 1);
    assert_close(catalog.overlap[0].together_s, 19.55e-3, 0);
    assert_true(gl_store_read_topology(store, arena, &texts, &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(texts[0].text, "GPU0\tGPU1\n");
    gl_store_close(store);
}

static void write_file(const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void assert_open_fails(gl_status status, const char *words)
{
    gl_store *store;
    gl_error err;
    for (int writable = 0; writable < 2; writable++) {
        if (writable ? gl_store_open_writable(path, &store, &err)
                     : gl_store_open(path, &store, &err))
            fail_msg("opened, wanted: %s", words);
        assert_int_equal(err.status, status);
        assert_string_equal(err.file, path);
        if (strstr(err.message, words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.message, words);
    }
}

static void execute(const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static void test_files_that_are_none(void **state)
{
    (void)state;
    gl_store *store;
    gl_error err;
    assert_false(gl_store_open(path, &store, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "No such file"));
    write_file("", 0);
    assert_false(gl_store_open(path, &store, &err));
    assert_non_null(strstr(err.message, "empty"));
    write_file("hello", 5);
    assert_open_fails(GL_ERROR_INPUT, "not a calibration database");
    char junk[8192];
    memset(junk, 'x', sizeof junk);
    write_file(junk, sizeof junk);
    assert_open_fails(GL_ERROR_INPUT, "not a calibration database");
    unlink(path);
    mkdir(path, 0700);
    assert_open_fails(GL_ERROR_INPUT, "directory");
    rmdir(path);
    execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    assert_open_fails(GL_ERROR_INPUT, "database of another program");
    snprintf(path, sizeof path, "/dev/full");
    assert_open_fails(GL_ERROR_INPUT, "device or pipe");
    snprintf(path, sizeof path, "%s/x.db", folder);
}

static void test_newer_and_impossible_versions(void **state)
{
    (void)state;
    make_file();
    execute("PRAGMA user_version = 2");
    assert_open_fails(GL_ERROR_INPUT, "newer gpulink");
    execute("PRAGMA user_version = 0");
    assert_open_fails(GL_ERROR_INPUT, "never existed");
    execute("PRAGMA user_version = -3");
    assert_open_fails(GL_ERROR_INPUT, "never existed");
}

static size_t file_size(void)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (size_t)info.st_size;
}

static void test_truncated_file(void **state)
{
    (void)state;
    make_file();
    assert_int_equal(truncate(path, (off_t)(file_size() - 4096)), 0);
    assert_open_fails(GL_ERROR_INPUT, "truncated");
    assert_int_equal(truncate(path, 50), 0);
    assert_open_fails(GL_ERROR_INPUT, "not a calibration database");
}

static void test_empty_file_becomes_a_database(void **state)
{
    (void)state;
    (void)state;
    gl_store *store;
    gl_error err;
    write_file("", 0);
    make_file();
    assert_true(gl_store_open(path, &store, &err));
    gl_store_close(store);
}

/* Every table, row and column that is wrong is named. */
static void test_bad_values_are_named(void **state)
{
    static const struct {
        const char *sql, *place, *reason;
    } changes[] = {
        {"UPDATE run SET state = 'x'", "table run, row 1, column state", "no state"},
        {"UPDATE run SET label = printf('%2000c', 'x')", "table run, row 1, column label",
         "longer than"},
        {"UPDATE run SET label = CAST(x'610062' AS TEXT)", "table run, row 1, column label",
         "zero byte"},
        {"UPDATE curve SET run_id = 99", "table curve, row 1, column run_id", "no run 99"},
        {"UPDATE curve SET collective = 'allreduce'", "column collective", "no collective"},
        {"UPDATE curve SET dtype = 'x'", "column dtype", "no data type"},
        {"UPDATE curve SET transport = 'x'", "column transport", "no transport"},
        {"UPDATE curve SET ranks = 0", "column ranks", "not between"},
        {"UPDATE curve SET nodes = 17", "column nodes", "not between"},
        {"UPDATE curve SET ranks_per_node = 7", "column ranks_per_node", "do not fit"},
        {"UPDATE curve SET in_place = 2", "column in_place", "not between"},
        {"UPDATE curve SET root = -2", "column root", "not between"},
        {"UPDATE sample SET curve_id = 7 WHERE size_bytes = 8", "column curve_id", "no curve 7"},
        {"UPDATE sample SET time_median_s = 0.0 WHERE size_bytes = 8",
         "table sample, row curve 1, size 8, column time_median_s", "not between"},
        {"UPDATE sample SET time_median_s = 9e999 WHERE size_bytes = 8", "column time_median_s",
         "not between"},
        {"UPDATE sample SET time_p95_s = -1.0 WHERE size_bytes = 8", "column time_p95_s",
         "not between"},
        {"UPDATE sample SET size_bytes = -8 WHERE size_bytes = 8", "column size_bytes",
         "not between"},
        {"UPDATE sample SET wrong = -1.0 WHERE size_bytes = 8", "column wrong", "not between"},
        {"UPDATE compute SET kind = 'x'", "table compute, row 1, column kind", "no kind"},
        {"UPDATE compute SET m = -1", "column m", "not between"},
        {"UPDATE overlap SET together_s = 0.0", "table overlap, row 1, column together_s",
         "not between"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        gl_store *store;
        gl_error err;
        gl_catalog catalog;
        make_file();
        execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
        char sql[400];
        snprintf(sql, sizeof sql, "PRAGMA ignore_check_constraints = ON; %s", changes[i].sql);
        execute(sql);
        assert_true(gl_store_open(path, &store, &err));
        bool ok = gl_store_read_catalog(store, arena, &catalog, &err);
        for (size_t c = 0; ok && c < catalog.curve_count; c++)
            ok = gl_store_read_samples(store, arena, &catalog.curves[c], &err);
        gl_store_close(store);
        if (ok)
            fail_msg("accepted: %s", changes[i].sql);
        assert_int_equal(err.status, GL_ERROR_INPUT);
        if (strstr(err.path, changes[i].place) == NULL ||
            strstr(err.message, changes[i].reason) == NULL)
            fail_msg("%s: \"%s: %s\"", changes[i].sql, err.path, err.message);
        unlink(path);
    }
}

/* Tables that are none: views, other columns, generated columns, triggers. */
static void test_hostile_schemas(void **state)
{
    static const char *const schemas[] = {
        "DROP TABLE overlap",
        "ALTER TABLE run DROP COLUMN label",
        "ALTER TABLE sample RENAME TO s; CREATE VIEW sample AS SELECT * FROM s",
        ("ALTER TABLE curve RENAME TO c; CREATE VIEW curve AS WITH RECURSIVE t(id) AS (SELECT 1 "
         "UNION ALL SELECT id + 1 FROM t) SELECT id, 1 AS run_id FROM t"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        gl_store *store;
        gl_error err = {0};
        gl_catalog catalog;
        make_file();
        execute("DROP VIEW sample_bw; DROP VIEW curve_summary");
        execute(schemas[i]);
        assert_true(gl_store_open(path, &store, &err));
        bool ok = gl_store_read_catalog(store, arena, &catalog, &err);
        gl_store_close(store);
        if (ok)
            fail_msg("read: %s", schemas[i]);
        assert_int_equal(err.status, GL_ERROR_INPUT);
        assert_false(gl_store_open_writable(path, &store, &err));
        assert_non_null(strstr(err.message, "was changed or is missing"));
        unlink(path);
    }
}

/* The writer does not run a stranger's trigger. */
static void test_triggers_are_not_run(void **state)
{
    (void)state;
    make_file();
    execute("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END");
    gl_store *store;
    gl_error err;
    gl_catalog catalog;
    int64_t id;
    assert_true(gl_store_open_writable(path, &store, &err));
    assert_true(gl_store_begin(store, &err));
    assert_true(gl_store_add_run(store, &a_run, &id, &err));
    assert_true(gl_store_commit(store, &err));
    assert_true(gl_store_read_catalog(store, arena, &catalog, &err));
    assert_int_equal(catalog.run_count, 2);
    gl_store_close(store);
}

static void test_views(void **state)
{
    (void)state;
    make_file();
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT algbw_bytes_per_s, busbw_bytes_per_s FROM "
                                        "sample_bw WHERE size_bytes = 1024",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_close(sqlite3_column_double(statement, 0), 1024 / 1.4e-5, 1e-12);
    assert_close(sqlite3_column_double(statement, 1), 1024 / 1.4e-5 * 2 * 15 / 16, 1e-12);
    sqlite3_finalize(statement);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT points FROM curve_summary", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 3);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void test_uncommitted_writes_vanish(void **state)
{
    (void)state;
    make_file();
    gl_store *store;
    gl_error err;
    gl_catalog catalog;
    int64_t id;
    assert_true(gl_store_open_writable(path, &store, &err));
    assert_true(gl_store_begin(store, &err));
    assert_true(gl_store_add_run(store, &a_run, &id, &err));
    gl_store_close(store);
    assert_true(gl_store_open(path, &store, &err));
    assert_true(gl_store_read_catalog(store, arena, &catalog, &err));
    assert_int_equal(catalog.run_count, 1);
    gl_store_close(store);
}

/* What the tables forbid is not written, and the reader's limits are the writer's. */
static void test_writer_refuses_bad_values(void **state)
{
    (void)state;
    gl_store *store;
    gl_error err;
    int64_t run_id, id;
    assert_true(gl_store_open_writable(path, &store, &err));
    assert_true(gl_store_add_run(store, &a_run, &run_id, &err));
    gl_curve curve = a_curve(run_id);
    curve.placement.nodes = 17;
    assert_false(gl_store_add_curve(store, &curve, &id, &err));
    curve = a_curve(run_id + 1);
    assert_false(gl_store_add_curve(store, &curve, &id, &err));
    curve = a_curve(run_id);
    assert_true(gl_store_add_curve(store, &curve, &id, &err));
    gl_sample sample = some_samples[0];
    assert_true(gl_store_add_sample(store, id, &sample, &err));
    assert_false(gl_store_add_sample(store, id, &sample, &err)); /* the same size again */
    sample.size_bytes = 16;
    sample.time_median_s = 0;
    assert_false(gl_store_add_sample(store, id, &sample, &err));
    sample.time_median_s = NAN;
    assert_false(gl_store_add_sample(store, id, &sample, &err));
    sample.time_median_s = 1e-5;
    assert_true(gl_store_add_sample(store, id, &sample, &err));
    gl_run run = a_run;
    char longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    run.label = longer;
    assert_false(gl_store_add_run(store, &run, &id, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    gl_store_close(store);
}

static int waits_said;

static void count_wait(const char *waits_for)
{
    assert_string_equal(waits_for, path);
    waits_said++;
}

static void test_busy_database(void **state)
{
    (void)state;
    make_file();
    sqlite3 *other;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    gl_store *store;
    gl_error err;
    waits_said = 0;
    gl_store_on_wait(count_wait);
    assert_false(gl_store_open_writable(path, &store, &err));
    gl_store_on_wait(NULL);
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "another process is writing"));
    assert_int_equal(waits_said, 1);
    sqlite3_close(other);
}

/* A journal that a killed writer left is rolled back by a reader, too. */
static void test_hot_journal_is_rolled_back(void **state)
{
    (void)state;
    make_file();
    char saved[80], journal[80], command[400];
    snprintf(journal, sizeof journal, "%s-journal", path);
    snprintf(saved, sizeof saved, "%s.saved", path);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    /* A tiny cache makes SQLite write changed pages into the file before the commit. */
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
                                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                  "WHERE i < 3000) INSERT INTO topology (run_id, kind, text) "
                                  "SELECT 1, 'x', printf('%500c', 'x') FROM n; DELETE FROM run",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    snprintf(command, sizeof command, "cp %s %s && cp %s %s-journal", path, saved, journal, saved);
    assert_int_equal(system(command), 0);
    sqlite3_close(db);
    snprintf(command, sizeof command, "mv %s %s && mv %s-journal %s", saved, path, saved, journal);
    assert_int_equal(system(command), 0);
    gl_store *store;
    gl_error err;
    gl_catalog catalog;
    if (!gl_store_open(path, &store, &err) || !gl_store_read_catalog(store, arena, &catalog, &err))
        fail_msg("%s", err.message);
    assert_int_equal(catalog.run_count, 1);
    gl_store_close(store);
}

/* What a reader sees does not change between its statements. */
static void test_a_reader_has_one_view(void **state)
{
    (void)state;
    make_file();
    gl_store *store;
    gl_error err;
    gl_catalog first, second;
    sqlite3 *other;
    assert_true(gl_store_open(path, &store, &err));
    assert_true(gl_store_read_catalog(store, arena, &first, &err));
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    sqlite3_exec(other, "DELETE FROM run", NULL, NULL, NULL); /* must wait for the reader */
    assert_true(gl_store_read_catalog(store, arena, &second, &err));
    assert_int_equal(first.run_count, second.run_count);
    gl_store_close(store);
    sqlite3_close(other);
}

/* The journal of another program's database is not ours to roll back. */
static void test_foreign_journal_is_left_alone(void **state)
{
    (void)state;
    char command[700];
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "CREATE TABLE x (a); INSERT INTO x VALUES (1);"
                     "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                     "WHERE i < 3000) INSERT INTO x SELECT printf('%500c', 'x') FROM n",
                     NULL, NULL, NULL),
        SQLITE_OK);
    snprintf(command, sizeof command, "cp %s %s.s && cp %s-journal %s.j", path, path, path, path);
    assert_int_equal(system(command), 0);
    sqlite3_close(db);
    snprintf(command, sizeof command, "cp %s.s %s && cp %s.j %s-journal", path, path, path, path);
    assert_int_equal(system(command), 0);
    gl_store *store;
    gl_error err;
    assert_false(gl_store_open(path, &store, &err));
    assert_non_null(strstr(err.message, "another program"));
    assert_false(gl_store_open_writable(path, &store, &err));
    snprintf(command, sizeof command,
             "cmp %s %s.s && cmp %s-journal %s.j; r=$?; rm -f %s.s %s.j; exit $r", path, path, path,
             path, path, path);
    assert_int_equal(system(command), 0);
}

static void test_migrations(void **state)
{
    static const gl_migration to_one[] = {{1, "CREATE TABLE a (x)"}};
    static const gl_migration to_three[] = {{1, "CREATE TABLE a (x)"},
                                            {2, "ALTER TABLE a ADD COLUMN y"},
                                            {3, "INSERT INTO a VALUES (1, 2)"}};
    static const gl_migration broken[] = {{4, "CREATE TABLE b (x)"}, {5, "no SQL"}};
    (void)state;
    gl_error err;
    gl_store store = {.path = path};
    assert_int_equal(sqlite3_open(path, &store.db), SQLITE_OK);
    assert_true(gl_store__migrate(&store, to_one, 1, &err));
    assert_true(gl_store__migrate(&store, to_one, 1, &err));
    assert_true(gl_store__migrate(&store, to_three, 3, &err));
    assert_true(gl_store__migrate(&store, to_three, 3, &err));
    assert_int_equal(sqlite3_exec(store.db, "UPDATE a SET y = 3", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(store.db), 1);
    /* All or nothing: a step that fails leaves the older version as it was. */
    assert_false(gl_store__migrate(&store, broken, 2, &err));
    assert_int_not_equal(sqlite3_exec(store.db, "SELECT * FROM b", NULL, NULL, NULL), SQLITE_OK);
    assert_true(gl_store__migrate(&store, to_three, 3, &err));
    sqlite3_close(store.db);
}

static void test_many_samples(void **state)
{
    enum { CURVES = 100, SAMPLES = 1000 };
    (void)state;
    gl_store *store;
    gl_error err;
    gl_catalog catalog;
    int64_t run_id, id;
    assert_true(gl_store_open_writable(path, &store, &err));
    assert_true(gl_store_begin(store, &err));
    assert_true(gl_store_add_run(store, &a_run, &run_id, &err));
    for (int c = 0; c < CURVES; c++) {
        gl_curve curve = a_curve(run_id);
        assert_true(gl_store_add_curve(store, &curve, &id, &err));
        for (int i = 1; i <= SAMPLES; i++) {
            const gl_sample sample = {8.0 * i, 1e-6 * i, NAN, NAN, NAN, 20, NAN};
            assert_true(gl_store_add_sample(store, id, &sample, &err));
        }
    }
    assert_true(gl_store_commit(store, &err));
    gl_store_close(store);
    assert_true(gl_store_open(path, &store, &err));
    assert_true(gl_store_read_catalog(store, arena, &catalog, &err));
    assert_int_equal(catalog.curve_count, CURVES);
    assert_true(gl_store_read_samples(store, arena, &catalog.curves[57], &err));
    assert_int_equal(catalog.curves[57].sample_count, SAMPLES);
    assert_close(catalog.curves[57].samples[999].size_bytes, 8000, 0);
    gl_store_close(store);
}

/* SQLite as Debian builds it takes "file:..." for a URI with options. */
static void test_paths_are_no_uris(void **state)
{
    (void)state;
    gl_store *store;
    gl_error err;
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_true(gl_store_open_writable("file:x.db?mode=memory", &store, &err));
    gl_store_close(store);
    assert_int_equal(access("file:x.db?mode=memory", F_OK), 0);
    assert_true(gl_store_open("file:x.db?mode=memory", &store, &err));
    gl_store_close(store);
    unlink("file:x.db?mode=memory");
    assert_int_equal(chdir(before), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_files_that_are_none),
        TEST(test_newer_and_impossible_versions),
        TEST(test_truncated_file),
        TEST(test_empty_file_becomes_a_database),
        TEST(test_bad_values_are_named),
        TEST(test_hostile_schemas),
        TEST(test_triggers_are_not_run),
        TEST(test_views),
        TEST(test_uncommitted_writes_vanish),
        TEST(test_writer_refuses_bad_values),
        TEST(test_busy_database),
        TEST(test_hot_journal_is_rolled_back),
        TEST(test_a_reader_has_one_view),
        TEST(test_foreign_journal_is_left_alone),
        TEST(test_migrations),
        TEST(test_many_samples),
        TEST(test_paths_are_no_uris),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
