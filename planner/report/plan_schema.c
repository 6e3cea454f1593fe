/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/plan_schema.h"

#include <string.h>

typedef struct described {
    const char *table, *column, *unit, *meaning;
} described;

static const described columns[] = {
    {"summary", "cluster", "", "the cluster's name"},
    {"summary", "gpus", "", "GPUs that the layout uses"},
    {"summary", "step_time_s", "s", "time of one training step"},
    {"summary", "step_time_p10_s", "s", "with 90 % probability the step takes at least this (P10)"},
    {"summary", "step_time_p90_s", "s", "… and with 90 % probability at most this (P90)"},
    {"summary", "exposed_frac", "1", "share of the step that waits for communication"},
    {"summary", "communication_cost_frac", "1",
     "the same and the compute lost to what is hidden: what the target limits"},
    {"summary", "mfu", "1", "model FLOPs utilisation: useful FLOP over the peak of all GPUs"},
    {"summary", "tokens_per_s", "1/s", "training tokens per second, all GPUs together"},
    {"summary", "memory_per_gpu_bytes", "B", "memory that a GPU of the fullest stage needs"},
    {"summary", "memory_fits", "", "whether it is within the GPU's capacity; empty when unknown"},
    {"summary", "intra_node_verdict", "", "required against available bandwidth inside a node"},
    {"summary", "inter_node_verdict", "", "the same between nodes"},
    {"summary", "evidence", "", "worst evidence that the step time rests on"},

    {"traffic", "dimension", "", "what it is for: dp, tp, pp, cp, ep, embedding or optimizer"},
    {"traffic", "operation", "", "what is moved"},
    {"traffic", "phase", "", "forward, backward or optimizer"},
    {"traffic", "collective", "", "what NCCL is asked to do"},
    {"traffic", "group_ranks", "", "ranks that take part"},
    {"traffic", "nodes", "", "nodes that the group touches"},
    {"traffic", "ranks_per_node", "", "ranks of the group on its fullest node"},
    {"traffic", "concurrent_groups", "", "groups of this kind that share a node"},
    {"traffic", "size_bytes", "B", "one message, in the meaning of nccl-tests"},
    {"traffic", "calls_per_step", "", "messages of this size in a step"},
    {"traffic", "payload_bytes_per_step", "B", "size × calls"},
    {"traffic", "wire_bytes_per_rank_per_step", "B", "what a rank puts on its links, × calls"},
    {"traffic", "time_per_call_s", "s", "one call, alone"},
    {"traffic", "time_s", "s", "all calls of a step"},
    {"traffic", "exposed_s", "s", "of it, not hidden behind compute"},
    {"traffic", "busbw_bytes_per_s", "B/s", "size × bus factor / time, as nccl-tests prints it"},
    {"traffic", "required_busbw_bytes_per_s", "B/s",
     "busbw from which on the exposed share meets the target"},
    {"traffic", "algorithm", "", "algorithm of the curve or of the model"},
    {"traffic", "transport", "", "what the messages travel over"},
    {"traffic", "evidence", "", "how the time of a call is known"},

    {"step", "time_s", "s", "one training step"},
    {"step", "time_p10_s", "s", "with 90 % probability the step takes at least this (P10)"},
    {"step", "time_p90_s", "s", "… and with 90 % probability at most this (P90)"},
    {"step", "compute_s", "s", "forward and backward of all microbatches on the slowest stage"},
    {"step", "overlap_tax_s", "s", "compute lost because communication runs beside it"},
    {"step", "communication_s", "s", "all communication of a rank, hidden or not"},
    {"step", "exposed_communication_s", "s", "of it, not hidden behind compute"},
    {"step", "communication_cost_frac", "1",
     "(exposed + compute lost to what is hidden) / step: what the target limits"},
    {"step", "bubble_s", "s", "waiting of a pipeline stage for the others"},
    {"step", "optimizer_s", "s", "the optimizer's update"},
    {"step", "mfu", "1", "model FLOPs utilisation: useful FLOP over the peak of all GPUs"},
    {"step", "tokens_per_s", "1/s", "training tokens per second, all GPUs together"},
    {"step", "tokens_per_s_per_gpu", "1/s", "the same of one GPU"},
    {"step", "network_evidence", "", "worst evidence of the communication times"},
    {"step", "compute_evidence", "", "evidence of the compute times"},
    {"step", "evidence", "", "the worse of the two"},

    {"required_bandwidth", "tier", "", "intra_node or inter_node"},
    {"required_bandwidth", "bytes_per_step_per_gpu", "B", "what a GPU puts on this tier in a step"},
    {"required_bandwidth", "required_bytes_per_s", "B/s",
     "needed per GPU and direction, with headroom"},
    {"required_bandwidth", "available_bytes_per_s", "B/s", "what large messages of this mix get"},
    {"required_bandwidth", "headroom", "", "factor for congestion, in the required figure"},
    {"required_bandwidth", "verdict", "", "enough, tight (only without headroom), short, …"},
    {"required_bandwidth", "evidence", "", "worst evidence of the messages over this tier"},

    {"memory", "stage", "", "pipeline stage that is the fullest"},
    {"memory", "per_gpu_bytes", "B", "memory that one of its GPUs needs at the peak of a step"},
    {"memory", "capacity_bytes", "B", "memory of the GPU"},
    {"memory", "fits", "", "needed ≤ capacity; empty when it is not known"},
    {"memory", "parameters_bytes", "B", "weights"},
    {"memory", "gradients_bytes", "B", "gradients"},
    {"memory", "optimizer_bytes", "B", "optimizer states and master weights"},
    {"memory", "activations_bytes", "B", "activations of the microbatches in flight"},
    {"memory", "in_flight", "", "microbatches or chunks whose activations are held"},
    {"memory", "other_bytes", "B", "logits, buffers and reserve"},
    {"memory", "logits_bytes", "B", "outputs of the LM head and their gradients"},
    {"memory", "buffers_bytes", "B", "gathered parameters, buckets, collective library"},
    {"memory", "library_bytes", "B", "of the buffers: CUDA context and NCCL"},
    {"memory", "reserve_bytes", "B", "share of the capacity that fragmentation costs"},
    {"memory", "not_together_bytes", "B",
     "in the amounts above, but not there at the peak: subtracted"},

    {"network", "curve", "", "number of the curve in its database"},
    {"network", "collective", "", "what was measured"},
    {"network", "ranks", "", "ranks that took part"},
    {"network", "nodes", "", "nodes that they were on"},
    {"network", "ranks_per_node", "", "ranks on the fullest node"},
    {"network", "concurrent_groups", "", "groups that were measured at the same time on a node"},
    {"network", "transport", "", "what the messages travelled over"},
    {"network", "in_place", "", "whether input and output were the same buffer"},
    {"network", "points", "", "usable samples"},
    {"network", "smallest_size_bytes", "B", "smallest measured message"},
    {"network", "largest_size_bytes", "B", "largest measured message"},
    {"network", "method", "", "interpolation that fits this curve best"},
    {"network", "loo_median_frac", "1", "median error of predicting a point from the others"},
    {"network", "loo_p90_frac", "1", "ninth decile of that error"},
    {"network", "noise_frac", "1", "repeat noise, one sigma"},
    {"network", "floor_s", "s", "smallest measured time"},
    {"network", "plateau_busbw_bytes_per_s", "B/s", "largest measured bus bandwidth"},
    {"network", "half_size_bytes", "B", "smallest size that reaches half of it"},

    {"links", "tier", "", "intra_node or inter_node"},
    {"links", "link", "", "name in the catalogue"},
    {"links", "transport", "", "what messages travel over"},
    {"links", "bw_bytes_per_s", "B/s", "nominal, per direction"},
    {"links", "efficiency_low", "1", "share of it that large collectives reach: P10"},
    {"links", "efficiency", "1", "typical"},
    {"links", "efficiency_high", "1", "P90"},
    {"links", "base_latency_s", "s", "of a collective call"},
    {"links", "calibration", "", "database that was measured over it"},
    {"links", "source", "", "where the efficiency comes from"},

    {"compute", "block", "", "kind of layer"},
    {"compute", "operator", "", "what is computed"},
    {"compute", "forward_flop", "1", "floating-point operations of one microbatch on one rank"},
    {"compute", "backward_flop", "1", "the same backward, recomputation included"},
    {"compute", "forward_bytes", "B", "bytes over the GPU's memory"},
    {"compute", "backward_bytes", "B", "the same backward"},
    {"compute", "forward_s", "s", "time of one microbatch"},
    {"compute", "backward_s", "s", "the same backward"},
    {"compute", "kernels", "", "kernels launched in forward"},

    {"cluster", "name", "", "the cluster's name"},
    {"cluster", "gpu", "", "name of the GPU in the catalogue"},
    {"cluster", "nodes", "", "nodes"},
    {"cluster", "gpus_per_node", "", "GPUs of a node"},
    {"cluster", "gpus", "", "GPUs in all"},
    {"cluster", "intra_node_link", "", "link inside a node, from the catalogue"},
    {"cluster", "intra_node_calibration", "", "database measured over it"},
    {"cluster", "inter_node_link", "", "link between nodes, from the catalogue"},
    {"cluster", "inter_node_calibration", "", "database measured over it"},
    {"cluster", "nics_per_node", "", "network interfaces of a node"},
    {"cluster", "fabric", "", "fat-tree, rail-optimised or rail-only"},
    {"cluster", "oversubscription", "", "downlinks of a leaf switch over its uplinks"},
    {"cluster", "radix", "", "ports of a switch"},
    {"cluster", "in_network_reduction", "", "whether the network's switches add up all-reduces"},
    {"cluster", "sites", "", "places that share the nodes"},
    {"cluster", "site_bw_bytes_per_s", "B/s", "of the line of one site, one way"},
    {"cluster", "site_latency_s", "s", "one-way delay of that line"},

    {"accuracy", "by", "", "what the runs are grouped by: source, gpu, evidence or all"},
    {"accuracy", "name", "", "the group"},
    {"accuracy", "runs", "", "runs of the group"},
    {"accuracy", "planned", "", "of them planned; the figures that follow are of these"},
    {"accuracy", "fitted", "", "of them used to choose a figure of the model or the catalogue"},
    {"accuracy", "mean_absolute_error_frac", "1", "mean of |predicted / measured − 1|"},
    {"accuracy", "bias_frac", "1", "mean of predicted / measured − 1: above 0 is too slow"},
    {"accuracy", "median_absolute_error_frac", "1", "median of |predicted / measured − 1|"},
    {"accuracy", "worst_error_frac", "1", "the error that is farthest from 0"},
    {"accuracy", "worst_id", "", "the run that has it"},
    {"accuracy", "coverage_frac", "1",
     "share of runs within their interval of 80 %: 0.7 to 0.9 is honest"},

    {"validation", "id", "", "name of the run"},
    {"validation", "family", "", "group in the summary"},
    {"validation", "source", "", "where it was published"},
    {"validation", "model", "", "name of the model"},
    {"validation", "gpu", "", "name of the GPU in the catalogue"},
    {"validation", "ranks", "", "GPUs in all"},
    {"validation", "layout", "", "parallel degrees above 1, chunks of a stage, ZeRO stage"},
    {"validation", "measured_s", "s", "the step as measured"},
    {"validation", "predicted_s", "s", "the step as planned"},
    {"validation", "predicted_p10_s", "s", "lower end of the interval of 80 %"},
    {"validation", "predicted_p90_s", "s", "its upper end"},
    {"validation", "error_frac", "1", "predicted / measured − 1: above 0 is too slow"},
    {"validation", "in_interval", "", "whether the interval holds what was measured"},
    {"validation", "evidence", "", "worst evidence that the step time rests on"},
    {"validation", "fitted", "", "whether a figure was chosen with this run"},
    {"validation", "compute_s", "s", "forward and backward of the slowest stage"},
    {"validation", "overlap_tax_s", "s", "compute lost because communication runs beside it"},
    {"validation", "exposed_communication_s", "s", "communication that nothing hides"},
    {"validation", "bubble_s", "s", "waiting of a pipeline stage for the others"},
    {"validation", "optimizer_s", "s", "the optimizer's update"},
    {"validation", "communication_s", "s", "all communication of a rank, hidden or not"},
    {"validation", "network_evidence", "", "worst evidence of the communication times"},
    {"validation", "compute_evidence", "", "evidence of the compute times"},
    {"validation", "memory_fits", "", "whether the plan fits the GPU; empty when unknown"},
    {"validation", "parameters_counted", "", "parameters of the architecture"},
    {"validation", "parameters_stated", "", "parameters as published"},

    {"not_planned", "id", "", "name of the run"},
    {"not_planned", "family", "", "group in the summary"},
    {"not_planned", "model", "", "name of the model"},
    {"not_planned", "gpu", "", "name of the GPU"},
    {"not_planned", "measured_s", "s", "the step as measured"},
    {"not_planned", "reason", "", "why it was not planned"},
};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

const char *gl_plan_column_meaning(const char *table, const char *column)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(columns[i].table, table) == 0 && strcmp(columns[i].column, column) == 0)
            return columns[i].meaning;
    return NULL;
}

gl_table *gl_plan_schema(gl_arena *arena)
{
    static const gl_column schema[] = {{"table", "Table", GL_NUMBER, GL_FOR_ALL},
                                       {"column", "Column", GL_NUMBER, GL_FOR_ALL},
                                       {"unit", "Unit", GL_NUMBER, GL_FOR_ALL},
                                       {"meaning", "Meaning", GL_NUMBER, GL_FOR_ALL}};
    gl_table *table = gl_table_create(arena, "csv", "Columns of the answers' tables", schema, 4);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        gl_cell *cell = gl_table_add_row(table);
        cell[0] = gl_text(columns[i].table);
        cell[1] = gl_text(columns[i].column);
        cell[2] = gl_text(columns[i].unit);
        cell[3] = gl_text(columns[i].meaning);
    }
    return table;
}
