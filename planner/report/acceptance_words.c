/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/acceptance_words.h"

#include "common/units.h"
#include "planner/report/plan_tables.h"

#include <math.h>

/* Tests that are named; the table has them all. */
enum { NAMED_MAX = 3 };

const char *gl_acceptance_decision(const gl_acceptance *acceptance)
{
    if (acceptance->delivered == NULL)
        return "NOT MEASURED YET";
    switch (acceptance->verdict) {
    case GL_ACCEPTANCE_PASS:
        return "ACCEPTED";
    case GL_ACCEPTANCE_WARN:
        return "ACCEPTED, with reservations";
    case GL_ACCEPTANCE_MISSING:
        return "NOT PROVEN";
    default:
        return "REJECTED";
    }
}

static const char *because(const gl_acceptance *a, gl_arena *arena)
{
    size_t failed = a->counts[GL_ACCEPTANCE_FAIL], missing = a->counts[GL_ACCEPTANCE_MISSING];
    if (failed > 0)
        return gl_arena_printf(arena, ": %zu of %zu messages fail", failed, a->test_count);
    if (a->verdict == GL_ACCEPTANCE_FAIL)
        return ": a check of the measurements fails";
    if (missing > 0)
        return gl_arena_printf(arena, ": %zu of %zu messages were not measured", missing,
                               a->test_count);
    if (a->verdict == GL_ACCEPTANCE_MISSING)
        return ": a check of the measurements is undecided";
    if (a->test_count == 0)
        return ": the plan moves nothing between GPUs";
    return gl_arena_printf(arena, ": all %zu messages pass", a->test_count);
}

static const char *subject(const gl_acceptance *a, const gl_acceptance_view *view, gl_arena *arena)
{
    return gl_arena_printf(arena, "%s on %lld GPUs, planned for %s%s%s\n",
                           a->plan->workload->model.name,
                           (long long)gl_workload_ranks(a->plan->workload), a->plan->cluster->name,
                           view->measured != NULL ? ", measured in " : "",
                           view->measured != NULL ? view->measured : "");
}

static const char *step_words(const gl_step *step, gl_arena *arena)
{
    return gl_arena_printf(arena, "%s (80 %% interval %s to %s)",
                           gl_quantity_text(step->time_s, GL_SECONDS, arena),
                           gl_quantity_text(step->time_p10_s, GL_SECONDS, arena),
                           gl_quantity_text(step->time_p90_s, GL_SECONDS, arena));
}

/* What the shortfall costs. */
static const char *change_words(const gl_step *planned, const gl_step *now, gl_arena *arena)
{
    double change = now->time_s / planned->time_s - 1;
    if (fabs(change) < 0.0005)
        return "as planned";
    if (change > 1)
        return gl_arena_printf(arena, "%.3g times as long", 1 + change);
    return gl_arena_printf(arena, "%.1f %% %s", 100 * fabs(change),
                           change > 0 ? "longer" : "shorter");
}

static const char *step_lines(const gl_acceptance *a, const gl_acceptance_view *view,
                              gl_arena *arena)
{
    const gl_step *planned = &a->plan->step;
    if (view->again == NULL || isnan(planned->time_s) || isnan(view->again->step.time_s))
        return "";
    const gl_step *now = &view->again->step;
    const char *text = gl_arena_printf(arena,
                                       "Planned        %s\n"
                                       "You will get   %s: %s\n",
                                       step_words(planned, arena), step_words(now, arena),
                                       change_words(planned, now, arena));
    if (!isnan(now->tokens_per_s))
        text = gl_arena_printf(arena, "%s               %.0f tokens/s, where %.0f were planned\n",
                               text, now->tokens_per_s, planned->tokens_per_s);
    if (a->counts[GL_ACCEPTANCE_MISSING] > 0)
        text = gl_arena_printf(arena,
                               "%s               what was not measured is taken from what comes "
                               "nearest, or as planned\n",
                               text);
    return text;
}

static const char *test_words(const gl_acceptance_test *test, gl_arena *arena)
{
    return gl_arena_printf(arena, "%s of %s over %s: %s", gl_collective_name(test->collective),
                           gl_quantity_text((double)test->size_bytes, GL_BYTES, arena),
                           gl_placement_text(&test->placement, arena), test->reason);
}

/* Failed tests, what costs most first. */
static const gl_acceptance_test *next_worst(const gl_acceptance *a, const gl_acceptance_test *after)
{
    const gl_acceptance_test *worst = NULL;
    for (size_t i = 0; i < a->test_count; i++) {
        const gl_acceptance_test *t = &a->tests[i];
        bool said = after != NULL &&
                    (t->cost_s > after->cost_s || (!(t->cost_s < after->cost_s) && t <= after));
        if (t->verdict == GL_ACCEPTANCE_FAIL && !said &&
            (worst == NULL || t->cost_s > worst->cost_s))
            worst = t;
    }
    return worst;
}

static const char *why_lines(const gl_acceptance *a, gl_arena *arena)
{
    const char *text = "";
    const gl_acceptance_test *test = NULL;
    for (size_t i = 0; i < a->check_count; i++)
        if (a->checks[i].verdict == GL_ACCEPTANCE_FAIL)
            text = gl_arena_printf(arena, "%s%s %s: %s\n", text,
                                   text[0] ? "              " : "Why           ", a->checks[i].name,
                                   a->checks[i].found);
    for (int i = 0; i < NAMED_MAX && (test = next_worst(a, test)) != NULL; i++)
        text =
            gl_arena_printf(arena, "%s%s %s\n", text, text[0] ? "              " : "Why           ",
                            test_words(test, arena));
    return text;
}

static const char *count_line(const gl_acceptance *a, gl_arena *arena)
{
    if (a->delivered == NULL)
        return gl_arena_printf(arena, "Tests          %zu, with %s of tolerance\n", a->test_count,
                               gl_quantity_text(a->tolerance_frac, GL_FRACTION, arena));
    return gl_arena_printf(arena,
                           "Tests          %zu pass, %zu pass with a warning, %zu fail, %zu are "
                           "missing; tolerance %s\n",
                           a->counts[GL_ACCEPTANCE_PASS], a->counts[GL_ACCEPTANCE_WARN],
                           a->counts[GL_ACCEPTANCE_FAIL], a->counts[GL_ACCEPTANCE_MISSING],
                           gl_quantity_text(a->tolerance_frac, GL_FRACTION, arena));
}

const char *gl_acceptance_headline(const gl_acceptance *acceptance, const gl_acceptance_view *view,
                                   gl_arena *arena)
{
    return gl_arena_printf(arena, "%s%s\n%s\n%s%s%s", gl_acceptance_decision(acceptance),
                           acceptance->delivered != NULL ? because(acceptance, arena) : "",
                           subject(acceptance, view, arena), count_line(acceptance, arena),
                           step_lines(acceptance, view, arena), why_lines(acceptance, arena));
}
