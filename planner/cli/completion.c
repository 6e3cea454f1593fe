/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What shells offer beside verbs, options and choices: names of bundled clusters, fields, tables.
 */
#include "planner/cli/commands.h"
#include "planner/cli/scenarios.h"
#include "planner/input/fields.h"
#include "planner/report/acceptance_tables.h"
#include "planner/report/plan_tables.h"
#include "planner/report/search_tables.h"
#include "planner/report/validation.h"

#include <string.h>

static void add_all(gl_texts *values, const char *const *names, gl_arena *arena)
{
    for (size_t i = 0; names[i] != NULL; i++)
        gl_texts_add(values, arena, names[i]);
}

static void add_clusters(const gl_command *command, gl_arena *arena, gl_texts *values)
{
    (void)command;
    gl_add_bundled_clusters(values, arena);
}

static void add_formats(const gl_command *command, gl_arena *arena, gl_texts *values)
{
    static const char *const of_a_plan[] = {"trace", "xlsx", NULL};
    if (command == &gl_cmd_plan)
        add_all(values, of_a_plan, arena);
}

static void add_tables(const gl_command *command, gl_arena *arena, gl_texts *values)
{
    add_all(values,
            command == &gl_cmd_compare    ? gl_compare_table_names(arena)
            : command == &gl_cmd_search   ? gl_search_table_names()
            : command == &gl_cmd_accept   ? gl_acceptance_table_names()
            : command == &gl_cmd_validate ? gl_validation_table_names()
            : command == &gl_cmd_schema   ? gl_schema_names
                                          : gl_plan_table_names(),
            arena);
}

/* "parallel.tp=" and the others of both descriptions. */
static void add_fields(const gl_command *command, gl_arena *arena, gl_texts *values)
{
    const gl_field *const tables[] = {gl_model_fields, gl_cluster_fields};
    (void)command;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const gl_field *field = tables[t]; field->path != NULL; field++)
            gl_texts_add(values, arena, gl_arena_printf(arena, "%s=", field->path));
}

void gl_cli_complete(const gl_command *command, const gl_option *option, gl_arena *arena,
                     gl_texts *values)
{
    static const struct {
        const char *option;
        void (*add)(const gl_command *command, gl_arena *arena, gl_texts *values);
    } kinds[] = {{"cluster", add_clusters},
                 {"format", add_formats},
                 {"table", add_tables},
                 {"set", add_fields},
                 {"sweep", add_fields}};
    if (option == NULL) {
        if (command == &gl_cmd_schema)
            add_all(values, gl_schema_names, arena);
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].option, option->name) == 0)
            kinds[i].add(command, arena, values);
}
