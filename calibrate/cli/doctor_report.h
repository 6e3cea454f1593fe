/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings, settings and expected values as tables. */
#ifndef GL_CALIBRATE_DOCTOR_REPORT_H
#define GL_CALIBRATE_DOCTOR_REPORT_H

#include "calibrate/doctor/findings.h"
#include "common/table.h"

enum { GL_DOCTOR_TABLES_MAX = 4 };

/* Fills a scenario whose `tables` has room for GL_DOCTOR_TABLES_MAX. With `headline_only` findings
 * are told in the headline alone, for people. */
void gl_doctor_report(const gl_facts *facts, const gl_findings *findings, bool headline_only,
                      gl_arena *arena, gl_scenario *scenario);

#endif
