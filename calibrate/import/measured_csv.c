/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/measured_csv.h"

#include "calibrate/import/parsed.h"
#include "common/csv.h"
#include "common/text.h"
#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 32 << 20, HEADER_BYTES = 400 };

enum { RATE_KIND, RATE_DTYPE, RATE_M, RATE_N, RATE_K, RATE_TIME, RATE_P95, RATE_COLUMNS };
static const char *const compute_columns[RATE_COLUMNS] = {
    [RATE_KIND] = "kind", [RATE_DTYPE] = "dtype", [RATE_M] = "m",           [RATE_N] = "n",
    [RATE_K] = "k",       [RATE_TIME] = "time_s", [RATE_P95] = "time_p95_s"};

enum {
    OVERLAP_TRANSPORT,
    OVERLAP_COLLECTIVE,
    OVERLAP_SIZE,
    OVERLAP_M,
    OVERLAP_N,
    OVERLAP_K,
    OVERLAP_COMPUTE_ALONE,
    OVERLAP_COMMUNICATION_ALONE,
    OVERLAP_TOGETHER,
    OVERLAP_COLUMNS
};
static const char *const overlap_columns[OVERLAP_COLUMNS] = {
    [OVERLAP_TRANSPORT] = "transport",
    [OVERLAP_COLLECTIVE] = "collective",
    [OVERLAP_SIZE] = "size_bytes",
    [OVERLAP_M] = "gemm_m",
    [OVERLAP_N] = "gemm_n",
    [OVERLAP_K] = "gemm_k",
    [OVERLAP_COMPUTE_ALONE] = "compute_alone_s",
    [OVERLAP_COMMUNICATION_ALONE] = "communication_alone_s",
    [OVERLAP_TOGETHER] = "together_s"};

/* A sample a row; the rows of a curve stand together. The first say which run it was. */
enum {
    CURVE_STARTED_AT,
    CURVE_GPU,
    CURVE_DRIVER_VERSION,
    CURVE_CUDA_VERSION,
    CURVE_NCCL_VERSION,
    CURVE_BACKEND,
    RUN_COLUMNS,
    CURVE_COLLECTIVE = RUN_COLUMNS,
    CURVE_DTYPE,
    CURVE_REDOP,
    CURVE_RANKS,
    CURVE_NODES,
    CURVE_RANKS_PER_NODE,
    CURVE_CONCURRENT_GROUPS,
    CURVE_TRANSPORT,
    CURVE_NICS,
    CURVE_ALGORITHM,
    CURVE_PROTOCOL,
    CURVE_IN_PLACE,
    CURVE_ROOT,
    CURVE_SIZE,
    CURVE_ITERATIONS,
    CURVE_MEDIAN,
    CURVE_P05,
    CURVE_P95,
    CURVE_MIN,
    CURVE_WRONG,
    CURVE_COLUMNS
};
static const char *const curve_columns[CURVE_COLUMNS] = {[CURVE_STARTED_AT] = "started_at",
                                                         [CURVE_GPU] = "gpu",
                                                         [CURVE_DRIVER_VERSION] = "driver_version",
                                                         [CURVE_CUDA_VERSION] = "cuda_version",
                                                         [CURVE_NCCL_VERSION] = "nccl_version",
                                                         [CURVE_BACKEND] = "backend",
                                                         [CURVE_COLLECTIVE] = "collective",
                                                         [CURVE_DTYPE] = "dtype",
                                                         [CURVE_REDOP] = "redop",
                                                         [CURVE_RANKS] = "ranks",
                                                         [CURVE_NODES] = "nodes",
                                                         [CURVE_RANKS_PER_NODE] = "ranks_per_node",
                                                         [CURVE_CONCURRENT_GROUPS] =
                                                             "concurrent_groups",
                                                         [CURVE_TRANSPORT] = "transport",
                                                         [CURVE_NICS] = "nics",
                                                         [CURVE_ALGORITHM] = "algorithm",
                                                         [CURVE_PROTOCOL] = "protocol",
                                                         [CURVE_IN_PLACE] = "in_place",
                                                         [CURVE_ROOT] = "root",
                                                         [CURVE_SIZE] = "size_bytes",
                                                         [CURVE_ITERATIONS] = "iterations",
                                                         [CURVE_MEDIAN] = "time_median_s",
                                                         [CURVE_P05] = "time_p05_s",
                                                         [CURVE_P95] = "time_p95_s",
                                                         [CURVE_MIN] = "time_min_s",
                                                         [CURVE_WRONG] = "wrong"};

typedef struct form {
    const char *const *columns;
    size_t count;
} form;

static const form forms[] = {
    {compute_columns, RATE_COLUMNS},
    {overlap_columns, OVERLAP_COLUMNS},
    {curve_columns, CURVE_COLUMNS},
};
enum { COMPUTE, OVERLAP, CURVES, FORM_COUNT };

/* One row being read: the first bad field sets the error. */
typedef struct csv_row {
    const gl_csv_file *csv;
    size_t number;
    gl_error *err;
    bool ok;
} csv_row;

static bool is_header(const char *text, size_t length, const form *f)
{
    char wanted[HEADER_BYTES] = "";
    for (size_t i = 0; i < f->count; i++)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s", i > 0 ? "," : "",
                 f->columns[i]);
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* The form of a header line, FORM_COUNT for none. A byte order mark is what spreadsheets put. */
static int find_form(const char *text, size_t length)
{
    size_t skipped = gl_mark_length(text, length);
    text += skipped;
    length -= skipped;
    while (length > 0 && (text[length - 1] == '\r' || text[length - 1] == ' '))
        length--;
    for (int i = 0; i < FORM_COUNT; i++)
        if (is_header(text, length, &forms[i]))
            return i;
    return FORM_COUNT;
}

bool gl_measured_csv_recognise(const char *text, size_t length)
{
    const char *newline = memchr(text, '\n', length);
    return find_form(text, newline != NULL ? (size_t)(newline - text) : length) != FORM_COUNT;
}

static const char *field(const csv_row *row, size_t column)
{
    return gl_csv_cell_at(row->csv, row->number, column)->text;
}

static void refuse(csv_row *row, size_t column, const char *what)
{
    char printable[80];
    const gl_mark mark = gl_csv_mark(row->csv, gl_csv_cell_at(row->csv, row->number, column));
    if (row->ok)
        row->ok = gl_fail_at(row->err, GL_ERROR_INPUT, &mark, row->csv->cells[column].text,
                             "\"%s\" is %s",
                             gl_printable(field(row, column), printable, sizeof printable), what);
}

static int64_t integer_of(csv_row *row, size_t column, int64_t minimum)
{
    long long value = 0;
    if (!gl_parse_integer(field(row, column), &value, NULL) || value < minimum ||
        value > (INT64_C(1) << 53))
        refuse(row, column, minimum > 0 ? "no whole number above zero" : "no whole number");
    return value;
}

static double time_of(csv_row *row, size_t column, bool optional)
{
    double value = NAN;
    if (optional && field(row, column)[0] == '\0')
        return NAN;
    if (!gl_parse_quantity(field(row, column), GL_NUMBER, &value, NULL) ||
        !(value >= 1e-10 && value <= 3.2e7))
        refuse(row, column, "no time in seconds (between 1e-10 and 3.2e7, without unit)");
    return value;
}

static gl_compute_rate compute_rate(csv_row *row, gl_arena *arena)
{
    gl_compute_rate rate = {.kind = gl_arena_strdup(arena, field(row, RATE_KIND))};
    bool gemm = strcmp(rate.kind, "gemm") == 0, memory = strcmp(rate.kind, "memory") == 0;
    if (!gemm && !memory && strcmp(rate.kind, "launch") != 0)
        refuse(row, RATE_KIND, "no kind of rate: gemm, memory or launch");
    if (!gl_dtype_parse(field(row, RATE_DTYPE), &rate.dtype))
        refuse(row, RATE_DTYPE, "no data type, such as bf16 (none for memory and launch)");
    if (row->ok && gemm && rate.dtype == GL_DTYPE_NONE)
        refuse(row, RATE_DTYPE, "not enough: a gemm needs its data type");
    rate.m = integer_of(row, RATE_M, gemm || memory);
    rate.n = integer_of(row, RATE_N, gemm);
    rate.k = integer_of(row, RATE_K, gemm);
    rate.time_s = time_of(row, RATE_TIME, false);
    rate.time_p95_s = time_of(row, RATE_P95, true);
    return rate;
}

static gl_overlap_rate overlap_rate(csv_row *row)
{
    gl_overlap_rate rate = {0};
    if (!gl_transport_parse(field(row, OVERLAP_TRANSPORT), &rate.transport))
        refuse(row, OVERLAP_TRANSPORT,
               "no transport: nvlink, pcie-p2p, shm, net-ib, net-roce, net-socket, host "
               "or unknown");
    if (!gl_collective_parse(field(row, OVERLAP_COLLECTIVE), &rate.collective))
        refuse(row, OVERLAP_COLLECTIVE, "no collective, such as all_reduce");
    rate.size_bytes = (double)integer_of(row, OVERLAP_SIZE, 1);
    rate.m = integer_of(row, OVERLAP_M, 1);
    rate.n = integer_of(row, OVERLAP_N, 1);
    rate.k = integer_of(row, OVERLAP_K, 1);
    rate.compute_alone_s = time_of(row, OVERLAP_COMPUTE_ALONE, false);
    rate.communication_alone_s = time_of(row, OVERLAP_COMMUNICATION_ALONE, false);
    rate.together_s = time_of(row, OVERLAP_TOGETHER, false);
    double longer = fmax(rate.compute_alone_s, rate.communication_alone_s);
    /* A little below the longer one is noise; far below is a mistake in the columns. */
    if (row->ok && rate.together_s < 0.8 * longer)
        refuse(row, OVERLAP_TOGETHER, "less than either took alone");
    if (row->ok && rate.together_s > 10 * (rate.compute_alone_s + rate.communication_alone_s))
        refuse(row, OVERLAP_TOGETHER, "more than ten times as long as one after the other");
    return rate;
}

/* ---- Curves ------------------------------------------------------------------------------ */

static int count_of(csv_row *row, size_t column, int64_t minimum)
{
    int64_t value = integer_of(row, column, minimum);
    if (row->ok && value > 10000000)
        refuse(row, column, "more than 10000000");
    return row->ok ? (int)value : 1;
}

static double seconds_or_none(csv_row *row, size_t column)
{
    return time_of(row, column, true);
}

static gl_sample sample_of(csv_row *row)
{
    gl_sample sample = {.size_bytes = (double)integer_of(row, CURVE_SIZE, 1),
                        .iterations = count_of(row, CURVE_ITERATIONS, 0),
                        .time_median_s = time_of(row, CURVE_MEDIAN, false),
                        .time_p05_s = seconds_or_none(row, CURVE_P05),
                        .time_p95_s = seconds_or_none(row, CURVE_P95),
                        .time_min_s = seconds_or_none(row, CURVE_MIN),
                        .wrong = NAN};
    if (field(row, CURVE_WRONG)[0] != '\0' &&
        (!gl_parse_quantity(field(row, CURVE_WRONG), GL_NUMBER, &sample.wrong, NULL) ||
         !isfinite(gl_parsed_wrong(sample.wrong))))
        refuse(row, CURVE_WRONG, "no number of wrong elements");
    return sample;
}

static gl_curve curve_of(csv_row *row, gl_arena *arena)
{
    gl_curve curve = {.redop = gl_evaluate_name(arena, field(row, CURVE_REDOP)),
                      .algorithm = gl_evaluate_name(arena, field(row, CURVE_ALGORITHM)),
                      .protocol = gl_evaluate_name(arena, field(row, CURVE_PROTOCOL))};
    if (!gl_collective_parse(field(row, CURVE_COLLECTIVE), &curve.collective))
        refuse(row, CURVE_COLLECTIVE, "no collective, such as all_reduce");
    if (!gl_dtype_parse(field(row, CURVE_DTYPE), &curve.dtype))
        refuse(row, CURVE_DTYPE, "no data type, such as bf16");
    curve.placement = (gl_placement){count_of(row, CURVE_RANKS, 1), count_of(row, CURVE_NODES, 1),
                                     count_of(row, CURVE_RANKS_PER_NODE, 1),
                                     count_of(row, CURVE_CONCURRENT_GROUPS, 1)};
    if (!gl_transport_parse(field(row, CURVE_TRANSPORT), &curve.transport))
        refuse(row, CURVE_TRANSPORT, "no transport, such as nvlink or net-ib");
    curve.nics = count_of(row, CURVE_NICS, 0);
    curve.in_place = strcmp(field(row, CURVE_IN_PLACE), "1") == 0;
    if (!curve.in_place && strcmp(field(row, CURVE_IN_PLACE), "0") != 0)
        refuse(row, CURVE_IN_PLACE, "neither 0 nor 1");
    curve.root = strcmp(field(row, CURVE_ROOT), "-1") == 0 ? -1 : count_of(row, CURVE_ROOT, 0);
    const gl_placement *p = &curve.placement;
    if (row->ok && (p->nodes > p->ranks || p->ranks_per_node > p->ranks ||
                    (int64_t)p->nodes * p->ranks_per_node < p->ranks))
        refuse(row, CURVE_RANKS, "no number of ranks that fits these nodes and ranks per node");
    return curve;
}

static bool same_curve(const gl_curve *a, const gl_curve *b)
{
    return a->collective == b->collective && a->dtype == b->dtype && a->in_place == b->in_place &&
           a->transport == b->transport && a->root == b->root && a->nics == b->nics &&
           memcmp(&a->placement, &b->placement, sizeof a->placement) == 0 &&
           strcmp(a->redop, b->redop) == 0 && strcmp(a->algorithm, b->algorithm) == 0 &&
           strcmp(a->protocol, b->protocol) == 0;
}

/* What a run is: the same in all rows. */
static void read_run(csv_row *row, gl_arena *arena, gl_import_run *run)
{
    const char **facts[RUN_COLUMNS] = {&run->run.started_at,     &run->run.gpu,
                                       &run->run.driver_version, &run->run.cuda_version,
                                       &run->run.nccl_version,   &run->run.backend};
    for (size_t i = 0; i < RUN_COLUMNS; i++) {
        if (*facts[i] == NULL)
            *facts[i] = gl_evaluate_name(arena, field(row, i));
        else if (strcmp(*facts[i], field(row, i)) != 0)
            refuse(row, i, "another run's: a file holds one run");
    }
}

static void read_sample_row(csv_row *row, size_t *capacity, gl_arena *arena, gl_import_run *run)
{
    read_run(row, arena, run);
    gl_curve curve = curve_of(row, arena);
    gl_sample sample = sample_of(row);
    gl_curve *last = run->curve_count > 0 ? &run->curves[run->curve_count - 1] : NULL;
    if (last == NULL || !same_curve(last, &curve)) {
        size_t needed = run->curve_count + 1;
        run->curves = gl_arena_grow(arena, run->curves, capacity, needed, sizeof *run->curves);
        last = &run->curves[run->curve_count++];
        *last = curve;
    }
    size_t count = last->sample_count;
    if (row->ok && count > 0 && sample.size_bytes <= last->samples[count - 1].size_bytes)
        refuse(row, CURVE_SIZE, "not larger than the size before it in this curve");
    /* Arrays double: the room that a power of two of samples has. */
    gl_sample *samples = (gl_sample *)(uintptr_t)last->samples;
    if ((count & (count - 1)) == 0) {
        samples = GL_ARENA_NEW(arena, gl_sample, count == 0 ? 1 : 2 * count);
        if (count > 0)
            memcpy(samples, last->samples, count * sizeof *samples);
    }
    samples[count] = sample;
    last->samples = samples;
    last->sample_count = count + 1;
}

/* ---- Files ------------------------------------------------------------------------------- */

/* Reads one row into the run. */
static bool read_row(csv_row *row, int kind, size_t *capacity, gl_arena *arena, gl_import_run *run)
{
    if (kind == COMPUTE) {
        run->compute = gl_arena_grow(arena, run->compute, capacity, run->compute_count + 1,
                                     sizeof *run->compute);
        run->compute[run->compute_count++] = compute_rate(row, arena);
    } else if (kind == CURVES) {
        read_sample_row(row, capacity, arena, run);
    } else {
        run->overlap = gl_arena_grow(arena, run->overlap, capacity, run->overlap_count + 1,
                                     sizeof *run->overlap);
        run->overlap[run->overlap_count++] = overlap_rate(row);
    }
    return row->ok;
}

/* All lines, without blanks and carriage returns at their ends; NULL when they are too many. The
 * kind is that of the first one. */
static const char *read_text(gl_line_reader *reader, gl_arena *arena, size_t *length, int *kind)
{
    char *text = NULL, *line;
    size_t capacity = 0, more;
    *length = 0;
    while ((line = gl_line_reader_next(reader, &more)) != NULL) {
        if (reader->number == 1)
            *kind = find_form(line, more);
        while (more > 0 && (line[more - 1] == '\r' || line[more - 1] == ' '))
            more--;
        if (*length + more > TEXT_MAX)
            return NULL;
        text = gl_arena_grow(arena, text, &capacity, *length + more + 1, 1);
        memcpy(text + *length, line, more);
        *length += more;
        text[(*length)++] = '\n';
    }
    return text;
}

bool gl_measured_csv_parse(gl_line_reader *reader, const char *path, gl_arena *arena,
                           gl_import_run *run, gl_error *err)
{
    size_t length, capacity = 0;
    int kind = FORM_COUNT;
    gl_csv_file csv;
    const gl_mark mark = {.file = path, .line = 1, .column = 1};
    const char *text = read_text(reader, arena, &length, &kind);
    if (kind == FORM_COUNT)
        return gl_fail(err, GL_ERROR_INTERNAL, "not a CSV file of measurements");
    if (text == NULL)
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "is larger than %d MiB",
                          TEXT_MAX >> 20);
    if (reader->failed || !gl_csv_parse(path, text, length, GL_CSV_PLAIN, arena, &csv, err))
        return false;
    for (csv_row row = {.csv = &csv, .err = err, .ok = true}; row.number < csv.rows; row.number++)
        if (!read_row(&row, kind, &capacity, arena, run))
            return false;
    return csv.rows > 0 ||
           gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "the file has a header and no rows");
}
