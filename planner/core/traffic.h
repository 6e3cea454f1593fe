/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traffic: every message of a step of one pipeline stage, exactly, as NCCL is asked to move it.
 * The rules and their sources are in docs/models/traffic.md.
 */
#ifndef GL_CORE_TRAFFIC_H
#define GL_CORE_TRAFFIC_H

#include "planner/core/layout.h"
#include "planner/core/parameters.h"

typedef enum gl_traffic_dimension {
    GL_TRAFFIC_DP,
    GL_TRAFFIC_TP,
    GL_TRAFFIC_PP,
    GL_TRAFFIC_CP,
    GL_TRAFFIC_EP,
    GL_TRAFFIC_EMBEDDING,
    GL_TRAFFIC_OPTIMIZER,
    GL_TRAFFIC_DIMENSION_COUNT
} gl_traffic_dimension;

typedef enum gl_phase {
    GL_PHASE_FORWARD,
    GL_PHASE_BACKWARD,
    GL_PHASE_OPTIMIZER,
    GL_PHASE_COUNT
} gl_phase;

/* One row per distinct (operation, phase, collective, size). */
typedef struct gl_traffic_row {
    gl_traffic_dimension dimension;
    const char *operation; /* "gradients", "attention and MLP outputs", … */
    gl_phase phase;
    gl_collective collective;
    gl_group group;
    gl_placement placement;
    int64_t size_bytes; /* of one message, in nccl-tests' meaning of size */
    int64_t calls_per_step;
    double load_factor;  /* hottest rank over the mean: multiplies the time, not the bytes; ≥ 1 */
    bool may_hide;       /* allowed to hide behind compute, by overlap: in the description */
    const char *formula; /* the size's formula with its symbols, for `explain` */
} gl_traffic_row;

/* Data parallel messages in the order in which they are issued, for the schedule. */
typedef enum gl_message_when {
    GL_BEFORE_FORWARD,  /* parameters gathered before the block's forward */
    GL_BEFORE_BACKWARD, /* … again before its backward */
    GL_AFTER_BACKWARD,  /* gradients, when the block's backward has come `within` far */
    GL_AFTER_STEP       /* in the optimizer phase */
} gl_message_when;

typedef struct gl_message {
    size_t row;    /* of the table */
    int block;     /* index into the stage's block sequence */
    double within; /* AFTER_BACKWARD: share of the block's backward that is done when it starts */
    gl_message_when when;
    bool every_microbatch; /* false: only with the last microbatch (or once a step) */
} gl_message;

typedef struct gl_traffic {
    gl_traffic_row *rows;
    size_t row_count;
    gl_message *messages;
    size_t message_count;
    bool has_every; /* messages of every microbatch, … */
    bool has_last;  /* … of the last one alone, … */
    bool has_gate;  /* … such that compute waits for */
} gl_traffic;

/* Adds a message to a list that has room for it. */
void gl_traffic_put(gl_traffic *traffic, const gl_message *message);

/*
 * Traffic of one rank of `stage`, of a workload that has passed gl_check_workload. In two steps,
 * for many layouts of one model: the data parallel messages, which are the bulk of the work, depend
 * on the stage's weights and on how ZeRO splits them, not on how many replicas and microbatches
 * there are (but on whether there are any: groups of one move nothing).
 */
typedef struct gl_traffic_base {
    gl_traffic traffic; /* data parallel rows and messages; calls of one microbatch */
    bool *every;        /* by row: moves with every microbatch, not once a step */
} gl_traffic_base;

void gl_traffic_prepare(const gl_workload *workload, const gl_parameters *parameters,
                        const gl_stage *stage, const gl_layout *layout, gl_arena *arena,
                        gl_traffic_base *out);

/* What was prepared with this layout's groups and microbatches, and all other rows. `out` shares
 * the messages. */
void gl_traffic_complete(const gl_traffic_base *base, const gl_workload *workload,
                         const gl_parameters *parameters, const gl_stage *stage,
                         const gl_layout *layout, gl_arena *arena, gl_traffic *out);

/* Bytes that a rank puts on its links for one call: size × bus factor (ring), all-to-all and
 * all-gather alike; send/receive: size. */
double gl_traffic_wire_bytes(const gl_traffic_row *row);

/* Bytes of one call that a GPU puts on a tier: 0 inside a node, 1 between nodes. Inside a node a
 * ring's bytes run from GPU to GPU; between nodes they leave a node once for all the ranks it has
 * there. Of an all-to-all each tier carries the share of the ranks that it leads to. */
double gl_traffic_tier_bytes(const gl_traffic_row *row, int tier);

const char *gl_traffic_dimension_name(gl_traffic_dimension dimension);
const char *gl_phase_name(gl_phase phase);

#endif
