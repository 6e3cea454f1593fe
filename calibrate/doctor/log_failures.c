/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines about what failed, by the words that programs, NCCL, CUDA and the kernel use. */
#include "calibrate/doctor/log_lines.h"

#include "common/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A line with all of these words is of this kind; the first row that fits decides. */
typedef struct words_row {
    const char *words, *more; /* NULL: one is enough */
    gl_said what;
} words_row;

static gl_said find_words(const words_row *rows, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, rows[i].words) != NULL &&
            (rows[i].more == NULL || strstr(text, rows[i].more) != NULL))
            return rows[i].what;
    return GL_SAID_COUNT;
}
#define FIND_WORDS(rows, text) find_words(rows, sizeof(rows) / sizeof *(rows), text)

/* ---- GPUs and the machine ---- */

/* Xids that are the hardware's: double bit errors, retired rows and pages that could not be had,
 * NVLink, a GPU that is off the bus, uncontained memory errors, a GPU processor that does not
 * answer. Others (13, 31, 43, 45, …) are as a rule a program's. */
static bool is_hardware_xid(long xid)
{
    static const short hardware[] = {48,  61,  62,  64,  74,  79,  92,  95,  110, 119, 120,
                                     136, 140, 143, 144, 145, 146, 147, 148, 149, 150};
    for (size_t i = 0; i < sizeof hardware / sizeof *hardware; i++)
        if (hardware[i] == xid)
            return true;
    return false;
}

static gl_said xid_kind(const char *text)
{
    enum { CONTAINED = 94, RECOVERY = 154 };
    const char *xid = strstr(text, " Xid (PCI:"), *close = xid != NULL ? strstr(xid, "): ") : NULL;
    if (close == NULL || !isdigit((unsigned char)close[3]))
        return GL_SAID_COUNT;
    long number = strtol(close + 3, NULL, 10);
    if (number == RECOVERY) /* "… changed from 0x0 (None) to 0x2 (Node Reboot Required)" */
        return strstr(close, " to 0x0") != NULL ? GL_SAID_XID : GL_SAID_GPU_ERROR;
    return number == CONTAINED       ? GL_SAID_GPU_CONTAINED
           : is_hardware_xid(number) ? GL_SAID_GPU_ERROR
                                     : GL_SAID_XID;
}

/* Whoever prints them. */
static gl_said machine_failure(const char *text)
{
    static const words_row rows[] = {
        {"uncorrectable NVLink error detected", NULL, GL_SAID_GPU_ERROR},
        {"uncorrectable ECC error encountered", NULL, GL_SAID_GPU_ERROR},
        {"Invalid access of peer GPU memory over nvlink", NULL, GL_SAID_GPU_ERROR},
        {"fallen off the bus", NULL, GL_SAID_GPU_ERROR},
        {"GPU is lost", NULL, GL_SAID_GPU_ERROR},
        {"Unable to determine the device handle for GPU", NULL, GL_SAID_GPU_ERROR},
        {"system not yet initialized", NULL, GL_SAID_FABRIC_MANAGER},
        {"cudaErrorSystemNotReady", NULL, GL_SAID_FABRIC_MANAGER},
        {"Driver/library version mismatch", NULL, GL_SAID_DRIVER_MISMATCH},
        {"unsupported display driver / cuda driver combination", NULL, GL_SAID_DRIVER_MISMATCH}};
    return FIND_WORDS(rows, text);
}

/* The kernel's log and the journal. */
static gl_said kernel_failure(const char *text)
{
    static const words_row rows[] = {
        {"SXid (PCI:", "on-fatal", GL_SAID_NVSWITCH_ERROR},
        {"SXid (PCI:", "Fatal", GL_SAID_NVSWITCH_FATAL},
        {"SXid (PCI:", NULL, GL_SAID_NVSWITCH_ERROR},
        {"RmInitAdapter failed", NULL, GL_SAID_GPU_ERROR},
        {"rm_init_adapter failed", NULL, GL_SAID_GPU_ERROR},
        {"NVRM", "API mismatch", GL_SAID_DRIVER_MISMATCH},
        {"nvidia 0000:", "severity=Uncorr", GL_SAID_GPU_ERROR},
        {"PCIe Bus Error", "Uncorr", GL_SAID_PCIE_ERROR},
        {"AER: ", "(Fatal)", GL_SAID_PCIE_ERROR},
        {": DPC: containment event", NULL, GL_SAID_PCIE_ERROR},
        {"mlx5_core ", "health compromised", GL_SAID_NIC_ERROR},
        {"mlx5_core ", "Health issue observed", GL_SAID_NIC_ERROR},
        {"mlx5_core ", "irmware internal error", GL_SAID_NIC_ERROR},
        {"mlx5_core ", "atal error", GL_SAID_NIC_ERROR},
        {"mlx5_core ", "leak of a command resource", GL_SAID_NIC_ERROR},
        {"mlx5_core ", "ink down", GL_SAID_PORT_DOWN},
        {"mlx5_core ", "Link DOWN", GL_SAID_PORT_DOWN},
        {"mlx5_core ", "Port down", GL_SAID_PORT_DOWN},
        {"mlx5_core ", "able unplugged", GL_SAID_PORT_DOWN},
        {"mlx5_core ", "able error", GL_SAID_PORT_DOWN},
        {"abricmanager", "ail", GL_SAID_FABRIC_MANAGER},
        {"abricmanager", "rror", GL_SAID_FABRIC_MANAGER},
        {"abric manager", "ail", GL_SAID_FABRIC_MANAGER},
        {"abric manager", "rror", GL_SAID_FABRIC_MANAGER},
        {"abric Manager", "ail", GL_SAID_FABRIC_MANAGER},
        {"abric Manager", "rror", GL_SAID_FABRIC_MANAGER}};
    gl_said what = xid_kind(text);
    return what != GL_SAID_COUNT ? what : FIND_WORDS(rows, text);
}

/* ---- NICs ---- */

gl_said gl_log_nic_event(const char *text)
{
    /* By the names that libibverbs gives events; NCCL puts "Got async event", "Got non-fatal async
     * event", "async fatal event" and "async fatal event on QP" before them. */
    static const char *const normal[] = {
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
    for (size_t i = 0; i < sizeof normal / sizeof *normal; i++)
        if (strstr(event, normal[i]) != NULL)
            return GL_SAID_NIC_EVENT;
    return gl_starts_with(event, "async fatal event") ? GL_SAID_PORT_ERROR : GL_SAID_COUNT;
}

/* "… with error 12, opcode 0", "… with status=12 opcode=0", "… with
 * status=IBV_WC_RETRY_EXC_ERR(12)", or the words of libibverbs alone. */
int gl_log_completion_status(const char *text)
{
    static const struct {
        const char *words;
        int status;
    } names[] = {
        {"LOC_PROT_ERR", 4},           {"ocal protection error", 4}, {"WR_FLUSH_ERR", 5},
        {"lushed error", 5},           {"REM_INV_REQ_ERR", 9},       {"emote invalid request", 9},
        {"REM_ACCESS_ERR", 10},        {"emote access error", 10},   {"REM_OP_ERR", 11},
        {"emote operation error", 11}, {"RNR_RETRY_EXC_ERR", 13},    {"RNR retry", 13},
        {"RETRY_EXC_ERR", 12},         {"etry counter exceeded", 12}};
    static const char *const before[] = {"with status=", "with error ", "status=", "status "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const char *found = strstr(text, before[i]);
        if (found == NULL)
            continue;
        found += strlen(before[i]);
        if (isalpha((unsigned char)*found))
            found += strspn(found, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_(");
        long status = strtol(found, NULL, 10);
        if (status > 0 && status < GL_LOG_STATUS_LIMIT)
            return (int)status;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(text, names[i].words) != NULL)
            return names[i].status;
    return 0;
}

/* ---- warnings of NCCL ---- */

enum { LOWERED_MAX = 512 };

/* Small letters, for words whose case varies. */
static void lower(const char *text, char out[LOWERED_MAX])
{
    size_t i = 0;
    for (; text[i] != '\0' && i + 1 < LOWERED_MAX; i++)
        out[i] = (char)tolower((unsigned char)text[i]);
    out[i] = '\0';
}

static bool has_any(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, words[i]) != NULL)
            return true;
    return false;
}

/* Words by which a warning tells of an error, and those by which it tells that NCCL goes on without
 * (a thread that ends, a file that is not there, what is tried next). In small letters. */
static const char *const errors[] = {
    "fail",      "error",   "mismatch",  "unreachable",  "no space",  "no suitable", "not found",
    "refused",   "denied",  "timed out", "timeout",      "invalid",   "abort",       "cannot",
    "could not", "unable",  "corrupt",   "exceeded",     "wrong",     "lost",        " dead",
    "unhandled", "no such", "exhausted", "insufficient", "closed by", "truncated",   "unexpected"};
static const char *const harmless[] = {
    "real path",       "using default", "using internal", "falling back",   "fall back",
    " ignor",          "skipping",      "deprecated",     "numa balancing", "get_async_event",
    "already enabled", "gdrcopy",       "libgdrapi",      "network instead"};

static bool is_error(const char *low)
{
    return has_any(low, errors, sizeof errors / sizeof *errors);
}

static bool is_harmless(const char *low)
{
    return has_any(low, harmless, sizeof harmless / sizeof *harmless);
}

/* By the part of NCCL that warns; where its words do not tell more, and speak of an error. */
static gl_said kind_of_source(const char *where)
{
    static const words_row sources[] = {
        {"nvls.cc", NULL, GL_SAID_NVLS_FAILED},   {"shmutils.cc", NULL, GL_SAID_SHM_FAILED},
        {"shm.cc", NULL, GL_SAID_SHM_FAILED},     {"p2p.cc", NULL, GL_SAID_P2P_FAILED},
        {"net_ib", NULL, GL_SAID_IB_SETUP},       {"ibvwrap", NULL, GL_SAID_IB_SETUP},
        {"nvmlwrap", NULL, GL_SAID_NVML_FAILED},  {"socket", NULL, GL_SAID_REMOTE_GONE},
        {"bootstrap", NULL, GL_SAID_REMOTE_GONE}, {"proxy.cc", NULL, GL_SAID_REMOTE_GONE},
        {"ras/", NULL, GL_SAID_REMOTE_GONE},      {"register", NULL, GL_SAID_REGISTRATION},
        {"/gin", NULL, GL_SAID_REGISTRATION}};
    return FIND_WORDS(sources, where);
}

static gl_said error_kind(const char *text)
{
    static const words_row rows[] = {{"ibv_", "Cannot allocate memory", GL_SAID_MEMLOCK},
                                     {"ibv_reg", NULL, GL_SAID_REGISTRATION},
                                     {"ibv_poll_cq", NULL, GL_SAID_LINK_ERROR},
                                     {"ibv_", NULL, GL_SAID_IB_SETUP},
                                     {"NET/OFI", "completed with error", GL_SAID_LINK_ERROR},
                                     {"NET/OFI", "nitialization failed", GL_SAID_PLUGIN_ERROR},
                                     {"NET/OFI", "fi_getinfo", GL_SAID_PLUGIN_ERROR},
                                     {"Failed to open libibverbs", NULL, GL_SAID_PLUGIN_ERROR},
                                     {"net plugin", NULL, GL_SAID_PLUGIN_ERROR},
                                     {"NET/Plugin", NULL, GL_SAID_PLUGIN_ERROR},
                                     {"TUNER/Plugin", NULL, GL_SAID_WARN},
                                     {"PROFILER/Plugin", NULL, GL_SAID_WARN},
                                     {"NVLS", NULL, GL_SAID_NVLS_FAILED},
                                     {"ulticast", NULL, GL_SAID_NVLS_FAILED},
                                     {"No space left on device", NULL, GL_SAID_SHM_FULL},
                                     {"failed to extend", NULL, GL_SAID_SHM_FULL},
                                     {"creating shared memory", NULL, GL_SAID_SHM_FULL},
                                     {"shared memory segment", NULL, GL_SAID_SHM_APART},
                                     {"/dev/shm", "No such file", GL_SAID_SHM_APART},
                                     {"/dev/shm", NULL, GL_SAID_SHM_FAILED},
                                     {"shared memory", NULL, GL_SAID_SHM_FAILED},
                                     {"ocket interface found", NULL, GL_SAID_NO_INTERFACE},
                                     {"o interface found", NULL, GL_SAID_NO_INTERFACE},
                                     {"NCCL_SOCKET_IFNAME", NULL, GL_SAID_NO_INTERFACE},
                                     {"Mismatched NCCL version", NULL, GL_SAID_VERSIONS_REFUSED},
                                     {"version", "ismatch", GL_SAID_VERSIONS_REFUSED},
                                     {"Duplicate GPU detected", NULL, GL_SAID_DUPLICATE_GPU},
                                     {"Could not open XML topology", NULL, GL_SAID_TOPO_FILE_BAD},
                                     {"topology file", NULL, GL_SAID_TOPO_FILE_BAD},
                                     {"nvmlInit", NULL, GL_SAID_NVML_FAILED},
                                     {"nvmlDeviceGet", NULL, GL_SAID_NVML_FAILED},
                                     {"P2P is disabled between", NULL, GL_SAID_P2P_FAILED},
                                     {"eer access", NULL, GL_SAID_P2P_FAILED},
                                     {"peer mapping", NULL, GL_SAID_P2P_FAILED},
                                     {" IPC ", NULL, GL_SAID_P2P_FAILED},
                                     {"cudaIpc", NULL, GL_SAID_P2P_FAILED},
                                     {"out of memory", NULL, GL_SAID_OUT_OF_MEMORY},
                                     {"CUDA calloc", NULL, GL_SAID_OUT_OF_MEMORY},
                                     {"CUDA malloc", NULL, GL_SAID_OUT_OF_MEMORY},
                                     {"Message truncated", NULL, GL_SAID_CALLS_DIFFER},
                                     {"mismatch in rank count", NULL, GL_SAID_CALLS_DIFFER},
                                     {"has already checked in", NULL, GL_SAID_CALLS_DIFFER},
                                     {"ismatched", NULL, GL_SAID_CALLS_DIFFER},
                                     {"ollective", "ismatch", GL_SAID_CALLS_DIFFER},
                                     {"Connection refused", NULL, GL_SAID_REMOTE_GONE},
                                     {"Connection closed", NULL, GL_SAID_REMOTE_GONE},
                                     {"Connection reset", NULL, GL_SAID_REMOTE_GONE},
                                     {"onnection timed out", NULL, GL_SAID_REMOTE_GONE},
                                     {"connection abort", NULL, GL_SAID_REMOTE_GONE},
                                     {"Broken pipe", NULL, GL_SAID_REMOTE_GONE},
                                     {"No route to host", NULL, GL_SAID_REMOTE_GONE},
                                     {"unreachable", NULL, GL_SAID_REMOTE_GONE},
                                     {"Host is down", NULL, GL_SAID_REMOTE_GONE},
                                     {"Network is down", NULL, GL_SAID_REMOTE_GONE},
                                     {"remote process exited", NULL, GL_SAID_REMOTE_GONE},
                                     {"error retry count", NULL, GL_SAID_REMOTE_GONE},
                                     {"ocket recv failed", NULL, GL_SAID_REMOTE_GONE},
                                     {"[Service thread]", NULL, GL_SAID_REMOTE_GONE},
                                     {"[Proxy Service", NULL, GL_SAID_REMOTE_GONE},
                                     {"Proxy Call to rank", NULL, GL_SAID_REMOTE_GONE},
                                     {"window", "egist", GL_SAID_REGISTRATION}};
    return FIND_WORDS(rows, text);
}

static gl_said completion_kind(const char *text)
{
    static const words_row rows[] = {{"Got completion from peer", NULL, GL_SAID_LINK_ERROR},
                                     {"Got completion with error", NULL, GL_SAID_LINK_ERROR},
                                     {"vendor err ", NULL, GL_SAID_LINK_ERROR}};
    return FIND_WORDS(rows, text);
}

gl_said gl_log_warning_kind(const char *where, const char *text)
{
    char low[LOWERED_MAX];
    gl_said what = machine_failure(text);
    if (what == GL_SAID_COUNT)
        what = gl_log_nic_event(text);
    if (what == GL_SAID_COUNT)
        what = completion_kind(text);
    lower(text, low);
    if (what == GL_SAID_COUNT && is_harmless(low))
        return GL_SAID_WARN;
    bool error = is_error(low), cuda = strstr(low, "cuda") != NULL;
    if (what == GL_SAID_COUNT && error && cuda)
        what = kind_of_source(where); /* what failed is the part's; CUDA's words tell little */
    if (what == GL_SAID_COUNT)
        what = error_kind(text);
    if (what == GL_SAID_COUNT && error)
        what = cuda ? GL_SAID_CUDA_FAILED : kind_of_source(where);
    return what != GL_SAID_COUNT ? what : error ? GL_SAID_WARN_ERROR : GL_SAID_WARN;
}

/* ---- programs and launchers ---- */

/* A program quotes CUDA's or NCCL's error. */
static gl_said program_failure(const char *line)
{
    static const words_row programs[] = {{"Test CUDA failure", NULL, GL_SAID_CUDA_FAILED},
                                         {"Test NCCL failure", NULL, GL_SAID_CALL_FAILED},
                                         {"DistBackendError", NULL, GL_SAID_CALL_FAILED},
                                         {"NCCL error in: ", NULL, GL_SAID_CALL_FAILED},
                                         {"NCCL error: ", NULL, GL_SAID_CALL_FAILED},
                                         {"ncclSystemError: ", NULL, GL_SAID_CALL_FAILED},
                                         {"ncclInternalError: ", NULL, GL_SAID_CALL_FAILED},
                                         {"ncclRemoteError: ", NULL, GL_SAID_CALL_FAILED},
                                         {"ncclUnhandledCudaError: ", NULL, GL_SAID_CALL_FAILED},
                                         {"ncclInvalidUsage: ", NULL, GL_SAID_CALL_FAILED},
                                         {"ncclInvalidArgument: ", NULL, GL_SAID_CALL_FAILED}};
    gl_said program = FIND_WORDS(programs, line);
    if (program == GL_SAID_COUNT)
        return program;
    gl_said what = gl_log_warning_kind("", line);
    bool general = what == GL_SAID_WARN_ERROR || what == GL_SAID_WARN ||
                   what == GL_SAID_CUDA_FAILED ||
                   /* NCCL's name of any error of the network */
                   strstr(line, "remote process exited or there was a network") != NULL;
    return general ? program : what;
}

gl_said gl_log_plain_failure(const char *line)
{
    static const words_row rows[] = {
        {"ollective operation timeout", NULL, GL_SAID_TIMEOUT},
        {"watchdog got stuck", NULL, GL_SAID_TIMEOUT},
        {"eartbeat monitor timed out", NULL, GL_SAID_TIMEOUT},
        {"insufficient shared memory", NULL, GL_SAID_SHM_FULL},
        {"exited on signal", NULL, GL_SAID_PROCESS_ENDED},
        {"MPI_ABORT was invoked", NULL, GL_SAID_PROCESS_ENDED},
        {"oom-kill event", NULL, GL_SAID_PROCESS_ENDED},
        {"oom_kill event", NULL, GL_SAID_PROCESS_ENDED},
        {"Out of memory: Killed process", NULL, GL_SAID_PROCESS_ENDED},
        {"srun: error: ", ": Killed", GL_SAID_PROCESS_ENDED},
        {"srun: error: ", ": Segmentation fault", GL_SAID_PROCESS_ENDED},
        {"srun: error: ", ": Bus error", GL_SAID_PROCESS_ENDED},
        {"srun: error: ", ": Aborted", GL_SAID_PROCESS_ENDED},
        {"Caught signal ", NULL, GL_SAID_PROCESS_ENDED},
        {"(SIGKILL)", NULL, GL_SAID_PROCESS_ENDED},
        {"(SIGSEGV)", NULL, GL_SAID_PROCESS_ENDED},
        {"(SIGBUS)", NULL, GL_SAID_PROCESS_ENDED}};
    gl_said what = machine_failure(line);
    if (what == GL_SAID_COUNT)
        what = kernel_failure(line);
    if (what == GL_SAID_COUNT)
        what = completion_kind(line);
    if (what == GL_SAID_COUNT)
        what = program_failure(line);
    return what != GL_SAID_COUNT ? what : FIND_WORDS(rows, line);
}
