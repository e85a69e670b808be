"""The field's words: source, docs and examples use those that scikit-learn's own docs would use."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A private word, and the word of the field. Matched in text and in names, case ignored; an
# underscore ends a word.
WORDS = {
    r"judging (rows|queries|set|sample)": "validation rows",
    r"(rows|queries) (that|which|who) judge[sd]?": "validation rows",
    r"rows judge": "validation rows",
    r"by turns": "out-of-fold, alternately",
    r"honest(ly)?": "out-of-fold",
    r"replicates?(?! the)": "bootstrap resamples",
    r"(their|its|by|of|the|selection) votes?|votes_?": "selection frequency",
    r"post[- ]shift": "threshold tuning (`PostShift` is the name in the paper's tables)",
    r"rivals?|contenders?": "baseline",
    r"(our|mean|paired|the) leads?": "improvement",
    r"foretold|foretell\w*": "predicted",
    r"dear(er|est)? to": "expensive to",
    r"side columns?": "metadata",
    r"wild (rows|values)": "outliers",
    r"(fills?|reads?|with|without|rows with|has|have) gaps": "missing values",
    r"verdicts?": "recommendation, result",
    r"(slices?|slice of the rows|vendor|setting)\W+(is|was|were) worth": "learned weights",
    r"slices?' worth": "learned weights",
    r"simply use": "use",
    r"heard|hears": "evaluated",
    r"cook(s|ed|ing)?|kitchen|recipes?|jury|juries": "fit, trainer, proposal, evaluator",
    r"evened out|evened|climbed": "class-balanced, ridge path",
    r"likeness": "density ratio, importance weights",
    r"drawn in": "clipped",
    r"spoilt": "corrupted",
    r"anew": "again",
    r"mend(s|ed)? (it|the|or)": "fix",
    r"cannot (be )?tell apart|told apart|tells? (them )?apart": "distinguish; within noise",
    r"(one|all|every|each|these|any) looks?(?= (at|to|of|together|refutes))": "evaluation, check",
    r"(one|each|every|last|first|all|\d+) turns? (of|aims|is|are|was|were)": "iteration",
    r"turns=|history_?\[\W*turn": "iteration",
    r"(by|at|of) the same door|the scikit-learn door": "interface",
    r"waist|whoever|somebody's own": "plain words",
}
PATTERNS = [
    (re.compile(rf"(?<![a-z]){word}(?![a-z])", re.IGNORECASE), say) for word, say in WORDS.items()
]

# Where a word is meant in another sense, or quoted: the line must contain this.
ALLOWED = (
    "post_shift",  # the paper's key of the method
    "PostShift",
    "*post-shift*",  # named once in the glossary
    "in the paper",
    "The paper",
    "the paper",
)
PLACES = ("src/anymetric", "docs", "examples", "README.md", "CONTRIBUTING.md")
KINDS = (".py", ".md")


def files():
    for place in PLACES:
        path = ROOT / place
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (one for one in found if one.suffix in KINDS and one.is_file())


def private_words(text):
    """Yield the line, the word and what to say instead."""
    for number, line in enumerate(text.splitlines(), 1):
        if any(one in line for one in ALLOWED):
            continue
        for pattern, say in PATTERNS:
            if found := pattern.search(line):
                yield number, found[0], say


@pytest.mark.parametrize("path", list(files()), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_words_of_the_field(path):
    where = path.relative_to(ROOT)
    wrong = [
        f"{where}:{number}: {word!r}: say {say}"
        for number, word, say in private_words(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("Replicates of the judging rows vote.", "Replicates"),
        ("the rows that judge", "rows that judge"),
        ("our lead over the best rival", "our lead"),
        ("Descent(turns=5)", "turns="),
        ("simply use post-shift", "simply use"),
    ],
)
def test_a_private_word_would_be_found(line, word):
    assert word.lower() in {found.lower() for _, found, _ in private_words(line)}


@pytest.mark.parametrize(
    "line",
    [
        "The threshold of each fold is tuned in turn.",
        "A rule that turns scores into decisions.",
        "leads to fewer calls",
        '"PostShift": 0.789,',
        "the largest gap between groups",
        "It looks up a name.",
    ],
)
def test_plain_english_is_left_alone(line):
    assert list(private_words(line)) == []
