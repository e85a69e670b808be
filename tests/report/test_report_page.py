"""The page: the same markup whatever the text, complete in itself, credited."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anymetric.report import Run, page

from .report_runs import HOSTILE, KINDS, made

ASSETS = files("anymetric.report") / "assets"


class Seen(HTMLParser):
    """The tags and attributes of a page in order, its text, and its data."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.words, self.data, self.within = [], [], "", None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.within = dict(attrs).get("id") if tag == "script" else tag

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}", ()))
        self.within = None

    def handle_data(self, data):
        if self.within == "run-data":
            self.data += data
        elif self.within not in ("style", None):
            self.words.append(data)


def called(text):
    """A run in which everything that a user can name has this name."""
    run = made("auto")
    names = [{**m, "name": text} for m in run.methods]
    rows = [{**row, "group": text, "method": text} for row in run.groups["rows"]]
    turns = [{**turn, "name": text} for turn in run.course["iterations"]]
    return replace(
        run,
        metric={**run.metric, "name": text, "says": "A metric."},
        sample={**run.sample, "rows": text, "labels": [text, text]},
        methods=names,
        asked={"file": text, "command": text},
        groups={**run.groups, "rows": rows, "column": text},
        course={**run.course, "surrogates": [text] * 4, "iterations": turns},
        worth={"slices": [{**s, "label": text} for s in run.worth["slices"]], "says": [text]},
        coefficients=[{**c, "name": text} for c in run.coefficients],
        confusion=[{**c, "name": text} for c in run.confusion],
    )


PLAIN = Seen(page(called("name"))).tags


@settings(max_examples=12, deadline=None)
@given(st.text(min_size=1) | st.sampled_from([HOSTILE, "</script>", "<!--<script>", "&lt;", "]]>"]))
def test_no_text_changes_the_markup_or_the_data(text):
    run = called(text)
    seen = Seen(page(run))
    assert seen.tags == PLAIN
    assert json.loads(seen.data)["methods"] == run.methods


def test_a_hostile_name_is_text_and_its_characters_are_kept():
    assert any(HOSTILE in words for words in Seen(page(called(HOSTILE))).words)


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b"], ids=["lone surrogate", "null"])
def test_a_page_can_always_be_written(text):
    assert b"a" in page(called(text)).encode("utf-8")


def test_sections_without_anything_to_say_are_left_out():
    ids = {kind: set(re.findall(r'<section id="(\w+)"', page(made(kind)))) for kind in ("auto",
           "regressor", "profit")}  # fmt: skip
    assert ids["auto"] - ids["regressor"] == {"groups", "confusion"}
    assert "optimism" not in ids["profit"]


def test_the_smallest_run_has_a_page():
    html = page(Run({"name": "f1"}, {"n": 1}, [{"name": "only", "value": None}]))
    assert "<h1>f1</h1>" in html


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_loaded_and_only_our_scripts_may_run(kind):
    html = page(made(kind))
    assert not re.findall(r'<(?:link|img|iframe|script)[^>]+(?:src|href)="(?!data:)', html)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy.startswith("default-src 'none'")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert len(scripts) == 3
    assert re.findall(r"'sha256-([^']+)'", policy) == digests


@pytest.mark.parametrize("kind", ["auto", "many", "heavy", "limit"])
def test_what_the_errors_are_is_said_once(kind):
    text = " ".join(Seen(page(made(kind))).words)
    assert text.count("standard error") == 1
    assert "± is one standard error, from 200 bootstrap resamples of the rows" in text


@pytest.mark.parametrize("kind", ["auto", "descent", "many", "heavy"])
def test_surrogates_are_warned_of_for_researchers_only(kind):
    body = re.sub(r"<script.*?</script>", "", page(made(kind)), flags=re.DOTALL)
    body = body.replace(made(kind).recommendation.get("says") or "no advice", "")
    body = body.partition('<section id="again"')[0]
    left = re.sub(r"<details><summary>For researchers.*?</section>", "", body, flags=re.DOTALL)
    assert "urrogate" in body
    assert "urrogate" not in left


@pytest.mark.parametrize("name", ["plot.umd.min.js", "d3.min.js"])
def test_borrowed_files_are_unmodified_and_credited(name):
    digest = hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()
    assert f"{digest}  {name}" in (ASSETS / "SOURCES.md").read_text()
    library = name.split(".")[0]
    assert "Permission to use, copy, modify" in (ASSETS / f"LICENSE.{library}").read_text()
    version = re.search(r"v(\d+\.\d+\.\d+)", (ASSETS / name).read_text()[:100])
    assert version is not None
    assert version[1] in page(made("auto")).rpartition("<footer>")[2][:400]
