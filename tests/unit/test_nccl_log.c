/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/import_support.h"

#include "calibrate/import/nccl_log.h"

static gl_nccl_log read_log(const char *const *lines)
{
    gl_nccl_log log;
    gl_nccl_log_begin(&log);
    for (; *lines != NULL; lines++) {
        size_t head, length;
        const char *host, *text;
        if (gl_nccl_log_split(&log, *lines, &head, &host, &length, &text))
            gl_nccl_log_line(&log, arena, gl_arena_strndup(arena, host, length), text);
        else
            gl_nccl_log_line(&log, arena, "", *lines);
    }
    return log;
}

static void test_prefix(void **state)
{
    static const struct {
        const char *line, *head, *host, *text;
    } cases[] = {
        {"vm:653:654 [0] NCCL INFO cudaDriverVersion 13000", "", "vm", "cudaDriverVersion 13000"},
        {"gpu-a01.cluster:1:22 [7] NCCL WARN bad", "", "gpu-a01.cluster", "bad"},
        {"vm:1:2 [0] transport/net_ib.cc:98 NCCL WARN bad", "", "vm", "bad"},
        {"  8  2 float sum -1vm:1:2 [0] NCCL INFO x", "  8  2 float sum -1", "vm", "x"},
        {"  21.14 0.00 0.00 N/Avm:1:2 [0] NCCL INFO x", "  21.14 0.00 0.00 N/A", "vm", "x"},
        {"  21.14 0.00 0.00   0vm:1:2 [0] NCCL INFO x", "  21.14 0.00 0.00   0", "vm", "x"},
        {"[2026-11-30 02:26:33] vm:1:2 [0] NCCL INFO x", "", "vm", "x"},
        {"-1[2026-11-30 02:26:33] vm:1:2 [0] NCCL INFO x", "-1", "vm", "x"},
        {"7node:1:2 [0] NCCL INFO x", "", "7node", "x"},
    };
    (void)state;
    gl_nccl_log log;
    gl_nccl_log_begin(&log);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t head, length;
        const char *host, *text;
        assert_true(gl_nccl_log_split(&log, cases[i].line, &head, &host, &length, &text));
        print_message("%s\n", cases[i].line);
        assert_int_equal(length, strlen(cases[i].host));
        assert_memory_equal(host, cases[i].host, length);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(head, strlen(cases[i].head));
    }
    const char *others[] = {"NCCL INFO x",          "NCCL version 2.28.9+cuda13.0",
                            "[0] NCCL INFO x",      "a:b:c [0] NCCL INFO x",
                            "vm:1 [0] NCCL INFO x", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t head, length;
        const char *host, *text;
        assert_false(gl_nccl_log_split(&log, others[i], &head, &host, &length, &text));
    }
}

/* A host name that begins with digits is told from a number in front of it once it is known. */
static void test_known_hosts_end_glued_numbers(void **state)
{
    (void)state;
    gl_nccl_log log = read_log((const char *[]){"10-0-0-7:1:2 [0] NCCL INFO x", NULL});
    size_t head, length;
    const char *host, *text;
    const char *line = " 21.14 0.00 0.00 010-0-0-7:1:2 [0] NCCL INFO x";
    assert_true(gl_nccl_log_split(&log, line, &head, &host, &length, &text));
    assert_memory_equal(host, "10-0-0-7", length);
    assert_int_equal(head, strlen(" 21.14 0.00 0.00 0"));
}

typedef struct transport_case {
    const char *lines[8];
    int nodes;
    gl_transport transport;
    const char *why;
    int nics;
} transport_case;

static const transport_case transports[] = {
    {{NULL}, 1, GL_TRANSPORT_UNKNOWN, "", 0},
    /* P2P alone says neither NVLink nor PCIe. */
    {{"vm:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", NULL},
     1,
     GL_TRANSPORT_UNKNOWN,
     "which NVLink and PCIe both print",
     0},
    {{"vm:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read",
      "vm:1:2 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type NVL/PIX, "
      "sameChannels 1",
      NULL},
     1,
     GL_TRANSPORT_NVLINK,
     "NVLink paths",
     0},
    {{"vm:1:2 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 2, speed 12.0/12.0, type PHB/PIX, "
      "sameChannels 1",
      "vm:1:2 [0] NCCL INFO Channel 00 : 0[101c0] -> 1[101d0] via P2P/direct pointer", NULL},
     1,
     GL_TRANSPORT_PCIE_P2P,
     "PCIe paths",
     0},
    {{"vm:1:2 [0] NCCL INFO               + NVL[240.0] - NVS/0",
      "vm:1:2 [0] NCCL INFO Ring 00 : 0[0] -> 1[1] via P2P/IPC", NULL},
     1,
     GL_TRANSPORT_NVLINK,
     "NVLink paths",
     0},
    {{"vm:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/MNNVL", NULL},
     4,
     GL_TRANSPORT_NVLINK,
     "MNNVL",
     0},
    {{"vm:1:2 [0] NCCL INFO Channel 00 : 1[1] -> 0[0] via SHM/direct/direct", NULL},
     1,
     GL_TRANSPORT_SHM,
     "SHM channels",
     0},
    {{"vm:1:2 [0] NCCL INFO Ring 01 : 0[0] -> 1[1] via direct shared memory", NULL},
     1,
     GL_TRANSPORT_SHM,
     "SHM channels",
     0},
    {{"vm:1:2 [0] NCCL INFO Channel 00 : 1[1] -> 0[0] via SHM/direct/CE",
      "vm:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", NULL},
     1,
     GL_TRANSPORT_SHM,
     "SHM and P2P",
     0},
    {{"a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>",
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA",
      "a:1:2 [1] NCCL INFO Channel 01/0 : 1[1] -> 9[1] [send] via NET/IB/1/GDRDMA",
      "b:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [receive] via NET/IB/0/GDRDMA",
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", NULL},
     2,
     GL_TRANSPORT_NET_IB,
     "NET/IB",
     2},
    {{"a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_9:1/IB [RO]; OOB e:10.0.0.1<0>",
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0(3)/GDRDMA", NULL},
     2,
     GL_TRANSPORT_NET_ROCE,
     "RoCE",
     1},
    {{"a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_9:1/IB ; OOB e:10.0.0.1<0>",
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0",
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/1", NULL},
     2,
     GL_TRANSPORT_UNKNOWN,
     "both",
     2},
    {{"a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IBext_v8/3/GDRDMA", NULL},
     2,
     GL_TRANSPORT_NET_IB,
     "NET/IB",
     1},
    {{"a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/1/GDRDMA",
      NULL},
     2,
     GL_TRANSPORT_UNKNOWN,
     "plugin",
     1},
    {{"a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0", NULL},
     1,
     GL_TRANSPORT_NET_SOCKET,
     "NET/Socket",
     1},
    /* The network's name proves something between nodes only. */
    {{"a:1:2 [0] NCCL INFO Using network Socket", NULL}, 1, GL_TRANSPORT_UNKNOWN, "", 0},
    {{"a:1:2 [0] NCCL INFO Using network Socket", NULL}, 0, GL_TRANSPORT_UNKNOWN, "", 0},
    {{"a:1:2 [0] NCCL INFO Using network Socket", NULL}, 2, GL_TRANSPORT_NET_SOCKET, "Socket", 0},
    {{"a:1:2 [0] NCCL INFO Using network IB",
      "a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE ; OOB e:10.0.0.1<0>", NULL},
     2,
     GL_TRANSPORT_NET_ROCE,
     "RoCE",
     0},
    /* Between nodes, P2P lines are those of one rank's neighbours. */
    {{"a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", NULL},
     2,
     GL_TRANSPORT_UNKNOWN,
     "",
     0},
};

static void test_transports(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++) {
        const transport_case *c = &transports[i];
        gl_nccl_log log = read_log(c->lines);
        const char *why;
        gl_transport found = gl_nccl_log_transport(&log, c->nodes, &why);
        if (found != c->transport || strstr(why, c->why) == NULL)
            fail_msg("case %zu: %s (%s)", i, gl_transport_name(found), why);
        assert_int_equal(gl_nccl_log_nics(&log), c->nics);
    }
}

static void test_choices(void **state)
{
    static const struct {
        const char *lines[4], *algorithm, *protocol;
    } cases[] = {
        {{NULL}, "", ""},
        {{"AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}", NULL}, "ring", "ll"},
        {{"AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}",
          "AllReduce: 9999999 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}", NULL},
         "ring",
         "mixed"},
        {{"AllReduce: 8 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..0}", NULL},
         "nvls_tree",
         "simple"},
        {{"AllGather: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}", NULL}, "", ""},
        {{"AllReduce: 64 Bytes -> Algo 0 proto 1 time 17.2", NULL}, "tree", "ll128"},
        {{"64 Bytes -> Algo 4 proto 2 time 17.2", NULL}, "nvls", "simple"},
        {{"64 Bytes -> Algo 44 proto 22 time 17.2", NULL}, "", ""},
        {{"NCCL_ALGO set by environment to Ring.", "NCCL_PROTO set by environment to LL128", NULL},
         "ring",
         "ll128"},
        {{"NCCL_ALGO set by environment to Ring,Tree", "NCCL_PROTO set by environment to ^LL",
          NULL},
         "",
         ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gl_nccl_log log = read_log(cases[i].lines);
        assert_string_equal(gl_nccl_log_algorithm(&log, GL_ALL_REDUCE), cases[i].algorithm);
        assert_string_equal(gl_nccl_log_protocol(&log, GL_ALL_REDUCE), cases[i].protocol);
    }
}

static void test_versions_and_communicators(void **state)
{
    (void)state;
    gl_nccl_log log = read_log((const char *[]){
        "vm:1:2 [0] NCCL INFO NCCL version 2.28.9+cuda13.0",
        "vm:1:2 [0] NCCL INFO comm 0x55 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0",
        "vm:1:2 [0] NCCL INFO comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0",
        "vm:1:2 [0] NCCL INFO comm 0x55 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0",
        NULL});
    assert_string_equal(log.nccl_version, "2.28.9");
    assert_string_equal(log.cuda_version, "13.0");
    assert_int_equal(log.ranks, 16);
    assert_int_equal(log.nodes, 2);
}

static void test_environment_keeps_only_nccl(void **state)
{
    (void)state;
    gl_nccl_log log = read_log((const char *[]){
        "vm:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.",
        "vm:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1",
        "vm:1:2 [0] NCCL INFO NCCL_TOPO_FILE set by environment to /home/someone/topo.xml",
        "vm:1:2 [0] NCCL INFO NCCL_COMM_ID set by environment to 10.0.0.1:1234",
        "vm:1:2 [0] NCCL INFO PATH set by environment to /bin",
        "vm:1:2 [0] NCCL INFO NCCL_X_TOKEN set by environment to geheim", NULL});
    assert_int_equal(log.environment_count, 4);
    assert_string_equal(log.environment[0], "NCCL_P2P_DISABLE=1");
    assert_string_equal(log.environment[1], "NCCL_TOPO_FILE=topo.xml");
    assert_string_equal(log.environment[2], "NCCL_COMM_ID=(set)");
    assert_string_equal(log.environment[3], "NCCL_X_TOKEN=(set)");
    gl_nccl_log_environment(&log, arena, "API_TOKEN", "secret");
    gl_nccl_log_environment(&log, arena, "NCCL_lower", "x");
    assert_int_equal(log.environment_count, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_prefix),
        TEST(test_known_hosts_end_glued_numbers),
        TEST(test_transports),
        TEST(test_choices),
        TEST(test_versions_and_communicators),
        TEST(test_environment_keeps_only_nccl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
