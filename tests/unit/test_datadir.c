/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/datadir.h"
#include "tests/support.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A data folder with thing/alpha.yaml, thing/beta.db, thing/gamma.yaml, thing/gamma.db. */
static const char *const files[] = {"alpha.yaml", "beta.db", "gamma.yaml",
                                    "gamma.db",   ".yaml",   "notes.txt"};
enum { FILE_COUNT = sizeof files / sizeof files[0] };

static char root[64], folder[80];
static gl_arena *arena;

static void path_of(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", folder, name);
}

static int set_up(void **state)
{
    (void)state;
    arena = gl_arena_create();
    snprintf(root, sizeof root, "/tmp/test_datadir_XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(folder, sizeof folder, "%s/thing", root);
    mkdir(folder, 0700);
    for (int i = 0; i < FILE_COUNT; i++) {
        char path[128];
        path_of(path, sizeof path, files[i]);
        FILE *file = fopen(path, "w");
        if (file == NULL)
            return -1;
        fclose(file);
    }
    char path[128];
    path_of(path, sizeof path, "folder.yaml");
    mkdir(path, 0700);
    return setenv("GPULINK_DATA", root, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char path[128];
    for (int i = 0; i < FILE_COUNT; i++) {
        path_of(path, sizeof path, files[i]);
        unlink(path);
    }
    path_of(path, sizeof path, "folder.yaml");
    rmdir(path);
    rmdir(folder);
    rmdir(root);
    gl_arena_destroy(arena);
    return unsetenv("GPULINK_DATA");
}

static void assert_found(const char *name, const char *extension, const char *expected)
{
    const char *found = gl_datadir_find(arena, "thing", name, extension);
    char path[128];
    if (expected == NULL) {
        assert_null(found);
        return;
    }
    path_of(path, sizeof path, expected);
    assert_string_equal(found != NULL ? found : "(none)", path);
}

static void names_with_and_without_extension(void **state)
{
    (void)state;
    assert_found("alpha", "yaml", "alpha.yaml");
    assert_found("alpha.yaml", "yaml", "alpha.yaml");
    assert_found("alpha", "db", NULL);
    assert_found("beta", "db", "beta.db");
    assert_found("gamma", "yaml", "gamma.yaml");
    assert_found("gamma", "db", "gamma.db");
    assert_found("gamma.yaml", "db", NULL);
}

static void other_names_are_not_found(void **state)
{
    (void)state;
    const char *const names[] = {"",
                                 ".",
                                 "..",
                                 "delta",
                                 "notes",
                                 "notes.txt",
                                 "../thing/alpha",
                                 "thing/alpha",
                                 "/etc/passwd",
                                 "alp..ha",
                                 ".yaml",
                                 "folder"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_found(names[i], "yaml", NULL);
    assert_null(gl_datadir_find(arena, "no-such-folder", "alpha", "yaml"));
}

static void lists_are_sorted(void **state)
{
    (void)state;
    size_t count = 0;
    const char *const *names = gl_datadir_list(arena, "thing", "yaml", &count);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "alpha");
    assert_string_equal(names[1], "gamma");
    gl_datadir_list(arena, "no-such-folder", "yaml", &count);
    assert_int_equal(count, 0);
}

/* The same folder, found in two ways, has each name once. */
static void lists_are_distinct(void **state)
{
    (void)state;
    size_t once = 0, twice = 0;
    setenv("GPULINK_DATA", "", 1);
    gl_datadir_list(arena, "gpus", "yaml", &once);
    assert_true(once > 1);
    const char *path = gl_datadir_find(arena, "gpus", "h200-sxm", "yaml");
    assert_non_null(path);
    char *data = gl_arena_strndup(arena, path, strlen(path) - strlen("/gpus/h200-sxm.yaml"));
    setenv("GPULINK_DATA", data, 1);
    gl_datadir_list(arena, "gpus", "yaml", &twice);
    assert_int_equal(twice, once);
}

static void an_empty_variable_is_none(void **state)
{
    (void)state;
    setenv("GPULINK_DATA", "", 1);
    assert_found("alpha", "yaml", NULL);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(names_with_and_without_extension),
        WITH_FILES(other_names_are_not_found),
        WITH_FILES(lists_are_sorted),
        WITH_FILES(lists_are_distinct),
        WITH_FILES(an_empty_variable_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
