/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/json_writer.h"
#include "tests/support.h"

#include <jansson.h>

static void layout_is_fixed(void **state)
{
    (void)state;
    gl_output *out = gl_output_memory();
    gl_json json;
    gl_json_begin(&json, out);
    gl_json_object(&json);
    gl_json_key(&json, "b");
    gl_json_integer(&json, INT64_MIN);
    gl_json_key(&json, "a");
    gl_json_array(&json);
    gl_json_real(&json, 0.1);
    gl_json_real(&json, (double)NAN);
    gl_json_real(&json, -(double)INFINITY);
    gl_json_bool(&json, true);
    gl_json_text(&json, NULL);
    gl_json_end(&json, ']');
    gl_json_key(&json, "none");
    gl_json_array(&json);
    gl_json_end(&json, ']');
    gl_json_key(&json, "empty");
    gl_json_object(&json);
    gl_json_end(&json, '}');
    gl_json_end(&json, '}');
    assert_string_equal(gl_output_text(out), "{\n"
                                             "  \"b\": -9223372036854775808,\n"
                                             "  \"a\": [\n"
                                             "    0.1,\n"
                                             "    null,\n"
                                             "    null,\n"
                                             "    true,\n"
                                             "    null\n"
                                             "  ],\n"
                                             "  \"none\": [],\n"
                                             "  \"empty\": {}\n"
                                             "}\n");
    gl_output_discard(out);
}

static json_t *parse_back(gl_output *out)
{
    json_error_t error;
    json_t *root = json_loads(gl_output_text(out), JSON_DECODE_ANY, &error);
    if (root == NULL)
        fail_msg("%s: %s", error.text, gl_output_text(out));
    return root;
}

static void assert_text(const char *text, const char *expected)
{
    gl_output *out = gl_output_memory();
    gl_json json;
    gl_json_begin(&json, out);
    gl_json_array(&json);
    gl_json_text(&json, text);
    gl_json_end(&json, ']');
    json_t *root = parse_back(out);
    assert_string_equal(json_string_value(json_array_get(root, 0)), expected);
    json_decref(root);
    gl_output_discard(out);
}

static void texts_are_escaped(void **state)
{
    (void)state;
    assert_text("", "");
    assert_text("a \"quoted\" \\ path/", "a \"quoted\" \\ path/");
    assert_text("\b\f\n\r\t\x01\x1f\x7f", "\b\f\n\r\t\x01\x1f\x7f");
    assert_text("3.5 µs \xF0\x9F\x9A\x80", "3.5 µs \xF0\x9F\x9A\x80");
    assert_text("bad \xFF\xC0\x80 end", "bad \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD end");
    assert_text("cut \xE2\x82", "cut \xEF\xBF\xBD\xEF\xBF\xBD");
}

static void numbers_come_back_exactly(void **state)
{
    (void)state;
    const double values[] = {0.1,     1.0 / 3.0, 1e300, 4.9406564584124654e-324,
                             -3.5e-6, 33554432,  1e15,  1.7976931348623157e308};
    gl_output *out = gl_output_memory();
    gl_json json;
    gl_json_begin(&json, out);
    gl_json_array(&json);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        gl_json_real(&json, values[i]);
    gl_json_end(&json, ']');
    json_t *root = parse_back(out);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_true(json_number_value(json_array_get(root, i)) == values[i]);
    json_decref(root);
    gl_output_discard(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_is_fixed),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(numbers_come_back_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
