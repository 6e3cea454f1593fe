/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is stored beside a run, for any backend. */
#ifndef GL_MEASURE_FACTS_H
#define GL_MEASURE_FACTS_H

#include "calibrate/measure/backend.h"

/* NCCL_* of `environment` (as environ), one NAME=value a line, sorted. Of paths only the last part;
 * values that are secrets or name hosts read "(set)". Nothing else of the environment. */
const char *gl_facts_environment(const char *const *environment, gl_arena *arena);

/* NUMA nodes and PCI devices, by hwloc; NULL where hwloc is absent. */
const char *gl_facts_locality(gl_arena *arena);

#endif
