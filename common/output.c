/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything is kept in memory until the output is closed: a run that fails has written nothing,
 * not even to standard output, and no temporary file lies about while a search is running.
 */
#include "common/output.h"

#include "common/arena.h"
#include "common/inputs.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct gl_output {
    char *text;
    size_t length, capacity;
    bool in_memory;
    int standard; /* descriptor of an open stream that is the target; −1 = path */
    char *path;   /* resolved: a link is followed, not replaced */
    char *name;   /* as the user wrote it, for messages */
    bool direct;  /* a device or a pipe: written, not renamed */
    mode_t mode;
};

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(gl_memory_checked(malloc(size)), text, size);
}

static void reserve(gl_output *out, size_t more)
{
    if (more >= SIZE_MAX / 2 - out->length)
        gl_memory_checked(NULL);
    size_t needed = out->length + more + 1;
    if (needed <= out->capacity)
        return;
    size_t larger = out->capacity * 2 > needed ? out->capacity * 2 : needed;
    out->text = gl_memory_checked(realloc(out->text, larger));
    out->capacity = larger;
}

static gl_output *create(void)
{
    gl_output *out = gl_memory_checked(calloc(1, sizeof *out));
    out->standard = -1;
    reserve(out, 1023);
    out->text[0] = '\0';
    return out;
}

gl_output *gl_output_memory(void)
{
    gl_output *out = create();
    out->in_memory = true;
    return out;
}

const char *gl_output_text(gl_output *out)
{
    return out->text;
}

static bool fail_errno(const char *name, int reason, gl_error *err)
{
    return gl_fail(err, GL_ERROR_SYSTEM, "cannot write %s: %s", name, strerror(reason));
}

/* "/dev/stdout" or a file that the shell has already opened for us is written through its open
 * descriptor: a rename would leave the shell with the old file. */
static int same_as_standard(const struct stat *target)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat open_file;
        if (fstat(fd, &open_file) == 0 && open_file.st_dev == target->st_dev &&
            open_file.st_ino == target->st_ino)
            return fd;
    }
    return -1;
}

/* The folder of a file that does not exist yet has to. */
static bool check_folder(const gl_output *out, gl_error *err)
{
    char *folder = copy_text(out->path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    bool done = access(slash != NULL ? folder : ".", W_OK | X_OK) == 0;
    int reason = errno;
    free(folder);
    return done || fail_errno(out->name, reason, err);
}

static void resolve(gl_output *out)
{
    char *real = realpath(out->path, NULL);
    if (real == NULL)
        return;
    free(out->path);
    out->path = real;
}

/* A report written over the database it was made from would destroy the measurements. */
static bool is_database(const char *path)
{
    char start[GL_SQLITE_HEAD_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, start, sizeof start);
    bool found = got > 0 && gl_is_sqlite_head(start, (size_t)got);
    close(fd);
    return found;
}

/* Finds the errors that can be known before anything was computed. */
static bool check_target(gl_output *out, gl_error *err)
{
    struct stat target;
    out->mode = 0666;
    if (out->name[0] == '\0')
        return fail_errno("''", ENOENT, err);
    if (stat(out->path, &target) != 0)
        return errno == ENOENT ? check_folder(out, err) : fail_errno(out->name, errno, err);
    if (S_ISDIR(target.st_mode))
        return fail_errno(out->name, EISDIR, err);
    const char *input = gl_inputs_find(&target);
    if (input != NULL)
        return gl_fail(err, GL_ERROR_USAGE, "writing %.200s would overwrite the input %.200s",
                       out->name, input);
    out->standard = same_as_standard(&target);
    if (out->standard >= 0)
        return true;
    if (access(out->path, W_OK) != 0)
        return fail_errno(out->name, errno, err);
    if (!S_ISREG(target.st_mode)) {
        out->direct = true;
        return true;
    }
    if (is_database(out->path))
        return gl_fail(err, GL_ERROR_USAGE, "%s is a database, which no report replaces",
                       out->name);
    out->mode = target.st_mode & 0777;
    resolve(out);
    return check_folder(out, err);
}

bool gl_output_is_standard(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

bool gl_output_open(const char *path, gl_output **opened, gl_error *err)
{
    gl_output *out = create();
    if (gl_output_is_standard(path)) {
        out->standard = STDOUT_FILENO;
        out->name = copy_text("standard output");
        *opened = out;
        return true;
    }
    out->name = copy_text(path);
    out->path = copy_text(path);
    if (!check_target(out, err)) {
        gl_output_discard(out);
        return false;
    }
    *opened = out;
    return true;
}

void gl_output_write(gl_output *out, const char *text, size_t length)
{
    reserve(out, length);
    memcpy(out->text + out->length, text, length);
    out->length += length;
    out->text[out->length] = '\0';
}

void gl_output_puts(gl_output *out, const char *text)
{
    gl_output_write(out, text, strlen(text));
}

void gl_output_printf(gl_output *out, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        reserve(out, (size_t)length);
        vsnprintf(out->text + out->length, (size_t)length + 1, format, again);
        out->length += (size_t)length;
    }
    va_end(again);
}

/* Writes all; errno tells why not. */
static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

static bool write_standard(const gl_output *out)
{
    fflush(out->standard == STDERR_FILENO ? stderr : stdout);
    /* Nothing to write still has to notice a standard output that is closed. */
    return fcntl(out->standard, F_GETFL) != -1 && write_all(out->standard, out->text, out->length);
}

static bool write_and_close(int fd, const gl_output *out)
{
    if (!write_all(fd, out->text, out->length)) {
        int reason = errno;
        close(fd);
        errno = reason;
        return false;
    }
    return close(fd) == 0;
}

static bool write_direct(const gl_output *out)
{
    int fd = open(out->path, O_WRONLY | O_NOCTTY);
    return fd >= 0 && write_and_close(fd, out);
}

/* A new file beside the target; a short name, for the target's may be as long as names can be. The
 * name may be taken by a process of another machine, or one that was killed. */
static int open_beside(const gl_output *out, char *path, size_t size)
{
    enum { TRIES = 100 };
    const char *slash = strrchr(out->path, '/');
    int folder_length = slash != NULL ? (int)(slash + 1 - out->path) : 0, fd = -1;
    for (int i = 0; i < TRIES && (i == 0 || (fd < 0 && errno == EEXIST)); i++) {
        snprintf(path, size, "%.*sgpulink.tmp-%ld-%d", folder_length, out->path, (long)getpid(), i);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, out->mode);
    }
    return fd;
}

static bool write_renamed(const gl_output *out)
{
    size_t size = strlen(out->path) + 64;
    char *temporary = gl_memory_checked(malloc(size));
    int fd = open_beside(out, temporary, size);
    bool done = fd >= 0 && write_and_close(fd, out) && rename(temporary, out->path) == 0;
    if (fd >= 0 && !done) {
        int reason = errno;
        unlink(temporary);
        errno = reason;
    }
    free(temporary);
    return done;
}

bool gl_output_close(gl_output *out, gl_error *err)
{
    bool done = true;
    if (out->standard >= 0)
        done = write_standard(out);
    else if (out->direct)
        done = write_direct(out);
    else if (!out->in_memory)
        done = write_renamed(out);
    if (!done && errno == EPIPE)
        gl_fail(err, GL_ERROR_SYSTEM, "%s", "");
    else if (!done)
        fail_errno(out->name, errno, err);
    gl_output_discard(out);
    return done;
}

void gl_output_discard(gl_output *out)
{
    if (out == NULL)
        return;
    free(out->text);
    free(out->path);
    free(out->name);
    free(out);
}
