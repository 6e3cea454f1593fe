/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a plan costs: the purchase by parts, a year of it, an hour of a GPU that works, a run, a
 * million tokens; each with an interval, drawn together with the step's. docs/cost.md has every
 * formula with its source.
 *
 * Prices and terms are sources of error like those of core/uncertainty.h: one draw for each name,
 * the same in every plan with the same seed, so that options are compared draw by draw.
 */
#ifndef GL_CORE_COST_H
#define GL_CORE_COST_H

#include "planner/core/bom.h"

/* One evaluation: at typical prices, or of one draw. In the list's currency. */
typedef struct gl_cost_figures {
    double capex;
    double hardware; /* of it, what support is paid for */
    double network;  /* of it, between nodes */
    double power_w;  /* of all machines, as they may draw */
    double amortised_per_year, rent_per_year, energy_per_year, colocation_per_year;
    double support_per_year, staff_per_year, lines_per_year;
    double per_year;                      /* sum of these */
    double availability;                  /* hours in which the cluster takes work */
    double mtbf_s, checkpoint_interval_s; /* of the job, by Daly; NaN: it is never stopped */
    double goodput;      /* share of its hours that is not lost to checkpoints and stops */
    double per_gpu_hour; /* delivered: of hours in which training goes on; NaN, like those that
                            follow, when the job is stopped too often to get anything done */
    double tokens_per_s; /* likewise, over the year */
    double per_million_tokens; /* NaN when the step or its tokens are not known */
    double run_s;              /* calendar time of the run; NaN when its tokens are not stated */
    double per_run;
    double per_pflop_year; /* of useful work, one PFLOP/s over a year */
} gl_cost_figures;

typedef struct gl_interval {
    double p10, p50, p90;
} gl_interval;

/* A price or a term that the cost rests on. */
typedef struct gl_cost_source {
    const char *name; /* "price of switch.ib-ndr", "term.life" */
    double low, typical, high;
    const char *origin, *date;     /* never NULL */
    double p10_change, p90_change; /* of a million tokens' cost (a year's when that is not known),
                                      with this one at its P10 or P90 alone */
} gl_cost_source;

/* What the site does: later, and cheaper or dearer. */
typedef struct gl_site_effect {
    double lead_time_months;
    double delay;           /* value of the work of these months */
    double saving_per_year; /* of power, against the list's default site; NaN: nothing stated */
    double saving;          /* the same over the life */
} gl_site_effect;

/* The same number of nodes at once, or the rest later. */
typedef struct gl_expansion {
    int nodes;          /* in the end; 0 = none planned */
    double months;      /* until the rest is bought */
    double at_once;     /* purchase of all */
    double first, rest; /* purchase now, and later at today's prices */
    double staged; /* both, the rest at its later price and discounted; these three are NaN when
                      a part of the whole has no price, which a note names */
    gl_bom bill;   /* of all */
} gl_expansion;

typedef struct gl_cost {
    const gl_cluster *cluster; /* NULL: no price list, nothing planned */
    const char *missing;       /* what stops the total, and how to set it; NULL: nothing */
    const char *currency;
    int64_t gpus, job_gpus;
    gl_bom bom;
    gl_cost_figures typical;
    gl_interval capex, per_gpu_hour, per_million_tokens, per_run;
    const double *token_draws; /* cost of a million tokens by draw; NULL: not known */
    size_t draw_count;
    gl_cost_source *sources; /* largest effect first */
    size_t source_count;
    double electricity_per_kwh; /* in the list's currency; NaN: power is in the colocation */
    const char *electricity_source;
    double pue;
    double colocation_per_kw_month; /* NaN: not used */
    double rent_per_gpu_hour;       /* 0: bought */
    double staff_cost_per_year;     /* of a person */
    double line_fee_per_month;      /* of all leased lines */
    double run_tokens;              /* 0 = not stated */
    gl_site_effect site;
    gl_expansion expansion;
    gl_texts notes; /* what to know: defaults taken for a region, … */
} gl_cost;

/* GPUs of the cluster that the layout leaves idle: paid for like the others. */
static inline int64_t gl_cost_idle_gpus(const gl_cost *cost)
{
    return cost->gpus > cost->job_gpus ? cost->gpus - cost->job_gpus : 0;
}

typedef struct gl_cost_input {
    const gl_cluster *cluster;
    double step_s; /* NaN when not known */
    const double *step_draws_s;
    size_t draw_count;      /* of the step; 0: it has no interval */
    double tokens_per_step; /* 0 when not known */
    double model_flop_per_token;
    int64_t job_gpus;
    double run_tokens; /* tokens of a run; 0 = not stated */
    unsigned long seed;
} gl_cost_input;

/* Prices what the cluster is and does. What `out` points to lives in the arena; without a price
 * list its `cluster` is NULL. */
void gl_cost_build(const gl_cost_input *input, gl_arena *arena, gl_cost *out);

/* A part of the purchase, as in gl_bom_sum, with whole servers split where the list prices what is
 * in them (gpu.NAME, board.LINK, cooling.NAME). */
double gl_cost_group_sum(const gl_cost *cost, gl_cost_group group);

/* ---- formulas, each alone ---- */

/* Purchase that a year takes. `decay` in powers of ten a year, for GL_DECAY. */
double gl_cost_amortised(gl_amortisation convention, double capex, double life_years,
                         double residual_frac, double interest_frac, double decay);

/* Energy of `hours`: the power that machines may draw, the share that they do, and what the site
 * adds to it. In the currency of the price. */
double gl_cost_energy(double power_w, double draw_frac, double pue, double hours,
                      double price_per_kwh);

typedef struct gl_checkpoints {
    double mtbf_s, interval_s;
    double goodput_frac; /* of the time; 0 when the job gets nowhere */
} gl_checkpoints;

/*
 * Stops at random, M apart, a checkpoint of C and a restart of R (Daly, Future Generation Computer
 * Systems 22, 2006): t = √(2CM) · (1 + √(C/2M)/3 + C/18M) − C, and t = M from C = 2M on; of the
 * time, t / (M · e^(R/M) · (e^((t+C)/M) − 1)) counts. For rare stops: Young 1974, √(2CM) and
 * 1 − C/t − (t/2 + R)/M.
 */
gl_checkpoints gl_cost_checkpoints(double failures_per_gpu_hour, int64_t gpus, double checkpoint_s,
                                   double restart_s);

/* ---- two options ---- */

/* Share of the draws in which a million tokens cost less with `a` than with `b`, a draw in which
 * they cost the same counting half. NaN when either is not known. */
double gl_cost_probability_cheaper(const gl_cost *a, const gl_cost *b);

typedef struct gl_cost_even {
    const gl_cost *cheap, *dear; /* by purchase */
    double months;          /* until what the dearer one does more has paid its price; INFINITY:
                               never; NaN: not known, or none is dearer to buy */
    double network;         /* purchase of the dearer one's network; NaN: both are rented … */
    double network_at_even; /* … and what it may cost so that a token costs the same; below 0: the
                               rest of it is too dear already */
} gl_cost_even;

gl_cost_even gl_cost_break_even(const gl_cost *a, const gl_cost *b);

/* ---- scale ---- */

/* The same cluster with other numbers of nodes. */
typedef struct gl_stair {
    int64_t nodes, gpus;
    gl_fabric_counts fabric;
    bool fits;      /* false: more than three tiers */
    double network; /* purchase between nodes; NaN when a part is not priced */
    double network_per_gpu, capex_per_gpu;
} gl_stair;

/* Powers of two of nodes, each with one node more, which is where switches are added, and the
 * cluster's own; up to 16,384 GPUs or the cluster's eightfold. In order. */
size_t gl_cost_staircase(const gl_cluster *cluster, gl_arena *arena, gl_stair **out);

#endif
