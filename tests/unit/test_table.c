/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/table.h"
#include "tests/support.h"

static const gl_column columns[] = {{"name", NULL, GL_NUMBER, 0},
                                    {"size_bytes", "size", GL_BYTES, 0}};

static void rows_start_empty_and_stay(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_table *table = gl_table_create(arena, "traffic", "Traffic", columns, 2);
    assert_int_equal(table->row_count, 0);
    for (int i = 0; i < 1000; i++) {
        gl_cell *row = gl_table_add_row(table);
        assert_int_equal(row[0].type, GL_CELL_EMPTY);
        assert_int_equal(row[1].type, GL_CELL_EMPTY);
        row[0] = gl_text("x");
        row[1] = gl_integer(i);
    }
    assert_int_equal(table->row_count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(table->cells[2 * i + 1].as.integer, i);
    gl_arena_destroy(arena);
}

static void a_title_is_never_missing(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    assert_string_equal(gl_table_create(arena, "step", NULL, columns, 2)->title, "step");
    gl_arena_destroy(arena);
}

static void cells_know_their_type(void **state)
{
    (void)state;
    assert_int_equal(gl_text(NULL).type, GL_CELL_EMPTY);
    assert_int_equal(gl_text("").type, GL_CELL_TEXT);
    assert_int_equal(gl_real(1.5).type, GL_CELL_REAL);
    assert_true(gl_boolean(true).as.boolean);
}

static void formats_parse(void **state)
{
    (void)state;
    gl_format format = GL_FORMAT_TABLE;
    assert_true(gl_format_parse("markdown", &format));
    assert_int_equal(format, GL_FORMAT_MARKDOWN);
    assert_true(gl_format_parse("csv", &format));
    assert_int_equal(format, GL_FORMAT_CSV);
    assert_true(gl_format_parse("json", &format));
    assert_int_equal(format, GL_FORMAT_JSON);
    assert_false(gl_format_parse("JSON", &format));
    assert_false(gl_format_parse("", &format));
    assert_string_equal(gl_format_of_file("a.b/answer.html"), "html");
    assert_string_equal(gl_format_of_file("plan.md"), "markdown");
    assert_null(gl_format_of_file("answer.txt"));
    assert_null(gl_format_of_file("csv"));
    assert_string_equal(gl_format_unknown_ending("a.d/plan.pdf"), ".pdf");
    assert_string_equal(gl_format_unknown_ending("plan.JSON"), ".JSON");
    static const char *const plain[] = {"plan.txt", "plan.log", "plan.out", "a.d/plan",
                                        "plan-1.2", ".plan",    "plan.",    "plan.html"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assert_null(gl_format_unknown_ending(plain[i]));
    assert_int_equal(format, GL_FORMAT_JSON);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_start_empty_and_stay),
        cmocka_unit_test(a_title_is_never_missing),
        cmocka_unit_test(cells_know_their_type),
        cmocka_unit_test(formats_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
