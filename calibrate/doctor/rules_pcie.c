/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PCIe links of GPUs and NICs: lanes and generation. */
#include "calibrate/doctor/rules.h"

static void check_narrow(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++)
        for (size_t g = 0; g < d->facts->xml[i]->gpu_count; g++) {
            const gl_xml_gpu *gpu = &d->facts->xml[i]->gpus[g];
            if (gpu->pcie.width <= 0 ||
                gpu->pcie.width >= 16) /* 0: a virtual machine does not say */
                continue;
            gl_finding *f = gl_found(d, rule, gpu->quote);
            f->subject = gpu->pcie.bus;
            f->title = gl_arena_printf(d->arena, "GPU %s has %d PCIe lanes, not 16", gpu->pcie.bus,
                                       gpu->pcie.width);
            break;
        }
}

/* Is a part of the GPUs slower than the rest, and no more than half of them? Machines whose GPUs
 * are all alike are as they were built, or idle. */
static bool is_a_part(size_t slow, size_t all)
{
    return slow > 0 && 2 * slow <= all;
}

static void check_slow_dump(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        const gl_log_gpu *fast = h->gpus, *slowest = NULL;
        size_t slow = 0;
        for (size_t g = 1; g < h->gpu_count; g++)
            fast = h->gpus[g].gb_per_s > fast->gb_per_s ? &h->gpus[g] : fast;
        for (size_t g = 0; g < h->gpu_count; g++) {
            const gl_log_gpu *gpu = &h->gpus[g];
            if (gpu->gb_per_s < 1 || gpu->gb_per_s > 0.9 * fast->gb_per_s)
                continue; /* below 1 GB/s a virtual machine hides the tree, another finding */
            slow++;
            slowest = slowest == NULL || gpu->gb_per_s < slowest->gb_per_s ? gpu : slowest;
        }
        if (!is_a_part(slow, h->gpu_count))
            continue;
        gl_finding *f = gl_found(d, rule, slowest->quote);
        gl_found_proof(f, fast->quote);
        f->subject = h->name;
        f->title =
            gl_arena_printf(d->arena, "GPU %s of %s is on PCIe at %.3g GB/s, its siblings at %.3g",
                            slowest->bus, h->name, slowest->gb_per_s, fast->gb_per_s);
    }
}

/* Of the slowest link up to the CPU. */
static double rate_of(const gl_xml_gpu *gpu)
{
    return gpu->pcie.path_bytes_per_s;
}

static void check_slow_xml(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++) {
        const gl_topo_xml *x = d->facts->xml[i];
        const gl_xml_gpu *fast = x->gpus, *slowest = NULL;
        size_t slow = 0;
        for (size_t g = 1; g < x->gpu_count; g++)
            fast = rate_of(&x->gpus[g]) > rate_of(fast) ? &x->gpus[g] : fast;
        for (size_t g = 0; g < x->gpu_count; g++) {
            const gl_xml_gpu *gpu = &x->gpus[g];
            if (!(rate_of(gpu) > 0) || rate_of(gpu) > 0.9 * rate_of(fast) || gpu->pcie.width < 16)
                continue; /* fewer lanes are another finding */
            slow++;
            slowest = slowest == NULL || rate_of(gpu) < rate_of(slowest) ? gpu : slowest;
        }
        if (!is_a_part(slow, x->gpu_count))
            continue;
        gl_finding *f = gl_found(d, rule, slowest->quote);
        gl_found_proof(f, fast->quote);
        f->subject = slowest->pcie.bus;
        f->title =
            rate_of(slowest) < slowest->pcie.link_bytes_per_s
                ? gl_arena_printf(d->arena,
                                  "A bridge above GPU %s lets %.3g GB/s through, those of "
                                  "its siblings %.3g",
                                  slowest->pcie.bus, rate_of(slowest) / 1e9, rate_of(fast) / 1e9)
                : gl_arena_printf(d->arena, "GPU %s is on PCIe at %s, its siblings at %s",
                                  slowest->pcie.bus, slowest->pcie.speed, fast->pcie.speed);
    }
}

/* ---- NICs ---- */

enum { MELLANOX = 0x15b3 };

#define SUFFICES 0.7 /* of the NIC's rate: less cannot be the overhead of PCIe */

/* A sibling of the NIC whose way to the CPU is faster, if most are. */
static const gl_xml_net *faster_sibling(const gl_topo_xml *x, const gl_xml_net *net)
{
    const gl_xml_net *fast = NULL;
    size_t siblings = 0, faster = 0;
    for (size_t k = 0; k < x->net_count; k++) {
        const gl_xml_net *other = &x->nets[k];
        if (!gl_xml_are_siblings(x, net, other) || !(other->pcie.path_bytes_per_s > 0))
            continue;
        bool is_faster = net->pcie.path_bytes_per_s < 0.9 * other->pcie.path_bytes_per_s;
        siblings++;
        faster += is_faster;
        fast = is_faster && fast == NULL ? other : fast;
    }
    return 2 * faster >= siblings ? fast : NULL;
}

static void check_slow_nic(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++) {
        const gl_topo_xml *x = d->facts->xml[i];
        for (size_t n = 0; n < x->net_count; n++) {
            const gl_xml_net *net = &x->nets[n];
            const gl_xml_pcie *pcie = &net->pcie;
            if (!net->is_rdma || !(pcie->path_bytes_per_s > 0))
                continue;
            const gl_xml_net *fast = faster_sibling(x, net);
            bool suffices =
                pcie->vendor != MELLANOX || pcie->path_bytes_per_s >= SUFFICES * net->bytes_per_s;
            if (fast == NULL && suffices)
                continue;
            gl_finding *f = gl_found(d, rule, net->quote);
            f->subject = net->name;
            if (fast != NULL)
                gl_found_proof(f, fast->quote);
            f->title = fast != NULL
                           ? gl_arena_printf(d->arena,
                                             "NIC %s is on PCIe at %.3g GB/s, its siblings at %.3g",
                                             net->name, pcie->path_bytes_per_s / 1e9,
                                             fast->pcie.path_bytes_per_s / 1e9)
                           : gl_arena_printf(
                                 d->arena, "NIC %s runs at %.3g GB/s, and PCIe lets %.3g through",
                                 net->name, net->bytes_per_s / 1e9, pcie->path_bytes_per_s / 1e9);
            break;
        }
    }
}

static const gl_rule rules[] = {
    {"pcie-narrow", GL_WARNING, "A GPU has fewer PCIe lanes than 16",
     "PCIe bandwidth falls with the lanes.",
     "Reseat the card, check the riser and the slot's bifurcation in the BIOS.",
     .check = check_narrow},
    {"pcie-slow", GL_WARNING, "A GPU's PCIe link is slower than those of its siblings",
     "It came up at a lower generation or width: what it exchanges with host and NICs is as slow, "
     "and all ranks wait for it.",
     "Compare with lspci -vv (LnkCap and LnkSta) under load; reseat the card, check the riser, "
     "restart the machine.",
     .check = check_slow_dump},
    {"pcie-slow", GL_WARNING, "A GPU's PCIe link is slower than those of its siblings",
     "It came up at a lower generation: what it exchanges with host and NICs is as slow, and all "
     "ranks wait for it.",
     "Compare with lspci -vv (LnkCap and LnkSta) under load; reseat the card, check the riser, "
     "restart the machine.",
     .check = check_slow_xml},
    {"pcie-slow", GL_WARNING, "A NIC's PCIe link is too slow",
     "Its link, or a bridge above it, came up at a lower generation or width: the NIC cannot carry "
     "what its port could, and all ranks wait for it.",
     "Compare with lspci -vv (LnkCap and LnkSta); reseat the card, check slot, riser and the "
     "BIOS's settings of the slot.",
     .check = check_slow_nic},
};

const gl_rules gl_rules_pcie = {rules, sizeof rules / sizeof *rules};
