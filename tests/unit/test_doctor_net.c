/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions about what is between nodes: sockets, GPUDirect RDMA, NICs, racks. */
#include "tests/doctor_support.h"

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
         "n0:1:2 [0] NCCL INFO comm 0x9 rank 0 nranks 2 cudaDev 0 busId 1 - Init COMPLETE\n" IB L(
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
        /* Torn by another writer: where the end is, is not known. */
        {.log = TWO_NODES IB RECEIVE(
             0, 0, 3,
             "/GDRDMA") "n1:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/0"
                        "n1:1:3 [1] NCCL INFO Channel 00/0 : 2[0] -> 3[1] via P2P/IPC\n/GDRDMA\n",
         .wanted = ""},
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
#define FOUR_NICS                                                                                  \
    "\tGPU0\tGPU1\tmlx5_0\tmlx5_1\tmlx5_2\tmlx5_3\n"                                               \
    "GPU0\t X \tNV18\tPIX\tPIX\tNODE\tNODE\n"                                                      \
    "GPU1\tNV18\t X \tNODE\tNODE\tPIX\tPIX\n"
#define NIC(host, rank, to, nic)                                                                   \
    L(host, rank, "Channel 00/0 : " #rank "[0] -> " #to "[0] [send] via NET/IB/" #nic "/GDRDMA")
    static const doctor_case cases[] = {
        {.log = TWO_NODES L(0, 0, IB8) NIC(0, 0, 2, 0) NIC(0, 1, 3, 0),
         .wanted = "warning one-nic"},
        {.log = TWO_NODES L(0, 0, IB8) NIC(0, 0, 2, 0) NIC(0, 1, 3, 1), .wanted = ""},
        /* Half of the NICs carry nothing, and there are ranks enough. */
        {.log = COMM(0, 0, 8, 2, 4) COMM(0, 1, 8, 2, 4) COMM(0, 2, 8, 2, 4) COMM(0, 3, 8, 2, 4)
             L(0, 0, IB8) NIC(0, 0, 4, 0) NIC(0, 1, 5, 1) NIC(0, 2, 6, 0) NIC(0, 3, 7, 1),
         .wanted = "warning nics-idle",
         .in_proof = "n0 uses 2 of the 4 NICs"},
        {.log = COMM(0, 0, 8, 2, 4) COMM(0, 1, 8, 2, 4) COMM(0, 2, 8, 2, 4) COMM(0, 3, 8, 2, 4)
             L(0, 0, IB8) NIC(0, 0, 4, 0) NIC(0, 1, 5, 1) NIC(0, 2, 6, 2) NIC(0, 3, 7, 1),
         .wanted = "note nics-idle"},
        /* What NCCL_IB_HCA leaves of the NICs that topo -m shows near GPUs. */
        {.log = TWO_NODES L(0, 0, "NCCL_IB_HCA set to =mlx5_1"),
         .topology = FOUR_NICS,
         .wanted = "warning nics-idle, note setting",
         .in_proof = "NCCL_IB_HCA leaves NCCL 1 of 4 NICs that are near GPUs; mlx5_0 is left out"},
        {.log = TWO_NODES L(0, 0, "NCCL_IB_HCA set to =mlx5_1"),
         .topology = FOUR_NICS,
         .wanted = "warning nics-idle, note setting",
         .in_proof = "NCCL_IB_HCA=\"=mlx5_1\" chooses"},
        {.log = TWO_NODES L(0, 0, "NCCL_IB_HCA set to ^mlx5_0,mlx5_2,mlx5_3"),
         .topology = FOUR_NICS,
         .wanted = "warning nics-idle, note setting"},
        {.log = TWO_NODES L(0, 0, "NCCL_IB_HCA set to mlx5"),
         .topology = FOUR_NICS,
         .wanted = "note setting"},
        {.log = TWO_NODES L(0, 0, "NCCL_IB_HCA set to mlx5_0:1,mlx5_1:1,mlx5_2:1"),
         .topology = FOUR_NICS,
         .wanted = "note setting"},
        {.log = ONE_NODE L(0, 0, "NCCL_IB_HCA set to mlx5_0"),
         .topology = FOUR_NICS,
         .wanted = "note setting"},
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
                                                                     "COMPLETE\n" NIC(0, 0, 2, 1)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sockets), TEST(test_gpudirect), TEST(test_nics),
        TEST(test_racks),   TEST(test_hosts),     TEST(test_pcie_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
