/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/catalogue.h"

#include "common/datadir.h"
#include "common/text.h"
#include "planner/input/fields.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 160, SOURCES_MAX = 100 };

static const char *const source_keys[] = {"text", "url", "date", "kind", NULL};
static const char *const kinds[] = {
    [GL_FIGURE_ABSENT] = "absent",
    [GL_FIGURE_MEASURED] = "measured",
    [GL_FIGURE_SPECIFICATION] = "specification",
    [GL_FIGURE_ASSUMED] = "assumed",
};

/* Where figures come from: what one entry of `sources` says. */
typedef struct source {
    const char *text, *date; /* text NULL: diagnosed */
    gl_figure_kind kind;
} source;

typedef struct document {
    gl_yaml_tree tree;
    const char *section; /* "gpu", "link" or "overlap" */
    const gl_field *fields;
    gl_arena *arena;
    gl_diagnostics *diagnostics;
    const char *names[SOURCES_MAX];
    source sources[SOURCES_MAX];
    size_t source_count;
} document;

/* ---- sources ---- */

/* The text at section.sources.NAME.KEY; NULL after a diagnosis, or when absent. */
static const char *source_text(const document *d, const gl_yaml_node *node, const char *key,
                               bool required)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.sources.%.64s.%s", d->section, node->key, key);
    if (gl_yaml_get(node, key) == NULL) {
        if (required)
            gl_diagnose(d->diagnostics, &node->key_mark, path, "missing; it is required");
        return NULL;
    }
    return gl_fields_text(&d->tree, path, d->diagnostics);
}

static bool parse_kind(const char *text, gl_figure_kind *kind)
{
    for (int i = GL_FIGURE_MEASURED; i <= GL_FIGURE_ASSUMED; i++)
        if (strcmp(text, kinds[i]) == 0) {
            *kind = (gl_figure_kind)i;
            return true;
        }
    return false;
}

static bool check_source_keys(const document *d, const gl_yaml_node *node)
{
    bool known = true;
    for (const gl_yaml_node *child = node->first; child != NULL; child = child->next) {
        size_t i = 0;
        while (source_keys[i] != NULL && strcmp(source_keys[i], child->key) != 0)
            i++;
        if (source_keys[i] == NULL)
            known = gl_diagnose(d->diagnostics, &child->key_mark, d->section,
                                "unknown key in a source; allowed: text, url, date, kind");
    }
    return known;
}

static bool read_source(const document *d, const gl_yaml_node *node, source *out)
{
    if (node->kind != GL_YAML_MAPPING || strchr(node->key, '.') != NULL)
        return gl_diagnose(d->diagnostics, &node->mark, d->section,
                           "a source is NAME: {text, url, date, kind}, its name without dots");
    if (!check_source_keys(d, node))
        return false;
    const char *text = source_text(d, node, "text", true);
    const char *url = source_text(d, node, "url", false);
    const char *kind = source_text(d, node, "kind", true);
    const char *date = source_text(d, node, "date", true);
    if (text == NULL || kind == NULL || date == NULL)
        return false;
    if (!parse_kind(kind, &out->kind))
        return gl_diagnose(d->diagnostics, &gl_yaml_get(node, "kind")->mark, d->section,
                           "found kind '%.40s'; allowed: measured, specification, assumed", kind);
    if (!gl_is_date(date))
        return gl_diagnose(d->diagnostics, &gl_yaml_get(node, "date")->mark, d->section,
                           "found date '%.40s'; needed: a day, such as 2026-11-20", date);
    out->text = url != NULL ? gl_arena_printf(d->arena, "%s, %s", text, url) : text;
    out->date = date;
    return true;
}

static void read_sources(document *d)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.sources", d->section);
    const gl_yaml_node *sources = gl_yaml_find(&d->tree, path);
    if (sources == NULL)
        return; /* said already: it is a required field */
    if (sources->kind != GL_YAML_MAPPING)
        gl_diagnose(d->diagnostics, &sources->mark, path, "needed: a mapping of sources");
    for (const gl_yaml_node *node = sources->first; node != NULL; node = node->next) {
        if (node->key == NULL || d->source_count == SOURCES_MAX)
            return;
        d->names[d->source_count] = node->key;
        read_source(d, node, &d->sources[d->source_count]);
        d->source_count++;
    }
}

static void diagnose_source(const document *d, const gl_field *field, const char *name)
{
    char guess[160], list[256], path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.source", field->path);
    gl_mark mark = gl_fields_mark(&d->tree, path);
    gl_did_you_mean(name, d->names, d->source_count, guess, sizeof guess);
    gl_list_names(d->names, d->source_count, list, sizeof list);
    gl_diagnose(d->diagnostics, &mark, path, "unknown source '%.64s'%s the document has: %s", name,
                guess, list);
}

static void resolve_figure(const document *d, const gl_field *field, gl_figure *figure)
{
    for (size_t i = 0; i < d->source_count; i++)
        if (strcmp(d->names[i], figure->source) == 0) {
            figure->kind = d->sources[i].kind;
            figure->source = d->sources[i].text;
            figure->date = d->sources[i].date;
            return;
        }
    diagnose_source(d, field, figure->source);
}

/* Replaces the names of sources by what they stand for. */
static void resolve_figures(document *d, char *target)
{
    read_sources(d);
    for (const gl_field *field = d->fields; field->path != NULL; field++) {
        gl_figure *figure = (gl_figure *)(void *)(target + field->offset);
        if (field->type == GL_FIELD_FIGURE && figure->source != NULL)
            resolve_figure(d, field, figure);
    }
}

/* ---- files ---- */

static bool load_entry(const char *path, const char *section, const gl_field *fields,
                       gl_arena *arena, void *target, gl_diagnostics *diagnostics)
{
    gl_error err;
    document d = {.section = section, .fields = fields, .arena = arena, .diagnostics = diagnostics};
    size_t before = diagnostics->count + diagnostics->dropped;
    if (!gl_yaml_load(path, arena, &d.tree, &err))
        return gl_diagnose_error(diagnostics, &err);
    gl_fields_load(fields, &d.tree, arena, target, diagnostics);
    if (d.tree.root->kind == GL_YAML_MAPPING)
        resolve_figures(&d, target);
    return diagnostics->count + diagnostics->dropped == before;
}

bool gl_catalogue_is_own_file(const char *name)
{
    return strchr(name, '/') != NULL || gl_ends_with(name, ".yaml");
}

static const char *find_entry(const char *folder, const char *name, gl_arena *arena)
{
    if (gl_catalogue_is_own_file(name) && gl_file_exists(name))
        return name;
    return gl_datadir_find(arena, folder, name, "yaml");
}

/* Does a GPU file list the name among its aliases, or has it as its title? A file that cannot be
 * read may be the one that is looked for. */
static bool has_alias(const char *path, const char *name, gl_arena *scratch,
                      gl_diagnostics *diagnostics)
{
    gl_yaml_tree tree;
    gl_error err;
    if (!gl_yaml_load(path, scratch, &tree, &err))
        return gl_diagnose_error(diagnostics, &err);
    const gl_yaml_node *title = gl_yaml_find(&tree, "gpu.title");
    if (title != NULL && title->kind == GL_YAML_SCALAR && strcmp(title->text, name) == 0)
        return true;
    const gl_yaml_node *aliases = gl_yaml_find(&tree, "gpu.aliases");
    if (aliases == NULL || aliases->kind != GL_YAML_SEQUENCE)
        return false;
    for (const gl_yaml_node *alias = aliases->first; alias != NULL; alias = alias->next)
        if (alias->kind == GL_YAML_SCALAR && strcmp(alias->text, name) == 0)
            return true;
    return false;
}

/* The file of the GPU that a driver prints as `name`; the first by name when several list it. */
static const char *find_alias(const char *name, gl_arena *arena, gl_diagnostics *diagnostics)
{
    size_t count;
    const char *found = NULL;
    gl_arena *scratch = gl_arena_create();
    const char *const *names = gl_datadir_list(scratch, "gpus", "yaml", &count);
    for (size_t i = 0; i < count && found == NULL; i++) {
        const char *path = gl_datadir_find(scratch, "gpus", names[i], "yaml");
        if (path != NULL && has_alias(path, name, scratch, diagnostics))
            found = gl_arena_strdup(arena, path);
    }
    gl_arena_destroy(scratch);
    return found;
}

/* A GPU computes in BF16 or at least in FP16. */
static bool check_peaks(const char *path, const gl_gpu *gpu, gl_diagnostics *diagnostics)
{
    gl_mark mark = {.file = path};
    return gpu->bf16_flop_per_s.kind != GL_FIGURE_ABSENT ||
           gpu->fp16_flop_per_s.kind != GL_FIGURE_ABSENT ||
           gl_diagnose(diagnostics, &mark, "gpu.bf16", "missing; bf16 or fp16 is required");
}

const gl_gpu *gl_catalogue_gpu(const char *name, gl_arena *arena, gl_diagnostics *diagnostics)
{
    static const char *const none[] = {NULL};
    const char *path = find_entry("gpus", name, arena);
    if (path == NULL)
        path = find_alias(name, arena, diagnostics);
    if (path == NULL)
        return NULL;
    gl_gpu *gpu = GL_ARENA_NEW(arena, gl_gpu, 1);
    gpu->aliases = none;
    gpu->name = gl_file_stem(arena, path);
    if (!load_entry(path, "gpu", gl_gpu_fields, arena, gpu, diagnostics) ||
        !check_peaks(path, gpu, diagnostics))
        return NULL;
    return gpu;
}

const gl_link *gl_catalogue_link(const char *name, gl_arena *arena, gl_diagnostics *diagnostics)
{
    const char *path = find_entry("links", name, arena);
    if (path == NULL)
        return NULL;
    gl_link *link = GL_ARENA_NEW(arena, gl_link, 1);
    link->name = gl_file_stem(arena, path);
    if (!load_entry(path, "link", gl_link_fields, arena, link, diagnostics))
        return NULL;
    return link;
}

const gl_overlap_taxes *gl_catalogue_overlap(gl_arena *arena, gl_diagnostics *diagnostics)
{
    const char *path = find_entry("transports", "overlap", arena);
    if (path == NULL)
        return NULL;
    gl_overlap_taxes *taxes = GL_ARENA_NEW(arena, gl_overlap_taxes, 1);
    return load_entry(path, "overlap", gl_overlap_fields, arena, taxes, diagnostics) ? taxes : NULL;
}
