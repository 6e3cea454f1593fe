/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/yardstick.h"

#include "planner/input/catalogue.h"
#include "planner/input/notes.h"

/* The GPU's name as the tables know it: one that a driver prints. */
static const char *expected_name(const gl_expected *expected, const gl_gpu *gpu)
{
    if (gpu == NULL)
        return "";
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++)
        if (gl_expected_find_gpu(expected, gpu->aliases[i]) != NULL)
            return gpu->aliases[i];
    return gpu->title;
}

static bool find_link(const gl_acceptance_yardstick *yardstick, const gl_cluster *cluster,
                      const gl_tier *tier, gl_arena *arena, const gl_link **link,
                      gl_diagnostics *diagnostics)
{
    *link = tier->link;
    if (*link != NULL || tier->curve_count == 0)
        return true;
    const gl_expected_link *known =
        gl_expected_link_of(yardstick->expected, yardstick->gpu, tier->curves[0].transport,
                            cluster->nic_bw_bytes_per_s);
    if (known == NULL)
        return true;
    *link = gl_catalogue_link(known->name, arena, diagnostics);
    return diagnostics->count == 0;
}

bool gl_yardstick_load(const gl_cluster *cluster, gl_arena *arena, gl_acceptance_yardstick *out,
                       gl_diagnostics *diagnostics)
{
    gl_error err;
    gl_expected *expected = GL_ARENA_NEW(arena, gl_expected, 1);
    if (!gl_expected_load(arena, expected, &err))
        return gl_diagnose_error(diagnostics, &err);
    *out = (gl_acceptance_yardstick){.expected = expected,
                                     .gpu = expected_name(expected, cluster->gpu)};
    return find_link(out, cluster, &cluster->intra, arena, &out->intra, diagnostics) &&
           find_link(out, cluster, &cluster->inter, arena, &out->inter, diagnostics);
}
