/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a cluster's loader share. Internal to planner/input. */
#ifndef GL_INPUT_CLUSTER_PARTS_H
#define GL_INPUT_CLUSTER_PARTS_H

#include "planner/input/cluster_file.h"
#include "planner/input/yaml_tree.h"

typedef struct gl_cluster_loader {
    gl_yaml_tree tree;
    gl_arena *arena;
    gl_cluster *cluster;
    gl_texts *warnings;
    gl_diagnostics *diagnostics;
} gl_cluster_loader;

/* Rules between fields of a description, of what its catalogue entries and calibrations are loaded:
 * later ones hold only where the earlier found nothing. */
void gl_cluster__check(const gl_cluster_loader *l);

/* … and between those that decide what it costs. */
void gl_cluster__check_costs(const gl_cluster_loader *l);

/* What a description says of its nodes before it is changed; 0: nothing that is a number. */
long long gl_cluster__described_nodes(const gl_cluster_loader *l);

/* The name of the cluster with what was set: "8 x HGX H100 with gpu=h200-sxm". `described` as
 * above. */
const char *gl_cluster__name_as_set(const gl_cluster_loader *l, long long described,
                                    const gl_setting *settings, size_t count);

#endif
