/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known about hardware: catalogue entries (from data/) and a cluster made of them. No
 * number stands in C; every figure carries its source.
 */
#ifndef GL_CORE_HARDWARE_H
#define GL_CORE_HARDWARE_H

#include "common/calibration.h"
#include "planner/core/arithmetic.h"
#include "planner/core/cost_terms.h"

typedef enum gl_figure_kind {
    GL_FIGURE_ABSENT,
    GL_FIGURE_MEASURED,
    GL_FIGURE_SPECIFICATION,
    GL_FIGURE_ASSUMED
} gl_figure_kind;

/* A catalogue figure: SI value, range (low ≤ value ≤ high, taken as P10 and P90), origin. */
typedef struct gl_figure {
    double value, low, high;
    gl_figure_kind kind;
    const char *source; /* never NULL once loaded */
    const char *date;   /* ISO 8601 */
} gl_figure;

/* Sigmas between the middle and P90 of a normal distribution. */
#define GL_P90_OF_SIGMA 1.2815515655446004

/* One-sigma relative error of a figure, from its range; 0 when it is absent. */
static inline double gl_figure_sigma(const gl_figure *figure)
{
    return figure->value > 0 ? (figure->high - figure->low) / 2 / GL_P90_OF_SIGMA / figure->value
                             : 0;
}

/* data/gpus/NAME.yaml */
typedef struct gl_gpu {
    const char *name;           /* file name: "h200-sxm" */
    const char *title;          /* "NVIDIA H200 SXM 141GB" */
    const char *const *aliases; /* as drivers print it; NULL-terminated */
    gl_figure memory_bytes;
    gl_figure memory_bw_bytes_per_s; /* HBM or GDDR, nominal */
    gl_figure memory_efficiency;     /* share of it that streaming kernels reach */
    gl_figure bf16_flop_per_s, fp16_flop_per_s, fp32_flop_per_s, fp8_flop_per_s; /* dense peaks */
    gl_figure gemm_efficiency;      /* share of the peak that large BF16 GEMMs reach */
    gl_figure fp8_gemm_efficiency;  /* ABSENT: FP8 GEMMs reach the share of BF16 ones */
    gl_figure attention_efficiency; /* share of the peak in flash attention, forward */
    gl_figure attention_backward_efficiency;
    gl_figure flash2_efficiency, flash2_backward_efficiency; /* of FlashAttention 2 and 1 where */
    gl_figure flash1_efficiency, flash1_backward_efficiency; /* those differ; ABSENT: they do not */
    gl_figure kernel_launch_s;          /* time that one more kernel adds to a busy stream */
    gl_figure sm_count;                 /* multiprocessors: wave quantisation of GEMMs */
    gl_figure gemm_tile_m, gemm_tile_n; /* output tile of the large GEMM kernels */
    gl_figure power_w;
} gl_gpu;

/* data/links/NAME.yaml: a link of one GPU (inside a node) or of one NIC. Per direction. */
typedef struct gl_link {
    const char *name; /* "nvlink4", "ib-ndr" */
    const char *title;
    gl_transport transport;
    gl_figure bw_bytes_per_s;      /* nominal, per direction */
    gl_figure pair_bw_bytes_per_s; /* where GPUs are wired to each other, not to a switch: what a
                                      group of 2 or 3 has of it … */
    gl_figure quad_bw_bytes_per_s; /* … and one of 4 to 7; ABSENT = all of it */
    gl_figure efficiency;          /* busbw of large ring collectives over nominal */
    gl_figure alltoall_efficiency; /* the same for all-to-all; ABSENT = efficiency */
    gl_figure p2p_efficiency;      /* send/receive between two ranks; ABSENT = efficiency */
    gl_figure switch_efficiency;   /* share of nominal for the (n+1)/n bytes of an all-reduce that
                                      the switch reduces (NVLS); ABSENT: it does not */
    gl_figure switch_latency_s;    /* what such a call takes more; ABSENT = 0 */
    gl_figure base_latency_s;      /* of a collective call, whatever the rank count */
    gl_figure step_latency_s;      /* added by each step of a ring or hop of a send */
    gl_figure level_latency_s;     /* added to a step for each level of switches above the leaf;
                                      ABSENT = 0 */
    gl_figure half_size_bytes;     /* bus bytes w of one rank at which half of the bandwidth is
                                      reached: they take sqrt(w² + 3·half·w) / bandwidth */
    gl_figure via_cpu_efficiency; /* PCIe: share of nominal that a NIC and a GPU reach which meet in
                                     the CPU only … */
    gl_figure via_numa_efficiency; /* … or between two of them; ABSENT: not known */
    gl_figure reach_m;             /* longest cable, metres; ABSENT = not known */
    gl_figure domain_gpus;         /* largest number of GPUs that it joins; ABSENT = no limit */
} gl_link;

/* One tier of a cluster: the link from the catalogue and what was measured over it. */
typedef struct gl_tier {
    const gl_link *link;    /* NULL: nothing known but measurements */
    const gl_curve *curves; /* loaded curves; empty when nothing was measured */
    size_t curve_count;
    const char *calibration; /* name of the database; NULL = none */
    double bandwidth_factor; /* all of the above times this against what was described, where a
                                question asks what another bandwidth would do; 0 = as described */
} gl_tier;

/* data/transports/overlap.yaml: compute seconds lost per second of hidden communication. */
typedef struct gl_overlap_taxes {
    gl_figure by_transport[GL_TRANSPORT_COUNT]; /* ABSENT where nobody knows */
} gl_overlap_taxes;

/* Where the NICs of a node hang. */
typedef enum gl_attachment {
    GL_ATTACHED_TO_SWITCH, /* of their GPUs */
    GL_ATTACHED_TO_CPU,
    GL_ATTACHED_ACROSS_NUMA
} gl_attachment;

typedef enum gl_fabric {
    GL_FABRIC_FAT_TREE,
    GL_FABRIC_RAIL_OPTIMISED,
    GL_FABRIC_RAIL_ONLY
} gl_fabric;

extern const char *const gl_fabric_names[]; /* as in descriptions, by value; NULL-terminated */

/* Leased lines between places that share a cluster: its nodes are split evenly, in order. */
typedef struct gl_sites {
    int count;             /* ≤ 1: all nodes stand in one place */
    double bw_bytes_per_s; /* of the line between two sites, per direction */
    double latency_s;      /* one way */
} gl_sites;

enum { GL_NODES_MAX = 100000 }; /* that a description may state */

typedef struct gl_cluster {
    const char *name;
    const gl_gpu *gpu; /* NULL only when a database names a GPU that the catalogue lacks */
    int nodes, gpus_per_node;
    bool bounded;            /* false: a bare calibration database; its size is what was measured */
    gl_tier intra, inter;    /* inside a node; between nodes */
    int domain_gpus;         /* GPUs of a node that intra.link joins; 0 = all */
    const gl_link *outside;  /* between such domains of a node; NULL when there is one */
    int pcie_lanes;          /* of the CPUs, for GPUs and NICs; 0 = not stated */
    int pcie_switches;       /* of a node, each with an uplink of 16 lanes */
    int nics_per_node;       /* 0 when nodes = 1 */
    const gl_link *nic_slot; /* what a NIC is plugged into; NULL = not stated */
    gl_attachment nic_attachment;
    double intra_bw_bytes_per_s; /* stated instead of intra.link's nominal one; 0 = not stated */
    double nic_bw_bytes_per_s;   /* stated instead of the link's nominal one; 0 = not stated */
    double network_latency_s;    /* what distance adds to a step one way; it is in inter.link */
    gl_fabric fabric;
    double oversubscription;      /* ≥ 1: leaf downlinks over uplinks */
    double core_oversubscription; /* ≥ 1: spine downlinks over uplinks, where there are cores */
    int radix;                    /* ports of a switch; 0 = not stated */
    bool in_network_reduction;    /* the network's switches add up all-reduces (SHARP) */
    gl_sites sites;
    const char *region;              /* site: where it stands; NULL = not stated */
    gl_cost_terms terms;             /* money, power, operation; region's figures win over … */
    const gl_price_list *price_list; /* … its terms. NULL: no cost is planned */
    const gl_compute_rate *compute;  /* measured on this GPU */
    size_t compute_count;
    const gl_overlap_rate *overlap; /* measured: wins over … */
    size_t overlap_count;
    const gl_overlap_taxes *overlap_taxes; /* … the catalogue; NULL: none */
} gl_cluster;

/* Switches between nodes that a group touches where they are known, and its nodes on the fullest
 * one. */
typedef struct gl_reach {
    int leaves, nodes_on_leaf; /* leaf switches (of a rail); 0 = not known */
    int pods, nodes_in_pod;    /* what cores join */
} gl_reach;

/* GPUs that the link inside a node joins. */
static inline int gl_cluster_domain(const gl_cluster *cluster)
{
    bool parts = cluster->domain_gpus > 0 && cluster->domain_gpus < cluster->gpus_per_node;
    return parts ? cluster->domain_gpus : cluster->gpus_per_node;
}

/* Nominal bandwidth of a NIC that reaches it through its slot: all that the slot carries beside the
 * GPU's switch or where it is not known what passes CPUs, or what was found to pass one CPU or two,
 * which is a figure of real transfers: the NIC's own efficiency is not taken from it once more.
 * INFINITY: no slot is stated. */
double gl_cluster_slot_bandwidth(const gl_cluster *cluster);

/* GPUs of the fullest site. */
static inline int gl_cluster_gpus_per_site(const gl_cluster *cluster)
{
    int sites = cluster->sites.count > 1 ? cluster->sites.count : 1;
    return (int)gl_divide_up(cluster->nodes, sites) * cluster->gpus_per_node;
}

/* Takes a calibration that stands for a cluster of unknown size for one of `ranks` GPUs: more GPUs
 * in the node when one node was measured, more nodes otherwise. Described clusters stay as they
 * are. */
void gl_cluster_extend(gl_cluster *cluster, int64_t ranks);

#endif
