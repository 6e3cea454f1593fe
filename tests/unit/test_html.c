/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/html.h"
#include "common/html/assets.h"
#include "common/render.h"
#include "tests/support.h"

#include <stdlib.h>

static const char hostile[] = "</script><script>alert('x')</script>&\"<!--";

static void check(void (*put)(gl_output *, const char *), const char *text, const char *expected)
{
    gl_output *out = gl_output_memory();
    put(out, text);
    assert_string_equal(gl_output_text(out), expected);
    gl_output_discard(out);
}

static void markup_is_escaped(void **state)
{
    (void)state;
    check(gl_html_text, "a < b > c & \"d\" 'e'", "a &lt; b &gt; c &amp; &quot;d&quot; &#39;e&#39;");
    check(gl_html_text, "Größe 80 % ±", "Größe 80 % ±");
}

/* Bytes that are no UTF-8, control characters, and what turns the direction of writing. */
static void unfit_characters_are_replaced(void **state)
{
    (void)state;
    check(gl_html_text,
          "a\xFF"
          "b",
          "a\xEF\xBF\xBD"
          "b");
    check(gl_html_text, "a\x1B[31mb\x7F", "a\xEF\xBF\xBD[31mb\xEF\xBF\xBD");
    check(gl_html_text,
          "a\xE2\x80\xAE"
          "b",
          "a\xEF\xBF\xBD"
          "b");
    check(gl_html_text, "two\nlines\tand a tab", "two\nlines\tand a tab");
}

static void json_cannot_end_its_script(void **state)
{
    (void)state;
    check(gl_html_json, "\"</script>\"", "\"\\u003c/script\\u003e\"");
    check(gl_html_json, "\"<!--&\"", "\"\\u003c!--\\u0026\"");
    check(gl_html_json, "\"a\xE2\x80\xA8\xE2\x80\xA9\"", "\"a\\u2028\\u2029\"");
    check(gl_html_json, "[1.5, \"ä\"]\n", "[1.5, \"ä\"]\n");
}

static const gl_column columns[] = {{"name", "Name <b>", GL_NUMBER, GL_FOR_ALL},
                                    {"time_s", "Time", GL_SECONDS, GL_FOR_ALL},
                                    {"hidden", NULL, GL_NUMBER, GL_FOR_MACHINES}};

typedef struct sample {
    gl_arena *arena;
    gl_scenario scenario;
    gl_report report;
} sample;

static sample new_sample(void)
{
    sample s = {.arena = gl_arena_create()};
    gl_table **tables = GL_ARENA_NEW(s.arena, gl_table *, 1);
    tables[0] = gl_table_create(s.arena, "things", hostile, columns, 3);
    gl_cell *cell = gl_table_add_row(tables[0]);
    cell[0] = gl_text(hostile);
    cell[1] = gl_real(0.25);
    cell[2] = gl_text("not for people");
    static const char *warnings[] = {hostile};
    s.scenario = (gl_scenario){.name = hostile,
                               .tables = tables,
                               .table_count = 1,
                               .warnings = warnings,
                               .warning_count = 1,
                               .headline = "A thing\n\nStep   250 ms: TOO SLOW, 5 of it\n"
                                           "       or so\n"};
    return s;
}

static char *render(sample *s)
{
    gl_error err;
    gl_output *out = gl_output_memory();
    s->report = (gl_report){.scenarios = &s->scenario, .scenario_count = 1};
    if (!gl_render(&s->report, GL_FORMAT_HTML, NULL, out, &err))
        fail_msg("%s", err.message);
    char *text = gl_arena_strdup(s->arena, gl_output_text(out));
    gl_output_discard(out);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void a_page_without_charts_has_no_script(void **state)
{
    (void)state;
    sample s = new_sample();
    const char *page = render(&s);
    assert_int_equal(count_of(page, "<script"), 0);
    assert_int_equal(count_of(page, "alert("), 6); /* title, h1, label, caption, cell, warning */
    assert_int_equal(count_of(page, "&lt;/script&gt;&lt;script&gt;"), 6);
    assert_non_null(strstr(page, "<th scope=\"col\">Name &lt;b&gt;</th>"));
    assert_non_null(strstr(page, "<td class=\"n\">250 ms</td>"));
    assert_null(strstr(page, "not for people"));
    gl_arena_destroy(s.arena);
}

static void a_headline_is_a_list(void **state)
{
    (void)state;
    sample s = new_sample();
    const char *page = render(&s);
    assert_non_null(strstr(page, "<p class=\"subject\">A thing</p>\n<dl>\n<dt>Step</dt><dd>250 ms: "
                                 "<strong>TOO SLOW</strong>, 5 of it<span>or so</span></dd>"));
    gl_arena_destroy(s.arena);
}

static void a_chart_stands_with_its_table(void **state)
{
    (void)state;
    sample s = new_sample();
    gl_datum data[] = {{.category = 0, .x = 0.123456789, .note = "</script>"}};
    gl_series series[] = {{.name = hostile, .mark = GL_MARK_BAR, .data = data, .count = 1}};
    const char *categories[] = {"a\xE2\x80\xA8"
                                "b"};
    gl_chart charts[] = {{.table = "things",
                          .title = "Drawn",
                          .words = "It is seen.",
                          .categories = categories,
                          .category_count = 1,
                          .x = {"time", GL_SECONDS, false, false},
                          .series = series,
                          .series_count = 1},
                         {.table = "absent", .title = "No such table", .words = ""}};
    s.scenario.charts = charts;
    s.scenario.chart_count = 2;
    const char *page = render(&s);
    if (gl_html_chartjs[0] == '\0')
        fail_msg("built without Chart.js: install libjs-chart.js");
    assert_int_equal(count_of(page, "<figure"), 1);
    assert_non_null(strstr(page, "aria-label=\"Drawn. It is seen.\""));
    assert_non_null(strstr(page, "<a href=\"#table-0-things\">"));
    assert_non_null(strstr(page, "id=\"table-0-things\""));
    assert_non_null(strstr(page, "\"categories\": [\"a?b\"]"));
    assert_non_null(strstr(page, "[0, 0.123457, \"\\u003c/script\\u003e\"]"));
    assert_int_equal(count_of(page, "<script"), count_of(page, "</script>"));
    assert_int_equal(count_of(page, "<script>"), 2); /* Chart.js and what uses it */
    gl_arena_destroy(s.arena);
}

/* SHA-256 in base64, which a browser checks; here only its form. */
static void assets_have_hashes(void **state)
{
    (void)state;
    assert_int_equal(strlen(gl_html_style_hash), strlen("sha256-") + 44);
    assert_int_equal(strlen(gl_html_script_hash), strlen("sha256-") + 44);
    assert_null(strstr(gl_html_chartjs, "sourceMappingURL"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(unfit_characters_are_replaced),
        cmocka_unit_test(json_cannot_end_its_script),
        cmocka_unit_test(a_page_without_charts_has_no_script),
        cmocka_unit_test(a_headline_is_a_list),
        cmocka_unit_test(a_chart_stands_with_its_table),
        cmocka_unit_test(assets_have_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
