/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The name that a changed cluster has. */
#include "common/text.h"
#include "common/units.h"
#include "planner/input/cluster_parts.h"

#include <stdio.h>
#include <string.h>

long long gl_cluster__described_nodes(const gl_cluster_loader *l)
{
    long long nodes = 0;
    const gl_yaml_node *node = gl_yaml_find(&l->tree, "cluster.nodes");
    if (node == NULL || node->kind != GL_YAML_SCALAR || !gl_parse_integer(node->text, &nodes, NULL))
        return 0;
    return nodes;
}

/* "8 x HGX H100" of "16 x HGX H100" that has 8 nodes now, where the 16 was the number of them; "n x
 * HGX H100" where a sweep says how many. */
static const char *count_again(const gl_cluster_loader *l, const char *name, long long described)
{
    char leading[32], count[32] = "n";
    const gl_yaml_node *node = gl_yaml_find(&l->tree, "cluster.nodes");
    snprintf(leading, sizeof leading, "%lld x ", described);
    if (described == 0 || node == NULL || !gl_yaml_is_setting(node) ||
        !gl_starts_with(name, leading))
        return name;
    if (!gl_starts_with(node->mark.file, "--sweep"))
        snprintf(count, sizeof count, "%d", l->cluster->nodes);
    return gl_arena_printf(l->arena, "%s x %s", count, name + strlen(leading));
}

/* Does a setting change what a name may tell: the machines and what joins them? Their number is
 * told beside the name. Sweeps tell their values themselves. */
static bool is_told(const gl_setting *setting)
{
    static const char *const others[] = {"cluster.site.", "cluster.cost.", "cluster.expansion."};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (gl_starts_with(setting->key, others[i]))
            return false;
    return gl_starts_with(setting->key, "cluster.") && strcmp(setting->option, "--set") == 0 &&
           strcmp(setting->key, "cluster.nodes") != 0;
}

/* A name was given to what the file describes: what was set is added, so that no heading promises
 * another machine than was planned. */
const char *gl_cluster__name_as_set(const gl_cluster_loader *l, long long described,
                                    const gl_setting *settings, size_t count)
{
    const char *changes = "";
    const gl_yaml_node *own = gl_yaml_find(&l->tree, "cluster.name");
    if (own != NULL && gl_yaml_is_setting(own))
        return l->cluster->name;
    for (size_t i = 0; i < count; i++) {
        char key[64], value[64];
        if (!is_told(&settings[i]))
            continue;
        gl_printable(settings[i].key + strlen("cluster."), key, sizeof key);
        gl_printable(settings[i].value, value, sizeof value);
        changes = gl_arena_append(l->arena, changes, ", ",
                                  gl_arena_printf(l->arena, "%s=%s", key, value));
    }
    const char *name = count_again(l, l->cluster->name, described);
    return changes[0] == '\0' ? name : gl_arena_printf(l->arena, "%s with %s", name, changes);
}
