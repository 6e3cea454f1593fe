/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acceptance: a delivered machine's measurements against what a plan counts on. Pure.
 *
 * The tests are the plan's own messages, of all its stages: each distinct collective, placement and
 * size. A test compares one measured time with three others: what the plan counts on (within the
 * tolerance), what the job needs to meet its target, and what the link gives by the catalogue. The
 * rules are in docs/acceptance.md.
 */
#ifndef GL_CORE_ACCEPTANCE_H
#define GL_CORE_ACCEPTANCE_H

#include "common/expected.h"
#include "planner/core/plan.h"

/*
 * The tolerance, unless another is asked for. Repeat noise of healthy links is 1.5 % in the median,
 * and reading a curve between its sizes errs by 2 % (docs/models/network.md): 10 % is several times
 * both, and below what the smallest silent loss of a path costs large messages (one rail of eight:
 * 12 %).
 */
#define GL_ACCEPTANCE_TOLERANCE 0.10

/* Everything that was measured, as the database holds it: all runs and curves with samples. */
typedef struct gl_delivered {
    const char *name; /* of the database, for people */
    const gl_run *runs;
    size_t run_count;
    const gl_curve *curves;
    size_t curve_count;
    const gl_compute_rate *compute;
    size_t compute_count;
    const gl_overlap_rate *overlap;
    size_t overlap_count;
    const gl_topology *texts;
    size_t text_count;
} gl_delivered;

/* What links are known to give, whatever was planned. */
typedef struct gl_acceptance_yardstick {
    const gl_expected *expected;  /* line rate, what NCCL assumes, what is typical */
    const char *gpu;              /* the GPU's name in it; "" unknown */
    const gl_link *intra, *inter; /* of the catalogue: the cluster's, or where it names none, what
                                     its transport is on this GPU; NULL not known */
} gl_acceptance_yardstick;

/* From best to worst: the worst decides. */
typedef enum gl_acceptance_verdict {
    GL_ACCEPTANCE_PASS,
    GL_ACCEPTANCE_WARN,    /* passes, with something to look at */
    GL_ACCEPTANCE_MISSING, /* not measured: nothing is proven */
    GL_ACCEPTANCE_FAIL,
    GL_ACCEPTANCE_UNKNOWN /* of one comparison: there is nothing to compare with */
} gl_acceptance_verdict;

typedef struct gl_acceptance_test {
    /* What is tested. */
    gl_traffic_dimension dimension;
    const char *operation; /* the first that sends this message */
    gl_collective collective;
    gl_dtype dtype;
    gl_placement placement;
    gl_tier_kind tier; /* of the slowest link that it passes */
    int64_t size_bytes;
    int64_t calls_per_step; /* on the stage that has most */
    double load_factor;
    /* What it should be. */
    double planned_s; /* of one call, as the plan counts on it */
    double limit_s;   /* the same with the tolerance */
    double needed_s;  /* at which the target is met with headroom; NaN: not known */
    double link_s;    /* by the catalogue's link; NaN: not known */
    double link_p90_s;
    gl_expectation expected; /* of the planned link, bus bandwidth of large messages */
    const char *link_name;   /* in data/links; "" not known */
    gl_evidence planned_evidence;
    gl_transport planned_transport;
    /* What it is. curve NULL: not measured. */
    const gl_curve *curve;
    const gl_run *run;
    bool is_alone;         /* of groups side by side one was measured alone */
    bool has_twin;         /* measured in place and out of it: the slower of the two counts … */
    bool is_slow_in_place; /* … which is this one */
    double measured_s, measured_error_frac; /* one sigma of reading it off the curve */
    double fastest_s;      /* of the other place, if that is the faster one: no link is faster */
    double measured_p95_s; /* of the sample at this size; NaN: none */
    gl_evidence measured_evidence;
    int iterations;     /* fewest of the samples used; 0 = not known */
    double wrong;       /* most wrong elements of the curve's samples; NaN: not checked */
    int repeats;        /* complete runs that measured it; copies of a run count once */
    int copies;         /* runs that hold the figures of another one */
    double repeat_frac; /* how far the others are off this one, at most */
    /* What follows. */
    double cost_s; /* calls × (measured − planned): what a step loses if nothing hides it */
    double
        link_cost_s; /* the same with those of its link that are over their limit and cost less */
    gl_acceptance_verdict plan, need, link; /* the three comparisons */
    gl_acceptance_verdict verdict;
    const char *reason; /* what it rests on, for people; "" when there is nothing to say */
} gl_acceptance_test;

/* Something about the measurements as a whole. */
typedef struct gl_acceptance_check {
    const char *name; /* "results" */
    gl_acceptance_verdict verdict;
    const char *found;
} gl_acceptance_check;

enum { GL_ACCEPTANCE_CHECKS_MAX = 8 };

typedef struct gl_acceptance {
    const gl_plan *plan;
    gl_acceptance_yardstick yardstick;
    const gl_delivered *delivered; /* NULL: a list of what to measure */
    double tolerance_frac;
    gl_acceptance_test *tests; /* in the plan's order */
    size_t test_count;
    gl_acceptance_check checks[GL_ACCEPTANCE_CHECKS_MAX];
    size_t check_count;
    size_t counts[GL_ACCEPTANCE_UNKNOWN]; /* of the tests, by verdict */
    gl_acceptance_verdict verdict;
} gl_acceptance;

/* Judges. `delivered` NULL lists the tests alone (all are missing); `yardstick` NULL: nothing is
 * known of links. */
void gl_acceptance_judge(const gl_plan *plan, const gl_delivered *delivered,
                         const gl_acceptance_yardstick *yardstick, double tolerance_frac,
                         gl_arena *arena, gl_acceptance *out);

/* Is it a curve that measures both: one collective on one placement? */
bool gl_acceptance_same_curve(const gl_acceptance_test *a, const gl_acceptance_test *b);

/* Bus bandwidth at which a test's message takes this time. */
double gl_acceptance_busbw(const gl_acceptance_test *test, double time_s);

/* Is the answer yes? Warnings are no objection. */
static inline bool gl_acceptance_passes(const gl_acceptance *acceptance)
{
    return acceptance->verdict <= GL_ACCEPTANCE_WARN;
}

/* The planned cluster with what was measured in the place of what was planned: curves of the
 * tests that were measured, rates where there are some. For the others the network takes what was
 * measured nearest, or what the plan took. */
void gl_acceptance_cluster(const gl_acceptance *acceptance, gl_arena *arena, gl_cluster *out);

/* A row of the list of what to measure. */
typedef struct gl_acceptance_point {
    const gl_acceptance_test *test;
    int64_t size_bytes;
    bool beside; /* not a message of the plan: a curve needs two points */
} gl_acceptance_point;

/* What to measure: every test, and a second size for curves that would have a single one. */
const gl_acceptance_point *gl_acceptance_points(const gl_acceptance *acceptance, gl_arena *arena,
                                                size_t *count);

const char *gl_acceptance_verdict_name(gl_acceptance_verdict verdict); /* "pass" */

#endif
