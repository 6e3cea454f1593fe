/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of measured training runs (data/validation/NAME.csv): one run a row. */
#ifndef GL_INPUT_RUNS_FILE_H
#define GL_INPUT_RUNS_FILE_H

#include "common/table.h"
#include "planner/input/fields.h"

/*
 * The columns, in any order; all but those marked so may be absent, and an empty cell is what was
 * not published. Name, type, unit, field of the description that it states, meaning.
 */
#define GL_RUN_COLUMNS(X)                                                                          \
    X(ID, "id", REQUIRED_TEXT, "", NULL, "name of the run, once in all files")                     \
    X(SOURCE, "source", TEXT, "", NULL, "where it was published")                                  \
    X(MODEL, "model", TEXT, "", "model.name", "name of the model")                                 \
    X(PARAMS, "params_b", NUMBER, "1e9", NULL,                                                     \
      "parameters as published; only compared with the count from the architecture")               \
    X(LAYERS, "layers", INTEGER, "", "model.layers", "layers")                                     \
    X(HIDDEN, "hidden", INTEGER, "", "model.hidden", "width of the residual stream")               \
    X(FFN, "ffn", INTEGER, "", NULL, "width of the MLP; of one expert where there are experts")    \
    X(HEADS, "heads", INTEGER, "", "model.heads", "attention heads")                               \
    X(KV_HEADS, "kv_heads", INTEGER, "", "model.kv_heads", "heads of keys and values")             \
    X(VOCAB, "vocab", INTEGER, "", "model.vocab", "rows of the token table")                       \
    X(SEQ, "seq", INTEGER, "tokens", "model.sequence", "length of a sequence")                     \
    X(EXPERTS, "experts", INTEGER, "", "model.moe.experts", "routed experts of a layer")           \
    X(TOPK, "topk", INTEGER, "", "model.moe.top_k", "experts that a token visits")                 \
    X(CLUSTER, "cluster", TEXT, "", NULL,                                                          \
      "a cluster description or calibration by its name, instead of the columns that follow")      \
    X(GPU, "gpu", TEXT, "", NULL, "the GPU")                                                       \
    X(GPUS, "gpus", INTEGER, "", NULL, "GPUs in all")                                              \
    X(GPUS_PER_NODE, "gpus_per_node", INTEGER, "", "cluster.gpus_per_node", "GPUs of a node")      \
    X(INTRA_LINK, "intra_link", TEXT, "", NULL, "link between the GPUs of a node")                 \
    X(INTER_LINK, "inter_link", TEXT, "", NULL, "network between nodes")                           \
    X(INTER_GBPS, "inter_gbps_per_gpu", NUMBER, "Gbit/s", NULL,                                    \
      "its bandwidth per GPU and direction")                                                       \
    X(PRECISION, "precision", MATCHED_TEXT, "", NULL, "type in which matrices are multiplied")     \
    X(TP, "tp", INTEGER, "", "parallel.tp", "tensor parallel ranks")                               \
    X(PP, "pp", INTEGER, "", "parallel.pp", "pipeline stages")                                     \
    X(VPP, "vpp", INTEGER, "", "parallel.virtual_stages", "chunks of a stage")                     \
    X(CP, "cp", INTEGER, "", "parallel.cp", "context parallel ranks")                              \
    X(EP, "ep", INTEGER, "", "parallel.ep", "expert parallel ranks, inside dp x cp")               \
    X(DP, "dp", INTEGER, "", "parallel.dp", "replicas; empty: what the GPUs leave")                \
    X(ZERO, "zero_or_fsdp", MATCHED_TEXT, "", NULL, "how weights and optimizer are sharded")       \
    X(SP, "sp", MATCHED_TEXT, "", NULL, "sequence parallelism: yes or no")                         \
    X(RECOMPUTE, "recompute", MATCHED_TEXT, "", NULL, "what is recomputed in backward")            \
    X(MICROBATCH, "microbatch", INTEGER, "", "batch.micro", "sequences of a microbatch")           \
    X(GLOBAL_BATCH, "global_batch", INTEGER, "", "batch.global", "sequences of a step")            \
    X(SHARDING, "optimizer_sharding", MATCHED_TEXT, "", NULL, "ranks that share the optimizer")    \
    X(OVERLAP, "overlap_notes", TEXT, "", NULL, "what else is known of schedule and overlap")      \
    X(STEP, "measured_step_s", NUMBER, "s", NULL, "time of a step")                                \
    X(TOKENS, "measured_tokens_s_gpu", NUMBER, "1/s", NULL,                                        \
      "tokens per second and GPU; the time of a step follows where it is empty")                   \
    X(TFLOPS, "measured_tflops_gpu", NUMBER, "1e12/s", NULL, "as printed; not compared")           \
    X(MFU, "measured_mfu", NUMBER, "1", NULL, "as printed; not compared")                          \
    X(SETTINGS, "settings", TEXT, "", NULL,                                                        \
      "fields of the model description: parallel.zero=1; buckets.gradient=25 MiB")                 \
    X(NOTES, "notes", TEXT, "", NULL, "trust, conventions, what was derived")

typedef enum gl_run_column {
#define AS_ENUM(key, ...) GL_RUN_##key,
    GL_RUN_COLUMNS(AS_ENUM)
#undef AS_ENUM
        GL_RUN_COLUMN_COUNT
} gl_run_column;

/* A text that must be known to a convention when it is not empty (input/conventions.h). */
bool gl_run_column_is_matched(gl_run_column column);

const char *gl_run_column_name(gl_run_column column);

/* The field of the description that a column states as it is; NULL: none. */
const char *gl_run_column_path(gl_run_column column);

/* The column with this name; GL_RUN_COLUMN_COUNT when there is none. */
gl_run_column gl_run_column_find(const char *name, size_t length);

typedef struct gl_known_run {
    gl_mark mark;                           /* of the row */
    const char *texts[GL_RUN_COLUMN_COUNT]; /* "" when empty or absent */
    gl_mark marks[GL_RUN_COLUMN_COUNT];     /* of the row when absent */
    double numbers[GL_RUN_COLUMN_COUNT];    /* of numeric columns; NaN when empty */
    double measured_s;                      /* NaN when not known */
    gl_setting *settings;
    size_t setting_count;
} gl_known_run;

typedef struct gl_known_runs {
    gl_known_run *items;
    size_t count, capacity;
} gl_known_runs;

/* Appends the runs of a file. All problems are collected: unknown columns, missing ones, cells that
 * are no numbers or out of range, settings that no description has, ids that were there before. */
bool gl_known_runs_load(const char *path, gl_arena *arena, gl_known_runs *runs,
                        gl_diagnostics *diagnostics);

/* The same from memory. */
bool gl_known_runs_parse(const char *name, const char *text, size_t length, gl_arena *arena,
                         gl_known_runs *runs, gl_diagnostics *diagnostics);

/* The columns as a table "runs": column, type, unit, field, meaning. */
gl_table *gl_known_runs_schema(gl_arena *arena);

#endif
