/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From rows to curves: one for each type, reduction, root and placement in the file. */
#include "calibrate/import/evaluation.h"

#include "common/order.h"
#include "common/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 4096 };

/* Rows of one curve, as indices into the parsed rows. */
typedef struct group {
    const gl_parsed_row *first;
    size_t *rows;
    size_t count, capacity;
} group;

typedef struct grouping {
    group *groups;
    size_t count, capacity, last;
} grouping;

/* A root that is no rank of the run: the row was mangled, or belongs to another table. */
static bool check_root(gl_evaluation *e, const gl_parsed_row *row)
{
    return row->root < e->placement.ranks ||
           gl_evaluation__refuse(e, row->line, "root %d, but there are %d ranks", row->root,
                                 e->placement.ranks);
}

static bool same_curve(const gl_parsed_row *a, const gl_parsed_row *b)
{
    return a->in_place == b->in_place && a->root == b->root && strcmp(a->type, b->type) == 0 &&
           strcmp(a->redop, b->redop) == 0;
}

/* Rows of a curve mostly come in turns of two (the placements): try near the last hit first. */
static group *find_group(gl_evaluation *e, grouping *all, const gl_parsed_row *row)
{
    for (size_t i = 0; i < all->count; i++) {
        size_t at = (all->last + i) % all->count;
        if (same_curve(all->groups[at].first, row)) {
            all->last = at;
            return &all->groups[at];
        }
    }
    if (all->count == KEYS_MAX)
        return NULL;
    all->groups =
        gl_arena_grow(e->arena, all->groups, &all->capacity, all->count + 1, sizeof *all->groups);
    all->last = all->count++;
    all->groups[all->last] = (group){.first = row};
    return &all->groups[all->last];
}

/* ---- samples ---- */

static gl_sample one_sample(const gl_evaluation *e, const gl_parsed_row *row)
{
    int iterations = row->iterations > 0 ? row->iterations : e->parsed->iterations;
    gl_sample sample = {.size_bytes = row->size_bytes,
                        .time_median_s = gl_evaluation__time(e, row),
                        .time_p05_s = row->p05_s,
                        .time_p95_s = row->p95_s,
                        .time_min_s = row->min_s,
                        .iterations = iterations > 0 ? iterations : 0,
                        .wrong = row->wrong};
    if (isinf(row->wrong)) /* the run is flagged */
        sample.wrong = NAN;
    double *spread[] = {&sample.time_p05_s, &sample.time_p95_s, &sample.time_min_s};
    for (size_t i = 0; i < 3; i++)
        if (!(*spread[i] >= 1e-10 && *spread[i] <= 3e7))
            *spread[i] = NAN;
    /* Before 2.13 only the footer says whether results were right. */
    if (e->parsed->deviation_column && !isinf(row->wrong) && e->parsed->out_of_bounds == 0 &&
        !e->parsed->check_failed)
        sample.wrong = 0;
    return sample;
}

/* One size measured several times (-N repeats the table): the median of the times, whose spread is
 * now known, and all iterations. */
static gl_sample merged_sample(const gl_evaluation *e, const group *g, size_t from, size_t to,
                               double *times)
{
    gl_sample merged = one_sample(e, &e->parsed->rows[g->rows[from]]);
    double iterations = 0, wrong = 0, least = INFINITY;
    bool checked = false;
    for (size_t i = from; i < to; i++) {
        gl_sample sample = one_sample(e, &e->parsed->rows[g->rows[i]]);
        times[i - from] = sample.time_median_s;
        iterations += sample.iterations;
        checked = checked || !isnan(sample.wrong);
        wrong += isnan(sample.wrong) ? 0 : sample.wrong;
        least = fmin(least, fmin(sample.time_median_s, sample.time_min_s));
    }
    qsort(times, to - from, sizeof *times, gl_compare_doubles);
    merged.time_median_s = gl_quantile(times, to - from, 0.5);
    merged.time_p05_s = gl_quantile(times, to - from, 0.05);
    merged.time_p95_s = gl_quantile(times, to - from, 0.95);
    merged.time_min_s = least;
    merged.iterations = iterations < 2e9 ? (int)iterations : 2000000000;
    merged.wrong = checked ? wrong : (double)NAN;
    return merged;
}

typedef struct row_order {
    double size_bytes;
    size_t row;
} row_order;

/* By size, then in the order of the file (qsort is not stable). */
static int compare_rows(const void *a, const void *b)
{
    const row_order *x = a, *y = b;
    if (x->size_bytes != y->size_bytes)
        return x->size_bytes < y->size_bytes ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void sort_group(gl_evaluation *e, group *g)
{
    row_order *order = GL_ARENA_NEW(e->arena, row_order, g->count);
    for (size_t i = 0; i < g->count; i++)
        order[i] = (row_order){e->parsed->rows[g->rows[i]].size_bytes, g->rows[i]};
    qsort(order, g->count, sizeof *order, compare_rows);
    for (size_t i = 0; i < g->count; i++)
        g->rows[i] = order[i].row;
}

/* Returns how many sizes were measured more than once. */
static size_t make_samples(gl_evaluation *e, group *g, gl_curve *curve)
{
    gl_sample *samples = GL_ARENA_NEW(e->arena, gl_sample, g->count);
    double *times = GL_ARENA_NEW(e->arena, double, g->count);
    size_t count = 0, repeated = 0;
    sort_group(e, g);
    for (size_t from = 0, to; from < g->count; from = to) {
        double size = e->parsed->rows[g->rows[from]].size_bytes;
        for (to = from + 1; to < g->count && e->parsed->rows[g->rows[to]].size_bytes == size;)
            to++;
        samples[count++] = to - from == 1 ? one_sample(e, &e->parsed->rows[g->rows[from]])
                                          : merged_sample(e, g, from, to, times);
        repeated += to - from > 1;
    }
    curve->samples = samples;
    curve->sample_count = count;
    return repeated;
}

/* ---- curves ---- */

static bool reduces(gl_collective collective)
{
    return collective == GL_ALL_REDUCE || collective == GL_REDUCE_SCATTER ||
           collective == GL_REDUCE;
}

static bool has_root(gl_collective collective)
{
    return collective == GL_BROADCAST || collective == GL_REDUCE || collective == GL_GATHER ||
           collective == GL_SCATTER;
}

static void describe_curve(const gl_evaluation *e, const gl_parsed_row *row, gl_curve *curve)
{
    const gl_nccl_log *log = &e->parsed->log;
    curve->collective = e->collective;
    if (!gl_dtype_parse(row->type, &curve->dtype))
        curve->dtype = GL_DTYPE_NONE;
    curve->redop = reduces(e->collective) ? row->redop : "";
    curve->root = has_root(e->collective) && row->root >= 0 ? row->root : -1;
    curve->placement = e->placement;
    curve->transport = e->transport;
    curve->nics = e->nics;
    curve->algorithm = gl_nccl_log_algorithm(log, e->collective);
    curve->protocol = gl_nccl_log_protocol(log, e->collective);
    if (curve->algorithm[0] == '\0' && e->options->algorithm != NULL)
        curve->algorithm = e->options->algorithm;
    if (curve->protocol[0] == '\0' && e->options->protocol != NULL)
        curve->protocol = e->options->protocol;
    curve->in_place = row->in_place;
}

/* A cold first size says nothing about the latency. */
static void check_warmup(gl_evaluation *e, const gl_curve *curve)
{
    const gl_sample *s = curve->samples;
    if (curve->sample_count >= 2 && s[0].time_median_s > 3 * s[1].time_median_s)
        gl_evaluation__warn(e,
                            "the first size (%.0f bytes, %s) took %.1f times as long as the "
                            "second: it was not warmed up",
                            s[0].size_bytes, curve->in_place ? "in place" : "out of place",
                            s[0].time_median_s / s[1].time_median_s);
}

static bool check_said_choice(gl_evaluation *e, const char *option, const char *said,
                              const char *found)
{
    return said == NULL || found[0] == '\0' || strcmp(said, found) == 0 ||
           gl_evaluation__refuse(e, 0, "the log shows %s, --%s says %s", found, option, said);
}

bool gl_evaluation__curves(gl_evaluation *e, gl_import_run *run)
{
    grouping all = {0};
    size_t repeated = 0, absurd = 0;
    const gl_nccl_log *log = &e->parsed->log;
    if (!check_said_choice(e, "algorithm", e->options->algorithm,
                           gl_nccl_log_algorithm(log, e->collective)) ||
        !check_said_choice(e, "protocol", e->options->protocol,
                           gl_nccl_log_protocol(log, e->collective)))
        return false;
    for (size_t i = 0; i < e->parsed->row_count; i++) {
        double time = gl_evaluation__time(e, &e->parsed->rows[i]);
        absurd += e->use[i] && (time < 1e-10 || time > 3e7);
        if (!e->use[i] || time < 1e-10 || time > 3e7)
            continue;
        if (!check_root(e, &e->parsed->rows[i]))
            return false;
        group *g = find_group(e, &all, &e->parsed->rows[i]);
        if (g == NULL)
            return gl_evaluation__refuse(e, e->parsed->rows[i].line,
                                         "one run with more than %d combinations of type, "
                                         "operation and root",
                                         KEYS_MAX);
        g->rows = gl_arena_grow(e->arena, g->rows, &g->capacity, g->count + 1, sizeof *g->rows);
        g->rows[g->count++] = i;
    }
    if (all.count == 0)
        return gl_evaluation__refuse(e, 0, "no row can be used");
    if (absurd > 0)
        gl_evaluation__warn(e, "%zu values left out: the time is absurd", absurd);
    run->curves = GL_ARENA_NEW(e->arena, gl_curve, all.count);
    run->curve_count = all.count;
    for (size_t i = 0; i < all.count; i++) {
        describe_curve(e, all.groups[i].first, &run->curves[i]);
        repeated += make_samples(e, &all.groups[i], &run->curves[i]);
        check_warmup(e, &run->curves[i]);
    }
    if (repeated > 0)
        gl_evaluation__warn(e, "%zu sizes were measured several times: the median is kept",
                            repeated);
    return true;
}
