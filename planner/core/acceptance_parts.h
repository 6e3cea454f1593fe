/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of an acceptance share. Internal to the core. */
#ifndef GL_CORE_ACCEPTANCE_PARTS_H
#define GL_CORE_ACCEPTANCE_PARTS_H

#include "planner/core/acceptance.h"

typedef struct gl_judge {
    gl_acceptance *out;
    const gl_plan *plan;
    const gl_delivered *delivered;
    const gl_network *links; /* the cluster's links alone, without what was measured */
    gl_arena *arena;
    size_t capacity; /* of out->tests */
} gl_judge;

/* The tests that the plan's messages make, nothing of them measured yet. */
void gl_acceptance__list_tests(gl_judge *j);

/* The link that a transport is on the planned machine: the one that the plan names, if it is of
 * that kind. */
const gl_expected_link *gl_acceptance__link_over(const gl_judge *j, const gl_placement *p,
                                                 gl_transport transport);

/* What a test's message may be expected to reach over a link, on the planned GPU and NICs. */
gl_expectation gl_acceptance__expect(const gl_judge *j, const gl_acceptance_test *test,
                                     const gl_expected_link *link);

/* What the planned link gives, with what the test's curve and run say of it where it has them. */
void gl_acceptance__fill_expected(const gl_judge *j, gl_acceptance_test *test);

/*
 * Fills in what was measured of a test, before any of it is judged. Returns false when nothing was;
 * then *near is a curve of the same calls that does not reach its size, or NULL.
 */
bool gl_acceptance__measure(const gl_judge *j, gl_acceptance_test *test, const gl_curve **near);

/* Adds the checks of the measurements as a whole, once all tests are judged and counted. */
void gl_acceptance__check_all(const gl_judge *j);

#endif
