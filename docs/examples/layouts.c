/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts MODEL CLUSTER [COUNT]: evaluates COUNT (100000) layouts of a model on all GPUs of a
 * cluster, and prints the best that fits.
 *
 *   cc -O2 layouts.c $(pkg-config --cflags --libs gpulink) -o layouts
 *   ./layouts models/llama3-70b.yaml hgx-h100-16-ndr
 */
#include <gpulink.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int fail(const gpulink_error *error)
{
    fprintf(stderr, "layouts: %s%s%s%s%s\n", error->file, error->file[0] != '\0' ? ": " : "",
            error->path, error->path[0] != '\0' ? ": " : "", error->message);
    return error->status;
}

/* One of the values, which the rest of the number chooses next to. */
static int32_t pick(size_t *number, const int32_t *values, size_t count)
{
    int32_t value = values[*number % count];
    *number /= count;
    return value;
}

/* Layout `number`: each field takes each of its values, in every combination. */
static void choose(gpulink_layout *layout, size_t number, int64_t gpus)
{
    static const int32_t powers[] = {1, 2, 4, 8, 16}, stages[] = {1, 2, 4, 5, 8, 10, 16};
    static const int32_t schedules[] = {GPULINK_1F1B, GPULINK_INTERLEAVED}, chunks[] = {2, 4, 5};
    static const int32_t recomputes[] = {GPULINK_RECOMPUTE_NONE, GPULINK_RECOMPUTE_SELECTIVE,
                                         GPULINK_RECOMPUTE_FULL};
    static const int32_t zero[] = {0, 1, 2, 3}, yes_or_no[] = {0, 1};
    layout->tp = pick(&number, powers, 4);
    layout->pp = pick(&number, stages, 7);
    layout->micro_batch = pick(&number, powers, 4);
    layout->zero = pick(&number, zero, 4);
    layout->sequence_parallel = pick(&number, yes_or_no, 2);
    layout->recompute = pick(&number, recomputes, 3);
    layout->schedule = pick(&number, schedules, 2);
    layout->virtual_stages = layout->schedule == GPULINK_INTERLEAVED ? pick(&number, chunks, 3) : 1;
    layout->cp = pick(&number, powers, 4);
    layout->accumulate = pick(&number, yes_or_no, 2);
    layout->dp = (int32_t)(gpus / (layout->tp * layout->pp * layout->cp));
    if (layout->dp < 1)
        layout->dp = 1;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_best(const gpulink_layout *l, const gpulink_evaluation *e)
{
    printf("best: tp %d, pp %d x %d, cp %d, dp %d, micro %d, zero %d, sequence parallel %d, "
           "recompute %d\n",
           l->tp, l->pp, l->virtual_stages, l->cp, l->dp, l->micro_batch, l->zero,
           l->sequence_parallel, l->recompute);
    printf("      %.3f s a step, %.0f tokens/s, %.3f s exposed, %.1f GiB\n", e->time_s,
           e->tokens_per_s, e->exposed_communication_s,
           e->memory_bytes / (1024.0 * 1024.0 * 1024.0));
}

static int report(const gpulink_layout *layouts, const gpulink_evaluation *evaluations,
                  size_t count, double time_s)
{
    size_t legal = 0, fitting = 0, best = count;
    for (size_t i = 0; i < count; i++) {
        const gpulink_evaluation *e = &evaluations[i];
        legal += e->status != GPULINK_ILLEGAL;
        if (e->status != GPULINK_EVALUATED || e->fits != 1)
            continue;
        fitting++;
        if (best == count || e->time_s < evaluations[best].time_s)
            best = i;
    }
    printf("%zu layouts: %zu are legal, %zu fit\n", count, legal, fitting);
    if (best < count)
        print_best(&layouts[best], &evaluations[best]);
    printf("%.0f layouts a second\n", (double)count / time_s);
    return best < count ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int evaluate(gpulink_model *model, gpulink_cluster *cluster, size_t count)
{
    gpulink_error error;
    gpulink_evaluator *evaluator = gpulink_evaluator_create(model, cluster, NULL, &error);
    gpulink_layout *layouts = calloc(count, sizeof *layouts);
    gpulink_evaluation *evaluations = calloc(count, sizeof *evaluations);
    int status = EXIT_FAILURE;
    if (evaluator == NULL) {
        status = fail(&error);
    } else if (layouts != NULL && evaluations != NULL) {
        for (size_t i = 0; i < count; i++) {
            gpulink_model_layout(model, &layouts[i], sizeof layouts[i]);
            choose(&layouts[i], i, gpulink_cluster_gpus(cluster));
        }
        double start_s = now_s();
        gpulink_evaluate(evaluator, layouts, sizeof *layouts, count, evaluations,
                         sizeof *evaluations, &error);
        status = report(layouts, evaluations, count, now_s() - start_s);
    }
    free(layouts);
    free(evaluations);
    gpulink_evaluator_close(evaluator);
    return status;
}

int main(int argc, char **argv)
{
    gpulink_error error;
    if (argc < 3) {
        fputs("usage: layouts MODEL CLUSTER [COUNT]\n", stderr);
        return 2;
    }
    setlocale(LC_ALL, ""); /* numbers as the user writes them: the library does not mind */
    gpulink_model *model = gpulink_model_open(argv[1], NULL, &error);
    gpulink_cluster *cluster = model != NULL ? gpulink_cluster_open(argv[2], NULL, &error) : NULL;
    int status = cluster == NULL
                     ? fail(&error)
                     : evaluate(model, cluster, argc > 3 ? strtoul(argv[3], NULL, 10) : 100000);
    gpulink_cluster_close(cluster);
    gpulink_model_close(model);
    return status;
}
