/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between nodes: sockets and GPUDirect RDMA. */
#include "calibrate/doctor/rules.h"

#include <string.h>

enum { PARTIAL_PERCENT = 10 };

/* ---- sockets ---- */

/* On the hosts that said so. */
static const gl_log_setting *ib_off(const gl_diagnosis *d, gl_said what)
{
    const gl_log_setting *setting = gl_setting_where(d, what, "NCCL_IB_DISABLE", "1");
    if (setting == NULL)
        setting = gl_setting_where(d, what, "NCCL_NET", "Socket");
    return setting;
}

/* A host of a job on several that chose sockets and shows no other network. */
static bool is_on_sockets(const gl_log_nccl_host *h)
{
    bool takes_part = gl_host_count(h, GL_SAID_MULTI_NODE) > 0 ||
                      (h->ranks_seen > 0 && gl_host_count(h, GL_SAID_ONE_NODE) == 0);
    return takes_part && gl_host_count(h, GL_SAID_USING_SOCKET) > 0 &&
           gl_host_count(h, GL_SAID_USING_OTHER) == 0 && gl_host_count(h, GL_SAID_NET_RDMA) == 0 &&
           gl_host_count(h, GL_SAID_NET_OTHER) == 0 && gl_host_count(h, GL_SAID_MNNVL) == 0;
}

static const gl_log_nccl_host *host_on_sockets(const gl_diagnosis *d)
{
    const gl_log *log = d->facts->log;
    for (size_t i = 0; i < log->host_count && gl_on_several_nodes(d) == GL_YES; i++)
        if (is_on_sockets(&log->hosts[i]))
            return &log->hosts[i];
    return NULL;
}

/* The same of all hosts together, for lines that name none. */
static bool all_on_sockets(const gl_diagnosis *d)
{
    return gl_said_count(d, GL_SAID_USING_SOCKET) > 0 &&
           gl_said_count(d, GL_SAID_USING_OTHER) == 0 && gl_on_several_nodes(d) == GL_YES &&
           gl_said_count(d, GL_SAID_NET_RDMA) == 0 && gl_said_count(d, GL_SAID_NET_OTHER) == 0 &&
           gl_said_count(d, GL_SAID_MNNVL) == 0;
}

static void check_socket(gl_diagnosis *d, const gl_rule *rule)
{
    bool channel = gl_said_count(d, GL_SAID_SOCKET) > 0;
    const gl_log_nccl_host *host = channel ? NULL : host_on_sockets(d);
    if (!channel && host == NULL && !all_on_sockets(d))
        return;
    gl_said what = channel ? GL_SAID_SOCKET : GL_SAID_USING_SOCKET;
    gl_finding *f =
        gl_found(d, rule, host != NULL ? gl_host_first(host, what) : gl_said_first(d, what));
    if (host != NULL && gl_said_count(d, GL_SAID_USING_OTHER) > 0) {
        f->subject = host->name;
        f->title = gl_arena_printf(
            d->arena, "%s talks through TCP sockets, where other hosts do not", host->name);
        gl_found_proof(f, gl_said_first(d, GL_SAID_USING_OTHER));
    }
    gl_found_proof(f, gl_said_first(d, GL_SAID_MULTI_NODE));
    const gl_log_setting *off = ib_off(d, what);
    if (off != NULL)
        gl_blame_setting(d, f, off, NULL);
    else if (gl_said_count(d, GL_SAID_SOCKET_IPOIB) > 0) {
        f->meaning = gl_arena_printf(
            d->arena,
            "%s The sockets use an InfiniBand or bond interface: the fabric is there, but "
            "only IP runs over it.",
            f->meaning);
        gl_found_proof(f, gl_said_first(d, GL_SAID_SOCKET_IPOIB));
    }
}

static void check_socket_unknown(gl_diagnosis *d, const gl_rule *rule)
{
    if (gl_said_count(d, GL_SAID_USING_SOCKET) > 0 && gl_on_several_nodes(d) == GL_NOT_KNOWN &&
        gl_said_count(d, GL_SAID_SOCKET) == 0 && gl_said_count(d, GL_SAID_USING_OTHER) == 0)
        gl_found(d, rule, gl_said_first(d, GL_SAID_USING_SOCKET));
}

static gl_said no_ib_line(uint64_t plugin_errors)
{
    return plugin_errors > 0 ? GL_SAID_PLUGIN_ERROR : GL_SAID_NO_IB;
}

static void found_no_ib(gl_diagnosis *d, const gl_rule *rule, gl_said what,
                        const gl_log_nccl_host *host)
{
    bool plugin = what == GL_SAID_PLUGIN_ERROR;
    gl_finding *f =
        gl_found(d, rule, host != NULL ? gl_host_first(host, what) : gl_said_first(d, what));
    if (plugin)
        f->title = "A network plugin or library could not be loaded";
    if (plugin && strstr(f->proofs[0].text, "NET/OFI") != NULL) {
        f->title = "The network plugin for libfabric (EFA) could not be initialised";
        f->advice =
            "Check that the EFA devices are there (fi_info -p efa, /dev/infiniband in the "
            "container), that libfabric and the plugin (aws-ofi-nccl) fit each other, and the "
            "lines before; EFA needs a security group that lets its own members through.";
    }
    if (host == NULL || gl_said_count(d, GL_SAID_IB_LIST) == 0)
        return;
    f->subject = host->name;
    f->title = plugin ? gl_arena_printf(d->arena,
                                        "A network plugin or library could not be loaded "
                                        "on %s; other hosts have RDMA devices",
                                        host->name)
                      : gl_arena_printf(d->arena,
                                        "NCCL found no RDMA device on %s; other hosts "
                                        "have some",
                                        host->name);
    gl_found_proof(f, gl_said_first(d, GL_SAID_IB_LIST));
}

/* Two "No device found" are normal where InfiniBand is not used; they matter when sockets are. */
static void check_no_ib(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    bool channel = gl_said_count(d, GL_SAID_SOCKET) > 0;
    if (ib_off(d, channel ? GL_SAID_SOCKET : GL_SAID_USING_SOCKET) != NULL ||
        gl_said_count(d, GL_SAID_MNNVL) > 0)
        return;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        gl_said what = no_ib_line(gl_host_count(h, GL_SAID_PLUGIN_ERROR));
        bool sockets = gl_host_count(h, GL_SAID_SOCKET) > 0 ||
                       (is_on_sockets(h) && gl_on_several_nodes(d) == GL_YES);
        if (sockets && gl_host_count(h, what) > 0 && gl_host_count(h, GL_SAID_IB_LIST) == 0) {
            found_no_ib(d, rule, what, h);
            return;
        }
    }
    gl_said what = no_ib_line(gl_said_count(d, GL_SAID_PLUGIN_ERROR));
    if ((channel || all_on_sockets(d)) && gl_said_count(d, what) > 0 &&
        gl_said_count(d, GL_SAID_IB_LIST) == 0)
        found_no_ib(d, rule, what, NULL);
}

/* ---- GPUDirect RDMA ---- */

static void explain_gdr(gl_diagnosis *d, gl_finding *f, gl_said what)
{
    const gl_log_setting *level = gl_setting_where(d, what, "NCCL_NET_GDR_LEVEL", "LOC 0");
    if (level != NULL) {
        gl_blame_setting(d, f, level, NULL);
    } else if (gl_said_count(d, GL_SAID_HCA_GDR_OFF) > 0 &&
               gl_said_count(d, GL_SAID_HCA_GDR_ON) == 0) {
        f->meaning = gl_arena_printf(d->arena, "%s No NIC offers it: the kernel module is missing.",
                                     f->meaning);
        f->advice = "Load nvidia-peermem on every node (modprobe nvidia-peermem), or use a kernel "
                    "and driver with DMA-BUF.";
        gl_found_proof(f, gl_said_first(d, GL_SAID_HCA_GDR_OFF));
    } else if (gl_said_count(d, GL_SAID_GDR_TOO_FAR) > 0 &&
               gl_said_count(d, GL_SAID_GDR_PAIR_ON) == 0) {
        f->meaning = gl_arena_printf(d->arena,
                                     "%s NCCL refused it because GPU and NIC are too far "
                                     "apart.",
                                     f->meaning);
        gl_found_proof(f, gl_said_first(d, GL_SAID_GDR_TOO_FAR));
    }
}

static void check_no_gdr(gl_diagnosis *d, const gl_rule *rule)
{
    gl_said what = GL_SAID_COUNT;
    if (gl_said_count(d, GL_SAID_GDR) > 0 || gl_said_count(d, GL_SAID_SOCKET) > 0)
        return;
    if (gl_said_count(d, GL_SAID_NET_RDMA) > 0)
        what = gl_said_count(d, GL_SAID_NO_GDR_RECEIVE) > 0 ? GL_SAID_NO_GDR_RECEIVE
                                                            : GL_SAID_NO_GDR_SEND;
    else if (gl_said_count(d, GL_SAID_IB_LIST) > 0 && gl_on_several_nodes(d) == GL_YES &&
             gl_said_count(d, GL_SAID_USING_SOCKET) == 0)
        what = gl_said_count(d, GL_SAID_RING_GDR_OFF) > 0 ? GL_SAID_RING_GDR_OFF
               : gl_said_count(d, GL_SAID_HCA_GDR_ON) == 0 &&
                       gl_said_count(d, GL_SAID_GDR_PAIR_ON) == 0
                   ? GL_SAID_HCA_GDR_OFF
                   : GL_SAID_COUNT;
    if (what == GL_SAID_COUNT || gl_said_count(d, what) == 0)
        return;
    explain_gdr(d, gl_found(d, rule, gl_said_first(d, what)), what);
}

/* Where several communicators number their ranks anew: hosts that never have it. */
static void find_partial_hosts(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    const gl_log_nccl_host *first = NULL;
    size_t without = 0, with = 0;
    for (size_t i = 0; i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        bool lacks =
            gl_host_count(h, GL_SAID_GDR) == 0 && gl_host_count(h, GL_SAID_NO_GDR_RECEIVE) > 0;
        with += gl_host_count(h, GL_SAID_GDR) > 0;
        without += lacks;
        first = lacks && first == NULL ? h : first;
    }
    if (first == NULL || with == 0)
        return;
    gl_finding *f = gl_found(d, rule, gl_host_first(first, GL_SAID_NO_GDR_RECEIVE));
    gl_found_proof(f, gl_said_first(d, GL_SAID_GDR));
    f->subject = first->name;
    f->title =
        gl_arena_printf(d->arena, "%zu of %zu hosts receive without GPUDirect RDMA, %s first",
                        without, without + with, first->name);
}

/* A rank that receives without it while others have it. Lines may be torn before "/GDRDMA", so a
 * few among many say nothing. */
static void check_partial_gdr(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    size_t without = 0, with = 0;
    const gl_log_rank *first = NULL;
    bool one_host = true;
    if (gl_said_count(d, GL_SAID_GDR) == 0)
        return;
    if (log->is_ambiguous) {
        find_partial_hosts(d, rule);
        return;
    }
    for (int i = 0; i < log->ranks && (size_t)i < log->rank_capacity; i++) {
        const gl_log_rank *r = &log->ranks_table[i];
        uint32_t all = r->gdr_receive + r->no_gdr_receive;
        bool lacks = all > 0 && r->no_gdr_receive * 100 > all * PARTIAL_PERCENT &&
                     r->no_gdr_receive >= r->gdr_receive / 2;
        with += all > 0 && !lacks;
        if (!lacks)
            continue;
        without++;
        if (first == NULL)
            first = r;
        one_host = one_host && r->host == first->host;
    }
    if (first == NULL)
        return;
    gl_finding *f = gl_found(d, rule, first->no_gdr_quote);
    gl_found_proof(f, gl_said_first(d, GL_SAID_GDR));
    const char *host = one_host && first->host >= 0 ? log->hosts[first->host].name : "";
    f->title = gl_arena_printf(
        d->arena, "%zu of %zu ranks that receive from other nodes do so without GPUDirect RDMA%s%s",
        without, without + with, host[0] != '\0' ? ", all on " : "", host);
}

static void check_gdr_sends(gl_diagnosis *d, const gl_rule *rule)
{
    if (gl_said_count(d, GL_SAID_GDR) > 0 && gl_said_count(d, GL_SAID_NO_GDR_RECEIVE) == 0 &&
        gl_said_count(d, GL_SAID_NO_GDR_SEND) > gl_said_count(d, GL_SAID_GDR) / 4)
        gl_found(d, rule, gl_said_first(d, GL_SAID_NO_GDR_SEND));
}

static void check_gdr_distance(gl_diagnosis *d, const gl_rule *rule)
{
    /* A GPU has a NIC that is near: that others are too far is as it should be. */
    const gl_log *log = d->facts->log;
    const gl_log_nccl_host *host = NULL;
    for (size_t i = 0; host == NULL && i < log->host_count; i++) {
        const gl_log_nccl_host *h = &log->hosts[i];
        if (gl_host_count(h, GL_SAID_GDR_TOO_FAR) > 0 &&
            gl_host_count(h, GL_SAID_GDR_PAIR_ON) == 0 && gl_host_count(h, GL_SAID_GDR) == 0)
            host = h;
    }
    if (host == NULL &&
        (gl_said_count(d, GL_SAID_GDR_TOO_FAR) == 0 || gl_said_count(d, GL_SAID_GDR_PAIR_ON) > 0 ||
         gl_said_count(d, GL_SAID_GDR) > 0))
        return;
    gl_finding *f = gl_found_as(d, rule, gl_on_several_nodes(d) == GL_NO ? GL_NOTE : GL_WARNING,
                                host != NULL ? gl_host_first(host, GL_SAID_GDR_TOO_FAR)
                                             : gl_said_first(d, GL_SAID_GDR_TOO_FAR));
    const gl_log_setting *level = gl_log_find_setting(d->facts->log, "NCCL_NET_GDR_LEVEL");
    if (level != NULL)
        gl_found_proof(f, level->quote);
}

static void check_xml_gdr(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->xml_count; i++) {
        const gl_topo_xml *x = d->facts->xml[i];
        const gl_xml_net *first = NULL;
        bool any = false;
        for (size_t n = 0; n < x->net_count; n++) {
            if (!x->nets[n].is_rdma)
                continue; /* sockets never have it */
            any = any || x->nets[n].gdr != 0;
            first = first != NULL ? first : &x->nets[n];
        }
        if (first != NULL && !any)
            gl_found(d, rule, first->quote);
    }
}

static const gl_rule rules[] = {
    {"socket-between-nodes", GL_FAULT, "Nodes talk through TCP sockets",
     "Every byte passes the CPUs: a few GB/s however fast the NICs are, and no GPUDirect.",
     "Check that the RDMA devices are visible in the container (ibv_devinfo, /dev/infiniband), "
     "that "
     "NCCL_IB_DISABLE, NCCL_NET and NCCL_IB_HCA are unset or right, and that the provider's "
     "network "
     "plugin is installed.",
     .check = check_socket},
    {"socket-nodes-unknown", GL_NOTE,
     "NCCL chose sockets; whether several nodes took part is not "
     "logged",
     "On one node this is harmless, for the network is not used; between nodes it would be a "
     "fault.",
     "Give the log of all ranks, with NCCL_DEBUG=INFO and without NCCL_DEBUG_SUBSYS.",
     .check = check_socket_unknown},
    {"ib-not-found", GL_WARNING, "NCCL found no RDMA device",
     "This is why sockets are used between the nodes.",
     "Install rdma-core (libibverbs) in the image, pass /dev/infiniband and the memlock limit into "
     "the container, check ibv_devinfo and the link state (ibstat).",
     .check = check_no_ib},
    {"no-gdr", GL_FAULT, "The network does not reach GPU memory (no GPUDirect RDMA)",
     "Every byte between nodes is copied through host memory: about half of the bandwidth, and "
     "more "
     "load on the CPUs' memory.",
     "Load nvidia-peermem or use DMA-BUF; unset NCCL_NET_GDR_LEVEL; switch PCIe access control "
     "(ACS) off; check that GPU and NIC share a PCIe switch.",
     .check = check_no_gdr},
    {"partial-gdr", GL_WARNING, "Some ranks receive without GPUDirect RDMA",
     "A ring runs at the speed of its slowest rank.",
     "Compare these ranks' nodes with the others: nvidia-peermem, PCIe placement of GPU and NIC, "
     "NCCL_NET_GDR_LEVEL.",
     .check = check_partial_gdr},
    {"gdr-sends", GL_NOTE, "GPUDirect RDMA is used for receiving, not for sending",
     "NCCL's choice on GPUs before Ampere without NVLink, where reads over PCIe are slow.",
     "NCCL_NET_GDR_READ=1 forces it; measure both.", .check = check_gdr_sends},
    {"gdr-too-far", GL_WARNING, "GPUDirect RDMA was refused because GPU and NIC are too far apart",
     "The distance is beyond NCCL_NET_GDR_LEVEL (by default a shared PCIe switch or CPU).",
     "Use the NIC that is nearest to each GPU; measure NCCL_NET_GDR_LEVEL=SYS against the default.",
     .check = check_gdr_distance},
    {"no-gdr", GL_WARNING, "No RDMA device in the topology supports GPUDirect (gdr=\"0\")",
     "Every byte between nodes would be copied through host memory.",
     "Load nvidia-peermem or use DMA-BUF, then write the topology anew.", .check = check_xml_gdr},
};

const gl_rules gl_rules_net = {rules, sizeof rules / sizeof *rules};
