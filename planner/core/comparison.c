/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/comparison.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

bool gl_compared_runs(const gl_compared *option)
{
    return option->plan != NULL && option->plan->memory.fits;
}

bool gl_is_compared(const gl_compared *option)
{
    return gl_compared_runs(option) && !isnan(option->plan->step.time_s);
}

/* Options may have batches of their own: work is compared by the sequence. */
static double sequences(const gl_plan *plan)
{
    return gl_workload_step_sequences(plan->workload);
}

/* What is less than a millionth apart is equal: plans round. */
static double rounded(double difference)
{
    return fabs(difference) < 1e-6 ? 0 : difference;
}

static void find_fastest(gl_comparison *comparison)
{
    gl_compared *options = comparison->options;
    size_t count = comparison->option_count;
    comparison->fastest = count;
    for (size_t i = 0; i < count; i++) {
        const gl_plan *plan = options[i].plan;
        options[i].sequence_s =
            gl_is_compared(&options[i]) ? plan->step.time_s / sequences(plan) : (double)NAN;
        if (comparison->fastest == count
                ? !isnan(options[i].sequence_s)
                : options[i].sequence_s < options[comparison->fastest].sequence_s)
            comparison->fastest = i;
    }
    for (size_t i = 0; i < count; i++)
        options[i].slower_frac =
            comparison->fastest < count
                ? rounded(options[i].sequence_s / options[comparison->fastest].sequence_s - 1)
                : (double)NAN;
}

/* ---- draw by draw ---- */

static bool is_drawn(const gl_compared *option, size_t draws)
{
    return gl_is_compared(option) && option->plan->uncertainty.draws_s != NULL &&
           option->plan->uncertainty.draw_count == draws;
}

static double drawn_s(const gl_compared *option, size_t draw)
{
    return option->plan->uncertainty.draws_s[draw] / sequences(option->plan);
}

static void fill_pair(const gl_comparison *comparison, size_t draws, gl_pair *pair, gl_arena *arena)
{
    const gl_compared *a = &comparison->options[pair->a], *b = &comparison->options[pair->b];
    double faster = 0, *ratios = GL_ARENA_NEW(arena, double, draws);
    pair->probability = pair->ratio = pair->ratio_p10 = pair->ratio_p90 = (double)NAN;
    if (draws == 0 || !is_drawn(a, draws) || !is_drawn(b, draws))
        return;
    for (size_t i = 0; i < draws; i++) {
        ratios[i] = drawn_s(a, i) / drawn_s(b, i);
        double difference = rounded(ratios[i] - 1);
        faster += difference < 0 ? 1 : difference == 0 ? 0.5 : 0;
    }
    gsl_sort(ratios, 1, draws);
    pair->probability = faster / (double)draws;
    pair->ratio = a->sequence_s / b->sequence_s;
    pair->ratio_p10 = gsl_stats_quantile_from_sorted_data(ratios, 1, draws, 0.1);
    pair->ratio_p90 = gsl_stats_quantile_from_sorted_data(ratios, 1, draws, 0.9);
}

static void fill_pairs(gl_comparison *comparison, size_t draws, gl_arena *arena)
{
    size_t count = comparison->option_count;
    gl_arena *scratch = gl_arena_create();
    comparison->pairs = GL_ARENA_NEW(arena, gl_pair, count * (count - 1) / 2 + 1);
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            if (!gl_is_compared(&comparison->options[a]) ||
                !gl_is_compared(&comparison->options[b]))
                continue;
            gl_pair *pair = &comparison->pairs[comparison->pair_count++];
            *pair = (gl_pair){.a = a, .b = b};
            fill_pair(comparison, draws, pair, scratch);
        }
    gl_arena_destroy(scratch);
}

static double least_drawn_s(const gl_comparison *comparison, size_t draws, size_t draw)
{
    double least_s = (double)INFINITY;
    for (size_t i = 0; i < comparison->option_count; i++)
        if (is_drawn(&comparison->options[i], draws))
            least_s = fmin(least_s, drawn_s(&comparison->options[i], draw));
    return least_s;
}

/* In how many draws each option that runs is the fastest; equals share. */
static void count_fastest(gl_comparison *comparison, size_t draws)
{
    size_t count = comparison->option_count;
    gl_arena *scratch = gl_arena_create();
    bool *equal = GL_ARENA_NEW(scratch, bool, count);
    for (size_t i = 0; i < count; i++)
        comparison->options[i].fastest_probability =
            gl_is_compared(&comparison->options[i]) ? 0 : (double)NAN;
    for (size_t draw = 0; draw < draws && comparison->fastest < count; draw++) {
        double least_s = least_drawn_s(comparison, draws, draw), shares = 0;
        for (size_t i = 0; i < count; i++) {
            const gl_compared *option = &comparison->options[i];
            equal[i] = is_drawn(option, draws) && rounded(drawn_s(option, draw) / least_s - 1) == 0;
            shares += equal[i];
        }
        for (size_t i = 0; i < count; i++)
            comparison->options[i].fastest_probability += equal[i] / shares / (double)draws;
    }
    gl_arena_destroy(scratch);
}

/* ---- what each would need ---- */

static void find_break_evens(const gl_comparison *comparison, gl_compared *option,
                             const gl_plan_options *options, gl_arena *arena)
{
    const gl_setup *fastest = &comparison->options[comparison->fastest].setup;
    bool slow = option->slower_frac > comparison->tolerance_frac;
    option->break_evens = GL_ARENA_NEW(arena, gl_break_even, GL_KNOB_COUNT);
    for (int k = 0; k < GL_KNOB_COUNT; k++) {
        gl_break_even *found = &option->break_evens[option->break_even_count];
        if ((slow || !gl_knob_is_of_the_work((gl_knob)k)) &&
            gl_break_even_find((gl_knob)k, &option->setup, fastest, comparison->tolerance_frac,
                               options, found))
            option->break_even_count++;
    }
}

void gl_comparison_build(gl_comparison *comparison, const gl_plan_options *options, gl_arena *arena)
{
    size_t count = comparison->option_count, draws = 0;
    find_fastest(comparison);
    for (size_t i = 0; i < count && draws == 0; i++)
        draws = gl_is_compared(&comparison->options[i])
                    ? comparison->options[i].plan->uncertainty.draw_count
                    : 0;
    fill_pairs(comparison, draws, arena);
    count_fastest(comparison, draws);
    for (size_t i = 0; i < count; i++) {
        gl_compared *option = &comparison->options[i];
        if (!gl_is_compared(option))
            continue;
        option->sensitivities = GL_ARENA_NEW(arena, gl_sensitivity, GL_KNOB_COUNT);
        option->sensitivity_count = gl_sensitivity_build(&option->setup, option->plan->step.time_s,
                                                         options, option->sensitivities);
        find_break_evens(comparison, option, options, arena);
    }
}
