/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts inside of HTML, where they must stay texts. */
#ifndef GL_COMMON_HTML_H
#define GL_COMMON_HTML_H

#include "common/output.h"

/* Text of an element or of a quoted attribute: markup is escaped, what is no UTF-8 or a control
 * character (but line ends) becomes U+FFFD. */
void gl_html_text(gl_output *out, const char *text);
void gl_html_text_part(gl_output *out, const char *text, size_t length);

/* JSON inside of a script element: no character of it can end the element, or a line of script. */
void gl_html_json(gl_output *out, const char *json);

#endif
