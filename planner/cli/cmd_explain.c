/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/cli/scenarios.h"
#include "planner/input/cluster_file.h"
#include "planner/input/yardstick.h"
#include "planner/report/explain_acceptance.h"

static const gl_option options_table[] = {
    GL_PLANNING_OPTIONS,
    GL_ANSWER_OPTIONS(gl_planning_options, output, GL_REPORT_FORMATS),
    {.name = NULL},
};

static const char *const table_names[] = {"explain", NULL};

static bool load(const gl_request *request, gl_arena *arena, gl_cluster *cluster,
                 gl_planned *planned, gl_diagnostics *diagnostics)
{
    gl_texts notes = {0};
    return gl_cluster_load(request->options->clusters.items[0], request->settings,
                           request->setting_count, arena, cluster, &notes, diagnostics) &&
           gl_plan_one(request, request->settings, request->setting_count, cluster, arena, planned,
                       diagnostics);
}

/* What an acceptance of this plan asks for, with the tolerance that accept takes by itself. */
static bool explain_acceptance(const gl_planned *planned, gl_arena *arena,
                               gl_explanation *explanation, gl_diagnostics *diagnostics)
{
    gl_acceptance acceptance;
    gl_acceptance_yardstick yardstick;
    if (!gl_yardstick_load(planned->plan.cluster, arena, &yardstick, diagnostics))
        return false;
    gl_acceptance_judge(&planned->plan, NULL, &yardstick, GL_ACCEPTANCE_TOLERANCE, arena,
                        &acceptance);
    gl_explain_acceptance(&acceptance, arena, explanation);
    return true;
}

/* `line` NULL = list all. */
static int answer(const gl_request *request, const char *line, gl_arena *arena)
{
    gl_cluster cluster;
    gl_planned planned;
    gl_explanation explanation;
    gl_scenario scenario;
    gl_diagnostics diagnostics = {.count = 0};
    gl_error err;
    if (!load(request, arena, &cluster, &planned, &diagnostics))
        return gl_cli_fail_all(&diagnostics);
    gl_explain(&planned.plan, arena, &explanation);
    if (!explain_acceptance(&planned, arena, &explanation, &diagnostics))
        return gl_cli_fail_all(&diagnostics);
    if (line != NULL && !gl_explain_select(&explanation, line, arena, &err))
        return gl_cli_fail("explain", &err);
    if (!gl_output_for_people(&request->options->output)) {
        gl_explain_detail(&explanation, arena, &scenario);
    } else if (line == NULL) {
        gl_explain_list(&explanation, arena, &scenario);
    } else {
        gl_explain_detail(&explanation, arena, &scenario);
        scenario.table_count = 0;
    }
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    if (!gl_output_report(&request->options->output, &report, "explain", &err))
        return gl_cli_fail("explain", &err);
    return GL_OK;
}

static int run(int argc, char **argv, gl_arena *arena)
{
    gl_planning_options options = gl_planning_defaults();
    gl_texts arguments = {0};
    gl_request request;
    int status;
    gl_error err;
    if (!gl_cli_parse(&gl_cmd_explain, argc, argv, arena, &options, &arguments, &status))
        return status;
    if (!gl_output_options_check(&options.output, table_names, &err))
        return gl_cli_fail("explain", &err);
    if (options.clusters.count == 0)
        return gl_fail_without_cluster("explain", arguments.items[0]);
    if (options.clusters.count > 1) {
        gl_fail(&err, GL_ERROR_USAGE, "one plan is explained at a time: give one --cluster");
        return gl_cli_fail("explain", &err);
    }
    if (!gl_request_parse(arguments.items[0], &options, arena, &request, &err))
        return gl_cli_fail("explain", &err);
    return answer(&request, arguments.count > 1 ? arguments.items[1] : NULL, arena);
}

const gl_command gl_cmd_explain = {
    .name = "explain",
    .synopsis = "MODEL.yaml --cluster CLUSTER [LINE] [options]",
    .summary = "the formula of a figure with the numbers put in, and its evidence",
    .examples =
        "gpulink-plan explain models/llama-1.1b-ddp.yaml --cluster h200-nvlink\n"
        "gpulink-plan explain models/llama-1.1b-ddp.yaml --cluster h200-nvlink traffic.1\n"
        "gpulink-plan explain models/llama-1.1b-ddp.yaml --cluster h200-nvlink step.time_s\n"
        "gpulink-plan explain models/llama-1.1b-ddp.yaml --cluster h200-nvlink acceptance.1\n",
    .options = options_table,
    .minimum_arguments = 1,
    .maximum_arguments = 2,
    .run = run,
};
