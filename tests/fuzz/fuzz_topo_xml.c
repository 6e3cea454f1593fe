/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as NCCL's topology XML. */
#include "tests/fuzz/doctor_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_doctor_text(GL_SOURCE_XML, data, size);
}
