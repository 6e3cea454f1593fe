/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few things that only NVML tells. It comes with the driver, not with CUDA, so it is loaded
 * when it is there. */
#ifndef GL_MEASURE_NCCL_NVML_H
#define GL_MEASURE_NCCL_NVML_H

#include <stddef.h>

typedef struct gl_nvml_facts {
    char driver[80];  /* "580.159.03"; "" unknown */
    int nvlink_links; /* active ones of the GPU that has fewest; −1 unknown */
} gl_nvml_facts;

/* `bus_ids`: "0000:06:00.0", of the GPUs that matter. */
void gl_nvml_read(const char *const *bus_ids, size_t count, gl_nvml_facts *facts);

#endif
