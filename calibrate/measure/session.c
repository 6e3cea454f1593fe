/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/session.h"

#include "calibrate/measure/placements.h"
#include "calibrate/measure/rates.h"
#include "calibrate/measure/recorder.h"
#include "calibrate/measure/sampler.h"
#include "calibrate/measure/statistics.h"
#include "common/units.h"
#include "gpulink_version.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COARSE = 4 }; /* octaves between the sizes that come first */

#define OCTAVE_SHARE  0.75 /* of a curve's time, as long as octaves are missing */
#define BETWEEN_SHARE 0.25 /* of what is left, for each size in between */
#define RATES_SHARE   0.4  /* of the budget, when compute rates or overlap are measured too */
#define MEASURING_SHARE                                                                            \
    6.0 /* a point measures at least this many times what storing it takes …                     \
         */
#define LEAST_MAX_S      1.0       /* … but not longer than this */
#define PREPARE_SHARE    0.25      /* of the budget, to make memory ready */
#define PREPARE_BYTES    4194304.0 /* at least: less does not tell what more will take */
#define PART_BYTES       16.0      /* of which the parts of long messages are multiples */
#define SHORTEST_S       1e-9      /* no clock here tells shorter times */
#define CALLS_OF_A_POINT 5.0       /* warm-up, three iterations, one to check */

/* What points cost beside their calls: checking, which grows with size, storing, agreeing. */
typedef struct around {
    double points, bytes, time_s; /* so far, sums */
    double least_check_s;
    double largest_bytes;    /* that was checked, latest: */
    double check_s_per_byte; /* what its check took longer than the least */
} around;

typedef struct session {
    gl_backend *backend;
    const gl_session_options *options;
    gl_arena *arena;
    gl_session_result *result;
    gl_error *err;
    gl_recorder recorder; /* on the leader */
    gl_dtype dtype;
    gl_grouping *groupings;
    size_t grouping_count;
    const gl_acceptance_item **items; /* of a list: what is measured on each grouping; else NULL */
    const gl_acceptance_item *item;   /* the one at work */
    double *times_s;
    double start_s, end_s;     /* of the collectives */
    around around;             /* what points cost beside their calls */
    double ready_bytes;        /* memory is ready for messages up to this */
    double prepare_s;          /* spent on that */
    double prepare_s_per_byte; /* by the last time; 0 = not known */
    double extra_s;            /* see visit: the latest, for the first point of the next curve */
    int visits_left;           /* curves still to come, this one included */
    int visits;
} session;

/* One curve at work. */
typedef struct visit {
    gl_curve curve;
    gl_sampler sampler;
    double largest; /* size that was joined for */
    double end_s;   /* of its share */
    double extra_s; /* what a call costs beyond its time: barriers, other programs */
    double last_busbw;
    bool failed; /* the last point could not be stored: s->err says why */
} visit;

static double now(const session *s)
{
    return s->options->clock_s();
}

static bool leads(const session *s)
{
    return s->backend->leader;
}

static double agree(const session *s, double value)
{
    return s->backend->vtable->agree(s->backend, value);
}

static bool stopped(const session *s)
{
    return s->options->stopped != NULL && s->options->stopped();
}

static void add_line(session *s, const char **lines, const char *line)
{
    *lines = gl_arena_append(s->arena, *lines, "\n", line);
}

static void warn(session *s, const char *line)
{
    add_line(s, &s->result->warnings, line);
}

/* Something was asked for that was not measured: of a list, all of it counts. */
static void warn_unmet(session *s, const char *line)
{
    warn(s, line);
    if (s->options->acceptance != NULL)
        add_line(s, &s->result->unmet, line);
}

/* After a failure of the leader: in the others it has no message, for the leader tells. */
static bool stop_with(session *s, gl_status status)
{
    if (!leads(s))
        gl_fail(s->err, status, "%s", "");
    return false;
}

/* Did the leader's step go well? */
static bool all_well(session *s, bool ok)
{
    gl_status status = (gl_status)agree(s, ok ? GL_OK : s->err->status);
    return status == GL_OK || stop_with(s, status);
}

/* A backend that failed may have left others in a call. */
static bool backend_failed(session *s)
{
    s->result->backend_failed = true;
    return false;
}

/* ---- one point ---- */

enum { BATCH_WARMUP = 100000, BATCH_ABANDON = -1 };

/* The leader's word on the next batch, packed into the one number that all get. */
static double next_batch(const session *s, const gl_pacer *pacer)
{
    int warmup;
    if (stopped(s))
        return pacer->count >= GL_PACER_LEAST ? 0 : BATCH_ABANDON;
    int iterations = gl_pacer_next(pacer, &warmup);
    return iterations + (double)BATCH_WARMUP * warmup;
}

/* Measures until the pacer has enough. *abandoned: the user stopped before there was anything. */
static bool measure_batches(session *s, const visit *v, double size, gl_pacer *pacer,
                            bool *abandoned)
{
    for (;;) {
        double batch = agree(s, leads(s) ? next_batch(s, pacer) : 0);
        *abandoned = batch < 0;
        if (batch <= 0)
            return true;
        int warmup = (int)(batch / BATCH_WARMUP), iterations = (int)fmod(batch, BATCH_WARMUP);
        double start = now(s);
        if (!s->backend->vtable->measure(s->backend, size, v->curve.in_place, warmup, iterations,
                                         pacer->times_s + pacer->count, s->err))
            return backend_failed(s);
        gl_pacer_add(pacer, warmup, iterations, now(s) - start);
        s->result->measuring_s += now(s) - start;
    }
}

static gl_sample sample_of(const gl_pacer *pacer, gl_statistics *statistics, double size,
                           double wrong)
{
    *statistics = gl_statistics_of(pacer->times_s, pacer->count);
    return (gl_sample){.size_bytes = size,
                       .time_median_s = fmax(statistics->median, SHORTEST_S),
                       .time_p05_s = fmax(statistics->p05, SHORTEST_S),
                       .time_p95_s = fmax(statistics->p95, SHORTEST_S),
                       .time_min_s = fmax(statistics->min, SHORTEST_S),
                       .iterations = pacer->count,
                       .wrong = wrong};
}

static const char *merged(const char *before, const char *now)
{
    return before[0] == '\0' || strcmp(before, now) == 0 ? now : now[0] == '\0' ? before : "mixed";
}

/* What carried this size goes into the curve; texts that differ by size become "mixed". */
static bool look_at_path(session *s, visit *v, double size)
{
    gl_curve seen = v->curve, *c = &v->curve;
    s->backend->vtable->observe(s->backend, size, s->arena, &seen);
    seen.algorithm = merged(c->algorithm, seen.algorithm);
    seen.protocol = merged(c->protocol, seen.protocol);
    bool changed = seen.transport != c->transport || seen.nics != c->nics ||
                   strcmp(seen.algorithm, c->algorithm) != 0 ||
                   strcmp(seen.protocol, c->protocol) != 0;
    *c = seen;
    return changed;
}

static const char *curve_name(const session *s, const gl_curve *c)
{
    char groups[40] = "";
    if (c->placement.concurrent_groups > 1)
        snprintf(groups, sizeof groups, ", %d groups at once", c->placement.concurrent_groups);
    return gl_arena_printf(s->arena, "%s of %d ranks on %d node%s%s, %s",
                           gl_collective_name(c->collective), c->placement.ranks,
                           c->placement.nodes, c->placement.nodes == 1 ? "" : "s", groups,
                           c->in_place ? "in place" : "out of place");
}

static void count_wrong(session *s, const gl_curve *curve, const gl_sample *sample)
{
    if (!(sample->wrong > 0))
        return;
    s->result->wrong_points++;
    warn(s, gl_arena_printf(s->arena, "WRONG RESULTS: %s: %.0f elements at %.0f bytes",
                            curve_name(s, curve), sample->wrong, sample->size_bytes));
}

static bool store_point(session *s, visit *v, const gl_pacer *pacer, double size, double wrong)
{
    gl_statistics statistics;
    gl_sample sample = sample_of(pacer, &statistics, size, wrong);
    bool path_changed = look_at_path(s, v, size);
    if (!gl_recorder_add(&s->recorder, &v->curve, path_changed, &sample, s->err))
        return false;
    gl_sampler_add(&v->sampler, size, sample.time_median_s, gl_statistics_half_width(&statistics));
    v->last_busbw =
        size / sample.time_median_s * gl_bus_factor(v->curve.collective, v->curve.placement.ranks);
    count_wrong(s, &v->curve, &sample);
    s->result->points++;
    s->result->new_points++;
    return true;
}

static void note_around(around *a, double size_bytes, double time_s, double check_s)
{
    if (a->points == 0 || check_s < a->least_check_s)
        a->least_check_s = check_s;
    if (size_bytes >= a->largest_bytes) {
        a->largest_bytes = size_bytes;
        a->check_s_per_byte = (check_s - a->least_check_s) / size_bytes;
    }
    a->points++;
    a->bytes += size_bytes;
    a->time_s += time_s;
}

/* What is expected beside the calls of a point of this size. */
static double around_s(const session *s, double size_bytes)
{
    const around *a = &s->around;
    if (a->points == 0)
        return 0;
    double fixed_s = fmax(a->time_s - a->check_s_per_byte * a->bytes, 0) / a->points;
    return fixed_s + a->check_s_per_byte * size_bytes;
}

/* A point takes long enough that what is around it does not make up most of the run. */
static double least_s(const session *s, double size)
{
    return fmin(MEASURING_SHARE * around_s(s, size), LEAST_MAX_S);
}

/* What a call of the size will cost, as far as known. */
static double expect_call(const session *s, const visit *v, double size)
{
    double time_s = gl_sampler_expect(&v->sampler, size);
    if (!isnan(time_s))
        return time_s + v->extra_s;
    return s->extra_s > 0 ? s->extra_s : (double)NAN;
}

/* All curves need the memory, so none pays for it with its own share. */
static bool prepare(session *s, visit *v, double size)
{
    double bytes = fmin(fmax(size, PREPARE_BYTES), v->largest), start = now(s);
    if (s->backend->vtable->prepare == NULL)
        return true;
    if (!s->backend->vtable->prepare(s->backend, bytes, s->err))
        return backend_failed(s);
    if (bytes <= s->ready_bytes)
        return true;
    double took_s = now(s) - start;
    s->prepare_s_per_byte = took_s / (bytes - s->ready_bytes);
    s->prepare_s += took_s;
    s->ready_bytes = bytes;
    v->end_s = fmin(v->end_s + took_s, s->end_s);
    return true;
}

/* The largest size that memory can be made ready for in time. */
static double preparable(const session *s)
{
    double left_s = PREPARE_SHARE * s->options->budget_s - s->prepare_s;
    if (!(s->prepare_s_per_byte > 0))
        return INFINITY;
    return s->ready_bytes + fmax(left_s, 0) / s->prepare_s_per_byte;
}

static bool measure_point(session *s, visit *v, double size, double share_s)
{
    gl_pacer pacer;
    bool abandoned;
    double wrong;
    if (!prepare(s, v, size))
        return false;
    double start = now(s);
    gl_pacer_begin(&pacer, s->times_s, s->options->precision, share_s, least_s(s, size),
                   expect_call(s, v, size));
    if (!measure_batches(s, v, size, &pacer, &abandoned))
        return false;
    if (abandoned)
        return true;
    double checking = now(s);
    if (!s->backend->vtable->verify(s->backend, size, v->curve.in_place, &wrong, s->err))
        return backend_failed(s);
    double check_s = now(s) - checking;
    v->extra_s = s->extra_s = fmax(pacer.call_s - pacer.median_s, 0);
    bool stored = !leads(s) || store_point(s, v, &pacer, size, wrong);
    note_around(&s->around, size, fmax(now(s) - start - pacer.spent_s, 0), check_s);
    v->failed = !stored;
    return true;
}

/* ---- one curve ---- */

/* The largest size of which a point that gets `share_s` is worth what is around it. */
static double worthwhile(const session *s, double share_s)
{
    double spare_s = share_s / (MEASURING_SHARE + 1) - around_s(s, 0);
    return spare_s < 0                      ? 0
           : s->around.check_s_per_byte > 0 ? spare_s / s->around.check_s_per_byte
                                            : (double)INFINITY;
}

/* Every fourth octave comes first: a session that is cut off, or too short, has covered the whole
 * range. Then come the others as far as they are worthwhile, or every second when time is too short
 * for all. */
static bool next_octave(const session *s, const visit *v, double affordable, double left_s,
                        double *size, double *share_s)
{
    const gl_sampler *sampler = &v->sampler;
    double limit = 0;
    int stride = 1, octaves = 0;
    if (sampler->fixed_count > 0) {
        octaves = gl_sampler_octaves_left(sampler, affordable, 1);
        *share_s = left_s / (octaves > 0 ? octaves : 1);
        return gl_sampler_next_octave(sampler, affordable, 1, size);
    }
    for (; stride <= COARSE; stride *= 2) {
        octaves = gl_sampler_octaves_left(sampler, affordable, stride);
        limit = fmin(affordable, worthwhile(s, OCTAVE_SHARE * left_s / octaves));
        if (octaves == 0 || limit > 0)
            break;
    }
    octaves = gl_sampler_octaves_left(sampler, limit, stride) +
              gl_sampler_octaves_left(sampler, affordable, COARSE) -
              gl_sampler_octaves_left(sampler, limit, COARSE);
    *share_s = OCTAVE_SHARE * left_s / octaves;
    return gl_sampler_next_octave(sampler, affordable, COARSE, size) ||
           gl_sampler_next_octave(sampler, limit, stride, size);
}

/* The leader's choice: 0 = this curve is done. */
static double choose_size(const session *s, const visit *v, double *share_s)
{
    double size, left_s = v->end_s - now(s);
    *share_s = 0;
    if (stopped(s) || left_s <= 0)
        return 0;
    double affordable = gl_sampler_affordable(
        &v->sampler, (left_s - around_s(s, 0)) / CALLS_OF_A_POINT - v->extra_s);
    /* Sizes of a list lie far apart, and what a short one takes says nothing of a long one. */
    if (v->sampler.fixed_count > 0)
        affordable = INFINITY;
    affordable = fmin(affordable, preparable(s));
    if (next_octave(s, v, affordable, left_s, &size, share_s)) {
        *share_s = fmax(*share_s - around_s(s, size), around_s(s, size));
        return size;
    }
    /* Shares that get ever smaller would end in points that cost more to store than to measure. */
    if (!gl_sampler_next_between(&v->sampler, affordable, &size) ||
        left_s < least_s(s, size) + around_s(s, size))
        return 0;
    *share_s = fmax(BETWEEN_SHARE * left_s, least_s(s, size));
    return size;
}

static void tell(const session *s, const visit *v, double size)
{
    if (!leads(s) || s->options->progress == NULL)
        return;
    const gl_session_progress progress = {.curve = &v->curve,
                                          .size_bytes = size,
                                          .busbw_bytes_per_s = v->last_busbw,
                                          .left_s = fmax(s->end_s - now(s), 0),
                                          .curves_done = s->visits - s->visits_left,
                                          .curves = s->visits};
    s->options->progress(s->options->progress_context, &progress);
}

static bool measure_curve(session *s, visit *v)
{
    v->end_s = now(s) + (s->end_s - now(s)) / s->visits_left;
    for (;;) {
        double share_s = 0, size = leads(s) && !v->failed ? choose_size(s, v, &share_s) : 0;
        size = agree(s, v->failed ? -(double)s->err->status : size);
        if (size == 0)
            return true;
        if (size < 0)
            return stop_with(s, (gl_status)-size);
        tell(s, v, size);
        if (!measure_point(s, v, size, share_s))
            return false;
    }
}

static const char *redop_of(gl_collective collective)
{
    return collective == GL_ALL_REDUCE || collective == GL_REDUCE_SCATTER ? "sum" : "";
}

/* Messages are whole numbers of elements, and of elements for each rank where ranks have parts.
 * Parts of 16 bytes and more are multiples of that, as those of nccl-tests are. */
static void begin_sampler(session *s, visit *v, double max_bytes)
{
    gl_collective c = v->curve.collective;
    bool parts = c == GL_ALL_GATHER || c == GL_REDUCE_SCATTER || c == GL_ALLTOALL;
    int ranks = parts ? v->curve.placement.ranks : 1;
    double unit = gl_dtype_bytes(s->dtype) * ranks, block = parts ? PART_BYTES * ranks : unit;
    gl_sampler_begin(&v->sampler, s->options->min_bytes, max_bytes, unit, block,
                     s->options->precision, s->arena);
    if (s->item != NULL)
        gl_sampler_fix(&v->sampler, s->item->sizes, s->item->size_count);
}

static void begin_visit(session *s, visit *v, const gl_grouping *grouping, gl_collective collective,
                        bool in_place, double max_bytes)
{
    *v = (visit){.last_busbw = NAN};
    v->curve = (gl_curve){.collective = collective,
                          .dtype = s->dtype,
                          .redop = redop_of(collective),
                          .placement = grouping->placement,
                          .algorithm = "",
                          .protocol = "",
                          .in_place = in_place,
                          .root = collective == GL_BROADCAST ? 0 : -1};
    begin_sampler(s, v, max_bytes);
    if (!leads(s))
        return;
    gl_recorder_find(&s->recorder, &v->curve);
    for (size_t i = 0; i < v->curve.sample_count; i++) {
        const gl_sample *old = &v->curve.samples[i];
        gl_sampler_add(&v->sampler, old->size_bytes, old->time_median_s, s->options->precision);
        count_wrong(s, &v->curve, old);
        s->result->points++;
    }
}

/* The largest size that the user asked for, whatever fits. */
static double largest_wanted(const session *s, const visit *v)
{
    gl_sampler asked = v->sampler;
    asked.max_bytes = s->options->max_bytes;
    return gl_sampler_largest(&asked);
}

static void end_visit(session *s, visit *v)
{
    char text[40];
    s->visits_left--;
    if (!leads(s))
        return;
    size_t count = v->sampler.count;
    double reached = count > 0 ? v->sampler.points[count - 1].size_bytes : 0;
    s->result->curves += count > 0;
    bool all = v->sampler.fixed_count == 0 || count >= (size_t)v->sampler.fixed_count;
    if ((reached >= largest_wanted(s, v) && all) || stopped(s))
        return;
    s->result->short_curves++;
    if (count == 0) {
        warn_unmet(s, gl_arena_printf(s->arena, "%s: not measured, the budget was too short",
                                      curve_name(s, &v->curve)));
        return;
    }
    if (!all) {
        warn_unmet(s,
                   gl_arena_printf(s->arena, "%s: %d of the %d sizes on the list were not measured",
                                   curve_name(s, &v->curve), v->sampler.fixed_count - (int)count,
                                   v->sampler.fixed_count));
        return;
    }
    warn_unmet(s, gl_arena_printf(s->arena, "%s: sizes above %s %s", curve_name(s, &v->curve),
                                  gl_format_quantity(reached, GL_BYTES, text, sizeof text),
                                  reached >= gl_sampler_largest(&v->sampler)
                                      ? "do not fit (memory, or the counts of MPI)"
                                      : "did not fit into the budget"));
}

/* ---- a grouping and a collective ---- */

/* Out of place and in place. Alltoall and send-receive have one way only. */
static int variants_of(gl_collective collective)
{
    return collective == GL_ALLTOALL || collective == GL_SENDRECV ? 1 : 2;
}

static bool nothing_to_do(const session *s, const visit *visits, int count)
{
    double size;
    for (int i = 0; i < count; i++)
        if (gl_sampler_next_octave(&visits[i].sampler, INFINITY, 1, &size) ||
            gl_sampler_next_between(&visits[i].sampler, INFINITY, &size))
            return stopped(s);
    return true;
}

static bool measure_joined(session *s, visit *visits, int count)
{
    for (int i = 0; i < count; i++) {
        if (!measure_curve(s, &visits[i]))
            return false;
        end_visit(s, &visits[i]);
    }
    return true;
}

static bool measure_collective(session *s, const gl_grouping *grouping, gl_collective collective)
{
    const gl_backend_vtable *backend = s->backend->vtable;
    visit visits[2];
    int count = variants_of(collective);
    double memory = backend->max_size_bytes(s->backend, s->dtype);
    double max_bytes = agree(s, fmin(s->options->max_bytes, memory));
    for (int i = 0; i < count; i++)
        begin_visit(s, &visits[i], grouping, collective, i == 1, max_bytes);
    if (agree(s, leads(s) && nothing_to_do(s, visits, count)) != 0) {
        for (int i = 0; i < count; i++)
            end_visit(s, &visits[i]);
        return true;
    }
    assert(count > 0); /* variants_of() knows one at least */
    double largest = fmax(gl_sampler_largest(&visits[0].sampler), visits[0].sampler.unit_bytes);
    for (int i = 0; i < count; i++)
        visits[i].largest = largest;
    if (!backend->join(s->backend, grouping, collective, s->dtype, largest, s->err))
        return false;
    bool ok = measure_joined(s, visits, count);
    if (!s->result->backend_failed)
        backend->leave(s->backend);
    return ok;
}

/* --dtype wins over the list, whose types are those of the plan. */
static gl_dtype type_of(const session *s, const gl_acceptance_item *item)
{
    if (s->options->dtype != GL_DTYPE_NONE)
        return s->options->dtype;
    return item->dtype != GL_DTYPE_NONE ? item->dtype : s->backend->dtypes[0];
}

/* Each item of a list has a grouping, a type and sizes of its own. */
static bool measure_list(session *s)
{
    for (size_t i = 0; i < s->grouping_count; i++)
        s->visits += variants_of(s->items[i]->collective);
    s->visits_left = s->visits;
    for (size_t i = 0; i < s->grouping_count; i++) {
        s->item = s->items[i];
        s->dtype = type_of(s, s->item);
        if (!measure_collective(s, &s->groupings[i], s->item->collective))
            return false;
    }
    return true;
}

static bool measure_collectives(session *s)
{
    const gl_session_options *o = s->options;
    if (s->items != NULL)
        return measure_list(s);
    for (int k = 0; k < o->collective_count; k++)
        s->visits += variants_of(o->collectives[k]) * (int)s->grouping_count;
    s->visits_left = s->visits;
    for (size_t i = 0; i < s->grouping_count; i++)
        for (int k = 0; k < o->collective_count; k++)
            if (!measure_collective(s, &s->groupings[i], o->collectives[k]))
                return false;
    return true;
}

/* ---- compute rates and overlap ---- */

static bool add_compute(void *context, const gl_compute_rate *rate, gl_error *err)
{
    return gl_recorder_add_compute(&((session *)context)->recorder, rate, err);
}

static bool add_overlap(void *context, const gl_overlap_rate *rate, gl_error *err)
{
    return gl_recorder_add_overlap(&((session *)context)->recorder, rate, err);
}

static bool rates_stopped(void *context)
{
    return stopped(context);
}

/* Of the rates in the file, those of this run. */
static void fill_sink(session *s, gl_rates_sink *sink)
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
static bool measure_rates(session *s)
{
    const gl_session_options *o = s->options;
    const gl_grouping *largest = &s->groupings[s->grouping_count - 1];
    /* cppcheck-suppress uninitvar ; fill_sink() fills it */
    gl_rates_sink sink, *mine = leads(s) ? &sink : NULL;
    double left_s = s->start_s + o->budget_s - now(s), start = now(s);
    if (leads(s))
        fill_sink(s, &sink);
    left_s = fmax(left_s, 1) / (o->compute + o->overlap);
    bool ok = !o->compute || gl_rates_measure_compute(s->backend, left_s, mine, s->err);
    ok = ok && (!o->overlap || gl_rates_measure_overlap(s->backend, largest, left_s, mine, s->err));
    s->result->measuring_s += now(s) - start;
    return ok || backend_failed(s);
}

/* ---- the session ---- */

static bool check_dtype(session *s, gl_dtype wanted)
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
static bool check_ranks(session *s)
{
    if (s->grouping_count > 0 || s->options->compute)
        return true;
    return gl_fail(s->err, GL_ERROR_DEVICE,
                   "the %s backend sees %d rank: a collective needs two or more GPUs or processes "
                   "(several nodes: start with mpirun or srun); --compute alone measures one GPU",
                   s->backend->vtable->name, s->backend->ranks);
}

/* What of a list this machine can form; the rest is named. */
static bool plan_list(session *s, const gl_placements_options *placements)
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
            warn_unmet(s, gl_arena_printf(s->arena,
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
static bool make_plan(session *s)
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
static const char *parameters_of(const session *s, const char *library)
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

static gl_run describe_run(const session *s)
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
    const char **texts[] = {&run.backend,        &run.host,         &run.gpu,
                            &run.driver_version, &run.cuda_version, &run.nccl_version,
                            &run.environment,    &run.source,       &run.label,
                            &run.parameters,     &run.warnings};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] == NULL)
            *texts[i] = "";
    run.parameters = parameters_of(s, run.parameters);
    return run;
}

static bool open_recorder(session *s)
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

static void collect_warnings(session *s)
{
    for (const char *const *w = s->backend->warnings; w != NULL && *w != NULL; w++)
        warn(s, *w);
}

/* A run without a point is no answer; it stays open for a longer budget. */
static bool has_something(const session *s)
{
    const gl_session_options *o = s->options;
    return s->result->points > 0 || s->result->stopped || o->compute || o->overlap ||
           gl_fail_at(s->err, GL_ERROR_USAGE, NULL, "--budget",
                      "%g s were too short for a single point", o->budget_s);
}

/* Marks the run. After a failure that is tried without complaint: the first error is the one to
 * tell. */
static bool finish(session *s, bool ok)
{
    s->result->stopped = stopped(s);
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

static bool measure_all(session *s)
{
    const gl_session_options *o = s->options;
    bool rates = o->compute || o->overlap;
    s->start_s = now(s);
    s->end_s = s->start_s + o->budget_s * (rates ? 1 - RATES_SHARE : 1);
    if (!measure_collectives(s))
        return false;
    return !rates || agree(s, stopped(s)) != 0 || measure_rates(s);
}

bool gl_session_run(gl_backend *backend, const gl_session_options *options, gl_arena *arena,
                    gl_session_result *result, gl_error *err)
{
    gl_error local = {0};
    session s = {.backend = backend,
                 .options = options,
                 .arena = arena,
                 .result = result,
                 .err = err != NULL ? err : &local,
                 .recorder = {.lock = -1}};
    *result = (gl_session_result){.warnings = "", .unmet = ""};
    if (!make_plan(&s))
        return false;
    s.times_s = GL_ARENA_NEW(arena, double, GL_PACER_MAX);
    double start = now(&s);
    if (!all_well(&s, !leads(&s) || open_recorder(&s)))
        return false;
    bool ok = measure_all(&s);
    if (leads(&s))
        ok = finish(&s, ok);
    if (!result->backend_failed)
        ok = all_well(&s, ok) && ok;
    gl_recorder_close(&s.recorder);
    result->wall_s = now(&s) - start;
    return ok;
}
