/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/placements.h"

typedef struct plan {
    const gl_placements_options *options;
    gl_arena *arena;
    int nodes, fullest; /* nodes in all; the one with most ranks */
    int *ranks_on;      /* by node */
    int *place;         /* by rank: which of its node's ranks, from 0 */
    int least, most;    /* ranks on the emptiest and on the fullest node */
    gl_grouping *items;
    size_t count, capacity;
} plan;

static void look_at_nodes(plan *p)
{
    const gl_placements_options *o = p->options;
    for (int r = 0; r < o->ranks; r++)
        if (o->node_of_rank[r] >= p->nodes)
            p->nodes = o->node_of_rank[r] + 1;
    p->ranks_on = GL_ARENA_NEW(p->arena, int, (size_t)p->nodes);
    p->place = GL_ARENA_NEW(p->arena, int, (size_t)o->ranks);
    for (int r = 0; r < o->ranks; r++)
        p->place[r] = p->ranks_on[o->node_of_rank[r]]++;
    p->least = p->most = p->ranks_on[0];
    for (int n = 1; n < p->nodes; n++) {
        if (p->ranks_on[n] > p->most) {
            p->most = p->ranks_on[n];
            p->fullest = n;
        }
        if (p->ranks_on[n] < p->least)
            p->least = p->ranks_on[n];
    }
}

/* Adds a grouping unless its placement is there already (one node is all nodes, for instance). */
static void add(plan *p, const int *group_of_rank, int groups, gl_placement placement)
{
    for (size_t i = 0; i < p->count; i++)
        if (gl_placement_equal(&p->items[i].placement, &placement))
            return;
    p->items = gl_arena_grow(p->arena, p->items, &p->capacity, p->count + 1, sizeof *p->items);
    p->items[p->count++] =
        (gl_grouping){.placement = placement, .group_of_rank = group_of_rank, .groups = groups};
}

static int *nobody(plan *p)
{
    size_t ranks = (size_t)p->options->ranks;
    int *group_of_rank = GL_ARENA_NEW(p->arena, int, ranks);
    for (size_t r = 0; r < ranks; r++)
        group_of_rank[r] = -1;
    return group_of_rank;
}

/* Groups that are alone on their nodes share nothing: only with two on a node is it another case.
 */
static void add_in_node(plan *p, int size, bool concurrent)
{
    int *group_of_rank = nobody(p), first = 0, per_node = concurrent ? p->most / size : 1;
    if (size > p->most || (concurrent && per_node < 2))
        return;
    for (int n = 0; n < p->nodes; n++) {
        int here = concurrent ? p->ranks_on[n] / size : n == p->fullest;
        for (int r = 0; r < p->options->ranks; r++)
            if (p->options->node_of_rank[r] == n && p->place[r] / size < here)
                group_of_rank[r] = first + p->place[r] / size;
        first += here;
    }
    add(p, group_of_rank, first, (gl_placement){size, 1, size, per_node});
}

static void add_across(plan *p, int size, bool concurrent)
{
    int *group_of_rank = nobody(p), groups = concurrent ? p->least : 1;
    if (size > p->nodes || size < 2 || (concurrent && groups < 2))
        return;
    for (int r = 0; r < p->options->ranks; r++)
        if (p->options->node_of_rank[r] < size && p->place[r] < groups)
            group_of_rank[r] = p->place[r];
    add(p, group_of_rank, groups, (gl_placement){size, size, 1, groups});
}

static void add_whole(plan *p, int nodes)
{
    int *group_of_rank = nobody(p);
    gl_placement placement = {0, nodes, 0, 1};
    if (nodes > p->nodes || nodes < 2)
        return;
    for (int r = 0; r < p->options->ranks; r++)
        if (p->options->node_of_rank[r] < nodes)
            group_of_rank[r] = 0;
    for (int n = 0; n < nodes; n++) {
        placement.ranks += p->ranks_on[n];
        if (p->ranks_on[n] > placement.ranks_per_node)
            placement.ranks_per_node = p->ranks_on[n];
    }
    add(p, group_of_rank, 1, placement);
}

/* Puts `groups` groups on nodes of a set: each gets its ranks node by node, the last node the rest.
 */
static void fill_set(const plan *p, const gl_placement *wanted, const int *set, int first,
                     int *group_of_rank)
{
    for (int i = 0; i < wanted->nodes; i++) {
        int left = wanted->ranks - i * wanted->ranks_per_node;
        int here = left < wanted->ranks_per_node ? left : wanted->ranks_per_node;
        for (int r = 0; r < p->options->ranks; r++) {
            int group = p->place[r] / wanted->ranks_per_node;
            if (p->options->node_of_rank[r] == set[i] && group < wanted->concurrent_groups &&
                p->place[r] % wanted->ranks_per_node < here)
                group_of_rank[r] = first + group;
        }
    }
}

bool gl_placements_exact(const gl_placements_options *options, const gl_placement *placement,
                         gl_arena *arena, gl_grouping *grouping)
{
    plan p = {.options = options, .arena = arena};
    look_at_nodes(&p);
    if (placement->nodes > p.nodes || placement->ranks > options->ranks)
        return false;
    int *group_of_rank = nobody(&p), *set = GL_ARENA_NEW(arena, int, (size_t)placement->nodes);
    int in_set = 0, groups = 0;
    for (int n = 0; n < p.nodes; n++) {
        if (p.ranks_on[n] < (long long)placement->ranks_per_node * placement->concurrent_groups)
            continue;
        set[in_set++] = n;
        if (in_set < placement->nodes)
            continue;
        fill_set(&p, placement, set, groups, group_of_rank);
        groups += placement->concurrent_groups;
        in_set = 0;
    }
    *grouping = (gl_grouping){*placement, group_of_rank, groups};
    return groups > 0;
}

/* The nodes from the first on that hold just so many ranks; 0 when no number of them does. */
static int nodes_with(const plan *p, int ranks)
{
    int sum = 0;
    for (int n = 0; n < p->nodes; n++) {
        sum += p->ranks_on[n];
        if (sum == ranks)
            return n + 1;
    }
    return 0;
}

static void add_size(plan *p, int size)
{
    add_in_node(p, size, false);
    add_across(p, size, false);
    add_whole(p, nodes_with(p, size));
    if (p->options->concurrent) {
        add_in_node(p, size, true);
        add_across(p, size, true);
    }
}

static void add_all_sizes(plan *p)
{
    for (int size = 2; size < p->options->ranks; size *= 2) {
        add_in_node(p, size, false);
        add_across(p, size, false);
        add_whole(p, size);
        if (p->options->concurrent) {
            add_in_node(p, size, true);
            add_across(p, size, true);
        }
    }
    if (p->most > 1)
        add_in_node(p, p->most, false);
    add_across(p, p->nodes, false);
    if (p->options->concurrent)
        add_across(p, p->nodes, true);
    add_whole(p, p->nodes);
}

static bool add_wanted(plan *p, gl_error *err)
{
    for (int i = 0; i < p->options->wanted_count; i++) {
        int size = p->options->wanted[i];
        size_t before = p->count;
        if (size >= 2 && size <= p->options->ranks)
            add_size(p, size);
        bool repeated = false;
        for (int k = 0; k < i; k++)
            repeated |= p->options->wanted[k] == size;
        if (p->count == before && !repeated)
            return gl_fail_at(err, GL_ERROR_USAGE, NULL, "--ranks",
                              "%d ranks cannot be measured: there are %d on %d node%s, up to %d on "
                              "one; possible are 2 to %d in a node%s",
                              size, p->options->ranks, p->nodes, p->nodes == 1 ? "" : "s", p->most,
                              p->most, p->nodes > 1 ? ", one per node, and whole nodes" : "");
    }
    return true;
}

/* By size, then by kind; insertion keeps the order of equals. */
static void sort(plan *p)
{
    for (size_t i = 1; i < p->count; i++) {
        gl_grouping item = p->items[i];
        size_t k = i;
        for (; k > 0 && p->items[k - 1].placement.ranks > item.placement.ranks; k--)
            p->items[k] = p->items[k - 1];
        p->items[k] = item;
    }
}

bool gl_placements_plan(const gl_placements_options *options, gl_arena *arena,
                        gl_grouping **groupings, size_t *count, gl_error *err)
{
    plan p = {.options = options, .arena = arena};
    look_at_nodes(&p);
    if (options->wanted == NULL)
        add_all_sizes(&p);
    else if (!add_wanted(&p, err))
        return false;
    sort(&p);
    *groupings = p.items;
    *count = p.count;
    return true;
}
