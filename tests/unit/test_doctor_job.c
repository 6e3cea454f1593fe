/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions about the job: how it was started, its settings, what failed; of lines that are torn,
 * none. */
#include "tests/doctor_support.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_failures),
        TEST(test_settings),
        TEST(test_torn_lines),
        TEST(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
