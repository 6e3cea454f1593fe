/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/planning.h"

#include "common/text.h"
#include "planner/input/notes.h"

#include <string.h>

bool gl_setting_parse(const char *option, const char *text, gl_arena *arena, gl_setting *setting,
                      gl_error *err)
{
    const char *equals = strchr(text, '=');
    char name[64];
    if (equals == NULL || equals == text || equals[1] == '\0')
        return gl_fail(err, GL_ERROR_USAGE, "%s '%s' is not of the form key=value, such as %s",
                       option, gl_printable(text, name, sizeof name),
                       strcmp(option, "--sweep") == 0 ? "parallel.tp=1,2,4" : "parallel.tp=4");
    setting->option = option;
    setting->key = gl_arena_strndup(arena, text, (size_t)(equals - text));
    setting->value = gl_arena_strdup(arena, equals + 1);
    return true;
}

bool gl_planned_build(const gl_yaml_tree *tree, const gl_cluster *cluster,
                      const gl_plan_options *options, gl_arena *arena, gl_planned *planned,
                      gl_diagnostics *diagnostics)
{
    gl_error err;
    gl_findings findings = {.arena = arena};
    gl_cluster *used = GL_ARENA_NEW(arena, gl_cluster, 1);
    *used = *cluster;
    if (options->allow_extrapolation)
        gl_cluster_extend(used, gl_workload_ranks(&planned->workload));
    gl_check_cluster(&planned->workload, used, &findings);
    gl_findings_report(&findings, tree, arena, &planned->notes, diagnostics);
    if (diagnostics->count > 0)
        return false;
    if (!gl_plan_build(&planned->workload, used, options, arena, &planned->plan, &err))
        return gl_diagnose_error(diagnostics, &err);
    return true;
}
