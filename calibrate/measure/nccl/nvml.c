/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/nvml.h"

#include <dlfcn.h>
#include <string.h>

enum { LINKS_MAX = 36, SUCCESS = 0 };

/* Prototypes of NVML's stable interface; 0 is success. */
typedef struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver_version)(char *text, unsigned length);
    int (*by_bus_id)(const char *bus_id, void **device);
    int (*link_state)(void *device, unsigned link, int *active);
} nvml;

/* POSIX wants this detour: ISO C has no conversion from an object pointer to a function pointer. */
static void find(const nvml *n, const char *name, void *function)
{
    void *symbol = dlsym(n->library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static int load(nvml *n)
{
    memset(n, 0, sizeof *n);
    n->library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (n->library == NULL)
        return 0;
    find(n, "nvmlInit_v2", &n->init);
    find(n, "nvmlShutdown", &n->shutdown);
    find(n, "nvmlSystemGetDriverVersion", &n->driver_version);
    find(n, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus_id);
    find(n, "nvmlDeviceGetNvLinkState", &n->link_state);
    return n->init != NULL && n->shutdown != NULL && n->init() == SUCCESS;
}

static int active_links(const nvml *n, const char *bus_id)
{
    void *device;
    int count = 0, active = 0;
    if (n->by_bus_id == NULL || n->link_state == NULL || n->by_bus_id(bus_id, &device) != SUCCESS)
        return -1;
    for (unsigned link = 0; link < LINKS_MAX; link++)
        if (n->link_state(device, link, &active) == SUCCESS)
            count += active == 1;
    return count;
}

void gl_nvml_read(const char *const *bus_ids, size_t count, gl_nvml_facts *facts)
{
    nvml n;
    *facts = (gl_nvml_facts){.nvlink_links = -1};
    if (load(&n)) {
        if (n.driver_version == NULL ||
            n.driver_version(facts->driver, sizeof facts->driver) != SUCCESS)
            facts->driver[0] = '\0';
        for (size_t i = 0; i < count; i++) {
            int links = active_links(&n, bus_ids[i]);
            if (i == 0 || links < facts->nvlink_links)
                facts->nvlink_links = links;
        }
        n.shutdown();
    }
    if (n.library != NULL)
        dlclose(n.library);
}
