/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/export.h"

#include "common/order.h"
#include "common/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 64, SIZES_MAX = 4096 };

/* A choice is left for another one only where that is faster by more than noise. */
#define NOISE 1.02

/* ---- the tuner's file ---- */

/* What the plugin knows; "" for the others. */
static const char *tuner_collective(gl_collective collective)
{
    switch (collective) {
    case GL_ALL_REDUCE:
        return "allreduce";
    case GL_ALL_GATHER:
        return "allgather";
    case GL_REDUCE_SCATTER:
        return "reducescatter";
    case GL_BROADCAST:
        return "broadcast";
    case GL_REDUCE:
        return "reduce";
    default:
        return "";
    }
}

/* A curve of one algorithm and protocol. */
static bool is_choice(const gl_curve *curve)
{
    return curve->algorithm[0] != '\0' && strcmp(curve->algorithm, "mixed") != 0 &&
           curve->protocol[0] != '\0' && strcmp(curve->protocol, "mixed") != 0 &&
           curve->sample_count > 0 && tuner_collective(curve->collective)[0] != '\0';
}

/* Do two curves measure the same thing with different choices? */
static bool is_same_case(const gl_curve *a, const gl_curve *b)
{
    return a->collective == b->collective && a->in_place == b->in_place &&
           a->placement.ranks == b->placement.ranks && a->placement.nodes == b->placement.nodes &&
           a->placement.concurrent_groups == b->placement.concurrent_groups &&
           a->transport == b->transport && strcmp(a->redop, b->redop) == 0;
}

static double time_at(const gl_curve *curve, double size_bytes)
{
    for (size_t i = 0; i < curve->sample_count; i++)
        if (curve->samples[i].size_bytes >= size_bytes)
            return curve->samples[i].size_bytes <= size_bytes ? curve->samples[i].time_median_s
                                                              : (double)NAN;
    return NAN;
}

/* All sizes that any of the candidates has, ascending. */
static size_t sizes_of(const gl_curve *const *candidates, size_t count, double *sizes)
{
    size_t n = 0, distinct = 0;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < candidates[c]->sample_count && n < SIZES_MAX; i++)
            sizes[n++] = candidates[c]->samples[i].size_bytes;
    qsort(sizes, n, sizeof *sizes, gl_compare_doubles);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || sizes[i] > sizes[distinct - 1])
            sizes[distinct++] = sizes[i];
    return distinct;
}

static const gl_curve *fastest_at(const gl_curve *const *candidates, size_t count, double size)
{
    const gl_curve *best = NULL;
    for (size_t c = 0; c < count; c++) {
        double time_s = time_at(candidates[c], size);
        if (!isnan(time_s) && (best == NULL || time_s < time_at(best, size)))
            best = candidates[c];
    }
    return best;
}

/* The choice for a size, where `before` was that of the size below (NULL: none). */
static const gl_curve *choose(const gl_curve *const *candidates, size_t count, double size,
                              const gl_curve *before)
{
    const gl_curve *best = fastest_at(candidates, count, size);
    bool stays =
        best != NULL && before != NULL && time_at(before, size) <= NOISE * time_at(best, size);
    return stays ? before : best;
}

/* Rules of one case: from one change of the choice to the next. Sizes between two measured ones go
 * to the smaller's; beyond the largest NCCL decides. The plugin counts bytes as nccl-tests do. */
static void put_rules(gl_output *out, const gl_curve *const *candidates, size_t count)
{
    static double sizes[SIZES_MAX];
    size_t n = sizes_of(candidates, count, sizes);
    const gl_curve *now = n > 0 ? choose(candidates, count, sizes[0], NULL) : NULL;
    for (size_t i = 0; i < n;) {
        const gl_curve *next = now;
        size_t end = i + 1;
        /* cppcheck-suppress redundantInitialization ; what is left when no size follows */
        while (end < n && (next = choose(candidates, count, sizes[end], now)) == now)
            end++;
        if (now != NULL)
            gl_output_printf(out, "%s,%.0f,%.0f,%s,%s,-1,%d,%d\n",
                             tuner_collective(now->collective), i == 0 ? 0 : sizes[i],
                             end < n ? sizes[end] - 1 : sizes[n - 1], now->algorithm, now->protocol,
                             now->placement.nodes, now->placement.ranks);
        now = next;
        i = end;
    }
}

const char *gl_export_tuner(gl_arena *arena, const gl_catalog *catalog, gl_error *err)
{
    gl_output *out = gl_output_memory();
    bool *done = GL_ARENA_NEW(arena, bool, catalog->curve_count);
    size_t cases = 0;
    gl_output_puts(out,
                   "# Fastest measured choices, by gpulink-calibrate; for NCCL's example tuner "
                   "plugin (NCCL_TUNER_CONFIG_FILE).\n"
                   "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n");
    for (size_t i = 0; i < catalog->curve_count; i++) {
        const gl_curve *candidates[CANDIDATES_MAX];
        size_t count = 0;
        if (done[i] || !is_choice(&catalog->curves[i]) || catalog->curves[i].in_place)
            continue; /* in place is the same operation: one of the two decides */
        for (size_t k = i; k < catalog->curve_count && count < CANDIDATES_MAX; k++)
            if (is_choice(&catalog->curves[k]) &&
                is_same_case(&catalog->curves[i], &catalog->curves[k])) {
                done[k] = true;
                candidates[count++] = &catalog->curves[k];
            }
        if (count > 1) {
            put_rules(out, candidates, count);
            cases++;
        }
    }
    const char *text = gl_arena_strdup(arena, gl_output_text(out));
    gl_output_discard(out);
    if (cases > 0)
        return text;
    gl_fail(err, GL_ERROR_INPUT,
            "no case was measured with two algorithms or protocols; measure with NCCL_ALGO and "
            "NCCL_PROTO set, one run each (for a start: Ring and Tree, LL, LL128 and Simple)");
    return NULL;
}

/* ---- commands of nccl-tests ---- */

static const char *dtype_words(gl_arena *arena, gl_dtype dtype)
{
    const char *name = gl_nccl_tests_dtype(dtype);
    return strcmp(name, "float") == 0 ? "" : gl_arena_printf(arena, " -d %s", name);
}

/* NCCL_ALGO has no '_': "nvlstree". */
static const char *without_underscores(gl_arena *arena, const char *name)
{
    char *text = gl_arena_strdup(arena, name), *to = text;
    for (const char *from = name; *from != '\0'; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    return text;
}

/* "8G" */
static char *size_text(double size_bytes, char *text, size_t size)
{
    static const char units[] = {'G', 'M', 'K'};
    double unit = 1024.0 * 1024 * 1024;
    for (int i = 0; i < 3; i++, unit /= 1024)
        if (size_bytes >= unit && fmod(size_bytes, unit) == 0) {
            snprintf(text, size, "%.0f%c", size_bytes / unit, units[i]);
            return text;
        }
    snprintf(text, size, "%.0f", size_bytes);
    return text;
}

static const char *command_of(gl_arena *arena, const gl_curve *curve)
{
    char least[32], most[32];
    const gl_placement *p = &curve->placement;
    double first = curve->sample_count > 0 ? curve->samples[0].size_bytes : 8;
    double last =
        curve->sample_count > 0 ? curve->samples[curve->sample_count - 1].size_bytes : 8589934592.0;
    const char *settings = "";
    if (curve->algorithm[0] != '\0' && strcmp(curve->algorithm, "mixed") != 0)
        settings =
            gl_arena_printf(arena, "NCCL_ALGO=%s ", without_underscores(arena, curve->algorithm));
    if (curve->protocol[0] != '\0' && strcmp(curve->protocol, "mixed") != 0)
        settings = gl_arena_printf(arena, "%sNCCL_PROTO=%s ", settings, curve->protocol);
    if (curve->transport == GL_TRANSPORT_SHM)
        settings = gl_arena_printf(arena, "%sNCCL_P2P_DISABLE=1 ", settings);
    const char *test =
        gl_arena_printf(arena, "%s -b %s -e %s -f 2%s", gl_nccl_tests_program(curve->collective),
                        size_text(first, least, sizeof least), size_text(last, most, sizeof most),
                        dtype_words(arena, curve->dtype));
    if (p->nodes == 1 && p->concurrent_groups == 1)
        return gl_arena_printf(arena, "%s%s -g %d", settings, test, p->ranks);
    int per_node = p->ranks_per_node * p->concurrent_groups;
    /* Which ranks form a group: neighbours in a node, or every g-th rank over nodes. */
    const char *split =
        p->concurrent_groups == 1 ? ""
        : p->nodes == 1           ? gl_arena_printf(arena, "NCCL_TESTS_SPLIT=/%d ", p->ranks)
                        : gl_arena_printf(arena, "NCCL_TESTS_SPLIT=%%%d ", p->concurrent_groups);
    return gl_arena_printf(arena, "%s%smpirun -n %d -N %d %s", settings, split, p->nodes * per_node,
                           per_node, test);
}

const char *gl_export_nccl_tests(gl_arena *arena, const gl_catalog *catalog, gl_error *err)
{
    gl_output *out = gl_output_memory();
    const char **written = GL_ARENA_NEW(arena, const char *, catalog->curve_count);
    size_t count = 0;
    gl_output_puts(out,
                   "#!/bin/sh\n# What gpulink-calibrate has in this file, by hand; nccl-tests "
                   "built with MPI=1. With NCCL_DEBUG=INFO in the\n# environment the logs tell "
                   "their transport.\nset -e\n");
    for (size_t i = 0; i < catalog->curve_count; i++) {
        const char *command = command_of(arena, &catalog->curves[i]);
        bool again = catalog->curves[i].transport == GL_TRANSPORT_HOST; /* not NCCL's */
        for (size_t k = 0; k < count; k++)
            again = again || strcmp(written[k], command) == 0;
        if (again)
            continue; /* in place and out of place are one run */
        written[count++] = command;
        gl_output_printf(out, "%s\n", command);
    }
    const char *text = gl_arena_strdup(arena, gl_output_text(out));
    gl_output_discard(out);
    if (count > 0)
        return text;
    gl_fail(err, GL_ERROR_INPUT, "there is no curve of GPUs in it");
    return NULL;
}
