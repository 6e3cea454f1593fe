/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in where hwloc is absent. */
#include "calibrate/measure/locality.h"

const char *gl_measure_locality(gl_arena *arena)
{
    (void)arena;
    return NULL;
}
