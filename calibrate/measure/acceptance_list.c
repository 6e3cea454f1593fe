/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/acceptance_list.h"

#include "common/csv.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 4 * 1024 * 1024, ITEMS_MAX = 10000, RANKS_MAX = 1000000 };

#define SIZE_MAX_BYTES 1e15

typedef enum list_column {
    COLUMN_COLLECTIVE,
    COLUMN_DTYPE,
    COLUMN_RANKS,
    COLUMN_NODES,
    COLUMN_RANKS_PER_NODE,
    COLUMN_CONCURRENT_GROUPS,
    COLUMN_SIZE,
    COLUMN_COUNT
} list_column;

static const char *const column_names[COLUMN_COUNT] = {
    "collective", "dtype", "ranks", "nodes", "ranks_per_node", "concurrent_groups", "size_bytes"};

typedef struct reader {
    gl_csv_file csv;
    size_t row;
    size_t place[COLUMN_COUNT]; /* as many as there are columns: not there */
    gl_arena *arena;
    gl_acceptance_list *out;
    gl_error *err;
} reader;

/* About a cell of the current row, or with COLUMN_COUNT about all of it. */
static bool fail(const reader *r, list_column column, const char *words, const char *found)
{
    char shown[64];
    bool of_cell = column < COLUMN_COUNT && r->place[column] < r->csv.columns;
    gl_mark mark =
        gl_csv_mark(&r->csv, gl_csv_cell_at(&r->csv, r->row, of_cell ? r->place[column] : 0));
    return gl_fail_at(
        r->err, GL_ERROR_INPUT, &mark, column < COLUMN_COUNT ? column_names[column] : NULL,
        "%s%s%s%s", words, found != NULL ? ": '" : "",
        found != NULL ? gl_printable(found, shown, sizeof shown) : "", found != NULL ? "'" : "");
}

/* ---- header ---- */

/* Files of another kind are told by their first line, before all else that is wrong in them. */
static bool find_columns(reader *r, const char *name, const char *text, size_t length)
{
    static const list_column needed[] = {COLUMN_COLLECTIVE, COLUMN_RANKS, COLUMN_SIZE};
    const gl_mark mark = {.file = name, .line = 1, .column = 1};
    size_t start = 0;
    while (start < length && (text[start] == '\n' || text[start] == '\r'))
        start++;
    const char *end = memchr(text + start, '\n', length - start);
    if (!gl_csv_parse(name, text, end != NULL ? (size_t)(end - text) + 1 : length, GL_CSV_PLAIN,
                      r->arena, &r->csv, r->err))
        return false;
    for (int c = 0; c < COLUMN_COUNT; c++)
        r->place[c] = gl_csv_column(&r->csv, column_names[c]);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (r->place[needed[i]] == r->csv.columns)
            return gl_fail_at(r->err, GL_ERROR_INPUT, &mark, NULL,
                              "is no list of measurements, as 'gpulink-plan accept --list' writes "
                              "it: there is no column: '%s'",
                              column_names[needed[i]]);
    return true;
}

/* ---- rows ---- */

/* NULL: not there, or empty. */
static const char *cell(const reader *r, list_column column)
{
    if (r->place[column] == r->csv.columns)
        return NULL;
    const char *text = gl_csv_cell_at(&r->csv, r->row, r->place[column])->text;
    return text[0] != '\0' ? text : NULL;
}

static bool read_count(const reader *r, list_column column, int otherwise, int *value)
{
    const char *text = cell(r, column);
    long long number = otherwise;
    gl_error reason;
    if (text != NULL &&
        (!gl_parse_integer(text, &number, &reason) || number < 1 || number > RANKS_MAX))
        return fail(r, column, "is no number from 1 to 1000000", text);
    *value = (int)number;
    return true;
}

static bool read_size(const reader *r, double *size)
{
    const char *text = cell(r, COLUMN_SIZE);
    gl_error reason;
    if (text == NULL)
        return fail(r, COLUMN_SIZE, "is missing", NULL);
    if (!gl_parse_size(text, size, &reason) || *size < 1 || *size > SIZE_MAX_BYTES)
        return fail(r, COLUMN_SIZE, "is no size from 1 B to 1 PB", text);
    return true;
}

static bool read_placement(const reader *r, gl_placement *p)
{
    if (cell(r, COLUMN_RANKS) == NULL)
        return fail(r, COLUMN_RANKS, "is missing", NULL);
    if (!read_count(r, COLUMN_RANKS, 1, &p->ranks) || !read_count(r, COLUMN_NODES, 1, &p->nodes) ||
        !read_count(r, COLUMN_RANKS_PER_NODE, (p->ranks + p->nodes - 1) / p->nodes,
                    &p->ranks_per_node) ||
        !read_count(r, COLUMN_CONCURRENT_GROUPS, 1, &p->concurrent_groups))
        return false;
    if (p->ranks < 2)
        return fail(r, COLUMN_RANKS, "a group has two ranks at least", NULL);
    if (p->nodes > p->ranks || p->ranks_per_node > p->ranks ||
        (long long)p->nodes * p->ranks_per_node < p->ranks)
        return fail(r, COLUMN_NODES, "so many ranks cannot be on so many nodes", NULL);
    return true;
}

static bool same_item(const gl_acceptance_item *a, const gl_acceptance_item *b)
{
    return a->collective == b->collective && a->dtype == b->dtype &&
           gl_placement_equal(&a->placement, &b->placement);
}

static gl_acceptance_item *item_like(reader *r, const gl_acceptance_item *wanted)
{
    gl_acceptance_list *out = r->out;
    for (size_t i = 0; i < out->count; i++)
        if (same_item(&out->items[i], wanted))
            return &out->items[i];
    out->items =
        gl_arena_grow(r->arena, out->items, &out->capacity, out->count + 1, sizeof *out->items);
    out->items[out->count] = *wanted;
    return &out->items[out->count++];
}

static void add_size(reader *r, gl_acceptance_item *item, double size)
{
    size_t i = 0;
    while (i < item->size_count && item->sizes[i] < size)
        i++;
    if (i < item->size_count && item->sizes[i] <= size)
        return;
    item->sizes = gl_arena_grow(r->arena, item->sizes, &item->size_capacity, item->size_count + 1,
                                sizeof *item->sizes);
    memmove(item->sizes + i + 1, item->sizes + i, (item->size_count - i) * sizeof *item->sizes);
    item->sizes[i] = size;
    item->size_count++;
}

/* A plan can use no curve of a single size. */
static void add_second_size(reader *r, gl_acceptance_item *item)
{
    if (item->size_count == 1)
        add_size(r, item, (double)gl_size_beside((long long)item->sizes[0], item->placement.ranks));
}

static bool read_row(reader *r)
{
    gl_acceptance_item item = {.dtype = GL_DTYPE_NONE};
    const char *collective = cell(r, COLUMN_COLLECTIVE), *dtype = cell(r, COLUMN_DTYPE);
    double size = 0;
    if (collective == NULL || !gl_collective_parse(collective, &item.collective) ||
        !gl_collective_is_measured(item.collective))
        return fail(r, COLUMN_COLLECTIVE, "is none of " GL_MEASURED_COLLECTIVES,
                    collective != NULL ? collective : "");
    if (dtype != NULL && !gl_dtype_parse(dtype, &item.dtype))
        return fail(r, COLUMN_DTYPE, "is unknown", dtype);
    if (!read_placement(r, &item.placement) || !read_size(r, &size))
        return false;
    if (r->out->count == ITEMS_MAX)
        return fail(r, COLUMN_COUNT, "more than 10000 curves", NULL);
    add_size(r, item_like(r, &item), size);
    return true;
}

bool gl_acceptance_list_parse(const char *name, const char *text, size_t length, gl_arena *arena,
                              gl_acceptance_list *out, gl_error *err)
{
    gl_acceptance_list list = {0};
    reader r = {.arena = arena, .out = &list, .err = err};
    if (!find_columns(&r, name, text, length) ||
        !gl_csv_parse(name, text, length, GL_CSV_PLAIN, arena, &r.csv, err))
        return false;
    if (r.csv.rows == 0)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = name, .line = 1, .column = 1},
                          NULL, "the list is empty");
    for (; r.row < r.csv.rows; r.row++)
        if (!read_row(&r))
            return false;
    for (size_t i = 0; i < list.count; i++)
        add_second_size(&r, &list.items[i]);
    *out = list;
    return true;
}

/* ---- files ---- */

static bool read_stream(FILE *file, const char *path, gl_arena *arena, const char **text,
                        size_t *length, gl_error *err)
{
    char *buffer = gl_arena_alloc_raw(arena, FILE_MAX + 1, 1);
    *length = fread(buffer, 1, FILE_MAX + 1, file);
    *text = buffer;
    gl_mark mark = {.file = path};
    if (ferror(file))
        return gl_fail_at(err, GL_ERROR_SYSTEM, &mark, NULL, "%s", strerror(errno));
    if (*length > FILE_MAX)
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "is larger than 4 MiB");
    return true;
}

bool gl_acceptance_list_load(const char *path, gl_arena *arena, gl_acceptance_list *out,
                             gl_error *err)
{
    const char *text;
    size_t length;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return gl_fail_at(err, gl_open_status(errno), &(gl_mark){.file = path}, NULL, "%s",
                          strerror(errno));
    bool ok = read_stream(file, path, arena, &text, &length, err);
    fclose(file);
    return ok && gl_acceptance_list_parse(path, text, length, arena, out, err);
}

unsigned gl_acceptance_list_digest(const gl_acceptance_list *list)
{
    uint32_t digest = GL_HASH32_START;
    for (size_t i = 0; i < list->count; i++) {
        const gl_acceptance_item *item = &list->items[i];
        const double key[] = {(double)item->collective,       (double)item->dtype,
                              item->placement.ranks,          item->placement.nodes,
                              item->placement.ranks_per_node, item->placement.concurrent_groups};
        digest = gl_hash32_add(digest, key, sizeof key);
        digest = gl_hash32_add(digest, item->sizes, item->size_count * sizeof *item->sizes);
    }
    return digest;
}
