/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data/expected/ *.csv: RFC 4180 with a header, lines that begin with # are comments. */
#include "common/expected.h"

#include "common/datadir.h"
#include "common/inputs.h"
#include "common/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIELDS_MAX = 32, FILE_MAX_BYTES = 1 << 20 };

typedef struct table {
    const char *file, *at;
    int line;
    gl_arena *arena;
    char *fields[FIELDS_MAX];
    size_t count;
    const char *header[FIELDS_MAX];
    size_t width;
} table;

/* One field, which may be in quotes; *end is the character behind it. */
static char *read_field(table *t)
{
    const char *start = t->at;
    char *text = gl_arena_alloc(t->arena, strcspn(start, "\n") + 2, 1), *to = text;
    bool quoted = *t->at == '"';
    t->at += quoted;
    while (*t->at != '\0' && *t->at != '\n' && (quoted || *t->at != ',')) {
        if (quoted && *t->at == '"') {
            t->at++;
            if (*t->at != '"')
                break;
        }
        if (*t->at != '\r')
            *to++ = *t->at;
        t->at++;
    }
    *to = '\0';
    return text;
}

/* The next row that is no comment; false at the end. */
static bool read_row(table *t)
{
    while (*t->at == '#' || *t->at == '\n' || *t->at == '\r') {
        t->line += 1;
        t->at += strcspn(t->at, "\n");
        t->at += *t->at == '\n';
    }
    if (*t->at == '\0')
        return false;
    t->line++;
    t->count = 0;
    while (t->count < FIELDS_MAX) {
        t->fields[t->count++] = read_field(t);
        while (*t->at == '\r')
            t->at++;
        if (*t->at != ',')
            break;
        t->at++;
    }
    t->at += strcspn(t->at, "\n");
    t->at += *t->at == '\n';
    return true;
}

static bool begin(table *t, gl_arena *arena, const char *text, const char *file, gl_error *err)
{
    *t = (table){.file = file, .at = text, .arena = arena};
    if (!read_row(t))
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file}, NULL, "it is empty");
    for (; t->width < t->count; t->width++)
        t->header[t->width] = t->fields[t->width];
    return true;
}

static const char *field(const table *t, const char *name)
{
    for (size_t i = 0; i < t->width && i < t->count; i++)
        if (strcmp(t->header[i], name) == 0)
            return t->fields[i];
    return "";
}

static bool number(const table *t, const char *name, gl_dimension dimension, double *value,
                   gl_error *err)
{
    const char *text = field(t, name);
    gl_error problem;
    *value = 0;
    if (text[0] == '\0' || gl_parse_quantity(text, dimension, value, &problem))
        return true;
    return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = t->file, .line = t->line}, name, "%s",
                      problem.message);
}

bool gl_expected_read_links(const char *text, const char *file, gl_arena *arena,
                            gl_expected *expected, gl_error *err)
{
    table t;
    size_t capacity = 0;
    if (!begin(&t, arena, text, file, err))
        return false;
    while (read_row(&t)) {
        gl_expected_link link = {.name = field(&t, "name"), .source = field(&t, "source")};
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
            if (!number(&t, numbers[i].name, numbers[i].dimension, numbers[i].value, err))
                return false;
        if (!gl_transport_parse(field(&t, "transport"), &link.transport) ||
            !(link.line_bytes_per_s > 0))
            return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file, .line = t.line}, NULL,
                              "a link needs a transport and a line rate");
        expected->links =
            gl_arena_grow(arena, expected->links, &capacity, expected->link_count + 1, sizeof link);
        expected->links[expected->link_count++] = link;
    }
    return true;
}

bool gl_expected_read_gpus(const char *text, const char *file, gl_arena *arena,
                           gl_expected *expected, gl_error *err)
{
    table t;
    size_t capacity = 0;
    if (!begin(&t, arena, text, file, err))
        return false;
    while (read_row(&t)) {
        gl_expected_gpu gpu = {.name = field(&t, "name"),
                               .links = (int)strtol(field(&t, "links"), NULL, 10),
                               .is_on_board = strcmp(field(&t, "on_board"), "yes") == 0,
                               .has_multicast = strcmp(field(&t, "multicast"), "yes") == 0,
                               .has_rack = strcmp(field(&t, "rack"), "yes") == 0,
                               .nvlink = field(&t, "nvlink"),
                               .pcie = field(&t, "pcie"),
                               .host_path = field(&t, "host_path"),
                               .sm = (int)strtol(field(&t, "sm"), NULL, 10),
                               .devices = field(&t, "pci_devices"),
                               .source = field(&t, "source")};
        if (gpu.name[0] == '\0' || gpu.links < 0 || gpu.links > 1000)
            return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = file, .line = t.line}, NULL,
                              "a GPU needs a name and a number of links");
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
