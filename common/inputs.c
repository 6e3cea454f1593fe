/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/inputs.h"

#include "common/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
    dev_t device;
    ino_t inode;
    char *path;
    struct input *next;
} input;

static input *inputs;
static bool remembers;

void gl_inputs_remember(void)
{
    remembers = true;
}

void gl_inputs_forget(void)
{
    remembers = false;
    while (inputs != NULL) {
        input *first = inputs;
        inputs = first->next;
        free(first->path);
        free(first);
    }
}

const char *gl_inputs_find(const struct stat *info)
{
    for (const input *i = inputs; i != NULL; i = i->next)
        if (i->device == info->st_dev && i->inode == info->st_ino)
            return i->path;
    return NULL;
}

void gl_inputs_note(int fd, const char *path)
{
    struct stat info;
    if (!remembers || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        gl_inputs_find(&info) != NULL)
        return;
    input *i = gl_memory_checked(malloc(sizeof *i));
    *i = (input){info.st_dev, info.st_ino, gl_memory_checked(strdup(path)), inputs};
    inputs = i;
}
