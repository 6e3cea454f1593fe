/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text.h"
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/input/cluster_file.h"
#include "planner/input/conventions.h"
#include "planner/input/fields.h"
#include "planner/input/file_text.h"
#include "planner/input/json_check.h"
#include "planner/input/model_file.h"
#include "planner/input/notes.h"
#include "planner/input/price_file.h"

typedef struct check_options {
    bool quiet;
} check_options;

static const gl_option options_table[] = {
    {.name = "quiet",
     .letter = 'q',
     .type = GL_OPTION_FLAG,
     .help = "No warnings, and nothing for files that are in order.",
     .offset = offsetof(check_options, quiet)},
    {.name = NULL},
};

/* Loaders by the key at the top of a document. Each diagnoses and may warn. */
typedef bool loader(const char *path, gl_arena *arena, gl_texts *warnings,
                    gl_diagnostics *diagnostics);

static bool check_model(const char *path, gl_arena *arena, gl_texts *warnings,
                        gl_diagnostics *diagnostics)
{
    gl_workload workload = gl_workload_defaults();
    return gl_model_file_load(path, NULL, 0, arena, &workload, warnings, diagnostics);
}

/* What a bill would ask of the quotes that it takes, of all of them. */
static void doubt_quotes(const gl_price_list *list, gl_arena *arena, gl_texts *warnings)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const char *doubt = gl_price_doubt(&list->prices[i], arena);
        if (doubt != NULL)
            gl_texts_add(warnings, arena, doubt);
    }
}

static bool check_cluster(const char *path, gl_arena *arena, gl_texts *warnings,
                          gl_diagnostics *diagnostics)
{
    gl_cluster cluster;
    bool loaded = gl_cluster_load(path, NULL, 0, arena, &cluster, warnings, diagnostics);
    if (loaded)
        doubt_quotes(cluster.price_list, arena, warnings);
    return loaded;
}

static bool check_fields(const gl_field *fields, const char *path, gl_arena *arena, void *target,
                         gl_diagnostics *diagnostics)
{
    gl_yaml_tree tree;
    gl_error err;
    if (!gl_yaml_load(path, arena, &tree, &err))
        return gl_diagnose_error(diagnostics, &err);
    return gl_fields_load(fields, &tree, arena, target, diagnostics);
}

static bool check_gpu(const char *path, gl_arena *arena, gl_texts *warnings,
                      gl_diagnostics *diagnostics)
{
    (void)warnings;
    gl_gpu gpu = {0};
    return check_fields(gl_gpu_fields, path, arena, &gpu, diagnostics);
}

static bool check_link(const char *path, gl_arena *arena, gl_texts *warnings,
                       gl_diagnostics *diagnostics)
{
    (void)warnings;
    gl_link link = {0};
    return check_fields(gl_link_fields, path, arena, &link, diagnostics);
}

static bool check_overlap(const char *path, gl_arena *arena, gl_texts *warnings,
                          gl_diagnostics *diagnostics)
{
    (void)warnings;
    gl_overlap_taxes taxes = {0};
    return check_fields(gl_overlap_fields, path, arena, &taxes, diagnostics);
}

static bool check_conventions(const char *path, gl_arena *arena, gl_texts *warnings,
                              gl_diagnostics *diagnostics)
{
    (void)warnings;
    return gl_conventions_load(path, arena, diagnostics) != NULL;
}

static bool check_prices(const char *path, gl_arena *arena, gl_texts *warnings,
                         gl_diagnostics *diagnostics)
{
    const gl_price_list *list = gl_prices_load(path, arena, diagnostics);
    doubt_quotes(list, arena, warnings);
    return list != NULL;
}

static const struct {
    const char *key;
    loader *load;
} kinds[] = {{"model", check_model},
             {"model_type", check_model},
             {"cluster", check_cluster},
             {"gpu", check_gpu},
             {"link", check_link},
             {"overlap", check_overlap},
             {"conventions", check_conventions},
             {"prices", check_prices}};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

/* The loader of a YAML file by its top-level keys; NULL when none fits (diagnosed). */
static loader *find_loader(const char *path, gl_arena *arena, gl_diagnostics *diagnostics)
{
    gl_yaml_tree tree;
    gl_error err;
    if (gl_file_is_database(path) || gl_file_is_nccl_log(path))
        return check_cluster;
    if (!gl_yaml_load(path, arena, &tree, &err)) {
        gl_diagnose_error(diagnostics, &err);
        return NULL;
    }
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (gl_yaml_get(tree.root, kinds[i].key) != NULL)
            return kinds[i].load;
    if (!gl_json_check(path, arena, &err)) {
        gl_diagnose_error(diagnostics, &err);
        return NULL;
    }
    gl_diagnose(diagnostics, &tree.root->mark, NULL,
                "is no description that this program knows: it needs one of the keys model, "
                "cluster, gpu, link, overlap, conventions or prices at the top");
    return NULL;
}

static int check_file(const char *path, const check_options *options)
{
    gl_arena *arena = gl_arena_create();
    gl_diagnostics diagnostics = {.count = 0};
    gl_texts warnings = {0};
    int status = GL_OK;
    loader *load = find_loader(path, arena, &diagnostics);
    if (load == NULL || !load(path, arena, &warnings, &diagnostics))
        status = gl_cli_fail_all(&diagnostics);
    for (size_t i = 0; i < warnings.count && !options->quiet; i++) {
        bool named = gl_starts_with(warnings.items[i], path);
        gl_cli_warn("%s%s%s", named ? "" : path, named ? "" : ": ", warnings.items[i]);
    }
    gl_arena_destroy(arena);
    return status;
}

/* Checks all files; the status is that of the first that failed. */
static int check_files(const gl_texts *files, const check_options *options, gl_output *out)
{
    int status = GL_OK;
    for (size_t i = 0; i < files->count; i++) {
        int one = check_file(files->items[i], options);
        if (one == GL_OK && !options->quiet)
            gl_output_printf(out, "%s: ok\n", files->items[i]);
        if (status == GL_OK)
            status = one;
    }
    return status;
}

static int run(int argc, char **argv, gl_arena *arena)
{
    check_options options = {0};
    gl_texts files = {0};
    int status;
    gl_error err;
    gl_output *out = NULL;
    if (!gl_cli_parse(&gl_cmd_check, argc, argv, arena, &options, &files, &status))
        return status;
    if (!gl_output_open(NULL, &out, &err))
        return gl_cli_fail("check", &err);
    status = check_files(&files, &options, out);
    return gl_output_close(out, &err) ? status : gl_cli_fail("check", &err);
}

const gl_command gl_cmd_check = {
    .name = "check",
    .synopsis = "FILE ...",
    .summary =
        "read and validate descriptions (model, cluster, GPU, link, prices) without planning",
    .examples = "gpulink-plan check models/llama-1.1b-ddp.yaml\n",
    .options = options_table,
    .minimum_arguments = 1,
    .maximum_arguments = -1,
    .run = run,
};
