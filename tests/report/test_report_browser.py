"""The page in a real browser: quiet, within its width, and its switches work."""

import shutil

import pytest
from report_runs import HOSTILE, KINDS, made

from anymetric.report import page

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

    def open_(kind, width=1400, theme="light"):
        path = tmp_path / f"{kind}.html"
        path.write_text(page(made(kind)), encoding="utf-8")
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


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_drawn_within_the_width(opened, kind):
    tab = opened(kind)
    charts = "[...document.querySelectorAll('[data-chart]')]"
    for width in (1400, 400):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function(f"{charts}.every(n => n.scrollWidth <= n.clientWidth)", timeout=5000)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate(f"{charts}.filter(n => !n.querySelector('svg')).length") == 0


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
    assert "post-shift" in names()
    button.click()
    assert "post-shift" not in names()
    assert "logistic" in names()
    assert not tab.locator('#confusion [data-of="2"]').is_visible()
    assert tab.locator('#groups [data-method="2"]').get_attribute("aria-pressed") == "false"
    button.click()
    assert "post-shift" in names()
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


def test_values_without_an_error_have_no_bars(opened):
    drawn = '[data-chart="values"] svg [aria-label="rule"] line'
    assert opened("auto").locator(drawn).count() >= 4
    assert opened("perfect").locator(drawn).count() == 0


@pytest.mark.parametrize("kind", ["many", "dozen", "crowd"])
def test_hostile_classes_are_shown_as_text(opened, kind):
    tab = opened(kind, 400)
    assert HOSTILE in tab.locator("#confusion").inner_text()
    assert tab.locator("script").count() == 4
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
