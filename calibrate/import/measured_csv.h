/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CSV files of compute and overlap rates and of curves, recognised by their header row:
 *   kind,dtype,m,n,k,time_s,time_p95_s
 *   transport,collective,size_bytes,gemm_m,gemm_n,gemm_k,compute_alone_s,communication_alone_s,together_s
 *   started_at,gpu,driver_version,cuda_version,nccl_version,backend,collective,dtype,redop,ranks,nodes,
 *     ranks_per_node,concurrent_groups,transport,nics,algorithm,protocol,in_place,root,size_bytes,
 *     iterations,time_median_s,time_p05_s,time_p95_s,time_min_s,wrong
 */
#ifndef GL_CALIBRATE_MEASURED_CSV_H
#define GL_CALIBRATE_MEASURED_CSV_H

#include "calibrate/import/evaluate.h"
#include "calibrate/import/line_reader.h"

/* Is this text the beginning of such a file? */
bool gl_measured_csv_recognise(const char *text, size_t length);

/* Reads the whole file; all rows must be right. */
bool gl_measured_csv_parse(gl_line_reader *reader, const char *path, gl_arena *arena,
                           gl_import_run *run, gl_error *err);

#endif
