/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/search_tables.h"
#include "planner/core/layout_text.h"
#include "planner/report/columns.h"

#include "planner/report/headline.h"

#include <math.h>
#include <string.h>

/* One list per table, as in plan_tables.c. */

static const char *with_commas(int64_t value, gl_arena *arena)
{
    return value < 1000 ? gl_arena_printf(arena, "%lld", (long long)value)
                        : gl_money_text((double)value, arena);
}

static gl_cell cp_method_cell(const gl_parallel *p)
{
    return gl_text(p->cp > 1 ? gl_cp_methods[p->cp_method] : NULL);
}

/* ---- layouts ---- */

static double half_width(const gl_step *step)
{
    return (step->time_p90_s - step->time_p10_s) / 2 / step->time_s;
}

static gl_cell rank_cell(const gl_search_row *row, size_t index)
{
    return row->is_top ? gl_integer((int64_t)index + 1) : (gl_cell){.type = GL_CELL_EMPTY};
}

#define LAYOUTS(X)                                                                                 \
    X("rank", "#", GL_NUMBER, GL_FOR_ALL, rank_cell(row, index))                                   \
    X("gpus", "GPUs", GL_NUMBER, GL_FOR_ALL, gl_integer(f->gpus))                                  \
    X("layout", "Layout", GL_NUMBER, GL_FOR_PEOPLE, gl_text(gl_layout_text(p, &f->batch, arena)))  \
    X("tp", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->tp))                                   \
    X("cp", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->cp))                                   \
    X("ep", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->ep))                                   \
    X("pp", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->pp))                                   \
    X("dp", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->dp))                                   \
    X("micro", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(f->batch.micro))                       \
    X("microbatches", NULL, GL_NUMBER, GL_FOR_MACHINES,                                            \
      gl_integer(f->batch.global / p->dp / f->batch.micro))                                        \
    X("schedule", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_schedule_names[p->schedule]))       \
    X("virtual_stages", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->virtual_stages))           \
    X("zero", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->zero))                               \
    X("shard", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(p->zero > 0 ? p->shard : 0))           \
    X("accumulate", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_boolean(p->accumulate))                   \
    X("sequence_parallel", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_boolean(p->sequence_parallel))     \
    X("cp_method", NULL, GL_NUMBER, GL_FOR_MACHINES, cp_method_cell(p))                            \
    X("recompute", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_recompute_names[p->recompute]))    \
    X("step_time_s", "Step", GL_SECONDS, GL_FOR_ALL, gl_real(row->step.time_s))                    \
    X("half_width_frac", "80 % ±", GL_FRACTION, GL_FOR_PEOPLE, gl_real(half_width(&row->step)))    \
    X("step_time_p10_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(row->step.time_p10_s))         \
    X("step_time_p90_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(row->step.time_p90_s))         \
    X("searched_time_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(f->step.time_s))               \
    X("compute_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(row->step.compute_s))                \
    X("exposed_communication_s", NULL, GL_SECONDS, GL_FOR_MACHINES,                                \
      gl_real(row->step.exposed_communication_s))                                                  \
    X("bubble_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(row->step.bubble_s))                  \
    X("mfu", "MFU", GL_FRACTION, GL_FOR_ALL, gl_real(row->step.mfu_frac))                          \
    X("tokens_per_s", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(row->step.tokens_per_s))           \
    X("memory_per_gpu_bytes", "Memory", GL_BYTES, GL_FOR_ALL | GL_AS_GIB,                          \
      gl_real(f->memory_bytes))                                                                    \
    X("memory_headroom_bytes", NULL, GL_BYTES, GL_FOR_MACHINES | GL_AS_GIB,                        \
      gl_real(f->capacity_bytes - f->memory_bytes))                                                \
    X("on_front", "Front", GL_NUMBER, GL_FOR_ALL, gl_boolean(row->on_front))                       \
    X("evidence", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_evidence_name(row->step.evidence)))

static gl_table *layouts_table(const gl_search_view *view, gl_arena *arena)
{
    static const gl_column columns[] = {LAYOUTS(AS_COLUMN)};
    gl_table *table = gl_table_create(
        arena, "layouts", "Layouts: the fastest, then what trades time against memory and GPUs",
        columns, COUNT(columns));
    for (size_t index = 0; index < view->row_count; index++) {
        const gl_search_row *row = &view->rows[index];
        const gl_found *f = row->found;
        const gl_parallel *p = &f->parallel;
        gl_cell *cell = gl_table_add_row(table);
        LAYOUTS(AS_CELL)
    }
    return table;
}

/* ---- what is out ---- */

/* The layout that misses least, or the first of its kind. */
static const char *example_text(const gl_rejection *r, gl_arena *arena)
{
    return gl_layout_text(&r->nearest, &r->nearest_batch, arena);
}

#define REJECTED(X)                                                                                \
    X("rule", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(r->rule))                                  \
    X("reason", "Why", GL_NUMBER, GL_FOR_ALL, gl_text(r->reason))                                  \
    X("layouts", "Layouts", GL_NUMBER, GL_FOR_ALL, gl_integer(r->layouts))                         \
    X("smallest_miss_bytes", "Smallest miss", GL_BYTES, GL_FOR_ALL | GL_AS_GIB,                    \
      gl_real(r->miss_bytes))                                                                      \
    X("example", "For example", GL_NUMBER, GL_FOR_ALL, gl_text(example_text(r, arena)))            \
    X("example_gpus", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(r->nearest_gpus))

static gl_table *rejected_table(const gl_search_view *view, gl_arena *arena)
{
    static const gl_column columns[] = {REJECTED(AS_COLUMN)};
    gl_table *table = gl_table_create(arena, "rejected", "Layouts that are out, and why", columns,
                                      COUNT(columns));
    for (size_t i = 0; i < view->result->rejection_count; i++) {
        const gl_rejection *r = &view->result->rejections[i];
        gl_cell *cell = gl_table_add_row(table);
        REJECTED(AS_CELL)
    }
    return table;
}

/* ---- the search itself ---- */

static gl_cell if_described(const gl_search_view *view, gl_cell value)
{
    return view->described != NULL ? value : (gl_cell){.type = GL_CELL_EMPTY};
}

static double described_time_s(const gl_search_view *view)
{
    return view->described != NULL ? view->described->step.time_s : (double)NAN;
}

#define SEARCH(X)                                                                                  \
    X("layouts", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(s->total))                           \
    X("looked_at", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(s->looked_at))                     \
    X("fitting", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(s->fitting))                         \
    X("stopped", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_boolean(s->stopped))                         \
    X("described_time_s", NULL, GL_SECONDS, GL_FOR_MACHINES,                                       \
      if_described(view, gl_real(described_time_s(view))))                                         \
    X("described_fits", NULL, GL_NUMBER, GL_FOR_MACHINES,                                          \
      if_described(view, gl_boolean(s->given_fits)))                                               \
    X("faster_than_described", NULL, GL_NUMBER, GL_FOR_MACHINES,                                   \
      if_described(view, gl_integer(view->faster_than_described)))                                 \
    X("remedy", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(view->remedy))

static gl_table *search_table(const gl_search_view *view, gl_arena *arena)
{
    static const gl_column columns[] = {SEARCH(AS_COLUMN)};
    const gl_search_result *s = view->result;
    gl_table *table = gl_table_create(arena, "search", "Search", columns, COUNT(columns));
    gl_cell *cell = gl_table_add_row(table);
    table->record = true;
    SEARCH(AS_CELL)
    return table;
}

/* ---- in words ---- */

static const char *searched_line(const gl_search_view *view, gl_arena *arena)
{
    const gl_search_result *s = view->result;
    const char *looked_at =
        s->stopped ? gl_arena_printf(arena, "%s of ", with_commas(s->looked_at, arena)) : "";
    return gl_arena_printf(arena,
                           "Searched       %s%s layouts, %s of them fit; %s cannot be or do "
                           "not fit\n",
                           looked_at, with_commas(s->total, arena), with_commas(s->fitting, arena),
                           with_commas(s->looked_at - s->fitting, arena));
}

static const char *described_line(const gl_search_view *view, gl_arena *arena)
{
    const gl_search_result *s = view->result;
    if (view->described == NULL || s->top_count == 0)
        return "";
    const char *layout = gl_layout_text(&s->given.parallel, &s->given.batch, arena);
    const char *time = gl_quantity_text(described_time_s(view), GL_SECONDS, arena);
    if (!s->given_fits)
        return gl_arena_printf(arena, "Described      %s: %s, but does not fit\n", layout, time);
    return gl_arena_printf(arena, "Described      %s: %s, %s of the others are faster\n", layout,
                           time, with_commas(view->faster_than_described, arena));
}

static const char *headline(const gl_search_view *view, gl_arena *arena)
{
    const char *searched = searched_line(view, arena);
    if (view->best == NULL)
        return gl_arena_printf(arena, "%s: no layout fits\n%s%s%s", view->name, searched,
                               view->remedy != NULL && view->remedy[0] != '\0' ? "It would fit\n"
                                                                               : "",
                               view->remedy != NULL ? view->remedy : "");
    const gl_found *best = view->rows[0].found;
    const char *options =
        gl_search_options_text(view->workload, &best->parallel, &best->batch, arena);
    return gl_arena_printf(
        arena, "%s%sBest           %s\n%s\n%s", searched, described_line(view, arena),
        gl_layout_text(&best->parallel, &best->batch, arena),
        options[0] != '\0' ? gl_arena_printf(arena, "As options    %s\n", options) : "",
        gl_plan_headline(view->best, arena));
}

/* ---- the scenario ---- */

static const struct {
    const char *name;
    gl_table *(*build)(const gl_search_view *view, gl_arena *arena);
    bool for_people;
} kinds[] = {{"layouts", layouts_table, true},
             {"rejected", rejected_table, true},
             {"search", search_table, false}};

const char *const *gl_search_table_names(void)
{
    static const char *const names[] = {"layouts", "rejected", "search", NULL};
    return names;
}

static void add_warnings(const gl_search_view *view, gl_arena *arena, gl_scenario *out)
{
    const gl_search_result *s = view->result;
    size_t plan_warnings = view->best != NULL ? view->best->warning_count : 0;
    out->warnings = GL_ARENA_NEW(arena, const char *, view->note_count + plan_warnings + 2);
    if (s->stopped)
        out->warnings[out->warning_count++] =
            gl_arena_printf(arena, "interrupted: the best of %s layouts, out of %s",
                            with_commas(s->looked_at, arena), with_commas(s->total, arena));
    for (size_t i = 0; i < view->note_count; i++)
        out->warnings[out->warning_count++] = gl_arena_strdup(arena, view->notes[i]);
    for (size_t i = 0; i < plan_warnings; i++)
        out->warnings[out->warning_count++] = gl_arena_strdup(arena, view->best->warnings[i]);
}

void gl_search_scenario(const gl_search_view *view, gl_arena *arena, gl_scenario *out)
{
    *out = (gl_scenario){.name = gl_arena_strdup(arena, view->name),
                         .tables = GL_ARENA_NEW(arena, gl_table *, COUNT(kinds))};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        bool wanted = view->only == NULL || strcmp(view->only, kinds[i].name) == 0;
        if (wanted && (kinds[i].for_people || !view->for_people))
            out->tables[out->table_count++] = kinds[i].build(view, arena);
    }
    if (view->only == NULL)
        out->headline = headline(view, arena);
    add_warnings(view, arena, out);
}
