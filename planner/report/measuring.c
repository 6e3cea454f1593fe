/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/measuring.h"

#include <inttypes.h>
#include <string.h>

const char *gl_shell_word(const char *word, gl_arena *arena)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789_./-=:@,+%";
    const char *text = "";
    size_t length = strspn(word, plain);
    if (word[length] == '\0' && length > 0)
        return word;
    for (; strchr(word, '\'') != NULL; word = strchr(word, '\'') + 1)
        text = gl_arena_printf(arena, "%s%.*s'\\''", text, (int)strcspn(word, "'"), word);
    return gl_arena_printf(arena, "'%s%s'", text, word);
}

bool gl_measurement_is_plain(const gl_measurement *m)
{
    const gl_placement *p = &m->placement;
    bool whole = p->ranks == p->nodes * p->ranks_per_node && p->concurrent_groups == 1;
    return p->nodes == 1 || p->ranks_per_node == 1 || whole;
}

const char *gl_measurement_launcher(const gl_measurement *m, gl_arena *arena)
{
    const gl_placement *p = &m->placement;
    int on_node = p->ranks_per_node * p->concurrent_groups;
    if (p->nodes > 1)
        return gl_arena_printf(arena, "mpirun -n %d -N %d ", p->nodes * on_node, on_node);
    return m->transport == GL_TRANSPORT_HOST ? gl_arena_printf(arena, "mpirun -n %d ", on_node)
                                             : "";
}

const char *gl_measurement_command(const gl_measurement *m, gl_arena *arena)
{
    const char *sizes = m->max_bytes == 0
                            ? ""
                            : gl_arena_printf(arena, " --min %" PRId64 " --max %" PRId64,
                                              m->min_bytes, m->max_bytes);
    return gl_arena_printf(arena, "%sgpulink-calibrate run%s --db %s --ops %s --ranks %d%s%s",
                           gl_measurement_launcher(m, arena),
                           m->transport == GL_TRANSPORT_HOST ? " --backend mpi" : "",
                           gl_shell_word(m->db, arena), gl_collective_name(m->collective),
                           m->placement.ranks,
                           m->placement.concurrent_groups > 1 ? " --concurrent" : "", sizes);
}

/* ---- nccl-tests ---- */

/* Powers of two enclose the sizes: one command for each curve, and points enough for a plan. */
static int64_t power_below(int64_t size)
{
    int64_t power = 8;
    while (power * 2 <= size)
        power *= 2;
    return power;
}

static int64_t power_above(int64_t size)
{
    int64_t power = 8;
    while (power < size)
        power *= 2;
    return power;
}

/* What nccl-tests split their ranks by, in its variable; "" = no split, NULL = they cannot. With
 * ranks placed node by node, "DIV r" cuts a node into groups of r neighbours and "MOD g" takes
 * every g-th rank: one of each node. */
static const char *split_words(const gl_placement *p, gl_arena *arena)
{
    if (p->concurrent_groups == 1)
        return "";
    if (p->nodes == 1)
        return gl_arena_printf(arena, "-x NCCL_TESTS_SPLIT='DIV %d' ", p->ranks);
    if (p->ranks_per_node == 1)
        return gl_arena_printf(arena, "-x NCCL_TESTS_SPLIT='MOD %d' ", p->concurrent_groups);
    return NULL;
}

const char *gl_nccl_tests_command(const gl_measurement *m, gl_arena *arena)
{
    const gl_placement *p = &m->placement;
    const char *split = split_words(p, arena), *start = "";
    if (split == NULL)
        return NULL;
    int on_node = p->ranks_per_node * p->concurrent_groups;
    bool several = p->nodes > 1 || p->concurrent_groups > 1;
    if (several)
        start = gl_arena_printf(arena, "mpirun -n %d -N %d %s", p->nodes * on_node, on_node, split);
    int64_t low = power_below(m->min_bytes), high = power_above(m->max_bytes);
    return gl_arena_printf(arena, "%s%s -b %" PRId64 " -e %" PRId64 " -f 2 -g %d -d %s -n 20 -c 1",
                           start, gl_nccl_tests_program(m->collective), low,
                           high > low ? high : 2 * low, several ? 1 : p->ranks,
                           gl_nccl_tests_dtype(m->dtype));
}

/* ---- a plan's uncertainty ---- */

const char *gl_measuring_command(const gl_error_source *source, gl_arena *arena)
{
    if (source->kind == GL_ERROR_OF_COMPUTE)
        return "gpulink-calibrate run --db calib.db --compute";
    if (source->kind == GL_ERROR_OF_OVERLAP)
        return "gpulink-calibrate run --db calib.db --overlap";
    if (source->row == NULL)
        return "";
    const gl_measurement m = {.collective = source->row->collective,
                              .placement = source->row->placement,
                              .db = "calib.db"};
    return gl_measurement_command(&m, arena);
}
