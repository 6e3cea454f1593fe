/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions about the inside of a node: host memory, NVLink, PCIe, virtual machines, NVLS. */
#include "tests/doctor_support.h"

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
        {.log = EIGHT CAPABLE L(0, 0, "NCCL_ALGO set by environment to Ring."),
         .wanted = "warning nvls-unused, note setting"},
        {.log = EIGHT CAPABLE L(0, 0, "NCCL_ALGO set by environment to ^NVLS,NVLSTree."),
         .wanted = "warning nvls-unused, note setting"},
        {.log = EIGHT CAPABLE L(0, 0, "NCCL_ALGO set by environment to ^Ring."),
         .wanted = "note setting"},
        {.log = EIGHT CAPABLE L(0, 0, "NCCL_ALGO set by environment to NVLS,Ring."),
         .wanted = "note setting"},
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

/* Two sockets without NVLink: NCCL itself takes host memory between them. */
static void test_two_sockets(void **state)
{
    (void)state;
#define ON_GPU(rank)                                                                               \
    L(0, rank,                                                                                     \
      "comm 0x1 rank " #rank " nranks 4 cudaDev " #rank " nvmlDev " #rank                          \
      " busId 1 - Init COMPLETE")
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_host_memory), TEST(test_pcie_or_nvlink),   TEST(test_weak_nvlink),
        TEST(test_nvls),        TEST(test_virtual_machines), TEST(test_two_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
