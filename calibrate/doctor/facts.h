/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that the doctor was told, as facts. */
#ifndef GL_DOCTOR_FACTS_H
#define GL_DOCTOR_FACTS_H

#include "calibrate/doctor/log.h"
#include "calibrate/doctor/matrix.h"
#include "calibrate/doctor/nvlink.h"
#include "calibrate/doctor/topo_xml.h"
#include "common/calibration.h"
#include "common/expected.h"

enum { GL_FACTS_XML_MAX = 64, GL_FACTS_DB_MAX = 16, GL_FACTS_FILE_MAX = 32 << 20 };

/* A calibration database. */
typedef struct gl_facts_db {
    const char *file;
    gl_run *runs;
    size_t run_count;
    gl_curve *curves; /* with their samples */
    size_t curve_count;
} gl_facts_db;

typedef struct gl_facts {
    gl_arena *arena;
    gl_matrices topology, p2p; /* a file may hold both kinds: each goes where it belongs */
    gl_nvlink *nvlink;
    gl_topo_xml *xml[GL_FACTS_XML_MAX];
    size_t xml_count;
    gl_log *log;
    gl_facts_db dbs[GL_FACTS_DB_MAX];
    size_t db_count;
    const gl_expected *expected; /* empty tables where the bundled data is not there */
} gl_facts;

typedef enum gl_source {
    GL_SOURCE_TOPOLOGY,
    GL_SOURCE_P2P,
    GL_SOURCE_NVLINK,
    GL_SOURCE_LOG,
    GL_SOURCE_XML,
    GL_SOURCE_DB,
    GL_SOURCE_UNKNOWN
} gl_source;

void gl_facts_begin(gl_facts *facts, const gl_expected *expected, gl_arena *arena);

/* Reads a file ("-": standard input) of a kind; UNKNOWN: the text itself tells. A text of another
 * kind is an input error that says what it is. */
bool gl_facts_read(gl_facts *facts, gl_source source, const char *path, gl_error *err);

/* Reads a text that stands elsewhere. `name` is what proofs call it. */
bool gl_facts_read_text(gl_facts *facts, gl_source source, const char *name, const char *text,
                        size_t length, gl_error *err);

/* Runs nvidia-smi and looks at the environment. A machine without it is a device error. */
bool gl_facts_ask_machine(gl_facts *facts, const char *const *environment, gl_error *err);

/* After the last source. */
void gl_facts_finish(gl_facts *facts);

#endif
