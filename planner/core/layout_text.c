/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/layout_text.h"

/* `schedule`: with how the pipeline runs. */
static const char *degrees_text(const gl_parallel *p, bool schedule, gl_arena *arena)
{
    const struct {
        const char *name;
        int degree;
    } axes[] = {{"tp", p->tp}, {"cp", p->cp}, {"ep", p->ep}, {"pp", p->pp}, {"dp", p->dp}};
    const char *text = "";
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        if (axes[i].degree < 2)
            continue;
        text = gl_arena_append(arena, text, ", ",
                               gl_arena_printf(arena, "%s %d", axes[i].name, axes[i].degree));
        if (axes[i].name[0] != 'p' || !schedule)
            continue;
        if (p->virtual_stages > 1)
            text = gl_arena_printf(arena, "%s x %d", text, p->virtual_stages);
        if (p->schedule == GL_SCHEDULE_GPIPE)
            text = gl_arena_printf(arena, "%s gpipe", text);
    }
    return text;
}

const char *gl_degrees_text(const gl_parallel *parallel, gl_arena *arena)
{
    return degrees_text(parallel, false, arena);
}

const char *gl_layout_text(const gl_parallel *p, const gl_batch *batch, gl_arena *arena)
{
    const char *text = degrees_text(p, true, arena);
    text = gl_arena_append(arena, text, ", ", gl_arena_printf(arena, "micro %d", batch->micro));
    if (p->zero > 0)
        text = gl_arena_append(arena, text, ", ", gl_arena_printf(arena, "zero %d", p->zero));
    if (p->zero == 2 && !p->accumulate)
        text = gl_arena_printf(arena, "%s each microbatch", text);
    if (p->zero > 0 && p->shard > 0)
        text = gl_arena_printf(arena, "%s in %d", text, p->shard);
    if (p->tp > 1 && p->sequence_parallel)
        text = gl_arena_append(arena, text, ", ", "sp");
    if (p->cp > 1)
        text = gl_arena_append(arena, text, ", ", gl_cp_methods[p->cp_method]);
    if (p->recompute != GL_RECOMPUTE_NONE)
        text = gl_arena_append(
            arena, text, ", ",
            gl_arena_printf(arena, "recompute %s", gl_recompute_names[p->recompute]));
    return text;
}
