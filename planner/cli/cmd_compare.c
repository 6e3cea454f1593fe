/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text.h"
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"
#include "planner/cli/scenarios.h"
#include "planner/cli/search_watch.h"
#include "planner/core/check.h"
#include "planner/core/comparison.h"
#include "planner/core/fitting.h"
#include "planner/core/search.h"
#include "planner/input/cluster_file.h"
#include "planner/report/option_costs.h"
#include "planner/report/option_words.h"
#include "planner/report/plan_tables.h"

#include <string.h>

enum { OPTIONS_MAX = 100 };

static const gl_option options_table[] = {
    GL_PLANNING_OPTIONS,
    GL_SWEEP_OPTION("An option of each value of a field; several sweeps: each combination."),
    {.name = "best-layout",
     .type = GL_OPTION_FLAG,
     .help = "Each option with its own best layout, as search finds it.",
     .offset = offsetof(gl_planning_options, best_layout)},
    GL_JOBS_OPTION(gl_planning_options, jobs),
    {.name = "within",
     .type = GL_OPTION_QUANTITY,
     .value_name = "SHARE",
     .help = "What is as good as the fastest, for break-evens (default 5%).",
     .offset = offsetof(gl_planning_options, within),
     .dimension = GL_FRACTION,
     .minimum = 0,
     .maximum = 10},
    GL_ANSWER_OPTIONS(gl_planning_options, output, GL_REPORT_FORMATS),
    {.name = NULL},
};

/* One option with all that it holds. */
typedef struct candidate {
    gl_cluster cluster;
    gl_planned planned;
} candidate;

typedef struct session {
    gl_planning_options options;
    gl_request request;
    gl_arena *arena;
    candidate *candidates;
    gl_option_note *notes;
    gl_comparison comparison;
    gl_search_watch watch;
    size_t impossible; /* combinations of a sweep whose values exclude each other … */
    gl_diagnostics first_impossible;
} session;

/* ---- one option ---- */

static const char *fatal_text(const gl_findings *findings, gl_arena *arena)
{
    const char *text = NULL;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].fatal)
            text = gl_arena_printf(arena, "%s%s%s: %s", text != NULL ? text : "",
                                   text != NULL ? "; " : "", findings->items[i].path,
                                   findings->items[i].message);
    return text;
}

/* More nodes, or fewer replicas. */
static const char *remedy_of_size(const session *s, const gl_setup *setup)
{
    bool extrapolate = s->options.allow_extrapolation;
    const gl_cluster *cluster = setup->cluster;
    if (gl_workload_ranks(setup->workload) <= (int64_t)cluster->nodes * cluster->gpus_per_node)
        return NULL;
    const char *larger = gl_larger_change(setup, extrapolate, s->arena);
    const char *smaller = gl_smaller_change(setup, extrapolate, s->arena);
    if (larger == NULL && smaller == NULL)
        return "neither more nodes nor fewer replicas of this layout were found to be enough; "
               "another layout may be (--best-layout)";
    return gl_arena_printf(s->arena, "possible with %s%s%s", larger != NULL ? larger : "",
                           larger != NULL && smaller != NULL ? ", or with " : "",
                           smaller != NULL ? smaller : "");
}

/* A plan that does not fit: by how much, and what would change it. */
static void note_memory(session *s, const gl_setup *setup, const gl_plan *plan,
                        gl_option_note *note)
{
    const gl_memory *memory = &plan->memory;
    if (memory->fits)
        return;
    note->why_not = gl_arena_printf(s->arena, "needs %s of the GPU's %s",
                                    gl_gib_text(memory->total_bytes, s->arena),
                                    gl_gib_text(memory->capacity_bytes, s->arena));
    const char *change = gl_fitting_change(setup, s->options.allow_extrapolation, s->arena);
    const gl_cluster *cluster = setup->cluster;
    bool idle =
        gl_workload_ranks(setup->workload) < (int64_t)cluster->nodes * cluster->gpus_per_node;
    note->remedy =
        change != NULL ? gl_arena_printf(s->arena, "fits with %s", change)
        : idle ? "no change of ZeRO, recomputation, microbatch, tp or pp that was tried is enough, "
                 "but GPUs are idle: --best-layout looks for a layout on all of them"
               : "no change of ZeRO, recomputation, microbatch, tp or pp that was tried is enough: "
                 "more GPUs or larger ones are needed";
}

/* "fits with 64 such GPUs: tp 2, …; with GPUs of …" from the lines of a search. */
static const char *remedy_of_search(const char *lines, gl_arena *arena)
{
    const char *text = "";
    while (lines != NULL && *lines != '\0') {
        size_t length = strcspn(lines, "\n");
        const char *line = gl_arena_strndup(arena, lines, length);
        text = gl_arena_append(arena, text, "; ", line);
        lines += length + (lines[length] == '\n');
    }
    if (text[0] == '\0')
        return NULL;
    return gl_starts_with(text, "with") ? gl_arena_printf(arena, "fits %s", text) : text;
}

/* Gives an option its best layout, or says why it has none. */
static void choose_layout(session *s, candidate *c, gl_option_note *note)
{
    const gl_plan_options options = gl_request_plan_options(&s->request);
    const gl_search_options search = {
        .jobs = (int)s->options.jobs, .watch = gl_search_watch_look, .context = &s->watch};
    gl_best_layout best;
    gl_error err;
    s->watch.name = c->cluster.name;
    if (!gl_search_best(&c->planned.workload, &c->cluster, &options, &search, s->arena, &best,
                        &err))
        best = (gl_best_layout){.why_not = gl_arena_strdup(s->arena, err.message)};
    gl_search_watch_clear(&s->watch);
    note->why_not = best.why_not;
    note->remedy = remedy_of_search(best.remedy, s->arena);
    note->has_no_layout = best.why_not != NULL;
    if (best.stopped && best.why_not == NULL)
        gl_texts_add(
            &c->planned.notes, s->arena,
            gl_arena_printf(s->arena, "%s: interrupted: the best of %lld layouts, out of %lld",
                            c->cluster.name, (long long)best.looked_at, (long long)best.total));
    gl_findings findings = {.arena = s->arena};
    gl_check_workload(&c->planned.workload, &findings);
    for (size_t i = 0; i < findings.count && best.why_not == NULL; i++)
        gl_texts_add(&c->planned.notes, s->arena,
                     gl_arena_printf(s->arena, "%s: its best layout: %s", c->cluster.name,
                                     findings.items[i].message));
}

/* The layout at hand on the cluster: whether it can be, and its plan. */
static void plan_layout(session *s, candidate *c, const gl_yaml_tree *tree, gl_compared *option,
                        gl_option_note *note, gl_diagnostics *diagnostics)
{
    const gl_plan_options options = gl_request_plan_options(&s->request);
    gl_findings findings = {.arena = s->arena};
    gl_error err;
    if (s->options.allow_extrapolation)
        gl_cluster_extend(&c->cluster, gl_workload_ranks(&c->planned.workload));
    gl_check_cluster(&c->planned.workload, &c->cluster, &findings);
    note->why_not = fatal_text(&findings, s->arena);
    if (note->why_not != NULL) {
        note->remedy = remedy_of_size(s, &option->setup);
        return;
    }
    gl_findings_report(&findings, tree, s->arena, &c->planned.notes, diagnostics);
    if (!gl_plan_build(&c->planned.workload, &c->cluster, &options, s->arena, &c->planned.plan,
                       &err)) {
        note->why_not = gl_arena_strdup(s->arena, err.message);
        return;
    }
    option->plan = &c->planned.plan;
    note_memory(s, &option->setup, option->plan, note);
    if (note->why_not == NULL && !gl_is_compared(option)) {
        note->why_not = "its step time is not known: nothing tells how long computing takes";
        note->remedy =
            "known with the architecture (model.sequence, …) and a GPU of the catalogue, "
            "or with compute.step";
    }
}

/* What was swept tells options of one cluster apart: "8 x HGX H100 with parallel.tp=4". Where the
 * name counts the nodes, a swept number of them stands there. */
static const char *option_name(const session *s, const gl_cluster *cluster, const gl_setting *swept)
{
    static const char COUNTED[] = "n x ", NODES[] = "cluster.nodes", CLUSTER[] = "cluster.";
    const char *name = cluster->name, *values = "";
    for (size_t i = 0; i < s->request.sweep_count; i++) {
        const char *key = swept[i].key;
        if (strcmp(key, NODES) == 0 && gl_starts_with(name, COUNTED)) {
            name = gl_arena_printf(s->arena, "%d x %s", cluster->nodes, name + strlen(COUNTED));
            continue;
        }
        key += gl_starts_with(key, CLUSTER) ? strlen(CLUSTER) : 0;
        values = gl_arena_append(s->arena, values, ", ",
                                 gl_arena_printf(s->arena, "%s=%s", key, swept[i].value));
    }
    if (values[0] == '\0')
        return name;
    const char *before = strstr(name, " with ") != NULL ? ", " : " with ";
    return gl_arena_append(s->arena, name, before, values);
}

/* A combination of a sweep whose values exclude each other is an option, too. */
static void note_impossible(session *s, const gl_diagnostics *problems, gl_option_note *note)
{
    note->why_not = gl_problems_text(problems, s->arena);
    note->has_no_layout = true;
    if (s->impossible++ == 0)
        s->first_impossible = *problems;
}

/* Plans combination `combination` on cluster `cluster` as the next option. */
static bool plan_option(session *s, size_t combination, size_t cluster, gl_diagnostics *diagnostics)
{
    size_t index = s->comparison.option_count, count;
    candidate *c = &s->candidates[index];
    gl_option_note *note = &s->notes[index];
    gl_compared *option = &s->comparison.options[index];
    const gl_request *r = &s->request;
    const gl_setting *swept;
    const gl_setting *settings = gl_request_settings(r, combination, s->arena, &count, &swept);
    gl_yaml_tree tree;
    *c = (candidate){.planned = {.notes = {0}}};
    *note = (gl_option_note){.why_not = NULL};
    *option = (gl_compared){.plan = NULL};
    gl_diagnostics beside = {.count = 0};
    bool described = gl_cluster_load(s->options.clusters.items[cluster], settings, count, s->arena,
                                     &c->cluster, &c->planned.notes, diagnostics);
    bool loaded = gl_load_workload(r, settings, count, s->arena, &tree, &c->planned,
                                   described ? diagnostics : &beside) &&
                  described;
    if (!loaded && !gl_is_impossible(r, &c->cluster, &c->planned.workload, diagnostics))
        return false;
    c->cluster.name = option_name(s, &c->cluster, swept);
    option->setup = (gl_setup){&c->planned.workload, &c->cluster};
    if (loaded && s->options.best_layout)
        choose_layout(s, c, note);
    if (loaded && note->why_not == NULL)
        plan_layout(s, c, &tree, option, note, diagnostics);
    if (diagnostics->count > 0) {
        if (!gl_is_impossible(r, &c->cluster, &c->planned.workload, diagnostics))
            return false;
        note_impossible(s, diagnostics, note);
        *diagnostics = (gl_diagnostics){.count = 0};
    }
    s->comparison.option_count++;
    return true;
}

/* An option of each combination and cluster: combinations of a cluster stand together. */
static bool plan_options(session *s, gl_diagnostics *diagnostics)
{
    size_t clusters = s->options.clusters.count, count = clusters * s->request.combinations;
    const gl_plan_options options = gl_request_plan_options(&s->request);
    s->candidates = GL_ARENA_NEW(s->arena, candidate, count);
    s->notes = GL_ARENA_NEW(s->arena, gl_option_note, count);
    s->comparison = (gl_comparison){.options = GL_ARENA_NEW(s->arena, gl_compared, count),
                                    .tolerance_frac = s->options.within};
    s->watch = gl_search_watch_start(s->options.output.quiet);
    for (size_t i = 0; i < clusters; i++)
        for (size_t k = 0; k < s->request.combinations; k++) {
            bool planned = plan_option(s, k, i, diagnostics);
            gl_status_line_say(&s->watch.line, "%zu of %zu options planned",
                               s->comparison.option_count, count);
            if (!planned) {
                gl_search_watch_clear(&s->watch);
                return false;
            }
        }
    gl_status_line_say(&s->watch.line, "comparing %zu options", s->comparison.option_count);
    if (s->impossible == s->comparison.option_count) {
        gl_search_watch_clear(&s->watch);
        *diagnostics = s->first_impossible;
        return false;
    }
    gl_comparison_build(&s->comparison, &options, s->arena);
    gl_search_watch_clear(&s->watch);
    return true;
}

/* ---- the report ---- */

static const char *model_name(const session *s)
{
    return s->candidates[0].planned.workload.model.name;
}

static void add_table(session *s, gl_scenario *scenario, gl_table *table)
{
    gl_table **tables = GL_ARENA_NEW(s->arena, gl_table *, scenario->table_count + 1);
    if (scenario->table_count > 0)
        memcpy(tables, scenario->tables, scenario->table_count * sizeof *tables);
    tables[scenario->table_count++] = table;
    scenario->tables = tables;
}

static bool is_asked(const session *s, const char *name)
{
    const char *table = s->options.output.table;
    if (table == NULL && s->options.output.format == GL_FORMAT_CSV)
        table = "options";
    return table == NULL || strcmp(table, name) == 0;
}

static gl_table *sensitivity_of(session *s, size_t index)
{
    const gl_compared *option = &s->comparison.options[index];
    gl_table *table =
        gl_sensitivity_table(option->sensitivities, option->sensitivity_count,
                             option->plan != NULL ? option->plan->step.time_s : 0, s->arena);
    if (gl_output_for_people(&s->options.output))
        table->title = gl_arena_printf(s->arena, "%s (option %zu)", table->title, index + 1);
    return table;
}

/* Tables of a comparison. */
static const char *const own_tables[] = {"options", "sensitivity", "break_even", "probability"};
enum { OWN_TABLES = sizeof own_tables / sizeof own_tables[0] };

static bool is_own_table(const char *name)
{
    for (size_t i = 0; i < OWN_TABLES; i++)
        if (strcmp(own_tables[i], name) == 0)
            return true;
    return false;
}

/* A null is never without a reason, whichever table was asked for. */
static void add_no_answer(session *s, size_t index)
{
    const gl_option_note *note = &s->notes[index];
    if (note->why_not != NULL)
        gl_texts_add(&s->candidates[index].planned.notes, s->arena,
                     gl_arena_printf(s->arena, "%s has no answer: %s%s%s",
                                     s->candidates[index].cluster.name, note->why_not,
                                     note->remedy != NULL ? "; " : "",
                                     note->remedy != NULL ? note->remedy : ""));
}

/* For machines: what a plan has, and what the comparison adds. */
static void build_scenario(session *s, size_t index, gl_scenario *scenario)
{
    candidate *c = &s->candidates[index];
    const gl_compared *option = &s->comparison.options[index];
    add_no_answer(s, index);
    const gl_plan_view view = {
        .name = gl_arena_printf(s->arena, "%s on %s", model_name(s), c->cluster.name),
        .only = s->options.output.table != NULL             ? s->options.output.table
                : s->options.output.format == GL_FORMAT_CSV ? "options"
                                                            : NULL,
        .notes = c->planned.notes.items,
        .note_count = c->planned.notes.count,
    };
    if (option->plan != NULL)
        gl_plan_scenario(option->plan, &view, s->arena, scenario);
    else
        gl_plan_absent_scenario(&c->planned.workload, !s->notes[index].has_no_layout, &c->cluster,
                                &view, s->arena, scenario);
    scenario->headline = NULL;
    if (view.only != NULL && is_own_table(view.only))
        scenario->table_count = 0; /* a plan's own of that name is against itself */
    if (is_asked(s, "options"))
        add_table(s, scenario, gl_options_table(&s->comparison, s->notes, index, s->arena));
    if (is_asked(s, "sensitivity"))
        add_table(s, scenario, sensitivity_of(s, index));
}

static gl_report report_for_machines(session *s)
{
    size_t count = s->comparison.option_count;
    gl_scenario *comparison = GL_ARENA_NEW(s->arena, gl_scenario, 1);
    gl_report report = {.scenarios = GL_ARENA_NEW(s->arena, gl_scenario, count),
                        .scenario_count = count,
                        .comparison = comparison};
    for (size_t i = 0; i < count; i++)
        build_scenario(s, i, &report.scenarios[i]);
    comparison->name = model_name(s);
    add_table(s, comparison, gl_break_even_table(&s->comparison, s->arena));
    add_table(s, comparison, gl_probability_table(&s->comparison, s->arena));
    return report;
}

static gl_texts warnings_of(const session *s, size_t index)
{
    gl_texts texts = {0};
    const gl_texts *notes = &s->candidates[index].planned.notes;
    const gl_plan *plan = s->comparison.options[index].plan;
    for (size_t i = 0; i < notes->count; i++)
        gl_texts_add(&texts, s->arena, notes->items[i]);
    for (size_t i = 0; plan != NULL && i < plan->warning_count; i++)
        gl_texts_add(&texts, s->arena, plan->warnings[i]);
    return texts;
}

/* A warning with the names of those that have it: not where these are all, or where it names the
 * only one itself. */
static const char *with_whose(const session *s, const gl_texts *warnings, const char *text)
{
    char names[256];
    size_t count = s->comparison.option_count, owners = 0;
    const char **owner = GL_ARENA_NEW(s->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        if (gl_texts_have(&warnings[i], text))
            owner[owners++] = s->candidates[i].cluster.name;
    if (owners == count || (owners == 1 && strstr(text, owner[0]) != NULL))
        return text;
    return gl_arena_printf(s->arena, "%s: %s", gl_list_names(owner, owners, names, sizeof names),
                           text);
}

/* Warnings of all options, each once and with whose it is where that is not all of them. */
static void collect_warnings(session *s, gl_scenario *out)
{
    size_t count = s->comparison.option_count;
    gl_texts *warnings = GL_ARENA_NEW(s->arena, gl_texts, count), said = {0}, all = {0};
    for (size_t i = 0; i < count; i++)
        warnings[i] = warnings_of(s, i);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < warnings[i].count; k++) {
            const char *text = warnings[i].items[k];
            if (gl_texts_have(&said, text))
                continue;
            gl_texts_add(&said, s->arena, text);
            gl_texts_add(&all, s->arena, with_whose(s, warnings, text));
        }
    out->warnings = all.items;
    out->warning_count = all.count;
}

/* What they cost, in words and tables, where there are prices. */
static void add_costs(session *s, gl_scenario *one)
{
    gl_table *tables[GL_OPTION_COST_TABLES];
    if (s->options.output.table != NULL)
        return;
    size_t count = gl_option_cost_tables(&s->comparison, s->options.output.format == GL_FORMAT_HTML,
                                         s->arena, tables);
    for (size_t i = 0; i < count; i++)
        add_table(s, one, tables[i]);
    one->headline = gl_arena_printf(s->arena, "%s%s", one->headline,
                                    gl_option_cost_words(&s->comparison, s->arena));
}

/* For people: the answer in words, options side by side, then what each owes to what. */
static gl_report report_for_people(session *s)
{
    gl_scenario *one = GL_ARENA_NEW(s->arena, gl_scenario, 1);
    gl_table *options = NULL;
    if (s->options.output.table == NULL)
        one->headline = gl_options_headline(&s->comparison, s->notes, model_name(s),
                                            s->options.best_layout, s->arena);
    for (size_t i = 0; i < s->comparison.option_count; i++) {
        gl_table *row = gl_options_table(&s->comparison, s->notes, i, s->arena);
        if (options == NULL)
            options = row;
        else
            memcpy(gl_table_add_row(options), row->cells, row->column_count * sizeof *row->cells);
    }
    if (is_asked(s, "options"))
        add_table(s, one, options);
    add_costs(s, one);
    if (is_asked(s, "probability"))
        add_table(s, one, gl_probability_table(&s->comparison, s->arena));
    if (is_asked(s, "break_even"))
        add_table(s, one, gl_break_even_table(&s->comparison, s->arena));
    for (size_t i = 0; i < s->comparison.option_count; i++)
        if (is_asked(s, "sensitivity"))
            add_table(s, one, sensitivity_of(s, i));
    collect_warnings(s, one);
    return (gl_report){.scenarios = one,
                       .scenario_count = 1,
                       .title = gl_arena_printf(s->arena, "%s: %zu option%s compared",
                                                model_name(s), s->comparison.option_count,
                                                s->comparison.option_count == 1 ? "" : "s")};
}

/* An option that cannot run is an answer, and the answer is no. */
static bool all_run(const session *s)
{
    for (size_t i = 0; i < s->comparison.option_count; i++)
        if (!gl_compared_runs(&s->comparison.options[i]))
            return false;
    return true;
}

/* ---- the command ---- */

const char *const *gl_compare_table_names(gl_arena *arena)
{
    const char *const *plans = gl_plan_table_names();
    size_t count = 0, used = 0;
    while (plans[count] != NULL)
        count++;
    const char **names = GL_ARENA_NEW(arena, const char *, count + OWN_TABLES + 1);
    for (size_t i = 0; i < OWN_TABLES; i++)
        names[used++] = own_tables[i];
    for (size_t i = 0; i < count; i++)
        if (!is_own_table(plans[i]))
            names[used++] = plans[i];
    return names;
}

/* What a plan's tables hold is shown for people by plan. */
static bool for_people(const session *s)
{
    const char *table = s->options.output.table;
    return gl_output_for_people(&s->options.output) && (table == NULL || is_own_table(table));
}

static int answer(session *s)
{
    gl_error err;
    gl_diagnostics diagnostics = {.count = 0};
    if (!plan_options(s, &diagnostics))
        return gl_cli_fail_all(&diagnostics);
    gl_report report = for_people(s) ? report_for_people(s) : report_for_machines(s);
    if (!gl_output_report(&s->options.output, &report, "options", &err))
        return gl_cli_fail("compare", &err);
    return all_run(s) ? GL_OK : GL_EXIT_NO;
}

/* What --best-layout chooses for each option cannot be said, too. */
static bool check_free(const session *s, const char *option, const char *key, const char *value,
                       gl_error *err)
{
    char shown[64];
    for (int i = 0; s->options.best_layout && i < GL_SEARCH_AXIS_COUNT; i++)
        if (strcmp(gl_search_axis_path((gl_search_axis)i), key) == 0)
            return gl_fail(err, GL_ERROR_USAGE,
                           "%s %s: --best-layout chooses it for each option; leave one of the two "
                           "out, or keep it, one cluster at a time: gpulink-plan search %s "
                           "--cluster %s --fix %s=%s",
                           option, key, s->request.model, s->options.clusters.items[0],
                           gl_search_axis_names[i], gl_printable(value, shown, sizeof shown));
    return true;
}

/* Options are the same work on different machines, or the same work laid out otherwise: a sweep
 * that changes the work, or what --best-layout chooses, makes none. */
static bool check_sweep(const session *s, size_t index, gl_error *err)
{
    char shown[64], values[128];
    const gl_sweep *sweep = &s->request.sweeps[index];
    gl_printable(sweep->key, shown, sizeof shown);
    if (gl_starts_with(sweep->key, "model."))
        return gl_fail(err, GL_ERROR_USAGE,
                       "--sweep %s changes the work, and options are compared at the same work; "
                       "side by side: gpulink-plan plan %s --cluster %s --sweep %s",
                       shown, s->request.model, s->options.clusters.items[0],
                       gl_printable(s->options.sweeps.items[index], values, sizeof values));
    return check_free(s, "--sweep", sweep->key, "VALUE", err);
}

static bool check_usage(const session *s, gl_error *err)
{
    size_t options = s->options.clusters.count * s->request.combinations;
    for (size_t i = 0; i < s->request.sweep_count; i++)
        if (!check_sweep(s, i, err))
            return false;
    for (size_t i = 0; i < s->request.setting_count; i++) {
        const gl_setting *set = &s->request.settings[i];
        if (!check_free(s, "--set", set->key, set->value, err))
            return false;
    }
    if (options < 2)
        return gl_fail(err, GL_ERROR_USAGE,
                       "compare needs two options or more: give --cluster for each, or --sweep "
                       "with the values of a field");
    if (options > OPTIONS_MAX)
        return gl_fail(err, GL_ERROR_USAGE, "compare takes at most %d options, found %zu",
                       OPTIONS_MAX, options);
    return true;
}

static int run(int argc, char **argv, gl_arena *arena)
{
    session *s = GL_ARENA_NEW(arena, session, 1);
    gl_error err;
    gl_texts arguments = {0};
    int status;
    s->arena = arena;
    s->options = gl_planning_defaults();
    if (!gl_cli_parse(&gl_cmd_compare, argc, argv, arena, &s->options, &arguments, &status))
        return status;
    if (!gl_output_options_check(&s->options.output, gl_compare_table_names(s->arena), &err))
        return gl_cli_fail("compare", &err);
    if (s->options.clusters.count == 0)
        return gl_fail_without_cluster("compare", arguments.items[0]);
    if (!gl_request_parse(arguments.items[0], &s->options, s->arena, &s->request, &err) ||
        !check_usage(s, &err))
        return gl_cli_fail("compare", &err);
    return answer(s);
}

const gl_command gl_cmd_compare = {
    .name = "compare",
    .synopsis = "MODEL.yaml --cluster A [--cluster B ...] [--sweep KEY=A,B,C] [options]",
    .summary = "options against each other: which is fastest, how sure that is, what each would "
               "need",
    .examples =
        "gpulink-plan compare models/llama-1.1b-ddp.yaml -c h200-nvlink -c h200-host-memory\n"
        "gpulink-plan compare models/llama3-8b.yaml -c hgx-h100-16-ndr -c pcie5-switch-16 "
        "--best-layout\n"
        "gpulink-plan compare models/llama3-8b.yaml -c hgx-h100-16-ndr --sweep "
        "batch.micro=1,2\n"
        "gpulink-plan compare models/llama3-70b.yaml -c hgx-h100-16-ndr -c hgx-h100-16-ndr-4to1 "
        "-f csv\n",
    .options = options_table,
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
