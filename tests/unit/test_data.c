/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every bundled file loads without a diagnostic, and what it says is possible. */
#include "tests/support.h"

#include "common/datadir.h"
#include "planner/core/bom.h"
#include "planner/core/parameters.h"
#include "planner/input/catalogue.h"
#include "planner/input/cluster_file.h"
#include "planner/input/model_file.h"
#include "planner/input/price_file.h"

#include <dirent.h>
#include <stdlib.h>

/* ---- help ---- */

static int setup(void **state)
{
    *state = gl_arena_create();
    return 0;
}

static int teardown(void **state)
{
    gl_arena_destroy(*state);
    return 0;
}

static void assert_clean(const char *name, const gl_diagnostics *diagnostics)
{
    char text[1400];
    for (size_t i = 0; i < diagnostics->count; i++)
        fprintf(stderr, "%s\n", gl_error_text(&diagnostics->items[i], text, sizeof text));
    if (diagnostics->count > 0)
        fail_msg("%s has problems", name);
}

static const char *source_path(gl_arena *arena, const char *path)
{
    return gl_arena_printf(arena, "%s/../%s", TEST_SOURCE_DIR, path);
}

static bool exists(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* First line of a file, without its line end. */
static const char *first_line(gl_arena *arena, const char *path)
{
    char line[512] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    return gl_arena_strdup(arena, line);
}

typedef void (*file_check)(gl_arena *arena, const char *folder, const char *name);

/* Runs a check for every entry of a folder of the source tree whose name ends in `ending`; returns
 * how many there were. */
static int for_each(gl_arena *arena, const char *folder, const char *ending, file_check check)
{
    int count = 0;
    DIR *dir = opendir(source_path(arena, folder));
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (entry->d_name[0] == '.' || length < tail ||
            strcmp(entry->d_name + length - tail, ending) != 0)
            continue;
        check(arena, folder, entry->d_name);
        count++;
    }
    closedir(dir);
    return count;
}

/* ---- figures ---- */

static void check_figure(const char *file, const char *field, const gl_figure *f, double maximum)
{
    if (f->kind == GL_FIGURE_ABSENT)
        return;
    if (!(f->value > 0 && f->low > 0 && f->low <= f->value && f->value <= f->high &&
          f->high <= maximum))
        fail_msg("%s: %s is %g … %g … %g", file, field, f->low, f->value, f->high);
    if (f->source == NULL || f->source[0] == '\0' || f->date == NULL || strlen(f->date) != 10)
        fail_msg("%s: %s lacks a source or its date", file, field);
}

/* An efficiency is a range: nobody knows one exactly. */
static void check_share(const char *file, const char *field, const gl_figure *f)
{
    check_figure(file, field, f, 1.0);
    if (f->kind != GL_FIGURE_ABSENT && !(f->low < f->high))
        fail_msg("%s: %s has no range", file, field);
}

static void check_gpu_figures(const gl_gpu *g)
{
    check_figure(g->name, "memory", &g->memory_bytes, 1e12);
    check_figure(g->name, "memory_bandwidth", &g->memory_bw_bytes_per_s, 2e13);
    check_figure(g->name, "bf16", &g->bf16_flop_per_s, 1e16);
    check_figure(g->name, "fp16", &g->fp16_flop_per_s, 1e16);
    check_figure(g->name, "fp32", &g->fp32_flop_per_s, 1e15);
    check_figure(g->name, "fp8", &g->fp8_flop_per_s, 1e16);
    check_share(g->name, "memory_efficiency", &g->memory_efficiency);
    check_share(g->name, "gemm_efficiency", &g->gemm_efficiency);
    check_share(g->name, "fp8_gemm_efficiency", &g->fp8_gemm_efficiency);
    check_share(g->name, "attention_efficiency", &g->attention_efficiency);
    check_share(g->name, "attention_backward_efficiency", &g->attention_backward_efficiency);
    check_figure(g->name, "kernel_launch", &g->kernel_launch_s, 1e-4);
    check_figure(g->name, "sm_count", &g->sm_count, 1000);
    check_figure(g->name, "power", &g->power_w, 3000);
    if (g->fp8_flop_per_s.kind != GL_FIGURE_ABSENT)
        assert_close(g->fp8_flop_per_s.value, 2 * g->bf16_flop_per_s.value, 0.02);
    assert_true(g->attention_backward_efficiency.value <= g->attention_efficiency.value);
}

static void check_gpu(gl_arena *arena, const char *folder, const char *file)
{
    (void)folder;
    gl_diagnostics diagnostics = {0};
    const char *name = gl_arena_strndup(arena, file, strlen(file) - strlen(".yaml"));
    const gl_gpu *gpu = gl_catalogue_gpu(name, arena, &diagnostics);
    assert_clean(file, &diagnostics);
    assert_non_null(gpu);
    assert_string_equal(gpu->name, name);
    check_gpu_figures(gpu);
    assert_non_null(gpu->aliases);
    assert_non_null(gpu->aliases[0]);
    for (const char *const *alias = gpu->aliases; *alias != NULL; alias++) {
        const gl_gpu *found = gl_catalogue_gpu(*alias, arena, &diagnostics);
        assert_non_null(found);
        assert_string_equal(found->name, name); /* also: no two GPUs share an alias */
    }
}

static void check_link(gl_arena *arena, const char *folder, const char *file)
{
    (void)folder;
    gl_diagnostics diagnostics = {0};
    const char *name = gl_arena_strndup(arena, file, strlen(file) - strlen(".yaml"));
    const gl_link *link = gl_catalogue_link(name, arena, &diagnostics);
    assert_clean(file, &diagnostics);
    assert_non_null(link);
    assert_string_equal(link->name, name);
    assert_int_not_equal(link->transport, GL_TRANSPORT_UNKNOWN);
    check_figure(name, "bandwidth", &link->bw_bytes_per_s, 2e12);
    check_share(name, "efficiency", &link->efficiency);
    check_share(name, "alltoall_efficiency", &link->alltoall_efficiency);
    check_share(name, "p2p_efficiency", &link->p2p_efficiency);
    check_share(name, "switch_efficiency", &link->switch_efficiency);
    check_figure(name, "switch_latency", &link->switch_latency_s, 1e-3);
    check_figure(name, "base_latency", &link->base_latency_s, 1e-3);
    check_figure(name, "step_latency", &link->step_latency_s, 1e-3);
    check_figure(name, "half_size", &link->half_size_bytes, 1e9);
    check_figure(name, "domain_gpus", &link->domain_gpus, 1000);
}

static void test_every_transport_has_an_overlap_tax(void **state)
{
    gl_arena *arena = gl_arena_create();
    gl_diagnostics diagnostics = {0};
    const gl_overlap_taxes *taxes = gl_catalogue_overlap(arena, &diagnostics);
    (void)state;
    assert_non_null(taxes);
    for (int t = GL_TRANSPORT_NVLINK; t <= GL_TRANSPORT_NET_SOCKET; t++) {
        assert_int_not_equal(taxes->by_transport[t].kind, GL_FIGURE_ABSENT);
        check_figure("overlap", gl_transport_name((gl_transport)t), &taxes->by_transport[t], 2);
    }
    gl_arena_destroy(arena);
}

/* ---- clusters and calibrations ---- */

/* What is billed can be bought: switches with the ports of those that are priced, whole servers.
 * What a project costs is the price list's, not the cluster's. */
static void check_bill(gl_arena *arena, gl_cluster *cluster)
{
    gl_bom bom;
    gl_diagnostics diagnostics = {0};
    cluster->price_list = gl_prices_load("standard", arena, &diagnostics);
    assert_clean("standard", &diagnostics);
    gl_bom_build(cluster, cluster->nodes, arena, &bom);
    for (size_t i = 0; i < bom.notes.count; i++)
        if (strncmp(bom.notes.items[i], "labour.lossless is", 18) != 0)
            fail_msg("%s: %s", cluster->name, bom.notes.items[i]);
    if (bom.missing != NULL && strstr(bom.missing, "the switches of the description") != NULL)
        fail_msg("%s: %s", cluster->name, bom.missing);
}

static void check_cluster(gl_arena *arena, const char *folder, const char *file)
{
    gl_diagnostics diagnostics = {0};
    gl_texts warnings = {0};
    gl_cluster cluster = {0};
    const char *name = gl_arena_strndup(arena, file, strlen(file) - strlen(".yaml"));
    bool loaded = gl_cluster_load(name, NULL, 0, arena, &cluster, &warnings, &diagnostics);
    assert_clean(file, &diagnostics);
    assert_true(loaded);
    assert_int_equal(warnings.count, 0);
    assert_non_null(cluster.gpu);
    assert_non_null(cluster.intra.link);
    assert_non_null(cluster.inter.link);
    assert_true(cluster.bounded);
    check_bill(arena, &cluster);
    const char *path = source_path(arena, gl_arena_printf(arena, "%s/%s", folder, file));
    assert_int_equal(strncmp(first_line(arena, path), "# ", 2), 0); /* says what it is */
}

static void assert_header(gl_arena *arena, const char *folder, const char *file, const char *header)
{
    const char *path = source_path(arena, gl_arena_printf(arena, "%s/%s", folder, file));
    assert_string_equal(first_line(arena, path), header);
}

static void check_calibration(gl_arena *arena, const char *folder, const char *name)
{
    folder = gl_arena_printf(arena, "%s/%s", folder, name);
    assert_true(exists(source_path(arena, gl_arena_printf(arena, "%s/import.args", folder))));
    assert_true(exists(source_path(arena, gl_arena_printf(arena, "%s/README.md", folder))));
    assert_header(arena, folder, "compute.csv", "kind,dtype,m,n,k,time_s,time_p95_s");
    assert_header(arena, folder, "overlap.csv",
                  "transport,collective,size_bytes,gemm_m,gemm_n,gemm_k,compute_alone_s,"
                  "communication_alone_s,together_s");
}

/* ---- models ---- */

/* The command in the first line names this file and a bundled cluster that is large enough. */
static void check_command(gl_arena *arena, const char *file, const gl_workload *workload)
{
    const char *path = source_path(arena, gl_arena_printf(arena, "models/%s", file));
    const char *line = first_line(arena, path), *option = strstr(line, " --cluster ");
    assert_int_equal(strncmp(line, "# ", 2), 0);
    assert_non_null(strstr(line, gl_arena_printf(arena, "gpulink-plan models/%s ", file)));
    assert_non_null(option);
    const char *name = option + strlen(" --cluster ");
    if (gl_datadir_find(arena, "clusters", name, "yaml") == NULL) {
        const char *args = gl_arena_printf(arena, "data/calibrations/%s/import.args", name);
        assert_true(exists(source_path(arena, args)));
        return;
    }
    gl_diagnostics diagnostics = {0};
    gl_texts warnings = {0};
    gl_cluster cluster = {0};
    assert_true(gl_cluster_load(name, NULL, 0, arena, &cluster, &warnings, &diagnostics));
    assert_true(gl_workload_ranks(workload) <= (int64_t)cluster.nodes * cluster.gpus_per_node);
}

static void check_model(gl_arena *arena, const char *folder, const char *file)
{
    gl_diagnostics diagnostics = {0};
    gl_texts warnings = {0};
    gl_workload workload;
    const char *path = source_path(arena, gl_arena_printf(arena, "%s/%s", folder, file));
    bool loaded = gl_model_file_load(path, NULL, 0, arena, &workload, &warnings, &diagnostics);
    assert_clean(file, &diagnostics);
    assert_true(loaded);
    check_command(arena, file, &workload);
    if (!gl_model_has_architecture(&workload.model))
        return;
    gl_parameters parameters;
    gl_parameters_build(&workload.model, &workload.parallel, arena, &parameters);
    if (strcmp(file, "gpt3-175b.yaml") == 0) /* published as 174.6 billion */
        assert_close((double)parameters.total, workload.model.parameters, 0.001);
    else if (parameters.total != (int64_t)workload.model.parameters)
        fail_msg("%s has %lld parameters", file, (long long)parameters.total);
}

/* ---- tests ---- */

static void test_gpus_load(void **state)
{
    assert_true(for_each(*state, "data/gpus", ".yaml", check_gpu) >= 19);
}

static void test_links_load(void **state)
{
    assert_true(for_each(*state, "data/links", ".yaml", check_link) >= 23);
}

/* Every price has a source with a date, and every part without one a title to ask for. */
static void test_prices_load(void **state)
{
    gl_diagnostics diagnostics = {0};
    const gl_price_list *list = gl_prices_load("standard", *state, &diagnostics);
    assert_non_null(list);
    assert_string_equal(list->currency, "USD");
    assert_true(list->count > 90);
    for (size_t i = 0; i < list->count; i++) {
        const gl_price *price = &list->prices[i];
        if (strlen(price->date) != 10 || price->title[0] == '\0' || price->unit[0] == '\0' ||
            price->confidence == GL_CONFIDENCE_OWN)
            fail_msg("%s has no date, title, unit or source of the list", price->part);
        assert_true(isnan(price->typical) ||
                    (price->low <= price->typical && price->typical <= price->high));
    }
    for (int i = 0; i < GL_TERM_COUNT; i++)
        if (gl_price_find(list, "term", gl_cost_term_name((gl_cost_term)i)) == NULL)
            fail_msg("the list has no term.%s", gl_cost_term_name((gl_cost_term)i));
}

static void test_clusters_load(void **state)
{
    assert_true(for_each(*state, "data/clusters", ".yaml", check_cluster) >= 4);
}

static void test_calibrations_are_complete(void **state)
{
    assert_true(for_each(*state, "data/calibrations", "", check_calibration) >= 3);
}

static void test_models_load_and_count(void **state)
{
    assert_true(for_each(*state, "models", ".yaml", check_model) >= 12);
}

/* What the measured H200 figures come from, so that an edit of one is noticed. */
static void test_h200_matches_its_measurements(void **state)
{
    gl_diagnostics diagnostics = {0};
    const gl_gpu *gpu = gl_catalogue_gpu("NVIDIA H200", *state, &diagnostics);
    assert_non_null(gpu);
    double flop = 2.0 * 8192 * 8192 * 8192;
    double share = flop / 1.53533e-3 / gpu->bf16_flop_per_s.value;
    assert_true(gpu->gemm_efficiency.kind == GL_FIGURE_MEASURED);
    assert_true(share >= gpu->gemm_efficiency.low && share <= gpu->gemm_efficiency.high);
    assert_close(gpu->gemm_efficiency.value, share, 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_transport_has_an_overlap_tax),
        cmocka_unit_test_setup_teardown(test_gpus_load, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links_load, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clusters_load, setup, teardown),
        cmocka_unit_test_setup_teardown(test_prices_load, setup, teardown),
        cmocka_unit_test_setup_teardown(test_calibrations_are_complete, setup, teardown),
        cmocka_unit_test_setup_teardown(test_models_load_and_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_h200_matches_its_measurements, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
