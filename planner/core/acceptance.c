/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The judgement: each measured message against the plan, the need and the link. */
#include "planner/core/acceptance_parts.h"

#include <math.h>

/* A time that is over the limit fails unless it cannot matter: a step loses less than this share
 * of itself by it, even if nothing hides it … */
static const double IMMATERIAL_FRAC = 1e-3;
/* … and it is no more than this times what was planned: beyond it, the path is another one. */
static const double OTHER_PATH_RATIO = 2.0;
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

static void say(const gl_judge *j, gl_acceptance_test *test, gl_acceptance_verdict verdict,
                const char *words)
{
    test->verdict = verdict > test->verdict ? verdict : test->verdict;
    test->reason = gl_arena_append(j->arena, test->reason, "; ", words);
}

static double percent_over(double time_s, double reference_s)
{
    return 100 * (time_s / reference_s - 1);
}

/* Messages of one link share one allowance: what is wrong with the link costs all of them. */
static bool is_immaterial(const gl_judge *j, const gl_acceptance_test *test)
{
    return test->link_cost_s <= IMMATERIAL_FRAC * j->plan->step.time_s &&
           test->measured_s <= OTHER_PATH_RATIO * test->planned_s;
}

/* Where the two places differ by more than is tolerated, which one was slow. */
static const char *slow_place(const gl_judge *j, const gl_acceptance_test *test)
{
    if (!test->has_twin || test->measured_s <= test->fastest_s * (1 + j->out->tolerance_frac))
        return "";
    return test->is_slow_in_place ? " (in place)" : " (out of place)";
}

static void compare_with_plan(const gl_judge *j, gl_acceptance_test *test)
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
static void compare_with_line(const gl_judge *j, gl_acceptance_test *test)
{
    gl_transport over = test->curve->transport;
    if (over == GL_TRANSPORT_UNKNOWN) /* then the fastest that this GPU has */
        over = test->placement.nodes > 1 ? test->planned_transport : GL_TRANSPORT_NVLINK;
    gl_expectation e =
        gl_acceptance__expect(j, test, gl_acceptance__link_over(j, &test->placement, over));
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
static void compare_with_need(const gl_judge *j, gl_acceptance_test *test)
{
    if (isnan(test->needed_s))
        return;
    test->need = test->measured_s <= test->needed_s ? GL_ACCEPTANCE_PASS : GL_ACCEPTANCE_FAIL;
    if (test->need == GL_ACCEPTANCE_PASS || test->planned_s > test->needed_s ||
        is_immaterial(j, test))
        return;
    say(j, test, GL_ACCEPTANCE_FAIL, "too slow for the plan's target");
}

static void compare_with_link(const gl_judge *j, gl_acceptance_test *test)
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

static void check_transport(const gl_judge *j, gl_acceptance_test *test)
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

static void check_quality(const gl_judge *j, gl_acceptance_test *test)
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

static const char *missing_words(const gl_judge *j, const gl_curve *near)
{
    if (near == NULL)
        return "not measured";
    return gl_arena_printf(j->arena, "not measured: curve %lld holds %.0f to %.0f B",
                           (long long)near->id, near->samples[0].size_bytes,
                           near->samples[near->sample_count - 1].size_bytes);
}

/* What was measured, before any of it is judged. */
static void measure_test(const gl_judge *j, gl_acceptance_test *test)
{
    const gl_curve *near;
    if (!gl_acceptance__measure(j, test, &near)) {
        say(j, test, GL_ACCEPTANCE_MISSING, missing_words(j, near));
        return;
    }
    test->verdict = GL_ACCEPTANCE_PASS;
    gl_acceptance__fill_expected(j, test); /* its run says whether the switch may add up */
    test->cost_s = (double)test->calls_per_step * test->load_factor *
                   fmax(test->measured_s - test->planned_s, 0);
}

/* What a message that is over its limit costs together with those of its link that cost less: the
 * cheapest ones use up the allowance first. */
static void add_up_costs(const gl_judge *j)
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

static void judge_test(const gl_judge *j, gl_acceptance_test *test)
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
    gl_judge j = {.out = out,
                  .plan = plan,
                  .delivered = delivered,
                  .links = gl_network_create(bare, arena, &warnings),
                  .arena = arena};
    gl_acceptance__list_tests(&j);
    for (size_t i = 0; delivered != NULL && i < out->test_count; i++)
        measure_test(&j, &out->tests[i]);
    add_up_costs(&j);
    for (size_t i = 0; i < out->test_count; i++) {
        if (delivered != NULL)
            judge_test(&j, &out->tests[i]);
        out->counts[out->tests[i].verdict]++;
    }
    if (delivered != NULL)
        gl_acceptance__check_all(&j);
    for (size_t i = 0; i < out->test_count; i++)
        if (out->tests[i].verdict > out->verdict)
            out->verdict = out->tests[i].verdict;
    for (size_t i = 0; i < out->check_count; i++)
        if (out->checks[i].verdict > out->verdict)
            out->verdict = out->checks[i].verdict;
}
