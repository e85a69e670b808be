"""The pages: every example runs, every link leads somewhere, nothing asks the network."""

import ast
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

import anymetric

pytest.importorskip("mkdocs", reason="the pages need mkdocs: pip install 'anymetric[docs]'")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def loaded(path):
    """Import a script that is no part of the package."""
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


blocks = loaded(DOCS / "blocks.py")
PAGES = {str(page.relative_to(DOCS)): page for page in blocks.pages()}
RUN = [name for name, page in PAGES.items() if list(blocks.shown(page.read_text("utf-8")))]


@pytest.mark.parametrize("name", RUN)
def test_what_a_page_shows_is_what_it_prints(name):
    for what, expected, got in blocks.play(PAGES[name]):
        assert blocks.agree(expected, got, loose=what.kind == "console"), (
            f"{name}:{what.line} shows\n{expected}\nand prints\n{got}\n"
            f"If that is right: python docs/blocks.py --write docs/{name}"
        )


def test_pages_have_examples():
    assert len(RUN) >= 12


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("F1 0.681\n", "F1  0.678\n", True),
        ("F1 0.681\n", "F1 0.581\n", False),
        ("rows 10\n", "rows 11\n", False),
        ("words\n", "swords\n", False),
        ("first\n...\nlast\n", "first\n1.5 and 2.5\nlast\n", True),
        ("wait ...\n", "wait for it\n", False),
        ("1,234.50 dollars\n", "1,240.10 dollars\n", True),
        ("", "something\n", False),
    ],
)
def test_outputs_agree_in_words_and_nearly_in_numbers(shown, printed, same):
    assert blocks.agree(shown, printed) is same


def test_a_page_is_read_in_order_and_rewritten_in_place(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "DOCS", tmp_path)
    page = tmp_path / "page.md"
    before = "# Page\n\n```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n"
    page.write_text(before + "4\n```\n\nAfter.\n", encoding="utf-8")
    assert [blocks.agree(shown, got) for _, shown, got in blocks.play(page)] == [True, False]
    assert blocks.rewrite(page)
    assert page.read_text(encoding="utf-8") == before + "3\n```\n\nAfter.\n"
    assert not blocks.rewrite(page)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `mkdocs build --strict` makes it, and what was said on the way."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        timeout=300,
    )
    return folder, done


def test_the_site_builds_without_a_warning(site):
    folder, done = site
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "WARNING" not in said
    assert "ERROR" not in said
    assert (folder / "index.html").is_file()


class Loads(HTMLParser):
    """Collect what a browser fetches by itself when it opens a page."""

    FETCHED = frozenset({"script", "img", "link", "iframe", "source", "video", "audio", "object"})

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        """Note the address, unless it is only a name for the page."""
        given = dict(attrs)
        if tag in self.FETCHED and given.get("rel") not in ("canonical", "next", "prev"):
            self.found += [
                given[key] for key in ("src", "href", "data", "srcset") if given.get(key)
            ]


def test_no_page_asks_the_network_for_anything(site):
    folder, _ = site
    pages = sorted(folder.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        away = [address for address in loads.found if re.match(r"(https?:)?//", address)]
        assert not away, f"{page.relative_to(folder)} loads {away}"
    for sheet in folder.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def exported():
    """Yield every name that a package of ours exports, and what it means."""
    below = pkgutil.walk_packages(anymetric.__path__, "anymetric.")
    packages = [info.name for info in below if info.ispkg]
    for package in ["anymetric", *packages]:
        if package.startswith(("anymetric.cli", "anymetric.paper")):
            continue  # commands have a page of their own
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield f"{package}.{name}", thing


def meant(path):
    """Return what a dotted path means, or None if it means nothing."""
    try:
        return pkgutil.resolve_name(path)
    except (ImportError, AttributeError):
        return None


def test_the_reference_has_every_public_name(site):
    folder, _ = site
    text = "".join(page.read_text(encoding="utf-8") for page in (folder / "api").glob("*.html"))
    anchors = set(re.findall(r'id="(anymetric\.[\w.]+)"', text))
    shown = {id(meant(path)) for path in anchors}
    assert [path for path, thing in exported() if id(thing) not in shown] == []


def test_every_page_stands_in_the_menu_and_is_written():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    menu = re.findall(r"- ([\w/-]+\.md)$", settings, re.MULTILINE)
    assert sorted(menu) == sorted(PAGES)
    for name, page in PAGES.items():
        text = page.read_text(encoding="utf-8")
        assert re.search(r"^# \S", text, re.MULTILINE), f"{name} has no title"
        assert len(text) > 80, f"{name} is empty"


def test_every_table_made_by_a_command_is_shown(site):
    folder, _ = site
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES.values())
    asked = set(re.findall(r"\[Table: [^\]]*\]\(\.\./(\S+\.md)\)", pages))
    made = [*(ROOT / "results").glob("*.md"), *(ROOT / "benchmarks/results").glob("*.md")]
    assert {str(path.relative_to(ROOT)) for path in made} <= asked
    shown = "".join(
        (folder / f"{name}.html").read_text() for name in ("reproduction", "benchmarks")
    )
    for path in made:
        numbers = re.findall(r"\d\.\d{3,}|\b\d{4,}\b", path.read_text(encoding="utf-8"))
        assert numbers
        assert [number for number in numbers if number not in shown] == []


def test_every_dependency_is_explained():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {re.match(r"[\w-]+", package)[0] for extra in asked for package in extra} - {
        "anymetric"
    }
    page = PAGES["dependencies.md"].read_text(encoding="utf-8")
    assert sorted(name for name in names if f"`{name}`" not in page) == []


def test_files_that_pages_name_are_there():
    named = re.compile(r"`((?:examples|docs)/[\w/-]+\.py)`")
    found = [path for page in PAGES.values() for path in named.findall(page.read_text("utf-8"))]
    assert len(found) >= 6
    assert [path for path in found if not (ROOT / path).is_file()] == []


def words_of(picture):
    """Return the words in a picture; numbers among them may move with the library."""
    nodes = ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")
    texts = {"".join(node.itertext()).strip() for node in nodes}
    return {re.sub(r"[-+\d.]+", "", text) for text in texts if re.search("[a-z]{4}", text)}


def test_pictures_are_drawn_by_their_scripts(tmp_path):
    pytest.importorskip("matplotlib")
    scripts = sorted((DOCS / "pictures").glob("*.py"))
    drawn = [path for script in scripts for path in loaded(script).draw(tmp_path)]
    shown = sorted((DOCS / "pictures").glob("*.svg"))
    assert sorted(path.name for path in drawn) == [path.name for path in shown]
    for path in shown:
        assert words_of(path) == words_of(tmp_path / path.name)


def test_the_citation_names_the_software_and_the_paper():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["title"] == "anymetric"
    assert cited["version"] == anymetric.__version__
    assert cited["license"] == "Apache-2.0"
    paper = cited["references"][0]
    assert paper["title"] == "Optimizing Black-box Metrics with Adaptive Surrogates"
    assert [author["family-names"] for author in paper["authors"]] == [
        "Jiang",
        "Adigun",
        "Narasimhan",
        "Milani Fard",
        "Gupta",
    ]


@pytest.mark.parametrize("script", sorted(DOCS.rglob("*.py")), ids=lambda path: path.name)
def test_scripts_of_the_pages_say_what_they_are(script):
    assert ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
