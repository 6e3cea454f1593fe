/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters from descriptions, databases and names; the catalogue. */
#include "input_support.h"

#include "common/datadir.h"
#include "common/store/store.h"
#include "planner/input/catalogue.h"

#include <unistd.h>

/* ---- helpers ---- */

typedef struct loaded {
    outcome o; /* arena, warnings, diagnostics, ok */
    gl_cluster cluster;
} loaded;

static loaded load_set(const char *name, const gl_setting *settings, size_t count)
{
    loaded l = {.o = {.arena = gl_arena_create()}};
    l.o.ok = gl_cluster_load(name, settings, count, l.o.arena, &l.cluster, &l.o.warnings,
                             &l.o.diagnostics);
    return l;
}

static loaded load(const char *name)
{
    return load_set(name, NULL, 0);
}

static char folder[400];

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/cluster_XXXXXX", TEST_BINARY_DIR);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

/* The text with the folder's name put in, for expectations. */
static void assert_problem_in(const loaded *l, const char *file, const char *rest)
{
    char expected[1400];
    snprintf(expected, sizeof expected, "%s/%s%s", folder, file, rest);
    assert_problem(&l->o, expected);
}

static void refused(const char *text, const char *rest)
{
    loaded l = load(write_file("c.yaml", text));
    assert_false(l.o.ok);
    assert_problem_in(&l, "c.yaml", rest);
    outcome_free(&l.o);
}

#define DESCRIPTION                                                                                \
    "cluster:\n"                                                                                   \
    "  gpu: h200-sxm\n"                                                                            \
    "  nodes: 16\n"                                                                                \
    "  gpus_per_node: 8\n"

#define INTRA "  intra_node: {link: nvlink4}\n"
#define INTER "  inter_node: {link: ib-ndr, nics_per_node: 8}\n"

/* ---- databases ---- */

typedef struct recipe {
    const char *label, *started_at, *gpu;
    gl_run_state state;
    gl_collective collective;
    gl_transport transport;
    gl_dtype dtype;
    gl_placement placement;
    double time_s; /* of every sample: tells curves apart */
    double wrong;  /* of every sample; 0 = not checked */
} recipe;

static const recipe nvlink_pair = {.label = "nvlink",
                                   .started_at = "2026-11-01T00:00:00Z",
                                   .gpu = "NVIDIA H200",
                                   .state = GL_RUN_COMPLETE,
                                   .collective = GL_ALL_REDUCE,
                                   .transport = GL_TRANSPORT_NVLINK,
                                   .dtype = GL_BF16,
                                   .placement = {2, 1, 2, 1},
                                   .time_s = 1e-3};

static void add_recipe(gl_store *store, const recipe *r)
{
    gl_error err;
    int64_t run_id, curve_id;
    const gl_run run = {.started_at = r->started_at,
                        .recorded_at = r->started_at,
                        .tool = "nccl-tests",
                        .tool_version = "",
                        .backend = "nccl",
                        .host = "",
                        .gpu = r->gpu,
                        .driver_version = "",
                        .cuda_version = "",
                        .nccl_version = "",
                        .environment = "",
                        .source = "",
                        .label = r->label,
                        .parameters = "",
                        .warnings = "",
                        .state = r->state};
    bool ok = gl_store_add_run(store, &run, &run_id, &err);
    const gl_curve curve = {.run_id = run_id,
                            .collective = r->collective,
                            .dtype = r->dtype,
                            .redop = "sum",
                            .placement = r->placement,
                            .transport = r->transport,
                            .algorithm = "",
                            .protocol = "",
                            .root = -1};
    ok = ok && gl_store_add_curve(store, &curve, &curve_id, &err);
    for (int i = 0; ok && i < 3; i++) {
        const gl_sample sample = {.size_bytes = 1024 << i,
                                  .time_median_s = r->time_s,
                                  .time_p05_s = (double)NAN,
                                  .time_p95_s = (double)NAN,
                                  .time_min_s = (double)NAN,
                                  .iterations = 20,
                                  .wrong = r->wrong > 0 ? r->wrong : (double)NAN};
        ok = gl_store_add_sample(store, curve_id, &sample, &err);
    }
    if (!ok) {
        fprintf(stderr, "%s\n", err.message);
        fail();
    }
}

static const char *write_database(const char *name, const recipe *recipes, size_t count)
{
    gl_store *store;
    gl_error err;
    const char *path = path_of(name);
    unlink(path);
    assert_true(gl_store_open_writable(path, &store, &err));
    assert_true(gl_store_begin(store, &err));
    for (size_t i = 0; i < count; i++)
        add_recipe(store, &recipes[i]);
    assert_true(gl_store_commit(store, &err));
    gl_store_close(store);
    return path;
}

static void test_database_is_a_cluster(void **state)
{
    (void)state;
    recipe r[2] = {nvlink_pair, nvlink_pair};
    r[1].placement = (gl_placement){4, 1, 4, 2};
    loaded l = load(write_database("pair.db", r, 2));
    assert_loaded(&l.o);
    assert_string_equal(l.cluster.name, "pair");
    assert_int_equal(l.cluster.nodes, 1);
    assert_int_equal(l.cluster.gpus_per_node, 8);
    assert_int_equal(l.cluster.nics_per_node, 0);
    assert_false(l.cluster.bounded);
    assert_non_null(l.cluster.gpu);
    assert_string_equal(l.cluster.gpu->name, "h200-sxm");
    assert_null(l.cluster.intra.link);
    assert_int_equal(l.cluster.intra.curve_count, 2);
    assert_int_equal(l.cluster.inter.curve_count, 0);
    assert_string_equal(l.cluster.intra.calibration, "pair");
    assert_int_equal(l.cluster.intra.curves[0].sample_count, 3);
    assert_non_null(l.cluster.intra.curves[0].samples);
    assert_true(isnan(l.cluster.terms.stated[GL_TERM_PUE]));
    assert_int_equal(l.o.warnings.count, 0);
    outcome_free(&l.o);
}

static void test_newest_complete_run_wins(void **state)
{
    (void)state;
    recipe r[4] = {nvlink_pair, nvlink_pair, nvlink_pair, nvlink_pair};
    r[1].started_at = "2026-11-20T00:00:00Z";
    r[1].time_s = 2e-3;
    r[2].started_at = "2026-11-25T00:00:00Z";
    r[2].state = GL_RUN_INTERRUPTED;
    r[2].time_s = 3e-3;
    r[3].dtype = GL_FP32; /* stands for the same key */
    loaded l = load(write_database("again.db", r, 4));
    assert_loaded(&l.o);
    assert_int_equal(l.cluster.intra.curve_count, 1);
    assert_close(l.cluster.intra.curves[0].samples[0].time_median_s, 2e-3, 1e-12);
    assert_true(has_warning(&l.o, "again.db: curves measured again later or in another type: 3;"));
    outcome_free(&l.o);
    loaded only = load(write_database("interrupted.db", &r[2], 1));
    assert_loaded(&only.o);
    assert_true(has_warning(&only.o, "curves from runs that were interrupted or still go on: 1"));
    outcome_free(&only.o);
}

static void test_transports_and_labels(void **state)
{
    (void)state;
    char name[600];
    recipe r[3] = {nvlink_pair, nvlink_pair, nvlink_pair};
    r[1].transport = GL_TRANSPORT_SHM;
    r[1].label = "shm";
    r[2].transport = GL_TRANSPORT_NET_IB;
    r[2].placement = (gl_placement){4, 2, 2, 1};
    write_database("mixed.db", r, 3);
    loaded l = load(path_of("mixed.db"));
    assert_problem_in(&l, "mixed.db",
                      ": holds curves over several transports inside a node (nvlink, shm); choose "
                      "runs by label: FILE#LABEL (labels: nvlink, shm), or filter when importing");
    outcome_free(&l.o);
    snprintf(name, sizeof name, "%s#shm", path_of("mixed.db"));
    l = load(name);
    assert_loaded(&l.o);
    assert_string_equal(l.cluster.name, "mixed#shm");
    assert_int_equal(l.cluster.intra.curves[0].transport, GL_TRANSPORT_SHM);
    assert_int_equal(l.cluster.inter.curve_count, 0);
    outcome_free(&l.o);
    snprintf(name, sizeof name, "%s#nvlink", path_of("mixed.db"));
    l = load(name);
    assert_loaded(&l.o);
    assert_int_equal(l.cluster.nodes, 2);
    assert_int_equal(l.cluster.inter.curve_count, 1);
    assert_true(has_warning(&l.o, "states no NICs; one for each of the 2 GPUs"));
    outcome_free(&l.o);
    snprintf(name, sizeof name, "%s#pcie", path_of("mixed.db"));
    l = load(name);
    assert_problem_in(&l, "mixed.db", ": no run has the label 'pcie'; labels: nvlink, shm");
    outcome_free(&l.o);
}

/* A log that does not tell its transport must not stop those that do. */
static void test_unknown_transports_yield(void **state)
{
    (void)state;
    recipe r[3] = {nvlink_pair, nvlink_pair, nvlink_pair};
    r[1].transport = r[2].transport = GL_TRANSPORT_UNKNOWN;
    r[2].collective = GL_ALL_GATHER;
    loaded l = load(write_database("partly.db", r, 3));
    assert_loaded(&l.o);
    assert_int_equal(l.cluster.intra.curve_count, 1);
    assert_int_equal(l.cluster.intra.curves[0].transport, GL_TRANSPORT_NVLINK);
    assert_true(has_warning(&l.o,
                            "partly.db: curves inside a node of an unknown transport: 2, left "
                            "out beside those over nvlink; import with --transport"));
    outcome_free(&l.o);
    /* Alone they are taken. */
    l = load(write_database("partly.db", r + 1, 2));
    assert_loaded(&l.o);
    assert_int_equal(l.cluster.intra.curve_count, 2);
    assert_false(has_warning(&l.o, "unknown transport"));
    outcome_free(&l.o);
    /* Several that are known are refused as before, and the unknown one is not named. */
    r[1].transport = GL_TRANSPORT_SHM;
    l = load(write_database("partly.db", r, 3));
    assert_problem_in(&l, "partly.db",
                      ": holds curves over several transports inside a node (nvlink, shm); …");
    outcome_free(&l.o);
}

static void test_curves_that_failed_validation(void **state)
{
    (void)state;
    recipe r[2] = {nvlink_pair, nvlink_pair};
    r[0].wrong = 3;
    r[0].started_at = "2026-11-02T00:00:00Z";
    loaded l = load(write_database("wrong.db", r, 1));
    assert_problem_in(&l, "wrong.db",
                      ": holds no curve to plan with: all samples failed validation");
    outcome_free(&l.o);
    /* An older curve of the same key that is right is better than a newer one that is not. */
    l = load(write_database("wrong.db", r, 2));
    assert_loaded(&l.o);
    assert_int_equal(l.cluster.intra.curve_count, 1);
    assert_true(has_warning(&l.o, "curves left out because all samples failed validation: 1"));
    outcome_free(&l.o);
}

static void test_gpus_of_a_database(void **state)
{
    (void)state;
    recipe r[2] = {nvlink_pair, nvlink_pair};
    r[0].gpu = "Homemade X1";
    loaded l = load(write_database("own.db", r, 1));
    assert_loaded(&l.o);
    assert_null(l.cluster.gpu);
    assert_true(has_warning(&l.o, "the catalogue has no GPU 'Homemade X1'"));
    outcome_free(&l.o);
    r[0].gpu = "";
    l = load(write_database("own.db", r, 1));
    assert_loaded(&l.o);
    assert_true(has_warning(&l.o, "names no GPU"));
    outcome_free(&l.o);
    r[0].gpu = "NVIDIA H100 80GB HBM3";
    l = load(write_database("own.db", r, 2));
    assert_problem_in(&l, "own.db",
                      ": holds runs of different GPUs (NVIDIA H100 80GB HBM3, NVIDIA "
                      "H200); choose by label: FILE#LABEL");
    outcome_free(&l.o);
    l = load(write_database("own.db", r, 0));
    assert_problem_in(&l, "own.db", ": the calibration database holds no runs");
    outcome_free(&l.o);
}

static void test_settings_of_a_database(void **state)
{
    (void)state;
    const gl_setting settings[] = {{"parallel.tp", "2", "--set"}, {"cluster.nodes", "4", "--set"}};
    const char *path = write_database("set.db", &nvlink_pair, 1);
    loaded l = load_set(path, settings, 2);
    assert_problem_in(
        &l, "set.db",
        ": is a calibration database: --set cluster.nodes needs a cluster description");
    outcome_free(&l.o);
    l = load_set(path, settings, 1);
    assert_loaded(&l.o);
    outcome_free(&l.o);
}

/* ---- descriptions ---- */

static void test_description(void **state)
{
    (void)state;
    write_file("p.yaml", "prices: {name: my prices, parts: {nic.ib-ndr: {typical: 1500}}}\n");
    loaded l = load(write_file(
        "c.yaml",
        "cluster:\n  name: 16 x HGX H200\n  gpu: h200-sxm\n  nodes: 16\n  gpus_per_node: 8\n"
        "  intra_node: {link: nvlink4}\n"
        "  inter_node: {link: ib-ndr, nics_per_node: 8, fabric: rail-optimised,\n"
        "               oversubscription: 2, radix: 64}\n"
        "  site: {region: Nordic, electricity: 0.08 USD/kWh, pue: 1.3}\nprices: ./p.yaml\n"));
    assert_loaded(&l.o);
    const gl_cluster *c = &l.cluster;
    assert_string_equal(c->name, "16 x HGX H200");
    assert_string_equal(c->gpu->name, "h200-sxm");
    assert_true(c->gpu->bf16_flop_per_s.value > 9e14);
    assert_int_equal(c->gpu->bf16_flop_per_s.kind, GL_FIGURE_SPECIFICATION);
    assert_non_null(strstr(c->gpu->bf16_flop_per_s.source, "data sheet"));
    assert_int_equal(strlen(c->gpu->bf16_flop_per_s.date), 10);
    assert_int_equal(c->intra.link->transport, GL_TRANSPORT_NVLINK);
    assert_close(c->intra.link->bw_bytes_per_s.value, 450e9, 0);
    assert_int_equal(c->inter.link->transport, GL_TRANSPORT_NET_IB);
    assert_int_equal(c->fabric, GL_FABRIC_RAIL_OPTIMISED);
    assert_close(c->oversubscription, 2, 0);
    assert_int_equal(c->radix, 64);
    assert_string_equal(c->region, "Nordic");
    assert_close(c->terms.electricity_usd_per_kwh, 0.08, 0);
    assert_close(c->terms.stated[GL_TERM_PUE], 1.3, 0);
    assert_string_equal(c->price_list->name, "my prices");
    assert_close(gl_price_find(c->price_list, "nic", "ib-ndr")->typical, 1500, 0);
    assert_int_equal(l.o.warnings.count, 0);
    assert_true(c->bounded);
    outcome_free(&l.o);
    l = load(write_file("small.yaml", "cluster: {gpu: NVIDIA H200, nodes: 1, gpus_per_node: 1}\n"));
    assert_loaded(&l.o);
    assert_string_equal(l.cluster.name, "small");
    assert_string_equal(l.cluster.gpu->name, "h200-sxm");
    assert_true(isnan(l.cluster.terms.electricity_usd_per_kwh));
    assert_null(l.cluster.price_list);
    outcome_free(&l.o);
}

static void test_sites(void **state)
{
    (void)state;
    loaded l = load(
        write_file("c.yaml", DESCRIPTION INTRA
                   "  inter_node: {link: ib-ndr, nics_per_node: 8, in_network_reduction: true}\n"
                   "  sites: {count: 2, link: {bandwidth: 10 Gbit/s, latency: 20 ms}}\n"));
    assert_loaded(&l.o);
    assert_true(l.cluster.in_network_reduction);
    assert_int_equal(l.cluster.sites.count, 2);
    assert_close(l.cluster.sites.bw_bytes_per_s, 1.25e9, 0);
    assert_close(l.cluster.sites.latency_s, 0.02, 0);
    outcome_free(&l.o);
    refused(DESCRIPTION INTRA INTER "  sites: {count: 2, link: {latency: 20 ms}}\n",
            ":7:21: cluster.sites.link.bandwidth: missing; several sites need it");
    refused(DESCRIPTION INTRA INTER "  sites: {count: 999}\n",
            ":7:18: cluster.sites.count: 999 sites need as many nodes; there are 16");
}

static void test_description_refused(void **state)
{
    (void)state;
    refused(
        DESCRIPTION INTER,
        ":1:1: cluster.intra_node.link: missing; the GPUs of a node need a link or a calibration");
    refused(DESCRIPTION INTRA,
            ":1:1: cluster.inter_node.link: missing; several nodes need a link or a calibration");
    refused(DESCRIPTION INTRA "  inter_node: {link: ib-ndr}\n",
            ":6:3: cluster.inter_node.nics_per_node: missing; several nodes need it");
    refused("cluster:\n  gpu: h200-sxm\n  nodes: 1\n",
            ":1:1: cluster.gpus_per_node: missing; it is required");
    refused(
        "cluster:\n  gpu: h200-smx\n  nodes: 1\n  gpus_per_node: 1\n",
        ":2:8: cluster.gpu: the catalogue has no GPU 'h200-smx'; did you mean 'h200-sxm'? there "
        "are: …");
    refused(DESCRIPTION "  intra_node: {link: nvlink44}\n" INTER,
            ":5:22: cluster.intra_node.link: the catalogue has no link 'nvlink44'; did you mean "
            "'nvlink4'? there are: …");
    refused(DESCRIPTION INTRA INTER "  fabric: fat-tree\n",
            ":7:3: cluster.fabric: unknown field; did you mean 'cluster.inter_node.fabric'?");
    refused(DESCRIPTION INTRA "  inter_node: {link: ib-ndr, nics_per_node: 8, fabric: "
                              "rail-optimized}\n",
            ":6:56: cluster.inter_node.fabric: found 'rail-optimized'; did you mean "
            "'rail-optimised'? allowed: fat-tree, rail-optimised, rail-only");
    refused(DESCRIPTION INTRA INTER "  site: {electricity: 0.08}\n",
            ":7:23: cluster.site.electricity: '0.08' has no unit; needed: US dollars per "
            "kilowatt-hour, such as 0.08 USD/kWh");
    refused(DESCRIPTION "  intra_node: {calibration: nowhere.db}\n" INTER,
            ":5:29: cluster.intra_node.calibration: no such file or bundled calibration: "
            "'nowhere.db'…");
    refused("cluster:\n  gpu:\n  nodes: 1\n  gpus_per_node: 1\n",
            ":2:7: cluster.gpu: has no value");
    refused("", ": is empty");
}

#define LINKS(rest)                                                                                \
    DESCRIPTION INTRA "  inter_node: {link: ib-ndr, nics_per_node: 8, radix: 64, " rest "}\n"

static void accepted(const char *text, const char *warning)
{
    loaded l = load(write_file("c.yaml", text));
    if (!l.o.ok)
        fail_msg("refused: %s", text);
    assert_int_equal(l.o.warnings.count, warning != NULL);
    if (warning != NULL)
        assert_non_null(strstr(l.o.warnings.items[0], warning));
    outcome_free(&l.o);
}

/* A bill takes no cable that is too short for its link. */
static void test_cables_are_long_enough(void **state)
{
    (void)state;
    const char *own =
        LINKS("medium: dac, reach: {leaf: 50 m, spine: 2 m}") "prices: {parts: "
                                                              "{dac.ib-ndr: {reach: 60 m}}}\n";
    refused(LINKS("medium: dac, reach: {spine: 2 m}") "prices: standard\n",
            ":6:67: cluster.inter_node.medium: dac.ib-ndr reaches 3 m, and links from nodes to "
            "leaf switches are 50 m long (cluster.inter_node.reach.leaf, by default): take optics, "
            "or auto, or state shorter links");
    refused(LINKS("medium: dac, reach: {leaf: 2 m, spine: 30 m}") "prices: standard\n",
            ":6:67: cluster.inter_node.medium: dac.ib-ndr reaches 3 m, and links between switches "
            "are 30 m long (cluster.inter_node.reach.spine): …");
    refused(LINKS("reach: {leaf: 501 m}") "prices: standard\n",
            ":6:73: cluster.inter_node.reach.leaf: optic-switch.ib-ndr reaches 500 m, and links "
            "from nodes to leaf switches are 501 m long (cluster.inter_node.reach.leaf): the price "
            "list has nothing that reaches so far: …");
    accepted(LINKS("medium: dac, reach: {leaf: 3 m, spine: 2 m}") "prices: standard\n", NULL);
    accepted(LINKS("reach: {leaf: 500 m}") "prices: standard\n", NULL);
    accepted(own, NULL);
    /* One switch for all: no links between switches. */
    accepted(DESCRIPTION INTRA "  inter_node: {link: ib-ndr, nics_per_node: 1, radix: 64, medium: "
                               "dac, reach: {leaf: 2 m}}\nprices: standard\n",
             NULL);
    /* Without prices nothing is billed; a price without a reach says nothing of it. */
    accepted(LINKS("medium: dac"), NULL);
    accepted(DESCRIPTION INTRA "  inter_node: {link: ib-ndr, nics_per_node: 1, radix: 64, medium: "
                               "aec}\nprices: {parts: {aec.ib-ndr: {typical: 900}}}\n",
             "states no reach of aec.ib-ndr: whether it spans links from nodes to leaf switches");
}

static void test_settings_of_a_description(void **state)
{
    (void)state;
    const gl_setting settings[] = {{"cluster.nodes", "2", "--set"},
                                   {"parallel.tp", "8", "--set"},
                                   {"cluster.site.pue", "1.1", "--set"}};
    const char *path = write_file("c.yaml", DESCRIPTION INTRA INTER);
    loaded l = load_set(path, settings, 3);
    assert_loaded(&l.o);
    assert_int_equal(l.cluster.nodes, 2);
    assert_close(l.cluster.terms.stated[GL_TERM_PUE], 1.1, 0);
    outcome_free(&l.o);
    const gl_setting wrong = {"cluster.node", "2", "--set"};
    l = load_set(path, &wrong, 1);
    assert_problem(&l.o,
                   "--set cluster.node=2: cluster.node: unknown field; did you mean 'nodes'?");
    outcome_free(&l.o);
}

static void assert_named(const char *own, const char *option, const char *setting,
                         const char *value, const char *expected)
{
    char text[400];
    const gl_setting one = {setting, value, option};
    snprintf(text, sizeof text, DESCRIPTION INTRA INTER "%s%s", own[0] != '\0' ? "  name: " : "",
             own);
    loaded l = load_set(write_file("c.yaml", text), &one, 1);
    assert_loaded(&l.o);
    assert_string_equal(l.cluster.name, expected);
    outcome_free(&l.o);
}

/* No heading promises other machines than those that are planned. */
static void test_name_of_a_changed_cluster(void **state)
{
    (void)state;
    const char *own = "16 x HGX, 8 x NDR", *nodes = "cluster.nodes";
    assert_named(own, "--set", nodes, "8", "8 x HGX, 8 x NDR");
    assert_named(own, "--set", nodes, "16", own);
    assert_named(own, "--sweep", nodes, "8", "n x HGX, 8 x NDR");
    assert_named("8 x NDR each", "--set", nodes, "8", "8 x NDR each"); /* no number of nodes */
    assert_named("lab", "--set", nodes, "8", "lab");
    assert_named("", "--set", nodes, "8", "c");
    assert_named(own, "--set", "cluster.intra_node.link", "pcie5-x16",
                 "16 x HGX, 8 x NDR with intra_node.link=pcie5-x16");
    assert_named(own, "--sweep", "cluster.intra_node.link", "pcie5-x16", own);
    assert_named(own, "--set", "cluster.expansion.nodes", "32", own);
    assert_named(own, "--set", "cluster.name", "16 x ours", "16 x ours");
    const gl_setting all[] = {{nodes, "4", "--set"},
                              {"cluster.gpus_per_node", "4", "--set"},
                              {"parallel.tp", "4", "--set"},
                              {"cluster.inter_node.oversubscription", "2", "--set"}};
    loaded l = load_set(write_file("c.yaml", DESCRIPTION INTRA INTER "  name: 16 x HGX"), all, 4);
    assert_loaded(&l.o);
    assert_string_equal(l.cluster.name,
                        "4 x HGX with gpus_per_node=4, inter_node.oversubscription=2");
    outcome_free(&l.o);
}

static void test_price_lists(void **state)
{
    (void)state;
    refused(DESCRIPTION INTRA INTER "prices: standrd\n",
            ":7:9: prices: the catalogue has no price list 'standrd'; did you mean 'standard'? "
            "there are: standard");
    refused(DESCRIPTION INTRA INTER "  site: {colocation_per_kw_month: 150}\nprices: standard\n",
            ":7:35: cluster.site.colocation_per_kw_month: power is paid by energy here: state "
            "cluster.site.power_by: colocation, or leave this out; never both");
    loaded l = load(write_file("c.yaml", DESCRIPTION INTRA INTER "  site: {pue: 1.3}\n"));
    assert_loaded(&l.o);
    assert_int_equal(l.o.warnings.count, 1);
    assert_true(has_warning(&l.o, "is not used without a price list: add prices: standard"));
    outcome_free(&l.o);
    const gl_setting setting = {"prices.parts.nic.ib-ndr", "990", "--set"};
    l = load_set(write_file("c.yaml", DESCRIPTION INTRA INTER "prices: standard\n"), &setting, 1);
    assert_loaded(&l.o);
    const gl_price *nic = gl_price_find(l.cluster.price_list, "nic", "ib-ndr");
    assert_close(nic->typical, 990, 0);
    assert_close(nic->high, 990, 0);
    assert_string_equal(nic->title, "ConnectX-7, 400G");
    outcome_free(&l.o);
}

/* An expansion that cannot be is not passed over in silence. */
static void test_expansion(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *more, *warning;
    } cases[] = {
        {"8", "prices: standard\n", "8 nodes in the end are no more than the 16 of the cluster"},
        {"16", "prices: standard\n", "16 nodes in the end are no more than the 16 of the cluster"},
        {"32", "", "is not used without a price list: add prices: standard"},
        {"32", "  cost: {acquisition: rent}\nprices: standard\n",
         "what is rented is not bought in stages"},
        {"32", "prices: standard\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        const gl_setting settings[] = {{"cluster.nodes", "16", "--set"},
                                       {"cluster.expansion.nodes", cases[i].nodes, "--set"}};
        snprintf(text, sizeof text, "%s%s", DESCRIPTION INTRA INTER, cases[i].more);
        loaded l = load_set(write_file("c.yaml", text), settings, 2);
        assert_loaded(&l.o);
        if (cases[i].warning != NULL)
            assert_true(has_warning(&l.o, cases[i].warning));
        else
            assert_int_equal(l.o.warnings.count, 0);
        outcome_free(&l.o);
    }
}

static void test_calibrations_of_a_description(void **state)
{
    (void)state;
    recipe r[3] = {nvlink_pair, nvlink_pair, nvlink_pair};
    r[1].transport = GL_TRANSPORT_SHM;
    r[2].transport = GL_TRANSPORT_NET_IB;
    r[2].placement = (gl_placement){4, 2, 2, 1};
    write_database("both.db", r, 3);
    /* The link says which of the two transports inside a node is meant. */
    loaded l = load(write_file("c.yaml", DESCRIPTION
                               "  intra_node: {link: nvlink4, calibration: both.db}\n"
                               "  inter_node: {calibration: both.db, nics_per_node: 8}\n"));
    assert_loaded(&l.o);
    assert_int_equal(l.cluster.intra.curve_count, 1);
    assert_int_equal(l.cluster.intra.curves[0].transport, GL_TRANSPORT_NVLINK);
    assert_string_equal(l.cluster.intra.link->name, "nvlink4");
    assert_int_equal(l.cluster.inter.curve_count, 1);
    assert_int_equal(l.o.warnings.count, 0);
    outcome_free(&l.o);
    l = load(write_file("c.yaml", DESCRIPTION
                        "  intra_node: {link: pcie5-x16, calibration: both.db}\n" INTER));
    assert_problem_in(&l, "both.db",
                      ": holds no curves over pcie-p2p inside a node, only over nvlink, shm");
    outcome_free(&l.o);
    l = load(write_file("c.yaml", "cluster:\n  gpu: h100-sxm\n  nodes: 1\n  gpus_per_node: 8\n"
                                  "  intra_node: {link: nvlink4, calibration: both.db#nvlink}\n"));
    assert_loaded(&l.o);
    assert_true(has_warning(&l.o, ":5:44: cluster.intra_node.calibration: was measured on NVIDIA "
                                  "H200, the cluster has NVIDIA H100"));
    assert_string_equal(l.cluster.intra.calibration, "both#nvlink");
    outcome_free(&l.o);
    write_database("one.db", r, 1);
    l = load(write_file("c.yaml", DESCRIPTION INTRA
                        "  inter_node: {calibration: one.db, nics_per_node: 8}\n"));
    assert_problem_in(&l, "one.db", ": holds no curves across nodes");
    outcome_free(&l.o);
}

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    size_t count;
    loaded l = load("no-such-cluster");
    assert_problem(&l.o, "no such cluster: 'no-such-cluster'; expected: a calibration database, a "
                         "cluster description, or a bundled name (…");
    outcome_free(&l.o);
    l = load("/tmp");
    assert_problem(&l.o, "/tmp: is a directory; a file is expected");
    outcome_free(&l.o);
    l = load(write_file("x.db", "no database"));
    assert_problem_in(&l, "x.db", ": this is not a calibration database…");
    outcome_free(&l.o);
    l = load("/dev/null");
    assert_problem(&l.o, "/dev/null: is empty");
    outcome_free(&l.o);
    gl_arena *arena = gl_arena_create();
    const char *const *names = gl_datadir_list(arena, "clusters", "yaml", &count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        l = load(names[i]);
        assert_loaded(&l.o);
        outcome_free(&l.o);
    }
    gl_arena_destroy(arena);
}

/* ---- the catalogue ---- */

/* Every bundled file loads without a word. */
static void test_bundled_catalogue(void **state)
{
    (void)state;
    size_t count;
    outcome o = {.arena = gl_arena_create()};
    const char *const *names = gl_datadir_list(o.arena, "gpus", "yaml", &count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const gl_gpu *gpu = gl_catalogue_gpu(names[i], o.arena, &o.diagnostics);
        print_outcome(&o);
        assert_non_null(gpu);
        assert_string_equal(gpu->name, names[i]);
    }
    names = gl_datadir_list(o.arena, "links", "yaml", &count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const gl_link *link = gl_catalogue_link(names[i], o.arena, &o.diagnostics);
        print_outcome(&o);
        assert_non_null(link);
    }
    outcome_free(&o);
}

#define LINK_HEAD    "link:\n  title: T\n  transport: nvlink\n"
#define LINK_SOURCES "  sources: {s: {text: A source, date: 2026-11-30, kind: assumed}}\n"
#define LINK_FIGURES                                                                               \
    "  bandwidth: {value: 450 GB/s, source: s}\n"                                                  \
    "  efficiency: {value: 80%, low: 70%, source: s}\n"                                            \
    "  base_latency: {value: 7 us, source: s}\n"                                                   \
    "  step_latency: {value: 1 us, source: s}\n"

static void refused_link(const char *text, const char *rest)
{
    char expected[700];
    outcome o = {.arena = gl_arena_create()};
    const char *path = write_file("l.yaml", text);
    assert_null(gl_catalogue_link(path, o.arena, &o.diagnostics));
    snprintf(expected, sizeof expected, "%s%s", path, rest);
    assert_problem(&o, expected);
    outcome_free(&o);
}

static void test_link_files(void **state)
{
    (void)state;
    outcome o = {.arena = gl_arena_create()};
    const char *path = write_file("own.yaml", LINK_HEAD LINK_SOURCES LINK_FIGURES
                                  "  half_size: {value: 1 MiB, source: s}\n");
    const gl_link *link = gl_catalogue_link(path, o.arena, &o.diagnostics);
    print_outcome(&o);
    assert_non_null(link);
    assert_string_equal(link->name, "own");
    assert_string_equal(link->efficiency.source, "A source");
    assert_string_equal(link->efficiency.date, "2026-11-30");
    assert_int_equal(link->efficiency.kind, GL_FIGURE_ASSUMED);
    assert_int_equal(link->domain_gpus.kind, GL_FIGURE_ABSENT);
    outcome_free(&o);
    refused_link(LINK_HEAD LINK_SOURCES LINK_FIGURES,
                 ":1:1: link.half_size: missing; it is required");
    refused_link(LINK_HEAD LINK_SOURCES LINK_FIGURES "  half_size: {value: 1 MiB, source: sx}\n",
                 ":9:37: link.half_size.source: unknown source 'sx'; the document has: s");
    refused_link(LINK_HEAD LINK_SOURCES LINK_FIGURES "  half_size: {value: 1 ms, source: s}\n",
                 ":9:22: link.half_size.value: 'ms' measures a time, not an amount of bytes…");
    refused_link(LINK_HEAD "  sources: {s: {text: A, date: 2026, kind: assumed}}\n",
                 ":4:32: link: found date '2026'; needed: a day, such as 2026-11-20");
    refused_link(LINK_HEAD "  sources: {s: {text: A, date: 2026-13-45, kind: assumed}}\n",
                 ":4:32: link: found date '2026-13-45'; needed: a day, such as 2026-11-20");
    refused_link(LINK_HEAD "  sources: {s: {text: A, date: 2026-11-30, kind: guessed}}\n",
                 ":4:50: link: found kind 'guessed'; allowed: measured, specification, assumed");
    refused_link(LINK_HEAD "  sources: {s: {text: A, kind: assumed}}\n",
                 ":4:13: link.sources.s.date: missing; it is required");
    refused_link(LINK_HEAD "  sources: {s: A}\n",
                 ":4:16: link: a source is NAME: {text, url, date, kind}, its name without dots");
    refused_link(LINK_HEAD "  sources: [s]\n", ":4:12: link.sources: needed: a mapping of sources");
    refused_link("link:\n  title: T\n", ":1:1: link.transport: missing; it is required");
}

/* A warning that holds this fragment, or none about a bandwidth when it is NULL. */
static void doubted(const char *text, const char *fragment)
{
    loaded l = load(write_file("c.yaml", text));
    assert_loaded(&l.o); /* doubted, and planned all the same */
    if (fragment != NULL ? !has_warning(&l.o, fragment) : has_warning(&l.o, "is planned, ")) {
        print_outcome(&l.o);
        fail_msg("expected: %s", fragment != NULL ? fragment : "no doubt");
    }
    outcome_free(&l.o);
}

#define NIC(bandwidth)                                                                             \
    DESCRIPTION INTRA "  inter_node: {link: ib-ndr, nics_per_node: 8, bandwidth: " bandwidth "}\n"
#define OWN_LINK DESCRIPTION "  intra_node: {link: ./fast.yaml}\n" INTER

static void write_own_link(const char *transport, const char *bandwidth)
{
    char text[800];
    snprintf(text, sizeof text,
             "link:\n  title: T\n  transport: %s\n%s  bandwidth: {value: %s, source: s}\n"
             "  efficiency: {value: 80%%, source: s}\n  base_latency: {value: 7 us, source: s}\n"
             "  step_latency: {value: 1 us, source: s}\n  half_size: {value: 1 MiB, source: s}\n",
             transport, LINK_SOURCES, bandwidth);
    write_file("fast.yaml", text);
}

static void test_bits_taken_for_bytes(void **state)
{
    (void)state;
    doubted(NIC("400 GB/s"),
            "c.yaml:6:59: cluster.inter_node.bandwidth: a NIC of 400 GB/s is planned, 8 times what "
            "ib-ndr has (50.0 GB/s = 400 Gbit/s): bytes where bits are meant? did you mean 400 "
            "Gbit/s?");
    doubted(NIC("200 GB/s"), "4 times what ib-ndr has");
    doubted(NIC("400 Gbit/s"), NULL);
    doubted(NIC("50 GB/s"), NULL);
    doubted(NIC("800 Gbit/s"), NULL); /* the next generation under the name of this one */
    doubted(NIC("10 Gbit/s"), NULL);
    write_own_link("nvlink", "7200 GB/s");
    doubted(OWN_LINK, "fast.yaml: link.bandwidth: a link of 7200 GB/s is planned, 8 times the "
                      "fastest of its kind in the catalogue (nvl72, 900 GB/s per direction): bytes "
                      "where bits are meant?");
    write_own_link("nvlink", "1800 GB/s"); /* the next generation */
    doubted(OWN_LINK, NULL);
    write_own_link("pcie-p2p", "504 GB/s");
    doubted(OWN_LINK, "8 times the fastest of its kind in the catalogue (pcie5-x16");
    write_own_link("pcie-p2p", "128 GB/s");
    doubted(OWN_LINK, NULL);
    write_own_link("net-roce", "400 GB/s");
    doubted(DESCRIPTION INTRA "  inter_node: {link: ./fast.yaml, nics_per_node: 8}\n",
            "4 times the fastest of its kind in the catalogue (ib-xdr, 100 GB/s per direction)");
}

#define PODS(nodes, more)                                                                          \
    "cluster: {name: pods, gpu: h200-sxm, nodes: " nodes ", gpus_per_node: 8,\n"                   \
    "  intra_node: {link: nvlink4}, inter_node: {link: ib-ndr, nics_per_node: 8,\n"                \
    "  fabric: rail-optimised, core_oversubscription: 7" more "}}\n"

static void test_thinned_cores_need_cores(void **state)
{
    (void)state;
    loaded l = load(write_file("c.yaml", PODS("512", ", radix: 64")));
    assert_loaded(&l.o);
    assert_close(l.cluster.core_oversubscription, 7, 0);
    assert_int_equal(l.o.warnings.count, 0);
    outcome_free(&l.o);
    l = load(write_file("c.yaml", PODS("256", ", radix: 64")));
    assert_loaded(&l.o);
    assert_int_equal(l.o.warnings.count, 1);
    assert_non_null(strstr(l.o.warnings.items[0],
                           "c.yaml:3:50: cluster.inter_node.core_oversubscription: "
                           "256 nodes need no core above spines of 64 ports"));
    outcome_free(&l.o);
    refused(PODS("512", ", oversubscription: 64, radix: 64"),
            ":3:71: cluster.inter_node.oversubscription: a switch of 64 ports is at most 63:1, not "
            "64:1");
    refused(PODS("512", ", radix: 2"), ":3:50: cluster.inter_node.core_oversubscription: a switch "
                                       "of 2 ports is at most 1:1, not 7:1");
    refused(PODS("512", ""),
            ":2:32: cluster.inter_node.radix: missing; which groups cross a core depends on it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_database_is_a_cluster),
        cmocka_unit_test(test_newest_complete_run_wins),
        cmocka_unit_test(test_price_lists),
        cmocka_unit_test(test_expansion),
        cmocka_unit_test(test_transports_and_labels),
        cmocka_unit_test(test_unknown_transports_yield),
        cmocka_unit_test(test_curves_that_failed_validation),
        cmocka_unit_test(test_gpus_of_a_database),
        cmocka_unit_test(test_settings_of_a_database),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_description_refused),
        cmocka_unit_test(test_cables_are_long_enough),
        cmocka_unit_test(test_settings_of_a_description),
        cmocka_unit_test(test_name_of_a_changed_cluster),
        cmocka_unit_test(test_calibrations_of_a_description),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_thinned_cores_need_cores),
        cmocka_unit_test(test_bundled_catalogue),
        cmocka_unit_test(test_link_files),
        cmocka_unit_test(test_bits_taken_for_bytes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
