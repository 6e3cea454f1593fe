/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memfd_create: a file in memory, so that nothing is left behind however the process ends. */
#define _GNU_SOURCE
#include "calibrate/measure/nccl/capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char quiet_subsystems[] = "INIT,GRAPH,P2P,SHM,NET,ENV";
static const char all_subsystems[] = "INIT,GRAPH,P2P,SHM,NET,ENV,TUNING";

enum { TEXT_MAX = 64 << 20 }; /* what a run prints is far below; a guard against a loop */

struct gl_capture {
    bool ours;      /* the file is ours; otherwise the user's own settings stand */
    char file[512]; /* that NCCL writes; "" when nothing is captured */
    int fd;         /* to read it by; −1 not open */
    off_t offset;   /* read so far */
    char *text;
    size_t length, capacity;
    void (*reset)(void);
};

/* ---- the file ---- */

/* NCCL opens a file by name: that of an open descriptor is good enough. */
static bool make_file(gl_capture *capture)
{
    capture->fd = memfd_create("gpulink-nccl", MFD_CLOEXEC);
    if (capture->fd < 0)
        return false;
    snprintf(capture->file, sizeof capture->file, "/proc/self/fd/%d", capture->fd);
    return true;
}

/* The user's NCCL_DEBUG_FILE, with %h and %p filled in as NCCL does. */
static void users_file(gl_capture *capture, const char *pattern)
{
    char host[256] = "";
    size_t used = 0, size = sizeof capture->file;
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    for (const char *c = pattern; *c != '\0' && used + 1 < size; c++) {
        int written = 1;
        if (*c == '%' && c[1] == 'h')
            written = snprintf(capture->file + used, size - used, "%s", host);
        else if (*c == '%' && c[1] == 'p')
            written = snprintf(capture->file + used, size - used, "%ld", (long)getpid());
        else
            capture->file[used] = *c;
        if (*c == '%' && (c[1] == 'h' || c[1] == 'p'))
            c++;
        used += (size_t)written;
    }
    capture->file[used < size ? used : size - 1] = '\0';
}

static bool user_decides(gl_capture *capture)
{
    const char *level = getenv("NCCL_DEBUG"), *file = getenv("NCCL_DEBUG_FILE");
    if (level == NULL && file == NULL && getenv("NCCL_DEBUG_SUBSYS") == NULL)
        return false;
    if (level != NULL && file != NULL && file[0] != '\0')
        users_file(capture, file);
    return true;
}

gl_capture *gl_capture_begin(void (*reset)(void))
{
    gl_capture *capture = calloc(1, sizeof *capture);
    if (capture == NULL)
        return NULL;
    capture->fd = -1;
    if (user_decides(capture) || !make_file(capture))
        return capture;
    capture->ours = true;
    capture->reset = reset;
    setenv("NCCL_DEBUG", "INFO", 1);
    setenv("NCCL_DEBUG_SUBSYS", quiet_subsystems, 1);
    setenv("NCCL_DEBUG_FILE", capture->file, 1);
    return capture;
}

void gl_capture_end(gl_capture *capture)
{
    if (capture == NULL)
        return;
    if (capture->ours) {
        unsetenv("NCCL_DEBUG_FILE");
        unsetenv("NCCL_DEBUG_SUBSYS");
        unsetenv("NCCL_DEBUG");
    }
    if (capture->fd >= 0)
        close(capture->fd);
    free(capture->text);
    free(capture);
}

bool gl_capture_works(const gl_capture *capture)
{
    return capture != NULL && capture->file[0] != '\0';
}

/* ---- the text ---- */

static bool reserve(gl_capture *capture, size_t more)
{
    size_t needed = capture->length + more + 1;
    if (needed <= capture->capacity)
        return true;
    if (needed > TEXT_MAX)
        return false;
    size_t capacity = capture->capacity * 2 > needed ? capture->capacity * 2 : needed;
    char *text = realloc(capture->text, capacity);
    if (text == NULL)
        return false;
    capture->text = text;
    capture->capacity = capacity;
    return true;
}

static void drain(gl_capture *capture)
{
    if (capture->fd < 0 && gl_capture_works(capture))
        capture->fd = open(capture->file, O_RDONLY | O_CLOEXEC);
    ssize_t got = capture->fd >= 0 ? 1 : 0;
    while (got > 0 && reserve(capture, 65536)) {
        got = pread(capture->fd, capture->text + capture->length, 65536, capture->offset);
        capture->length += got > 0 ? (size_t)got : 0;
        capture->offset += got > 0 ? got : 0;
    }
}

void gl_capture_mark(gl_capture *capture)
{
    if (capture == NULL)
        return;
    drain(capture);
    capture->length = 0;
}

const char *gl_capture_text(gl_capture *capture)
{
    if (capture == NULL)
        return "";
    drain(capture);
    if (!reserve(capture, 0))
        return "";
    capture->text[capture->length] = '\0';
    return capture->text;
}

/* After a reset NCCL opens the file anew, empties it, and writes from its start when it next
 * prints. */
void gl_capture_calls(gl_capture *capture, bool on)
{
    if (capture == NULL || capture->reset == NULL)
        return;
    drain(capture);
    setenv("NCCL_DEBUG_SUBSYS", on ? all_subsystems : quiet_subsystems, 1);
    capture->reset();
    if (ftruncate(capture->fd, 0) == 0)
        capture->offset = 0;
}
