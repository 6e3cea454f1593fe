/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts of switches and links against published tables, every figure of them. */
#include "tests/support.h"

#include "planner/core/fabric.h"

static gl_fabric_counts count_planes(gl_fabric kind, int64_t nodes, int ports, int planes,
                                     int radix, double oversubscription)
{
    gl_error err;
    gl_fabric_counts counts;
    const gl_fabric_request request = {kind, nodes, ports, planes, radix, oversubscription, 1};
    if (!gl_fabric_count(&request, &counts, &err))
        fail_msg("%s", err.message);
    return counts;
}

static gl_fabric_counts count(gl_fabric kind, int64_t nodes, int ports, int radix)
{
    return count_planes(kind, nodes, ports, 1, radix, 1);
}

/* Links between switches. */
static int64_t inner_links(const gl_fabric_counts *counts)
{
    return counts->spine_links + counts->core_links;
}

/* Networks that are not planned; the published table compares trees with them. Slim Fly
 * (McKay-Miller-Siran graphs): q = 4w + delta, delta of −1, 0, 1; p endpoints a switch. */
static gl_fabric_counts slim_fly(int64_t q, int delta, int64_t p)
{
    int64_t switches = 2 * q * q, degree = (3 * q - delta) / 2;
    return (gl_fabric_counts){.down = (int)p,
                              .up = (int)degree,
                              .endpoints = switches * p,
                              .leaves = switches,
                              .spine_links = switches * degree / 2};
}

/* Dragonfly: p endpoints and h global links a switch, a switches a group, g groups. */
static gl_fabric_counts dragonfly(int64_t p, int64_t a, int64_t h, int64_t g)
{
    return (gl_fabric_counts){.down = (int)p,
                              .up = (int)(a - 1 + h),
                              .endpoints = p * a * g,
                              .leaves = a * g,
                              .spine_links = g * a * (a - 1) / 2 + g * a * h / 2};
}

/* DeepSeek-V3, ISCA 2025 (arXiv 2505.09343), table 3: endpoints, switches, links between switches,
 * cost in millions and in thousands per endpoint. */
static void test_deepseek_isca_table_3(void **state)
{
    (void)state;
    const struct {
        gl_fabric_counts counts;
        int64_t endpoints, switches, links;
        double cost_usd, per_endpoint_usd, rounding_usd;
    } rows[] = {
        {count(GL_FABRIC_FAT_TREE, 2048, 1, 64), 2048, 96, 2048, 9e6, 4390, 10},
        {count_planes(GL_FABRIC_FAT_TREE, 2048, 1, 8, 64, 1), 16384, 768, 16384, 72e6, 4390, 10},
        {count(GL_FABRIC_FAT_TREE, 65536, 1, 64), 65536, 5120, 131072, 491e6, 7500, 50},
        {slim_fly(28, 0, 21), 32928, 1568, 32928, 146e6, 4400, 50},
        {dragonfly(16, 32, 16, 511), 261632, 16352, 384272, 1522e6, 5800, 50},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const gl_fabric_counts *c = &rows[i].counts;
        assert_int_equal(c->endpoints, rows[i].endpoints);
        assert_int_equal(gl_fabric_switches(c), rows[i].switches);
        assert_int_equal(inner_links(c), rows[i].links);
        double per_endpoint_usd = rows[i].cost_usd / (double)c->endpoints;
        assert_true(fabs(per_endpoint_usd - rows[i].per_endpoint_usd) <= rows[i].rounding_usd);
    }
    assert_int_equal(rows[3].counts.down + rows[3].counts.up, 63);
    assert_int_equal(rows[4].counts.down + rows[4].counts.up, 63);
}

typedef struct superpod {
    int64_t nodes, gpus, leaves, spines, cores, node_links, spine_links, core_links;
} superpod;

static void check_superpods(const superpod *rows, size_t row_count, int planes, int radix,
                            int links_per_cable, int ufm_cables)
{
    for (size_t i = 0; i < row_count; i++) {
        const superpod *r = &rows[i];
        gl_fabric_counts c = count_planes(GL_FABRIC_RAIL_OPTIMISED, r->nodes, 8, planes, radix, 1);
        assert_int_equal(r->nodes * 8, r->gpus);
        assert_int_equal(c.leaves, r->leaves);
        assert_int_equal(c.spines, r->spines);
        assert_int_equal(c.cores, r->cores);
        assert_int_equal(c.node_links / links_per_cable + ufm_cables, r->node_links);
        assert_int_equal(c.spine_links / links_per_cable, r->spine_links);
        assert_int_equal(c.core_links / links_per_cable, r->core_links);
    }
}

/* NVIDIA DGX SuperPOD H100, RA-11333-001 V11, tables 4 and 3: QM9700, 64 x 400G. In table 4 a node
 * makes room for four cables to UFM. */
static void test_superpod_h100(void **state)
{
    (void)state;
    static const superpod table_4[] = {
        {31, 248, 8, 4, 0, 252, 256, 0},
        {63, 504, 16, 8, 0, 508, 512, 0},
        {95, 760, 24, 16, 0, 764, 768, 0},
        {127, 1016, 32, 16, 0, 1020, 1024, 0},
    };
    static const superpod table_3[] = {
        {128, 1024, 32, 16, 0, 1024, 1024, 0},
        {256, 2048, 64, 32, 0, 2048, 2048, 0},
        {512, 4096, 128, 128, 64, 4096, 4096, 4096},
        {1024, 8192, 256, 256, 128, 8192, 8192, 8192},
        {2048, 16384, 512, 512, 256, 16384, 16384, 16384},
    };
    static const superpod b200[] = {{64, 512, 16, 8, 0, 512, 512, 0}};
    check_superpods(table_4, 4, 1, 64, 1, 4);
    check_superpods(table_3, 5, 1, 64, 1, 0);
    check_superpods(b200, 1, 1, 64, 1, 0);
}

/* DGX B300 with Spectrum-X: two planes of 128 x 400G, cables of 800G counted once. */
static void test_superpod_b300_spectrum_x(void **state)
{
    (void)state;
    static const superpod rows[] = {
        {64, 512, 16, 8, 0, 512, 512, 0},         {128, 1024, 32, 16, 0, 1024, 1024, 0},
        {256, 2048, 64, 32, 0, 2048, 2048, 0},    {512, 4096, 128, 64, 0, 4096, 4096, 0},
        {1024, 8192, 256, 128, 0, 8192, 8192, 0},
    };
    check_superpods(rows, 5, 2, 128, 2, 0);
}

/* DGX B300 with Quantum-X800: Q3400, 144 x 800G. The last row's GPUs are printed as 9,216 there. */
static void test_superpod_b300_quantum_x800(void **state)
{
    (void)state;
    static const superpod rows[] = {
        {72, 576, 8, 4, 0, 576, 576, 0},
        {144, 1152, 16, 8, 0, 1152, 1152, 0},
        {288, 2304, 32, 18, 0, 2304, 2304, 0},
        {576, 4608, 64, 36, 0, 4608, 4608, 0},
        {1296, 10368, 144, 72, 0, 10368, 10368, 0},
    };
    check_superpods(rows, 5, 1, 144, 1, 0);
}

/* H100 Freakonomics sheet, August 2024: rails apart; a switch each, then two tiers, then three. */
static void test_h100_sheet_switches(void **state)
{
    (void)state;
    static const int64_t rows[][2] = {
        {64, 8},     {128, 48},    {256, 96},    {512, 192},     {1024, 384},
        {2048, 768}, {4096, 2560}, {8192, 5120}, {16384, 10240},
    };
    for (size_t i = 0; i < 9; i++) {
        gl_fabric_counts c = count(GL_FABRIC_RAIL_ONLY, rows[i][0], 8, 64);
        assert_int_equal(gl_fabric_switches(&c), rows[i][1]);
        assert_int_equal(c.node_links, rows[i][0] * 8);
        assert_int_equal(c.spine_links, c.tiers > 1 ? c.node_links : 0);
        assert_int_equal(c.core_links, c.tiers > 2 ? c.node_links : 0);
    }
}

/* Single designs: yobitel 1,024 GPUs (32 + 16), Kedios 32 x B300 (8 + 4), clusterdesign.org 600
 * nodes over FDR (34 + 18), 40 nodes whose rails make more leaves than ports need. */
static void test_other_designs(void **state)
{
    (void)state;
    gl_fabric_counts yobitel = count(GL_FABRIC_FAT_TREE, 128, 8, 64);
    gl_fabric_counts kedios = count(GL_FABRIC_RAIL_OPTIMISED, 32, 8, 144);
    gl_fabric_counts fdr = count(GL_FABRIC_FAT_TREE, 600, 1, 36);
    assert_int_equal(yobitel.leaves * 100 + yobitel.spines, 3216);
    assert_int_equal(kedios.leaves * 100 + kedios.spines, 804);
    assert_int_equal(fdr.leaves * 100 + fdr.spines, 3418);
    assert_int_equal(count(GL_FABRIC_RAIL_OPTIMISED, 40, 8, 64).leaves, 16);
    assert_int_equal(count(GL_FABRIC_FAT_TREE, 40, 8, 64).leaves, 10);
}

static void test_small_and_thin(void **state)
{
    (void)state;
    gl_fabric_counts one = count(GL_FABRIC_FAT_TREE, 16, 2, 64);
    assert_int_equal(one.tiers, 1);
    assert_int_equal(gl_fabric_switches(&one), 1);
    assert_int_equal(inner_links(&one), 0);
    gl_fabric_counts thin = count_planes(GL_FABRIC_FAT_TREE, 16, 8, 1, 64, 4);
    assert_int_equal(thin.down, 51);
    assert_int_equal(thin.leaves, 3);
    assert_int_equal(thin.spines, 1);
    assert_int_equal(gl_fabric_divisor(12, 32), 16);
    assert_int_equal(gl_fabric_divisor(16, 72), 18);
    assert_int_equal(gl_fabric_divisor(0, 32), 1);
    assert_int_equal(gl_fabric_divisor(33, 32), 33);
}

static void test_too_many_nodes(void **state)
{
    (void)state;
    gl_error err;
    gl_fabric_counts counts;
    const gl_fabric_request largest = {GL_FABRIC_FAT_TREE, 65536, 1, 1, 64, 1, 1};
    gl_fabric_request more = largest;
    more.nodes++;
    assert_true(gl_fabric_count(&largest, &counts, &err));
    assert_false(gl_fabric_count(&more, &counts, &err));
    assert_non_null(strstr(err.message, "three tiers of switches with 64 ports"));
    more.radix = 0;
    assert_false(gl_fabric_count(&more, &counts, &err));
}

/* Where the uplinks of a leaf are a prime number, spines are rounded up to it. */
static void a_thinner_network_is_never_larger(void **state)
{
    (void)state;
    static const struct {
        gl_fabric kind;
        int64_t nodes;
        int radix;
    } cases[] = {{GL_FABRIC_RAIL_OPTIMISED, 16, 32},
                 {GL_FABRIC_RAIL_OPTIMISED, 512, 64},
                 {GL_FABRIC_FAT_TREE, 1000, 64},
                 {GL_FABRIC_RAIL_ONLY, 128, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t leaf_before = INT64_MAX, core_before = INT64_MAX;
        for (double o = 1; o < 8; o += 0.1) {
            gl_error err;
            gl_fabric_counts leaf, core;
            gl_fabric_request request = {cases[i].kind, cases[i].nodes, 8, 1, cases[i].radix, o, 1};
            assert_true(gl_fabric_count(&request, &leaf, &err));
            request.oversubscription = 1;
            request.core_oversubscription = o;
            assert_true(gl_fabric_count(&request, &core, &err));
            assert_true(gl_fabric_switches(&leaf) <= leaf_before);
            assert_true(gl_fabric_switches(&core) <= core_before);
            leaf_before = gl_fabric_switches(&leaf);
            core_before = gl_fabric_switches(&core);
        }
    }
}

/* Pods with a seventh of their bandwidth between them: spines of 56 ports down and 8 up. */
static void thinned_cores_make_larger_pods_and_fewer_cores(void **state)
{
    (void)state;
    gl_error err;
    gl_fabric_counts counts;
    gl_fabric_request request = {GL_FABRIC_FAT_TREE, 65536, 1, 1, 64, 1, 7};
    assert_true(gl_fabric_count(&request, &counts, &err));
    assert_int_equal(counts.tiers, 3);
    assert_int_equal(counts.leaves, 2048); /* in 36 pods of 56, and one of 32 */
    assert_int_equal(counts.spines, 37 * 32);
    assert_int_equal(counts.cores, 32 * 8);
    assert_int_equal(counts.core_links, 37 * 32 * 8);
    /* What has no cores stays as it is. */
    request.nodes = 2048;
    assert_true(gl_fabric_count(&request, &counts, &err));
    assert_int_equal(counts.tiers, 2);
    assert_int_equal(gl_fabric_switches(&counts), 96);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deepseek_isca_table_3),
        cmocka_unit_test(a_thinner_network_is_never_larger),
        cmocka_unit_test(thinned_cores_make_larger_pods_and_fewer_cores),
        cmocka_unit_test(test_superpod_h100),
        cmocka_unit_test(test_superpod_b300_spectrum_x),
        cmocka_unit_test(test_superpod_b300_quantum_x800),
        cmocka_unit_test(test_h100_sheet_switches),
        cmocka_unit_test(test_other_designs),
        cmocka_unit_test(test_small_and_thin),
        cmocka_unit_test(test_too_many_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
