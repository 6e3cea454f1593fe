/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fuzz target over the files of folders, where libFuzzer is not linked. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return -1;
    uint8_t *data = NULL;
    size_t size = 0, got;
    uint8_t chunk[65536];
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        uint8_t *larger = realloc(data, size + got);
        if (larger == NULL)
            abort();
        data = larger;
        memcpy(data + size, chunk, got);
        size += got;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data != NULL ? data : chunk, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (dir == NULL) {
            fprintf(stderr, "%s: no such folder\n", argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            char path[4096];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            count += run_file(path) == 0;
        }
        closedir(dir);
    }
    printf("%d files replayed\n", count);
    return count > 0 ? 0 : 1;
}
