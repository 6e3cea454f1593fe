/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/doctor/matrix.h"

#include "calibrate/import/prefix.h"
#include "common/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096 };

/* Longer names first: "NODE" begins with "NODE", "NS" with "N". */
static const struct {
    const char *name;
    gl_path path;
} tokens[] = {{"NODE", GL_PATH_NODE}, {"SOC", GL_PATH_SYS}, {"SYS", GL_PATH_SYS},
              {"PIX", GL_PATH_PIX},   {"PXB", GL_PATH_PXB}, {"PHB", GL_PATH_PHB},
              {"CNS", GL_P2P_CNS},    {"GNS", GL_P2P_GNS},  {"TNS", GL_P2P_TNS},
              {"NS", GL_P2P_NS},      {"OK", GL_P2P_OK},    {"DR", GL_P2P_DR},
              {"X", GL_PATH_SELF},    {"U", GL_P2P_U}};

const char *gl_path_name(gl_path path)
{
    if (path == GL_PATH_LINK)
        return "NVLink";
    for (size_t i = sizeof tokens / sizeof *tokens; i-- > 0;)
        if (tokens[i].path == path)
            return tokens[i].name;
    return "unknown";
}

/* One token at the start of `text`; its length, 0 if none. */
static size_t read_token(const char *text, size_t length, gl_matrix_cell *cell)
{
    if (length >= 3 && text[0] == 'N' && text[1] == 'V' && isdigit((unsigned char)text[2])) {
        size_t used = 2;
        int links = 0;
        while (used < length && isdigit((unsigned char)text[used]) && links < 100)
            links = links * 10 + (text[used++] - '0');
        *cell = (gl_matrix_cell){.path = GL_PATH_LINK, .links = (unsigned char)links};
        return used;
    }
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        size_t size = strlen(tokens[i].name);
        if (length >= size && memcmp(text, tokens[i].name, size) == 0) {
            *cell = (gl_matrix_cell){.path = (unsigned char)tokens[i].path};
            return size;
        }
    }
    return 0;
}

/* The cells of a word, which may be glued ("PXBNODE"); 0 when it is no cell. */
static size_t read_cells(const char *word, size_t length, gl_matrix_cell *cells, size_t room)
{
    size_t count = 0;
    while (length > 0 && count < room) {
        size_t used = read_token(word, length, &cells[count]);
        if (used == 0)
            return 0;
        word += used;
        length -= used;
        count++;
    }
    return length == 0 ? count : 0;
}

static bool is_gpu_name(const char *word, size_t length)
{
    if (length < 4 || length > 7 || memcmp(word, "GPU", 3) != 0)
        return false;
    for (size_t i = 3; i < length; i++)
        if (!isdigit((unsigned char)word[i]))
            return false;
    return true;
}

typedef struct reader {
    gl_arena *arena;
    const char *file;
    gl_matrices *all;
    gl_matrix *now; /* NULL before the first header or row */
    bool in_legend;
    int line;
    const char *raw; /* the line as it stands in the file */
    size_t raw_length;
} reader;

static gl_matrix *begin_matrix(reader *r)
{
    if (r->all->count == GL_MATRICES_MAX)
        return NULL;
    r->now = GL_ARENA_NEW(r->arena, gl_matrix, 1);
    r->now->unread = "";
    r->all->items[r->all->count++] = r->now;
    r->in_legend = false;
    return r->now;
}

static const char *copy_name(reader *r, const char *name, size_t length)
{
    char text[64], printable[64];
    snprintf(text, sizeof text, "%.*s", (int)(length < 40 ? length : 40), name);
    return gl_arena_strdup(r->arena, gl_printable(text, printable, sizeof printable));
}

static void add_column(reader *r, const char *name, size_t length)
{
    gl_matrix *m = r->now;
    if (m->column_count == GL_MATRIX_SIZE_MAX)
        return;
    m->is_gpu[m->column_count] = is_gpu_name(name, length);
    m->names[m->column_count++] = copy_name(r, name, length);
}

/* The first GPU that no cell follows begins a header. Its index, or the count of words. */
static size_t header_start(const gl_words *words)
{
    gl_matrix_cell cell[8];
    size_t i = 0;
    while (i < words->count && !is_gpu_name(words->items[i].text, words->items[i].length))
        i++;
    for (size_t k = i + 1; k < words->count; k++)
        if (read_cells(words->items[k].text, words->items[k].length, cell, 8) > 0)
            return words->count;
    /* Prose that mentions GPU0 is no header: then a second name or an affinity must follow. */
    if (i + 1 < words->count &&
        !is_gpu_name(words->items[i + 1].text, words->items[i + 1].length) &&
        !gl_word_is(words, i + 1, "CPU") && strncmp(words->items[i + 1].text, "NIC", 3) != 0 &&
        memchr(words->items[i + 1].text, '_', words->items[i + 1].length) == NULL)
        return words->count;
    return i > 2 ? words->count : i;
}

static bool read_header(reader *r, const gl_words *words)
{
    size_t start = header_start(words);
    if (start == words->count || begin_matrix(r) == NULL)
        return false;
    for (size_t i = start; i < words->count; i++) {
        if (gl_word_is(words, i, "CPU") || gl_word_is(words, i, "NUMA") ||
            (gl_word_is(words, i, "GPU") && i > start))
            break;
        add_column(r, words->items[i].text, words->items[i].length);
    }
    return true;
}

static int column_of(const gl_matrix *m, const char *name)
{
    for (size_t i = 0; i < m->column_count; i++)
        if (strcmp(m->names[i], name) == 0)
            return (int)i;
    return -1;
}

/* What stands behind the cells: CPU affinity, NUMA affinity, NUMA node of the GPU. */
static void read_affinity(reader *r, gl_matrix_row *row, const gl_words *words, size_t at)
{
    for (size_t field = 0; at < words->count && field < 2; at++, field++) {
        const char *word = words->items[at].text;
        size_t length = words->items[at].length;
        if (strspn(word, "0123456789-,N/Axabcdef") < length)
            return; /* added by hand */
        char text[200];
        snprintf(text, sizeof text, "%.*s", (int)(length < 199 ? length : 199), word);
        bool list = strpbrk(text, "-,x") != NULL;
        if (field == 0 && (list || at + 1 < words->count || !isdigit((unsigned char)text[0]))) {
            row->cpus = strcmp(text, "N/A") == 0 ? "" : gl_arena_strdup(r->arena, text);
        } else if (!list && isdigit((unsigned char)text[0]) && strlen(text) < 6) {
            row->numa = (int)strtol(text, NULL, 10);
            return;
        }
    }
}

static bool name_of_row(const gl_words *words, size_t at, size_t cells)
{
    const char *word = words->items[at].text;
    size_t length = words->items[at].length;
    if (is_gpu_name(word, length))
        return true;
    return cells >= 1 && length <= 40 && isalpha((unsigned char)word[0]) &&
           isdigit((unsigned char)word[length - 1]);
}

static bool is_not_there(const gl_words *words, size_t at)
{
    return gl_word_is(words, at, "N/A");
}

/* Takes cells from word `at` on, `limit` at most; the word behind them is *end. */
static size_t collect_cells(const gl_words *words, size_t at, size_t limit, gl_matrix_cell *cells,
                            size_t *end)
{
    size_t count = 0;
    for (; at < words->count && count < limit; at++) {
        size_t got = read_cells(words->items[at].text, words->items[at].length, cells + count,
                                limit - count);
        if (got == 0 && is_not_there(words, at) && limit < GL_MATRIX_SIZE_MAX)
            cells[count].path = GL_PATH_UNKNOWN, got = 1;
        if (got == 0)
            break;
        count += got;
    }
    *end = at;
    return count;
}

/* "0-51,104-155", "0", "N/A": what stands behind the cells. */
static bool is_affinity(const gl_words *words, size_t at)
{
    const char *word = words->items[at].text;
    return isdigit((unsigned char)word[0]) || is_not_there(words, at);
}

/* The same for a row whose columns are known: a word in the place of a cell that is none is kept as
 * unknown and remembered, unless the row ends there. */
static size_t collect_row(reader *r, const gl_words *words, size_t at, gl_matrix_cell *cells,
                          size_t *end)
{
    size_t limit = r->now->column_count, count = collect_cells(words, at, limit, cells, end);
    while (*end < words->count && count < limit && !is_affinity(words, *end)) {
        if (r->now->unread[0] == '\0') {
            r->now->unread = copy_name(r, words->items[*end].text, words->items[*end].length);
            r->now->unread_quote = gl_quote_make(r->arena, r->file, r->line, r->raw, r->raw_length);
        }
        cells[count++].path = GL_PATH_UNKNOWN;
        count += collect_cells(words, *end + 1, limit - count, cells + count, end);
    }
    return count;
}

static gl_matrix_row *add_row(reader *r, const char *name, size_t length, bool is_gpu)
{
    gl_matrix *m = r->now;
    if (m->row_count == GL_MATRIX_SIZE_MAX)
        return NULL;
    gl_matrix_row *row = &m->rows[m->row_count++];
    row->name = copy_name(r, name, length);
    row->is_gpu = is_gpu;
    row->cells = GL_ARENA_NEW(r->arena, gl_matrix_cell, GL_MATRIX_SIZE_MAX);
    row->cpus = "";
    row->numa = -1;
    row->quote = gl_quote_make(r->arena, r->file, r->line, r->raw, r->raw_length);
    return row;
}

/* A row seen again, or with a column less than GPUs before it, begins a matrix without header. */
static bool needs_new(const reader *r, const char *name, size_t length)
{
    if (r->now == NULL)
        return true;
    for (size_t i = 0; i < r->now->row_count; i++)
        if (strlen(r->now->rows[i].name) == length &&
            memcmp(r->now->rows[i].name, name, length) == 0)
            return true;
    return false;
}

static bool read_row(reader *r, const gl_words *words)
{
    gl_matrix_cell cells[GL_MATRIX_SIZE_MAX] = {{0}}, probe[GL_MATRIX_SIZE_MAX];
    for (size_t at = 0; at + 1 < words->count && at < 8; at++) {
        size_t end, count = collect_cells(words, at + 1, GL_MATRIX_SIZE_MAX, probe, &end);
        if (count == 0 || !name_of_row(words, at, count))
            continue;
        const char *name = words->items[at].text;
        size_t length = words->items[at].length;
        bool gpu = is_gpu_name(name, length);
        if (r->in_legend || (!gpu && (r->now == NULL || count + 1 < r->now->column_count)))
            return false;
        if (needs_new(r, name, length) && (!gpu || begin_matrix(r) == NULL))
            return false;
        if (r->now->column_count > 0)
            count = collect_row(r, words, at + 1, cells, &end);
        else
            count = collect_cells(words, at + 1, count, cells, &end);
        gl_matrix_row *row = add_row(r, name, length, gpu);
        if (row == NULL)
            return false;
        memcpy(row->cells, cells, count * sizeof *cells);
        if (gpu)
            read_affinity(r, row, words, end);
        return true;
    }
    return false;
}

/* "  NIC0: mlx5_0" of the NIC legend. */
static void read_legend(reader *r, const gl_words *words)
{
    if (r->now == NULL || words->count < 2 || words->items[0].length < 5 ||
        strncmp(words->items[0].text, "NIC", 3) != 0 ||
        words->items[0].text[words->items[0].length - 1] != ':')
        return;
    for (size_t i = 0; i < r->now->column_count; i++)
        if (strlen(r->now->names[i]) == words->items[0].length - 1 &&
            memcmp(r->now->names[i], words->items[0].text, words->items[0].length - 1) == 0)
            r->now->device[i] =
                gl_arena_strndup(r->arena, words->items[1].text,
                                 words->items[1].length < 40 ? words->items[1].length : 40);
}

static void read_line(reader *r)
{
    char line[LINE_MAX_BYTES];
    gl_words words;
    size_t length = r->raw_length < sizeof line - 1 ? r->raw_length : sizeof line - 1;
    memcpy(line, r->raw, length);
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    line[length] = '\0';
    gl_prefix_clean(line);
    gl_words_split(line, strlen(line), &words);
    if (words.count == 0 || read_header(r, &words))
        return;
    if (gl_word_is(&words, 0, "Legend:"))
        r->in_legend = true;
    else if (!read_row(r, &words))
        read_legend(r, &words);
}

/* A matrix that lost its header has columns in the order of its rows. */
static void complete(reader *r, gl_matrix *m)
{
    if (m->column_count == 0) {
        r->now = m;
        for (size_t i = 0; i < m->row_count; i++)
            add_column(r, m->rows[i].name, strlen(m->rows[i].name));
    }
    for (size_t i = 0; i < m->row_count; i++)
        m->rows[i].column = column_of(m, m->rows[i].name);
    for (size_t i = 0; i < m->column_count; i++)
        if (m->device[i] == NULL && !m->is_gpu[i] && !gl_starts_with(m->names[i], "NIC"))
            m->device[i] = m->names[i];
}

bool gl_matrix_read(const char *text, size_t length, const char *file, gl_arena *arena,
                    gl_matrices *all, gl_error *err)
{
    reader r = {.arena = arena, .file = file, .all = all};
    size_t first = all->count, rows = 0;
    for (const char *end = text + length; text < end && r.line < GL_MATRIX_LINES_MAX;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        r.raw = text;
        r.raw_length = (size_t)((newline != NULL ? newline : end) - text);
        r.line++;
        read_line(&r);
        text += r.raw_length + (newline != NULL);
    }
    for (size_t i = first; i < all->count; i++) {
        complete(&r, all->items[i]);
        rows += all->items[i]->row_count;
    }
    if (rows > 0)
        return true;
    all->count = first;
    return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL,
                      "no matrix of GPUs in it");
}

gl_matrix_kind gl_matrix_kind_of(const gl_matrix *matrix)
{
    size_t paths = 0, p2p = 0;
    for (size_t r = 0; r < matrix->row_count; r++)
        for (size_t c = 0; c < matrix->column_count; c++) {
            unsigned char path = matrix->rows[r].cells[c].path;
            paths += path >= GL_PATH_LINK && path <= GL_PATH_SYS;
            p2p += path >= GL_P2P_OK;
        }
    return paths > p2p ? GL_MATRIX_PATHS : p2p > 0 ? GL_MATRIX_P2P : GL_MATRIX_EITHER;
}

bool gl_matrix_same_numa(const gl_matrix_row *a, const gl_matrix_row *b)
{
    if (a->numa >= 0 && b->numa >= 0)
        return a->numa == b->numa;
    return a->cpus[0] != '\0' && strcmp(a->cpus, b->cpus) == 0;
}
