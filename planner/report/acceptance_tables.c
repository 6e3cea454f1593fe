/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/acceptance_tables.h"
#include "planner/report/columns.h"

#include "common/text.h"
#include "gpulink_version.h"
#include "planner/report/acceptance_words.h"
#include "planner/report/measuring.h"
#include "planner/report/plan_tables.h"

#include <math.h>
#include <string.h>

/* One list per table, expanded twice, as in plan_tables.c. */

/* Lines of a text of the machine that people get. */
enum { TEXT_LINES_MAX = 40 };

typedef struct context {
    const gl_acceptance *acceptance;
    const gl_acceptance_view *view;
    gl_arena *arena;
} context;

/* "8" in a node, "16/2" on two nodes, "2/2 x 8" with eight groups side by side. */
static const char *group_text(const gl_placement *p, gl_arena *arena)
{
    const char *text = p->nodes <= 1 ? gl_arena_printf(arena, "%d", p->ranks)
                                     : gl_arena_printf(arena, "%d/%d", p->ranks, p->nodes);
    return p->concurrent_groups > 1 ? gl_arena_printf(arena, "%s x %d", text, p->concurrent_groups)
                                    : text;
}

static const char *verdict_text(gl_acceptance_verdict verdict)
{
    return verdict == GL_ACCEPTANCE_UNKNOWN ? NULL : gl_acceptance_verdict_name(verdict);
}

/* Of the two places of a buffer the one whose time counts. */
static const char *slower_place(const gl_acceptance_test *test)
{
    return !test->has_twin ? NULL : test->is_slow_in_place ? "in_place" : "out_of_place";
}

static gl_cell if_measured(const gl_acceptance_test *test, gl_cell cell)
{
    return test->curve != NULL ? cell : (gl_cell){.type = GL_CELL_EMPTY};
}

/* ---- verdict ---- */

/* "" becomes NULL: not known. */
static const char *date(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* The first or last day of measuring that is known. */
static const char *edge_date(const gl_delivered *d, bool last)
{
    const char *edge = NULL;
    for (size_t i = 0; d != NULL && i < d->run_count; i++) {
        const char *day = date(d->runs[i].started_at);
        if (day != NULL && (edge == NULL || (strcmp(day, edge) > 0) == last))
            edge = day;
    }
    return edge;
}

/* When the last of the runs whose day is not known was imported. */
static const char *import_date(const gl_delivered *d)
{
    const char *edge = NULL;
    for (size_t i = 0; d != NULL && i < d->run_count; i++) {
        const gl_run *run = &d->runs[i];
        if (run->started_at[0] == '\0' && date(run->recorded_at) != NULL &&
            (edge == NULL || strcmp(run->recorded_at, edge) > 0))
            edge = run->recorded_at;
    }
    return edge;
}

static const char *when(const gl_run *run, gl_arena *arena)
{
    return run->started_at[0] != '\0'
               ? run->started_at
               : gl_arena_printf(arena, "not known; imported %.10s", run->recorded_at);
}

#define VERDICT(X)                                                                                 \
    X("decision", "Decision", GL_NUMBER, GL_FOR_ALL, gl_text(gl_acceptance_decision(a)))           \
    X("accepted", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                \
      gl_boolean(a->delivered != NULL && gl_acceptance_passes(a)))                                 \
    X("model", "Model", GL_NUMBER, GL_FOR_ALL, gl_text(a->plan->workload->model.name))             \
    X("model_file", "  described in", GL_NUMBER, GL_FOR_ALL, gl_text(c->view->model))              \
    X("planned", "Planned for", GL_NUMBER, GL_FOR_ALL, gl_text(a->plan->cluster->name))            \
    X("measured", "Measured in", GL_NUMBER, GL_FOR_ALL, gl_text(c->view->measured))                \
    X("measured_from", "  from", GL_NUMBER, GL_FOR_ALL, gl_text(edge_date(a->delivered, false)))   \
    X("measured_to", "  to", GL_NUMBER, GL_FOR_ALL, gl_text(edge_date(a->delivered, true)))        \
    X("imported_at", "  imported, its day not known", GL_NUMBER, GL_FOR_ALL,                       \
      gl_text(import_date(a->delivered)))                                                          \
    X("tolerance_frac", "Tolerance", GL_FRACTION, GL_FOR_ALL, gl_real(a->tolerance_frac))          \
    X("tests", "Messages tested", GL_NUMBER, GL_FOR_ALL, gl_integer((int64_t)a->test_count))       \
    X("passed", "  pass", GL_NUMBER, GL_FOR_ALL,                                                   \
      gl_integer((int64_t)a->counts[GL_ACCEPTANCE_PASS]))                                          \
    X("warned", "  pass with a warning", GL_NUMBER, GL_FOR_ALL,                                    \
      gl_integer((int64_t)a->counts[GL_ACCEPTANCE_WARN]))                                          \
    X("failed", "  fail", GL_NUMBER, GL_FOR_ALL,                                                   \
      gl_integer((int64_t)a->counts[GL_ACCEPTANCE_FAIL]))                                          \
    X("missing", "  missing", GL_NUMBER, GL_FOR_ALL,                                               \
      gl_integer((int64_t)a->counts[GL_ACCEPTANCE_MISSING]))                                       \
    X("tool_version", "gpulink-plan", GL_NUMBER, GL_FOR_ALL, gl_text(GPULINK_VERSION))

static gl_table *verdict_table(const context *c)
{
    static const gl_column columns[] = {VERDICT(AS_COLUMN)};
    const gl_acceptance *a = c->acceptance;
    gl_table *table = gl_table_create(c->arena, "verdict", "Verdict", columns, COUNT(columns));
    table->record = true;
    gl_cell *cell = gl_table_add_row(table);
    VERDICT(AS_CELL)
    return table;
}

/* ---- tests ---- */

#define TESTS(X)                                                                                   \
    X("line", "#", GL_NUMBER, GL_FOR_ALL, gl_integer((int64_t)i + 1))                              \
    X("dimension", NULL, GL_NUMBER, GL_FOR_MACHINES,                                               \
      gl_text(gl_traffic_dimension_name(t->dimension)))                                            \
    X("operation", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(t->operation))                        \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(t->collective)))                                                  \
    X("dtype", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_dtype_name(t->dtype)))                 \
    X("group", "Ranks", GL_NUMBER, GL_FOR_PEOPLE, gl_text(group_text(p, c->arena)))                \
    X("ranks", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->ranks))                             \
    X("nodes", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->nodes))                             \
    X("ranks_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->ranks_per_node))           \
    X("concurrent_groups", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->concurrent_groups))     \
    X("size_bytes", "Size", GL_BYTES, GL_FOR_ALL, gl_integer(t->size_bytes))                       \
    X("calls_per_step", "Calls", GL_NUMBER, GL_FOR_ALL, gl_integer(t->calls_per_step))             \
    X("planned_s", "Planned", GL_SECONDS, GL_FOR_ALL, gl_real(t->planned_s))                       \
    X("limit_s", "Limit", GL_SECONDS, GL_FOR_ALL, gl_real(t->limit_s))                             \
    X("needed_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(t->needed_s))                         \
    X("link_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(t->link_s))                             \
    X("link_p90_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(t->link_p90_s))                     \
    X("measured_s", "Measured", GL_SECONDS, GL_FOR_ALL, gl_real(t->measured_s))                    \
    X("slower_place", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(slower_place(t)))                  \
    X("fastest_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(t->fastest_s))                       \
    X("measured_p95_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(t->measured_p95_s))             \
    X("change_frac", "Off", GL_FRACTION, GL_FOR_ALL, gl_real(t->measured_s / t->planned_s - 1))    \
    X("cost_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(t->cost_s))                             \
    X("link_cost_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(t->link_cost_s))                   \
    X("planned_busbw_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                          \
      gl_real(gl_acceptance_busbw(t, t->planned_s)))                                               \
    X("measured_busbw_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                         \
      gl_real(gl_acceptance_busbw(t, t->measured_s)))                                              \
    X("planned_transport", NULL, GL_NUMBER, GL_FOR_MACHINES,                                       \
      gl_text(gl_transport_name(t->planned_transport)))                                            \
    X("measured_transport", NULL, GL_NUMBER, GL_FOR_MACHINES,                                      \
      gl_text(t->curve != NULL ? gl_transport_name(t->curve->transport) : NULL))                   \
    X("planned_evidence", NULL, GL_NUMBER, GL_FOR_MACHINES,                                        \
      gl_text(gl_evidence_name(t->planned_evidence)))                                              \
    X("measured_evidence", NULL, GL_NUMBER, GL_FOR_MACHINES,                                       \
      gl_text(t->curve != NULL ? gl_evidence_name(t->measured_evidence) : NULL))                   \
    X("curve", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                   \
      if_measured(t, gl_integer(t->curve != NULL ? t->curve->id : 0)))                             \
    X("run", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                     \
      if_measured(t, gl_integer(t->run != NULL ? t->run->id : 0)))                                 \
    X("iterations", NULL, GL_NUMBER, GL_FOR_MACHINES, if_measured(t, gl_integer(t->iterations)))   \
    X("wrong", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(t->wrong))                                \
    X("repeats", NULL, GL_NUMBER, GL_FOR_MACHINES, if_measured(t, gl_integer(t->repeats)))         \
    X("repeat_frac", NULL, GL_FRACTION, GL_FOR_MACHINES, gl_real(t->repeat_frac))                  \
    X("plan_verdict", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(verdict_text(t->plan)))            \
    X("need_verdict", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(verdict_text(t->need)))            \
    X("link_verdict", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(verdict_text(t->link)))            \
    X("verdict", "Verdict", GL_NUMBER, GL_FOR_ALL,                                                 \
      gl_text(gl_acceptance_verdict_name(t->verdict)))                                             \
    X("reason", "Why", GL_NUMBER, GL_FOR_ALL, gl_text(t->reason))

static gl_table *acceptance_table(const context *c)
{
    static const gl_column columns[] = {TESTS(AS_COLUMN)};
    gl_table *table = gl_table_create(c->arena, "acceptance", "Time of one call of each message",
                                      columns, COUNT(columns));
    for (size_t i = 0; i < c->acceptance->test_count; i++) {
        const gl_acceptance_test *t = &c->acceptance->tests[i];
        const gl_placement *p = &t->placement;
        gl_cell *cell = gl_table_add_row(table);
        TESTS(AS_CELL)
    }
    return table;
}

#define CHECKS(X)                                                                                  \
    X("check", "Of the measurements", GL_NUMBER, GL_FOR_ALL, gl_text(check->name))                 \
    X("verdict", "Verdict", GL_NUMBER, GL_FOR_ALL,                                                 \
      gl_text(gl_acceptance_verdict_name(check->verdict)))                                         \
    X("found", "Found", GL_NUMBER, GL_FOR_ALL, gl_text(check->found))

static gl_table *checks_table(const context *c)
{
    static const gl_column columns[] = {CHECKS(AS_COLUMN)};
    gl_table *table =
        gl_table_create(c->arena, "checks", "The measurements", columns, COUNT(columns));
    for (size_t i = 0; i < c->acceptance->check_count; i++) {
        const gl_acceptance_check *check = &c->acceptance->checks[i];
        gl_cell *cell = gl_table_add_row(table);
        CHECKS(AS_CELL)
    }
    return table;
}

/* ---- what the links give ---- */

/* The largest message of its curve, which shows most of the link. */
static bool is_largest(const gl_acceptance *a, const gl_acceptance_test *test)
{
    for (size_t i = 0; i < a->test_count; i++)
        if (gl_acceptance_same_curve(&a->tests[i], test) &&
            (a->tests[i].size_bytes > test->size_bytes ||
             (a->tests[i].size_bytes == test->size_bytes && &a->tests[i] < test)))
            return false;
    return true;
}

#define EXPECTED(X)                                                                                \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(t->collective)))                                                  \
    X("group", "Ranks", GL_NUMBER, GL_FOR_PEOPLE, gl_text(group_text(p, c->arena)))                \
    X("ranks", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->ranks))                             \
    X("nodes", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->nodes))                             \
    X("ranks_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->ranks_per_node))           \
    X("concurrent_groups", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->concurrent_groups))     \
    X("link", "Link", GL_NUMBER, GL_FOR_ALL, gl_text(t->link_name[0] ? t->link_name : NULL))       \
    X("line_busbw_bytes_per_s", "Line rate", GL_BYTES_PER_S, GL_FOR_ALL, gl_real(e->line))         \
    X("assumed_busbw_bytes_per_s", "Assumed", GL_BYTES_PER_S, GL_FOR_ALL, gl_real(e->assumed))     \
    X("typical_busbw_bytes_per_s", "Typical", GL_BYTES_PER_S, GL_FOR_ALL, gl_real(e->typical))     \
    X("typical_low_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES, gl_real(e->low))           \
    X("typical_high_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES, gl_real(e->high))         \
    X("size_bytes", "At", GL_BYTES, GL_FOR_ALL, gl_integer(t->size_bytes))                         \
    X("planned_busbw_bytes_per_s", "planned", GL_BYTES_PER_S, GL_FOR_ALL,                          \
      gl_real(gl_acceptance_busbw(t, t->planned_s)))                                               \
    X("measured_busbw_bytes_per_s", "measured", GL_BYTES_PER_S, GL_FOR_ALL,                        \
      gl_real(gl_acceptance_busbw(t, t->measured_s)))                                              \
    X("basis", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(e->basis))                                \
    X("source", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(e->source[0] ? e->source : NULL))

static gl_table *expected_table(const context *c)
{
    static const gl_column columns[] = {EXPECTED(AS_COLUMN)};
    const gl_acceptance *a = c->acceptance;
    gl_table *table = gl_table_create(
        c->arena, "expected", "Bus bandwidth of large messages by link", columns, COUNT(columns));
    for (size_t i = 0; i < a->test_count; i++) {
        const gl_acceptance_test *t = &a->tests[i];
        const gl_placement *p = &t->placement;
        const gl_expectation *e = &t->expected;
        if (!is_largest(a, t))
            continue;
        gl_cell *cell = gl_table_add_row(table);
        EXPECTED(AS_CELL)
    }
    return table;
}

/* ---- the plan once more ---- */

#define DELIVERED(X)                                                                               \
    X("which", "Step", GL_NUMBER, GL_FOR_ALL, gl_text(which))                                      \
    X("step_time_s", "Time", GL_SECONDS, GL_FOR_ALL, gl_real(s->time_s))                           \
    X("step_time_p10_s", "P10", GL_SECONDS, GL_FOR_ALL, gl_real(s->time_p10_s))                    \
    X("step_time_p90_s", "P90", GL_SECONDS, GL_FOR_ALL, gl_real(s->time_p90_s))                    \
    X("step_change_frac", "Change", GL_FRACTION, GL_FOR_ALL,                                       \
      gl_real(s->time_s / planned->time_s - 1))                                                    \
    X("exposed_communication_s", "Exposed", GL_SECONDS, GL_FOR_ALL,                                \
      gl_real(s->exposed_communication_s))                                                         \
    X("communication_cost_frac", NULL, GL_FRACTION, GL_FOR_MACHINES,                               \
      gl_real(s->communication_cost_frac))                                                         \
    X("mfu", "MFU", GL_FRACTION, GL_FOR_ALL, gl_real(s->mfu_frac))                                 \
    X("tokens_per_s", "Tokens/s", GL_NUMBER, GL_FOR_ALL, gl_real(s->tokens_per_s))                 \
    X("tokens_per_s_lost", NULL, GL_NUMBER, GL_FOR_MACHINES,                                       \
      gl_real(planned->tokens_per_s - s->tokens_per_s))                                            \
    X("evidence", "Evidence", GL_NUMBER, GL_FOR_ALL, gl_text(gl_evidence_name(s->evidence)))

static gl_table *delivered_table(const context *c)
{
    static const gl_column columns[] = {DELIVERED(AS_COLUMN)};
    const gl_step *planned = &c->acceptance->plan->step;
    const gl_step *steps[] = {planned, c->view->again != NULL ? &c->view->again->step : NULL};
    gl_table *table =
        gl_table_create(c->arena, "delivered", "The plan, and the plan with what was measured",
                        columns, COUNT(columns));
    for (size_t i = 0; i < 2 && steps[i] != NULL; i++) {
        const gl_step *s = steps[i];
        const char *which = i == 0 ? "planned" : "delivered";
        gl_cell *cell = gl_table_add_row(table);
        DELIVERED(AS_CELL)
    }
    return table;
}

/* ---- what is to be measured ---- */

/* Where to measure what is missing: the file itself, unless it is bundled or a part of one. */
static const char *database(const context *c)
{
    const char *name = c->view->measured;
    return name != NULL && gl_ends_with(name, ".db") ? name : "new.db";
}

/* All sizes of a test's curve (of the missing tests alone, if so wanted); two sizes at least, as a
 * curve needs. False when an earlier test has told of the same curve. */
static bool measurement_of(const context *c, size_t index, bool missing, gl_measurement *out)
{
    const gl_acceptance *a = c->acceptance;
    const gl_acceptance_test *test = &a->tests[index];
    if (missing && test->verdict != GL_ACCEPTANCE_MISSING)
        return false;
    *out = (gl_measurement){.collective = test->collective,
                            .placement = test->placement,
                            .dtype = test->dtype,
                            .transport = test->planned_transport,
                            .min_bytes = test->size_bytes,
                            .max_bytes = test->size_bytes,
                            .db = database(c)};
    for (size_t i = 0; i < a->test_count; i++) {
        const gl_acceptance_test *other = &a->tests[i];
        if (!gl_acceptance_same_curve(test, other) ||
            (missing && other->verdict != GL_ACCEPTANCE_MISSING))
            continue;
        if (i < index)
            return false;
        out->min_bytes = other->size_bytes < out->min_bytes ? other->size_bytes : out->min_bytes;
        out->max_bytes = other->size_bytes > out->max_bytes ? other->size_bytes : out->max_bytes;
    }
    if (out->min_bytes == out->max_bytes) {
        int64_t beside = gl_size_beside(out->min_bytes, test->placement.ranks);
        out->min_bytes = beside < out->min_bytes ? beside : out->min_bytes;
        out->max_bytes = beside > out->max_bytes ? beside : out->max_bytes;
    }
    return true;
}

static const char *list_command(const context *c)
{
    return gl_arena_printf(c->arena, "gpulink-plan accept %s --cluster %s --list list.csv",
                           gl_shell_word(c->view->model, c->arena),
                           gl_shell_word(c->view->cluster, c->arena));
}

/* Measures the whole list: as many processes as its widest groups take. */
static const char *measure_list_command(const context *c)
{
    const gl_acceptance *a = c->acceptance;
    gl_measurement m = {.placement = {.nodes = 1, .concurrent_groups = 1}};
    for (size_t i = 0; i < a->test_count; i++) {
        const gl_placement *p = &a->tests[i].placement;
        int on_node = p->ranks_per_node * p->concurrent_groups;
        m.placement.nodes = p->nodes > m.placement.nodes ? p->nodes : m.placement.nodes;
        if (on_node > m.placement.ranks_per_node)
            m.placement.ranks_per_node = on_node;
        if (a->tests[i].planned_transport == GL_TRANSPORT_HOST)
            m.transport = GL_TRANSPORT_HOST;
    }
    return gl_arena_printf(c->arena, "%sgpulink-calibrate run%s --db %s --acceptance list.csv",
                           gl_measurement_launcher(&m, c->arena),
                           m.transport == GL_TRANSPORT_HOST ? " --backend mpi" : "",
                           gl_shell_word(database(c), c->arena));
}

static const char *missing_command(const context *c, const gl_measurement *m)
{
    if (gl_measurement_is_plain(m))
        return gl_measurement_command(m, c->arena);
    return gl_arena_printf(c->arena, "%s && %s", list_command(c), measure_list_command(c));
}

#define MISSING(X)                                                                                 \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(m.collective)))                                                   \
    X("group", "Ranks", GL_NUMBER, GL_FOR_ALL, gl_text(group_text(&m.placement, c->arena)))        \
    X("command", "Command that measures it", GL_NUMBER, GL_FOR_ALL, gl_text(missing_command(c, &m)))

static gl_table *missing_table(const context *c)
{
    static const gl_column columns[] = {MISSING(AS_COLUMN)};
    gl_table *table =
        gl_table_create(c->arena, "missing", "Still to be measured", columns, COUNT(columns));
    for (size_t i = 0; i < c->acceptance->test_count; i++) {
        gl_measurement m;
        if (!measurement_of(c, i, true, &m))
            continue;
        gl_cell *cell = gl_table_add_row(table);
        MISSING(AS_CELL)
    }
    return table;
}

#define LIST(X)                                                                                    \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(t->collective)))                                                  \
    X("dtype", "Type", GL_NUMBER, GL_FOR_ALL, gl_text(gl_dtype_name(t->dtype)))                    \
    X("ranks", "Ranks", GL_NUMBER, GL_FOR_ALL, gl_integer(t->placement.ranks))                     \
    X("nodes", "Nodes", GL_NUMBER, GL_FOR_ALL, gl_integer(t->placement.nodes))                     \
    X("ranks_per_node", "On a node", GL_NUMBER, GL_FOR_ALL,                                        \
      gl_integer(t->placement.ranks_per_node))                                                     \
    X("concurrent_groups", "At once", GL_NUMBER, GL_FOR_ALL,                                       \
      gl_integer(t->placement.concurrent_groups))                                                  \
    X("size_bytes", "Size", GL_BYTES, GL_FOR_ALL, gl_integer(points[i].size_bytes))                \
    X("limit_s", "Limit", GL_SECONDS, GL_FOR_ALL,                                                  \
      gl_real(points[i].beside ? (double)NAN : t->limit_s))                                        \
    X("for", "For", GL_NUMBER, GL_FOR_ALL,                                                         \
      gl_text(points[i].beside ? "a second point of the curve" : t->operation))

static gl_table *acceptance_list_table(const context *c)
{
    static const gl_column columns[] = {LIST(AS_COLUMN)};
    size_t count;
    const gl_acceptance_point *points = gl_acceptance_points(c->acceptance, c->arena, &count);
    gl_table *table =
        gl_table_create(c->arena, "acceptance_list", "What to measure", columns, COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const gl_acceptance_test *t = points[i].test;
        gl_cell *cell = gl_table_add_row(table);
        LIST(AS_CELL)
    }
    return table;
}

static const char *by_hand(const context *c, const gl_measurement *m)
{
    const char *command = gl_nccl_tests_command(m, c->arena);
    return command != NULL ? command : "nccl-tests cannot form these groups";
}

#define NCCL_TESTS(X)                                                                              \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(m.collective)))                                                   \
    X("group", "Ranks", GL_NUMBER, GL_FOR_ALL, gl_text(group_text(&m.placement, c->arena)))        \
    X("command", "By hand", GL_NUMBER, GL_FOR_ALL, gl_text(by_hand(c, &m)))

static gl_table *nccl_tests_table(const context *c)
{
    static const gl_column columns[] = {NCCL_TESTS(AS_COLUMN)};
    gl_table *table =
        gl_table_create(c->arena, "nccl_tests", "The same by nccl-tests", columns, COUNT(columns));
    for (size_t i = 0; i < c->acceptance->test_count; i++) {
        gl_measurement m;
        if (!measurement_of(c, i, false, &m))
            continue;
        gl_cell *cell = gl_table_add_row(table);
        NCCL_TESTS(AS_CELL)
    }
    return table;
}

/* ---- evidence ---- */

#define RUNS(X)                                                                                    \
    X("run", "Run", GL_NUMBER, GL_FOR_ALL, gl_integer(r->id))                                      \
    X("label", "Label", GL_NUMBER, GL_FOR_ALL, gl_text(r->label))                                  \
    X("when", "Measured", GL_NUMBER, GL_FOR_PEOPLE, gl_text(when(r, c->arena)))                    \
    X("started_at", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(date(r->started_at)))                \
    X("recorded_at", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(date(r->recorded_at)))              \
    X("state", "State", GL_NUMBER, GL_FOR_ALL, gl_text(gl_run_state_name(r->state)))               \
    X("tool", "Tool", GL_NUMBER, GL_FOR_ALL, gl_text(r->tool))                                     \
    X("tool_version", "Version", GL_NUMBER, GL_FOR_ALL, gl_text(r->tool_version))                  \
    X("backend", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(r->backend))                            \
    X("gpu", "GPU", GL_NUMBER, GL_FOR_ALL, gl_text(r->gpu))                                        \
    X("driver_version", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(r->driver_version))              \
    X("cuda_version", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(r->cuda_version))                  \
    X("nccl_version", "NCCL", GL_NUMBER, GL_FOR_ALL, gl_text(r->nccl_version))                     \
    X("source", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(r->source))                              \
    X("parameters", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(r->parameters))                      \
    X("warnings", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(r->warnings))

static gl_table *runs_table(const context *c)
{
    static const gl_column columns[] = {RUNS(AS_COLUMN)};
    const gl_delivered *d = c->acceptance->delivered;
    gl_table *table = gl_table_create(c->arena, "runs", "Evidence", columns, COUNT(columns));
    for (size_t i = 0; d != NULL && i < d->run_count; i++) {
        const gl_run *r = &d->runs[i];
        gl_cell *cell = gl_table_add_row(table);
        RUNS(AS_CELL)
    }
    return table;
}

/* Tabs become blanks; colours of terminals and other control characters go. */
static const char *plain_line(const char *text, size_t length, gl_arena *arena)
{
    char *line = gl_arena_alloc(arena, 2 * length + 1, 1), *to = line;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\033' && i + 1 < length && text[i + 1] == '[') {
            for (i += 2; i < length && (text[i] == ';' || (text[i] >= '0' && text[i] <= '9'));)
                i++;
        } else if (text[i] == '\t') {
            *to++ = ' ';
            *to++ = ' ';
        } else if ((unsigned char)text[i] >= ' ') {
            *to++ = text[i];
        }
    }
    return line;
}

#define TOPOLOGY(X)                                                                                \
    X("run", "Run", GL_NUMBER, GL_FOR_ALL, gl_integer(t->run_id))                                  \
    X("kind", "Text", GL_NUMBER, GL_FOR_ALL, gl_text(t->kind))                                     \
    X("line", "Line", GL_NUMBER, GL_FOR_ALL, gl_integer(number))                                   \
    X("text", "As the machine printed it", GL_NUMBER, GL_FOR_ALL, gl_text(line))

static gl_table *topology_table(const context *c)
{
    static const gl_column columns[] = {TOPOLOGY(AS_COLUMN)};
    const gl_delivered *d = c->acceptance->delivered;
    gl_table *table = gl_table_create(c->arena, "topology", "The machine", columns, COUNT(columns));
    for (size_t i = 0; d != NULL && i < d->text_count; i++) {
        const gl_topology *t = &d->texts[i];
        const char *text = t->text;
        for (int number = 1; *text != '\0'; number++) {
            size_t length = strcspn(text, "\n");
            bool cut = c->view->for_people && number > TEXT_LINES_MAX;
            const char *line = cut ? "\xe2\x80\xa6" : plain_line(text, length, c->arena);
            gl_cell *cell = gl_table_add_row(table);
            TOPOLOGY(AS_CELL)
            text += length + (text[length] == '\n');
            if (cut)
                break;
        }
    }
    return table;
}

/* Rules to write on: wide enough for a name. */
static const char BLANK[] = "____________________";

#define SIGNATURE(X)                                                                               \
    X("party", "Party", GL_NUMBER, GL_FOR_PEOPLE, gl_text(parties[i]))                             \
    X("name", "Name", GL_NUMBER, GL_FOR_PEOPLE, gl_text(BLANK))                                    \
    X("date", "Date", GL_NUMBER, GL_FOR_PEOPLE, gl_text(BLANK))                                    \
    X("signature", "Signature", GL_NUMBER, GL_FOR_PEOPLE, gl_text(BLANK))

static gl_table *signature_table(const context *c)
{
    static const char *const parties[] = {"supplier", "customer"};
    static const gl_column columns[] = {SIGNATURE(AS_COLUMN)};
    gl_table *table = gl_table_create(c->arena, "signature", "Signed", columns, COUNT(columns));
    for (size_t i = 0; c->acceptance->delivered != NULL && i < COUNT(parties); i++) {
        gl_cell *cell = gl_table_add_row(table);
        SIGNATURE(AS_CELL)
    }
    return table;
}

/* ---- the whole ---- */

typedef struct kind {
    const char *name;
    gl_table *(*build)(const context *c);
    bool of_measured; /* shown when there are measurements; … */
    bool of_list;     /* … when there are none yet */
} kind;

#define TABLES(X)                                                                                  \
    X(verdict, true, false)                                                                        \
    X(acceptance, true, false)                                                                     \
    X(expected, true, true)                                                                        \
    X(checks, true, false)                                                                         \
    X(delivered, true, false)                                                                      \
    X(missing, true, false)                                                                        \
    X(acceptance_list, false, true)                                                                \
    X(nccl_tests, false, true)                                                                     \
    X(runs, true, false)                                                                           \
    X(topology, true, false)                                                                       \
    X(signature, true, false)

#define AS_KIND(name, of_measured, of_list) {#name, name##_table, of_measured, of_list},
static const kind kinds[] = {TABLES(AS_KIND)};

const char *const *gl_acceptance_table_names(void)
{
#define AS_NAME(name, of_measured, of_list) #name,
    static const char *const names[] = {TABLES(AS_NAME) NULL};
    return names;
}

static bool is_shown(const kind *k, const gl_acceptance *a, const gl_acceptance_view *view)
{
    if (view->only != NULL)
        return strcmp(view->only, k->name) == 0;
    if (!view->for_people)
        return strcmp(k->name, "signature") != 0;
    return a->delivered != NULL ? k->of_measured : k->of_list;
}

/* How to go on, where it is not done. */
static const char *next_steps(const context *c)
{
    if (c->acceptance->delivered != NULL && c->acceptance->counts[GL_ACCEPTANCE_MISSING] == 0)
        return "";
    return gl_arena_printf(c->arena,
                           "To measure     %s\n"
                           "               %s\n",
                           list_command(c), measure_list_command(c));
}

/* Without a link there is nothing to say of what it typically gives. */
static bool misses_link(const gl_acceptance *a)
{
    bool missing = false;
    for (size_t i = 0; i < a->test_count; i++)
        missing = missing || isnan(a->tests[i].link_s);
    return missing;
}

static void collect_warnings(const context *c, gl_scenario *out)
{
    const gl_acceptance_view *view = c->view;
    const gl_plan *plan = c->acceptance->plan;
    out->warnings =
        GL_ARENA_NEW(c->arena, const char *, view->note_count + plan->warning_count + 1);
    for (size_t i = 0; i < view->note_count; i++)
        out->warnings[out->warning_count++] = view->notes[i];
    for (size_t i = 0; i < plan->warning_count; i++)
        out->warnings[out->warning_count++] = plan->warnings[i];
    if (misses_link(c->acceptance))
        out->warnings[out->warning_count++] =
            "the planned cluster names no link, and none is known for this GPU and transport: "
            "nothing is compared with what such a link typically gives";
}

void gl_acceptance_report(const gl_acceptance *acceptance, const gl_acceptance_view *view,
                          gl_arena *arena, gl_scenario *out)
{
    const context c = {acceptance, view, arena};
    *out =
        (gl_scenario){.name = view->name, .tables = GL_ARENA_NEW(arena, gl_table *, COUNT(kinds))};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (!is_shown(&kinds[i], acceptance, view))
            continue;
        gl_table *table = kinds[i].build(&c);
        if (table->row_count > 0 || !view->for_people || view->only != NULL)
            out->tables[out->table_count++] = table;
    }
    if (view->only == NULL)
        out->headline = gl_arena_printf(
            arena, "%s%s", gl_acceptance_headline(acceptance, view, arena), next_steps(&c));
    collect_warnings(&c, out);
}

const char *gl_acceptance_commands(const gl_acceptance *acceptance, gl_arena *arena)
{
    const gl_acceptance_view view = {0};
    const context c = {acceptance, &view, arena};
    const char *text = "";
    for (size_t i = 0; i < acceptance->test_count; i++) {
        gl_measurement m;
        if (!measurement_of(&c, i, false, &m))
            continue;
        const char *command = gl_nccl_tests_command(&m, arena);
        text = gl_arena_printf(
            arena, "%s# %s over %s%s\n%s%s\n", text, gl_collective_name(m.collective),
            gl_placement_text(&m.placement, arena),
            m.placement.concurrent_groups > 1
                ? gl_arena_printf(arena, ", %d groups at once", m.placement.concurrent_groups)
                : "",
            command != NULL ? "" : "# ", command != NULL ? command : by_hand(&c, &m));
    }
    return text;
}
