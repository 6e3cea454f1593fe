/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of data/links/NAME.yaml. */
#include "planner/core/hardware.h"
#include "planner/input/field_rows.h"

#define TARGET gl_link

/* A table: its rows stay as they are written. */
/* clang-format off */
/* In the order of gl_transport. */
static const char *const transports[] = {"unknown", "nvlink", "pcie-p2p", "shm", "net-ib", "net-roce", "net-socket", "host", NULL};

const gl_field gl_link_fields[] = {
    {.path = "link.title", .type = GL_FIELD_TEXT, .required = true, .offset = offsetof(TARGET, title),
     .doc = "Name of the link."},
    {.path = "link.transport", .type = GL_FIELD_CHOICE, .choices = transports, .required = true, .offset = offsetof(TARGET, transport),
     .doc = "What NCCL uses it as."},
    SPECIAL_ROW("link.sources", true, "Where the figures come from: NAME: {text, url, date, kind: measured, specification or assumed}."),
    FIGURE_ROW("link.bandwidth", bw_bytes_per_s, GL_BYTES_PER_S, 1e6, 1e14, true, "Nominal bandwidth of one GPU or NIC, per direction."),
    FIGURE_ROW("link.pair_bandwidth", pair_bw_bytes_per_s, GL_BYTES_PER_S, 1e6, 1e14, false, "Where GPUs are wired to each other and not to a switch: bandwidth of each of a group of 2 or 3; absent: as bandwidth."),
    FIGURE_ROW("link.quad_bandwidth", quad_bw_bytes_per_s, GL_BYTES_PER_S, 1e6, 1e14, false, "The same for a group of 4 to 7."),
    FIGURE_ROW("link.efficiency", efficiency, GL_FRACTION, 0.001, 2, true, "Bus bandwidth of large ring collectives over the nominal bandwidth; above 1 with in-switch reduction."),
    FIGURE_ROW("link.alltoall_efficiency", alltoall_efficiency, GL_FRACTION, 0.001, 2, false, "The same for all-to-all; absent: as efficiency."),
    FIGURE_ROW("link.p2p_efficiency", p2p_efficiency, GL_FRACTION, 0.001, 2, false, "The same for send and receive between two ranks; absent: as efficiency."),
    FIGURE_ROW("link.switch_efficiency", switch_efficiency, GL_FRACTION, 0.001, 1, false, "Where the switch reduces (NVLS): share of the nominal bandwidth that the (n+1)/n message sizes of an all-reduce get; absent: it does not."),
    FIGURE_ROW("link.switch_latency", switch_latency_s, GL_SECONDS, 0, 1, false, "Time that such an all-reduce takes more per call; absent: none."),
    FIGURE_ROW("link.base_latency", base_latency_s, GL_SECONDS, 0, 1, true, "Time of a collective call, whatever the number of ranks."),
    FIGURE_ROW("link.step_latency", step_latency_s, GL_SECONDS, 0, 1, true, "Time that each step of a ring or hop of a send adds."),
    FIGURE_ROW("link.level_latency", level_latency_s, GL_SECONDS, 0, 1, false, "Added to a step for each level of switches above the leaf that its message climbs; absent: none."),
    FIGURE_ROW("link.half_size", half_size_bytes, GL_BYTES, 0, 1e12, true, "Bytes that one rank puts on the link at which half of the bandwidth is reached."),
    FIGURE_ROW("link.via_cpu_efficiency", via_cpu_efficiency, GL_FRACTION, 0.001, 1, false, "PCIe: share of the nominal bandwidth that a NIC reaches whose GPU is joined to it by the CPU only; absent: not known."),
    FIGURE_ROW("link.via_numa_efficiency", via_numa_efficiency, GL_FRACTION, 0.001, 1, false, "The same where two CPUs lie between them; absent: not known."),
    FIGURE_ROW("link.reach_m", reach_m, GL_NUMBER, 0.1, 1e6, false, "Longest cable in metres, with the optics that reach farthest; absent: not known."),
    FIGURE_ROW("link.domain_gpus", domain_gpus, GL_NUMBER, 2, 1e6, false, "Largest number of GPUs that it joins; absent: no limit."),
    {.path = NULL},
};
/* clang-format on */
