/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/status_line.h"
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/cli/scenarios.h"
#include "planner/input/cluster_file.h"
#include "planner/input/notes.h"
#include "planner/report/plan_tables.h"
#include "planner/report/trace.h"
#include "planner/report/xlsx.h"

#include <math.h>
#include <string.h>

static const gl_option options_table[] = {
    GL_PLANNING_OPTIONS,
    GL_SWEEP_OPTION("Plan each value of a field; several sweeps: each combination."),
    {.name = "strict",
     .type = GL_OPTION_FLAG,
     .help = "Exit status 1 when it does not fit or misses its target.",
     .offset = offsetof(gl_planning_options, strict)},
    GL_ANSWER_OPTIONS(gl_planning_options, output,
                      "table, csv, json, markdown, html, trace or xlsx"),
    {.name = NULL},
};

typedef struct loaded_cluster {
    gl_cluster cluster;
    gl_texts notes;
} loaded_cluster;

/* State of one run of the command. */
typedef struct session {
    gl_planning_options options;
    gl_request request;
    gl_arena *arena;          /* everything that lives until the report is written */
    loaded_cluster *clusters; /* NULL: each scenario loads its own */
    gl_report report;
    bool answer_is_no; /* under --strict */
    size_t left_out;   /* combinations of a sweep that cannot be planned: of a trace … */
    size_t impossible; /* … and of a report, which lists them */
    const char *impossible_text; /* in lines, for people */
    double trace_size;           /* entries of a trace so far */
    const char *model_name;
    gl_trace *trace; /* being written; NULL: not, or not yet */
    gl_xlsx *book;   /* likewise */
    gl_status_line line;
} session;

static bool load_cluster(const session *s, size_t index, const gl_setting *settings,
                         size_t setting_count, gl_arena *arena, loaded_cluster *loaded,
                         gl_diagnostics *diagnostics)
{
    const char *name = s->options.clusters.items[index];
    *loaded = (loaded_cluster){.notes = {0}};
    if (!gl_cluster_load(name, settings, setting_count, arena, &loaded->cluster, &loaded->notes,
                         diagnostics))
        return false;
    const gl_cluster *cluster = &loaded->cluster;
    if (s->options.output.verbose)
        gl_cli_note("%s: nodes %d, GPUs a node %d, curves in a node %zu, between nodes %zu", name,
                    cluster->nodes, cluster->gpus_per_node, cluster->intra.curve_count,
                    cluster->inter.curve_count);
    return true;
}

/* A sweep over a cluster's fields loads the cluster for each combination; otherwise once is enough.
 */
static bool sweeps_clusters(const gl_request *request)
{
    for (size_t i = 0; i < request->sweep_count; i++)
        if (gl_setting_is_cluster(&(gl_setting){.key = request->sweeps[i].key}))
            return true;
    return false;
}

static bool load_clusters(session *s, gl_diagnostics *diagnostics)
{
    size_t count = s->options.clusters.count;
    if (sweeps_clusters(&s->request))
        return true;
    s->clusters = GL_ARENA_NEW(s->arena, loaded_cluster, count);
    for (size_t i = 0; i < count; i++)
        if (!load_cluster(s, i, s->request.settings, s->request.setting_count, s->arena,
                          &s->clusters[i], diagnostics))
            return false;
    return true;
}

static bool plan_misses(const gl_plan *plan)
{
    bool is_short = false;
    for (size_t i = 0; i < GL_TIER_COUNT; i++)
        is_short = is_short || plan->needs[i].verdict == GL_VERDICT_SHORT;
    bool known = !isnan(plan->step.communication_cost_frac);
    return !plan->memory.fits || is_short || (known && !gl_plan_meets_target(plan));
}

/* People see of a sweep the summary alone; a table that was asked for is the only one built. */
static const char *only_table(const session *s)
{
    const gl_output_options *output = &s->options.output;
    if (output->table != NULL)
        return output->table;
    if (output->trace || output->xlsx)
        return "summary";
    if (output->format == GL_FORMAT_CSV)
        return "traffic";
    return gl_output_for_people(output) && s->request.sweep_count > 0 ? "summary" : NULL;
}

/* So many slices of simulated steps an HTML page has room for, a few of them for each. */
static size_t slices_of(const session *s)
{
    enum { SLICES = 6000, SLICES_MAX = 1500, SLICES_MIN = 60 };
    size_t scenarios = s->options.clusters.count * s->request.combinations;
    size_t each = SLICES / scenarios;
    if (s->options.output.format != GL_FORMAT_HTML)
        return 0;
    return each > SLICES_MAX ? SLICES_MAX : each < SLICES_MIN ? SLICES_MIN : each;
}

static gl_plan_view view_of(const session *s, const char *name, const gl_setting *swept)
{
    return (gl_plan_view){
        .name = name,
        .swept = swept,
        .swept_count = s->request.sweep_count,
        .only = only_table(s),
        .slices = slices_of(s),
        .for_people = gl_output_for_people(&s->options.output),
    };
}

static void add_scenario(session *s, const gl_planned *planned, const loaded_cluster *cluster,
                         const gl_setting *swept)
{
    gl_texts notes = {0};
    if (s->model_name == NULL)
        s->model_name = gl_arena_strdup(s->arena, planned->workload.model.name);
    for (size_t i = 0; i < planned->notes.count; i++)
        gl_texts_add(&notes, s->arena, planned->notes.items[i]);
    for (size_t i = 0; i < cluster->notes.count; i++)
        gl_texts_add(&notes, s->arena, cluster->notes.items[i]);
    gl_plan_view view = view_of(
        s, gl_plan_scenario_name(&planned->plan, swept, s->request.sweep_count, s->arena), swept);
    view.notes = notes.items;
    view.note_count = notes.count;
    gl_plan_scenario(&planned->plan, &view, s->arena,
                     &s->report.scenarios[s->report.scenario_count++]);
    s->answer_is_no = s->answer_is_no || plan_misses(&planned->plan);
}

/* What a trace shows are steps: there is none of what cannot be planned. */
static bool lists_impossible(const session *s)
{
    return !s->options.output.trace;
}

/* Values that exclude each other stand among the others, with the reason. */
static void add_impossible(session *s, const gl_workload *workload, const gl_cluster *cluster,
                           const gl_setting *swept, const gl_diagnostics *problems)
{
    const gl_plan absent = {.workload = workload, .cluster = cluster};
    const char *reason = gl_problems_text(problems, s->arena);
    const char *values = gl_swept_text(&s->request, swept, s->arena);
    const char *note = gl_arena_printf(s->arena, "%s cannot be planned: %s", values, reason);
    const char *name = gl_plan_scenario_name(&absent, swept, s->request.sweep_count, s->arena);
    gl_plan_view view = view_of(s, name, swept);
    view.impossible = reason;
    view.notes = &note;
    view.note_count = 1;
    gl_plan_absent_scenario(workload, false, cluster, &view, s->arena,
                            &s->report.scenarios[s->report.scenario_count++]);
    if (s->book != NULL)
        gl_xlsx_add_absent(s->book, name, gl_arena_printf(s->arena, "IMPOSSIBLE; %s", reason));
    if (s->impossible++ < GL_DIAGNOSTICS_MAX)
        s->impossible_text =
            gl_arena_append(s->arena, s->impossible_text != NULL ? s->impossible_text : "", "\n",
                            gl_arena_printf(s->arena, "%s: IMPOSSIBLE; %s", values, reason));
    s->answer_is_no = true;
}

/* A trace is checked with all its scenarios before the first is written. */
static bool trace_plan(session *s, const gl_planned *planned, const gl_setting *swept,
                       gl_arena *scratch, gl_diagnostics *diagnostics)
{
    gl_error err;
    double size = s->trace_size + gl_trace_size(&planned->plan);
    if (!gl_trace_check(&planned->plan, size, &err))
        return gl_diagnose_error(diagnostics, &err);
    s->trace_size = size;
    if (s->trace != NULL)
        gl_trace_add(s->trace, &planned->plan,
                     gl_plan_scenario_name(&planned->plan, swept, s->request.sweep_count, scratch),
                     scratch);
    return true;
}

/* Plans one combination on one cluster. A plan is far larger than its tables: `scratch` goes when
 * they are built. */
static bool plan_in(session *s, const gl_setting *settings, size_t count, const gl_setting *swept,
                    size_t index, gl_arena *scratch, gl_diagnostics *diagnostics)
{
    gl_planned planned = {.notes = {0}};
    loaded_cluster own;
    gl_yaml_tree tree;
    gl_diagnostics beside = {.count = 0};
    bool done =
        s->clusters != NULL || load_cluster(s, index, settings, count, scratch, &own, diagnostics);
    /* cppcheck-suppress uninitvar ; load_cluster() fills it */
    const loaded_cluster *cluster = s->clusters != NULL ? &s->clusters[index] : &own;
    if (done)
        done = gl_plan_one(&s->request, settings, count, &cluster->cluster, scratch, &planned,
                           diagnostics);
    else
        gl_load_workload(&s->request, settings, count, scratch, &tree, &planned, &beside);
    if (!done && lists_impossible(s) &&
        gl_is_impossible(&s->request, &cluster->cluster, &planned.workload, diagnostics)) {
        add_impossible(s, &planned.workload, &cluster->cluster, swept, diagnostics);
        return false;
    }
    if (!done)
        return false;
    if (s->options.output.trace && !trace_plan(s, &planned, swept, scratch, diagnostics))
        return false;
    if (s->book != NULL)
        gl_xlsx_add(s->book, &planned.plan,
                    gl_plan_scenario_name(&planned.plan, swept, s->request.sweep_count, scratch));
    if (s->trace == NULL)
        add_scenario(s, &planned, cluster, swept);
    return true;
}

static bool plan_scenario(session *s, size_t combination, size_t cluster,
                          gl_diagnostics *diagnostics)
{
    gl_arena *scratch = gl_arena_create();
    size_t count;
    const gl_setting *swept;
    const gl_setting *settings =
        gl_request_settings(&s->request, combination, s->arena, &count, &swept);
    bool done = plan_in(s, settings, count, swept, cluster, scratch, diagnostics);
    if (!done && !lists_impossible(s) && s->request.sweep_count > 0 &&
        !gl_is_bad_setting(diagnostics)) {
        gl_status_line_clear(&s->line);
        if (s->trace == NULL)
            gl_say_left_out(&s->request, swept, s->left_out, diagnostics);
        s->left_out++;
    }
    gl_arena_destroy(scratch);
    return done;
}

static bool plan_all(session *s, gl_diagnostics *diagnostics)
{
    size_t clusters = s->options.clusters.count;
    gl_diagnostics first = {.count = 0};
    s->line = gl_status_line_start(s->options.output.quiet);
    if (s->trace == NULL)
        s->report.scenarios =
            GL_ARENA_NEW(s->arena, gl_scenario, s->request.combinations * clusters);
    for (size_t i = 0; i < s->request.combinations; i++)
        for (size_t k = 0; k < clusters; k++) {
            size_t impossible = s->impossible;
            diagnostics->count = diagnostics->dropped = 0;
            gl_status_line_say(&s->line, "%zu of %zu scenarios planned", i * clusters + k,
                               s->request.combinations * clusters);
            if (plan_scenario(s, i, k, diagnostics))
                continue;
            bool listed = s->impossible > impossible || !lists_impossible(s);
            if (s->request.sweep_count == 0 || gl_is_bad_setting(diagnostics) || !listed) {
                gl_status_line_clear(&s->line);
                return false;
            }
            if (first.count == 0)
                first = *diagnostics;
        }
    gl_status_line_clear(&s->line);
    if (s->trace == NULL)
        gl_say_left_out_all(&s->request, s->left_out);
    *diagnostics = first;
    return s->trace != NULL || s->report.scenario_count > s->impossible;
}

/* People read the scenarios side by side first; of one scenario the headline says it all. */
static void put_summary_first(session *s)
{
    if (!gl_output_for_people(&s->options.output))
        return;
    gl_scenario summary;
    size_t count = s->report.scenario_count;
    gl_plan_take_summary(&s->report, s->arena, &summary);
    summary.headline = s->impossible_text;
    if (s->impossible > GL_DIAGNOSTICS_MAX)
        summary.headline = gl_arena_printf(s->arena, "%s\n%zu combinations are impossible in all",
                                           s->impossible_text, s->impossible);
    const char *only = only_table(s);
    if (only != NULL && strcmp(only, "summary") == 0) {
        if (s->model_name != NULL && count > 1)
            s->report.title = gl_arena_printf(s->arena, "%s: %zu scenarios", s->model_name, count);
        /* The page of the summary alone has no room for what is said of each. */
        gl_output_warnings(&s->options.output, &s->report);
        s->report.scenarios[0] = summary;
        s->report.scenario_count = 1;
    } else if (count > 1 && only == NULL) {
        gl_scenario *scenarios = GL_ARENA_NEW(s->arena, gl_scenario, count + 1);
        scenarios[0] = summary;
        memcpy(scenarios + 1, s->report.scenarios, count * sizeof *scenarios);
        s->report = (gl_report){.scenarios = scenarios, .scenario_count = count + 1};
    }
}

/* Plans everything once more, and writes each step while its plan is there. */
static bool write_trace(session *s, gl_error *err)
{
    gl_output *out = NULL;
    gl_trace trace;
    gl_diagnostics diagnostics = {.count = 0};
    if (!gl_output_open(s->options.output.output, &out, err))
        return false;
    gl_trace_begin(&trace, out, s->report.scenario_count > 1);
    /* cppcheck-suppress autoVariables ; taken back when all is planned */
    s->trace = &trace;
    s->trace_size = 0;
    plan_all(s, &diagnostics);
    s->trace = NULL;
    gl_trace_end(&trace);
    if (!gl_output_close(out, err))
        return false;
    gl_output_warnings(&s->options.output, &s->report);
    return true;
}

/* The sheets are in it already. */
static bool write_book(session *s, gl_error *err)
{
    gl_output *out = NULL;
    gl_xlsx *book = s->book;
    if (!gl_output_open(s->options.output.output, &out, err))
        return false;
    s->book = NULL;
    if (!gl_xlsx_end(book, out, err)) {
        gl_output_discard(out);
        return false;
    }
    if (!gl_output_close(out, err))
        return false;
    gl_output_warnings(&s->options.output, &s->report);
    return true;
}

static bool write_report(session *s, gl_error *err)
{
    if (s->options.output.xlsx)
        return write_book(s, err);
    if (s->options.output.trace)
        return write_trace(s, err);
    put_summary_first(s);
    return gl_output_report(&s->options.output, &s->report, "traffic", err);
}

static int answer(session *s)
{
    gl_error err;
    gl_diagnostics diagnostics = {.count = 0};
    if (s->options.output.xlsx && !gl_xlsx_begin(&s->book, &err))
        return gl_cli_fail("plan", &err);
    if (!load_clusters(s, &diagnostics) || !plan_all(s, &diagnostics))
        return gl_cli_fail_all(&diagnostics);
    if (!write_report(s, &err))
        return gl_cli_fail("plan", &err);
    return s->options.strict && s->answer_is_no ? GL_EXIT_NO : GL_OK;
}

static int run(int argc, char **argv, gl_arena *arena)
{
    session *s = GL_ARENA_NEW(arena, session, 1);
    gl_error err;
    gl_texts arguments = {0};
    int status;
    s->arena = arena;
    s->options = gl_planning_defaults();
    s->options.output.can_trace = true;
    if (!gl_cli_parse(&gl_cmd_plan, argc, argv, arena, &s->options, &arguments, &status))
        return status;
    if (!gl_output_options_check(&s->options.output, gl_plan_table_names(), &err))
        return gl_cli_fail("plan", &err);
    if (s->options.clusters.count == 0)
        return gl_fail_without_cluster("plan", arguments.items[0]);
    if (!gl_request_parse(arguments.items[0], &s->options, s->arena, &s->request, &err))
        return gl_cli_fail("plan", &err);
    status = answer(s);
    gl_xlsx_discard(s->book);
    return status;
}

const gl_command gl_cmd_plan = {
    .name = "plan",
    .synopsis = "MODEL.yaml --cluster CLUSTER [--cluster CLUSTER ...] [options]",
    .summary = "traffic, time and memory of a training step; several clusters side by side",
    .examples =
        "gpulink-plan models/llama-1.1b-ddp.yaml --cluster h200-nvlink\n"
        "gpulink-plan models/llama-1.1b-ddp.yaml --cluster h200-nvlink --format csv\n"
        "gpulink-plan models/llama-1.1b-ddp.yaml --cluster h200-nvlink --sweep "
        "batch.micro=1,2,4\n"
        "gpulink-plan models/llama3-70b.yaml --cluster hgx-h100-16-ndr --set batch.micro=2\n"
        "gpulink-plan models/llama3-405b.yaml -c hgx-h100-16-ndr --format trace -o step.json\n"
        "gpulink-plan models/llama3-70b.yaml --cluster hgx-h100-16-ndr --output cost.xlsx\n",
    .options = options_table,
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
