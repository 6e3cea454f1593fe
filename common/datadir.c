/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* dladdr */
#include "common/datadir.h"

#include "common/order.h"
#include "common/texts.h"
#include "gpulink_version.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOTS_MAX = 8, PATH_BYTES = 4096 };

/* The running program's file. Where /proc is not mounted, as in a bare chroot, by the name that it
 * was started with. NULL when it is not known. */
static const char *program_file(gl_arena *arena)
{
    char path[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0)
        return gl_arena_strndup(arena, path, (size_t)length);
    char *file = realpath((const char *)getauxval(AT_EXECFN), NULL);
    const char *copy = file != NULL ? gl_arena_strdup(arena, file) : NULL;
    free(file);
    return copy;
}

/* The folder that a path is in; NULL when it names none. */
static const char *folder_of(gl_arena *arena, const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? gl_arena_strndup(arena, path, (size_t)(slash - path)) : NULL;
}

/* The file that this code is in, where that is a shared library. */
static const char *library_file(gl_arena *arena)
{
    static const char here;
    Dl_info info;
    return dladdr(&here, &info) != 0 ? gl_arena_strdup(arena, info.dli_fname) : NULL;
}

/* What belongs to a prefix, or to a build tree. */
static void add_roots(gl_arena *arena, const char *base, const char **roots, size_t *count)
{
    if (base == NULL)
        return;
    roots[(*count)++] = gl_arena_printf(arena, "%s/share/gpulink", base);
    roots[(*count)++] = gl_arena_printf(arena, "%s/data", base);
}

/* The folders to look in, in order. Returns how many. */
static size_t list_roots(gl_arena *arena, const char *roots[ROOTS_MAX])
{
    size_t count = 0;
    const char *chosen = getenv("GPULINK_DATA");
    if (chosen != NULL && chosen[0] != '\0')
        roots[count++] = chosen;
    add_roots(arena, folder_of(arena, folder_of(arena, program_file(arena))), roots, &count);
    /* Libraries are in lib, or in lib/ARCHITECTURE. */
    const char *base = folder_of(arena, folder_of(arena, library_file(arena)));
    add_roots(arena, base, roots, &count);
    add_roots(arena, folder_of(arena, base), roots, &count);
    roots[count++] = GPULINK_INSTALL_DATADIR;
    return count;
}

static bool is_safe(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
           strstr(name, "..") == NULL;
}

/* Where the extension of a file name begins, with its dot; NULL: it has another, or none. */
static const char *extension_of(const char *name, const char *extension)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot + 1, extension) == 0 ? dot : NULL;
}

static bool is_file(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

static const char *find_in(gl_arena *arena, const char *root, const char *folder, const char *name,
                           const char *extension)
{
    const char *path = gl_arena_printf(arena, "%s/%s/%s", root, folder, name);
    if (extension_of(name, extension) != NULL && is_file(path))
        return path;
    path = gl_arena_printf(arena, "%s.%s", path, extension);
    return is_file(path) ? path : NULL;
}

const char *gl_datadir_find(gl_arena *arena, const char *folder, const char *name,
                            const char *extension)
{
    const char *roots[ROOTS_MAX];
    if (!is_safe(name))
        return NULL;
    size_t count = list_roots(arena, roots);
    for (size_t i = 0; i < count; i++) {
        const char *path = find_in(arena, roots[i], folder, name, extension);
        if (path != NULL)
            return path;
    }
    return NULL;
}

static void list_folder(gl_arena *arena, const char *path, const char *extension, gl_texts *names)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *end = extension_of(entry->d_name, extension);
        if (end == NULL || !is_safe(entry->d_name) ||
            !is_file(gl_arena_printf(arena, "%s/%s", path, entry->d_name)))
            continue;
        gl_texts_add(names, arena,
                     gl_arena_strndup(arena, entry->d_name, (size_t)(end - entry->d_name)));
    }
    closedir(folder);
}

const char *const *gl_datadir_list(gl_arena *arena, const char *folder, const char *extension,
                                   size_t *count)
{
    const char *roots[ROOTS_MAX];
    gl_texts names = {0};
    size_t root_count = list_roots(arena, roots);
    for (size_t i = 0; i < root_count; i++)
        list_folder(arena, gl_arena_printf(arena, "%s/%s", roots[i], folder), extension, &names);
    if (names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, gl_compare_texts);
    size_t distinct = 0;
    for (size_t i = 0; i < names.count; i++)
        if (distinct == 0 || strcmp(names.items[i], names.items[distinct - 1]) != 0)
            names.items[distinct++] = names.items[i];
    *count = distinct;
    return names.items;
}
