/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/sensitivity.h"

#include "planner/core/fitting.h"

#include <math.h>

/* Continuous values are tried between a thousandth and a thousand times what there is, to half a
 * percent; compression, which costs accuracy, up to a hundredfold. */
static const double RANGE = 1e3, PRECISION = 0.005, COMPRESSION_MAX = 100;
/* A millionth is no difference: plans round. */
static const double EQUAL = 1e-6;
enum { BATCH_DOUBLINGS = 8, NICS_MAX = 64 };

double gl_step_of(const gl_setup *setup, const gl_plan_options *options)
{
    gl_plan_options once = *options;
    gl_arena *arena = gl_arena_create();
    gl_plan plan;
    gl_error err;
    once.step_only = true;
    double time_s = gl_plan_build(setup->workload, setup->cluster, &once, arena, &plan, &err)
                        ? plan.step.time_s
                        : (double)NAN;
    gl_arena_destroy(arena);
    return time_s;
}

/* The same with one property changed; NaN where it cannot be. Larger microbatches take memory; no
 * other property does. */
static double step_with(gl_knob knob, double value, const gl_setup *setup,
                        const gl_plan_options *options)
{
    gl_arena *arena = gl_arena_create();
    gl_setup changed;
    double time_s = gl_knob_turn(knob, value, setup, arena, &changed) &&
                            (knob != GL_KNOB_MICRO || gl_setup_fits(&changed))
                        ? gl_step_of(&changed, options)
                        : (double)NAN;
    gl_arena_destroy(arena);
    return time_s;
}

/* ---- sensitivities ---- */

static double half_of(gl_knob knob, double value)
{
    const gl_knob_kind *kind = gl_knob_describe(knob);
    if (knob == GL_KNOB_OVERLAP)
        return 0;
    double half = kind->whole ? floor(value / 2) : value / 2;
    return half >= kind->smallest ? half : kind->smallest;
}

/* Slopes of the two halves, where there are both: their mean. */
static double elasticity(const gl_sensitivity *row, double step_s)
{
    bool low = row->low_s > 0 && row->low_value > 0, high = row->high_s > 0;
    double from = low ? row->low_value : row->value, to = high ? row->high_value : row->value;
    double from_s = low ? row->low_s : step_s, to_s = high ? row->high_s : step_s;
    if (row->knob == GL_KNOB_OVERLAP || !(to > from))
        return (double)NAN;
    double slope = log(to_s / from_s) / log(to / from);
    return fabs(slope) < EQUAL ? 0 : slope;
}

size_t gl_sensitivity_build(const gl_setup *setup, double step_s, const gl_plan_options *options,
                            gl_sensitivity *rows)
{
    size_t count = 0;
    for (int k = 0; k < GL_KNOB_COUNT; k++) {
        gl_knob knob = (gl_knob)k;
        double value = gl_knob_value(knob, setup);
        if (isnan(value) || gl_knob_is_of_the_work(knob))
            continue;
        gl_sensitivity row = {.knob = knob, .value = value, .low_value = half_of(knob, value)};
        row.high_value = 2 * value;
        row.low_s =
            row.low_value < value ? step_with(knob, row.low_value, setup, options) : (double)NAN;
        row.high_s = step_with(knob, row.high_value, setup, options);
        if (isnan(row.low_s))
            row.low_value = (double)NAN;
        if (isnan(row.high_s))
            row.high_value = (double)NAN;
        row.elasticity = elasticity(&row, step_s);
        rows[count++] = row;
    }
    return count;
}

/* ---- break-even ---- */

typedef struct search {
    gl_knob knob;
    const gl_setup *setup, *reference;
    const gl_plan_options *options;
    double value, limit_s; /* as it is; the step that is still good enough */
    double tolerance_frac;
} search;

/* The longest step that is good enough: the reference's time for a sequence times the setup's
 * sequences. Of another batch the reference is given that batch, too, as far as it can have it. */
static double limit_for(const search *s, double batch)
{
    double reference_s, each = gl_workload_step_sequences(s->reference->workload);
    if (s->knob == GL_KNOB_BATCH) {
        reference_s = step_with(GL_KNOB_BATCH, batch, s->reference, s->options);
        each = batch;
    } else {
        reference_s = gl_step_of(s->reference, s->options);
        batch = gl_workload_step_sequences(s->setup->workload);
    }
    return (1 + s->tolerance_frac + EQUAL) * reference_s / each * batch;
}

static bool good(const search *s, double value, double *step_s)
{
    *step_s = step_with(s->knob, value, s->setup, s->options);
    return *step_s <= (s->knob == GL_KNOB_BATCH ? limit_for(s, value) : s->limit_s);
}

static bool is_cheaper(const search *s, double a, double b)
{
    return gl_knob_describe(s->knob)->cheap == GL_CHEAP_LESS ? a < b : a > b;
}

static void judge(const search *s, gl_break_even *out)
{
    bool same = fabs(out->limit / s->value - 1) < 2 * PRECISION;
    out->kind = same                                  ? GL_BREAK_EVEN_JUST
                : is_cheaper(s, out->limit, s->value) ? GL_BREAK_EVEN_SPARE
                                                      : GL_BREAK_EVEN_NEEDED;
}

/* Continuous: `cheap` is known to be too little, `dear` to be enough. */
static void bisect(const search *s, double cheap, double dear, gl_break_even *out)
{
    double step_s;
    while (fabs(log(dear / cheap)) > PRECISION) {
        double middle = sqrt(dear * cheap);
        if (good(s, middle, &step_s)) {
            dear = middle;
            out->step_s = step_s;
        } else {
            cheap = middle;
        }
    }
    out->limit = dear;
    judge(s, out);
}

static void range_of(const search *s, double *cheapest, double *dearest)
{
    *cheapest = s->value / RANGE;
    *dearest = s->value * RANGE;
    if (s->knob == GL_KNOB_OVERSUBSCRIPTION || s->knob == GL_KNOB_CORE_OVERSUBSCRIPTION) {
        int radix = s->setup->cluster->radix; /* one port at least leads up */
        *cheapest =
            radix > 1 ? fmax(s->value, fmin(s->value * RANGE, radix - 1)) : s->value * RANGE;
        *dearest = 1;
    } else if (s->knob == GL_KNOB_COMPRESSION) {
        *cheapest = 1;
        *dearest = COMPRESSION_MAX;
    }
}

static void find_continuous(const search *s, gl_break_even *out)
{
    double cheapest, dearest, step_s;
    range_of(s, &cheapest, &dearest);
    if (good(s, cheapest, &step_s)) {
        *out = (gl_break_even){s->knob, GL_BREAK_EVEN_ANY, s->value, cheapest, step_s};
        return;
    }
    /* What there is halves the range, and is where the answer says spare or needed. */
    bool enough = good(s, s->value, &out->step_s);
    if (enough)
        bisect(s, cheapest, s->value, out);
    else if (dearest != s->value && good(s, dearest, &out->step_s))
        bisect(s, s->value, dearest, out);
    else
        *out = (gl_break_even){s->knob, GL_BREAK_EVEN_NEVER, s->value, (double)NAN, (double)NAN};
}

/* The next smaller whole value, all of them, since a step need not get shorter with each; 0 after
 * the last. Batches are not made smaller. */
static double value_below(const search *s, double value)
{
    double all = (double)s->setup->cluster->nodes * s->setup->cluster->gpus_per_node;
    if (s->knob == GL_KNOB_BATCH)
        return 0;
    do {
        value--;
    } while (s->knob == GL_KNOB_DOMAIN && value > 0 && fmod(all, value) != 0);
    return value;
}

/* The next larger one that is tried; 0 after the last. */
static double value_above(const search *s, double value)
{
    double all = (double)s->setup->cluster->nodes * s->setup->cluster->gpus_per_node;
    switch (s->knob) {
    case GL_KNOB_NICS:
        return value < NICS_MAX ? fmin(pow(2, floor(log2(value)) + 1), NICS_MAX) : 0;
    case GL_KNOB_DOMAIN:
        do {
            value++;
        } while (value <= all && fmod(all, value) != 0);
        return value <= all ? value : 0;
    default:
        return value < s->value * pow(2, BATCH_DOUBLINGS) ? value * 2 : 0;
    }
}

/* From what there is down, as long as every value is good: what cannot be had is passed over. */
static void find_least(const search *s, gl_break_even *out)
{
    double step_s;
    bool all = true, smaller = false;
    out->limit = s->value;
    for (double value = value_below(s, s->value); value > 0 && all; value = value_below(s, value)) {
        all = good(s, value, &step_s) || isnan(step_s);
        if (!all || isnan(step_s))
            continue;
        out->limit = value;
        out->step_s = step_s;
        smaller = true;
    }
    judge(s, out);
    if (all && smaller)
        out->kind = GL_BREAK_EVEN_ANY;
}

static void find_whole(const search *s, gl_break_even *out)
{
    if (good(s, s->value, &out->step_s)) {
        find_least(s, out);
        return;
    }
    for (double value = value_above(s, s->value); value > 0; value = value_above(s, value))
        if (good(s, value, &out->step_s)) {
            out->limit = value;
            judge(s, out);
            return;
        }
    *out = (gl_break_even){s->knob, GL_BREAK_EVEN_NEVER, s->value, (double)NAN, (double)NAN};
}

bool gl_break_even_find(gl_knob knob, const gl_setup *setup, const gl_setup *reference,
                        double tolerance_frac, const gl_plan_options *options, gl_break_even *out)
{
    const gl_knob_kind *kind = gl_knob_describe(knob);
    search s = {.knob = knob,
                .setup = setup,
                .reference = reference,
                .options = options,
                .value = gl_knob_value(knob, setup),
                .tolerance_frac = tolerance_frac};
    if (isnan(s.value) || kind->cheap == GL_CHEAP_NONE)
        return false;
    if (knob != GL_KNOB_BATCH)
        s.limit_s = limit_for(&s, 0);
    *out = (gl_break_even){.knob = knob, .value = s.value};
    if (kind->whole)
        find_whole(&s, out);
    else
        find_continuous(&s, out);
    return true;
}

/* ---- a slower link ---- */

/* Whether a link of this bandwidth meets the target; `given` (may be NULL): what it gives. */
static bool meets_target(gl_knob knob, double value, const gl_plan *plan, double *given)
{
    const gl_setup setup = {plan->workload, plan->cluster};
    const gl_tier_kind tier =
        knob == GL_KNOB_INTER_BANDWIDTH ? GL_TIER_INTER_NODE : GL_TIER_INTRA_NODE;
    gl_plan_options options = plan->options;
    gl_arena *scratch = gl_arena_create();
    gl_setup changed;
    gl_plan other;
    gl_error err;
    options.draws = 1;
    options.step_only = given == NULL;
    bool meets =
        gl_knob_turn(knob, value, &setup, scratch, &changed) &&
        gl_plan_build(changed.workload, changed.cluster, &options, scratch, &other, &err) &&
        gl_plan_meets_target(&other);
    if (given != NULL)
        *given = meets ? other.needs[tier].available_bytes_per_s : (double)NAN;
    gl_arena_destroy(scratch);
    return meets;
}

double gl_least_bandwidth(gl_knob knob, const gl_plan *plan, double *nominal)
{
    const gl_setup setup = {plan->workload, plan->cluster};
    double enough = gl_knob_value(knob, &setup), little = enough / RANGE, given;
    if (isnan(enough) || !gl_plan_meets_target(plan))
        return (double)NAN;
    if (meets_target(knob, little, plan, NULL))
        enough = little;
    while (log(enough / little) > PRECISION) {
        double middle = sqrt(enough * little);
        *(meets_target(knob, middle, plan, NULL) ? &enough : &little) = middle;
    }
    meets_target(knob, enough, plan, &given);
    if (nominal != NULL)
        *nominal = enough;
    return given;
}

const char *gl_break_even_name(gl_break_even_kind kind)
{
    static const char *const names[] = {
        [GL_BREAK_EVEN_ANY] = "any",     [GL_BREAK_EVEN_SPARE] = "spare",
        [GL_BREAK_EVEN_JUST] = "just",   [GL_BREAK_EVEN_NEEDED] = "needed",
        [GL_BREAK_EVEN_NEVER] = "never",
    };
    return names[kind];
}
