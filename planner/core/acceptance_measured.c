/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured of each message, and the plan's cluster with it in place. */
#include "planner/core/acceptance_parts.h"

#include "planner/core/stage_plans.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Sizes that differ by less are one: messages are whole elements for each rank. */
static const double SAME_SIZE_FRAC = 0.01;

static const gl_run *run_of(const gl_delivered *d, const gl_curve *curve)
{
    return gl_run_find(d->runs, d->run_count, curve->run_id);
}

/* Negative when `a` is to be preferred: complete runs, then newer ones, then the way that training
 * works (in place or not), then BF16. */
static int compare_merit(const gl_delivered *d, const gl_curve *a, const gl_curve *b)
{
    const gl_run *x = run_of(d, a), *y = run_of(d, b);
    assert(x != NULL && y != NULL); /* measures() has asked */
    int by = (y->state == GL_RUN_COMPLETE) - (x->state == GL_RUN_COMPLETE);
    by = by != 0 ? by : strcmp(gl_run_taken_at(y), gl_run_taken_at(x));
    by = by != 0 ? by : (x->id < y->id) - (x->id > y->id);
    bool in_place = gl_trains_in_place(a->collective);
    by = by != 0 ? by : (b->in_place == in_place) - (a->in_place == in_place);
    by = by != 0 ? by : (b->dtype == GL_BF16) - (a->dtype == GL_BF16);
    return by != 0 ? by : (a->id > b->id) - (a->id < b->id);
}

static bool measures(const gl_delivered *d, const gl_curve *curve, gl_collective collective,
                     const gl_placement *placement)
{
    return curve->collective == collective && curve->sample_count > 0 &&
           gl_placement_equal(&curve->placement, placement) && !gl_dtype_is_integer(curve->dtype) &&
           run_of(d, curve) != NULL;
}

static bool same_size(double a, double b)
{
    return fabs(a / b - 1) <= SAME_SIZE_FRAC;
}

static const gl_sample *sample_at(const gl_curve *curve, double size_bytes)
{
    for (size_t i = 0; curve != NULL && i < curve->sample_count; i++)
        if (same_size(curve->samples[i].size_bytes, size_bytes))
            return &curve->samples[i];
    return NULL;
}

/* The time of one call by one curve; false when its sizes do not reach there. A curve of one size
 * has no fit: the sample itself. */
static bool read_place(const gl_judge *j, const gl_curve *curve, double size_bytes,
                       gl_curve_time *time)
{
    const gl_sample *sample = sample_at(curve, size_bytes);
    gl_curve_fit fit;
    gl_error err;
    if (!gl_curve_fit_build(curve, NULL, j->arena, &fit, &err)) {
        if (sample != NULL)
            *time =
                (gl_curve_time){.time_s = sample->time_median_s, .evidence = GL_EVIDENCE_MEASURED};
        return sample != NULL;
    }
    *time = gl_curve_eval(&fit, size_bytes);
    if (sample != NULL) {
        time->evidence = GL_EVIDENCE_MEASURED;
        time->error_frac = fit.quality.noise_frac;
    }
    return time->evidence == GL_EVIDENCE_MEASURED || time->evidence == GL_EVIDENCE_INTERPOLATED;
}

/* What a run says of a message. In place and out of it are two measurements of one path: the slower
 * counts, for a fast one beside it does not mend the path. */
typedef struct reading {
    gl_curve_time time;
    double fastest_s;
    const gl_curve *slow; /* whose time it is */
    bool has_twin;
} reading;

static bool read_curve(const gl_judge *j, const gl_curve *curve, double size_bytes, reading *out)
{
    const gl_curve *twin = gl_curve_twin(j->delivered->curves, j->delivered->curve_count, curve);
    gl_curve_time other;
    if (!read_place(j, curve, size_bytes, &out->time))
        return false;
    out->slow = curve;
    out->fastest_s = out->time.time_s;
    out->has_twin = twin != NULL && read_place(j, twin, size_bytes, &other);
    if (!out->has_twin)
        return true;
    out->fastest_s = fmin(out->time.time_s, other.time_s);
    if (other.time_s > out->time.time_s) {
        out->time = other;
        out->slow = twin;
    }
    return true;
}

/* What is known of the samples on which the reading rests. */
static void look_at_samples(const gl_judge *j, gl_acceptance_test *test)
{
    const gl_curve *curves[] = {
        test->curve, gl_curve_twin(j->delivered->curves, j->delivered->curve_count, test->curve)};
    double size = (double)test->size_bytes;
    const bool other = curves[1] != NULL && test->is_slow_in_place != test->curve->in_place;
    const gl_sample *exact = sample_at(curves[other], size);
    test->measured_p95_s = exact != NULL ? exact->time_p95_s : (double)NAN;
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; curves[k] != NULL && i < curves[k]->sample_count; i++) {
            const gl_sample *s = &curves[k]->samples[i];
            bool near = exact != NULL ? same_size(s->size_bytes, size)
                                      : s->size_bytes >= size / 2 && s->size_bytes <= size * 2;
            if (!isnan(s->wrong))
                test->wrong = fmax(isnan(test->wrong) ? 0 : test->wrong, s->wrong);
            if (near && s->iterations > 0 &&
                (test->iterations == 0 || s->iterations < test->iterations))
                test->iterations = s->iterations;
        }
    }
}

/* The same figures at all sizes that two curves share, to the rounding of a text (two digits of a
 * microsecond, six in all): one measurement that is there twice. */
static bool is_copy(const gl_curve *a, const gl_curve *b)
{
    size_t shared = 0;
    for (size_t i = 0, k = 0; i < a->sample_count && k < b->sample_count;) {
        const gl_sample *x = &a->samples[i], *y = &b->samples[k];
        i += x->size_bytes <= y->size_bytes;
        k += y->size_bytes <= x->size_bytes;
        if (x->size_bytes != y->size_bytes)
            continue;
        if (fabs(x->time_median_s - y->time_median_s) > fmax(5.001e-9, 5e-6 * x->time_median_s))
            return false;
        shared++;
    }
    return shared > 0;
}

static bool is_copy_of_any(const gl_curve *curve, const gl_curve *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (known[i] != NULL && is_copy(curve, known[i]))
            return true;
    return false;
}

/* How other complete runs read the same. */
static void look_at_repeats(const gl_judge *j, gl_acceptance_test *test)
{
    const gl_delivered *d = j->delivered;
    const gl_curve **known = GL_ARENA_NEW(j->arena, const gl_curve *, d->run_count + 2);
    size_t known_count = 2;
    known[0] = test->curve;
    known[1] = gl_curve_twin(d->curves, d->curve_count, test->curve);
    test->repeats = test->run->state == GL_RUN_COMPLETE;
    for (size_t r = 0; r < d->run_count; r++) {
        const gl_run *run = &d->runs[r];
        reading read;
        const gl_curve *best = NULL;
        for (size_t i = 0; i < d->curve_count; i++) {
            const gl_curve *c = &d->curves[i];
            if (c->run_id == run->id && measures(d, c, test->collective, &test->placement) &&
                c->transport == test->curve->transport &&
                (best == NULL || compare_merit(d, c, best) < 0))
                best = c;
        }
        if (run == test->run || run->state != GL_RUN_COMPLETE || best == NULL ||
            !read_curve(j, best, (double)test->size_bytes, &read))
            continue;
        if (is_copy_of_any(best, known, known_count)) {
            test->copies++;
            continue;
        }
        known[known_count++] = best;
        double off = fabs(read.time.time_s / test->measured_s - 1);
        test->repeats++;
        test->repeat_frac = fmax(isnan(test->repeat_frac) ? 0 : test->repeat_frac, off);
    }
}

/* Of one run the very size wins over its neighbours, whatever the type. */
static bool is_better(const gl_judge *j, const gl_acceptance_test *test, const gl_curve *curve,
                      const gl_curve_time *time)
{
    if (test->curve == NULL)
        return true;
    if (curve->run_id == test->curve->run_id && time->evidence != test->measured_evidence)
        return time->evidence < test->measured_evidence;
    return compare_merit(j->delivered, curve, test->curve) < 0;
}

/* The best curve that reaches the size; otherwise *near is one that does not. */
static void find_measured(const gl_judge *j, gl_acceptance_test *test,
                          const gl_placement *placement, const gl_curve **near)
{
    const gl_delivered *d = j->delivered;
    for (size_t i = 0; i < d->curve_count; i++) {
        const gl_curve *curve = &d->curves[i];
        reading read;
        if (!measures(d, curve, test->collective, placement))
            continue;
        if (!read_curve(j, curve, (double)test->size_bytes, &read)) {
            *near = curve;
            continue;
        }
        if (!is_better(j, test, curve, &read.time))
            continue;
        test->curve = curve;
        test->run = run_of(d, curve);
        test->has_twin = read.has_twin;
        test->is_slow_in_place = read.slow->in_place;
        test->fastest_s = read.fastest_s;
        test->measured_s = read.time.time_s;
        test->measured_error_frac = read.time.error_frac;
        test->measured_evidence = read.time.evidence;
    }
}

/* Groups side by side do not share an NVLink switch: one alone tells of all. */
static bool find_alone(const gl_judge *j, gl_acceptance_test *test, const gl_curve **near)
{
    gl_placement alone = test->placement;
    alone.concurrent_groups = 1;
    if (alone.nodes > 1 || test->placement.concurrent_groups < 2 ||
        test->planned_transport != GL_TRANSPORT_NVLINK)
        return false;
    find_measured(j, test, &alone, near);
    return test->curve != NULL;
}

bool gl_acceptance__measure(const gl_judge *j, gl_acceptance_test *test, const gl_curve **near)
{
    *near = NULL;
    find_measured(j, test, &test->placement, near);
    test->is_alone = test->curve == NULL && find_alone(j, test, near);
    if (test->curve == NULL)
        return false;
    look_at_samples(j, test);
    look_at_repeats(j, test);
    return true;
}

/* ---- the plan once more ---- */

static size_t usable_samples(const gl_curve *curve)
{
    size_t count = 0;
    for (size_t i = 0; i < curve->sample_count; i++)
        count += curve->samples[i].wrong > 0 ? 0 : 1;
    return count;
}

/* Was it judged, or is it the other place (out or in) of one that was? Where tests of one placement
 * took several curves, the best of them alone. */
static bool is_chosen(const gl_acceptance *a, const gl_curve *curve)
{
    const gl_delivered *d = a->delivered;
    const gl_curve *best = NULL;
    for (size_t i = 0; i < a->test_count; i++) {
        const gl_curve *c = a->tests[i].curve;
        if (c != NULL && c->collective == curve->collective &&
            gl_placement_equal(&c->placement, &curve->placement) && usable_samples(c) >= 2 &&
            (best == NULL || compare_merit(d, c, best) < 0))
            best = c;
    }
    return best != NULL && curve->run_id == best->run_id && curve->dtype == best->dtype &&
           usable_samples(curve) >= 2;
}

/* In a node, groups side by side are measured by one alone, too. */
static bool is_replaced(const gl_acceptance *a, const gl_curve *planned)
{
    for (size_t i = 0; i < a->delivered->curve_count; i++) {
        const gl_curve *curve = &a->delivered->curves[i];
        gl_placement there = planned->placement;
        if (there.nodes == 1)
            there.concurrent_groups = curve->placement.concurrent_groups;
        if (curve->collective == planned->collective &&
            gl_placement_equal(&curve->placement, &there) && is_chosen(a, curve))
            return true;
    }
    return false;
}

static void replace_curves(const gl_acceptance *a, bool across, gl_arena *arena, gl_tier *tier)
{
    const gl_delivered *d = a->delivered;
    gl_curve *curves = GL_ARENA_NEW(arena, gl_curve, d->curve_count + tier->curve_count);
    size_t count = 0;
    for (size_t i = 0; i < d->curve_count; i++)
        if ((d->curves[i].placement.nodes > 1) == across && is_chosen(a, &d->curves[i]))
            curves[count++] = d->curves[i];
    if (count == 0)
        return;
    for (size_t i = 0; i < tier->curve_count; i++)
        if (!is_replaced(a, &tier->curves[i]))
            curves[count++] = tier->curves[i];
    tier->curves = curves;
    tier->curve_count = count;
    tier->calibration = d->name;
}

void gl_acceptance_cluster(const gl_acceptance *acceptance, gl_arena *arena, gl_cluster *out)
{
    const gl_delivered *d = acceptance->delivered;
    *out = *acceptance->plan->cluster;
    replace_curves(acceptance, false, arena, &out->intra);
    replace_curves(acceptance, true, arena, &out->inter);
    if (d->compute_count > 0) {
        out->compute = d->compute;
        out->compute_count = d->compute_count;
    }
    if (d->overlap_count > 0) {
        out->overlap = d->overlap;
        out->overlap_count = d->overlap_count;
    }
}
