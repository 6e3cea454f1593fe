/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths inside a node: host memory instead of peer-to-peer, PCIe instead of NVLink, NUMA, NVLS. */
#include "calibrate/doctor/rules.h"

#include <string.h>

enum { NVLS_RANKS_MIN = 4, PAIRS_SHOWN = 6 };

/* On the hosts that said so. */
static const gl_log_setting *p2p_off(const gl_diagnosis *d, gl_said what)
{
    const gl_log_setting *setting = gl_setting_where(d, what, "NCCL_P2P_DISABLE", "1");
    return setting != NULL ? setting : gl_setting_where(d, what, "NCCL_P2P_LEVEL", "LOC 0");
}

/* The first row of a p2p matrix with a pair that cannot copy; NULL text if none. */
static gl_quote refused_pair(const gl_matrices *all, gl_path *why)
{
    for (size_t m = 0; m < all->count; m++)
        for (size_t r = 0; r < all->items[m]->row_count; r++)
            for (size_t c = 0; c < all->items[m]->column_count; c++) {
                gl_path path = all->items[m]->rows[r].cells[c].path;
                if (path == GL_P2P_CNS || path == GL_P2P_GNS || path == GL_P2P_TNS ||
                    path == GL_P2P_DR) {
                    *why = path;
                    return all->items[m]->rows[r].quote;
                }
            }
    return (gl_quote){0};
}

static bool p2p_is_all_ok(const gl_matrices *all)
{
    gl_path why;
    size_t ok = 0;
    for (size_t m = 0; m < all->count; m++)
        for (size_t r = 0; r < all->items[m]->row_count; r++)
            for (size_t c = 0; c < all->items[m]->column_count; c++)
                ok += all->items[m]->rows[r].cells[c].path == GL_P2P_OK;
    return ok > 0 && refused_pair(all, &why).text == NULL;
}

static void explain_shm(gl_diagnosis *d, gl_finding *f)
{
    gl_path why;
    const gl_log_setting *setting = p2p_off(d, GL_SAID_SHM);
    gl_quote refused = refused_pair(&d->facts->p2p, &why);
    if (setting != NULL) {
        gl_blame_setting(d, f, setting, NULL);
    } else if (refused.text != NULL) {
        f->meaning =
            gl_arena_printf(d->arena, "%s The driver says so too: peer-to-peer is %s between GPUs.",
                            f->meaning, gl_path_name(why));
        gl_found_proof(f, refused);
    } else if (p2p_is_all_ok(&d->facts->p2p)) {
        f->advice = "The driver allows peer-to-peer, so look between it and NCCL: containers or "
                    "pods with one GPU each (share the PID and IPC namespaces, and all GPUs of the "
                    "job), PCIe access control (ACS) or an IOMMU that translates.";
    }
}

/* The cell of a matrix for two ranks of a node. */
static gl_path path_between(const gl_diagnosis *d, const gl_matrix *m, const gl_log_pair *pair)
{
    const gl_log *log = d->facts->log;
    long last = pair->from > pair->to ? pair->from : pair->to;
    if (pair->from < 0 || pair->to < 0 || last >= log->ranks || (size_t)last >= log->rank_capacity)
        return GL_PATH_UNKNOWN;
    const char *row = gl_arena_printf(d->arena, "GPU%d", log->ranks_table[pair->from].gpu);
    const char *column = gl_arena_printf(d->arena, "GPU%d", log->ranks_table[pair->to].gpu);
    for (size_t r = 0; r < m->row_count; r++)
        for (size_t k = 0; strcmp(m->rows[r].name, row) == 0 && k < m->row_count; k++)
            if (strcmp(m->rows[k].name, column) == 0 && m->rows[k].column >= 0)
                return m->rows[r].cells[m->rows[k].column].path;
    return GL_PATH_UNKNOWN;
}

/* Host memory only between the halves of a machine: without NVLink NCCL itself takes no
 * peer-to-peer there. The matrix tells of each pair; without one, a ring that crosses NUMA nodes
 * beside pairs that do copy directly. */
static bool is_only_across(const gl_diagnosis *d)
{
    const gl_log *log = d->facts->log;
    gl_path why;
    if (log->is_ambiguous || refused_pair(&d->facts->p2p, &why).text != NULL ||
        gl_said_count(d, GL_SAID_P2P) == 0)
        return false;
    if (d->facts->topology.count != 1)
        return d->facts->topology.count == 0 && gl_said_count(d, GL_SAID_RING_SYS) > 0;
    for (size_t i = 0; i < log->shm_pair_count; i++)
        if (i == GL_LOG_PAIR_LIMIT ||
            path_between(d, d->facts->topology.items[0], &log->shm_pairs[i]) != GL_PATH_SYS)
            return false;
    return true;
}

static void check_shm(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    gl_quote nvlink = gl_nvlink_proof(d);
    if (gl_said_count(d, GL_SAID_SHM) == 0)
        return;
    bool fast =
        nvlink.text != NULL || (gpu != NULL && gpu->is_on_board) || p2p_off(d, GL_SAID_SHM) != NULL;
    bool across = !fast && is_only_across(d);
    gl_finding *f = gl_found_as(d, rule,
                                fast     ? GL_FAULT
                                : across ? GL_NOTE
                                         : GL_WARNING,
                                gl_said_first(d, GL_SAID_SHM));
    if (across) {
        f->title = "GPUs of different NUMA nodes exchange data through host memory (SHM)";
        f->meaning =
            "NCCL's own choice: without NVLink it takes peer-to-peer only where GPUs share "
            "a CPU. A ring over all GPUs runs at the speed of these pairs.";
        f->advice = "Measure NCCL_P2P_LEVEL=SYS against it; keep groups that talk much on one NUMA "
                    "node.";
        gl_found_proof(f, gl_said_first(d, GL_SAID_RING_SYS));
        return;
    }
    gl_name_host(d, f, GL_SAID_SHM);
    if (nvlink.text != NULL)
        gl_found_proof(f, nvlink);
    explain_shm(d, f);
}

static void check_net_inside(gl_diagnosis *d, const gl_rule *rule)
{
    bool socket = gl_said_count(d, GL_SAID_SOCKET_SAME) > 0;
    if (!socket && gl_said_count(d, GL_SAID_RDMA_SAME) == 0)
        return;
    gl_finding *f =
        gl_found(d, rule, gl_said_first(d, socket ? GL_SAID_SOCKET_SAME : GL_SAID_RDMA_SAME));
    if (socket)
        f->title = "Ranks of one host talk through TCP sockets";
    gl_said what = socket ? GL_SAID_SOCKET_SAME : GL_SAID_RDMA_SAME;
    const gl_log_setting *shm = gl_setting_where(d, what, "NCCL_SHM_DISABLE", "1"),
                         *p2p = p2p_off(d, what);
    if (p2p != NULL)
        gl_blame_setting(d, f, p2p, shm);
    else if (shm != NULL)
        gl_blame_setting(d, f, shm, NULL);
}

static void check_p2p_matrix(gl_diagnosis *d, const gl_rule *rule)
{
    gl_path why = GL_PATH_UNKNOWN;
    gl_quote row = refused_pair(&d->facts->p2p, &why);
    if (row.text == NULL)
        return;
    gl_finding *f =
        gl_found_as(d, rule, gl_nvlink_proof(d).text != NULL ? GL_FAULT : GL_WARNING, row);
    static const struct {
        gl_path path;
        const char *meaning;
    } reasons[] = {{GL_P2P_CNS, "CNS: the chipset does not support it, often two sockets or an "
                                "IOMMU."},
                   {GL_P2P_GNS, "GNS: this model of GPU does not support it (GeForce)."},
                   {GL_P2P_TNS, "TNS: the topology does not support it."},
                   {GL_P2P_DR, "DR: the driver's registry switches it off."}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].path == why)
            f->meaning = gl_arena_printf(d->arena, "%s %s", rule->meaning, reasons[i].meaning);
}

/* Some pairs read NS among more that read OK, and GPUs differ in how many: bridges, cubes of NVLink
 * and the answers to -p2p a have such pairs for all GPUs alike, or for most. */
static bool is_irregular(const gl_matrix *m)
{
    size_t refused = 0, ok = 0, least = SIZE_MAX, most = 0;
    for (size_t r = 0; r < m->row_count; r++) {
        size_t here = 0;
        for (size_t c = 0; c < m->column_count; c++) {
            here += m->rows[r].cells[c].path == GL_P2P_NS;
            ok += m->rows[r].cells[c].path == GL_P2P_OK;
        }
        refused += here;
        least = here < least ? here : least;
        most = here > most ? here : most;
    }
    return refused > 0 && refused < ok && least < most;
}

/* NS and U also stand in the matrices of -p2p n and -p2p a on healthy machines, and no matrix says
 * what was asked. */
static void check_p2p_unclear(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_matrices *all = &d->facts->p2p;
    for (size_t m = 0; m < all->count; m++)
        for (size_t r = 0; r < all->items[m]->row_count; r++)
            for (size_t c = 0; c < all->items[m]->column_count; c++) {
                gl_path path = all->items[m]->rows[r].cells[c].path;
                if (path == GL_P2P_NS || path == GL_P2P_U) {
                    bool irregular = is_irregular(all->items[m]);
                    gl_finding *f = gl_found_as(d, rule, irregular ? GL_WARNING : GL_NOTE,
                                                all->items[m]->rows[r].quote);
                    if (irregular)
                        f->title = "Some pairs of GPUs are not supported (NS), most are";
                    return;
                }
            }
}

/* ---- PCIe instead of NVLink ---- */

/* Every pair of GPUs is joined by NVLink, in one of the matrices of more than one GPU. */
static gl_quote all_pairs_nvlink(const gl_matrices *all)
{
    for (size_t m = 0; m < all->count; m++) {
        const gl_matrix *x = all->items[m];
        size_t gpus = 0, links = 0;
        for (size_t r = 0; r < x->row_count; r++) {
            gpus += x->rows[r].is_gpu;
            for (size_t c = 0; x->rows[r].is_gpu && c < x->column_count; c++)
                links += x->is_gpu[c] && x->rows[r].cells[c].path == GL_PATH_LINK;
        }
        if (gpus > 1 && links == gpus * (gpus - 1))
            return x->rows[0].quote;
    }
    return (gl_quote){0};
}

/* The dump of a host joins all of its ranks' GPUs to the switch. */
static gl_quote dump_of_switch(const gl_diagnosis *d)
{
    const gl_log *log = d->facts->log;
    for (size_t h = 0; h < log->host_count; h++) {
        const gl_log_nccl_host *host = &log->hosts[h];
        int ranks = host->local_ranks > host->ranks_seen ? host->local_ranks : host->ranks_seen;
        int joined = 0;
        for (size_t i = 0; i < host->edge_count; i++)
            joined += strcmp(host->edges[i].to, "NVS") == 0;
        if (ranks > 1 && joined >= ranks)
            return host->edges[0].quote;
    }
    return (gl_quote){0};
}

/* A host of several ranks whose rings go over PCIe, where those of other hosts go over NVLink. */
static bool find_pcie_host(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        bool pcie = gl_host_count(h, GL_SAID_RING_PCIE) > 0;
        if ((!pcie && gl_host_count(h, GL_SAID_RING_SYS) == 0) ||
            gl_host_count(h, GL_SAID_RING_NVLINK) > 0 || h->ranks_seen < 2)
            continue;
        gl_finding *f =
            gl_found(d, rule, gl_host_first(h, pcie ? GL_SAID_RING_PCIE : GL_SAID_RING_SYS));
        gl_found_proof(f, gl_said_first(d, GL_SAID_RING_NVLINK));
        f->subject = h->name;
        f->title = gl_arena_printf(
            d->arena, "NCCL joins the GPUs of %s by PCIe, those of other hosts by NVLink", h->name);
        return true;
    }
    return false;
}

static void check_pcie(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    uint64_t pcie = gl_said_count(d, GL_SAID_RING_PCIE) + gl_said_count(d, GL_SAID_RING_SYS);
    gl_said what = gl_said_count(d, GL_SAID_RING_PCIE) > 0 ? GL_SAID_RING_PCIE : GL_SAID_RING_SYS;
    if (pcie == 0)
        return; /* no graph was logged */
    if (gl_said_count(d, GL_SAID_RING_NVLINK) > 0) {
        find_pcie_host(d, rule); /* groups of both kinds on one host: nothing to conclude */
        return;
    }
    if (p2p_off(d, what) != NULL && gl_said_count(d, GL_SAID_SHM) +
                                            gl_said_count(d, GL_SAID_SOCKET_SAME) +
                                            gl_said_count(d, GL_SAID_RDMA_SAME) >
                                        0)
        return; /* the same cause, found where the data goes */
    gl_quote proof = gl_said_first(d, what);
    gl_quote joined = all_pairs_nvlink(&d->facts->topology);
    if (joined.text == NULL)
        joined = dump_of_switch(d);
    bool on_board = gpu != NULL && gpu->is_on_board;
    if (joined.text != NULL || on_board) {
        gl_finding *f = gl_found(d, rule, proof);
        gl_found_proof(f, joined);
        if (p2p_off(d, what) != NULL)
            gl_blame_setting(d, f, p2p_off(d, what), NULL);
        return;
    }
    gl_finding *f = gl_found_as(d, rule, GL_NOTE, proof);
    f->title = "GPUs talk over PCIe";
    f->meaning =
        gl_said_count(d, GL_SAID_NVLINK_IN_DUMP) > 0
            ? "NVLink joins some of the GPUs, but no ring over all of them."
            : "No text here says that these GPUs have NVLink, so this may be all there is.";
    f->advice =
        "Compare with the expected values of PCIe; nvidia-smi topo -m shows which pairs are "
        "near each other.";
}

/* topo -m without any NVLink. `topo -mp` never shows one, so a matrix alone proves nothing. */
static void check_matrix_pcie(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_facts *facts = d->facts;
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    for (size_t m = 0; m < facts->topology.count; m++) {
        const gl_matrix *x = facts->topology.items[m];
        size_t links = 0, gpus = 0;
        for (size_t r = 0; r < x->row_count; r++) {
            gpus += x->rows[r].is_gpu;
            for (size_t c = 0; c < x->column_count; c++)
                links += x->rows[r].cells[c].path == GL_PATH_LINK;
        }
        bool active = false;
        for (size_t i = 0; i < facts->nvlink->count; i++)
            active = active || facts->nvlink->items[i].active > 0;
        bool expected = gpu != NULL && gpu->is_on_board;
        if (gpus < 2 || links > 0 || (!active && !expected))
            continue;
        gl_found_as(d, rule, active ? GL_NOTE : GL_WARNING, x->rows[0].quote);
        return;
    }
}

/* ---- NUMA nodes ---- */

static const gl_matrix_row *row_of_column(const gl_matrix *m, size_t column)
{
    for (size_t r = 0; r < m->row_count; r++)
        if (m->rows[r].column == (int)column)
            return &m->rows[r];
    return NULL;
}

/* A NIC behind the GPU's own switch: whatever else, the tree is not flat. */
static bool has_near_nic(const gl_matrix *m, const gl_matrix_row *row)
{
    for (size_t c = 0; c < m->column_count; c++)
        if (!m->is_gpu[c] &&
            (row->cells[c].path == GL_PATH_PIX || row->cells[c].path == GL_PATH_PXB))
            return true;
    return false;
}

/* The first pair of GPUs joined by SYS whose NUMA nodes are (not) the same. */
static const gl_matrix_row *sys_pair(const gl_matrix *m, bool want_same)
{
    for (size_t r = 0; r < m->row_count; r++)
        for (size_t c = 0; m->rows[r].is_gpu && c < m->column_count; c++) {
            if (m->rows[r].cells[c].path != GL_PATH_SYS || !m->is_gpu[c])
                continue;
            const gl_matrix_row *other = row_of_column(m, c);
            if (other != NULL && gl_matrix_same_numa(&m->rows[r], other) == want_same &&
                !(want_same && has_near_nic(m, &m->rows[r])))
                return &m->rows[r];
        }
    return NULL;
}

static void check_numa(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    bool ring = gl_said_count(d, GL_SAID_RING_SYS) > 0;
    if (ring && gl_said_count(d, GL_SAID_RING_NVLINK) == 0) {
        /* Of many GPUs without NVLink a ring over both sockets is how the machine is built. */
        bool built = gl_ranks_of_node(d) > 2 && gl_nvlink_proof(d).text == NULL &&
                     (gpu == NULL || !gpu->is_on_board);
        gl_found_as(d, rule, built ? GL_NOTE : GL_WARNING, gl_said_first(d, GL_SAID_RING_SYS));
        return;
    }
    if (!ring && gl_said_count(d, GL_SAID_GPU_SYS_GPU) > 0 &&
        gl_said_count(d, GL_SAID_RING_NVLINK) == 0) {
        gl_found_as(d, rule, GL_NOTE, gl_said_first(d, GL_SAID_GPU_SYS_GPU));
        return;
    }
    for (size_t m = 0; m < d->facts->topology.count; m++) {
        const gl_matrix_row *row = sys_pair(d->facts->topology.items[m], false);
        if (row != NULL) {
            gl_found_as(d, rule, GL_NOTE, row->quote);
            return;
        }
    }
}

/* ---- virtual machines ---- */

/* All NICs of all GPUs behind SYS although all GPUs sit on one NUMA node. */
static const gl_matrix_row *nics_all_sys(const gl_matrix *m)
{
    const gl_matrix_row *first = NULL;
    size_t nics = 0, gpus = 0;
    for (size_t r = 0; r < m->row_count; r++) {
        if (!m->rows[r].is_gpu)
            continue;
        gpus++;
        first = first != NULL ? first : &m->rows[r];
        if (!gl_matrix_same_numa(first, &m->rows[r]))
            return NULL;
        for (size_t c = 0; c < m->column_count; c++) {
            if (m->is_gpu[c])
                continue;
            if (m->rows[r].cells[c].path != GL_PATH_SYS)
                return NULL;
            nics++;
        }
    }
    return gpus > 1 && nics >= 2 * gpus ? first : NULL;
}

static void check_flattened(gl_diagnosis *d, const gl_rule *rule)
{
    bool pairs = gl_ranks_of_node(d) > 1 || gl_said_count(d, GL_SAID_ONE_NODE) > 0;
    if (gl_said_count(d, GL_SAID_PCI_TINY) > 0) {
        gl_found(d, rule, gl_said_first(d, GL_SAID_PCI_TINY));
        return;
    }
    if (gl_said_count(d, GL_SAID_DUMP_SLOW) > 0 && pairs) {
        gl_found(d, rule, gl_said_first(d, GL_SAID_DUMP_SLOW));
        return;
    }
    for (size_t m = 0; m < d->facts->topology.count; m++) {
        const gl_matrix_row *row = sys_pair(d->facts->topology.items[m], true);
        if (row == NULL)
            row = nics_all_sys(d->facts->topology.items[m]);
        if (row != NULL) {
            gl_found(d, rule, row->quote);
            return;
        }
    }
}

static void check_flattened_xml(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++) {
        const gl_topo_xml *x = d->facts->xml[i];
        size_t fabric = 0, bridges = 0;
        for (size_t n = 0; n < x->net_count; n++) {
            fabric += x->nets[n].is_rdma;
            bridges += x->nets[n].bridges > 0;
        }
        for (size_t g = 0; g < x->gpu_count; g++)
            bridges += x->gpus[g].bridges > 0;
        if (x->gpu_count >= 4 && fabric >= 2 && bridges == 0 && x->cpu_count == 1)
            gl_found(d, rule, x->gpus[0].quote);
    }
}

/* ---- NVLS ---- */

/* Does NCCL_ALGO keep NVLS out of all collectives: "Ring", "ring,tree", "^NVLS,NVLSTree"? A list by
 * collective ("allreduce:tree") is not looked into. */
static bool forbids_nvls(const char *value)
{
    bool named = strstr(value, "NVLS") != NULL || strstr(value, "nvls") != NULL;
    return strchr(value, ':') == NULL && (*value == '^') == named;
}

static void check_nvls(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log_setting *algo = gl_log_find_setting(d->facts->log, "NCCL_ALGO");
    bool forbidden = algo != NULL && forbids_nvls(algo->value);
    bool passed_by = gl_said_count(d, GL_SAID_NVLS_PASSED_BY) > 0;
    bool none = gl_said_count(d, GL_SAID_NO_NVLS_CHANNELS) > 0 &&
                gl_said_count(d, GL_SAID_NVLS_CHANNELS) == 0;
    if (gl_said_count(d, GL_SAID_NVLS_CAPABLE) == 0 || gl_said_count(d, GL_SAID_NVLS_CHOSEN) > 0 ||
        gl_ranks_of_node(d) < NVLS_RANKS_MIN || (!passed_by && !none && !forbidden) ||
        gl_said_count(d, GL_SAID_TUNER) > 0)
        return;
    gl_finding *f = gl_found(d, rule, gl_said_first(d, GL_SAID_NVLS_CAPABLE));
    if (passed_by || none)
        gl_found_proof(
            f, gl_said_first(d, passed_by ? GL_SAID_NVLS_PASSED_BY : GL_SAID_NO_NVLS_CHANNELS));
    static const char *const names[] = {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gl_log_setting *set = gl_log_find_setting(d->facts->log, names[i]);
        if (set != NULL && (i < 2 || strcmp(set->value, "0") == 0)) {
            gl_blame_setting(d, f, set, NULL);
            return;
        }
    }
}

static void check_no_nvls(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    bool elsewhere = gl_said_count(d, GL_SAID_NVLS_CAPABLE) > 0;
    if (gl_said_count(d, GL_SAID_NVLS_INCAPABLE) == 0)
        return;
    if (!elsewhere && gpu != NULL && gpu->has_multicast)
        gl_found_as(d, rule, GL_NOTE, gl_said_first(d, GL_SAID_NVLS_INCAPABLE));
    for (size_t i = 0; elsewhere && i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        if (gl_host_count(h, GL_SAID_NVLS_INCAPABLE) == 0 ||
            gl_host_count(h, GL_SAID_NVLS_CAPABLE) > 0)
            continue;
        gl_finding *f = gl_found(d, rule, gl_host_first(h, GL_SAID_NVLS_INCAPABLE));
        gl_found_proof(f, gl_said_first(d, GL_SAID_NVLS_CAPABLE));
        f->subject = h->name;
        f->title = gl_arena_printf(
            d->arena, "The switch can add up (NVLS) on other hosts, and not on %s", h->name);
        return;
    }
}

static const gl_rule rules[] = {
    {"shm-fallback", GL_FAULT, "GPUs of one host exchange data through host memory (SHM)",
     "Every byte crosses PCIe twice and the memory of the host: slower than PCIe peer-to-peer, and "
     "a "
     "small part of NVLink.",
     "Look in this order: NCCL_P2P_* in the environment; containers or pods that see one GPU each; "
     "nvidia-smi topo -p2p r; PCIe access control (ACS) and IOMMU.",
     .check = check_shm},
    {"net-inside-node", GL_FAULT, "Ranks of one host talk through the network",
     "Neither peer-to-peer nor shared memory is used inside the host: the slowest path there is.",
     "Look for NCCL_P2P_DISABLE and NCCL_SHM_DISABLE, for containers that do not share /dev/shm "
     "and "
     "the IPC namespace, and for a full or tiny /dev/shm.",
     .check = check_net_inside},
    {"p2p-unsupported", GL_FAULT, "The driver refuses peer-to-peer copies between GPUs",
     "NCCL will go through host memory (SHM) between these GPUs.",
     "Check the BIOS (ACS, IOMMU, above 4G decoding) and the kernel's command line (iommu=pt); "
     "plan "
     "with the host-memory figures if the GPUs cannot do it.",
     .check = check_p2p_matrix},
    {"p2p-unclear", GL_WARNING, "A pair of GPUs reads NS or U in a peer-to-peer matrix",
     "In the matrices of NVLink (-p2p n) or atomics (-p2p a) this is normal where GPUs are alike "
     "in "
     "it; in those of reads and writes it predicts host memory.",
     "Run nvidia-smi topo -p2p r and topo -p2p w.", .check = check_p2p_unclear},
    {"pcie-instead-of-nvlink", GL_FAULT, "NCCL joins the GPUs by PCIe although they have NVLink",
     "The search for rings found no way over NVLink: a tenth of the bandwidth, or less.",
     "Check nvidia-smi nvlink -s and topo -m on this host, that the fabric manager runs "
     "(systemctl status nvidia-fabricmanager), that all GPUs are visible to the job, and "
     "NCCL_TOPO_FILE.",
     .check = check_pcie},
    {"topology-without-nvlink", GL_WARNING, "The matrix shows no NVLink where the GPUs have it",
     "Either NVLink is down (fabric manager, driver), or this is the output of topo -mp, which "
     "shows PCIe only.",
     "Run nvidia-smi topo -m and nvidia-smi nvlink -s.", .check = check_matrix_pcie},
    {"gpu-across-numa", GL_WARNING, "GPUs reach each other across NUMA nodes only (SYS)",
     "Traffic between them crosses the processors' interconnect, which is slower than PCIe and "
     "shared; NCCL often takes host memory there.",
     "Place groups that talk much on one NUMA node; on machines with two sockets a ring over all "
     "GPUs cannot avoid it.",
     .check = check_numa},
    {"flattened-pcie", GL_WARNING, "The PCIe tree is not what the machine has",
     "A virtual machine shows a flat or slow PCIe tree, so that NCCL picks bad rings, wrong NICs "
     "and no GPUDirect.",
     "Give NCCL the provider's topology (NCCL_TOPO_FILE), or have the machine configured with the "
     "real PCIe topology and NUMA nodes.",
     .check = check_flattened},
    {"flattened-pcie", GL_WARNING, "The topology holds no PCIe switch and one NUMA node",
     "All GPUs and NICs seem equally near: a virtual machine that hides its PCIe tree. NCCL pairs "
     "NICs and GPUs by chance.",
     "Give NCCL the provider's topology (NCCL_TOPO_FILE).", .check = check_flattened_xml},
    {"nvls-unused", GL_WARNING, "The switch can add up (NVLS), but all-reduce does not use it",
     "Large all-reduces inside the node stay about a quarter slower than they could be.",
     "Check NCCL_ALGO, NCCL_PROTO and NCCL_NVLS_ENABLE, and that one process has not taken all "
     "multicast objects.",
     .check = check_nvls},
    {"nvls-unavailable", GL_WARNING,
     "These GPUs could let the switch add up (NVLS), but it is not "
     "available",
     "All-reduce runs as a ring: about three quarters of the bandwidth with NVLS.",
     "Check the fabric manager and, in a virtual machine or container, access to /dev/nvidia-caps-"
     "imex-channels; old drivers lack multicast.",
     .check = check_no_nvls},
};

const gl_rules gl_rules_node = {rules, sizeof rules / sizeof *rules};
