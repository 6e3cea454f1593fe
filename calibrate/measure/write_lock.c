/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE    /* F_OFD_SETLK: belongs to the descriptor, so that SQLite's closing cannot  \
                          drop it */
#include "calibrate/measure/write_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Behind the bytes that SQLite locks (PENDING_BYTE, 512 bytes from 1 GiB on). */
enum { LOCKED_BYTE = 0x40000000 + 4096 };

static struct flock whole_lock(void)
{
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCKED_BYTE, .l_len = 1};
}

bool gl_write_lock_take(const char *path, int *lock, gl_error *err)
{
    struct stat info;
    struct flock what = whole_lock();
    *lock = -1;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return true;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || fcntl(fd, F_OFD_SETLK, &what) == 0) {
        *lock = fd;
        return true;
    }
    int reason = errno;
    close(fd);
    if (reason == EAGAIN || reason == EACCES)
        return gl_fail_at(err, GL_ERROR_INPUT, &(gl_mark){.file = path}, NULL,
                          "another gpulink-calibrate run measures into this database: wait until "
                          "it ends, or give another --db");
    return gl_fail_at(err, GL_ERROR_SYSTEM, &(gl_mark){.file = path}, NULL,
                      "cannot lock the database: %s", strerror(reason));
}

void gl_write_lock_release(int lock)
{
    if (lock >= 0)
        close(lock);
}

bool gl_write_lock_held(const char *path)
{
    struct flock what = whole_lock();
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool held = fcntl(fd, F_OFD_GETLK, &what) == 0 && what.l_type != F_UNLCK;
    close(fd);
    return held;
}
