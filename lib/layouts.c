/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many layouts: evaluated, and searched. */
#include "lib/internal.h"

#include "planner/core/evaluate.h"
#include "planner/core/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROOM_MAX = 1000, RANGE_BYTES = 128 };

_Static_assert(GPULINK_GPIPE == (int)GL_SCHEDULE_GPIPE && GPULINK_1F1B == (int)GL_SCHEDULE_1F1B &&
                   GPULINK_INTERLEAVED == (int)GL_SCHEDULE_INTERLEAVED &&
                   GPULINK_RECOMPUTE_NONE == (int)GL_RECOMPUTE_NONE &&
                   GPULINK_RECOMPUTE_SELECTIVE == (int)GL_RECOMPUTE_SELECTIVE &&
                   GPULINK_RECOMPUTE_FULL == (int)GL_RECOMPUTE_FULL &&
                   GPULINK_CP_RING == (int)GL_CP_RING &&
                   GPULINK_CP_ALLGATHER == (int)GL_CP_ALLGATHER &&
                   GPULINK_CP_ULYSSES == (int)GL_CP_ULYSSES,
               "choices are given as they are");

/* A member of a layout with its type; the part and the member of the workload, which are also the
 * path of its field, with the type that it has there. */
#define LAYOUT(X)                                                                                  \
    X(dp, int32_t, parallel, dp, int)                                                              \
    X(tp, int32_t, parallel, tp, int)                                                              \
    X(pp, int32_t, parallel, pp, int)                                                              \
    X(cp, int32_t, parallel, cp, int)                                                              \
    X(ep, int32_t, parallel, ep, int)                                                              \
    X(micro_batch, int32_t, batch, micro, int)                                                     \
    X(global_batch, int64_t, batch, global, int64_t)                                               \
    X(zero, int32_t, parallel, zero, int)                                                          \
    X(shard, int32_t, parallel, shard, int)                                                        \
    X(schedule, int32_t, parallel, schedule, gl_schedule_kind)                                     \
    X(virtual_stages, int32_t, parallel, virtual_stages, int)                                      \
    X(recompute, int32_t, parallel, recompute, gl_recompute)                                       \
    X(cp_method, int32_t, parallel, cp_method, gl_cp_method)                                       \
    X(sequence_parallel, int32_t, parallel, sequence_parallel, bool)                               \
    X(accumulate, int32_t, parallel, accumulate, bool)

/* Where a field of a layout stands, and the row of the description that says what it may be. */
typedef struct layout_field {
    const char *path;
    size_t offset;
} layout_field;

static const layout_field layout_fields[] = {
#define AS_FIELD(name, type, part, member, inner)                                                  \
    {#part "." #member, offsetof(gpulink_layout, name)},
    LAYOUT(AS_FIELD)
#undef AS_FIELD
};
enum { LAYOUT_FIELDS = sizeof layout_fields / sizeof *layout_fields };

struct gpulink_evaluator {
    gpulink_model *model;
    gpulink_cluster *cluster;
    gl_arena *arena;
    gl_workload workload; /* of the layout at hand */
    gl_cluster extended;  /* the cluster that is planned with */
    gl_evaluator *inner;
    gl_arena *scratch;
    const gl_field *fields[LAYOUT_FIELDS];
};

/* ---- layouts ---- */

static gpulink_layout layout_of(const gl_parallel *parallel, const gl_batch *batch)
{
    gpulink_layout layout = {0};
#define GIVE(name, type, part, member, inner) layout.name = (type)part->member;
    LAYOUT(GIVE)
#undef GIVE
    return layout;
}

/* Its values were checked. */
static void apply(const gpulink_layout *layout, gl_parallel *parallel, gl_batch *batch)
{
#define TAKE(name, type, part, member, inner) part->member = (inner)layout->name;
    LAYOUT(TAKE)
#undef TAKE
}

void gpulink_model_layout(const gpulink_model *model, gpulink_layout *layout, size_t size)
{
    const gpulink_layout known = layout_of(&model->workload.parallel, &model->workload.batch);
    gl_lib__give(layout, size, &known, sizeof known);
}

static int64_t value_of(const gpulink_layout *layout, const layout_field *field)
{
    int64_t wide;
    int32_t narrow;
    const unsigned char *at = (const unsigned char *)layout + field->offset;
    if (field->offset == offsetof(gpulink_layout, global_batch)) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

/* The largest number of a field that is a choice or yes and no; −1: it is a number with limits. */
static int64_t last_choice(const gl_field *field)
{
    int64_t count = 0;
    if (field->type == GL_FIELD_BOOL)
        return 1;
    if (field->type != GL_FIELD_CHOICE)
        return -1;
    while (field->choices[count] != NULL)
        count++;
    return count - 1;
}

static bool check_values(const gpulink_evaluator *e, const gpulink_layout *layout, gl_error *err)
{
    char range[RANGE_BYTES];
    for (size_t i = 0; i < LAYOUT_FIELDS; i++) {
        int64_t value = value_of(layout, &layout_fields[i]), last = last_choice(e->fields[i]);
        bool allowed = last < 0
                           ? gl_field_in_range(e->fields[i], (double)value, range, sizeof range)
                           : value >= 0 && value <= last;
        if (allowed)
            continue;
        if (last >= 0)
            snprintf(range, sizeof range, "0 to %lld", (long long)last);
        return gl_fail_at(err, GL_ERROR_INPUT, NULL, layout_fields[i].path,
                          "'%lld' is out of range; allowed: %s", (long long)value, range);
    }
    return true;
}

static bool check_rules(gpulink_evaluator *e, gl_error *err)
{
    gl_findings findings = {.arena = e->scratch};
    gl_arena_reset(e->scratch);
    gl_check_workload(&e->workload, &findings);
    gl_check_cluster(&e->workload, &e->extended, &findings);
    const gl_finding *fatal = gl_findings_first_fatal(&findings, 0);
    return fatal == NULL ||
           gl_fail_at(err, GL_ERROR_INPUT, NULL, fatal->path, "%s", fatal->message);
}

/* ---- evaluations ---- */

static int32_t fits(bool known, bool fits)
{
    return known ? fits : -1;
}

static void set_times(gpulink_evaluation *out, const gl_schedule *step, const gl_workload *w)
{
    out->status = GPULINK_EVALUATED;
    out->time_s = step->time_s;
    out->tokens_per_s =
        gl_workload_step_tokens(w) > 0 ? gl_workload_step_tokens(w) / step->time_s : (double)NAN;
    out->compute_s = step->compute_s;
    out->overlap_tax_s = step->overlap_tax_s;
    out->exposed_communication_s = step->exposed_s;
    out->bubble_s = step->bubble_s;
    out->optimizer_s = step->optimizer_s;
}

static const gpulink_evaluation unknown = {.fits = -1,
                                           .time_s = (double)NAN,
                                           .tokens_per_s = (double)NAN,
                                           .compute_s = (double)NAN,
                                           .overlap_tax_s = (double)NAN,
                                           .exposed_communication_s = (double)NAN,
                                           .bubble_s = (double)NAN,
                                           .optimizer_s = (double)NAN,
                                           .memory_bytes = (double)NAN};

/* False: it has no status GPULINK_EVALUATED. */
static bool evaluate(gpulink_evaluator *e, const gpulink_layout *layout, gpulink_evaluation *out,
                     gl_error *err)
{
    gl_evaluation result;
    *out = unknown;
    out->status = GPULINK_ILLEGAL;
    if (!check_values(e, layout, err))
        return false;
    apply(layout, &e->workload.parallel, &e->workload.batch);
    if (!check_rules(e, err))
        return false;
    gl_evaluate_memory(e->inner, &e->workload.parallel, &e->workload.batch, &result);
    out->memory_bytes = result.memory.total_bytes;
    out->fits = fits(result.memory.fits_known, result.memory.fits);
    out->status = GPULINK_REFUSED;
    if (!gl_evaluate_time(e->inner, &result, err))
        return false;
    out->status = GPULINK_EVALUATED;
    if (result.known)
        set_times(out, &result.step, &e->workload);
    return true;
}

static bool make_evaluator(gpulink_evaluator *e, const gpulink_options *options,
                           gpulink_error *error)
{
    gpulink_options o;
    if (!gl_lib__options(options, &o, error))
        return false;
    e->workload = e->model->workload;
    e->extended = e->cluster->cluster;
    if (o.allow_extrapolation != 0)
        gl_cluster_extend(&e->extended, o.gpus > 0 ? o.gpus : gl_workload_ranks(&e->workload));
    for (size_t i = 0; i < LAYOUT_FIELDS; i++)
        e->fields[i] = gl_fields_find(gl_model_fields, layout_fields[i].path);
    e->scratch = gl_arena_create();
    e->inner = gl_evaluator_create(&e->workload, &e->extended, o.allow_extrapolation != 0);
    return true;
}

gpulink_evaluator *gpulink_evaluator_create(gpulink_model *model, gpulink_cluster *cluster,
                                            const gpulink_options *options, gpulink_error *error)
{
    gl_lib_call call;
    if (!gl_lib__has_both(model, cluster, error) || !gl_lib__begin(&call, 1, error))
        return NULL;
    gl_arena *arena = gl_arena_create();
    gpulink_evaluator *e = GL_ARENA_NEW(arena, gpulink_evaluator, 1);
    *e = (gpulink_evaluator){
        .model = gl_lib__use_model(model), .cluster = gl_lib__use_cluster(cluster), .arena = arena};
    if (!make_evaluator(e, options, error)) {
        gpulink_evaluator_close(e);
        e = NULL;
    }
    gl_lib__end(&call);
    return e;
}

void gpulink_evaluator_close(gpulink_evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    gl_evaluator_destroy(evaluator->inner);
    gl_arena_destroy(evaluator->scratch);
    gpulink_model_close(evaluator->model);
    gpulink_cluster_close(evaluator->cluster);
    gl_arena_destroy(evaluator->arena);
}

static size_t evaluate_all(gpulink_evaluator *e, const unsigned char *layouts, size_t layout_size,
                           size_t count, unsigned char *evaluations, size_t evaluation_size,
                           gpulink_error *error)
{
    size_t done = 0;
    bool told = false;
    const gl_workload *described = &e->model->workload;
    const gpulink_layout base = layout_of(&described->parallel, &described->batch);
    for (size_t i = 0; i < count; i++) {
        gpulink_layout layout = base;
        gpulink_evaluation out = unknown;
        gl_error err;
        bool evaluated;
        if (gl_lib__take(&layout, sizeof layout, layouts + i * layout_size, layout_size)) {
            evaluated = evaluate(e, &layout, &out, &err);
        } else {
            evaluated = gl_fail(&err, GL_ERROR_USAGE, "a layout sets fields of a newer version");
            out.status = GPULINK_ILLEGAL;
        }
        done += evaluated;
        if (!evaluated && !told)
            told = !gl_lib__fail(error, &err);
        gl_lib__give(evaluations + i * evaluation_size, evaluation_size, &out, sizeof out);
    }
    return done;
}

size_t gpulink_evaluate(gpulink_evaluator *evaluator, const gpulink_layout *layouts,
                        size_t layout_size, size_t count, gpulink_evaluation *evaluations,
                        size_t evaluation_size, gpulink_error *error)
{
    gl_lib_call call;
    if (layout_size == 0 || evaluation_size == 0)
        return gl_lib__refuse(error, "the size of a structure is 0");
    if (!gl_lib__begin(&call, 1, error))
        return 0;
    size_t done = evaluate_all(evaluator, (const unsigned char *)layouts, layout_size, count,
                               (unsigned char *)evaluations, evaluation_size, error);
    gl_lib__end(&call);
    return done;
}

/* ---- search ---- */

/* The threads of a search do not have the caller's locale: what they print, reasons against
 * layouts, stays inside. */

typedef struct search {
    const gl_workload *workload;
    gl_cluster cluster;
    gl_search_options options;
    int gpus;
    gl_search_result result;
} search;

static bool run_search(search *s, const gpulink_options *options, gl_arena *arena,
                       gpulink_error *error)
{
    gpulink_options o;
    gl_error err;
    if (!gl_lib__options(options, &o, error))
        return false;
    if (s->options.top < 1 || s->options.top > ROOM_MAX)
        return gl_lib__refuse(error, "room for %zu layouts; allowed: 1 to %d", s->options.top,
                              ROOM_MAX);
    s->gpus = o.gpus > 0 ? o.gpus : s->cluster.nodes * s->cluster.gpus_per_node;
    s->options.gpus = &s->gpus;
    s->options.gpu_count = 1;
    s->options.allow_extrapolation = o.allow_extrapolation != 0;
    s->options.jobs = o.threads;
    if (s->options.allow_extrapolation)
        gl_cluster_extend(&s->cluster, s->gpus);
    return gl_search(s->workload, &s->cluster, &s->options, arena, &s->result, &err) ||
           gl_lib__fail(error, &err);
}

/* Each has memory of its own. The options have passed gl_lib__options. */
static int threads_of(const gpulink_options *options)
{
    gpulink_options o;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    gl_lib__options(options, &o, NULL);
    return o.threads > 0 ? o.threads : online > 1 ? (int)online : 1;
}

/* What was found, evaluated as every other layout is. */
static void give_found(const search *s, gpulink_evaluator *e, unsigned char *layouts,
                       size_t layout_size, unsigned char *evaluations, size_t evaluation_size)
{
    for (size_t i = 0; i < s->result.top_count; i++) {
        const gl_found *found = &s->result.top[i];
        const gpulink_layout layout = layout_of(&found->parallel, &found->batch);
        gpulink_evaluation out;
        gl_error err;
        evaluate(e, &layout, &out, &err);
        gl_lib__give(layouts + i * layout_size, layout_size, &layout, sizeof layout);
        gl_lib__give(evaluations + i * evaluation_size, evaluation_size, &out, sizeof out);
    }
}

bool gpulink_search(gpulink_model *model, gpulink_cluster *cluster, const gpulink_options *options,
                    gpulink_layout *layouts, size_t layout_size, gpulink_evaluation *evaluations,
                    size_t evaluation_size, size_t room, size_t *found, gpulink_error *error)
{
    gl_lib_call call;
    if (layout_size == 0 || evaluation_size == 0)
        return gl_lib__refuse(error, "the size of a structure is 0");
    gpulink_evaluator *e = gpulink_evaluator_create(model, cluster, options, error);
    if (e == NULL || !gl_lib__begin(&call, threads_of(options), error)) {
        gpulink_evaluator_close(e);
        return false;
    }
    search s = {.workload = &model->workload, .cluster = cluster->cluster, .options.top = room};
    bool done = run_search(&s, options, e->arena, error);
    if (done) {
        give_found(&s, e, (unsigned char *)layouts, layout_size, (unsigned char *)evaluations,
                   evaluation_size);
        *found = s.result.top_count;
    }
    gl_lib__end(&call);
    gpulink_evaluator_close(e);
    return done;
}
