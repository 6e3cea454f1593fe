/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which NICs are used, and where GPUs and NICs sit: NUMA nodes, PCIe. */
#include "calibrate/doctor/rules.h"

#include <stdlib.h>
#include <string.h>

/* ---- which NICs ---- */

static int count_bits(uint64_t bits)
{
    int count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* NICs that NCCL may use on a host: virtual devices replace those that they merge. */
static int nics_of(const gl_log_nccl_host *host)
{
    int listed = count_bits(host->nics_listed), merged = count_bits(host->nics_merged);
    int members = host->merged_members < listed ? host->merged_members : listed;
    return merged > 0 ? listed - members + merged : listed;
}

static gl_quote list_quote(const gl_log_nccl_host *host)
{
    for (int i = 0; i < GL_LOG_NIC_LIMIT && host->nics != NULL; i++)
        if (host->nics[i].quote.text != NULL)
            return host->nics[i].quote;
    return (gl_quote){0};
}

static bool all_ranks_seen(const gl_log *log, const gl_log_nccl_host *host)
{
    if (host->local_ranks > 0)
        return host->ranks_seen >= host->local_ranks;
    int seen = 0;
    for (size_t i = 0; i < log->host_count; i++)
        seen += log->hosts[i].ranks_seen;
    return log->ranks > 0 && seen >= log->ranks;
}

static void check_one_nic(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    size_t hosts = 0;
    const gl_log_nccl_host *first = NULL;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        if (count_bits(h->nics_used) != 1 || nics_of(h) < 2 || h->ranks_seen < 2 ||
            !all_ranks_seen(log, h))
            continue;
        hosts++;
        first = first != NULL ? first : h;
    }
    if (first == NULL)
        return;
    gl_finding *f = gl_found(d, rule, first->nic_quote);
    gl_found_proof(f, list_quote(first));
    f->subject = first->name;
    f->title = gl_arena_printf(
        d->arena, "All %d ranks of %s use one NIC; NCCL lists %d (%zu host%s like this)",
        first->ranks_seen, first->name, nics_of(first), hosts, hosts == 1 ? "" : "s");
    const gl_log_setting *hca = gl_log_find_setting(log, "NCCL_IB_HCA");
    if (hca != NULL)
        gl_found_proof(f, hca->quote);
}

static void check_some_nics(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        int used = count_bits(h->nics_used), listed = nics_of(h);
        if (used < 2 || used >= listed || used >= h->ranks_seen || !all_ranks_seen(log, h))
            continue;
        gl_finding *f = gl_found(d, rule, h->nic_quote);
        f->subject = h->name;
        f->title = gl_arena_printf(d->arena, "%s uses %d of the %d NICs that NCCL lists", h->name,
                                   used, listed);
        return;
    }
}

/* Which of 'I' and 'E' are among the NICs of a mask. */
static int layers_of(const gl_log_nccl_host *host, uint64_t mask)
{
    int layers = 0;
    for (int i = 0; i < GL_LOG_NIC_LIMIT && host->nics != NULL; i++)
        if ((mask >> i & 1) != 0)
            layers |= host->nics[i].layer == 'I' ? 1 : host->nics[i].layer == 'E' ? 2 : 0;
    return layers;
}

static void check_mixed(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        int used = h->nics_merged == 0 ? layers_of(h, h->nics_used) : 0;
        if (layers_of(h, h->nics_listed) != 3)
            continue;
        bool apart = used == 1 || used == 2; /* NCCL took one of the two fabrics */
        gl_finding *f = gl_found_as(d, rule, apart ? GL_NOTE : GL_WARNING, list_quote(h));
        f->subject = h->name;
        return;
    }
}

static void check_slow_nic(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        const gl_log_nic *slow = NULL, *fast = NULL;
        bool slow_used = false;
        for (int k = 0; k < GL_LOG_NIC_LIMIT && h->nics != NULL; k++) {
            const gl_log_nic *n = &h->nics[k];
            if (!(n->bytes_per_s > 0))
                continue;
            fast = fast == NULL || n->bytes_per_s > fast->bytes_per_s ? n : fast;
            if (slow == NULL || n->bytes_per_s < slow->bytes_per_s) {
                slow = n;
                slow_used = (h->nics_used >> k & 1) != 0 || h->nics_used == 0;
            }
        }
        if (slow == NULL || slow->bytes_per_s > 0.9 * fast->bytes_per_s)
            continue;
        gl_finding *f = gl_found_as(d, rule, slow_used && h->nics_used != 0 ? GL_WARNING : GL_NOTE,
                                    slow->speed_quote);
        gl_found_proof(f, fast->speed_quote);
        f->subject = h->name;
        f->title = gl_arena_printf(d->arena, "%s of %s runs at %.0f Gbit/s, where %s runs at %.0f",
                                   slow->name, h->name, slow->bytes_per_s * 8e-9, fast->name,
                                   fast->bytes_per_s * 8e-9);
        return;
    }
}

/* Hosts whose lists of NICs are of different length. */
static void check_unequal_nics(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    const gl_log_nccl_host *fewest = NULL, *most = NULL;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        if (!h->is_list_whole || h->nics_listed == 0)
            continue;
        if (fewest == NULL || count_bits(h->nics_listed) < count_bits(fewest->nics_listed))
            fewest = h;
        if (most == NULL || count_bits(h->nics_listed) > count_bits(most->nics_listed))
            most = h;
    }
    if (fewest == NULL || count_bits(fewest->nics_listed) == count_bits(most->nics_listed))
        return;
    gl_finding *f = gl_found(d, rule, list_quote(fewest));
    gl_found_proof(f, list_quote(most));
    f->subject = fewest->name;
    f->title = gl_arena_printf(d->arena, "NCCL lists %d NICs on %s and %d on %s",
                               count_bits(fewest->nics_listed), fewest->name,
                               count_bits(most->nics_listed), most->name);
}

/* ---- NUMA ---- */

static gl_path nearest_nic(const gl_matrix *m, const gl_matrix_row *row, size_t *nics)
{
    gl_path nearest = GL_PATH_UNKNOWN;
    *nics = 0;
    for (size_t c = 0; c < m->column_count; c++) {
        gl_path path = row->cells[c].path;
        if (m->is_gpu[c] || path < GL_PATH_PIX || path > GL_PATH_SYS)
            continue;
        (*nics)++;
        nearest = nearest == GL_PATH_UNKNOWN || path < nearest ? path : nearest;
    }
    return nearest;
}

static bool one_numa(const gl_matrix *m)
{
    const gl_matrix_row *first = NULL;
    for (size_t r = 0; r < m->row_count; r++) {
        if (!m->rows[r].is_gpu)
            continue;
        if (first == NULL)
            first = &m->rows[r];
        else if (!gl_matrix_same_numa(first, &m->rows[r]))
            return false;
    }
    return true;
}

/* A GPU whose nearest NIC is across NUMA nodes; of a machine with one NIC that is how it is. */
static void check_matrix_nic(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->topology.count; i++) {
        const gl_matrix *m = d->facts->topology.items[i];
        size_t far = 0, gpus = 0, nics = 0, most = 0;
        const gl_matrix_row *first = NULL;
        for (size_t r = 0; r < m->row_count; r++) {
            if (!m->rows[r].is_gpu)
                continue;
            gl_path nearest = nearest_nic(m, &m->rows[r], &nics);
            most = nics > most ? nics : most;
            gpus++;
            far += nearest == GL_PATH_SYS;
            first = nearest == GL_PATH_SYS && first == NULL ? &m->rows[r] : first;
        }
        if (first == NULL || (far == gpus && gpus > 1 && most > 1 && one_numa(m)))
            continue; /* the last: a virtual machine that hides its tree, another finding */
        gl_finding *f = gl_found_as(d, rule, most > 1 ? GL_WARNING : GL_NOTE, first->quote);
        f->subject = first->name;
        f->title = gl_arena_printf(
            d->arena, "%zu of %zu GPUs reach every NIC across NUMA nodes only", far, gpus);
        return;
    }
}

/* GPUs of one machine with a NIC near them, and others without. */
static void check_uneven_nic(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->topology.count; i++) {
        const gl_matrix *m = d->facts->topology.items[i];
        const gl_matrix_row *far = NULL;
        bool near = false;
        size_t nics;
        for (size_t r = 0; r < m->row_count; r++) {
            gl_path nearest =
                m->rows[r].is_gpu ? nearest_nic(m, &m->rows[r], &nics) : GL_PATH_UNKNOWN;
            near = near || nearest == GL_PATH_PIX || nearest == GL_PATH_PXB;
            far = nearest == GL_PATH_PHB || nearest == GL_PATH_NODE ? &m->rows[r] : far;
        }
        if (near && far != NULL) {
            gl_finding *f = gl_found(d, rule, far->quote);
            f->subject = far->name;
            return;
        }
    }
}

static void check_log_nic(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    gl_answer several = gl_on_several_nodes(d);
    gl_said what =
        gl_said_count(d, GL_SAID_RING_NET_SYS) > 0 ? GL_SAID_RING_NET_SYS : GL_SAID_GPU_SYS_NET;
    gl_quote proof = {0};
    /* On one node no NIC is used, and on two the type of the search's default means nothing. */
    if (gl_said_count(d, what) == 0 || several == GL_NO)
        return;
    for (size_t i = 0; proof.text == NULL && i < log->host_count; i++)
        if (gl_host_count(&log->hosts[i], GL_SAID_USING_SOCKET) == 0)
            proof = gl_host_first(&log->hosts[i], what);
    if (proof.text == NULL && gl_said_count(d, GL_SAID_USING_SOCKET) > 0)
        return;
    bool used = what == GL_SAID_RING_NET_SYS || gl_said_count(d, GL_SAID_NET_RDMA) > 0;
    gl_found_as(d, rule, several == GL_YES && used ? GL_WARNING : GL_NOTE,
                proof.text != NULL ? proof : gl_said_first(d, what));
}

static void check_xml_nic(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++) {
        const gl_topo_xml *x = d->facts->xml[i];
        size_t far = 0, fabric = 0;
        const gl_xml_gpu *first = NULL;
        for (size_t n = 0; n < x->net_count; n++)
            fabric += x->nets[n].is_rdma;
        for (size_t g = 0; g < x->gpu_count && fabric > 0; g++) {
            bool near = false;
            for (size_t n = 0; n < x->net_count; n++)
                near = near || (x->nets[n].is_rdma && x->nets[n].cpu == x->gpus[g].cpu);
            far += !near;
            first = !near && first == NULL ? &x->gpus[g] : first;
        }
        if (first == NULL)
            continue;
        gl_finding *f = gl_found_as(d, rule, fabric > 1 ? GL_WARNING : GL_NOTE, first->quote);
        f->title = gl_arena_printf(d->arena, "%zu of %zu GPUs have no NIC under their own CPU", far,
                                   x->gpu_count);
    }
}

/* Is the device of the NIC, "mlx5_0" of "mlx5_0:1", this column? */
static bool is_column(const gl_matrix *m, size_t column, const char *nic)
{
    size_t length = strcspn(nic, ":");
    return m->device[column] != NULL && strlen(m->device[column]) == length &&
           strncmp(m->device[column], nic, length) == 0;
}

/* A rank whose log names a NIC that the matrix puts across NUMA nodes, while another is near. */
static void check_used_nic(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    const gl_matrix *m =
        d->facts->topology.count == 1 && !log->is_ambiguous ? d->facts->topology.items[0] : NULL;
    for (int i = 0; m != NULL && i < log->ranks && (size_t)i < log->rank_capacity; i++) {
        const gl_log_rank *rank = &log->ranks_table[i];
        if (rank->host < 0 || rank->gpu < 0 || log->hosts[rank->host].nics == NULL ||
            log->hosts[rank->host].nics_merged != 0)
            continue;
        for (size_t r = 0; r < m->row_count; r++) {
            size_t nics;
            const char *name = gl_arena_printf(d->arena, "GPU%d", rank->gpu);
            if (strcmp(m->rows[r].name, name) != 0 ||
                nearest_nic(m, &m->rows[r], &nics) >= GL_PATH_SYS)
                continue;
            for (size_t k = 0; k < GL_LOG_NIC_LIMIT; k++)
                for (size_t c = 0; c < m->column_count; c++) {
                    const char *nic = log->hosts[rank->host].nics[k].name;
                    if ((rank->nics >> k & 1) == 0 || nic == NULL || !is_column(m, c, nic) ||
                        m->rows[r].cells[c].path != GL_PATH_SYS)
                        continue;
                    gl_finding *f = gl_found(d, rule, rank->nic_quote);
                    gl_found_proof(f, m->rows[r].quote);
                    f->subject = name;
                    f->title = gl_arena_printf(
                        d->arena, "Rank %d (%s) uses %s across NUMA nodes; a nearer NIC is there",
                        i, name, nic);
                    return;
                }
        }
    }
}

static void check_narrow(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++)
        for (size_t g = 0; g < d->facts->xml[i]->gpu_count; g++) {
            const gl_xml_gpu *gpu = &d->facts->xml[i]->gpus[g];
            if (gpu->width <= 0 || gpu->width >= 16) /* 0: a virtual machine does not say */
                continue;
            gl_finding *f = gl_found(d, rule, gpu->quote);
            f->subject = gpu->bus;
            f->title =
                gl_arena_printf(d->arena, "GPU %s has %d PCIe lanes, not 16", gpu->bus, gpu->width);
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

/* "32.0 GT/s PCIe" times the lanes; 0 unknown. */
static double pcie_rate(const gl_xml_gpu *gpu)
{
    return strtod(gpu->speed, NULL) * (gpu->width > 0 ? gpu->width : 0);
}

static void check_slow_xml(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++) {
        const gl_topo_xml *x = d->facts->xml[i];
        const gl_xml_gpu *fast = x->gpus, *slowest = NULL;
        size_t slow = 0;
        for (size_t g = 1; g < x->gpu_count; g++)
            fast = pcie_rate(&x->gpus[g]) > pcie_rate(fast) ? &x->gpus[g] : fast;
        for (size_t g = 0; g < x->gpu_count; g++) {
            const gl_xml_gpu *gpu = &x->gpus[g];
            if (!(pcie_rate(gpu) > 0) || pcie_rate(gpu) > 0.9 * pcie_rate(fast) || gpu->width < 16)
                continue; /* fewer lanes are another finding */
            slow++;
            slowest = slowest == NULL || pcie_rate(gpu) < pcie_rate(slowest) ? gpu : slowest;
        }
        if (!is_a_part(slow, x->gpu_count))
            continue;
        gl_finding *f = gl_found(d, rule, slowest->quote);
        gl_found_proof(f, fast->quote);
        f->subject = slowest->bus;
        f->title = gl_arena_printf(d->arena, "GPU %s is on PCIe at %s, its siblings at %s",
                                   slowest->bus, slowest->speed, fast->speed);
    }
}

static const gl_rule rules[] = {
    {"one-nic", GL_WARNING, "All ranks of a node use one NIC of several",
     "The node's bandwidth is that of one NIC.",
     "Check NCCL_IB_HCA (exact names, \"=\" prefix), link states and speeds of the other NICs, and "
     "NCCL_TOPO_FILE.",
     .check = check_one_nic},
    {"nics-idle", GL_NOTE, "Some NICs of a node are not used",
     "Storage and management NICs are often in the list; NCCL takes those that are near and fast.",
     "If they should carry traffic, compare speed and PCIe place with those in use (topo -m).",
     .check = check_some_nics},
    {"nic-mixed-fabric", GL_WARNING, "InfiniBand and Ethernet NICs are in one list",
     "They are different networks: a ring may be sent where no route is. Several fabrics on "
     "purpose "
     "are fine, if NCCL uses one of them.",
     "Name the NICs of one fabric: NCCL_IB_HCA=mlx5_0,mlx5_1,...", .check = check_mixed},
    {"nic-slow", GL_WARNING, "A NIC is slower than the others", "A ring over it runs at its speed.",
     "Check its cable and port (ibstat, ethtool), or leave it out with NCCL_IB_HCA.",
     .check = check_slow_nic},
    {"nics-differ", GL_WARNING, "NCCL lists more NICs on some hosts than on others",
     "A NIC that is down or hidden on one host leaves the whole job its bandwidth: rings go at the "
     "speed of the host that has fewest.",
     "Compare ibstat on both hosts: port states, cables, the devices that the container or "
     "NCCL_IB_HCA lets through.",
     .check = check_unequal_nics},
    {"nic-across-numa", GL_WARNING, "A GPU reaches its NIC across NUMA nodes only (SYS)",
     "Its traffic crosses the processors' interconnect, and NCCL refuses GPUDirect RDMA there.",
     "Use NICs on the GPU's own NUMA node; check slots, and in a virtual machine the topology.",
     .check = check_matrix_nic},
    {"nic-uneven", GL_NOTE, "Some GPUs share a PCIe switch with a NIC, others do not",
     "The others pass a host bridge of the CPU: less bandwidth for GPUDirect RDMA, on the same "
     "NUMA "
     "node.",
     "Place the ranks that talk most between nodes on the GPUs that are near NICs.",
     .check = check_uneven_nic},
    {"nic-across-numa", GL_WARNING, "NCCL reaches the NICs across NUMA nodes (SYS)",
     "Traffic between nodes crosses the processors' interconnect, and NCCL refuses GPUDirect RDMA "
     "there.",
     "Use NICs on the GPU's own NUMA node; check slots, and in a virtual machine the topology.",
     .check = check_log_nic},
    {"nic-across-numa", GL_WARNING, "GPUs have no NIC under their own CPU",
     "Their traffic between nodes crosses the processors' interconnect.",
     "Check the slots of the NICs; in a virtual machine, the topology.", .check = check_xml_nic},
    {"nic-far-used", GL_WARNING,
     "A rank uses a NIC across NUMA nodes although a nearer one is there",
     "Its traffic crosses the processors' interconnect.",
     "Check NCCL_IB_HCA, CUDA_VISIBLE_DEVICES and the order of ranks; NCCL_CROSS_NIC=0 keeps rails "
     "apart.",
     .check = check_used_nic},
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
};

const gl_rules gl_rules_nic = {rules, sizeof rules / sizeof *rules};
