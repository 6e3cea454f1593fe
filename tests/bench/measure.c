/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure N COMMAND...: runs a command N times with its output dropped; prints median and fastest
 * wall time in ms and the largest resident set in MiB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 1000 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(char **command)
{
    int status, null = open("/dev/null", O_WRONLY);
    pid_t child = fork();
    if (child == 0) {
        dup2(null, STDOUT_FILENO);
        execv(command[0], command);
        _exit(127);
    }
    close(null);
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
        WEXITSTATUS(status) > 1) {
        fprintf(stderr, "measure: %s failed\n", command[0]);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static double times_ms[RUNS_MAX];
    int runs = argc > 2 ? atoi(argv[1]) : 0;
    if (runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: measure N COMMAND...\n");
        return 2;
    }
    for (int i = 0; i < runs; i++) {
        double start_ms = now_ms();
        run(argv + 2);
        times_ms[i] = now_ms() - start_ms;
    }
    qsort(times_ms, (size_t)runs, sizeof *times_ms, compare);
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%.3f %.3f %.2f\n", times_ms[runs / 2], times_ms[0], (double)usage.ru_maxrss / 1024);
    return 0;
}
