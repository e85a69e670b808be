"""Screenshot: the top of the example report, for the home page (needs playwright and chromium)."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

import hooks

OUT = Path(__file__).parent / "assets" / "report.png"
SIZE = {"width": 900, "height": 1300}


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        path.write_text(hooks.report(), encoding="utf-8")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        tab.goto(path.as_uri())
        tab.wait_for_selector("[data-chart] svg")
        result = tab.locator("#result").bounding_box()
        assert result is not None
        height = result["y"] + result["height"] + 12
        tab.screenshot(path=OUT, clip={"x": 0, "y": 0, "width": SIZE["width"], "height": height})
        browser.close()


if __name__ == "__main__":
    main()
