/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/price_parts.h"

#include "common/datadir.h"
#include "common/text.h"
#include "planner/core/hardware.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { GUESS_BYTES = 200, LIST_BYTES = 400, FIELDS_MAX = 32 };

/* ---- kinds ---- */

const gl_part_kind *gl_part_kind_find(const char *name, size_t length)
{
    for (const gl_part_kind *kind = gl_part_kinds; kind->name != NULL; kind++)
        if (strlen(kind->name) == length && strncmp(kind->name, name, length) == 0)
            return kind;
    return NULL;
}

static const gl_part_kind *kind_of(const char *part)
{
    return gl_part_kind_find(part, strcspn(part, "."));
}

static bool has(const char *const *names, const char *name)
{
    for (size_t i = 0; names != NULL && names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* ---- fields ---- */

/* A term is what the cluster description says about it. */
const gl_field *gl_term_field(const char *term)
{
    for (int i = 0; i < GL_TERM_COUNT; i++) {
        if (strcmp(gl_cost_term_name((gl_cost_term)i), term) != 0)
            continue;
        size_t offset = offsetof(gl_cluster, terms.stated) + (size_t)i * sizeof(double);
        for (const gl_field *field = gl_cluster_fields; field->path != NULL; field++)
            if (field->type == GL_FIELD_REAL && field->offset == offset)
                return field;
    }
    return NULL;
}

gl_field gl_part_limits(const gl_part_kind *kind, const char *part)
{
    const char *dot = strchr(part, '.');
    const char *term = strcmp(kind->name, "term") == 0 && dot != NULL ? dot + 1 : kind->name;
    const gl_field *field = kind->maximum > 0 ? NULL : gl_term_field(term);
    if (field != NULL)
        return *field;
    return (gl_field){.type = GL_FIELD_REAL, .dimension = GL_NUMBER, .maximum = kind->maximum};
}

static bool is_price(const char *name)
{
    return strcmp(name, "low") == 0 || strcmp(name, "typical") == 0 || strcmp(name, "high") == 0;
}

/* Figures make sense for some kinds alone; a share of something has no currency. */
static bool makes_sense(const gl_part_kind *kind, const char *name)
{
    static const char *const figures[] = {"power", "ports",         "gpus", "rack",
                                          "reach", "nics_included", "link", NULL};
    if (strcmp(name, "currency") == 0)
        return kind->maximum > 0;
    return !has(figures, name) || has(kind->figures, name);
}

const gl_field *gl_part_fields_of(const gl_part_kind *kind, const char *part, const char *path,
                                  gl_arena *arena)
{
    gl_field *fields = GL_ARENA_NEW(arena, gl_field, FIELDS_MAX);
    const gl_field limits = gl_part_limits(kind, part);
    size_t count = 0;
    for (const gl_field *field = gl_part_fields; field->path != NULL; field++) {
        const char *name = strchr(field->path, '.') + 1;
        if (!makes_sense(kind, name))
            continue;
        fields[count] = *field;
        fields[count].path = gl_arena_printf(arena, "%s.%s", path, name);
        if (is_price(name)) {
            fields[count].dimension = limits.dimension;
            fields[count].minimum = limits.minimum;
            fields[count].maximum = limits.maximum;
        }
        count++;
    }
    fields[count].path = NULL;
    return fields;
}

/* ---- names ---- */

static bool is_plain(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            return false;
    return name[0] != '\0';
}

static bool diagnose_kind(const char *part, const gl_mark *mark, gl_arena *arena,
                          gl_diagnostics *diagnostics)
{
    enum { KINDS_MAX = 64 };
    const char *kinds[KINDS_MAX];
    char guess[GUESS_BYTES];
    size_t count = 0;
    for (; gl_part_kinds[count].name != NULL; count++)
        kinds[count] = gl_part_kinds[count].name;
    const char *found = gl_arena_strndup(arena, part, strcspn(part, "."));
    return gl_diagnose(diagnostics, mark, part,
                       "no such kind of part%s see gpulink-plan schema prices",
                       gl_did_you_mean(found, kinds, count, guess, sizeof guess));
}

bool gl_part_name_check(const char *part, const gl_mark *mark, gl_arena *arena,
                        gl_diagnostics *diagnostics)
{
    const gl_part_kind *kind = kind_of(part);
    const char *dot = strchr(part, '.');
    if (kind == NULL)
        return diagnose_kind(part, mark, arena, diagnostics);
    if (kind->names == GL_PART_ALONE && dot != NULL)
        return gl_diagnose(diagnostics, mark, part, "there is one %s alone, without a name",
                           kind->name);
    if (kind->names != GL_PART_ALONE && dot == NULL)
        return gl_diagnose(diagnostics, mark, part,
                           "needed: the name of what it belongs to, such as %s.%s", kind->name,
                           kind->names == GL_PART_GPU      ? "h100-sxm"
                           : kind->names == GL_PART_LINK   ? "ib-ndr"
                           : kind->names == GL_PART_REGION ? "us-texas"
                                                           : kind->fixed[0]);
    if (dot != NULL && !is_plain(dot + 1))
        return gl_diagnose(diagnostics, mark, part,
                           "a name has letters, digits, '-' and '_' after the first dot");
    return true;
}

/* "gpus" or "links"; NULL where the catalogue has no names. */
static const char *folder_of(const gl_part_kind *kind)
{
    return kind->names == GL_PART_GPU ? "gpus" : kind->names == GL_PART_LINK ? "links" : NULL;
}

/* Names of parts that there are, of this kind; in the arena. */
static const char **known_parts(const gl_part_kind *kind, const gl_price_list *list,
                                gl_arena *arena, size_t *count)
{
    size_t length = strlen(kind->name), bundled = 0, fixed = 0;
    const char *const *names =
        folder_of(kind) != NULL ? gl_datadir_list(arena, folder_of(kind), "yaml", &bundled) : NULL;
    while (kind->fixed != NULL && kind->fixed[fixed] != NULL)
        fixed++;
    const char **parts = GL_ARENA_NEW(arena, const char *, list->count + bundled + fixed + 1);
    *count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->prices[i].part, kind->name, length) == 0 &&
            list->prices[i].part[length] == '.')
            parts[(*count)++] = list->prices[i].part;
    size_t of_list = *count;
    for (size_t i = 0; i < bundled + fixed; i++) {
        const char *name = names != NULL && i < bundled ? names[i] : kind->fixed[i - bundled];
        const char *part = gl_arena_printf(arena, "%s.%s", kind->name, name);
        bool there = false;
        for (size_t k = 0; k < of_list; k++)
            there = there || strcmp(parts[k], part) == 0;
        if (!there)
            parts[(*count)++] = part;
    }
    return parts;
}

bool gl_part_known_check(const char *part, const gl_price_list *list, const gl_mark *mark,
                         gl_arena *arena, gl_diagnostics *diagnostics)
{
    const gl_part_kind *kind = kind_of(part);
    const char *dot = strchr(part, '.');
    /* Whether its kind is one, and goes with a name, gl_part_name_check says. */
    if (kind == NULL || dot == NULL || kind->names == GL_PART_ALONE)
        return true;
    const char *name = dot + 1, *folder = folder_of(kind);
    if (has(kind->fixed, name) || gl_price_find(list, kind->name, name) != NULL ||
        (folder != NULL && gl_datadir_find(arena, folder, name, "yaml") != NULL))
        return true;
    size_t count;
    char guess[GUESS_BYTES], allowed[LIST_BYTES];
    const char **parts = known_parts(kind, list, arena, &count);
    if (kind->names == GL_PART_FIXED)
        return gl_diagnose(diagnostics, mark, part, "there is no such %s%s allowed: %s", kind->name,
                           gl_did_you_mean(part, parts, count, guess, sizeof guess),
                           gl_list_names(kind->fixed, count, allowed, sizeof allowed));
    return gl_diagnose(diagnostics, mark, part,
                       "neither the base nor the catalogue has it%s a part of your own says "
                       "new: true",
                       gl_did_you_mean(part, parts, count, guess, sizeof guess));
}

/* ---- schema ---- */

static size_t count_fields(const gl_field *fields)
{
    size_t count = 0;
    while (fields[count].path != NULL)
        count++;
    return count;
}

static gl_field kind_row(const gl_part_kind *kind, gl_arena *arena)
{
    static const char *const names[] = {[GL_PART_ALONE] = "",
                                        [GL_PART_GPU] = ".GPU",
                                        [GL_PART_LINK] = ".LINK",
                                        [GL_PART_REGION] = ".REGION",
                                        [GL_PART_FIXED] = ".NAME"};
    size_t count = 0;
    gl_field row = gl_part_limits(kind, kind->name);
    while (kind->figures[count] != NULL)
        count++;
    const char *figures = gl_arena_join(arena, kind->figures, count, ", ");
    row.path = gl_arena_printf(arena, "prices.parts.%s%s", kind->name, names[kind->names]);
    row.initial = "";
    row.doc = figures[0] != '\0' ? gl_arena_printf(arena, "%s Has %s.", kind->meaning, figures)
                                 : kind->meaning;
    return row;
}

static gl_field term_row(const char *term, gl_arena *arena)
{
    const gl_field *field = gl_term_field(term);
    assert(field != NULL); /* every term is a field of a cluster description */
    gl_field row = *field;
    row.path = gl_arena_printf(arena, "prices.parts.term.%s", term);
    row.initial = "";
    row.doc = gl_arena_printf(arena, "Holds where the cluster description does not state %s.",
                              field->path);
    return row;
}

const gl_field *gl_prices_schema(gl_arena *arena)
{
    enum { KINDS_MAX = 64 };
    size_t top = count_fields(gl_prices_fields), parts = count_fields(gl_part_fields), n = 0;
    gl_field *all = GL_ARENA_NEW(arena, gl_field, top + parts + KINDS_MAX + GL_TERM_COUNT + 2);
    for (size_t i = 0; i < top; i++)
        all[n++] = gl_prices_fields[i];
    all[n] = gl_exchange_fields[0];
    all[n++].path = "prices.exchange.CURRENCY";
    for (size_t i = 0; i < parts; i++) {
        all[n] = gl_part_fields[i];
        all[n++].path =
            gl_arena_printf(arena, "prices.parts.PART%s", strchr(gl_part_fields[i].path, '.'));
    }
    for (const gl_part_kind *kind = gl_part_kinds; kind->name != NULL; kind++) {
        if (strcmp(kind->name, "term") != 0)
            all[n++] = kind_row(kind, arena);
        else
            for (size_t i = 0; kind->fixed[i] != NULL; i++)
                all[n++] = term_row(kind->fixed[i], arena);
    }
    all[n].path = NULL;
    return all;
}
