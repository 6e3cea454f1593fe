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
             "0 busId 1000 - Init COMPLETE\n"
             "2025-05-16T16:39:52Zn0:2:3 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 busId "
             "2000 - Init COMPLETE\n"
             "2025-05-16T16:39:53.208-07:00n0:1:2 [0] NCCL INFO Using network Socket\n",
         .wanted = ""},
        {.log =
             "<host>:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 1 cudaDev 0 busId 1 - Init START\n"
             "<host>:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1 - Init COMPLETE\n"
             "<host>:2:3 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 busId 2 - Init COMPLETE\n"
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
         .wanted = "warning registration-failed"},
        {.log = W(0, 0, "Cuda failure 'out of memory': Cannot allocate memory"),
         .wanted = "warning out-of-memory"},
        {.log = ONE_NODE "[rank3]:[E] [Rank 3] Watchdog caught collective operation timeout: "
                         "WorkNCCL(SeqNum=123, OpType=ALLREDUCE)\n",
         .wanted = "warning collective-timeout"},
        {.log = ONE_NODE "[rank3]:[I] ProcessGroupNCCL: Watchdog thread started\n", .wanted = ""},
    };
    RUN(cases);
}

/* Communicators whose init begins and does not end. */
static void test_init(void **state)
{
    (void)state;
#define START(host, rank, ranks)                                                                   \
    L(host, rank,                                                                                  \
      "ncclCommInitRank comm 0xa" #rank " rank " #rank " nranks " #ranks                           \
      " cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init START")
#define COMPLETE(host, rank, ranks)                                                                \
    L(host, rank,                                                                                  \
      "ncclCommInitRank comm 0xa" #rank " rank " #rank " nranks " #ranks                           \
      " cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init COMPLETE")
#define NETWORK(host, rank) L(host, rank, "Using network IB")
#define TREES(host, rank)   L(host, rank, "Trees [0] -1/-1/-1->" #rank "->0")
    static const doctor_case cases[] = {
        {.log = START(0, 0, 2) START(1, 1, 2) COMPLETE(0, 0, 2) COMPLETE(1, 1, 2), .wanted = ""},
        {.log = START(0, 0, 2) START(1, 1, 2),
         .wanted = "warning init-incomplete",
         .in_proof = "All 2 ranks started the init of a communicator, on n0, n1, and none"},
        {.log = START(0, 0, 4) START(0, 1, 4),
         .wanted = "warning init-incomplete",
         .in_proof = "Ranks 2-3 are not in the logs"},
        {.log = START(0, 0, 2) START(1, 1, 2) COMPLETE(0, 0, 2),
         .wanted = "warning init-incomplete",
         .in_proof = "1 of 2 ranks never completed the init of their communicator, on n1"},
        /* A rank alone in the log completed: all did. */
        {.log = START(0, 0, 16) COMPLETE(0, 0, 16), .wanted = ""},
        /* The file ends inside a line, or in the middle of what a rank has to say. */
        {.log = START(0, 0, 2) START(1, 1, 2) "n0:10:20 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[",
         .wanted = ""},
        {.log = START(0, 0, 2) START(1, 1, 2) COMPLETE(0, 0, 2) TREES(1, 1), .wanted = ""},
        /* … but not where a launcher has the last word. */
        {.log = START(0, 0, 2) START(1, 1, 2) COMPLETE(0, 0, 2)
             TREES(1, 1) "slurmstepd: error: *** STEP 1.0 ON n0 CANCELLED DUE TO TIME LIMIT ***\n",
         .wanted = "warning init-incomplete"},
        /* A line that two writers tore hides one; results say that all completed. */
        {.log = START(0, 0, 2) START(1, 1, 2) COMPLETE(0, 0, 2) "n1:11:21 [1] NCCL INFO commn0:10:"
                                                                "20 [0] NCCL INFO x\n",
         .wanted = ""},
        {.log = "# nThread 1 nGpus 1\n" START(0, 0, 2) START(1, 1, 2) "# Avg bus bandwidth : 3\n",
         .wanted = ""},
        /* The first of two runs in one file. */
        {.log = START(0, 0, 2) START(1, 1, 2) "# nThread 1 nGpus 1\n# Avg bus bandwidth : 3\n",
         .wanted = "warning init-incomplete"},
        /* Lines about ranks, where neither starts nor ends are logged. */
        {.log = TWO_NODES, .wanted = ""},
        /* Until 2.17 nothing is said when an init starts. */
        {.log = NCCL_IS("2.14.3") NETWORK(0, 0) NETWORK(1, 1) TREES(0, 0) TREES(1, 1),
         .wanted = "warning init-incomplete",
         .in_proof = "2 ranks began the init of a communicator on n0, n1"},
        {.log = NCCL_IS("2.10.3") NETWORK(0, 0) NETWORK(0, 1),
         .wanted = "warning init-incomplete",
         .in_proof = "2 processes began"},
        {.log = NCCL_IS("2.10.3") NETWORK(0, 0), .wanted = ""},
        {.log = NCCL_IS("2.10.3") NETWORK(0, 0) NETWORK(1, 1) TREES(0, 0) TREES(1, 1)
             L(0, 0, "comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1 - Init COMPLETE")
                 L(1, 1, "comm 0x2 rank 1 nranks 2 cudaDev 0 busId 1 - Init COMPLETE"),
         .wanted = ""},
        {.log = NCCL_IS("2.22.3") NETWORK(0, 0) NETWORK(1, 1), .wanted = ""},
    };
    RUN(cases);
}

/* NCCL's warnings by family, and by the part that warns. */
static void test_warnings(void **state)
{
    (void)state;
#define FROM(source, text) "n0:10:20 [0] " source ":9 NCCL WARN " text "\n"
    static const doctor_case cases[] = {
        {.log = FROM("transport/nvls.cc", "Cuda failure 1 'invalid argument'"),
         .wanted = "fault nvls-failed"},
        {.log = W(0, 0, "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152"),
         .wanted = "fault nvls-failed"},
        {.log = FROM("misc/shmutils.cc", "Error: failed to extend /dev/shm/nccl-x to 33030532 "
                                         "bytes, error: No space left on device (28)"),
         .wanted = "fault shm-full"},
        {.log = FROM("misc/shmutils.cc", "Error while attaching to shared memory segment "
                                         "/dev/shm/nccl-x, error: No such file or directory (2)"),
         .wanted = "fault shm-apart"},
        {.log = W(0, 0, "Bootstrap : no socket interface found"), .wanted = "fault no-interface"},
        {.log = W(0, 0,
                  "Mismatched NCCL version detected : rank 0 version 22403 rank 8 version "
                  "22602"),
         .wanted = "fault versions-differ"},
        {.log = W(0, 0, "socketStartConnect: Connect to 10.0.0.1<33> failed : No route to host"),
         .wanted = "warning peer-gone",
         .in_proof = "No way leads there"},
        {.log = W(0, 0, "Socket recv failed while polling for opId=0x7f"),
         .wanted = "warning peer-gone"},
        {.log = FROM("transport/p2p.cc", "Cuda failure 'invalid argument'"),
         .wanted = "warning p2p-failed"},
        {.log = W(0, 0,
                  "P2P is disabled between connected GPUs 1 and 0. You can repress this "
                  "message with NCCL_IGNORE_DISABLED_P2P=1."),
         .wanted = "warning p2p-failed"},
        {.log = W(0, 0, "Cuda failure 802 'system not yet initialized'"),
         .wanted = "fault fabric-manager"},
        {.log = W(0, 0, "nvmlInit_v2() failed: Driver/library version mismatch"),
         .wanted = "fault driver-mismatch"},
        {.log = W(0, 0, "Cuda failure 'invalid device ordinal'"), .wanted = "warning cuda-failed"},
        {.log = W(0, 0, "Message truncated : received 2048 bytes instead of 256"),
         .wanted = "warning calls-differ"},
        {.log = W(0, 0, "GIN: failed to register window"), .wanted = "warning registration-failed"},
        {.log = W(0, 0, "Attribute busid of node nic not found"),
         .wanted = "warning warnings",
         .in_proof = "by its words an error"},
        /* NCCL goes on without. */
        {.log = W(0, 0, "Could not find real path of /sys/class/pci_bus/0000:5d"),
         .wanted = "note warnings"},
        {.log = W(0, 0, "Could not find a path for pattern 4, falling back to simple order"),
         .wanted = "note warnings"},
    };
    RUN(cases);
}

/* Completions by their status, in each way of writing it. */
static void test_completions(void **state)
{
    (void)state;
#define COMPLETION(status) W(0, 0, "NET/IB : Got completion from peer 10.0.0.2<1> with " status)
    static const doctor_case cases[] = {
        {.log = COMPLETION("error 12, opcode 0, len 0, vendor err 129 (Recv)"),
         .wanted = "fault link-error",
         .in_proof = "retries exceeded"},
        {.log = COMPLETION("status=4 opcode=0 len=0 vendor err 81 (Send)"),
         .wanted = "fault link-error",
         .in_proof = "local protection"},
        {.log = COMPLETION("status=IBV_WC_RNR_RETRY_EXC_ERR(13) opcode=IBV_WC_SEND(0)"),
         .wanted = "fault link-error",
         .in_proof = "not ready to receive"},
        {.log = COMPLETION("status=IBV_WC_REM_ACCESS_ERR opcode"),
         .wanted = "fault link-error",
         .in_proof = "error 10"},
        {.log = COMPLETION("error 5, opcode 48, len 0, vendor err 249 (Recv)"),
         .wanted = "fault link-error",
         .in_proof = "A consequence, not the cause"},
        /* What was flushed beside another error is its proof, and no finding of its own. */
        {.log = COMPLETION("error 5, opcode 48, len 0, vendor err 249")
             COMPLETION("error 12, opcode 0, len 0, vendor err 129"),
         .wanted = "fault link-error",
         .in_proof = "vendor err 249"},
        {.log = COMPLETION("error, which is not said"), .wanted = "fault link-error"},
        /* PyTorch's last error stands in a line of its own. */
        {.log = ONE_NODE "[rank5]: Last error:\n[rank5]: NET/IB : Got completion from peer "
                         "10.0.0.12<1> with error 11, opcode 0, len 0, vendor err 136 (Recv)\n",
         .wanted = "fault link-error",
         .in_proof = "remote operation"},
        {.log = ONE_NODE "[rank5]: Last error:\n[rank5]: Traceback (most recent call last):\n",
         .wanted = ""},
    };
    RUN(cases);
}

/* Programs, launchers and the kernel. */
static void test_other_lines(void **state)
{
    (void)state;
    static const doctor_case cases[] = {
        {.log = "n0: Test CUDA failure common.cu:958 'system not yet initialized'\n",
         .wanted = "fault fabric-manager"},
        {.log = "n0: Test CUDA failure common.cu:958 'out of memory'\n",
         .wanted = "warning out-of-memory"},
        {.log = "n0: Test NCCL failure common.cu:1 'internal error'\n",
         .wanted = "warning call-failed"},
        {.log = "[rank1]: torch.distributed.DistBackendError: NCCL error in: x.cpp:1, remote "
                "process exited or there was a network error, NCCL version 2.21.5\n",
         .wanted = "warning call-failed"},
        /* What the call failed of is found: it is not told twice. */
        {.log =
             "n0: Test NCCL failure common.cu:1 'internal error'\n" W(0, 0, "no such thing, error"),
         .wanted = "warning warnings"},
        {.log = "mpirun noticed that process rank 3 on node n1 exited on signal 9 (Killed).\n",
         .wanted = "warning process-ended"},
        {.log = XID(79) "mpirun noticed that process rank 3 exited on signal 9 (Killed).\n",
         .wanted = "fault gpu-error, note process-ended"},
        /* A kernel's log. */
        {.log = XID(94), .wanted = "warning gpu-error", .in_proof = "contained"},
        {.log = "[1.1] NVRM: GPU 0000:98:00.0: RmInitAdapter failed! (0x62:0x65:1792)\n",
         .wanted = "fault gpu-error"},
        {.log = "[1.1] NVRM: fallen off the bus and is not responding to commands.\n",
         .wanted = "fault gpu-error"},
        {.log = "[1.1] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30\n",
         .wanted = "fault nvswitch-error"},
        {.log = "[1.1] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 30\n",
         .wanted = "warning nvswitch-error"},
        {.log = "[1.1] nvidia 0000:18:00.0: PCIe Bus Error: severity=Uncorrected (Fatal)\n",
         .wanted = "fault gpu-error"},
        {.log = "[1.1] pcieport 0000:15:01.0: AER: Uncorrected (Fatal) error received\n",
         .wanted = "fault pcie-error"},
        {.log = XID(31) "[1.1] nvidia 0000:18:00.0: PCIe Bus Error: severity=Corrected\n",
         .wanted = "note xid"},
        {.log = "[1.1] mlx5_core 0000:1a:00.0: poll_health:824: Fatal error 1 detected\n",
         .wanted = "fault nic-error"},
        {.log = "[1.1] mlx5_core 0000:1a:00.0 ib0: Link down\n", .wanted = "warning port-error"},
        {.log = XID(31) "[1.1] mlx5_core 0000:1a:00.0 ib0: Link down\n"
                        "[2.1] mlx5_core 0000:1a:00.0 ib0: Link up\n",
         .wanted = "note xid"},
        {.log = "systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\n",
         .wanted = "fault fabric-manager"},
        {.log = "Failed to initialize NVML: Driver/library version mismatch\n",
         .wanted = "fault driver-mismatch"},
    };
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_failures), TEST(test_settings), TEST(test_torn_lines),  TEST(test_broken),
        TEST(test_init),     TEST(test_warnings), TEST(test_completions), TEST(test_other_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
