/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data/expected/ *.csv: RFC 4180 with a header, lines that begin with # are comments. */
#include "common/expected.h"

#include "common/csv.h"
#include "common/datadir.h"
#include "common/inputs.h"
#include "common/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX_BYTES = 1 << 20 };

/* A row of a table. */
typedef struct row {
    const gl_csv_file *csv;
    size_t number;
    gl_error *err;
} row;

static const gl_csv_cell *cell(const row *r, const char *name)
{
    size_t column = gl_csv_column(r->csv, name);
    return column < r->csv->columns ? gl_csv_cell_at(r->csv, r->number, column) : NULL;
}

/* "": there is no such column, or nothing in it. */
static const char *field(const row *r, const char *name)
{
    const gl_csv_cell *found = cell(r, name);
    return found != NULL ? found->text : "";
}

/* `name` NULL: it is about the whole row. */
static bool fail(const row *r, const char *name, const char *message)
{
    const gl_csv_cell *at = name != NULL ? cell(r, name) : NULL;
    gl_mark mark = gl_csv_mark(r->csv, at != NULL ? at : gl_csv_cell_at(r->csv, r->number, 0));
    return gl_fail_at(r->err, GL_ERROR_INPUT, &mark, name, "%s", message);
}

/* Nothing is 0. */
static bool number(const row *r, const char *name, gl_dimension dimension, double *value)
{
    const char *text = field(r, name);
    gl_error problem;
    *value = 0;
    return text[0] == '\0' || gl_parse_quantity(text, dimension, value, &problem) ||
           fail(r, name, problem.message);
}

static bool integer(const row *r, const char *name, int *value)
{
    const char *text = field(r, name);
    long long found = 0;
    gl_error problem;
    if (text[0] != '\0' && !gl_parse_integer(text, &found, &problem))
        return fail(r, name, problem.message);
    if (found < 0 || found > 1000)
        return fail(r, name, "is no number from 0 to 1000");
    *value = (int)found;
    return true;
}

static bool flag(const row *r, const char *name, bool *value)
{
    const char *text = field(r, name);
    *value = strcmp(text, "yes") == 0;
    return *value || text[0] == '\0' || strcmp(text, "no") == 0 ||
           fail(r, name, "is neither yes nor no");
}

bool gl_expected_read_links(const char *text, const char *file, gl_arena *arena,
                            gl_expected *expected, gl_error *err)
{
    gl_csv_file csv;
    size_t capacity = 0;
    if (!gl_csv_parse(file, text, strlen(text), GL_CSV_COMMENTS, arena, &csv, err))
        return false;
    for (row r = {.csv = &csv, .err = err}; r.number < csv.rows; r.number++) {
        gl_expected_link link = {.name = field(&r, "name"), .source = field(&r, "source")};
        const struct {
            const char *name;
            gl_dimension dimension;
            double *value;
        } numbers[] = {{"line", GL_BYTES_PER_S, &link.line_bytes_per_s},
                       {"assumed", GL_BYTES_PER_S, &link.assumed_bytes_per_s},
                       {"ring", GL_FRACTION, &link.ring.value},
                       {"ring_low", GL_FRACTION, &link.ring.low},
                       {"ring_high", GL_FRACTION, &link.ring.high},
                       {"alltoall", GL_FRACTION, &link.alltoall.value},
                       {"alltoall_low", GL_FRACTION, &link.alltoall.low},
                       {"alltoall_high", GL_FRACTION, &link.alltoall.high},
                       {"p2p", GL_FRACTION, &link.p2p.value},
                       {"p2p_low", GL_FRACTION, &link.p2p.low},
                       {"p2p_high", GL_FRACTION, &link.p2p.high},
                       {"nvls", GL_FRACTION, &link.nvls.value},
                       {"nvls_low", GL_FRACTION, &link.nvls.low},
                       {"nvls_high", GL_FRACTION, &link.nvls.high}};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (!number(&r, numbers[i].name, numbers[i].dimension, numbers[i].value))
                return false;
        if (!gl_transport_parse(field(&r, "transport"), &link.transport) ||
            !(link.line_bytes_per_s > 0))
            return fail(&r, NULL, "a link needs a transport and a line rate");
        expected->links =
            gl_arena_grow(arena, expected->links, &capacity, expected->link_count + 1, sizeof link);
        expected->links[expected->link_count++] = link;
    }
    return true;
}

bool gl_expected_read_gpus(const char *text, const char *file, gl_arena *arena,
                           gl_expected *expected, gl_error *err)
{
    gl_csv_file csv;
    size_t capacity = 0;
    if (!gl_csv_parse(file, text, strlen(text), GL_CSV_COMMENTS, arena, &csv, err))
        return false;
    for (row r = {.csv = &csv, .err = err}; r.number < csv.rows; r.number++) {
        gl_expected_gpu gpu = {.name = field(&r, "name"),
                               .nvlink = field(&r, "nvlink"),
                               .pcie = field(&r, "pcie"),
                               .host_path = field(&r, "host_path"),
                               .devices = field(&r, "pci_devices"),
                               .source = field(&r, "source")};
        if (gpu.name[0] == '\0')
            return fail(&r, NULL, "a GPU needs a name");
        if (!integer(&r, "links", &gpu.links) || !integer(&r, "sm", &gpu.sm) ||
            !flag(&r, "on_board", &gpu.is_on_board) || !flag(&r, "multicast", &gpu.has_multicast) ||
            !flag(&r, "rack", &gpu.has_rack))
            return false;
        expected->gpus =
            gl_arena_grow(arena, expected->gpus, &capacity, expected->gpu_count + 1, sizeof gpu);
        expected->gpus[expected->gpu_count++] = gpu;
    }
    return true;
}

/* A bundled file as text. */
static const char *read_bundled(gl_arena *arena, const char *name, const char **path, gl_error *err)
{
    *path = gl_datadir_find(arena, "expected", name, "csv");
    FILE *stream = *path != NULL ? fopen(*path, "rb") : NULL;
    if (stream == NULL) {
        gl_fail(err, GL_ERROR_SYSTEM, "the bundled data expected/%s.csv is not there: %s", name,
                strerror(errno));
        return NULL;
    }
    gl_inputs_note(fileno(stream), *path);
    struct stat found;
    size_t room = fstat(fileno(stream), &found) == 0 && found.st_size < FILE_MAX_BYTES
                      ? (size_t)found.st_size
                      : FILE_MAX_BYTES;
    char *text = gl_arena_alloc(arena, room + 1, 1);
    text[fread(text, 1, room, stream)] = '\0';
    fclose(stream);
    return text;
}

bool gl_expected_load(gl_arena *arena, gl_expected *expected, gl_error *err)
{
    const char *path, *text;
    *expected = (gl_expected){0};
    return (text = read_bundled(arena, "links", &path, err)) != NULL &&
           gl_expected_read_links(text, path, arena, expected, err) &&
           (text = read_bundled(arena, "gpus", &path, err)) != NULL &&
           gl_expected_read_gpus(text, path, arena, expected, err);
}
