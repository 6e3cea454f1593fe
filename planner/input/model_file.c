/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/model_file.h"

#include "common/text.h"
#include "planner/input/file_text.h"
#include "planner/input/huggingface.h"
#include "planner/input/json_check.h"
#include "planner/input/notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct loader {
    const gl_yaml_tree *tree;
    gl_arena *arena;
    gl_workload *workload;
    gl_texts *warnings;
    gl_diagnostics *diagnostics;
} loader;

static bool stated(const loader *l, const char *path)
{
    return gl_yaml_find(l->tree, path) != NULL;
}

static size_t problems(const loader *l)
{
    return l->diagnostics->count + l->diagnostics->dropped;
}

/* What a Hugging Face configuration that is given in a description's place leaves open: the usual
 * of pre-training (Llama 2 and 3, OLMo: 4 Mi tokens a step), said in a warning. */
enum { BARE_SEQUENCE = 4096, BARE_BATCH_TOKENS = 4 << 20 };

/* ---- Hugging Face ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Is the description nothing but this configuration? */
static bool is_bare(const loader *l, const char *configuration)
{
    return configuration != NULL && strcmp(configuration, l->tree->file) == 0;
}

static void assume_sequence(const loader *l, int positions)
{
    gl_model *m = &l->workload->model;
    const gl_mark mark = {.file = l->tree->file};
    m->sequence = positions > 0 && positions < BARE_SEQUENCE ? positions : BARE_SEQUENCE;
    gl_warn(l->warnings, l->arena, &mark, "model.sequence", "assumed: %d tokens", m->sequence);
}

static void assume_batch(const loader *l)
{
    gl_workload *w = l->workload;
    const gl_mark mark = {.file = l->tree->file};
    w->batch.global =
        w->model.sequence < BARE_BATCH_TOKENS ? BARE_BATCH_TOKENS / w->model.sequence : 1;
    gl_warn(l->warnings, l->arena, &mark, "batch.global",
            "assumed: %lld sequences a step (--set batch.global=N)", (long long)w->batch.global);
}

/* The configuration's path; NULL when the description names none. */
static const char *huggingface_file(const loader *l)
{
    const char *path = "model.huggingface";
    const gl_yaml_node *node = gl_yaml_find(l->tree, path);
    const char *name = gl_fields_text(l->tree, path, l->diagnostics);
    if (name == NULL)
        return NULL;
    return gl_yaml_is_setting(node) ? name : gl_file_beside(l->arena, l->tree->file, name);
}

static void load_huggingface(const loader *l, const char *file)
{
    const char *path = "model.huggingface";
    const gl_yaml_node *node = gl_yaml_find(l->tree, path);
    gl_yaml_tree tree;
    gl_error err;
    int positions = 0;
    if (!gl_file_exists(file)) {
        gl_diagnose(l->diagnostics, &node->mark, path, "no such file: %.300s%s", file,
                    gl_file_guess(l->arena, file));
        return;
    }
    if (!gl_yaml_load(file, l->arena, &tree, &err))
        gl_diagnose_error(l->diagnostics, &err);
    else if (!gl_huggingface_load(&tree, l->arena, &l->workload->model, &positions, l->warnings,
                                  l->diagnostics) ||
             stated(l, "model.sequence"))
        return;
    else if (is_bare(l, file))
        assume_sequence(l, positions);
    else if (positions > 0)
        gl_diagnose(l->diagnostics, &node->mark, "model.sequence",
                    "is not stated; %.100s allows up to %d tokens: state the length you train with",
                    base_name(file), positions);
}

/* ---- completeness ---- */

/* Has every layer experts, so that no dense MLP needs a width? */
static bool all_layers_have_experts(const gl_moe *moe)
{
    return moe->experts > 0 && moe->first_dense_layers == 0 && moe->every == 1;
}

/* An architecture is whole or absent: half of one is a slip. */
static void check_complete(const loader *l)
{
    const gl_model *m = &l->workload->model;
    const struct {
        const char *path;
        bool missing;
    } needed[] = {
        {"model.layers", m->layers == 0},
        {"model.hidden", m->hidden == 0},
        {"model.heads", m->heads == 0},
        {"model.ffn", m->ffn == 0 && !all_layers_have_experts(&m->moe)},
        {"model.vocab", m->vocab == 0},
    };
    const size_t count = sizeof needed / sizeof needed[0];
    bool any = m->ffn > 0 || stated(l, "model.kv_heads") || stated(l, "model.head_dim") ||
               stated(l, "model.attention") || stated(l, "model.moe");
    for (size_t i = 0; i < count; i++)
        any = any || (!needed[i].missing && strcmp(needed[i].path, "model.ffn") != 0);
    if (!any && m->parameters == 0) {
        gl_mark mark = gl_fields_mark(l->tree, "model");
        gl_diagnose(l->diagnostics, &mark, "model",
                    "needs an architecture (layers, hidden, heads, ffn, vocab), huggingface: FILE, "
                    "or parameters");
    }
    for (size_t i = 0; any && i < count; i++)
        if (needed[i].missing) {
            gl_mark mark = gl_fields_mark(l->tree, needed[i].path);
            gl_diagnose(l->diagnostics, &mark, needed[i].path,
                        "missing; an architecture needs layers, hidden, heads, ffn and vocab");
        }
}

/* ---- defaults that follow from other fields ---- */

static void derive_head_dim(const loader *l)
{
    gl_model *m = &l->workload->model;
    if (m->head_dim > 0)
        return;
    if (m->attention.kind == GL_ATTENTION_MLA) {
        m->head_dim = m->attention.qk_nope + m->attention.qk_rope;
    } else if (m->hidden % m->heads == 0) {
        m->head_dim = m->hidden / m->heads;
    } else {
        gl_mark mark = gl_fields_mark(l->tree, "model.heads");
        gl_diagnose(l->diagnostics, &mark, "model.heads",
                    "hidden (%d) is no multiple of heads (%d); state model.head_dim", m->hidden,
                    m->heads);
    }
}

static void derive_defaults(const loader *l)
{
    gl_workload *w = l->workload;
    if (gl_model_has_architecture(&w->model)) {
        if (w->model.kv_heads == 0)
            w->model.kv_heads = w->model.heads;
        derive_head_dim(l);
    }
    if (w->batch.global == 0)
        w->batch.global = (int64_t)w->parallel.dp * w->batch.micro;
    if (isinf(w->buckets.gradient_bytes) && !stated(l, "buckets.first"))
        w->buckets.first_bytes = w->buckets.gradient_bytes;
    w->precision.activations = gl_activation_type(&w->precision);
    if (w->precision.dispatch == GL_DTYPE_NONE)
        w->precision.dispatch = w->precision.compute;
    if (w->precision.combine == GL_DTYPE_NONE)
        w->precision.combine = w->precision.compute;
}

/* ---- the whole ---- */

void gl_findings_report(const gl_findings *findings, const gl_yaml_tree *tree, gl_arena *arena,
                        gl_texts *warnings, gl_diagnostics *diagnostics)
{
    for (size_t i = 0; i < findings->count; i++) {
        const gl_finding *finding = &findings->items[i];
        gl_mark mark = {0};
        if (tree != NULL)
            mark = gl_fields_mark(tree, finding->path);
        if (finding->fatal)
            gl_diagnose(diagnostics, &mark, finding->path, "%s", finding->message);
        else
            gl_warn(warnings, arena, &mark, finding->path, "%s", finding->message);
    }
}

static const char *default_name(const loader *l)
{
    if (strcmp(l->tree->file, "standard input") == 0)
        return "model";
    char printed[128];
    const char *stem = gl_file_stem(l->arena, l->tree->file);
    return gl_arena_strdup(l->arena, gl_printable(stem, printed, sizeof printed));
}

/* Where the layout is searched for the described one binds nobody: what no layout could mend is
 * left, and warnings come with the layout that is found. */
static void check_beside_layout(const loader *l, const gl_workload *w)
{
    gl_workload any = *w;
    gl_findings findings = {.arena = l->arena};
    gl_texts of_no_layout = {0};
    any.parallel = gl_workload_defaults().parallel;
    any.batch.micro = 1;
    gl_check_workload(&any, &findings);
    gl_findings_report(&findings, l->tree, l->arena, &of_no_layout, l->diagnostics);
}

static void check_as_described(const loader *l, const gl_workload *w)
{
    gl_findings findings = {.arena = l->arena};
    gl_check_workload(w, &findings);
    gl_findings_report(&findings, l->tree, l->arena, l->warnings, l->diagnostics);
}

bool gl_model_tree_load(const gl_yaml_tree *tree, bool any_layout, gl_arena *arena,
                        gl_workload *workload, gl_texts *warnings, gl_diagnostics *diagnostics)
{
    gl_workload read = gl_workload_defaults();
    loader l = {.tree = tree,
                .arena = arena,
                .workload = &read,
                .warnings = warnings,
                .diagnostics = diagnostics};
    size_t before = problems(&l);
    read.model.name = default_name(&l);
    const char *configuration = huggingface_file(&l);
    if (configuration != NULL)
        load_huggingface(&l, configuration);
    gl_fields_load(gl_model_fields, tree, arena, &read, diagnostics);
    if (problems(&l) == before)
        check_complete(&l);
    if (problems(&l) == before && is_bare(&l, configuration) && read.batch.global == 0)
        assume_batch(&l);
    if (problems(&l) == before)
        derive_defaults(&l);
    if (problems(&l) != before)
        return false;
    *workload = read;
    (any_layout ? check_beside_layout : check_as_described)(&l, &read);
    return problems(&l) == before;
}

bool gl_setting_is_cluster(const gl_setting *setting)
{
    return gl_starts_with(setting->key, "cluster.") || strcmp(setting->key, "cluster") == 0 ||
           strcmp(setting->key, "prices") == 0 || gl_starts_with(setting->key, "prices.");
}

static bool is_huggingface(const gl_yaml_tree *tree)
{
    return gl_yaml_get(tree->root, "model") == NULL &&
           (gl_yaml_get(tree->root, "model_type") != NULL ||
            gl_yaml_get(tree->root, "architectures") != NULL);
}

/* A configuration in a description's place becomes a description that names it. */
static bool wrap_huggingface(gl_yaml_tree *tree, gl_arena *arena, gl_error *err)
{
    static const char EMPTY[] = "{}";
    const gl_mark mark = {.file = tree->file};
    return gl_yaml_parse(tree->file, EMPTY, sizeof EMPTY - 1, arena, tree, err) &&
           gl_yaml_put(tree, arena, &mark, "model.huggingface", mark.file, err);
}

/* Files of another kind that are given in a description's place. */
static bool check_kind(const gl_yaml_tree *tree, bool has_file, gl_arena *arena,
                       gl_diagnostics *diagnostics)
{
    gl_error err;
    gl_mark mark = {.file = tree->file};
    if (tree->root->kind != GL_YAML_MAPPING)
        return gl_diagnose(diagnostics, &mark, NULL,
                           "is neither a model description (model: …) nor a Hugging Face "
                           "config.json: it holds a %s",
                           tree->root->kind == GL_YAML_SEQUENCE ? "list" : "text");
    if (gl_yaml_get(tree->root, "model") != NULL)
        return true;
    if (gl_yaml_get(tree->root, "cluster") != NULL)
        return gl_diagnose(diagnostics, &mark, NULL,
                           "is a cluster description, and a model description is expected here: a "
                           "cluster is given with --cluster");
    if (!is_huggingface(tree) && !gl_json_check(tree->file, arena, &err))
        return gl_diagnose_error(diagnostics, &err);
    if (!is_huggingface(tree) && gl_ends_with(tree->file, ".json"))
        return gl_diagnose(diagnostics, &mark, NULL,
                           "is no Hugging Face config.json: that says its model_type (a "
                           "tokenizer's file, an index of weights and others do not)");
    if (is_huggingface(tree) && !has_file)
        return gl_diagnose(diagnostics, &mark, NULL,
                           "is a Hugging Face configuration: give its file, or name it in a model "
                           "description, as model: {huggingface: config.json, sequence: 4096}");
    return true;
}

/* A document that was read: is it a model's, and what do the settings make of it? */
static bool finish_tree(gl_yaml_tree *tree, bool has_file, const gl_setting *settings,
                        size_t setting_count, gl_arena *arena, gl_diagnostics *diagnostics)
{
    gl_error err;
    bool opened = true;
    if (!check_kind(tree, has_file, arena, diagnostics))
        return false;
    if (is_huggingface(tree) && !wrap_huggingface(tree, arena, &err))
        return gl_diagnose_error(diagnostics, &err);
    for (size_t i = 0; i < setting_count; i++)
        if (!gl_setting_is_cluster(&settings[i]) &&
            !gl_yaml_set(tree, arena, settings[i].option, settings[i].key, settings[i].value, &err))
            opened = gl_diagnose_error(diagnostics, &err);
    return opened;
}

bool gl_model_tree_open(const char *path, const gl_setting *settings, size_t setting_count,
                        gl_arena *arena, gl_yaml_tree *tree, gl_diagnostics *diagnostics)
{
    gl_error err;
    if (gl_file_is_database(path))
        return gl_diagnose(diagnostics, &(gl_mark){.file = path}, NULL,
                           "is a calibration database, and a model description is expected here: "
                           "a database is given with --cluster");
    if (!gl_yaml_load(path, arena, tree, &err))
        return gl_diagnose_error(diagnostics, &err);
    return finish_tree(tree, strcmp(path, "-") != 0, settings, setting_count, arena, diagnostics);
}

bool gl_model_tree_parse(const char *name, const char *text, size_t length,
                         const gl_setting *settings, size_t setting_count, gl_arena *arena,
                         gl_yaml_tree *tree, gl_diagnostics *diagnostics)
{
    gl_error err;
    const gl_mark mark = {.file = name};
    if (length > GL_FILE_TEXT_MAX)
        return gl_diagnose(diagnostics, &mark, NULL, "is larger than 4 MiB");
    if (!gl_yaml_parse(name, text, length, arena, tree, &err))
        return gl_diagnose_error(diagnostics, &err);
    return finish_tree(tree, false, settings, setting_count, arena, diagnostics);
}

bool gl_model_file_load(const char *path, const gl_setting *settings, size_t setting_count,
                        gl_arena *arena, gl_workload *workload, gl_texts *warnings,
                        gl_diagnostics *diagnostics)
{
    gl_yaml_tree tree;
    return gl_model_tree_open(path, settings, setting_count, arena, &tree, diagnostics) &&
           gl_model_tree_load(&tree, false, arena, workload, warnings, diagnostics);
}
