/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HTML reports as a browser shows them. Pictures of them are left in the build folder
 * (tests/report/), to be looked at. */
#include "tests/report/browser.h"
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *bin_folder, *source_folder;

static const char *page_path(const char *name, const char *ending)
{
    static char path[4][512];
    static int next;
    char *text = path[next = (next + 1) % 4];
    snprintf(text, sizeof path[0], "%s/report/%s.%s", TEST_BINARY_DIR, name, ending);
    return text;
}

/* Runs gpulink-plan, its working folder is the source's. */
static void make_page(const char *name, const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && '%s/gpulink-plan' %s -q --format html -o '%s'",
             source_folder, bin_folder, arguments, page_path(name, "html"));
    if (system(command) != 0)
        fail_msg("%s", command);
}

static void assert_true_in(browser *b, const char *expression)
{
    json_t *value = browser_eval(b, expression);
    if (!json_is_true(value))
        fail_msg("not true on the page: %s", expression);
    json_decref(value);
}

static double number_in(browser *b, const char *expression)
{
    json_t *value = browser_eval(b, expression);
    double number = json_number_value(value);
    json_decref(value);
    return number;
}

static void assert_quiet(const browser *b)
{
    if (json_array_size(b->complaints) > 0)
        fail_msg("the page complains: %s", json_string_value(json_array_get(b->complaints, 0)));
}

/* Every chart has something in the colour of one of its series. */
static const char drawn[] =
    "[...document.querySelectorAll('canvas')].every(c => {"
    "  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
    "  const seen = new Set();"
    "  for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) seen.add(d[i] << 16 | d[i+1] << 8 "
    "| "
    "d[i+2]);"
    "  return seen.size > 8; })";

/* No name beside a chart or in its legend is cut. */
static const char names_fit[] =
    "[...document.querySelectorAll('canvas')].every(c => {"
    "  const chart = Chart.getChart(c), y = chart.scales.y;"
    "  const pen = document.createElement('canvas').getContext('2d');"
    "  pen.font = `12px ${Chart.defaults.font.family}`;"
    "  return y.ticks.flatMap(t => t.label).every(l => pen.measureText(l).width <= y.width) &&"
    "    (chart.legend.legendHitBoxes ?? []).every(b => b.left + b.width <= chart.width); })";

/* What holds of any page. */
static void check_page(browser *b)
{
    assert_quiet(b);
    assert_true_in(b, "document.title.length > 0 && document.documentElement.lang === 'en'");
    assert_true_in(b, "document.querySelectorAll('h1').length === 1");
    assert_true_in(b, "document.querySelectorAll('canvas').length > 0");
    assert_true_in(b, "Number(document.documentElement.dataset.charts) === "
                      "document.querySelectorAll('canvas').length");
    assert_true_in(b, drawn);
    assert_true_in(b, names_fit);
    /* Each chart says what it shows and links to a table that is there. */
    assert_true_in(b, "[...document.querySelectorAll('figure')].every(f => "
                      "f.querySelector('canvas').getAttribute('aria-label').length > 20 && "
                      "document.querySelector(f.querySelector('figcaption "
                      "a').getAttribute('href')).querySelector('table').rows.length > 0)");
    assert_true_in(b, "[...document.querySelectorAll('table')].every(t => t.caption && "
                      "t.querySelectorAll('th[scope]').length > 0)");
    assert_true_in(b, "new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size === "
                      "document.querySelectorAll('[id]').length");
    /* Nothing is wider than the window but what scrolls by itself. */
    assert_true_in(b, "document.documentElement.scrollWidth <= innerWidth");
    assert_true_in(b, "performance.getEntriesByType('resource').length === 0");
}

static void one_plan_is_a_page(void **state)
{
    browser *b = *state;
    make_page("plan", "models/llama-1.1b-ddp.yaml --cluster h200-nvlink");
    browser_open(b, page_path("plan", "html"), 1280, "light");
    check_page(b);
    assert_true_in(b, "document.querySelector('h1').textContent === 'Llama 1.1B on h200-nvlink'");
    assert_true_in(b, "document.querySelector('.answer').textContent.includes('240 ms')");
    assert_true_in(b, "document.querySelectorAll('canvas').length === 5");
    browser_screenshot(b, page_path("plan-light", "png"));
}

static void dark_is_dark(void **state)
{
    browser *b = *state;
    make_page("four", "models/llama-1.1b-ddp.yaml --cluster h200-nvlink --cluster h200-host-memory "
                      "--cluster h200-socket --cluster h200-nvlink-bf16");
    browser_open(b, page_path("four", "html"), 1280, "dark");
    check_page(b);
    assert_true_in(b, "document.querySelectorAll('.answer').length === 4");
    assert_true_in(
        b, "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).every(v => v < 60)");
    browser_screenshot(b, page_path("four-dark", "png"));
}

static void a_phone_shows_all(void **state)
{
    browser *b = *state;
    make_page("pipeline", "models/llama3-405b.yaml --cluster hgx-h100-16-ndr");
    browser_open(b, page_path("pipeline", "html"), 360, "light");
    check_page(b);
    assert_true_in(b, "innerWidth === 360");
    browser_screenshot(b, page_path("pipeline-phone", "png"));
}

/* Names of any length beside bars and in legends. */
static void long_names_fit(void **state)
{
    browser *b = *state;
    make_page("long", "compare models/llama3-70b.yaml --cluster hgx-h100-16-ndr --cluster "
                      "hgx-h100-16-ndr-4to1 --set training.tokens=15e12 --set "
                      "cluster.name=Rail-optimised_nodes_of_the_second_hall_and_all_their_optics");
    browser_open(b, page_path("long", "html"), 360, "light");
    check_page(b);
    make_page("sweep", "models/llama3-70b.yaml --cluster hgx-h100-16-ndr --sweep "
                       "cluster.inter_node.nics_per_node=1,2,4,8 --sweep "
                       "cluster.inter_node.oversubscription=1,2,4,8");
    browser_open(b, page_path("sweep", "html"), 360, "light");
    check_page(b);
    browser_screenshot(b, page_path("sweep-phone", "png"));
}

/* Four options with prices: what each is, costs and needs, each chart with a table of its own. */
static void options_are_compared(void **state)
{
    browser *b = *state;
    make_page("compare", "compare models/llama3-8b.yaml --cluster hgx-h100-16-ndr --cluster "
                         "hgx-h100-16-ndr-4to1 --cluster hgx-h100-16-ndr-2to1 --cluster "
                         "hgx-h200-16-ndr --set training.tokens=15e12");
    browser_open(b, page_path("compare", "html"), 1280, "light");
    check_page(b);
    assert_true_in(b, "document.querySelector('h1').textContent === 'Llama 3 8B: 4 options "
                      "compared'");
    static const char *const titles[] = {"Step time, and where it goes",
                                         "Cost of tokens against step time",
                                         "Bandwidth: required and available",
                                         "Network cost per GPU as the cluster grows",
                                         "What the step owes to the cluster (option 1)",
                                         "What the step owes to the cluster (option 4)"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        char look[256];
        snprintf(look, sizeof look,
                 "[...document.querySelectorAll('figure h3')].some(h => h.textContent === '%s')",
                 titles[i]);
        assert_true_in(b, look);
    }
    assert_true_in(b, "new Set([...document.querySelectorAll('figcaption a')].map(a => "
                      "a.hash)).size === 7");
    assert_true_in(b, "[...document.querySelectorAll('caption')].some(c => "
                      "c.textContent.startsWith('What each costs, in USD'))");
    browser_screenshot(b, page_path("compare-light", "png"));
    browser_open(b, page_path("compare", "html"), 360, "dark");
    check_page(b);
    browser_screenshot(b, page_path("compare-phone-dark", "png"));
}

/* From the address bar the first stop is the way past the header; every region that scrolls can be
 * reached; a link to a closed table opens it. */
static void keys_reach_everything(void **state)
{
    browser *b = *state;
    browser_open(b, page_path("plan", "html"), 1280, "light");
    json_decref(browser_call(b, "Input.dispatchKeyEvent",
                             "{\"type\": \"keyDown\", \"key\": \"Tab\", \"code\": \"Tab\", "
                             "\"windowsVirtualKeyCode\": 9}"));
    assert_true_in(b, "document.activeElement.className === 'skip'");
    assert_true_in(b, "[...document.querySelectorAll('.scroll')].every(e => e.tabIndex === 0 && "
                      "e.getAttribute('aria-label'))");
    assert_true_in(b, "(() => { const d = document.querySelector('details'); "
                      "const link = document.querySelector(`a[href='#${d.parentElement.id}']`); "
                      "link.click(); return !d.open; })()");
    assert_true_in(b, "new Promise(r => setTimeout(r, 50)) && true");
    while (!(number_in(b, "Number(document.querySelector('details').open)") > 0))
        continue;
    assert_quiet(b);
}

/* A name in a description is text in every place where it is shown. */
static void a_hostile_name_stays_text(void **state)
{
    browser *b = *state;
    make_page("hostile",
              "models/llama-1.1b-ddp.yaml --cluster h200-nvlink --cluster h200-socket --set "
              "'model.name=</script><script>document.title=\"taken\"</script>"
              "<img src=x onerror=\"document.title=1\">\"&amp;'");
    browser_open(b, page_path("hostile", "html"), 1280, "light");
    check_page(b);
    assert_true_in(b, "document.querySelector('h1').textContent.startsWith('</script><script>')");
    assert_true_in(b, "document.title.startsWith('</script><script>')");
    assert_true_in(b, "document.querySelectorAll('img').length === 0");
    assert_true_in(b, "document.querySelectorAll('script:not([type])').length === 2");
}

/* Even markup that got in could not run or load anything. */
static void the_policy_holds(void **state)
{
    browser *b = *state;
    browser_open(b, page_path("plan", "html"), 1280, "light");
    assert_true_in(b, "(() => { const s = document.createElement('script'); "
                      "s.textContent = 'window.taken = 1'; document.body.append(s); "
                      "return window.taken === undefined; })()");
    assert_true_in(b, "(() => { const i = document.createElement('img'); "
                      "i.src = 'https://example.org/x.png'; document.body.append(i); return true; "
                      "})()");
    size_t refused = 0;
    number_in(b, "1"); /* what was said before its answer has been heard */
    for (size_t i = 0; i < json_array_size(b->complaints); i++)
        refused += strstr(json_string_value(json_array_get(b->complaints, i)),
                          "Content Security Policy") != NULL;
    if (refused < 2)
        fail_msg("%zu refusals: %s", refused, json_dumps(b->complaints, 0));
    json_array_clear(b->complaints);
}

static int set_up(void **state)
{
    bin_folder = getenv("GPULINK_BIN");
    source_folder = getenv("GPULINK_SOURCE");
    if (bin_folder == NULL || source_folder == NULL)
        return -1;
    mkdir(TEST_BINARY_DIR "/report", 0777);
    *state = browser_start();
    return 0;
}

static int tear_down(void **state)
{
    browser_stop(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_plan_is_a_page),        cmocka_unit_test(dark_is_dark),
        cmocka_unit_test(a_phone_shows_all),         cmocka_unit_test(long_names_fit),
        cmocka_unit_test(options_are_compared),      cmocka_unit_test(keys_reach_everything),
        cmocka_unit_test(a_hostile_name_stays_text), cmocka_unit_test(the_policy_holds)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
