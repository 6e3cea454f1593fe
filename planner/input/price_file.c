/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/input/price_file.h"

#include "common/datadir.h"
#include "common/text.h"
#include "planner/input/catalogue.h"
#include "planner/input/file_text.h"
#include "planner/input/notes.h"
#include "planner/input/price_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 4, NAME_BYTES = 96 };

/* What stands for a part's name in the fields of one. */
#define PART "part"

/* The files that are being read: a list, its base, the base of that. */
typedef struct chain {
    const char *file;
    const struct chain *above;
    int depth;
} chain;

typedef struct reader {
    const gl_yaml_tree *tree;
    gl_arena *arena;
    gl_diagnostics *diagnostics;
    gl_price_list *list;
    gl_price_document document;
    const gl_yaml_node *sources;
    const char *origin; /* of parts without a source: the file */
    bool based;         /* on another list */
    bool over_bundled;  /* a list of one's own */
} reader;

const char *gl_prices_find(const char *name, gl_arena *arena)
{
    if (gl_file_exists(name) && (gl_catalogue_is_own_file(name) || gl_file_is_regular(name)))
        return name;
    return gl_datadir_find(arena, "prices", name, "yaml");
}

/* ---- sources ---- */

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

static bool check_date(const reader *r, const gl_yaml_node *mapping, const char *path)
{
    char shown[NAME_BYTES];
    const char *date = scalar_of(mapping, "date");
    if (date == NULL || gl_is_date(date))
        return true;
    return gl_diagnose(r->diagnostics, &gl_yaml_get(mapping, "date")->mark, path,
                       "found date '%s'; needed: a day, such as 2026-11-20",
                       gl_printable(date, shown, sizeof shown));
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
        else
            check_date(r, node, "prices.sources");
    }
}

/* A text of one's own that is nearly the name of a source is a slip. */
static void check_slip(const reader *r, const gl_yaml_node *part, const char *source)
{
    size_t count = 0;
    for (const gl_yaml_node *node = r->sources->first; node != NULL; node = node->next)
        count++;
    const char **names = GL_ARENA_NEW(r->arena, const char *, count);
    count = 0;
    for (const gl_yaml_node *node = r->sources->first; node != NULL; node = node->next)
        names[count++] = node->key;
    const char *meant = gl_nearest(source, names, count);
    if (meant != NULL)
        gl_diagnose(r->diagnostics, &gl_yaml_get(part, "source")->mark, "prices.sources",
                    "there is no source '%.40s'; did you mean '%.40s'?", source, meant);
}

/* Replaces the name of a source by what it stands for; a text of one's own stays. */
static void resolve_source(const reader *r, const gl_yaml_node *part, gl_price *price)
{
    bool listed = r->sources != NULL && r->sources->kind == GL_YAML_MAPPING;
    const gl_yaml_node *node =
        listed && price->source != NULL ? gl_yaml_get(r->sources, price->source) : NULL;
    if (listed && price->source != NULL && node == NULL)
        check_slip(r, part, price->source);
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

/* ---- currencies ---- */

/* "EUR". A code that is misspelt would never find its rate. */
static bool is_currency(const char *text)
{
    return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static bool diagnose_currency(const reader *r, const gl_mark *mark, const char *path,
                              const char *found)
{
    char shown[NAME_BYTES];
    return gl_diagnose(r->diagnostics, mark, path,
                       "found currency '%s'; needed: three capital letters, such as EUR",
                       gl_printable(found, shown, sizeof shown));
}

/* ---- parts ---- */

static const gl_price unpriced = {
    .low = (double)NAN, .typical = (double)NAN, .high = (double)NAN, .title = "", .unit = ""};

static gl_price *find_part(const gl_price_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->prices[i].part, name) == 0)
            return &list->prices[i];
    return NULL;
}

static void store_part(const reader *r, const char *name, const gl_price *price)
{
    gl_price_list *list = r->list;
    gl_price *to = find_part(list, name);
    if (to == NULL) {
        list->prices = gl_arena_grow(r->arena, list->prices, &list->capacity, list->count + 1,
                                     sizeof *list->prices);
        to = &list->prices[list->count++];
    }
    *to = *price;
    to->part = gl_arena_strdup(r->arena, name);
}

/* Of one figure the range follows from the confidence, as far as there are such values; of a range
 * its middle is typical. */
static void complete_range(const reader *r, gl_price *price)
{
    double spread = r->document.spread[price->confidence];
    if (isnan(price->typical))
        price->typical = (price->low + price->high) / 2;
    if (isnan(price->typical))
        return;
    if (isnan(price->low))
        price->low = fmax(price->minimum, price->typical / (1 + spread));
    if (isnan(price->high))
        price->high = fmin(price->maximum, price->typical * (1 + spread));
}

static bool check_currency(const reader *r, const gl_yaml_node *part, const char *name,
                           const char *currency)
{
    const gl_yaml_node *node = gl_yaml_get(part, "currency");
    return node == NULL || is_currency(currency) ||
           diagnose_currency(r, &node->mark, name, currency);
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

/* One node by its fields, whose paths begin with `name`. */
static bool load_node(const reader *r, const gl_yaml_node *node, const char *name,
                      const gl_field *fields, void *target)
{
    gl_yaml_node copy = *node, root = {.kind = GL_YAML_MAPPING, .mark = node->mark};
    copy.key = name;
    copy.next = NULL;
    root.first = &copy;
    const gl_yaml_tree tree = {.file = r->tree->file, .root = &root};
    return gl_fields_load(fields, &tree, r->arena, target, r->diagnostics);
}

/* Messages name the part, which fields do not. */
static void name_part(const reader *r, size_t first, const char *part)
{
    for (size_t i = first; i < r->diagnostics->count; i++) {
        char *path = r->diagnostics->items[i].path;
        if (!gl_starts_with(path, PART))
            continue;
        const char *field = gl_arena_strdup(r->arena, path + strlen(PART));
        snprintf(path, sizeof r->diagnostics->items[i].path, "%s%s", part, field);
    }
}

/* A part that is a number alone: its typical price. */
static bool load_price(const reader *r, const gl_yaml_node *node, gl_field limits, gl_price *price)
{
    limits.path = PART;
    limits.offset = offsetof(gl_price, typical);
    const gl_field fields[] = {limits, {.path = NULL}};
    return load_node(r, node, PART, fields, price);
}

static bool states(const gl_yaml_node *node, const char *field)
{
    return node->kind == GL_YAML_MAPPING && gl_yaml_get(node, field) != NULL;
}

/* What a part of a list says over the same part of the base. */
typedef enum quote {
    NO_PRICE,   /* the base's figures stay */
    ONE_BOUND,  /* low or high alone: the base's other figures stay */
    WHOLE_PRICE /* a typical price, or a range */
} quote;

static quote kind_of_quote(const gl_yaml_node *node)
{
    bool low = states(node, "low"), high = states(node, "high");
    if (node->kind == GL_YAML_SCALAR || states(node, "typical") || (low && high))
        return WHOLE_PRICE;
    return low || high ? ONE_BOUND : NO_PRICE;
}

static const char *shown_currency(const reader *r, const char *currency)
{
    return currency != NULL ? currency : r->list->currency != NULL ? r->list->currency : "none";
}

/* A bound or a currency alone says something about the base's figures: there are some, and in the
 * same currency. */
static bool check_quote(const reader *r, const gl_yaml_node *node, const char *name,
                        const gl_price *known, const gl_price *price)
{
    quote said = kind_of_quote(node);
    bool has_currency = gl_part_kind_find(name, strcspn(name, "."))->maximum > 0;
    bool priced = known != NULL && !isnan(known->typical);
    if (said == WHOLE_PRICE || (said == NO_PRICE && (!states(node, "currency") || !priced)))
        return true;
    if (!priced)
        return gl_diagnose(r->diagnostics, &node->mark, name,
                           "found one end of a range, and the base has no price; needed: typical, "
                           "or low and high");
    const char *currency = said == NO_PRICE || states(node, "currency") ? price->currency : NULL;
    const char *mine = shown_currency(r, currency), *base = shown_currency(r, known->currency);
    if (!has_currency || strcmp(mine, base) == 0)
        return true;
    return gl_diagnose(r->diagnostics, &node->mark, name,
                       "the base's price is in %s, and this is in %s: state typical, or low and "
                       "high",
                       base, mine);
}

static bool check_known(const reader *r, const gl_yaml_node *node, const char *name)
{
    return gl_part_known_check(name, r->list, &node->key_mark, r->arena, r->diagnostics);
}

static void load_part(const reader *r, const gl_yaml_node *node, const char *name)
{
    const gl_price *known = find_part(r->list, name);
    gl_price price = known != NULL ? *known : unpriced;
    const gl_part_kind *kind = gl_part_kind_find(name, strcspn(name, "."));
    const gl_field limits = gl_part_limits(kind, name);
    size_t before = gl_diagnostics_found(r->diagnostics), first = r->diagnostics->count;
    if (kind->names == GL_PART_FIXED && !check_known(r, node, name))
        return;
    if (kind_of_quote(node) == WHOLE_PRICE) {
        price.low = price.typical = price.high = (double)NAN;
        price.currency = NULL;
    }
    if (kind_of_quote(node) != NO_PRICE)
        price.source = price.date = price.note = NULL;
    if (known == NULL || gl_yaml_get(node, "source") != NULL)
        price.source = price.date = NULL;
    bool resolves = price.source == NULL;
    price.minimum = limits.minimum;
    price.maximum = limits.maximum;
    price.is_new = false;
    price.quoted = r->over_bundled;
    if (node->kind == GL_YAML_SCALAR)
        load_price(r, node, limits, &price);
    else
        load_node(r, node, PART, gl_part_fields_of(kind, name, PART, r->arena), &price);
    name_part(r, first, name);
    if (gl_diagnostics_found(r->diagnostics) != before)
        return;
    bool same_currency = known != NULL && strcmp(shown_currency(r, known->currency),
                                                 shown_currency(r, price.currency)) == 0;
    price.base_typical = same_currency && known->typical > 0 ? known->typical : 0;
    if (r->based && !price.is_new && !check_known(r, node, name))
        return;
    if (resolves)
        resolve_source(r, node, &price);
    complete_range(r, &price);
    if (check_currency(r, node, name, price.currency) && check_date(r, node, name) &&
        check_quote(r, node, name, known, &price) && check_range(r, node, name, &price))
        store_part(r, name, &price);
}

/* "server.h100-sxm: {…}", or server: {h100-sxm: {…}}, as --set makes it of dots. */
static void load_parts(const reader *r, const gl_yaml_node *mapping, const char *kind)
{
    for (const gl_yaml_node *node = mapping->first; node != NULL; node = node->next) {
        char shown[NAME_BYTES];
        const char *key = gl_printable(node->key, shown, sizeof shown);
        const char *name = kind != NULL ? gl_arena_printf(r->arena, "%s.%s", kind, key)
                                        : gl_arena_strdup(r->arena, key);
        const gl_part_kind *section = gl_part_kind_find(key, strlen(key));
        if (node->kind == GL_YAML_SEQUENCE)
            gl_diagnose(r->diagnostics, &node->mark, name,
                        "found a list; needed: a price, or a mapping such as {typical: 1000}");
        else if (kind == NULL && node->kind == GL_YAML_MAPPING && section != NULL &&
                 section->names != GL_PART_ALONE)
            load_parts(r, node, name);
        else if (gl_part_name_check(name, &node->key_mark, r->arena, r->diagnostics))
            load_part(r, node, name);
    }
}

/* ---- the document ---- */

static void add_rate(const reader *r, const char *currency, double rate)
{
    gl_price_list *list = r->list;
    size_t i = 0;
    while (i < list->exchange_count && strcmp(list->exchange[i].currency, currency) != 0)
        i++;
    if (i == list->exchange_count)
        list->exchange = gl_arena_grow(r->arena, list->exchange, &list->exchange_capacity,
                                       ++list->exchange_count, sizeof *list->exchange);
    list->exchange[i] = (gl_exchange){gl_arena_strdup(r->arena, currency), rate};
}

static void load_exchange(const reader *r)
{
    const gl_yaml_node *mapping = gl_yaml_find(r->tree, "prices.exchange");
    if (mapping == NULL)
        return;
    if (mapping->kind != GL_YAML_MAPPING) {
        gl_diagnose(r->diagnostics, &mapping->mark, "prices.exchange",
                    "needed: a mapping such as {EUR: 1.08}");
        return;
    }
    for (const gl_yaml_node *node = mapping->first; node != NULL; node = node->next) {
        gl_exchange rate = {0};
        gl_field fields[] = {gl_exchange_fields[0], {.path = NULL}};
        fields[0].path = PART;
        size_t first = r->diagnostics->count;
        if (!is_currency(node->key))
            diagnose_currency(r, &node->key_mark, "prices.exchange", node->key);
        else if (r->list->currency != NULL && strcmp(node->key, r->list->currency) == 0)
            gl_diagnose(r->diagnostics, &node->key_mark, "prices.exchange",
                        "%s is the list's own currency: its rate is 1", node->key);
        else if (load_node(r, node, PART, fields, &rate))
            add_rate(r, node->key, rate.rate);
        name_part(r, first, "prices.exchange");
    }
}

/* Parts of the base without a currency of their own keep that of the base. Its rates are into its
 * currency and say nothing here. */
static void change_currency(const reader *r, const char *currency)
{
    if (r->list->currency != NULL && strcmp(r->list->currency, currency) != 0)
        r->list->exchange_count = 0;
    for (size_t i = 0; i < r->list->count; i++)
        if (r->list->prices[i].currency == NULL)
            r->list->prices[i].currency = r->list->currency;
    r->list->currency = currency;
}

static void load_currency(const reader *r)
{
    const char *currency = r->document.currency;
    const gl_mark mark = gl_fields_mark(r->tree, "prices.currency");
    if (currency != NULL && !is_currency(currency))
        diagnose_currency(r, &mark, "prices.currency", currency);
    else if (currency != NULL)
        change_currency(r, currency);
    else if (r->list->currency == NULL)
        gl_diagnose(r->diagnostics, &r->tree->root->mark, "prices.currency",
                    "missing; a list without a base needs it");
}

static bool load_over(const gl_yaml_tree *tree, const chain *files, gl_arena *arena,
                      gl_diagnostics *diagnostics, gl_price_list *list, double *spread);

static bool load_file(const char *file, const chain *above, gl_arena *arena,
                      gl_diagnostics *diagnostics, gl_price_list *list, double *spread)
{
    gl_error err;
    gl_yaml_tree tree;
    const chain files = {file, above, above != NULL ? above->depth + 1 : 0};
    if (!gl_yaml_load(file, arena, &tree, &err))
        return gl_diagnose_error(diagnostics, &err);
    list->name = gl_file_stem(arena, file);
    list->file = file;
    return load_over(&tree, &files, arena, diagnostics, list, spread);
}

/* A list that stands on itself, maybe by others, would never end. */
static bool check_chain(const reader *r, const chain *files, const char *file, const gl_mark *mark)
{
    if (files->depth == DEPTH_MAX)
        return gl_diagnose(r->diagnostics, mark, "prices.base",
                           "lists stand on each other too deep; allowed: %d", DEPTH_MAX);
    const char *names = gl_file_stem(r->arena, file);
    for (const chain *c = files; c != NULL; c = c->above) {
        names =
            gl_arena_printf(r->arena, "%s, based on %s", gl_file_stem(r->arena, c->file), names);
        if (!gl_file_is_same(c->file, file))
            continue;
        if (c == files)
            return gl_diagnose(r->diagnostics, mark, "prices.base", "the list is based on itself");
        return gl_diagnose(r->diagnostics, mark, "prices.base",
                           "lists are based on each other: %.300s", names);
    }
    return true;
}

static bool diagnose_no_base(const reader *r, const char *name, const gl_mark *mark)
{
    size_t count;
    char shown[NAME_BYTES], guess[NAME_BYTES * 2];
    gl_error err;
    if (gl_catalogue_is_own_file(name))
        return gl_diagnose(r->diagnostics, mark, "prices.base", "no such file: %.200s%s", name,
                           gl_file_guess(r->arena, name));
    const char *const *names = gl_datadir_list(r->arena, "prices", "yaml", &count);
    /* Without a line it is a setting's value. */
    gl_fail_at(&err, mark->line == 0 ? GL_ERROR_USAGE : GL_ERROR_INPUT, mark, "prices.base",
               "there is no price list '%s'%s allowed: a file, a bundled name, none",
               gl_printable(name, shown, sizeof shown),
               gl_did_you_mean(name, names, count, guess, sizeof guess));
    return gl_diagnose_error(r->diagnostics, &err);
}

static bool load_base(const reader *r, const chain *files, double *spread)
{
    const char *base = r->document.base;
    if (!r->based)
        return true;
    const gl_mark mark = gl_fields_mark(r->tree, "prices.base");
    const gl_yaml_node *node = gl_yaml_find(r->tree, "prices.base");
    if (gl_catalogue_is_own_file(base) && node != NULL && !gl_yaml_is_setting(node))
        base = gl_file_beside(r->arena, r->tree->file, base);
    const char *file = gl_prices_find(base, r->arena);
    if (file == NULL)
        return diagnose_no_base(r, base, &mark);
    return check_chain(r, files, file, &mark) &&
           load_file(file, files, r->arena, r->diagnostics, r->list, spread);
}

static bool is_bundled(const char *file, gl_arena *arena)
{
    const char *found = gl_datadir_find(arena, "prices", gl_file_stem(arena, file), "yaml");
    return found != NULL && gl_file_is_same(found, file);
}

static bool load_over(const gl_yaml_tree *tree, const chain *files, gl_arena *arena,
                      gl_diagnostics *diagnostics, gl_price_list *list, double *spread)
{
    size_t before = gl_diagnostics_found(diagnostics);
    const char *name = list->name, *file = list->file;
    bool bundled = is_bundled(files->file, arena);
    reader r = {.tree = tree,
                .arena = arena,
                .diagnostics = diagnostics,
                .list = list,
                .document = {.base = bundled ? "none" : "standard"},
                .sources = gl_yaml_find(tree, "prices.sources"),
                .origin = files->file,
                .over_bundled = !bundled};
    for (int i = 0; i < GL_CONFIDENCE_COUNT; i++)
        r.document.spread[i] = (double)NAN;
    if (!gl_fields_load(gl_prices_fields, tree, arena, &r.document, diagnostics))
        return false;
    r.based = strcmp(r.document.base, "none") != 0;
    if (!load_base(&r, files, spread))
        return false;
    list->name = r.document.name != NULL ? r.document.name : name;
    list->file = file;
    for (int i = 0; i < GL_CONFIDENCE_COUNT; i++) {
        if (!isnan(r.document.spread[i]))
            spread[i] = r.document.spread[i];
        r.document.spread[i] = spread[i];
    }
    load_currency(&r);
    check_sources(&r);
    load_exchange(&r);
    const gl_yaml_node *parts = gl_yaml_find(tree, "prices.parts");
    if (parts != NULL && parts->kind == GL_YAML_MAPPING)
        load_parts(&r, parts, NULL);
    else if (parts != NULL)
        gl_diagnose(diagnostics, &parts->mark, "prices.parts", "needed: a mapping of parts");
    return gl_diagnostics_found(diagnostics) == before;
}

const gl_price_list *gl_prices_load(const char *name, gl_arena *arena, gl_diagnostics *diagnostics)
{
    char shown[NAME_BYTES];
    double spread[GL_CONFIDENCE_COUNT] = {0};
    gl_price_list *list = GL_ARENA_NEW(arena, gl_price_list, 1);
    const char *file = gl_prices_find(name, arena);
    if (file == NULL) {
        gl_diagnose(diagnostics, NULL, "prices",
                    "there is no price list '%s' (neither a file nor bundled)",
                    gl_printable(name, shown, sizeof shown));
        return NULL;
    }
    return load_file(file, NULL, arena, diagnostics, list, spread) ? list : NULL;
}

const gl_price_list *gl_prices_tree_load(const gl_yaml_tree *tree, gl_arena *arena,
                                         gl_diagnostics *diagnostics)
{
    double spread[GL_CONFIDENCE_COUNT] = {0};
    const chain files = {tree->file, NULL, 0};
    gl_price_list *list = GL_ARENA_NEW(arena, gl_price_list, 1);
    gl_yaml_node prices = *gl_yaml_find(tree, "prices");
    gl_yaml_node root = {.kind = GL_YAML_MAPPING, .mark = prices.mark, .first = &prices};
    const gl_yaml_tree part = {.file = tree->file, .root = &root};
    prices.next = NULL;
    list->name = "own";
    list->file = tree->file;
    return load_over(&part, &files, arena, diagnostics, list, spread) ? list : NULL;
}
