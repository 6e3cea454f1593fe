/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/file_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* How long a named pipe that nobody has opened for writing is waited for. */
enum { WRITER_WAIT_MS = 5000 };

static bool fail_file(gl_error *err, gl_status status, const char *path, const char *reason)
{
    gl_mark mark = {.file = path};
    return gl_fail_at(err, status, &mark, NULL, "%s", reason);
}

/* ---- Streams ------------------------------------------------------------------------------ */

/* What comes over a pipe comes once, but a description is read for each scenario, and by `check`
 * first to see what it is: the text is kept until the program ends. */
typedef struct stream {
    dev_t device;
    ino_t inode;
    char *text;
    size_t length;
    struct stream *next;
} stream;

static stream *streams;

static const stream *find_stream(const struct stat *info)
{
    const stream *s = streams;
    while (s != NULL && (s->device != info->st_dev || s->inode != info->st_ino))
        s = s->next;
    return s;
}

/* Takes `text`. Without memory for the note the next reading finds the stream at its end. */
static void keep_stream(const struct stat *info, char *text, size_t length)
{
    stream *s = malloc(sizeof *s);
    if (s == NULL) {
        free(text);
        return;
    }
    *s = (stream){info->st_dev, info->st_ino, text, length, streams};
    streams = s;
}

static bool is_stream(int fd, const struct stat *info)
{
    return fd == STDIN_FILENO || S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode);
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* Opens a file for reading; whose fault it is when that fails depends on the reason. A named pipe
 * does not block here: see first_bytes. */
static bool open_file(const char *path, int *fd, gl_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0) {
        gl_status status = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO
                               ? GL_ERROR_SYSTEM
                               : GL_ERROR_INPUT;
        return fail_file(err, status, path, errno == ENOENT ? "no such file" : strerror(errno));
    }
    if (fstat(*fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(*fd);
        return fail_file(err, GL_ERROR_INPUT, path, "is a directory; a file is expected");
    }
    return true;
}

/* The first bytes of a pipe: waits for a writer for a while, and for a writer as long as it takes.
 * False when there is none. */
static bool first_bytes(int fd, char *buffer, size_t size, size_t *used)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    poll(&wait, 1, WRITER_WAIT_MS);
    ssize_t got = read(fd, buffer, size);
    *used = got > 0 ? (size_t)got : 0;
    /* Without a writer a pipe that does not block is at its end; a hang-up tells of one that was.
     */
    return got != 0 || (wait.revents & POLLHUP) != 0;
}

/* Reads until the end or until `size` bytes; −1 when reading fails. */
static ssize_t read_all(int fd, char *buffer, size_t used, size_t size)
{
    while (used < size) {
        ssize_t got = read(fd, buffer + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

/* Fills the buffer, which is one byte larger than a file may be. */
static bool read_buffer(int fd, const char *path, const struct stat *info, char *buffer,
                        size_t *length, gl_error *err)
{
    const size_t size = GL_FILE_TEXT_MAX + 1;
    size_t used = 0;
    if (fd != STDIN_FILENO) {
        if (S_ISFIFO(info->st_mode) && !first_bytes(fd, buffer, size, &used))
            return fail_file(err, GL_ERROR_INPUT, path, "is a pipe that nobody writes to");
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    }
    ssize_t got = read_all(fd, buffer, used, size);
    if (got < 0)
        return fail_file(err, GL_ERROR_SYSTEM, path, strerror(errno));
    if ((size_t)got == size)
        return fail_file(err, GL_ERROR_INPUT, path, "is larger than 4 MiB");
    *length = (size_t)got;
    return true;
}

static bool read_text(int fd, const char *path, gl_arena *arena, const char **text, size_t *length,
                      gl_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_file(err, GL_ERROR_SYSTEM, path, strerror(errno));
    const stream *before = is_stream(fd, &info) ? find_stream(&info) : NULL;
    if (before != NULL) {
        *text = gl_arena_strndup(arena, before->text, before->length);
        *length = before->length;
        return true;
    }
    char *buffer = malloc(GL_FILE_TEXT_MAX + 1);
    if (buffer == NULL)
        return fail_file(err, GL_ERROR_SYSTEM, path, "not enough memory to read it");
    if (!read_buffer(fd, path, &info, buffer, length, err)) {
        free(buffer);
        return false;
    }
    *text = gl_arena_strndup(arena, buffer, *length);
    if (is_stream(fd, &info))
        keep_stream(&info, buffer, *length);
    else
        free(buffer);
    return true;
}

bool gl_file_text_read(const char *path, gl_arena *arena, const char **text, size_t *length,
                       gl_error *err)
{
    if (strcmp(path, "-") == 0)
        return read_text(STDIN_FILENO, "standard input", arena, text, length, err);
    int fd;
    if (!open_file(path, &fd, err))
        return false;
    bool read = read_text(fd, path, arena, text, length, err);
    close(fd);
    return read;
}

bool gl_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool gl_file_is_same(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool gl_file_is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

const char *gl_file_beside(gl_arena *arena, const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');
    if (name[0] == '/' || slash == NULL)
        return gl_arena_strdup(arena, name);
    return gl_arena_printf(arena, "%.*s/%s", (int)(slash - file), file, name);
}

const char *gl_file_stem(gl_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    return gl_arena_strndup(arena, name, length);
}
