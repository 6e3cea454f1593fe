/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/acceptance.h"

#include "planner/core/stage_plans.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A time that is over the limit fails unless it cannot matter: a step loses less than this share
 * of itself by it, even if nothing hides it … */
static const double IMMATERIAL_FRAC = 1e-3;
/* … and it is no more than this times what was planned: beyond it, the path is another one. */
static const double OTHER_PATH_RATIO = 2.0;
/* Sizes that differ by less are one: messages are whole elements for each rank. */
static const double SAME_SIZE_FRAC = 0.01;
/* With fewer calls the 95 % interval of a median is wider than their range (statistics.h). */
enum { ENOUGH_ITERATIONS = 6 };
/* A 95th percentile this far above the median is a disturbed measurement. */
static const double STEADY_RATIO = 2.0;

const char *gl_acceptance_verdict_name(gl_acceptance_verdict verdict)
{
    static const char *const names[] = {[GL_ACCEPTANCE_PASS] = "pass",
                                        [GL_ACCEPTANCE_WARN] = "warn",
                                        [GL_ACCEPTANCE_MISSING] = "missing",
                                        [GL_ACCEPTANCE_FAIL] = "fail",
                                        [GL_ACCEPTANCE_UNKNOWN] = "unknown"};
    return names[verdict];
}

typedef struct judge {
    gl_acceptance *out;
    const gl_plan *plan;
    const gl_delivered *delivered;
    const gl_network *links; /* the cluster's links alone, without what was measured */
    gl_arena *arena;
    size_t capacity; /* of out->tests */
} judge;

/* ---- the tests ---- */

static bool is_about_gradients(const gl_traffic_row *row)
{
    return row->phase != GL_PHASE_FORWARD && strstr(row->operation, "gradient") != NULL;
}

/* The wire sees bytes; what reduces them sees elements. */
static gl_dtype dtype_of(const gl_workload *workload, const gl_traffic_row *row)
{
    const gl_precision *p = &workload->precision;
    switch (row->dimension) {
    case GL_TRAFFIC_OPTIMIZER:
        return GL_FP32;
    case GL_TRAFFIC_DP:
    case GL_TRAFFIC_EMBEDDING:
        return is_about_gradients(row) ? p->gradients : p->compute;
    case GL_TRAFFIC_EP:
        return p->compute;
    default:
        return gl_activation_type(p);
    }
}

static gl_acceptance_test *find_test(const gl_acceptance *out, const gl_traffic_row *row)
{
    for (size_t i = 0; i < out->test_count; i++) {
        gl_acceptance_test *test = &out->tests[i];
        if (test->collective == row->collective && test->size_bytes == row->size_bytes &&
            gl_placement_equal(&test->placement, &row->placement))
            return test;
    }
    return NULL;
}

/* The same link serves all messages of a tier, so the factor between what is there and what is
 * needed is the tier's. */
static double needed_time(const gl_plan *plan, const gl_network_time *call)
{
    const gl_bandwidth_need *need = &plan->needs[gl_slower_tier(call)];
    return call->time_s * need->available_bytes_per_s / need->required_bytes_per_s;
}

/* The link that a transport is on the planned machine: the one that the plan names, if it is of
 * that kind. */
static const gl_expected_link *link_over(const judge *j, const gl_placement *p,
                                         gl_transport transport)
{
    const gl_acceptance_yardstick *y = &j->out->yardstick;
    const gl_link *planned = p->nodes > 1 ? y->inter : y->intra;
    double stated = j->plan->cluster->nic_bw_bytes_per_s;
    if (planned == NULL || planned->transport != transport)
        return gl_expected_link_of(y->expected, y->gpu, transport, stated);
    const gl_expected_link *named = gl_expected_find_link(y->expected, planned->name);
    return named != NULL
               ? named
               : gl_expected_link_of(y->expected, y->gpu, transport, planned->bw_bytes_per_s.value);
}

/* What a test's message may be expected to reach over a link, on the planned GPU and NICs. */
static gl_expectation expect(const judge *j, const gl_acceptance_test *test,
                             const gl_expected_link *link)
{
    const gl_acceptance_yardstick *y = &j->out->yardstick;
    gl_curve curve = {.algorithm = "", .protocol = ""};
    if (test->curve != NULL)
        curve = *test->curve;
    curve.collective = test->collective;
    curve.placement = test->placement;
    if (curve.nics < 1)
        curve.nics = j->plan->cluster->nics_per_node;
    return gl_expected_of_curve(y->expected, &curve, link, y->gpu, test->run);
}

/* The three figures of the planned link. */
static void fill_expected(const judge *j, gl_acceptance_test *test)
{
    const gl_expected_link *link = link_over(j, &test->placement, test->planned_transport);
    test->expected = expect(j, test, link);
    test->link_name = link != NULL ? link->name : "";
}

static void fill_link(const judge *j, gl_acceptance_test *test)
{
    const gl_network_query query = {.collective = test->collective,
                                    .placement = test->placement,
                                    .size_bytes = (double)test->size_bytes,
                                    .in_place = gl_trains_in_place(test->collective),
                                    .figures_only = true};
    gl_network_time time;
    gl_error err;
    test->link_s = test->link_p90_s = (double)NAN;
    if (!gl_network_eval(j->links, &query, j->arena, &time, &err))
        return;
    test->link_s = time.time_s;
    test->link_p90_s = time.time_s * exp(GL_P90_OF_SIGMA * time.error_frac);
}

static void add_test(judge *j, const gl_traffic_row *row, const gl_network_time *call)
{
    gl_acceptance *out = j->out;
    out->tests =
        gl_arena_grow(j->arena, out->tests, &j->capacity, out->test_count + 1, sizeof *out->tests);
    gl_acceptance_test *test = &out->tests[out->test_count++];
    *test = (gl_acceptance_test){.dimension = row->dimension,
                                 .operation = row->operation,
                                 .collective = row->collective,
                                 .dtype = dtype_of(j->plan->workload, row),
                                 .placement = row->placement,
                                 .tier = (gl_tier_kind)gl_slower_tier(call),
                                 .size_bytes = row->size_bytes,
                                 .load_factor = row->load_factor,
                                 .planned_s = call->time_s,
                                 .limit_s = call->time_s * (1 + out->tolerance_frac),
                                 .needed_s = needed_time(j->plan, call),
                                 .planned_evidence = call->evidence,
                                 .planned_transport = call->transport,
                                 .measured_s = (double)NAN,
                                 .measured_error_frac = (double)NAN,
                                 .fastest_s = (double)NAN,
                                 .measured_p95_s = (double)NAN,
                                 .wrong = (double)NAN,
                                 .repeat_frac = (double)NAN,
                                 .cost_s = (double)NAN,
                                 .link_cost_s = (double)NAN,
                                 .plan = GL_ACCEPTANCE_UNKNOWN,
                                 .need = GL_ACCEPTANCE_UNKNOWN,
                                 .link = GL_ACCEPTANCE_UNKNOWN,
                                 .verdict = GL_ACCEPTANCE_MISSING,
                                 .reason = ""};
    fill_link(j, test);
    fill_expected(j, test);
}

/* Rows of one stage with the same message add up; of several stages the busiest counts. */
static void add_stage(judge *j, const gl_stage_plan *sp)
{
    const gl_traffic *traffic = &sp->traffic;
    for (size_t i = 0; i < traffic->row_count; i++)
        if (traffic->rows[i].placement.ranks > 1 && traffic->rows[i].calls_per_step > 0 &&
            find_test(j->out, &traffic->rows[i]) == NULL)
            add_test(j, &traffic->rows[i], &sp->times[i]);
    int64_t *calls = GL_ARENA_NEW(j->arena, int64_t, j->out->test_count);
    for (size_t i = 0; i < traffic->row_count; i++) {
        const gl_acceptance_test *test = find_test(j->out, &traffic->rows[i]);
        if (test != NULL)
            calls[test - j->out->tests] += traffic->rows[i].calls_per_step;
    }
    for (size_t t = 0; t < j->out->test_count; t++)
        if (calls[t] > j->out->tests[t].calls_per_step)
            j->out->tests[t].calls_per_step = calls[t];
}

static bool same_curve(const gl_acceptance_test *a, const gl_acceptance_test *b)
{
    return a->collective == b->collective && gl_placement_equal(&a->placement, &b->placement);
}

/* One type for a curve, that of its largest message: the four bytes of a gradient norm would
 * otherwise be a curve of their own, and tell nothing of the others. */
static void unify_types(gl_acceptance *out)
{
    for (size_t i = 0; i < out->test_count; i++) {
        const gl_acceptance_test *largest = &out->tests[i];
        for (size_t k = 0; k < out->test_count; k++)
            if (same_curve(&out->tests[i], &out->tests[k]) &&
                out->tests[k].size_bytes > largest->size_bytes)
                largest = &out->tests[k];
        out->tests[i].dtype = largest->dtype;
    }
}

static void list_tests(judge *j)
{
    for (int stage = 0; stage < j->plan->workload->parallel.pp; stage++)
        add_stage(j, &j->plan->stage_plans[stage]);
    unify_types(j->out);
}

/* ---- what was measured ---- */

static const gl_run *run_of(const gl_delivered *d, const gl_curve *curve)
{
    for (size_t i = 0; i < d->run_count; i++)
        if (d->runs[i].id == curve->run_id)
            return &d->runs[i];
    return NULL;
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

/* The same calls in the other place, in or out. */
static const gl_curve *twin_of(const gl_delivered *d, const gl_curve *curve)
{
    for (size_t i = 0; i < d->curve_count; i++) {
        const gl_curve *c = &d->curves[i];
        if (c->run_id == curve->run_id && c->collective == curve->collective &&
            c->dtype == curve->dtype && c->in_place != curve->in_place && c->root == curve->root &&
            strcmp(c->redop, curve->redop) == 0 &&
            gl_placement_equal(&c->placement, &curve->placement))
            return c;
    }
    return NULL;
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
static bool read_place(const judge *j, const gl_curve *curve, double size_bytes,
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

static bool read_curve(const judge *j, const gl_curve *curve, double size_bytes, reading *out)
{
    const gl_curve *twin = twin_of(j->delivered, curve);
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
static void look_at_samples(const judge *j, gl_acceptance_test *test)
{
    const gl_curve *curves[] = {test->curve, twin_of(j->delivered, test->curve)};
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
static void look_at_repeats(const judge *j, gl_acceptance_test *test)
{
    const gl_delivered *d = j->delivered;
    const gl_curve **known = GL_ARENA_NEW(j->arena, const gl_curve *, d->run_count + 2);
    size_t known_count = 2;
    known[0] = test->curve;
    known[1] = twin_of(d, test->curve);
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
static bool is_better(const judge *j, const gl_acceptance_test *test, const gl_curve *curve,
                      const gl_curve_time *time)
{
    if (test->curve == NULL)
        return true;
    if (curve->run_id == test->curve->run_id && time->evidence != test->measured_evidence)
        return time->evidence < test->measured_evidence;
    return compare_merit(j->delivered, curve, test->curve) < 0;
}

/* The best curve that reaches the size; otherwise *near is one that does not. */
static void find_measured(const judge *j, gl_acceptance_test *test, const gl_placement *placement,
                          const gl_curve **near)
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

/* ---- judging ---- */

static void say(const judge *j, gl_acceptance_test *test, gl_acceptance_verdict verdict,
                const char *words)
{
    test->verdict = verdict > test->verdict ? verdict : test->verdict;
    test->reason =
        gl_arena_printf(j->arena, "%s%s%s", test->reason, test->reason[0] ? "; " : "", words);
}

static double percent_over(double time_s, double reference_s)
{
    return 100 * (time_s / reference_s - 1);
}

/* Messages of one link share one allowance: what is wrong with the link costs all of them. */
static bool is_immaterial(const judge *j, const gl_acceptance_test *test)
{
    return test->link_cost_s <= IMMATERIAL_FRAC * j->plan->step.time_s &&
           test->measured_s <= OTHER_PATH_RATIO * test->planned_s;
}

/* Where the two places differ by more than is tolerated, which one was slow. */
static const char *slow_place(const judge *j, const gl_acceptance_test *test)
{
    if (!test->has_twin || test->measured_s <= test->fastest_s * (1 + j->out->tolerance_frac))
        return "";
    return test->is_slow_in_place ? " (in place)" : " (out of place)";
}

static void compare_with_plan(const judge *j, gl_acceptance_test *test)
{
    test->plan = test->measured_s <= test->limit_s ? GL_ACCEPTANCE_PASS : GL_ACCEPTANCE_FAIL;
    if (test->plan == GL_ACCEPTANCE_PASS)
        return;
    double over = percent_over(test->measured_s, test->planned_s);
    if (is_immaterial(j, test)) {
        test->plan = GL_ACCEPTANCE_WARN;
        say(j, test, test->plan,
            gl_arena_printf(j->arena,
                            "%.0f %% slower than planned%s, which costs %.2g us of a step", over,
                            slow_place(j, test), 1e6 * test->cost_s));
    } else if (test->measured_evidence == GL_EVIDENCE_INTERPOLATED &&
               test->measured_s / (1 + test->measured_error_frac) <= test->limit_s) {
        test->plan = GL_ACCEPTANCE_WARN;
        say(j, test, test->plan,
            gl_arena_printf(j->arena,
                            "%.0f %% slower than planned%s by sizes beside it, which may be off by "
                            "%.0f %%: measure this size",
                            over, slow_place(j, test), 100 * test->measured_error_frac));
    } else {
        say(j, test, GL_ACCEPTANCE_FAIL,
            gl_arena_printf(j->arena, "%.0f %% slower than planned%s", over, slow_place(j, test)));
    }
}

/* More than a link can carry was not measured over it. */
static void compare_with_line(const judge *j, gl_acceptance_test *test)
{
    gl_transport over = test->curve->transport;
    if (over == GL_TRANSPORT_UNKNOWN) /* then the fastest that this GPU has */
        over = test->placement.nodes > 1 ? test->planned_transport : GL_TRANSPORT_NVLINK;
    gl_expectation e = expect(j, test, link_over(j, &test->placement, over));
    double busbw = gl_acceptance_busbw(test, test->fastest_s);
    if (gl_expected_is_above(&e, busbw))
        say(j, test, GL_ACCEPTANCE_FAIL,
            gl_arena_printf(j->arena, "%.3g GB/s is above the link's rate, %.3g: measured wrongly",
                            busbw / 1e9, e.limit / 1e9));
    else if (test->fastest_s * OTHER_PATH_RATIO < test->planned_s &&
             !gl_transport_is_faster(test->curve->transport, test->planned_transport))
        say(j, test, GL_ACCEPTANCE_WARN,
            gl_arena_printf(j->arena, "%.3g times as fast as planned: is it the same message?",
                            test->planned_s / test->fastest_s));
}

/* A plan that misses its own target was bought like that. */
static void compare_with_need(const judge *j, gl_acceptance_test *test)
{
    if (isnan(test->needed_s))
        return;
    test->need = test->measured_s <= test->needed_s ? GL_ACCEPTANCE_PASS : GL_ACCEPTANCE_FAIL;
    if (test->need == GL_ACCEPTANCE_PASS || test->planned_s > test->needed_s ||
        is_immaterial(j, test))
        return;
    say(j, test, GL_ACCEPTANCE_FAIL, "too slow for the plan's target");
}

static void compare_with_link(const judge *j, gl_acceptance_test *test)
{
    if (isnan(test->link_s))
        return;
    double limit_s = fmax(test->link_p90_s, test->link_s * (1 + j->out->tolerance_frac));
    test->link = test->measured_s <= limit_s ? GL_ACCEPTANCE_PASS : GL_ACCEPTANCE_FAIL;
    gl_transport over = test->curve->transport;
    bool same = over == test->planned_transport || over == GL_TRANSPORT_UNKNOWN;
    if (test->link == GL_ACCEPTANCE_FAIL && same) /* else another link is what is wrong */
        say(j, test, GL_ACCEPTANCE_WARN,
            gl_arena_printf(j->arena, "%.0f %% slower than this link typically is",
                            percent_over(test->measured_s, test->link_s)));
}

static void check_transport(const judge *j, gl_acceptance_test *test)
{
    gl_transport is = test->curve->transport, planned = test->planned_transport;
    if (planned == GL_TRANSPORT_UNKNOWN || is == planned)
        return;
    if (is == GL_TRANSPORT_UNKNOWN)
        say(j, test, GL_ACCEPTANCE_WARN,
            gl_arena_printf(j->arena, "nothing says that it went over %s",
                            gl_transport_name(planned)));
    else
        say(j, test, gl_transport_is_faster(is, planned) ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_FAIL,
            gl_arena_printf(j->arena, "over %s instead of %s", gl_transport_name(is),
                            gl_transport_name(planned)));
}

static void check_quality(const judge *j, gl_acceptance_test *test)
{
    if (test->wrong > 0)
        say(j, test, GL_ACCEPTANCE_FAIL,
            gl_arena_printf(j->arena, "WRONG RESULTS: %.0f elements", test->wrong));
    if (test->iterations > 0 && test->iterations < ENOUGH_ITERATIONS)
        say(j, test, GL_ACCEPTANCE_WARN,
            gl_arena_printf(j->arena, "few calls: %d", test->iterations));
    if (test->run->state != GL_RUN_COMPLETE)
        say(j, test, GL_ACCEPTANCE_WARN, "its run did not end well");
    if (test->measured_p95_s > STEADY_RATIO * test->measured_s)
        say(j, test, GL_ACCEPTANCE_WARN,
            gl_arena_printf(j->arena, "unsteady: one call in twenty takes %.1f times the median",
                            test->measured_p95_s / test->measured_s));
    if (test->repeat_frac > j->out->tolerance_frac)
        say(j, test, GL_ACCEPTANCE_WARN,
            gl_arena_printf(j->arena, "another run differs by %.0f %%", 100 * test->repeat_frac));
}

/* Groups side by side do not share an NVLink switch: one alone tells of all. */
static bool find_alone(const judge *j, gl_acceptance_test *test, const gl_curve **near)
{
    gl_placement alone = test->placement;
    alone.concurrent_groups = 1;
    if (alone.nodes > 1 || test->placement.concurrent_groups < 2 ||
        test->planned_transport != GL_TRANSPORT_NVLINK)
        return false;
    find_measured(j, test, &alone, near);
    return test->curve != NULL;
}

static const char *missing_words(const judge *j, const gl_curve *near)
{
    if (near == NULL)
        return "not measured";
    return gl_arena_printf(j->arena, "not measured: curve %lld holds %.0f to %.0f B",
                           (long long)near->id, near->samples[0].size_bytes,
                           near->samples[near->sample_count - 1].size_bytes);
}

/* What was measured, before any of it is judged. */
static void measure_test(const judge *j, gl_acceptance_test *test)
{
    const gl_curve *near = NULL;
    find_measured(j, test, &test->placement, &near);
    test->is_alone = test->curve == NULL && find_alone(j, test, &near);
    if (test->curve == NULL) {
        say(j, test, GL_ACCEPTANCE_MISSING, missing_words(j, near));
        return;
    }
    test->verdict = GL_ACCEPTANCE_PASS;
    fill_expected(j, test); /* its run says whether the switch may add up */
    look_at_samples(j, test);
    look_at_repeats(j, test);
    test->cost_s = (double)test->calls_per_step * test->load_factor *
                   fmax(test->measured_s - test->planned_s, 0);
}

/* What a message that is over its limit costs together with those of its link that cost less: the
 * cheapest ones use up the allowance first. */
static void add_up_costs(const judge *j)
{
    gl_acceptance *out = j->out;
    for (size_t i = 0; i < out->test_count; i++) {
        gl_acceptance_test *test = &out->tests[i];
        if (test->curve == NULL)
            continue;
        test->link_cost_s = test->cost_s;
        for (size_t k = 0; k < out->test_count; k++) {
            const gl_acceptance_test *other = &out->tests[k];
            bool before = other->cost_s < test->cost_s || (other->cost_s <= test->cost_s && k < i);
            if (k != i && other->tier == test->tier && other->measured_s > other->limit_s && before)
                test->link_cost_s += other->cost_s;
        }
    }
}

static void judge_test(const judge *j, gl_acceptance_test *test)
{
    if (test->curve == NULL)
        return;
    check_transport(j, test);
    compare_with_plan(j, test);
    compare_with_need(j, test);
    compare_with_link(j, test);
    compare_with_line(j, test);
    check_quality(j, test);
    if (test->is_alone)
        say(j, test, GL_ACCEPTANCE_WARN,
            gl_arena_printf(j->arena, "one group alone, where training has %d at once",
                            test->placement.concurrent_groups));
}

/* ---- the measurements as a whole ---- */

static void add_check(const judge *j, const char *name, gl_acceptance_verdict verdict,
                      const char *found)
{
    gl_acceptance *out = j->out;
    out->checks[out->check_count++] = (gl_acceptance_check){name, verdict, found};
}

/* The whole file counts: a machine that computes wrongly anywhere is broken. */
static void check_results(const judge *j)
{
    const gl_delivered *d = j->delivered;
    size_t points = 0, wrong = 0, unchecked = 0;
    for (size_t i = 0; i < d->curve_count; i++)
        for (size_t k = 0; k < d->curves[i].sample_count; k++) {
            const gl_sample *s = &d->curves[i].samples[k];
            points++;
            wrong += s->wrong > 0 ? 1 : 0;
            unchecked += isnan(s->wrong) ? 1 : 0;
        }
    add_check(j, "results",
              wrong > 0       ? GL_ACCEPTANCE_FAIL
              : unchecked > 0 ? GL_ACCEPTANCE_WARN
                              : GL_ACCEPTANCE_PASS,
              gl_arena_printf(j->arena, "%zu points, %zu of them wrong, %zu not checked", points,
                              wrong, unchecked));
}

static void check_runs(const judge *j)
{
    const gl_delivered *d = j->delivered;
    size_t unfinished = 0;
    for (size_t i = 0; i < d->run_count; i++)
        unfinished += d->runs[i].state == GL_RUN_COMPLETE ? 0 : 1;
    add_check(
        j, "runs", unfinished > 0 ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
        gl_arena_printf(j->arena, "%zu, of which %zu did not end well", d->run_count, unfinished));
}

static void check_repetition(const judge *j)
{
    size_t measured = 0, single = 0;
    bool copies = false;
    for (size_t i = 0; i < j->out->test_count; i++) {
        const gl_acceptance_test *test = &j->out->tests[i];
        if (test->curve == NULL)
            continue;
        measured++;
        if (test->repeats < 2)
            single++;
        copies = copies || (test->repeats < 2 && test->copies > 0);
    }
    if (measured == 0)
        return;
    add_check(j, "repetition", single > 0 ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
              single > 0
                  ? gl_arena_printf(
                        j->arena, "%zu of %zu tests rest on a single run%s: measure them once more",
                        single, measured,
                        copies ? " (the same figures once more are no second one)" : "")
                  : "every test was measured in two runs or more");
}

static bool is_named(const gl_gpu *gpu, const char *name)
{
    bool found = gl_expected_same_name(gpu->name, name) || gl_expected_same_name(gpu->title, name);
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++)
        found = found || gl_expected_same_name(gpu->aliases[i], name);
    return found;
}

/* "80GB" in a name: 80; 0: it says nothing. */
static long memory_in_name(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        char *end;
        long number = isdigit((unsigned char)*c) ? strtol(c, &end, 10) : 0;
        if (number > 0 && strncasecmp(end + (*end == ' '), "GB", 2) == 0)
            return number;
        while (isdigit((unsigned char)c[0]) && isdigit((unsigned char)c[1]))
            c++;
    }
    return 0;
}

/* A name is another GPU's only where it is known to be: whoever typed it may have meant ours. */
static bool is_another(const judge *j, const char *name)
{
    const gl_acceptance_yardstick *y = &j->out->yardstick;
    const gl_expected_gpu *found = gl_expected_find_gpu(y->expected, name);
    long memory = memory_in_name(name), own = memory_in_name(j->plan->cluster->gpu->title);
    return found != NULL && (found != gl_expected_find_gpu(y->expected, y->gpu) ||
                             (memory > 0 && own > 0 && memory != own));
}

static void check_gpu(const judge *j)
{
    const gl_gpu *gpu = j->plan->cluster->gpu;
    const char *other = NULL, *own = NULL, *unknown = NULL;
    for (size_t i = 0; gpu != NULL && i < j->delivered->run_count; i++) {
        const char *name = j->delivered->runs[i].gpu;
        if (name[0] != '\0')
            *(is_named(gpu, name) ? &own : is_another(j, name) ? &other : &unknown) = name;
    }
    if (other != NULL)
        add_check(j, "gpu", GL_ACCEPTANCE_FAIL,
                  gl_arena_printf(j->arena, "%s, where %s was planned", other, gpu->title));
    else if (unknown != NULL)
        add_check(j, "gpu", GL_ACCEPTANCE_MISSING,
                  gl_arena_printf(j->arena,
                                  "undecided: '%s' does not say which GPU it is; %s was planned",
                                  unknown, gpu->title));
    else if (own != NULL)
        add_check(j, "gpu", GL_ACCEPTANCE_PASS, own);
    else
        add_check(j, "gpu", GL_ACCEPTANCE_WARN, "no run names the GPU");
}

/* What NCCL was told by hand: training must be told the same, or it was not this machine. */
static void check_environment(const judge *j)
{
    const char *set = "";
    for (size_t i = 0; i < j->delivered->run_count; i++) {
        const char *text = j->delivered->runs[i].environment;
        while (*text != '\0') {
            size_t length = strcspn(text, "\n");
            const char *line = gl_arena_strndup(j->arena, text, length);
            if (length > 0 && strncmp(line, "NCCL_DEBUG", strlen("NCCL_DEBUG")) != 0 &&
                strstr(set, line) == NULL)
                set = gl_arena_printf(j->arena, "%s%s%s", set, set[0] != '\0' ? ", " : "", line);
            text += length + (text[length] == '\n');
        }
    }
    add_check(j, "environment", set[0] != '\0' ? GL_ACCEPTANCE_WARN : GL_ACCEPTANCE_PASS,
              set[0] != '\0' ? gl_arena_printf(j->arena, "training must be run with %s", set)
                             : "no NCCL variables were recorded");
}

static void check_coverage(const judge *j)
{
    size_t missing = j->out->counts[GL_ACCEPTANCE_MISSING];
    add_check(j, "coverage", missing > 0 ? GL_ACCEPTANCE_MISSING : GL_ACCEPTANCE_PASS,
              gl_arena_printf(j->arena, "%zu of %zu messages of the plan were measured",
                              j->out->test_count - missing, j->out->test_count));
}

double gl_acceptance_busbw(const gl_acceptance_test *test, double time_s)
{
    return (double)test->size_bytes * gl_bus_factor(test->collective, test->placement.ranks) /
           time_s;
}

void gl_acceptance_judge(const gl_plan *plan, const gl_delivered *delivered,
                         const gl_acceptance_yardstick *yardstick, double tolerance_frac,
                         gl_arena *arena, gl_acceptance *out)
{
    static const gl_expected nothing;
    const char *const *warnings;
    *out = (gl_acceptance){
        .plan = plan,
        .delivered = delivered,
        .tolerance_frac = tolerance_frac,
        .yardstick = {&nothing, "", plan->cluster->intra.link, plan->cluster->inter.link}};
    if (yardstick != NULL)
        out->yardstick = *yardstick;
    gl_cluster *bare = GL_ARENA_NEW(arena, gl_cluster, 1);
    *bare = *plan->cluster;
    bare->intra = (gl_tier){.link = out->yardstick.intra};
    bare->inter = (gl_tier){.link = out->yardstick.inter};
    judge j = {.out = out,
               .plan = plan,
               .delivered = delivered,
               .links = gl_network_create(bare, arena, &warnings),
               .arena = arena};
    list_tests(&j);
    for (size_t i = 0; delivered != NULL && i < out->test_count; i++)
        measure_test(&j, &out->tests[i]);
    add_up_costs(&j);
    for (size_t i = 0; i < out->test_count; i++) {
        if (delivered != NULL)
            judge_test(&j, &out->tests[i]);
        out->counts[out->tests[i].verdict]++;
    }
    if (delivered != NULL) {
        check_coverage(&j);
        check_results(&j);
        check_runs(&j);
        check_repetition(&j);
        check_gpu(&j);
        check_environment(&j);
    }
    for (size_t i = 0; i < out->test_count; i++)
        if (out->tests[i].verdict > out->verdict)
            out->verdict = out->tests[i].verdict;
    for (size_t i = 0; i < out->check_count; i++)
        if (out->checks[i].verdict > out->verdict)
            out->verdict = out->checks[i].verdict;
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

/* ---- the list ---- */

static bool is_single(const gl_acceptance *acceptance, const gl_acceptance_test *test)
{
    for (size_t i = 0; i < acceptance->test_count; i++)
        if (&acceptance->tests[i] != test && same_curve(&acceptance->tests[i], test))
            return false;
    return true;
}

const gl_acceptance_point *gl_acceptance_points(const gl_acceptance *acceptance, gl_arena *arena,
                                                size_t *count)
{
    gl_acceptance_point *points =
        GL_ARENA_NEW(arena, gl_acceptance_point, 2 * acceptance->test_count);
    *count = 0;
    for (size_t i = 0; i < acceptance->test_count; i++) {
        const gl_acceptance_test *test = &acceptance->tests[i];
        points[(*count)++] = (gl_acceptance_point){test, test->size_bytes, false};
        if (is_single(acceptance, test))
            points[(*count)++] = (gl_acceptance_point){
                test, gl_size_beside(test->size_bytes, test->placement.ranks), true};
    }
    return points;
}
