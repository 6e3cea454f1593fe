/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of this host and of this process. */
#ifndef GL_MEASURE_MEMORY_H
#define GL_MEASURE_MEMORY_H

/* Bytes that new buffers of this host's processes may take together: what the kernel calls
 * available, less where a control group (a container, a Slurm job) allows less. */
double gl_memory_available(void);

/* The most bytes that this process ever had in memory. */
double gl_memory_peak(void);

#endif
