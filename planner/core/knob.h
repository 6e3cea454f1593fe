/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a buyer or a user can turn: one property of a cluster or of how training is run, as it is
 * and as it would be with another value. Sensitivities and break-evens plan such variants.
 */
#ifndef GL_CORE_KNOB_H
#define GL_CORE_KNOB_H

#include "common/arena.h"
#include "common/units.h"
#include "planner/core/hardware.h"
#include "planner/core/workload.h"

typedef enum gl_knob {
    GL_KNOB_INTRA_BANDWIDTH, /* of the link inside a node; where it was measured, the largest busbw
                              */
    GL_KNOB_INTRA_LATENCY,   /* base and steps together, as the factor of both */
    GL_KNOB_OUTSIDE_BANDWIDTH, /* between domains of a node */
    GL_KNOB_DOMAIN, /* GPUs that the fast link joins: nodes of so many, as many NICs a GPU */
    GL_KNOB_INTER_BANDWIDTH, /* of one NIC; where it was measured, the largest busbw */
    GL_KNOB_INTER_LATENCY,
    GL_KNOB_NICS,
    GL_KNOB_OVERSUBSCRIPTION,
    GL_KNOB_CORE_OVERSUBSCRIPTION, /* where there are three tiers of switches */
    GL_KNOB_OVERLAP_TAX,           /* compute lost to hidden communication, as a factor */
    GL_KNOB_OVERLAP,               /* 0: nothing hides; 1: as described; 2: everything may hide */
    GL_KNOB_COMPRESSION,
    GL_KNOB_BATCH,
    GL_KNOB_MICRO, /* of the same batch */
    GL_KNOB_COUNT
} gl_knob;

/* Which way is cheaper to buy or easier to do. */
typedef enum gl_cheap { GL_CHEAP_NONE, GL_CHEAP_LESS, GL_CHEAP_MORE } gl_cheap;

typedef struct gl_knob_kind {
    const char *name;       /* "inter_node.bandwidth" */
    const char *words;      /* "bandwidth of a NIC" */
    gl_dimension dimension; /* of its value */
    const char *unit;       /* for machines: "B/s" */
    bool whole;             /* only whole values */
    gl_cheap cheap;         /* NONE: no break-even is looked for */
    double smallest;        /* value that it can have */
} gl_knob_kind;

const gl_knob_kind *gl_knob_describe(gl_knob knob);

/* Of what is trained, not of what is bought: compression, batch, microbatch. */
bool gl_knob_is_of_the_work(gl_knob knob);

/* A workload on a cluster. */
typedef struct gl_setup {
    const gl_workload *workload;
    const gl_cluster *cluster;
} gl_setup;

/* The value as it is; NaN where the setup has no such property (NICs of a single node). */
double gl_knob_value(gl_knob knob, const gl_setup *setup);

/* The largest value that it can have: of a NIC's bandwidth what the slot carries, INFINITY where
 * nothing is known to limit it. Never less than what there is. */
double gl_knob_largest(gl_knob knob, const gl_setup *setup);

/* The setup with another value, in the arena. False when it cannot have that value (a domain that
 * does not divide the GPUs). Measured curves are changed as the link would be: the time above a
 * curve's floor by bandwidth, the floor by latency. */
bool gl_knob_turn(gl_knob knob, double value, const gl_setup *setup, gl_arena *arena,
                  gl_setup *out);

#endif
