/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading. Nothing in the file is believed: a STRICT table can be rewritten byte by byte. */
#include "common/store/internal.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A row being read. The first bad value sets the error; later reads give harmless values. */
typedef struct cursor {
    gl_store *store;
    gl_arena *arena;
    sqlite3_stmt *statement;
    const char *table;
    int64_t id, size_bytes; /* which row, for messages: size_bytes only of samples, else −1 */
    gl_error *err;
    bool ok;
} cursor;

static void bad_value(cursor *c, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void bad_value(cursor *c, int column, const char *format, ...)
{
    char reason[256], path[160], size[32] = "";
    va_list args;
    if (!c->ok)
        return;
    c->ok = false;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (c->size_bytes >= 0)
        snprintf(size, sizeof size, ", size %lld", (long long)c->size_bytes);
    snprintf(path, sizeof path, "table %s, row %s%lld%s, column %s", c->table,
             c->size_bytes >= 0 ? "curve " : "", (long long)c->id, size,
             sqlite3_column_name(c->statement, column));
    gl_fail_at(c->err, GL_ERROR_INPUT, &(gl_mark){.file = c->store->path}, path, "%s", reason);
}

static int64_t read_integer(cursor *c, int column, int64_t minimum, int64_t maximum)
{
    if (sqlite3_column_type(c->statement, column) != SQLITE_INTEGER) {
        bad_value(c, column, "this is no integer");
        return minimum;
    }
    int64_t value = sqlite3_column_int64(c->statement, column);
    if (value < minimum || value > maximum) {
        bad_value(c, column, "%lld is not between %lld and %lld", (long long)value,
                  (long long)minimum, (long long)maximum);
        return minimum;
    }
    return value;
}

/* Seconds, and other reals from `minimum` up; NULL is NaN where `optional`. */
static double read_real(cursor *c, int column, double minimum, double maximum, bool optional)
{
    int type = sqlite3_column_type(c->statement, column);
    if (optional && type == SQLITE_NULL)
        return NAN;
    if (type != SQLITE_FLOAT) {
        bad_value(c, column, "this is no real number");
        return NAN;
    }
    double value = sqlite3_column_double(c->statement, column);
    if (!(value >= minimum && value <= maximum))
        bad_value(c, column, "%g is not between %g and %g", value, minimum, maximum);
    return value;
}

/* Times: from a tenth of a nanosecond to a year. */
static double read_time(cursor *c, int column, bool optional)
{
    return read_real(c, column, 1e-10, 3.2e7, optional);
}

static const char *read_text(cursor *c, int column, int length_max)
{
    if (sqlite3_column_type(c->statement, column) != SQLITE_TEXT) {
        bad_value(c, column, "this is no text");
        return "";
    }
    const char *text = (const char *)sqlite3_column_text(c->statement, column);
    int length = sqlite3_column_bytes(c->statement, column);
    if (text == NULL) { /* of a text: memory is exhausted */
        c->ok = c->ok && gl_store__fail(c->store, SQLITE_NOMEM, "reading a text", c->err);
        return "";
    }
    if (length > length_max) {
        bad_value(c, column, "this text of %d bytes is longer than %d", length, length_max);
        return "";
    }
    if (memchr(text, '\0', (size_t)length) != NULL) {
        bad_value(c, column, "this text holds a zero byte");
        return "";
    }
    return gl_arena_strndup(c->arena, text, (size_t)length);
}

static const char *read_name(cursor *c, int column)
{
    return read_text(c, column, GL_STORE__NAME_MAX);
}

static gl_collective read_collective(cursor *c, int column)
{
    gl_collective value = GL_ALL_REDUCE;
    const char *text = read_name(c, column);
    if (c->ok && !gl_collective_parse(text, &value))
        bad_value(c, column, "\"%.40s\" is no collective", text);
    return value;
}

static gl_dtype read_dtype(cursor *c, int column)
{
    gl_dtype value = GL_DTYPE_NONE;
    const char *text = read_name(c, column);
    if (c->ok && strcmp(text, gl_dtype_name(GL_DTYPE_NONE)) != 0 && !gl_dtype_parse(text, &value))
        bad_value(c, column, "\"%.40s\" is no data type", text);
    return value;
}

static gl_transport read_transport(cursor *c, int column)
{
    gl_transport value = GL_TRANSPORT_UNKNOWN;
    const char *text = read_name(c, column);
    if (c->ok && !gl_transport_parse(text, &value))
        bad_value(c, column, "\"%.40s\" is no transport", text);
    return value;
}

static bool begin_reading(cursor *c, gl_store *store, gl_arena *arena, const char *table,
                          const char *sql, gl_error *err)
{
    *c = (cursor){
        .store = store, .arena = arena, .table = table, .size_bytes = -1, .err = err, .ok = true};
    return gl_store__prepare(store, sql, &c->statement, err);
}

/* The next row, or false at the end and after an error (then c->ok is false). `count` rows were
 * read already. */
static bool next_row(cursor *c, size_t count, size_t maximum)
{
    if (!c->ok)
        return false;
    int rc = sqlite3_step(c->statement);
    if (rc == SQLITE_DONE)
        return false;
    if (rc != SQLITE_ROW) {
        char doing[64];
        snprintf(doing, sizeof doing, "reading table %s", c->table);
        c->ok = gl_store__fail(c->store, rc, doing, c->err);
    } else if (count >= maximum) {
        c->ok = gl_fail_at(c->err, GL_ERROR_INPUT, &(gl_mark){.file = c->store->path}, NULL,
                           "table %s has more than %zu rows", c->table, maximum);
    } else {
        c->id = sqlite3_column_int64(c->statement, 0);
    }
    return c->ok;
}

static bool end_reading(cursor *c)
{
    sqlite3_finalize(c->statement);
    return c->ok;
}

/* Ids come in ascending order from a sound table; a damaged one could repeat them. */
static int64_t read_id(cursor *c, int64_t previous)
{
    int64_t id = read_integer(c, 0, INT64_MIN, INT64_MAX);
    if (c->ok && id <= previous)
        bad_value(c, 0, "ids are not in ascending order");
    return id;
}

static gl_run_state read_state(cursor *c, int column)
{
    const char *text = read_name(c, column);
    gl_run_state state = GL_RUN_INTERRUPTED;
    if (!gl_run_state_parse(text, &state))
        bad_value(c, column, "\"%.40s\" is no state of a run", text);
    return state;
}

static bool read_runs(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_error *err)
{
    cursor c;
    size_t capacity = 0;
    int64_t previous = INT64_MIN;
    if (!begin_reading(&c, store, arena, "run",
                       "SELECT id, state, started_at, recorded_at, tool, tool_version, backend, "
                       "host, gpu, driver_version, cuda_version, nccl_version, environment, "
                       "source, label, parameters, warnings FROM run ORDER BY id",
                       err))
        return false;
    while (next_row(&c, catalog->run_count, GL_STORE__RUNS_MAX)) {
        catalog->runs = gl_arena_grow(arena, catalog->runs, &capacity, catalog->run_count + 1,
                                      sizeof *catalog->runs);
        gl_run *run = &catalog->runs[catalog->run_count++];
        run->id = previous = read_id(&c, previous);
        run->state = read_state(&c, 1);
        const char **names[] = {&run->started_at,   &run->recorded_at,    &run->tool,
                                &run->tool_version, &run->backend,        &run->host,
                                &run->gpu,          &run->driver_version, &run->cuda_version,
                                &run->nccl_version};
        for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
            *names[i] = read_name(&c, i + 2);
        run->environment = read_text(&c, 12, GL_STORE__LONG_MAX);
        run->source = read_name(&c, 13);
        run->label = read_name(&c, 14);
        run->parameters = read_name(&c, 15);
        run->warnings = read_text(&c, 16, GL_STORE__LONG_MAX);
    }
    return end_reading(&c);
}

static bool has_run(const gl_catalog *catalog, int64_t id)
{
    size_t low = 0, high = catalog->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (catalog->runs[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < catalog->run_count && catalog->runs[low].id == id;
}

static int64_t read_run_id(cursor *c, int column, const gl_catalog *catalog)
{
    int64_t id = read_integer(c, column, INT64_MIN, INT64_MAX);
    if (c->ok && !has_run(catalog, id))
        bad_value(c, column, "there is no run %lld", (long long)id);
    return id;
}

static gl_placement read_placement(cursor *c, int column)
{
    gl_placement p;
    p.ranks = (int)read_integer(c, column, 1, GL_STORE__RANKS_MAX);
    p.nodes = (int)read_integer(c, column + 1, 1, p.ranks);
    p.ranks_per_node = (int)read_integer(c, column + 2, 1, p.ranks);
    p.concurrent_groups = (int)read_integer(c, column + 3, 1, GL_STORE__RANKS_MAX);
    if (c->ok && (int64_t)p.nodes * p.ranks_per_node < p.ranks)
        bad_value(c, column + 2, "%d ranks do not fit on %d nodes with at most %d each", p.ranks,
                  p.nodes, p.ranks_per_node);
    return p;
}

static bool read_curves(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_error *err)
{
    cursor c;
    size_t capacity = 0;
    int64_t previous = INT64_MIN;
    if (!begin_reading(&c, store, arena, "curve",
                       "SELECT id, run_id, collective, dtype, redop, ranks, nodes, ranks_per_node, "
                       "concurrent_groups, transport, nics, algorithm, protocol, in_place, root "
                       "FROM curve ORDER BY id",
                       err))
        return false;
    while (next_row(&c, catalog->curve_count, GL_STORE__CURVES_MAX)) {
        catalog->curves = gl_arena_grow(arena, catalog->curves, &capacity, catalog->curve_count + 1,
                                        sizeof *catalog->curves);
        gl_curve *curve = &catalog->curves[catalog->curve_count++];
        curve->id = previous = read_id(&c, previous);
        curve->run_id = read_run_id(&c, 1, catalog);
        curve->collective = read_collective(&c, 2);
        curve->dtype = read_dtype(&c, 3);
        curve->redop = read_name(&c, 4);
        curve->placement = read_placement(&c, 5);
        curve->transport = read_transport(&c, 9);
        curve->nics = (int)read_integer(&c, 10, 0, 10000);
        curve->algorithm = read_name(&c, 11);
        curve->protocol = read_name(&c, 12);
        curve->in_place = read_integer(&c, 13, 0, 1) != 0;
        curve->root = (int)read_integer(&c, 14, -1, GL_STORE__RANKS_MAX);
    }
    return end_reading(&c);
}

static gl_curve *find_curve(const gl_catalog *catalog, int64_t id)
{
    size_t low = 0, high = catalog->curve_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (catalog->curves[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < catalog->curve_count && catalog->curves[low].id == id;
    return found ? &catalog->curves[low] : NULL;
}

/* One grouped statement: a plan needs the counts of all curves and the rows of few. */
static bool count_samples(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_error *err)
{
    cursor c;
    if (!begin_reading(&c, store, arena, "sample",
                       "SELECT curve_id, COUNT(*) FROM sample GROUP BY curve_id", err))
        return false;
    for (size_t count = 0; next_row(&c, count, GL_STORE__CURVES_MAX); count++) {
        gl_curve *curve = find_curve(catalog, read_integer(&c, 0, INT64_MIN, INT64_MAX));
        if (curve == NULL)
            bad_value(&c, 0, "there is no curve %lld", (long long)c.id);
        else
            curve->sample_count = (size_t)read_integer(&c, 1, 0, GL_STORE__SAMPLES_MAX);
    }
    return end_reading(&c);
}

static bool read_compute(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_error *err)
{
    cursor c;
    size_t capacity = 0;
    if (!begin_reading(&c, store, arena, "compute",
                       "SELECT id, run_id, kind, dtype, m, n, k, time_s, time_p95_s FROM compute "
                       "ORDER BY id",
                       err))
        return false;
    while (next_row(&c, catalog->compute_count, GL_STORE__RATES_MAX)) {
        catalog->compute = gl_arena_grow(arena, catalog->compute, &capacity,
                                         catalog->compute_count + 1, sizeof *catalog->compute);
        gl_compute_rate *rate = &catalog->compute[catalog->compute_count++];
        rate->run_id = read_run_id(&c, 1, catalog);
        rate->kind = read_name(&c, 2);
        if (strcmp(rate->kind, "gemm") != 0 && strcmp(rate->kind, "memory") != 0 &&
            strcmp(rate->kind, "launch") != 0)
            bad_value(&c, 2, "\"%.40s\" is no kind of compute rate", rate->kind);
        rate->dtype = read_dtype(&c, 3);
        rate->m = read_integer(&c, 4, 0, INT64_MAX);
        rate->n = read_integer(&c, 5, 0, INT64_MAX);
        rate->k = read_integer(&c, 6, 0, INT64_MAX);
        rate->time_s = read_time(&c, 7, false);
        rate->time_p95_s = read_time(&c, 8, true);
    }
    return end_reading(&c);
}

static bool read_overlap(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_error *err)
{
    cursor c;
    size_t capacity = 0;
    if (!begin_reading(&c, store, arena, "overlap",
                       "SELECT id, run_id, transport, collective, size_bytes, gemm_m, gemm_n, "
                       "gemm_k, compute_alone_s, communication_alone_s, together_s FROM overlap "
                       "ORDER BY id",
                       err))
        return false;
    while (next_row(&c, catalog->overlap_count, GL_STORE__RATES_MAX)) {
        catalog->overlap = gl_arena_grow(arena, catalog->overlap, &capacity,
                                         catalog->overlap_count + 1, sizeof *catalog->overlap);
        gl_overlap_rate *rate = &catalog->overlap[catalog->overlap_count++];
        rate->run_id = read_run_id(&c, 1, catalog);
        rate->transport = read_transport(&c, 2);
        rate->collective = read_collective(&c, 3);
        rate->size_bytes = (double)read_integer(&c, 4, 1, INT64_C(1) << 53);
        rate->m = read_integer(&c, 5, 0, INT64_MAX);
        rate->n = read_integer(&c, 6, 0, INT64_MAX);
        rate->k = read_integer(&c, 7, 0, INT64_MAX);
        rate->compute_alone_s = read_time(&c, 8, false);
        rate->communication_alone_s = read_time(&c, 9, false);
        rate->together_s = read_time(&c, 10, false);
    }
    return end_reading(&c);
}

bool gl_store_read_catalog(gl_store *store, gl_arena *arena, gl_catalog *catalog, gl_error *err)
{
    gl_catalog read = {0};
    if (!read_runs(store, arena, &read, err) || !read_curves(store, arena, &read, err) ||
        !count_samples(store, arena, &read, err) || !read_compute(store, arena, &read, err) ||
        !read_overlap(store, arena, &read, err))
        return false;
    *catalog = read;
    return true;
}

static void read_sample(cursor *c, gl_sample *sample)
{
    sample->size_bytes = (double)read_integer(c, 1, 1, INT64_C(1) << 53);
    sample->iterations = (int)read_integer(c, 2, 0, INT_MAX);
    sample->time_median_s = read_time(c, 3, false);
    sample->time_p05_s = read_time(c, 4, true);
    sample->time_p95_s = read_time(c, 5, true);
    sample->time_min_s = read_time(c, 6, true);
    sample->wrong = read_real(c, 7, 0, GL_STORE__WRONG_MAX, true);
}

bool gl_store_read_samples(gl_store *store, gl_arena *arena, gl_curve *curve, gl_error *err)
{
    cursor c;
    gl_sample *samples = NULL;
    size_t count = 0, capacity = 0;
    if (!begin_reading(&c, store, arena, "sample",
                       "SELECT curve_id, size_bytes, iterations, time_median_s, time_p05_s, "
                       "time_p95_s, time_min_s, wrong FROM sample WHERE curve_id = ?1 "
                       "ORDER BY size_bytes",
                       err))
        return false;
    sqlite3_bind_int64(c.statement, 1, curve->id);
    while (next_row(&c, count, GL_STORE__SAMPLES_MAX)) {
        /* The catalog knows the count; a grown array would be copied for nothing. */
        size_t needed = count == 0 && curve->sample_count > 1 ? curve->sample_count : count + 1;
        samples = gl_arena_grow(arena, samples, &capacity, needed, sizeof *samples);
        c.size_bytes = sqlite3_column_int64(c.statement, 1);
        read_sample(&c, &samples[count]);
        if (c.ok && count > 0 && samples[count].size_bytes <= samples[count - 1].size_bytes)
            bad_value(&c, 1, "sizes are not in ascending order");
        count++;
    }
    if (!end_reading(&c))
        return false;
    curve->samples = samples;
    curve->sample_count = count;
    return true;
}

bool gl_store_read_topology(gl_store *store, gl_arena *arena, gl_topology **texts, size_t *count,
                            gl_error *err)
{
    cursor c;
    gl_topology *items = NULL;
    size_t n = 0, capacity = 0;
    if (!begin_reading(&c, store, arena, "topology",
                       "SELECT id, run_id, kind, text FROM topology ORDER BY run_id, id", err))
        return false;
    while (next_row(&c, n, 10000)) {
        items = gl_arena_grow(arena, items, &capacity, n + 1, sizeof *items);
        items[n].run_id = read_integer(&c, 1, INT64_MIN, INT64_MAX);
        items[n].kind = read_name(&c, 2);
        items[n].text = read_text(&c, 3, GL_STORE__TEXT_MAX);
        n++;
    }
    if (!end_reading(&c))
        return false;
    *texts = items;
    *count = n;
    return true;
}
