/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One curve: which size comes next and for how long, how it is measured and stored. */
#include "calibrate/measure/session_parts.h"

#include "calibrate/measure/statistics.h"
#include "common/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COARSE = 4 }; /* octaves between the sizes that come first */

#define OCTAVE_SHARE  0.75 /* of a curve's time, as long as octaves are missing */
#define BETWEEN_SHARE 0.25 /* of what is left, for each size in between */
#define MEASURING_SHARE                                                                            \
    6.0 /* a point measures at least this many times what storing it takes …                     \
         */
#define LEAST_MAX_S      1.0       /* … but not longer than this */
#define PREPARE_SHARE    0.25      /* of the budget, to make memory ready */
#define PREPARE_BYTES    4194304.0 /* at least: less does not tell what more will take */
#define PART_BYTES       16.0      /* of which the parts of long messages are multiples */
#define SHORTEST_S       1e-9      /* no clock here tells shorter times */
#define CALLS_OF_A_POINT 5.0       /* warm-up, three iterations, one to check */

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

/* ---- one point ---- */

enum { BATCH_WARMUP = 100000, BATCH_ABANDON = -1 };

/* The leader's word on the next batch, packed into the one number that all get. */
static double next_batch(const gl_session *s, const gl_pacer *pacer)
{
    int warmup;
    if (gl_session__stopped(s))
        return pacer->count >= GL_PACER_LEAST ? 0 : BATCH_ABANDON;
    int iterations = gl_pacer_next(pacer, &warmup);
    return iterations + (double)BATCH_WARMUP * warmup;
}

/* Measures until the pacer has enough. *abandoned: the user stopped before there was anything. */
static bool measure_batches(gl_session *s, const visit *v, double size, gl_pacer *pacer,
                            bool *abandoned)
{
    for (;;) {
        double batch = gl_session__agree(s, gl_session__leads(s) ? next_batch(s, pacer) : 0);
        *abandoned = batch < 0;
        if (batch <= 0)
            return true;
        int warmup = (int)(batch / BATCH_WARMUP), iterations = (int)fmod(batch, BATCH_WARMUP);
        double start = gl_session__now(s);
        if (!s->backend->vtable->measure(s->backend, size, v->curve.in_place, warmup, iterations,
                                         pacer->times_s + pacer->count, s->err))
            return gl_session__backend_failed(s);
        gl_pacer_add(pacer, warmup, iterations, gl_session__now(s) - start);
        s->result->measuring_s += gl_session__now(s) - start;
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
static bool look_at_path(gl_session *s, visit *v, double size)
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

static const char *curve_name(const gl_session *s, const gl_curve *c)
{
    char groups[40] = "";
    if (c->placement.concurrent_groups > 1)
        snprintf(groups, sizeof groups, ", %d groups at once", c->placement.concurrent_groups);
    return gl_arena_printf(s->arena, "%s of %d ranks on %d node%s%s, %s",
                           gl_collective_name(c->collective), c->placement.ranks,
                           c->placement.nodes, c->placement.nodes == 1 ? "" : "s", groups,
                           c->in_place ? "in place" : "out of place");
}

static void count_wrong(gl_session *s, const gl_curve *curve, const gl_sample *sample)
{
    if (!(sample->wrong > 0))
        return;
    s->result->wrong_points++;
    gl_session__warn(s, gl_arena_printf(s->arena, "WRONG RESULTS: %s: %.0f elements at %.0f bytes",
                                        curve_name(s, curve), sample->wrong, sample->size_bytes));
}

static bool store_point(gl_session *s, visit *v, const gl_pacer *pacer, double size, double wrong)
{
    gl_statistics statistics;
    gl_sample sample = sample_of(pacer, &statistics, size, wrong);
    bool path_changed = look_at_path(s, v, size);
    if (!gl_recorder_add(&s->recorder, &v->curve, path_changed, &sample, s->err))
        return false;
    gl_sampler_add(&v->sampler, size, sample.time_median_s, gl_statistics_half_width(&statistics));
    v->last_busbw = gl_curve_busbw(&v->curve, &sample);
    count_wrong(s, &v->curve, &sample);
    s->result->points++;
    s->result->new_points++;
    return true;
}

static void note_around(gl_around *a, double size_bytes, double time_s, double check_s)
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
static double around_s(const gl_session *s, double size_bytes)
{
    const gl_around *a = &s->around;
    if (a->points == 0)
        return 0;
    double fixed_s = fmax(a->time_s - a->check_s_per_byte * a->bytes, 0) / a->points;
    return fixed_s + a->check_s_per_byte * size_bytes;
}

/* A point takes long enough that what is around it does not make up most of the run. */
static double least_s(const gl_session *s, double size)
{
    return fmin(MEASURING_SHARE * around_s(s, size), LEAST_MAX_S);
}

/* What a call of the size will cost, as far as known. */
static double expect_call(const gl_session *s, const visit *v, double size)
{
    double time_s = gl_sampler_expect(&v->sampler, size);
    if (!isnan(time_s))
        return time_s + v->extra_s;
    return s->extra_s > 0 ? s->extra_s : (double)NAN;
}

/* All curves need the memory, so none pays for it with its own share. */
static bool prepare(gl_session *s, visit *v, double size)
{
    double bytes = fmin(fmax(size, PREPARE_BYTES), v->largest), start = gl_session__now(s);
    if (s->backend->vtable->prepare == NULL)
        return true;
    if (!s->backend->vtable->prepare(s->backend, bytes, s->err))
        return gl_session__backend_failed(s);
    if (bytes <= s->ready_bytes)
        return true;
    double took_s = gl_session__now(s) - start;
    s->prepare_s_per_byte = took_s / (bytes - s->ready_bytes);
    s->prepare_s += took_s;
    s->ready_bytes = bytes;
    v->end_s = fmin(v->end_s + took_s, s->end_s);
    return true;
}

/* The largest size that memory can be made ready for in time. */
static double preparable(const gl_session *s)
{
    double left_s = PREPARE_SHARE * s->options->budget_s - s->prepare_s;
    if (!(s->prepare_s_per_byte > 0))
        return INFINITY;
    return s->ready_bytes + fmax(left_s, 0) / s->prepare_s_per_byte;
}

static bool measure_point(gl_session *s, visit *v, double size, double share_s)
{
    gl_pacer pacer;
    bool abandoned;
    double wrong;
    if (!prepare(s, v, size))
        return false;
    double start = gl_session__now(s);
    gl_pacer_begin(&pacer, s->times_s, s->options->precision, share_s, least_s(s, size),
                   expect_call(s, v, size));
    if (!measure_batches(s, v, size, &pacer, &abandoned))
        return false;
    if (abandoned)
        return true;
    double checking = gl_session__now(s);
    if (!s->backend->vtable->verify(s->backend, size, v->curve.in_place, &wrong, s->err))
        return gl_session__backend_failed(s);
    double check_s = gl_session__now(s) - checking;
    v->extra_s = s->extra_s = fmax(pacer.call_s - pacer.median_s, 0);
    bool stored = !gl_session__leads(s) || store_point(s, v, &pacer, size, wrong);
    note_around(&s->around, size, fmax(gl_session__now(s) - start - pacer.spent_s, 0), check_s);
    v->failed = !stored;
    return true;
}

/* ---- one curve ---- */

/* The largest size of which a point that gets `share_s` is worth what is around it. */
static double worthwhile(const gl_session *s, double share_s)
{
    double spare_s = share_s / (MEASURING_SHARE + 1) - around_s(s, 0);
    return spare_s < 0                      ? 0
           : s->around.check_s_per_byte > 0 ? spare_s / s->around.check_s_per_byte
                                            : (double)INFINITY;
}

/* Every fourth octave comes first: a session that is cut off, or too short, has covered the whole
 * range. Then come the others as far as they are worthwhile, or every second when time is too short
 * for all. */
static bool next_octave(const gl_session *s, const visit *v, double affordable, double left_s,
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
static double choose_size(const gl_session *s, const visit *v, double *share_s)
{
    double size, left_s = v->end_s - gl_session__now(s);
    *share_s = 0;
    if (gl_session__stopped(s) || left_s <= 0)
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

static void tell(const gl_session *s, const visit *v, double size)
{
    if (!gl_session__leads(s) || s->options->progress == NULL)
        return;
    const gl_session_progress progress = {.curve = &v->curve,
                                          .size_bytes = size,
                                          .busbw_bytes_per_s = v->last_busbw,
                                          .left_s = fmax(s->end_s - gl_session__now(s), 0),
                                          .curves_done = s->visits - s->visits_left,
                                          .curves = s->visits};
    s->options->progress(s->options->progress_context, &progress);
}

static bool measure_curve(gl_session *s, visit *v)
{
    v->end_s = gl_session__now(s) + (s->end_s - gl_session__now(s)) / s->visits_left;
    for (;;) {
        double share_s = 0,
               size = gl_session__leads(s) && !v->failed ? choose_size(s, v, &share_s) : 0;
        size = gl_session__agree(s, v->failed ? -(double)s->err->status : size);
        if (size == 0)
            return true;
        if (size < 0)
            return gl_session__stop_with(s, (gl_status)-size);
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
static void begin_sampler(gl_session *s, visit *v, double max_bytes)
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

static void begin_visit(gl_session *s, visit *v, const gl_grouping *grouping,
                        gl_collective collective, bool in_place, double max_bytes)
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
    if (!gl_session__leads(s))
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
static double largest_wanted(const gl_session *s, const visit *v)
{
    gl_sampler asked = v->sampler;
    asked.max_bytes = s->options->max_bytes;
    return gl_sampler_largest(&asked);
}

static void end_visit(gl_session *s, visit *v)
{
    char text[40];
    s->visits_left--;
    if (!gl_session__leads(s))
        return;
    size_t count = v->sampler.count;
    double reached = count > 0 ? v->sampler.points[count - 1].size_bytes : 0;
    s->result->curves += count > 0;
    bool all = v->sampler.fixed_count == 0 || count >= (size_t)v->sampler.fixed_count;
    if ((reached >= largest_wanted(s, v) && all) || gl_session__stopped(s))
        return;
    s->result->short_curves++;
    if (count == 0) {
        gl_session__warn_unmet(s, gl_arena_printf(s->arena,
                                                  "%s: not measured, the budget was too short",
                                                  curve_name(s, &v->curve)));
        return;
    }
    if (!all) {
        gl_session__warn_unmet(
            s, gl_arena_printf(s->arena, "%s: %d of the %d sizes on the list were not measured",
                               curve_name(s, &v->curve), v->sampler.fixed_count - (int)count,
                               v->sampler.fixed_count));
        return;
    }
    gl_session__warn_unmet(
        s, gl_arena_printf(s->arena, "%s: sizes above %s %s", curve_name(s, &v->curve),
                           gl_format_quantity(reached, GL_BYTES, text, sizeof text),
                           reached >= gl_sampler_largest(&v->sampler)
                               ? "do not fit (memory, or the counts of MPI)"
                               : "did not fit into the budget"));
}

/* ---- a grouping and a collective ---- */

int gl_session__variants_of(gl_collective collective)
{
    return collective == GL_ALLTOALL || collective == GL_SENDRECV ? 1 : 2;
}

static bool nothing_to_do(const gl_session *s, const visit *visits, int count)
{
    double size;
    for (int i = 0; i < count; i++)
        if (gl_sampler_next_octave(&visits[i].sampler, INFINITY, 1, &size) ||
            gl_sampler_next_between(&visits[i].sampler, INFINITY, &size))
            return gl_session__stopped(s);
    return true;
}

static bool measure_joined(gl_session *s, visit *visits, int count)
{
    for (int i = 0; i < count; i++) {
        if (!measure_curve(s, &visits[i]))
            return false;
        end_visit(s, &visits[i]);
    }
    return true;
}

bool gl_session__measure_collective(gl_session *s, const gl_grouping *grouping,
                                    gl_collective collective)
{
    const gl_backend_vtable *backend = s->backend->vtable;
    visit visits[2];
    int count = gl_session__variants_of(collective);
    double memory = backend->max_size_bytes(s->backend, s->dtype);
    double max_bytes = gl_session__agree(s, fmin(s->options->max_bytes, memory));
    for (int i = 0; i < count; i++)
        begin_visit(s, &visits[i], grouping, collective, i == 1, max_bytes);
    if (gl_session__agree(s, gl_session__leads(s) && nothing_to_do(s, visits, count)) != 0) {
        for (int i = 0; i < count; i++)
            end_visit(s, &visits[i]);
        return true;
    }
    assert(count > 0); /* gl_session__variants_of() knows one at least */
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
