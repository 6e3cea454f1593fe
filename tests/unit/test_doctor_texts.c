/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions from other texts than logs: nvidia-smi, topology files, what was measured; and from
 * bad ones, none. */
#include "tests/doctor_support.h"

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
    const struct CMUnitTest tests[] = {
        TEST(test_topology_texts), TEST(test_p2p_texts), TEST(test_nvlink_texts), TEST(test_xml),
        TEST(test_bad_texts),      TEST(test_measured),  TEST(test_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
