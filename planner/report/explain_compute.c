/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators: how long each takes, and the efficiency that this rests on. Formulas:
 * docs/models/compute.md. */
#include "planner/report/explain_figures.h"
#include "planner/report/plan_tables.h"

#include <string.h>

typedef enum op_kind {
    OP_GEMM,
    OP_FLASH,   /* attention in one kernel */
    OP_UNFUSED, /* attention in several */
    OP_BYTES,   /* element-wise */
    OP_COUNTED  /* all of a model that only a parameter count is known of */
} op_kind;

static op_kind kind_of(const gl_operator *op, const gl_gpu *gpu)
{
    if (op->count > 0)
        return OP_GEMM;
    if (!(op->forward_flop > 0))
        return OP_BYTES;
    if (op->forward_bytes > 0)
        return OP_UNFUSED;
    return gpu != NULL && op->kernels == 1 && strcmp(op->name, "attention core") == 0 ? OP_FLASH
                                                                                      : OP_COUNTED;
}

static const char *kind_text(op_kind kind)
{
    static const char *const texts[] = {
        [OP_GEMM] = "matrix product",       [OP_FLASH] = "flash attention",
        [OP_UNFUSED] = "unfused attention", [OP_BYTES] = "element by element",
        [OP_COUNTED] = "matrix products",
    };
    return texts[kind];
}

static double memory_rate(const gl_gpu *gpu)
{
    return gpu->memory_bw_bytes_per_s.value * gpu->memory_efficiency.value;
}

static const char *memory_text(const gl_explainer *e, double bytes)
{
    return gl_arena_printf(
        e->arena, "%s / %s", gl_explain__quantity(e, bytes, GL_BYTES),
        gl_explain__quantity(e, memory_rate(e->plan->cluster->gpu), GL_BYTES_PER_S));
}

/* The peak of attention is that of BF16 where GEMMs are in FP8. */
static const char *peak_text(const gl_explainer *e, bool attention)
{
    gl_dtype dtype = e->plan->workload->precision.compute;
    if (attention && dtype == GL_FP8)
        dtype = GL_BF16;
    return gl_explain__quantity(e, gl_peak_flop_per_s(e->plan->cluster->gpu, dtype), GL_FLOP_PER_S);
}

/* "efficiency 72 % (65 % to 78 %), measured: …": the assumption that decides. */
static const char *source_text(const gl_explainer *e, const char *what, const gl_figure *figure)
{
    static const char *const kinds[] = {"absent", "measured", "specification", "assumed"};
    return gl_arena_printf(e->arena, "%s of %.3g %% (%.3g %% to %.3g %%), %s: %s", what,
                           100 * figure->value, 100 * figure->low, 100 * figure->high,
                           kinds[figure->kind], figure->source);
}

static const char *launches(const gl_explainer *e, int count)
{
    return gl_arena_printf(
        e->arena, "%d · %s", count,
        gl_explain__seconds(e, gl_kernel_launch_s(e->plan->workload, e->plan->cluster->gpu)));
}

static gl_figure_how gemm_forward(const gl_explainer *e, const gl_operator *op)
{
    double bytes = op->forward_bytes / op->count;
    bool cast = op->forward_cast_s > 0;
    return (gl_figure_how){
        cast ? "products · (max(2·m·n·k / (peak · efficiency · shape), bytes / memory bandwidth "
               "reached) + launch) + casts to FP8"
             : "products · (max(2·m·n·k / (peak · efficiency · shape), bytes / memory bandwidth "
               "reached) + launch)",
        gl_arena_printf(e->arena,
                        "%.15g · (max(2·%.15g·%.15g·%.15g / (%s · %.6g · %.6g), %s) + %s)%s%s",
                        op->count, op->m, op->n, op->k, peak_text(e, false), op->efficiency->value,
                        op->shape_share, memory_text(e, bytes), launches(e, 1), cast ? " + " : "",
                        cast ? gl_explain__seconds(e, op->forward_cast_s) : ""),
        NULL, source_text(e, "GEMM efficiency", op->efficiency)};
}

static gl_figure_how flash(const gl_explainer *e, const gl_operator *op, double flop,
                           const gl_figure *efficiency, int kernels)
{
    return (gl_figure_how){"FLOP / (peak · efficiency · length) + kernels · launch",
                           gl_arena_printf(e->arena, "%.6g / (%s · %.6g · %.6g) + %s", flop,
                                           peak_text(e, true), efficiency->value,
                                           op->attention_ramp, launches(e, kernels)),
                           NULL, source_text(e, "attention efficiency", efficiency)};
}

static gl_figure_how by_bytes(const gl_explainer *e, double bytes, int kernels)
{
    return (gl_figure_how){
        "bytes / memory bandwidth reached + kernels · launch",
        gl_arena_printf(e->arena, "%s + %s", memory_text(e, bytes), launches(e, kernels)), NULL,
        source_text(e, "share of the memory bandwidth", &e->plan->cluster->gpu->memory_efficiency)};
}

static gl_figure_how counted(const gl_explainer *e, double flop, const gl_operator *op)
{
    return (gl_figure_how){"FLOP / (peak · efficiency)",
                           gl_arena_printf(e->arena, "%.6g / (%s · %.6g)", flop,
                                           peak_text(e, false), op->efficiency->value),
                           NULL, source_text(e, "GEMM efficiency", op->efficiency)};
}

static const char unfused_formula[] =
    "batched GEMMs over the whole square of scores, and kernels that stream the scores between "
    "them: bytes / memory bandwidth reached";

static gl_figure_how forward_how(const gl_explainer *e, const gl_operator *op, op_kind kind)
{
    switch (kind) {
    case OP_GEMM:
        return gemm_forward(e, op);
    case OP_FLASH:
        return flash(e, op, op->forward_flop, op->efficiency, 1);
    case OP_BYTES:
        return by_bytes(e, op->forward_bytes, op->kernels);
    case OP_COUNTED:
        return counted(e, op->forward_flop, op);
    case OP_UNFUSED:
        break;
    }
    return (gl_figure_how){unfused_formula, NULL, NULL,
                           source_text(e, "share of the memory bandwidth", op->efficiency)};
}

static gl_figure_how backward_how(const gl_explainer *e, const gl_operator *op, op_kind kind)
{
    switch (kind) {
    case OP_GEMM:
        return (gl_figure_how){
            "a product for the input, [m,n]·[n,k], and one for the weights, "
            "[n,m]·[m,k], timed as in forward; adding up gradients in the product itself takes "
            "(c^1.25 + memory^1.25)^0.8, in a kernel of its own its bytes; and casts",
            NULL, NULL, source_text(e, "GEMM efficiency", op->efficiency)};
    case OP_FLASH:
        return flash(e, op, op->backward_flop, op->backward_efficiency, 3);
    case OP_BYTES:
        return by_bytes(e, op->backward_bytes, 2 * op->kernels);
    case OP_COUNTED:
        return counted(e, op->backward_flop, op);
    case OP_UNFUSED:
        break;
    }
    return (gl_figure_how){unfused_formula, NULL, NULL,
                           source_text(e, "share of the memory bandwidth", op->efficiency)};
}

/* Is forward done again before this operator's backward? */
static bool is_repeated(const gl_explainer *e, const gl_operator *op, op_kind kind)
{
    gl_recompute recompute = e->plan->workload->parallel.recompute;
    bool layer = op->block == GL_BLOCK_DENSE || op->block == GL_BLOCK_MOE;
    return (recompute == GL_RECOMPUTE_FULL && layer) ||
           (recompute == GL_RECOMPUTE_SELECTIVE && (kind == OP_FLASH || kind == OP_UNFUSED));
}

/* What the share of the shape is, by kind of operator. */
static const char *shape_note(const gl_explainer *e, op_kind kind)
{
    const gl_gpu *gpu = e->plan->cluster->gpu;
    if (kind == OP_FLASH)
        return "length: s/(s + 512) of s tokens, over the same of the 4096 for which the "
               "efficiency "
               "stands";
    if (kind != OP_GEMM)
        return NULL;
    if (gpu->gemm_tile_m.kind == GL_FIGURE_ABSENT || gpu->gemm_tile_n.kind == GL_FIGURE_ABSENT ||
        gpu->sm_count.kind == GL_FIGURE_ABSENT)
        return "shape: k / (k + 100), and the alignment of rows to 16 bytes";
    return gl_arena_printf(e->arena,
                           "shape: what padding to tiles of %.0f x %.0f and the last, partly "
                           "filled wave over %.0f multiprocessors leave, times k / (k + 100), and "
                           "the alignment of rows to 16 bytes",
                           gpu->gemm_tile_m.value, gpu->gemm_tile_n.value, gpu->sm_count.value);
}

static void add_times(gl_explainer *e, const gl_operator *op, op_kind kind)
{
    const char *evidence = gl_evidence_name(e->plan->compute.evidence);
    gl_figure_how forward = {.source = "compute: of the description; operators keep their shares"};
    gl_figure_how backward = forward;
    if (e->plan->compute.evidence != GL_EVIDENCE_STATED && e->plan->cluster->gpu != NULL) {
        forward = forward_how(e, op, kind);
        backward = backward_how(e, op, kind);
    }
    if (is_repeated(e, op, kind) && backward.formula != NULL) {
        backward.formula = gl_arena_printf(e->arena, "%s; and forward again", backward.formula);
        if (backward.numbers != NULL)
            backward.numbers = gl_arena_printf(e->arena, "%s + %s", backward.numbers,
                                               gl_explain__seconds(e, op->forward_s));
    }
    forward.evidence = backward.evidence = evidence;
    gl_explain__add(e, "forward_s", gl_real(op->forward_s), GL_SECONDS, forward);
    if (forward.formula != NULL && shape_note(e, kind) != NULL)
        gl_explain__note(e, shape_note(e, kind));
    gl_explain__add(e, "backward_s", gl_real(op->backward_s), GL_SECONDS, backward);
}

static void add_amounts(gl_explainer *e, const gl_operator *op, op_kind kind)
{
    const char *flop = "2 · parameters · tokens", *numbers = NULL;
    bool eager = e->plan->workload->kernels.elementwise == GL_ELEMENTWISE_EAGER;
    const char *bytes = eager ? "tensors read and written · 1.5, as an eager framework does"
                              : "tensors read and written";
    if (kind == OP_GEMM) {
        flop = "products · 2·m·n·k";
        bytes = "products · (m·n + m·k + n·k) · e";
        numbers = gl_arena_printf(e->arena, "%.15g · 2·%.15g·%.15g·%.15g", op->count, op->m, op->n,
                                  op->k);
    } else if (kind == OP_FLASH) {
        flop = "2 · tokens · tokens that one attends to (mean) · heads of the rank · (width of q + "
               "width of v)";
    } else if (kind == OP_UNFUSED) {
        flop = "2 · tokens · s · heads of the rank · (width of q + width of v)";
        bytes = "scores read and written by softmax and dropout";
    }
    gl_figure_how none = {.formula = "none"};
    gl_figure_how flops = {.formula = flop, .numbers = numbers}, memory = {.formula = bytes};
    gl_explain__add(e, "forward_flop", gl_real(op->forward_flop), GL_NUMBER,
                    op->forward_flop > 0 ? flops : none);
    gl_explain__add(e, "backward_flop", gl_real(op->backward_flop), GL_NUMBER,
                    op->backward_flop > 0
                        ? (gl_figure_how){.formula = kind == OP_FLASH ? "2.5 · forward, as flash "
                                                                        "attention's backward does"
                                                                      : "2 · forward"}
                        : none);
    gl_explain__add(e, "forward_bytes", gl_real(op->forward_bytes), GL_BYTES,
                    op->forward_bytes > 0 ? memory : none);
    gl_explain__add(e, "backward_bytes", gl_real(op->backward_bytes), GL_BYTES,
                    op->backward_bytes > 0
                        ? (gl_figure_how){.formula = "the same backward: inputs and gradients"}
                        : none);
    gl_explain__add(e, "kernels", gl_integer(op->kernels), GL_NUMBER,
                    (gl_figure_how){.source = NULL});
}

void gl_explain__compute(gl_explainer *e)
{
    const gl_compute *compute = &e->plan->compute;
    e->table = "compute";
    for (size_t i = 0; i < compute->operator_count; i++) {
        const gl_operator *op = &compute->operators[i];
        op_kind kind = kind_of(op, e->plan->cluster->gpu);
        e->prefix = gl_arena_printf(e->arena, "compute.%zu", i + 1);
        gl_explain__line(e, false, "forward_s",
                         gl_arena_printf(e->arena, "%s: %s (%s)", gl_block_kind_name(op->block),
                                         op->name, kind_text(kind)));
        add_times(e, op, kind);
        add_amounts(e, op, kind);
    }
}
