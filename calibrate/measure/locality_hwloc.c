/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/locality.h"

#include <hwloc.h>
#include <stdbool.h>

/* The NUMA node that is nearest to a device. */
static hwloc_obj_t numa_of(hwloc_topology_t topology, hwloc_obj_t device)
{
    hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, device), node = NULL;
    while (place != NULL &&
           (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (hwloc_bitmap_intersects(node->nodeset, place->nodeset))
            return node;
    return NULL;
}

/* GPUs and network devices: 0x03 display, 0x12 accelerator, 0x02 network, by PCI class. */
static bool matters(const struct hwloc_obj *device)
{
    unsigned class = device->attr->pcidev.class_id >> 8;
    return class == 0x02 || class == 0x03 || class == 0x12;
}

static const char *add_numa(hwloc_topology_t topology, const char *text, gl_arena *arena)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        text = gl_arena_printf(arena, "%snuma %u: %d cpus, %llu bytes\n", text, node->os_index,
                               hwloc_bitmap_weight(node->cpuset),
                               (unsigned long long)node->attr->numanode.local_memory);
    return text;
}

static const char *add_devices(hwloc_topology_t topology, const char *text, gl_arena *arena)
{
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_pcidev(topology, device)) != NULL) {
        const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
        hwloc_obj_t node = numa_of(topology, device);
        if (!matters(device))
            continue;
        text = gl_arena_printf(arena, "%spci %04x:%02x:%02x.%x: class %04x, %04x:%04x, numa %d\n",
                               text, pci->domain, pci->bus, pci->dev, pci->func, pci->class_id,
                               pci->vendor_id, pci->device_id,
                               node != NULL ? (int)node->os_index : -1);
    }
    return text;
}

const char *gl_measure_locality(gl_arena *arena)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return NULL;
    const char *text = NULL;
    if (hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        hwloc_topology_load(topology) == 0)
        text = add_devices(topology, add_numa(topology, "", arena), arena);
    hwloc_topology_destroy(topology);
    return text;
}
