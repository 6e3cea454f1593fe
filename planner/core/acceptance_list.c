/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an acceptance measures: the messages of the plan, and what each should take. */
#include "planner/core/acceptance_parts.h"

#include "planner/core/stage_plans.h"

#include <math.h>
#include <string.h>

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

/* A row's groups, of those at once on a node as many as find a place there with all of their ranks:
 * groups that do not divide a node lie on some nodes with fewer. */
static gl_placement tested_placement(const gl_plan *plan, const gl_traffic_row *row)
{
    gl_placement p = row->placement;
    int most = plan->cluster->gpus_per_node / p.ranks_per_node;
    if (p.nodes > 1 && p.concurrent_groups > most)
        p.concurrent_groups = most > 1 ? most : 1;
    return p;
}

static gl_acceptance_test *find_test(const gl_judge *j, const gl_traffic_row *row)
{
    const gl_acceptance *out = j->out;
    const gl_placement placement = tested_placement(j->plan, row);
    for (size_t i = 0; i < out->test_count; i++) {
        gl_acceptance_test *test = &out->tests[i];
        if (test->collective == row->collective && test->size_bytes == row->size_bytes &&
            gl_placement_equal(&test->placement, &placement))
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

const gl_expected_link *gl_acceptance__link_over(const gl_judge *j, const gl_placement *p,
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

gl_expectation gl_acceptance__expect(const gl_judge *j, const gl_acceptance_test *test,
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

void gl_acceptance__fill_expected(const gl_judge *j, gl_acceptance_test *test)
{
    const gl_expected_link *link =
        gl_acceptance__link_over(j, &test->placement, test->planned_transport);
    test->expected = gl_acceptance__expect(j, test, link);
    test->link_name = link != NULL ? link->name : "";
}

static void fill_link(const gl_judge *j, gl_acceptance_test *test)
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

static void add_test(gl_judge *j, const gl_traffic_row *row, const gl_network_time *call)
{
    gl_acceptance *out = j->out;
    out->tests =
        gl_arena_grow(j->arena, out->tests, &j->capacity, out->test_count + 1, sizeof *out->tests);
    gl_acceptance_test *test = &out->tests[out->test_count++];
    *test = (gl_acceptance_test){.dimension = row->dimension,
                                 .operation = row->operation,
                                 .collective = row->collective,
                                 .dtype = dtype_of(j->plan->workload, row),
                                 .placement = tested_placement(j->plan, row),
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
    gl_acceptance__fill_expected(j, test);
}

/* Rows of one stage with the same message add up; of several stages the busiest counts. */
static void add_stage(gl_judge *j, const gl_stage_plan *sp)
{
    const gl_traffic *traffic = &sp->traffic;
    for (size_t i = 0; i < traffic->row_count; i++)
        if (traffic->rows[i].placement.ranks > 1 && traffic->rows[i].calls_per_step > 0 &&
            find_test(j, &traffic->rows[i]) == NULL)
            add_test(j, &traffic->rows[i], &sp->times[i]);
    int64_t *calls = GL_ARENA_NEW(j->arena, int64_t, j->out->test_count);
    for (size_t i = 0; i < traffic->row_count; i++) {
        const gl_acceptance_test *test = find_test(j, &traffic->rows[i]);
        if (test != NULL)
            calls[test - j->out->tests] += traffic->rows[i].calls_per_step;
    }
    for (size_t t = 0; t < j->out->test_count; t++)
        if (calls[t] > j->out->tests[t].calls_per_step)
            j->out->tests[t].calls_per_step = calls[t];
}

bool gl_acceptance_same_curve(const gl_acceptance_test *a, const gl_acceptance_test *b)
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
            if (gl_acceptance_same_curve(&out->tests[i], &out->tests[k]) &&
                out->tests[k].size_bytes > largest->size_bytes)
                largest = &out->tests[k];
        out->tests[i].dtype = largest->dtype;
    }
}

void gl_acceptance__list_tests(gl_judge *j)
{
    for (int stage = 0; stage < j->plan->workload->parallel.pp; stage++)
        add_stage(j, &j->plan->stage_plans[stage]);
    unify_types(j->out);
}

/* ---- what to measure of them ---- */

static bool is_single(const gl_acceptance *acceptance, const gl_acceptance_test *test)
{
    for (size_t i = 0; i < acceptance->test_count; i++)
        if (&acceptance->tests[i] != test && gl_acceptance_same_curve(&acceptance->tests[i], test))
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
