/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/measured_csv.h"

#include "common/text.h"
#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 26, ROWS_MAX = 100000, HEADER_BYTES = 400 };

static const char *const compute_columns[] = {"kind", "dtype",  "m",         "n",
                                              "k",    "time_s", "time_p95_s"};
static const char *const overlap_columns[] = {
    "transport", "collective", "size_bytes",      "gemm_m",
    "gemm_n",    "gemm_k",     "compute_alone_s", "communication_alone_s",
    "together_s"};

/* A sample a row; the rows of a curve stand together. The first six say which run it was. */
static const char *const curve_columns[] = {"started_at",
                                            "gpu",
                                            "driver_version",
                                            "cuda_version",
                                            "nccl_version",
                                            "backend",
                                            "collective",
                                            "dtype",
                                            "redop",
                                            "ranks",
                                            "nodes",
                                            "ranks_per_node",
                                            "concurrent_groups",
                                            "transport",
                                            "nics",
                                            "algorithm",
                                            "protocol",
                                            "in_place",
                                            "root",
                                            "size_bytes",
                                            "iterations",
                                            "time_median_s",
                                            "time_p05_s",
                                            "time_p95_s",
                                            "time_min_s",
                                            "wrong"};
enum { RUN_COLUMNS = 6, SIZE_COLUMN = 19 };

typedef struct form {
    const char *const *columns;
    size_t count;
} form;

static const form forms[] = {
    {compute_columns, sizeof compute_columns / sizeof *compute_columns},
    {overlap_columns, sizeof overlap_columns / sizeof *overlap_columns},
    {curve_columns, sizeof curve_columns / sizeof *curve_columns},
};
enum { COMPUTE, OVERLAP, CURVES, FORM_COUNT };

/* One row being read: the first bad field sets the error. */
typedef struct csv_row {
    const char *fields[COLUMNS_MAX];
    const char *const *columns;
    gl_mark mark;
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

/* Splits at commas, in place; fields that the line lacks are empty. Numbers and names need no
 * quotes; a field may have them all the same. */
static size_t split(char *line, const char **fields)
{
    size_t count = 0;
    for (char *next = line; next != NULL; count++) {
        char *field = next;
        next = strchr(field, ',');
        if (next != NULL)
            *next++ = '\0';
        size_t length = strlen(field);
        if (length >= 2 && field[0] == '"' && field[length - 1] == '"') {
            field[length - 1] = '\0';
            field++;
        }
        if (count < COLUMNS_MAX)
            fields[count] = field;
    }
    for (size_t i = count; i < COLUMNS_MAX; i++)
        fields[i] = "";
    return count;
}

static void refuse(csv_row *row, size_t column, const char *what)
{
    char printable[80];
    if (row->ok)
        row->ok =
            gl_fail_at(row->err, GL_ERROR_INPUT, &row->mark, row->columns[column], "\"%s\" is %s",
                       gl_printable(row->fields[column], printable, sizeof printable), what);
}

static int64_t integer_of(csv_row *row, size_t column, int64_t minimum)
{
    long long value = 0;
    if (!gl_parse_integer(row->fields[column], &value, NULL) || value < minimum ||
        value > (INT64_C(1) << 53))
        refuse(row, column, minimum > 0 ? "no whole number above zero" : "no whole number");
    return value;
}

static double time_of(csv_row *row, size_t column, bool optional)
{
    double value = NAN;
    if (optional && row->fields[column][0] == '\0')
        return NAN;
    if (!gl_parse_quantity(row->fields[column], GL_NUMBER, &value, NULL) ||
        !(value >= 1e-10 && value <= 3.2e7))
        refuse(row, column, "no time in seconds (between 1e-10 and 3.2e7, without unit)");
    return value;
}

static gl_compute_rate compute_rate(csv_row *row, gl_arena *arena)
{
    gl_compute_rate rate = {.kind = gl_arena_strdup(arena, row->fields[0])};
    bool gemm = strcmp(rate.kind, "gemm") == 0, memory = strcmp(rate.kind, "memory") == 0;
    if (!gemm && !memory && strcmp(rate.kind, "launch") != 0)
        refuse(row, 0, "no kind of rate: gemm, memory or launch");
    if (!gl_dtype_parse(row->fields[1], &rate.dtype))
        refuse(row, 1, "no data type, such as bf16 (none for memory and launch)");
    if (row->ok && gemm && rate.dtype == GL_DTYPE_NONE)
        refuse(row, 1, "not enough: a gemm needs its data type");
    rate.m = integer_of(row, 2, gemm || memory);
    rate.n = integer_of(row, 3, gemm);
    rate.k = integer_of(row, 4, gemm);
    rate.time_s = time_of(row, 5, false);
    rate.time_p95_s = time_of(row, 6, true);
    return rate;
}

static gl_overlap_rate overlap_rate(csv_row *row)
{
    gl_overlap_rate rate = {0};
    if (!gl_transport_parse(row->fields[0], &rate.transport))
        refuse(row, 0,
               "no transport: nvlink, pcie-p2p, shm, net-ib, net-roce, net-socket, host "
               "or unknown");
    if (!gl_collective_parse(row->fields[1], &rate.collective))
        refuse(row, 1, "no collective, such as all_reduce");
    rate.size_bytes = (double)integer_of(row, 2, 1);
    rate.m = integer_of(row, 3, 1);
    rate.n = integer_of(row, 4, 1);
    rate.k = integer_of(row, 5, 1);
    rate.compute_alone_s = time_of(row, 6, false);
    rate.communication_alone_s = time_of(row, 7, false);
    rate.together_s = time_of(row, 8, false);
    double longer = fmax(rate.compute_alone_s, rate.communication_alone_s);
    /* A little below the longer one is noise; far below is a mistake in the columns. */
    if (row->ok && rate.together_s < 0.8 * longer)
        refuse(row, 8, "less than either took alone");
    if (row->ok && rate.together_s > 10 * (rate.compute_alone_s + rate.communication_alone_s))
        refuse(row, 8, "more than ten times as long as one after the other");
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
    gl_sample sample = {.size_bytes = (double)integer_of(row, SIZE_COLUMN, 1),
                        .iterations = count_of(row, 20, 0),
                        .time_median_s = time_of(row, 21, false),
                        .time_p05_s = seconds_or_none(row, 22),
                        .time_p95_s = seconds_or_none(row, 23),
                        .time_min_s = seconds_or_none(row, 24),
                        .wrong = NAN};
    if (row->fields[25][0] != '\0' &&
        (!gl_parse_quantity(row->fields[25], GL_NUMBER, &sample.wrong, NULL) || sample.wrong < 0))
        refuse(row, 25, "no number of wrong elements");
    return sample;
}

static gl_curve curve_of(csv_row *row, gl_arena *arena)
{
    gl_curve curve = {.redop = gl_evaluate_name(arena, row->fields[8]),
                      .algorithm = gl_evaluate_name(arena, row->fields[15]),
                      .protocol = gl_evaluate_name(arena, row->fields[16])};
    if (!gl_collective_parse(row->fields[6], &curve.collective))
        refuse(row, 6, "no collective, such as all_reduce");
    if (!gl_dtype_parse(row->fields[7], &curve.dtype))
        refuse(row, 7, "no data type, such as bf16");
    curve.placement = (gl_placement){count_of(row, 9, 1), count_of(row, 10, 1),
                                     count_of(row, 11, 1), count_of(row, 12, 1)};
    if (!gl_transport_parse(row->fields[13], &curve.transport))
        refuse(row, 13, "no transport, such as nvlink or net-ib");
    curve.nics = count_of(row, 14, 0);
    curve.in_place = strcmp(row->fields[17], "1") == 0;
    if (!curve.in_place && strcmp(row->fields[17], "0") != 0)
        refuse(row, 17, "neither 0 nor 1");
    curve.root = strcmp(row->fields[18], "-1") == 0 ? -1 : count_of(row, 18, 0);
    const gl_placement *p = &curve.placement;
    if (row->ok && (p->nodes > p->ranks || p->ranks_per_node > p->ranks ||
                    (int64_t)p->nodes * p->ranks_per_node < p->ranks))
        refuse(row, 9, "no number of ranks that fits these nodes and ranks per node");
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
            *facts[i] = gl_evaluate_name(arena, row->fields[i]);
        else if (strcmp(*facts[i], row->fields[i]) != 0)
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
        refuse(row, SIZE_COLUMN, "not larger than the size before it in this curve");
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

/* Reads one line into the run. */
static bool read_row(csv_row *row, char *line, int kind, size_t *capacity, gl_arena *arena,
                     gl_import_run *run)
{
    size_t fields = split(line, row->fields);
    row->columns = forms[kind].columns;
    row->ok = true;
    if (fields != forms[kind].count)
        return gl_fail_at(row->err, GL_ERROR_INPUT, &row->mark, NULL,
                          "%zu fields where the header has %zu", fields, forms[kind].count);
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

bool gl_measured_csv_parse(gl_line_reader *reader, const char *path, gl_arena *arena,
                           gl_import_run *run, gl_error *err)
{
    size_t length, capacity = 0, rows = 0;
    char *line = gl_line_reader_next(reader, &length);
    int kind = line != NULL ? find_form(line, length) : FORM_COUNT;
    if (kind == FORM_COUNT)
        return gl_fail(err, GL_ERROR_INTERNAL, "not a CSV file of measurements");
    while ((line = gl_line_reader_next(reader, &length)) != NULL) {
        csv_row row = {.mark = {.file = path, .line = reader->number, .column = 1}, .err = err};
        while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
            line[--length] = '\0';
        if (length == 0)
            continue;
        if (++rows > ROWS_MAX)
            return gl_fail_at(err, GL_ERROR_INPUT, &row.mark, NULL, "more than %d rows", ROWS_MAX);
        if (!read_row(&row, line, kind, &capacity, arena, run))
            return false;
    }
    if (rows == 0)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = path, .line = 1, .column = 1},
                          NULL, "the file has a header and no rows");
    return true;
}
