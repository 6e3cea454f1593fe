/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/check.h"

#include "planner/core/compute.h"
#include "planner/core/layout.h"
#include "planner/core/parameters.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Beyond these no machine exists, and products of sizes would leave 64 bits. */
static const double ranks_max = 1e7;
static const double parameters_max = 1e16;
static const double activation_max = 1e15; /* elements of one activation */
static const double microbatches_max = 1e6;
static const int64_t chunks_max = 1024; /* of a pipeline; its simulation grows with their square */

/* A stated parameter count may differ by this much: published counts are rounded. */
static const double parameters_tolerance = 0.02;

static void __attribute__((format(printf, 4, 5)))
add(gl_findings *findings, bool fatal, const char *path, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    findings->items = gl_arena_grow(findings->arena, findings->items, &findings->capacity,
                                    findings->count + 1, sizeof *findings->items);
    findings->items[findings->count++] =
        (gl_finding){.path = gl_arena_strdup(findings->arena, path),
                     .message = gl_arena_strdup(findings->arena, message),
                     .fatal = fatal};
}

const gl_finding *gl_findings_first_fatal(const gl_findings *findings, size_t from)
{
    for (size_t i = from; i < findings->count; i++)
        if (findings->items[i].fatal)
            return &findings->items[i];
    return NULL;
}

/* "heads (30) must be a multiple of tp (4)", at `path`, when it is not. */
static void must_divide(gl_findings *findings, const char *path, const char *what, int64_t value,
                        const char *by, int64_t divisor)
{
    if (divisor > 0 && value % divisor != 0)
        add(findings, true, path, "%s (%lld) must be a multiple of %s (%lld)", what,
            (long long)value, by, (long long)divisor);
}

/* ---- sizes ---- */

/* An upper bound of the parameter count, in floating point, so that it cannot overflow. */
static double parameters_bound(const gl_model *m)
{
    const gl_attention *a = &m->attention;
    double hidden = m->hidden, heads = m->heads;
    double attention = 4 * hidden * heads * m->head_dim;
    if (a->kind == GL_ATTENTION_MLA)
        attention = hidden * (a->q_lora + a->kv_lora + a->qk_rope) +
                    heads * ((double)a->q_lora + hidden + a->kv_lora) *
                        (a->qk_nope + a->qk_rope + a->v_head) +
                    heads * a->v_head * hidden;
    double mlp = 3 * hidden * m->ffn;
    double experts = 3 * hidden * ((double)m->moe.experts * m->moe.expert_ffn + m->moe.shared_ffn);
    double router = hidden * m->moe.experts;
    return m->layers * (attention + mlp + experts + router + 16 * hidden) +
           hidden * (2.0 * m->vocab + m->learned_positions);
}

static void check_sizes(const gl_workload *w, gl_findings *findings)
{
    const gl_parallel *p = &w->parallel;
    double ranks = (double)p->tp * p->cp * p->dp * p->pp;
    if (ranks > ranks_max)
        add(findings, true, "parallel",
            "tp %d x cp %d x dp %d x pp %d makes %.3g ranks; at most %.0f are planned", p->tp,
            p->cp, p->dp, p->pp, ranks, ranks_max);
    double parameters = parameters_bound(&w->model);
    if (parameters > parameters_max)
        add(findings, true, "model",
            "these sizes make about %.3g parameters; at most %.0e are planned", parameters,
            parameters_max);
    double widest = fmax(w->model.hidden, fmax(w->model.ffn, w->model.vocab));
    widest = fmax(widest, (double)w->model.heads * w->model.head_dim);
    double activation = (double)w->model.sequence * w->batch.micro * widest;
    if (activation > activation_max)
        add(findings, true, "model.sequence",
            "sequence (%d) x micro (%d) x %.0f makes an activation of %.3g elements; "
            "at most %.0e are planned",
            w->model.sequence, w->batch.micro, widest, activation, activation_max);
    const gl_moe *moe = &w->model.moe;
    double routed =
        (double)w->model.sequence * w->batch.micro * w->model.hidden * moe->top_k * moe->capacity;
    if (moe->experts > 0 && routed > activation_max)
        add(findings, true, "model.moe",
            "sequence (%d) x micro (%d) x hidden (%d) x top_k (%d) x capacity (%g) sends "
            "%.3g elements to experts; at most %.0e are planned",
            w->model.sequence, w->batch.micro, w->model.hidden, moe->top_k, moe->capacity, routed,
            activation_max);
    int64_t chunks = (int64_t)p->pp * p->virtual_stages;
    if (ranks <= ranks_max && chunks > chunks_max)
        add(findings, true, "parallel.pp",
            "pp (%d) x virtual_stages (%d) makes %lld chunks; at most %lld are planned", p->pp,
            p->virtual_stages, (long long)chunks, (long long)chunks_max);
}

/* ---- architecture ---- */

static void check_attention(const gl_model *m, gl_findings *findings)
{
    const gl_attention *a = &m->attention;
    if (a->kind == GL_ATTENTION_GQA) {
        must_divide(findings, "model.kv_heads", "heads", m->heads, "kv_heads", m->kv_heads);
        if (a->q_lora > 0 || a->kv_lora > 0 || a->qk_nope > 0 || a->qk_rope > 0 || a->v_head > 0)
            add(findings, true, "model.attention",
                "q_lora, kv_lora, qk_nope, qk_rope and v_head need kind: mla");
        return;
    }
    const struct {
        const char *path;
        int value;
    } needed[] = {{"model.attention.kv_lora", a->kv_lora},
                  {"model.attention.qk_nope", a->qk_nope},
                  {"model.attention.qk_rope", a->qk_rope},
                  {"model.attention.v_head", a->v_head}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (needed[i].value == 0)
            add(findings, true, needed[i].path, "missing; attention of kind mla needs it");
}

static void check_moe(const gl_model *m, gl_findings *findings)
{
    const gl_moe *moe = &m->moe;
    if (moe->experts == 0) {
        if (moe->top_k > 0 || moe->expert_ffn > 0 || moe->shared_ffn > 0 ||
            moe->first_dense_layers > 0 || moe->router_bias)
            add(findings, true, "model.moe.experts", "missing; a mixture of experts needs it");
        return;
    }
    if (moe->top_k == 0)
        add(findings, true, "model.moe.top_k", "missing; a mixture of experts needs it");
    else if (moe->top_k > moe->experts)
        add(findings, true, "model.moe.top_k", "top_k (%d) is above experts (%d)", moe->top_k,
            moe->experts);
    if (moe->expert_ffn == 0)
        add(findings, true, "model.moe.expert_ffn", "missing; a mixture of experts needs it");
    if (moe->first_dense_layers >= m->layers)
        add(findings, true, "model.moe.first_dense_layers",
            "first_dense_layers (%d) leaves none of the %d layers for experts",
            moe->first_dense_layers, m->layers);
    else if (moe->every > m->layers - moe->first_dense_layers)
        add(findings, true, "model.moe.every",
            "every (%d) is above the %d layers that follow the dense ones", moe->every,
            m->layers - moe->first_dense_layers);
}

/* Has the model layers with a dense MLP? */
static bool has_dense_layers(const gl_model *m)
{
    return m->moe.experts == 0 || m->moe.first_dense_layers > 0 || m->moe.every > 1;
}

static void check_model(const gl_workload *w, gl_findings *findings)
{
    const gl_model *m = &w->model;
    check_attention(m, findings);
    check_moe(m, findings);
    if (m->ffn == 0 && has_dense_layers(m))
        add(findings, true, "model.ffn", "missing; layers with a dense MLP need it");
    if (m->learned_positions > 0 && m->sequence > m->learned_positions)
        add(findings, true, "model.sequence",
            "sequence (%d) is longer than the table of learned positions (%d)", m->sequence,
            m->learned_positions);
}

/* ---- what only an architecture can answer ---- */

static void missing_fields(const gl_model *m, char *text, size_t size)
{
    bool architecture = gl_model_has_architecture(m);
    const struct {
        const char *name;
        bool missing;
    } fields[] = {
        {"layers", m->layers == 0}, {"hidden", m->hidden == 0},
        {"heads", m->heads == 0},   {"ffn", m->ffn == 0 && !architecture},
        {"vocab", m->vocab == 0},   {"sequence", m->sequence == 0},
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        size_t used = strlen(text);
        if (fields[i].missing)
            snprintf(text + used, size - used, "%smodel.%s", used > 0 ? ", " : "", fields[i].name);
    }
}

/* With a parameter count alone, data parallel traffic is exact and nothing else can be known. */
static void check_architecture_present(const gl_workload *w, gl_findings *findings)
{
    const gl_parallel *p = &w->parallel;
    const struct {
        const char *path, *what;
        bool used;
    } uses[] = {
        {"parallel.tp", "tensor parallelism", p->tp > 1},
        {"parallel.pp", "pipeline parallelism", p->pp > 1},
        {"parallel.cp", "context parallelism", p->cp > 1},
        {"parallel.ep", "expert parallelism", p->ep > 1},
        {"parallel.recompute", "recomputation", p->recompute != GL_RECOMPUTE_NONE},
    };
    char missing[256];
    missing_fields(&w->model, missing, sizeof missing);
    for (size_t i = 0; missing[0] != '\0' && i < sizeof uses / sizeof uses[0]; i++)
        if (uses[i].used)
            add(findings, true, uses[i].path, "%s needs the model's architecture; missing: %s",
                uses[i].what, missing);
    if (p->zero == 3 && !gl_model_has_architecture(&w->model))
        add(findings, false, "parallel.zero",
            "without the model's architecture ZeRO-3 is planned as one unit: the bytes "
            "are right, the number of messages is not");
}

/* ---- parallel degrees ---- */

static void check_kv_heads(const gl_workload *w, gl_findings *findings)
{
    int kv = w->model.kv_heads, tp = w->parallel.tp;
    if (w->model.attention.kind == GL_ATTENTION_MLA || kv % tp == 0)
        return;
    if (kv < tp && tp % kv == 0)
        add(findings, false, "parallel.tp",
            "kv_heads (%d) is below tp (%d): each K and V head is held by %d ranks", kv, tp,
            tp / kv);
    else
        add(findings, true, "parallel.tp",
            "kv_heads (%d) must be a multiple or a divisor of tp (%d)", kv, tp);
}

static void check_tp(const gl_workload *w, gl_findings *findings)
{
    const gl_model *m = &w->model;
    int tp = w->parallel.tp;
    const char *path = "parallel.tp";
    if (tp == 1)
        return;
    must_divide(findings, path, "heads", m->heads, "tp", tp);
    check_kv_heads(w, findings);
    if (has_dense_layers(m))
        must_divide(findings, path, "ffn", m->ffn, "tp", tp);
    must_divide(findings, path, "moe.expert_ffn", m->moe.expert_ffn, "tp", tp);
    must_divide(findings, path, "moe.shared_ffn", m->moe.shared_ffn, "tp", tp);
    if (w->parallel.vocab_parallel && m->vocab % tp != 0) {
        /* Megatron pads to a multiple of 128 a rank. */
        long long unit = 128LL * tp;
        add(findings, true, path,
            "vocab (%d) must be a multiple of tp (%d): pad it, for example to %lld, or "
            "set parallel.vocab_parallel: false",
            m->vocab, tp, (long long)gl_divide_up(m->vocab, unit) * unit);
    }
}

static void check_sequence(const gl_workload *w, gl_findings *findings)
{
    const gl_parallel *p = &w->parallel;
    if (p->sequence_parallel && p->tp > 1)
        must_divide(findings, "model.sequence", "sequence", w->model.sequence,
                    p->cp > 1 ? "cp x tp, with sequence_parallel," : "tp, with sequence_parallel,",
                    (int64_t)p->cp * p->tp);
    else
        must_divide(findings, "model.sequence", "sequence", w->model.sequence, "cp", p->cp);
    if (p->cp_method == GL_CP_ULYSSES && p->cp > 1)
        must_divide(findings, "parallel.cp", "heads", w->model.heads, "tp x cp, with ulysses,",
                    (int64_t)p->tp * p->cp);
}

/* How many layers the stages hold: "stage 0: 20, stages 1-2: 21, stage 3: 20". */
static void stages_text(const gl_stage *stages, int count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used + 64 < size;) {
        int last = i;
        while (last + 1 < count && stages[last + 1].layers == stages[i].layers)
            last++;
        char range[48];
        if (last == i)
            snprintf(range, sizeof range, "stage %d", i);
        else
            snprintf(range, sizeof range, "stages %d-%d", i, last);
        used += (size_t)snprintf(text + used, size - used, "%s%s: %d", used > 0 ? ", " : "", range,
                                 stages[i].layers);
        i = last + 1;
    }
}

static void check_stages(const gl_workload *w, gl_findings *findings)
{
    const gl_parallel *p = &w->parallel;
    int64_t chunks = (int64_t)p->pp * p->virtual_stages;
    if (w->model.layers < chunks) {
        add(findings, true, "parallel.pp",
            "pp (%d) x virtual_stages (%d) makes %lld chunks, more than the %d layers", p->pp,
            p->virtual_stages, (long long)chunks, w->model.layers);
        return;
    }
    if (w->model.layers % chunks == 0 || gl_findings_first_fatal(findings, 0) != NULL)
        return;
    gl_stage *stages = NULL;
    char text[512];
    gl_stages_build(&w->model, p, findings->arena, &stages);
    stages_text(stages, p->pp, text, sizeof text);
    add(findings, false, "parallel.pp",
        "layers (%d) is no multiple of pp%s (%lld), the stages are uneven; layers held "
        "by %s",
        w->model.layers, p->virtual_stages > 1 ? " x virtual_stages" : "", (long long)chunks, text);
}

static void check_schedule(const gl_workload *w, gl_findings *findings)
{
    const gl_parallel *p = &w->parallel;
    if (p->schedule != GL_SCHEDULE_INTERLEAVED) {
        if (p->virtual_stages > 1)
            add(findings, true, "parallel.virtual_stages",
                "virtual_stages (%d) needs schedule: interleaved", p->virtual_stages);
        return;
    }
    if (p->pp < 2)
        add(findings, true, "parallel.schedule",
            "the interleaved schedule needs pp of 2 or more, found %d", p->pp);
    if (p->virtual_stages < 2)
        add(findings, true, "parallel.virtual_stages",
            "the interleaved schedule needs virtual_stages of 2 or more, found %d",
            p->virtual_stages);
    int64_t microbatches = gl_workload_microbatches(w);
    if (microbatches > 0)
        must_divide(findings, "parallel.schedule", "the microbatches of the interleaved schedule",
                    microbatches, "pp", p->pp);
}

static void check_experts(const gl_workload *w, gl_findings *findings)
{
    const gl_parallel *p = &w->parallel;
    if (p->ep == 1)
        return;
    int64_t replicas = (int64_t)p->dp * p->cp;
    if (p->ep > replicas)
        add(findings, true, "parallel.ep",
            "ep (%d) is above dp x cp (%lld), inside which experts are spread", p->ep,
            (long long)replicas);
    else
        must_divide(findings, "parallel.ep", "dp x cp", replicas, "ep", p->ep);
    if (!gl_model_has_architecture(&w->model))
        return;
    if (w->model.moe.experts == 0)
        add(findings, true, "parallel.ep",
            "ep (%d) needs a model with experts; model.moe.experts is missing", p->ep);
    else
        must_divide(findings, "parallel.ep", "moe.experts", w->model.moe.experts, "ep", p->ep);
}

static void check_shard(const gl_workload *w, gl_findings *findings)
{
    const gl_parallel *p = &w->parallel;
    if (p->zero == 3 && !p->reduce_scatter)
        add(findings, true, "parallel.reduce_scatter",
            "reduce_scatter: false needs zero: 1 or 2, found 3");
    if (p->zero == 3 && p->rank_broadcast)
        add(findings, true, "parallel.rank_broadcast",
            "rank_broadcast: true needs zero: 1 or 2, found 3");
    if (p->shard == 0)
        return;
    if (p->zero == 0)
        add(findings, true, "parallel.shard", "shard needs zero: 1, 2 or 3, found 0");
    must_divide(findings, "parallel.shard", "dp x cp", (int64_t)p->dp * p->cp, "shard", p->shard);
}

static void check_batch(const gl_workload *w, gl_findings *findings)
{
    int64_t replica_batch = (int64_t)w->parallel.dp * w->batch.micro;
    int64_t microbatches = gl_workload_microbatches(w);
    if (microbatches == 0)
        must_divide(findings, "batch.global", "global", w->batch.global, "dp x micro",
                    replica_batch);
    if ((double)microbatches > microbatches_max)
        add(findings, true, "batch.global",
            "global (%lld) makes %lld microbatches a step; at most %.0f are planned",
            (long long)w->batch.global, (long long)microbatches, microbatches_max);
}

static void check_compute(const gl_workload *w, gl_findings *findings)
{
    if (w->compute.step_s > 0 && w->compute.mfu_frac > 0)
        add(findings, true, "compute.mfu", "state compute.step or compute.mfu, not both");
}

/* ---- counted against stated ---- */

static void check_parameter_count(const gl_workload *w, gl_findings *findings)
{
    double stated = w->model.parameters;
    if (stated <= 0)
        return;
    gl_parameters counted = {0};
    gl_parameters_build(&w->model, &w->parallel, findings->arena, &counted);
    double difference = ((double)counted.total - stated) / stated;
    if (fabs(difference) > parameters_tolerance)
        add(findings, true, "model.parameters",
            "stated %.6g, but the architecture has %lld (%+.1f %%); they may differ by "
            "%.0f %%",
            stated, (long long)counted.total, difference * 100, parameters_tolerance * 100);
}

/* ---- the rules in order ---- */

void gl_check_workload(const gl_workload *workload, gl_findings *findings)
{
    size_t before = findings->count;
    check_sizes(workload, findings);
    if (gl_findings_first_fatal(findings, before) != NULL)
        return;
    check_architecture_present(workload, findings);
    check_experts(workload, findings);
    check_shard(workload, findings);
    check_batch(workload, findings);
    check_schedule(workload, findings);
    check_compute(workload, findings);
    if (!gl_model_has_architecture(&workload->model))
        return;
    check_model(workload, findings);
    check_tp(workload, findings);
    check_sequence(workload, findings);
    check_stages(workload, findings);
    if (gl_findings_first_fatal(findings, before) == NULL)
        check_parameter_count(workload, findings);
}

/* ---- a workload on a cluster ---- */

static void check_tp_domain(const gl_workload *w, const gl_cluster *cluster, gl_findings *findings)
{
    int tp = w->parallel.tp, node = cluster->gpus_per_node;
    if (tp > node)
        add(findings, false, "parallel.tp",
            "tp (%d) is larger than a node (%d GPUs): its collectives cross the network", tp, node);
    else if (node % tp != 0)
        add(findings, false, "parallel.tp",
            "tp (%d) does not divide a node's %d GPUs: some groups cross the network", tp, node);
    else if (tp > gl_cluster_domain(cluster))
        add(findings, false, "parallel.tp",
            "tp (%d) is larger than what the link inside a node joins (%d GPUs): its "
            "collectives run over %s",
            tp, gl_cluster_domain(cluster), cluster->outside->name);
}

/* What is waited for in every layer does not belong on a line of milliseconds. */
static void check_sites(const gl_workload *w, const gl_cluster *cluster, gl_findings *findings)
{
    const struct {
        gl_group group;
        const char *path, *what;
    } kinds[] = {{GL_GROUP_TP, "parallel.tp", "tensor parallel"},
                 {GL_GROUP_CP, "parallel.cp", "context parallel"},
                 {GL_GROUP_EP, "parallel.ep", "expert parallel"}};
    if (cluster->sites.count < 2)
        return;
    gl_layout layout = gl_layout_over_sites(&w->parallel, gl_cluster_gpus_per_site(cluster));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (layout.groups[kinds[i].group].nodes > 1)
            add(findings, false, kinds[i].path,
                "%s groups span sites: every layer waits for the line between them", kinds[i].what);
}

/* The largest number of ranks inside a node that was measured. */
static int measured_inside(const gl_tier *tier)
{
    int most = 0;
    for (size_t i = 0; i < tier->curve_count; i++)
        if (tier->curves[i].placement.nodes == 1 && tier->curves[i].placement.ranks > most)
            most = tier->curves[i].placement.ranks;
    return most;
}

/* Groups join all of a layout's GPUs in the end, so with more of them on a node than its link joins
 * some cross to others over what the description does not name. */
static void check_link_domain(int64_t ranks, const gl_cluster *cluster, gl_findings *findings)
{
    const gl_link *link = cluster->intra.link;
    int64_t used = ranks < cluster->gpus_per_node ? ranks : cluster->gpus_per_node;
    if (link == NULL || link->domain_gpus.kind == GL_FIGURE_ABSENT || cluster->outside != NULL ||
        (double)used <= link->domain_gpus.value ||
        measured_inside(&cluster->intra) > link->domain_gpus.value)
        return;
    add(findings, false, "parallel",
        "%lld GPUs of a node work together, but %s joins at most %.0f: what moves "
        "between those is slower than planned; plan with the link that joins them all",
        (long long)used, link->name, link->domain_gpus.value);
}

/* Times cannot be computed without a peak, and a type without units of its own is slower than
 * its name promises. */
static void check_peak(const gl_workload *w, const gl_gpu *gpu, gl_findings *findings)
{
    gl_dtype type = w->precision.compute;
    if (isnan(gl_peak_flop_per_s(gpu, type)))
        add(findings, true, "precision.compute", "the GPU '%s' has no peak for %s (gpu.%s)",
            gpu->name, gl_dtype_name(type), gl_dtype_name(type));
    else if (type == GL_FP8 && gpu->fp8_flop_per_s.kind == GL_FIGURE_ABSENT)
        add(findings, false, "precision.compute",
            "the GPU '%s' has no FP8: fp8 is planned at its 16-bit peak", gpu->name);
    else if (type == GL_BF16 && gpu->bf16_flop_per_s.kind == GL_FIGURE_ABSENT)
        add(findings, false, "precision.compute",
            "the GPU '%s' has no BF16: bf16 is planned at its FP16 peak", gpu->name);
}

void gl_check_cluster(const gl_workload *workload, const gl_cluster *cluster, gl_findings *findings)
{
    const gl_parallel *p = &workload->parallel;
    int64_t ranks = gl_workload_ranks(workload);
    int64_t gpus = (int64_t)cluster->nodes * cluster->gpus_per_node;
    if (ranks > gpus && !cluster->bounded)
        add(findings, true, "parallel",
            "tp %d x cp %d x dp %d x pp %d needs %lld GPUs; calibration \"%s\" was "
            "measured on %lld: name it in a cluster description with more, or insist "
            "with --allow-extrapolation",
            p->tp, p->cp, p->dp, p->pp, (long long)ranks, cluster->name, (long long)gpus);
    if (ranks > gpus && cluster->bounded)
        add(findings, true, "parallel",
            "tp %d x cp %d x dp %d x pp %d needs %lld GPUs; the cluster has %lld (%d "
            "node%s of %d)",
            p->tp, p->cp, p->dp, p->pp, (long long)ranks, (long long)gpus, cluster->nodes,
            cluster->nodes == 1 ? "" : "s", cluster->gpus_per_node);
    if (p->tp > 1 && cluster->gpus_per_node > 0)
        check_tp_domain(workload, cluster, findings);
    check_link_domain(ranks, cluster, findings);
    check_sites(workload, cluster, findings);
    if (cluster->gpu != NULL)
        check_peak(workload, cluster->gpu, findings);
}
