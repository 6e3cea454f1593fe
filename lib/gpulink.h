/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libgpulink: plans of training steps on GPU clusters, for other programs.
 *
 * The library answers as the program gpulink-plan does, from the same files: what a step of a model
 * (a description in YAML) moves, takes and holds on a cluster. It reads files and computes; it
 * prints nothing, starts no process and opens no connection. docs/library.md shows it in use. It is
 * free software under the GPL, version 3 or later, which a program that links it has to follow.
 *
 * Names begin with gpulink_ or GPULINK_. SI units, with the unit in the name; a share of a whole
 * ends in _frac (0 to 1). An unknown figure is NaN. Counts are 1 or more unless something else is
 * said.
 *
 * Handles. What a function returns is closed by the caller; NULL may be closed. A plan or an
 * evaluator keeps what it needs of its model and cluster, so handles may be closed in any order.
 * Texts belong to the handle that gave them, or are constants.
 *
 * Errors. A function that can fail says so by NULL or false and describes why in `error`, which may
 * be NULL; then outputs are as they were.
 *
 * Threads. All functions may be called from several threads at once. A model and a cluster never
 * change, and any number of threads may use one; a plan and an evaluator are for one thread at a
 * time. Files are opened by one thread at a time, as closing one takes away a process's locks on
 * it.
 *
 * What is the process's. The locale does not matter: it is "C" for the calling thread while a
 * function runs. GSL's error handler, which would end the process, is switched off
 * (gsl_set_error_handler_off) and has to stay off while a function runs. Bundled data
 * are looked for in the folder that GPULINK_DATA names, beside the program (../share/gpulink),
 * beside the shared library, and where they were to be installed; the environment must not change
 * while a model or a cluster is opened. gpulink_search uses OpenMP where it was built with it,
 * unless told to use one thread. SQLite has to be built for threads, as it is unless somebody asked
 * for the contrary; it may roll back what a writer that was killed has left in a database, and that
 * is all that is ever written.
 *
 * Memory. A function that needs memory first asks for as much as it may take (64 MiB; a search for
 * each thread) and fails with GPULINK_ERROR_SYSTEM when that is not to be had. If memory ends in
 * the middle all the same, because others take it meanwhile or a question needs more, the process
 * ends: a line on standard error, exit status 4. A program that cannot live with that plans in a
 * process of its own. (A plan takes about 2 MiB; a search of millions of layouts 35 MiB for each
 * thread.)
 *
 * Growth. Structures are passed with their size: `sizeof` of what the caller was compiled with. New
 * fields come at the end; the library neither reads nor writes beyond the size it is told.
 */
#ifndef GPULINK_H
#define GPULINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs, such as "0.1.0". */
const char *gpulink_version(void);

/* ---- errors ---- */

/* Whose fault it is: the exit statuses of gpulink-plan. */
enum {
    GPULINK_OK = 0,
    GPULINK_ERROR_ARGUMENT = 2, /* an argument of the call, or a setting that is none */
    GPULINK_ERROR_INPUT = 3,    /* a description, a database, or a plan that can not be */
    GPULINK_ERROR_SYSTEM = 4    /* the operating system: reading, memory */
};

/* The first problem. This structure does not grow: it is given without its size. */
typedef struct gpulink_error {
    int32_t status;    /* GPULINK_ERROR_… */
    int32_t line;      /* in the file, from 1; 0 = none */
    int32_t column;    /* from 1; 0 = none */
    int32_t problems;  /* how many were found in all */
    char file[512];    /* as it was named; "setting key=value" for a setting; "" = none */
    char path[128];    /* of the field, such as "parallel.tp"; "" = none */
    char message[512]; /* one line: what is wrong, found and allowed; UTF-8 */
} gpulink_error;

/* ---- models and clusters ---- */

typedef struct gpulink_model gpulink_model;
typedef struct gpulink_cluster gpulink_cluster;

/*
 * Opens a model description, and checks it.
 * path      of the file. Files that it names are looked for beside it.
 * settings  "key=value", the last NULL, such as {"parallel.tp=4", "batch.micro=2", NULL}: they
 *           replace what the file says. NULL = none. `gpulink-plan schema model` lists the keys.
 */
gpulink_model *gpulink_model_open(const char *path, const char *const *settings,
                                  gpulink_error *error);

/* The same from memory: `length` bytes of YAML in UTF-8, at most 4 MiB, not used afterwards. `name`
 * stands for the file in messages; files that the text names are looked for beside it. */
gpulink_model *gpulink_model_parse(const char *name, const char *text, size_t length,
                                   const char *const *settings, gpulink_error *error);

void gpulink_model_close(gpulink_model *model);

/* The model's name, never NULL. */
const char *gpulink_model_name(const gpulink_model *model);

/*
 * Opens a cluster.
 * name      a calibration database ("lab.db", or "lab.db#LABEL" for the runs with that label), a
 *           cluster description, or the name of a bundled one of either.
 * settings  as above, keys of `gpulink-plan schema cluster`; a database takes none.
 */
gpulink_cluster *gpulink_cluster_open(const char *name, const char *const *settings,
                                      gpulink_error *error);

void gpulink_cluster_close(gpulink_cluster *cluster);

/* The cluster's name, never NULL, and how many GPUs it has. */
const char *gpulink_cluster_name(const gpulink_cluster *cluster);
int64_t gpulink_cluster_gpus(const gpulink_cluster *cluster);

/* ---- plans ---- */

/* How to plan. Zero in a field means its default, and NULL for the whole means all of them. */
typedef struct gpulink_options {
    size_t size;                 /* sizeof(gpulink_options) */
    double headroom;             /* factor in required bandwidth, 1 to 100; 0 = 1.25 */
    uint32_t seed;               /* of the draws behind intervals */
    int32_t allow_extrapolation; /* 1: answer beyond what the evidence carries, marked so */
    int32_t gpus;    /* evaluator, search: GPUs to use; 0 = the cluster's. A calibration alone has
                        more than were measured only with allow_extrapolation */
    int32_t threads; /* search: 1 to 1024; 0 = one for each core. A process that forks takes 1 */
} gpulink_options;

/* How a figure is known, from best to worst: a sum is known as its worst part is. */
enum {
    GPULINK_EVIDENCE_NONE, /* nothing to know: no communication */
    GPULINK_EVIDENCE_STATED,
    GPULINK_EVIDENCE_MEASURED,
    GPULINK_EVIDENCE_INTERPOLATED,
    GPULINK_EVIDENCE_EXTRAPOLATED_SIZE,
    GPULINK_EVIDENCE_EXTRAPOLATED_RANKS,
    GPULINK_EVIDENCE_CATALOGUE
};

/* "measured", …; NULL for a number that is none. */
const char *gpulink_evidence_name(int32_t evidence);

typedef struct gpulink_plan gpulink_plan;

/* Plans a step, as `gpulink-plan MODEL --cluster CLUSTER` does. Takes milliseconds. */
gpulink_plan *gpulink_plan_create(gpulink_model *model, gpulink_cluster *cluster,
                                  const gpulink_options *options, gpulink_error *error);

void gpulink_plan_close(gpulink_plan *plan);

/* A step of training. Times are NaN when compute is not known (a parameter count alone). */
typedef struct gpulink_step {
    double time_s;
    double time_p10_s, time_p50_s, time_p90_s; /* quantiles: p10 to p90 hold 80 % */
    double compute_s;                          /* forward and backward of the slowest stage */
    double overlap_tax_s; /* compute lost to communication that hides behind it */
    double communication_s;
    double exposed_communication_s; /* of it, what compute waits for */
    double bubble_s;
    double optimizer_s;
    double mfu_frac;
    double tokens_per_s;
    double tokens_per_s_per_gpu;
    int32_t evidence; /* GPULINK_EVIDENCE_…: worst of compute and network */
    int32_t network_evidence;
} gpulink_step;

/* Fills in `size` bytes of `step`. The same holds for the functions below. */
void gpulink_plan_step(const gpulink_plan *plan, gpulink_step *step, size_t size);

/* Memory of a GPU at the peak of a step. */
typedef struct gpulink_memory {
    double total_bytes;
    double capacity_bytes; /* NaN: not known */
    double parameters_bytes;
    double gradients_bytes;
    double optimizer_bytes;
    double activations_bytes; /* NaN without an architecture, and not in the total */
    double logits_bytes;
    double buffers_bytes;
    double reserve_bytes;
    double not_together_bytes; /* in the parts, but never there at once: subtracted in the total */
    int32_t fits;              /* 1 yes, 0 no, −1 not known */
    int32_t in_flight;         /* microbatches whose activations are held */
} gpulink_memory;

/* Pipeline stages, 1 or more, and the memory of a GPU of a stage, from 0. False: there is no such
 * stage. */
int32_t gpulink_plan_stages(const gpulink_plan *plan);
bool gpulink_plan_memory(const gpulink_plan *plan, int32_t stage, gpulink_memory *memory,
                         size_t size);

/* What makes ranks talk to each other. */
enum {
    GPULINK_DP,
    GPULINK_TP,
    GPULINK_PP,
    GPULINK_CP,
    GPULINK_EP,
    GPULINK_EMBEDDING, /* tied embeddings, between first and last stage */
    GPULINK_OPTIMIZER, /* norms and flags */
    GPULINK_DIMENSIONS
};

/* One dimension's traffic in a step, of a rank of the stage that moves most. */
typedef struct gpulink_traffic {
    double payload_bytes; /* sizes of messages, as nccl-tests count them, times their number */
    double wire_bytes;    /* what the rank puts on its links for them */
    int64_t calls;
    double time_s;
    double exposed_s;
    int32_t evidence;
} gpulink_traffic;

/* False: there is no such dimension. One that the layout does not have is all 0. */
bool gpulink_plan_traffic(const gpulink_plan *plan, int32_t dimension, gpulink_traffic *traffic,
                          size_t size);

/* How fast the links have to be, and are, per GPU and direction, as bus bandwidth averaged over the
 * plan's messages. */
enum { GPULINK_INTRA_NODE, GPULINK_INTER_NODE, GPULINK_TIERS };
enum {
    GPULINK_VERDICT_NOT_USED,
    GPULINK_VERDICT_ENOUGH,
    GPULINK_VERDICT_TIGHT, /* enough without the headroom */
    GPULINK_VERDICT_SHORT,
    GPULINK_VERDICT_UNKNOWN
};

typedef struct gpulink_tier {
    double bytes_per_step_per_gpu;
    double required_bytes_per_s; /* with headroom, for the description's target; NaN: not known */
    double available_bytes_per_s;
    int32_t verdict; /* GPULINK_VERDICT_… */
    int32_t evidence;
} gpulink_tier;

/* False: there is no such tier. */
bool gpulink_plan_tier(const gpulink_plan *plan, int32_t tier, gpulink_tier *out, size_t size);

/* Warnings of the files and the plan, from 0: UTF-8, one line each. NULL: there are no more. */
const char *gpulink_plan_warning(const gpulink_plan *plan, size_t index);

/* The whole plan as JSON, byte for byte what `gpulink-plan MODEL --cluster CLUSTER --format json`
 * writes. NULL when it fails. */
const char *gpulink_plan_json(gpulink_plan *plan, gpulink_error *error);

/* ---- many layouts ---- */

enum { GPULINK_GPIPE, GPULINK_1F1B, GPULINK_INTERLEAVED };
enum { GPULINK_RECOMPUTE_NONE, GPULINK_RECOMPUTE_SELECTIVE, GPULINK_RECOMPUTE_FULL };
enum { GPULINK_CP_RING, GPULINK_CP_ALLGATHER, GPULINK_CP_ULYSSES };

/* What is varied of a description: its fields of the same name. Start from gpulink_model_layout and
 * change what is to be changed. */
typedef struct gpulink_layout {
    int32_t dp, tp, pp, cp, ep; /* degrees */
    int32_t micro_batch;        /* sequences: batch.micro */
    int64_t global_batch;       /* sequences: batch.global */
    int32_t zero;               /* 0 to 3 */
    int32_t shard;              /* 0 = over all of dp x cp */
    int32_t schedule;           /* GPULINK_1F1B, … */
    int32_t virtual_stages;
    int32_t recompute;         /* GPULINK_RECOMPUTE_… */
    int32_t cp_method;         /* GPULINK_CP_… */
    int32_t sequence_parallel; /* 0 or 1 */
    int32_t accumulate;        /* 0 or 1 */
} gpulink_layout;

/* The layout that the description has. Fills in `size` bytes. */
void gpulink_model_layout(const gpulink_model *model, gpulink_layout *layout, size_t size);

enum {
    GPULINK_EVALUATED,
    GPULINK_ILLEGAL, /* against a rule, such as heads not divisible by tp, or too few GPUs */
    GPULINK_REFUSED  /* legal, but the network's evidence does not carry it: no times */
};

/* A layout's step by closed forms: what a plan simulates, to nine digits where all stages are
 * alike, and close to it otherwise. All NaN where it is not known. */
typedef struct gpulink_evaluation {
    int32_t status; /* GPULINK_EVALUATED, … */
    int32_t fits;   /* 1 yes, 0 no, −1 not known */
    double time_s;
    double tokens_per_s;
    double compute_s;
    double overlap_tax_s;
    double exposed_communication_s;
    double bubble_s;
    double optimizer_s;
    double memory_bytes; /* of a GPU of the fullest stage */
} gpulink_evaluation;

typedef struct gpulink_evaluator gpulink_evaluator;

/* What many layouts of one model on one cluster share. It remembers what it has worked out. Options
 * that count: allow_extrapolation, gpus. */
gpulink_evaluator *gpulink_evaluator_create(gpulink_model *model, gpulink_cluster *cluster,
                                            const gpulink_options *options, gpulink_error *error);

void gpulink_evaluator_close(gpulink_evaluator *evaluator);

/*
 * Evaluates layouts, of which one takes microseconds.
 * layouts          `count` of them, each of layout_size bytes; fields beyond that are as described
 * evaluations      room for `count`, each of evaluation_size bytes
 * Returns how many have status GPULINK_EVALUATED. When it is fewer than `count`, `error` tells why
 * the first of the others has not. Nothing is evaluated, and 0 returned with GPULINK_ERROR_ARGUMENT
 * or GPULINK_ERROR_SYSTEM in `error`, when a size is 0 or memory is not to be had.
 */
size_t gpulink_evaluate(gpulink_evaluator *evaluator, const gpulink_layout *layouts,
                        size_t layout_size, size_t count, gpulink_evaluation *evaluations,
                        size_t evaluation_size, gpulink_error *error);

/*
 * Searches every legal layout on so many GPUs and gives the fastest that fit, fastest first, as
 * `gpulink-plan search` does (which then plans those, and orders them by their plans). The
 * description's global batch is kept. Takes seconds for large clusters. The answer does not depend
 * on the number of threads.
 * layouts, evaluations  room for `room` of each, 1 to 1000, by sizes as above
 * found                 how many there are; 0: none fits
 */
bool gpulink_search(gpulink_model *model, gpulink_cluster *cluster, const gpulink_options *options,
                    gpulink_layout *layouts, size_t layout_size, gpulink_evaluation *evaluations,
                    size_t evaluation_size, size_t room, size_t *found, gpulink_error *error);

#ifdef __cplusplus
}
#endif

#endif
