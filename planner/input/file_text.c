/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/file_text.h"

#include "common/inputs.h"
#include "common/order.h"
#include "common/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
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

static bool fail_missing(const char *path, gl_error *err)
{
    char reason[512];
    gl_arena *arena = gl_arena_create();
    snprintf(reason, sizeof reason, "no such file%s", gl_file_guess(arena, path));
    gl_arena_destroy(arena);
    return fail_file(err, GL_ERROR_INPUT, path, reason);
}

/* ---- streams ---- */

/* What comes over a pipe comes once: the text is kept until the program ends, if it asks for that.
 */
typedef struct stream {
    dev_t device;
    ino_t inode;
    char *text;
    size_t length;
    struct stream *next;
} stream;

static stream *streams;
static bool keeps_streams;

void gl_file_keep_streams(void)
{
    keeps_streams = true;
}

static const stream *find_stream(const struct stat *info)
{
    const stream *s = streams;
    while (s != NULL && (s->device != info->st_dev || s->inode != info->st_ino))
        s = s->next;
    return s;
}

/* Takes `text`. */
static void keep_stream(const struct stat *info, char *text, size_t length)
{
    stream *s = gl_memory_checked(malloc(sizeof *s));
    *s = (stream){info->st_dev, info->st_ino, text, length, streams};
    streams = s;
}

static bool is_stream(int fd, const struct stat *info)
{
    return fd == STDIN_FILENO || S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode);
}

/* ---- reading ---- */

/* Opens a file for reading; whose fault it is when that fails depends on the reason. A named pipe
 * does not block here: see first_bytes. */
static bool open_file(const char *path, int *fd, gl_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0 && errno == ENOENT)
        return fail_missing(path, err);
    if (*fd < 0)
        return fail_file(err, gl_open_status(errno), path, strerror(errno));
    if (fstat(*fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(*fd);
        return fail_file(err, GL_ERROR_INPUT, path, "is a directory; a file is expected");
    }
    gl_inputs_note(*fd, path);
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
    const stream *before = keeps_streams && is_stream(fd, &info) ? find_stream(&info) : NULL;
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
    if (keeps_streams && is_stream(fd, &info))
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
    char head[GL_SQLITE_HEAD_BYTES + 1];
    return gl_is_sqlite_head(head, read_head(path, head, sizeof head));
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
        qsort(names, count, sizeof *names, gl_compare_texts);
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
