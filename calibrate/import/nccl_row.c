/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/import/nccl_row.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static bool is_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return length > 0 && length <= 19;
}

/* Spelling in every version, RCCL's too. The names returned are static. */
static const char *type_name(const char *text, size_t length)
{
    static const char *const names[] = {
        "float", "bfloat16", "half",   "double", "int8",     "uint8",    "int32", "uint32",
        "int64", "uint64",   "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2", "int",   "char"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(text, names[i], length) == 0)
            return names[i];
    return NULL;
}

static const char *redop_name(gl_arena *arena, const char *text, size_t length)
{
    static const char *const names[] = {"sum", "prod", "max", "min", "avg", "mulsum", "none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(text, names[i], length) == 0)
            return names[i];
    return gl_arena_strndup(arena, text, length < 30 ? length : 30);
}

static bool is_special(const char *text, size_t length, gl_printed *printed)
{
    static const struct {
        const char *word;
        gl_printed printed;
    } words[] = {{"N/A", {NAN, NAN}},
                 {"nan", {NAN, 0}},
                 {"-nan", {NAN, 0}},
                 {"inf", {INFINITY, 0}},
                 {"-inf", {INFINITY, 0}}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].word) == length && memcmp(text, words[i].word, length) == 0) {
            *printed = words[i].printed;
            return true;
        }
    }
    return false;
}

bool gl_printed_read(const char *text, size_t length, gl_printed *printed)
{
    char buffer[32], *end;
    if (is_special(text, length, printed))
        return true;
    if (length == 0 || length >= sizeof buffer)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]) && strchr("+-.eE", text[i]) == NULL)
            return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    double value = strtod(buffer, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    /* Decimals after the point and the exponent give the weight of the last digit. */
    const char *point = memchr(buffer, '.', length), *exponent = strpbrk(buffer, "eE");
    const char *digits_end = exponent != NULL ? exponent : buffer + length;
    double power = exponent != NULL ? strtod(exponent + 1, NULL) : 0;
    if (point != NULL && point < digits_end)
        power -= (double)(digits_end - point - 1);
    *printed = (gl_printed){value, 0.5 * pow(10, power)};
    return true;
}

/* ---- header ---- */

void gl_layout_default(gl_layout *layout)
{
    *layout =
        (gl_layout){.columns = {GL_COL_TIME, GL_COL_ALGBW, GL_COL_BUSBW, GL_COL_WRONG}, .count = 4};
}

static bool column_kind(const gl_words *words, size_t index, gl_column_kind *kind)
{
    static const struct {
        const char *word;
        gl_column_kind kind;
    } columns[] = {{"time", GL_COL_TIME},       {"cputime", GL_COL_TIME},  {"algbw", GL_COL_ALGBW},
                   {"busbw", GL_COL_BUSBW},     {"#wrong", GL_COL_WRONG},  {"wrong", GL_COL_WRONG},
                   {"error", GL_COL_DEVIATION}, {"res", GL_COL_DEVIATION}, {"i_min", GL_COL_MIN},
                   {"i_max", GL_COL_OTHER},     {"i_p99", GL_COL_OTHER},   {"i_cv%", GL_COL_OTHER}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (gl_word_is(words, index, columns[i].word)) {
            *kind = columns[i].kind;
            return true;
        }
    }
    return false;
}

/* Reads columns until a time column comes (again), a word is no column, or there is no room. */
static size_t read_columns(const gl_words *words, size_t at, gl_layout *layout)
{
    gl_column_kind kind;
    layout->count = 0;
    while (layout->count < GL_LAYOUT_MAX && column_kind(words, at, &kind) &&
           (kind != GL_COL_TIME || layout->count == 0)) {
        layout->cpu_time = layout->cpu_time || gl_word_is(words, at, "cputime");
        layout->columns[layout->count++] = kind;
        at++;
    }
    return at;
}

bool gl_layout_read(const gl_words *words, gl_layout *layout)
{
    size_t at = 0;
    gl_layout read = {.count = 0}, again = {.count = 0};
    while (at < words->count && !gl_word_is(words, at, "type"))
        at++;
    if (at < 2 || at == words->count)
        return false;
    read.is_old = gl_word_is(words, at - 2, "bytes") && gl_word_is(words, at - 1, "N");
    if (!read.is_old && !(gl_word_is(words, at - 2, "size") && gl_word_is(words, at - 1, "count")))
        return false;
    at++;
    if (gl_word_is(words, at, "redop") || gl_word_is(words, at, "op")) {
        read.has_redop = true;
        at++;
    }
    if (gl_word_is(words, at, "root")) {
        read.has_root = true;
        at++;
    }
    at = read_columns(words, at, &read);
    read_columns(words, at, &again);
    if (read.count < 4 || again.count != read.count ||
        memcmp(read.columns, again.columns, read.count * sizeof *read.columns) != 0)
        return false;
    *layout = read;
    return true;
}

/* ---- rows ---- */

/* Does the word look like the pattern, in which 9 stands for any digit? */
static bool has_form(const gl_words *words, size_t index, const char *pattern)
{
    const char *text = words->items[index].text;
    if (words->items[index].length != strlen(pattern))
        return false;
    for (size_t i = 0; pattern[i] != '\0'; i++)
        if (pattern[i] == '9' ? !isdigit((unsigned char)text[i]) : text[i] != pattern[i])
            return false;
    return true;
}

/* -S appends "2026-11-30 02:26:33". Returns the number of words without it. */
static size_t without_timestamp(const gl_words *words, const char **timestamp)
{
    size_t count = words->count;
    if (count < 2 || !has_form(words, count - 2, "9999-99-99") ||
        !has_form(words, count - 1, "99:99:99"))
        return count;
    *timestamp = words->items[count - 2].text;
    return count - 2;
}

static void per_iteration_layout(gl_layout *layout)
{
    static const gl_column_kind columns[] = {GL_COL_TIME, GL_COL_ALGBW, GL_COL_BUSBW, GL_COL_WRONG,
                                             GL_COL_MIN,  GL_COL_OTHER, GL_COL_OTHER, GL_COL_OTHER};
    memcpy(layout->columns, columns, sizeof columns);
    layout->count = sizeof columns / sizeof *columns;
}

static bool read_values(const gl_words *words, size_t from, size_t to, gl_row_pieces *row)
{
    for (size_t i = from; i < to; i++)
        if (!gl_printed_read(words->items[i].text, words->items[i].length,
                             &row->values[row->value_count + (i - from)]))
            return false;
    row->value_count += to - from;
    return true;
}

/* Index of the size in "size count type"; words->count when there is no row. Whatever stands before
 * is a prefix. */
static size_t find_row(const gl_words *words)
{
    for (size_t i = 0; i + 2 < words->count; i++)
        if (type_name(words->items[i + 2].text, words->items[i + 2].length) != NULL &&
            is_digits(words->items[i].text, words->items[i].length) &&
            is_digits(words->items[i + 1].text, words->items[i + 1].length))
            return i;
    return words->count;
}

static bool is_redop(const char *text, size_t length)
{
    gl_printed printed;
    return isalpha((unsigned char)text[0]) && !gl_printed_read(text, length, &printed);
}

static bool is_root(const char *text, size_t length)
{
    size_t sign = length > 1 && text[0] == '-';
    return is_digits(text + sign, length - sign) && length < 9;
}

/* Is this whole number a root? The header says so; a value is never negative; without either, the
 * number of words tells. A row that is cut off must not take its root for a time. */
static bool expects_root(const gl_words *words, size_t at, size_t end, const gl_layout *layout)
{
    return layout->has_root || words->items[at].text[0] == '-' || (end - at) % layout->count == 1;
}

bool gl_row_read(const gl_words *words, gl_arena *arena, gl_layout *layout, gl_row_pieces *row,
                 const char **timestamp)
{
    size_t at = find_row(words);
    if (at == words->count)
        return false;
    size_t end = without_timestamp(words, timestamp);
    *row = (gl_row_pieces){.row = {.redop = "", .root = -1}};
    row->row.size_bytes = strtod(words->items[at].text, NULL);
    row->row.count = strtod(words->items[at + 1].text, NULL);
    row->row.type = type_name(words->items[at + 2].text, words->items[at + 2].length);
    at += 3;
    if (at < end && is_redop(words->items[at].text, words->items[at].length)) {
        row->row.redop = redop_name(arena, words->items[at].text, words->items[at].length);
        at++;
    }
    if (end > at && end - at >= 16 && layout->count == 4)
        per_iteration_layout(layout);
    if (end > at && is_root(words->items[at].text, words->items[at].length) &&
        expects_root(words, at, end, layout)) {
        row->row.root = (int)strtol(words->items[at].text, NULL, 10);
        at++;
    }
    size_t values = end > at ? end - at : 0;
    if (values % layout->count != 0 || values > 2 * layout->count ||
        !read_values(words, at, end > at ? end : at, row))
        row->value_count = 0;
    return true;
}

bool gl_row_add_values(const gl_words *words, const gl_layout *layout, gl_row_pieces *row)
{
    const char *timestamp;
    size_t end = without_timestamp(words, &timestamp), start = end;
    gl_printed printed;
    while (start > 0 &&
           gl_printed_read(words->items[start - 1].text, words->items[start - 1].length, &printed))
        start--;
    size_t values = end - start, missing = 2 * layout->count - row->value_count;
    if ((values != layout->count && values != 2 * layout->count) || values > missing || words->more)
        return false;
    row->joined = true;
    return read_values(words, start, end, row);
}

bool gl_row_placement(const gl_row_pieces *pieces, const gl_layout *layout, int placement,
                      gl_parsed_row *row)
{
    size_t first = (size_t)placement * layout->count;
    if (pieces->value_count < first + layout->count)
        return false;
    *row = pieces->row;
    row->in_place = placement == 1;
    row->joined = pieces->joined;
    row->time = row->algbw = row->busbw = (gl_printed){NAN, NAN};
    row->min_s = row->p05_s = row->p95_s = row->wrong = NAN;
    for (size_t i = 0; i < layout->count; i++) {
        gl_printed v = pieces->values[first + i];
        switch (layout->columns[i]) {
        case GL_COL_TIME:
            row->time = (gl_printed){gl_parsed_scale(v.value, 1e-6), v.error * 1e-6};
            break;
        case GL_COL_ALGBW:
            row->algbw = (gl_printed){v.value * GL_GIGA, v.error * GL_GIGA};
            break;
        case GL_COL_BUSBW:
            row->busbw = (gl_printed){v.value * GL_GIGA, v.error * GL_GIGA};
            break;
        case GL_COL_WRONG:
            row->wrong = isnan(v.error) ? (double)NAN : gl_parsed_wrong(v.value);
            break;
        case GL_COL_DEVIATION: /* no count, but a deviation that is no number is wrong */
            row->wrong = isnan(v.error) || isfinite(v.value) ? (double)NAN : (double)INFINITY;
            break;
        case GL_COL_MIN:
            row->min_s = gl_parsed_scale(v.value, 1e-6);
            break;
        default:
            break;
        }
    }
    return !isnan(row->time.value) || !isnan(row->busbw.value);
}
