/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The matrices of `nvidia-smi topo -m` and `topo -p2p`, as drivers of all ages print them and
 * people paste them: with terminal escapes, without the empty first cell of the header or without
 * any header, with glued cells, prefixes of launchers, text added by hand, with and without rows
 * of NICs and columns of affinity.
 */
#ifndef GL_DOCTOR_MATRIX_H
#define GL_DOCTOR_MATRIX_H

#include "calibrate/doctor/quote.h"
#include "common/error.h"

#include <stdbool.h>

enum { GL_MATRIX_SIZE_MAX = 128, GL_MATRICES_MAX = 64, GL_MATRIX_LINES_MAX = 100000 };

/* What a cell says. Paths are in order, near to far, from GL_PATH_LINK on. */
typedef enum gl_path {
    GL_PATH_UNKNOWN,
    GL_PATH_SELF,
    GL_PATH_LINK, /* NVLink; the number of links is in the cell's count */
    GL_PATH_PIX,
    GL_PATH_PXB,
    GL_PATH_PHB,
    GL_PATH_NODE,
    GL_PATH_SYS, /* between NUMA nodes: the only one that crosses them */
    GL_P2P_OK,
    GL_P2P_CNS, /* chipset not supported */
    GL_P2P_GNS, /* GPU not supported */
    GL_P2P_TNS, /* topology not supported */
    GL_P2P_NS,  /* not supported */
    GL_P2P_DR,  /* disabled by the driver's registry */
    GL_P2P_U    /* unknown */
} gl_path;

typedef struct gl_matrix_cell {
    unsigned char path; /* gl_path */
    unsigned char links;
} gl_matrix_cell;

typedef struct gl_matrix_row {
    const char *name; /* "GPU0", "NIC3", "mlx5_0" */
    bool is_gpu;
    int column; /* of the same device; −1 unknown */
    gl_matrix_cell *cells;
    const char *cpus; /* CPU affinity; "" unknown */
    int numa;         /* NUMA affinity; −1 unknown or not one node */
    gl_quote quote;
} gl_matrix_row;

typedef struct gl_matrix {
    const char *names[GL_MATRIX_SIZE_MAX]; /* of the columns */
    bool is_gpu[GL_MATRIX_SIZE_MAX];
    const char *device[GL_MATRIX_SIZE_MAX]; /* of a NIC by the legend: "mlx5_0"; NULL unknown */
    size_t column_count;
    gl_matrix_row rows[GL_MATRIX_SIZE_MAX];
    size_t row_count;
    const char *unread; /* the first word in the place of a cell that is none; "" */
    gl_quote unread_quote;
} gl_matrix;

/* Which of the commands printed it. */
typedef enum gl_matrix_kind {
    GL_MATRIX_EITHER, /* one GPU: its row says X in both */
    GL_MATRIX_PATHS,  /* topo -m */
    GL_MATRIX_P2P     /* topo -p2p */
} gl_matrix_kind;

typedef struct gl_matrices {
    gl_matrix *items[GL_MATRICES_MAX];
    size_t count;
} gl_matrices;

/* Adds the matrices in a text (`length` bytes, terminated), of both kinds, to `all`. A text without
 * any is an input error. */
bool gl_matrix_read(const char *text, size_t length, const char *file, gl_arena *arena,
                    gl_matrices *all, gl_error *err);

/* By what its cells say. */
gl_matrix_kind gl_matrix_kind_of(const gl_matrix *matrix);

/* "NV18", "SYS", … */
const char *gl_path_name(gl_path path);

/* Are the NUMA nodes of two rows known, and the same? */
bool gl_matrix_same_numa(const gl_matrix_row *a, const gl_matrix_row *b);

#endif
