/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in where hwloc is absent. */
#include "calibrate/measure/facts.h"

const char *gl_facts_locality(gl_arena *arena)
{
    (void)arena;
    return NULL;
}
