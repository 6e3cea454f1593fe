/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * network_check curves CLUSTER...: holds samples of a calibration's curves out and prints how well
 * the network model predicts them from the rest: sizes one by one, and rank counts.
 * network_check points CLUSTER...: the same, each point as a line of CSV.
 * network_check speed CLUSTER...: what one query costs.
 * network_check again CLUSTER OTHER: how well the curves of one predict the samples of the other, a
 * second measurement of such a machine.
 * network_check published data/validation/collectives/published.csv: published collectives against
 * the catalogue.
 */
#include "planner/input/catalogue.h"
#include "planner/input/cluster_file.h"
#include "tests/bench/hold_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static void print_part(const char *name, const gl_held_point *points, size_t count, double from,
                       double to, gl_arena *arena)
{
    gl_held_point *some = GL_ARENA_NEW(arena, gl_held_point, count);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (points[i].size_bytes >= from && points[i].size_bytes < to)
            some[n++] = points[i];
    print_line("", "", name, some, n, arena);
}

static void print_parts(const char *title, const gl_held_point *points, size_t count,
                        gl_arena *arena)
{
    printf("%s\n", title);
    print_part("below 1 MiB", points, count, 0, 1 << 20, arena);
    print_part("1 to 64 MiB", points, count, 1 << 20, 1 << 26, arena);
    print_part("above", points, count, 1 << 26, (double)INFINITY, arena);
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
            gl_network_check(&cluster, (gl_hold_out)kind, arena, &count, &refused);
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

static int check_again(const char *name, const char *other, gl_arena *arena)
{
    gl_cluster cluster, again;
    size_t count, refused;
    if (!load(name, arena, &cluster) || !load(other, arena, &again))
        return 3;
    const gl_held_point *points = gl_network_check_again(&cluster, &again, arena, &count, &refused);
    print_parts(gl_arena_printf(arena, "%s from %s", again.name, cluster.name), points, count,
                arena);
    print_line("all", "", "all sizes", points, count, arena);
    if (refused > 0)
        printf("  refused: %zu\n", refused);
    return 0;
}

/* A query of each collective, placement and size in turn, as a search asks them. */
static void measure_speed(const char *name, gl_arena *arena)
{
    enum { QUERIES = 2000000 };
    gl_cluster cluster;
    const char *const *warnings;
    struct timespec start, end;
    double sum = 0;
    size_t answered = 0;
    if (!load(name, arena, &cluster))
        return;
    const gl_network *network = gl_network_create(&cluster, arena, &warnings);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < QUERIES; i++) {
        int ranks = 2 << (i % 2), nodes = cluster.nodes > 1 && i % 3 == 0 ? 2 : 1;
        gl_network_query query = {.collective = (gl_collective)(i % (GL_SENDRECV + 1)),
                                  .placement = {ranks * nodes, nodes, ranks, 1},
                                  .size_bytes = 1000.0 + 37.0 * i,
                                  .allow_extrapolation = true,
                                  .figures_only = true};
        gl_network_time t;
        if (gl_network_eval(network, &query, arena, &t, NULL)) {
            sum += t.time_s;
            answered++;
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double elapsed =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    printf("%-16s %.0f ns a query (%zu answered, %.3g s of communication)\n", name,
           1e9 * elapsed / QUERIES, answered, sum);
}

enum { COLUMNS = 15, LINE_BYTES = 1024, ROWS_MAX = 4096 };

/* No cell of the file holds a comma. */
static bool split(char *line, char *cells[COLUMNS])
{
    int count = 0;
    for (char *at = line; at != NULL && count < COLUMNS; count++) {
        cells[count] = at;
        at = strpbrk(at, ",\n");
        if (at != NULL)
            *at++ = '\0';
    }
    return count == COLUMNS;
}

static bool read_run(char *line, gl_arena *arena, gl_comm_run *run)
{
    char *c[COLUMNS];
    if (!split(line, c) || !gl_collective_parse(c[2], &run->collective))
        return false;
    run->id = gl_arena_strdup(arena, c[0]);
    run->source = gl_arena_strdup(arena, c[1]);
    run->placement = (gl_placement){atoi(c[3]), atoi(c[4]), atoi(c[5]), 1};
    run->gpus_per_node = atoi(c[6]);
    run->gpu = gl_arena_strdup(arena, c[7]);
    run->intra_name = gl_arena_strdup(arena, c[8]);
    run->inter_name = gl_arena_strdup(arena, c[9]);
    run->nics_per_node = atoi(c[10]);
    run->in_network_reduction = strcmp(c[11], "true") == 0;
    run->node_switch_reduction = strcmp(c[12], "true") == 0;
    run->size_bytes = strtod(c[13], NULL);
    run->time_s = strtod(c[14], NULL);
    return run->time_s > 0;
}

static const gl_link *find_link(const char *name, gl_arena *arena)
{
    gl_diagnostics diagnostics = {0};
    return name[0] != '\0' ? gl_catalogue_link(name, arena, &diagnostics) : NULL;
}

/* Rows of one machine follow one another. */
static bool same_machine(const gl_comm_run *a, const gl_comm_run *b)
{
    return strcmp(a->gpu, b->gpu) == 0 && strcmp(a->source, b->source) == 0 &&
           strcmp(a->inter_name, b->inter_name) == 0 && a->placement.nodes == b->placement.nodes;
}

static int check_published(const char *file, bool each, gl_arena *arena)
{
    static gl_comm_run runs[ROWS_MAX];
    static gl_held_point points[ROWS_MAX];
    char line[LINE_BYTES];
    size_t count = 0, first = 0;
    FILE *in = fopen(file, "r");
    if (in == NULL || fgets(line, sizeof line, in) == NULL)
        return 4;
    while (count < ROWS_MAX && fgets(line, sizeof line, in) != NULL) {
        gl_comm_run *run = &runs[count];
        gl_network_time t;
        gl_error err;
        if (!read_run(line, arena, run))
            continue;
        if (!gl_comm_predict(run, find_link(run->intra_name, arena),
                             find_link(run->inter_name, arena), arena, &t, &err)) {
            printf("%s: %s\n", run->id, err.message);
            continue;
        }
        points[count++] = (gl_held_point){.size_bytes = run->size_bytes,
                                          .measured_s = run->time_s,
                                          .predicted_s = t.time_s,
                                          .error_frac = t.error_frac};
        if (each)
            printf("%s,%s,%d,%d,%.0f,%.6g,%.6g,%+.1f,%s,%s\n", run->id, run->gpu,
                   run->placement.ranks, run->placement.nodes, run->size_bytes, run->time_s,
                   t.time_s, 100 * (t.time_s / run->time_s - 1), t.algorithm, t.source);
    }
    fclose(in);
    for (size_t i = 1; i <= count; i++) {
        if (i < count && same_machine(&runs[i], &runs[first]))
            continue;
        print_parts(gl_arena_printf(arena, "%s, %d ranks on %d nodes, %s%s%s: %s", runs[first].gpu,
                                    runs[first].placement.ranks, runs[first].placement.nodes,
                                    runs[first].intra_name,
                                    runs[first].inter_name[0] != '\0' ? " + " : "",
                                    runs[first].inter_name, runs[first].source),
                    points + first, i - first, arena);
        first = i;
    }
    print_parts("all", points, count, arena);
    print_line("all", "", "all sizes", points, count, arena);
    return 0;
}

int main(int argc, char **argv)
{
    gl_arena *arena = gl_arena_create();
    if (argc == 3 && strncmp(argv[1], "published", 9) == 0)
        return check_published(argv[2], strcmp(argv[1], "published-rows") == 0, arena);
    if (argc == 4 && strcmp(argv[1], "again") == 0)
        return check_again(argv[2], argv[3], arena);
    for (int i = 2; i < argc && strcmp(argv[1], "speed") == 0; i++)
        measure_speed(argv[i], arena);
    if (argc > 2 && strcmp(argv[1], "speed") == 0)
        return 0;
    bool as_points = argc > 2 && strcmp(argv[1], "points") == 0;
    if (argc < 3 || (!as_points && strcmp(argv[1], "curves") != 0)) {
        fprintf(stderr,
                "usage: network_check curves|points|speed CLUSTER... | again CLUSTER OTHER | "
                "published FILE.csv\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        check_cluster(argv[i], as_points, arena);
    gl_arena_destroy(arena);
    return 0;
}
