/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/price_file.h"

#include "common/datadir.h"
#include "common/text.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 4, NAME_BYTES = 96 };

static const char *const yaml_extensions[] = {"yaml", NULL};

/* Over a base over another: as many lists may stand on each other. */
typedef struct reader {
    const gl_yaml_tree *tree;
    gl_arena *arena;
    gl_diagnostics *diagnostics;
    gl_price_list *list;
    gl_price_document document;
    const gl_yaml_node *sources;
    const char *origin; /* of parts without a source: the file */
} reader;

static size_t problems(const gl_diagnostics *diagnostics)
{
    return diagnostics->count + diagnostics->dropped;
}

const char *gl_prices_find(const char *name, gl_arena *arena)
{
    bool file = strchr(name, '/') != NULL || gl_ends_with(name, ".yaml");
    if (gl_file_exists(name) && (file || gl_file_is_regular(name)))
        return name;
    return gl_datadir_find(arena, "prices", name, yaml_extensions);
}

/* ---- sources
 * ------------------------------------------------------------------------------------- */

static const char *scalar_of(const gl_yaml_node *mapping, const char *key)
{
    const gl_yaml_node *node = mapping->kind == GL_YAML_MAPPING ? gl_yaml_get(mapping, key) : NULL;
    return node != NULL && node->kind == GL_YAML_SCALAR ? node->text : NULL;
}

static bool parse_confidence(const char *text, gl_confidence *confidence)
{
    for (int i = 0; i < GL_CONFIDENCE_COUNT; i++)
        if (strcmp(text, gl_confidence_name((gl_confidence)i)) == 0) {
            *confidence = (gl_confidence)i;
            return true;
        }
    return false;
}

/* Every source has a text, a date and a confidence, whether it is used or not. */
static void check_sources(const reader *r)
{
    gl_confidence confidence;
    if (r->sources == NULL)
        return;
    if (r->sources->kind != GL_YAML_MAPPING) {
        gl_diagnose(r->diagnostics, &r->sources->mark, "prices.sources",
                    "needed: a mapping of sources");
        return;
    }
    for (const gl_yaml_node *node = r->sources->first; node != NULL; node = node->next) {
        const char *level = scalar_of(node, "confidence");
        if (scalar_of(node, "text") == NULL || scalar_of(node, "date") == NULL || level == NULL)
            gl_diagnose(r->diagnostics, &node->key_mark, "prices.sources",
                        "a source is NAME: {text, url, date, confidence}");
        else if (!parse_confidence(level, &confidence))
            gl_diagnose(r->diagnostics, &node->mark, "prices.sources",
                        "found confidence '%.40s'; allowed: high, medium, low, own", level);
    }
}

/* Replaces the name of a source by what it stands for; a text of one's own stays. */
static void resolve_source(const reader *r, gl_price *price)
{
    const gl_yaml_node *node =
        r->sources != NULL && r->sources->kind == GL_YAML_MAPPING && price->source != NULL
            ? gl_yaml_get(r->sources, price->source)
            : NULL;
    price->confidence = GL_CONFIDENCE_OWN;
    if (price->source == NULL)
        price->source = r->origin;
    if (node != NULL) {
        const char *text = scalar_of(node, "text"), *url = scalar_of(node, "url");
        const char *date = scalar_of(node, "date"), *level = scalar_of(node, "confidence");
        price->source = url != NULL ? gl_arena_printf(r->arena, "%s, %s", text, url) : text;
        price->date = price->date != NULL ? price->date : date;
        if (level != NULL)
            parse_confidence(level, &price->confidence);
    }
    if (price->date == NULL)
        price->date = "";
}

/* ---- parts
 * --------------------------------------------------------------------------------------- */

static const gl_price unpriced = {
    .low = (double)NAN, .typical = (double)NAN, .high = (double)NAN, .title = "", .unit = ""};

static gl_price *part_of(const reader *r, const char *name)
{
    gl_price_list *list = r->list;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->prices[i].part, name) == 0)
            return &list->prices[i];
    list->prices = gl_arena_grow(r->arena, list->prices, &list->capacity, list->count + 1,
                                 sizeof *list->prices);
    list->prices[list->count] = unpriced;
    list->prices[list->count].part = gl_arena_strdup(r->arena, name);
    return &list->prices[list->count++];
}

/* Of one figure the range follows from the confidence, of a range its middle is typical. */
static void complete_range(const reader *r, gl_price *price)
{
    double spread = r->document.spread[price->confidence];
    if (isnan(price->typical) && !isnan(price->low) && !isnan(price->high))
        price->typical = (price->low + price->high) / 2;
    if (isnan(price->typical))
        price->typical = isnan(price->low) ? price->high : price->low;
    if (isnan(price->low))
        price->low = price->typical / (1 + spread);
    if (isnan(price->high))
        price->high = price->typical * (1 + spread);
}

static bool check_range(const reader *r, const gl_yaml_node *node, const char *name,
                        const gl_price *price)
{
    if (isnan(price->typical) || (price->low <= price->typical && price->typical <= price->high))
        return true;
    return gl_diagnose(r->diagnostics, &node->mark, name,
                       "low <= typical <= high does not hold: %g, %g, %g", price->low,
                       price->typical, price->high);
}

/* The part's fields, with `part` in front as gl_part_fields has them. */
static bool load_fields(const reader *r, const gl_yaml_node *node, gl_price *price)
{
    gl_yaml_node part = *node, root = {.kind = GL_YAML_MAPPING, .mark = node->mark};
    part.key = "part";
    part.next = NULL;
    root.first = &part;
    const gl_yaml_tree tree = {.file = r->tree->file, .root = &root};
    return gl_fields_load(gl_part_fields, &tree, r->arena, price, r->diagnostics);
}

static bool load_number(const reader *r, const gl_yaml_node *node, const char *name, double *value)
{
    gl_error err;
    double number;
    if (node->kind != GL_YAML_SCALAR || node->quoted)
        return gl_diagnose(r->diagnostics, &node->mark, name, "needed: a number");
    if (!gl_parse_quantity(node->text, GL_NUMBER, &number, &err))
        return gl_diagnose(r->diagnostics, &node->mark, name, "%s", err.message);
    if (!(number >= 0))
        return gl_diagnose(r->diagnostics, &node->mark, name, "'%.40s' is below 0", node->text);
    *value = number;
    return true;
}

static bool states_price(const gl_yaml_node *node)
{
    return node->kind == GL_YAML_SCALAR || gl_yaml_get(node, "low") != NULL ||
           gl_yaml_get(node, "typical") != NULL || gl_yaml_get(node, "high") != NULL;
}

static void load_part(const reader *r, const gl_yaml_node *node, const char *name)
{
    gl_price *known = part_of(r, name), price = *known;
    size_t before = problems(r->diagnostics);
    bool priced = states_price(node);
    if (priced) {
        price.low = price.typical = price.high = (double)NAN;
        price.currency = price.source = price.date = price.note = NULL;
    }
    if (known->source == NULL || gl_yaml_get(node, "source") != NULL)
        price.source = price.date = NULL;
    bool resolves = price.source == NULL;
    if (node->kind == GL_YAML_SCALAR)
        load_number(r, node, name, &price.typical);
    else
        load_fields(r, node, &price);
    if (problems(r->diagnostics) != before)
        return;
    if (resolves)
        resolve_source(r, &price);
    complete_range(r, &price);
    if (check_range(r, node, name, &price))
        *known = price;
}

/* What parts there are: alone, or with the name of what they belong to. */
static const char *const lone_kinds[] = {"host", "chassis", "fibre", "rack", "facility"};
static const char *const named_kinds[] = {
    "server", "gpu",  "board",       "bridge",     "pcie-switch",  "nic",         "switch",
    "optic",  "dac",  "aec",         "aoc",        "optic-switch", "link-node",   "link-switch",
    "labour", "term", "electricity", "colocation", "pue",          "leased-line", "rent"};
enum {
    LONE_COUNT = sizeof lone_kinds / sizeof lone_kinds[0],
    NAMED_COUNT = sizeof named_kinds / sizeof named_kinds[0]
};

static bool is_kind(const char *text, size_t length, const char *const *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(kinds[i]) == length && strncmp(kinds[i], text, length) == 0)
            return true;
    return false;
}

static bool check_name(const reader *r, const gl_yaml_node *node, const char *name)
{
    const char *kinds[LONE_COUNT + NAMED_COUNT];
    char guess[NAME_BYTES * 2];
    size_t length = strcspn(name, ".");
    bool named = name[length] == '.' && name[length + 1] != '\0';
    if (named ? is_kind(name, length, named_kinds, NAMED_COUNT)
              : is_kind(name, length, lone_kinds, LONE_COUNT))
        return true;
    memcpy(kinds, lone_kinds, sizeof lone_kinds);
    memcpy(kinds + LONE_COUNT, named_kinds, sizeof named_kinds);
    if (is_kind(name, length, named_kinds, NAMED_COUNT))
        return gl_diagnose(r->diagnostics, &node->key_mark, name,
                           "needed: the name of what it belongs to, such as %.60s.ib-ndr", name);
    return gl_diagnose(r->diagnostics, &node->key_mark, name,
                       "no such kind of part%s see gpulink-plan schema prices",
                       gl_did_you_mean(gl_arena_strndup(r->arena, name, length), kinds,
                                       LONE_COUNT + NAMED_COUNT, guess, sizeof guess));
}

/* "server.h100-sxm: {…}", or server: {h100-sxm: {…}}, as --set makes it of dots. */
static void load_parts(const reader *r, const gl_yaml_node *mapping, const char *kind)
{
    for (const gl_yaml_node *node = mapping->first; node != NULL; node = node->next) {
        char shown[NAME_BYTES];
        const char *key = gl_printable(node->key, shown, sizeof shown);
        const char *name = kind != NULL ? gl_arena_printf(r->arena, "%s.%s", kind, key)
                                        : gl_arena_strdup(r->arena, key);
        if (node->kind == GL_YAML_SEQUENCE)
            gl_diagnose(r->diagnostics, &node->mark, name,
                        "found a list; needed: a price, or a mapping such as {typical: 1000}");
        else if (kind == NULL && node->kind == GL_YAML_MAPPING &&
                 is_kind(key, strlen(key), named_kinds, NAMED_COUNT))
            load_parts(r, node, name);
        else if (check_name(r, node, name))
            load_part(r, node, name);
    }
}

/* ---- the document
 * -------------------------------------------------------------------------------- */

static void load_exchange(const reader *r)
{
    gl_price_list *list = r->list;
    const gl_yaml_node *mapping = gl_yaml_find(r->tree, "prices.exchange");
    if (mapping == NULL)
        return;
    if (mapping->kind != GL_YAML_MAPPING) {
        gl_diagnose(r->diagnostics, &mapping->mark, "prices.exchange",
                    "needed: a mapping such as {EUR: 1.08}");
        return;
    }
    for (const gl_yaml_node *node = mapping->first; node != NULL; node = node->next) {
        double rate = 0;
        if (!load_number(r, node, "prices.exchange", &rate))
            continue;
        size_t i = 0;
        while (i < list->exchange_count && strcmp(list->exchange[i].currency, node->key) != 0)
            i++;
        if (i == list->exchange_count)
            list->exchange = gl_arena_grow(r->arena, list->exchange, &list->exchange_capacity,
                                           ++list->exchange_count, sizeof *list->exchange);
        list->exchange[i] = (gl_exchange){gl_arena_strdup(r->arena, node->key), rate};
    }
}

/* Parts of the base without a currency of their own keep that of the base. */
static void change_currency(const reader *r, const char *currency)
{
    for (size_t i = 0; i < r->list->count; i++)
        if (r->list->prices[i].currency == NULL)
            r->list->prices[i].currency = r->list->currency;
    r->list->currency = currency;
}

static bool load_over(const gl_yaml_tree *tree, const char *origin, int depth, gl_arena *arena,
                      gl_diagnostics *diagnostics, gl_price_list *list, double *spread);

static bool load_file(const char *name, int depth, gl_arena *arena, gl_diagnostics *diagnostics,
                      gl_price_list *list, double *spread)
{
    gl_error err;
    gl_yaml_tree tree;
    char shown[NAME_BYTES];
    const char *file = gl_prices_find(name, arena);
    if (file == NULL)
        return gl_diagnose(diagnostics, NULL, "prices",
                           "there is no price list '%s' (neither a file nor bundled)",
                           gl_printable(name, shown, sizeof shown));
    if (!gl_yaml_load(file, arena, &tree, &err))
        return gl_diagnose_error(diagnostics, &err);
    list->name = gl_file_stem(arena, file);
    list->file = file;
    return load_over(&tree, file, depth, arena, diagnostics, list, spread);
}

static bool load_base(const reader *r, int depth, double *spread)
{
    const char *base = r->document.base;
    char shown[NAME_BYTES];
    if (strcmp(base, "none") == 0)
        return true;
    if (depth == 0)
        return gl_diagnose(r->diagnostics, NULL, "prices.base",
                           "lists stand on each other too deep: '%s'",
                           gl_printable(base, shown, sizeof shown));
    const gl_yaml_node *node = gl_yaml_find(r->tree, "prices.base");
    bool file = strchr(base, '/') != NULL || gl_ends_with(base, ".yaml");
    if (file && node != NULL && !gl_yaml_is_setting(node))
        base = gl_file_beside(r->arena, r->tree->file, base);
    return load_file(base, depth - 1, r->arena, r->diagnostics, r->list, spread);
}

static bool is_bundled(const char *file, gl_arena *arena)
{
    const char *found =
        gl_datadir_find(arena, "prices", gl_file_stem(arena, file), yaml_extensions);
    return found != NULL && gl_file_is_same(found, file);
}

static bool load_over(const gl_yaml_tree *tree, const char *origin, int depth, gl_arena *arena,
                      gl_diagnostics *diagnostics, gl_price_list *list, double *spread)
{
    size_t before = problems(diagnostics);
    const char *name = list->name, *file = list->file;
    reader r = {.tree = tree,
                .arena = arena,
                .diagnostics = diagnostics,
                .list = list,
                .document = {.base = is_bundled(origin, arena) ? "none" : "standard"},
                .sources = gl_yaml_find(tree, "prices.sources"),
                .origin = origin};
    for (int i = 0; i < GL_CONFIDENCE_COUNT; i++)
        r.document.spread[i] = (double)NAN;
    if (!gl_fields_load(gl_prices_fields, tree, arena, &r.document, diagnostics) ||
        !load_base(&r, depth, spread))
        return false;
    list->name = r.document.name != NULL ? r.document.name : name;
    list->file = file;
    for (int i = 0; i < GL_CONFIDENCE_COUNT; i++) {
        if (!isnan(r.document.spread[i]))
            spread[i] = r.document.spread[i];
        r.document.spread[i] = spread[i];
    }
    if (r.document.currency != NULL)
        change_currency(&r, r.document.currency);
    if (list->currency == NULL)
        gl_diagnose(diagnostics, &tree->root->mark, "prices.currency",
                    "missing; a list without a base needs it");
    check_sources(&r);
    load_exchange(&r);
    const gl_yaml_node *parts = gl_yaml_find(tree, "prices.parts");
    if (parts != NULL && parts->kind == GL_YAML_MAPPING)
        load_parts(&r, parts, NULL);
    else if (parts != NULL)
        gl_diagnose(diagnostics, &parts->mark, "prices.parts", "needed: a mapping of parts");
    return problems(diagnostics) == before;
}

const gl_price_list *gl_prices_load(const char *name, gl_arena *arena, gl_diagnostics *diagnostics)
{
    double spread[GL_CONFIDENCE_COUNT] = {0};
    gl_price_list *list = GL_ARENA_NEW(arena, gl_price_list, 1);
    return load_file(name, DEPTH_MAX, arena, diagnostics, list, spread) ? list : NULL;
}

const gl_price_list *gl_prices_tree_load(const gl_yaml_tree *tree, gl_arena *arena,
                                         gl_diagnostics *diagnostics)
{
    double spread[GL_CONFIDENCE_COUNT] = {0};
    gl_price_list *list = GL_ARENA_NEW(arena, gl_price_list, 1);
    gl_yaml_node prices = *gl_yaml_find(tree, "prices");
    gl_yaml_node root = {.kind = GL_YAML_MAPPING, .mark = prices.mark, .first = &prices};
    const gl_yaml_tree part = {.file = tree->file, .root = &root};
    prices.next = NULL;
    list->name = "own";
    list->file = tree->file;
    return load_over(&part, tree->file, DEPTH_MAX, arena, diagnostics, list, spread) ? list : NULL;
}

const gl_field *gl_prices_schema(gl_arena *arena)
{
    size_t top = 0, parts = 0;
    while (gl_prices_fields[top].path != NULL)
        top++;
    while (gl_part_fields[parts].path != NULL)
        parts++;
    gl_field *all = GL_ARENA_NEW(arena, gl_field, top + parts + 1);
    memcpy(all, gl_prices_fields, top * sizeof *all);
    memcpy(all + top, gl_part_fields, (parts + 1) * sizeof *all);
    for (size_t i = top; i < top + parts; i++)
        all[i].path = gl_arena_printf(arena, "prices.parts.PART%s", strchr(all[i].path, '.'));
    return all;
}
