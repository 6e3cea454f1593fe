/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines about what failed: GPUs, NICs, connections. */
#include "calibrate/doctor/log_lines.h"

#include "common/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Xids that are the hardware's: double bit errors, retired rows and pages that could not be had,
 * NVLink, a GPU that is off the bus, contained and uncontained memory errors, a GPU processor that
 * does not answer. Others (13, 31, 43, 45, …) are as a rule a program's. */
static bool is_hardware_xid(long xid)
{
    static const short hardware[] = {48,  61,  62,  64,  74,  79,  92,  94,  95,  110, 119,
                                     120, 136, 140, 143, 144, 145, 146, 147, 148, 149, 150};
    for (size_t i = 0; i < sizeof hardware / sizeof *hardware; i++)
        if (hardware[i] == xid)
            return true;
    return false;
}

gl_said gl_log_gpu_failure(const char *text)
{
    static const char *const words[] = {"uncorrectable NVLink error detected",
                                        "uncorrectable ECC error encountered",
                                        "Invalid access of peer GPU memory over nvlink",
                                        "GPU has fallen off the bus", "GPU is lost"};
    const char *xid = strstr(text, "Xid (PCI:"), *close = xid != NULL ? strstr(xid, "): ") : NULL;
    if (close != NULL && isdigit((unsigned char)close[3]))
        return is_hardware_xid(strtol(close + 3, NULL, 10)) ? GL_SAID_GPU_ERROR : GL_SAID_XID;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]) != NULL)
            return GL_SAID_GPU_ERROR;
    return GL_SAID_COUNT;
}

gl_said gl_log_nic_event(const char *text)
{
    /* By the names that libibverbs gives events; NCCL puts "Got async event", "Got non-fatal async
     * event", "async fatal event" and "async fatal event on QP" before them. */
    static const char *const harmless[] = {
        "port active",   "client reregistration", "LID change", "SM change",
        "P_Key change",  "pkey change",           "GID table",  "communication established",
        "queue drained", "WQE reached",           "SRQ limit",  "path migration complete",
        "path migrated", "path migration succ"};
    static const char *const failures[] = {"port error",      "catastrophic", "QP fatal",
                                           "device fatal",    "CQ error",     "CQ_ERR",
                                           "work queue error"};
    const char *event = strstr(text, "async ");
    if (event == NULL || strstr(event, "event") == NULL)
        return GL_SAID_COUNT;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (strstr(event, failures[i]) != NULL)
            return GL_SAID_PORT_ERROR;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strstr(event, harmless[i]) != NULL)
            return GL_SAID_NIC_EVENT;
    return gl_starts_with(event, "async fatal event") ? GL_SAID_PORT_ERROR : GL_SAID_COUNT;
}

gl_said gl_log_warning_kind(const char *text)
{
    static const struct {
        const char *words;
        gl_said what;
    } kinds[] = {{"Got completion from peer", GL_SAID_LINK_ERROR},
                 {"Got completion with error", GL_SAID_LINK_ERROR},
                 {"vendor err ", GL_SAID_LINK_ERROR},
                 {"ibv_modify_qp failed", GL_SAID_LINK_ERROR},
                 {"Failed to open libibverbs", GL_SAID_PLUGIN_ERROR},
                 {"Duplicate GPU detected", GL_SAID_DUPLICATE_GPU},
                 {"nvmlInit", GL_SAID_NVML_FAILED},
                 {"nvmlDeviceGet", GL_SAID_NVML_FAILED},
                 {"Could not open XML topology", GL_SAID_TOPO_FILE_BAD},
                 {"topology file", GL_SAID_TOPO_FILE_BAD},
                 {"net plugin", GL_SAID_PLUGIN_ERROR},
                 {"Connection refused", GL_SAID_REMOTE_GONE},
                 {"Connection closed", GL_SAID_REMOTE_GONE},
                 {"Connection timed out", GL_SAID_REMOTE_GONE},
                 {"remote process exited", GL_SAID_REMOTE_GONE}};
    gl_said what = gl_log_gpu_failure(text);
    if (what == GL_SAID_COUNT)
        what = gl_log_nic_event(text);
    if (what == GL_SAID_COUNT && strstr(text, "ibv_") != NULL &&
        strstr(text, "Cannot allocate memory") != NULL)
        what = GL_SAID_MEMLOCK;
    for (size_t i = 0; what == GL_SAID_COUNT && i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(text, kinds[i].words) != NULL)
            what = kinds[i].what;
    return what != GL_SAID_COUNT ? what : GL_SAID_WARN;
}
