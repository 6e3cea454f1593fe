/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/datadir.h"
#include "common/status_line.h"
#include "planner/cli/answer.h"
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/input/conventions.h"
#include "planner/report/validation.h"

typedef struct validate_options {
    gl_output_options output;
    const char *conventions; /* NULL = the bundled ones */
} validate_options;

/* Deciles of a Latin hypercube need no more; hundreds of runs are planned. */
enum { VALIDATION_DRAWS = 200 };

static const gl_option options_table[] = {
    {.name = "conventions",
     .type = GL_OPTION_TEXT,
     .value_name = "FILE",
     .help = "What the tables do not say (default: data/validation/conventions.yaml).",
     .offset = offsetof(validate_options, conventions)},
    GL_ANSWER_OPTIONS(validate_options, output, GL_REPORT_FORMATS),
    {.name = NULL},
};

/* The bundled tables, when none is given. */
static void add_bundled(gl_texts *files, gl_arena *arena)
{
    size_t count;
    const char *const *names = gl_datadir_list(arena, "validation", "csv", &count);
    for (size_t i = 0; i < count; i++)
        gl_texts_add(files, arena, gl_datadir_find(arena, "validation", names[i], "csv"));
}

static bool load_runs(gl_texts *files, gl_arena *arena, gl_known_runs *runs,
                      gl_diagnostics *diagnostics)
{
    bool loaded = true;
    if (files->count == 0)
        add_bundled(files, arena);
    if (files->count == 0)
        return gl_diagnose(diagnostics, NULL, NULL, "no tables are installed: give one");
    for (size_t i = 0; i < files->count; i++)
        loaded = gl_known_runs_load(files->items[i], arena, runs, diagnostics) && loaded;
    return loaded;
}

/* A plan is far larger than what is kept of it: `scratch` goes with it. A run that cannot be
 * planned is listed with its reason; false when the reason is none of the run's. */
static bool plan_run(gl_conventions *conventions, const gl_known_run *run, gl_arena *arena,
                     gl_arena *scratch, gl_validated *out, gl_error *err)
{
    static const gl_plan_options options = {
        .headroom = GL_HEADROOM, .stage = -1, .draws = VALIDATION_DRAWS};
    gl_run_case made;
    gl_plan plan;
    gl_run_case_build(conventions, run, scratch, &made);
    *out = (gl_validated){.run = run,
                          .family = gl_arena_strdup(arena, made.family),
                          .fitted = made.fitted,
                          .gpu = made.gpu != NULL ? gl_arena_strdup(arena, made.gpu) : NULL};
    if (made.broken)
        return gl_fail(err, GL_ERROR_SYSTEM, "%s", made.reason);
    if (made.reason != NULL)
        out->reason = gl_arena_strdup(arena, made.reason);
    else if (!gl_plan_build(&made.workload, made.cluster, &options, scratch, &plan, err))
        out->reason = gl_arena_strdup(arena, err->message);
    else
        gl_validated_fill(&plan, arena, out);
    return true;
}

static int answer(const validate_options *options, gl_texts *files, gl_arena *arena)
{
    gl_error err;
    gl_diagnostics diagnostics = {.count = 0};
    gl_known_runs runs = {0};
    gl_scenario scenario;
    gl_conventions *conventions = gl_conventions_load(options->conventions, arena, &diagnostics);
    if (!load_runs(files, arena, &runs, &diagnostics) || conventions == NULL)
        return gl_cli_fail_all(&diagnostics);
    gl_status_line line = gl_status_line_start(options->output.quiet);
    gl_validated *validated = GL_ARENA_NEW(arena, gl_validated, runs.count);
    bool done = true;
    for (size_t i = 0; i < runs.count && done; i++) {
        gl_arena *scratch = gl_arena_create();
        done = plan_run(conventions, &runs.items[i], arena, scratch, &validated[i], &err);
        gl_arena_destroy(scratch);
        gl_status_line_say(&line, "%zu of %zu runs planned", i + 1, runs.count);
    }
    gl_status_line_clear(&line);
    if (!done)
        return gl_cli_fail("validate", &err);
    gl_validation_report(validated, runs.count, arena, &scenario);
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    if (!gl_output_report(&options->output, &report, "validation", &err))
        return gl_cli_fail("validate", &err);
    return GL_OK;
}

static int run(int argc, char **argv, gl_arena *arena)
{
    validate_options options = {.conventions = NULL};
    gl_texts files = {0};
    int status;
    gl_error err;
    if (!gl_cli_parse(&gl_cmd_validate, argc, argv, arena, &options, &files, &status))
        return status;
    if (!gl_output_options_check(&options.output, gl_validation_table_names(), &err))
        return gl_cli_fail("validate", &err);
    return answer(&options, &files, arena);
}

const gl_command gl_cmd_validate = {
    .name = "validate",
    .synopsis = "[FILE.csv ...] [options]",
    .summary = "predictions against published and measured runs",
    .examples = "gpulink-plan validate\n"
                "gpulink-plan validate --table accuracy\n"
                "gpulink-plan validate my-runs.csv --format csv\n",
    .options = options_table,
    .minimum_arguments = 0,
    .maximum_arguments = -1,
    .run = run,
};
