/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expected bus bandwidths, against published and measured ones. */
#include "tests/import_support.h"

#include "common/expected.h"

static gl_expected load(void)
{
    gl_expected expected;
    gl_error err;
    if (!gl_expected_load(arena, &expected, &err))
        fail_msg("%s", err.message);
    return expected;
}

static gl_expectation ask(const char *gpu, gl_transport transport, gl_collective collective,
                          gl_placement placement, int nics, double nic_rate, const char *algorithm)
{
    gl_expected expected = load();
    const gl_expected_gpu *found = gl_expected_find_gpu(&expected, gpu);
    const gl_expected_link *link = gl_expected_link_of(&expected, gpu, transport, nic_rate);
    bool several = placement.nodes > 1;
    gl_expected_case about = {
        .inside = several ? gl_expected_link_of(&expected, gpu, GL_TRANSPORT_NVLINK, 0) : link,
        .between = several ? link : NULL,
        .collective = collective,
        .placement = placement,
        .nics = nics,
        .algorithm = algorithm,
        .multicast = found != NULL && found->has_multicast};
    return gl_expected_busbw(&about);
}

static const gl_placement eight = {8, 1, 8, 1}, two_nodes = {16, 2, 8, 1},
                          four_nodes = {32, 4, 8, 1};

static void test_inside_node(void **state)
{
    (void)state;
    gl_expectation e =
        ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NVLINK, GL_ALL_GATHER, eight, 0, 0, "ring");
    assert_close(e.line, 450e9, 1e-9);
    assert_close(e.assumed, 370.8e9, 1e-9);
    assert_true(e.low < 361e9 && 361e9 < e.high); /* published: 361 GB/s on 8 H100 */
    assert_non_null(strstr(e.source, "ml-engineering") != NULL ? "" : strstr(e.source, "Learning"));
    e = ask("NVIDIA A100-SXM4-80GB", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, eight, 0, 0, "");
    assert_close(e.line, 300e9, 1e-9);
    assert_close(e.assumed, 240e9, 1e-9);
    assert_true(e.low < 231e9 && 231e9 < e.high);
}

/* The switch adds up: about 480 GB/s on links of 450, and never 100 % of more than that. */
static void test_nvls_is_above_the_link(void **state)
{
    (void)state;
    gl_expectation e =
        ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, eight, 0, 0, "");
    assert_close(e.line, 450e9 * 14 / 9, 1e-9);
    assert_true(e.low < 480e9 && 480e9 < e.high);
    assert_true(isnan(e.assumed));
    assert_non_null(strstr(e.basis, "NVLS"));
    e = ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, eight, 0, 0, "ring");
    assert_close(e.line, 450e9, 1e-9);
    e = ask("NVIDIA H200", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, (gl_placement){2, 1, 2, 1}, 0, 0,
            "");
    assert_close(e.line, 450e9, 1e-9); /* a pair does not use it */
}

static void test_between_nodes(void **state)
{
    (void)state;
    const double ndr = 50e9;
    gl_expectation e = ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NET_IB, GL_ALL_GATHER, four_nodes,
                           8, ndr, "ring");
    assert_close(e.line, 400e9, 1e-9);
    assert_close(e.assumed, 370.8e9, 1e-9); /* NVLink, below the NICs' 384 */
    /* A tree on two nodes: each NIC carries less than the ring's formula says. */
    e = ask("NVIDIA A100-SXM4-80GB", GL_TRANSPORT_NET_IB, GL_ALL_REDUCE, two_nodes, 4, 25e9,
            "tree");
    assert_close(e.line, 4 * 25e9 * 2 * 15 / 16, 1e-9);
    e = ask("NVIDIA A100-SXM4-80GB", GL_TRANSPORT_NET_IB, GL_ALL_REDUCE, two_nodes, 4, 25e9,
            "ring");
    assert_close(e.line, 100e9, 1e-9);
    /* All-to-all: only (n-ppn)/(n-1) of the traffic leaves the node. */
    e = ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NET_IB, GL_ALLTOALL, two_nodes, 8, ndr, "");
    assert_close(e.line, 50e9 * 15 / 8, 1e-9);
    /* Eight groups at once share the NICs. */
    e = ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NET_IB, GL_ALL_GATHER, (gl_placement){4, 4, 1, 8},
            8, ndr, "");
    assert_close(e.line, 50e9, 1e-9);
    e = ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NET_IB, GL_SENDRECV, (gl_placement){2, 2, 1, 1},
            1, ndr, "");
    assert_close(e.line, 50e9, 1e-9);
}

/* What no algorithm can exceed: the switch, in the node or in the network, may always add up. */
static void test_limit(void **state)
{
    (void)state;
    const gl_placement pair = {2, 1, 2, 1};
    gl_expectation e =
        ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NVLINK, GL_ALL_GATHER, eight, 0, 0, "");
    assert_close(e.limit, 450e9, 1e-9);
    e = ask("NVIDIA H100 80GB HBM3", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, eight, 0, 0, "");
    assert_close(e.limit, 450e9 * 14 / 9, 1e-9);
    e = ask("NVIDIA H200", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, pair, 0, 0, "");
    assert_close(e.limit, 450e9, 1e-9);
    e = ask("NVIDIA A100-SXM4-80GB", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, eight, 0, 0, "");
    assert_close(e.limit, 300e9, 1e-9); /* no such switch */
    e = ask("NVIDIA A100-SXM4-80GB", GL_TRANSPORT_NET_IB, GL_ALL_REDUCE, four_nodes, 4, 25e9, "");
    assert_close(e.line, 100e9, 1e-9);
    assert_close(e.limit, 100e9 * 2 * 31 / 32, 1e-9); /* switches of the network */
    e = ask("NVIDIA A100-SXM4-80GB", GL_TRANSPORT_NET_IB, GL_ALL_REDUCE, four_nodes, 4, 25e9,
            "ring");
    assert_close(e.limit, 100e9, 1e-9);
    assert_true(gl_expected_is_above(&e, 103e9) && !gl_expected_is_above(&e, 101e9));
    e = ask("NVIDIA GB200", GL_TRANSPORT_NVLINK, GL_ALL_GATHER, (gl_placement){72, 18, 4, 1}, 0, 0,
            "");
    assert_close(e.line, 900e9, 1e-9); /* a rack is one large node */
    e = ask("Some GPU", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, eight, 0, 0, "");
    assert_false(gl_expected_is_above(&e, 1e15));
}

static void test_unknown_is_not_a_number(void **state)
{
    (void)state;
    const gl_expectation all[] = {
        ask("Some GPU", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, eight, 0, 0, ""),
        ask("NVIDIA H200", GL_TRANSPORT_UNKNOWN, GL_ALL_REDUCE, eight, 0, 0, ""),
        ask("NVIDIA H200", GL_TRANSPORT_NET_IB, GL_ALL_REDUCE, two_nodes, 8, 0, ""),
        ask("NVIDIA H200", GL_TRANSPORT_NET_IB, GL_ALL_REDUCE, two_nodes, 0, 50e9, ""),
        ask("NVIDIA H200", GL_TRANSPORT_NVLINK, GL_ALL_REDUCE, (gl_placement){1, 1, 1, 1}, 0, 0,
            ""),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_true(isnan(all[i].line) && isnan(all[i].typical));
        assert_true(all[i].basis[0] != '\0');
    }
}

/* The longest name that fits: H200 is no H20, an L40S no L4. */
static void test_gpu_names(void **state)
{
    (void)state;
    gl_expected expected = load();
    static const struct {
        const char *printed, *found;
    } cases[] = {{"NVIDIA H200", "NVIDIA H200"},
                 {"NVIDIA H20", "NVIDIA H20"},
                 {"NVIDIA L40S", "NVIDIA L40"},
                 {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4"},
                 {"A100-SXM4-80GB", "NVIDIA A100-SXM4"},
                 {"h200", "NVIDIA H200"},
                 {"H200 SXM", "NVIDIA H200"},
                 {"Tesla T4", "Tesla T4"},
                 {"NVIDIA T4", "Tesla T4"},
                 {"NVIDIA H100 PCIe", "NVIDIA H100 PCIe"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(gl_expected_find_gpu(&expected, cases[i].printed)->name,
                            cases[i].found);
    assert_null(gl_expected_find_gpu(&expected, "AMD Instinct MI300X"));
    assert_null(gl_expected_find_gpu(&expected, "H100")); /* of several models */
    assert_true(gl_expected_same_name("NVIDIA H200 SXM", "h200-sxm"));
    assert_false(gl_expected_same_name("H200", "H20"));
}

static void test_bad_files(void **state)
{
    (void)state;
    gl_expected expected = {0};
    gl_error err;
    assert_false(gl_expected_read_links("", "x", arena, &expected, &err));
    assert_false(
        gl_expected_read_links("name,transport,line\na,nvlink,\n", "x", arena, &expected, &err));
    assert_false(gl_expected_read_links("name,transport,line\na,wire,4 GB/s\n", "x", arena,
                                        &expected, &err));
    assert_false(
        gl_expected_read_links("name,transport,line\na,nvlink,4\n", "x", arena, &expected, &err));
    assert_int_equal(err.line, 2);
    assert_false(gl_expected_read_gpus("name,links\n,3\n", "x", arena, &expected, &err));
    assert_false(gl_expected_read_gpus("name,links\na,18x\n", "x", arena, &expected, &err));
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 3);
    assert_false(gl_expected_read_gpus("name,rack\na,maybe\n", "x", arena, &expected, &err));
    assert_false(gl_expected_read_gpus("name,links\na,3,4\n", "x", arena, &expected, &err));
    assert_non_null(strstr(err.message, "3 cells where the header has 2"));
    assert_true(gl_expected_read_links(
        "# a\nname,transport,line,source\r\n\"a\",shm,4 GB/s,\"b, \"\"c\"\"\"\r\n", "x", arena,
        &expected, &err));
    assert_string_equal(expected.links[0].source, "b, \"c\"");
}

/* data/expected/links.csv repeats data/links/NAME.yaml, for the program that reads no YAML. */
static void test_agrees_with_the_catalogue(void **state)
{
    (void)state;
    gl_expected expected = load();
    assert_true(expected.link_count >= 20);
    for (size_t i = 0; i < expected.link_count; i++) {
        const gl_expected_link *e = &expected.links[i];
        char path[512], text[65536], wanted[200];
        snprintf(path, sizeof path, "%s/../data/links/%s.yaml", TEST_SOURCE_DIR, e->name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            fail_msg("no %s", path);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        const gl_share *shares[] = {&e->ring, &e->alltoall, &e->p2p, &e->nvls};
        const char *names[] = {"efficiency", "alltoall_efficiency", "p2p_efficiency",
                               "switch_efficiency"};
        for (int k = 0; k < 4; k++) {
            snprintf(wanted, sizeof wanted, "\n  %s: {value: %.0f%%", names[k],
                     shares[k]->value * 100);
            char key[100];
            snprintf(key, sizeof key, "\n  %s: ", names[k]);
            bool there = strstr(text, key) != NULL;
            if (there != (shares[k]->value > 0) || (there && strstr(text, wanted) == NULL))
                fail_msg("%s: %s is not %.0f %%", e->name, names[k], shares[k]->value * 100);
        }
        snprintf(wanted, sizeof wanted, "\n  bandwidth: {value: %.6g GB/s",
                 e->line_bytes_per_s / 1e9);
        if (strstr(text, wanted) == NULL)
            fail_msg("%s: the bandwidth is not %g", e->name, e->line_bytes_per_s);
        snprintf(wanted, sizeof wanted, "\n  transport: %s\n", gl_transport_name(e->transport));
        assert_non_null(strstr(text, wanted));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_inside_node), TEST(test_nvls_is_above_the_link),    TEST(test_between_nodes),
        TEST(test_limit),       TEST(test_unknown_is_not_a_number),   TEST(test_gpu_names),
        TEST(test_bad_files),   TEST(test_agrees_with_the_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
