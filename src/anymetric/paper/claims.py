"""Claims: what the results must show, held against what they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from anymetric.paper.experiments import EXPERIMENTS, PAPERS, Field
from anymetric.paper.gaps import DEFAULT, LEAST_SEEDS, Board, board_of, gap, gaps, printed
from anymetric.paper.methods import METHODS
from anymetric.paper.published import PUBLISHED
from anymetric.paper.scales import Scale
from anymetric.paper.store import Cell, Row
from anymetric.paper.tables import Line, markdown
from anymetric.paper.tasks import FAIR, LEVELS, TASKS, noisy

TITLE = "What the results show"
HEADER = ("", "data", "numbers")
RESULTS = {True: "holds", False: "does not hold", None: "open"}
MEANING = (
    "A difference is above zero where the method named first is better; ± is its standard error "
    "over seeds, paired. What has fewer than three seeds is open."
)


@dataclass(frozen=True)
class Check:
    """A claim on one data set; it `holds`, does not, or (None) has not results enough."""

    data: str
    holds: bool | None = None
    numbers: str = "–"

    @property
    def result(self) -> str:
        """In words."""
        return RESULTS[self.holds]


@dataclass(frozen=True)
class Claim:
    """A statement, and the checks of it.

    Examples
    --------
    >>> Claim("One is less than two.", (Check("a", True), Check("b"))).result
    'open'
    """

    says: str
    checks: tuple[Check, ...]

    @property
    def result(self) -> str:
        """Of all checks together."""
        found = [check.holds for check in self.checks]
        return RESULTS[False if False in found else None if None in found else True]


def claims_of(rows: Mapping[Cell, Row], scale: Scale) -> list[Claim]:
    """Return all claims, checked."""
    board = board_of(rows, scale)
    return [
        Claim(
            "On clean features the default's macro F1 is within one standard error (that of the "
            "other method's mean) of the best of the other methods, or better.",
            tuple(clean(board, name) for name in FAIR),
        ),
        Claim(
            "With noise in one group the default is above PostShift at every level from 20 % on.",
            tuple(noise(board, name, LEVELS[1:], 0.0) for name in FAIR),
        ),
        Claim(
            "On Adult it is so by at least 0.04 from 40 % on.",
            (noise(board, "adult", LEVELS[2:], 0.04),),
        ),
        Claim(
            "PRBEP on test rows: the default is above Kar et al., and not below logistic "
            "regression (paired by split).",
            (ranking(board, "kar", "above"), ranking(board, "logistic", "not below")),
        ),
        Claim(
            "The paper's algorithm stands to the other methods as in the paper: none is the "
            "other way round by more than two standard errors (paired by seed).",
            tuple(orders(board)),
        ),
        Claim(
            "It is the best of the paper's methods across most noise levels.",
            tuple(leads(board, name) for name in FAIR),
        ),
        Claim(
            "Ten perturbations do as well as a thousand: within two standard errors (paired), or "
            "within 0.005.",
            (
                *(few(board, f"{name}_noise0", "table3", "value") for name in FAIR),
                few(board, "simulated", "table2", "cost"),
            ),
        ),
        Claim(
            "On Adult it is ahead of each of the paper's other methods from 40 % noise on.",
            tuple(ahead(board, "adult", level) for level in LEVELS[2:]),
        ),
        Claim(
            "The authors' loop costs what their notebook prints for its one run: within one "
            "standard error of our mean, and within one standard deviation of our runs.",
            tuple(as_printed(board)),
        ),
    ]


def clean(board: Board, name: str) -> Check:
    """Hold the default against the best of the other methods on clean features."""
    task = noisy(name, 0.0)
    ours = board.get(("table3", task.name, DEFAULT, "value"))
    rest = [*PAPERS, "fw_eg"]
    others = [board.get(("table3", task.name, method, "value")) for method in rest]
    known = [line for line in others if line is not None]
    if ours is None or len(known) < len(others):
        return Check(task.label)
    best = min(known, key=lambda line: gap(ours, line).mean)
    found = gap(ours, best)
    return Check(
        task.label,
        bool(found.mean >= -best.error) if found.enough else None,
        f"{ours.mean:.4f}; best other {best.entry.column} {best.mean:.4f} ± {best.error:.4f}; "
        f"difference {found}, {len(found.values)} splits",
    )


def noise(board: Board, name: str, levels: Sequence[float], least: float) -> Check:
    """Compare the default with the tuned threshold at some noise levels."""
    found = [gaps(board, "noise", noisy(name, level).name, "post_shift") for level in levels]
    label = noisy(name, 0.0).label
    if None in found:
        return Check(label)
    known = [each for each in found if each is not None]
    holds = all(each.mean > 0.0 and each.mean >= least for each in known)
    enough = all(each.enough for each in known)
    texts = (f"{level:.0%}: {each}" for level, each in zip(levels, known, strict=True))
    return Check(label, holds if enough else None, "; ".join(texts))


def ranking(board: Board, baseline: str, how: str) -> Check:
    """Compare the default's PRBEP with a baseline's."""
    found = gaps(board, "table4", "protein", baseline)
    label = f"Protein homology, {how} {'Kar et al.' if baseline == 'kar' else 'LogReg'}"
    if found is None:
        return Check(label)
    holds = found.mean > 0.0 if how == "above" else found.mean >= 0.0
    return Check(label, holds if found.enough else None, f"{found}, {len(found.values)} splits")


def orders(board: Board) -> Iterator[Check]:
    """Yield a check for each row of each table that compares methods."""
    for table in (name for name in PUBLISHED if name not in ("table1", "table6")):
        entries = [e for e in EXPERIMENTS[table].entries if e.paper is not None]
        for row in dict.fromkeys(entry.row for entry in entries):
            own = [entry for entry in entries if entry.row == row and entry.method != DEFAULT]
            lines = [board.get((e.owner, e.task, e.method, e.field)) for e in own]
            title = EXPERIMENTS[table].words.title.partition(":")[0].partition(" and ")[0]
            yield order(f"{title}, {row}", [line for line in lines if line is not None], len(own))


def order(label: str, lines: Sequence[Line], complete: int) -> Check:
    """Hold the paper's algorithm against each other method, as the paper does."""
    if len(lines) < complete:
        return Check(label)
    proposed = [line for line in lines if line.entry.method.startswith("proposed")]
    others = [line for line in lines if line not in proposed]
    texts, turned, enough = [], False, True
    for ours in proposed:
        for other in others:
            found, papers = gap(ours, other), printed(ours, other)
            against = found.mean * papers < 0.0 and abs(found.mean) > 2.0 * found.error
            turned, enough = turned or against, enough and found.enough
            mark = " (the other way round)" if against else ""
            texts.append(f"{versus(ours, other)} {found}, paper {papers:+.3f}{mark}")
    return Check(label, not turned if enough else None, "; ".join(texts))


def versus(one: Line, two: Line) -> str:
    """Name a baseline, and the variant compared with it where there are several."""
    _, _, variant = one.entry.column.partition(", ")
    return f"{variant} against {two.entry.column}" if variant else f"against {two.entry.column}"


def leads(board: Board, name: str) -> Check:
    """Count the noise levels at which the paper's algorithm has the best mean."""
    first, texts, enough = 0, [], True
    for level in LEVELS[1:]:
        task = noisy(name, level)
        lines = [board.get(("noise", task.name, method, "value")) for method in PAPERS]
        known = [line for line in lines if line is not None]
        if len(known) < len(lines):
            return Check(task.label)
        best = max(known, key=lambda line: line.mean)
        first += best.entry.method == "proposed"
        enough = enough and all(len(line.values) >= LEAST_SEEDS for line in known)
        texts.append(f"{level:.0%}: {best.entry.column} {best.mean:.4f}")
    holds = first > len(texts) / 2 if enough else None
    return Check(noisy(name, 0.0).label, holds, "best: " + "; ".join(texts))


def ahead(board: Board, name: str, level: float) -> Check:
    """Hold the paper's algorithm against each of the paper's other methods at a noise level."""
    task = noisy(name, level)
    own = [gaps(board, "noise", task.name, method, "proposed") for method in PAPERS[:-1]]
    label = f"{noisy(name, 0.0).label}, {level:.0%} noisy"
    if None in own:
        return Check(label)
    known = [found for found in own if found is not None]
    texts = [
        f"{METHODS[method].label} {found}" for method, found in zip(PAPERS[:-1], known, strict=True)
    ]
    holds = all(found.mean > 0.0 for found in known)
    enough = all(found.enough for found in known)
    return Check(label, holds if enough else None, "above " + "; ".join(texts))


def as_printed(board: Board) -> Iterator[Check]:
    """Hold the notebook's loop against the notebook's figure, by two measures of chance."""
    labels = ("Standard error of the mean", "Standard deviation of a run")
    line = board.get(("notebook", "adult_notebook", "notebook", "cost"))
    if line is None:
        yield from (Check(label) for label in labels)
        return
    many = len(line.values)
    enough = many >= LEAST_SEEDS
    for label, chance in zip(labels, (line.error, line.error * many**0.5), strict=True):
        yield Check(
            label,
            bool(abs(line.difference) <= chance) if enough else None,
            f"{line.mean:.4f} over {many} draws, printed {line.entry.paper:.4f}: difference "
            f"{line.difference:+.4f}, {label[0].lower()}{label[1:]} {chance:.4f}",
        )


def few(board: Board, task: str, owner: str, field: Field) -> Check:
    """Hold ten perturbations against a thousand."""
    ten = board.get(("table6", task, "proposed_10", field))
    thousand = board.get((owner, task, "proposed", field))
    label = TASKS[task].label
    if ten is None or thousand is None:
        return Check(label)
    found = gap(ten, thousand)
    close = abs(found.mean) <= max(2.0 * found.error, 0.005)
    return Check(label, close if found.enough else None, str(found))


def report(claims: Sequence[Claim], says: str) -> str:
    """Return the claims as Markdown."""
    parts = [f"# {TITLE}", says, MEANING]
    for claim in claims:
        lines = [(check.result, check.data, check.numbers) for check in claim.checks]
        parts += [f"## {claim.result.capitalize()}: {claim.says}", markdown(HEADER, lines)]
    return "\n\n".join(parts) + "\n"
