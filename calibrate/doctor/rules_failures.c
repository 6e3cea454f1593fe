/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What broke: GPUs, NVSwitches, NICs and their transfers, shared memory, processes. */
#include "calibrate/doctor/rules.h"

#include <string.h>

/* ---- transfers ---- */

enum { WC_FLUSHED = 5 };

typedef struct status_words {
    int status;
    const char *title, *meaning, *advice;
} status_words;

/* As libibverbs numbers them. */
static const status_words statuses[] = {
    {4, "A NIC could not reach memory of its own side (error 4, local protection)",
     "No cable and no peer is at fault: the memory that NCCL gave the NIC is not registered, or "
     "the "
     "NIC may not read or write it, as a rule GPU memory by GPUDirect RDMA.",
     "On the host of the line: check nvidia-peermem (or DMA-BUF) against the driver, PCIe access "
     "control (ACS) and the IOMMU; run once with NCCL_NET_GDR_LEVEL=LOC, and once with "
     "NCCL_DMABUF_ENABLE=0."},
    {WC_FLUSHED,
     "Transfers were given up because their connection had failed before (error 5, "
     "flushed)",
     "A consequence, not the cause: the connection was closed or failed with another error first, "
     "here or at the peer.",
     "Look for the first error: earlier lines, and the logs of the peer that is named."},
    {9, "The other side refused a transfer as invalid (error 9)",
     "The peer's NIC got a request that it cannot serve: as a rule its memory is registered "
     "otherwise than this side believes, or firmware or versions differ.",
     "Compare versions of NCCL, driver and NIC firmware on both hosts; look in the peer's log."},
    {10,
     "The other side's NIC may not reach the memory that was asked for (error 10, remote "
     "access)",
     "The peer's memory is not registered for it, or was taken back: GPUDirect RDMA on the peer, "
     "or a peer that ended.",
     "On the peer: check nvidia-peermem (or DMA-BUF), ACS and IOMMU; look in its log for an "
     "earlier error."},
    {11, "The other side failed while it served a transfer (error 11, remote operation)",
     "The peer's NIC or memory failed, or its process ended.",
     "Look in the peer's log and its dmesg; check GPUDirect RDMA there."},
    {12, "A transfer over the network got no answer (error 12, retries exceeded)",
     "The other side did not answer: a bad cable or port, a wrong route or GID, lost packets on a "
     "congested network without flow control (PFC), or a peer that died.",
     "Check both ports named in the line (ibstat, perfquery, ethtool -S); on RoCE "
     "NCCL_IB_GID_INDEX, PFC and the path MTU; look in the peers' logs for an earlier error."},
    {13, "The other side was not ready to receive (error 13, RNR retries exceeded)",
     "The peer gave its NIC no buffer in time: its process or its GPU stands still, or died.",
     "Look for a hang or an error of the peer's process; look at its CPU load and CPU binding."},
    {0, "A transfer over the network failed",
     "A NIC reported a completion with an error, whose number means what the InfiniBand "
     "specification says.",
     "Look the status and the vendor error up; look in the peers' logs for an earlier error."}};

static const status_words *words_of(int status)
{
    const status_words *words = statuses;
    while (words->status != 0 && words->status != status)
        words++;
    return words;
}

/* Flushed transfers beside others are their consequence. */
static void check_completions(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    uint64_t flushed = log->completions[WC_FLUSHED].count;
    bool only_flushed = flushed > 0 && flushed == gl_said_count(d, GL_SAID_LINK_ERROR);
    for (int i = 0; i < GL_LOG_STATUS_LIMIT; i++) {
        const gl_said_line *line = &log->completions[i];
        if (line->count == 0 || (i == WC_FLUSHED && !only_flushed))
            continue;
        const status_words *words = words_of(i);
        gl_finding *f = gl_found(d, rule, line->first);
        f->title = words->title;
        f->meaning = words->meaning;
        f->advice = words->advice;
        if (flushed > 0 && i != WC_FLUSHED)
            gl_found_proof(f, log->completions[WC_FLUSHED].first);
    }
}

/* ---- connections ---- */

static void check_peer(gl_diagnosis *d, const gl_rule *rule)
{
    static const struct {
        const char *words, *meaning;
    } causes[] = {
        {"refused", "Nothing listened there: the other process had ended, or never came so far."},
        {"timed out", "Nothing answered: a firewall drops the packets, the host is down, or the "
                      "address belongs to a network that this host does not reach."},
        {"oute to host", "No way leads there: a firewall, a host that is down, or the wrong "
                         "interface."},
        {"nreachable", "This host has no way to that network: the ranks announced the address of "
                       "an interface that not all nodes share."},
        {"reset", "The other process ended while the connection was open."},
        {"losed", "The other process ended while the connection was open."}};
    gl_quote proof = gl_said_first(d, GL_SAID_REMOTE_GONE);
    if (proof.text == NULL)
        return;
    gl_finding *f = gl_found(d, rule, proof);
    gl_name_host(d, f, GL_SAID_REMOTE_GONE);
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strstr(proof.text, causes[i].words) != NULL) {
            f->meaning = gl_arena_printf(d->arena, "%s %s", causes[i].meaning, rule->meaning);
            return;
        }
}

/* ---- what programs and warnings leave open ---- */

/* Something else that was found explains why a call failed. */
static bool is_explained(const gl_diagnosis *d)
{
    for (gl_said what = GL_SAID_LINK_ERROR; what < GL_SAID_CALL_FAILED; what++) {
        bool harmless = what == GL_SAID_NIC_EVENT || what == GL_SAID_XID ||
                        what == GL_SAID_PROCESS_ENDED || what == GL_SAID_GPU_TWICE;
        if (!harmless && gl_said_count(d, what) > 0)
            return true;
    }
    return gl_said_count(d, GL_SAID_WARN_ERROR) > 0;
}

static void check_call(gl_diagnosis *d, const gl_rule *rule)
{
    if (!is_explained(d))
        gl_found_said(d, rule, GL_SAID_CALL_FAILED);
}

static void check_ended(gl_diagnosis *d, const gl_rule *rule)
{
    bool explained = is_explained(d) || gl_said_count(d, GL_SAID_CALL_FAILED) > 0;
    if (gl_said_count(d, GL_SAID_PROCESS_ENDED) > 0)
        gl_found_as(d, rule, explained ? GL_NOTE : GL_WARNING,
                    gl_said_first(d, GL_SAID_PROCESS_ENDED));
}

static void check_warnings(gl_diagnosis *d, const gl_rule *rule)
{
    gl_said what = gl_said_count(d, GL_SAID_WARN_ERROR) > 0 ? GL_SAID_WARN_ERROR : GL_SAID_WARN;
    if (gl_said_count(d, what) == 0)
        return;
    gl_finding *f =
        gl_found_as(d, rule, what == GL_SAID_WARN ? GL_NOTE : GL_WARNING, gl_said_first(d, what));
    f->title = gl_arena_printf(d->arena, "NCCL warned %llu times of something else%s",
                               (unsigned long long)gl_said_count(d, what),
                               what == GL_SAID_WARN ? "" : ", by its words an error");
}

#define LOOK_AT_SWITCH                                                                             \
    "Check systemctl status nvidia-fabricmanager (its version must be the driver's), nvidia-smi "  \
    "-q (Fabric: state Completed), dmesg for SXid; after a restart of the fabric manager the "     \
    "GPUs need a reset."

static const gl_rule rules[] = {
    {"gpu-error", GL_FAULT, "A GPU, its memory, its NVLink or its PCIe link failed",
     "The driver gave up on it; every job that uses this GPU ends sooner or later.",
     "Drain the node; nvidia-smi -q (ECC, remapped rows), nvidia-smi nvlink -e, dmesg for Xid; "
     "reset the GPU, then replace it or its cable when it comes again.",
     .said = GL_SAID_GPU_ERROR},
    {"gpu-error", GL_WARNING, "A GPU contained an error of its memory (Xid 94)",
     "It was contained: only the process that used the memory ended, other processes and the GPU "
     "go on.",
     "Start the job again; reset the GPU when it is free, so that the row is remapped (nvidia-smi "
     "-q, remapped rows); replace it when remapping fails.",
     .said = GL_SAID_GPU_CONTAINED},
    {"nvswitch-error", GL_FAULT, "An NVSwitch reported a fatal error (SXid)",
     "Its links are down: NVLink of the GPUs behind it is lost for the whole node.",
     "Drain the node; look the SXid up in the fabric manager's user guide; reset GPUs and switches "
     "or restart the machine, then replace the board.",
     .said = GL_SAID_NVSWITCH_FATAL},
    {"nvswitch-error", GL_WARNING, "An NVSwitch reported an error (SXid)",
     "By its words not fatal: links go on, but errors on them announce failures.",
     "Look the SXid up in the fabric manager's user guide; check nvidia-smi nvlink -e of the GPUs.",
     .said = GL_SAID_NVSWITCH_ERROR},
    {"pcie-error", GL_FAULT, "PCIe reported an uncorrected error",
     "A device, its slot or a switch above it lost data: as a rule the device is gone until it is "
     "reset.",
     "Look for the device's name in the line and those around it (lspci -vv, LnkSta, AER); reseat "
     "the card, check riser and power, update firmware.",
     .said = GL_SAID_PCIE_ERROR},
    {"fabric-manager", GL_FAULT, "The GPUs wait for the fabric manager, or it failed (CUDA 802)",
     "On machines with NVSwitch no program can use the GPUs before the fabric manager has set the "
     "switches up.",
     LOOK_AT_SWITCH, .said = GL_SAID_FABRIC_MANAGER},
    {"driver-mismatch", GL_FAULT, "The driver's library and its kernel module are of two versions",
     "The driver was updated and its module not loaded anew, or a container brings the library of "
     "another version: nothing can use the GPUs.",
     "Restart the machine, or unload and load the nvidia modules; in containers let the runtime "
     "put the host's library in, and install none in the image.",
     .said = GL_SAID_DRIVER_MISMATCH},
    {"xid", GL_NOTE, "The driver reported an error (Xid) that is as a rule a program's",
     "Illegal accesses and killed processes look like this; a broken GPU seldom does.",
     "Look the number up in NVIDIA's list of Xid errors.", .said = GL_SAID_XID},
    {"link-error", GL_FAULT, "A transfer over the network failed", "", "",
     .check = check_completions},
    {"link-error", GL_FAULT, "A connection over InfiniBand or RoCE could not be set up",
     "A NIC refused what NCCL asked of it: a port that is down, a GID or route that does not lead "
     "to the peer, too few resources, or a container without the device.",
     "Check ibv_devinfo and ibstat on both hosts; on RoCE NCCL_IB_GID_INDEX and that both are in "
     "one subnet; NCCL_IB_HCA must name NICs of one fabric.",
     .said = GL_SAID_IB_SETUP},
    {"port-error", GL_FAULT, "A port of a NIC went down or failed while the job ran",
     "Traffic stopped or went on over other ports.",
     "Check cable, transceiver and switch port; dmesg and the subnet manager's log.",
     .said = GL_SAID_PORT_ERROR},
    {"port-error", GL_WARNING, "A NIC's port is down, by the kernel's last word on it",
     "What went over it stopped, or goes over other ports.",
     "Check cable, transceiver and switch port (ibstat, ethtool, mlxlink).",
     .said = GL_SAID_PORT_DOWN},
    {"nic-error", GL_FAULT, "The driver of a NIC says that the NIC failed",
     "Its firmware or hardware stopped: connections over it break.",
     "Drain the node; update the NIC's firmware, reset it or restart the machine; replace it when "
     "it comes again.",
     .said = GL_SAID_NIC_ERROR},
    {"memlock", GL_FAULT, "Memory could not be registered for RDMA: it may not be locked",
     "The limit of locked memory (memlock) of the process is too small, and the job ends.",
     "Set it to unlimited: ulimit -l, limits.conf, LimitMEMLOCK= of slurmd or the container "
     "runtime, --ulimit memlock=-1 of docker.",
     .said = GL_SAID_MEMLOCK},
    {"registration-failed", GL_WARNING, "Memory could not be registered",
     "The NIC, the switch or another GPU cannot reach buffers of this rank: as a rule GPU memory "
     "without nvidia-peermem or DMA-BUF, or memory of a kind that cannot be shared.",
     "Check nvidia-peermem (or DMA-BUF), ACS and IOMMU on the host of the line; run once without "
     "user buffers (NCCL_LOCAL_REGISTER=0, NCCL_WIN_ENABLE=0).",
     .said = GL_SAID_REGISTRATION},
    {"nvls-failed", GL_FAULT,
     "Memory for the switch that adds up (NVLS multicast) could not be had",
     "The driver offers multicast, and NVSwitch or the fabric manager refuses it: as a rule the "
     "job ends in its first call.",
     LOOK_AT_SWITCH " NCCL_NVLS_ENABLE=0 goes around it, at the price of NVLS.",
     .said = GL_SAID_NVLS_FAILED},
    {"shm-full", GL_FAULT, "/dev/shm has no room for NCCL's shared memory",
     "Containers have 64 MB of it by default, and a host's may be full of what other jobs left.",
     "Start the container with --shm-size=1g or more (Kubernetes: an emptyDir of medium Memory on "
     "/dev/shm), or with --ipc=host; look at df /dev/shm and delete old nccl-* files.",
     .said = GL_SAID_SHM_FULL},
    {"shm-apart", GL_FAULT, "Ranks of one host do not share /dev/shm",
     "A rank looks for a segment of shared memory that another one made, and does not see it: they "
     "are in containers with a /dev/shm of their own.",
     "Give the containers one /dev/shm (--ipc=host, or one volume) and one hostname each, or set "
     "NCCL_SHM_DISABLE=1 and accept the slower path; check that nobody deletes /dev/shm/nccl-*.",
     .said = GL_SAID_SHM_APART},
    {"shm-failed", GL_FAULT, "Shared memory between ranks could not be set up",
     "NCCL needs /dev/shm between the processes of a host.",
     "Check rights and size of /dev/shm, and --ipc=host or --shm-size of the container.",
     .said = GL_SAID_SHM_FAILED},
    {"p2p-failed", GL_WARNING, "Peer-to-peer between GPUs could not be set up",
     "GPUs that are joined cannot reach each other's memory: NCCL goes through host memory (SHM), "
     "or the job ends.",
     "Check nvidia-smi topo -p2p r, PCIe access control (ACS) and IOMMU; containers that see one "
     "GPU each must share the PID and IPC namespaces.",
     .said = GL_SAID_P2P_FAILED},
    {"no-interface", GL_FAULT, "NCCL found no network interface for its bootstrap or sockets",
     "NCCL_SOCKET_IFNAME names no interface of this host, or the host has none that is up.",
     "Compare NCCL_SOCKET_IFNAME with ip addr on this host (\"=\" exact, \"^\" all but); names "
     "differ between hosts and containers.",
     .said = GL_SAID_NO_INTERFACE},
    {"versions-differ", GL_FAULT, "NCCL says that ranks run different versions",
     "Ranks of different versions cannot be in one communicator.",
     "Use one image or one module on all hosts; look for a second libnccl.so (LD_LIBRARY_PATH, pip "
     "packages).",
     .said = GL_SAID_VERSIONS_REFUSED},
    {"calls-differ", GL_WARNING, "Ranks do not agree on what they do together",
     "They called different collectives, sizes or numbers of ranks, or two jobs use one "
     "rendezvous; different versions of NCCL look like this, too.",
     "Compare what each rank calls (NCCL_DEBUG_SUBSYS=COLL), the number of ranks that each is "
     "given, and versions.",
     .said = GL_SAID_CALLS_DIFFER},
    {"out-of-memory", GL_WARNING, "A GPU had no memory left for NCCL or the program",
     "NCCL allocates buffers of each channel and peer in every communicator, beside what the "
     "program took.",
     "Leave some GPU memory free; look for other processes on the GPU (nvidia-smi); fewer channels "
     "(NCCL_MAX_NCHANNELS), smaller NCCL_BUFFSIZE or fewer communicators take less.",
     .said = GL_SAID_OUT_OF_MEMORY},
    {"cuda-failed", GL_WARNING, "A call of CUDA failed", "The line says which, and why.",
     "Check that driver and CUDA of the program fit (nvidia-smi), that the GPU is healthy (dmesg "
     "for Xid), and that each rank sees its GPU.",
     .said = GL_SAID_CUDA_FAILED},
    {"collective-timeout", GL_WARNING, "A collective did not end, and a watchdog ended the job",
     "Some rank never came to this call, died, or its link stopped.",
     "Find the rank whose last call differs from the others' (NCCL_DEBUG_SUBSYS=COLL, flight "
     "recorder), and what that node's log says before.",
     .said = GL_SAID_TIMEOUT},
    {"peer-gone", GL_WARNING, "A connection to another rank broke or could not be made",
     "As a rule a consequence: another rank failed first, or a firewall or the wrong interface is "
     "in the way.",
     "Find the rank that failed first; set NCCL_SOCKET_IFNAME to the interface that all nodes "
     "share.",
     .check = check_peer},
    {"call-failed", GL_WARNING, "A program ended because a call of NCCL failed",
     "The cause is not in these lines: NCCL prints it as a warning, on the rank that met it first.",
     "Run again with NCCL_DEBUG=INFO and give the logs of all ranks.", .check = check_call},
    {"process-ended", GL_WARNING, "A process of the job was ended by a signal, or ended the job",
     "What other ranks report afterwards is a consequence.",
     "Look at that process: its own output, the host's memory (oom-kill), dmesg.",
     .check = check_ended},
    {"warnings", GL_WARNING, "NCCL warned of something else", "The first line is quoted.",
     "Read it, and what follows it.", .check = check_warnings},
};

const gl_rules gl_rules_failures = {rules, sizeof rules / sizeof *rules};
