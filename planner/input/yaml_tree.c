/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/yaml_tree.h"

#include "common/text.h"
#include "planner/input/file_text.h"
#include "planner/input/yaml_slip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

enum {
    DEPTH_MAX = 64,
    NODES_MAX = 100000,
    ANCHORS_MAX = 1000,
    SCALAR_MAX = 64 * 1024,
    KEY_MAX = 256,
    PATH_MAX_TEXT = 128
};

/* An anchor and the node that it names; `open` while that node is being read, so that an alias in
 * there would be a cycle. */
typedef struct anchor {
    struct anchor *next;
    const char *name;
    gl_yaml_node *node;
    bool open;
} anchor;

/* Where the builder stands, outermost last: renders the dotted path when something is wrong. */
typedef struct frame {
    const struct frame *parent;
    const char *key; /* NULL in a sequence */
    int depth;
} frame;

typedef struct builder {
    yaml_parser_t parser;
    const char *file, *text;
    size_t length;
    gl_arena *arena;
    gl_error *err;
    anchor *anchors;
    size_t anchor_count, node_count;
} builder;

/* ---- messages ---- */

static gl_mark mark_of(const builder *b, yaml_mark_t mark)
{
    return (gl_mark){.file = b->file, .line = (int)mark.line + 1, .column = (int)mark.column + 1};
}

static void frame_path(const frame *f, char *text, size_t size)
{
    if (f == NULL) {
        text[0] = '\0';
        return;
    }
    frame_path(f->parent, text, size);
    if (f->key == NULL)
        return;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? "." : "", f->key);
}

static bool fail_node(const builder *b, gl_mark mark, const frame *f, const char *message)
{
    char path[PATH_MAX_TEXT];
    frame_path(f, path, sizeof path);
    return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, path, "%s", message);
}

/* The byte at a line and column (in characters) of the text; 0 beyond its end. */
static unsigned char byte_at(const builder *b, size_t line, size_t column)
{
    size_t at = 0;
    for (; line > 0 && at < b->length; at++)
        line -= b->text[at] == '\n';
    while (column > 0 && at < b->length) {
        at++;
        while (at < b->length && ((unsigned char)b->text[at] & 0xc0) == 0x80)
            at++;
        column--;
    }
    return at < b->length ? (unsigned char)b->text[at] : 0;
}

/* Line and column of a byte, for what libyaml's reader finds before it has a mark. */
static gl_mark mark_of_byte(const builder *b, size_t offset)
{
    gl_mark mark = {.file = b->file, .line = 1, .column = 1};
    for (size_t at = 0; at < offset && at < b->length; at++) {
        bool starts_character = ((unsigned char)b->text[at] & 0xc0) != 0x80;
        mark.column = b->text[at] == '\n' ? 1 : mark.column + starts_character;
        mark.line += b->text[at] == '\n';
    }
    return mark;
}

/* What libyaml says, with a position. Tabs get a sentence of their own. */
static bool fail_parser(const builder *b)
{
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return gl_fail(b->err, GL_ERROR_SYSTEM, "not enough memory to read %s", b->file);
    if (p->error == YAML_READER_ERROR) {
        gl_mark mark = mark_of_byte(b, p->problem_offset);
        return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, NULL, "is not a text file in UTF-8 (%s)",
                          p->problem);
    }
    gl_mark mark = mark_of(b, p->problem_mark);
    if (byte_at(b, p->problem_mark.line, p->problem_mark.column) == '\t')
        return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, NULL,
                          "a tab is used as indentation; YAML wants spaces");
    const char *language = gl_ends_with(b->file, ".json") ? "JSON" : "YAML";
    const char *problem = p->problem != NULL ? p->problem : "unknown problem";
    const char *slip = gl_ends_with(b->file, ".json")
                           ? ""
                           : gl_yaml_slip(b->text, b->length, problem, p->problem_mark.line,
                                          p->problem_mark.column, b->arena);
    if (p->context == NULL)
        return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, NULL, "not valid %s: %s%s", language,
                          problem, slip);
    return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, NULL, "not valid %s: %s, %s (line %d)%s",
                      language, problem, p->context, (int)p->context_mark.line + 1, slip);
}

/* ---- nodes ---- */

static bool next_event(builder *b, yaml_event_t *event)
{
    return yaml_parser_parse(&b->parser, event) != 0 || fail_parser(b);
}

static gl_yaml_node *new_node(builder *b, gl_yaml_kind kind, gl_mark mark, const frame *f)
{
    if (b->node_count == NODES_MAX) {
        fail_node(b, mark, f, "the document has more than 100000 nodes, aliases expanded");
        return NULL;
    }
    b->node_count++;
    gl_yaml_node *node = GL_ARENA_NEW(b->arena, gl_yaml_node, 1);
    node->kind = kind;
    node->mark = mark;
    return node;
}

static bool add_anchor(builder *b, const yaml_char_t *name, gl_yaml_node *node, const frame *f)
{
    if (name == NULL)
        return true;
    if (b->anchor_count++ == ANCHORS_MAX)
        return fail_node(b, node->mark, f, "the document has more than 1000 anchors");
    anchor *added = GL_ARENA_NEW(b->arena, anchor, 1);
    *added = (anchor){.next = b->anchors,
                      .name = gl_arena_strdup(b->arena, (const char *)name),
                      .node = node,
                      .open = true};
    b->anchors = added;
    return true;
}

static void close_anchor(builder *b, const gl_yaml_node *node)
{
    for (anchor *a = b->anchors; a != NULL; a = a->next)
        if (a->node == node) {
            a->open = false;
            return;
        }
}

/* Tags would let a document say what a value is; here the field tables say it. */
static bool refuse_tag(const builder *b, const yaml_char_t *tag, gl_mark mark, const frame *f)
{
    return tag == NULL || fail_node(b, mark, f, "tags (!…) are not supported; remove it");
}

static bool scalar_text(builder *b, const yaml_event_t *event, gl_mark mark, const frame *f,
                        const char **text)
{
    size_t length = event->data.scalar.length;
    const char *value = (const char *)event->data.scalar.value;
    if (length > SCALAR_MAX)
        return fail_node(b, mark, f, "a value is longer than 64 KiB");
    if (memchr(value, '\0', length) != NULL)
        return fail_node(b, mark, f, "a value holds a NUL character");
    *text = gl_arena_strndup(b->arena, value, length);
    return true;
}

static bool build_scalar(builder *b, const yaml_event_t *event, const frame *f, gl_yaml_node **out)
{
    gl_mark mark = mark_of(b, event->start_mark);
    gl_yaml_node *node = new_node(b, GL_YAML_SCALAR, mark, f);
    if (node == NULL || !refuse_tag(b, event->data.scalar.tag, mark, f) ||
        !scalar_text(b, event, mark, f, &node->text) ||
        !add_anchor(b, event->data.scalar.anchor, node, f))
        return false;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (event->data.scalar.anchor != NULL)
        close_anchor(b, node);
    *out = node;
    return true;
}

/* A deep copy, counted, so that aliases of aliases cannot grow without limit. */
static gl_yaml_node *copy_node(builder *b, const gl_yaml_node *from, const frame *f, int depth)
{
    if (depth > DEPTH_MAX) {
        fail_node(b, from->mark, f, "nested deeper than 64 levels, aliases expanded");
        return NULL;
    }
    gl_yaml_node *node = new_node(b, from->kind, from->mark, f);
    if (node == NULL)
        return NULL;
    node->key = from->key;
    node->key_mark = from->key_mark;
    node->text = from->text;
    node->quoted = from->quoted;
    gl_yaml_node **link = &node->first;
    for (const gl_yaml_node *child = from->first; child != NULL; child = child->next) {
        *link = copy_node(b, child, f, depth + 1);
        if (*link == NULL)
            return NULL;
        link = &(*link)->next;
    }
    return node;
}

static bool build_alias(builder *b, const yaml_event_t *event, const frame *f, gl_yaml_node **out)
{
    gl_mark mark = mark_of(b, event->start_mark);
    const char *name = (const char *)event->data.alias.anchor;
    const anchor *found = b->anchors;
    while (found != NULL && strcmp(found->name, name) != 0)
        found = found->next;
    if (found == NULL)
        return fail_node(b, mark, f, "the alias names no anchor");
    if (found->open)
        return fail_node(b, mark, f, "the alias stands inside its own anchor");
    gl_yaml_node *node = copy_node(b, found->node, f, f->depth);
    if (node == NULL)
        return false;
    node->key = NULL;
    node->mark = mark;
    *out = node;
    return true;
}

static bool build_node(builder *b, yaml_event_t *event, const frame *f, gl_yaml_node **out);

static bool build_sequence(builder *b, const frame *f, gl_yaml_node *node)
{
    frame inside = {.parent = f, .depth = f->depth + 1};
    gl_yaml_node **link = &node->first;
    for (;;) {
        yaml_event_t event;
        if (!next_event(b, &event))
            return false;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return true;
        }
        if (!build_node(b, &event, &inside, link))
            return false;
        link = &(*link)->next;
    }
}

/* Reads a key from its event, which is deleted. */
static bool read_key(builder *b, yaml_event_t *event, const frame *f, const char **key)
{
    gl_mark mark = mark_of(b, event->start_mark);
    bool read = false;
    if (event->type != YAML_SCALAR_EVENT)
        fail_node(b, mark, f, "a key must be plain text");
    else if (event->data.scalar.length > KEY_MAX)
        fail_node(b, mark, f, "a key is longer than 256 bytes");
    else if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
             strcmp((const char *)event->data.scalar.value, "<<") == 0)
        fail_node(b, mark, f, "merge keys (<<) are not supported; write the keys out");
    else if (event->data.scalar.anchor != NULL)
        fail_node(b, mark, f, "a key cannot have an anchor");
    else
        read =
            refuse_tag(b, event->data.scalar.tag, mark, f) && scalar_text(b, event, mark, f, key);
    yaml_event_delete(event);
    return read;
}

typedef struct entry {
    const gl_yaml_node *node;
    size_t index;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->node->key, y->node->key);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Finds the first key that stands twice, by sorting: mappings may be large. */
static bool refuse_duplicates(builder *b, const gl_yaml_node *mapping, size_t count, const frame *f)
{
    entry *entries = GL_ARENA_NEW(b->arena, entry, count);
    const entry *again = NULL, *before = NULL;
    size_t i = 0;
    for (const gl_yaml_node *child = mapping->first; child != NULL; child = child->next, i++)
        entries[i] = (entry){.node = child, .index = i};
    qsort(entries, count, sizeof *entries, compare_entries);
    for (i = 1; i < count; i++)
        if (strcmp(entries[i - 1].node->key, entries[i].node->key) == 0 &&
            (again == NULL || entries[i].index < again->index)) {
            again = &entries[i];
            before = &entries[i - 1];
        }
    if (again == NULL)
        return true;
    char message[64];
    frame at = {.parent = f, .key = again->node->key};
    snprintf(message, sizeof message, "the key stands twice, first in line %d",
             before->node->key_mark.line);
    return fail_node(b, again->node->key_mark, &at, message);
}

static bool build_mapping(builder *b, const frame *f, gl_yaml_node *node)
{
    gl_yaml_node **link = &node->first;
    for (size_t count = 0;; count++) {
        yaml_event_t event;
        const char *key = NULL;
        if (!next_event(b, &event))
            return false;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return refuse_duplicates(b, node, count, f);
        }
        gl_mark key_mark = mark_of(b, event.start_mark);
        if (!read_key(b, &event, f, &key))
            return false;
        frame inside = {.parent = f, .key = key, .depth = f->depth + 1};
        if (!next_event(b, &event) || !build_node(b, &event, &inside, link))
            return false;
        (*link)->key = key;
        (*link)->key_mark = key_mark;
        link = &(*link)->next;
    }
}

static bool build_collection(builder *b, yaml_event_t *event, const frame *f, gl_yaml_node **out)
{
    bool mapping = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag =
        mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    const yaml_char_t *name =
        mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    gl_mark mark = mark_of(b, event->start_mark);
    gl_yaml_node *node = new_node(b, mapping ? GL_YAML_MAPPING : GL_YAML_SEQUENCE, mark, f);
    if (node == NULL || !refuse_tag(b, tag, mark, f) || !add_anchor(b, name, node, f))
        return false;
    if (f->depth >= DEPTH_MAX)
        return fail_node(b, mark, f, "nested deeper than 64 levels");
    if (!(mapping ? build_mapping(b, f, node) : build_sequence(b, f, node)))
        return false;
    if (name != NULL)
        close_anchor(b, node);
    *out = node;
    return true;
}

/* Builds the node that begins with `event`, which is deleted. */
static bool build_node(builder *b, yaml_event_t *event, const frame *f, gl_yaml_node **out)
{
    bool built = false;
    if (event->type == YAML_SCALAR_EVENT)
        built = build_scalar(b, event, f, out);
    else if (event->type == YAML_ALIAS_EVENT)
        built = build_alias(b, event, f, out);
    else
        built = build_collection(b, event, f, out);
    yaml_event_delete(event);
    return built;
}

/* ---- documents ---- */

/* Passes two events and says what and where the second was. */
static bool skip_two(builder *b, yaml_event_type_t *type, gl_mark *mark)
{
    for (int i = 0; i < 2; i++) {
        yaml_event_t event;
        if (!next_event(b, &event))
            return false;
        *type = event.type;
        *mark = mark_of(b, event.start_mark);
        yaml_event_delete(&event);
    }
    return true;
}

static bool fail_empty(const builder *b)
{
    gl_mark mark = {.file = b->file};
    return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, NULL, "is empty");
}

static bool is_blank(const gl_yaml_node *node)
{
    return node->kind == GL_YAML_SCALAR && !node->quoted && node->text[0] == '\0';
}

static bool build_document(builder *b, gl_yaml_node **root)
{
    yaml_event_type_t type;
    gl_mark mark;
    yaml_event_t event;
    frame top = {0};
    if (!skip_two(b, &type, &mark)) /* start of stream and document */
        return false;
    if (type == YAML_STREAM_END_EVENT)
        return fail_empty(b);
    if (!next_event(b, &event) || !build_node(b, &event, &top, root))
        return false;
    if (!skip_two(b, &type, &mark)) /* end of document and stream */
        return false;
    if (type != YAML_STREAM_END_EVENT)
        return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, NULL,
                          "a second document begins; a file holds one");
    return !is_blank(*root) || fail_empty(b);
}

/* Files of another kind, told apart before a parser would say something obscure. */
static bool refuse_binary(const builder *b)
{
    gl_mark file = {.file = b->file};
    if (gl_is_sqlite_head(b->text, b->length))
        return gl_fail_at(b->err, GL_ERROR_INPUT, &file, NULL,
                          "is an SQLite database; a YAML file is expected");
    const char *nul = memchr(b->text, '\0', b->length);
    if (nul == NULL)
        return true;
    gl_mark mark = mark_of_byte(b, (size_t)(nul - b->text));
    return gl_fail_at(b->err, GL_ERROR_INPUT, &mark, NULL,
                      "is a binary file (NUL byte); a YAML file is expected");
}

bool gl_yaml_parse(const char *name, const char *text, size_t length, gl_arena *arena,
                   gl_yaml_tree *tree, gl_error *err)
{
    size_t skipped = gl_mark_length(text, length);
    text += skipped;
    length -= skipped;
    builder b = {.file = gl_arena_strdup(arena, name),
                 .text = text,
                 .length = length,
                 .arena = arena,
                 .err = err};
    if (!refuse_binary(&b))
        return false;
    if (!yaml_parser_initialize(&b.parser))
        return gl_fail(err, GL_ERROR_SYSTEM, "not enough memory to read %s", name);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, length);
    gl_yaml_node *root = NULL;
    bool built = build_document(&b, &root);
    yaml_parser_delete(&b.parser);
    if (built)
        *tree = (gl_yaml_tree){.file = b.file, .root = root};
    return built;
}

bool gl_yaml_load(const char *path, gl_arena *arena, gl_yaml_tree *tree, gl_error *err)
{
    const char *text;
    size_t length;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    return gl_file_text_read(path, arena, &text, &length, err) &&
           gl_yaml_parse(name, text, length, arena, tree, err);
}

/* ---- settings ---- */

/* A setting has no line: the mark of everything in it is its name alone. */
static void mark_setting(gl_yaml_node *node, gl_mark mark)
{
    node->mark = mark;
    node->key_mark = mark;
    for (gl_yaml_node *child = node->first; child != NULL; child = child->next)
        mark_setting(child, mark);
}

static bool parse_setting(gl_arena *arena, gl_mark mark, const char *path, const char *value,
                          gl_yaml_node **node, gl_error *err)
{
    gl_yaml_tree tree;
    if (value[strspn(value, " \t")] == '\0')
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, path, "has no value");
    if (!gl_yaml_parse(mark.file, value, strlen(value), arena, &tree, err)) {
        if (err != NULL)
            err->line = err->column = 0;
        return false;
    }
    mark_setting(tree.root, mark);
    *node = tree.root;
    return true;
}

/* The child of a mapping with the key, created when absent. */
static gl_yaml_node *child_for(gl_yaml_node *mapping, gl_arena *arena, const char *key,
                               gl_mark mark)
{
    gl_yaml_node **link = &mapping->first;
    while (*link != NULL && strcmp((*link)->key, key) != 0)
        link = &(*link)->next;
    if (*link == NULL) {
        *link = GL_ARENA_NEW(arena, gl_yaml_node, 1);
        **link =
            (gl_yaml_node){.kind = GL_YAML_MAPPING, .mark = mark, .key = key, .key_mark = mark};
    }
    return *link;
}

static void replace_node(gl_yaml_node *node, const gl_yaml_node *value)
{
    gl_yaml_node *next = node->next;
    const char *key = node->key;
    *node = *value;
    node->key = key;
    node->next = next;
}

/* `key` points into `path`: what stands before it is no mapping. */
static bool fail_no_mapping(gl_mark mark, const char *path, const char *key, gl_error *err)
{
    if (key == path)
        return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "the document is no mapping");
    return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL, "'%.*s' holds a value, not further keys",
                      (int)(key - path) - 1, path);
}

/* Puts a node at a dotted path. */
static bool put_node(gl_yaml_tree *tree, gl_arena *arena, gl_mark mark, const char *path,
                     const gl_yaml_node *value, gl_error *err)
{
    gl_yaml_node *node = tree->root;
    int depth = 0;
    for (const char *key = path; key != NULL; depth++) {
        size_t length = strcspn(key, ".");
        if (length == 0 || length > KEY_MAX || depth == DEPTH_MAX)
            return gl_fail_at(err, GL_ERROR_INPUT, &mark, NULL,
                              "is not a dotted path such as parallel.tp=8");
        if (node->kind != GL_YAML_MAPPING && !is_blank(node))
            return fail_no_mapping(mark, path, key, err);
        node->kind = GL_YAML_MAPPING;
        node = child_for(node, arena, gl_arena_strndup(arena, key, length), mark);
        /* cppcheck-suppress nullPointerArithmeticRedundantCheck ; NULL ends the loop */
        key = key[length] == '.' ? key + length + 1 : NULL;
    }
    replace_node(node, value);
    return true;
}

bool gl_yaml_set(gl_yaml_tree *tree, gl_arena *arena, const char *option, const char *path,
                 const char *value, gl_error *err)
{
    gl_mark mark = {.file = gl_arena_printf(arena, "%s %.200s=%.200s", option, path, value)};
    gl_yaml_node *parsed = NULL;
    bool done = parse_setting(arena, mark, path, value, &parsed, err) &&
                put_node(tree, arena, mark, path, parsed, err);
    if (!done && err != NULL)
        err->status = GL_ERROR_USAGE;
    return done;
}

bool gl_yaml_put(gl_yaml_tree *tree, gl_arena *arena, const gl_mark *mark, const char *path,
                 const char *value, gl_error *err)
{
    const gl_yaml_node node = {
        .kind = GL_YAML_SCALAR, .mark = *mark, .key_mark = *mark, .text = value};
    return put_node(tree, arena, *mark, path, &node, err);
}

/* ---- merging ---- */

static gl_yaml_node *copy_children(gl_arena *arena, const gl_yaml_node *first)
{
    gl_yaml_node *copies = NULL, **link = &copies;
    for (const gl_yaml_node *node = first; node != NULL; node = node->next) {
        *link = GL_ARENA_NEW(arena, gl_yaml_node, 1);
        **link = *node;
        (*link)->first = copy_children(arena, node->first);
        link = &(*link)->next;
    }
    return copies;
}

void gl_yaml_merge(gl_yaml_node *into, gl_arena *arena, const gl_yaml_node *from)
{
    for (const gl_yaml_node *node = from->first; node != NULL; node = node->next) {
        gl_yaml_node *child = child_for(into, arena, node->key, node->mark);
        child->key_mark = node->key_mark;
        if (node->kind == GL_YAML_MAPPING && child->kind == GL_YAML_MAPPING) {
            gl_yaml_merge(child, arena, node);
        } else {
            gl_yaml_node copy = *node;
            copy.first = copy_children(arena, node->first);
            replace_node(child, &copy);
        }
    }
}

bool gl_yaml_is_setting(const gl_yaml_node *node)
{
    return node->mark.line == 0;
}

/* ---- looking up ---- */

static const gl_yaml_node *get_part(const gl_yaml_node *mapping, const char *key, size_t length)
{
    if (mapping == NULL || mapping->kind != GL_YAML_MAPPING)
        return NULL;
    for (const gl_yaml_node *child = mapping->first; child != NULL; child = child->next)
        if (strncmp(child->key, key, length) == 0 && child->key[length] == '\0')
            return child;
    return NULL;
}

const gl_yaml_node *gl_yaml_get(const gl_yaml_node *mapping, const char *key)
{
    return get_part(mapping, key, strlen(key));
}

const gl_yaml_node *gl_yaml_find(const gl_yaml_tree *tree, const char *path)
{
    const gl_yaml_node *node = tree->root;
    for (const char *key = path; key != NULL && node != NULL;) {
        size_t length = strcspn(key, ".");
        node = get_part(node, key, length);
        /* cppcheck-suppress nullPointerArithmeticRedundantCheck ; NULL ends the loop */
        key = key[length] == '.' ? key + length + 1 : NULL;
    }
    return node;
}
