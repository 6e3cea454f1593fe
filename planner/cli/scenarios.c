/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/scenarios.h"
#include "common/datadir.h"
#include "common/text.h"
#include "common/units.h"
#include "planner/cli/messages.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"

#include <string.h>

gl_planning_options gl_planning_defaults(void)
{
    return (gl_planning_options){.headroom = GL_HEADROOM, .stage = -1, .within = 0.05};
}

/* End of the value that starts at `text`: the next comma outside of brackets and quotes. */
static const char *value_end(const char *text)
{
    int depth = 0;
    char quote = '\0';
    for (; *text != '\0'; text++) {
        if (quote != '\0') {
            if (*text == quote)
                quote = '\0';
        } else if (*text == '"' || *text == '\'') {
            quote = *text;
        } else if (*text == '{' || *text == '[') {
            depth++;
        } else if (*text == '}' || *text == ']') {
            depth--;
        } else if (*text == ',' && depth <= 0) {
            break;
        }
    }
    return text;
}

/* A value as another was written, or the same number: "16" and "16.0". */
static bool is_among(const char *value, const gl_texts *values)
{
    double number, other;
    bool is_number = gl_parse_quantity(value, GL_NUMBER, &number, NULL);
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->items[i], value) == 0 ||
            (is_number && gl_parse_quantity(values->items[i], GL_NUMBER, &other, NULL) &&
             number == other))
            return true;
    return false;
}

static bool parse_sweep(const char *text, gl_arena *arena, gl_sweep *sweep, gl_error *err)
{
    gl_setting setting;
    char shown[64];
    if (!gl_setting_parse("--sweep", text, arena, &setting, err))
        return false;
    gl_texts values = {0};
    for (const char *start = setting.value;; start++) {
        const char *end = value_end(start);
        if (end == start)
            return gl_fail(err, GL_ERROR_USAGE, "--sweep %s has an empty value", setting.key);
        const char *value = gl_arena_strndup(arena, start, (size_t)(end - start));
        if (is_among(value, &values))
            return gl_fail(err, GL_ERROR_USAGE, "--sweep %s has the value %s twice", setting.key,
                           gl_printable(value, shown, sizeof shown));
        gl_texts_add(&values, arena, value);
        start = end;
        if (*end == '\0')
            break;
    }
    *sweep = (gl_sweep){setting.key, values.items, values.count};
    return true;
}

/* Is `key` the same as `outer`, or a part of it: "batch.micro" of "batch"? */
static bool is_within(const char *key, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(key, outer, length) == 0 && (key[length] == '\0' || key[length] == '.');
}

static bool fail_twice(const char *option, const char *key, const char *other, gl_error *err)
{
    char name[64], shown[64];
    bool same = strcmp(key, other) == 0;
    return gl_fail(err, GL_ERROR_USAGE, "%s %s: this key is set twice%s%s", option,
                   gl_printable(key, name, sizeof name), same ? "" : ", also by ",
                   same ? "" : gl_printable(other, shown, sizeof shown));
}

/* What else sets a swept key, so that the values in the answer would not be those planned; NULL:
 * nothing. A swept part of a mapping that --set gives wins, as it is applied later. */
static const char *taken_by(const gl_request *request, size_t sweeps, const char *key)
{
    for (size_t i = 0; i < request->setting_count; i++)
        if (is_within(request->settings[i].key, key))
            return request->settings[i].key;
    for (size_t i = 0; i < sweeps; i++)
        if (is_within(request->sweeps[i].key, key) || is_within(key, request->sweeps[i].key))
            return request->sweeps[i].key;
    return NULL;
}

static bool parse_sweeps(const gl_texts *texts, size_t clusters, gl_arena *arena,
                         gl_request *request, gl_error *err)
{
    request->sweeps = GL_ARENA_NEW(arena, gl_sweep, texts->count);
    request->combinations = 1;
    for (size_t i = 0; i < texts->count; i++) {
        gl_sweep *sweep = &request->sweeps[i];
        if (!parse_sweep(texts->items[i], arena, sweep, err))
            return false;
        const char *other = taken_by(request, i, sweep->key);
        if (other != NULL)
            return fail_twice("--sweep", sweep->key, other, err);
        request->sweep_count = i + 1;
        request->combinations *= sweep->count;
        if (request->combinations * (clusters > 0 ? clusters : 1) > GL_SCENARIOS_MAX)
            return gl_fail(err, GL_ERROR_USAGE,
                           "the sweeps make more than %d scenarios: sweep fewer values",
                           GL_SCENARIOS_MAX);
    }
    return true;
}

/* A slip of the shell's completion must not cost a description. */
static bool check_output(const char *model, const gl_planning_options *options, gl_error *err)
{
    const char *output = options->output.output, *input = NULL;
    if (output == NULL)
        return true;
    if (gl_file_is_same(output, model))
        input = model;
    for (size_t i = 0; i < options->clusters.count; i++)
        if (gl_file_is_same(output, options->clusters.items[i]))
            input = options->clusters.items[i];
    char name[128];
    return input == NULL || gl_fail(err, GL_ERROR_USAGE, "--output would overwrite the input %s",
                                    gl_printable(input, name, sizeof name));
}

/* A key is set once: of two values one would go unseen. A part of a mapping that was set before it
 * refines it. */
static bool check_settings(const gl_setting *settings, size_t count, gl_error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (is_within(settings[k].key, settings[i].key))
                return fail_twice("--set", settings[k].key, settings[i].key, err);
    return true;
}

bool gl_request_parse(const char *model, const gl_planning_options *options, gl_arena *arena,
                      gl_request *request, gl_error *err)
{
    const gl_texts *sets = &options->settings;
    *request = (gl_request){.model = model,
                            .options = options,
                            .settings = GL_ARENA_NEW(arena, gl_setting, sets->count),
                            .setting_count = sets->count};
    for (size_t i = 0; i < sets->count; i++)
        if (!gl_setting_parse("--set", sets->items[i], arena, &request->settings[i], err))
            return false;
    if (!check_settings(request->settings, request->setting_count, err))
        return false;
    if (!parse_sweeps(&options->sweeps, options->clusters.count, arena, request, err))
        return false;
    for (size_t i = 0; strcmp(model, "-") == 0 && i < options->clusters.count; i++)
        if (strcmp(options->clusters.items[i], "-") == 0)
            return gl_fail(err, GL_ERROR_USAGE,
                           "standard input cannot hold both the model and the cluster");
    return check_output(model, options, err);
}

const gl_setting *gl_request_settings(const gl_request *request, size_t index, gl_arena *arena,
                                      size_t *count, const gl_setting **swept)
{
    *count = request->setting_count + request->sweep_count;
    gl_setting *settings = GL_ARENA_NEW(arena, gl_setting, *count);
    if (request->setting_count > 0)
        memcpy(settings, request->settings, request->setting_count * sizeof *settings);
    for (size_t i = request->sweep_count; i-- > 0;) {
        const gl_sweep *sweep = &request->sweeps[i];
        settings[request->setting_count + i] =
            (gl_setting){sweep->key, sweep->values[index % sweep->count], "--sweep"};
        index /= sweep->count;
    }
    *swept = settings + request->setting_count;
    return settings;
}

const char *gl_swept_text(const gl_request *request, const gl_setting *swept, gl_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < request->sweep_count; i++)
        text = gl_arena_append(arena, text, ", ",
                               gl_arena_printf(arena, "%s=%s", swept[i].key, swept[i].value));
    return text;
}

bool gl_is_bad_setting(const gl_diagnostics *problems)
{
    return problems->items[0].status == GL_ERROR_USAGE && problems->items[0].file[0] != '\0';
}

const char *gl_problems_text(const gl_diagnostics *problems, gl_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < problems->count; i++) {
        const gl_error *p = &problems->items[i];
        text = gl_arena_append(
            arena, text, "; ",
            gl_arena_printf(arena, "%s%s%s", p->path, p->path[0] != '\0' ? ": " : "", p->message));
    }
    return text;
}

bool gl_is_impossible(const gl_request *request, const gl_cluster *cluster,
                      const gl_workload *workload, const gl_diagnostics *problems)
{
    return request->sweep_count > 0 && !gl_is_bad_setting(problems) && cluster->nodes > 0 &&
           workload->model.name != NULL;
}

void gl_say_left_out(const gl_request *request, const gl_setting *swept, size_t before,
                     const gl_diagnostics *problems)
{
    gl_arena *arena = gl_arena_create();
    if (!request->options->output.quiet && before < GL_DIAGNOSTICS_MAX)
        gl_cli_warn("left out %s: %s", gl_swept_text(request, swept, arena),
                    problems->items[0].message);
    gl_arena_destroy(arena);
}

void gl_say_left_out_all(const gl_request *request, size_t left_out)
{
    if (left_out > GL_DIAGNOSTICS_MAX && !request->options->output.quiet)
        gl_cli_warn("left out %zu combinations in all", left_out);
}

static void add_bundled(gl_texts *names, const char *folder, const char *extension, gl_arena *arena)
{
    size_t count = 0;
    const char *const *found = gl_datadir_list(arena, folder, extension, &count);
    for (size_t i = 0; i < count; i++)
        gl_texts_add(names, arena, found[i]);
}

void gl_add_bundled_clusters(gl_texts *names, gl_arena *arena)
{
    add_bundled(names, "calibrations", "db", arena);
    add_bundled(names, "clusters", "yaml", arena);
}

int gl_fail_without_cluster(const char *verb, const char *model)
{
    gl_arena *arena = gl_arena_create();
    gl_texts names = {0};
    gl_add_bundled_clusters(&names, arena);
    gl_cli_note(
        "--cluster is missing: name a calibration database, a cluster file or a bundled one");
    gl_cli_note("for example: gpulink-plan %s %s --cluster %s", verb, model,
                names.count > 0 ? "hgx-h100-16-ndr" : "calibration.db");
    if (names.count > 0)
        gl_cli_note("bundled: %s", gl_arena_join(arena, names.items, names.count, ", "));
    gl_arena_destroy(arena);
    return GL_ERROR_USAGE;
}

static bool check_stage(long long stage, const gl_workload *workload, gl_diagnostics *diagnostics)
{
    gl_error err;
    if (stage < workload->parallel.pp)
        return true;
    gl_fail(&err, GL_ERROR_USAGE, "--stage %lld: the layout has %d stage%s, from 0", stage,
            workload->parallel.pp, workload->parallel.pp == 1 ? "" : "s");
    return gl_diagnose_error(diagnostics, &err);
}

bool gl_load_workload(const gl_request *request, const gl_setting *settings, size_t setting_count,
                      gl_arena *arena, gl_yaml_tree *tree, gl_planned *planned,
                      gl_diagnostics *diagnostics)
{
    planned->workload = gl_workload_defaults();
    return gl_model_tree_open(request->model, settings, setting_count, arena, tree, diagnostics) &&
           gl_model_tree_load(tree, request->options->best_layout, arena, &planned->workload,
                              &planned->notes, diagnostics) &&
           check_stage(request->options->stage, &planned->workload, diagnostics);
}

gl_plan_options gl_request_plan_options(const gl_request *request)
{
    return (gl_plan_options){
        .headroom = request->options->headroom,
        .stage = (int)request->options->stage,
        .allow_extrapolation = request->options->allow_extrapolation,
        .seed = (unsigned long)request->options->seed,
    };
}

bool gl_plan_one(const gl_request *request, const gl_setting *settings, size_t setting_count,
                 const gl_cluster *cluster, gl_arena *arena, gl_planned *planned,
                 gl_diagnostics *diagnostics)
{
    const gl_plan_options options = gl_request_plan_options(request);
    gl_yaml_tree tree;
    *planned = (gl_planned){.notes = {0}};
    return gl_load_workload(request, settings, setting_count, arena, &tree, planned, diagnostics) &&
           gl_planned_build(&tree, cluster, &options, arena, planned, diagnostics);
}
