/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One page that needs nothing else: the answers in words, then charts, then tables. */
#include "common/html.h"
#include "common/html/assets.h"
#include "common/render_internal.h"
#include "gpulink_version.h"

#include <string.h>

/* Longer tables are closed at first. */
enum { OPEN_ROWS = 26 };

typedef struct page {
    gl_arena *arena;
    gl_output *out;
    const gl_report *report;
    const gl_render_options *options;
    bool several; /* scenarios */
    bool draws;   /* charts */
    size_t part;  /* being written: its number makes ids unique */
} page;

static void put(const page *p, const char *text)
{
    gl_output_puts(p->out, text);
}

static void put_text(const page *p, const char *text)
{
    gl_html_text(p->out, text);
}

/* <tag>text</tag> */
static void put_element(const page *p, const char *tag, const char *text)
{
    gl_output_printf(p->out, "<%s>", tag);
    put_text(p, text);
    gl_output_printf(p->out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

/* ---- the answer in words ---- */

typedef struct words {
    const page *page;
    bool in_list, in_item, labelled;
} words;

static void end_item(words *w)
{
    if (w->in_item)
        put(w->page, "</dd>\n");
    w->in_item = false;
}

static void end_list(words *w)
{
    end_item(w);
    if (w->in_list)
        put(w->page, "</dl>\n");
    w->in_list = false;
}

/* How long a run of words in capitals is. */
static size_t capitals(const char *text, size_t length)
{
    size_t end = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ')
            continue;
        if (text[i] < 'A' || text[i] > 'Z')
            break;
        end = i + 1;
    }
    bool whole_word = end == length || text[end] < 'a' || text[end] > 'z';
    return end >= 4 && whole_word ? end : 0;
}

/* Verdicts stand in capitals behind a colon: "TOO SLOW". */
static void put_verdicts(const page *p, const char *text, size_t length)
{
    size_t done = 0;
    for (size_t i = 2; i < length; i++) {
        size_t loud = memcmp(text + i - 2, ": ", 2) == 0 ? capitals(text + i, length - i) : 0;
        if (loud == 0)
            continue;
        gl_html_text_part(p->out, text + done, i - done);
        put(p, "<strong>");
        gl_html_text_part(p->out, text + i, loud);
        put(p, "</strong>");
        done = i = i + loud;
    }
    gl_html_text_part(p->out, text + done, length - done);
}

static void put_labelled(words *w, const char *line, size_t length, size_t label)
{
    end_item(w);
    if (!w->in_list)
        put(w->page, line[0] >= '0' && line[0] <= '9' ? "<dl class=\"numbered\">\n" : "<dl>\n");
    w->in_list = w->in_item = w->labelled = true;
    put(w->page, "<dt>");
    gl_html_text_part(w->page->out, line, label);
    put(w->page, "</dt><dd>");
    while (label < length && line[label] == ' ')
        label++;
    put_verdicts(w->page, line + label, length - label);
}

/* A line that starts with blanks goes on with the item above. */
static void put_plain(words *w, const char *line, size_t length)
{
    size_t blanks = strspn(line, " ");
    bool goes_on = w->in_item && blanks > 0;
    if (!goes_on)
        end_list(w);
    put(w->page, goes_on       ? "<span>"
                 : blanks > 0  ? "<p class=\"formula\">"
                 : w->labelled ? "<p>"
                               : "<p class=\"subject\">");
    put_verdicts(w->page, line + blanks, length - blanks);
    put(w->page, goes_on ? "</span>" : "</p>\n");
}

static void put_headline(const page *p, const char *text)
{
    words w = {.page = p};
    for (const char *line = gl_render__clean(p->arena, text); *line != '\0';) {
        size_t length = strcspn(line, "\n"), label = gl_render__label(line, length);
        if (label > 0)
            put_labelled(&w, line, length, label);
        else if (length > 0)
            put_plain(&w, line, length);
        line += length + (line[length] == '\n');
    }
    end_list(&w);
}

static bool has_headline(const gl_scenario *part)
{
    return part->headline != NULL && part->headline[0] != '\0';
}

static void put_answer(const page *p, const gl_scenario *part, size_t index)
{
    if (!has_headline(part))
        return;
    put(p, "<article class=\"card answer\">\n");
    if (p->several && part->name != NULL && part != p->report->comparison) {
        gl_output_printf(p->out, "<h3><a href=\"#part-%zu\">", index);
        put_text(p, part->name);
        put(p, "</a></h3>\n");
    }
    put_headline(p, part->headline);
    put(p, "</article>\n");
}

/* What compares them comes first. */
static void put_answers(const page *p)
{
    const gl_scenario *part;
    bool any = p->report->comparison != NULL && has_headline(p->report->comparison);
    for (size_t i = 0; i < p->report->scenario_count; i++)
        any = any || has_headline(&p->report->scenarios[i]);
    if (!any)
        return;
    put(p, "<section class=\"answers\" aria-label=\"The answer\">\n");
    if (p->report->comparison != NULL)
        put_answer(p, p->report->comparison, p->report->scenario_count);
    for (size_t i = 0; i < p->report->scenario_count; i++) {
        part = &p->report->scenarios[i];
        put_answer(p, part, i);
    }
    put(p, "</section>\n");
}

/* ---- tables ---- */

static void put_head(const page *p, const gl_table *table, const bool *numbers)
{
    put(p, "<thead><tr>");
    for (size_t i = 0; i < table->column_count; i++) {
        if (!gl_render__shows(&table->columns[i], GL_FOR_PEOPLE))
            continue;
        put(p, numbers[i] ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        put_text(p, gl_render__heading(&table->columns[i]));
        put(p, "</th>");
    }
    put(p, "</tr></thead>\n");
}

static void put_rows(const page *p, const gl_table *table)
{
    bool *numbers = GL_ARENA_NEW(p->arena, bool, table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        numbers[i] = gl_render__is_number(table, i);
    put_head(p, table, numbers);
    put(p, "<tbody>\n");
    for (size_t row = 0; row < table->row_count; row++) {
        put(p, "<tr>");
        for (size_t i = 0; i < table->column_count; i++) {
            if (!gl_render__shows(&table->columns[i], GL_FOR_PEOPLE))
                continue;
            put(p, numbers[i] ? "<td class=\"n\">" : "<td>");
            put_text(p, gl_render__cell(p->arena, &table->columns[i],
                                        &table->cells[row * table->column_count + i]));
            put(p, "</td>");
        }
        put(p, "</tr>\n");
    }
    put(p, "</tbody>");
}

/* Names and values; blanks before a name say whose part it is. */
static void put_record(const page *p, const gl_table *table)
{
    static const char *const starts[] = {"<tr><th scope=\"row\">",
                                         "<tr><th scope=\"row\" class=\"in1\">",
                                         "<tr><th scope=\"row\" class=\"in2\">"};
    put(p, "<tbody>\n");
    for (size_t i = 0; i < table->column_count; i++) {
        const gl_column *column = &table->columns[i];
        const char *name = gl_render__heading(column);
        size_t depth = strspn(name, " ") / 2;
        if (!gl_render__shows(column, GL_FOR_PEOPLE) || table->cells[i].type == GL_CELL_EMPTY)
            continue;
        put(p, starts[depth < 2 ? depth : 2]);
        put_text(p, name + strspn(name, " "));
        put(p, "</th><td>");
        put_text(p, gl_render__cell(p->arena, column, &table->cells[i]));
        put(p, "</td></tr>\n");
    }
    put(p, "</tbody>");
}

static void put_table_body(const page *p, const gl_table *table)
{
    bool record = table->record && table->row_count > 0;
    put(p, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    put_text(p, table->title);
    put(p, record ? "\"><table>\n" : "\"><table class=\"rows\">\n");
    put_element(p, "caption", table->title);
    if (record)
        put_record(p, table);
    else
        put_rows(p, table);
    put(p, "</table></div>\n");
}

/* Which of the tables of its name it is. */
static size_t which_of(const gl_scenario *part, const gl_table *table)
{
    size_t which = 0;
    for (size_t i = 0; i < part->table_count && part->tables[i] != table; i++)
        which += strcmp(part->tables[i]->name, table->name) == 0;
    return which;
}

static void put_id(const page *p, const gl_scenario *part, const gl_table *table)
{
    size_t which = which_of(part, table);
    gl_output_printf(p->out, "table-%zu-", p->part);
    put_text(p, table->name);
    if (which > 0)
        gl_output_printf(p->out, "-%zu", which + 1);
}

static void put_table(const page *p, const gl_scenario *part, const gl_table *table)
{
    bool closed = table->row_count > OPEN_ROWS || which_of(part, table) > 0;
    put(p, "<div class=\"card\" id=\"");
    put_id(p, part, table);
    put(p, "\">\n");
    if (closed) {
        put(p, "<details><summary>");
        put_text(p, table->title);
        gl_output_printf(p->out, " (%zu rows)</summary>\n", table->row_count);
    }
    if (table->row_count == 0)
        put_element(p, "p", gl_arena_printf(p->arena, "%s: no rows.", table->title));
    else
        put_table_body(p, table);
    put(p, closed ? "</details></div>\n" : "</div>\n");
}

/* Some are there to be drawn, and have no column for people. */
static bool is_for_people(const gl_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (gl_render__shows(&table->columns[i], GL_FOR_PEOPLE))
            return true;
    return false;
}

static bool is_shown(const page *p, const gl_table *table)
{
    return is_for_people(table) && gl_render__selects(p->options, table) &&
           (table->row_count > 0 || p->options->only_table != NULL);
}

/* Records are narrow: they stand beside each other, before the wide ones. */
static void put_tables_of(const page *p, const gl_scenario *part, bool records)
{
    size_t count = 0;
    for (size_t i = 0; i < part->table_count; i++) {
        if (!is_shown(p, part->tables[i]) || part->tables[i]->record != records)
            continue;
        if (count++ == 0)
            put(p, records ? "<div class=\"tables records\">\n" : "<div class=\"tables\">\n");
        put_table(p, part, part->tables[i]);
    }
    put(p, count > 0 ? "</div>\n" : "");
}

/* ---- charts ---- */

static const gl_table *table_of(const page *p, const gl_scenario *part, const gl_chart *chart)
{
    for (size_t i = 0; i < part->table_count; i++)
        if (strcmp(part->tables[i]->name, chart->table) == 0 && is_shown(p, part->tables[i]) &&
            which_of(part, part->tables[i]) == chart->which)
            return part->tables[i];
    return NULL;
}

static void put_chart(const page *p, const gl_scenario *part, const gl_chart *chart,
                      const gl_table *table, bool wide)
{
    put(p, wide ? "<figure class=\"card wide\" data-chart>\n"
                : "<figure class=\"card\" data-chart>\n");
    put(p, "<figcaption>");
    put_element(p, "h3", chart->title);
    put(p, "<p>");
    put_text(p, chart->words);
    put(p, " <a href=\"#");
    put_id(p, part, table);
    put(p, "\">Its table</a></p></figcaption>\n"
           "<div class=\"canvas\"><canvas role=\"img\" aria-label=\"");
    put_text(p, chart->title);
    put(p, ". ");
    put_text(p, chart->words);
    put(p, "\"></canvas></div>\n");
    if (chart->note != NULL)
        put_element(p, "p class=\"note\"", chart->note);
    put(p, "<script type=\"application/json\">");
    gl_render__html_chart_data(p->arena, chart, p->out);
    put(p, "</script>\n</figure>\n");
}

static void put_charts(const page *p, const gl_scenario *part)
{
    size_t count = 0;
    for (size_t i = 0; i < part->chart_count && p->draws; i++) {
        const gl_table *table = table_of(p, part, &part->charts[i]);
        if (table == NULL)
            continue;
        put(p, count++ == 0 ? "<div class=\"charts\">\n" : "");
        put_chart(p, part, &part->charts[i], table, part->charts[i].wide);
    }
    put(p, count > 0 ? "</div>\n" : "");
}

/* ---- the page ---- */

static void put_warnings(const page *p, const gl_scenario *part)
{
    if (part->warning_count == 0)
        return;
    put(p, "<aside class=\"card warnings\" aria-label=\"Warnings\"><h3>Warnings</h3><ul>\n");
    for (size_t i = 0; i < part->warning_count; i++)
        put_element(p, "li", gl_render__clean(p->arena, part->warnings[i]));
    put(p, "</ul></aside>\n");
}

static bool is_titled(const page *p, const gl_scenario *part)
{
    return p->several && part->name != NULL && part != p->report->comparison;
}

/* The answer in words may be all there is. */
static bool is_empty(const page *p, const gl_scenario *part)
{
    for (size_t i = 0; i < part->table_count; i++)
        if (is_shown(p, part->tables[i]))
            return false;
    return part->warning_count == 0;
}

static void put_part(page *p, const gl_scenario *part, size_t index)
{
    p->part = index;
    if (is_empty(p, part))
        return;
    gl_output_printf(p->out, "<section id=\"part-%zu\"", index);
    if (is_titled(p, part)) {
        gl_output_printf(p->out, " aria-labelledby=\"title-%zu\">\n<h2 id=\"title-%zu\">", index,
                         index);
        put_text(p, part->name);
        put(p, "</h2>\n");
    } else {
        put(p, p->several ? " aria-label=\"Side by side\">\n<h2>Side by side</h2>\n"
                          : " aria-label=\"Charts and tables\">\n<h2>Charts and tables</h2>\n");
    }
    put_charts(p, part);
    put_warnings(p, part);
    put_tables_of(p, part, true);
    put_tables_of(p, part, false);
    put(p, "</section>\n");
}

/* Links to the scenarios; one alone needs none. */
static void put_contents(const page *p)
{
    if (!p->several)
        return;
    put(p, "<nav aria-label=\"Contents\"><ul>\n");
    for (size_t i = 0; i < p->report->scenario_count; i++) {
        const gl_scenario *part = &p->report->scenarios[i];
        gl_output_printf(p->out, "<li><a href=\"#part-%zu\">", i);
        put_text(p, part->name != NULL ? part->name : "Side by side");
        put(p, "</a></li>\n");
    }
    put(p, "</ul></nav>\n");
}

/* What the names of all scenarios begin with: whole words, no comma or "on" at the end. */
static const char *common_name(const page *p, const char *first)
{
    size_t length = strlen(first);
    for (size_t i = 0; i < p->report->scenario_count; i++) {
        const char *other = p->report->scenarios[i].name;
        size_t same = 0;
        while (other != NULL && same < length && first[same] == other[same])
            same++;
        length = other != NULL ? same : length;
    }
    while (length > 0 && first[length] != '\0' && first[length] != ' ' && first[length - 1] != ' ')
        length--;
    while (length > 0 && (first[length - 1] == ' ' || first[length - 1] == ','))
        length--;
    if (length > 3 && memcmp(first + length - 3, " on", 3) == 0)
        length -= 3;
    return length > 0 ? gl_arena_strndup(p->arena, first, length) : "gpulink";
}

static const char *title_of(const page *p)
{
    const char *first = NULL;
    size_t named = 0;
    for (size_t i = 0; i < p->report->scenario_count; i++)
        if (p->report->scenarios[i].name != NULL && named++ == 0)
            first = p->report->scenarios[i].name;
    if (p->report->title != NULL)
        return p->report->title;
    if (first == NULL)
        return "gpulink report";
    return named == 1
               ? first
               : gl_arena_printf(p->arena, "%s: %zu scenarios", common_name(p, first), named);
}

static bool has_charts(const gl_report *report)
{
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(report, i)) != NULL; i++)
        if (part->chart_count > 0)
            return true;
    return false;
}

static void put_head_element(const page *p, const char *title)
{
    put(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    gl_output_printf(
        p->out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src '%s' '%s'; style-src '%s'; base-uri 'none'; form-action 'none'\">\n",
        gl_html_chartjs_hash, gl_html_script_hash, gl_html_style_hash);
    put(p, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"referrer\" content=\"no-referrer\">\n"
           "<meta name=\"generator\" content=\"gpulink " GPULINK_VERSION "\">\n");
    put_element(p, "title", title);
    put(p, "\n<style>");
    put(p, gl_html_style);
    put(p, "</style>\n</head>\n");
}

static void put_scripts(const page *p)
{
    if (!p->draws)
        return;
    put(p, "<script>");
    put(p, gl_html_chartjs);
    put(p, "</script>\n<script>");
    put(p, gl_html_script);
    put(p, "</script>\n");
}

static void put_body(page *p, const char *title)
{
    const gl_scenario *part;
    put(p, "<body>\n<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n<header>\n"
           "<p class=\"brand\">gpulink</p>\n");
    put_element(p, "h1", title);
    put(p, "\n</header>\n<main id=\"answer\">\n");
    put_answers(p);
    put_contents(p);
    if (has_charts(p->report) && !p->draws)
        put(p, "<p class=\"no-charts\">The program that wrote this was built without Chart.js: "
               "there are no charts, and the tables hold all figures.</p>\n");
    if (p->draws)
        put(p, "<noscript><p class=\"no-charts\">Charts need JavaScript; the tables hold all "
               "figures.</p></noscript>\n");
    for (size_t i = 0; (part = gl_report_part(p->report, i)) != NULL; i++)
        put_part(p, part, i);
    put(p, "</main>\n<footer>Made by gpulink " GPULINK_VERSION
           ". This file holds all it shows and asks no server for anything.</footer>\n");
    put_scripts(p);
    put(p, "</body>\n</html>\n");
}

void gl_render__html(const gl_report *report, const gl_render_options *options, gl_output *out)
{
    page p = {.arena = gl_arena_create(),
              .out = out,
              .report = report,
              .options = options,
              .several = gl_report_part(report, 1) != NULL,
              .draws = has_charts(report) && gl_html_chartjs[0] != '\0'};
    const char *title = gl_render__clean(p.arena, title_of(&p));
    put_head_element(&p, title);
    put_body(&p, title);
    gl_arena_destroy(p.arena);
}
