/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory's part of an explanation. Formulas: docs/models/memory.md. */
#include "planner/report/explain_figures.h"

#include <math.h>

static const char modelled[] = "modelled", memory_page[] = "docs/models/memory.md";

static void add(gl_explainer *e, const char *column, double value, gl_figure_how how)
{
    gl_explain__line(e, true, column, NULL);
    gl_explain__add(e, column, gl_real(value), GL_BYTES, how);
}

static const char *gib(const gl_explainer *e, double value)
{
    return isnan(value) ? "not known" : gl_gib_text(value, e->arena);
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

static gl_figure_how in_flight_how(const gl_explainer *e)
{
    const gl_parallel *p = &e->plan->workload->parallel;
    long long m = (long long)gl_workload_microbatches(e->plan->workload);
    int v = gl_parallel_chunks(p), stage = e->plan->memory_stage;
    const char *formula = "stages from this one on, at most all microbatches";
    const char *numbers = gl_arena_printf(e->arena, "min(%d − %d, %lld)", p->pp, stage, m);
    if (p->pp == 1 || p->schedule == GL_SCHEDULE_GPIPE) {
        formula = p->pp == 1 ? "no pipeline: one microbatch at a time" : "all microbatches";
        numbers =
            p->pp == 1 ? gl_arena_printf(e->arena, "%d", v) : gl_arena_printf(e->arena, "%lld", m);
    } else if (v > 1) {
        formula = "chunks: 2·(stages behind this one) + (v − 1)·p + 1, at most m·v";
        numbers = gl_arena_printf(e->arena, "min(2·(%d − %d − 1) + (%d − 1)·%d + 1, %lld·%d)",
                                  p->pp, stage, v, p->pp, m, v);
    }
    return (gl_figure_how){formula, numbers, NULL, memory_page};
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
            isnan(m->activations_bytes)
                ? NULL
                : gl_arena_printf(e->arena, "%d/%d · %d · %.0f · %.2f B (mean)", m->in_flight,
                                  chunks, layers, tokens, m->activations_bytes / token_layers),
            modelled, memory_page});
    gl_explain__line(e, true, "in_flight", NULL);
    gl_explain__add(e, "in_flight", gl_integer(m->in_flight), GL_NUMBER, in_flight_how(e));
}

/* Logits of the last stage: Megatron's loss on a split vocabulary works in place on one FP32 copy;
 * otherwise there are two. */
static void add_logits(gl_explainer *e)
{
    const gl_workload *w = e->plan->workload;
    const gl_parallel *p = &w->parallel;
    const gl_memory *m = &e->plan->memory;
    double logits = isnan(m->activations_bytes) ? (double)NAN : m->logits_bytes;
    double tokens = (double)w->model.sequence * w->batch.micro / p->cp;
    double type_bytes = fmax(2, gl_dtype_bytes(w->precision.compute));
    bool split = p->vocab_parallel && p->tp > 1;
    int parts = split || p->sequence_parallel ? p->tp : 1;
    const char *formula = split ? "tokens · V / t · (bytes of the compute type + FP32 copy)"
                          : p->sequence_parallel
                              ? "tokens / t · V · (bytes of the compute type + two FP32 copies)"
                              : "tokens · V · (bytes of the compute type + two FP32 copies)";
    if (logits == 0)
        formula = "none: this stage has no LM head";
    add(e, "logits_bytes", logits,
        (gl_figure_how){formula,
                        !(logits > 0) ? NULL
                                      : gl_arena_printf(e->arena, "%.0f · %d / %d · (%.0f B + %s)",
                                                        tokens, w->model.vocab, parts, type_bytes,
                                                        split ? "4 B" : "2 · 4 B"),
                        modelled, memory_page});
}

/* The sum of the amounts is no peak: some are there only when others are gone. */
static void add_not_together(gl_explainer *e)
{
    const gl_memory *m = &e->plan->memory;
    double activations = isnan(m->activations_bytes) ? 0 : m->activations_bytes;
    double sum = m->parameters_bytes + m->gradients_bytes + m->optimizer_bytes + activations +
                 m->logits_bytes + m->buffers_bytes + m->reserve_bytes;
    add(e, "not_together_bytes", m->not_together_bytes,
        (gl_figure_how){"sum of all amounts − what is there at the peak",
                        gl_arena_printf(e->arena, "%s − %s", gib(e, sum), gib(e, m->total_bytes)),
                        modelled, memory_page});
    gl_explain__note(e,
                     m->not_together_bytes > 0
                         ? "gradients come as activations go, and one message with all gradients "
                           "is there only after backward"
                         : "all are there at the same time");
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
    add_logits(e);
    add(e, "buffers_bytes", m->buffers_bytes,
        (gl_figure_how){"gathered parameters and buckets + libraries",
                        gl_arena_printf(e->arena, "%s + %s",
                                        gib(e, m->buffers_bytes - m->library_bytes),
                                        gib(e, m->library_bytes)),
                        modelled, memory_page});
    add(e, "library_bytes", m->library_bytes,
        (gl_figure_how){"CUDA context + buffers of NCCL (32 channels, to send and to receive)",
                        gl_workload_ranks(e->plan->workload) > 1 ? "512 MiB + 2 · 32 · 4 MiB"
                                                                 : "512 MiB",
                        "assumed", memory_page});
    add(e, "reserve_bytes", m->reserve_bytes,
        (gl_figure_how){"share of the capacity that fragmentation costs · capacity",
                        isnan(m->capacity_bytes)
                            ? NULL
                            : gl_arena_printf(e->arena, "%.3g · %s",
                                              m->reserve_bytes / m->capacity_bytes,
                                              gib(e, m->capacity_bytes)),
                        "assumed", memory_page});
    add_not_together(e);
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
        e, "fits", m->fits_known ? gl_boolean(m->fits) : (gl_cell){.type = GL_CELL_EMPTY},
        GL_NUMBER,
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
