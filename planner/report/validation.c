/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/validation.h"
#include "common/quantile.h"
#include "planner/report/columns.h"

#include <math.h>
#include <string.h>

/* One list per table, as in plan_tables.c. */

/* Published counts are rounded, embeddings padded or left out: beyond this a row was misread. */
static const double PARAMETERS_TOLERANCE = 0.06;

/* ---- one run ---- */

static const char *zero_text(int zero)
{
    static const char *const texts[] = {"", " zero1", " zero2", " zero3"};
    return texts[zero];
}

/* "tp8 pp12x2 dp4 zero1": degrees above one. */
static const char *layout_text(const gl_workload *w, gl_arena *arena)
{
    const gl_parallel *p = &w->parallel;
    const struct {
        const char *name;
        int degree;
    } axes[] = {{"tp", p->tp}, {"pp", p->pp}, {"cp", p->cp}, {"ep", p->ep}, {"dp", p->dp}};
    const char *text = "";
    for (size_t i = 0; i < COUNT(axes); i++) {
        if (axes[i].degree < 2)
            continue;
        text = gl_arena_printf(arena, "%s%s%s%d", text, text[0] != '\0' ? " " : "", axes[i].name,
                               axes[i].degree);
        if (i == 1 && gl_parallel_chunks(p) > 1)
            text = gl_arena_printf(arena, "%sx%d", text, gl_parallel_chunks(p));
    }
    if (text[0] == '\0')
        return "1 GPU";
    return gl_arena_printf(arena, "%s%s", text, zero_text(p->zero));
}

void gl_validated_fill(const gl_plan *plan, gl_arena *arena, gl_validated *out)
{
    const gl_gpu *gpu = plan->cluster->gpu;
    if (gpu != NULL)
        out->gpu = gl_arena_strdup(arena, gpu->name);
    out->layout = layout_text(plan->workload, arena);
    out->ranks = gl_workload_ranks(plan->workload);
    out->step = plan->step;
    out->compute_evidence = plan->compute.evidence;
    out->memory_known = plan->memory.capacity_bytes > 0;
    out->memory_fits = plan->memory.fits;
    out->parameters = (double)plan->parameters.total;
}

/* Positive: predicted slower than measured. */
static double error_of(const gl_validated *v)
{
    return v->step.time_s / v->run->measured_s - 1;
}

static bool is_hit(const gl_validated *v)
{
    double measured = v->run->measured_s;
    return measured >= v->step.time_p10_s && measured <= v->step.time_p90_s;
}

static double stated_parameters(const gl_validated *v)
{
    return v->run->numbers[GL_RUN_PARAMS] * 1e9;
}

/* ---- every run ---- */

static long percent_of(double part_s, const gl_validated *v)
{
    return lround(100 * part_s / v->step.time_s);
}

/* Where the time goes, in percent: people have 100 columns. */
static const char *shares_text(const gl_validated *v, gl_arena *arena)
{
    const gl_step *s = &v->step;
    return gl_arena_printf(arena, "%ld %ld %ld %ld", percent_of(s->compute_s + s->overlap_tax_s, v),
                           percent_of(s->exposed_communication_s, v), percent_of(s->bubble_s, v),
                           percent_of(s->optimizer_s, v));
}

#define RUNS(X)                                                                                    \
    X("id", "Run", GL_NUMBER, GL_FOR_ALL, gl_text(v->run->texts[GL_RUN_ID]))                       \
    X("family", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(v->family))                              \
    X("source", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(v->run->texts[GL_RUN_SOURCE]))           \
    X("model", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(v->run->texts[GL_RUN_MODEL]))             \
    X("gpu", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(v->gpu))                                    \
    X("ranks", "GPUs", GL_NUMBER, GL_FOR_ALL, gl_integer(v->ranks))                                \
    X("layout", "Layout", GL_NUMBER, GL_FOR_ALL, gl_text(v->layout))                               \
    X("measured_s", "Measured", GL_SECONDS, GL_FOR_ALL, gl_real(v->run->measured_s))               \
    X("predicted_s", "Predicted", GL_SECONDS, GL_FOR_ALL, gl_real(v->step.time_s))                 \
    X("predicted_p10_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(v->step.time_p10_s))           \
    X("predicted_p90_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(v->step.time_p90_s))           \
    X("error_frac", "Error", GL_FRACTION, GL_FOR_ALL, gl_real(error_of(v)))                        \
    X("in_interval", "Hit", GL_NUMBER, GL_FOR_ALL, gl_boolean(is_hit(v)))                          \
    X("shares", "Compute, exposed, bubble, optimizer %", GL_NUMBER, GL_FOR_PEOPLE,                 \
      gl_text(shares_text(v, arena)))                                                              \
    X("evidence", "Evidence", GL_NUMBER, GL_FOR_ALL, gl_text(gl_evidence_name(v->step.evidence)))  \
    X("fitted", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_boolean(v->fitted != NULL))                   \
    X("compute_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(v->step.compute_s))                  \
    X("overlap_tax_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(v->step.overlap_tax_s))          \
    X("exposed_communication_s", NULL, GL_SECONDS, GL_FOR_MACHINES,                                \
      gl_real(v->step.exposed_communication_s))                                                    \
    X("bubble_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(v->step.bubble_s))                    \
    X("optimizer_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(v->step.optimizer_s))              \
    X("communication_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(v->step.communication_s))      \
    X("network_evidence", NULL, GL_NUMBER, GL_FOR_MACHINES,                                        \
      gl_text(gl_evidence_name(v->step.network_evidence)))                                         \
    X("compute_evidence", NULL, GL_NUMBER, GL_FOR_MACHINES,                                        \
      gl_text(gl_evidence_name(v->compute_evidence)))                                              \
    X("memory_fits", NULL, GL_NUMBER, GL_FOR_MACHINES,                                             \
      v->memory_known ? gl_boolean(v->memory_fits) : (gl_cell){.type = GL_CELL_EMPTY})             \
    X("parameters_counted", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(v->parameters))              \
    X("parameters_stated", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(stated_parameters(v)))

static gl_table *runs_table(const gl_validated *runs, size_t count, gl_arena *arena)
{
    static const gl_column columns[] = {RUNS(AS_COLUMN)};
    gl_table *table = gl_table_create(arena, "validation", "Predicted against measured steps",
                                      columns, COUNT(columns));
    for (const gl_validated *v = runs; v < runs + count; v++) {
        if (v->reason != NULL)
            continue;
        gl_cell *cell = gl_table_add_row(table);
        RUNS(AS_CELL)
    }
    return table;
}

#define LEFT_OUT(X)                                                                                \
    X("id", "Run", GL_NUMBER, GL_FOR_ALL, gl_text(v->run->texts[GL_RUN_ID]))                       \
    X("family", "Source", GL_NUMBER, GL_FOR_ALL, gl_text(v->family))                               \
    X("model", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(v->run->texts[GL_RUN_MODEL]))             \
    X("gpu", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(v->gpu))                                    \
    X("measured_s", "Measured", GL_SECONDS, GL_FOR_ALL, gl_real(v->run->measured_s))               \
    X("reason", "Why not", GL_NUMBER, GL_FOR_ALL, gl_text(v->reason))

static gl_table *left_out_table(const gl_validated *runs, size_t count, gl_arena *arena)
{
    static const gl_column columns[] = {LEFT_OUT(AS_COLUMN)};
    gl_table *table = gl_table_create(arena, "not_planned", "Runs that were not planned", columns,
                                      COUNT(columns));
    for (const gl_validated *v = runs; v < runs + count; v++) {
        if (v->reason == NULL)
            continue;
        gl_cell *cell = gl_table_add_row(table);
        LEFT_OUT(AS_CELL)
    }
    return table;
}

/* ---- summaries ---- */

typedef struct group {
    const char *by, *name;
    int64_t rows, planned, fitted, hits;
    double *errors; /* `planned` of them */
    size_t capacity;
    const gl_validated *worst;
} group;

typedef struct group_list {
    gl_arena *arena;
    group *items;
    size_t count, capacity;
} group_list;

static group *find_group(group_list *list, const char *by, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].by, by) == 0 && strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    list->items = gl_arena_grow(list->arena, list->items, &list->capacity, list->count + 1,
                                sizeof *list->items);
    list->items[list->count] = (group){.by = by, .name = name};
    return &list->items[list->count++];
}

static void count_in(group_list *list, const char *by, const char *name, const gl_validated *v)
{
    group *g = find_group(list, by, name);
    g->rows++;
    if (v->reason != NULL)
        return;
    g->fitted += v->fitted != NULL;
    g->hits += is_hit(v);
    g->errors = gl_arena_grow(list->arena, g->errors, &g->capacity, (size_t)g->planned + 1,
                              sizeof *g->errors);
    g->errors[g->planned++] = error_of(v);
    if (g->worst == NULL || fabs(error_of(v)) > fabs(error_of(g->worst)))
        g->worst = v;
}

static double mean_absolute(const group *g)
{
    double sum = 0;
    for (int64_t i = 0; i < g->planned; i++)
        sum += fabs(g->errors[i]);
    return g->planned > 0 ? sum / (double)g->planned : (double)NAN;
}

static double bias(const group *g)
{
    double sum = 0;
    for (int64_t i = 0; i < g->planned; i++)
        sum += g->errors[i];
    return g->planned > 0 ? sum / (double)g->planned : (double)NAN;
}

static double median_absolute(const group *g, gl_arena *arena)
{
    size_t n = (size_t)g->planned;
    double *sizes = GL_ARENA_NEW(arena, double, n);
    for (size_t i = 0; i < n; i++)
        sizes[i] = fabs(g->errors[i]);
    return gl_median(sizes, n);
}

static double coverage(const group *g)
{
    return g->planned > 0 ? (double)g->hits / (double)g->planned : (double)NAN;
}

#define ACCURACY(X)                                                                                \
    X("by", "By", GL_NUMBER, GL_FOR_ALL, gl_text(g->by))                                           \
    X("name", "Runs of", GL_NUMBER, GL_FOR_ALL, gl_text(g->name))                                  \
    X("runs", "Runs", GL_NUMBER, GL_FOR_ALL, gl_integer(g->rows))                                  \
    X("planned", "Planned", GL_NUMBER, GL_FOR_ALL, gl_integer(g->planned))                         \
    X("fitted", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(g->fitted))                           \
    X("mean_absolute_error_frac", "Mean", GL_FRACTION, GL_FOR_ALL, gl_real(mean_absolute(g)))      \
    X("bias_frac", "Bias", GL_FRACTION, GL_FOR_ALL, gl_real(bias(g)))                              \
    X("median_absolute_error_frac", "Median", GL_FRACTION, GL_FOR_ALL,                             \
      gl_real(median_absolute(g, arena)))                                                          \
    X("worst_error_frac", "Worst", GL_FRACTION, GL_FOR_ALL,                                        \
      gl_real(g->worst != NULL ? error_of(g->worst) : (double)NAN))                                \
    X("worst_id", "Worst run", GL_NUMBER, GL_FOR_ALL,                                              \
      gl_text(g->worst != NULL ? g->worst->run->texts[GL_RUN_ID] : NULL))                          \
    X("coverage_frac", "Held", GL_FRACTION, GL_FOR_ALL, gl_real(coverage(g)))

static gl_table *accuracy_table(const group_list *groups, gl_arena *arena)
{
    static const gl_column columns[] = {ACCURACY(AS_COLUMN)};
    gl_table *table =
        gl_table_create(arena, "accuracy", "Error of the step time", columns, COUNT(columns));
    for (size_t i = 0; i < groups->count; i++) {
        const group *g = &groups->items[i];
        gl_cell *cell = gl_table_add_row(table);
        ACCURACY(AS_CELL)
    }
    return table;
}

static const char *gpu_name(const gl_validated *v)
{
    return v->gpu != NULL ? v->gpu : "not stated";
}

static group_list make_groups(const gl_validated *runs, size_t count, gl_arena *arena)
{
    group_list list = {.arena = arena};
    for (const gl_validated *v = runs; v < runs + count; v++)
        count_in(&list, "source", v->family, v);
    for (const gl_validated *v = runs; v < runs + count; v++)
        count_in(&list, "gpu", gpu_name(v), v);
    for (const gl_validated *v = runs; v < runs + count; v++)
        if (v->reason == NULL)
            count_in(&list, "evidence", gl_evidence_name(v->step.evidence), v);
    for (const gl_validated *v = runs; v < runs + count; v++)
        count_in(&list, "all", "all runs", v);
    for (const gl_validated *v = runs; v < runs + count; v++)
        if (v->fitted == NULL)
            count_in(&list, "all", "not fitted", v);
    return list;
}

/* ---- the whole ---- */

static const char *percent(double frac, gl_arena *arena)
{
    return gl_quantity_text(frac, GL_FRACTION, arena);
}

static const char *headline(const group *all, gl_arena *arena)
{
    const char *text =
        gl_arena_printf(arena, "%lld of %lld runs planned, %lld of them used for fitting",
                        (long long)all->planned, (long long)all->rows, (long long)all->fitted);
    if (all->planned == 0)
        return text;
    return gl_arena_printf(arena,
                           "%s\nStep time errs by %s in the mean (%s in the median, bias %s), at "
                           "worst %s (%s)\n80 %% intervals hold %s of the runs",
                           text, percent(mean_absolute(all), arena),
                           percent(median_absolute(all, arena), arena), percent(bias(all), arena),
                           percent(error_of(all->worst), arena), all->worst->run->texts[GL_RUN_ID],
                           percent(coverage(all), arena));
}

static void add_warnings(const gl_validated *runs, size_t count, gl_arena *arena, gl_scenario *out)
{
    out->warnings = GL_ARENA_NEW(arena, const char *, count);
    for (const gl_validated *v = runs; v < runs + count; v++) {
        double stated = stated_parameters(v), off = v->parameters / stated - 1;
        if (v->reason == NULL && stated > 0 && fabs(off) > PARAMETERS_TOLERANCE)
            out->warnings[out->warning_count++] = gl_arena_printf(
                arena, "%s: the architecture has %.4g parameters, %.4g are published",
                v->run->texts[GL_RUN_ID], v->parameters, stated);
    }
}

static const char *const table_names[] = {"accuracy", "validation", "not_planned", NULL};

const char *const *gl_validation_table_names(void)
{
    return table_names;
}

void gl_validation_report(const gl_validated *runs, size_t count, gl_arena *arena, gl_scenario *out)
{
    group_list groups = make_groups(runs, count, arena);
    gl_table **tables = GL_ARENA_NEW(arena, gl_table *, 3);
    tables[0] = accuracy_table(&groups, arena);
    tables[1] = runs_table(runs, count, arena);
    tables[2] = left_out_table(runs, count, arena);
    *out = (gl_scenario){.name = "validation",
                         .tables = tables,
                         .table_count = 3,
                         .headline = headline(find_group(&groups, "all", "all runs"), arena)};
    add_warnings(runs, count, arena, out);
}
