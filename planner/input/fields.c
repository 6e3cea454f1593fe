/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/fields.h"

#include "common/collective.h"
#include "common/text.h"
#include "planner/core/hardware.h"
#include "planner/core/workload.h"
#include "planner/input/field_hints.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 128,
    FOUND_BYTES = 48,
    GUESS_BYTES = 160,
    RANGE_BYTES = 96,
    LIST_BYTES = 320,
    TEXT_MAX = 1024
};

typedef struct loader {
    const gl_field *fields;
    const gl_yaml_tree *tree;
    gl_arena *arena;
    char *target;
    gl_diagnostics *diagnostics;
    bool *seen; /* by row of the table */
} loader;

/* ---- scalars ---- */

/* What YAML 1.1 reads as null, and nothing at all. */
static bool is_null(const gl_yaml_node *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != GL_YAML_SCALAR || node->quoted)
        return false;
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        if (strcmp(node->text, nulls[i]) == 0)
            return true;
    return false;
}

static const char *kind_words(const gl_yaml_node *node)
{
    static const char *const words[] = {"a single value", "a list", "a mapping"};
    return words[node->kind];
}

/* What a field wants, for messages. */
static const char *needed_words(const gl_field *field)
{
    switch (field->type) {
    case GL_FIELD_INT:
    case GL_FIELD_INT64:
        return "a whole number, such as 4096";
    case GL_FIELD_REAL:
        return gl_dimension_name(field->dimension);
    case GL_FIELD_BOOL:
        return "true or false";
    case GL_FIELD_CHOICE:
    case GL_FIELD_DTYPE:
        return "one of its names";
    case GL_FIELD_TEXTS:
        return "a list of texts, such as [a, b]";
    case GL_FIELD_ORDER:
        return "an order, such as tp-cp-dp-pp";
    case GL_FIELD_FIGURE:
        return "a mapping, such as {value: …, source: NAME}";
    case GL_FIELD_TEXT:
    case GL_FIELD_SPECIAL:
    case GL_FIELD_TYPE_COUNT:
        break;
    }
    return "a text";
}

static bool is_number(const gl_field *field)
{
    return field->type == GL_FIELD_INT || field->type == GL_FIELD_INT64 ||
           field->type == GL_FIELD_REAL || field->type == GL_FIELD_FIGURE;
}

/* The text of a scalar node; NULL after a diagnosis. */
static const char *scalar(gl_diagnostics *diagnostics, const gl_field *field,
                          const gl_yaml_node *node)
{
    if (is_null(node)) {
        gl_diagnose(diagnostics, &node->mark, field->path, "has no value; needed: %s",
                    needed_words(field));
        return NULL;
    }
    if (node->kind != GL_YAML_SCALAR) {
        gl_diagnose(diagnostics, &node->mark, field->path, "found %s; needed: %s", kind_words(node),
                    needed_words(field));
        return NULL;
    }
    if (node->quoted && (is_number(field) || field->type == GL_FIELD_BOOL)) {
        char found[FOUND_BYTES];
        gl_diagnose(diagnostics, &node->mark, field->path,
                    "'%s' is in quotes, which makes it a text; needed: %s",
                    gl_printable(node->text, found, sizeof found), needed_words(field));
        return NULL;
    }
    return node->text;
}

/* ---- ranges ---- */

/* "1.00 s" → "1 s": a limit is exact. */
static void drop_zeros(char *text)
{
    size_t number = strcspn(text, " "), end = number;
    if (memchr(text, '.', number) == NULL)
        return;
    while (text[end - 1] == '0')
        end--;
    end -= text[end - 1] == '.';
    memmove(text + end, text + number, strlen(text + number) + 1);
}

static void limit_text(const gl_field *field, double value, char *text, size_t size)
{
    bool whole = field->type == GL_FIELD_INT || field->type == GL_FIELD_INT64;
    if (whole || field->dimension == GL_NUMBER) {
        gl_format_double(value, text, size);
        return;
    }
    gl_format_quantity(value, field->dimension, text, size);
    drop_zeros(text);
}

/* What the limits of a field allow, in words. */
static void write_range(const gl_field *field, char *range, size_t size)
{
    char low[RANGE_BYTES / 3], high[RANGE_BYTES / 3];
    double minimum = field->minimum, maximum = field->maximum;
    limit_text(field, minimum, low, sizeof low);
    limit_text(field, maximum, high, sizeof high);
    if (minimum == GL_ABOVE_ZERO && isinf(maximum))
        snprintf(range, size, "above 0");
    else if (minimum == GL_ABOVE_ZERO)
        snprintf(range, size, "above 0, at most %s", high);
    else if (isinf(maximum))
        snprintf(range, size, "at least %s", low);
    else
        snprintf(range, size, "%s to %s", low, high);
}

bool gl_field_in_range(const gl_field *field, double value, char *range, size_t size)
{
    double minimum = field->minimum, maximum = field->maximum;
    if ((minimum == 0 && maximum == 0) || (value >= minimum && value <= maximum))
        return true;
    write_range(field, range, size);
    return false;
}

static bool check_range(const loader *l, const gl_field *field, const gl_yaml_node *node,
                        double value)
{
    char range[RANGE_BYTES], found[FOUND_BYTES];
    if (gl_field_in_range(field, value, range, sizeof range))
        return true;
    return gl_diagnose(l->diagnostics, &node->mark, field->path,
                       "'%s' is out of range; allowed: %s",
                       gl_printable(node->text, found, sizeof found), range);
}

/* ---- one loader per type ---- */

/* A word where a whole number is needed, such as "fsdp" for the ZeRO stage. */
static bool diagnose_word(const loader *l, const gl_field *field, const gl_yaml_node *node)
{
    char found[FOUND_BYTES], range[RANGE_BYTES], guess[GUESS_BYTES];
    write_range(field, range, sizeof range);
    return gl_diagnose(l->diagnostics, &node->mark, field->path,
                       "'%s' is not a whole number%s allowed: %s",
                       gl_printable(node->text, found, sizeof found),
                       gl_value_hint(field, node->text, guess, sizeof guess), range);
}

static bool read_integer(const loader *l, const gl_field *field, const gl_yaml_node *node,
                         long long *value)
{
    gl_error err;
    const char *text = scalar(l->diagnostics, field, node);
    if (text == NULL)
        return false;
    if (isalpha((unsigned char)text[0]))
        return diagnose_word(l, field, node);
    if (!gl_parse_integer(text, value, &err))
        return gl_diagnose(l->diagnostics, &node->mark, field->path, "%s", err.message);
    return check_range(l, field, node, (double)*value);
}

static void load_int(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    long long value;
    if (!read_integer(l, field, node, &value))
        return;
    if (value < INT_MIN || value > INT_MAX)
        gl_diagnose(l->diagnostics, &node->mark, field->path, "'%.40s' is too large", node->text);
    else
        *(int *)out = (int)value;
}

static void load_int64(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    long long value;
    if (read_integer(l, field, node, &value))
        *(int64_t *)out = value;
}

static bool read_quantity(const loader *l, const gl_field *field, const gl_yaml_node *node,
                          double *value)
{
    gl_error err;
    const char *text = scalar(l->diagnostics, field, node);
    if (text == NULL)
        return false;
    if (field->word != NULL && strcmp(text, field->word) == 0) {
        *value = field->word_value;
        return true;
    }
    double read;
    if (!gl_parse_quantity(text, field->dimension, &read, &err)) {
        const char *word = field->word != NULL ? field->word : "";
        return gl_diagnose(l->diagnostics, &node->mark, field->path, "%s%s%s%s", err.message,
                           field->word != NULL ? ", or the word '" : "", word,
                           field->word != NULL ? "'" : "");
    }
    if (!check_range(l, field, node, read))
        return false;
    *value = read;
    return true;
}

static void load_real(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    read_quantity(l, field, node, out);
}

static void load_bool(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    char found[FOUND_BYTES];
    const char *text = scalar(l->diagnostics, field, node);
    if (text == NULL)
        return;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        *(bool *)out = text[0] == 't';
    else
        gl_diagnose(l->diagnostics, &node->mark, field->path, "found '%s'; allowed: true, false",
                    gl_printable(text, found, sizeof found));
}

static size_t count_names(const char *const *names)
{
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    return count;
}

static void diagnose_choice(const loader *l, const gl_field *field, const gl_yaml_node *node)
{
    char found[FOUND_BYTES], guess[GUESS_BYTES], list[LIST_BYTES];
    size_t count = count_names(field->choices);
    gl_diagnose(l->diagnostics, &node->mark, field->path, "found '%s'%s allowed: %s",
                gl_printable(node->text, found, sizeof found),
                gl_value_hint(field, node->text, guess, sizeof guess),
                gl_list_names(field->choices, count, list, sizeof list));
}

/* Index of a name among the field's choices; −1 when it is none of them. */
static int find_choice(const gl_field *field, const char *text)
{
    for (int i = 0; field->choices[i] != NULL; i++)
        if (strcmp(field->choices[i], text) == 0)
            return i;
    return -1;
}

static void load_choice(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    const char *text = scalar(l->diagnostics, field, node);
    if (text == NULL)
        return;
    int index = find_choice(field, text);
    if (index < 0)
        diagnose_choice(l, field, node);
    else
        memcpy(out, &index, sizeof index);
}

/* Any spelling of a type that is among the choices; "float" is fp32. */
static void load_dtype(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    gl_dtype dtype = GL_DTYPE_NONE;
    const char *text = scalar(l->diagnostics, field, node);
    if (text == NULL)
        return;
    bool known = gl_dtype_parse(text, &dtype) || strcmp(text, "none") == 0;
    if (!known || find_choice(field, gl_dtype_name(dtype)) < 0)
        diagnose_choice(l, field, node);
    else
        *(gl_dtype *)out = dtype;
}

/* Names reach terminals and spreadsheets: no control characters, no novels. */
static const char *read_text(gl_diagnostics *diagnostics, const gl_field *field,
                             const gl_yaml_node *node)
{
    const char *text = scalar(diagnostics, field, node);
    if (text == NULL)
        return NULL;
    if (strlen(text) > TEXT_MAX) {
        gl_diagnose(diagnostics, &node->mark, field->path, "is longer than %d bytes", TEXT_MAX);
        return NULL;
    }
    char printed[TEXT_MAX + 1];
    if (text[0] == '\0' || strcmp(gl_printable(text, printed, sizeof printed), text) != 0) {
        gl_diagnose(diagnostics, &node->mark, field->path, "%s",
                    text[0] == '\0' ? "is empty" : "holds a character that cannot be printed");
        return NULL;
    }
    return text;
}

static void load_text(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    const char *text = read_text(l->diagnostics, field, node);
    if (text != NULL)
        *(const char **)out = text;
}

static void load_texts(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    size_t count = 0;
    if (node->kind != GL_YAML_SEQUENCE) {
        gl_diagnose(l->diagnostics, &node->mark, field->path, "found %s; needed: %s",
                    kind_words(node), needed_words(field));
        return;
    }
    for (const gl_yaml_node *item = node->first; item != NULL; item = item->next)
        count++;
    const char **texts = GL_ARENA_NEW(l->arena, const char *, count + 1);
    count = 0;
    for (const gl_yaml_node *item = node->first; item != NULL; item = item->next) {
        texts[count] = read_text(l->diagnostics, field, item);
        count += texts[count] != NULL;
    }
    *(const char *const **)out = texts;
}

/* One axis name at *text, which is moved behind it and a dash; −1 when there is none. */
static int read_axis(const char **text)
{
    size_t length = strcspn(*text, "-");
    for (int axis = 0; axis < GL_ORDER_MAX; axis++)
        if (length == 2 && strncmp(*text, gl_axis_names[axis], 2) == 0) {
            *text += length + ((*text)[length] == '-');
            return axis;
        }
    return -1;
}

static void load_order(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    const char *text = scalar(l->diagnostics, field, node);
    if (text == NULL)
        return;
    gl_axis order[GL_ORDER_MAX];
    unsigned used = 0;
    const char *rest = text;
    for (int i = 0; i < GL_ORDER_MAX; i++) {
        int axis = read_axis(&rest);
        if (axis >= 0) {
            order[i] = (gl_axis)axis;
            used |= 1u << axis;
        }
    }
    if (used == (1u << GL_ORDER_MAX) - 1 && *rest == '\0' && !gl_ends_with(text, "-")) {
        memcpy(out, order, sizeof order);
        return;
    }
    char found[FOUND_BYTES];
    gl_diagnose(l->diagnostics, &node->mark, field->path,
                "found '%s'; allowed: tp, cp, dp and pp, each once, joined by '-', such as "
                "tp-cp-dp-pp (ep lives inside dp x cp)",
                gl_printable(text, found, sizeof found));
}

/* ---- figures ---- */

static const char *const figure_keys[] = {"value", "low", "high", "source"};

/* One number of a figure, with the field's unit and range, at "path.key". */
static bool load_figure_number(const loader *l, const gl_field *field, const gl_yaml_node *mapping,
                               const char *key, double *value)
{
    char path[PATH_BYTES];
    const gl_yaml_node *node = gl_yaml_get(mapping, key);
    if (node == NULL)
        return false;
    gl_field part = *field;
    snprintf(path, sizeof path, "%s.%s", field->path, key);
    part.path = path;
    part.type = GL_FIELD_REAL;
    return read_quantity(l, &part, node, value);
}

static bool check_figure_keys(const loader *l, const gl_field *field, const gl_yaml_node *mapping)
{
    bool known = true;
    for (const gl_yaml_node *child = mapping->first; child != NULL; child = child->next) {
        bool found = false;
        for (size_t i = 0; i < 4; i++)
            found = found || strcmp(child->key, figure_keys[i]) == 0;
        if (!found)
            known = gl_diagnose(l->diagnostics, &child->key_mark, field->path,
                                "unknown key in a figure; allowed: value, low, high, source");
    }
    return known;
}

static void load_figure(const loader *l, const gl_field *field, const gl_yaml_node *node, void *out)
{
    gl_figure figure = {0};
    if (node->kind != GL_YAML_MAPPING) {
        gl_diagnose(l->diagnostics, &node->mark, field->path, "found %s; needed: %s",
                    kind_words(node), needed_words(field));
        return;
    }
    if (!check_figure_keys(l, field, node))
        return;
    const gl_yaml_node *value = gl_yaml_get(node, "value"), *source = gl_yaml_get(node, "source");
    if (value == NULL || source == NULL) {
        gl_diagnose(l->diagnostics, &node->mark, field->path,
                    "a figure needs a value and a source");
        return;
    }
    if (!load_figure_number(l, field, node, "value", &figure.value))
        return;
    figure.low = figure.high = figure.value;
    load_figure_number(l, field, node, "low", &figure.low);
    load_figure_number(l, field, node, "high", &figure.high);
    if (figure.low > figure.value || figure.value > figure.high) {
        gl_diagnose(l->diagnostics, &value->mark, field->path,
                    "low <= value <= high does not hold");
        return;
    }
    figure.source = read_text(l->diagnostics, field, source);
    if (figure.source != NULL)
        *(gl_figure *)out = figure;
}

static void load_special(const loader *l, const gl_field *field, const gl_yaml_node *node,
                         void *out)
{
    (void)out;
    if (is_null(node))
        gl_diagnose(l->diagnostics, &node->mark, field->path, "has no value");
}

typedef void (*load_function)(const loader *l, const gl_field *field, const gl_yaml_node *node,
                              void *out);

static const load_function load_functions[GL_FIELD_TYPE_COUNT] = {
    [GL_FIELD_INT] = load_int,         [GL_FIELD_INT64] = load_int64,
    [GL_FIELD_REAL] = load_real,       [GL_FIELD_BOOL] = load_bool,
    [GL_FIELD_CHOICE] = load_choice,   [GL_FIELD_DTYPE] = load_dtype,
    [GL_FIELD_TEXT] = load_text,       [GL_FIELD_TEXTS] = load_texts,
    [GL_FIELD_ORDER] = load_order,     [GL_FIELD_FIGURE] = load_figure,
    [GL_FIELD_SPECIAL] = load_special,
};

bool gl_field_takes(const gl_field *field, const gl_yaml_node *scalar)
{
    gl_diagnostics problems = {.count = 0};
    const loader l = {.diagnostics = &problems};
    union {
        int64_t integer;
        double real;
        const char *text;
        gl_axis order[GL_ORDER_MAX];
        gl_figure figure;
    } unused;
    load_functions[field->type](&l, field, scalar, &unused);
    return problems.count == 0;
}

/* ---- keys ---- */

const gl_field *gl_fields_find(const gl_field *fields, const char *path)
{
    for (const gl_field *field = fields; field->path != NULL; field++)
        if (strcmp(field->path, path) == 0)
            return field;
    return NULL;
}

/* Is the path that of a section: does a field lie below it? */
static bool is_section(const gl_field *fields, const char *path)
{
    size_t length = strlen(path);
    for (const gl_field *field = fields; field->path != NULL; field++)
        if (strncmp(field->path, path, length) == 0 && field->path[length] == '.')
            return true;
    return false;
}

/* The names that may stand in a section ("" = at the top), each once. */
static const char **section_keys(const loader *l, const char *section, size_t *count)
{
    size_t rows = 0, length = strlen(section);
    while (l->fields[rows].path != NULL)
        rows++;
    const char **keys = GL_ARENA_NEW(l->arena, const char *, rows);
    *count = 0;
    for (size_t i = 0; i < rows; i++) {
        const char *path = l->fields[i].path;
        if (length > 0 && (strncmp(path, section, length) != 0 || path[length] != '.'))
            continue;
        const char *key = length > 0 ? path + length + 1 : path;
        key = gl_arena_strndup(l->arena, key, strcspn(key, "."));
        bool known = false;
        for (size_t k = 0; k < *count; k++)
            known = known || strcmp(keys[k], key) == 0;
        if (!known)
            keys[(*count)++] = key;
    }
    return keys;
}

/* The path of an unknown field to its end, as far as it does not fork: of "train: {seq_len: 4096}"
 * the last part says what was meant. Returns the node that is there. */
static const gl_yaml_node *whole_path(const gl_yaml_node *node, const char *path, char *whole,
                                      size_t size)
{
    size_t used = (size_t)snprintf(whole, size, "%s", path);
    while (node->kind == GL_YAML_MAPPING && node->first != NULL && node->first->next == NULL &&
           used + strlen(node->first->key) + 2 <= size) {
        node = node->first;
        used += (size_t)snprintf(whole + used, size - used, ".%s", node->key);
    }
    return node;
}

static void diagnose_unknown(const loader *l, const char *section, const gl_yaml_node *node,
                             const char *path)
{
    if (l->diagnostics->count == GL_DIAGNOSTICS_MAX) {
        l->diagnostics->dropped++;
        return;
    }
    size_t count;
    char list[LIST_BYTES], guess[GUESS_BYTES], whole[PATH_BYTES];
    const char **keys = section_keys(l, section, &count);
    const gl_yaml_node *value = whole_path(node, path, whole, sizeof whole);
    gl_field_hint(l->fields, whole, value, guess, sizeof guess);
    if (guess[0] == '\0')
        gl_guess(node->key, keys, count, guess, sizeof guess);
    if (guess[0] == '\0')
        gl_field_hint_nearest(l->fields, whole, value, guess, sizeof guess);
    if (guess[0] != '\0')
        gl_diagnose(l->diagnostics, &node->key_mark, path, "unknown field%s", guess);
    else
        gl_diagnose(l->diagnostics, &node->key_mark, path, "unknown field; allowed here: %s",
                    gl_list_names(keys, count, list, sizeof list));
}

static void load_mapping(const loader *l, const char *section, const gl_yaml_node *mapping);

static void load_section(const loader *l, const char *path, const gl_yaml_node *node)
{
    if (node->kind == GL_YAML_MAPPING)
        load_mapping(l, path, node);
    else if (is_null(node))
        gl_diagnose(l->diagnostics, &node->mark, path,
                    "has no value; needed: a mapping ({} when empty)");
    else
        gl_diagnose(l->diagnostics, &node->mark, path, "found %s; needed: a mapping",
                    kind_words(node));
}

/* Depth is that of the field paths: what no path leads to is not entered. */
static void load_mapping(const loader *l, const char *section, const gl_yaml_node *mapping)
{
    for (const gl_yaml_node *node = mapping->first; node != NULL; node = node->next) {
        char path[PATH_BYTES], key[PATH_BYTES / 2];
        gl_printable(node->key, key, sizeof key);
        snprintf(path, sizeof path, "%s%s%s", section, section[0] != '\0' ? "." : "", key);
        bool plain = strchr(node->key, '.') == NULL && strcmp(key, node->key) == 0;
        const gl_field *field = plain ? gl_fields_find(l->fields, path) : NULL;
        if (field != NULL) {
            l->seen[field - l->fields] = true;
            load_functions[field->type](l, field, node, l->target + field->offset);
        } else if (plain && key[0] != '\0' && is_section(l->fields, path)) {
            load_section(l, path, node);
        } else {
            diagnose_unknown(l, section, node, path);
        }
    }
}

gl_mark gl_fields_mark(const gl_yaml_tree *tree, const char *path)
{
    char part[PATH_BYTES];
    snprintf(part, sizeof part, "%s", path);
    for (;;) {
        const gl_yaml_node *node = gl_yaml_find(tree, part);
        if (node != NULL)
            return node->key != NULL && node->kind != GL_YAML_SCALAR ? node->key_mark : node->mark;
        char *dot = strrchr(part, '.');
        if (dot == NULL)
            return tree->root->mark;
        *dot = '\0';
    }
}

static void check_required(const loader *l)
{
    for (size_t i = 0; l->fields[i].path != NULL; i++) {
        if (!l->fields[i].required || l->seen[i])
            continue;
        gl_mark mark = gl_fields_mark(l->tree, l->fields[i].path);
        gl_diagnose(l->diagnostics, &mark, l->fields[i].path, "missing; it is required");
    }
}

/* What is wrong in a setting is wrong in the command line. */
static void mark_usage(gl_diagnostics *diagnostics, size_t first)
{
    for (size_t i = first; i < diagnostics->count; i++)
        if (diagnostics->items[i].line == 0)
            diagnostics->items[i].status = GL_ERROR_USAGE;
}

bool gl_fields_load(const gl_field *fields, const gl_yaml_tree *tree, gl_arena *arena, void *target,
                    gl_diagnostics *diagnostics)
{
    size_t rows = 0, first = diagnostics->count, before = first + diagnostics->dropped;
    while (fields[rows].path != NULL)
        rows++;
    loader l = {.fields = fields,
                .tree = tree,
                .arena = arena,
                .target = target,
                .diagnostics = diagnostics,
                .seen = GL_ARENA_NEW(arena, bool, rows)};
    if (tree->root->kind != GL_YAML_MAPPING) {
        size_t count;
        char list[LIST_BYTES];
        const char **keys = section_keys(&l, "", &count);
        return gl_diagnose(diagnostics, &tree->root->mark, NULL,
                           "the document is %s; needed: a mapping with the keys %s",
                           kind_words(tree->root), gl_list_names(keys, count, list, sizeof list));
    }
    load_mapping(&l, "", tree->root);
    mark_usage(diagnostics, first);
    check_required(&l);
    return diagnostics->count + diagnostics->dropped == before;
}

const char *gl_fields_text(const gl_yaml_tree *tree, const char *path, gl_diagnostics *diagnostics)
{
    const gl_field field = {.path = path, .type = GL_FIELD_TEXT};
    const gl_yaml_node *node = gl_yaml_find(tree, path);
    return node != NULL && !is_null(node) ? read_text(diagnostics, &field, node) : NULL;
}

const gl_field *gl_fields_optional(const gl_field *fields, gl_arena *arena)
{
    size_t count = 0;
    while (fields[count].path != NULL)
        count++;
    gl_field *copy = GL_ARENA_NEW(arena, gl_field, count + 1);
    memcpy(copy, fields, (count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i].required = false;
    return copy;
}
