/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that are there to be drawn. */
#include "planner/core/simulation.h"
#include "planner/core/stage_plans.h"
#include "planner/report/charts.h"
#include "planner/report/columns.h"
#include "planner/report/plan_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- curves ---- */

enum { GROUPS_MAX = 4, RELATED_MAX = 2, PER_OCTAVE = 2 };

static const gl_column curve_columns[] = {
    {"group", "Messages", GL_NUMBER, GL_FOR_ALL},
    {"kind", "Kind", GL_NUMBER, GL_FOR_ALL},
    {"size_bytes", "Size", GL_BYTES, GL_FOR_ALL},
    {"time_s", "Time", GL_SECONDS, GL_FOR_ALL},
    {"busbw_bytes_per_s", "Bus bandwidth", GL_BYTES_PER_S, GL_FOR_ALL},
    {"evidence", "Evidence", GL_NUMBER, GL_FOR_ALL},
};

/* Messages that share a curve. */
typedef struct group {
    const gl_traffic_row *row; /* the first of them */
    double time_s;             /* all of them in a step */
    double least_bytes, most_bytes;
} group;

typedef struct curves {
    const gl_plan *plan;
    gl_arena *arena;
    gl_table *table;
    gl_layout over_sites;
    const gl_curve_fit *fits;
    size_t fit_count;
    group *groups;
    size_t group_count;
} curves;

static void put_point(const curves *c, const char *name, const char *kind, double size_bytes,
                      double time_s, double busbw_bytes_per_s, const char *evidence)
{
    gl_cell *cell = gl_table_add_row(c->table);
    *cell++ = gl_text(name);
    *cell++ = gl_text(kind);
    *cell++ = gl_real(size_bytes);
    *cell++ = gl_real(time_s);
    *cell++ = gl_real(busbw_bytes_per_s);
    *cell++ = gl_text(evidence);
}

static const char *group_name(gl_collective collective, const gl_placement *p, gl_arena *arena)
{
    return gl_arena_printf(
        arena, "%s, %s%s", gl_collective_name(collective), gl_placement_text(p, arena),
        p->concurrent_groups > 1 ? gl_arena_printf(arena, ", %d groups", p->concurrent_groups)
                                 : "");
}

static group *group_of(curves *c, const gl_traffic_row *row)
{
    for (size_t i = 0; i < c->group_count; i++)
        if (c->groups[i].row->collective == row->collective &&
            gl_placement_equal(&c->groups[i].row->placement, &row->placement))
            return &c->groups[i];
    c->groups[c->group_count] = (group){.row = row, .least_bytes = (double)row->size_bytes};
    return &c->groups[c->group_count++];
}

static int longest_first(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->time_s < y->time_s ? 1 : x->time_s > y->time_s ? -1 : 0;
}

static void collect_groups(curves *c)
{
    const gl_plan *plan = c->plan;
    c->groups = GL_ARENA_NEW(c->arena, group, plan->traffic.row_count);
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_traffic_row *row = plan->rows[i].traffic;
        if (row->placement.ranks < 2)
            continue;
        group *g = group_of(c, row);
        g->time_s += plan->rows[i].time_s;
        g->least_bytes = fmin(g->least_bytes, (double)row->size_bytes);
        g->most_bytes = fmax(g->most_bytes, (double)row->size_bytes);
    }
    if (c->group_count > 0)
        qsort(c->groups, c->group_count, sizeof *c->groups, longest_first);
    if (c->group_count > GROUPS_MAX)
        c->group_count = GROUPS_MAX;
}

/* The curve measured for just these messages; NULL: there is none. */
static const gl_curve_fit *own_fit(const curves *c, const gl_traffic_row *row)
{
    const gl_curve_fit *found = NULL;
    bool in_place = gl_trains_in_place(row->collective);
    for (size_t i = 0; i < c->fit_count; i++) {
        const gl_curve *curve = c->fits[i].curve;
        if (curve->collective != row->collective ||
            !gl_placement_equal(&curve->placement, &row->placement))
            continue;
        if (found == NULL || curve->in_place == in_place)
            found = &c->fits[i];
    }
    return found;
}

static void put_measured(const curves *c, const char *name, const gl_curve_fit *fit)
{
    double factor = gl_bus_factor(fit->curve->collective, fit->curve->placement.ranks);
    for (size_t i = 0; i < fit->quality.points; i++)
        put_point(c, name, "measured", fit->size_bytes[i], fit->time_s[i],
                  fit->size_bytes[i] * factor / fit->time_s[i],
                  gl_evidence_name(GL_EVIDENCE_MEASURED));
}

/* Where nothing was measured for the messages, what was for the nearest groups. */
static void put_related(const curves *c, const gl_traffic_row *row)
{
    const gl_curve_fit *put[RELATED_MAX] = {NULL};
    for (size_t k = 0; k < RELATED_MAX; k++) {
        const gl_curve_fit *best = NULL;
        double least = INFINITY;
        for (size_t i = 0; i < c->fit_count; i++) {
            const gl_curve *curve = c->fits[i].curve;
            double far = fabs(log2((double)curve->placement.ranks / row->placement.ranks)) +
                         fabs(log2((double)curve->placement.nodes / row->placement.nodes));
            if (curve->collective == row->collective && far < least && &c->fits[i] != put[0] &&
                (put[0] == NULL ||
                 !gl_placement_equal(&curve->placement, &put[0]->curve->placement))) {
                best = &c->fits[i];
                least = far;
            }
        }
        if (best == NULL)
            return;
        put[k] = best;
        put_measured(c, group_name(row->collective, &best->curve->placement, c->arena), best);
    }
}

/* What the planner would take, from a little below the smallest size to a little above the largest
 * one. */
static void put_predicted(const curves *c, const char *name, const group *g,
                          const gl_curve_fit *fit)
{
    double from = fmin(1 << 10, g->least_bytes), to = fmax(2 * g->most_bytes, 1 << 28);
    if (fit != NULL) {
        from = fit->size_bytes[0];
        to = fmax(g->most_bytes, fit->size_bytes[fit->quality.points - 1]);
    }
    gl_network_query query = {.collective = g->row->collective,
                              .placement = g->row->placement,
                              .in_place = gl_trains_in_place(g->row->collective),
                              .allow_extrapolation = c->plan->options.allow_extrapolation,
                              .reach = c->plan->layout.reach[g->row->group],
                              .domains = c->plan->layout.domains[g->row->group],
                              .figures_only = true};
    if (c->plan->cluster->sites.count > 1)
        query.over_sites = c->over_sites.groups[g->row->group];
    int steps = (int)ceil(log2(to / from) * PER_OCTAVE);
    for (int i = 0; i <= steps; i++) {
        gl_network_time time;
        query.size_bytes = round(from * exp2((double)i / PER_OCTAVE));
        if (gl_network_eval(c->plan->network, &query, c->arena, &time, NULL))
            put_point(c, name, "predicted", query.size_bytes, time.time_s, time.busbw_bytes_per_s,
                      gl_evidence_name(time.evidence));
    }
}

static void put_messages(const curves *c, const char *name, const group *g)
{
    for (size_t i = 0; i < c->plan->traffic.row_count; i++) {
        const gl_traffic_row *row = c->plan->rows[i].traffic;
        const gl_network_time *call = &c->plan->rows[i].per_call;
        if (row->collective == g->row->collective &&
            gl_placement_equal(&row->placement, &g->row->placement))
            put_point(c, name, "message", (double)row->size_bytes, call->time_s,
                      call->busbw_bytes_per_s, gl_evidence_name(call->evidence));
    }
}

gl_table *gl_curves_table(const gl_plan *plan, gl_arena *arena)
{
    curves c = {.plan = plan,
                .arena = arena,
                .table = gl_table_create(arena, "curves",
                                         "Curves: measured, predicted between, and this plan's "
                                         "messages",
                                         curve_columns, COUNT(curve_columns))};
    if (plan->network == NULL)
        return c.table;
    if (plan->cluster->sites.count > 1)
        c.over_sites = gl_layout_over_sites(&plan->workload->parallel,
                                            gl_cluster_gpus_per_site(plan->cluster));
    c.fits = gl_network_fits(plan->network, &c.fit_count);
    collect_groups(&c);
    for (size_t i = 0; i < c.group_count; i++) {
        const group *g = &c.groups[i];
        const gl_curve_fit *fit = own_fit(&c, g->row);
        const char *name = group_name(g->row->collective, &g->row->placement, arena);
        if (fit != NULL)
            put_measured(&c, name, fit);
        put_predicted(&c, name, g, fit);
        put_messages(&c, name, g);
    }
    for (size_t i = 0; i < c.group_count && i < 1; i++)
        if (own_fit(&c, c.groups[i].row) == NULL)
            put_related(&c, c.groups[i].row);
    return c.table;
}

/* ---- the simulated step ---- */

enum { STAGES_MAX = 8, STAGES_WITH_LINKS = 4, PASSES_SEEN = 64 };

static const double EVENTS_MAX = 1e6;

static const gl_column timeline_columns[] = {
    {"stage", NULL, GL_NUMBER, GL_FOR_MACHINES},  {"row", NULL, GL_NUMBER, GL_FOR_MACHINES},
    {"what", NULL, GL_NUMBER, GL_FOR_MACHINES},   {"start_s", NULL, GL_SECONDS, GL_FOR_MACHINES},
    {"end_s", NULL, GL_SECONDS, GL_FOR_MACHINES}, {"events", NULL, GL_NUMBER, GL_FOR_MACHINES},
};

static const gl_column stage_columns[] = {
    {"stage", "Stage", GL_NUMBER, GL_FOR_ALL},
    {"what", "What", GL_NUMBER, GL_FOR_ALL},
    {"events", "Events", GL_NUMBER, GL_FOR_ALL},
    {"first_s", "From", GL_SECONDS, GL_FOR_ALL},
    {"last_s", "To", GL_SECONDS, GL_FOR_ALL},
    {"busy_s", "Busy", GL_SECONDS, GL_FOR_ALL},
    {"busy_frac", "Of the step", GL_FRACTION, GL_FOR_ALL},
};

/* One or several events of a stream that follow each other. */
typedef struct slice {
    double start_s, end_s, busy_s;
    int stage;
    gl_stream stream;
    const char *what;
    int64_t events;
} slice;

/* The step as it is drawn: a window of it, in which what is too short to see is drawn together. */
typedef struct view {
    gl_arena *arena;
    double until_s;
    double least_s; /* shorter ones become one with their neighbours */
    slice *open;    /* by stage and stream; of no events: none is */
    slice *slices;
    size_t count, capacity;
} view;

enum { WHOLE, BEGINNING, VIEWS };
enum {
    KINDS_OF_WORK = GL_STREAM_COUNT + 2
}; /* compute is a forward, a backward, or the optimizer */

typedef struct timeline {
    gl_arena *arena;
    int stages, shown;
    view views[VIEWS];
    slice *sums; /* by stage and what */
} timeline;

/* Of many stages some are shown, the first and the last among them. */
static bool is_shown(const timeline *t, int stage)
{
    for (int i = 0; i < t->shown; i++)
        if ((t->shown < 2 ? 0 : i * (t->stages - 1) / (t->shown - 1)) == stage)
            return true;
    return false;
}

static void close_slice(view *v, slice *open)
{
    if (open->events == 0)
        return;
    v->slices = gl_arena_grow(v->arena, v->slices, &v->capacity, v->count + 1, sizeof *v->slices);
    v->slices[v->count++] = *open;
    open->events = 0;
}

static const char *what_of(const gl_event *event)
{
    static const char *const passes[] = {"forward", "backward", "optimizer"};
    return event->stream == GL_STREAM_COMPUTE ? passes[event->kind] : gl_stream_name(event->stream);
}

static bool joins(const view *v, const slice *open, const gl_event *event)
{
    bool is_short = event->end_s - event->start_s < v->least_s;
    bool open_is_short = open->end_s - open->start_s < v->least_s || open->events > 1;
    return open->events > 0 && is_short && open_is_short &&
           event->start_s - open->end_s < v->least_s;
}

static void draw(view *v, const gl_event *event, const char *what)
{
    slice *open = &v->open[event->stage * GL_STREAM_COUNT + (int)event->stream];
    if (event->start_s >= v->until_s)
        return;
    if (joins(v, open, event)) {
        if (strcmp(open->what, what) != 0)
            open->what = "forward and backward";
        open->end_s = fmax(open->end_s, event->end_s);
        open->events++;
        return;
    }
    close_slice(v, open);
    *open = (slice){.start_s = event->start_s,
                    .end_s = fmin(event->end_s, v->until_s),
                    .stage = event->stage,
                    .stream = event->stream,
                    .what = what,
                    .events = 1};
}

static void add_up(timeline *t, const gl_event *event, const char *what)
{
    int kind = event->stream == GL_STREAM_COMPUTE ? (int)event->kind : (int)event->stream + 2;
    slice *sum = &t->sums[event->stage * KINDS_OF_WORK + kind];
    if (sum->events++ == 0) {
        sum->start_s = event->start_s;
        sum->what = what;
    }
    sum->end_s = fmax(sum->end_s, event->end_s);
    sum->busy_s += event->end_s - event->start_s;
}

static void hear(void *context, const gl_event *event)
{
    timeline *t = context;
    const char *what = what_of(event);
    if (event->end_s <= event->start_s || !is_shown(t, event->stage))
        return;
    add_up(t, event, what);
    for (int i = 0; i < VIEWS; i++)
        if (event->stream == GL_STREAM_COMPUTE || t->stages <= STAGES_WITH_LINKS)
            draw(&t->views[i], event, what);
}

static int in_order(const void *a, const void *b)
{
    const slice *x = a, *y = b;
    bool x_link = x->stream != GL_STREAM_COMPUTE, y_link = y->stream != GL_STREAM_COMPUTE;
    if (x->stage != y->stage)
        return x->stage - y->stage;
    if (x_link != y_link)
        return x_link ? 1 : -1;
    if (x->start_s < y->start_s || x->start_s > y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return (int)x->stream - (int)y->stream;
}

static void put_slices(view *v, gl_table *table)
{
    if (v->count > 0)
        qsort(v->slices, v->count, sizeof *v->slices, in_order);
    for (size_t i = 0; i < v->count; i++) {
        const slice *s = &v->slices[i];
        bool link = s->stream != GL_STREAM_COMPUTE;
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_integer(s->stage);
        *cell++ =
            gl_text(gl_arena_printf(v->arena, link ? "stage %d, links" : "stage %d", s->stage));
        *cell++ = gl_text(s->what);
        *cell++ = gl_real(s->start_s);
        *cell++ = gl_real(s->end_s);
        *cell++ = gl_integer(s->events);
    }
}

static void put_stages(const timeline *t, double time_s, gl_table *table)
{
    for (int i = 0; i < t->stages * KINDS_OF_WORK; i++) {
        const slice *sum = &t->sums[i];
        if (sum->events == 0)
            continue;
        gl_cell *cell = gl_table_add_row(table);
        *cell++ = gl_integer(i / KINDS_OF_WORK);
        *cell++ = gl_text(sum->what);
        *cell++ = gl_integer(sum->events);
        *cell++ = gl_real(sum->start_s);
        *cell++ = gl_real(sum->end_s);
        *cell++ = gl_real(sum->busy_s);
        *cell++ = gl_real(sum->busy_s / time_s);
    }
}

static view new_view(const timeline *t, double until_s, size_t slices, gl_arena *scratch)
{
    double lanes = t->stages > STAGES_WITH_LINKS ? t->shown : 3.0 * t->shown;
    return (view){.arena = t->arena,
                  .until_s = until_s,
                  .least_s = until_s / fmax(1, (double)slices / lanes),
                  .open = GL_ARENA_NEW(scratch, slice, (size_t)t->stages * GL_STREAM_COUNT)};
}

/* When some passes of each stage have been seen; 0: the whole is short enough to see them all. */
static double beginning_of(const gl_plan *plan)
{
    const gl_parallel *p = &plan->workload->parallel;
    double passes = 2.0 * (double)gl_workload_microbatches(plan->workload) *
                    (p->pp > 1 ? gl_parallel_chunks(p) : 1);
    return passes > 2 * PASSES_SEEN ? plan->step.time_s * PASSES_SEEN / passes : 0;
}

static void simulate(const gl_plan *plan, size_t slices, gl_arena *arena, gl_table *const *tables,
                     gl_table *stages)
{
    static const gl_scales as_predicted = {1, {1, 1}, 1};
    gl_arena *scratch = gl_arena_create();
    timeline t = {.arena = arena, .stages = plan->workload->parallel.pp};
    t.shown = t.stages < STAGES_MAX ? t.stages : STAGES_MAX;
    t.sums = GL_ARENA_NEW(scratch, slice, (size_t)t.stages * KINDS_OF_WORK);
    t.views[WHOLE] = new_view(&t, INFINITY, slices, scratch);
    t.views[WHOLE].least_s = new_view(&t, plan->step.time_s, slices, scratch).least_s;
    t.views[BEGINNING] = new_view(&t, beginning_of(plan), slices, scratch);
    gl_simulate(plan->workload, &plan->compute, plan->stage_plans, &as_predicted, hear, &t,
                scratch);
    for (int i = 0; i < VIEWS; i++) {
        for (size_t k = 0; k < (size_t)t.stages * GL_STREAM_COUNT; k++)
            close_slice(&t.views[i], &t.views[i].open[k]);
        put_slices(&t.views[i], tables[i]);
    }
    put_stages(&t, plan->step.time_s, stages);
    gl_arena_destroy(scratch);
}

void gl_timeline_tables(const gl_plan *plan, size_t slices, gl_arena *arena, gl_table **tables)
{
    static const char *const names[] = {"timeline", "timeline_start"};
    for (size_t i = 0; i < VIEWS; i++)
        tables[i] =
            gl_table_create(arena, names[i], names[i], timeline_columns, COUNT(timeline_columns));
    tables[VIEWS] = gl_table_create(arena, "stages",
                                    plan->workload->parallel.pp > STAGES_MAX
                                        ? "The simulated step, by stage (some of them)"
                                        : "The simulated step, by stage",
                                    stage_columns, COUNT(stage_columns));
    if (plan->compute.known && !isnan(plan->step.time_s) &&
        gl_simulation_events(plan->workload, plan->stage_plans) <= EVENTS_MAX)
        simulate(plan, slices, arena, tables, tables[VIEWS]);
}
