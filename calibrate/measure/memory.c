/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The first number of a file, after `key` where one is given; NaN when there is none ("max"). */
static double number_in(const char *path, const char *key)
{
    char line[256];
    double value = NAN;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NAN;
    while (isnan(value) && fgets(line, sizeof line, file) != NULL) {
        size_t skip = key != NULL ? strlen(key) : 0;
        if (key != NULL && strncmp(line, key, skip) != 0)
            continue;
        char *end;
        double number = strtod(line + skip, &end);
        if (end > line + skip)
            value = number;
    }
    fclose(file);
    return value;
}

double gl_memory_available(void)
{
    double available = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    double limit = number_in("/sys/fs/cgroup/memory.max", NULL) -
                   number_in("/sys/fs/cgroup/memory.current", NULL);
    if (isnan(limit))
        limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", NULL) -
                number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes", NULL);
    if (isnan(available))
        available = (double)sysconf(_SC_PHYS_PAGES) / 2 * (double)sysconf(_SC_PAGESIZE);
    return fmax(fmin(available, limit), 0); /* fmin passes over a NaN */
}

double gl_memory_peak(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return NAN;
    return 1024.0 * (double)usage.ru_maxrss;
}
