/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * network_check curves CLUSTER...: holds samples of a calibration's curves out and prints how well
 * the network model predicts them from the rest: sizes one by one, and rank counts.
 * network_check points CLUSTER...: the same, each point as a line of CSV.
 */
#include "planner/core/curve_check.h"
#include "planner/input/cluster_file.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const kinds[GL_HOLD_OUT_COUNT] = {
    [GL_HOLD_OUT_SIZES] = "sizes: one left out",
    [GL_HOLD_OUT_LARGER] = "ranks: from smaller",
    [GL_HOLD_OUT_BETWEEN] = "ranks: between",
};

static bool load(const char *name, gl_arena *arena, gl_cluster *cluster)
{
    gl_texts warnings = {0};
    gl_diagnostics diagnostics = {0};
    if (gl_cluster_load(name, NULL, 0, arena, cluster, &warnings, &diagnostics))
        return true;
    fprintf(stderr, "%s: %s\n", name, diagnostics.items[0].message);
    return false;
}

static void print_line(const char *name, const char *what, const char *part,
                       const gl_held_point *points, size_t count, gl_arena *arena)
{
    gl_held_summary s = gl_held_summarise(points, count, arena);
    if (count > 0)
        printf(
            "%-14s %-20s %-15s %5zu points  median %5.1f %%  P90 %5.1f %%  bias %+5.1f %%  80 %% "
            "interval holds %3.0f %%\n",
            name, what, part, s.points, 100 * s.median_frac, 100 * s.p90_frac, 100 * s.bias_frac,
            100 * s.held_frac);
}

static void print_points(const char *name, int kind, const gl_held_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const gl_held_point *p = &points[i];
        printf("%s,%s,%s,%s,%d,%d,%.0f,%.9g,%.9g,%.4f,%s\n", name, kinds[kind],
               gl_collective_name(p->curve->collective), gl_dtype_name(p->curve->dtype),
               p->curve->placement.ranks, p->curve->placement.nodes, p->size_bytes, p->measured_s,
               p->predicted_s, p->error_frac, gl_held_inside(p) ? "inside" : "outside");
    }
}

static void check_cluster(const char *name, bool as_points, gl_arena *arena)
{
    gl_cluster cluster;
    if (!load(name, arena, &cluster))
        return;
    for (int kind = 0; kind < GL_HOLD_OUT_COUNT; kind++) {
        size_t count, refused;
        const gl_held_point *points =
            gl_curve_check(&cluster, (gl_hold_out)kind, arena, &count, &refused);
        if (as_points) {
            print_points(cluster.name, kind, points, count);
            continue;
        }
        print_line(cluster.name, kinds[kind], "all", points, count, arena);
        gl_held_point *some = GL_ARENA_NEW(arena, gl_held_point, count);
        for (int c = 0; c < GL_COLLECTIVE_COUNT; c++) {
            size_t n = 0;
            for (size_t i = 0; i < count; i++)
                if (points[i].curve->collective == (gl_collective)c)
                    some[n++] = points[i];
            print_line("", "", gl_collective_name((gl_collective)c), some, n, arena);
        }
        if (refused > 0)
            printf("  refused: %zu\n", refused);
    }
}

int main(int argc, char **argv)
{
    gl_arena *arena = gl_arena_create();
    bool as_points = argc > 2 && strcmp(argv[1], "points") == 0;
    if (argc < 3 || (!as_points && strcmp(argv[1], "curves") != 0)) {
        fprintf(stderr, "usage: network_check curves|points CLUSTER...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        check_cluster(argv[i], as_points, arena);
    gl_arena_destroy(arena);
    return 0;
}
