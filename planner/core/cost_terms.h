/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a buyer says about money, power and operation of a cluster. What is not stated comes from
 * the price list (parts "term.NAME"), which has a source and a range for each.
 */
#ifndef GL_CORE_COST_TERMS_H
#define GL_CORE_COST_TERMS_H

#include "planner/core/prices.h"

/* Key, part of the price list, unit for people, what it is. */
#define GL_COST_TERMS(X)                                                                           \
    X(LIFE, "life", "years", "years over which what was bought is used")                           \
    X(RESIDUAL, "residual", "1", "share of the purchase that it is worth at the end of its life")  \
    X(INTEREST, "interest", "1", "price of money a year")                                          \
    X(SUPPORT, "support", "1", "support and replacement a year, share of the hardware")            \
    X(STAFF, "staff", "persons", "persons that operate one node")                                  \
    X(SPARES, "spares", "1", "spare network parts, share of those in use, rounded up")             \
    X(AVAILABILITY, "availability", "1", "share of the hours in which the cluster takes work")     \
    X(DRAW, "draw", "1", "power drawn in training, share of what the machines may draw")           \
    X(SERVER_POWER, "server-power", "1", "power of a server over that of its GPUs")                \
    X(PUE, "pue", "1", "power of the site over power of the machines")                             \
    X(FAILURES, "failures", "1/h", "unplanned stops of a job for each GPU and hour")               \
    X(CHECKPOINT, "checkpoint", "s", "time in which a checkpoint stops training")                  \
    X(RESTART, "restart", "s", "time from a stop until training goes on")                          \
    X(DECAY, "decay", "decades", "powers of ten that price-performance gains a year")              \
    X(RACK_POWER, "rack-power", "W", "power of a rack")                                            \
    X(RACK_SWITCHES, "rack-switches", "switches", "switches of a rack")

typedef enum gl_cost_term {
#define GL_AS_TERM(key, ...) GL_TERM_##key,
    GL_COST_TERMS(GL_AS_TERM)
#undef GL_AS_TERM
        GL_TERM_COUNT
} gl_cost_term;

typedef enum gl_amortisation {
    GL_STRAIGHT_LINE, /* purchase less residual, spread evenly */
    GL_ANNUITY,       /* equal payments with interest */
    GL_DECAY          /* what price-performance takes off in the first year (Epoch AI) */
} gl_amortisation;

/* "straight", "annuity", "decay"; NULL-terminated. */
extern const char *const gl_amortisations[];

typedef enum gl_acquisition { GL_BUY, GL_RENT } gl_acquisition;
typedef enum gl_power_by { GL_POWER_BY_ENERGY, GL_POWER_BY_COLOCATION } gl_power_by;
typedef enum gl_medium {
    GL_MEDIUM_AUTO, /* by reach: the first that spans it */
    GL_MEDIUM_DAC,
    GL_MEDIUM_AEC,
    GL_MEDIUM_AOC,
    GL_MEDIUM_OPTICS,
    GL_MEDIUM_LINK, /* priced as whole links, ends included */
    GL_MEDIUM_COUNT
} gl_medium;

/* All 0 or NaN: nothing stated. */
typedef struct gl_cost_terms {
    double stated[GL_TERM_COUNT]; /* NaN: as the price list says */
    gl_amortisation amortisation;
    gl_acquisition acquisition;
    gl_power_by power_by;
    double electricity_usd_per_kwh; /* NaN: by region */
    double colocation_per_kw_month; /* in the list's currency; NaN: by region */
    double lead_time_months;        /* until the site takes work, more than elsewhere */
    double month_value;             /* of a month of the cluster's work; NaN: what it costs */
    gl_medium medium;
    double node_reach_m, switch_reach_m; /* of links from nodes to leaves, between switches */
    int planes;                          /* of the network; 0 = 1 */
    double tuning_hours_per_node;        /* BIOS, driver, NCCL */
    double line_fee_per_month;           /* of a leased line; NaN: by its route */
    const char *line_route;              /* NULL = not stated */
    int expansion_nodes;                 /* nodes in the end; 0 = no expansion */
    double expansion_months;             /* until the rest is bought */
} gl_cost_terms;

gl_cost_terms gl_cost_terms_defaults(void);

const char *gl_cost_term_name(gl_cost_term term); /* "life": part "term.life" */
const char *gl_cost_term_meaning(gl_cost_term term);

#endif
