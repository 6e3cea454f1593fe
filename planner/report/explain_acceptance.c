/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the limits of an acceptance come about. The formulas are those of planner/core/acceptance.c
 * and common/expected.c. */
#include "planner/report/explain_acceptance.h"

#include "planner/report/explain_figures.h"
#include "planner/report/plan_tables.h"

static void add_times(gl_explainer *e, const gl_acceptance *a, const gl_acceptance_test *t)
{
    const char *known = gl_evidence_name(t->planned_evidence);
    e->table = "acceptance";
    gl_explain__add(
        e, "limit_s", gl_real(t->limit_s), GL_SECONDS,
        (gl_figure_how){"planned time of one call · (1 + tolerance)",
                        gl_arena_printf(e->arena, "%s · (1 + %.3g)",
                                        gl_explain__seconds(e, t->planned_s), a->tolerance_frac),
                        known, "gpulink-plan accept --tolerance"});
    gl_explain__add(e, "planned_s", gl_real(t->planned_s), GL_SECONDS,
                    (gl_figure_how){"time of one call, as of the row of traffic", NULL, known,
                                    "traffic.*.time_per_call_s"});
    gl_explain__add(
        e, "needed_s", gl_real(t->needed_s), GL_SECONDS,
        (gl_figure_how){"planned time · available bandwidth of its tier / required bandwidth",
                        gl_arena_printf(e->arena, "%s · %.4g", gl_explain__seconds(e, t->planned_s),
                                        t->needed_s / t->planned_s),
                        known, "required_bandwidth.*"});
    gl_explain__add(e, "link_s", gl_real(t->link_s), GL_SECONDS,
                    (gl_figure_how){"time of one call by the figures of the link alone, without "
                                    "what was measured",
                                    NULL, "catalogue",
                                    t->link_name[0] != '\0'
                                        ? gl_arena_printf(e->arena, "data/links/%s", t->link_name)
                                        : NULL});
    gl_explain__add(
        e, "link_p90_s", gl_real(t->link_p90_s), GL_SECONDS,
        (gl_figure_how){"the same by the low end of the link's figures", NULL, "catalogue", NULL});
}

static void add_expected(gl_explainer *e, const gl_acceptance_test *t)
{
    const gl_expectation *x = &t->expected;
    const char *link = t->link_name[0] != '\0' ? t->link_name : "the link";
    e->table = "expected";
    gl_explain__add(e, "line_busbw_bytes_per_s", gl_real(x->line), GL_BYTES_PER_S,
                    (gl_figure_how){x->basis, NULL, "catalogue",
                                    gl_arena_printf(e->arena, "data/expected, %s", link)});
    gl_explain__add(e, "assumed_busbw_bytes_per_s", gl_real(x->assumed), GL_BYTES_PER_S,
                    (gl_figure_how){"NCCL's own figure of the link, in the place of its rate", NULL,
                                    "catalogue", "NCCL, src/graph/topo.h"});
    gl_explain__add(
        e, "typical_busbw_bytes_per_s", gl_real(x->typical), GL_BYTES_PER_S,
        (gl_figure_how){"line rate · share that large messages reach",
                        gl_arena_printf(e->arena, "%s · %.3g, usually %.3g to %.3g",
                                        gl_explain__rate(e, x->line), x->typical / x->line,
                                        x->low / x->line, x->high / x->line),
                        "catalogue", x->source[0] != '\0' ? x->source : NULL});
}

void gl_explain_acceptance(const gl_acceptance *acceptance, gl_arena *arena, gl_explanation *out)
{
    gl_explainer e = {.plan = acceptance->plan, .arena = arena, .out = out};
    for (size_t i = 0; i < acceptance->test_count; i++) {
        const gl_acceptance_test *t = &acceptance->tests[i];
        e.table = "acceptance";
        e.prefix = gl_arena_printf(arena, "acceptance.%zu", i + 1);
        gl_explain__line(&e, false, "limit_s",
                         gl_arena_printf(arena, "longest time that passes: %s of %s over %s",
                                         gl_collective_name(t->collective),
                                         gl_explain__quantity(&e, (double)t->size_bytes, GL_BYTES),
                                         gl_placement_text(&t->placement, arena)));
        add_times(&e, acceptance, t);
        add_expected(&e, t);
    }
}
