/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The session: what is to be measured, the run that it is stored in, the budget. */
#include "calibrate/measure/session_parts.h"

#include "calibrate/measure/placements.h"
#include "calibrate/measure/rates.h"
#include "gpulink_version.h"

#include <math.h>
#include <string.h>

#define RATES_SHARE 0.4 /* of the budget, when compute rates or overlap are measured too */

static void add_line(gl_session *s, const char **lines, const char *line)
{
    *lines = gl_arena_append(s->arena, *lines, "\n", line);
}

void gl_session__warn(gl_session *s, const char *line)
{
    add_line(s, &s->result->warnings, line);
}

void gl_session__warn_unmet(gl_session *s, const char *line)
{
    gl_session__warn(s, line);
    if (s->options->acceptance != NULL)
        add_line(s, &s->result->unmet, line);
}

bool gl_session__stop_with(gl_session *s, gl_status status)
{
    if (!gl_session__leads(s))
        gl_fail(s->err, status, "%s", "");
    return false;
}

/* Did the leader's step go well? */
static bool all_well(gl_session *s, bool ok)
{
    gl_status status = (gl_status)gl_session__agree(s, ok ? GL_OK : s->err->status);
    return status == GL_OK || gl_session__stop_with(s, status);
}

bool gl_session__backend_failed(gl_session *s)
{
    s->result->backend_failed = true;
    return false;
}

/* ---- collectives ---- */

/* --dtype wins over the list, whose types are those of the plan. */
static gl_dtype type_of(const gl_session *s, const gl_acceptance_item *item)
{
    if (s->options->dtype != GL_DTYPE_NONE)
        return s->options->dtype;
    return item->dtype != GL_DTYPE_NONE ? item->dtype : s->backend->dtypes[0];
}

/* Each item of a list has a grouping, a type and sizes of its own. */
static bool measure_list(gl_session *s)
{
    for (size_t i = 0; i < s->grouping_count; i++)
        s->visits += gl_session__variants_of(s->items[i]->collective);
    s->visits_left = s->visits;
    for (size_t i = 0; i < s->grouping_count; i++) {
        s->item = s->items[i];
        s->dtype = type_of(s, s->item);
        if (!gl_session__measure_collective(s, &s->groupings[i], s->item->collective))
            return false;
    }
    return true;
}

static bool measure_collectives(gl_session *s)
{
    const gl_session_options *o = s->options;
    if (s->items != NULL)
        return measure_list(s);
    for (int k = 0; k < o->collective_count; k++)
        s->visits += gl_session__variants_of(o->collectives[k]) * (int)s->grouping_count;
    s->visits_left = s->visits;
    for (size_t i = 0; i < s->grouping_count; i++)
        for (int k = 0; k < o->collective_count; k++)
            if (!gl_session__measure_collective(s, &s->groupings[i], o->collectives[k]))
                return false;
    return true;
}

/* ---- compute rates and overlap ---- */

static bool add_compute(void *context, const gl_compute_rate *rate, gl_error *err)
{
    return gl_recorder_add_compute(&((gl_session *)context)->recorder, rate, err);
}

static bool add_overlap(void *context, const gl_overlap_rate *rate, gl_error *err)
{
    return gl_recorder_add_overlap(&((gl_session *)context)->recorder, rate, err);
}

static bool rates_stopped(void *context)
{
    return gl_session__stopped(context);
}

/* Of the rates in the file, those of this run. */
static void fill_sink(gl_session *s, gl_rates_sink *sink)
{
    const gl_catalog *before = &s->recorder.before;
    gl_compute_rate *compute = GL_ARENA_NEW(s->arena, gl_compute_rate, before->compute_count);
    gl_overlap_rate *overlap = GL_ARENA_NEW(s->arena, gl_overlap_rate, before->overlap_count);
    *sink = (gl_rates_sink){.context = s,
                            .compute = compute,
                            .overlap = overlap,
                            .add_compute = add_compute,
                            .add_overlap = add_overlap,
                            .stopped = rates_stopped};
    for (size_t i = 0; i < before->compute_count; i++)
        if (before->compute[i].run_id == s->recorder.run_id)
            compute[sink->compute_count++] = before->compute[i];
    for (size_t i = 0; i < before->overlap_count; i++)
        if (before->overlap[i].run_id == s->recorder.run_id)
            overlap[sink->overlap_count++] = before->overlap[i];
}

/* Overlap is measured where most ranks work together: the last grouping. */
static bool measure_rates(gl_session *s)
{
    const gl_session_options *o = s->options;
    const gl_grouping *largest = &s->groupings[s->grouping_count - 1];
    /* cppcheck-suppress uninitvar ; fill_sink() fills it */
    gl_rates_sink sink, *mine = gl_session__leads(s) ? &sink : NULL;
    double left_s = s->start_s + o->budget_s - gl_session__now(s), start = gl_session__now(s);
    if (gl_session__leads(s))
        fill_sink(s, &sink);
    left_s = fmax(left_s, 1) / (o->compute + o->overlap);
    bool ok = !o->compute || gl_rates_measure_compute(s->backend, left_s, mine, s->err);
    ok = ok && (!o->overlap || gl_rates_measure_overlap(s->backend, largest, left_s, mine, s->err));
    s->result->measuring_s += gl_session__now(s) - start;
    return ok || gl_session__backend_failed(s);
}

/* ---- the session ---- */

static bool check_dtype(gl_session *s, gl_dtype wanted)
{
    const gl_dtype *known = s->backend->dtypes;
    const char *all = "";
    s->dtype = wanted != GL_DTYPE_NONE ? wanted : known[0];
    for (; *known != GL_DTYPE_NONE; known++) {
        if (*known == s->dtype)
            return true;
        all = gl_arena_append(s->arena, all, ", ", gl_dtype_name(*known));
    }
    return gl_fail_at(s->err, GL_ERROR_USAGE, NULL, "--dtype",
                      "the %s backend has no %s%s; it measures %s", s->backend->vtable->name,
                      gl_dtype_name(s->dtype),
                      s->options->acceptance != NULL && s->options->dtype == GL_DTYPE_NONE
                          ? ", which the list asks for"
                          : "",
                      all);
}

/* One rank alone moves nothing; its compute can be measured all the same. */
static bool check_ranks(gl_session *s)
{
    if (s->grouping_count > 0 || s->options->compute)
        return true;
    return gl_fail(s->err, GL_ERROR_DEVICE,
                   "the %s backend sees %d rank: a collective needs two or more GPUs or processes "
                   "(several nodes: start with mpirun or srun); --compute alone measures one GPU",
                   s->backend->vtable->name, s->backend->ranks);
}

/* What of a list this machine can form; the rest is named. */
static bool plan_list(gl_session *s, const gl_placements_options *placements)
{
    const gl_acceptance_list *list = s->options->acceptance;
    s->groupings = GL_ARENA_NEW(s->arena, gl_grouping, list->count);
    s->items = GL_ARENA_NEW(s->arena, const gl_acceptance_item *, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const gl_acceptance_item *item = &list->items[i];
        const gl_placement *p = &item->placement;
        if (!check_dtype(s, type_of(s, item)))
            return false;
        s->items[s->grouping_count] = item;
        if (gl_placements_exact(placements, p, s->arena, &s->groupings[s->grouping_count]))
            s->grouping_count++;
        else
            gl_session__warn_unmet(
                s, gl_arena_printf(s->arena,
                                   "%s of %d ranks on %d nodes, %d groups on a node: not "
                                   "measured, it does not fit on %d ranks",
                                   gl_collective_name(item->collective), p->ranks, p->nodes,
                                   p->concurrent_groups, s->backend->ranks));
    }
    return s->grouping_count > 0 ||
           gl_fail_at(s->err, GL_ERROR_USAGE, NULL, "--acceptance",
                      "nothing on the list fits on %d ranks of %d nodes: start more processes "
                      "(mpirun, srun)",
                      s->backend->ranks, s->backend->node_of_rank[s->backend->ranks - 1] + 1);
}

/* The same in all processes, so that all fail alike. */
static bool make_plan(gl_session *s)
{
    const gl_session_options *o = s->options;
    const gl_placements_options placements = {.ranks = s->backend->ranks,
                                              .node_of_rank = s->backend->node_of_rank,
                                              .wanted = o->ranks,
                                              .wanted_count = o->rank_count,
                                              .concurrent = o->concurrent};
    bool planned =
        o->acceptance != NULL
            ? plan_list(s, &placements)
            : check_dtype(s, o->dtype) && gl_placements_plan(&placements, s->arena, &s->groupings,
                                                             &s->grouping_count, s->err);
    return planned && check_ranks(s) &&
           (!(o->compute || o->overlap) || gl_rates_available(s->backend, s->err));
}

/* How it was measured; also what makes a command "the same" when it goes on. */
static const char *parameters_of(const gl_session *s, const char *library)
{
    const gl_session_options *o = s->options;
    const char *text = gl_arena_printf(
        s->arena, "%s%s%d ranks on %d nodes, %s, min %.0f, max %.0f, precision %g, ops", library,
        library[0] ? ", " : "", s->backend->ranks,
        s->backend->node_of_rank[s->backend->ranks - 1] + 1, gl_dtype_name(s->dtype), o->min_bytes,
        o->max_bytes, o->precision);
    for (int i = 0; i < o->collective_count; i++)
        text = gl_arena_printf(s->arena, "%s %s", text, gl_collective_name(o->collectives[i]));
    if (o->acceptance != NULL)
        text = gl_arena_printf(s->arena, "%s, list %08x", text,
                               gl_acceptance_list_digest(o->acceptance));
    for (int i = 0; i < o->rank_count; i++)
        text =
            gl_arena_printf(s->arena, "%s%s%d", text, i == 0 ? ", groups of " : " ", o->ranks[i]);
    return gl_arena_printf(s->arena, "%s%s%s%s, time of the slowest rank", text,
                           o->concurrent ? ", concurrent" : "", o->compute ? ", compute" : "",
                           o->overlap ? ", overlap" : "");
}

static gl_run describe_run(const gl_session *s)
{
    const gl_session_options *o = s->options;
    gl_run run = {.started_at = o->started_at,
                  .recorded_at = o->started_at,
                  .tool = "gpulink-calibrate",
                  .tool_version = GPULINK_VERSION,
                  .environment = o->environment,
                  .label = o->label};
    s->backend->vtable->describe(s->backend, s->arena, &run);
    if (!o->keep_host)
        run.host = "";
    gl_run_complete_texts(&run);
    run.parameters = parameters_of(s, run.parameters);
    return run;
}

static bool open_recorder(gl_session *s)
{
    const gl_machine_text *given = NULL;
    size_t count = 0;
    gl_run run = describe_run(s);
    if (s->backend->vtable->texts != NULL)
        s->backend->vtable->texts(s->backend, s->arena, &given, &count);
    gl_machine_text *texts = GL_ARENA_NEW(s->arena, gl_machine_text, count + 1);
    if (count > 0)
        memcpy(texts, given, count * sizeof *texts);
    if (s->options->locality != NULL)
        texts[count++] = (gl_machine_text){"hwloc", s->options->locality};
    if (!gl_recorder_open(&s->recorder, s->options->db, &run, texts, count, s->arena, s->err))
        return false;
    s->result->run_id = s->recorder.run_id;
    s->result->resumed = s->recorder.resumed;
    return true;
}

static void collect_warnings(gl_session *s)
{
    for (const char *const *w = s->backend->warnings; w != NULL && *w != NULL; w++)
        gl_session__warn(s, *w);
}

/* A run without a point is no answer; it stays open for a longer budget. */
static bool has_something(const gl_session *s)
{
    const gl_session_options *o = s->options;
    return s->result->points > 0 || s->result->stopped || o->compute || o->overlap ||
           gl_fail_at(s->err, GL_ERROR_USAGE, NULL, "--budget",
                      "%g s were too short for a single point", o->budget_s);
}

/* Marks the run. After a failure that is tried without complaint: the first error is the one to
 * tell. */
static bool finish(gl_session *s, bool ok)
{
    s->result->stopped = gl_session__stopped(s);
    collect_warnings(s);
    ok = ok && has_something(s);
    if (!ok) {
        gl_recorder_finish(&s->recorder, GL_RUN_INTERRUPTED, s->result->warnings, NULL);
        return false;
    }
    return gl_recorder_finish(&s->recorder,
                              s->result->stopped ? GL_RUN_INTERRUPTED : GL_RUN_COMPLETE,
                              s->result->warnings, s->err);
}

static bool measure_all(gl_session *s)
{
    const gl_session_options *o = s->options;
    bool rates = o->compute || o->overlap;
    s->start_s = gl_session__now(s);
    s->end_s = s->start_s + o->budget_s * (rates ? 1 - RATES_SHARE : 1);
    if (!measure_collectives(s))
        return false;
    return !rates || gl_session__agree(s, gl_session__stopped(s)) != 0 || measure_rates(s);
}

bool gl_session_run(gl_backend *backend, const gl_session_options *options, gl_arena *arena,
                    gl_session_result *result, gl_error *err)
{
    gl_error local = {0};
    gl_session s = {.backend = backend,
                    .options = options,
                    .arena = arena,
                    .result = result,
                    .err = err != NULL ? err : &local,
                    .recorder = {.lock = -1}};
    *result = (gl_session_result){.warnings = "", .unmet = ""};
    if (!make_plan(&s))
        return false;
    s.times_s = GL_ARENA_NEW(arena, double, GL_PACER_MAX);
    double start = gl_session__now(&s);
    if (!all_well(&s, !gl_session__leads(&s) || open_recorder(&s)))
        return false;
    bool ok = measure_all(&s);
    if (gl_session__leads(&s))
        ok = finish(&s, ok);
    if (!result->backend_failed)
        ok = all_well(&s, ok) && ok;
    gl_recorder_close(&s.recorder);
    result->wall_s = gl_session__now(&s) - start;
    return ok;
}
