/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the command line to plans: clusters, settings, sweeps. */
#ifndef GL_PLANNER_CLI_SCENARIOS_H
#define GL_PLANNER_CLI_SCENARIOS_H

#include "planner/cli/answer.h"
#include "planner/input/planning.h"

enum { GL_SCENARIOS_MAX = 10000 };

/* Options of every command that plans. */
typedef struct gl_planning_options {
    gl_output_options output;
    gl_texts clusters, settings, sweeps;
    double headroom;
    long long stage; /* −1 = the one whose ranks move most */
    bool allow_extrapolation;
    bool strict;
    bool best_layout;     /* compare: each option with its own */
    double within;        /* compare: what counts as as good */
    long long seed, jobs; /* jobs: of searches; 0 = one for each core */
} gl_planning_options;

gl_planning_options gl_planning_defaults(void);

/* Their rows, for structs that begin with them: what is planned, … */
#define GL_SETUP_OPTIONS                                                                           \
    {.name = "cluster",                                                                            \
     .letter = 'c',                                                                                \
     .type = GL_OPTION_LIST,                                                                       \
     .value_name = "CLUSTER",                                                                      \
     .help = "Calibration database, cluster file, or the name of a bundled cluster.",              \
     .offset = offsetof(gl_planning_options, clusters)},                                           \
    {                                                                                              \
        .name = "set", .type = GL_OPTION_LIST, .value_name = "KEY=VALUE",                          \
        .help = "Change a field, such as batch.global=512 or cluster.nodes=8.",                    \
        .offset = offsetof(gl_planning_options, settings)                                          \
    }

/* … and how. */
#define GL_ESTIMATE_OPTIONS                                                                        \
    {.name = "headroom",                                                                           \
     .type = GL_OPTION_QUANTITY,                                                                   \
     .value_name = "FACTOR",                                                                       \
     .help = "Factor on required bandwidth, for congestion (default 1.25).",                       \
     .offset = offsetof(gl_planning_options, headroom),                                            \
     .dimension = GL_NUMBER,                                                                       \
     .minimum = GL_HEADROOM_MIN,                                                                   \
     .maximum = GL_HEADROOM_MAX},                                                                  \
        {.name = "seed",                                                                           \
         .type = GL_OPTION_INTEGER,                                                                \
         .value_name = "N",                                                                        \
         .help = "Of the random draws for intervals (default 0).",                                 \
         .offset = offsetof(gl_planning_options, seed),                                            \
         .minimum = 0,                                                                             \
         .maximum = 4294967295.0},                                                                 \
    {                                                                                              \
        .name = "allow-extrapolation", .type = GL_OPTION_FLAG,                                     \
        .help = "Answer beyond what the evidence carries, marked so.",                             \
        .offset = offsetof(gl_planning_options, allow_extrapolation)                               \
    }

#define GL_PLANNING_OPTIONS                                                                        \
    GL_SETUP_OPTIONS,                                                                              \
        {.name = "stage",                                                                          \
         .type = GL_OPTION_INTEGER,                                                                \
         .value_name = "N",                                                                        \
         .help = "Pipeline stage to report, from 0 (default: the one that moves most).",           \
         .offset = offsetof(gl_planning_options, stage),                                           \
         .minimum = 0,                                                                             \
         .maximum = 1e6},                                                                          \
        GL_ESTIMATE_OPTIONS

/* Of the commands that plan several descriptions: `sentence` says what each value makes. */
#define GL_SWEEP_OPTION(sentence)                                                                  \
    {                                                                                              \
        .name = "sweep", .type = GL_OPTION_LIST, .value_name = "KEY=A,B,C", .help = (sentence),    \
        .offset = offsetof(gl_planning_options, sweeps)                                            \
    }

/* One key of a sweep with its values. */
typedef struct gl_sweep {
    const char *key;
    const char **values;
    size_t count;
} gl_sweep;

/* All that the command line asks for, parsed but not loaded. */
typedef struct gl_request {
    const char *model; /* path */
    const gl_planning_options *options;
    gl_setting *settings;
    size_t setting_count;
    gl_sweep *sweeps;
    size_t sweep_count;
    size_t combinations; /* of the sweeps; 1 without */
} gl_request;

/* Parses --set and --sweep ("key=a,b,c"; commas inside {}, [] or quotes belong to the value). */
bool gl_request_parse(const char *model, const gl_planning_options *options, gl_arena *arena,
                      gl_request *request, gl_error *err);

/* The settings of combination `index`: the last sweep turns fastest. `swept` points at the part
 * that came from the sweeps. */
const gl_setting *gl_request_settings(const gl_request *request, size_t index, gl_arena *arena,
                                      size_t *count, const gl_setting **swept);

/* "cluster.nodes=8, parallel.tp=4" of one combination of the sweeps. */
const char *gl_swept_text(const gl_request *request, const gl_setting *swept, gl_arena *arena);

/* Is what went wrong a key or a value that is wrong by itself: a slip, and not a combination that
 * cannot be? */
bool gl_is_bad_setting(const gl_diagnostics *problems);

/* "parallel: heads (32) must be a multiple of tp (3); …": all problems in a line, in the arena. */
const char *gl_problems_text(const gl_diagnostics *problems, gl_arena *arena);

/* Is what cannot be planned, with these problems, an answer to a sweep: cluster and work are known,
 * and the values exclude each other? */
bool gl_is_impossible(const gl_request *request, const gl_cluster *cluster,
                      const gl_workload *workload, const gl_diagnostics *problems);

/* A sweep crosses values that exclude each other: the combination is named, and the others are
 * planned. Of more than GL_DIAGNOSTICS_MAX (`before` counts those that were left out already) only
 * the number is said, at the end, by gl_say_left_out_all. Silent with --quiet. */
void gl_say_left_out(const gl_request *request, const gl_setting *swept, size_t before,
                     const gl_diagnostics *problems);
void gl_say_left_out_all(const gl_request *request, size_t left_out);

/* Adds the names that --cluster takes: bundled calibrations, then cluster descriptions. */
void gl_add_bundled_clusters(gl_texts *names, gl_arena *arena);

/* Says that --cluster is missing, with an example and the bundled names. Returns the exit status.
 */
int gl_fail_without_cluster(const char *verb, const char *model);

gl_plan_options gl_request_plan_options(const gl_request *request);

/* Loads the model with settings, and checks it by itself; `tree` tells where its fields are. */
bool gl_load_workload(const gl_request *request, const gl_setting *settings, size_t setting_count,
                      gl_arena *arena, gl_yaml_tree *tree, gl_planned *planned,
                      gl_diagnostics *diagnostics);

/* Loads the model with settings, checks it against the cluster and plans. `diagnostics` comes in
 * empty; returns false with something in it. */
bool gl_plan_one(const gl_request *request, const gl_setting *settings, size_t setting_count,
                 const gl_cluster *cluster, gl_arena *arena, gl_planned *planned,
                 gl_diagnostics *diagnostics);

#endif
