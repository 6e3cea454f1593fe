/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Missing, unequal, slow and failing NVLinks: topo -m, nvlink -s, NCCL's dump, topology XML. */
#include "calibrate/doctor/rules.h"

#include <math.h>
#include <string.h>

enum { SWITCH_LINKS_MIN = 4, GRAPH_GPUS_MAX = 64 };

/* ---- topo -m ---- */

/* The number of links that at least half of the pairs have, on machines with a switch or a full
 * mesh of several links each; 0 elsewhere: in meshes of single links counts differ by design. */
static int usual_links(const gl_matrix *m)
{
    int counts[256] = {0}, pairs = 0, best = 0;
    for (size_t r = 0; r < m->row_count; r++)
        for (size_t c = 0; m->rows[r].is_gpu && c < m->column_count; c++) {
            gl_matrix_cell cell = m->rows[r].cells[c];
            if (!m->is_gpu[c] || cell.path == GL_PATH_SELF || cell.path == GL_PATH_UNKNOWN)
                continue;
            pairs++;
            if (cell.path == GL_PATH_LINK && ++counts[cell.links] > counts[best])
                best = cell.links;
        }
    return pairs >= 6 && 2 * counts[best] >= pairs && best >= SWITCH_LINKS_MIN ? best : 0;
}

static bool is_fewer(gl_matrix_cell cell, int usual)
{
    return cell.path == GL_PATH_LINK ? cell.links < usual
                                     : cell.path >= GL_PATH_PIX && cell.path <= GL_PATH_SYS;
}

/* The GPU most of whose pairs are short: a bad GPU spoils one cell in each other row. */
static const gl_matrix_row *worst_row(const gl_matrix *m, int usual, int *pairs)
{
    const gl_matrix_row *worst = NULL;
    *pairs = 0;
    for (size_t r = 0; r < m->row_count; r++) {
        int fewer = 0;
        for (size_t c = 0; m->rows[r].is_gpu && c < m->column_count; c++)
            fewer += m->is_gpu[c] && is_fewer(m->rows[r].cells[c], usual);
        if (fewer > *pairs) {
            *pairs = fewer;
            worst = &m->rows[r];
        }
    }
    return worst;
}

static void check_matrix(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->topology.count; i++) {
        const gl_matrix *m = d->facts->topology.items[i];
        int usual = usual_links(m), pairs;
        const gl_matrix_row *row = usual > 0 ? worst_row(m, usual, &pairs) : NULL;
        if (row == NULL)
            continue;
        gl_finding *f = gl_found(d, rule, row->quote);
        f->subject = row->name;
        f->title = gl_arena_printf(d->arena,
                                   "%s has fewer NVLinks to %d GPUs than the others, "
                                   "which have NV%d",
                                   row->name, pairs, usual);
    }
}

/* Boards of four GPUs without a switch: a third of the links goes to each of the others. */
static bool is_mesh_of_four(const gl_matrix *m, const gl_expected_gpu *gpu, int links)
{
    size_t gpus = 0;
    for (size_t r = 0; r < m->row_count; r++)
        gpus += m->rows[r].is_gpu;
    return gpus <= 4 && links * 3 == gpu->links;
}

/* All GPUs alike, with fewer links than the model has. */
static void check_matrix_count(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    if (gpu == NULL || !gpu->is_on_board || !gpu->has_multicast)
        return;
    for (size_t i = 0; i < d->facts->topology.count; i++) {
        const gl_matrix *m = d->facts->topology.items[i];
        if (usual_links(m) >= gpu->links)
            continue; /* single GPUs that have fewer are another finding */
        for (size_t r = 0; r < m->row_count; r++)
            for (size_t c = 0; m->rows[r].is_gpu && c < m->column_count; c++) {
                gl_matrix_cell cell = m->rows[r].cells[c];
                if (cell.path != GL_PATH_LINK || cell.links >= gpu->links ||
                    is_mesh_of_four(m, gpu, cell.links))
                    continue;
                gl_finding *f = gl_found(d, rule, m->rows[r].quote);
                f->subject = m->rows[r].name;
                f->title = gl_arena_printf(d->arena, "%s has NV%d; %s has %d links",
                                           m->rows[r].name, cell.links, gpu->name, gpu->links);
                return;
            }
    }
}

static void check_unread_cell(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_matrices *kinds[] = {&d->facts->topology, &d->facts->p2p};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < kinds[k]->count; i++) {
            const gl_matrix *m = kinds[k]->items[i];
            if (m->unread[0] == '\0')
                continue;
            gl_finding *f = gl_found(d, rule, m->unread_quote);
            f->title = gl_arena_printf(
                d->arena,
                "'%s' stands in the place of a cell; there are X, NV1 to NV99, PIX, PXB, "
                "PHB, NODE, SYS, and OK, CNS, GNS, TNS, NS, DR, U of -p2p",
                m->unread);
        }
}

static void check_matrix_symmetry(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t i = 0; i < d->facts->topology.count; i++) {
        const gl_matrix *m = d->facts->topology.items[i];
        for (size_t r = 0; r < m->row_count; r++)
            for (size_t s = r + 1; s < m->row_count; s++) {
                const gl_matrix_row *a = &m->rows[r], *b = &m->rows[s];
                if (a->column < 0 || b->column < 0 || !a->is_gpu || !b->is_gpu)
                    continue;
                gl_matrix_cell there = a->cells[b->column], back = b->cells[a->column];
                bool link = there.path == GL_PATH_LINK || back.path == GL_PATH_LINK;
                if (!link || there.path == GL_PATH_UNKNOWN || back.path == GL_PATH_UNKNOWN ||
                    (there.path == back.path && there.links == back.links))
                    continue;
                gl_finding *f = gl_found(d, rule, a->quote);
                gl_found_proof(f, b->quote);
                f->subject = gl_arena_printf(d->arena, "%s-%s", a->name, b->name);
                return;
            }
    }
}

/* ---- nvlink -s ---- */

static bool is_on_board(const gl_diagnosis *d, const gl_nvlink_gpu *gpu)
{
    const gl_expected_gpu *known = gl_expected_find_gpu(d->facts->expected, gpu->name);
    return known != NULL && known->is_on_board;
}

/* The GPU of the same file and model with the most links. */
static const gl_nvlink_gpu *best_peer(const gl_nvlink *all, const gl_nvlink_gpu *gpu)
{
    const gl_nvlink_gpu *best = gpu;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].file == gpu->file && strcmp(all->items[i].name, gpu->name) == 0 &&
            all->items[i].active > best->active)
            best = &all->items[i];
    return best;
}

static void missing_links(gl_diagnosis *d, const gl_rule *rule, const gl_nvlink_gpu *gpu)
{
    const gl_expected_gpu *known = gl_expected_find_gpu(d->facts->expected, gpu->name);
    const gl_nvlink_gpu *best = best_peer(d->facts->nvlink, gpu);
    bool on_board = is_on_board(d, gpu);
    int wanted = best->active;
    if (on_board && known->links > wanted)
        wanted = known->links;
    if (gpu->active >= wanted || (gpu->active == 0 && gpu->inactive == 0 && !on_board))
        return;
    /* A card without its bridge is a way of building machines, no fault. */
    bool bridge = !on_board && gpu->active == 0;
    gl_finding *f = gl_found_as(d, rule, bridge ? GL_NOTE : GL_FAULT, gpu->quote);
    gl_found_proof(f,
                   gpu->inactive_quote.text != NULL ? gpu->inactive_quote : d->facts->nvlink->none);
    f->subject = gl_arena_printf(d->arena, "GPU %d", gpu->index);
    f->title =
        gl_arena_printf(d->arena, "GPU %d has %d of %d NVLinks", gpu->index, gpu->active, wanted);
}

static void check_links(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_nvlink *all = d->facts->nvlink;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].active + all->items[i].inactive > 0 ||
            (all->none.text != NULL && is_on_board(d, &all->items[i])))
            missing_links(d, rule, &all->items[i]);
}

/* Equal numbers of inactive links on all GPUs of a model that nothing is known of. */
static void check_inactive(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_nvlink *all = d->facts->nvlink;
    for (size_t i = 0; i < all->count; i++) {
        const gl_nvlink_gpu *gpu = &all->items[i];
        if (gpu->inactive == 0 || best_peer(all, gpu)->active > gpu->active || is_on_board(d, gpu))
            continue;
        gl_finding *f = gl_found(d, rule, gpu->inactive_quote);
        f->subject = gl_arena_printf(d->arena, "GPU %d", gpu->index);
        return;
    }
}

/* What a link of this GPU runs at, by its model; 0 unknown. */
static double model_speed(const gl_diagnosis *d, const gl_nvlink_gpu *gpu)
{
    const gl_expected_gpu *known = gl_expected_find_gpu(d->facts->expected, gpu->name);
    const gl_expected_link *link =
        known != NULL ? gl_expected_find_link(d->facts->expected, known->nvlink) : NULL;
    return link != NULL && known->links > 0 ? link->line_bytes_per_s / known->links : 0;
}

static void check_speed(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_nvlink *all = d->facts->nvlink;
    for (size_t i = 0; i < all->count; i++) {
        const gl_nvlink_gpu *gpu = &all->items[i];
        double model = model_speed(d, gpu), fastest = fmax(gpu->most_bytes_per_s, model);
        for (size_t k = 0; k < all->count; k++)
            if (all->items[k].file == gpu->file && strcmp(all->items[k].name, gpu->name) == 0)
                fastest = fmax(fastest, all->items[k].most_bytes_per_s);
        /* A link beside others of its GPU runs at the very same rate. */
        bool alike = gpu->least_bytes_per_s > 0.99 * gpu->most_bytes_per_s;
        if (gpu->active == 0 || (alike && gpu->least_bytes_per_s > 0.9 * fastest))
            continue;
        gl_finding *f = gl_found(d, rule, gpu->slow_quote);
        f->subject = gl_arena_printf(d->arena, "GPU %d", gpu->index);
        f->title =
            gl_arena_printf(d->arena, "GPU %d has %s at %.4g GB/s; %s at %.4g", gpu->index,
                            gpu->most_bytes_per_s > gpu->least_bytes_per_s ? "a link" : "its links",
                            gpu->least_bytes_per_s / 1e9,
                            fastest > model ? "others run" : "this model runs them", fastest / 1e9);
    }
}

static void check_unread_link(gl_diagnosis *d, const gl_rule *rule)
{
    if (d->facts->nvlink->unread.text != NULL)
        gl_found(d, rule, d->facts->nvlink->unread);
}

static void check_errors(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_nvlink *all = d->facts->nvlink;
    for (size_t i = 0; i < all->count; i++) {
        if (!(all->items[i].errors > 0))
            continue;
        gl_finding *f = gl_found(d, rule, all->items[i].error_quote);
        f->subject = gl_arena_printf(d->arena, "GPU %d", all->items[i].index);
    }
}

/* ---- graphs: NCCL's dump and topology XML ---- */

typedef struct edge {
    const char *from, *to; /* ids; "switch" */
    double weight;         /* GB/s or links */
    const gl_quote *quote;
} edge;

static bool is_switch(const edge *e)
{
    return strcmp(e->to, "NVS") == 0;
}

static const edge *find_edge(const edge *edges, size_t count, const char *from, const char *to)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(edges[i].from, from) == 0 && strcmp(edges[i].to, to) == 0)
            return &edges[i];
    return NULL;
}

/* Links to the switch that are fewer than those of another GPU. */
static void compare_to_switch(gl_diagnosis *d, const gl_rule *rule, const edge *edges, size_t count)
{
    const edge *most = NULL, *least = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is_switch(&edges[i]))
            continue;
        most = most == NULL || edges[i].weight > most->weight ? &edges[i] : most;
        least = least == NULL || edges[i].weight < least->weight ? &edges[i] : least;
    }
    if (most == NULL || least->weight > 0.95 * most->weight)
        return;
    gl_finding *f = gl_found(d, rule, *least->quote);
    gl_found_proof(f, *most->quote);
    f->subject = gl_arena_printf(d->arena, "GPU %s", least->from);
    f->title = gl_arena_printf(d->arena, "GPU %s has NVLink %.4g where another has %.4g",
                               least->from, least->weight, most->weight);
}

/* Links between two GPUs that are not the same in both directions. */
static void compare_directions(gl_diagnosis *d, const gl_rule *rule, const edge *edges,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const edge *there = &edges[i], *back = find_edge(edges, count, there->to, there->from);
        if (is_switch(there) || (back != NULL && back->weight >= 0.95 * there->weight))
            continue;
        gl_finding *f = gl_found(d, rule, *there->quote);
        if (back != NULL)
            gl_found_proof(f, *back->quote);
        f->subject = gl_arena_printf(d->arena, "%s-%s", there->from, there->to);
        f->title =
            gl_arena_printf(d->arena, "NVLink from %s to %s counts %.4g, back %.4g", there->from,
                            there->to, there->weight, back != NULL ? back->weight : 0);
        return;
    }
}

/* Blames a file that was given to NCCL before hardware. */
static void blame_topology_file(gl_diagnosis *d, size_t before)
{
    const gl_log_setting *set = gl_log_find_setting(d->facts->log, "NCCL_TOPO_FILE");
    if (set == NULL)
        return;
    for (size_t i = before; i < d->count; i++) {
        d->items[i].meaning =
            gl_arena_printf(d->arena,
                            "%s But NCCL_TOPO_FILE=%s is set: what NCCL reckons with comes from "
                            "that file, so it may be the file and not the hardware.",
                            d->items[i].meaning, set->value);
        d->items[i].advice = "Run once without NCCL_TOPO_FILE and compare; then check nvlink -s.";
        gl_found_proof(&d->items[i], set->quote);
    }
}

static void check_dump(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    edge edges[GL_LOG_EDGE_LIMIT];
    size_t before = d->count;
    for (size_t h = 0; h < log->host_count && d->count < before + 16; h++) {
        const gl_log_nccl_host *host = &log->hosts[h];
        for (size_t i = 0; i < host->edge_count; i++)
            edges[i] = (edge){host->edges[i].from, host->edges[i].to, host->edges[i].gb_per_s,
                              &host->edges[i].quote};
        compare_to_switch(d, rule, edges, host->edge_count);
        compare_directions(d, rule, edges, host->edge_count);
    }
    blame_topology_file(d, before);
}

/* All GPUs of the dump are weak: only the model tells. */
static void check_dump_model(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_log *log = d->facts->log;
    const gl_expected_gpu *gpu = gl_expected_find_gpu(d->facts->expected, log->gpu);
    const gl_expected_link *link = gpu != NULL && gpu->is_on_board
                                       ? gl_expected_find_link(d->facts->expected, gpu->nvlink)
                                       : NULL;
    size_t before = d->count;
    if (link == NULL || !gpu->has_multicast)
        return;
    for (size_t h = 0; h < log->host_count; h++)
        for (size_t i = 0; i < log->hosts[h].edge_count; i++) {
            const gl_log_edge *e = &log->hosts[h].edges[i];
            if (strcmp(e->to, "NVS") != 0 || e->gb_per_s * 1e9 > 0.95 * link->assumed_bytes_per_s)
                continue;
            gl_finding *f = gl_found(d, rule, e->quote);
            f->subject = gl_arena_printf(d->arena, "GPU %s", e->from);
            f->title = gl_arena_printf(
                d->arena, "GPU %s has NVLink of %.4g GB/s in NCCL's count; %s has %.4g", e->from,
                e->gb_per_s, gpu->name, link->assumed_bytes_per_s / 1e9);
            blame_topology_file(d, before);
            return;
        }
}

static void missing_in_xml(gl_diagnosis *d, const gl_rule *rule, const gl_topo_xml *x)
{
    size_t to_switch = 0;
    for (size_t i = 0; i < x->link_count; i++)
        to_switch += x->links[i].to_switch;
    for (size_t g = 0; g < x->gpu_count && to_switch > 0; g++) {
        size_t own = 0;
        for (size_t i = 0; i < x->link_count; i++)
            own += x->links[i].gpu == (int)g;
        if (own > 0)
            continue;
        gl_finding *f = gl_found(d, rule, x->gpus[g].quote);
        gl_found_proof(f, x->links[0].quote);
        f->subject = gl_arena_printf(d->arena, "GPU %s", x->gpus[g].bus);
        f->title = gl_arena_printf(d->arena, "GPU %s has no NVLink, others have", x->gpus[g].bus);
    }
}

static void check_xml(gl_diagnosis *d, const gl_rule *rule)
{
    for (size_t k = 0; k < d->facts->xml_count; k++) {
        const gl_topo_xml *x = d->facts->xml[k];
        edge *edges = GL_ARENA_NEW(d->arena, edge, x->link_count);
        size_t count = 0;
        for (size_t i = 0; i < x->link_count && i < 4096; i++) {
            const gl_xml_link *link = &x->links[i];
            const char *from = x->gpus[link->gpu].bus, *to = link->to_switch ? "NVS" : link->target;
            edge *known = (edge *)find_edge(edges, count, from, to);
            if (known != NULL)
                known->weight += link->count; /* one of several switches */
            else
                edges[count++] = (edge){from, to, link->count, &link->quote};
        }
        compare_to_switch(d, rule, edges, count);
        /* Links to CPUs (POWER, Grace) have no way back in the file. */
        size_t gpus = 0;
        for (size_t i = 0; i < count; i++) {
            bool gpu = is_switch(&edges[i]);
            for (size_t g = 0; g < x->gpu_count && !gpu; g++)
                gpu = strcmp(x->gpus[g].bus, edges[i].to) == 0;
            if (gpu)
                edges[gpus++] = edges[i];
        }
        compare_directions(d, rule, edges, gpus);
        missing_in_xml(d, rule, x);
    }
}

/* All GPUs of the file have fewer links than the model. */
static void check_xml_model(gl_diagnosis *d, const gl_rule *rule)
{
    const gl_expected_gpu *gpu = gl_gpu_of(d);
    if (gpu == NULL || !gpu->is_on_board || !gpu->has_multicast)
        return;
    for (size_t k = 0; k < d->facts->xml_count; k++) {
        const gl_topo_xml *x = d->facts->xml[k];
        int most = 0;
        size_t first = x->link_count;
        for (size_t g = 0; g < x->gpu_count; g++) {
            int links = 0;
            for (size_t i = 0; i < x->link_count; i++)
                if (x->links[i].gpu == (int)g && x->links[i].to_switch) {
                    links += x->links[i].count;
                    first = i < first ? i : first;
                }
            most = links > most ? links : most;
        }
        if (most == 0 || most >= gpu->links)
            continue;
        gl_finding *f = gl_found(d, rule, x->links[first].quote);
        f->title = gl_arena_printf(d->arena, "The topology file has %d NVLinks a GPU; %s has %d",
                                   most, gpu->name, gpu->links);
    }
}

#define UNEQUAL_MEANING                                                                            \
    "Rings run at the speed of the slowest link: all GPUs of the node lose what this one lacks."
#define UNEQUAL_ADVICE                                                                             \
    "Check nvidia-smi nvlink -s and nvlink -e of this GPU, dmesg for Xid 74 and SXid messages, "   \
    "the "                                                                                         \
    "fabric manager's log; reseat or replace the board or bridge."

static const gl_rule rules[] = {
    {"nvlink-unequal", GL_FAULT, "A GPU has fewer NVLinks than the others", UNEQUAL_MEANING,
     UNEQUAL_ADVICE, .check = check_matrix},
    {"nvlink-missing", GL_FAULT, "A GPU has fewer NVLinks than its model", UNEQUAL_MEANING,
     UNEQUAL_ADVICE, .check = check_matrix_count},
    {"nvlink-asymmetric", GL_FAULT, "NVLinks between two GPUs differ by direction",
     "One end sees links that the other does not: links are half up.", UNEQUAL_ADVICE,
     .check = check_matrix_symmetry},
    {"nvlink-missing", GL_FAULT, "A GPU has fewer NVLinks than it should", UNEQUAL_MEANING,
     UNEQUAL_ADVICE, .check = check_links},
    {"nvlink-inactive", GL_NOTE, "Some NVLinks are inactive on every GPU",
     "Normal for cards without a bridge, or with one that uses part of the links.",
     "If a bridge should be there, check that it is seated.", .check = check_inactive},
    {"nvlink-slow", GL_FAULT, "A link runs below the speed of the others, or of the model",
     UNEQUAL_MEANING, UNEQUAL_ADVICE, .check = check_speed},
    {"unreadable", GL_WARNING, "A cell of a matrix cannot be read",
     "Nothing is concluded from it: a fault there would not be found.",
     "Give the text as the machine prints it.", .check = check_unread_cell},
    {"unreadable", GL_WARNING,
     "What stands behind a link is no speed; there are 25 GB/s and the like, and <inactive>",
     "Nothing is concluded from it: a fault there would not be found.",
     "Give the text as the machine prints it.", .check = check_unread_link},
    {"nvlink-errors", GL_FAULT, "NVLink counted errors",
     "Errors are repeated or repaired in hardware, which costs bandwidth and announces failures.",
     "Reset the counters, run a load, look again (nvidia-smi nvlink -r, -e); if they grow, replace "
     "the board, bridge or cable.",
     .check = check_errors},
    {"nvlink-unequal", GL_FAULT, "NVLinks are unequal in NCCL's topology", UNEQUAL_MEANING,
     UNEQUAL_ADVICE, .check = check_dump},
    {"nvlink-missing", GL_FAULT, "NVLink is weaker than the model has", UNEQUAL_MEANING,
     UNEQUAL_ADVICE, .check = check_dump_model},
    {"nvlink-unequal", GL_FAULT, "NVLinks are unequal in the topology file", UNEQUAL_MEANING,
     UNEQUAL_ADVICE, .check = check_xml},
    {"nvlink-missing", GL_FAULT, "The topology file has fewer NVLinks than the model",
     UNEQUAL_MEANING, UNEQUAL_ADVICE, .check = check_xml_model},
};

const gl_rules gl_rules_nvlink = {rules, sizeof rules / sizeof *rules};
