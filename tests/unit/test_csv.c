/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RFC 4180, and what is refused. */
#include "tests/support.h"

#include "common/csv.h"

#include <stdlib.h>

static gl_csv_file parsed(gl_arena *arena, const char *text)
{
    gl_csv_file csv;
    gl_error err;
    if (!gl_csv_parse("t.csv", text, strlen(text), GL_CSV_PLAIN, arena, &csv, &err))
        fail_msg("%s", err.message);
    return csv;
}

static const char *cell(const gl_csv_file *csv, size_t row, size_t column)
{
    return gl_csv_cell_at(csv, row, column)->text;
}

static void test_plain_rows(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_csv_file csv = parsed(arena, "id,name\n1,a\n\n2,\r\n,c");
    assert_int_equal(csv.columns, 2);
    assert_int_equal(csv.rows, 3);
    assert_string_equal(csv.cells[1].text, "name");
    assert_string_equal(cell(&csv, 0, 1), "a");
    assert_string_equal(cell(&csv, 1, 1), "");
    assert_string_equal(cell(&csv, 2, 0), "");
    assert_string_equal(cell(&csv, 2, 1), "c");
    assert_int_equal(gl_csv_cell_at(&csv, 1, 0)->line, 4);
    gl_arena_destroy(arena);
}

static void test_quotes(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_csv_file csv =
        parsed(arena, "\xef\xbb\xbf\"id\",b\r\n\"a, \"\"b\"\"\r\nc\",\"\"\r\nx,\"é\"\r\n");
    assert_string_equal(csv.cells[0].text, "id");
    assert_string_equal(cell(&csv, 0, 0), "a, \"b\"\r\nc");
    assert_string_equal(cell(&csv, 0, 1), "");
    assert_string_equal(cell(&csv, 1, 1), "é");
    /* A line break in quotes counts. */
    assert_int_equal(gl_csv_cell_at(&csv, 1, 1)->line, 4);
    assert_int_equal(gl_csv_cell_at(&csv, 1, 1)->column, 3);
    gl_arena_destroy(arena);
}

static void assert_refused(const char *text, size_t length, int line, int column,
                           const char *fragment)
{
    gl_arena *arena = gl_arena_create();
    gl_csv_file csv = {.rows = 77};
    gl_error err;
    assert_false(gl_csv_parse("t.csv", text, length, GL_CSV_PLAIN, arena, &csv, &err));
    assert_int_equal(csv.rows, 77);
    assert_int_equal(err.status, GL_ERROR_INPUT);
    if (strstr(err.message, fragment) == NULL || err.line != line || err.column != column)
        fail_msg("%d:%d: %s", err.line, err.column, err.message);
    gl_arena_destroy(arena);
}

#define REFUSED(text, line, column, fragment)                                                      \
    assert_refused(text, sizeof(text) - 1, line, column, fragment)

static void test_refused(void **state)
{
    (void)state;
    REFUSED("", 1, 1, "is empty");
    REFUSED("\n\r\n", 1, 1, "is empty");
    REFUSED("a,b\n1\n", 2, 1, "has 1 cells where the header has 2");
    REFUSED("a,b\n1,2\n1,2,3\n", 3, 1, "has 3 cells where the header has 2");
    REFUSED("a,b\n1,\"2\n", 2, 3, "never closed");
    REFUSED("a,b\n1,\"2\"x\n", 2, 6, "behind a closing quote");
    REFUSED("a,b\n1,2\"\n", 2, 4, "quote inside a cell");
    REFUSED("a,b\n1\r,2\n", 2, 2, "carriage return");
    REFUSED("a,b\n1,\xff\n", 2, 3, "no UTF-8");
    REFUSED("a,b\n1,\x01\n", 2, 3, "control character");
    REFUSED("a,b\n1,\0\n", 0, 0, "binary file");
    REFUSED("a,,c\n", 1, 3, "column 2 has no name");
    REFUSED("a,b,a\n", 1, 5, "'a' appears twice");
}

/* Positions count characters, not bytes. */
static void test_position_behind_umlauts(void **state)
{
    (void)state;
    REFUSED("a,b\näöü,\"2\"x\n", 2, 8, "behind a closing quote");
}

static char *repeated(const char *part, size_t count)
{
    size_t length = strlen(part);
    char *text = calloc(count * length + 1, 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, part, length);
    return text;
}

static void test_limits(void **state)
{
    (void)state;
    char *wide = repeated("a,", 300), *tall = repeated("1\n", 100002), *cell = repeated("x", 70000);
    assert_refused(wide, strlen(wide), 1, 513, "more than 256 columns");
    assert_refused(tall, strlen(tall), 100002, 1, "more than 100000 rows");
    assert_refused(cell, strlen(cell), 1, 65538, "longer than 64 KiB");
    free(wide);
    free(tall);
    free(cell);
}

static void test_comments(void **state)
{
    (void)state;
    static const char text[] = "# \"about\r\n\na,b\n# 1,2,3\n1,#2\n#";
    gl_arena *arena = gl_arena_create();
    gl_csv_file csv;
    assert_true(gl_csv_parse("t.csv", text, strlen(text), GL_CSV_COMMENTS, arena, &csv, NULL));
    assert_int_equal(csv.rows, 1);
    assert_string_equal(cell(&csv, 0, 1), "#2");
    assert_int_equal(gl_csv_cell_at(&csv, 0, 0)->line, 5);
    assert_int_equal(gl_csv_column(&csv, "b"), 1);
    assert_int_equal(gl_csv_column(&csv, "c"), 2);
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_rows), cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_position_behind_umlauts),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
