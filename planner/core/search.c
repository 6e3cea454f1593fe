/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/search.h"

#include "planner/core/check.h"
#include "planner/core/search_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { TOP_DEFAULT = 10, LAYOUTS_BETWEEN_WATCHES = 2048 };

/* ---- orders: total, so that no answer depends on who came first ---- */

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_found(const gl_found *a, const gl_found *b)
{
    int order = compare_numbers(a->step.time_s, b->step.time_s);
    if (order == 0)
        order = compare_numbers(a->memory_bytes, b->memory_bytes);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static int by_time(const void *a, const void *b)
{
    return compare_found(a, b);
}

static int by_layouts(const void *a, const void *b)
{
    const gl_rejection *x = a, *y = b;
    if (x->layouts != y->layouts)
        return x->layouts < y->layouts ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

/* ---- what is kept ---- */

/* Of one GPU count, by time: memory falls. */
typedef struct front {
    gl_found *items;
    size_t count, capacity;
} front;

typedef struct finds {
    gl_arena *arena;
    gl_found *top; /* sorted, at most top_max */
    size_t top_count, top_max;
    front *fronts; /* by GPU count */
    gl_rejection *rejections;
    size_t rejection_count, rejection_capacity;
    int64_t looked_at, fitting, faster;
    int64_t given_place; /* −1: not among them */
} finds;

static void keep_top(finds *f, const gl_found *found)
{
    size_t at = f->top_count;
    if (at == f->top_max && compare_found(found, &f->top[at - 1]) >= 0)
        return;
    if (at == f->top_max)
        at--;
    for (; at > 0 && compare_found(found, &f->top[at - 1]) < 0; at--)
        f->top[at] = f->top[at - 1];
    f->top[at] = *found;
    if (f->top_count < f->top_max)
        f->top_count++;
}

/* Where `found` would stand by time. */
static size_t front_place(const front *line, const gl_found *found)
{
    size_t low = 0, high = line->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_found(&line->items[middle], found) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void keep_front(gl_arena *arena, front *line, const gl_found *found)
{
    size_t at = front_place(line, found), end = at;
    if (at > 0 && !(found->memory_bytes < line->items[at - 1].memory_bytes))
        return;
    while (end < line->count && line->items[end].memory_bytes >= found->memory_bytes)
        end++;
    line->items =
        gl_arena_grow(arena, line->items, &line->capacity, line->count + 1, sizeof *line->items);
    memmove(line->items + at + 1, line->items + end, (line->count - end) * sizeof *line->items);
    line->items[at] = *found;
    line->count = line->count - (end - at) + 1;
}

/* The reason's own text decides, but for refusals of the network: each names another message. */
static gl_rejection *find_rejection(finds *f, const char *rule, const char *reason)
{
    for (size_t i = 0; i < f->rejection_count; i++) {
        gl_rejection *r = &f->rejections[i];
        if (strcmp(r->rule, rule) == 0 &&
            (strcmp(rule, "network") == 0 || strcmp(r->reason, reason) == 0))
            return r;
    }
    f->rejections = gl_arena_grow(f->arena, f->rejections, &f->rejection_capacity,
                                  f->rejection_count + 1, sizeof *f->rejections);
    gl_rejection *r = &f->rejections[f->rejection_count++];
    *r = (gl_rejection){.rule = gl_arena_strdup(f->arena, rule),
                        .reason = gl_arena_strdup(f->arena, reason),
                        .miss_bytes = (double)NAN,
                        .place = INT64_MAX};
    return r;
}

/* Is `place` the one to show, with a miss of so much (NaN: none)? */
static bool is_nearer(const gl_rejection *r, double miss_bytes, int64_t place)
{
    if (isnan(miss_bytes) || isnan(r->miss_bytes) || miss_bytes == r->miss_bytes)
        return place < r->place;
    return miss_bytes < r->miss_bytes;
}

static void reject(finds *f, const char *rule, const char *reason, int64_t layouts,
                   const gl_found *example, double miss_bytes)
{
    gl_rejection *r = find_rejection(f, rule, reason);
    r->layouts += layouts;
    if (!is_nearer(r, miss_bytes, example->place))
        return;
    if (strcmp(r->reason, reason) != 0)
        r->reason = gl_arena_strdup(f->arena, reason);
    r->miss_bytes = miss_bytes;
    r->place = example->place;
    r->nearest = example->parallel;
    r->nearest_batch = example->batch;
    r->nearest_gpus = example->gpus;
}

static void merge(finds *all, const finds *part, size_t gpu_count)
{
    for (size_t i = 0; i < part->top_count; i++)
        keep_top(all, &part->top[i]);
    for (size_t i = 0; i < gpu_count; i++)
        for (size_t k = 0; k < part->fronts[i].count; k++)
            keep_front(all->arena, &all->fronts[i], &part->fronts[i].items[k]);
    for (size_t i = 0; i < part->rejection_count; i++) {
        const gl_rejection *r = &part->rejections[i];
        const gl_found example = {.parallel = r->nearest,
                                  .batch = r->nearest_batch,
                                  .gpus = r->nearest_gpus,
                                  .place = r->place};
        reject(all, r->rule, r->reason, r->layouts, &example, r->miss_bytes);
    }
    all->looked_at += part->looked_at;
    all->fitting += part->fitting;
    all->faster += part->faster;
    if (part->given_place >= 0)
        all->given_place = part->given_place;
}

static void prepare(finds *f, gl_arena *arena, size_t top, size_t gpu_count)
{
    *f = (finds){.arena = arena,
                 .top = GL_ARENA_NEW(arena, gl_found, top),
                 .top_max = top,
                 .given_place = -1,
                 .fronts = GL_ARENA_NEW(arena, front, gpu_count)};
}

/* ---- a job ---- */

/* What jobs share. */
typedef struct search {
    const gl_search_space *space;
    const gl_search_degrees *groups;
    size_t group_count;
    int64_t total;
    double given_s; /* NaN: none to compare with */
    int given_gpus;
    int64_t done;
    double best_s;
    bool stopped;
} search;

typedef struct job {
    search *search;
    finds found;
    gl_arena *scratch; /* of a group */
    gl_evaluator *evaluator;
    int64_t unreported;
} job;

static bool is_stopped(search *s)
{
    bool stopped;
#pragma omp atomic read
    stopped = s->stopped;
    return stopped;
}

/* Tells how far the search has come, and asks whether to go on. */
static void report(job *j)
{
    search *s = j->search;
    const gl_search_options *o = s->space->options;
#pragma omp critical
    {
        s->done += j->unreported;
        if (j->found.top_count > 0 && j->found.top[0].step.time_s < s->best_s)
            s->best_s = j->found.top[0].step.time_s;
        const gl_search_progress progress = {s->done, s->total, s->best_s};
        if (o->watch != NULL && !o->watch(o->context, &progress)) {
#pragma omp atomic write
            s->stopped = true;
        }
    }
    j->unreported = 0;
}

static void count_looked_at(job *j, int64_t layouts)
{
    j->found.looked_at += layouts;
    j->unreported += layouts;
    if (j->unreported >= LAYOUTS_BETWEEN_WATCHES)
        report(j);
}

static const char *misses_memory(gl_recompute recompute)
{
    static const char *const texts[] = {"does not fit without recomputation",
                                        "does not fit with selective recomputation",
                                        "does not fit with full recomputation"};
    return texts[recompute];
}

/* Memory first; time only of what fits. */
static void evaluate(job *j, size_t gpu_index, gl_found *candidate)
{
    gl_evaluation e;
    gl_error err;
    gl_evaluate_memory(j->evaluator, &candidate->parallel, &candidate->batch, &e);
    candidate->memory_bytes = e.memory.total_bytes;
    candidate->capacity_bytes = e.memory.capacity_bytes;
    if (!e.memory.fits) {
        reject(&j->found, "memory", misses_memory(candidate->parallel.recompute), 1, candidate,
               e.memory.total_bytes - e.memory.capacity_bytes);
        return;
    }
    if (!j->search->space->options->memory_only && !gl_evaluate_time(j->evaluator, &e, &err)) {
        reject(&j->found, "network", err.message, 1, candidate, (double)NAN);
        return;
    }
    candidate->step = e.step;
    j->found.fitting++;
    if (candidate->step.time_s < j->search->given_s && candidate->gpus == j->search->given_gpus)
        j->found.faster++;
    const gl_workload *given = j->search->space->workload;
    if (candidate->step.time_s == j->search->given_s &&
        gl_search__is_same(&candidate->parallel, &candidate->batch, &given->parallel,
                           &given->batch))
        j->found.given_place = candidate->place;
    keep_top(&j->found, candidate);
    keep_front(j->found.arena, &j->found.fronts[gpu_index], candidate);
}

static size_t index_of(const gl_search_options *o, int gpus)
{
    size_t i = 0;
    while (o->gpus[i] != gpus)
        i++;
    return i;
}

/* The legal variants of a group; the others are counted out. `blocks`: how often each occurs. */
static size_t legal_variants(job *j, const gl_search_degrees *g, const gl_search_lists *lists,
                             bool *legal)
{
    const gl_search_space *s = j->search->space;
    int64_t blocks = (int64_t)(lists->micro_count * lists->schedule_count);
    size_t count = 0;
    for (size_t i = 0; i < lists->variant_count; i++) {
        const char *rule;
        const char *reason = gl_search__refuse_variant(s, g, &lists->variants[i], &rule);
        legal[i] = reason == NULL;
        count += legal[i];
        if (legal[i])
            continue;
        gl_found example = {.parallel = gl_search__parallel(s, g),
                            .batch = {.global = s->global, .micro = lists->micro[0]},
                            .gpus = g->gpus,
                            .place = g->first + (int64_t)i};
        gl_search__apply(&lists->schedules[0], &lists->variants[i], &example.parallel);
        reject(&j->found, rule, reason, blocks, &example, (double)NAN);
        count_looked_at(j, blocks);
    }
    return count;
}

/* All variants with one microbatch and schedule. */
static void search_block(job *j, const gl_search_degrees *g, const gl_search_lists *lists,
                         size_t block, const bool *legal, size_t legal_count)
{
    const gl_search_space *s = j->search->space;
    const gl_search_schedule *schedule = &lists->schedules[block % lists->schedule_count];
    int micro = lists->micro[block / lists->schedule_count];
    size_t gpu_index = index_of(s->options, g->gpus);
    gl_found candidate = {.parallel = gl_search__parallel(s, g),
                          .batch = {.global = s->global, .micro = micro},
                          .gpus = g->gpus,
                          .place = g->first + (int64_t)(block * lists->variant_count)};
    const char *rule, *reason = gl_search__refuse_schedule(s, g, micro, schedule, &rule);
    int64_t first = candidate.place;
    if (reason != NULL && legal_count > 0) {
        gl_search__apply(schedule, &lists->variants[0], &candidate.parallel);
        reject(&j->found, rule, reason, (int64_t)legal_count, &candidate, (double)NAN);
    }
    for (size_t i = 0; i < lists->variant_count && reason == NULL; i++) {
        if (!legal[i])
            continue;
        gl_search__apply(schedule, &lists->variants[i], &candidate.parallel);
        candidate.place = first + (int64_t)i;
        evaluate(j, gpu_index, &candidate);
    }
    count_looked_at(j, (int64_t)legal_count);
}

static void search_group(job *j, const gl_search_degrees *g)
{
    const gl_search_space *s = j->search->space;
    gl_search_lists lists;
    const char *rule, *reason;
    gl_arena_reset(j->scratch);
    gl_search__lists(s, g, j->scratch, &lists);
    reason = gl_search__refuse(s, g, &lists, j->scratch, &rule);
    if (reason != NULL) {
        const gl_found example = {.parallel = gl_search__parallel(s, g),
                                  .batch = {.global = s->global, .micro = 1},
                                  .gpus = g->gpus,
                                  .place = g->first};
        reject(&j->found, rule, reason, gl_search__size(&lists), &example, (double)NAN);
        count_looked_at(j, gl_search__size(&lists));
        return;
    }
    bool *legal = GL_ARENA_NEW(j->scratch, bool, lists.variant_count);
    size_t legal_count = legal_variants(j, g, &lists, legal);
    size_t blocks = lists.micro_count * lists.schedule_count;
    for (size_t block = 0; block < blocks && !is_stopped(j->search); block++)
        search_block(j, g, &lists, block, legal, legal_count);
}

static void start_job(job *j, search *s, size_t top)
{
    const gl_search_options *o = s->space->options;
    *j = (job){.search = s, .scratch = gl_arena_create()};
    prepare(&j->found, gl_arena_create(), top, o->gpu_count);
    j->evaluator =
        gl_evaluator_create(s->space->workload, s->space->cluster, o->allow_extrapolation);
}

static void end_job(job *j, finds *all)
{
    report(j);
#pragma omp critical
    merge(all, &j->found, j->search->space->options->gpu_count);
    gl_evaluator_destroy(j->evaluator);
    gl_arena_destroy(j->found.arena);
    gl_arena_destroy(j->scratch);
}

static int job_count(const gl_search_options *o, size_t groups)
{
    int jobs = o->jobs;
#ifdef _OPENMP
    if (jobs <= 0)
        jobs = omp_get_num_procs();
#endif
    if (jobs < 1)
        jobs = 1;
    return (size_t)jobs > groups && groups > 0 ? (int)groups : jobs;
}

/* Groups differ much in size: each job takes the next one that is left. */
static void search_all(search *s, finds *all)
{
    int jobs = job_count(s->space->options, s->group_count);
    (void)jobs;
#pragma omp parallel num_threads(jobs) if (jobs > 1)
    {
        job j;
        start_job(&j, s, all->top_max);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < s->group_count; i++) {
            if (!is_stopped(s))
                search_group(&j, &s->groups[i]);
        }
        end_job(&j, all);
    }
}

/* ---- the description's own layout ---- */

static bool is_one_of(const gl_search_options *o, int64_t gpus)
{
    for (size_t i = 0; i < o->gpu_count; i++)
        if (o->gpus[i] == gpus)
            return true;
    return false;
}

static bool is_legal(const gl_workload *w)
{
    gl_arena *scratch = gl_arena_create();
    gl_findings findings = {.arena = scratch};
    gl_check_workload(w, &findings);
    bool legal = gl_findings_first_fatal(&findings, 0) == NULL;
    gl_arena_destroy(scratch);
    return legal;
}

static void evaluate_given(search *s, gl_search_result *out)
{
    const gl_search_space *space = s->space;
    const gl_workload *w = space->workload;
    gl_evaluation e;
    s->given_s = (double)NAN;
    if (space->options->memory_only || !is_one_of(space->options, gl_workload_ranks(w)) ||
        !is_legal(w))
        return;
    gl_evaluator *evaluator =
        gl_evaluator_create(w, space->cluster, space->options->allow_extrapolation);
    out->given_known = gl_evaluate(evaluator, &w->parallel, &w->batch, &e, NULL) && e.known;
    out->given_fits = e.memory.fits;
    out->given = (gl_found){.parallel = w->parallel,
                            .batch = w->batch,
                            .gpus = (int)gl_workload_ranks(w),
                            .step = e.step,
                            .memory_bytes = e.memory.total_bytes,
                            .capacity_bytes = e.memory.capacity_bytes};
    gl_evaluator_destroy(evaluator);
    if (out->given_known) {
        s->given_s = e.step.time_s;
        s->given_gpus = out->given.gpus;
    }
}

/* ---- the whole ---- */

/* Fewer GPUs, and no slower and no larger: then it is not on the front. */
static bool is_beaten(const gl_found *found, const gl_search_options *o, const front *fronts)
{
    for (size_t i = 0; i < o->gpu_count; i++)
        for (size_t k = 0; k < fronts[i].count && o->gpus[i] < found->gpus; k++) {
            const gl_found *other = &fronts[i].items[k];
            if (other->step.time_s <= found->step.time_s &&
                other->memory_bytes <= found->memory_bytes)
                return true;
        }
    return false;
}

static void finish(const search *s, const finds *all, gl_arena *arena, gl_search_result *out)
{
    const gl_search_options *o = s->space->options;
    size_t most = 0;
    for (size_t i = 0; i < o->gpu_count; i++)
        most += all->fronts[i].count;
    out->top = all->top;
    out->top_count = all->top_count;
    out->front = GL_ARENA_NEW(arena, gl_found, most);
    for (size_t i = 0; i < o->gpu_count; i++)
        for (size_t k = 0; k < all->fronts[i].count; k++)
            if (!is_beaten(&all->fronts[i].items[k], o, all->fronts))
                out->front[out->front_count++] = all->fronts[i].items[k];
    if (out->front_count > 0)
        qsort(out->front, out->front_count, sizeof *out->front, by_time);
    out->rejections = all->rejections;
    out->rejection_count = all->rejection_count;
    if (out->rejection_count > 0)
        qsort(out->rejections, out->rejection_count, sizeof *out->rejections, by_layouts);
    out->total = s->total;
    out->looked_at = all->looked_at;
    out->fitting = all->fitting;
    out->faster_than_given = all->faster;
    out->given.place = all->given_place;
    out->stopped = s->stopped;
}

static bool check_options(const gl_search_options *o, const gl_cluster *cluster, gl_error *err)
{
    int64_t gpus = (int64_t)cluster->nodes * cluster->gpus_per_node;
    for (size_t i = 0; i < o->gpu_count; i++) {
        if (o->gpus[i] > gpus)
            return gl_fail(err, GL_ERROR_USAGE, "%d GPUs: the cluster has %lld (%d node%s of %d)",
                           o->gpus[i], (long long)gpus, cluster->nodes,
                           cluster->nodes == 1 ? "" : "s", cluster->gpus_per_node);
    }
    return true;
}

/* Is there anything to compute step times from? One GPU alone tells. */
static bool check_compute(const gl_search_space *s, gl_error *err)
{
    gl_workload w = *s->workload;
    gl_parameters parameters;
    gl_compute compute;
    gl_arena *scratch = gl_arena_create();
    w.parallel = gl_workload_defaults().parallel;
    w.batch = (gl_batch){.global = 1, .micro = 1};
    gl_parameters_build(&w.model, &w.parallel, scratch, &parameters);
    gl_compute_build(&w, &parameters, s->cluster, scratch, &compute);
    gl_arena_destroy(scratch);
    return compute.known ||
           gl_fail(err, GL_ERROR_INPUT,
                   "step times are not known, so that no layout is better than another: state the "
                   "architecture with model.sequence and a GPU of the catalogue, or compute.step");
}

bool gl_search(const gl_workload *workload, const gl_cluster *cluster,
               const gl_search_options *options, gl_arena *arena, gl_search_result *out,
               gl_error *err)
{
    gl_search_options o = *options;
    int all_gpus = cluster->nodes * cluster->gpus_per_node;
    if (o.gpus == NULL) {
        o.gpus = &all_gpus;
        o.gpu_count = 1;
    }
    const gl_search_space space = gl_search_space_of(workload, cluster, &o);
    search s = {.space = &space, .best_s = (double)INFINITY};
    finds all;
    *out = (gl_search_result){.top = NULL};
    if (!check_options(&o, cluster, err) || (!o.memory_only && !check_compute(&space, err)))
        return false;
    prepare(&all, arena, o.top > 0 ? o.top : TOP_DEFAULT, o.gpu_count);
    s.groups = gl_search__groups(&space, arena, &s.group_count, &s.total);
    evaluate_given(&s, out);
    search_all(&s, &all);
    finish(&s, &all, arena, out);
    return true;
}
