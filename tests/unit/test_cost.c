/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Money: published sheets to the dollar, each formula alone, two options against each other. */
#include "tests/unit/input_support.h"

#include "planner/core/cost.h"
#include "planner/input/price_file.h"

static const char sheet_prices[] = "prices: " TEST_SOURCE_DIR "/fixtures/prices/h100-sheet.yaml\n";

typedef struct priced {
    outcome o;
    gl_cluster cluster;
    gl_cost cost;
} priced;

/* A cluster as its description says, with two lines of `inter_node` and all that follows. */
static priced load_cluster(const char *head, const char *tail)
{
    gl_error err;
    priced p = {.o = {.arena = gl_arena_create()}};
    const char *text = gl_arena_printf(p.o.arena, "cluster:\n%s%s", head, tail);
    if (!gl_yaml_parse("c.yaml", text, strlen(text), p.o.arena, &p.o.tree, &err))
        fail_msg("%s", err.message);
    p.o.ok =
        gl_cluster_tree_load(&p.o.tree, p.o.arena, &p.cluster, &p.o.warnings, &p.o.diagnostics);
    return p;
}

#define STEP_S 10.0

static gl_cost cost_of(const priced *p, double step_s, double run_tokens)
{
    gl_cost cost;
    static double draws_s[1000];
    /* A cost points to its cluster, and `priced` moves when it is returned. */
    gl_cluster *cluster = GL_ARENA_NEW(p->o.arena, gl_cluster, 1);
    *cluster = p->cluster;
    for (size_t i = 0; i < 1000; i++)
        draws_s[i] = step_s * (0.9 + 0.2 * (double)i / 999);
    const gl_cost_input input = {.cluster = cluster,
                                 .step_s = step_s,
                                 .step_draws_s = draws_s,
                                 .draw_count = 1000,
                                 .tokens_per_step = 4e6,
                                 .model_flop_per_token = 6 * 70e9,
                                 .job_gpus = (int64_t)p->cluster.nodes * p->cluster.gpus_per_node,
                                 .run_tokens = run_tokens};
    gl_cost_build(&input, p->o.arena, &cost);
    return cost;
}

static priced price(const char *head, const char *tail)
{
    priced p = load_cluster(head, tail);
    assert_loaded(&p.o);
    p.cost = cost_of(&p, STEP_S, 0);
    return p;
}

#define HGX(nodes)                                                                                 \
    "  gpu: h100-sxm\n  nodes: " nodes "\n  gpus_per_node: 8\n  intra_node: {link: nvlink4}\n"
#define NDR(more) "  inter_node: {link: ib-ndr, nics_per_node: 8, radix: 64" more "}\n"

/* ---- published tables ---- */

static double switch_dollars(const gl_cost *cost)
{
    return gl_bom_sum(&cost->bom, GL_COST_OF_SWITCHES);
}

/* Every row of the sheet: counts, dollars of switches and cables, average of a GPU. */
static void test_h100_sheet_to_the_dollar(void **state)
{
    (void)state;
    static const struct {
        int nodes;
        int64_t gpus, switches;
        double node_usd, switch_usd, cable_usd, average_usd;
    } rows[] = {
        {64, 512, 8, 310000, 288000, 675840, 46883},
        {128, 1024, 48, 310000, 1728000, 2621440, 49248},
        {256, 2048, 96, 310000, 3456000, 5242880, 49248},
        {512, 4096, 192, 300000, 6912000, 10485760, 47998},
        {1024, 8192, 384, 300000, 13824000, 20971520, 47998},
        {2048, 16384, 768, 310000, 27648000, 41943040, 49248},
        {4096, 32768, 2560, 310000, 92160000, 124518400, 51613},
        {8192, 65536, 5120, 310000, 184320000, 249036800, 51613},
        {16384, 131072, 10240, 310000, 368640000, 498073600, 51613},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char head[256];
        snprintf(head, sizeof head,
                 "  gpu: h100-sxm\n  nodes: %d\n  gpus_per_node: 8\n  intra_node: {link: "
                 "nvlink4}\n",
                 rows[i].nodes);
        char prices[512];
        snprintf(prices, sizeof prices,
                 NDR(", fabric: rail-only, medium: link") "prices: {base: " TEST_SOURCE_DIR
                                                          "/fixtures/prices/h100-sheet.yaml, "
                                                          "parts: {server.h100-sxm: %.0f}}\n",
                 rows[i].node_usd);
        priced p = price(head, prices);
        assert_null(p.cost.missing);
        assert_int_equal(p.cost.gpus, rows[i].gpus);
        assert_int_equal(gl_fabric_switches(&p.cost.bom.fabric), rows[i].switches);
        assert_close(switch_dollars(&p.cost), rows[i].switch_usd, 0);
        assert_close(gl_bom_sum(&p.cost.bom, GL_COST_OF_LINKS), rows[i].cable_usd, 0);
        assert_close(gl_bom_sum(&p.cost.bom, GL_COST_OF_NICS), 0, 0);
        assert_close(
            p.cost.typical.capex,
            rows[i].nodes * (rows[i].node_usd + 50000) + rows[i].switch_usd + rows[i].cable_usd, 0);
        assert_close(floor(p.cost.typical.capex / (double)rows[i].gpus + 0.5), rows[i].average_usd,
                     0);
        outcome_free(&p.o);
    }
}

/* aiinframap.com: 1,024 GPUs over five years, without a network. */
static void test_energy_table(void **state)
{
    (void)state;
    static const struct {
        double price_usd, power_w, peak_pflops, bought, power, total, per_pflop_year_usd;
    } rows[] = {
        {30000, 700, 0.989, 30.72, 2.11, 32.83, 9300},
        {35000, 700, 0.989, 35.84, 2.11, 37.95, 10700},
        {40000, 1000, 2.25, 40.96, 3.01, 43.97, 5500},
    };
    for (size_t i = 0; i < 3; i++) {
        double bought = 1024 * rows[i].price_usd;
        double energy = gl_cost_energy(1024 * rows[i].power_w, 0.70, 1.2, 43800, 0.08);
        double useful = 1024 * rows[i].peak_pflops * 0.70;
        assert_true(fabs(bought / 1e6 - rows[i].bought) < 0.005001);
        assert_true(fabs(energy / 1e6 - rows[i].power) < 0.005001);
        assert_true(fabs((bought + energy) / 1e6 - rows[i].total) < 0.005001);
        assert_true(fabs((bought + energy) / 5 / useful - rows[i].per_pflop_year_usd) < 50);
    }
    /* SemiAnalysis, 100,000 H100: 1.59 TWh a year are 123.9 million at 0.078. */
    assert_close(gl_cost_energy(1.59e12 / 8760, 1, 1, 8760, 0.078), 123.9e6, 0.002);
}

/* Vitex, 256 GPUs: 256 transceivers at the nodes, 128 of two ports at the leaves, 256 fibres. */
static void test_twin_ports_halve_modules(void **state)
{
    (void)state;
    priced p = price(HGX("32"), NDR(", fabric: rail-optimised, medium: optics") "prices: {parts: "
                                                                                "{term.spares: "
                                                                                "0}}\n");
    int64_t node_end = 0, leaf_end = 0, fibres = 0;
    for (size_t i = 0; i < p.cost.bom.count; i++) {
        const gl_bom_line *line = &p.cost.bom.lines[i];
        node_end += strcmp(line->role, "node end") == 0 ? line->count : 0;
        leaf_end += strcmp(line->role, "leaf end") == 0 ? line->count : 0;
        if (strcmp(line->part, "fibre") == 0 && strcmp(line->role, "node to leaf") == 0)
            fibres += line->count;
    }
    assert_int_equal(node_end, 256);
    assert_int_equal(leaf_end, 128);
    assert_int_equal(fibres, 256);
    outcome_free(&p.o);
}

/* DGX SuperPOD H100 of 127 nodes: 32 racks of four and six of 48 switches. */
static void test_superpod_racks(void **state)
{
    (void)state;
    priced p = price(HGX("127"), NDR(", fabric: rail-optimised") "prices: standard\n");
    int64_t management = 0;
    for (size_t i = 0; i < p.cost.bom.count; i++)
        if (p.cost.bom.lines[i].group == GL_COST_OF_MANAGEMENT)
            management += p.cost.bom.lines[i].count;
    assert_int_equal(gl_fabric_switches(&p.cost.bom.fabric), 48);
    assert_int_equal(p.cost.bom.racks, 32 + (48 + management + 7) / 8);
    outcome_free(&p.o);
}

/* ---- formulas ---- */

static void test_three_conventions(void **state)
{
    (void)state;
    double capex = 1e6, life = 5, residual = 0.2, r = 0.08;
    assert_close(gl_cost_amortised(GL_STRAIGHT_LINE, capex, life, residual, r, 0), 160000, 1e-12);
    assert_close(gl_cost_amortised(GL_DECAY, capex, life, residual, r, 0.14), 322361.9, 1e-6);
    double payment = gl_cost_amortised(GL_ANNUITY, capex, life, residual, r, 0), value = 0;
    for (int year = 1; year <= 5; year++)
        value += payment / pow(1 + r, year);
    value += capex * residual / pow(1 + r, 5);
    assert_close(value, capex, 1e-12);
    assert_close(gl_cost_amortised(GL_ANNUITY, capex, life, residual, 0, 0), 160000, 1e-12);
}

/* Llama 3 405B: 419 unplanned stops in 54 days of 16,384 GPUs, more than 90 % of the time useful.
 */
static void test_checkpoints(void **state)
{
    (void)state;
    gl_checkpoints c = gl_cost_checkpoints(1.97e-5, 16384, 60, 600);
    assert_close(54 * 86400 / c.mtbf_s, 419, 0.005);
    assert_true(c.goodput_frac > 0.8 && c.goodput_frac < 0.95);
    assert_close(gl_cost_checkpoints(0, 8, 60, 600).goodput_frac, 1, 0);
    /* A checkpoint that takes no time is written all the time: only restarts are lost. */
    assert_close(gl_cost_checkpoints(0.01, 8, 0, 600).goodput_frac, exp(-600 * 0.08 / 3600), 1e-12);
}

/* Share of the time that counts with another interval. */
static double goodput_at(double interval_s, double mtbf_s, double checkpoint_s, double restart_s)
{
    return interval_s /
           (mtbf_s * exp(restart_s / mtbf_s) * (exp((interval_s + checkpoint_s) / mtbf_s) - 1));
}

/* Daly 2006, figures 3 to 5: checkpoints of 5 minutes; stops 24 h, 6 h and 15 min apart. */
static void test_daly_intervals(void **state)
{
    (void)state;
    static const struct {
        double mtbf_min, interval_min, within;
    } rows[] = {{1440, 117, 0.5}, {360, 57, 0.5}, {15, 9.1, 0.05}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gl_checkpoints c = gl_cost_checkpoints(60 / rows[i].mtbf_min, 1, 300, 600);
        assert_close(c.mtbf_s, rows[i].mtbf_min * 60, 1e-12);
        assert_true(fabs(c.interval_s / 60 - rows[i].interval_min) < rows[i].within);
        assert_close(c.goodput_frac, goodput_at(c.interval_s, c.mtbf_s, 300, 600), 1e-12);
        /* It is the best one. */
        for (double factor = 0.5; factor < 2.1; factor *= 2)
            assert_true(goodput_at(c.interval_s * factor, c.mtbf_s, 300, 600) <=
                        c.goodput_frac + 1e-12);
    }
}

/* Young's first order where stops are rare; beyond its range the share falls and stays above 0. */
static void test_checkpoints_beyond_the_first_order(void **state)
{
    (void)state;
    gl_checkpoints rare = gl_cost_checkpoints(1.97e-5, 128, 60, 600);
    double young_s = sqrt(2 * 60 * rare.mtbf_s);
    assert_close(rare.interval_s, young_s, 0.004);
    assert_close(rare.goodput_frac, 1 - 60 / young_s - (young_s / 2 + 600) / rare.mtbf_s, 1e-4);
    double last = 1;
    for (int64_t gpus = 8; gpus <= 1 << 20; gpus *= 2) {
        gl_checkpoints c = gl_cost_checkpoints(4e-5, gpus, 180, 1800);
        assert_true(c.goodput_frac > 0 && c.goodput_frac < last);
        last = c.goodput_frac;
    }
    /* From a checkpoint that takes twice the time between stops, the interval is that time. */
    assert_close(gl_cost_checkpoints(1, 20, 360, 0).interval_s, 180, 1e-12);
}

/* ---- a cluster's cost ---- */

static void test_sums_agree(void **state)
{
    (void)state;
    priced p = price(HGX("16"), NDR("") "prices: standard\n");
    const gl_cost_figures *f = &p.cost.typical;
    double groups = 0, lines = 0;
    for (int i = 0; i < GL_COST_OF_COUNT; i++)
        groups += gl_cost_group_sum(&p.cost, (gl_cost_group)i);
    for (size_t i = 0; i < p.cost.bom.count; i++)
        lines += gl_bom_pieces(&p.cost.bom.lines[i]) * p.cost.bom.lines[i].typical;
    assert_close(groups, f->capex, 1e-12);
    assert_close(lines, f->capex, 1e-12);
    assert_close(f->per_year,
                 f->amortised_per_year + f->energy_per_year + f->support_per_year +
                     f->staff_per_year,
                 1e-12);
    assert_close(f->per_gpu_hour * 128 * 8760 * f->availability * f->goodput, f->per_year, 1e-12);
    assert_close(f->per_million_tokens, f->per_year / (f->tokens_per_s * 8760 * 3600) * 1e6, 1e-12);
    assert_true(p.cost.per_million_tokens.p10 < f->per_million_tokens);
    assert_true(p.cost.per_million_tokens.p90 > f->per_million_tokens);
    assert_true(isnan(f->per_run));
    gl_cost run = cost_of(&p, STEP_S, 15e12);
    assert_close(run.typical.per_run, f->per_million_tokens * 15e6, 1e-12);
    assert_close(run.per_run.p90, p.cost.per_million_tokens.p90 * 15e6, 1e-9);
    outcome_free(&p.o);
}

/* GB300 NVL72: 18 trays at 2,260 and 9 at 1,020 are in the price of the rack, not on top. */
static void test_liquid_cooling_apart(void **state)
{
    (void)state;
    const char *racks =
        "  gpu: gb300\n  nodes: 36\n  gpus_per_node: 4\n  intra_node: {link: nvl72}\n";
    priced p = price(racks, NDR("") "prices: standard\n");
    double whole = gl_bom_sum(&p.cost.bom, GL_COST_OF_SERVER);
    assert_close(whole, 2 * 3000000, 1e-12);
    assert_close(gl_cost_group_sum(&p.cost, GL_COST_OF_COOLING), 2 * (18 * 2260 + 9 * 1020), 1e-12);
    assert_close(gl_cost_group_sum(&p.cost, GL_COST_OF_SERVER) +
                     gl_cost_group_sum(&p.cost, GL_COST_OF_COOLING),
                 whole, 1e-12);
    outcome_free(&p.o);
    p = price("  gpu: a100-pcie-80gb\n  nodes: 2\n  gpus_per_node: 8\n  intra_node: {link: "
              "pcie4-x16}\n",
              NDR("") "prices: {parts: {cooling.a100-pcie-80gb: {typical: 900, gpus: 8}}}\n");
    assert_close(gl_bom_sum(&p.cost.bom, GL_COST_OF_COOLING), 2 * 900, 1e-12);
    outcome_free(&p.o);
}

static void expect_missing(const char *head, const char *tail, const char *text)
{
    priced p = price(head, tail);
    if (p.cost.missing == NULL || strstr(p.cost.missing, text) == NULL)
        fail_msg("'%s' is not in '%s'", text,
                 p.cost.missing != NULL ? p.cost.missing : "(nothing is missing)");
    assert_true(isnan(p.cost.typical.capex));
    assert_true(isnan(p.cost.per_million_tokens.p50));
    outcome_free(&p.o);
}

static int64_t pieces_of(const gl_bom *bom, const char *part)
{
    int64_t count = 0;
    for (size_t i = 0; i < bom->count; i++)
        count += strcmp(bom->lines[i].part, part) == 0 ? bom->lines[i].count : 0;
    return count;
}

static void expect_servers(const char *gpu, int nodes, int gpus_per_node, const char *prices,
                           int64_t servers, const char *note)
{
    char head[256], tail[256], part[64];
    snprintf(head, sizeof head,
             "  gpu: %s\n  nodes: %d\n  gpus_per_node: %d\n  intra_node: {link: %s}\n", gpu, nodes,
             gpus_per_node, strncmp(gpu, "gb", 2) == 0 ? "nvl72" : "nvlink4");
    snprintf(tail, sizeof tail, NDR("") "prices: %s\n", prices);
    snprintf(part, sizeof part, "server.%s", gpu);
    priced p = price(head, tail);
    assert_int_equal(pieces_of(&p.cost.bom, part), servers);
    assert_int_equal(p.cost.notes.count, note != NULL);
    if (note != NULL && strstr(p.cost.notes.items[0], note) == NULL)
        fail_msg("'%s' is not in '%s'", note, p.cost.notes.items[0]);
    outcome_free(&p.o);
}

/* NVLink is not taken out of a server's price by naming another link. */
static void test_a_server_comes_with_its_links(void **state)
{
    (void)state;
    const char *pcie = "  gpu: h100-sxm\n  nodes: 16\n  gpus_per_node: 8\n  intra_node: {link: "
                       "pcie5-x16}\n";
    priced p = price(pcie, NDR("") "prices: standard\n");
    assert_int_equal(p.cost.notes.count, 1);
    assert_non_null(strstr(p.cost.notes.items[0], "server.h100-sxm is the price of a machine with "
                                                  "nvlink4; with pcie5-x16 instead"));
    outcome_free(&p.o);
    p = price(pcie, NDR("") "prices: {base: standard, parts: {server.h100-sxm: {typical: 200000, "
                            "link: pcie5-x16}}}\n");
    assert_int_equal(p.cost.notes.count, 0);
    outcome_free(&p.o);
}

/* Nodes that the network joins are machines of their own; racks hold several. */
static void test_every_node_has_a_server(void **state)
{
    (void)state;
    expect_servers("h100-sxm", 16, 8, "standard", 16, NULL);
    expect_servers("h100-sxm", 32, 4, "standard", 32,
                   "server.h100-sxm is a machine of 8 GPUs and a node here has 4");
    expect_servers("h100-sxm", 16, 1, "standard", 16, "and a node here has 1");
    expect_servers("h100-sxm", 4, 16, "standard", 8, NULL);
    /* Twelve GPUs are no whole number of such servers: they are put together. */
    expect_servers("h100-sxm", 4, 12, "standard", 0, NULL);
    expect_servers("gb300", 36, 4, "standard", 2, NULL);
    expect_servers("gb300", 37, 4, "standard", 3, NULL);
    expect_servers("gb300", 36, 4, "{parts: {server.gb300: {rack: false}}}", 36,
                   "and a node here has 4");
}

/* What of a whole server is GPUs does not depend on how many of them a node uses. */
static void test_half_used_servers_are_split_as_bought(void **state)
{
    (void)state;
    priced p = price("  gpu: h100-sxm\n  nodes: 2\n  gpus_per_node: 4\n  intra_node: {link: "
                     "nvlink4}\n",
                     NDR("") "prices: standard\n");
    assert_close(gl_cost_group_sum(&p.cost, GL_COST_OF_GPUS), 2 * 8 * 31250, 1e-12);
    assert_close(gl_cost_group_sum(&p.cost, GL_COST_OF_NVLINK), 2 * 20480, 1e-12);
    outcome_free(&p.o);
}

#define CARDS "  gpu: h100-pcie\n  nodes: 2\n  gpus_per_node: 8\n"

static void expect_pcie_switches(const char *node, int64_t boards)
{
    char head[256];
    snprintf(head, sizeof head, CARDS "%s", node);
    priced p = price(head, NDR("") "prices: {exchange: {EUR: 1}, parts: "
                                   "{bridge.nvlink-bridge-h100: 1}}\n");
    assert_null(p.cost.missing);
    assert_int_equal(pieces_of(&p.cost.bom, "pcie-switch.pcie5-x16"), boards);
    outcome_free(&p.o);
}

/* As many as the description has, and none where cards are plugged straight into CPUs. */
static void test_pcie_switches_as_described(void **state)
{
    (void)state;
    expect_pcie_switches("  intra_node: {link: pcie5-x16}\n", 0);
    expect_pcie_switches("  intra_node: {link: pcie5-x16}\n  pcie: {switches: 4}\n", 2 * 4);
    expect_pcie_switches("  intra_node: {link: pcie5-x16}\n  pcie: {switches: 1}\n", 2 * 2);
    expect_pcie_switches("  intra_node: {link: nvlink-bridge-h100, outside_link: pcie5-x16}\n"
                         "  pcie: {switches: 2}\n",
                         2 * 2);
}

/* Ports of the description against those of the switch that is priced. */
static void test_ports_of_the_priced_switch(void **state)
{
    (void)state;
    expect_missing(HGX("2"),
                   "  inter_node: {link: ib-ndr, nics_per_node: 8, radix: 4096}\n"
                   "prices: standard\n",
                   "the switches of the description have 4096 ports, switch.ib-ndr is the price of "
                   "one with 64 ports (QM9700 class, 64 x 400G): state cluster.inter_node.radix: "
                   "64, or what such a switch costs, prices: {base: standard, parts: "
                   "{switch.ib-ndr: {typical: ..., ports: 4096}}}");
    priced p = price(HGX("16"), "  inter_node: {link: roce-400, nics_per_node: 8, fabric: "
                                "rail-optimised, radix: 64}\nprices: standard\n");
    assert_int_equal(p.cost.notes.count, 1);
    assert_string_equal(p.cost.notes.items[0],
                        "12 switches of 64 ports are billed at the price of one with 128 ports "
                        "(Spectrum-4 SN5600 class, 128 x 400G); with all its ports "
                        "(cluster.inter_node.radix: 128) 1 would do");
    outcome_free(&p.o);
    p = price(HGX("16") "  inter_node: {link: ib-ndr, nics_per_node: 8}\n", "prices: standard\n");
    assert_int_equal(p.cost.notes.count, 1);
    assert_string_equal(p.cost.notes.items[0],
                        "2 tiers of switches with 64 ports are billed, as the priced switch has; "
                        "times know of no tiers without cluster.inter_node.radix: 64");
    outcome_free(&p.o);
    p = price(HGX("8") "  inter_node: {link: ib-ndr, nics_per_node: 8, oversubscription: 2}\n",
              "prices: standard\n");
    assert_int_equal(p.cost.notes.count, 1);
    assert_string_equal(p.cost.notes.items[0],
                        "one switch of 64 ports that joins all nodes is billed, and thins nothing; "
                        "times take all between nodes to cross uplinks of 2:1 without "
                        "cluster.inter_node.radix: 64");
    outcome_free(&p.o);
    p = price(HGX("2") "  inter_node: {link: roce-400, nics_per_node: 8, radix: 64}\n",
              "prices: standard\n");
    assert_int_equal(p.cost.notes.count, 1); /* one switch, of 64 or of 128 ports: no word of it */
    assert_non_null(
        strstr(p.cost.notes.items[0], "labour.lossless is 534,000 USD whatever the size, "));
    outcome_free(&p.o);
    /* A port of 400G splits into one of 200G for each of two planes. */
#define PLANES(radix)                                                                              \
    "  inter_node: {link: roce-400, nics_per_node: 8, planes: 2, radix: " radix "}\nprices: "      \
    "standard\n"
    p = price(HGX("16"), PLANES("256"));
    assert_null(p.cost.missing);
    assert_int_equal(p.cost.notes.count, 1); /* of the project, not of ports */
    assert_non_null(strstr(p.cost.notes.items[0], "labour.lossless"));
    outcome_free(&p.o);
    expect_missing(HGX("16"), PLANES("257"), "one with 256 ports");
    p = price(HGX("16"), NDR("") "prices: {parts: {switch.ib-ndr: {ports: 32}}}\n");
    assert_non_null(p.cost.missing);
    outcome_free(&p.o);
}

/* A network of nodes that no switches join is not billed as one switch. */
static void test_in_band_network_has_its_limit(void **state)
{
    (void)state;
    expect_missing(HGX("5000"), NDR("") "prices: standard\n",
                   "5000 nodes are more than three tiers of switches with 32 ports join (the "
                   "in-band network: switch.in-band, ports)");
}

static void test_no_price_list_no_cost(void **state)
{
    (void)state;
    priced p = price(HGX("16"), NDR(""));
    assert_null(p.cost.cluster);
    outcome_free(&p.o);
}

static void test_what_has_no_price_stops_the_total(void **state)
{
    (void)state;
    expect_missing("  gpu: l40s\n  nodes: 2\n  gpus_per_node: 8\n  intra_node: {link: pcie4-x16}\n",
                   "  inter_node: {link: roce-200, nics_per_node: 2}\nprices: standard\n",
                   "no price for gpu.l40s");
    expect_missing(HGX("2"), "  inter_node: {link: efa-400, nics_per_node: 8}\nprices: standard\n",
                   "no price for nic.efa-400 (16 of them): state it in a price list of your own, "
                   "prices: {base: standard, parts: {nic.efa-400: {typical: ...}}}");
    expect_missing("  gpu: h100-pcie\n  nodes: 1\n  gpus_per_node: 8\n  intra_node: {link: "
                   "pcie5-x16}\n  pcie: {switches: 2}\n",
                   "prices: standard\n",
                   "pcie-switch.pcie5-x16 is priced in EUR and the list has no rate for it: state "
                   "how many USD one EUR is");
    expect_missing(HGX("2"),
                   NDR("") "  sites: {count: 2, link: {bandwidth: 10 Gbit/s, latency: 5 "
                           "ms}}\nprices: standard\n",
                   "cluster.sites.link.fee_per_month");
}

static void test_exchange(void **state)
{
    (void)state;
    priced p = price("  gpu: h100-pcie\n  nodes: 1\n  gpus_per_node: 8\n  intra_node: {link: "
                     "pcie5-x16}\n  pcie: {switches: 2}\n",
                     "prices: {exchange: {EUR: 1.1}}\n");
    assert_null(p.cost.missing);
    assert_close(gl_bom_sum(&p.cost.bom, GL_COST_OF_PCIE_SWITCHES), 2 * 2000 * 1.1, 1e-12);
    assert_close(gl_bom_sum(&p.cost.bom, GL_COST_OF_GPUS), 8 * 24500, 1e-12);
    outcome_free(&p.o);
}

/* What is drawn, or what is reserved. */
static void test_energy_or_colocation(void **state)
{
    (void)state;
    priced energy = price(HGX("1"), "  site: {region: US Texas, pue: 1.2}\nprices: standard\n");
    const gl_cost_figures *f = &energy.cost.typical;
    assert_close(f->power_w, 10200, 1e-12);
    assert_close(f->energy_per_year, 10.2 * 0.75 * 1.2 * 8760 * 0.066, 1e-12);
    assert_close(f->colocation_per_year, 0, 0);
    assert_true(energy.cost.site.saving_per_year > 0);
    outcome_free(&energy.o);
    priced rack = price(HGX("1"), "  site: {power_by: colocation}\nprices: standard\n");
    assert_close(rack.cost.typical.colocation_per_year, 10.2 * 184.06 * 12, 1e-12);
    assert_close(rack.cost.typical.energy_per_year, 0, 0);
    outcome_free(&rack.o);
    priced both = load_cluster(HGX("1"), "  site: {electricity: 0.1 USD/kWh, power_by: "
                                         "colocation}\nprices: standard\n");
    assert_false(both.o.ok);
    assert_problem(&both.o, "c.yaml:6:23: cluster.site.electricity: power is in the colocation "
                            "here (cluster.site.power_by): leave this out; never both");
    outcome_free(&both.o);
    priced nowhere = price(HGX("1"), "  site: {region: Atlantis}\nprices: standard\n");
    assert_int_equal(nowhere.cost.notes.count, 1);
    assert_non_null(strstr(nowhere.cost.notes.items[0], "electricity.atlantis"));
    outcome_free(&nowhere.o);
}

static void expect_note(const char *tail, const char *text)
{
    priced p = price(HGX("2"), tail);
    assert_int_equal(p.cost.notes.count, text != NULL);
    if (text != NULL)
        assert_string_equal(p.cost.notes.items[0], text);
    outcome_free(&p.o);
}

/* A quote that changes nothing is named; one of another cluster is not. */
static void test_quotes_in_vain(void **state)
{
    (void)state;
    expect_note(NDR("") "prices: {parts: {switch.ib-ndr: 30000, nic.roce-400: 900}}\n", NULL);
    expect_note(NDR("") "prices: {parts: {gpu.h100-sxm: 20000, host: 1000, dac.ib-ndr: 500, "
                        "switch.ib-ndr: 30000}}\n",
                "the price list states what the bill of this cluster does not take: "
                "gpu.h100-sxm, host, dac.ib-ndr");
    expect_note(
        NDR("") "  cost: {life_years: 4}\nprices: {parts: {term.life: 6, term.draw: 0.8}}\n",
        "the price list states what the bill of this cluster does not take: term.life");
    expect_note(NDR("") "  cost: {acquisition: rent}\nprices: {parts: {rent.h100-sxm: 2, "
                        "server.h100-sxm: 1}}\n",
                "the price list states what the bill of this cluster does not take: "
                "server.h100-sxm");
}

/* A cheap site that is late, a leased line, a purchase in two stages. */
static void test_site_line_and_expansion(void **state)
{
    (void)state;
    priced p =
        price(HGX("16"), NDR("") "  site: {region: US Texas, lead_time_months: 6}\n"
                                 "  sites: {count: 2, link: {bandwidth: 10 Gbit/s, latency: 5 ms, "
                                 "route: Frankfurt-London}}\n"
                                 "  expansion: {nodes: 32, after_months: 12}\n"
                                 "  cost: {interest: 10%}\nprices: standard\n");
    const gl_cost *c = &p.cost;
    assert_close(c->site.delay, c->typical.per_year / 2, 1e-12);
    assert_close(c->site.saving, c->site.saving_per_year * 5, 1e-12);
    assert_close(c->typical.lines_per_year, 724 * 12, 1e-12);
    assert_int_equal(c->expansion.nodes, 32);
    assert_close(c->expansion.first + c->expansion.rest, c->expansion.at_once, 1e-12);
    assert_close(c->expansion.staged, c->expansion.first + c->expansion.rest * pow(10, -0.14) / 1.1,
                 1e-12);
    outcome_free(&p.o);
}

/* What is added has its network, also to a node alone; what has no total says so. */
static void test_expansion_has_its_network(void **state)
{
    (void)state;
    priced whole = price(HGX("16"), NDR("") "prices: standard\n");
    priced p = price(HGX("1"), NDR("") "  expansion: {nodes: 16}\nprices: standard\n");
    assert_close(p.cost.typical.capex, 296644, 1e-12);
    assert_close(p.cost.expansion.at_once, whole.cost.typical.capex, 1e-12);
    outcome_free(&whole.o);
    outcome_free(&p.o);
    p = price(HGX("16"), "  inter_node: {link: ib-ndr, nics_per_node: 8, radix: 16}\n"
                         "  expansion: {nodes: 5000, after_months: 12}\nprices: standard\n");
    assert_null(p.cost.missing);
    assert_true(isnan(p.cost.expansion.at_once) && isnan(p.cost.expansion.staged));
    assert_non_null(strstr(p.cost.notes.items[p.cost.notes.count - 1],
                           "the expansion to 5000 nodes has no total: 5000 nodes are more than "
                           "three tiers of switches with 16 ports join"));
    outcome_free(&p.o);
    priced alone = load_cluster(HGX("1"), "  expansion: {nodes: 16}\nprices: standard\n");
    assert_false(alone.o.ok);
    outcome_free(&alone.o);
}

static const gl_cost_source *source_of(const gl_cost *cost, const char *name)
{
    for (size_t i = 0; i < cost->source_count; i++)
        if (strcmp(cost->sources[i].name, name) == 0)
            return &cost->sources[i];
    return NULL;
}

static void expect_effect(const priced *p, const char *name)
{
    const gl_cost_source *source = source_of(&p->cost, name);
    assert_non_null(source);
    assert_true(source->p90_change > source->p10_change);
}

/* Every range moves the cost: that of a leased line, of spares, of the power of servers and racks.
 */
static void test_every_range_is_drawn(void **state)
{
    (void)state;
    priced p =
        price("  gpu: h100-pcie\n  nodes: 16\n  gpus_per_node: 8\n  intra_node: {link: "
              "pcie5-x16}\n",
              NDR("") "  sites: {count: 2, link: {bandwidth: 100 Gbit/s, latency: 5 ms, route: "
                      "Frankfurt-London}}\nprices: standard\n");
    expect_effect(&p, "price of leased-line.frankfurt-london");
    expect_effect(&p, "term.spares");
    expect_effect(&p, "term.server-power");
    const gl_cost_source *racks = source_of(&p.cost, "term.rack-power");
    assert_true(racks->p90_change < racks->p10_change);
    assert_close(source_of(&p.cost, "price of leased-line.frankfurt-london")->high / 1.25, 72.4,
                 1e-12);
    outcome_free(&p.o);
}

/* A region whose price nobody says is named, not the default. */
static void test_missing_region_is_named(void **state)
{
    (void)state;
    expect_missing(HGX("2"),
                   NDR("") "  site: {region: Beijing, power_by: colocation}\nprices: "
                           "standard\n",
                   "no price for colocation.beijing: state cluster.site.colocation_per_kw_month");
}

static void test_line_without_route(void **state)
{
    (void)state;
    expect_missing(HGX("2"),
                   NDR("") "  sites: {count: 2, link: {bandwidth: 1000 GB/s, latency: 1 ms}}\n"
                           "prices: standard\n",
                   "no price for the line between the sites: state "
                   "cluster.sites.link.fee_per_month, or with cluster.sites.link.route which line "
                   "of the price list it is");
}

/* A job that is stopped faster than it starts costs nothing that has a value, and says so. */
static void test_no_work_has_no_cost(void **state)
{
    (void)state;
    priced p =
        price(HGX("16"), NDR("") "  cost: {failures_per_gpu_hour: 1, restart: 200 h}\nprices: "
                                 "standard\n");
    const gl_cost *c = &p.cost;
    assert_true(c->typical.per_year > 0);
    assert_true(isnan(c->typical.per_gpu_hour) && isnan(c->typical.per_million_tokens));
    assert_true(isnan(c->per_gpu_hour.p10) && isnan(c->per_million_tokens.p90));
    assert_true(isnan(gl_cost_probability_cheaper(c, c)));
    assert_non_null(strstr(c->notes.items[0], "the job is stopped every 28.1 s"));
    outcome_free(&p.o);
    /* At 65,536 GPUs, with defaults, all is finite. */
    p = price(HGX("4000"), NDR("") "prices: {parts: {switch.in-band: {ports: 64}}}\n");
    gl_cost large = cost_of(&p, STEP_S, 0);
    assert_null(large.missing);
    assert_true(isfinite(large.per_million_tokens.p90));
    assert_true(large.per_million_tokens.p90 > large.typical.per_million_tokens);
    outcome_free(&p.o);
    p = price(HGX("2"), NDR("") "  cost: {failures_per_gpu_hour: 0}\nprices: standard\n");
    assert_true(isnan(p.cost.typical.mtbf_s));
    assert_close(p.cost.typical.goodput, 1, 0);
    assert_non_null(strstr(p.cost.notes.items[0], "never stopped"));
    outcome_free(&p.o);
}

static void test_rent(void **state)
{
    (void)state;
    priced p = price(HGX("16"), NDR("") "  cost: {acquisition: rent}\nprices: standard\n");
    assert_null(p.cost.missing);
    assert_close(p.cost.typical.capex, 0, 0);
    assert_close(p.cost.typical.per_year, 128 * 8760 * 2.4575, 1e-12);
    assert_close(p.cost.typical.energy_per_year, 0, 0);
    /* Where nothing is bought, nothing pays for itself. */
    gl_cost slow = cost_of(&p, STEP_S * 2, 0);
    gl_cost_even even = gl_cost_break_even(&p.cost, &slow);
    assert_true(isnan(even.months) && isnan(even.network) && isnan(even.network_at_even));
    /* What is bought pays by the rent that it saves. */
    priced bought = price(HGX("16"), NDR("") "prices: standard\n");
    even = gl_cost_break_even(&p.cost, &bought.cost);
    assert_ptr_equal(even.dear, &bought.cost);
    const gl_cost_figures *b = &bought.cost.typical;
    double saved = p.cost.typical.rent_per_year - (b->per_year - b->amortised_per_year);
    assert_close(even.months, b->capex / (saved / 12), 1e-9);
    outcome_free(&bought.o);
    outcome_free(&p.o);
}

/* Links by reach: copper where it spans them, modules beyond. */
static void test_media(void **state)
{
    (void)state;
    priced near = price(HGX("16"), NDR(", reach: {leaf: 2 m}") "prices: standard\n");
    bool dac = false;
    for (size_t i = 0; i < near.cost.bom.count; i++)
        dac = dac || (strcmp(near.cost.bom.lines[i].part, "dac.ib-ndr") == 0 &&
                      near.cost.bom.lines[i].count == 128);
    assert_true(dac);
    outcome_free(&near.o);
}

static void test_lossless_costs_ethernet(void **state)
{
    (void)state;
    priced p =
        price(HGX("16"), "  inter_node: {link: roce-400, nics_per_node: 8}\nprices: standard\n");
    assert_close(gl_bom_sum(&p.cost.bom, GL_COST_OF_LOSSLESS), 534000, 0);
    assert_int_equal(p.cost.bom.fabric.leaves, 1); /* 128 ports, from the price list */
    outcome_free(&p.o);
}

/* ---- two options ---- */

static void test_probability_draw_by_draw(void **state)
{
    (void)state;
    priced p = price(HGX("16"), NDR("") "prices: standard\n");
    gl_cost slower = cost_of(&p, STEP_S * 1.01, 0);
    assert_close(gl_cost_probability_cheaper(&p.cost, &p.cost), 0.5, 0);
    /* The same prices in each draw: a step that is always longer always costs more. */
    assert_close(gl_cost_probability_cheaper(&p.cost, &slower), 1, 0);
    assert_close(gl_cost_probability_cheaper(&slower, &p.cost), 0, 0);
    priced thin = price(HGX("16"), NDR(", fabric: fat-tree, oversubscription: 4") "prices: "
                                                                                  "standard\n");
    double a = gl_cost_probability_cheaper(&p.cost, &thin.cost);
    double b = gl_cost_probability_cheaper(&thin.cost, &p.cost);
    assert_close(a + b, 1, 1e-12);
    assert_true(b > 0.9); /* as fast and cheaper to buy */
    outcome_free(&thin.o);
    outcome_free(&p.o);
}

static void test_break_even(void **state)
{
    (void)state;
    priced dear = price(HGX("16"), NDR("") "prices: standard\n");
    priced cheap = price(HGX("16"), NDR(", fabric: fat-tree, oversubscription: 4") "prices: "
                                                                                   "standard\n");
    gl_cost_even never = gl_cost_break_even(&dear.cost, &cheap.cost);
    assert_ptr_equal(never.cheap, &cheap.cost);
    assert_true(isinf(never.months));
    assert_true(never.network_at_even < never.network);
    gl_cost slow = cost_of(&cheap, STEP_S * 1.5, 0);
    gl_cost_even e = gl_cost_break_even(&slow, &dear.cost);
    const gl_cost_figures *a = &slow.typical, *b = &dear.cost.typical;
    double gain = (b->tokens_per_s / a->tokens_per_s - 1) * a->per_year;
    double opex = b->per_year - b->amortised_per_year - a->per_year + a->amortised_per_year;
    assert_close(e.months, (b->capex - a->capex) / ((gain - opex) / 12), 1e-12);
    assert_true(e.network_at_even > e.network);
    /* At that price a token costs the same. */
    double more = e.network_at_even - e.network;
    double year = b->per_year + more * (b->amortised_per_year + b->support_per_year) / b->capex;
    assert_close(year / b->tokens_per_s, a->per_year / a->tokens_per_s, 1e-9);
    outcome_free(&dear.o);
    outcome_free(&cheap.o);
}

/* Per-GPU network cost falls inside a tier and jumps where one is added. */
static void test_staircase(void **state)
{
    (void)state;
    gl_stair *stairs;
    char tail[512];
    snprintf(tail, sizeof tail, NDR(", fabric: rail-only, medium: link") "%s", sheet_prices);
    priced p = price(HGX("64"), tail);
    size_t count = gl_cost_staircase(&p.cluster, p.o.arena, &stairs);
    double one = 0, two = 0;
    for (size_t i = 0; i < count; i++) {
        if (stairs[i].nodes == 64)
            one = stairs[i].network_per_gpu;
        if (stairs[i].nodes == 128)
            two = stairs[i].network_per_gpu;
    }
    /* The jump of the sheet: 1,882 to 4,248. */
    assert_close(floor(one), 1882, 0);
    assert_close(two, 4247.5, 1e-9);
    /* The 65th node needs spines, and a second leaf for each rail. */
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || stairs[i].nodes > stairs[i - 1].nodes);
        if (stairs[i].nodes == 65)
            assert_true(stairs[i].fabric.tiers == 2 && stairs[i].network_per_gpu > two);
    }
    outcome_free(&p.o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h100_sheet_to_the_dollar),
        cmocka_unit_test(test_energy_table),
        cmocka_unit_test(test_twin_ports_halve_modules),
        cmocka_unit_test(test_superpod_racks),
        cmocka_unit_test(test_three_conventions),
        cmocka_unit_test(test_checkpoints),
        cmocka_unit_test(test_daly_intervals),
        cmocka_unit_test(test_checkpoints_beyond_the_first_order),
        cmocka_unit_test(test_every_node_has_a_server),
        cmocka_unit_test(test_a_server_comes_with_its_links),
        cmocka_unit_test(test_half_used_servers_are_split_as_bought),
        cmocka_unit_test(test_pcie_switches_as_described),
        cmocka_unit_test(test_ports_of_the_priced_switch),
        cmocka_unit_test(test_in_band_network_has_its_limit),
        cmocka_unit_test(test_expansion_has_its_network),
        cmocka_unit_test(test_every_range_is_drawn),
        cmocka_unit_test(test_missing_region_is_named),
        cmocka_unit_test(test_line_without_route),
        cmocka_unit_test(test_no_work_has_no_cost),
        cmocka_unit_test(test_sums_agree),
        cmocka_unit_test(test_liquid_cooling_apart),
        cmocka_unit_test(test_no_price_list_no_cost),
        cmocka_unit_test(test_what_has_no_price_stops_the_total),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_energy_or_colocation),
        cmocka_unit_test(test_site_line_and_expansion),
        cmocka_unit_test(test_rent),
        cmocka_unit_test(test_quotes_in_vain),
        cmocka_unit_test(test_media),
        cmocka_unit_test(test_lossless_costs_ethernet),
        cmocka_unit_test(test_probability_draw_by_draw),
        cmocka_unit_test(test_break_even),
        cmocka_unit_test(test_staircase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
