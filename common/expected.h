/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a collective should reach over a link: line rate, what NCCL's own model assumes, what is
 * typically measured, side by side, in bus bandwidth as nccl-tests prints it. The figures are in
 * data/expected/, with their sources; here is how they become a bus bandwidth.
 */
#ifndef GL_COMMON_EXPECTED_H
#define GL_COMMON_EXPECTED_H

#include "common/arena.h"
#include "common/calibration.h"
#include "common/error.h"

/* Of the line rate; 0 = not known, then that of rings counts. */
typedef struct gl_share {
    double value, low, high;
} gl_share;

/* data/expected/links.csv */
typedef struct gl_expected_link {
    const char *name; /* as in data/links: "nvlink4" */
    gl_transport transport;
    double line_bytes_per_s;    /* per direction, of one GPU or one NIC */
    double assumed_bytes_per_s; /* by NCCL (its topo.h); 0 = it assumes none */
    gl_share ring, alltoall, p2p;
    gl_share nvls; /* of the (n+1)/n sizes that pass a link when the switch adds up */
    const char *source;
} gl_expected_link;

/* data/expected/gpus.csv. */
typedef struct gl_expected_gpu {
    const char *name;      /* what the driver's name begins with: "NVIDIA H100 80GB HBM3" */
    int links;             /* NVLinks when all are there; 0 = none */
    bool is_on_board;      /* NVLink is wired on the board: always there, between all GPUs */
    bool has_multicast;    /* the switch can add up (NVLS) */
    bool has_rack;         /* NVLink between nodes (MNNVL) */
    const char *nvlink;    /* link between GPUs; "" none */
    const char *pcie;      /* its PCIe link, peer to peer */
    const char *host_path; /* through host memory */
    int sm;                /* 90 = compute capability 9.0; 0 not in the table */
    const char *devices; /* PCI device ids, hexadecimal, with blanks between; "" not in the table */
    const char *source;
} gl_expected_gpu;

typedef struct gl_expected {
    gl_expected_link *links;
    size_t link_count;
    gl_expected_gpu *gpus;
    size_t gpu_count;
} gl_expected;

/* Reads both files from the bundled data. */
bool gl_expected_load(gl_arena *arena, gl_expected *expected, gl_error *err);

/* Parses one file's text; for tests and gl_expected_load. */
bool gl_expected_read_links(const char *text, const char *file, gl_arena *arena,
                            gl_expected *expected, gl_error *err);
bool gl_expected_read_gpus(const char *text, const char *file, gl_arena *arena,
                           gl_expected *expected, gl_error *err);

/* Are two spellings one name of a GPU? The vendor's word, case and punctuation do not count:
 * "H200 SXM" is "h200-sxm", and "NVIDIA H200" is "h200". */
bool gl_expected_same_name(const char *a, const char *b);

/* NULL when it is not in the tables. The longest name that fits is taken, by the same rule. */
const gl_expected_gpu *gl_expected_find_gpu(const gl_expected *expected, const char *name);
/* By the PCI device id (0x2330); NULL when it is not in the table. */
const gl_expected_gpu *gl_expected_find_device(const gl_expected *expected, int device);
const gl_expected_link *gl_expected_find_link(const gl_expected *expected, const char *name);

/* The link that a transport is on this GPU. Of networks: the one with this rate of a NIC
 * (bytes/s; 0 = unknown). NULL when it cannot be told. */
const gl_expected_link *gl_expected_link_of(const gl_expected *expected, const char *gpu,
                                            gl_transport transport, double nic_bytes_per_s);

/* What is asked about. */
typedef struct gl_expected_case {
    const gl_expected_link *inside;  /* link between GPUs of a node; NULL unknown */
    const gl_expected_link *between; /* link of a NIC; NULL unknown; not used on one node */
    gl_collective collective;
    gl_placement placement;
    int nics;              /* used by a node; 0 = unknown */
    const char *algorithm; /* "ring", "tree", "nvls", …; "", "mixed": the library chooses */
    bool multicast;        /* NVLS may be chosen */
} gl_expected_case;

/* Bus bandwidths in bytes/s; NaN where nothing is known. */
typedef struct gl_expectation {
    double line;    /* no run can be faster, if `basis` is right */
    double limit;   /* no run can be faster, whichever algorithm the library chose; ≥ line */
    double assumed; /* what the library reckons with */
    double typical, low, high;
    const char *basis;  /* what bounds it: "ring over the link", "the switch adds up (NVLS)" */
    const char *source; /* of the typical value; "" none */
} gl_expectation;

gl_expectation gl_expected_busbw(const gl_expected_case *about);

/* The same for a curve, by the link that it went over (NULL: unknown), the GPU's name and what its
 * run was told (NULL: no run yet). */
gl_expectation gl_expected_of_curve(const gl_expected *expected, const gl_curve *curve,
                                    const gl_expected_link *link, const char *gpu,
                                    const gl_run *run);

/* Is a measured bus bandwidth beyond what can be, noise allowed for? Then something else was
 * measured than what is said. False where nothing is known. */
bool gl_expected_is_above(const gl_expectation *expectation, double busbw_bytes_per_s);

/* Does a run's environment set this variable of NCCL? */
bool gl_run_sets(const gl_run *run, const char *name);

#endif
