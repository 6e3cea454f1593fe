/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/answer.h"
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/input/fields.h"
#include "planner/input/price_file.h"
#include "planner/input/runs_file.h"
#include "planner/report/plan_schema.h"

#include <string.h>

typedef struct schema_options {
    gl_output_options output;
} schema_options;

static const gl_option options_table[] = {
    GL_ANSWER_OPTIONS(schema_options, output, GL_REPORT_FORMATS),
    {.name = NULL},
};

static const struct {
    const char *name;
    const gl_field *fields; /* NULL: columns of tables */
} schemas[] = {{"model", gl_model_fields},
               {"cluster", gl_cluster_fields},
               {"gpu", gl_gpu_fields},
               {"overlap", gl_overlap_fields},
               {"link", gl_link_fields},
               {"prices", gl_prices_fields},
               {"csv", NULL},
               {"runs", NULL}};
enum { SCHEMA_COUNT = sizeof schemas / sizeof schemas[0] };

const char *const gl_schema_names[] = {"model",  "cluster", "gpu",  "link", "overlap",
                                       "prices", "csv",     "runs", NULL};

static bool is_asked(const gl_texts *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    /* Without a name: what a user writes. */
    return names->count == 0 && strcmp(name, "model") == 0;
}

static bool check_names(const gl_texts *names, gl_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        size_t k = 0;
        while (k < SCHEMA_COUNT && strcmp(schemas[k].name, names->items[i]) != 0)
            k++;
        if (k == SCHEMA_COUNT)
            return gl_fail(err, GL_ERROR_USAGE,
                           "there is no schema '%s': there are model, cluster, gpu, link, overlap, "
                           "prices, runs and csv",
                           names->items[i]);
    }
    return true;
}

static gl_table *build_one(size_t index, gl_arena *arena)
{
    const char *name = schemas[index].name;
    if (schemas[index].fields == gl_prices_fields)
        return gl_fields_schema(gl_prices_schema(arena), name, arena);
    if (schemas[index].fields != NULL)
        return gl_fields_schema(schemas[index].fields, name, arena);
    return strcmp(name, "runs") == 0 ? gl_known_runs_schema(arena) : gl_plan_schema(arena);
}

static void build(const gl_texts *names, gl_arena *arena, gl_scenario *scenario)
{
    *scenario =
        (gl_scenario){.name = "schema", .tables = GL_ARENA_NEW(arena, gl_table *, SCHEMA_COUNT)};
    for (size_t i = 0; i < SCHEMA_COUNT; i++)
        if (is_asked(names, schemas[i].name))
            scenario->tables[scenario->table_count++] = build_one(i, arena);
}

static int run(int argc, char **argv, gl_arena *arena)
{
    schema_options options = {0};
    gl_texts names = {0};
    gl_scenario scenario;
    int status;
    gl_error err;
    if (!gl_cli_parse(&gl_cmd_schema, argc, argv, arena, &options, &names, &status))
        return status;
    if (!check_names(&names, &err) ||
        !gl_output_options_check(&options.output, gl_schema_names, &err))
        return gl_cli_fail("schema", &err);
    build(&names, arena, &scenario);
    const gl_report report = {.scenarios = &scenario, .scenario_count = 1};
    if (!gl_output_report(&options.output, &report, scenario.tables[0]->name, &err))
        return gl_cli_fail("schema", &err);
    return GL_OK;
}

const gl_command gl_cmd_schema = {
    .name = "schema",
    .synopsis = "[model|cluster|gpu|link|overlap|prices|runs|csv ...]",
    .summary = "the fields of the input files and the columns of the answers",
    .examples = "gpulink-plan schema model\n"
                "gpulink-plan schema csv --format markdown\n",
    .options = options_table,
    .minimum_arguments = 0,
    .maximum_arguments = SCHEMA_COUNT,
    .run = run,
};
