/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions from small texts: for each kind of proof one that proves and one that only looks so.
 */
#include "tests/import_support.h"

#include "calibrate/doctor/findings.h"

#define L(host, rank, text) "n" #host ":1" #rank ":2" #rank " [" #rank "] NCCL INFO " text "\n"
#define W(host, rank, text)                                                                        \
    "n" #host ":1" #rank ":2" #rank " [" #rank "] net.cc:9 NCCL WARN " text "\n"
#define COMM(host, rank, ranks, nodes, local)                                                      \
    L(host, rank,                                                                                  \
      "comm 0xa" #rank " rank " #rank " nRanks " #ranks " nNodes " #nodes " localRanks " #local    \
      " localRank 0 MNNVL 0")
#define ONE_NODE  COMM(0, 0, 2, 1, 2) COMM(0, 1, 2, 1, 2)
#define TWO_NODES COMM(0, 0, 4, 2, 2) COMM(0, 1, 4, 2, 2) COMM(1, 2, 4, 2, 2) COMM(1, 3, 4, 2, 2)
#define EIGHT     COMM(0, 0, 8, 1, 8)
#define RING(type)                                                                                 \
    L(0, 0, "Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type " type ", sameChannels 1")
#define SWITCH_DUMP                                                                                \
    L(0, 0, "=== System : maxBw 48.0 totalBw 370.8 ===")                                           \
    L(0, 0, "+ PCI[48.0] - GPU/0-60 (0)")                                                          \
    L(0, 0, "              + NVL[370.8] - NVS/0-0")                                                \
    L(0, 0, "+ PCI[48.0] - GPU/0-70 (1)")                                                          \
    L(0, 0, "              + NVL[370.8] - NVS/0-0")                                                \
    L(0, 0, "==========================================")
#define RANK_0(name) "#  Rank  0 Group  0 Pid    625 on  n0 device  0 [0000:00:06] " name "\n"
#define DEVICE(name)                                                                               \
    RANK_0(name) "#  Rank  1 Group  0 Pid    625 on  n0 device  1 [0000:00:07] " name "\n"
#define IB8                                                                                        \
    "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB "        \
    "eth0:1<0>"

#define CPU(text)                                                                                  \
    "<?xml version=\"1.0\"?>\n<system version=\"1\"><cpu numaid=\"0\">" text "</cpu></system>"
#define LINK(bus, speed)                                                                           \
    "<pci busid=\"" bus "\" class=\"0x030200\" link_speed=\"" speed                                \
    " GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/></pci>"

typedef struct doctor_case {
    const char *log, *topology, *p2p, *nvlink, *xml;
    const char *wanted;   /* "fault shm-fallback, note setting": all that is found, worst first */
    const char *in_proof; /* words in some proof, meaning or title; NULL */
} doctor_case;

static gl_expected expected; /* of the test that runs, in its arena */

static void read_source(gl_facts *facts, gl_source source, const char *name, const char *text)
{
    gl_error err;
    if (text != NULL && !gl_facts_read_text(facts, source, name, text, strlen(text), &err))
        fail_msg("%s: %s in\n%s", name, err.message, text);
}

static gl_findings diagnose(const doctor_case *c)
{
    gl_facts *facts = GL_ARENA_NEW(arena, gl_facts, 1);
    gl_facts_begin(facts, &expected, arena);
    read_source(facts, GL_SOURCE_TOPOLOGY, "topo.txt", c->topology);
    read_source(facts, GL_SOURCE_P2P, "p2p.txt", c->p2p);
    read_source(facts, GL_SOURCE_NVLINK, "nvlink.txt", c->nvlink);
    read_source(facts, GL_SOURCE_XML, "topo.xml", c->xml);
    read_source(facts, GL_SOURCE_LOG, "nccl.log", c->log);
    gl_facts_finish(facts);
    return gl_findings_of(facts);
}

static bool says(const gl_findings *all, const char *words)
{
    for (size_t i = 0; i < all->count; i++) {
        const gl_finding *f = &all->items[i];
        if (strstr(f->title, words) != NULL || strstr(f->meaning, words) != NULL)
            return true;
        for (size_t k = 0; k < f->proof_count; k++)
            if (strstr(f->proofs[k].text, words) != NULL)
                return true;
    }
    return false;
}

static void run(const doctor_case *cases, size_t count)
{
    gl_error err;
    if (!gl_expected_load(arena, &expected, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        char found[1000] = "";
        gl_findings all = diagnose(&cases[i]);
        for (size_t k = 0; k < all.count; k++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s %s",
                     k > 0 ? ", " : "", gl_severity_name(all.items[k].severity), all.items[k].id);
        if (strcmp(found, cases[i].wanted) != 0)
            fail_msg("case %zu: found \"%s\", wanted \"%s\"", i, found, cases[i].wanted);
        if (cases[i].in_proof != NULL && !says(&all, cases[i].in_proof))
            fail_msg("case %zu: nothing says \"%s\"", i, cases[i].in_proof);
        for (size_t k = 0; k < all.count; k++)
            assert_true(all.items[k].proof_count > 0 && all.items[k].advice[0] != '\0');
    }
}
#define RUN(cases) run(cases, sizeof(cases) / sizeof *(cases))

/* ---- inside a node ---- */

static void test_host_memory(void **state)
{
    (void)state;
    static const doctor_case cases[] = {
        {.log = ONE_NODE L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
         .wanted = "warning shm-fallback"},
        {.log = L(0, 0, "Ring 00 : 0[0] -> 1[1] via direct shared memory"),
         .wanted = "warning shm-fallback"},
        {.log = L(0, 0, "Channel 01 : 0[101c0] -> 1[101d0] via direct shared memory"),
         .wanted = "warning shm-fallback"},
        {.log = L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct"),
         .wanted = "warning shm-fallback"},
        {.log = L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/CE/direct"),
         .wanted = "warning shm-fallback"},
        /* NVLink is there: a fault. */
        {.log = DEVICE("NVIDIA H200") L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
         .wanted = "fault shm-fallback"},
        {.log = L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
         .topology = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\nGPU1\tNV4\t X \t0-7\n",
         .wanted = "fault shm-fallback"},
        /* Self-inflicted. */
        {.log = L(0, 0, "NCCL_P2P_LEVEL set by environment to LOC")
             L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
         .wanted = "fault shm-fallback, warning setting",
         .in_proof = "Cause: NCCL_P2P_LEVEL=LOC"},
        {.log = L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
         .p2p = " \tGPU0\tGPU1\n GPU0\tX\tCNS\n GPU1\tCNS\tX\n",
         .wanted = "warning shm-fallback, warning p2p-unsupported",
         .in_proof = "The driver says so too"},
        /* Only looks like it. */
        {.log = ONE_NODE L(0, 0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"), .wanted = ""},
        {.log = ONE_NODE L(0, 0, "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC/read"), .wanted = ""},
        {.log = L(0, 0, "Channel 00/0 : 0[0] -> 1[1] via P2P/indirect/2[2]"), .wanted = ""},
        /* One cause, one finding: the graph shows PCIe because of the same setting. */
        {.log = ONE_NODE L(0, 0, "NCCL_P2P_DISABLE set by environment to 1")
             SWITCH_DUMP RING("PHB/PIX") L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
         .wanted = "fault shm-fallback, warning setting",
         .in_proof = "Cause: NCCL_P2P_DISABLE=1"},
        /* Ranks contradict each other: no cause is named. */
        {.log = L(0, 0, "NCCL_P2P_DISABLE set by environment to 1")
             L(0, 1, "NCCL_P2P_DISABLE set by environment to 0")
                 L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"),
         .wanted = "warning shm-fallback, note setting"},
    };
    RUN(cases);
}

static void test_pcie_or_nvlink(void **state)
{
    (void)state;
    static const doctor_case cases[] = {
        /* P2P does not say NVLink; nor does its absence in a log without a graph say PCIe. */
        {.log = DEVICE("NVIDIA H200") ONE_NODE L(0, 0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"),
         .wanted = ""},
        {.log = DEVICE("NVIDIA H200") ONE_NODE RING("NVL/PIX")
             L(0, 0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"),
         .wanted = ""},
        {.log = DEVICE("NVIDIA H200") ONE_NODE RING("PHB/PIX"),
         .wanted = "fault pcie-instead-of-nvlink"},
        {.log = RING("PXB/PIX"), .wanted = "note pcie-instead-of-nvlink"},
        {.log = DEVICE("NVIDIA L40S") RING("PIX/PIX"), .wanted = "note pcie-instead-of-nvlink"},
        {.log = RING("PIX/PIX"),
         .topology = "\tGPU0\tGPU1\nGPU0\t X \tNV12\nGPU1\tNV12\t X \n",
         .wanted = "fault pcie-instead-of-nvlink"},
        {.log = RING("PIX/PIX") RING("NVL/PIX"), .wanted = ""}, /* two groups */
        /* The dump joins every GPU to the switch, and still the ring is over PCIe. */
        {.log = ONE_NODE SWITCH_DUMP RING("PHB/PIX"), .wanted = "fault pcie-instead-of-nvlink"},
        {.log = EIGHT SWITCH_DUMP RING("PHB/PIX"),
         .wanted = "note pcie-instead-of-nvlink",
         .in_proof = "joins some"},
        {.log = DEVICE("NVIDIA L40S") RING("SYS/PIX"),
         .wanted = "warning gpu-across-numa, note pcie-instead-of-nvlink"},
        {.log = L(0, 0,
                  "Pattern 4, crossNic 0, nChannels 2, speed 12.0/12.0, type PHB/PIX, "
                  "sameChannels 1"),
         .wanted = "note pcie-instead-of-nvlink"},
        /* NCCL's PHB is one NUMA node. */
        {.log = L(0, 0, "GPU/101C0 :GPU/101C0 (0/5000.0/LOC) GPU/101D0 (2/12.0/PHB) "),
         .wanted = ""},
        {.log = L(0, 0, "GPU/101C0 :GPU/101C0 (0/5000.0/LOC) GPU/101D0 (3/10.0/SYS) "),
         .wanted = "note gpu-across-numa"},
    };
    RUN(cases);
}

static void test_weak_nvlink(void **state)
{
    (void)state;
#define DUMP(a, b)                                                                                 \
    L(0, 0, "=== System : maxBw 240.0 totalBw 240.0 ===")                                          \
    L(0, 0, "CPU/0 (1/1/2)")                                                                       \
    L(0, 0, "+ PCI[24.0] - GPU/17000 (0)")                                                         \
    L(0, 0, "              + NVL[" a "] - NVS/0")                                                  \
    L(0, 0, "+ PCI[24.0] - GPU/2A000 (1)")                                                         \
    L(0, 0, "              + NVL[" b "] - NVS/0")                                                  \
    L(0, 0, "==========================================")
    static const doctor_case cases[] = {
        {.log = DUMP("240.0", "240.0"), .wanted = ""},
        {.log = DUMP("240.0", "20.0"), .wanted = "fault nvlink-unequal", .in_proof = "NVL[20.0]"},
        {.log = L(0, 0, "NCCL_TOPO_FILE set by environment to /x/a.xml") DUMP("20.0", "240.0"),
         .wanted = "fault nvlink-unequal, note topology-file",
         .in_proof = "not the hardware"},
        {.log = DEVICE("NVIDIA A100-SXM4-80GB") DUMP("240.0", "240.0"), .wanted = ""},
        {.log = DEVICE("NVIDIA H100 80GB HBM3") DUMP("206.0", "206.0"),
         .wanted = "fault nvlink-missing"},
        /* Another rank's dump is not added to the first one's. */
        {.log = DUMP("240.0", "240.0") "n0:99:98 [1] NCCL INFO + PCI[24.0] - GPU/17000 (0)\n"
                                       "n0:99:98 [1] NCCL INFO   + NVL[20.0] - NVS/0\n",
         .wanted = ""},
        /* Two GPUs joined directly, in one direction with fewer links. */
        {.log = L(0, 0, "=== System : maxWidth 42.0 totalWidth 42.0 ===")
             L(0, 0, "+ PCI[12.0] - GPU/7000 (0)") L(0, 0, "  + NVL[42.0] - GPU/A000")
                 L(0, 0, "+ PCI[12.0] - GPU/A000 (1)") L(0, 0, "  + NVL[21.0] - GPU/7000"),
         .wanted = "fault nvlink-unequal"},
        {.log = L(0, 0, "=== System : maxWidth 42.0 totalWidth 42.0 ===")
             L(0, 0, "+ PCI[12.0] - GPU/7000 (0)") L(0, 0, "  + NVL[42.0] - GPU/A000")
                 L(0, 0, "+ PCI[12.0] - GPU/A000 (1)") L(0, 0, "  + NVL[42.0] - GPU/7000"),
         .wanted = ""},
    };
    RUN(cases);
}

static void test_virtual_machines(void **state)
{
    (void)state;
    static const doctor_case cases[] = {
        {.log = L(0, 0, "+ PCI[0.2] - GPU/0-17000 (0)"), .wanted = "warning flattened-pcie"},
        {.log = L(0, 0, "+ PCI[0.5] - NIC/0-3000"), .wanted = ""}, /* a management NIC */
        {.log = ONE_NODE L(0, 0, "=== System : maxBw 0.2 totalBw 0.2 ==="),
         .wanted = "warning flattened-pcie"},
        /* One GPU a node: the network is all there is. */
        {.log = COMM(0, 0, 2, 2, 1) COMM(1, 1, 2, 2, 1)
             L(0, 0, "=== System : maxBw 1.2 totalBw 24.0 ==="),
         .wanted = ""},
        {.topology =
             "GPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
             "GPU0\t X \tSYS\tSYS\t0-47\t0\nGPU1\tSYS\t X \tSYS\t0-47\t0\nNIC0\tSYS\tSYS\t X \n",
         .wanted = "warning flattened-pcie, note nic-across-numa"},
        {.topology = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                     "GPU0\t X \tSYS\t0-23\t0\nGPU1\tSYS\t X \t24-47\t1\n",
         .wanted = "note gpu-across-numa"},
        /* SYS on one NUMA node, but each GPU has a NIC behind its own switch: not flat. */
        {.topology = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
                     "GPU0\t X \tSYS\tPIX\tSYS\t0-55\t0\nGPU1\tSYS\t X \tSYS\tPIX\t0-55\t0\n"
                     "NIC0\tPIX\tSYS\t X \tSYS\nNIC1\tSYS\tPIX\tSYS\t X \n",
         .wanted = ""},
        {.topology = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                     "GPU0\t X \tNODE\t0-23\t0\nGPU1\tNODE\t X \t0-23\t0\n",
         .wanted = ""},
        {.log = L(0, 0, "Loading topology file /var/run/nvidia-topologyd/virtualTopology.xml"),
         .wanted = "note topology-file"},
        {.log = L(0, 0, "NCCL_TOPO_FILE set by environment to /x/no.xml")
             W(0, 0, "Could not open XML topology file /x/no.xml : No such file or directory"),
         .wanted = "warning topology-file"},
    };
    RUN(cases);
}

static void test_nvls(void **state)
{
    (void)state;
#define CAPABLE L(0, 0, "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)")
    static const doctor_case cases[] = {
        {.log = EIGHT CAPABLE, .wanted = ""}, /* capability alone */
        {.log = EIGHT CAPABLE L(0, 0,
                                "24 coll channels, 24 collnet channels, 16 nvls channels, 32 "
                                "p2p channels, 32 p2p channels per peer"),
         .wanted = ""},
        {.log = EIGHT CAPABLE L(0, 0, "24 coll channels, 0 nvls channels, 32 p2p channels"),
         .wanted = "warning nvls-unused"},
        {.log = EIGHT CAPABLE L(0, 0,
                                "AllReduce: 67108864 Bytes -> Algo RING proto SIMPLE "
                                "channel{Lo..Hi}={0..23}"),
         .wanted = "warning nvls-unused"},
        {.log = EIGHT CAPABLE L(0, 0,
                                "AllReduce: 67108864 Bytes -> Algo NVLS proto SIMPLE "
                                "channel{Lo..Hi}={0..15}"),
         .wanted = ""},
        {.log = EIGHT CAPABLE L(0, 0, "67108864 Bytes -> Algo 4 proto 2 time 300.0"), .wanted = ""},
        /* Small ones, other operations, pairs: rightly without. */
        {.log = EIGHT CAPABLE L(0, 0, "AllReduce: 8 Bytes -> Algo RING proto LL channel{0..0}"),
         .wanted = ""},
        {.log = EIGHT CAPABLE L(0, 0, "Broadcast: 67108864 Bytes -> Algo RING proto SIMPLE c"),
         .wanted = ""},
        {.log = ONE_NODE CAPABLE L(0, 0, "AllReduce: 67108864 Bytes -> Algo RING proto SIMPLE c"),
         .wanted = ""},
        {.log = EIGHT CAPABLE L(0, 0, "TUNER/Plugin: Using aws (v3)")
             L(0, 0, "AllReduce: 67108864 Bytes -> Algo RING proto SIMPLE c"),
         .wanted = ""},
        /* On A100 it is as it should be. */
        {.log = DEVICE("NVIDIA A100-SXM4-80GB")
             L(0, 0, "NVLS multicast support is not available on dev 0"),
         .wanted = ""},
        {.log = ONE_NODE DEVICE("NVIDIA H200")
             L(0, 0, "NVLS multicast support is not available on dev 0"),
         .wanted = "note nvls-unavailable"},
        {.log = DEVICE("NVIDIA H200") EIGHT L(0, 0, "NCCL_NVLS_ENABLE set by environment to 0."),
         .wanted = "warning setting"},
    };
    RUN(cases);
}

/* ---- between nodes ---- */

static void test_sockets(void **state)
{
    (void)state;
#define IB     L(0, 0, "Using network IB")
#define SOCKET L(0, 0, "Using network Socket")
#define NO_IB  L(0, 0, "NET/IB : No device found.")
    static const doctor_case cases[] = {
        {.log = ONE_NODE NO_IB NO_IB SOCKET, .wanted = ""}, /* harmless */
        {.log = TWO_NODES SOCKET, .wanted = "fault socket-between-nodes"},
        {.log = TWO_NODES NO_IB SOCKET,
         .wanted = "fault socket-between-nodes, warning ib-not-found"},
        {.log = SOCKET, .wanted = "note socket-nodes-unknown"},
        {.log = L(0, 0, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"),
         .wanted = "fault socket-between-nodes"},
        {.log = L(0, 0, "Ring 00 : 7 -> 8 [receive] via NET/Socket/0"),
         .wanted = "fault socket-between-nodes"},
        {.log = TWO_NODES NO_IB L(0, 0, "Using network IBext_v8")
             L(0, 1, "Channel 00/0 : 1[1] -> 2[0] [send] via NET/IBext_v8/0/GDRDMA"),
         .wanted = ""},
        {.log = TWO_NODES L(0, 0, "NET/IB : Using [RO]; OOB eth0:1<0>") SOCKET NO_IB,
         .wanted = "fault socket-between-nodes, warning ib-not-found"},
        {.log = TWO_NODES L(0, 0, "NCCL_IB_DISABLE set by environment to 1.") SOCKET,
         .wanted = "fault socket-between-nodes, warning setting",
         .in_proof = "Cause: NCCL_IB_DISABLE=1"},
        {.log = ONE_NODE L(0, 0, "NCCL_IB_DISABLE set by environment to 1.") SOCKET,
         .wanted = "note setting"},
        {.log = TWO_NODES SOCKET L(0, 0, "NET/Socket : Using [0]ib0:1.2.3.4<0>"),
         .wanted = "fault socket-between-nodes",
         .in_proof = "only IP runs over it"},
        {.log =
             TWO_NODES L(0, 0, "NET/Plugin : dlopen libnccl-net-x.so: undefined symbol: f") SOCKET,
         .wanted = "fault socket-between-nodes, warning ib-not-found"},
        /* Without libibverbs on one node nothing is lost; between nodes it is the cause. */
        {.log = ONE_NODE W(0, 0, "Failed to open libibverbs.so[.1]") SOCKET, .wanted = ""},
        {.log = TWO_NODES W(0, 0, "Failed to open libibverbs.so[.1]") SOCKET,
         .wanted = "fault socket-between-nodes, warning ib-not-found",
         .in_proof = "libibverbs.so"},
        {.log = TWO_NODES IB L(0, 0,
                               "dlvsym failed on ibv_reg_dmabuf_mr - libibverbs.so: undefined "
                               "symbol: ibv_reg_dmabuf_mr, version IBVERBS_1.12"),
         .wanted = ""},
        /* Groups of two sizes: the ranks of the channel may be those of either. */
        {.log = TWO_NODES
         "n0:1:2 [0] NCCL INFO comm 0x9 rank 0 nranks 2 cudaDev 0 busId 1 - Init START\n" IB L(
             0, 0, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA"),
         .wanted = ""},
        {.log = TWO_NODES IB L(0, 0, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA"),
         .wanted = "fault net-inside-node"},
        /* Both ranks on one host, counted as two nodes. */
        {.log = COMM(0, 0, 2, 2, 1) COMM(0, 1, 2, 2, 1)
             SOCKET L(0, 0, "Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0"),
         .wanted = "fault net-inside-node"},
    };
    RUN(cases);
}

static void test_gpudirect(void **state)
{
    (void)state;
#define RECEIVE(host, rank, from, what)                                                            \
    L(host, rank, "Channel 00/0 : " #from "[1] -> " #rank "[0] [receive] via NET/IB/0" what)
    static const doctor_case cases[] = {
        {.log = TWO_NODES IB RECEIVE(0, 0, 3, "/GDRDMA") RECEIVE(1, 2, 1, "/GDRDMA"), .wanted = ""},
        {.log = TWO_NODES IB RECEIVE(0, 0, 3, "") RECEIVE(1, 2, 1, ""), .wanted = "fault no-gdr"},
        {.log = TWO_NODES IB RECEIVE(0, 0, 3, "/GDRDMA") RECEIVE(1, 2, 1, ""),
         .wanted = "warning partial-gdr"},
        {.log = TWO_NODES IB RECEIVE(0, 0, 3, "(1)/GDRDMA") RECEIVE(1, 2, 1, "/GDRDMA(PCI)"),
         .wanted = ""},
        {.log = TWO_NODES IB RECEIVE(0, 0, 3, "/GDRDMA/Shared"), .wanted = ""},
        {.log = L(0, 0, "Ring 00 : 7 -> 8 [send] via NET/IB/0"), .wanted = "fault no-gdr"},
        /* Sends without, receives with: a choice on old GPUs. */
        {.log = TWO_NODES IB RECEIVE(0, 0, 3, "/GDRDMA") RECEIVE(1, 2, 1, "/GDRDMA")
             L(0, 1, "Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0"),
         .wanted = "note gdr-sends"},
        {.log = ONE_NODE L(0, 0, "Connected all rings, use ring PXN 0 GDR 1"), .wanted = ""},
        {.log = ONE_NODE L(0, 0, "Connected all rings, use ring PXN 0 GDR 0"), .wanted = ""},
        {.log = TWO_NODES IB L(0, 0, IB8) L(0, 0, "Connected all rings, use ring PXN 0 GDR 0"),
         .wanted = "fault no-gdr"},
        {.log = TWO_NODES IB L(0, 0, IB8)
             L(0, 0, "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)"),
         .wanted = "fault no-gdr",
         .in_proof = "kernel module is missing"},
        {.log =
             ONE_NODE L(0, 0, IB8) L(0, 0, "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"),
         .wanted = ""},
        {.log = TWO_NODES IB L(0, 0, "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'"),
         .wanted = ""},
        {.log = TWO_NODES IB L(0, 0, "NCCL_NET_GDR_LEVEL set by environment to LOC")
             RECEIVE(0, 0, 3, ""),
         .wanted = "fault no-gdr, warning setting",
         .in_proof = "Cause: NCCL_NET_GDR_LEVEL"},
        {.log = TWO_NODES IB L(0, 0, "GPU Direct RDMA Disabled for GPU 0 / HCA 1 (distance 8 > 4)"),
         .wanted = "warning gdr-too-far"},
        {.log = TWO_NODES IB L(0, 0, "NCCL_NET_GDR_LEVEL set by environment to PIX")
             L(0, 0, "GPU Direct RDMA Disabled for GPU 0 / HCA 1 (distance 8 > 4)"),
         .wanted = "warning gdr-too-far",
         .in_proof = "NCCL_NET_GDR_LEVEL set by environment to PIX"},
        /* Another NIC is near enough. */
        {.log = TWO_NODES IB L(0, 0, "GPU Direct RDMA Disabled for GPU 0 / HCA 1 (distance 8 > 4)")
             L(0, 0,
               "GPU Direct RDMA Enabled for GPU 0 / HCA 0 (distance 4 <= 4), read 1 mode Default"),
         .wanted = ""},
        /* Plugins that do not say. */
        {.log = TWO_NODES L(0, 0, "Using network FasTrak")
             L(0, 0, "Channel 00/0 : 1[1] -> 2[0] [send] via NET/FasTrak/0"),
         .wanted = ""},
        {.log = TWO_NODES L(0, 0, "Using network AWS Libfabric")
             L(0, 0, "Channel 00/0 : 3[1] -> 0[0] [receive] via NET/AWS Libfabric/0/GDRDMA"),
         .wanted = ""},
    };
    RUN(cases);
}

static void test_nics(void **state)
{
    (void)state;
#define NIC(host, rank, to, nic)                                                                   \
    L(host, rank, "Channel 00/0 : " #rank "[0] -> " #to "[0] [send] via NET/IB/" #nic "/GDRDMA")
    static const doctor_case cases[] = {
        {.log = TWO_NODES L(0, 0, IB8) NIC(0, 0, 2, 0) NIC(0, 1, 3, 0),
         .wanted = "warning one-nic"},
        {.log = TWO_NODES L(0, 0, IB8) NIC(0, 0, 2, 0) NIC(0, 1, 3, 1), .wanted = ""},
        /* Half of the node's ranks are not in the log. */
        {.log = COMM(0, 0, 4, 2, 2) L(0, 0, IB8) NIC(0, 0, 2, 0), .wanted = ""},
        {.log = TWO_NODES L(0, 0, "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:1<0>")
             NIC(0, 0, 2, 0) NIC(0, 1, 3, 0),
         .wanted = ""},
        /* Two ports merged into one device. */
        {.log = TWO_NODES L(0, 0, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB e:1<0>")
             L(0, 0, "NET/IB : Made virtual device [2] name=mlx5_0+mlx5_1 speed=800000 ndevs=2")
                 NIC(0, 0, 2, 0) NIC(0, 1, 3, 0),
         .wanted = ""},
        {.log =
             TWO_NODES L(0, 0, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB e:1<0>"),
         .wanted = "warning nic-mixed-fabric"},
        {.log = TWO_NODES L(
             0, 0, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/RoCE [RO]; OOB e:1<0>")
             NIC(0, 0, 2, 0) NIC(0, 1, 3, 1),
         .wanted = "note nic-mixed-fabric"},
        {.log =
             TWO_NODES L(0, 0, "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB e:1<0>"),
         .wanted = ""},
        {.log =
             TWO_NODES L(0, 0, "NET/IB: [0] dev:mlx5_0:1/IB provider=Mlx5 speed=400000 pciPath=/x")
                 L(0, 0, "NET/IB: [1] dev:mlx5_1:1/IB provider=Mlx5 speed=100000 pciPath=/y")
                     NIC(0, 0, 2, 0) NIC(0, 1, 3, 1),
         .wanted = "warning nic-slow"},
        {.log =
             TWO_NODES L(0, 0, "NET/IB: [0] dev:mlx5_0:1/IB provider=Mlx5 speed=400000 pciPath=/x")
                 L(0, 0, "NET/IB: [1] dev:mlx5_1:1/IB provider=Mlx5 speed=100000 pciPath=/y")
                     NIC(0, 0, 2, 0) NIC(0, 1, 3, 0),
         .wanted = "note nic-slow"},
        {.log = TWO_NODES IB RING("NVL/SYS"), .wanted = "warning nic-across-numa"},
        {.log = ONE_NODE RING("NVL/SYS"), .wanted = ""},
        {.log = TWO_NODES IB RING("NVL/PHB"), .wanted = ""},
        /* NCCL 2.4 */
        {.log = TWO_NODES IB L(0, 0, "CUDA Dev 0[0], IB NIC distance :  SYS")
             L(0, 0, "Ring 00 : 3 -> 0 [receive] via NET/IB/0/GDRDMA"),
         .wanted = "warning nic-across-numa"},
        {.log = TWO_NODES IB L(0, 0, "CUDA Dev 0[0], IB NIC distance :  PIX SYS"), .wanted = ""},
        {.log = TWO_NODES IB L(0, 0, "IB8") L(
             0, 0,
             "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; O") "n0:1:2 [0] NCCL INFO comm "
                                                                     "0x1 rank 0 nranks 4 cudaDev "
                                                                     "0 nvmlDev 0 busId 1 - Init "
                                                                     "START\n" NIC(0, 0, 2, 1)
                                                                         NIC(0, 1, 3, 0),
         .topology = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
                     "GPU0\t X \tNV18\tPIX\tSYS\t0-1\t0\nGPU1\tNV18\t X \tSYS\tPIX\t2-3\t1\n"
                     "NIC0\tPIX\tSYS\t X \tSYS\nNIC1\tSYS\tPIX\tSYS\t X \n\nNIC Legend:\n\n"
                     "  NIC0: mlx5_0\n  NIC1: mlx5_1\n",
         .wanted = "warning nic-far-used",
         .in_proof = "uses mlx5_1:1 across"},
    };
    RUN(cases);
}

static void test_racks(void **state)
{
    (void)state;
#define FABRIC(state)                                                                              \
    L(0, 0, "MNNVL busId 0x1 fabric UUID 5f3a.81 cliqueId 0x7ffe state " #state " healthMask 0x0")
    static const doctor_case cases[] = {
        {.log = TWO_NODES FABRIC(3), .wanted = "fault mnnvl-absent"},
        {.log = ONE_NODE FABRIC(3), .wanted = ""},
        {.log = ONE_NODE FABRIC(2), .wanted = "fault fabric-state"},
        {.log = TWO_NODES L(0, 0,
                            "MNNVL busId 0x60 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0"),
         .wanted = ""},
        {.log = "#  Rank  1 Group  0 Pid  1 on  n0 device  0 [0008:01:00] NVIDIA GB200\n" TWO_NODES,
         .wanted = "fault mnnvl-absent"},
        {.log = TWO_NODES FABRIC(3) L(0, 0, "Channel 00/0 : 0[0] -> 2[0] via P2P/MNNVL"),
         .wanted = ""},
        {.log = TWO_NODES FABRIC(3) L(0, 0, "NCCL_MNNVL_ENABLE set by environment to 0."),
         .wanted = "fault mnnvl-absent, warning setting",
         .in_proof = "Cause: NCCL_MNNVL_ENABLE"},
    };
    RUN(cases);
}

static void test_failures(void **state)
{
    (void)state;
#define NCCL_IS(version) L(0, 0, "NCCL version " version "+cuda12.8")
#define AFFINITY(is, gpu, process)                                                                 \
    L(0, 0,                                                                                        \
      "ncclTopoGetCpuAffinity: Affinity for GPU 0 is " is ". (GPU affinity = " gpu                 \
      " ; CPU affinity = " process ").")
    static const doctor_case cases[] = {
        {.log = W(0, 0,
                  "NET/IB : Got completion from peer 10.0.0.2<1> with error 12, opcode 0, len 0, "
                  "vendor err 129"),
         .wanted = "fault link-error"},
        {.log = W(0, 0, "Call to ibv_modify_qp failed with error Network is unreachable"),
         .wanted = "fault link-error"},
        {.log = W(0, 0, "NET/IB : mlx5_0:1 Got async event : port error"),
         .wanted = "fault port-error"},
        {.log = W(0, 0, "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1000"),
         .wanted = "fault duplicate-gpu"},
        {.log = W(0, 0, "nvmlInit_v2() failed: Driver Not Loaded"),
         .wanted = "warning nvml-failed"},
        {.log = W(0, 0, "something new"), .wanted = "note warnings"},
        {.log =
             "n0:1:2 [0] transport/net_ib.cc:98 (ncclIbTest) NCCL WARN Got completion from peer x",
         .wanted = "fault link-error"},
        {.log = L(0, 0, "Setting affinity for GPU 0 to 01"), .wanted = "warning one-cpu"},
        {.log = L(0, 0, "Setting affinity for GPU 0 to ffff,00000000"), .wanted = ""},
        {.log = L(0, 0, "Setting affinity for GPU 0 to 0-31"), .wanted = ""},
        {.log = L(0, 0,
                  "ncclTopoGetCpuAffinity: Affinity for GPU 1 is empty, ignoring. (GPU affinity "
                  "=  ; CPU affinity = 0-31)."),
         .wanted = ""},
        {.log = L(0, 0,
                  "ncclTopoGetCpuAffinity: Affinity for GPU 1 is empty, ignoring. (GPU affinity "
                  "= 0-15 ; CPU affinity = 32-47)."),
         .wanted = "warning cpus-far"},
        /* Masks until 2.26, lists since. */
        {.log = L(0, 0, "Setting affinity for GPU 0 to 5"), .wanted = "warning one-cpu"},
        {.log = NCCL_IS("2.27.5") L(0, 0, "Setting affinity for GPU 0 to 11"),
         .wanted = "warning one-cpu"},
        {.log = NCCL_IS("2.26.2") L(0, 0, "Setting affinity for GPU 0 to 11"), .wanted = ""},
        {.log = L(0, 0, "Setting affinity for GPU 0 to 11"), .wanted = ""}, /* 11, or 0 and 4 */
        {.log = NCCL_IS("2.27.5") L(0, 0, "Setting affinity for GPU 0 to 0-15,32-47"),
         .wanted = ""},
        {.log = NCCL_IS("2.27.5") L(0, 0, "Setting affinity for GPU 0 to 3,99"), .wanted = ""},
        {.log = L(0, 0, "Setting affinity for GPU 0 to 01,00000000"), .wanted = "warning one-cpu"},
        {.log = NCCL_IS("2.28.9") AFFINITY("0-15,32-47", "0-31,32-63", "0-15,32-47"), .wanted = ""},
        {.log = NCCL_IS("2.28.9") AFFINITY("5", "0-15,32-47", "5"), .wanted = "warning one-cpu"},
        {.log = NCCL_IS("2.28.9") AFFINITY("empty, ignoring", "0-15,32-47", "16-31,48-63"),
         .wanted = "warning cpus-far"},
        {.log = NCCL_IS("2.28.9") AFFINITY("empty, ignoring", "0-15", "40"),
         .wanted = "warning one-cpu, warning cpus-far"},
        /* The matrix knows CPUs that NCCL does not. */
        {.log = NCCL_IS("2.28.9") AFFINITY("empty, ignoring", "", "16-31"),
         .topology = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-15,32-47\n"
                     "GPU1\tNV18\t X \t16-31\n",
         .wanted = "warning cpus-far",
         .in_proof = "0-15,32-47"},
        {.log = NCCL_IS("2.28.9") AFFINITY("empty, ignoring", "", "8-31"),
         .topology = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-15,32-47\n"
                     "GPU1\tNV18\t X \t16-31\n",
         .wanted = ""},
        /* One GPU for two ranks. */
        {.log = RANK_0("NVIDIA H200") "#  Rank  1 Group  0 Pid    625 on  n0 device  0 "
                                      "[0000:00:06] NVIDIA H200\n",
         .wanted = "fault duplicate-gpu",
         .in_proof = "Rank  1"},
        {.log = RANK_0("NVIDIA H200") "#  Rank  1 Group  0 Pid    625 on  n1 device  0 "
                                      "[0000:00:06] NVIDIA H200\n",
         .wanted = ""},
        {.log = RANK_0("NVIDIA A100 MIG 1g") "#  Rank  1 Group  0 Pid    625 on  n0 device  0 "
                                             "[0000:00:06] NVIDIA A100 MIG 1g\n",
         .wanted = ""},
        {.log = RANK_0("NVIDIA H200") RANK_0("NVIDIA H200"), .wanted = "fault one-rank"},
        {.log = RANK_0("NVIDIA H200"), .wanted = "note one-rank"},
        {.log = DEVICE("NVIDIA H200") DEVICE("NVIDIA H200"), .wanted = ""},
        {.log = "x:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 1 cudaDev 0 busId 1 - Init COMPLETE\n"
                "x:2:2 [0] NCCL INFO comm 0x2 rank 0 nranks 1 cudaDev 0 busId 1 - Init COMPLETE\n",
         .wanted = "fault one-rank"},
    };
    RUN(cases);
}

static void test_settings(void **state)
{
    (void)state;
    static const doctor_case cases[] = {
        {.log = L(0, 0, "NCCL_P2P_DISABLE set by environment to 1."), .wanted = "warning setting"},
        {.log = L(0, 0, "NCCL_P2P_DISABLE set by environment to 0."), .wanted = ""},
        {.log = COMM(0, 0, 2, 2, 1) COMM(1, 1, 2, 2, 1)
             L(0, 0, "NCCL_P2P_DISABLE set by environment to 1."),
         .wanted = "note setting"},
        {.log = L(0, 0, "NCCL_SHM_DISABLE set by environment to 1."), .wanted = "note setting"},
        {.log = L(0, 0, "NCCL_PROTO set by environment to LL"), .wanted = "warning setting"},
        {.log = L(0, 0, "NCCL_PROTO set by environment to LL,Simple"), .wanted = "note setting"},
        {.log = L(0, 0, "NCCL_MAX_NCHANNELS set by environment to 2."),
         .wanted = "warning setting"},
        {.log = L(0, 0, "NCCL_MAX_NCHANNELS set by environment to 32."), .wanted = "note setting"},
        {.log = L(0, 0, "NCCL_IB_HCA set to mlx5_2:1,mlx5_0:1"),
         .wanted = "note setting",
         .in_proof = "NCCL_IB_HCA=mlx5_2:1,mlx5_0:1"},
        {.log = L(0, 0, "NCCL_SOCKET_IFNAME set by environment to eth0"), .wanted = ""},
        {.log = L(0, 0, "NCCL_COMM_ID set by environment to 10.1.2.3:99"), .wanted = ""},
    };
    RUN(cases);
}

/* Prefixes, pieces glued together, lines cut in two. */
static void test_torn_lines(void **state)
{
    (void)state;
#define RANKS                                                                                      \
    "n0:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0"
    static const doctor_case cases[] = {
        {.log =
             "[1,0]<stdout>:n0:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n",
         .wanted = "warning shm-fallback"},
        {.log = " 0: n0:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct\n",
         .wanted = "warning shm-fallback"},
        {.log = "2026-11-30T01:02:03.4Z pod-a n0:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via "
                "SHM/x\n",
         .wanted = "warning shm-fallback"},
        {.log = "[2026-11-30 02:26:33] n0:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/x\n",
         .wanted = "warning shm-fallback"},
        {.log = "\x1b[32mn0:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct\x1b[0m\r\n",
         .wanted = "warning shm-fallback"},
        /* A time glued to the host makes no host of its own; nor does a name in brackets. */
        {.log =
             "2025-05-16T16:39:51.208-07:00n0:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev "
             "0 busId 1000 - Init START\n"
             "2025-05-16T16:39:52Zn0:2:3 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 busId "
             "2000 - Init START\n"
             "2025-05-16T16:39:53.208-07:00n0:1:2 [0] NCCL INFO Using network Socket\n",
         .wanted = ""},
        {.log = "<host>:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 1 cudaDev 0 busId 1 - Init START\n"
                "<host>:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1 - Init START\n"
                "<host>:2:3 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 busId 2 - Init START\n"
                "<host>:1:2 [0] NCCL INFO Using network Socket\n",
         .wanted = ""},
        /* Wrapped into JSON by a container, escaped by a web page. */
        {.log = "{\"log\":\"n0:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1\\n\","
                "\"stream\":\"stdout\"}\n"
                "{\"log\":\"n0:1:2 [0] NCCL INFO Channel 00 : 0[0] -\\u003e 1[1] via "
                "SHM/direct\\n\",\"stream\":\"stdout\"}\n",
         .wanted = "fault shm-fallback, warning setting",
         .in_proof = "Cause: NCCL_P2P_DISABLE=1"},
        {.log = "n0:1:2 [0] NCCL INFO Channel 00 : 0[0] -&gt; 1[1] via SHM/direct\n",
         .wanted = "warning shm-fallback"},
        {.log = RANKS "n1:1:2 [0] NCCL INFO Using network Socket\n" TWO_NODES,
         .wanted = "fault socket-between-nodes"},
        {.log = TWO_NODES
         "n0:1:2 [0] NCCL INFO Channel 00/0 : 3[1] -> 0[0] [receive] via NET/IB/0/GDRDMA"
         "n1:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/0/GDRDMA\n",
         .wanted = ""},
        {.log = TWO_NODES "n0:1:2 [0] NCCL INFO Channel 00/0 : 3[1] -> 0[0] [receive] via NE\n"
                          "T/IB/0/GDRDMA\n",
         .wanted = ""},
        {.log = "           8             2     float     sum      -1n0:1:2 [0] NCCL INFO Channel "
                "00 : "
                "0[0] -> 1[1] via SHM/direct\n",
         .wanted = "warning shm-fallback"},
    };
    RUN(cases);
}

/* ---- nvidia-smi ---- */

#define HEAD                                                                                       \
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA "          \
    "ID\x1b[0m\n"
#define ROWS                                                                                       \
    "GPU0\t X \tNV18\tNV18\tNV18\tPIX\tSYS\t0-51,104-155\t0\t\tN/A\n"                              \
    "GPU1\tNV18\t X \tNV18\tNV18\tPXB\tSYS\t0-51,104-155\t0\t\tN/A\n"                              \
    "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tPXB\t52-103\t1\t\tN/A\n"                                    \
    "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tPIX\t52-103\t1\t\tN/A\n"                                    \
    "NIC0\tPIX\tPXB\tSYS\tSYS\t X \tSYS\nNIC1\tSYS\tSYS\tPXB\tPIX\tSYS\t X \n"

#define FOUR_ROW(n, before, after) "GPU" #n "\t" before " X \t" after "0-7\t0\n"
#define FOUR_WITH(v)                                                                               \
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n" FOUR_ROW(                            \
        0, "", v "\t" v "\t" v "\t") FOUR_ROW(1, v "\t", v "\t" v "\t")                            \
        FOUR_ROW(2, v "\t" v "\t", v "\t") FOUR_ROW(3, v "\t" v "\t" v "\t", "")

static void test_topology_texts(void **state)
{
    (void)state;
    static const doctor_case cases[] = {
        {.topology = HEAD ROWS "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n",
         .wanted = ""},
        {.topology = ROWS, .wanted = ""}, /* the header got lost */
        {.topology = "GPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tNV12\tPIX\t0-7\n"
                     "GPU1\tNV12\t X \tSYS\t8-15\nmlx5_0\tPIX\tSYS\t X \n",
         .wanted = "note nic-across-numa"},
        {.topology = "     GPU0 GPU1 NIC0 NIC1 CPU Affinity\nGPU0 X NV12 SYS SYS 0-7\n"
                     "GPU1 NV12 X PIX PIX 8-15\n",
         .wanted = "warning nic-across-numa"},
        /* Glued cells. */
        {.topology = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tNV12\tPXBNODE\t0-7\n"
                     "GPU1\tNV12\t X \tSYSSYS\t8-15\n",
         .wanted = "warning nic-across-numa"},
        {.topology =
             "\tGPU0\tGPU1\tNIC0\tNIC1\nGPU0\t X \tNV12\tNODE\tNODE\nGPU1\tNV12\t X \tNODE\tNODE\n",
         .wanted = ""},
        {.topology = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV12\tPIX\nGPU1\tNV12\t X \tNODE\n",
         .wanted = "note nic-uneven"},
        {.topology = "> \tGPU0\tGPU1\tGPU2\n> GPU0\t X \tNV18\tNV18\n> GPU1\tNV18\t X \tNV6\n"
                     "> GPU2\tNV18\tNV6\t X \n",
         .wanted = "fault nvlink-unequal"},
        {.topology = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV2\t X \n",
         .wanted = "fault nvlink-asymmetric"},
        /* Cubes of single links and pairs of bridges differ by design. */
        {.topology =
             "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV1\tNV1\nGPU1\tNV1\t X \tNV2\nGPU2\tNV1\tNV2\t X \n",
         .wanted = ""},
        {.topology =
             "\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tNV4\tPXB\tPXB\nGPU1\tNV4\t X \tPXB\tPXB\n"
             "GPU2\tPXB\tPXB\t X \tNV4\nGPU3\tPXB\tPXB\tNV4\t X \n",
         .wanted = ""},
        {.topology =
             "\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tNV18\tNV18\tPHB\nGPU1\tNV18\t X \tNV18\tPHB\n"
             "GPU2\tNV18\tNV18\t X \tPHB\nGPU3\tPHB\tPHB\tPHB\t X \n",
         .wanted = "fault nvlink-unequal",
         .in_proof = "GPU3"},
        /* All alike, and fewer than the model has; boards of four without a switch have a third. */
        {.topology = FOUR_WITH("NV9"),
         .log = DEVICE("NVIDIA H200"),
         .wanted = "fault nvlink-missing",
         .in_proof = "has NV9; NVIDIA H200 has 18"},
        {.topology = FOUR_WITH("NV18"), .log = DEVICE("NVIDIA H200"), .wanted = ""},
        {.topology =
             "\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tNV6\tNV6\tNV6\nGPU1\tNV6\t X \tNV6\tNV6\n"
             "GPU2\tNV6\tNV6\t X \tNV6\nGPU3\tNV6\tNV6\tNV6\t X \n",
         .log = DEVICE("NVIDIA H100 80GB HBM3"),
         .wanted = ""},
        /* Words in the place of cells. */
        {.topology = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tabc\tPIX\t0-7\n"
                     "GPU1\tNV18\t X \tPIX\t0-7\n",
         .wanted = "warning unreadable",
         .in_proof = "'abc' stands"},
        {.topology = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-7 <- this one\n"
                     "GPU1\tNV18\t X \t0-7\n",
         .wanted = ""},
        {.topology = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV18\tN/A\tN/A\n"
                     "GPU1\tNV18\t X \tN/A\tN/A\n",
         .wanted = ""},
        /* topo -mp: absence of NV# means nothing. */
        {.topology = "\tGPU0\tGPU1\nGPU0\t X \tPXB\nGPU1\tPXB\t X \n", .wanted = ""},
        {.topology = "\tGPU0\tGPU1\nGPU0\t X \tPXB\nGPU1\tPXB\t X \n",
         .nvlink = "GPU 0: NVIDIA H200 (UUID: GPU-0)\n\t Link 0: 26.562 GB/s\n",
         .wanted = "fault nvlink-missing, note topology-without-nvlink"},
        {.topology = "node1: \tGPU0\tCPU Affinity\nnode1: GPU0\t X \t0-31\n", .wanted = ""},
    };
    RUN(cases);
}

/* What one host does says nothing of the others. */
static void test_hosts(void **state)
{
    (void)state;
#define GRAPH(host, rank, type)                                                                    \
    L(host, rank,                                                                                  \
      "Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type " type ", sameChannels 1")
#define IB_ON(host, rank)     L(host, rank, "Using network IB")
#define SOCKET_ON(host, rank) L(host, rank, "Using network Socket")
#define SHM_ON(host, from, to)                                                                     \
    L(host, from, "Channel 00 : " #from "[0] -> " #to "[1] via SHM/direct/direct")
#define P2P(host, rank, is) L(host, rank, "NCCL_P2P_DISABLE set by environment to " is)
    static const doctor_case cases[] = {
        /* One host falls back to sockets. */
        {.log = TWO_NODES IB_ON(0, 0) IB_ON(0, 1) SOCKET_ON(1, 2) SOCKET_ON(1, 3),
         .wanted = "fault socket-between-nodes",
         .in_proof = "n1 talks through TCP sockets, where other hosts do not"},
        {.log = TWO_NODES IB_ON(0, 0) IB_ON(1, 2), .wanted = ""},
        /* … in a run of its own on one node, beside the job. */
        {.log = TWO_NODES IB_ON(0, 0) IB_ON(1, 2) COMM(2, 0, 2, 1, 2) SOCKET_ON(2, 0),
         .wanted = ""},
        {.log = TWO_NODES IB_ON(0, 0) L(1, 2, "NET/IB : No device found.") SOCKET_ON(1, 2)
             L(0, 0, IB8),
         .wanted = "fault socket-between-nodes, warning ib-not-found",
         .in_proof = "no RDMA device on n1; other hosts have some"},
        /* Both on sockets; one of them has no device, and the other hides nothing. */
        {.log = TWO_NODES L(0, 0, IB8) SOCKET_ON(0, 0) L(1, 2, "NET/IB : No device found.")
             SOCKET_ON(1, 2) L(1, 2, "Channel 00/0 : 1[1] -> 2[0] [receive] via NET/Socket/0"),
         .wanted = "fault socket-between-nodes, warning ib-not-found",
         .in_proof = "no RDMA device on n1"},
        {.log = TWO_NODES GRAPH(0, 0, "NVL/PXB") GRAPH(1, 2, "PHB/PXB"),
         .wanted = "fault pcie-instead-of-nvlink",
         .in_proof = "joins the GPUs of n1 by PCIe, those of other hosts by NVLink"},
        {.log = TWO_NODES GRAPH(0, 0, "NVL/PXB") GRAPH(1, 2, "NVL/PXB") GRAPH(1, 2, "PHB/PXB"),
         .wanted = ""},
        {.log = TWO_NODES L(0, 0, "NVLS multicast support is available on dev 0")
             L(1, 2, "NVLS multicast support is not available on dev 0"),
         .wanted = "warning nvls-unavailable",
         .in_proof = "not on n1"},
        {.log = TWO_NODES IB_ON(0, 0)
             L(0, 0, "GPU Direct RDMA Enabled for GPU 0 / HCA 0 (distance 4 <= 4), read 1")
                 L(1, 2, "GPU Direct RDMA Disabled for GPU 2 / HCA 0 (distance 8 > 4)"),
         .wanted = "warning gdr-too-far",
         .in_proof = "GPU 2 / HCA 0"},
        /* The lists of NICs. */
        {.log = TWO_NODES L(0, 0, IB8) L(
             1, 2, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [RO]; OOB e:1<0>"),
         .wanted = "warning nics-differ",
         .in_proof = "NCCL lists 3 NICs on n1 and 4 on n0"},
        {.log = TWO_NODES L(0, 0, IB8) L(1, 2, IB8), .wanted = ""},
        {.log = TWO_NODES L(0, 0, IB8) L(1, 2, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5"),
         .wanted = ""}, /* torn */
        {.log =
             TWO_NODES L(0, 0, IB8) L(1, 2, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5") L(1, 3, IB8),
         .wanted = ""},
        /* The setting of the host where it happens is the cause. */
        {.log = TWO_NODES P2P(0, 0, "0") P2P(1, 2, "1") SHM_ON(1, 2, 3),
         .wanted = "fault shm-fallback, warning setting",
         .in_proof = "Cause: NCCL_P2P_DISABLE=1 is set"},
        {.log = TWO_NODES P2P(0, 0, "1") P2P(1, 2, "0") SHM_ON(1, 2, 3),
         .wanted = "warning shm-fallback, warning setting"},
        /* It receives; that others send says nothing. */
        {.log = TWO_NODES IB RECEIVE(0, 0, 3, "/GDRDMA") RECEIVE(1, 2, 1, "")
             L(0, 1, "Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0/GDRDMA"),
         .wanted = "warning partial-gdr",
         .in_proof = "1 of 2 ranks that receive"},
        /* Groups of two sizes: hosts tell. */
        {.log = TWO_NODES COMM(0, 0, 2, 2, 1) COMM(1, 1, 2, 2, 1) IB RECEIVE(0, 0, 1, "/GDRDMA")
             RECEIVE(1, 1, 0, ""),
         .wanted = "warning partial-gdr",
         .in_proof = "1 of 2 hosts receive without"},
        /* Versions. */
        {.log = L(0, 0, "NCCL version 2.23.4+cuda12.4") L(1, 2, "NCCL version 2.21.5+cuda12.4"),
         .wanted = "warning versions-differ",
         .in_proof = "n0 runs NCCL 2.23.4, n1 runs 2.21.5"},
        {.log = L(0, 0, "NCCL version 2.23.4+cuda12.4") L(1, 2, "NCCL version 2.23.4+cuda12.4"),
         .wanted = ""},
        {.log = L(0, 0, "NCCL version 2.23.4+cuda12.4") L(0, 0, "NCCL version 2.21.5+cuda12.4"),
         .wanted = ""}, /* two runs */
        {.log = "NCCL version 2.20.5+cuda12.4\nNCCL version 2.18.3+cuda12.4\n",
         .wanted = "note versions-differ"},
        {.log = L(0, 0, "cudaDriverVersion 12040") L(1, 2, "cudaDriverVersion 12020"),
         .wanted = "warning drivers-differ"},
        {.log = L(0, 0, "cudaDriverVersion 12040") L(1, 2, "cudaDriverVersion 12040"),
         .wanted = ""},
    };
    RUN(cases);
}

/* What ends a job, in NCCL's words, CUDA's and the kernel's. */
static void test_broken(void **state)
{
    (void)state;
#define XID(number)                                                                                \
    "[Tue Jul  2 03:11:12 2024] NVRM: Xid (PCI:0000:9d:00): " #number ", pid=1, name=python\n"
    static const doctor_case cases[] = {
        {.log = W(0, 0, "Cuda failure 'uncorrectable NVLink error detected during the execution'"),
         .wanted = "fault gpu-error"},
        {.log = W(0, 0, "Cuda failure 'uncorrectable ECC error encountered'"),
         .wanted = "fault gpu-error"},
        {.log = ONE_NODE "[rank3]: Cuda failure 'uncorrectable NVLink error detected during the "
                         "execution'\n",
         .wanted = "fault gpu-error"},
        {.log = ONE_NODE XID(79), .wanted = "fault gpu-error", .in_proof = "9d:00): 79"},
        {.log = XID(74), .wanted = "fault gpu-error"}, /* a kernel's log alone */
        {.log = ONE_NODE XID(31), .wanted = "note xid"},
        {.log = W(0, 0, "Cuda failure 'peer access is already enabled'"),
         .wanted = "note warnings"},
        {.log = ONE_NODE "uncorrectable ECC errors: 0\n", .wanted = ""},
        /* Events of NICs. */
        {.log = W(0, 0, "NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)"),
         .wanted = "fault port-error"},
        {.log = W(0, 0, "NET/IB : mlx5_3:1 async fatal event on QP 0x7f1: QP fatal event(1)"),
         .wanted = "fault port-error"},
        {.log = W(0, 0, "NET/IB : mlx5_3:1 async fatal event: local catastrophic error"),
         .wanted = "fault port-error"},
        {.log = L(0, 0, "NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)"),
         .wanted = "fault port-error"},
        {.log = W(0, 0, "NET/IB : mlx5_3:1 Got non-fatal async event: port active(9)"),
         .wanted = ""},
        {.log = W(0, 0, "NET/IB : mlx5_3:1 Got non-fatal async event: client reregistration(17)"),
         .wanted = ""},
        {.log = W(0, 0, "NET/IB : mlx5_3:1 Got async event : GID table change"), .wanted = ""},
        {.log = W(0, 0, "NET/IB : mlx5_3:1 Got non-fatal async event: something new(77)"),
         .wanted = "note warnings"},
        /* Locked memory. */
        {.log = W(0, 0, "Call to ibv_reg_mr failed with error Cannot allocate memory"),
         .wanted = "fault memlock"},
        {.log = W(0, 0, "Call to ibv_create_qp failed with error Cannot allocate memory errno 12"),
         .wanted = "fault memlock"},
        {.log = W(0, 0, "Call to ibv_reg_mr failed with error Bad address"),
         .wanted = "note warnings"},
        {.log = W(0, 0, "Cuda failure 'out of memory': Cannot allocate memory"),
         .wanted = "note warnings"},
        {.log = ONE_NODE "[rank3]:[E] [Rank 3] Watchdog caught collective operation timeout: "
                         "WorkNCCL(SeqNum=123, OpType=ALLREDUCE)\n",
         .wanted = "warning collective-timeout"},
        {.log = ONE_NODE "[rank3]:[I] ProcessGroupNCCL: Watchdog thread started\n", .wanted = ""},
    };
    RUN(cases);
}

static void test_pcie_links(void **state)
{
    (void)state;
#define FOUR_GPUS(a, b, c, d)                                                                      \
    L(0, 0, "=== System : maxBw 48.0 totalBw 48.0 ===")                                            \
    L(0, 0, "+ PCI[" a "] - GPU/0-10 (0)")                                                         \
    L(0, 0, "+ PCI[" b "] - GPU/0-20 (1)")                                                         \
    L(0, 0, "+ PCI[" c "] - GPU/0-30 (2)")                                                         \
    L(0, 0, "+ PCI[" d "] - GPU/0-40 (3)")                                                         \
    L(0, 0, "==========================================")
    static const doctor_case cases[] = {
        {.log = FOUR_GPUS("48.0", "48.0", "6.0", "48.0"),
         .wanted = "warning pcie-slow",
         .in_proof = "GPU 0-30 of n0 is on PCIe at 6 GB/s, its siblings at 48"},
        {.log = FOUR_GPUS("48.0", "48.0", "48.0", "48.0"), .wanted = ""},
        {.log = FOUR_GPUS("6.0", "6.0", "6.0", "6.0"), .wanted = ""},
        {.log = FOUR_GPUS("6.0", "6.0", "6.0", "48.0"), .wanted = ""}, /* built like that */
        {.xml = CPU(LINK("0000:01:00.0", "32.0") LINK("0000:02:00.0", "8.0")
                        LINK("0000:03:00.0", "32.0")),
         .wanted = "warning pcie-slow",
         .in_proof = "0000:02:00.0 is on PCIe at 8.0 GT/s"},
        {.xml = CPU(LINK("0000:01:00.0", "2.5") LINK("0000:02:00.0", "2.5")), .wanted = ""},
    };
    RUN(cases);
}

/* Two sockets without NVLink: NCCL itself takes host memory between them. */
static void test_two_sockets(void **state)
{
    (void)state;
#define ON_GPU(rank)                                                                               \
    L(0, rank,                                                                                     \
      "comm 0x1 rank " #rank " nranks 4 cudaDev " #rank " nvmlDev " #rank " busId 1 - Init START")
#define PAIR(from, to, via)                                                                        \
    L(0, from, "Channel 00 : " #from "[" #from "] -> " #to "[" #to "] via " via)
#define P2P_PAIRS  PAIR(0, 1, "P2P/CUMEM") PAIR(2, 3, "P2P/CUMEM")
#define SHM_PAIRS  PAIR(1, 2, "SHM/direct/direct") PAIR(3, 0, "SHM/direct/direct")
#define FOUR_CARDS ON_GPU(0) ON_GPU(1) P2P_PAIRS SHM_PAIRS ON_GPU(2) ON_GPU(3)
#define TWO_SOCKETS(across)                                                                        \
    "\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tNODE\tSYS\tSYS\nGPU1\tNODE\t X \t" across "\tSYS\n"      \
    "GPU2\tSYS\t" across "\t X \tNODE\nGPU3\tSYS\tSYS\tNODE\t X \n"
    static const doctor_case cases[] = {
        {.log = FOUR_CARDS,
         .topology = TWO_SOCKETS("SYS"),
         .wanted = "note shm-fallback, note gpu-across-numa",
         .in_proof = "NCCL's own choice"},
        {.log = FOUR_CARDS,
         .topology = TWO_SOCKETS("NODE"),
         .wanted = "warning shm-fallback, note gpu-across-numa"},
        {.log = FOUR_CARDS RING("SYS/PIX"),
         .wanted = "note shm-fallback, note pcie-instead-of-nvlink, note gpu-across-numa"},
        {.log = FOUR_CARDS, .wanted = "warning shm-fallback"}, /* nothing says where they sit */
        {.log = DEVICE("NVIDIA H200") FOUR_CARDS RING("SYS/PIX"),
         .wanted = "fault shm-fallback, fault pcie-instead-of-nvlink, warning gpu-across-numa"},
    };
    RUN(cases);
}

static void test_p2p_texts(void **state)
{
    (void)state;
    static const doctor_case cases[] = {
        {.p2p = " \t\x1b[4mGPU0\tGPU1\t\x1b[0m\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n\nLegend:\n\n  X   "
                " = Self\n"
                "  OK   = Status Ok\n  CNS  = Chipset not supported\n",
         .wanted = ""},
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tCNS\n GPU1\tCNS\tX\n",
         .wanted = "warning p2p-unsupported"},
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tGNS\n GPU1\tGNS\tX\n",
         .wanted = "warning p2p-unsupported"},
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tTNS\n GPU1\tTNS\tX\n",
         .wanted = "warning p2p-unsupported"},
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tDR\n GPU1\tDR\tX\n", .wanted = "warning p2p-unsupported"},
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tNS\n GPU1\tNS\tX\n", .wanted = "note p2p-unclear"},
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tU\n GPU1\tU\tX\n", .wanted = "note p2p-unclear"},
        /* One pair among many that can. */
        {.p2p = " \tGPU0\tGPU1\tGPU2\n GPU0\tX\tOK\tOK\n GPU1\tOK\tX\tNS\n GPU2\tOK\tNS\tX\n",
         .wanted = "warning p2p-unclear",
         .in_proof = "Some pairs"},
        /* Bridges, as -p2p n shows them. */
        {.p2p = " \tGPU0\tGPU1\tGPU2\tGPU3\n GPU0\tX\tOK\tNS\tNS\n GPU1\tOK\tX\tNS\tNS\n"
                " GPU2\tNS\tNS\tX\tOK\n GPU3\tNS\tNS\tOK\tX\n",
         .wanted = "note p2p-unclear"},
        {.p2p = " \tGPU0\tGPU1\tGPU2\n GPU0\tX\tOK\tNS\n GPU1\tOK\tX\tNS\n GPU2\tNS\tNS\tX\n",
         .wanted = "note p2p-unclear"},
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tCNS\n GPU1\tCNS\tX\n",
         .topology = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n",
         .wanted = "fault p2p-unsupported"},
        /* PIX does not prove peer-to-peer, nor does its lack disprove anything. */
        {.p2p = " \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n",
         .topology = "\tGPU0\tGPU1\nGPU0\t X \tPIX\nGPU1\tPIX\t X \n",
         .wanted = ""},
    };
    RUN(cases);
}

static void test_nvlink_texts(void **state)
{
    (void)state;
#define GPU(index, name) "GPU " #index ": " name " (UUID: GPU-1-2)\n"
#define FOUR             "\t Link 0: 25 GB/s\n\t Link 1: 25 GB/s\n\t Link 2: 25 GB/s\n\t Link 3: 25 GB/s\n"
#define THREE            "\t Link 0: 25 GB/s\n\t Link 1: 25 GB/s\n\t Link 2: 25 GB/s\n\t Link 3: <inactive>\n"
#define NONE             "\t Link 0: <inactive>\n\t Link 1: <inactive>\n"
#define SIX(a, b, c, d, e, f, v)                                                                   \
    "\t Link " #a ": " v "\n\t Link " #b ": " v "\n\t Link " #c ": " v "\n\t Link " #d ": " v      \
    "\n\t Link " #e ": " v "\n\t Link " #f ": " v "\n"
#define EIGHTEEN(v)                                                                                \
    SIX(0, 1, 2, 3, 4, 5, v) SIX(6, 7, 8, 9, 10, 11, v) SIX(12, 13, 14, 15, 16, 17, v)
    static const doctor_case cases[] = {
        {.nvlink = GPU(0, "X") FOUR GPU(1, "X") FOUR, .wanted = ""},
        {.nvlink = GPU(0, "X") FOUR GPU(1, "X") THREE,
         .wanted = "fault nvlink-missing",
         .in_proof = "Link 3: <inactive>"},
        {.nvlink = GPU(4, "X") THREE GPU(5, "X") THREE, .wanted = "note nvlink-inactive"},
        {.nvlink = GPU(0, "NVIDIA A100 80GB PCIe") NONE, .wanted = "note nvlink-inactive"},
        {.nvlink = GPU(0, "NVIDIA A100 80GB PCIe") "NVML: Unable to retrieve NVLink information as "
                                                   "all links are inActive\n",
         .wanted = ""},
        {.nvlink = GPU(0, "NVIDIA H200") "NVML: Unable to retrieve NVLink information as all links "
                                         "are inActive\n",
         .wanted = "fault nvlink-missing"},
        {.nvlink = "", .wanted = ""},
        /* All links of a known model at half of their speed. */
        {.nvlink = GPU(0, "NVIDIA H200") EIGHTEEN("13.281 GB/s") GPU(1, "NVIDIA H200")
             EIGHTEEN("13.281 GB/s"),
         .wanted = "fault nvlink-slow, fault nvlink-slow",
         .in_proof = "its links at 13.28 GB/s; this model runs them at 25"},
        {.nvlink = GPU(0, "NVIDIA H200") EIGHTEEN("26.562 GB/s"), .wanted = ""},
        {.nvlink = GPU(0, "NVIDIA B200") EIGHTEEN("50 GB/s"), .wanted = ""},
        {.nvlink = GPU(0, "NVIDIA B200") EIGHTEEN("26.562 GB/s"), .wanted = "fault nvlink-slow"},
        {.nvlink = GPU(0, "X") FOUR "\t Link 4: abc\n",
         .wanted = "warning unreadable",
         .in_proof = "Link 4: abc"},
        {.nvlink = GPU(0, "X") FOUR "\t Link 0: P2P is supported: true\n", .wanted = ""},
        {.nvlink = GPU(0, "X") "\t Link 0: 25 GB/s\n\t Link 1: 12.5 GB/s\n",
         .wanted = "fault nvlink-slow"},
        {.nvlink = GPU(0, "X") "\t Link 0: 26.562 GB/s\n\t Link 1: 25 GB/s\n",
         .wanted = "fault nvlink-slow"},
        {.nvlink = GPU(0, "NVIDIA L40S") GPU(1, "NVIDIA L40S"), .wanted = ""}, /* it has none */
        {.nvlink = GPU(0, "V100") "    Link 0: 25.781 GB/s\n    Link 1: 25.781 GB/s\n",
         .wanted = ""},
        /* Counters are no speeds. */
        {.nvlink = GPU(0, "X") "\t Link 0: Replay Errors: 0\n\t Link 0: Recovery Errors: 0\n"
                               "\t Link 0: CRC Errors: 0\n",
         .wanted = ""},
        {.nvlink = GPU(0, "X") "\t Link 0: Replay Errors: 7\n\t Link 0: CRC Errors: 0\n",
         .wanted = "fault nvlink-errors"},
        {.nvlink =
             GPU(0, "X") "\t Link 0: Symbol Errors: 70000\n\t Link 0: Effective BER: 15e-255\n",
         .wanted = ""},
    };
    RUN(cases);
}

static void test_xml(void **state)
{
    (void)state;
#define PCI(bus, width, inner)                                                                     \
    "<pci busid=\"" bus "\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"" width  \
    "\">" inner "</pci>"
#define SWITCHED(dev, count)                                                                       \
    "<gpu dev=\"" dev                                                                              \
    "\" sm=\"90\" rank=\"0\" gdr=\"1\"><nvlink target=\"f:f:f.0\" count=\"" count                  \
    "\" tclass=\"0x068000\"/></gpu>"
#define MLX(name, gdr)                                                                             \
    "<nic><net name=\"" name "\" dev=\"0\" speed=\"400000\" guid=\"0xa088c2\" gdr=\"" gdr          \
    "\"/></nic>"
    static const doctor_case cases[] = {
        {.xml = CPU(PCI("0000:01:00.0", "16", SWITCHED("0", "18"))
                        PCI("0000:02:00.0", "16", SWITCHED("1", "18")) MLX("mlx5_0", "1")),
         .wanted = ""},
        {.xml = CPU(PCI("0000:01:00.0", "16", SWITCHED("0", "18"))
                        PCI("0000:02:00.0", "16", SWITCHED("1", "12"))),
         .wanted = "fault nvlink-unequal"},
        {.xml = CPU(PCI("0000:01:00.0", "16", SWITCHED("0", "18"))
                        PCI("0000:02:00.0", "16", "<gpu dev=\"1\" sm=\"90\"/>")),
         .wanted = "fault nvlink-unequal"},
        {.xml = CPU(PCI("0000:01:00.0", "16",
                        "<gpu dev=\"0\"><nvlink target=\"0000:02:00.0\" count=\"4\" "
                        "tclass=\"0x030200\"/></gpu>")
                        PCI("0000:02:00.0", "16",
                            "<gpu dev=\"1\"><nvlink target=\"0000:01:00.0\" count=\"2\" "
                            "tclass=\"0x030200\"/></gpu>")),
         .wanted = "fault nvlink-unequal"},
        {.xml = CPU(PCI("0000:01:00.0", "8", SWITCHED("0", "18"))),
         .wanted = "warning pcie-narrow"},
        {.xml = CPU(PCI("0000:01:00.0", "0", SWITCHED("0", "18"))), .wanted = ""},
        {.xml = CPU(MLX("mlx5_0", "0") MLX("mlx5_1", "0")), .wanted = "warning no-gdr"},
        {.xml = CPU(MLX("mlx5_0", "0") MLX("mlx5_1", "1")), .wanted = ""},
        {.xml = CPU("<nic><net name=\"eth0\" dev=\"0\" guid=\"0x0\" gdr=\"0\"/></nic>"),
         .wanted = ""},
        {.xml = "<system version=\"1\"><cpu numaid=\"0\">" PCI(
             "0000:01:00.0", "16", SWITCHED("0", "18")) "</cpu><cpu numaid=\"1\">" MLX("mlx5_0",
                                                                                       "1")
             MLX("mlx5_1", "1") "</cpu></system>",
         .wanted = "warning nic-across-numa"},
        /* Only CPUs and their tree. */
        {.xml = "<system version=\"1\"><!-- a --><cpu numaid=\"0\" affinity=\"ff\"><pci "
                "busid=\"a\"/></cpu></system>",
         .wanted = ""},
        {.xml = CPU(PCI("0000:01:00.0", "16", SWITCHED("0", "18"))),
         .log = "n0:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 - "
                "Init START\n",
         .wanted = ""},
        {.xml = CPU(PCI("0000:01:00.0", "16", SWITCHED("0", "18"))),
         .log = "n0:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 9d000 - "
                "Init START\n",
         .wanted = "warning stale-topology"},
        /* All alike, and fewer than the model has. */
        {.xml = CPU(PCI("0000:01:00.0", "16", SWITCHED("0", "9"))
                        PCI("0000:02:00.0", "16", SWITCHED("1", "9"))),
         .log = DEVICE("NVIDIA H200"),
         .wanted = "fault nvlink-missing"},
        {.xml = CPU(PCI("0000:01:00.0", "16", SWITCHED("0", "12"))),
         .topology = "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n",
         .wanted = "warning stale-topology"},
    };
    RUN(cases);
}

static void test_bad_texts(void **state)
{
    (void)state;
#define A_MATRIX "\tGPU0\tGPU1\nGPU0\t X \tPIX\nGPU1\tPIX\t X \n"
#define A_P2P    " \tGPU0\tGPU1\n GPU0\tX\tCNS\n GPU1\tCNS\tX\n"
    static const struct {
        gl_source source;
        const char *text, *words;
    } cases[] = {
        {GL_SOURCE_TOPOLOGY, "hello\n", "topo -m"},
        {GL_SOURCE_TOPOLOGY, "", "topo -m"},
        /* One of the others: it says which, and what takes it. */
        {GL_SOURCE_TOPOLOGY, A_P2P,
         "topo -p2p, which --p2p takes; wanted: the output of "
         "nvidia-smi topo -m"},
        {GL_SOURCE_P2P, A_MATRIX, "topo -m, which --topo takes"},
        {GL_SOURCE_NVLINK, A_MATRIX, "topo -m, which --topo takes"},
        {GL_SOURCE_LOG, A_P2P, "topo -p2p, which --p2p takes"},
        {GL_SOURCE_XML, A_MATRIX, "topo -m, which --topo takes"},
        {GL_SOURCE_TOPOLOGY, "GPU 0: NVIDIA L4 (UUID: GPU-1)\n", "nvlink -s, which --nvlink takes"},
        {GL_SOURCE_P2P, "<system version=\"1\"/>", "XML of NCCL, which --xml takes"},
        {GL_SOURCE_TOPOLOGY, L(0, 0, "Using network IB"), "NCCL_DEBUG=INFO, which --log takes"},
        {GL_SOURCE_NVLINK, L(0, 0, "Using network IB"), "NCCL_DEBUG=INFO, which --log takes"},
        {GL_SOURCE_P2P, "GPU0 is fine\n", "topo -p2p"},
        {GL_SOURCE_NVLINK, "hello\n", "nvlink -s"},
        {GL_SOURCE_LOG, "hello\n", "NCCL_DEBUG=INFO"},
        /* nvidia-smi -L and -q; other programs; no texts. */
        {GL_SOURCE_UNKNOWN, "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n",
         "as nvidia-smi -L does"},
        {GL_SOURCE_NVLINK, "GPU 0: NVIDIA H200 (UUID: GPU-1)\n", "as nvidia-smi -L does"},
        {GL_SOURCE_UNKNOWN,
         "====NVSMI LOG====\nAttached GPUs : 1\nGPU 00000000:1B:00.0\n    Product Name : X\n",
         "output of nvidia-smi -q"},
        {GL_SOURCE_NVLINK, "GPU 00000000:1B:00.0\n    Product Name : X\n", "nvlink -s"},
        {GL_SOURCE_UNKNOWN, "CA 'mlx5_0'\n\tCA type: MT4129\n", "output of ibstat"},
        {GL_SOURCE_UNKNOWN, "hca_id:\tmlx5_0\n", "output of ibv_devinfo"},
        {GL_SOURCE_UNKNOWN, "\t\tLnkSta:\tSpeed 8GT/s\n", "output of lspci"},
        {GL_SOURCE_UNKNOWN, "hello\n", "none of the texts"},
        {GL_SOURCE_UNKNOWN, "", "the file is empty"},
        {GL_SOURCE_UNKNOWN, "\x1f\x8b\x08 abc", "compressed by gzip"},
        {GL_SOURCE_LOG, "\x1f\x8b\x08 abc", "compressed by gzip"},
        {GL_SOURCE_LOG, "\xff\xfen 0 ", "UTF-16"},
        {GL_SOURCE_TOPOLOGY, "\x28\xb5\x2f\xfd abc", "compressed by zstd"},
        {GL_SOURCE_LOG, "", "empty"},
        {GL_SOURCE_XML, "hello\n", "no XML"},
        {GL_SOURCE_XML, "<system><cpu>", "cut off"},
        {GL_SOURCE_XML, "<system></cpu></system>", "closed"},
        {GL_SOURCE_XML, "<graphs version=\"1\"/>", "graphs"},
        {GL_SOURCE_XML, "<html></html>", "another XML"},
        {GL_SOURCE_XML, "<system a=b/>", "no XML"},
        {GL_SOURCE_XML, "<system/><system/>", "behind the end"},
    };
    gl_expected none = {0};
    gl_error bad;
    if (!gl_expected_load(arena, &none, &bad))
        fail_msg("%s", bad.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gl_facts facts;
        gl_error err;
        gl_facts_begin(&facts, &none, arena);
        assert_false(gl_facts_read_text(&facts, cases[i].source, "x", cases[i].text,
                                        strlen(cases[i].text), &err));
        assert_int_equal(err.status, GL_ERROR_INPUT);
        if (strstr(err.message, cases[i].words) == NULL)
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.message, cases[i].words);
    }
    char deep[2000] = "<system>";
    for (int i = 0; i < 100; i++)
        strcat(deep, "<pci>");
    gl_facts facts;
    gl_facts_begin(&facts, &none, arena);
    assert_false(gl_facts_read_text(&facts, GL_SOURCE_XML, "x", deep, strlen(deep), NULL));
}

/* The texts of the pair that this project measured, three transports. */
static void test_measured(void **state)
{
    (void)state;
    const doctor_case cases[] = {
        {.log = read_fixture("debug_all_reduce_g2.txt"),
         .topology = read_fixture("../machine/topo-m.txt"),
         .p2p = read_fixture("../machine/topo-p2p.txt"),
         .nvlink = read_fixture("../machine/nvlink-s.txt"),
         .xml = read_fixture("../machine/topo.xml"),
         .wanted = "note setting"},
        {.log = read_fixture("debug_shm.txt"),
         .wanted = "fault shm-fallback, warning setting, note setting",
         .in_proof = "Cause: NCCL_P2P_DISABLE=1"},
        {.log = read_fixture("debug_sock.txt"),
         .wanted = "fault net-inside-node, warning setting, warning setting, note setting",
         .in_proof = "Cause: NCCL_SHM_DISABLE=1"},
        {.log = read_fixture("one_rank.txt"), .wanted = "note one-rank"},
        {.log = read_fixture("made_without_mpi.txt"), .wanted = "fault one-rank"},
        {.log = read_fixture("tuning_all_reduce.txt"), .wanted = ""},
    };
    RUN(cases);
}

/* Proofs say where they stand. */
static void test_proof(void **state)
{
    (void)state;
    const doctor_case c = {.log =
                               ONE_NODE "\n" L(0, 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct")};
    expected = (gl_expected){0};
    gl_findings all = diagnose(&c);
    assert_int_equal(all.count, 1);
    assert_string_equal(all.items[0].proofs[0].file, "nccl.log");
    assert_int_equal(all.items[0].proofs[0].line, 4);
    assert_string_equal(all.items[0].proofs[0].text,
                        "n0:10:20 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_host_memory),
        TEST(test_pcie_or_nvlink),
        TEST(test_weak_nvlink),
        TEST(test_nvls),
        TEST(test_virtual_machines),
        TEST(test_sockets),
        TEST(test_gpudirect),
        TEST(test_nics),
        TEST(test_racks),
        TEST(test_failures),
        TEST(test_settings),
        TEST(test_torn_lines),
        TEST(test_hosts),
        TEST(test_broken),
        TEST(test_pcie_links),
        TEST(test_two_sockets),
        TEST(test_p2p_texts),
        TEST(test_topology_texts),
        TEST(test_nvlink_texts),
        TEST(test_xml),
        TEST(test_bad_texts),
        TEST(test_measured),
        TEST(test_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
