"""The page in a real browser: quiet, within its width, and its switches work."""

import itertools
import shutil

import pytest

from anymetric.report import Run, page

from .report_runs import HOSTILE, KINDS, made

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("Chromium is not installed: the page is not looked at (apt install chromium).")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a run's page; fail afterwards if it complained or asked the network for anything."""
    contexts, complaints, requests = [], [], []

    def open_(kind, width=1400, theme="light", run=None):
        path = tmp_path / f"{kind}.html"
        path.write_text(page(run or made(kind)), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        )
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(path.as_uri())
        tab.wait_for_selector("[data-chart] svg")
        contexts.append((context, path.as_uri()))
        return tab

    yield open_
    for context, _ in contexts:
        context.close()
    assert complaints == []
    assert set(requests) <= {address for _, address in contexts}


# Tables that are wider than their place, and captions that meet the axis title above them.
CUT = """[...document.querySelectorAll(".wide, .card, details")]
  .filter((n) => n.offsetParent && n.scrollWidth > n.clientWidth + 1)
  .map((n) => `${n.closest("section").id}: ${n.scrollWidth} > ${n.clientWidth}`)"""
TOUCHED = """[...document.querySelectorAll("figure:has(figcaption)")].filter((figure) => {
  const caption = figure.querySelector(":scope > figcaption").getBoundingClientRect();
  return [...figure.querySelectorAll("svg text")]
    .some((text) => text.getBoundingClientRect().bottom > caption.top);
}).map((figure) => figure.querySelector("[data-chart]").dataset.chart)"""


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_and_table_is_drawn_within_the_width(opened, kind):
    tab = opened(kind)
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    charts = "[...document.querySelectorAll('[data-chart]')]"
    for width in (1400, 400):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function(f"{charts}.every(n => n.scrollWidth <= n.clientWidth)", timeout=5000)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.wait_for_function(f"{charts}.every(n => n.querySelector('svg'))", timeout=5000)
        assert tab.evaluate(CUT) == []
        assert tab.evaluate(TOUCHED) == []


def test_hostile_names_are_shown_as_text(opened):
    tab = opened("hostile")
    assert HOSTILE in tab.locator("#confusion").inner_text()
    assert HOSTILE in tab.locator("#asked").inner_text()
    assert tab.locator("script").count() == 4
    assert tab.locator("img").count() == 0


def test_a_method_is_switched_off_and_on_everywhere(opened):
    tab = opened("auto")

    def names():
        return tab.locator('[data-chart="values"]').inner_text()

    button = tab.locator('#result [data-method="2"]')
    assert "tuned threshold" in names()
    button.click()
    assert "tuned threshold" not in names()
    assert "logistic" in names()
    assert not tab.locator('#confusion [data-of="2"]').is_visible()
    assert tab.locator('#groups [data-method="2"]').get_attribute("aria-pressed") == "false"
    button.click()
    assert "tuned threshold" in names()
    assert tab.locator('#confusion [data-of="2"]').is_visible()


def test_all_methods_may_be_switched_off(opened):
    tab = opened("auto")
    for k in range(3):
        tab.locator(f'#result [data-method="{k}"]').click()
    assert "Nothing is chosen." in tab.locator('[data-chart="values"]').inner_text()


def test_another_measure_and_other_surrogates_are_drawn(opened):
    tab = opened("auto")
    tab.locator('[data-choice="measure"]').select_option("recall")
    assert "recall" in tab.locator('[data-chart="groups"]').text_content()
    unfold(tab)
    before = tab.locator('[data-chart="space"]').inner_html()
    tab.locator('[data-choice="across"]').select_option("0")
    tab.locator('[data-choice="up"]').select_option("1")
    tab.locator('[data-choice="across"]').select_option("3")
    assert tab.locator('[data-chart="space"]').inner_html() != before


def test_many_classes_are_looked_at_one_by_one(opened):
    tab = opened("many")
    chart = tab.locator('[data-chart="coefficients"]')
    assert "away from" in chart.text_content()
    before = chart.inner_html()
    tab.locator('[data-choice="class"]').select_option("2")
    assert chart.inner_html() != before
    tab.locator('[data-choice="rate"]').select_option("precision")
    assert "precision" in tab.locator('[data-chart="classes"]').text_content()
    assert tab.locator("#confusion .matrix").count() == 3
    tab.locator('#classes [data-method="1"]').click()
    assert not tab.locator('#confusion [data-of="1"]').is_visible()


def shown(open_page, run):
    """Open the page of a run that is made for one test."""
    return open_page("made", run=run)


def ticks(tab, chart):
    found = tab.locator(f'[data-chart="{chart}"] g[aria-label="x-axis tick label"] text')
    return [float(text.replace("\N{MINUS SIGN}", "-")) for text in found.all_text_contents()]


def test_a_single_value_has_a_true_axis(opened):
    run = Run({"name": "f1"}, {"n": 9}, [{"name": "only", "value": 0.82, "ours": True}])
    tab = shown(opened, run)
    marks = ticks(tab, "values")
    assert len(set(marks)) > 2
    assert min(marks) < 0.82 < max(marks) < 1.0
    dot, axis = (
        tab.locator(f'[data-chart="values"] {what}').first.bounding_box()
        for what in ('g[aria-label="dot"] circle', 'g[aria-label="x-axis tick label"] text')
    )
    last = tab.locator('[data-chart="values"] g[aria-label="x-axis tick label"] text').last
    ends = [box["x"] + box["width"] / 2 for box in (axis, last.bounding_box())]
    place = (dot["x"] + dot["width"] / 2 - ends[0]) / (ends[1] - ends[0])
    assert marks[0] + place * (marks[-1] - marks[0]) == pytest.approx(0.82, abs=0.005)


def labels(tab, chart, axis="x"):
    found = tab.locator(f'[data-chart="{chart}"] g[aria-label="{axis}-axis tick label"] text')
    return found.all_text_contents()


@pytest.mark.parametrize("width", [400, 1400])
def test_large_numbers_have_prefixes_and_heavy_tails_a_log_scale(opened, width):
    tab = opened("heavy", width)
    assert "log scale" in tab.locator('[data-chart="curves"]').text_content()
    powers = [text for text in labels(tab, "curves", "y") if text.startswith("10")]
    assert len(powers) >= 2
    for chart, axis in (("values", "x"), ("groups", "x"), ("course", "y"), ("curves", "y")):
        found = labels(tab, chart, axis)
        assert found, chart
        assert all(len(text) <= 6 for text in found), (chart, found)
        assert any(text[-1] in "kM" for text in found), (chart, found)
    boxes = tab.locator(
        '[data-chart="values"] g[aria-label="x-axis tick label"] text'
    ).evaluate_all(
        "texts => texts.map((t) => t.getBoundingClientRect()).map((b) => [b.left, b.right])"
    )
    assert all(a[1] < b[0] for a, b in itertools.pairwise(boxes))


def test_values_of_different_magnitude_are_drawn_on_a_log_scale_with_their_bars(opened):
    methods = [
        {"name": "ours", "ours": True, "value": 40.0, "error": 30.0},
        {"name": "poor", "value": 90000.0, "error": 100.0, "lead": 89960.0, "lead_error": 100.0},
    ]
    tab = shown(opened, Run({"name": "mae", "greater_is_better": False}, {"n": 9}, methods))
    assert "log scale" in tab.locator('[data-chart="values"]').text_content()
    assert {"100", "1k", "10k"} <= set(labels(tab, "values"))


def test_groups_are_drawn_with_their_row_counts(opened):
    tab = opened("auto")
    sizes = {row["group"]: row["n"] for row in made("auto").groups["rows"]}
    drawn = tab.locator('[data-chart="groups"]').text_content()
    assert all(f"{name} ({n} rows)" in drawn for name, n in sizes.items())


def test_the_trade_off_shows_the_limit_and_the_model(opened):
    tab = opened("limit", 400)
    chart = tab.locator('[data-chart="limits"]')
    assert "recall (limit: recall >= 0.7)" in chart.text_content()
    points = made("limit").limits["curve"]["objective"]
    assert chart.locator('g[aria-label="dot"] circle').count() == len(points) + 1


def test_error_bars_of_groups_stay_within_what_the_metric_can_be(opened):
    methods = [{"name": "ours", "ours": True, "value": 0.9, "error": 0.05}]
    group = {"n": 9, "method": "ours", "error": 0.2}
    groups = [{"group": "a", "value": 0.95, **group}, {"group": "b", "value": 0.1, **group}]
    metric = {"name": "f1", "range": [0.0, 1.0]}
    found = {"column": "town", "rows": groups, "measured": True, "left_out": 0}
    tab = shown(opened, Run(metric, {"n": 18}, methods, groups=found))
    assert min(ticks(tab, "groups")) == 0.0
    assert max(ticks(tab, "groups")) == 1.0


def test_the_heaviest_slices_are_drawn_and_the_others_are_counted(opened):
    slices = [
        {"name": f"s{k}", "label": f"slice {k}", "share": k / 1770, "rows": 1 / 60}
        for k in range(60)
    ]
    run = Run(
        {"name": "f1"},
        {"n": 9},
        [{"name": "ours", "value": 0.5}],
        worth={"slices": slices, "says": []},
    )
    tab = shown(opened, run)
    chart = tab.locator('[data-chart="worth"]')
    assert chart.locator('g[aria-label="bar"] > *').count() == 40
    assert "slice 59" in chart.text_content()
    assert "slice 19" not in chart.text_content()
    assert "The 20 lightest slices are in the table only." in tab.locator("#worth").inner_text()
    named = chart.locator('g[aria-label="x-axis tick label"] text').all_text_contents()
    assert len(set(named)) == len(named)


def test_no_two_of_many_methods_look_the_same(opened):
    methods = [
        {"name": f"m{k}", "ours": k == 0, "value": k / 20, "improvement": 0.1} for k in range(22)
    ]
    tab = shown(opened, Run({"name": "f1"}, {"n": 9}, methods))
    looks = tab.locator("#result [data-method] .dot").evaluate_all(
        "dots => dots.map(d => getComputedStyle(d).backgroundColor + d.className)"
    )
    assert len(set(looks)) == 22
    assert tab.locator('[data-chart="values"] g[aria-label="dot"] circle').count() == 10
    assert tab.locator('[data-chart="values"] g[aria-label="dot"] path').count() == 12


@pytest.mark.parametrize("width", [400, 1400])
def test_long_names_stay_on_their_card_and_short_ones_whole(opened, width):
    long = [f"{k} \N{CJK UNIFIED IDEOGRAPH-6F22}\N{CJK UNIFIED IDEOGRAPH-5B57}" * 30 for k in "ab"]
    names = ["W" * 80, *long, "anymetric"]
    methods = [
        {"name": name, "value": 0.5 + k / 9, "improvement": 0.1} for k, name in enumerate(names)
    ]
    slices = [{"name": name, "label": name, "share": 0.25, "rows": None} for name in names]
    run = Run({"name": "f1"}, {"n": 9}, methods, worth={"slices": slices, "says": []})
    tab = opened("made", width, run=run)
    assert tab.evaluate(
        """[...document.querySelectorAll("figure svg text")].every((text) => {
          const [own, card] = [text, text.closest("section")].map((n) => n.getBoundingClientRect());
          return own.left >= card.left && own.right <= card.right;
        })"""
    )
    for chart in ("values", "worth"):
        assert "anymetric" in tab.locator(f'[data-chart="{chart}"]').text_content()


def unfold(tab):
    """Open what is for researchers, and wait until it is drawn."""
    tab.locator("#run summary", has_text="For researchers").click()
    tab.wait_for_selector('[data-chart="space"] svg')


def test_axes_say_that_losses_are_shown_and_whose_iterations(opened):
    turns = [
        {"start": s, "iteration": t, "place": 3 * s + t, "profile": [s + 1.0, t + 1.0], "calls": 1,
         "weights": [0.5, 0.5] if t else None, "value": 0.5 + s / 9 + t / 99}
        for s in range(2)
        for t in range(3)
    ]  # fmt: skip
    course = {"kind": "iterations", "surrogates": ["a", "b"], "iterations": turns, "chosen": 5}
    course |= {"calls": 9, "says": "Done."}
    run = Run({"name": "f1"}, {"n": 9}, [{"name": "ours", "value": 0.5}], course=course)
    tab = shown(opened, run)
    assert not tab.locator('[data-chart="space"]').is_visible()
    unfold(tab)
    space = tab.locator('[data-chart="space"]').text_content()
    assert "loss: a" in space
    assert "loss: b" in space
    assert "iterations of all starts" in tab.locator('[data-chart="course"]').text_content()
    assert "iteration of start 2" in tab.locator('[data-chart="weights"]').text_content()


LUMINANCE = """(node) => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colours) => {
    colours.forEach((c) => { pen.fillStyle = c; pen.fillRect(0, 0, 1, 1); });
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = [];
  for (let n = node; n; n = n.parentElement) behind.unshift(getComputedStyle(n).backgroundColor);
  let shine = 1;
  for (let n = node; n; n = n.parentElement) shine *= +getComputedStyle(n).opacity;
  const [ink, paper] = [light([...behind, getComputedStyle(node).color]), light(behind)];
  const mixed = shine * ink + (1 - shine) * paper;
  return (Math.max(mixed, paper) + 0.05) / (Math.min(mixed, paper) + 0.05);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_small_and_struck_text_can_be_read(opened, theme):
    """At least 4.5 to 1, as WCAG 2.1 asks (AA)."""
    tab = opened("perfect", theme=theme)
    button = tab.locator('#result [data-method="1"]')
    button.click()
    assert button.evaluate(LUMINANCE) >= 4.5
    for small in tab.locator("#confusion [data-of='0'] .matrix small").all():
        assert small.evaluate(LUMINANCE) >= 4.5


def test_values_without_an_error_have_no_bars(opened):
    drawn = '[data-chart="values"] svg [aria-label="rule"] line'
    assert opened("auto").locator(drawn).count() >= 4
    assert opened("perfect").locator(drawn).count() == 0


@pytest.mark.parametrize("kind", ["many", "dozen", "crowd"])
def test_hostile_classes_are_shown_as_text(opened, kind):
    tab = opened(kind, 400)
    assert HOSTILE in tab.locator("#confusion").inner_text()
    assert tab.locator("script").count() == 4
    if kind == "many":
        unfold(tab)
    tips = ("values", "classes", "course", "space") if kind == "many" else ("classes", "values")
    for chart in tips:
        for which in ("first", "last"):
            left, right, _, _ = hovered(tab, chart, which)
            assert 0 <= left <= right <= 400, (chart, which)


def test_the_theme_follows_the_system_and_then_the_button(opened):
    tab = opened("alone", theme="dark")

    def paper():
        return tab.evaluate("getComputedStyle(document.body).backgroundColor")

    dark = paper()
    button = tab.locator("[data-theme-button]")
    button.click()
    light = paper()
    assert button.get_attribute("aria-label") == "Colours: light"
    assert light != dark
    button.click()
    assert paper() == dark
    tab.reload()
    assert button.get_attribute("aria-label") == "Colours: dark"


def test_hovering_tells_the_numbers(opened):
    tab = opened("auto")
    chart = tab.locator('[data-chart="values"] svg').last
    box = chart.bounding_box()
    tab.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.3 * box["height"])
    assert "metric calls" in tab.locator('[data-chart="values"]').text_content()


def hovered(tab, chart, which="last"):
    """Point at a dot of a chart; return the box of its tip and the colours of paper and ink."""
    dots = tab.locator(f'[data-chart="{chart}"] g[aria-label="dot"] circle')
    dot = getattr(dots, which)
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = tab.locator(f'[data-chart="{chart}"] g[aria-label="tip"]')
    tip.locator("path").wait_for()
    return tip.evaluate(
        """tip => {
          const {left, right} = tip.getBoundingClientRect();
          const style = getComputedStyle(tip.querySelector("path"));
          const ink = getComputedStyle(tip.querySelector("text")).color;
          return [left, right, style.fill, ink];
        }"""
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_tip_has_the_colours_of_its_card(opened, theme):
    tab = opened("auto", theme=theme)
    _, _, paper, ink = hovered(tab, "curves")
    card = "getComputedStyle(document.querySelector('section'))"
    assert paper == tab.evaluate(f"{card}.backgroundColor")
    assert ink == tab.evaluate(f"{card}.color")


def test_a_tip_with_a_long_name_stays_on_a_phone(opened):
    tab = opened("hostile", 400)
    unfold(tab)
    for chart in ("values", "groups", "curves", "course", "space"):
        for which in ("first", "last"):
            left, right, _, _ = hovered(tab, chart, which)
            assert 0 <= left <= right <= 400, (chart, which)


@pytest.mark.parametrize("kind", ["auto", "many", "dozen", "crowd"])
def test_on_paper_everything_is_light_and_open(opened, kind):
    tab = opened(kind, 718, theme="dark")
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.locator("details:not([open])").count() == 0
    assert not tab.locator("[data-theme-button]").is_visible()
    assert tab.evaluate(
        "[...document.querySelectorAll('.wide')].every(n => n.scrollWidth <= n.clientWidth + 1)"
    )
    assert tab.pdf(format="A4")[:5] == b"%PDF-"
