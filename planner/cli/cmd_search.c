/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text.h"
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/cli/scenarios.h"
#include "planner/cli/search_watch.h"
#include "planner/core/check.h"
#include "planner/input/cluster_file.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"
#include "planner/report/search_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_COUNTS_MAX = 256 };

typedef struct search_options {
    gl_planning_options planning;
    const char *huggingface, *gpus;
    gl_texts fixed;
    long long top, max_tp, min_microbatches;
    bool no_recompute;
} search_options;

/* gl_planning_options comes first, so that its rows fit this struct as they are. */
_Static_assert(offsetof(search_options, planning) == 0, "planning must be the first member");

static const gl_option options_table[] = {
    GL_SETUP_OPTIONS,
    {.name = "huggingface",
     .type = GL_OPTION_TEXT,
     .value_name = "FILE",
     .help = "A config.json of Hugging Face instead of MODEL.yaml, trained on sequences of 4096 "
             "tokens, 4 Mi tokens a step, unless --set says otherwise.",
     .offset = offsetof(search_options, huggingface)},
    {.name = "gpus",
     .letter = 'n',
     .type = GL_OPTION_TEXT,
     .value_name = "N",
     .help = "A number, several (8,16,32), or whole nodes of a range (8-64); default: all GPUs of "
             "the cluster.",
     .offset = offsetof(search_options, gpus)},
    {.name = "top",
     .letter = 'k',
     .type = GL_OPTION_INTEGER,
     .value_name = "K",
     .help = "Show so many of the fastest layouts (default 10).",
     .offset = offsetof(search_options, top),
     .minimum = 1,
     .maximum = 1000},
    {.name = "fix",
     .type = GL_OPTION_LIST,
     .value_name = "KEY[=VALUE]",
     .help = "Keep a field as described, or at VALUE.",
     .offset = offsetof(search_options, fixed),
     .choices = gl_search_axis_names},
    {.name = "max-tp",
     .type = GL_OPTION_INTEGER,
     .value_name = "N",
     .help = "Up to N-way tensor parallelism, also across nodes (default: what divides a node and "
             "its link joins).",
     .offset = offsetof(search_options, max_tp),
     .minimum = 1,
     .maximum = 10000},
    {.name = "min-microbatches",
     .type = GL_OPTION_INTEGER,
     .value_name = "N",
     .help = "At least so many microbatches a step and replica (default 1).",
     .offset = offsetof(search_options, min_microbatches),
     .minimum = 1,
     .maximum = 1000000},
    {.name = "no-recompute",
     .type = GL_OPTION_FLAG,
     .help = "Only layouts that compute nothing twice.",
     .offset = offsetof(search_options, no_recompute)},
    GL_JOBS_OPTION(search_options, planning.jobs),
    GL_ESTIMATE_OPTIONS,
    GL_ANSWER_OPTIONS(search_options, planning.output, GL_REPORT_FORMATS),
    {.name = NULL},
};

typedef struct session {
    search_options options;
    gl_request request;
    gl_arena *arena;
    gl_workload workload;
    gl_cluster cluster;
    gl_texts notes;
    int gpus[GPU_COUNTS_MAX];
    gl_search_options search;
    gl_search_result result;
    gl_search_row *rows;
    size_t row_count;
    gl_search_row described; /* of result.given, where that is known */
    int64_t faster_than_described;
    gl_plan best;
    gl_workload best_workload;
} session;

/* ---- what is asked for ---- */

static bool parse_count(const char *text, size_t length, long long *count, gl_error *err)
{
    char number[32], shown[64];
    if (length < sizeof number) {
        memcpy(number, text, length);
        number[length] = '\0';
        if (gl_parse_integer(number, count, NULL) && *count >= 1 && *count <= 10000000)
            return true;
    }
    return gl_fail(err, GL_ERROR_USAGE,
                   "--gpus '%s' is not a number of GPUs, several (8,16) or a range (8-64)",
                   gl_printable(text, shown, sizeof shown));
}

static bool add_count(session *s, long long count, gl_error *err)
{
    if (s->search.gpu_count == GPU_COUNTS_MAX)
        return gl_fail(err, GL_ERROR_USAGE, "--gpus: at most %d numbers of GPUs", GPU_COUNTS_MAX);
    for (size_t i = 0; i < s->search.gpu_count; i++)
        if (s->gpus[i] == count)
            return gl_fail(err, GL_ERROR_USAGE, "--gpus: %lld is given twice", count);
    s->gpus[s->search.gpu_count++] = (int)count;
    return true;
}

/* Of a range: parts of a node that divide it, and whole nodes. */
static bool add_range(session *s, long long from, long long to, gl_error *err)
{
    int node = s->cluster.gpus_per_node;
    if (from > to)
        return gl_fail(err, GL_ERROR_USAGE, "--gpus %lld-%lld: the range is empty", from, to);
    for (long long n = from; n <= to; n++)
        if ((n < node ? node % n : n % node) == 0 && !add_count(s, n, err))
            return false;
    return s->search.gpu_count > 0 ||
           gl_fail(err, GL_ERROR_USAGE,
                   "--gpus %lld-%lld: no whole nodes of %d GPUs lie in this range", from, to, node);
}

static bool parse_gpus(session *s, gl_error *err)
{
    const char *text = s->options.gpus;
    if (text == NULL)
        return add_count(s, (long long)s->cluster.nodes * s->cluster.gpus_per_node, err);
    for (;; text++) {
        size_t length = strcspn(text, ","), first = strcspn(text, ",-");
        long long from, to;
        if (!parse_count(text, first < length ? first : length, &from, err))
            return false;
        to = from;
        if (first < length && !parse_count(text + first + 1, length - first - 1, &to, err))
            return false;
        if (!(first < length ? add_range(s, from, to, err) : add_count(s, from, err)))
            return false;
        text += length;
        if (*text == '\0')
            return true;
    }
}

/* "parallel.tp" by its path or by its last part; GL_SEARCH_AXIS_COUNT: none. */
static gl_search_axis find_axis(const char *key)
{
    int axis = 0;
    while (axis < GL_SEARCH_AXIS_COUNT && strcmp(gl_search_axis_names[axis], key) != 0 &&
           strcmp(gl_search_axis_path((gl_search_axis)axis), key) != 0)
        axis++;
    return (gl_search_axis)axis;
}

static bool unknown_axis(const char *key, gl_error *err)
{
    char shown[64], guess[128], list[256];
    return gl_fail(
        err, GL_ERROR_USAGE, "--fix '%s' is not varied%s there are: %s",
        gl_printable(key, shown, sizeof shown),
        gl_did_you_mean(key, gl_search_axis_names, GL_SEARCH_AXIS_COUNT, guess, sizeof guess),
        gl_list_names(gl_search_axis_names, GL_SEARCH_AXIS_COUNT, list, sizeof list));
}

static bool is_set(const gl_request *request, const char *path)
{
    for (size_t i = 0; i < request->setting_count; i++)
        if (strcmp(request->settings[i].key, path) == 0)
            return true;
    return false;
}

/* --fix as settings of the description; those without a value only mark the axis. */
static bool parse_fixed(session *s, gl_setting *settings, size_t *count, gl_error *err)
{
    const gl_texts *fixed = &s->options.fixed;
    for (size_t i = 0; i < fixed->count; i++) {
        const char *text = fixed->items[i], *equals = strchr(text, '=');
        size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
        const char *key = gl_arena_strndup(s->arena, text, length);
        gl_search_axis axis = find_axis(key);
        if (axis == GL_SEARCH_AXIS_COUNT)
            return unknown_axis(key, err);
        if (equals != NULL && equals[1] == '\0')
            return gl_fail(err, GL_ERROR_USAGE, "--fix %s= has no value", key);
        if ((s->search.fixed >> axis & 1) != 0)
            return gl_fail(err, GL_ERROR_USAGE, "--fix %s: this field is fixed twice", key);
        if (equals != NULL && is_set(&s->request, gl_search_axis_path(axis)))
            return gl_fail(err, GL_ERROR_USAGE,
                           "--fix %s: this field is set twice, also by --set; --fix %s keeps that",
                           text, key);
        s->search.fixed |= 1u << axis;
        if (equals != NULL)
            settings[(*count)++] = (gl_setting){gl_search_axis_path(axis), equals + 1, "--fix"};
    }
    return true;
}

/* What --fix gives need not go with the layout that is described, so it is read apart. */
static bool load_fixed(session *s, gl_diagnostics *diagnostics)
{
    gl_setting *settings = GL_ARENA_NEW(s->arena, gl_setting, s->options.fixed.count);
    size_t count = 0;
    gl_error err;
    gl_yaml_tree tree;
    gl_workload fixed = gl_workload_defaults();
    if (!parse_fixed(s, settings, &count, &err))
        return gl_diagnose_error(diagnostics, &err);
    if (count == 0)
        return true;
    if (strcmp(s->request.model, "-") == 0) {
        gl_fail(
            &err, GL_ERROR_USAGE,
            "--fix KEY=VALUE needs a file: standard input is read once; give --set and --fix KEY");
        return gl_diagnose_error(diagnostics, &err);
    }
    if (!gl_model_tree_open(s->request.model, settings, count, s->arena, &tree, diagnostics) ||
        !gl_fields_load(gl_model_fields, &tree, s->arena, &fixed, diagnostics))
        return false;
    for (size_t i = 0; i < count; i++)
        gl_search_axis_copy(find_axis(settings[i].key), &fixed, &s->workload);
    return true;
}

static bool load(session *s, gl_diagnostics *diagnostics)
{
    const gl_request *r = &s->request;
    gl_error err;
    gl_yaml_tree tree;
    s->workload = gl_workload_defaults();
    if (!gl_cluster_load(s->options.planning.clusters.items[0], r->settings, r->setting_count,
                         s->arena, &s->cluster, &s->notes, diagnostics) ||
        !gl_model_tree_open(r->model, r->settings, r->setting_count, s->arena, &tree,
                            diagnostics) ||
        !gl_model_tree_load(&tree, true, s->arena, &s->workload, &s->notes, diagnostics))
        return false;
    if (s->workload.batch.global == 0)
        s->workload.batch.global = (int64_t)s->workload.parallel.dp * s->workload.batch.micro;
    if (!load_fixed(s, diagnostics))
        return false;
    if (!parse_gpus(s, &err))
        return gl_diagnose_error(diagnostics, &err);
    int most = 0;
    for (size_t i = 0; i < s->search.gpu_count; i++)
        most = s->gpus[i] > most ? s->gpus[i] : most;
    if (s->options.planning.allow_extrapolation)
        gl_cluster_extend(&s->cluster, most);
    return true;
}

/* ---- the search, and plans of what it finds ---- */

static bool search(session *s, gl_error *err)
{
    const search_options *o = &s->options;
    gl_search_watch watch = gl_search_watch_start(o->planning.output.quiet);
    s->search.gpus = s->gpus;
    s->search.max_tp = (int)o->max_tp;
    s->search.min_microbatches = o->min_microbatches;
    s->search.no_recompute = o->no_recompute;
    s->search.allow_extrapolation = o->planning.allow_extrapolation;
    s->search.top = (size_t)(o->top > GL_SEARCH_PLANNED ? o->top : GL_SEARCH_PLANNED);
    s->search.jobs = (int)o->planning.jobs;
    s->search.watch = gl_search_watch_look;
    s->search.context = &watch;
    bool done = gl_search(&s->workload, &s->cluster, &s->search, s->arena, &s->result, err);
    gl_search_watch_clear(&watch);
    return done;
}

static gl_workload workload_of(const session *s, const gl_found *found)
{
    gl_workload w = s->workload;
    w.parallel = found->parallel;
    w.batch = found->batch;
    return w;
}

static bool plan_row(const session *s, gl_search_row *row, gl_error *err)
{
    const gl_plan_options options = gl_request_plan_options(&s->request);
    gl_arena *scratch = gl_arena_create();
    gl_plan plan;
    gl_workload w = workload_of(s, row->found);
    bool built = gl_plan_build(&w, &s->cluster, &options, scratch, &plan, err);
    if (built)
        row->step = plan.step;
    gl_arena_destroy(scratch);
    return built;
}

/* By what their plans say; closed forms and simulation order near equals differently. */
static int by_planned_time(const void *a, const void *b)
{
    const gl_search_row *x = a, *y = b;
    if (x->step.time_s != y->step.time_s)
        return x->step.time_s < y->step.time_s ? -1 : 1;
    if (x->found->memory_bytes != y->found->memory_bytes)
        return x->found->memory_bytes < y->found->memory_bytes ? -1 : 1;
    return (x->found->place > y->found->place) - (x->found->place < y->found->place);
}

static bool has_row(const session *s, const gl_found *found)
{
    for (size_t i = 0; i < s->row_count; i++)
        if (s->rows[i].found->place == found->place)
            return true;
    return false;
}

static void collect_row(session *s, const gl_found *found)
{
    if (!has_row(s, found))
        s->rows[s->row_count++] = (gl_search_row){.found = found};
}

static void collect_rows(session *s)
{
    const gl_search_result *r = &s->result;
    s->rows = GL_ARENA_NEW(s->arena, gl_search_row, r->top_count + r->front_count + 1);
    for (size_t i = 0; i < r->top_count; i++)
        collect_row(s, &r->top[i]);
    for (size_t i = 0; i < r->front_count; i++)
        collect_row(s, &r->front[i]);
}

/* By plans where there are plans, otherwise by closed forms. */
static int64_t count_faster(const session *s)
{
    const gl_found *given = s->described.found;
    int64_t count = s->result.faster_than_given;
    for (size_t i = 0; i < s->row_count; i++) {
        const gl_search_row *row = &s->rows[i];
        if (row->found->gpus != given->gpus || row->found->place == given->place)
            continue;
        count += (row->step.time_s < s->described.step.time_s) -
                 (row->found->step.time_s < given->step.time_s);
    }
    return count;
}

/* The described layout is planned, too, and one of the rows where it fits. */
static bool plan_described(session *s, gl_error *err)
{
    s->described.found = &s->result.given;
    if (!plan_row(s, &s->described, err))
        return false;
    s->faster_than_described = count_faster(s);
    if (s->described.found->place >= 0 && !has_row(s, s->described.found))
        s->rows[s->row_count++] = s->described;
    return true;
}

/* Is a row before `index` as good in memory and GPUs? In time it is. */
static bool is_beaten(const session *s, size_t index)
{
    const gl_found *found = s->rows[index].found;
    for (size_t i = 0; i < index; i++)
        if (!(s->rows[i].found->memory_bytes > found->memory_bytes) &&
            s->rows[i].found->gpus <= found->gpus)
            return true;
    return false;
}

/* People see of the front what saves a noticeable part of a GPU's memory; machines see all. */
static bool is_shown(const session *s, const gl_search_row *row, double *shown_bytes)
{
    double memory_bytes = row->found->memory_bytes;
    if (!row->on_front ||
        (gl_output_for_people(&s->options.planning.output) && memory_bytes > 0.98 * *shown_bytes))
        return false;
    *shown_bytes = memory_bytes;
    return true;
}

/* The fastest by their plans, then what of the front is left. */
static void rank_rows(session *s)
{
    size_t count = 0, top = (size_t)s->options.top;
    double shown_bytes = (double)INFINITY;
    qsort(s->rows, s->row_count, sizeof *s->rows, by_planned_time);
    for (size_t i = 0; i < s->row_count; i++) {
        s->rows[i].is_top = i < top;
        s->rows[i].on_front = !is_beaten(s, i);
    }
    for (size_t i = 0; i < s->row_count; i++)
        if (is_shown(s, &s->rows[i], &shown_bytes) || s->rows[i].is_top)
            s->rows[count++] = s->rows[i];
    s->row_count = count;
}

static bool plan_rows(session *s, gl_error *err)
{
    const gl_plan_options options = gl_request_plan_options(&s->request);
    collect_rows(s);
    for (size_t i = 0; i < s->row_count; i++)
        if (!plan_row(s, &s->rows[i], err))
            return false;
    if (s->result.given_known && !plan_described(s, err))
        return false;
    if (s->row_count == 0)
        return true;
    rank_rows(s);
    s->best_workload = workload_of(s, s->rows[0].found);
    return gl_plan_build(&s->best_workload, &s->cluster, &options, s->arena, &s->best, err);
}

static void add_best_notes(session *s)
{
    gl_findings findings = {.arena = s->arena};
    gl_check_workload(&s->best_workload, &findings);
    gl_check_cluster(&s->best_workload, &s->cluster, &findings);
    for (size_t i = 0; i < findings.count; i++)
        gl_texts_add(&s->notes, s->arena,
                     gl_arena_printf(s->arena, "the best layout: %s", findings.items[i].message));
}

static int answer(session *s)
{
    gl_error err;
    gl_diagnostics diagnostics = {.count = 0};
    const gl_output_options *output = &s->options.planning.output;
    if (!load(s, &diagnostics))
        return gl_cli_fail_all(&diagnostics);
    if (!search(s, &err) || !plan_rows(s, &err))
        return gl_cli_fail("search", &err);
    bool found = s->row_count > 0;
    if (!found && s->result.stopped) {
        gl_fail(&err, GL_ERROR_SYSTEM, "interrupted before any layout was found that fits");
        return gl_cli_fail("search", &err);
    }
    if (found)
        add_best_notes(s);
    const gl_search_view view = {
        .workload = &s->workload,
        .cluster = &s->cluster,
        .result = &s->result,
        .rows = s->rows,
        .row_count = s->row_count,
        .described = s->result.given_known ? &s->described : NULL,
        .faster_than_described = s->faster_than_described,
        .best = found ? &s->best : NULL,
        .remedy =
            found ? NULL
                  : gl_search_remedy(&s->workload, &s->cluster, &s->search, &s->result, s->arena),
        .notes = s->notes.items,
        .note_count = s->notes.count,
        .name = gl_arena_printf(s->arena, "%s on %s", s->workload.model.name, s->cluster.name),
        .only = output->table,
        .for_people = gl_output_for_people(output),
    };
    gl_scenario scenario;
    gl_search_scenario(&view, s->arena, &scenario);
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    if (!gl_output_report(output, &report, "layouts", &err))
        return gl_cli_fail("search", &err);
    return found ? GL_OK : GL_EXIT_NO;
}

/* What is given for a configuration, and is none. */
static bool check_configuration(const char *path, gl_error *err)
{
    char shown[96];
    gl_printable(path, shown, sizeof shown);
    if (gl_ends_with(path, ".yaml") || gl_ends_with(path, ".yml"))
        return gl_fail(err, GL_ERROR_USAGE,
                       "--huggingface takes a config.json; %s is a description: give it without",
                       shown);
    if (!gl_file_exists(path) && strchr(path, '/') != NULL && !gl_ends_with(path, ".json"))
        return gl_fail(err, GL_ERROR_INPUT,
                       "%s: no such file; a model of the hub is not fetched: download its "
                       "config.json",
                       shown);
    return true;
}

/* The model's path; NULL with an error when none or two are given. */
static const char *model_path(const session *s, const gl_texts *arguments, gl_error *err)
{
    const char *configuration = s->options.huggingface;
    if (arguments->count == 0 && configuration == NULL)
        gl_fail(err, GL_ERROR_USAGE, "an argument is missing; usage: search %s",
                gl_cmd_search.synopsis);
    else if (arguments->count > 0 && configuration != NULL)
        gl_fail(err, GL_ERROR_USAGE, "give MODEL.yaml or --huggingface FILE, not both");
    else if (configuration == NULL)
        return arguments->items[0];
    else
        return check_configuration(configuration, err) ? configuration : NULL;
    return NULL;
}

static int run(int argc, char **argv, gl_arena *arena)
{
    session *s = GL_ARENA_NEW(arena, session, 1);
    gl_error err;
    gl_texts arguments = {0};
    int status;
    const gl_planning_options *o = &s->options.planning;
    s->arena = arena;
    s->options = (search_options){.planning = gl_planning_defaults(), .top = 10};
    if (!gl_cli_parse(&gl_cmd_search, argc, argv, arena, &s->options, &arguments, &status))
        return status;
    if (!gl_output_options_check(&s->options.planning.output, gl_search_table_names(), &err))
        return gl_cli_fail("search", &err);
    const char *model = model_path(s, &arguments, &err);
    if (model == NULL)
        return gl_cli_fail("search", &err);
    if (o->clusters.count == 0)
        return gl_fail_without_cluster("search", model);
    if (o->clusters.count > 1) {
        gl_fail(&err, GL_ERROR_USAGE,
                "one cluster is searched at a time: give one --cluster, or compare --best-layout");
        return gl_cli_fail("search", &err);
    }
    if (!gl_request_parse(model, o, s->arena, &s->request, &err))
        return gl_cli_fail("search", &err);
    return answer(s);
}

const gl_command gl_cmd_search = {
    .name = "search",
    .synopsis = "MODEL.yaml|--huggingface FILE --cluster CLUSTER [options]",
    .summary = "the fastest layouts on a cluster, and why the others are out",
    .examples =
        "gpulink-plan --huggingface config.json --gpus 64 --cluster hgx-h100-16-ndr\n"
        "gpulink-plan search models/llama3-70b.yaml --cluster hgx-h100-16-ndr --gpus 64\n"
        "gpulink-plan search models/llama3-8b.yaml --cluster h200-nvlink --no-recompute --top 3\n"
        "gpulink-plan search models/gpt3-175b.yaml -c hgx-h100-16-ndr --fix tp=8 --fix zero=1 -f "
        "csv\n",
    .options = options_table,
    .minimum_arguments = 0,
    .maximum_arguments = 1,
    .run = run,
};
