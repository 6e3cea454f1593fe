/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of data/gpus/NAME.yaml. */
#include "planner/core/hardware.h"
#include "planner/input/field_rows.h"

#define TARGET gl_gpu

/* A table: its rows stay as they are written. */
/* clang-format off */
const gl_field gl_gpu_fields[] = {
    {.path = "gpu.title", .type = GL_FIELD_TEXT, .required = true, .offset = offsetof(TARGET, title),
     .doc = "Name of the product, with form factor and memory."},
    {.path = "gpu.aliases", .type = GL_FIELD_TEXTS, .offset = offsetof(TARGET, aliases),
     .doc = "Names as drivers print them."},
    SPECIAL_ROW("gpu.sources", true, "Where the figures come from: NAME: {text, url, date, kind: measured, specification or assumed}."),
    FIGURE_ROW("gpu.memory", memory_bytes, GL_BYTES, 1e9, 1e13, true, "Memory of one GPU."),
    FIGURE_ROW("gpu.memory_bandwidth", memory_bw_bytes_per_s, GL_BYTES_PER_S, 1e9, 1e15, true, "Nominal bandwidth of its memory."),
    FIGURE_ROW("gpu.memory_efficiency", memory_efficiency, GL_FRACTION, 0.01, 1, true, "Share of that bandwidth which streaming kernels reach."),
    FIGURE_ROW("gpu.bf16", bf16_flop_per_s, GL_FLOP_PER_S, 1e9, 1e18, false, "Dense peak in BF16; absent: the GPU has none, and fp16 is required."),
    FIGURE_ROW("gpu.fp16", fp16_flop_per_s, GL_FLOP_PER_S, 1e9, 1e18, false, "Dense peak in FP16; required without bf16, then the efficiencies are shares of it."),
    FIGURE_ROW("gpu.fp32", fp32_flop_per_s, GL_FLOP_PER_S, 1e9, 1e18, false, "Dense peak in FP32."),
    FIGURE_ROW("gpu.fp8", fp8_flop_per_s, GL_FLOP_PER_S, 1e9, 1e18, false, "Dense peak in FP8; absent: the GPU has none."),
    FIGURE_ROW("gpu.gemm_efficiency", gemm_efficiency, GL_FRACTION, 0.01, 1, true, "Share of the peak that large BF16 matrix products reach."),
    FIGURE_ROW("gpu.fp8_gemm_efficiency", fp8_gemm_efficiency, GL_FRACTION, 0.01, 1, false, "The same for FP8; absent: as for BF16."),
    FIGURE_ROW("gpu.attention_efficiency", attention_efficiency, GL_FRACTION, 0.01, 1, true, "Share of the peak in flash attention, forward."),
    FIGURE_ROW("gpu.attention_backward_efficiency", attention_backward_efficiency, GL_FRACTION, 0.01, 1, true, "Share of the peak in flash attention, backward."),
    FIGURE_ROW("gpu.flash2_efficiency", flash2_efficiency, GL_FRACTION, 0.01, 1, false, "Forward share with FlashAttention 2, where there is a better kernel; absent: the same."),
    FIGURE_ROW("gpu.flash2_backward_efficiency", flash2_backward_efficiency, GL_FRACTION, 0.01, 1, false, "Backward share with FlashAttention 2; absent: the same."),
    FIGURE_ROW("gpu.flash1_efficiency", flash1_efficiency, GL_FRACTION, 0.01, 1, false, "Forward share with the first FlashAttention; absent: as with the second."),
    FIGURE_ROW("gpu.flash1_backward_efficiency", flash1_backward_efficiency, GL_FRACTION, 0.01, 1, false, "Backward share with the first FlashAttention; absent: as with the second."),
    FIGURE_ROW("gpu.kernel_launch", kernel_launch_s, GL_SECONDS, 0, 0.01, true, "Time that one more kernel adds to a busy stream."),
    FIGURE_ROW("gpu.sm_count", sm_count, GL_NUMBER, 1, 10000, true, "Multiprocessors: matrix products run in waves of as many tiles."),
    FIGURE_ROW("gpu.gemm_tile_m", gemm_tile_m, GL_NUMBER, 1, 4096, true, "Rows of the output tile of large matrix products."),
    FIGURE_ROW("gpu.gemm_tile_n", gemm_tile_n, GL_NUMBER, 1, 4096, true, "Columns of that tile."),
    FIGURE_ROW("gpu.power", power_w, GL_WATTS, 1, 1e5, true, "Board power under load."),
    {.path = NULL},
};
/* clang-format on */
