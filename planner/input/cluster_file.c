/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/cluster_file.h"

#include "common/datadir.h"
#include "common/text.h"
#include "common/units.h"
#include "planner/input/calibration.h"
#include "planner/input/catalogue.h"
#include "planner/input/cluster_parts.h"
#include "planner/input/file_text.h"
#include "planner/input/model_file.h"
#include "planner/input/notes.h"
#include "planner/input/plausible.h"
#include "planner/input/price_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LIST_BYTES = 320, GUESS_BYTES = 200 };

typedef gl_cluster_loader loader;

static gl_cluster default_cluster(void)
{
    return (gl_cluster){
        .oversubscription = 1, .core_oversubscription = 1, .terms = gl_cost_terms_defaults()};
}

/* ---- a database as a cluster ---- */

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* A node is at least as large as the groups that worked on it at the same time. */
static void size_from_curves(gl_cluster *cluster, const gl_curve *curves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const gl_placement *p = &curves[i].placement;
        cluster->nodes = larger(cluster->nodes, p->nodes);
        cluster->gpus_per_node =
            larger(cluster->gpus_per_node, p->ranks_per_node * p->concurrent_groups);
        cluster->nics_per_node = larger(cluster->nics_per_node, curves[i].nics);
    }
}

static void find_measured_gpu(const loader *l, const gl_calibration *measured, const char *file)
{
    gl_mark mark = {.file = file};
    size_t before = gl_diagnostics_found(l->diagnostics);
    if (measured->gpu[0] == '\0') {
        gl_warn(l->warnings, l->arena, &mark, NULL,
                "names no GPU: compute and memory are not planned");
        return;
    }
    l->cluster->gpu = gl_catalogue_gpu(measured->gpu, l->arena, l->diagnostics);
    if (l->cluster->gpu == NULL && gl_diagnostics_found(l->diagnostics) == before)
        gl_warn(l->warnings, l->arena, &mark, NULL,
                "the catalogue has no GPU '%.100s': compute and memory are not planned",
                measured->gpu);
}

static void use_rates(gl_cluster *cluster, const gl_calibration *measured)
{
    cluster->compute = measured->compute;
    cluster->compute_count = measured->compute_count;
    cluster->overlap = measured->overlap;
    cluster->overlap_count = measured->overlap_count;
}

static void use_curves(gl_tier *tier, const gl_curve *curves, size_t count, const char *name)
{
    if (count > 0)
        *tier = (gl_tier){
            .link = tier->link, .curves = curves, .curve_count = count, .calibration = name};
}

static bool load_database(const loader *l, const char *file, const char *label)
{
    gl_calibration_request request = {.file = file, .label = label, .tier = GL_BOTH_TIERS};
    gl_calibration measured;
    gl_error err;
    gl_cluster *cluster = l->cluster;
    if (!gl_calibration_load(&request, l->arena, &measured, l->warnings, &err))
        return gl_diagnose_error(l->diagnostics, &err);
    cluster->name = measured.name;
    size_from_curves(cluster, measured.inside, measured.inside_count);
    size_from_curves(cluster, measured.across, measured.across_count);
    use_curves(&cluster->intra, measured.inside, measured.inside_count, measured.name);
    use_curves(&cluster->inter, measured.across, measured.across_count, measured.name);
    use_rates(cluster, &measured);
    if (cluster->nodes == 1)
        cluster->nics_per_node = 0;
    else if (cluster->nics_per_node == 0) {
        cluster->nics_per_node = cluster->gpus_per_node;
        gl_warn(l->warnings, l->arena, &(gl_mark){.file = file}, NULL,
                "states no NICs; one for each of the %d GPUs of a node is assumed",
                cluster->gpus_per_node);
    }
    find_measured_gpu(l, &measured, file);
    return true;
}

/* ---- catalogue entries of a description ---- */

/* What links are called beside the names of the catalogue, by which they begin. */
static const char *catalogue_name(const char *name, gl_arena *arena)
{
    static const char *const aliases[][2] = {{"infiniband", "ib-"},     {"ib", "ib-"},
                                             {"nvswitch", "nvlink"},    {"tcp", "ethernet-"},
                                             {"omnipath", "omni-path"}, {"opa", "omni-path"}};
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        size_t length = strlen(aliases[i][0]);
        const char *rest = name + length;
        if (strncasecmp(name, aliases[i][0], length) != 0 ||
            (*rest != '\0' && strchr("-_ ", *rest) == NULL))
            continue;
        rest += strspn(rest, "-_ ");
        return gl_arena_printf(arena, "%s%s", aliases[i][1], rest);
    }
    return name;
}

/* A name that is a file of one's own is seen from the description's folder. */
static const char *entry_name(const loader *l, const char *path, const char *name)
{
    const gl_yaml_node *node = gl_yaml_find(&l->tree, path);
    return gl_catalogue_is_own_file(name) && !gl_yaml_is_setting(node)
               ? gl_file_beside(l->arena, l->tree.file, name)
               : name;
}

/* "no GPU of this name in the catalogue; did you mean 'h200-sxm'? there are: …", or of a path "no
 * such file". A name that is wrong in a setting is wrong in the command line. */
static void diagnose_no_entry(const loader *l, const char *path, const char *name,
                              const char *folder, const char *what)
{
    size_t count;
    char guess[GUESS_BYTES], list[LIST_BYTES], shown[64];
    gl_error err;
    const gl_yaml_node *node = gl_yaml_find(&l->tree, path);
    if (gl_catalogue_is_own_file(name)) {
        const char *file = entry_name(l, path, name);
        gl_diagnose(l->diagnostics, &node->mark, path, "no such file: %.200s%s", file,
                    gl_file_guess(l->arena, file));
        return;
    }
    const char *const *names = gl_datadir_list(l->arena, folder, "yaml", &count);
    gl_did_you_mean(strcmp(folder, "links") == 0 ? catalogue_name(name, l->arena) : name, names,
                    count, guess, sizeof guess);
    gl_fail_at(&err, gl_yaml_is_setting(node) ? GL_ERROR_USAGE : GL_ERROR_INPUT, &node->mark, path,
               "the catalogue has no %s '%s'%s there are: %s", what,
               gl_printable(name, shown, sizeof shown), guess,
               gl_list_names(names, count, list, sizeof list));
    gl_diagnose_error(l->diagnostics, &err);
}

static void load_gpu(const loader *l)
{
    size_t before = gl_diagnostics_found(l->diagnostics);
    const char *path = "cluster.gpu";
    const char *name = gl_fields_text(&l->tree, path, l->diagnostics);
    if (name == NULL)
        return;
    l->cluster->gpu = gl_catalogue_gpu(entry_name(l, path, name), l->arena, l->diagnostics);
    if (l->cluster->gpu == NULL && gl_diagnostics_found(l->diagnostics) == before)
        diagnose_no_entry(l, path, name, "gpus", "GPU");
}

static void load_link(const loader *l, const char *path, const gl_link **link)
{
    size_t before = gl_diagnostics_found(l->diagnostics);
    const char *name = gl_fields_text(&l->tree, path, l->diagnostics);
    if (name == NULL)
        return;
    const char *entry = entry_name(l, path, name);
    *link = gl_catalogue_link(entry, l->arena, l->diagnostics);
    if (*link == NULL && gl_diagnostics_found(l->diagnostics) == before)
        diagnose_no_entry(l, path, name, "links", "link");
    if (*link != NULL)
        gl_doubt_link(*link, entry, l->arena, l->warnings);
}

/* What is plugged into PCIe. Through host memory is PCIe, too. */
static bool is_slot(const gl_link *link)
{
    return link->transport == GL_TRANSPORT_PCIE_P2P || link->transport == GL_TRANSPORT_SHM;
}

/* Names of the catalogue's slots: "pcie3-x16, pcie4-x16, …". */
static const char *list_slots(const loader *l)
{
    size_t count;
    const char *text = "";
    const char *const *names = gl_datadir_list(l->arena, "links", "yaml", &count);
    for (size_t i = 0; i < count; i++) {
        const gl_link *link = gl_catalogue_link(names[i], l->arena, l->diagnostics);
        if (link != NULL && is_slot(link))
            text = gl_arena_append(l->arena, text, ", ", names[i]);
    }
    return text;
}

static void load_slot(const loader *l)
{
    static const char path[] = "cluster.inter_node.slot";
    gl_cluster *c = l->cluster;
    load_link(l, path, &c->nic_slot);
    if (c->nic_slot == NULL || is_slot(c->nic_slot))
        return;
    const gl_yaml_node *node = gl_yaml_find(&l->tree, path);
    gl_error err;
    gl_fail_at(&err, gl_yaml_is_setting(node) ? GL_ERROR_USAGE : GL_ERROR_INPUT, &node->mark, path,
               "%s is no PCIe link, which a NIC is plugged into: take one of %s", c->nic_slot->name,
               list_slots(l));
    gl_diagnose_error(l->diagnostics, &err);
}

static void scale_figure(gl_figure *figure, double factor)
{
    figure->value *= factor;
    figure->low *= factor;
    figure->high *= factor;
}

/* A NIC that is faster than what it is plugged into waits for it. */
static void limit_by_slot(const loader *l, gl_link *link)
{
    const gl_cluster *c = l->cluster;
    double most = gl_cluster_slot_bandwidth(c);
    if (most >= link->bw_bytes_per_s.value)
        return;
    bool whole = most >= c->nic_slot->bw_bytes_per_s.value;
    gl_mark mark = gl_fields_mark(&l->tree, "cluster.inter_node.slot");
    gl_warn(l->warnings, l->arena, &mark, "cluster.inter_node.slot",
            "a NIC of %s on %s%s is planned with %s: %s",
            gl_quantity_text(link->bw_bytes_per_s.value, GL_BYTES_PER_S, l->arena),
            c->nic_slot->name,
            c->nic_attachment == GL_ATTACHED_TO_SWITCH ? ""
            : c->nic_attachment == GL_ATTACHED_TO_CPU  ? " that hangs off the CPU"
                                                       : " that hangs off another CPU",
            gl_quantity_text(most, GL_BYTES_PER_S, l->arena),
            whole ? "the slot carries no more" : "no more passes from a GPU through CPUs");
    scale_figure(&link->bw_bytes_per_s, most / link->bw_bytes_per_s.value);
}

/* A bandwidth that the description states instead of the link's; of fewer GPUs that are wired to
 * each other in proportion. */
static void state_bandwidth(const loader *l, const gl_stated_bandwidth *stated, gl_link *link)
{
    double bw = stated->bw_bytes_per_s, factor = bw / link->bw_bytes_per_s.value;
    gl_doubt_stated(stated, link, l->arena, l->warnings);
    if (bw <= 0)
        return;
    scale_figure(&link->pair_bw_bytes_per_s, factor);
    scale_figure(&link->quad_bw_bytes_per_s, factor);
    link->bw_bytes_per_s = (gl_figure){.value = bw,
                                       .low = bw,
                                       .high = bw,
                                       .kind = GL_FIGURE_SPECIFICATION,
                                       .source = "stated in the cluster description",
                                       .date = ""};
}

/* What the description states of the link inside a node. */
static void adapt_inside(const loader *l)
{
    static const char path[] = "cluster.intra_node.bandwidth";
    gl_tier *tier = &l->cluster->intra;
    const gl_stated_bandwidth stated = {l->cluster->intra_bw_bytes_per_s, path,
                                        "a link inside a node", gl_fields_mark(&l->tree, path)};
    if (tier->link == NULL || stated.bw_bytes_per_s <= 0)
        return;
    gl_link *link = GL_ARENA_NEW(l->arena, gl_link, 1);
    *link = *tier->link;
    state_bandwidth(l, &stated, link);
    tier->link = link;
}

/* Bandwidth and latency that the description states instead of the link's. */
static void adapt_link(const loader *l)
{
    static const char path[] = "cluster.inter_node.bandwidth";
    const gl_cluster *c = l->cluster;
    const gl_stated_bandwidth bandwidth = {c->nic_bw_bytes_per_s, path, "a NIC",
                                           gl_fields_mark(&l->tree, path)};
    bool stated = c->nic_bw_bytes_per_s > 0 || c->network_latency_s > 0;
    if (c->inter.link == NULL || !(stated || c->nic_slot != NULL))
        return;
    gl_link *link = GL_ARENA_NEW(l->arena, gl_link, 1);
    *link = *c->inter.link;
    state_bandwidth(l, &bandwidth, link);
    link->step_latency_s.value += c->network_latency_s;
    link->step_latency_s.low += c->network_latency_s;
    link->step_latency_s.high += c->network_latency_s;
    limit_by_slot(l, link);
    l->cluster->inter.link = link;
}

/* A link that joins fewer GPUs than a node has leaves domains, when what joins those is named. */
static void find_domain(const loader *l)
{
    gl_cluster *c = l->cluster;
    const gl_link *link = c->intra.link;
    if (c->domain_gpus == 0 && c->outside != NULL && link != NULL &&
        link->domain_gpus.kind != GL_FIGURE_ABSENT && link->domain_gpus.value < c->gpus_per_node)
        c->domain_gpus = (int)link->domain_gpus.value;
}

/* ---- calibrations of a description ---- */

static void check_same_gpu(const loader *l, const gl_mark *mark, const char *path,
                           const gl_calibration *measured)
{
    const gl_gpu *gpu = l->cluster->gpu;
    if (gpu == NULL || measured->gpu[0] == '\0' || strcmp(gpu->title, measured->gpu) == 0)
        return;
    for (size_t i = 0; gpu->aliases[i] != NULL; i++)
        if (strcmp(gpu->aliases[i], measured->gpu) == 0)
            return;
    gl_warn(l->warnings, l->arena, mark, path, "was measured on %.100s, the cluster has %.100s",
            measured->gpu, gpu->title);
}

static const char *find_calibration(const loader *l, const gl_yaml_node *node, const char *path,
                                    const char *name, const char **label)
{
    size_t count;
    gl_error err;
    char guess[GUESS_BYTES], list[LIST_BYTES], shown[64];
    const char *base = gl_yaml_is_setting(node) ? NULL : l->tree.file;
    const char *file = gl_calibration_find(name, base, l->arena, label);
    if (file != NULL)
        return file;
    const char *const *names = gl_datadir_list(l->arena, "calibrations", "db", &count);
    gl_did_you_mean(name, names, count, guess, sizeof guess);
    bool named = strchr(name, '/') == NULL && strstr(name, ".db") == NULL;
    gl_fail_at(&err, named && gl_yaml_is_setting(node) ? GL_ERROR_USAGE : GL_ERROR_INPUT,
               &node->mark, path, "no such file or bundled calibration: '%s'%s bundled: %s",
               gl_printable(name, shown, sizeof shown), guess,
               count > 0 ? gl_list_names(names, count, list, sizeof list) : "none");
    gl_diagnose_error(l->diagnostics, &err);
    return NULL;
}

static void load_calibration(const loader *l, const char *path, gl_calibration_tier which,
                             gl_tier *tier)
{
    gl_error err;
    gl_calibration measured;
    gl_calibration_request request = {.tier = which};
    const gl_yaml_node *node = gl_yaml_find(&l->tree, path);
    const char *name = gl_fields_text(&l->tree, path, l->diagnostics);
    if (name == NULL)
        return;
    request.file = find_calibration(l, node, path, name, &request.label);
    request.transport = tier->link != NULL ? tier->link->transport : GL_TRANSPORT_UNKNOWN;
    if (request.file == NULL)
        return;
    if (!gl_calibration_load(&request, l->arena, &measured, l->warnings, &err)) {
        gl_diagnose_error(l->diagnostics, &err);
        return;
    }
    check_same_gpu(l, &node->mark, path, &measured);
    if (which == GL_INSIDE_NODES)
        use_curves(tier, measured.inside, measured.inside_count, measured.name);
    else
        use_curves(tier, measured.across, measured.across_count, measured.name);
    if (l->cluster->compute_count + l->cluster->overlap_count == 0)
        use_rates(l->cluster, &measured);
}

/* ---- a description ---- */

static const char *default_name(const loader *l)
{
    char printed[128];
    const char *stem = gl_file_stem(l->arena, l->tree.file);
    return gl_arena_strdup(l->arena, gl_printable(stem, printed, sizeof printed));
}

/* A name, a file seen from the description, or a list in place. */
static void load_prices(const loader *l)
{
    size_t before = gl_diagnostics_found(l->diagnostics);
    const gl_yaml_node *node = gl_yaml_find(&l->tree, "prices");
    if (node == NULL)
        return;
    if (node->kind == GL_YAML_MAPPING) {
        l->cluster->price_list = gl_prices_tree_load(&l->tree, l->arena, l->diagnostics);
        return;
    }
    const char *name = gl_fields_text(&l->tree, "prices", l->diagnostics);
    if (name == NULL)
        return;
    const char *file = entry_name(l, "prices", name);
    if (gl_prices_find(file, l->arena) == NULL)
        diagnose_no_entry(l, "prices", name, "prices", "price list");
    else
        l->cluster->price_list = gl_prices_load(file, l->arena, l->diagnostics);
    if (gl_diagnostics_found(l->diagnostics) != before)
        l->cluster->price_list = NULL;
}

/* What a document says, once it is there. */
static bool load_tree(const loader *l, size_t before)
{
    l->cluster->bounded = true;
    gl_fields_load(gl_cluster_fields, &l->tree, l->arena, l->cluster, l->diagnostics);
    if (gl_diagnostics_found(l->diagnostics) != before)
        return false;
    load_prices(l);
    gl_cluster__check_costs(l);
    load_gpu(l);
    load_link(l, "cluster.intra_node.link", &l->cluster->intra.link);
    load_link(l, "cluster.intra_node.outside_link", &l->cluster->outside);
    load_link(l, "cluster.inter_node.link", &l->cluster->inter.link);
    load_slot(l);
    adapt_inside(l);
    adapt_link(l);
    find_domain(l);
    load_calibration(l, "cluster.intra_node.calibration", GL_INSIDE_NODES, &l->cluster->intra);
    load_calibration(l, "cluster.inter_node.calibration", GL_ACROSS_NODES, &l->cluster->inter);
    if (gl_diagnostics_found(l->diagnostics) == before)
        gl_cluster__check(l);
    return gl_diagnostics_found(l->diagnostics) == before;
}

/* "prices: standard" as {base: standard}, so that a setting can go into it. */
static void open_prices(const loader *l, const gl_setting *settings, size_t setting_count)
{
    bool within = false;
    gl_yaml_node *node = l->tree.root->kind == GL_YAML_MAPPING ? l->tree.root->first : NULL;
    while (node != NULL && strcmp(node->key, "prices") != 0)
        node = node->next;
    for (size_t i = 0; i < setting_count; i++)
        within = within || gl_starts_with(settings[i].key, "prices.");
    if (!within || node == NULL || node->kind != GL_YAML_SCALAR)
        return;
    gl_yaml_node *base = GL_ARENA_NEW(l->arena, gl_yaml_node, 1);
    *base = *node;
    base->key = "base";
    base->next = NULL;
    node->kind = GL_YAML_MAPPING;
    node->first = base;
    node->text = NULL;
}

static bool load_description(loader *l, const char *file, const gl_setting *settings,
                             size_t setting_count)
{
    gl_error err;
    size_t before = gl_diagnostics_found(l->diagnostics);
    if (gl_file_is_nccl_log(file))
        return gl_diagnose(l->diagnostics, &(gl_mark){.file = file}, NULL,
                           "is output of nccl-tests: import it first: gpulink-calibrate import "
                           "%.200s --db lab.db, then --cluster lab.db",
                           file);
    if (!gl_yaml_load(file, l->arena, &l->tree, &err))
        return gl_diagnose_error(l->diagnostics, &err);
    if (gl_yaml_get(l->tree.root, "model") != NULL && gl_yaml_get(l->tree.root, "cluster") == NULL)
        return gl_diagnose(l->diagnostics, &(gl_mark){.file = file}, NULL,
                           "is a model description, and a cluster is expected here: are the two "
                           "swapped?");
    open_prices(l, settings, setting_count);
    long long described = gl_cluster__described_nodes(l);
    for (size_t i = 0; i < setting_count; i++)
        if (gl_setting_is_cluster(&settings[i]) &&
            !gl_yaml_set(&l->tree, l->arena, settings[i].option, settings[i].key, settings[i].value,
                         &err))
            gl_diagnose_error(l->diagnostics, &err);
    l->cluster->name = default_name(l);
    bool loaded = load_tree(l, before);
    l->cluster->name = gl_cluster__name_as_set(l, described, settings, setting_count);
    return loaded;
}

/* ---- what a name means ---- */

static bool is_database(const char *file, const char *label)
{
    return gl_file_is_database(file) || label != NULL || gl_ends_with(file, ".db");
}

/* A link or a GPU of the catalogue: a part of a cluster, and easily taken for one. */
static bool diagnose_part(const loader *l, const char *name)
{
    bool gpu = gl_datadir_find(l->arena, "gpus", name, "yaml") != NULL;
    bool link = gl_datadir_find(l->arena, "links", name, "yaml") != NULL;
    if (gpu || link)
        gl_diagnose(l->diagnostics, NULL, NULL,
                    "'%.60s' is a %s of the catalogue, not a cluster: name it in a cluster "
                    "description (%s; see gpulink-plan schema cluster)",
                    name, gpu ? "GPU" : "link",
                    gpu ? "cluster.gpu" : "cluster.intra_node.link, cluster.inter_node.link");
    return gpu || link;
}

static bool diagnose_unknown(const loader *l, const char *name)
{
    size_t clusters, calibrations;
    char guess[GUESS_BYTES], list[LIST_BYTES], shown[128];
    if (diagnose_part(l, name))
        return false;
    const char *const *a = gl_datadir_list(l->arena, "clusters", "yaml", &clusters);
    const char *const *b = gl_datadir_list(l->arena, "calibrations", "db", &calibrations);
    const char **all = GL_ARENA_NEW(l->arena, const char *, clusters + calibrations);
    for (size_t i = 0; i < clusters; i++)
        all[i] = a[i];
    for (size_t i = 0; i < calibrations; i++)
        all[clusters + i] = b[i];
    size_t count = clusters + calibrations;
    const char *near_file = gl_file_guess(l->arena, name);
    gl_did_you_mean(name, all, count, guess, sizeof guess);
    if (strcmp(guess, ";") == 0 && near_file[0] != '\0')
        snprintf(guess, sizeof guess, "%s", near_file);
    return gl_diagnose(l->diagnostics, NULL, NULL,
                       "no such cluster: '%s'%s expected: a calibration database, a cluster "
                       "description, or a bundled name (%s)",
                       gl_printable(name, shown, sizeof shown), guess,
                       count > 0 ? gl_list_names(all, count, list, sizeof list) : "none installed");
}

/* Settings of a cluster cannot change what was measured. */
static bool refuse_settings(const loader *l, const char *file, const gl_setting *settings,
                            size_t count)
{
    gl_mark mark = {.file = file};
    gl_error err;
    for (size_t i = 0; i < count; i++) {
        if (!gl_setting_is_cluster(&settings[i]))
            continue;
        gl_fail_at(&err, GL_ERROR_USAGE, &mark, NULL,
                   "is a calibration database: %s %.100s needs a cluster description",
                   settings[i].option, settings[i].key);
        return gl_diagnose_error(l->diagnostics, &err);
    }
    return true;
}

bool gl_cluster_load(const char *name, const gl_setting *settings, size_t setting_count,
                     gl_arena *arena, gl_cluster *cluster, gl_texts *warnings,
                     gl_diagnostics *diagnostics)
{
    gl_cluster read = default_cluster();
    loader l = {.arena = arena, .cluster = &read, .warnings = warnings, .diagnostics = diagnostics};
    size_t before = gl_diagnostics_found(diagnostics);
    const char *label = NULL, *file = name;
    if (!gl_file_exists(file) && strcmp(name, "-") != 0)
        file = gl_datadir_find(arena, "clusters", name, "yaml");
    if (file == NULL)
        file = gl_calibration_find(name, NULL, arena, &label);
    if (file == NULL)
        return diagnose_unknown(&l, name);
    if (strcmp(file, "-") == 0 || !is_database(file, label))
        load_description(&l, file, settings, setting_count);
    else if (refuse_settings(&l, file, settings, setting_count))
        load_database(&l, file, label);
    read.overlap_taxes = gl_catalogue_overlap(arena, diagnostics);
    *cluster = read;
    return gl_diagnostics_found(diagnostics) == before;
}

bool gl_cluster_tree_load(const gl_yaml_tree *tree, gl_arena *arena, gl_cluster *cluster,
                          gl_texts *warnings, gl_diagnostics *diagnostics)
{
    gl_cluster read = default_cluster();
    loader l = {.tree = *tree,
                .arena = arena,
                .cluster = &read,
                .warnings = warnings,
                .diagnostics = diagnostics};
    size_t before = gl_diagnostics_found(diagnostics);
    read.name = default_name(&l);
    load_tree(&l, before);
    read.overlap_taxes = gl_catalogue_overlap(arena, diagnostics);
    if (gl_diagnostics_found(diagnostics) != before)
        return false;
    *cluster = read;
    return true;
}
