/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input_support.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- helpers ---- */

static gl_yaml_tree parse(gl_arena *arena, const char *text)
{
    gl_yaml_tree tree;
    gl_error err;
    if (!gl_yaml_parse("t.yaml", text, strlen(text), arena, &tree, &err)) {
        fprintf(stderr, "%s\n", err.message);
        fail();
    }
    return tree;
}

static void refused_bytes(const char *text, size_t length, const char *expected)
{
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree = {.file = "untouched"};
    gl_error err;
    char found[1400];
    assert_false(gl_yaml_parse("t.yaml", text, length, arena, &tree, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    gl_error_text(&err, found, sizeof found);
    if (!text_matches(found, expected)) {
        fprintf(stderr, "expected: %s\nfound: %s\n", expected, found);
        fail();
    }
    assert_string_equal(tree.file, "untouched");
    gl_arena_destroy(arena);
}

static void refused(const char *text, const char *expected)
{
    refused_bytes(text, strlen(text), expected);
}

static const char *text_at(const gl_yaml_tree *tree, const char *path)
{
    const gl_yaml_node *node = gl_yaml_find(tree, path);
    return node != NULL && node->kind == GL_YAML_SCALAR ? node->text : NULL;
}

/* ---- trees ---- */

static void test_nodes_and_marks(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree = parse(arena, "# comment\nmodel:\n  name: 'Llama 3'\n  layers: 80\n"
                                     "list: [a, {b: c}]\n");
    const gl_yaml_node *layers = gl_yaml_find(&tree, "model.layers");
    assert_non_null(layers);
    assert_string_equal(layers->text, "80");
    assert_false(layers->quoted);
    assert_int_equal(layers->mark.line, 4);
    assert_int_equal(layers->mark.column, 11);
    assert_int_equal(layers->key_mark.column, 3);
    assert_string_equal(layers->mark.file, "t.yaml");
    assert_true(gl_yaml_find(&tree, "model.name")->quoted);
    const gl_yaml_node *list = gl_yaml_get(tree.root, "list");
    assert_int_equal(list->kind, GL_YAML_SEQUENCE);
    assert_null(list->first->key);
    assert_string_equal(gl_yaml_get(list->first->next, "b")->text, "c");
    assert_null(gl_yaml_find(&tree, "model.nothing"));
    assert_null(gl_yaml_find(&tree, "model.layers.deeper"));
    assert_null(gl_yaml_find(&tree, ""));
    gl_arena_destroy(arena);
}

static void test_json(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree =
        parse(arena, "{\n\t\"a\": 1,\n\t\"b\": [true, null],\n\t\"c\": \"\\/x\"\n}\n");
    assert_string_equal(text_at(&tree, "a"), "1");
    assert_string_equal(text_at(&tree, "c"), "/x");
    assert_int_equal(gl_yaml_find(&tree, "b")->mark.line, 3);
    gl_arena_destroy(arena);
}

static void test_byte_order_mark(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree = parse(arena, "\xef\xbb\xbf"
                                     "a: 1\n");
    assert_string_equal(text_at(&tree, "a"), "1");
    assert_int_equal(gl_yaml_find(&tree, "a")->key_mark.column, 1);
    gl_arena_destroy(arena);
}

static void test_alias_is_a_copy_with_its_own_position(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree = parse(arena, "a: &x {p: 1}\nb: *x\n");
    const gl_yaml_node *b = gl_yaml_find(&tree, "b");
    assert_string_equal(b->key, "b");
    assert_int_equal(b->mark.line, 2);
    assert_string_equal(text_at(&tree, "b.p"), "1");
    assert_ptr_not_equal(b, gl_yaml_find(&tree, "a"));
    gl_arena_destroy(arena);
}

/* ---- refused ---- */

static void test_syntax(void **state)
{
    (void)state;
    refused("a: [1, 2\nb: 3\n", "t.yaml:2:2: not valid YAML: did not find expected ',' or ']'…");
    refused("model:\n\tlayers: 8\n", "t.yaml:2:1: a tab is used as indentation; YAML wants spaces");
    refused("a: 'open\n", "t.yaml:2:1: not valid YAML: found unexpected end of stream…");
}

/* libyaml tells of these a line too late, and in words of its own. */
static void test_slips(void **state)
{
    (void)state;
#define NO_VALUES "mapping values are not allowed in this context"
    refused("parallel:\n  tp:4\n  pp: 2\n",
            "t.yaml:3:5: not valid YAML: " NO_VALUES "; 'tp:4' in line 2 lacks a space after its "
            "colon");
    refused("parallel:\n  dp: 1\n  tp:4\n\n  # comment\n  cp:1\n  pp: 2\n",
            "t.yaml:5:3: not valid YAML: could not find expected ':', while scanning a simple key "
            "(line 3); 'tp:4' in line 3 lacks a space after its colon");
    refused("a: 1\nb:2\n", "t.yaml:3:1: not valid YAML: could not find expected ':', while "
                           "scanning a simple key (line 2); 'b:2' in line 2 lacks a space after "
                           "its colon");
    refused("parallel:\ntp: 4\n  pp: 2\n",
            "t.yaml:3:5: not valid YAML: " NO_VALUES "; this line begins with 2 spaces, line 2 "
            "with 0: keys of one level begin in the same column");
    refused("model:\n  layers: 8\n hidden: 4\n",
            "t.yaml:3:2: not valid YAML: did not find expected key, while parsing a block mapping "
            "(line 1); this line begins with 1 space, line 2 with 2: keys of one level begin in "
            "the same column");
    refused("name: a: b\n", "t.yaml:1:8: not valid YAML: " NO_VALUES "; a text that holds ': ' "
                            "wants quotes");
    /* Where nothing is likely, nothing is said; an address is no slip. */
    refused("a: [1, 2\nb: 3\n", "t.yaml:2:2: not valid YAML: did not find expected ',' or ']', "
                                "while parsing a flow sequence (line 1)");
#undef NO_VALUES
}

static void test_duplicate_keys(void **state)
{
    (void)state;
    refused("model:\n  layers: 8\n  hidden: 4\n  layers: 9\n",
            "t.yaml:4:3: model.layers: the key stands twice, first in line 2");
    refused("a: {b: 1, \"b\": 2}\n", "t.yaml:1:11: a.b: the key stands twice, first in line 1");
    refused("z: 1\na: 1\na: 2\nz: 2\n", "t.yaml:3:1: a: the key stands twice, first in line 2");
}

static void test_keys_that_are_no_text(void **state)
{
    (void)state;
    refused("? [a, b]\n: 1\n", "t.yaml:1:3: a key must be plain text");
    refused("a: &x 1\n? *x\n: 2\n", "t.yaml:2:3: a key must be plain text");
    refused("a: &x {p: 1}\nb:\n  <<: *x\n",
            "t.yaml:3:3: b: merge keys (<<) are not supported; write the keys out");
    refused("&k a: 1\n", "t.yaml:1:1: a key cannot have an anchor");
}

static void test_tags(void **state)
{
    (void)state;
    refused("a: !!str 8\n", "t.yaml:1:4: a: tags (!…) are not supported; remove it");
    refused("a: !x {b: 1}\n", "t.yaml:1:4: a: tags (!…) are not supported; remove it");
}

static void test_empty(void **state)
{
    (void)state;
    refused("", "t.yaml: is empty");
    refused("# only a comment\n", "t.yaml: is empty");
    refused("---\n", "t.yaml: is empty");
}

static void test_second_document(void **state)
{
    (void)state;
    refused("a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document begins; a file holds one");
}

static void test_binary(void **state)
{
    (void)state;
    refused_bytes("a: 1\nb: \0x", 10,
                  "t.yaml:2:4: is a binary file (NUL byte); a YAML file is expected");
    refused_bytes("SQLite format 3\0....", 20,
                  "t.yaml: is an SQLite database; a YAML file is expected");
    refused_bytes("\x7f"
                  "ELF\1\1\1\0",
                  8, "t.yaml:1:8: is a binary file (NUL byte); a YAML file is expected");
    refused("a: \xff\xfe\n",
            "t.yaml:1:4: is not a text file in UTF-8 (invalid leading UTF-8 octet)");
    refused("a: \"\\0\"\n", "t.yaml:1:4: a: a value holds a NUL character");
}

static void test_depth(void **state)
{
    (void)state;
    char text[4096] = "a: ";
    for (int i = 0; i < 63; i++)
        strcat(text, "[");
    size_t open = strlen(text);
    for (int i = 0; i < 63; i++)
        strcat(text, "]");
    gl_arena *arena = gl_arena_create();
    parse(arena, text);
    gl_arena_destroy(arena);
    text[open] = '\0';
    strcat(text, "[[]]");
    refused(text, "t.yaml:1:67: a: nested deeper than 64 levels…");
    memset(text, '[', 2000);
    text[2000] = '\0';
    refused(text, "t.yaml:1:65: nested deeper than 64 levels");
}

/* Nine levels of nine aliases would be 387 million nodes. */
static void test_alias_bomb(void **state)
{
    (void)state;
    char text[2048] = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; i++) {
        char line[128];
        snprintf(line, sizeof line,
                 "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        strcat(text, line);
    }
    refused(text, "t.yaml:…");
    gl_arena *arena = gl_arena_create();
    gl_error err;
    gl_yaml_tree tree;
    assert_false(gl_yaml_parse("t.yaml", text, strlen(text), arena, &tree, &err));
    assert_string_equal(err.message, "the document has more than 100000 nodes, aliases expanded");
    gl_arena_destroy(arena);
}

static void test_aliases_that_name_nothing_or_themselves(void **state)
{
    (void)state;
    refused("a: *x\n", "t.yaml:1:4: a: the alias names no anchor");
    refused("a: &x [*x]\n", "t.yaml:1:8: a: the alias stands inside its own anchor");
}

static void test_too_much(void **state)
{
    (void)state;
    size_t size = 5 * 1024 * 1024;
    char *text = malloc(size);
    assert_non_null(text);
    memcpy(text, "a: ", 3);
    memset(text + 3, 'x', 65537);
    refused_bytes(text, 3 + 65537, "t.yaml:1:4: a: a value is longer than 64 KiB");
    memcpy(text, "[ ", 2);
    for (size_t i = 2; i < 210000; i += 2)
        memcpy(text + i, "x,", 2);
    text[210000] = ']';
    refused_bytes(text, 210001,
                  "t.yaml:1:200001: the document has more than 100000 nodes, aliases expanded");
    memset(text, 'k', 300);
    memcpy(text + 300, ": 1\n", 4);
    refused_bytes(text, 304, "t.yaml:1:1: a key is longer than 256 bytes");
    free(text);
}

/* 40,000 keys, none twice, and then one: sorted, not compared pair by pair. */
static void test_many_keys(void **state)
{
    (void)state;
    size_t used = 0, size = 1024 * 1024;
    char *text = malloc(size);
    assert_non_null(text);
    for (int i = 0; i < 40000; i++)
        used += (size_t)snprintf(text + used, size - used, "k%d: 1\n", i);
    snprintf(text + used, size - used, "k7: 2\n");
    refused(text, "t.yaml:40001:1: k7: the key stands twice, first in line 8");
    free(text);
}

/* ---- files ---- */

static void load_refused(const char *path, gl_status status, const char *message)
{
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree;
    gl_error err;
    assert_false(gl_yaml_load(path, arena, &tree, &err));
    assert_int_equal(err.status, status);
    assert_string_equal(err.file, path);
    assert_string_equal(err.message, message);
    gl_arena_destroy(arena);
}

static void test_files(void **state)
{
    (void)state;
    char path[512];
    load_refused("/nonexistent/x.yaml", GL_ERROR_INPUT, "no such file");
    load_refused("/tmp", GL_ERROR_INPUT, "is a directory; a file is expected");
    load_refused("/dev/null", GL_ERROR_INPUT, "is empty");
    load_refused("/dev/zero", GL_ERROR_INPUT, "is larger than 4 MiB");
    snprintf(path, sizeof path, "%s/yaml_tree_%d.yaml", TEST_BINARY_DIR, (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a: 1\n", file);
    fclose(file);
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree;
    gl_error err;
    assert_true(gl_yaml_load(path, arena, &tree, &err));
    assert_string_equal(tree.file, path);
    assert_string_equal(text_at(&tree, "a"), "1");
    if (geteuid() != 0) {
        chmod(path, 0);
        load_refused(path, GL_ERROR_INPUT, "Permission denied");
    }
    unlink(path);
    gl_arena_destroy(arena);
}

/* ---- settings ---- */

static void test_set(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree = parse(arena, "parallel:\n  tp: 2\n  pp: 4\ncompute:\n");
    gl_error err;
    assert_true(gl_yaml_set(&tree, arena, "--set", "parallel.tp", "8", &err));
    assert_true(gl_yaml_set(&tree, arena, "--set", "buckets.gradient", "40 MiB", &err));
    assert_true(gl_yaml_set(&tree, arena, "--set", "compute.mfu", "45%", &err));
    assert_true(gl_yaml_set(&tree, arena, "--set", "batch", "{global: 512, micro: 1}", &err));
    assert_string_equal(text_at(&tree, "parallel.tp"), "8");
    assert_string_equal(text_at(&tree, "parallel.pp"), "4");
    assert_string_equal(text_at(&tree, "buckets.gradient"), "40 MiB");
    assert_string_equal(text_at(&tree, "compute.mfu"), "45%");
    assert_string_equal(text_at(&tree, "batch.global"), "512");
    const gl_yaml_node *tp = gl_yaml_find(&tree, "parallel.tp");
    assert_string_equal(tp->mark.file, "--set parallel.tp=8");
    assert_int_equal(tp->mark.line, 0);
    gl_arena_destroy(arena);
}

static void set_refused(const char *path, const char *value, const char *expected)
{
    gl_arena *arena = gl_arena_create();
    gl_yaml_tree tree = parse(arena, "parallel:\n  tp: 2\n");
    gl_error err;
    char found[1400];
    assert_false(gl_yaml_set(&tree, arena, "--set", path, value, &err));
    assert_string_equal(gl_error_text(&err, found, sizeof found), expected);
    gl_arena_destroy(arena);
}

static void test_set_refused(void **state)
{
    (void)state;
    set_refused("parallel.tp", "", "--set parallel.tp=: parallel.tp: has no value");
    set_refused("parallel.tp.x", "1",
                "--set parallel.tp.x=1: 'parallel.tp' holds a value, not further keys");
    set_refused("parallel..tp", "1",
                "--set parallel..tp=1: is not a dotted path such as parallel.tp=8");
    set_refused("", "1", "--set =1: is not a dotted path such as parallel.tp=8");
    set_refused("a", "[1",
                "--set a=[1: not valid YAML: did not find expected ',' or ']', while "
                "parsing a flow sequence (line 1)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_and_marks),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_alias_is_a_copy_with_its_own_position),
        cmocka_unit_test(test_syntax),
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_duplicate_keys),
        cmocka_unit_test(test_keys_that_are_no_text),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_second_document),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_alias_bomb),
        cmocka_unit_test(test_aliases_that_name_nothing_or_themselves),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_set_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
