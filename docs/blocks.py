"""Blocks: run every example of the pages, and hold what it prints against what the page shows.

``python docs/blocks.py`` checks all pages, ``python docs/blocks.py --write`` puts what the examples
print today into them. A ``python`` block may be followed by a ``text`` block: what it prints. In a
``console`` block the lines after ``$ anymetric ...`` are what the command prints; other commands
are shown, not run. A line ``...`` stands for any lines. A page's blocks share one namespace and one
empty folder; one with a title is a file there.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import math
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

DOCS = Path(__file__).parent

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"^```python title=\"([\w.]+)\"")
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
# Whole numbers keep their places; those with a point may differ in the last digits.
NUMBER = re.compile(r"[-+−]?\d[\d,]*\.\d+(?:e[-+]?\d+)?")
ANY = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
RULE = re.compile("─+")
PROGRESS = re.compile(r"[\w ,-]+: (?:iteration|call) \d+")
ELIDED = re.compile(r"^\.\.\.$", re.MULTILINE)
# Enough for another BLAS, too little for another result.
NEAR = 0.05


@dataclass(frozen=True)
class Shown:
    """Something that a page runs, and the place of what it says that it prints.

    Parameters
    ----------
    kind : {"python", "console"}
    code : str
    start, stop : int
        Where the expected output stands in the page, or would.
    shown : bool
        Whether the page shows an output.
    line : int
        The line of the code, for messages.
    file : str or None
        The file that the code is.
    """

    kind: str
    code: str
    start: int
    stop: int
    shown: bool
    line: int
    file: str | None = None


def pages() -> list[Path]:
    """Return the pages, in order of their names."""
    return sorted(DOCS.rglob("*.md"))


def shown(text: str) -> Iterator[Shown]:
    """Yield what a page runs, in order."""
    fences = list(FENCE.finditer(text))
    for fence, after in zip_longest(fences, fences[1:]):
        if fence[1] == "python":
            shown = after is not None and after[1] == "text"
            shown = shown and not text[fence.end() : after.start()].strip()
            place = after.span(2) if shown else (fence.end(), fence.end())
            line = text.count("\n", 0, fence.start()) + 2
            title = TITLE.match(fence[0])
            yield Shown("python", fence[2], *place, shown, line, title and title[1])
        elif fence[1] == "console":
            yield from commands(text, fence)


def commands(text: str, fence: re.Match[str]) -> Iterator[Shown]:
    """Yield the commands of a console block that are ours to run."""
    found = list(COMMAND.finditer(text, *fence.span(2)))
    ends = [*(command.start() for command in found[1:]), fence.end(2)]
    for command, stop in zip(found, ends, strict=True):
        if command[1].startswith("anymetric "):
            line = text.count("\n", 0, command.start()) + 1
            yield Shown("console", command[1], min(command.end() + 1, stop), stop, True, line)


def run(what: Shown, space: dict[str, object], page: Path) -> str:
    """Run a block in the page's namespace and the current folder; return what it prints."""
    if what.kind == "console":
        return run_command(what.code)
    if what.file is not None:
        Path(what.file).write_text(what.code, encoding="utf-8")
        # Another module of this name may have been imported from another folder.
        sys.modules.pop(Path(what.file).stem, None)
    printed = io.StringIO()
    # Padding keeps the line numbers of a traceback those of the page.
    code = compile("\n" * (what.line - 1) + what.code, str(page), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, space)
    return printed.getvalue()


def run_command(line: str) -> str:
    """Run an `anymetric` command as in a terminal 100 columns wide; return all that it says."""
    from anymetric.__main__ import main as anymetric

    said = io.StringIO()
    words = shlex.split(line.replace("\\\n", " "))
    with fresh(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        anymetric(words[1:])
    # How often progress is shown depends on the machine.
    shown = (each for each in said.getvalue().splitlines() if not PROGRESS.match(each))
    lines = "\n".join(each.rstrip() for each in shown).strip("\n")
    return f"{lines}\n" if lines else ""


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """Let the machine be a new user's: a plain terminal, and no data but what is shipped."""
    before = dict(os.environ)
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb", ANYMETRIC_CACHE=os.getcwd())
    os.environ.pop("ANYMETRIC_DATA", None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def agree(expected: str, got: str, *, loose: bool = False) -> bool:
    """Whether an output is the one shown: the same words, numbers that are near.

    Loose, for commands: only numbers with two digits after the point or more must be near; times
    and counts may be any.

    >>> agree("macro F1 0.681", "macro F1  0.678"), agree("one\\n...\\nfour", "one two three four")
    (True, True)
    >>> agree("41 calls", "42 calls"), agree("0.68", "0.62")
    (False, False)
    >>> agree("0.68 in 1.2 s", "0.69 in 3.4 s", loose=True)
    True
    """
    kind = ANY if loose else NUMBER
    wanted, have = (RULE.sub("─", text) for text in (expected, got))
    flags = doctest.NORMALIZE_WHITESPACE | (doctest.ELLIPSIS if ELIDED.search(wanted) else 0)
    words = doctest.OutputChecker().check_output(
        kind.sub("0", wanted) or "\n", kind.sub("0", have) or "\n", flags
    )
    # Where words are left out, so are numbers.
    shown = zip(kind.findall(wanted), kind.findall(have), strict=False)
    return words and (bool(ELIDED.search(wanted)) or all(near(a, b, loose) for a, b in shown))


def near(a: str, b: str, loose: bool) -> bool:
    """Whether two printed numbers are the same but for rounding and the machine."""
    if loose and len(a.partition(".")[2]) < 2:
        return True
    first, second = (float(text.replace(",", "").replace("−", "-")) for text in (a, b))
    return math.isclose(first, second, rel_tol=NEAR, abs_tol=NEAR)


def play(page: Path) -> Iterator[tuple[Shown, str, str]]:
    """Run a page; yield what was run, what the page shows, and what was printed."""
    text = page.read_text(encoding="utf-8")
    space: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for what in shown(text):
            yield what, text[what.start : what.stop], run(what, space, page)


def rewrite(page: Path) -> bool:
    """Put what a page prints today into it; say whether it changed."""
    text = page.read_text(encoding="utf-8")
    parts = []
    last = 0
    for what, expected, got in play(page):
        # Elided output stays as it was written.
        keep = not what.shown or ELIDED.search(expected)
        parts += [text[last : what.start], expected if keep else got]
        last = what.stop
    changed = "".join([*parts, text[last:]])
    if changed != text:
        page.write_text(changed, encoding="utf-8")
    return changed != text


def main(arguments: list[str] | None = None) -> int:
    """Check or rewrite the pages named, or all."""
    parser = argparse.ArgumentParser(prog="python docs/blocks.py", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="put what is printed into the pages")
    options = parser.parse_args(arguments)
    handle = renewed if options.write else checked
    wrong = [page for page in options.pages or pages() if not handle(page.resolve())]
    return min(len(wrong), 1)


def renewed(page: Path) -> bool:
    """Rewrite a page and say so; a page that fails stays as it was."""
    name = page.relative_to(DOCS)
    try:
        print(f"{name}: {'rewritten' if rewrite(page) else 'as it was'}")
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")
        return False
    return True


def checked(page: Path) -> bool:
    """Run a page and show where it says something else than it prints."""
    right = True
    for what, expected, got in play(page):
        if not agree(expected, got, loose=what.kind == "console"):
            right = False
            print(f"{page.relative_to(DOCS)}:{what.line}\n--- shown\n{expected}--- got\n{got}")
    return right


if __name__ == "__main__":
    sys.exit(main())
