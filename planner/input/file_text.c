/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/file_text.h"

#include "common/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
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

static bool fail_missing(const char *path, gl_error *err)
{
    char reason[512];
    gl_arena *arena = gl_arena_create();
    snprintf(reason, sizeof reason, "no such file%s", gl_file_guess(arena, path));
    gl_arena_destroy(arena);
    return fail_file(err, GL_ERROR_INPUT, path, reason);
}

/* Opens a file for reading; whose fault it is when that fails depends on the reason. */
static bool open_file(const char *path, int *fd, gl_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0 && errno == ENOENT)
        return fail_missing(path, err);
    if (*fd < 0) {
        gl_status status = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO
                               ? GL_ERROR_SYSTEM
                               : GL_ERROR_INPUT;
        return fail_file(err, status, path, strerror(errno));
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

/* The first bytes of a regular file, with a NUL behind them. A pipe must not lose its own here. */
static size_t read_head(const char *path, char *head, size_t size)
{
    size_t got = 0;
    FILE *file = gl_file_is_regular(path) ? fopen(path, "rb") : NULL;
    if (file != NULL) {
        got = fread(head, 1, size - 1, file);
        fclose(file);
    }
    head[got] = '\0';
    return got;
}

bool gl_file_is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic + 1];
    return read_head(path, head, sizeof head) == sizeof magic &&
           memcmp(head, magic, sizeof magic) == 0;
}

bool gl_file_is_nccl_log(const char *path)
{
    static const char *const marks[] = {"# nThread", "NCCL INFO", "out-of-place",
                                        "\"nccl_version\"", "# nccl-tests"};
    char head[16384];
    read_head(path, head, sizeof head);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strstr(head, marks[i]) != NULL)
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *gl_file_guess(gl_arena *arena, const char *path)
{
    enum { FILES_MAX = 10000, GUESS_BYTES = 300 };
    const char *slash = strrchr(path, '/'), **names = NULL;
    size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0, count = 0, capacity = 0;
    char *guess = GL_ARENA_NEW(arena, char, GUESS_BYTES);
    DIR *folder = opendir(length > 0 ? gl_arena_strndup(arena, path, length) : ".");
    if (folder == NULL)
        return "";
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && count < FILES_MAX;) {
        const char *file = gl_arena_printf(arena, "%.*s%s", (int)length, path, entry->d_name);
        if (entry->d_name[0] == '.' || !gl_file_is_regular(file))
            continue;
        names = gl_arena_grow(arena, names, &capacity, count + 1, sizeof *names);
        names[count++] = gl_arena_strdup(arena, entry->d_name);
    }
    closedir(folder);
    if (count > 0)
        qsort(names, count, sizeof *names, by_name);
    return gl_guess(path + length, names, count, guess, GUESS_BYTES);
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
