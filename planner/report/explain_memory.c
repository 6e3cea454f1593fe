/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory's part of an explanation. Formulas: docs/models/memory.md. */
#include "planner/report/explain_figures.h"

#include <inttypes.h>
#include <math.h>

static const char modelled[] = "modelled", memory_page[] = "docs/models/memory.md";

static void add(gl_explainer *e, const char *column, double value, gl_figure_how how)
{
    gl_explain__line(e, true, column, NULL);
    gl_explain__add(e, column, gl_real(value), GL_BYTES, how);
}

static const char *gib(const gl_explainer *e, double value)
{
    char text[64];
    return isnan(value) ? "not known"
                        : gl_arena_strdup(e->arena, gl_format_gib(value, text, sizeof text));
}

/* "8.03e9 elements · 2 B": the bytes taken apart again. */
static const char *elements_text(const gl_explainer *e, double value, double element_bytes)
{
    return gl_arena_printf(e->arena, "%.0f elements on this GPU · %.4g B", value / element_bytes,
                           element_bytes);
}

static void add_weights(gl_explainer *e)
{
    const gl_memory *m = &e->plan->memory;
    const gl_precision *types = &e->plan->workload->precision;
    int zero = e->plan->workload->parallel.zero;
    bool master_only = zero == 3 && types->master != GL_DTYPE_NONE;
    double parameter_bytes = gl_dtype_bytes(master_only ? types->master : types->compute);
    double state_bytes =
        2 * gl_dtype_bytes(types->optimizer) + (zero == 3 ? 0 : gl_dtype_bytes(types->master));
    add(e, "parameters_bytes", m->parameters_bytes,
        (gl_figure_how){zero == 3 ? "parameters of the stage on one rank / ranks of the shard · "
                                    "bytes of the type that is kept"
                                  : "parameters of the stage on one rank · e",
                        elements_text(e, m->parameters_bytes, parameter_bytes), NULL, memory_page});
    add(e, "gradients_bytes", m->gradients_bytes,
        (gl_figure_how){zero >= 2 ? "parameters of the stage on one rank / ranks of the shard · e_g"
                                  : "parameters of the stage on one rank · e_g",
                        elements_text(e, m->gradients_bytes, gl_dtype_bytes(types->gradients)),
                        NULL, memory_page});
    add(e, "optimizer_bytes", m->optimizer_bytes,
        (gl_figure_how){zero >= 1
                            ? "parameters of the stage on one rank / ranks of the shard · (two "
                              "states + master weights)"
                            : "parameters of the stage on one rank · (two states + master "
                              "weights)",
                        elements_text(e, m->optimizer_bytes, state_bytes), NULL, memory_page});
}

static void add_activations(gl_explainer *e)
{
    const gl_memory *m = &e->plan->memory;
    const gl_workload *w = e->plan->workload;
    int layers = e->plan->stages[e->plan->memory_stage].layers;
    int chunks = gl_parallel_chunks(&w->parallel);
    double tokens = (double)w->model.sequence * w->batch.micro / w->parallel.cp;
    double token_layers = tokens * layers * m->in_flight / chunks;
    bool full = w->parallel.recompute == GL_RECOMPUTE_FULL;
    add(e, "activations_bytes", m->activations_bytes,
        (gl_figure_how){
            full ? "microbatches in flight · layers · tokens · input of a layer, and one "
                   "layer at work"
                 : "microbatches in flight · layers · tokens · bytes of a token in a "
                   "layer",
            gl_arena_printf(e->arena, "%d/%d · %d · %.0f · %.0f B (mean)", m->in_flight, chunks,
                            layers, tokens, m->activations_bytes / token_layers),
            modelled, memory_page});
    gl_explain__line(e, true, "in_flight", NULL);
    gl_explain__add(e, "in_flight", gl_integer(m->in_flight), GL_NUMBER,
                    (gl_figure_how){"microbatches (chunks, when interleaved) that wait for their "
                                    "backward under this schedule",
                                    NULL, NULL, memory_page});
}

static void add_others(gl_explainer *e)
{
    const gl_memory *m = &e->plan->memory;
    double other = m->logits_bytes + m->buffers_bytes + m->reserve_bytes;
    add(e, "other_bytes", other,
        (gl_figure_how){"logits + buffers + reserve",
                        gl_arena_printf(e->arena, "%s + %s + %s", gib(e, m->logits_bytes),
                                        gib(e, m->buffers_bytes), gib(e, m->reserve_bytes)),
                        modelled, "memory.* below"});
    add(e, "logits_bytes", m->logits_bytes,
        (gl_figure_how){"tokens · V, in the compute type and in FP32, on the last stage", NULL,
                        modelled, memory_page});
    add(e, "buffers_bytes", m->buffers_bytes,
        (gl_figure_how){"gathered parameters and buckets + libraries",
                        gl_arena_printf(e->arena, "%s + %s",
                                        gib(e, m->buffers_bytes - m->library_bytes),
                                        gib(e, m->library_bytes)),
                        modelled, memory_page});
    add(e, "library_bytes", m->library_bytes,
        (gl_figure_how){"CUDA context + buffers of NCCL", NULL, "assumed", memory_page});
    add(e, "reserve_bytes", m->reserve_bytes,
        (gl_figure_how){"share of the capacity that fragmentation costs · capacity",
                        gl_arena_printf(e->arena, "%.3g · %s", m->reserve_bytes / m->capacity_bytes,
                                        gib(e, m->capacity_bytes)),
                        "assumed", memory_page});
    add(e, "not_together_bytes", m->not_together_bytes,
        (gl_figure_how){"what of gradients, activations, logits and buckets is never there at the "
                        "same time",
                        NULL, modelled, memory_page});
}

static void add_total(gl_explainer *e)
{
    const gl_memory *m = &e->plan->memory;
    const gl_gpu *gpu = e->plan->cluster->gpu;
    add(e, "per_gpu_bytes", m->total_bytes,
        (gl_figure_how){
            "parameters + gradients + optimizer + activations + other − not_together",
            gl_arena_printf(e->arena, "%s + %s + %s + %s + %s − %s", gib(e, m->parameters_bytes),
                            gib(e, m->gradients_bytes), gib(e, m->optimizer_bytes),
                            gib(e, m->activations_bytes),
                            gib(e, m->logits_bytes + m->buffers_bytes + m->reserve_bytes),
                            gib(e, m->not_together_bytes)),
            modelled, "memory.* below"});
    add(e, "capacity_bytes", m->capacity_bytes,
        (gl_figure_how){.evidence = "catalogue",
                        .source = gpu != NULL ? gl_arena_printf(e->arena, "data/gpus/%s", gpu->name)
                                              : NULL});
    gl_explain__line(e, true, "fits", NULL);
    bool known = !isnan(m->capacity_bytes);
    gl_explain__add(
        e, "fits", known ? gl_boolean(m->fits) : (gl_cell){.type = GL_CELL_EMPTY}, GL_NUMBER,
        (gl_figure_how){"per_gpu ≤ capacity",
                        known ? gl_arena_printf(e->arena, "%s against %s", gib(e, m->total_bytes),
                                                gib(e, m->capacity_bytes))
                              : NULL,
                        modelled, NULL});
}

void gl_explain__memory(gl_explainer *e)
{
    e->table = e->prefix = "memory";
    gl_explain__line(e, true, "stage", NULL);
    gl_explain__add(e, "stage", gl_integer(e->plan->memory_stage), GL_NUMBER,
                    (gl_figure_how){.formula = "the pipeline stage that needs the most"});
    add_total(e);
    add_weights(e);
    add_activations(e);
    add_others(e);
}
