/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/json_check.h"

#include "common/text.h"
#include "planner/input/file_text.h"

#include <string.h>

#include <jansson.h>

bool gl_json_check(const char *file, gl_arena *arena, gl_error *err)
{
    gl_error unread;
    json_error_t found;
    char said[JSON_ERROR_TEXT_LENGTH];
    const char *text = NULL;
    size_t length = 0;
    if (!gl_ends_with(file, ".json") || !gl_file_is_regular(file) ||
        !gl_file_text_read(file, arena, &text, &length, &unread) ||
        text[strspn(text, " \t\r\n")] != '{')
        return true;
    json_t *root = json_loadb(text, length, 0, &found);
    json_decref(root);
    if (root != NULL || json_error_code(&found) == json_error_out_of_memory)
        return true;
    const gl_mark mark = {.file = file, .line = found.line, .column = found.column};
    return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "not valid JSON: %s",
                      gl_printable(found.text, said, sizeof said));
}
