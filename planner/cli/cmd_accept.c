/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/cli/scenarios.h"
#include "planner/input/cluster_file.h"
#include "planner/input/delivered.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"
#include "planner/input/yardstick.h"
#include "planner/report/acceptance_tables.h"

#include <string.h>

typedef struct accept_options {
    gl_planning_options planning;
    const char *measured, *list;
    double tolerance_frac;
    bool nccl_tests;
} accept_options;

/* gl_planning_options comes first, so that its rows fit this struct as they are. */
_Static_assert(offsetof(accept_options, planning) == 0, "planning must be the first member");

static const gl_option options_table[] = {
    GL_PLANNING_OPTIONS,
    {.name = "measured",
     .letter = 'm',
     .type = GL_OPTION_TEXT,
     .value_name = "NEW.db",
     .help = "Calibration of the delivered machine, or FILE.db#LABEL; without it, what to measure "
             "is listed.",
     .offset = offsetof(accept_options, measured)},
    {.name = "tolerance",
     .type = GL_OPTION_QUANTITY,
     .value_name = "PART",
     .help = "A message may take so much longer than planned (default 10%: more than healthy "
             "links' noise, less than a lost rail).",
     .offset = offsetof(accept_options, tolerance_frac),
     .dimension = GL_FRACTION,
     .minimum = 0,
     .maximum = 10},
    {.name = "list",
     .type = GL_OPTION_TEXT,
     .value_name = "FILE.csv",
     .help = "Write what to measure, for gpulink-calibrate run --acceptance; without --measured, "
             "--output, --format or --table nothing else is printed.",
     .offset = offsetof(accept_options, list)},
    {.name = "nccl-tests",
     .type = GL_OPTION_FLAG,
     .help = "Print commands of nccl-tests that measure the same by hand.",
     .offset = offsetof(accept_options, nccl_tests)},
    GL_ANSWER_OPTIONS(gl_planning_options, output, GL_REPORT_FORMATS),
    {.name = NULL},
};

/* One run of the command. */
typedef struct session {
    accept_options options;
    gl_request request;
    gl_arena *arena;
    gl_cluster cluster;
    gl_texts notes;
    gl_planned planned;
    gl_delivered delivered;
    gl_acceptance_yardstick yardstick;
    gl_acceptance acceptance;
    gl_plan again;
} session;

static const char *cluster_name(const session *s)
{
    return s->options.planning.clusters.items[0];
}

static bool load(session *s, gl_diagnostics *diagnostics)
{
    gl_error err;
    const gl_request *r = &s->request;
    if (!gl_cluster_load(cluster_name(s), r->settings, r->setting_count, s->arena, &s->cluster,
                         &s->notes, diagnostics) ||
        !gl_plan_one(r, r->settings, r->setting_count, &s->cluster, s->arena, &s->planned,
                     diagnostics) ||
        !gl_yardstick_load(&s->cluster, s->arena, &s->yardstick, diagnostics))
        return false;
    if (s->options.measured == NULL)
        return true;
    if (!gl_delivered_load(s->options.measured, s->arena, &s->delivered, &err))
        return gl_diagnose_error(diagnostics, &err);
    if (s->options.planning.output.verbose)
        gl_cli_note("%s: runs %zu, curves %zu", s->options.measured, s->delivered.run_count,
                    s->delivered.curve_count);
    return true;
}

/* The same plan, with what was measured where it was measured. */
static bool plan_again(session *s, gl_diagnostics *diagnostics)
{
    gl_error err;
    gl_cluster *delivered = GL_ARENA_NEW(s->arena, gl_cluster, 1);
    if (s->options.measured == NULL)
        return true;
    gl_acceptance_cluster(&s->acceptance, s->arena, delivered);
    gl_plan_options options = s->planned.plan.options;
    /* What the delivered curves do not carry was planned, and is planned again, marked so. */
    options.allow_extrapolation = true;
    return gl_plan_build(&s->planned.workload, delivered, &options, s->arena, &s->again, &err) ||
           gl_diagnose_error(diagnostics, &err);
}

static void build_report(session *s, const gl_output_options *output, const char *only,
                         gl_scenario *scenario)
{
    for (size_t i = 0; i < s->planned.notes.count; i++)
        gl_texts_add(&s->notes, s->arena, s->planned.notes.items[i]);
    const gl_acceptance_view view = {
        .name =
            gl_arena_printf(s->arena, "%s on %s", s->planned.workload.model.name, s->cluster.name),
        .model = s->request.model,
        .cluster = cluster_name(s),
        .measured = s->options.measured,
        .again = s->options.measured != NULL ? &s->again : NULL,
        .for_people = gl_output_for_people(output),
        .only = only,
        .notes = s->notes.items,
        .note_count = s->notes.count,
    };
    gl_acceptance_report(&s->acceptance, &view, s->arena, scenario);
}

static bool write_table(session *s, const gl_output_options *output, const char *csv_table,
                        gl_error *err)
{
    gl_scenario scenario;
    const char *only = output->table != NULL             ? output->table
                       : output->format == GL_FORMAT_CSV ? csv_table
                                                         : NULL;
    build_report(s, output, only, &scenario);
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    return gl_output_report(output, &report, csv_table, err);
}

static bool write_list(session *s, gl_error *err)
{
    gl_output_options output = {.output = s->options.list, .format = GL_FORMAT_CSV, .quiet = true};
    return write_table(s, &output, "acceptance_list", err);
}

static bool write_commands(session *s, gl_error *err)
{
    gl_output *out = NULL;
    if (!gl_output_open(s->options.planning.output.output, &out, err))
        return false;
    gl_output_puts(out, gl_acceptance_commands(&s->acceptance, s->arena));
    return gl_output_close(out, err);
}

/* A list or commands that were asked for are the answer, unless there is something to judge or
 * another answer was asked for as well. */
static bool write_answer(session *s, gl_error *err)
{
    const gl_output_options *output = &s->options.planning.output;
    bool listed = s->options.list != NULL, judged = s->options.measured != NULL;
    bool asked =
        output->output != NULL || output->table != NULL || output->format != GL_FORMAT_TABLE;
    if (listed && !write_list(s, err))
        return false;
    if (s->options.nccl_tests)
        return write_commands(s, err);
    return (listed && !judged && !asked) ||
           write_table(s, output, judged ? "acceptance" : "acceptance_list", err);
}

static int answer(session *s)
{
    gl_error err;
    gl_diagnostics diagnostics = {.count = 0};
    if (!load(s, &diagnostics))
        return gl_cli_fail_all(&diagnostics);
    gl_acceptance_judge(&s->planned.plan, s->options.measured != NULL ? &s->delivered : NULL,
                        &s->yardstick, s->options.tolerance_frac, s->arena, &s->acceptance);
    if (!plan_again(s, &diagnostics))
        return gl_cli_fail_all(&diagnostics);
    if (!write_answer(s, &err))
        return gl_cli_fail("accept", &err);
    return s->options.measured == NULL || gl_acceptance_passes(&s->acceptance) ? GL_OK : GL_EXIT_NO;
}

/* Commands are plain lines, and stand in the place of the answer. */
static bool check_commands(const accept_options *o, gl_error *err)
{
    const gl_output_options *output = &o->planning.output;
    if (!o->nccl_tests)
        return true;
    if (o->measured != NULL)
        return gl_fail(err, GL_ERROR_USAGE,
                       "--nccl-tests prints commands instead of a verdict: it does not go with "
                       "--measured");
    return (output->format == GL_FORMAT_TABLE && output->table == NULL) ||
           gl_fail(err, GL_ERROR_USAGE,
                   "--nccl-tests prints plain commands; in a format they are --table nccl_tests");
}

/* The list must not take the place of an input, nor of the answer. */
static bool check_files(const session *s, gl_error *err)
{
    const accept_options *o = &s->options;
    const char *inputs[] = {s->request.model, cluster_name(s), o->measured};
    const char *outputs[] = {o->list, o->planning.output.output};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        for (size_t k = 0; k < 2; k++)
            if (inputs[i] != NULL && outputs[k] != NULL && gl_file_is_same(inputs[i], outputs[k]))
                return gl_fail(err, GL_ERROR_USAGE, "%s would overwrite the input %.200s",
                               k == 0 ? "--list" : "--output", inputs[i]);
    if (o->list != NULL && outputs[1] != NULL && strcmp(o->list, outputs[1]) == 0)
        return gl_fail(err, GL_ERROR_USAGE, "--list and --output name the same file");
    return true;
}

static bool check(session *s, const char *model, gl_error *err)
{
    gl_planning_options *planning = &s->options.planning;
    if (planning->clusters.count > 1)
        return gl_fail(err, GL_ERROR_USAGE,
                       "one plan is accepted at a time: give one --cluster, the planned one");
    return check_commands(&s->options, err) &&
           gl_request_parse(model, planning, s->arena, &s->request, err) && check_files(s, err);
}

static int run(int argc, char **argv, gl_arena *arena)
{
    session *s = GL_ARENA_NEW(arena, session, 1);
    gl_error err;
    gl_texts arguments = {0};
    int status;
    s->arena = arena;
    s->options = (accept_options){.planning = gl_planning_defaults(),
                                  .tolerance_frac = GL_ACCEPTANCE_TOLERANCE};
    gl_output_options *output = &s->options.planning.output;
    if (!gl_cli_parse(&gl_cmd_accept, argc, argv, arena, &s->options, &arguments, &status))
        return status;
    if (!gl_output_options_check(output, gl_acceptance_table_names(), &err))
        return gl_cli_fail("accept", &err);
    if (s->options.planning.clusters.count == 0)
        return gl_fail_without_cluster("accept", arguments.items[0]);
    if (!check(s, arguments.items[0], &err))
        return gl_cli_fail("accept", &err);
    return answer(s);
}

const gl_command gl_cmd_accept = {
    .name = "accept",
    .synopsis = "MODEL.yaml --cluster PLANNED --measured NEW.db [options]",
    .summary = "a delivered machine's measurements against what the plan needs",
    .examples =
        "gpulink-plan accept models/llama-1.1b-ddp.yaml --cluster h200-nvlink --list "
        "list.csv\n"
        "gpulink-plan accept models/llama-1.1b-ddp.yaml --cluster h200-nvlink "
        "--nccl-tests\n"
        "gpulink-plan accept models/llama-1.1b-ddp.yaml --cluster h200-nvlink --measured "
        "new.db\n"
        "gpulink-plan accept models/llama-1.1b-ddp.yaml -c h200-nvlink --measured new.db -o "
        "acceptance.md\n",
    .options = options_table,
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
