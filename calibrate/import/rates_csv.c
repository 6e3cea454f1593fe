/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/rates_csv.h"

#include "common/text.h"
#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 9, ROWS_MAX = 100000 };

static const char *const compute_columns[] = {"kind", "dtype",  "m",         "n",
                                              "k",    "time_s", "time_p95_s"};
static const char *const overlap_columns[] = {
    "transport", "collective", "size_bytes",      "gemm_m",
    "gemm_n",    "gemm_k",     "compute_alone_s", "communication_alone_s",
    "together_s"};

typedef struct form {
    const char *const *columns;
    size_t count;
} form;

static const form forms[] = {
    {compute_columns, sizeof compute_columns / sizeof *compute_columns},
    {overlap_columns, sizeof overlap_columns / sizeof *overlap_columns},
};
enum { COMPUTE, OVERLAP, FORM_COUNT };

/* One row being read: the first bad field sets the error. */
typedef struct csv_row {
    char *fields[COLUMNS_MAX];
    const char *const *columns;
    gl_mark mark;
    gl_error *err;
    bool ok;
} csv_row;

static bool is_header(const char *text, size_t length, const form *f)
{
    char wanted[200] = "";
    for (size_t i = 0; i < f->count; i++)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s", i > 0 ? "," : "",
                 f->columns[i]);
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* The form of a header line, FORM_COUNT for none. A byte order mark is what spreadsheets put. */
static int find_form(const char *text, size_t length)
{
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        length -= 3;
    }
    while (length > 0 && (text[length - 1] == '\r' || text[length - 1] == ' '))
        length--;
    for (int i = 0; i < FORM_COUNT; i++)
        if (is_header(text, length, &forms[i]))
            return i;
    return FORM_COUNT;
}

bool gl_rates_csv_recognise(const char *text, size_t length)
{
    const char *newline = memchr(text, '\n', length);
    return find_form(text, newline != NULL ? (size_t)(newline - text) : length) != FORM_COUNT;
}

/* Splits at commas, in place. Numbers and names need no quotes; a field may have them all the same.
 */
static size_t split(char *line, char **fields)
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
    } else {
        run->overlap = gl_arena_grow(arena, run->overlap, capacity, run->overlap_count + 1,
                                     sizeof *run->overlap);
        run->overlap[run->overlap_count++] = overlap_rate(row);
    }
    return row->ok;
}

bool gl_rates_csv_parse(gl_line_reader *reader, const char *path, gl_arena *arena,
                        gl_import_run *run, gl_error *err)
{
    size_t length, capacity = 0;
    char *line = gl_line_reader_next(reader, &length);
    int kind = line != NULL ? find_form(line, length) : FORM_COUNT;
    if (kind == FORM_COUNT)
        return gl_fail(err, GL_ERROR_INTERNAL, "not a CSV file of rates");
    while ((line = gl_line_reader_next(reader, &length)) != NULL) {
        csv_row row = {.mark = {.file = path, .line = reader->number, .column = 1}, .err = err};
        while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
            line[--length] = '\0';
        if (length == 0)
            continue;
        if (run->compute_count + run->overlap_count == ROWS_MAX)
            return gl_fail_at(err, GL_ERROR_INPUT, &row.mark, NULL, "more than %d rows", ROWS_MAX);
        if (!read_row(&row, line, kind, &capacity, arena, run))
            return false;
    }
    if (run->compute_count + run->overlap_count == 0)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = path, .line = 1, .column = 1},
                          NULL, "the file has a header and no rows");
    return true;
}
