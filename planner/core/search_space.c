/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/search_space.h"

#include "planner/core/check.h"

#include <limits.h>
#include <string.h>

/* ---- axes ---- */

static const struct {
    const char *path;
    enum { IN_parallel, IN_batch } part;
    size_t offset, size; /* in the part */
} axes[GL_SEARCH_AXIS_COUNT] = {
#define AS_AXIS(key, where, member)                                                                \
    [GL_SEARCH_##key] = {#where "." #member, IN_##where, offsetof(gl_##where, member),             \
                         sizeof(((gl_##where *)0)->member)},
    GL_SEARCH_AXES(AS_AXIS)
#undef AS_AXIS
};

const char *const gl_search_axis_names[] = {
#define AS_NAME(key, where, member) #member,
    GL_SEARCH_AXES(AS_NAME)
#undef AS_NAME
        NULL};

const char *gl_search_axis_path(gl_search_axis axis)
{
    return axes[axis].path;
}

static const void *value_at(gl_search_axis axis, const gl_parallel *parallel, const gl_batch *batch)
{
    const char *part = axes[axis].part == IN_batch ? (const char *)batch : (const char *)parallel;
    return part + axes[axis].offset;
}

void gl_search_axis_copy(gl_search_axis axis, const gl_workload *from, gl_workload *to)
{
    char *part = axes[axis].part == IN_batch ? (char *)&to->batch : (char *)&to->parallel;
    memcpy(part + axes[axis].offset, value_at(axis, &from->parallel, &from->batch),
           axes[axis].size);
}

static bool is_equal(gl_search_axis axis, const gl_parallel *a, const gl_batch *x,
                     const gl_parallel *b, const gl_batch *y)
{
    return memcmp(value_at(axis, a, x), value_at(axis, b, y), axes[axis].size) == 0;
}

/* As the field takes it. */
static const char *value_text(gl_search_axis axis, const gl_parallel *parallel,
                              const gl_batch *batch, gl_arena *arena)
{
    switch (axis) {
    case GL_SEARCH_SCHEDULE:
        return gl_schedule_names[parallel->schedule];
    case GL_SEARCH_CP_METHOD:
        return gl_cp_methods[parallel->cp_method];
    case GL_SEARCH_RECOMPUTE:
        return gl_recompute_names[parallel->recompute];
    case GL_SEARCH_SEQUENCE_PARALLEL:
        return parallel->sequence_parallel ? "true" : "false";
    default: {
        int value;
        memcpy(&value, value_at(axis, parallel, batch), sizeof value);
        return gl_arena_printf(arena, "%d", value);
    }
    }
}

const char *gl_search_options_text(const gl_workload *workload, const gl_parallel *parallel,
                                   const gl_batch *batch, gl_arena *arena)
{
    const char *text = "";
    for (int i = 0; i < GL_SEARCH_AXIS_COUNT; i++) {
        gl_search_axis axis = (gl_search_axis)i;
        if (!is_equal(axis, &workload->parallel, &workload->batch, parallel, batch))
            text = gl_arena_printf(arena, "%s --set %s=%s", text, axes[i].path,
                                   value_text(axis, parallel, batch, arena));
    }
    if (workload->parallel.accumulate != parallel->accumulate)
        text = gl_arena_printf(arena, "%s --set parallel.accumulate=%s", text,
                               parallel->accumulate ? "true" : "false");
    return text;
}

/* How often gradients move goes with the ZeRO stage. */
bool gl_search__is_same(const gl_parallel *a, const gl_batch *x, const gl_parallel *b,
                        const gl_batch *y)
{
    for (int i = 0; i < GL_SEARCH_AXIS_COUNT; i++)
        if (!is_equal((gl_search_axis)i, a, x, b, y))
            return false;
    return a->accumulate == b->accumulate;
}

static bool is_fixed(const gl_search_space *s, gl_search_axis axis)
{
    return (s->options->fixed >> axis & 1) != 0;
}

static bool allows(const gl_search_space *s, gl_search_axis axis, int64_t value, int64_t stated)
{
    return !is_fixed(s, axis) || value == stated;
}

/* A link that joins fewer GPUs than a node has limits tensor parallelism as the node does. */
gl_search_space gl_search_space_of(const gl_workload *workload, const gl_cluster *cluster,
                                   const gl_search_options *options)
{
    gl_search_space s = {.workload = workload, .cluster = cluster, .options = options};
    const gl_link *link = cluster->intra.link;
    s.global = workload->batch.global > 0 ? workload->batch.global
                                          : (int64_t)workload->parallel.dp * workload->batch.micro;
    s.tp_max = cluster->gpus_per_node;
    if (link != NULL && link->domain_gpus.kind != GL_FIGURE_ABSENT &&
        link->domain_gpus.value < s.tp_max && cluster->intra.curve_count == 0) {
        s.tp_max = (int)link->domain_gpus.value;
        s.link = link->name;
    }
    return s;
}

static int64_t ranks_of(const gl_search_degrees *g)
{
    return (int64_t)g->tp * g->cp * g->pp * g->dp;
}

/* ---- groups ---- */

typedef struct group_list {
    const gl_search_space *space;
    gl_arena *arena;
    gl_search_degrees *items;
    size_t count, capacity;
    int64_t total;
} group_list;

static void add_group(group_list *list, gl_search_degrees group)
{
    gl_arena *scratch = gl_arena_create();
    gl_search_lists lists;
    gl_search__lists(list->space, &group, scratch, &lists);
    group.first = list->total;
    list->total += gl_search__size(&lists);
    list->items = gl_arena_grow(list->arena, list->items, &list->capacity, list->count + 1,
                                sizeof *list->items);
    list->items[list->count++] = group;
    gl_arena_destroy(scratch);
}

/* Expert parallel ranks: what divides both the experts and the replicas. */
static void add_experts(group_list *list, gl_search_degrees group)
{
    const gl_search_space *s = list->space;
    int experts = s->workload->model.moe.experts, replicas = group.dp * group.cp;
    int most = experts > 0 ? experts : 1;
    for (int ep = 1; ep <= most && ep <= replicas; ep++) {
        if (most % ep != 0 || replicas % ep != 0 ||
            !allows(s, GL_SEARCH_EP, ep, s->workload->parallel.ep))
            continue;
        group.ep = ep;
        add_group(list, group);
    }
}

static void add_degrees(group_list *list, int gpus)
{
    const gl_search_space *s = list->space;
    const gl_parallel *p = &s->workload->parallel;
    for (int tp = 1; tp <= gpus; tp++) {
        if (gpus % tp != 0 || !allows(s, GL_SEARCH_TP, tp, p->tp))
            continue;
        for (int cp = 1; cp <= gpus / tp; cp++) {
            if (gpus / tp % cp != 0 || !allows(s, GL_SEARCH_CP, cp, p->cp))
                continue;
            for (int pp = 1; pp <= gpus / tp / cp; pp++) {
                int dp = gpus / tp / cp / pp;
                if (gpus / tp / cp % pp == 0 && allows(s, GL_SEARCH_PP, pp, p->pp) &&
                    allows(s, GL_SEARCH_DP, dp, p->dp))
                    add_experts(list, (gl_search_degrees){gpus, tp, cp, pp, dp, 1, 0});
            }
        }
    }
}

/* What is fixed leaves no group of so many GPUs: one with these degrees stands for it, so that the
 * rules say why. */
static void add_impossible(group_list *list, int gpus)
{
    const gl_search_space *s = list->space;
    const gl_parallel *p = &s->workload->parallel;
    gl_search_degrees group = {
        .gpus = gpus,
        .tp = is_fixed(s, GL_SEARCH_TP) ? p->tp : 1,
        .cp = is_fixed(s, GL_SEARCH_CP) ? p->cp : 1,
        .pp = is_fixed(s, GL_SEARCH_PP) ? p->pp : 1,
        .dp = is_fixed(s, GL_SEARCH_DP) ? p->dp : 1,
        .ep = is_fixed(s, GL_SEARCH_EP) ? p->ep : 1,
    };
    int64_t ranks = ranks_of(&group);
    if (!is_fixed(s, GL_SEARCH_DP) && gpus % ranks == 0)
        group.dp = (int)(gpus / ranks);
    add_group(list, group);
}

gl_search_degrees *gl_search__groups(const gl_search_space *space, gl_arena *arena, size_t *count,
                                     int64_t *total)
{
    group_list list = {.space = space, .arena = arena};
    for (size_t i = 0; i < space->options->gpu_count; i++) {
        size_t before = list.count;
        add_degrees(&list, space->options->gpus[i]);
        if (list.count == before)
            add_impossible(&list, space->options->gpus[i]);
    }
    *count = list.count;
    *total = list.total;
    return list.items;
}

gl_parallel gl_search__parallel(const gl_search_space *space, const gl_search_degrees *g)
{
    gl_parallel p = space->workload->parallel;
    p.tp = g->tp;
    p.cp = g->cp;
    p.pp = g->pp;
    p.dp = g->dp;
    p.ep = g->ep;
    return p;
}

/* ---- inside a group ---- */

static int largest_micro(const gl_search_space *s, const gl_search_degrees *g)
{
    int64_t most = s->global / g->dp;
    return most < INT_MAX ? (int)most : INT_MAX;
}

static void list_micro(const gl_search_space *s, const gl_search_degrees *g, gl_arena *arena,
                       gl_search_lists *lists)
{
    size_t capacity = 0;
    int64_t of_replica = s->global % g->dp == 0 ? s->global / g->dp : 0;
    for (int b = 1; b <= largest_micro(s, g) && of_replica > 0; b++) {
        if (of_replica % b != 0 || !allows(s, GL_SEARCH_MICRO, b, s->workload->batch.micro))
            continue;
        lists->micro = gl_arena_grow(arena, lists->micro, &capacity, lists->micro_count + 1,
                                     sizeof *lists->micro);
        lists->micro[lists->micro_count++] = b;
        if (b > of_replica / 2)
            break;
    }
}

static void add_schedule(const gl_search_space *s, gl_schedule_kind kind, int chunks,
                         gl_search_lists *lists)
{
    const gl_parallel *p = &s->workload->parallel;
    if (allows(s, GL_SEARCH_SCHEDULE, (int64_t)kind, (int64_t)p->schedule) &&
        allows(s, GL_SEARCH_VIRTUAL_STAGES, chunks, p->virtual_stages))
        lists->schedules[lists->schedule_count++] = (gl_search_schedule){kind, chunks};
}

/*
 * Chunks are even in what frameworks accept; embedding and LM head count as a layer, or do not
 * (Megatron's account_for_embedding_in_pipeline_split and …_loss_…: 126 layers make 16 x 8 chunks).
 */
static bool comes_out_even(const gl_search_space *s, int pp, int v)
{
    int layers = s->workload->model.layers;
    for (int ends = 0; ends <= 2; ends++)
        if ((layers + ends) % (pp * v) == 0)
            return true;
    return false;
}

/* One stage has no schedule: 1F1B stands for all. */
static void list_schedules(const gl_search_space *s, const gl_search_degrees *g, gl_arena *arena,
                           gl_search_lists *lists)
{
    int chunks = g->pp > 1 ? s->workload->model.layers / g->pp : 1;
    lists->schedules = GL_ARENA_NEW(arena, gl_search_schedule, (size_t)chunks + 2);
    if (g->pp == 1) {
        lists->schedules[lists->schedule_count++] = (gl_search_schedule){GL_SCHEDULE_1F1B, 1};
        return;
    }
    add_schedule(s, GL_SCHEDULE_1F1B, 1, lists);
    add_schedule(s, GL_SCHEDULE_GPIPE, 1, lists);
    for (int v = 2; v <= chunks; v++)
        if (is_fixed(s, GL_SEARCH_VIRTUAL_STAGES) || comes_out_even(s, g->pp, v))
            add_schedule(s, GL_SCHEDULE_INTERLEAVED, v, lists);
}

enum { SHARDS_MAX = 3, ZERO_MAX = 4, CP_METHODS = 3, RECOMPUTES = 3 };

/* ZeRO over all replicas, or over those of a node (HSDP) when that is another number. */
static int list_shards(const gl_search_space *s, const gl_search_degrees *g, int zero,
                       int shards[SHARDS_MAX])
{
    int replicas = g->dp * g->cp, inside = s->cluster->gpus_per_node / g->tp, count = 0;
    int stated = s->workload->parallel.shard;
    if (zero > 0 && is_fixed(s, GL_SEARCH_SHARD) && stated > 0) {
        shards[count++] = stated;
        return count;
    }
    shards[count++] = 0;
    if (zero > 0 && !is_fixed(s, GL_SEARCH_SHARD) && inside > 1 && inside < replicas &&
        replicas % inside == 0)
        shards[count++] = inside;
    return count;
}

/* Recomputing the core of flash attention costs time and saves nothing: it keeps no scores. */
static bool is_pointless(const gl_search_space *s, int recompute)
{
    return recompute == GL_RECOMPUTE_SELECTIVE && !is_fixed(s, GL_SEARCH_RECOMPUTE) &&
           s->workload->kernels.attention != GL_ATTENTION_UNFUSED;
}

static void add_variants(const gl_search_space *s, const gl_search_degrees *g,
                         gl_search_variant variant, gl_search_lists *lists)
{
    const gl_parallel *p = &s->workload->parallel;
    int recomputes = gl_model_has_architecture(&s->workload->model) ? RECOMPUTES : 1;
    bool up_to_2 = !p->reduce_scatter || p->rank_broadcast;
    int zeros = g->dp * g->cp > 1 ? up_to_2 ? 3 : 4 : 1;
    int only = is_fixed(s, GL_SEARCH_ZERO) ? p->zero : 0;
    for (int zero = 0; zero < ZERO_MAX; zero++) {
        int shards[SHARDS_MAX], count = list_shards(s, g, zero, shards);
        /* One replica has nothing to share: one stage stands for all. */
        if (zeros == 1 ? zero != only : zero >= zeros || !allows(s, GL_SEARCH_ZERO, zero, p->zero))
            continue;
        for (int i = 0; i < count; i++)
            for (int r = 0; r < recomputes; r++) {
                if (!allows(s, GL_SEARCH_RECOMPUTE, r, (int64_t)p->recompute) ||
                    (s->options->no_recompute && r != GL_RECOMPUTE_NONE) || is_pointless(s, r))
                    continue;
                variant.zero = zero;
                variant.shard = shards[i];
                variant.accumulate = p->accumulate && (zero != 2 || is_fixed(s, GL_SEARCH_ZERO));
                variant.recompute = (gl_recompute)r;
                lists->variants[lists->variant_count++] = variant;
            }
    }
}

static void list_variants(const gl_search_space *s, const gl_search_degrees *g, gl_arena *arena,
                          gl_search_lists *lists)
{
    const gl_parallel *p = &s->workload->parallel;
    int methods = g->cp > 1 ? CP_METHODS : 1;
    lists->variants = GL_ARENA_NEW(arena, gl_search_variant,
                                   (size_t)2 * CP_METHODS * ZERO_MAX * SHARDS_MAX * RECOMPUTES);
    for (int sp = 0; sp < (g->tp > 1 ? 2 : 1); sp++)
        for (int method = 0; method < methods; method++) {
            const gl_search_variant variant = {
                .sequence_parallel = sp == 1,
                .cp_method = methods > 1 ? (gl_cp_method)method : p->cp_method,
            };
            if ((g->tp == 1 || allows(s, GL_SEARCH_SEQUENCE_PARALLEL, sp, p->sequence_parallel)) &&
                (g->cp == 1 || allows(s, GL_SEARCH_CP_METHOD, method, (int64_t)p->cp_method)))
                add_variants(s, g, variant, lists);
        }
}

void gl_search__lists(const gl_search_space *space, const gl_search_degrees *degrees,
                      gl_arena *arena, gl_search_lists *lists)
{
    *lists = (gl_search_lists){.micro = NULL};
    list_micro(space, degrees, arena, lists);
    list_schedules(space, degrees, arena, lists);
    list_variants(space, degrees, arena, lists);
}

static int64_t at_least_one(size_t count)
{
    return count > 0 ? (int64_t)count : 1;
}

int64_t gl_search__size(const gl_search_lists *lists)
{
    return at_least_one(lists->micro_count) * at_least_one(lists->schedule_count) *
           at_least_one(lists->variant_count);
}

/* ZeRO-2 is to keep shards of gradients, which it does when each microbatch reduces them. */
void gl_search__apply(const gl_search_schedule *schedule, const gl_search_variant *variant,
                      gl_parallel *p)
{
    p->schedule = schedule->kind;
    p->virtual_stages = schedule->virtual_stages;
    p->sequence_parallel = variant->sequence_parallel;
    p->cp_method = variant->cp_method;
    p->zero = variant->zero;
    p->accumulate = variant->accumulate;
    p->shard = variant->shard;
    p->recompute = variant->recompute;
}

/* ---- what is not legal ---- */

/* Tensor parallel groups that leave the node, unless the caller allows them. */
static const char *refuse_tp(const gl_search_space *s, int tp, gl_arena *arena)
{
    int allowed = s->options->max_tp;
    if (allowed > 0)
        return tp > allowed ? gl_arena_printf(arena, "tp above %d: by --max-tp", allowed) : NULL;
    if (is_fixed(s, GL_SEARCH_TP))
        return NULL;
    if (tp > s->tp_max && s->link != NULL)
        return gl_arena_printf(arena, "tp above %d: more than the GPUs that %s joins", s->tp_max,
                               s->link);
    if (tp > s->tp_max)
        return gl_arena_printf(arena, "tp above %d: more than the GPUs of a node", s->tp_max);
    if (s->cluster->gpus_per_node % tp != 0)
        return gl_arena_printf(arena, "tp %d: does not divide the %d GPUs of a node", tp,
                               s->cluster->gpus_per_node);
    return NULL;
}

/* The rule's name is the last part of the field that breaks it. */
static const char *rule_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

/* The rules that need no variant, by those of every description. */
static const char *check(const gl_search_space *s, const gl_search_degrees *g, gl_arena *arena,
                         const char **rule)
{
    gl_workload w = *s->workload;
    gl_findings findings = {.arena = arena};
    static const gl_search_schedule plain = {GL_SCHEDULE_1F1B, 1};
    const gl_search_variant none = {.cp_method = GL_CP_RING, .accumulate = true};
    w.parallel = gl_search__parallel(s, g);
    gl_search__apply(&plain, &none, &w.parallel);
    w.parallel.reduce_scatter = true;
    w.parallel.rank_broadcast = false;
    w.batch = (gl_batch){.global = s->global, .micro = 1};
    gl_check_workload(&w, &findings);
    const gl_finding *fatal = gl_findings_first_fatal(&findings, 0);
    if (fatal == NULL)
        return NULL;
    *rule = rule_of(fatal->path);
    return fatal->message;
}

/* Fixed degrees that do not make the number of GPUs. */
static const char *refuse_ranks(const gl_search_space *s, const gl_search_degrees *g,
                                gl_arena *arena)
{
    const struct {
        gl_search_axis axis;
        const char *name;
        int degree;
    } degrees[] = {{GL_SEARCH_TP, "tp", g->tp},
                   {GL_SEARCH_CP, "cp", g->cp},
                   {GL_SEARCH_PP, "pp", g->pp},
                   {GL_SEARCH_DP, "dp", g->dp}};
    const char *text = "";
    bool all = true;
    if (ranks_of(g) == g->gpus)
        return NULL;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        all = all && is_fixed(s, degrees[i].axis);
        if (is_fixed(s, degrees[i].axis))
            text = gl_arena_printf(arena, "%s%s%s %d", text, text[0] != '\0' ? " x " : "",
                                   degrees[i].name, degrees[i].degree);
    }
    return gl_arena_printf(arena, "%s: %s the %d GPUs", text,
                           all ? "does not make" : "does not divide", g->gpus);
}

const char *gl_search__refuse(const gl_search_space *s, const gl_search_degrees *g,
                              const gl_search_lists *lists, gl_arena *arena, const char **rule)
{
    const char *reason = refuse_tp(s, g->tp, arena);
    *rule = "tp";
    if (reason == NULL)
        reason = check(s, g, arena, rule);
    if (reason == NULL && (reason = refuse_ranks(s, g, arena)) != NULL)
        *rule = "gpus";
    if (reason != NULL)
        return reason;
    if (lists->micro_count == 0) {
        *rule = "micro";
        return gl_arena_printf(arena, "micro %d: the %lld sequences of a replica are no multiple",
                               s->workload->batch.micro, (long long)(s->global / g->dp));
    }
    if (lists->schedule_count == 0) {
        *rule = "schedule";
        return gl_arena_printf(arena, "pp %d: cannot be as --fix says", g->pp);
    }
    if (lists->variant_count == 0) {
        *rule = "fix";
        return "no ZeRO stage, recomputation or exchange is left of what --fix says";
    }
    return NULL;
}

const char *gl_search__refuse_variant(const gl_search_space *s, const gl_search_degrees *g,
                                      const gl_search_variant *v, const char **rule)
{
    const gl_model *m = &s->workload->model;
    *rule = "sequence_parallel";
    if (v->sequence_parallel && m->sequence % (g->cp * g->tp) != 0)
        return "sequence parallelism: the sequence is no multiple of cp x tp";
    *rule = "cp_method";
    if (g->cp > 1 && v->cp_method == GL_CP_ULYSSES && m->heads % (g->tp * g->cp) != 0)
        return "ulysses: the heads are no multiple of tp x cp";
    *rule = "shard";
    if (v->shard > 0 && g->dp * g->cp % v->shard != 0)
        return "shard: dp x cp is no multiple of it";
    return NULL;
}

const char *gl_search__refuse_schedule(const gl_search_space *s, const gl_search_degrees *g,
                                       int micro, const gl_search_schedule *schedule,
                                       const char **rule)
{
    int64_t microbatches = s->global / g->dp / micro;
    *rule = "min_microbatches";
    if (microbatches < s->options->min_microbatches)
        return "fewer microbatches than --min-microbatches";
    *rule = "schedule";
    if (schedule->kind == GL_SCHEDULE_INTERLEAVED && microbatches % g->pp != 0)
        return "interleaved: the microbatches are no multiple of pp";
    return NULL;
}
