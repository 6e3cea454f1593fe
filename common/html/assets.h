/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of an HTML report that CMake embeds, each with what a content security policy calls it. */
#ifndef GL_COMMON_HTML_ASSETS_H
#define GL_COMMON_HTML_ASSETS_H

extern const char gl_html_style[], gl_html_style_hash[];
extern const char gl_html_script[], gl_html_script_hash[];
extern const char gl_html_chartjs[], gl_html_chartjs_hash[]; /* "": built without Chart.js */

#endif
