/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gradients and parameters between data parallel replicas.
 *
 * Buckets as PyTorch's DistributedDataParallel rebuilds them after its first step
 * (torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size): gradients in the
 * order of arrival, which is the reverse of registration; a bucket closes as soon as its size
 * reaches its cap, so it may be larger. The first bucket has a cap of its own.
 */
#include "planner/core/traffic_builder.h"

#include <math.h>

/* Which tensors are reduced together. */
typedef enum selection { ALL_TENSORS, DENSE_TENSORS, EXPERT_TENSORS } selection;

typedef struct bucket {
    int64_t elements;
    int block;     /* whose backward completes it, … */
    double within; /* … how much of that backward is done then */
} bucket;

typedef struct bucket_list {
    gl_arena *arena;
    bucket *items;
    size_t count, capacity;
    bucket open;                /* the one being filled */
    double cap_bytes, next_cap; /* of the open one, of the ones after it */
    int64_t element_bytes;
} bucket_list;

static void close_bucket(bucket_list *list)
{
    if (list->open.elements == 0)
        return;
    list->items = gl_arena_grow(list->arena, list->items, &list->capacity, list->count + 1,
                                sizeof *list->items);
    list->items[list->count++] = list->open;
    list->open = (bucket){0};
    list->cap_bytes = list->next_cap;
}

static void fill(bucket_list *list, int64_t elements, int block, double within)
{
    list->open.elements += elements;
    list->open.block = block;
    list->open.within = within;
    if ((double)(list->open.elements * list->element_bytes) >= list->cap_bytes)
        close_bucket(list);
}

static bool is_selected(const gl_tensor *tensor, selection which)
{
    return which == ALL_TENSORS || tensor->expert == (which == EXPERT_TENSORS);
}

/* The tensors of one block, last registered first. The share of backward that is done is taken as
 * the share of parameters: their GEMMs cost in proportion. */
static void fill_from_block(bucket_list *list, const gl_block *block, int index, selection which)
{
    int64_t done = 0;
    for (size_t i = block->tensor_count; i-- > 0;) {
        const gl_tensor *tensor = &block->tensors[i];
        for (int copy = 0; copy < tensor->copies; copy++) {
            done += tensor->local_elements;
            if (is_selected(tensor, which))
                fill(list, tensor->local_elements, index,
                     (double)done / (double)block->local_elements);
        }
    }
}

enum { PIECES_MAX = 16384 };

/* Only a count is known: buckets of exactly the caps. */
static void fill_from_count(bucket_list *list, int64_t elements)
{
    int64_t left = elements;
    while (left > 0) {
        double least = (double)elements / PIECES_MAX;
        double cap = fmax(ceil(list->cap_bytes / (double)list->element_bytes), ceil(least));
        int64_t piece = cap < (double)left ? (int64_t)cap : left;
        left -= piece;
        fill(list, piece, 0, 1 - (double)left / (double)elements);
    }
}

static bucket_list make_buckets(const gl_traffic_builder *b, selection which)
{
    const gl_buckets *caps = &b->workload->buckets;
    bool one = isinf(caps->gradient_bytes);
    bucket_list list = {.arena = b->arena,
                        .cap_bytes = one ? (double)INFINITY : caps->first_bytes,
                        .next_cap = caps->gradient_bytes,
                        .element_bytes = gl_traffic__bytes(1, b->workload->precision.gradients)};
    if (!b->parameters->exact) {
        fill_from_count(&list, b->parameters->total);
    } else {
        for (int i = b->stage->block_count - 1; i >= 0; i--)
            fill_from_block(&list, &b->parameters->blocks[b->stage->sequence[i]], i, which);
    }
    close_bucket(&list);
    return list;
}

/* Compression divides the bytes of gradients, rounded up. */
static int64_t gradient_bytes(const gl_traffic_builder *b, int64_t elements)
{
    int64_t bytes = gl_traffic__bytes(elements, b->workload->precision.gradients);
    double ratio = b->workload->buckets.compression;
    return ratio > 1 ? (int64_t)ceil((double)bytes / ratio) : bytes;
}

/* The messages of one reduction group: names and group differ between dense and expert weights. */
typedef struct reduction {
    selection which;
    gl_group group;
    const char *gradients, *shards, *parameters, *parameters_again;
} reduction;

static const reduction together = {ALL_TENSORS,       GL_GROUP_DP,  "gradients",
                                   "gradient shards", "parameters", "parameters again"};
static const reduction dense = {DENSE_TENSORS,     GL_GROUP_DP,  "gradients",
                                "gradient shards", "parameters", "parameters again"};
static const reduction experts = {EXPERT_TENSORS,      GL_GROUP_EXPERT_DP,
                                  "expert gradients",  "expert gradient shards",
                                  "expert parameters", "expert parameters again"};

static int add_gradients(gl_traffic_builder *b, const reduction *r, gl_collective collective,
                         int64_t elements, int64_t calls)
{
    const gl_traffic_row kind = {
        .dimension = GL_TRAFFIC_DP,
        .operation = r->gradients,
        .phase = GL_PHASE_BACKWARD,
        .collective = collective,
        .group = r->group,
        .may_hide = b->workload->overlap.dp,
        .formula = "parameters of a bucket · e_g / compression",
    };
    return gl_traffic__add(b, &kind, gradient_bytes(b, elements), calls);
}

/* ZeRO-1 and 2: the updated shards go to all. */
static gl_traffic_row updated_parameters(const reduction *r, gl_collective collective,
                                         const char *formula)
{
    return (gl_traffic_row){.dimension = GL_TRAFFIC_DP,
                            .operation = r->parameters,
                            .phase = GL_PHASE_OPTIMIZER,
                            .collective = collective,
                            .group = r->group,
                            .formula = formula};
}

/* Bucket by bucket … */
static void gather_buckets(gl_traffic_builder *b, const reduction *r, const bucket_list *list)
{
    const gl_traffic_row kind = updated_parameters(r, GL_ALL_GATHER, "parameters of a bucket · e");
    for (size_t i = 0; i < list->count; i++) {
        int64_t size = gl_traffic__bytes(list->items[i].elements, b->workload->precision.compute);
        int row = gl_traffic__add(b, &kind, size, 1);
        const gl_message message = {.block = list->items[i].block, .when = GL_AFTER_STEP};
        gl_traffic__message(b, row, &message);
    }
}

/* … or rank by rank, the shard of each to all others. */
static void broadcast_shards(gl_traffic_builder *b, const reduction *r, const bucket_list *list)
{
    const gl_traffic_row kind = updated_parameters(r, GL_BROADCAST, "parameters of a shard · e");
    int ranks = b->layout->groups[r->group].ranks;
    int64_t elements = 0;
    for (size_t i = 0; i < list->count; i++)
        elements += list->items[i].elements;
    int64_t size = gl_traffic__bytes(gl_divide_up(elements, ranks), b->workload->precision.compute);
    const gl_message message = {.when = GL_AFTER_STEP};
    gl_traffic__message(b, gl_traffic__add(b, &kind, size, ranks), &message);
}

/* The reduced shards of `elements` are summed over the groups that hold the same. */
static int add_replicas(gl_traffic_builder *b, const reduction *r, int64_t elements, int64_t calls)
{
    const gl_traffic_row kind = {
        .dimension = GL_TRAFFIC_DP,
        .operation = r->shards,
        .phase = GL_PHASE_BACKWARD,
        .collective = GL_ALL_REDUCE,
        .group = GL_GROUP_REPLICATE,
        .may_hide = b->workload->overlap.dp,
        .formula = "parameters of a unit / shard · e_g / compression",
    };
    int shard = b->layout->groups[GL_GROUP_SHARD].ranks;
    return gl_traffic__add(b, &kind, gradient_bytes(b, gl_divide_up(elements, shard)), calls);
}

/* Is this weight's ZeRO group smaller than all replicas? */
static bool has_replicas(const gl_traffic_builder *b, const reduction *r)
{
    const gl_parallel *p = &b->workload->parallel;
    return p->shard > 0 && p->zero > 0 && r->which != EXPERT_TENSORS;
}

/* Whole gradients over all replicas, also where ZeRO needs a shard of them only. */
static reduction whole_gradients(const reduction *r)
{
    reduction whole = *r;
    if (r->group == GL_GROUP_SHARD)
        whole.group = GL_GROUP_DP;
    return whole;
}

static void reduce_buckets(gl_traffic_builder *b, const reduction *r)
{
    const gl_parallel *p = &b->workload->parallel;
    bool scatters = p->zero > 0 && p->reduce_scatter;
    bool replicas = scatters && has_replicas(b, r);
    reduction gradients = scatters ? *r : whole_gradients(r);
    if (b->layout->groups[gradients.group].ranks < 2 && !replicas)
        return;
    bool every = p->zero != 1 && !p->accumulate;
    int64_t calls = every ? b->microbatches : 1;
    gl_collective collective = scatters ? GL_REDUCE_SCATTER : GL_ALL_REDUCE;
    bucket_list list = make_buckets(b, r->which);
    gl_traffic__expect_messages(b, (1 + (size_t)(p->zero > 0) + (size_t)replicas) * list.count);
    for (size_t i = 0; i < list.count; i++) {
        const bucket *item = &list.items[i];
        int row = add_gradients(b, &gradients, collective, item->elements, calls);
        const gl_message message = {.block = item->block,
                                    .within = item->within,
                                    .when = GL_AFTER_BACKWARD,
                                    .every_microbatch = every};
        gl_traffic__message(b, row, &message);
        if (replicas)
            gl_traffic__message(b, add_replicas(b, r, item->elements, calls), &message);
    }
    if (p->zero > 0 && p->rank_broadcast)
        broadcast_shards(b, r, &list);
    else if (p->zero > 0)
        gather_buckets(b, r, &list);
}

/*
 * ZeRO-3. A unit is what one fully_shard call wraps: a layer, or the root with all that no layer
 * holds (embedding, final norm, head). The root is gathered first in forward and in backward, and
 * its gradients are reduced last.
 */
typedef struct unit {
    int64_t dense, experts;
    int forward, backward, reduced; /* blocks with which its messages go */
} unit;

static int64_t unit_elements(const unit *u, selection which)
{
    if (which == DENSE_TENSORS)
        return u->dense;
    return which == EXPERT_TENSORS ? u->experts : u->dense + u->experts;
}

static void gather_unit(gl_traffic_builder *b, const reduction *r, const unit *u, gl_phase phase)
{
    bool again = phase == GL_PHASE_BACKWARD;
    const gl_traffic_row kind = {
        .dimension = GL_TRAFFIC_DP,
        .operation = again ? r->parameters_again : r->parameters,
        .phase = phase,
        .collective = GL_ALL_GATHER,
        .group = r->group,
        .may_hide = b->workload->overlap.zero3_prefetch,
        .formula = "parameters of a unit · e",
    };
    int64_t elements = unit_elements(u, r->which);
    int64_t size = gl_traffic__bytes(elements, b->workload->precision.compute);
    int row = gl_traffic__add(b, &kind, size, b->microbatches);
    const gl_message message = {.block = again ? u->backward : u->forward,
                                .when = again ? GL_BEFORE_BACKWARD : GL_BEFORE_FORWARD,
                                .every_microbatch = true};
    gl_traffic__message(b, row, &message);
}

/* With the last microbatch when gradients are accumulated. */
static void replicate_unit(gl_traffic_builder *b, const reduction *r, const unit *u)
{
    bool every = !b->workload->parallel.accumulate;
    int row = add_replicas(b, r, unit_elements(u, r->which), every ? b->microbatches : 1);
    const gl_message message = {
        .block = u->reduced, .within = 1, .when = GL_AFTER_BACKWARD, .every_microbatch = every};
    gl_traffic__message(b, row, &message);
}

static void reduce_unit(gl_traffic_builder *b, const reduction *r, const unit *u)
{
    const gl_traffic_row kind = {
        .dimension = GL_TRAFFIC_DP,
        .operation = r->gradients,
        .phase = GL_PHASE_BACKWARD,
        .collective = GL_REDUCE_SCATTER,
        .group = r->group,
        .may_hide = b->workload->overlap.dp,
        .formula = "parameters of a unit · e_g / compression",
    };
    int64_t size = gradient_bytes(b, unit_elements(u, r->which));
    int row = gl_traffic__add(b, &kind, size, b->microbatches);
    const gl_message message = {
        .block = u->reduced, .within = 1, .when = GL_AFTER_BACKWARD, .every_microbatch = true};
    gl_traffic__message(b, row, &message);
    if (has_replicas(b, r))
        replicate_unit(b, r, u);
}

typedef struct unit_list {
    unit *items; /* root first, when the stage has one */
    int count;
    bool has_root;
} unit_list;

static unit_list make_units(const gl_traffic_builder *b)
{
    int blocks = b->stage->block_count;
    unit_list list = {.items = GL_ARENA_NEW(b->arena, unit, (size_t)blocks + 1),
                      .has_root = b->stage->has_embedding || b->stage->has_head};
    unit *root = &list.items[0];
    root->backward = blocks - 1;
    list.count = list.has_root ? 1 : 0;
    for (int i = 0; i < blocks; i++) {
        gl_block_kind kind = b->stage->sequence[i];
        const gl_block *block = &b->parameters->blocks[kind];
        int64_t local = block->local_elements, in_experts = block->local_expert_elements;
        if (kind == GL_BLOCK_EMBEDDING || kind == GL_BLOCK_HEAD)
            root->dense += local;
        else
            list.items[list.count++] = (unit){local - in_experts, in_experts, i, i, i};
    }
    return list;
}

static void shard_units(gl_traffic_builder *b, const reduction *parts, int part_count)
{
    unit_list list = make_units(b);
    int first_layer = list.has_root ? 1 : 0;
    for (int i = 0; i < list.count; i++)
        for (int k = 0; k < part_count; k++)
            gather_unit(b, &parts[k], &list.items[i], GL_PHASE_FORWARD);
    bool reshard = b->workload->parallel.reshard;
    if (reshard && list.has_root)
        gather_unit(b, &parts[0], &list.items[0], GL_PHASE_BACKWARD);
    for (int i = list.count - 1; i >= first_layer; i--)
        for (int k = 0; k < part_count; k++) {
            if (reshard)
                gather_unit(b, &parts[k], &list.items[i], GL_PHASE_BACKWARD);
            reduce_unit(b, &parts[k], &list.items[i]);
        }
    if (list.has_root)
        reduce_unit(b, &parts[0], &list.items[0]);
}

void gl_traffic__data_parallel(gl_traffic_builder *b)
{
    const gl_parallel *p = &b->workload->parallel;
    /* Without EP an expert has as many replicas as any other weight, and shares its buckets. */
    reduction parts[] = {p->ep > 1 ? dense : together, experts};
    int part_count = p->ep > 1 ? 2 : 1;
    if (p->zero > 0 && p->shard > 0)
        parts[0].group = GL_GROUP_SHARD;
    if (p->zero == 3) {
        shard_units(b, parts, part_count);
        return;
    }
    for (int k = 0; k < part_count; k++)
        reduce_buckets(b, &parts[k]);
}
