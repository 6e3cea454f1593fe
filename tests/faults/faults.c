/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "tests/faults/faults.h"

#include "calibrate/cli/cli.h"
#include "planner/cli/cli.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 40, FRAMES_MAX = 24, SYSTEM_STATUS = 4 };

/* Shared with the child. */
typedef struct watch {
    fault_kind kind;
    long left, calls, live;
    bool armed, failed, returned;
    void *frames[FRAMES_MAX];
    int frame_count;
} watch;

static watch off, *now = &off;
static char folder[] = "/tmp/gpulink-faults-XXXXXX";

/* ---- what fails ---- */

static bool fails(bool counts, bool once)
{
    if (!now->armed || !counts)
        return false;
    now->calls++;
    bool due = now->left > 0 && --now->left == 0;
    if (due) {
        now->armed = false;
        now->frame_count = backtrace(now->frames, FRAMES_MAX);
        now->armed = true;
    }
    if (!due && (once || !now->failed))
        return false;
    now->failed = true;
    return true;
}

static bool allocation_fails(void)
{
    if (!fails(now->kind == FAULT_ALLOCATION || now->kind == FAULT_ALLOCATIONS,
               now->kind == FAULT_ALLOCATION))
        return false;
    errno = ENOMEM;
    return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static void *count_new(void *memory)
{
    now->live += now->armed && memory != NULL;
    return memory;
}

void *malloc(size_t size)
{
    return allocation_fails() ? NULL : count_new(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : count_new(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    if (allocation_fails())
        return NULL;
    return memory == NULL ? count_new(__libc_realloc(NULL, size)) : __libc_realloc(memory, size);
}

void free(void *memory)
{
    now->live -= now->armed && memory != NULL;
    __libc_free(memory);
}

static void *next_of(const char *name)
{
    bool armed = now->armed;
    now->armed = false;
    void *found = dlsym(RTLD_NEXT, name);
    now->armed = armed;
    return found;
}

/* The message on standard error gets through: what it says is what is looked at. */
static bool writing_fails(int fd)
{
    if (!fails((now->kind == FAULT_WRITE_NO_SPACE || now->kind == FAULT_WRITE_BROKEN) &&
                   fd != STDERR_FILENO,
               now->kind == FAULT_WRITE_BROKEN))
        return false;
    errno = now->kind == FAULT_WRITE_NO_SPACE ? ENOSPC : EIO;
    return true;
}

#define INTERPOSE(type, name, parameters, arguments, fd)                                           \
    type name parameters                                                                           \
    {                                                                                              \
        type(*next) parameters;                                                                    \
        *(void **)&next = next_of(#name);                                                          \
        return writing_fails(fd) ? (type)-1 : next arguments;                                      \
    }

INTERPOSE(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size), fd)
INTERPOSE(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at),
          (fd, bytes, size, at), fd)
INTERPOSE(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t at),
          (fd, bytes, size, at), fd)
INTERPOSE(int, fsync, (int fd), (fd), fd)
INTERPOSE(int, fdatasync, (int fd), (fd), fd)
INTERPOSE(int, ftruncate, (int fd, off_t size), (fd, size), fd)
INTERPOSE(int, ftruncate64, (int fd, off64_t size), (fd, size), fd)
INTERPOSE(int, rename, (const char *from, const char *to), (from, to), -1)

/* ---- files ---- */

static char *read_file(const char *path)
{
    FILE *stream = path != NULL ? fopen(path, "rb") : NULL;
    if (stream == NULL)
        return NULL;
    size_t size = 1 << 20, length = 0;
    char *text = malloc(size);
    while ((length += fread(text + length, 1, size - 1 - length, stream)) == size - 1)
        text = realloc(text, size *= 2);
    fclose(stream);
    /* A workbook is no text: its zeros do not end it. */
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] == '\0' ? '0' : text[i];
    text[length] = '\0';
    return text;
}

static void copy_file(const char *from, const char *to)
{
    char text[512];
    unlink(to);
    snprintf(text, sizeof text, "%s-journal", to);
    unlink(text);
    if (from == NULL)
        return;
    snprintf(text, sizeof text, "cp %s %s", from, to);
    assert_int_equal(system(text), 0);
}

static int add_row(void *context, int columns, char **values, char **names)
{
    FILE *stream = context;
    (void)names;
    for (int i = 0; i < columns; i++)
        fprintf(stream, "%s|", values[i] != NULL ? values[i] : "NULL");
    fputc('\n', stream);
    return 0;
}

/* All rows, less the time of storing; "" for a file without tables, "broken: …" for a damaged one.
 */
static char *rows_of(const char *path)
{
    static const char sql[] =
        "PRAGMA quick_check; SELECT id, state, tool, backend, gpu, environment, source, label, "
        "parameters, warnings FROM run; SELECT * FROM curve; SELECT * FROM sample; "
        "SELECT * FROM compute; SELECT * FROM overlap; SELECT * FROM topology";
    struct stat info;
    sqlite3 *db = NULL;
    char *text = NULL;
    size_t length;
    if (path == NULL || stat(path, &info) != 0 || info.st_size == 0)
        return path != NULL ? strdup("") : NULL;
    FILE *stream = open_memstream(&text, &length);
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    rc = rc == SQLITE_OK ? sqlite3_exec(db, "SELECT 1 FROM run", NULL, NULL, NULL) : rc;
    if (rc == SQLITE_ERROR) { /* it was to be created: no tables yet */
        fclose(stream);
        sqlite3_close(db);
        text[0] = '\0';
        return text;
    }
    rc = rc == SQLITE_OK ? sqlite3_exec(db, sql, add_row, stream, NULL) : rc;
    if (rc != SQLITE_OK)
        fprintf(stream, "broken: %s", sqlite3_errmsg(db));
    sqlite3_close(db);
    fclose(stream);
    return text;
}

/* ---- running ---- */

static int run_line(const char *line)
{
    static char text[2000];
    char *arguments[ARGUMENTS_MAX], *rest = NULL;
    int count = 0;
    size_t used = 0;
    for (const char *at = line; *at != '\0' && used + sizeof TEST_SOURCE_DIR + 8 < sizeof text;
         at++)
        if (*at == '@')
            used += (size_t)snprintf(text + used, sizeof text - used, "%s/..", TEST_SOURCE_DIR);
        else
            text[used++] = *at;
    text[used] = '\0';
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        arguments[count++] = word;
    arguments[count] = NULL;
    bool plans = strcmp(arguments[0], "plan") == 0;
    static char names[2][20] = {"gpulink-calibrate", "gpulink-plan"};
    arguments[0] = names[plans];
    now->armed = true;
    int status = plans ? gl_planner_main(count, arguments) : gl_calibrate_main(count, arguments);
    now->armed = false;
    now->returned = true;
    return status;
}

static void run_child(const command *c, fault_kind kind, long n, int messages)
{
    int printed = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(printed, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    if (kind == FAULT_FILE_SIZE_LIMIT)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)n, (rlim_t)n});
    /* cmocka would go on with the test in the child. */
    for (int number = 1; number < 32; number++)
        signal(number, SIG_DFL);
    alarm(60);
    _exit(run_line(c->line));
}

static void read_messages(int from, outcome *o)
{
    size_t used = 0;
    ssize_t got;
    while ((got = read(from, o->message + used, sizeof o->message - 1 - used)) > 0)
        used += (size_t)got;
    o->message[used] = '\0';
    close(from);
}

outcome command_run(const command *c, fault_kind kind, long n)
{
    static watch *shared;
    outcome o = {.kept = -1};
    int pipe_ends[2], state = 0;
    if (shared == NULL)
        shared =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *shared = (watch){.kind = kind, .left = kind == FAULT_FILE_SIZE_LIMIT ? 0 : n};
    if (c->output != NULL)
        unlink(c->output);
    if (c->database != NULL)
        copy_file(c->base, c->database);
    assert_int_equal(pipe(pipe_ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        now = shared;
        run_child(c, kind, n, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    read_messages(pipe_ends[0], &o);
    assert_int_equal(waitpid(child, &state, 0), child);
    o.status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    o.failed = shared->failed;
    o.calls = shared->calls;
    o.kept = shared->returned ? shared->live : -1;
    o.printed = read_file("printed");
    o.written = read_file(c->output);
    o.rows = rows_of(c->database);
    off = *shared;
    off.armed = false;
    return o;
}

void outcome_free(outcome *o)
{
    free(o->printed);
    free(o->written);
    free(o->rows);
}

/* ---- judging ---- */

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Workbooks hold the time at which they were made: two are alike that are whole. */
static bool same_output(const command *c, const outcome *a, const outcome *b)
{
    if (a->written == NULL || b->written == NULL || strstr(c->line, "xlsx") == NULL)
        return same(a->written, b->written);
    char text[200];
    snprintf(text, sizeof text, "unzip -tqq %s >/dev/null 2>&1", c->output);
    return labs((long)strlen(a->written) - (long)strlen(b->written)) < 64 && system(text) == 0;
}

static bool has_leftovers(void)
{
    glob_t found;
    bool any = glob("*.tmp-*", 0, NULL, &found) == 0;
    if (any)
        globfree(&found);
    return any;
}

/* GSL's decompositions (2.7) use what they allocated without looking. Which library asked is told
 * by the frames of the allocation that failed. */
static bool crashed_in_gsl(const outcome *got)
{
    Dl_info info;
    bool in_gsl = false;
    for (int i = 0; i < off.frame_count; i++)
        in_gsl = in_gsl ||
                 (dladdr(off.frames[i], &info) != 0 && strstr(info.dli_fname, "libgsl.") != NULL);
    return got->status < 0 && in_gsl;
}

static const char *complaint(const command *c, fault_kind kind, const outcome *wanted,
                             const outcome *got)
{
    if (crashed_in_gsl(got))
        return NULL;
    if (got->status < 0)
        return "ended by a signal";
    if (c->database != NULL && got->rows != NULL && strncmp(got->rows, "broken", 6) == 0)
        return "the database is damaged";
    if (kind == FAULT_ALLOCATION && got->kept > wanted->kept)
        return "memory leaks";
    if (has_leftovers())
        return "a temporary file is left";
    if (got->status == wanted->status)
        return !same(got->printed, wanted->printed) || !same_output(c, got, wanted) ||
                       !same(got->rows, wanted->rows)
                   ? "the answer differs, and nobody is told"
                   : NULL;
    if (got->status != SYSTEM_STATUS)
        return "another status than 4";
    if (got->message[0] == '\0')
        return "no message";
    if (c->output != NULL && got->written != NULL && !same_output(c, got, wanted))
        return "half a file is left";
    if (c->database != NULL && got->rows[0] != '\0' && !same(got->rows, wanted->rows)) {
        char *before = c->base != NULL ? rows_of(c->base) : strdup("");
        bool kept = same(got->rows, before[0] != '\0' ? before : "ok|\n");
        free(before);
        return kept ? NULL : "the database holds half";
    }
    return NULL;
}

bool outcome_is_sound(const command *c, fault_kind kind, long n, const outcome *wanted,
                      const outcome *got)
{
    const char *wrong = complaint(c, kind, wanted, got);
    if (wrong == NULL)
        return true;
    fprintf(
        stderr,
        "gpulink-%s\n  fault %d at %ld: %s (status %d, without fault %d; %ld kept, %ld)\n  %s\n",
        c->line, (int)kind, n, wrong, got->status, wanted->status, got->kept, wanted->kept,
        got->message);
    backtrace_symbols_fd(off.frames, off.frame_count, STDERR_FILENO);
    return false;
}

/* ---- the folder ---- */

static void make_file(const char *name, const char *text)
{
    FILE *stream = fopen(name, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void make_database(const char *name, const char *more)
{
    char line[300];
    snprintf(line, sizeof line,
             "calibrate import @/tests/fixtures/nccl/made_v213_all_reduce.txt --db %s "
             "--transport nvlink%s",
             name, more);
    outcome made = command_run(&(command){.line = line}, FAULT_NONE, 0);
    if (made.status != 0)
        fprintf(stderr, "%s\n", made.message);
    assert_int_equal(made.status, 0);
    outcome_free(&made);
}

void faults_begin(void)
{
    void *frames[2];
    backtrace(frames, 2); /* loads what it needs, before allocations are counted */
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("NO_COLOR", "1", 1);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    make_file("huggingface.yaml", "model: {huggingface: " TEST_SOURCE_DIR
                                  "/fixtures/huggingface/mixtral-8x7b.json, sequence: 4096}\n");
    make_file("rates.csv",
              "kind,dtype,m,n,k,time_s,time_p95_s\ngemm,bf16,8192,8192,8192,1.5e-3,\n");
    make_database("base.db", "");
    make_database("tuned.db", " --algorithm ring --protocol simple");
    make_database("tuned.db", " --algorithm tree --protocol simple");
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

void faults_end(void)
{
    if (chdir("/") == 0)
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}
