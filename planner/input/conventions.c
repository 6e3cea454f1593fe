/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/conventions.h"

#include "common/datadir.h"
#include "common/text.h"
#include "planner/input/catalogue.h"
#include "planner/input/notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONDITIONS_MAX = 8, REASON_BYTES = 700, SHOWN_BYTES = 80 };

typedef struct condition {
    gl_run_column column;
    const gl_yaml_node *patterns; /* a scalar or a sequence of them */
} condition;

typedef struct statement {
    condition conditions[CONDITIONS_MAX];
    int condition_count;
    const char *family, *leave_out, *fitted;
    gl_yaml_node *model, *cluster; /* mappings of the sections of each description */
} statement;

/* Clusters that were made, by the text of their description. */
typedef struct known_cluster {
    const char *key;
    const gl_cluster *cluster; /* NULL: it cannot be loaded, because … */
    const char *reason;
    bool broken;
    struct known_cluster *next;
} known_cluster;

struct gl_conventions {
    gl_arena *arena;
    const char *file;
    statement *statements;
    size_t count, capacity;
    known_cluster *clusters;
};

/* ---- patterns ---- */

/* '*' is any text, everything else itself. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool condition_holds(const condition *c, const gl_known_run *run)
{
    const char *text = run->texts[c->column];
    if (c->patterns->kind == GL_YAML_SCALAR)
        return matches(c->patterns->text, text);
    for (const gl_yaml_node *item = c->patterns->first; item != NULL; item = item->next)
        if (matches(item->text, text))
            return true;
    return false;
}

static bool statement_holds(const statement *s, const gl_known_run *run)
{
    for (int i = 0; i < s->condition_count; i++)
        if (!condition_holds(&s->conditions[i], run))
            return false;
    return true;
}

/* ---- loading ---- */

typedef struct loader {
    gl_conventions *out;
    gl_arena *arena;
    gl_diagnostics *diagnostics;
} loader;

static bool all_scalars(const gl_yaml_node *node)
{
    if (node->kind == GL_YAML_MAPPING || (node->kind == GL_YAML_SEQUENCE && node->first == NULL))
        return false;
    for (const gl_yaml_node *item = node->first; item != NULL; item = item->next)
        if (item->kind != GL_YAML_SCALAR)
            return false;
    return true;
}

static void read_condition(const loader *l, const gl_yaml_node *node, statement *s)
{
    gl_run_column column = gl_run_column_find(node->key, strlen(node->key));
    if (column == GL_RUN_COLUMN_COUNT)
        gl_diagnose(l->diagnostics, &node->key_mark, "when", "there is no column '%.60s'",
                    node->key);
    else if (!all_scalars(node))
        gl_diagnose(l->diagnostics, &node->mark, "when",
                    "needed: a pattern, or a list of patterns of which one must match");
    else if (s->condition_count == CONDITIONS_MAX)
        gl_diagnose(l->diagnostics, &node->key_mark, "when", "more than %d columns",
                    CONDITIONS_MAX);
    else
        s->conditions[s->condition_count++] = (condition){column, node};
}

static void read_conditions(const loader *l, const gl_yaml_node *node, statement *s)
{
    if (node->kind != GL_YAML_MAPPING || node->first == NULL) {
        gl_diagnose(l->diagnostics, &node->mark, "when",
                    "needed: a mapping of columns, such as {id: \"kort-*\"}");
        return;
    }
    for (const gl_yaml_node *child = node->first; child != NULL; child = child->next)
        read_condition(l, child, s);
}

static const char *read_words(const loader *l, const gl_yaml_node *node)
{
    char printed[1024];
    if (node->kind == GL_YAML_SCALAR && node->text[0] != '\0' &&
        strlen(node->text) < sizeof printed &&
        strcmp(gl_printable(node->text, printed, sizeof printed), node->text) == 0)
        return node->text;
    gl_diagnose(l->diagnostics, &node->mark, node->key, "needed: a text of one line");
    return "";
}

/* Does a section belong to the cluster description? */
static bool is_cluster_section(const char *key)
{
    return strcmp(key, "cluster") == 0 || strcmp(key, "prices") == 0;
}

static bool is_section(const gl_field *fields, const char *key)
{
    size_t length = strlen(key);
    for (const gl_field *field = fields; field->path != NULL; field++)
        if (strncmp(field->path, key, length) == 0 && field->path[length] == '.')
            return true;
    return false;
}

static gl_yaml_node *new_mapping(gl_arena *arena, gl_mark mark)
{
    gl_yaml_node *node = GL_ARENA_NEW(arena, gl_yaml_node, 1);
    *node = (gl_yaml_node){.kind = GL_YAML_MAPPING, .mark = mark, .key_mark = mark};
    return node;
}

static void add_section(const loader *l, const gl_yaml_node *node, gl_yaml_node **into)
{
    gl_yaml_node alone = *node;
    alone.next = NULL;
    const gl_yaml_node parent = {.kind = GL_YAML_MAPPING, .first = &alone};
    if (*into == NULL)
        *into = new_mapping(l->arena, node->mark);
    gl_yaml_merge(*into, l->arena, &parent);
}

static void read_entry(const loader *l, const gl_yaml_node *node, statement *s, bool *because)
{
    const char *key = node->key;
    if (strcmp(key, "when") == 0)
        read_conditions(l, node, s);
    else if (strcmp(key, "because") == 0)
        *because = read_words(l, node)[0] != '\0';
    else if (strcmp(key, "family") == 0)
        s->family = read_words(l, node);
    else if (strcmp(key, "leave_out") == 0)
        s->leave_out = read_words(l, node);
    else if (strcmp(key, "fitted") == 0)
        s->fitted = read_words(l, node);
    else if (is_cluster_section(key))
        add_section(l, node, &s->cluster);
    else if (is_section(gl_model_fields, key))
        add_section(l, node, &s->model);
    else
        gl_diagnose(l->diagnostics, &node->key_mark, "conventions",
                    "unknown key '%.60s'; allowed: when, because, family, leave_out, fitted, and "
                    "the sections of a model or cluster description",
                    key);
}

/* A copy without references to columns, for checking what remains. */
static void drop_references(gl_yaml_node *node)
{
    for (gl_yaml_node **link = &node->first; *link != NULL;) {
        if ((*link)->kind == GL_YAML_SCALAR && (*link)->text[0] == '$') {
            *link = (*link)->next;
        } else {
            drop_references(*link);
            link = &(*link)->next;
        }
    }
}

static void check_references(const loader *l, const gl_yaml_node *node)
{
    for (const gl_yaml_node *child = node->first; child != NULL; child = child->next) {
        check_references(l, child);
        if (child->kind != GL_YAML_SCALAR || child->text[0] != '$')
            continue;
        const char *name = child->text + 1;
        if (gl_run_column_find(name, strlen(name)) == GL_RUN_COLUMN_COUNT)
            gl_diagnose(l->diagnostics, &child->mark, child->key, "there is no column '%.60s'",
                        name);
    }
}

/* Fields and values are those of the descriptions. */
static void check_sections(const loader *l, const gl_yaml_node *sections, const gl_field *fields,
                           void *scratch)
{
    if (sections == NULL)
        return;
    gl_yaml_tree tree = {.file = l->out->file, .root = new_mapping(l->arena, sections->mark)};
    check_references(l, sections);
    gl_yaml_merge(tree.root, l->arena, sections);
    drop_references(tree.root);
    gl_fields_load(gl_fields_optional(fields, l->arena), &tree, l->arena, scratch, l->diagnostics);
}

static void read_statement(const loader *l, const gl_yaml_node *node)
{
    statement s = {.condition_count = 0};
    bool because = false;
    size_t before = gl_diagnostics_found(l->diagnostics);
    if (node->kind != GL_YAML_MAPPING) {
        gl_diagnose(l->diagnostics, &node->mark, "conventions",
                    "needed: a mapping with when, because and what holds then");
        return;
    }
    for (const gl_yaml_node *child = node->first; child != NULL; child = child->next)
        read_entry(l, child, &s, &because);
    if (gl_diagnostics_found(l->diagnostics) == before && s.condition_count == 0)
        gl_diagnose(l->diagnostics, &node->mark, "conventions", "'when' is missing");
    if (gl_diagnostics_found(l->diagnostics) == before && !because)
        gl_diagnose(l->diagnostics, &node->mark, "conventions",
                    "'because' is missing: where it is known from");
    gl_workload workload = gl_workload_defaults();
    gl_cluster cluster = {0};
    check_sections(l, s.model, gl_model_fields, &workload);
    check_sections(l, s.cluster, gl_cluster_fields, &cluster);
    gl_conventions *c = l->out;
    c->statements =
        gl_arena_grow(l->arena, c->statements, &c->capacity, c->count + 1, sizeof *c->statements);
    c->statements[c->count++] = s;
}

gl_conventions *gl_conventions_load(const char *path, gl_arena *arena, gl_diagnostics *diagnostics)
{
    gl_yaml_tree tree;
    gl_error err;
    size_t before = gl_diagnostics_found(diagnostics);
    if (path == NULL)
        path = gl_datadir_find(arena, "validation", "conventions", "yaml");
    if (path == NULL) {
        gl_diagnose(diagnostics, NULL, NULL, "data/validation/conventions.yaml is not installed");
        return NULL;
    }
    if (!gl_yaml_load(path, arena, &tree, &err)) {
        gl_diagnose_error(diagnostics, &err);
        return NULL;
    }
    gl_conventions *out = GL_ARENA_NEW(arena, gl_conventions, 1);
    *out = (gl_conventions){.arena = arena, .file = tree.file};
    loader l = {.out = out, .arena = arena, .diagnostics = diagnostics};
    const gl_yaml_node *list = gl_yaml_get(tree.root, "conventions");
    if (list == NULL || list->kind != GL_YAML_SEQUENCE || tree.root->first->next != NULL)
        gl_diagnose(diagnostics, &tree.root->mark, NULL, "needed: conventions, a list");
    else
        for (const gl_yaml_node *node = list->first; node != NULL; node = node->next)
            read_statement(&l, node);
    return gl_diagnostics_found(diagnostics) == before ? out : NULL;
}

/* ---- from a row to two descriptions ---- */

typedef struct builder {
    gl_conventions *conventions;
    const gl_known_run *run;
    gl_arena *arena;
    gl_yaml_tree model, cluster;
    gl_run_case *out;
    gl_error err;
} builder;

/* The first reason counts. */
static void cannot(builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void cannot(builder *b, const char *format, ...)
{
    char text[REASON_BYTES];
    va_list args;
    if (b->out->reason != NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    b->out->reason = gl_arena_strdup(b->arena, text);
}

static void put(builder *b, gl_run_column column, const char *path, const char *value)
{
    gl_yaml_tree *tree = gl_starts_with(path, "cluster.") ? &b->cluster : &b->model;
    if (!gl_yaml_put(tree, b->arena, &b->run->marks[column], path, value, &b->err))
        cannot(b, "%s", b->err.message);
}

static bool has(const builder *b, const char *path)
{
    const gl_yaml_tree *tree = gl_starts_with(path, "cluster.") ? &b->cluster : &b->model;
    return gl_yaml_find(tree, path) != NULL;
}

static void put_columns(builder *b)
{
    const gl_known_run *run = b->run;
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++) {
        const char *path = gl_run_column_path((gl_run_column)i);
        if (path != NULL && run->texts[i][0] != '\0')
            put(b, (gl_run_column)i, path, run->texts[i]);
    }
    bool experts = run->texts[GL_RUN_EXPERTS][0] != '\0';
    if (run->texts[GL_RUN_FFN][0] != '\0')
        put(b, GL_RUN_FFN, experts ? "model.moe.expert_ffn" : "model.ffn", run->texts[GL_RUN_FFN]);
    if (run->texts[GL_RUN_GPU][0] != '\0')
        put(b, GL_RUN_GPU, "cluster.gpu", run->texts[GL_RUN_GPU]);
    if (run->texts[GL_RUN_INTRA_LINK][0] != '\0')
        put(b, GL_RUN_INTRA_LINK, "cluster.intra_node.link", run->texts[GL_RUN_INTRA_LINK]);
    if (run->texts[GL_RUN_INTER_LINK][0] != '\0')
        put(b, GL_RUN_INTER_LINK, "cluster.inter_node.link", run->texts[GL_RUN_INTER_LINK]);
}

/* Puts the row's cells where a statement refers to them; an empty cell states nothing. */
static void resolve_references(gl_yaml_node *node, const gl_known_run *run)
{
    for (gl_yaml_node **link = &node->first; *link != NULL;) {
        gl_yaml_node *child = *link;
        resolve_references(child, run);
        if (child->kind == GL_YAML_SCALAR && child->text[0] == '$') {
            gl_run_column column = gl_run_column_find(child->text + 1, strlen(child->text + 1));
            child->text = run->texts[column];
            child->mark = run->marks[column];
            if (child->text[0] == '\0') {
                *link = child->next;
                continue;
            }
        }
        link = &child->next;
    }
}

static void apply_sections(builder *b, const gl_yaml_node *sections, gl_yaml_tree *tree)
{
    if (sections == NULL)
        return;
    gl_yaml_node *copy = new_mapping(b->arena, sections->mark);
    gl_yaml_merge(copy, b->arena, sections);
    resolve_references(copy, b->run);
    gl_yaml_merge(tree->root, b->arena, copy);
}

static void apply_statements(builder *b, bool *understood)
{
    const gl_conventions *c = b->conventions;
    for (size_t i = 0; i < c->count; i++) {
        const statement *s = &c->statements[i];
        if (!statement_holds(s, b->run))
            continue;
        for (int k = 0; k < s->condition_count; k++)
            understood[s->conditions[k].column] = true;
        if (s->family != NULL)
            b->out->family = s->family;
        if (s->fitted != NULL)
            b->out->fitted = s->fitted;
        if (s->leave_out != NULL)
            cannot(b, "%s", s->leave_out);
        apply_sections(b, s->model, &b->model);
        apply_sections(b, s->cluster, &b->cluster);
    }
}

/* A word that no statement knows must not be passed over. */
static void check_understood(builder *b, const bool *understood)
{
    char shown[SHOWN_BYTES];
    for (int i = 0; i < GL_RUN_COLUMN_COUNT; i++) {
        gl_run_column column = (gl_run_column)i;
        if (gl_run_column_is_matched(column) && b->run->texts[i][0] != '\0' && !understood[i])
            cannot(b, "%s '%s' is in no convention", gl_run_column_name(column),
                   gl_printable(b->run->texts[i], shown, sizeof shown));
    }
}

static void apply_settings(builder *b)
{
    for (size_t i = 0; i < b->run->setting_count; i++)
        put(b, GL_RUN_SETTINGS, b->run->settings[i].key, b->run->settings[i].value);
}

static long long integer_at(const builder *b, const char *path, long long otherwise)
{
    const gl_yaml_tree *tree = gl_starts_with(path, "cluster.") ? &b->cluster : &b->model;
    const gl_yaml_node *node = gl_yaml_find(tree, path);
    long long value;
    if (node == NULL || node->kind != GL_YAML_SCALAR || !gl_parse_integer(node->text, &value, NULL))
        return otherwise;
    return value;
}

/* What follows from the rest. */
static void derive_layout(builder *b)
{
    long long ranks = integer_at(b, "parallel.tp", 1) * integer_at(b, "parallel.pp", 1) *
                      integer_at(b, "parallel.cp", 1);
    double gpus = b->run->numbers[GL_RUN_GPUS];
    if (integer_at(b, "parallel.virtual_stages", 1) > 1 && !has(b, "parallel.schedule"))
        put(b, GL_RUN_VPP, "parallel.schedule", "interleaved");
    if (has(b, "parallel.dp") || isnan(gpus))
        return;
    if (fmod(gpus, (double)ranks) != 0)
        cannot(b, "%.0f GPUs are no multiple of tp x pp x cp (%lld)", gpus, ranks);
    else
        put(b, GL_RUN_GPUS, "parallel.dp", gl_arena_printf(b->arena, "%.0f", gpus / (double)ranks));
}

static void check_ranks(builder *b)
{
    double gpus = b->run->numbers[GL_RUN_GPUS];
    double ranks = (double)gl_workload_ranks(&b->out->workload);
    if (!isnan(gpus) && gpus != ranks)
        cannot(b, "tp x pp x cp x dp makes %.0f ranks, the run had %.0f GPUs", ranks, gpus);
}

/* ---- clusters ---- */

/* NICs whose ports together have the stated bandwidth; where no number of them has, a port has what
 * is missing or too much. */
static void derive_nics(builder *b, double per_gpu_bytes_per_s)
{
    const gl_yaml_node *node = gl_yaml_find(&b->cluster, "cluster.inter_node.link");
    gl_diagnostics diagnostics = {.count = 0};
    const gl_link *link =
        node->kind == GL_YAML_SCALAR ? gl_catalogue_link(node->text, b->arena, &diagnostics) : NULL;
    if (link == NULL)
        return; /* the loader says so */
    double gpus = (double)integer_at(b, "cluster.gpus_per_node", 1);
    double node_bytes_per_s = per_gpu_bytes_per_s * gpus;
    double ports = node_bytes_per_s / link->bw_bytes_per_s.value,
           nics = fmax(1, ceil(ports - 0.01));
    put(b, GL_RUN_INTER_GBPS, "cluster.inter_node.nics_per_node",
        gl_arena_printf(b->arena, "%.0f", nics));
    if (fabs(ports - nics) > 0.01)
        put(b, GL_RUN_INTER_GBPS, "cluster.inter_node.bandwidth",
            gl_arena_printf(b->arena, "%.17g B/s", node_bytes_per_s / nics));
}

/* Nodes that the GPUs fill, and what joins them. */
static void derive_cluster(builder *b)
{
    double gpus = b->run->numbers[GL_RUN_GPUS];
    if (isnan(gpus)) {
        cannot(b, "the number of GPUs is not stated");
        return;
    }
    if (!has(b, "cluster.gpus_per_node"))
        put(b, GL_RUN_GPUS, "cluster.gpus_per_node", b->run->texts[GL_RUN_GPUS]);
    double per_node = (double)integer_at(b, "cluster.gpus_per_node", 1);
    double nodes = ceil(gpus / fmax(1, per_node));
    put(b, GL_RUN_GPUS, "cluster.nodes", gl_arena_printf(b->arena, "%.0f", nodes));
    if (nodes > 1 && !has(b, "cluster.inter_node.link"))
        cannot(b, "ran on several nodes, and the network between them is not stated");
    else if (nodes > 1 && !has(b, "cluster.inter_node.nics_per_node")) {
        double gbps = b->run->numbers[GL_RUN_INTER_GBPS];
        if (isnan(gbps))
            cannot(b, "ran on several nodes, and the network's bandwidth is not stated");
        else
            derive_nics(b, gbps * 1e9 / 8);
    }
    if (gpus > 1 && per_node > 1 && !has(b, "cluster.intra_node.link"))
        cannot(b, "the link between the GPUs of a node is not stated");
}

/* All of a document as one text. */
static const char *describe(const gl_yaml_node *node, const char *text, gl_arena *arena)
{
    for (const gl_yaml_node *child = node->first; child != NULL; child = child->next) {
        text = gl_arena_printf(arena, "%s%s=%s{", text, child->key != NULL ? child->key : "",
                               child->text != NULL ? child->text : "");
        text = gl_arena_printf(arena, "%s}", describe(child, text, arena));
    }
    return text;
}

/* "path: message" of the first problem. */
static const char *first_problem(const gl_diagnostics *diagnostics, gl_arena *arena)
{
    const gl_error *err = &diagnostics->items[0];
    return gl_arena_printf(arena, "%s%s%s", err->path, err->path[0] != '\0' ? ": " : "",
                           err->message);
}

static known_cluster *find_cluster(const gl_conventions *c, const char *key)
{
    known_cluster *known = c->clusters;
    while (known != NULL && strcmp(known->key, key) != 0)
        known = known->next;
    return known;
}

/* Loads into the arena of the conventions: other runs use it, too. */
static known_cluster *add_cluster(gl_conventions *c, const char *key, const char *name,
                                  const gl_yaml_tree *tree)
{
    gl_diagnostics diagnostics = {.count = 0};
    gl_texts warnings = {0};
    gl_cluster *cluster = GL_ARENA_NEW(c->arena, gl_cluster, 1);
    known_cluster *known = GL_ARENA_NEW(c->arena, known_cluster, 1);
    bool loaded = name != NULL
                      ? gl_cluster_load(name, NULL, 0, c->arena, cluster, &warnings, &diagnostics)
                      : gl_cluster_tree_load(tree, c->arena, cluster, &warnings, &diagnostics);
    *known = (known_cluster){.key = gl_arena_strdup(c->arena, key), .next = c->clusters};
    if (loaded)
        known->cluster = cluster;
    else
        known->reason = first_problem(&diagnostics, c->arena);
    known->broken = !loaded && diagnostics.items[0].status == GL_ERROR_SYSTEM;
    c->clusters = known;
    return known;
}

static void load_cluster(builder *b)
{
    const char *name = b->run->texts[GL_RUN_CLUSTER];
    if (name[0] == '\0')
        name = NULL;
    else if (strcmp(name, "-") == 0)
        cannot(b, "cluster: '-' is no name");
    if (name == NULL)
        derive_cluster(b);
    if (b->out->reason != NULL)
        return;
    const char *key = name != NULL ? name : describe(b->cluster.root, "", b->arena);
    known_cluster *known = find_cluster(b->conventions, key);
    if (known == NULL)
        known = add_cluster(b->conventions, key, name, &b->cluster);
    if (known->cluster == NULL)
        cannot(b, "%s", known->reason);
    b->out->broken = known->broken;
    b->out->cluster = known->cluster;
}

/* ---- the whole ---- */

static void load_workload(builder *b)
{
    gl_diagnostics diagnostics = {.count = 0};
    if (!gl_model_tree_load(&b->model, false, b->arena, &b->out->workload, &b->out->notes,
                            &diagnostics))
        cannot(b, "%s", first_problem(&diagnostics, b->arena));
}

static void check_together(builder *b)
{
    gl_diagnostics diagnostics = {.count = 0};
    gl_findings findings = {.arena = b->arena};
    gl_check_cluster(&b->out->workload, b->out->cluster, &findings);
    gl_findings_report(&findings, &b->model, b->arena, &b->out->notes, &diagnostics);
    if (diagnostics.count > 0)
        cannot(b, "%s", first_problem(&diagnostics, b->arena));
}

void gl_run_case_build(gl_conventions *conventions, const gl_known_run *run, gl_arena *arena,
                       gl_run_case *out)
{
    bool understood[GL_RUN_COLUMN_COUNT] = {false};
    const char *source = run->texts[GL_RUN_SOURCE];
    *out = (gl_run_case){.family = source[0] != '\0' ? source : "other"};
    builder b = {.conventions = conventions, .run = run, .arena = arena, .out = out};
    b.model = (gl_yaml_tree){.file = run->mark.file, .root = new_mapping(arena, run->mark)};
    b.cluster = (gl_yaml_tree){.file = run->mark.file, .root = new_mapping(arena, run->mark)};
    put_columns(&b);
    apply_statements(&b, understood);
    check_understood(&b, understood);
    apply_settings(&b);
    out->gpu = gl_yaml_find(&b.cluster, "cluster.gpu") != NULL
                   ? gl_yaml_find(&b.cluster, "cluster.gpu")->text
                   : NULL;
    derive_layout(&b);
    if (isnan(run->measured_s))
        cannot(&b, "neither the time of a step nor what it follows from is stated");
    if (out->reason == NULL)
        load_workload(&b);
    if (out->reason == NULL)
        check_ranks(&b);
    if (out->reason == NULL)
        load_cluster(&b);
    if (out->reason == NULL)
        check_together(&b);
}
