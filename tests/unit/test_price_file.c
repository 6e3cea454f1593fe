/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Price lists: what a list of one's own says goes over the bundled one. */
#include "tests/unit/input_support.h"

#include "planner/core/cost_terms.h"
#include "planner/input/price_file.h"

#include <unistd.h>

typedef struct loaded_list {
    outcome o;
    const gl_price_list *list;
} loaded_list;

static loaded_list load_prices(const char *text)
{
    gl_error err;
    loaded_list l = {.o = {.arena = gl_arena_create()}};
    if (!gl_yaml_parse("p.yaml", text, strlen(text), l.o.arena, &l.o.tree, &err))
        fail_msg("%s", err.message);
    l.list = gl_prices_tree_load(&l.o.tree, l.o.arena, &l.o.diagnostics);
    l.o.ok = l.list != NULL;
    return l;
}

static void refused(const char *text, const char *problem)
{
    loaded_list l = load_prices(text);
    assert_problem(&l.o, problem);
    assert_int_equal(l.o.diagnostics.count, 1);
    assert_null(l.list);
    outcome_free(&l.o);
}

static void test_own_prices_go_over_the_base(void **state)
{
    (void)state;
    loaded_list l = load_prices("prices:\n"
                                "  name: quotes\n"
                                "  sources: {dell: {text: quote of Dell, date: 2026-11-20, "
                                "confidence: high}}\n"
                                "  parts:\n"
                                "    server.h100-sxm: {typical: 280000, source: dell}\n"
                                "    switch.ib-ndr: 30000\n"
                                "    fibre: {low: 40, high: 60}\n"
                                "    nic: {ib-xdr: {typical: 2200, power: 30 W}}\n");
    assert_loaded(&l.o);
    const gl_price *server = gl_price_find(l.list, "server", "h100-sxm");
    assert_close(server->typical, 280000, 0);
    assert_close(server->high, 280000 * 1.1, 1e-12); /* spread of high confidence */
    assert_close(server->low, 280000 / 1.1, 1e-12);
    assert_close(server->power_w, 10200, 0); /* of the base */
    assert_string_equal(server->source, "quote of Dell");
    assert_string_equal(server->date, "2026-11-20");
    const gl_price *own = gl_price_find(l.list, "switch", "ib-ndr");
    assert_close(own->high, 30000, 0); /* a quote has no range */
    assert_int_equal(own->ports, 64);
    assert_int_equal(own->confidence, GL_CONFIDENCE_OWN);
    assert_string_equal(own->source, "p.yaml");
    assert_close(gl_price_find(l.list, "fibre", NULL)->typical, 50, 0);
    assert_close(gl_price_find(l.list, "nic", "ib-xdr")->typical, 2200, 0);
    assert_close(gl_price_find(l.list, "nic", "ib-ndr")->typical, 1200, 0);
    assert_true(isnan(gl_price_find(l.list, "nic", "ib-hdr")->typical));
    assert_null(gl_price_find(l.list, "nic", NULL));
    outcome_free(&l.o);
}

/* One end of a range moves that end; the rest stays as in the base. */
static void test_one_end_of_a_range(void **state)
{
    (void)state;
    loaded_list l = load_prices("prices: {parts: {server.h100-sxm: {high: 400000}, switch.ib-ndr: "
                                "{low: 30000}, term.life: {high: 7}}}\n");
    assert_loaded(&l.o);
    const gl_price *server = gl_price_find(l.list, "server", "h100-sxm");
    assert_close(server->low, 255237.04, 0);
    assert_close(server->typical, 296644, 0);
    assert_close(server->high, 400000, 0);
    const gl_price *leaf = gl_price_find(l.list, "switch", "ib-ndr");
    assert_close(leaf->low, 30000, 0);
    assert_close(leaf->typical, 36000, 0);
    assert_close(leaf->high, 50000, 0);
    outcome_free(&l.o);
    refused("prices: {parts: {server.h100-sxm: {high: 200000}}}\n",
            "p.yaml:1:35: server.h100-sxm: low <= typical <= high does not hold: 255237, 296644, "
            "200000");
    refused("prices: {parts: {gpu.l40s: {high: 9000}}}\n",
            "p.yaml:1:28: gpu.l40s: found one end of a range, and the base has no price; needed: "
            "typical, or low and high");
    refused("prices: {exchange: {EUR: 1.1}, parts: {server.h100-sxm: {high: 400000, currency: "
            "EUR}}}\n",
            "p.yaml:1:57: server.h100-sxm: the base's price is in USD, and this is in EUR: state "
            "typical, or low and high");
    refused("prices: {currency: JPY, exchange: {USD: 150}, parts: {server.h100-sxm: {high: "
            "4e7}}}\n",
            "p.yaml:1:72: server.h100-sxm: the base's price is in USD, and this is in JPY: …");
    refused("prices: {exchange: {EUR: 1.1}, parts: {server.h100-sxm: {currency: EUR}}}\n",
            "p.yaml:1:57: server.h100-sxm: the base's price is in USD, and this is in EUR: …");
    l = load_prices("prices: {currency: JPY, exchange: {USD: 150}, parts: {term.life: {high: 7}, "
                    "gpu.l40s: {note: asked}}}\n");
    assert_loaded(&l.o);
    outcome_free(&l.o);
}

/* What has no price has no range. */
static void test_unpriced_is_empty(void **state)
{
    (void)state;
    loaded_list l = load_prices("prices: {parts: {gpu.l40s: {note: asked}}}\n");
    assert_loaded(&l.o);
    const char *const names[] = {"l40s", "h100-sxm"};
    for (size_t i = 0; i < 2; i++) {
        const gl_price *gpu = gl_price_find(l.list, "gpu", names[i]);
        assert_int_equal(isnan(gpu->typical), i == 0);
        assert_int_equal(isnan(gpu->low), i == 0);
        assert_int_equal(isnan(gpu->high), i == 0);
    }
    outcome_free(&l.o);
}

static void test_dates_are_days(void **state)
{
    (void)state;
    static const char *const wrong[] = {"tomorrow",    "2026-13-45", "2026-02-29",
                                        "2026-11-31",  "2026-1-1",   "20261120",
                                        "2026-11-20x", "2026-00-10", "2026-10-00"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[200], problem[200];
        snprintf(text, sizeof text, "prices: {parts: {fibre: {typical: 9, date: %s}}}\n", wrong[i]);
        snprintf(problem, sizeof problem,
                 "p.yaml:1:44: fibre: found date '%s'; needed: a day, such as 2026-11-20",
                 wrong[i]);
        refused(text, problem);
    }
    refused("prices: {sources: {s: {text: t, date: soon, confidence: low}}}\n",
            "p.yaml:1:39: prices.sources: found date 'soon'; needed: a day, such as 2026-11-20");
    loaded_list l = load_prices("prices: {parts: {fibre: {typical: 9, date: 2028-02-29}}}\n");
    assert_loaded(&l.o);
    outcome_free(&l.o);
}

/* Fields that are no price leave the price as it is. */
static void test_fields_go_over_fields(void **state)
{
    (void)state;
    loaded_list l = load_prices("prices: {parts: {server.h200-sxm: {power: 11 kW}}}\n");
    assert_loaded(&l.o);
    const gl_price *server = gl_price_find(l.list, "server", "h200-sxm");
    assert_close(server->power_w, 11000, 0);
    assert_close(server->typical, 312667.04, 0);
    assert_int_equal(server->confidence, GL_CONFIDENCE_HIGH);
    outcome_free(&l.o);
}

/* A list in another currency keeps the base's parts in theirs. */
static void test_currencies(void **state)
{
    (void)state;
    loaded_list l = load_prices("prices: {currency: EUR, exchange: {USD: 0.92}, parts: "
                                "{switch.ib-ndr: 33000}}\n");
    assert_loaded(&l.o);
    assert_string_equal(l.list->currency, "EUR");
    assert_null(gl_price_find(l.list, "switch", "ib-ndr")->currency);
    assert_string_equal(gl_price_find(l.list, "nic", "ib-ndr")->currency, "USD");
    assert_close(gl_price_rate(l.list, "USD"), 0.92, 0);
    assert_close(gl_price_rate(l.list, "EUR"), 1, 0);
    assert_close(gl_price_rate(l.list, "GBP"), 0, 0);
    outcome_free(&l.o);
}

static void test_refused(void **state)
{
    (void)state;
    refused("prices: {parts: {swithc.ib-ndr: 1}}\n",
            "p.yaml:1:18: swithc.ib-ndr: no such kind of part; did you mean 'switch'? see "
            "gpulink-plan schema prices");
    refused("prices: {parts: {switch: 1}}\n",
            "p.yaml:1:18: switch: needed: the name of what it belongs to, such as switch.ib-ndr");
    refused("prices: {parts: {fibre.ib-ndr: 1}}\n",
            "p.yaml:1:18: fibre.ib-ndr: there is one fibre alone, without a name");
    refused("prices: {parts: {switch.ib-ndr: {typcal: 1}}}\n",
            "p.yaml:1:34: switch.ib-ndr.typcal: unknown field; did you mean 'typical'?");
    refused("prices: {parts: {switch.ib-ndr: {nics_included: true}}}\n",
            "p.yaml:1:34: switch.ib-ndr.nics_included: unknown field; allowed here: title, unit, "
            "low, typical, high, currency, power, ports, source, date, note, new");
    refused("prices: {parts: {term.life: {typical: 3, currency: EUR}}}\n",
            "p.yaml:1:42: term.life.currency: unknown field; …");
    refused("prices: {parts: {switch.ib-ndr: {low: 3, typical: 2}}}\n",
            "p.yaml:1:33: switch.ib-ndr: low <= typical <= high does not hold: 3, 2, 2");
    refused("prices: {parts: {switch.ib-ndr: [1, 2]}}\n",
            "p.yaml:1:33: switch.ib-ndr: found a list; needed: a price, or a mapping such as "
            "{typical: 1000}");
    refused("prices: {parts: {fibre: }}\n",
            "p.yaml:1:25: fibre: has no value; needed: a number, such as 1e9");
    refused("prices: {parts: [fibre]}\n", "p.yaml:1:17: prices.parts: needed: a mapping of parts");
    refused(
        "prices: {base: nowhere}\n",
        "p.yaml:1:16: prices.base: there is no price list 'nowhere'; allowed: a file, a bundled "
        "name, none");
    refused("prices: {base: standrad}\n",
            "p.yaml:1:16: prices.base: there is no price list 'standrad'; did you mean "
            "'standard'? allowed: a file, a bundled name, none");
    refused("prices: {base: none, parts: {fibre: 1}}\n",
            "p.yaml:1:9: prices.currency: missing; a list without a base needs it");
    refused("prices: {sources: {x: {text: y}}}\n",
            "p.yaml:1:20: prices.sources: a source is NAME: {text, url, date, confidence}");
    refused("prices: {sources: {dell: {text: y, date: 2026-11-20, confidence: high}}, parts: "
            "{fibre: {typical: 9, source: del}}}\n",
            "p.yaml:1:110: prices.sources: there is no source 'del'; did you mean 'dell'?");
}

/* What would be ignored because nothing has its name is said to be misspelt. */
static void test_misspelt_parts_are_refused(void **state)
{
    (void)state;
    refused("prices: {parts: {server.h100-sxn: 250000}}\n",
            "p.yaml:1:18: server.h100-sxn: neither the base nor the catalogue has it; did you mean "
            "'server.h100-sxm'? a part of your own says new: true");
    refused("prices: {parts: {nic: {ib-nrd: 1500}}}\n",
            "p.yaml:1:24: nic.ib-nrd: neither the base nor the catalogue has it; did you mean "
            "'nic.ib-ndr'? a part of your own says new: true");
    refused("prices: {parts: {electricity.us-texsa: 0.07}}\n",
            "p.yaml:1:18: electricity.us-texsa: neither the base nor the catalogue has it; did you "
            "mean 'electricity.us-texas'? a part of your own says new: true");
    refused("prices: {parts: {term.lief: 4}}\n",
            "p.yaml:1:18: term.lief: there is no such term; did you mean 'term.life'? allowed: "
            "life, residual, interest, support, …");
    refused("prices: {parts: {labour.stuff: 4, fibre: 1}}\n",
            "p.yaml:1:18: labour.stuff: there is no such labour; did you mean 'labour.staff'? "
            "allowed: lossless, tuning, staff");
    refused("prices: {parts: {term.lief: {typical: 4, new: true}}}\n",
            "p.yaml:1:18: term.lief: there is no such term; …");
    /* The catalogue has the link and the base no price. Parts of one's own say so. */
    loaded_list l =
        load_prices("prices: {parts: {nic.efa-400: 900, server.mine: {typical: 7, gpus: "
                    "8, new: true}, electricity.home: {typical: 0.1, new: true}}}\n");
    assert_loaded(&l.o);
    assert_close(gl_price_find(l.list, "nic", "efa-400")->typical, 900, 0);
    assert_close(gl_price_find(l.list, "server", "mine")->typical, 7, 0);
    assert_true(gl_price_find(l.list, "server", "mine")->quoted);
    assert_false(gl_price_find(l.list, "server", "h100-sxm")->quoted);
    outcome_free(&l.o);
    /* Regions of a list that stands alone are its own. */
    l = load_prices("prices: {base: none, currency: EUR, parts: {electricity.home: 0.1}}\n");
    assert_loaded(&l.o);
    outcome_free(&l.o);
}

/* Each value that cannot be, as a number alone and as a field, with what is allowed. */
static void test_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *part, *value, *allowed;
    } rows[] = {
        {"term.residual", "5", "'5' is out of range; allowed: 0 % to 100 %"},
        {"term.residual", "-0.1", "'-0.1' is out of range; allowed: 0 % to 100 %"},
        {"term.availability", "2", "'2' is out of range; allowed: 1 % to 100 %"},
        {"term.availability", "0", "'0' is out of range; allowed: 1 % to 100 %"},
        {"term.pue", "0.1", "'0.1' is out of range; allowed: 1 to 10"},
        {"pue.beijing", "0.9", "'0.9' is out of range; allowed: 1 to 10"},
        {"term.spares", "1000", "'1000' is out of range; allowed: 0 % to 100 %"},
        {"term.life", "0", "'0' is out of range; allowed: 0.1 to 50"},
        {"term.interest", "101 %", "'101 %' is out of range; allowed: 0 % to 100 %"},
        {"term.support", "2", "'2' is out of range; allowed: 0 % to 100 %"},
        {"term.staff", "101", "'101' is out of range; allowed: 0 to 100"},
        {"term.draw", "120%", "'120%' is out of range; allowed: 0 % to 100 %"},
        {"term.server-power", "0.5", "'0.5' is out of range; allowed: 1 to 10"},
        {"term.failures", "2", "'2' is out of range; allowed: 0 to 1"},
        {"term.checkpoint", "-1 s", "'-1 s' is out of range; allowed: 0 s to 27.8 h"},
        {"term.checkpoint", "60", "'60' has no unit; needed: seconds, such as 3.5 us"},
        {"term.restart", "100000 h", "'100000 h' is out of range; allowed: 0 s to 11.6 d"},
        {"term.decay", "3", "'3' is out of range; allowed: 0 to 2"},
        {"term.rack-power", "1 W", "'1 W' is out of range; allowed: 100 W to 10 MW"},
        {"term.rack-switches", "0", "'0' is out of range; allowed: 1 to 1000"},
        {"switch.ib-ndr", "-5", "'-5' is out of range; allowed: 0 to 1000000000000"},
        {"switch.ib-ndr", "1e308", "'1e308' is out of range; allowed: 0 to 1000000000000"},
        {"electricity.default", "1e7", "'1e7' is out of range; allowed: 0 to 1000000"},
        {"colocation.default", "1e10", "'1e10' is out of range; allowed: 0 to 1000000000"},
        {"leased-line.frankfurt-london", "-1", "'-1' is out of range; allowed: 0 to 1000000000"},
        {"rent.h100-sxm", "1e7", "'1e7' is out of range; allowed: 0 to 1000000"},
        {"labour.staff", "-1", "'-1' is out of range; allowed: 0 to 1000000000000"},
        {"fibre", "nan",
         "'nan' does not start with a finite decimal number; needed: a number, such as 1e9"},
        {"fibre", "inf",
         "'inf' does not start with a finite decimal number; needed: a number, such as 1e9"},
        {"fibre", "cheap",
         "'cheap' does not start with a finite decimal number; needed: a number, such as 1e9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200], problem[400];
        snprintf(text, sizeof text, "prices:\n  parts:\n    %s: %s\n", rows[i].part, rows[i].value);
        snprintf(problem, sizeof problem, "p.yaml:3:%zu: %s: %s", strlen(rows[i].part) + 7,
                 rows[i].part, rows[i].allowed);
        refused(text, problem);
        snprintf(text, sizeof text, "prices:\n  parts:\n    %s: {high: %s}\n", rows[i].part,
                 rows[i].value);
        snprintf(problem, sizeof problem, "p.yaml:3:%zu: %s.high: %s", strlen(rows[i].part) + 14,
                 rows[i].part, rows[i].allowed);
        refused(text, problem);
    }
    refused("prices: {parts: {dac.ib-ndr: {reach: 2000 km}}}\n",
            "p.yaml:1:38: dac.ib-ndr.reach: …");
    refused("prices: {parts: {switch.ib-ndr: {ports: 0}}}\n",
            "p.yaml:1:41: switch.ib-ndr.ports: '0' is out of range; allowed: 1 to 4096");
    refused("prices: {spread: {low: 2000 %}}\n",
            "p.yaml:1:24: prices.spread.low: '2000 %' is out of range; allowed: 0 % to 1000 %");
}

/* Every term and every kind that the list may have is a row of the schema, with its range. */
static void test_schema_has_every_range(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    const gl_field *schema = gl_prices_schema(arena);
    for (int i = 0; i < GL_TERM_COUNT; i++) {
        const char *name = gl_cost_term_name((gl_cost_term)i);
        const gl_field *row =
            gl_fields_find(schema, gl_arena_printf(arena, "prices.parts.term.%s", name));
        assert_non_null(row);
        assert_true(row->maximum > row->minimum && gl_term_field(name)->maximum == row->maximum);
    }
    const gl_field *rate = gl_fields_find(schema, "prices.exchange.CURRENCY");
    const gl_field *server = gl_fields_find(schema, "prices.parts.server.GPU");
    assert_true(rate->minimum > 0 && rate->maximum < 1e10);
    assert_true(server->minimum >= 0 && server->maximum <= 1e12);
    assert_non_null(strstr(server->doc, "Has power, gpus, rack, nics_included, link."));
    gl_arena_destroy(arena);
}

/* A range that follows from a confidence ends where there are no such values. */
static void test_completed_ranges_stay_within(void **state)
{
    (void)state;
    loaded_list l = load_prices(
        "prices: {sources: {s: {text: t, date: 2026-11-20, confidence: low}}, parts: {term.pue: "
        "{typical: 1.1, source: s}, term.availability: {typical: 90%, source: s}}}\n");
    assert_loaded(&l.o);
    assert_close(gl_price_find(l.list, "term", "pue")->low, 1, 0);
    assert_close(gl_price_find(l.list, "term", "pue")->high, 1.65, 1e-12);
    assert_close(gl_price_find(l.list, "term", "availability")->high, 1, 0);
    outcome_free(&l.o);
}

static void test_exchange_is_checked(void **state)
{
    (void)state;
    refused("prices: {exchange: {EUR: 0}}\n",
            "p.yaml:1:26: prices.exchange: '0' is out of range; allowed: 1e-09 to 1000000000");
    refused("prices: {exchange: {EUR: -1}}\n", "p.yaml:1:26: prices.exchange: '-1' is out of …");
    refused("prices: {exchange: {EUR: much}}\n", "p.yaml:1:26: prices.exchange: 'much' does not …");
    refused("prices: {exchange: {EURO: 1.1}}\n",
            "p.yaml:1:21: prices.exchange: found currency 'EURO'; needed: three capital letters, "
            "such as EUR");
    refused("prices: {exchange: {USD: 1.1}}\n",
            "p.yaml:1:21: prices.exchange: USD is the list's own currency: its rate is 1");
    refused("prices: {currency: dollars}\n", "p.yaml:1:20: prices.currency: found currency …");
    refused("prices: {parts: {fibre: {typical: 1, currency: eur}}}\n",
            "p.yaml:1:48: fibre: found currency 'eur'; needed: …");
    refused("prices: {exchange: 1.1}\n",
            "p.yaml:1:20: prices.exchange: needed: a mapping such as {EUR: 1.08}");
}

/* ---- lists over lists ---- */

static void write_list(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static loaded_list load_list_file(const char *name)
{
    loaded_list l = {.o = {.arena = gl_arena_create()}};
    l.list = gl_prices_load(name, l.o.arena, &l.o.diagnostics);
    l.o.ok = l.list != NULL;
    return l;
}

static void refused_file(const char *name, const char *problem)
{
    loaded_list l = load_list_file(name);
    assert_problem(&l.o, problem);
    assert_int_equal(l.o.diagnostics.count, 1);
    outcome_free(&l.o);
}

static void test_lists_over_lists(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpulink-prices-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    write_list("own.yaml", "prices: {base: own.yaml}\n");
    refused_file("own.yaml", "own.yaml:1:16: prices.base: the list is based on itself");
    write_list("a.yaml", "prices:\n  base: ./b.yaml\n");
    write_list("b.yaml", "prices:\n  base: c.yaml\n");
    write_list("c.yaml", "prices:\n  base: a.yaml\n");
    refused_file("a.yaml",
                 "./c.yaml:2:9: prices.base: lists are based on each other: a, based on b, "
                 "based on c, based on a");
    write_list("l5.yaml", "prices: {base: l4.yaml}\n");
    write_list("l4.yaml", "prices: {base: l3.yaml}\n");
    write_list("l3.yaml", "prices: {base: l2.yaml}\n");
    write_list("l2.yaml", "prices: {base: l1.yaml}\n");
    write_list("l1.yaml", "prices: {parts: {fibre: 7}, exchange: {EUR: 2}}\n");
    refused_file("l5.yaml",
                 "l1.yaml:1:1: prices.base: lists stand on each other too deep; allowed: 4");
    loaded_list l = load_list_file("l4.yaml");
    assert_loaded(&l.o);
    assert_close(gl_price_find(l.list, "fibre", NULL)->typical, 7, 0);
    outcome_free(&l.o);
    /* Rates into the base's currency say nothing in another. */
    write_list("eur.yaml", "prices: {base: l1.yaml, currency: GBP, exchange: {USD: 0.8}}\n");
    l = load_list_file("eur.yaml");
    assert_loaded(&l.o);
    assert_close(gl_price_rate(l.list, "EUR"), 0, 0);
    assert_close(gl_price_rate(l.list, "USD"), 0.8, 0);
    outcome_free(&l.o);
    for (const char *name = "l1.yaml\0l2.yaml\0l3.yaml\0l4.yaml\0l5.yaml\0a.yaml\0b.yaml\0c.yaml\0"
                            "own.yaml\0eur.yaml\0";
         *name != '\0'; name += strlen(name) + 1)
        assert_int_equal(unlink(name), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_prices_go_over_the_base),
        cmocka_unit_test(test_one_end_of_a_range),
        cmocka_unit_test(test_unpriced_is_empty),
        cmocka_unit_test(test_dates_are_days),
        cmocka_unit_test(test_fields_go_over_fields),
        cmocka_unit_test(test_currencies),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_misspelt_parts_are_refused),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_schema_has_every_range),
        cmocka_unit_test(test_completed_ranges_stay_within),
        cmocka_unit_test(test_exchange_is_checked),
        cmocka_unit_test(test_lists_over_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
