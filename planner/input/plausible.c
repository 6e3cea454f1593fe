/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/plausible.h"

#include "common/datadir.h"
#include "common/units.h"
#include "planner/input/catalogue.h"
#include "planner/input/notes.h"

#include <stdio.h>

/* A generation doubles the one before it; bits read as bytes make eight times. */
static const double factor_max = 2.5;

enum { TEXT_BYTES = 48 };

/* "400 Gbit/s" of 400e9 (bytes that were meant as bits). */
static const char *bits_text(double bits_per_s, char text[TEXT_BYTES])
{
    char number[32];
    gl_format_double(bits_per_s / 1e9, number, sizeof number);
    snprintf(text, TEXT_BYTES, "%s Gbit/s", number);
    return text;
}

void gl_doubt_nic(double bw_bytes_per_s, const gl_link *link, const gl_mark *mark, gl_arena *arena,
                  gl_texts *warnings)
{
    char meant[TEXT_BYTES], has[TEXT_BYTES], stated[TEXT_BYTES], nominal[TEXT_BYTES];
    double own = link->bw_bytes_per_s.value;
    if (bw_bytes_per_s <= factor_max * own)
        return;
    gl_format_quantity(bw_bytes_per_s, GL_BYTES_PER_S, stated, sizeof stated);
    gl_format_quantity(own, GL_BYTES_PER_S, nominal, sizeof nominal);
    gl_warn(warnings, arena, mark, "cluster.inter_node.bandwidth",
            "a NIC of %s is planned, %.3g times what %s has (%s = %s): bytes where bits are meant? "
            "did you mean %s?",
            stated, bw_bytes_per_s / own, link->name, nominal, bits_text(own * 8, has),
            bits_text(bw_bytes_per_s, meant));
}

/* Links that compare: between GPUs, over PCIe, between nodes; 0: not known. */
static int kind_of(gl_transport transport)
{
    switch (transport) {
    case GL_TRANSPORT_NVLINK:
        return 1;
    case GL_TRANSPORT_PCIE_P2P:
    case GL_TRANSPORT_SHM:
    case GL_TRANSPORT_HOST:
        return 2;
    case GL_TRANSPORT_NET_IB:
    case GL_TRANSPORT_NET_ROCE:
    case GL_TRANSPORT_NET_SOCKET:
        return 3;
    case GL_TRANSPORT_UNKNOWN:
    case GL_TRANSPORT_COUNT:
        break;
    }
    return 0;
}

/* The fastest link of that kind in the catalogue; NULL: there is none. */
static const gl_link *fastest(int kind, gl_arena *arena)
{
    const gl_link *best = NULL;
    size_t count = 0;
    const char *const *names = gl_datadir_list(arena, "links", "yaml", &count);
    for (size_t i = 0; i < count; i++) {
        gl_diagnostics ignored = {.count = 0}; /* of links that nobody asked for */
        const gl_link *link = gl_catalogue_link(names[i], arena, &ignored);
        if (link != NULL && kind_of(link->transport) == kind &&
            (best == NULL || link->bw_bytes_per_s.value > best->bw_bytes_per_s.value))
            best = link;
    }
    return best;
}

void gl_doubt_link(const gl_link *link, const char *file, gl_arena *arena, gl_texts *warnings)
{
    char stated[TEXT_BYTES], most[TEXT_BYTES];
    int kind = kind_of(link->transport);
    if (kind == 0 || !gl_catalogue_is_own_file(file))
        return;
    double own = link->bw_bytes_per_s.value;
    const gl_link *best = fastest(kind, arena);
    if (best == NULL || own <= factor_max * best->bw_bytes_per_s.value)
        return;
    gl_format_quantity(own, GL_BYTES_PER_S, stated, sizeof stated);
    gl_format_quantity(best->bw_bytes_per_s.value, GL_BYTES_PER_S, most, sizeof most);
    gl_warn(warnings, arena, &(gl_mark){.file = file}, "link.bandwidth",
            "a link of %s is planned, %.3g times the fastest of its kind in the catalogue (%s, %s "
            "per direction): bytes where bits are meant?",
            stated, own / best->bw_bytes_per_s.value, best->name, most);
}
