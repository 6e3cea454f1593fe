/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where devices sit: stored beside a run, for any backend. */
#ifndef GL_MEASURE_LOCALITY_H
#define GL_MEASURE_LOCALITY_H

#include "common/arena.h"

/* NUMA nodes and PCI devices, by hwloc; NULL where hwloc is absent. */
const char *gl_measure_locality(gl_arena *arena);

#endif
