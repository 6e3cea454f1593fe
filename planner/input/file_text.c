/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/file_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

static bool fail_file(gl_error *err, gl_status status, const char *path, const char *reason)
{
    gl_mark mark = {.file = path};
    return gl_fail_at(err, status, &mark, NULL, "%s", reason);
}

/* Opens a file for reading; whose fault it is when that fails depends on the reason. */
static bool open_file(const char *path, int *fd, gl_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
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

/* Reads until the end or until `size` bytes; −1 when reading fails. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
    size_t used = 0;
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

static bool read_text(int fd, const char *path, gl_arena *arena, const char **text, size_t *length,
                      gl_error *err)
{
    const size_t size = GL_FILE_TEXT_MAX + 1;
    char *buffer = malloc(size);
    if (buffer == NULL)
        return fail_file(err, GL_ERROR_SYSTEM, path, "not enough memory to read it");
    ssize_t got = read_all(fd, buffer, size);
    bool read = got >= 0 && (size_t)got < size;
    if (got < 0)
        fail_file(err, GL_ERROR_SYSTEM, path, strerror(errno));
    else if (!read)
        fail_file(err, GL_ERROR_INPUT, path, "is larger than 4 MiB");
    if (read) {
        *text = gl_arena_strndup(arena, buffer, (size_t)got);
        *length = (size_t)got;
    }
    free(buffer);
    return read;
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
