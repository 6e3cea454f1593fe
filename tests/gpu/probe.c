/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drives a measuring backend directly, without a database: every operation and type that is asked
 * for, verified and timed, as lines like those of nccl-tests, which gpulink-calibrate imports.
 *
 *     probe nccl|mpi OPS DTYPES MIN_BYTES MAX_BYTES [FACTOR [ITERATIONS]]
 *     probe nccl all_reduce,alltoall bf16,fp32 8 67108864 4 20
 */
#include "calibrate/measure/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS_MAX = 1000 };

static double median_of(double *times, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && times[k] < times[k - 1]; k--) {
            double swap = times[k];
            times[k] = times[k - 1];
            times[k - 1] = swap;
        }
    return times[count / 2];
}

static bool fail(const gl_error *err)
{
    char text[800];
    fprintf(stderr, "probe: %s\n", gl_error_text(err, text, sizeof text));
    return false;
}

/* One direction of a line: time, algbw, busbw, wrong. */
static bool point(gl_backend *b, gl_collective op, double size, bool in_place, int iterations,
                  double *wrong_in_all)
{
    static double times[ITERATIONS_MAX];
    gl_error err;
    double wrong = 0;
    if (in_place && (op == GL_ALLTOALL || op == GL_SENDRECV)) {
        if (b->leader)
            printf("  %9s  %7s  %7s  %6s", "N/A", "N/A", "N/A", "N/A");
        return true;
    }
    if (!b->vtable->verify(b, size, in_place, &wrong, &err) ||
        !b->vtable->measure(b, size, in_place, 5, iterations, times, &err))
        return fail(&err);
    double t = median_of(times, iterations), gbs = size / t / 1e9;
    if (b->leader)
        printf("  %9.2f  %7.2f  %7.2f  %6.0f", t * 1e6, gbs, gbs * gl_bus_factor(op, b->ranks),
               wrong);
    *wrong_in_all += wrong;
    return true;
}

static bool row(gl_backend *b, gl_collective op, gl_dtype dtype, double size, int iterations,
                double *wrong)
{
    bool sums = op == GL_ALL_REDUCE || op == GL_REDUCE_SCATTER;
    if (b->leader)
        printf("%12.0f  %12.0f  %8s  %6s  %6d", size, size / gl_dtype_bytes(dtype),
               gl_dtype_name(dtype), sums ? "sum" : "none", op == GL_BROADCAST ? 0 : -1);
    bool ok =
        point(b, op, size, false, iterations, wrong) && point(b, op, size, true, iterations, wrong);
    if (b->leader)
        printf("\n");
    fflush(stdout);
    return ok;
}

static gl_grouping everybody(const gl_backend *b)
{
    static int zeros[4096];
    int nodes = 0, fullest = 0;
    for (int i = 0; i < b->ranks; i++)
        nodes = b->node_of_rank[i] >= nodes ? b->node_of_rank[i] + 1 : nodes;
    for (int n = 0; n < nodes; n++) {
        int here = 0;
        for (int i = 0; i < b->ranks; i++)
            here += b->node_of_rank[i] == n;
        fullest = here > fullest ? here : fullest;
    }
    return (gl_grouping){{b->ranks, nodes, fullest, 1}, zeros, 1};
}

/* Says what carried a size, when that is not the same as before. */
static void observe(gl_backend *b, double size, char *before, size_t room)
{
    gl_arena *arena = gl_arena_create();
    gl_curve curve;
    char now[200];
    memset(&curve, 0, sizeof curve);
    curve.algorithm = curve.protocol = "";
    b->vtable->observe(b, size, arena, &curve);
    snprintf(now, sizeof now, "transport %s, nics %d, algorithm \"%s\", protocol \"%s\"",
             gl_transport_name(curve.transport), curve.nics, curve.algorithm, curve.protocol);
    if (strcmp(now, before) != 0)
        printf("# from %.0f bytes: %s\n", size, now);
    snprintf(before, room, "%s", now);
    gl_arena_destroy(arena);
}

typedef struct range {
    double min, max, factor;
    int iterations;
} range;

static bool curve(gl_backend *b, gl_collective op, gl_dtype dtype, range r, double *wrong)
{
    gl_grouping grouping = everybody(b);
    gl_error err;
    double limit = b->vtable->max_size_bytes(b, dtype);
    r.max = fmin(r.max, limit);
    if (b->leader)
        printf("# %s %s, %d ranks on %d nodes, up to %.0f bytes\n", gl_collective_name(op),
               gl_dtype_name(dtype), b->ranks, grouping.placement.nodes, limit);
    if (!b->vtable->join(b, &grouping, op, dtype, r.max, &err)) {
        fail(&err);
        return err.status == GL_ERROR_USAGE; /* not supported: said, and on with the next */
    }
    char seen[200] = "";
    for (double size = r.min; size <= r.max; size *= r.factor) {
        if (!row(b, op, dtype, size, r.iterations, wrong))
            return false;
        if (b->leader)
            observe(b, size, seen, sizeof seen);
    }
    b->vtable->leave(b);
    return true;
}

static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *c = list; (c = strstr(c, name)) != NULL; c++)
        if ((c == list || c[-1] == ',') && (c[length] == ',' || c[length] == '\0'))
            return true;
    return strcmp(list, "all") == 0;
}

static void introduce(gl_backend *b)
{
    gl_arena *arena = gl_arena_create();
    gl_run run;
    memset(&run, 0, sizeof run);
    b->vtable->describe(b, arena, &run);
    if (b->leader)
        printf("# %s: %s, driver %s, CUDA %s, NCCL %s\n# %s\n", run.backend,
               run.gpu != NULL ? run.gpu : "", run.driver_version != NULL ? run.driver_version : "",
               run.cuda_version != NULL ? run.cuda_version : "",
               run.nccl_version != NULL ? run.nccl_version : "", run.parameters);
    gl_arena_destroy(arena);
}

static int run_all(gl_backend *b, char **argv, range r)
{
    double wrong = 0;
    introduce(b);
    for (int op = 0; op <= GL_BROADCAST; op++)
        for (size_t i = 0; b->dtypes[i] != GL_DTYPE_NONE; i++)
            if (listed(argv[2], gl_collective_name((gl_collective)op)) &&
                listed(argv[3], gl_dtype_name(b->dtypes[i])) &&
                !curve(b, (gl_collective)op, b->dtypes[i], r, &wrong))
                return GL_ERROR_DEVICE;
    if (b->leader)
        printf("# wrong elements in all: %.0f\n", wrong);
    for (const char *const *w = b->warnings; b->leader && w != NULL && *w != NULL; w++)
        printf("# warning: %s\n", *w);
    return wrong > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    gl_backend *b = NULL;
    gl_error err;
    if (argc < 6) {
        fprintf(stderr, "usage: probe nccl|mpi OPS DTYPES MIN MAX [FACTOR [ITERATIONS]]\n");
        return GL_ERROR_USAGE;
    }
    range r = {atof(argv[4]), atof(argv[5]), argc > 6 ? atof(argv[6]) : 2,
               argc > 7 ? atoi(argv[7]) : 20};
    if (!(r.factor > 1) || r.iterations < 1 || r.iterations > ITERATIONS_MAX)
        return GL_ERROR_USAGE;
    bool nccl = strcmp(argv[1], "nccl") == 0;
    if (!(nccl ? gl_backend_nccl_open(&b, &err) : gl_backend_mpi_open(&b, &err))) {
        fail(&err);
        return (int)err.status;
    }
    int status = run_all(b, argv, r);
    if (status == GL_ERROR_DEVICE)
        b->vtable->abort(b, status);
    b->vtable->close(b);
    return status;
}
