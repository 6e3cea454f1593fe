/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of data/transports/overlap.yaml. */
#include "planner/core/hardware.h"
#include "planner/input/field_rows.h"

#define TARGET gl_overlap_taxes

/* A table: its rows stay as they are written. */
/* clang-format off */
#define TAX_ROW(name, transport) \
    FIGURE_ROW(name, by_transport[transport], GL_NUMBER, 0, 10, true, "Compute time lost per second of communication hidden over this transport.")

const gl_field gl_overlap_fields[] = {
    SPECIAL_ROW("overlap.sources", true, "Where the figures come from: NAME: {text, url, date, kind: measured, specification or assumed}."),
    TAX_ROW("overlap.nvlink", GL_TRANSPORT_NVLINK),
    TAX_ROW("overlap.pcie_p2p", GL_TRANSPORT_PCIE_P2P),
    TAX_ROW("overlap.shm", GL_TRANSPORT_SHM),
    TAX_ROW("overlap.net_ib", GL_TRANSPORT_NET_IB),
    TAX_ROW("overlap.net_roce", GL_TRANSPORT_NET_ROCE),
    TAX_ROW("overlap.net_socket", GL_TRANSPORT_NET_SOCKET),
    {.path = NULL},
};
/* clang-format on */
