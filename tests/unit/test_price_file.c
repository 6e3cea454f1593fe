/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Price lists: what a list of one's own says goes over the bundled one. */
#include "tests/unit/input_support.h"

#include "planner/input/price_file.h"

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
    refused("prices: {parts: {switch.ib-ndr: {typcal: 1}}}\n",
            "p.yaml:1:34: part.typcal: unknown field; did you mean 'typical'?");
    refused("prices: {parts: {switch.ib-ndr: {low: 3, typical: 2}}}\n",
            "p.yaml:1:33: switch.ib-ndr: low <= typical <= high does not hold: 3, 2, 2");
    refused("prices: {parts: {switch.ib-ndr: cheap}}\n",
            "p.yaml:1:33: switch.ib-ndr: 'cheap' does not start with a finite decimal number; "
            "needed: a number, such as 1e9");
    refused("prices: {parts: {switch.ib-ndr: -5}}\n",
            "p.yaml:1:33: switch.ib-ndr: '-5' is below 0");
    refused("prices: {base: nowhere}\n",
            "prices: there is no price list 'nowhere' (neither a file nor bundled)");
    refused("prices: {base: none, parts: {fibre: 1}}\n",
            "p.yaml:1:9: prices.currency: missing; a list without a base needs it");
    refused("prices: {exchange: {EUR: much}}\n", "p.yaml:1:26: prices.exchange: …");
    refused("prices: {sources: {x: {text: y}}}\n",
            "p.yaml:1:20: prices.sources: a source is NAME: {text, url, date, confidence}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_prices_go_over_the_base),
        cmocka_unit_test(test_fields_go_over_fields),
        cmocka_unit_test(test_currencies),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
