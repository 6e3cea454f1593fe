/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/output.h"
#include "tests/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of its own for each test. */
typedef struct place {
    char folder[64], file[128];
} place;

static int set_up(void **state)
{
    place *p = calloc(1, sizeof *p);
    snprintf(p->folder, sizeof p->folder, "/tmp/test_output_XXXXXX");
    if (p == NULL || mkdtemp(p->folder) == NULL)
        return -1;
    snprintf(p->file, sizeof p->file, "%s/out.txt", p->folder);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    place *p = *state;
    DIR *folder = opendir(p->folder);
    chmod(p->folder, 0700);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(p->folder);
    free(p);
    return 0;
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_file(const char *path, const char *expected)
{
    char text[256];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static int count_files(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static bool write_to(const char *path, const char *text, gl_error *err)
{
    gl_output *out;
    if (!gl_output_open(path, &out, err))
        return false;
    gl_output_puts(out, text);
    return gl_output_close(out, err);
}

static void memory_collects(void **state)
{
    (void)state;
    gl_output *out = gl_output_memory();
    assert_string_equal(gl_output_text(out), "");
    gl_output_puts(out, "a");
    gl_output_write(out, "bcd", 2);
    gl_output_printf(out, "%d %s", 7, "x");
    assert_string_equal(gl_output_text(out), "abc7 x");
    for (int i = 0; i < 10000; i++)
        gl_output_printf(out, "%05d", i);
    assert_int_equal(strlen(gl_output_text(out)), 6 + 50000);
    assert_true(gl_output_close(out, NULL));
    gl_output_discard(NULL);
}

static void a_file_appears_when_closed(void **state)
{
    place *p = *state;
    gl_output *out;
    struct stat found;
    assert_true(gl_output_open(p->file, &out, NULL));
    gl_output_puts(out, "new");
    assert_int_equal(count_files(p->folder), 0);
    assert_true(gl_output_close(out, NULL));
    assert_file(p->file, "new");
    assert_int_equal(count_files(p->folder), 1);
    assert_int_equal(stat(p->file, &found), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(found.st_mode & 0777, 0666 & ~mask);
}

static void an_older_file_stays_when_discarded(void **state)
{
    place *p = *state;
    gl_output *out;
    put_file(p->file, "old");
    assert_true(gl_output_open(p->file, &out, NULL));
    gl_output_puts(out, "new");
    gl_output_discard(out);
    assert_file(p->file, "old");
    assert_int_equal(count_files(p->folder), 1);
}

static void an_older_file_is_replaced(void **state)
{
    place *p = *state;
    struct stat found;
    put_file(p->file, "a longer old text");
    chmod(p->file, 0640);
    assert_true(write_to(p->file, "new", NULL));
    assert_file(p->file, "new");
    assert_int_equal(stat(p->file, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
}

static void a_link_is_followed(void **state)
{
    place *p = *state;
    char link[160];
    struct stat found;
    snprintf(link, sizeof link, "%s/link", p->folder);
    put_file(p->file, "old");
    assert_int_equal(symlink("out.txt", link), 0);
    assert_true(write_to(link, "new", NULL));
    assert_file(p->file, "new");
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
}

static void paths_that_cannot_be_written_fail_at_once(void **state)
{
    place *p = *state;
    gl_output *out = NULL;
    gl_error err;
    assert_false(gl_output_open(p->folder, &out, &err));
    assert_int_equal(err.status, GL_ERROR_SYSTEM);
    assert_non_null(strstr(err.message, "Is a directory"));
    assert_false(gl_output_open("/nonexistent/folder/out.txt", &out, &err));
    assert_non_null(strstr(err.message, "cannot write /nonexistent/folder/out.txt: No such file"));
    assert_false(gl_output_open("", &out, &err));
    assert_null(out);
    if (geteuid() == 0)
        return; /* root may write everywhere */
    put_file(p->file, "old");
    chmod(p->file, 0400);
    assert_false(gl_output_open(p->file, &out, &err));
    assert_non_null(strstr(err.message, "Permission denied"));
    chmod(p->folder, 0500);
    assert_false(gl_output_open(p->file, &out, &err));
}

static void devices_are_written_as_they_are(void **state)
{
    (void)state;
    gl_error err = {0};
    struct stat found;
    assert_true(write_to("/dev/null", "x", &err));
    assert_int_equal(stat("/dev/null", &found), 0);
    assert_true(S_ISCHR(found.st_mode));
    assert_false(write_to("/dev/full", "x", &err));
    assert_int_equal(err.status, GL_ERROR_SYSTEM);
    assert_string_equal(err.message, "cannot write /dev/full: No space left on device");
}

/* Runs write_to with descriptor 1 being `fd`. */
static bool write_with_stdout(int fd, const char *path, const char *text, gl_error *err)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    else
        close(STDOUT_FILENO);
    bool done = write_to(path, text, err);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return done;
}

static void standard_output_by_any_name(void **state)
{
    place *p = *state;
    put_file(p->file, "old ");
    int fd = open(p->file, O_WRONLY | O_APPEND);
    assert_true(write_with_stdout(fd, NULL, "one ", NULL));
    assert_true(write_with_stdout(fd, "-", "two ", NULL));
    assert_true(write_with_stdout(fd, "/dev/stdout", "three", NULL));
    close(fd);
    assert_file(p->file, "old one two three");
    assert_int_equal(count_files(p->folder), 1);
}

static void a_full_standard_output_is_an_error(void **state)
{
    (void)state;
    gl_error err = {0};
    int fd = open("/dev/full", O_WRONLY);
    assert_false(write_with_stdout(fd, NULL, "x", &err));
    close(fd);
    assert_int_equal(err.status, GL_ERROR_SYSTEM);
    assert_string_equal(err.message, "cannot write standard output: No space left on device");
    assert_false(write_with_stdout(-1, NULL, "", &err));
    assert_non_null(strstr(err.message, "Bad file descriptor"));
}

static void a_closed_pipe_is_a_quiet_error(void **state)
{
    (void)state;
    gl_error err = {.message = "x"};
    int ends[2];
    signal(SIGPIPE, SIG_IGN); /* as gl_program_run does */
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_false(write_with_stdout(ends[1], NULL, "x", &err));
    close(ends[1]);
    assert_int_equal(err.status, GL_ERROR_SYSTEM);
    assert_string_equal(err.message, "");
}

static void a_pipe_gets_all(void **state)
{
    (void)state;
    char name[32], text[16] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    assert_true(write_to(name, "through", NULL));
    close(ends[1]);
    assert_int_equal(read(ends[0], text, sizeof text - 1), 7);
    close(ends[0]);
    assert_string_equal(text, "through");
}

/* "show lab.db -o lab.db" must not destroy the measurements. */
static void a_database_is_not_replaced(void **state)
{
    place *p = *state;
    gl_output *out;
    gl_error err;
    FILE *file = fopen(p->file, "wb");
    assert_non_null(file);
    fwrite("SQLite format 3\0and more", 1, 24, file);
    fclose(file);
    assert_false(gl_output_open(p->file, &out, &err));
    assert_int_equal(err.status, GL_ERROR_USAGE);
    assert_non_null(strstr(err.message, "is a database"));
    assert_file(p->file, "SQLite format 3");
}

/* A name as long as names can be leaves no room for a suffix. */
static void the_longest_name_is_written(void **state)
{
    const place *p = *state;
    char path[512];
    gl_error err;
    gl_output *out;
    int length = snprintf(path, sizeof path, "%s/", p->folder);
    memset(path + length, 'n', 255);
    path[length + 255] = '\0';
    for (int i = 0; i < 2; i++) {
        assert_true(gl_output_open(path, &out, &err));
        gl_output_puts(out, i == 0 ? "first" : "second");
        assert_true(gl_output_close(out, &err));
    }
    assert_file(path, "second");
    assert_int_equal(count_files(p->folder), 1);
}

/* What a killed run left is not in the way, and stays. */
static void a_left_temporary_file_is_passed_by(void **state)
{
    const place *p = *state;
    char left[192];
    gl_error err;
    gl_output *out;
    snprintf(left, sizeof left, "%s/gpulink.tmp-%ld-0", p->folder, (long)getpid());
    put_file(left, "left");
    assert_true(gl_output_open(p->file, &out, &err));
    gl_output_puts(out, "new");
    assert_true(gl_output_close(out, &err));
    assert_file(p->file, "new");
    assert_file(left, "left");
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_collects),
        IN_PLACE(the_longest_name_is_written),
        IN_PLACE(a_left_temporary_file_is_passed_by),
        IN_PLACE(a_file_appears_when_closed),
        IN_PLACE(an_older_file_stays_when_discarded),
        IN_PLACE(an_older_file_is_replaced),
        IN_PLACE(a_link_is_followed),
        IN_PLACE(a_database_is_not_replaced),
        IN_PLACE(paths_that_cannot_be_written_fail_at_once),
        cmocka_unit_test(devices_are_written_as_they_are),
        IN_PLACE(standard_output_by_any_name),
        cmocka_unit_test(a_full_standard_output_is_an_error),
        cmocka_unit_test(a_closed_pipe_is_a_quiet_error),
        cmocka_unit_test(a_pipe_gets_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
