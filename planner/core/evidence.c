/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/evidence.h"

const char *gl_evidence_name(gl_evidence evidence)
{
    static const char *const names[] = {
        [GL_EVIDENCE_NONE] = "none",
        [GL_EVIDENCE_STATED] = "stated",
        [GL_EVIDENCE_MEASURED] = "measured",
        [GL_EVIDENCE_INTERPOLATED] = "interpolated",
        [GL_EVIDENCE_EXTRAPOLATED_SIZE] = "extrapolated-size",
        [GL_EVIDENCE_EXTRAPOLATED_RANKS] = "extrapolated-ranks",
        [GL_EVIDENCE_CATALOGUE] = "catalogue",
    };
    return names[evidence];
}
