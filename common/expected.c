/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/expected.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static gl_expectation unknown(const char *basis)
{
    return (gl_expectation){.line = NAN,
                            .limit = NAN,
                            .assumed = NAN,
                            .typical = NAN,
                            .low = NAN,
                            .high = NAN,
                            .basis = basis,
                            .source = ""};
}

/* Line rate times `factor`, and the link's shares of it. */
static gl_expectation scaled(const gl_expected_link *link, double factor, gl_share share,
                             const char *basis)
{
    double line = link->line_bytes_per_s * factor;
    return (gl_expectation){
        .line = line,
        .limit = line,
        .assumed = link->assumed_bytes_per_s > 0 ? link->assumed_bytes_per_s * factor : (double)NAN,
        .typical = line * share.value,
        .low = line * share.low,
        .high = line * share.high,
        .basis = basis,
        .source = link->source};
}

static gl_share share_of(const gl_expected_link *link, gl_collective collective)
{
    if (gl_is_pairwise(collective) && link->alltoall.value > 0)
        return link->alltoall;
    if (collective == GL_SENDRECV && link->p2p.value > 0)
        return link->p2p;
    return link->ring;
}

/* The library chooses. */
static bool is_open(const gl_expected_case *about)
{
    return about->algorithm[0] == '\0' || strcmp(about->algorithm, "mixed") == 0;
}

/* The switch adds up: (n+1)/n sizes pass each link instead of 2(n-1)/n, so bus bandwidth may be
 * 2(n-1)/(n+1) times the link. */
static double nvls_factor(const gl_expected_case *about)
{
    double n = about->placement.ranks;
    return 2 * (n - 1) / (n + 1);
}

static bool may_take_nvls(const gl_expected_case *about)
{
    if (about->collective != GL_ALL_REDUCE || about->inside->nvls.value <= 0)
        return false;
    return strncmp(about->algorithm, "nvls", 4) == 0 || (about->multicast && is_open(about));
}

/* Of few ranks the library's choice is open, and what it gains little. */
static bool takes_nvls(const gl_expected_case *about)
{
    return may_take_nvls(about) &&
           (strncmp(about->algorithm, "nvls", 4) == 0 || about->placement.ranks >= 4);
}

static gl_expectation inside_node(const gl_expected_case *about)
{
    if (about->inside == NULL)
        return unknown("the link is not in the catalogue");
    if (takes_nvls(about)) {
        gl_expectation e = scaled(about->inside, nvls_factor(about), about->inside->nvls,
                                  "the switch adds up (NVLS): above the link's rate");
        e.assumed = NAN; /* its count for NVLS is off by half and more */
        return e;
    }
    gl_expectation e = scaled(about->inside, 1, share_of(about->inside, about->collective),
                              "every rank over its own link");
    if (may_take_nvls(about))
        e.limit = fmax(e.line, e.line * nvls_factor(about));
    return e;
}

/* What the ranks of one node can put on the wires at once, as multiple of a NIC's rate. */
static double nics_of_group(const gl_expected_case *about)
{
    int groups = about->placement.concurrent_groups > 0 ? about->placement.concurrent_groups : 1;
    return (double)about->nics / groups;
}

/* Factor on a NIC's rate, and why. */
static double factor_between(const gl_expected_case *about, const char **basis)
{
    double n = about->placement.ranks, ppn = about->placement.ranks_per_node;
    double nics = nics_of_group(about);
    if (gl_is_pairwise(about->collective)) {
        *basis = "all-to-all: (n-1)/(n-ppn) of what a rank's share of the NICs carries";
        return nics / ppn * (n - 1) / (n - ppn);
    }
    if (about->collective == GL_SENDRECV) {
        *basis = "one pair at a time crosses: one NIC";
        return 1;
    }
    bool tree = strcmp(about->algorithm, "ring") != 0 && about->collective == GL_ALL_REDUCE;
    if (tree && about->placement.nodes == 2) {
        *basis = "tree on two nodes: up to 2(n-1)/n of the node's NICs";
        return nics * 2 * (n - 1) / n;
    }
    *basis = "ring over all NICs of the node";
    return nics;
}

/* No algorithm moves less through the NICs of a node than one size in and one out: then bus
 * bandwidth is 2(n-1)/n times theirs, for switches that add up, and for trees on two nodes. */
static double limit_between(const gl_expected_case *about, double line)
{
    double n = about->placement.ranks, nics = fmax(nics_of_group(about), 1);
    bool ring = strcmp(about->algorithm, "ring") == 0 || about->collective != GL_ALL_REDUCE;
    double factor = ring ? 1 : 2 * (n - 1) / n;
    return gl_is_pairwise(about->collective)
               ? line
               : fmax(line, factor * nics * about->between->line_bytes_per_s);
}

static double least(double a, double b)
{
    return isnan(b) || a < b ? a : b;
}

static gl_expectation between_nodes(const gl_expected_case *about)
{
    const gl_placement *p = &about->placement;
    const char *basis = "";
    if (about->between == NULL)
        return unknown("the rate of the NICs is not known");
    if (about->between->transport == GL_TRANSPORT_NVLINK) { /* a rack is one large node */
        gl_expected_case rack = *about;
        rack.inside = about->between;
        return inside_node(&rack);
    }
    if (about->nics < 1 && about->collective != GL_SENDRECV)
        return unknown("the number of NICs that a node uses is not known");
    if (p->ranks_per_node < 1 || p->ranks <= p->ranks_per_node)
        return unknown("the placement does not say how many ranks are on a node");
    double factor = factor_between(about, &basis);
    gl_expectation e =
        scaled(about->between, factor, share_of(about->between, about->collective), basis);
    e.limit = limit_between(about, e.line);
    /* On two nodes the ring is what is typically seen at least, the tree at most. */
    if (about->collective == GL_ALL_REDUCE && p->nodes == 2 && about->algorithm[0] == '\0')
        e.low = fmin(e.low, e.low / (2.0 * (p->ranks - 1) / p->ranks));
    if (p->ranks_per_node > 1 && about->inside != NULL && !gl_is_pairwise(about->collective)) {
        gl_expected_case in = *about;
        in.placement.nodes = 1;
        gl_expectation link = inside_node(&in);
        if (link.line < e.line)
            e.basis = "the link inside the node bounds it";
        e.line = least(e.line, link.line);
        e.limit = least(e.limit, link.limit);
        e.assumed = least(e.assumed, link.assumed);
        e.typical = least(e.typical, link.typical);
        e.low = least(e.low, link.low);
        e.high = least(e.high, link.high);
    }
    return e;
}

gl_expectation gl_expected_busbw(const gl_expected_case *about)
{
    if (about->placement.ranks < 2)
        return unknown("one rank communicates with nobody");
    return about->placement.nodes > 1 ? between_nodes(about) : inside_node(about);
}

/* Measured bandwidths carry noise of a per cent or two. */
static const double ABOVE_RATIO = 1.02;

bool gl_expected_is_above(const gl_expectation *expectation, double busbw_bytes_per_s)
{
    return busbw_bytes_per_s > ABOVE_RATIO * expectation->limit;
}

bool gl_run_sets(const gl_run *run, const char *name)
{
    const char *found = run != NULL ? strstr(run->environment, name) : NULL;
    return found != NULL && found[strlen(name)] == '=';
}

gl_expectation gl_expected_of_curve(const gl_expected *expected, const gl_curve *curve,
                                    const gl_expected_link *link, const char *gpu,
                                    const gl_run *run)
{
    const gl_expected_gpu *known = gl_expected_find_gpu(expected, gpu);
    bool several = curve->placement.nodes > 1;
    const gl_expected_case about = {
        .inside = several ? gl_expected_link_of(expected, gpu, GL_TRANSPORT_NVLINK, 0) : link,
        .between = several ? link : NULL,
        .collective = curve->collective,
        .placement = curve->placement,
        .nics = curve->nics,
        .algorithm = curve->algorithm,
        .multicast =
            known != NULL && known->has_multicast && !gl_run_sets(run, "NCCL_NVLS_ENABLE")};
    return gl_expected_busbw(&about);
}

/* ---- finding ---- */

enum { PLAIN_NAME_MAX = 256 };

/* Lower case, words apart by one blank each, without the vendor's. Returns the length. */
static size_t plain_name(const char *name, char plain[PLAIN_NAME_MAX])
{
    static const char *const vendors[] = {"nvidia ", "tesla ", "geforce "};
    size_t used = 0;
    for (; *name != '\0' && used + 1 < PLAIN_NAME_MAX; name++) {
        bool kept = isalnum((unsigned char)*name) || ((unsigned char)*name & 0x80) != 0;
        if (kept)
            plain[used++] = (char)tolower((unsigned char)*name);
        else if (used > 0 && plain[used - 1] != ' ')
            plain[used++] = ' ';
        plain[used] = '\0';
        for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
            if (strcmp(plain, vendors[i]) == 0)
                used = 0;
    }
    while (used > 0 && plain[used - 1] == ' ')
        used--;
    plain[used] = '\0';
    return used;
}

bool gl_expected_same_name(const char *a, const char *b)
{
    char x[PLAIN_NAME_MAX], y[PLAIN_NAME_MAX];
    plain_name(a, x);
    plain_name(b, y);
    return strcmp(x, y) == 0;
}

const gl_expected_gpu *gl_expected_find_gpu(const gl_expected *expected, const char *name)
{
    const gl_expected_gpu *best = NULL;
    char wanted[PLAIN_NAME_MAX], entry[PLAIN_NAME_MAX];
    size_t longest = 0;
    plain_name(name, wanted);
    for (size_t i = 0; i < expected->gpu_count; i++) {
        size_t length = plain_name(expected->gpus[i].name, entry);
        if (length <= longest || strncmp(entry, wanted, length) != 0)
            continue;
        best = &expected->gpus[i];
        longest = length;
    }
    return best;
}

const gl_expected_gpu *gl_expected_find_device(const gl_expected *expected, int device)
{
    for (size_t i = 0; i < expected->gpu_count; i++)
        for (const char *id = expected->gpus[i].devices; *id != '\0';) {
            char *end;
            if (strtol(id, &end, 16) == device)
                return &expected->gpus[i];
            if (end == id)
                break;
            id = end;
        }
    return NULL;
}

const gl_expected_link *gl_expected_find_link(const gl_expected *expected, const char *name)
{
    for (size_t i = 0; i < expected->link_count; i++)
        if (strcmp(expected->links[i].name, name) == 0)
            return &expected->links[i];
    return NULL;
}

static const gl_expected_link *network(const gl_expected *expected, gl_transport transport,
                                       double nic_bytes_per_s)
{
    for (size_t i = 0; i < expected->link_count; i++)
        if (expected->links[i].transport == transport && nic_bytes_per_s > 0 &&
            fabs(expected->links[i].line_bytes_per_s / nic_bytes_per_s - 1) < 0.05)
            return &expected->links[i];
    return NULL;
}

const gl_expected_link *gl_expected_link_of(const gl_expected *expected, const char *gpu,
                                            gl_transport transport, double nic_bytes_per_s)
{
    const gl_expected_gpu *found = gl_expected_find_gpu(expected, gpu);
    switch (transport) {
    case GL_TRANSPORT_NVLINK:
        return found != NULL ? gl_expected_find_link(expected, found->nvlink) : NULL;
    case GL_TRANSPORT_PCIE_P2P:
        return found != NULL ? gl_expected_find_link(expected, found->pcie) : NULL;
    case GL_TRANSPORT_SHM:
        return found != NULL ? gl_expected_find_link(expected, found->host_path) : NULL;
    case GL_TRANSPORT_NET_IB:
    case GL_TRANSPORT_NET_ROCE:
    case GL_TRANSPORT_NET_SOCKET:
        return network(expected, transport, nic_bytes_per_s);
    default:
        return NULL;
    }
}
