"""Words: what was found of a metric, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.composed import Capped, Limit, Rounded
from anymetric.explaining.forms import Form, Hinge, RateOf, Sum, short
from anymetric.explaining.learned import Learned
from anymetric.explaining.limits import limiting, plateaus, separating
from anymetric.explaining.prices import Price, reads_class, reads_groups, unit_of
from anymetric.explaining.rates import rate
from anymetric.explaining.study import Finding

Floats64 = NDArray[np.float64]
# Prices that a sentence is made of, besides the one they are compared with.
MOST = 4
# A mistake costs the same as another within this part.
ALIKE = 0.02


def headline(name: str, found: Finding) -> str:
    """Return what the metric is, in one sentence."""
    form, sample = found.form, found.sample
    if found.named and form is not None:
        noise = f", within noise of {short3(sample.noise)}" if sample.noise > 0.0 else ""
        return f"{name} is {form.text()}{noise}."
    if found.understood and isinstance(form, Learned):
        return (
            f"{name} reads counts alone. No known formula fits; learned numerically, "
            f"{form.close:.0%} of its answers are predicted to within 2 % by the others."
        )
    return f"{name} is not understood: {why_not(found)}"


def why_not(found: Finding) -> str:
    """Return what stands against understanding a metric."""
    sample = found.sample
    total = float(np.std(sample.values)) if len(sample) else 0.0
    if found.pure_noise:
        return (
            f"its answers to the same question vary by {short3(sample.noise)} (standard "
            f"deviation), those to all decisions by {short3(total)}: it is noise, or too noisy to "
            "read."
        )
    if found.reads_order:
        return (
            "its value changes when the same rows with the same decisions come in another order: "
            "it reads the order of the rows."
        )
    if found.reads_rows:
        tried = ", ".join(sample.cells.amounts)
        amounts = f"; no known formula with sums of {tried} fits" if tried else ""
        return (
            "its value changes when decisions of rows are permuted within a class and group: it "
            f"reads something else than counts{amounts}."
        )
    if isinstance(found.form, Learned):
        return (
            "it reads counts alone, but no known formula fits, and only "
            f"{found.form.close:.0%} of its answers are predicted to within 2 % by the others."
        )
    if len(sample) == 0:
        return "there are no answers: allow some with explain(max_calls=60)."
    return f"no known formula fits its {len(sample)} answers."


def price_sentence(found: tuple[Price, ...]) -> Iterator[str]:
    """Yield what mistakes cost, compared with each other."""
    unit = unit_of(found)
    if unit is None:
        if found:
            yield "At the model's decisions no single mistake more changes its value."
        return
    # Where a false alarm costs the same in all groups it is just that.
    like = [p for p in found if kind(p) == kind(unit)]
    alike = all(abs(p.ratio - 1.0) <= ALIKE for p in like)
    name = kind(unit) if alike else unit.mistake
    others = [p for p in found if p not in like] if alike else [p for p in found if p is not unit]
    others = sorted((p for p in others if p.price > 1e-9 * unit.price), key=lambda p: -p.price)
    said = [
        f"{one(p.mistake)} costs as much as "
        + (one(name) if abs(p.ratio - 1.0) <= ALIKE else f"{p.ratio:.3g} {name}")
        for p in others[:MOST]
    ]
    if not others:
        said = [f"{one(name)} costs {short3(unit.price)}"]
    yield f"At the model's decisions, {'; '.join(said)}."
    free = [p.mistake for p in found if abs(p.price) <= 1e-9 * unit.price]
    if free:
        yield f"There, one more of these costs nothing: {', '.join(free)}."
    better = [p for p in found if p.price < -1e-9 * unit.price]
    if better:
        listed = ", ".join(f"{one(p.mistake)} by {short3(-p.price)}" for p in better[:MOST])
        yield f"There, mistakes of a kind make its value better: {listed}."


def kind(price: Price) -> str:
    """Return the kind of a mistake, in whatever group."""
    return price.mistake.removesuffix(f" in {price.group}")


def one(mistake: str) -> str:
    """Return one mistake in words.

    Examples
    --------
    >>> one("false alarms in North"), one("missed spam")
    ('one false alarm in North', 'one missed spam')
    """
    for several, single in (("false alarms", "false alarm"), ("rows of", "row of")):
        if mistake.startswith(several):
            return f"one {single}{mistake.removeprefix(several)}"
    return f"one {mistake}"


def limit_sentences(form: Form | None, found: Finding) -> Iterator[str]:
    """Yield bounds, caps, floors, steps and groups that alone count."""
    base = found.base[np.newaxis]
    if isinstance(form, Rounded):
        yield f"Its values come in steps of {short(form.step)}."
        yield from limit_sentences(form.of, found)
    elif isinstance(form, Capped):
        yield from capped_sentences(form, base)
        yield from limit_sentences(form.of, found)
    elif isinstance(form, Limit):
        yield limit_sentence(form, base)
        yield from limit_sentences(form.of, found)
    elif isinstance(form, Sum):
        for factor, part in form.terms:
            if isinstance(part, Hinge):
                yield hinge_sentence(factor, part, base)
            elif isinstance(part, RateOf):
                yield from limit_sentences(part, found)
    elif isinstance(form, RateOf) and form.over in ("worst group", "best group"):
        yield group_sentence(form, found)
    elif isinstance(form, Learned) or form is None:
        yield from plateau_sentences(found)


def limit_sentence(form: Limit, base: Floats64) -> str:
    """Return where a formula changes into another."""
    kept, now = bool(form.kept(base)[0]), float(form.rate.values(base)[0])
    beyond = f"below {level(form.rate, form.bound)}"
    if not form.at_least:
        beyond = f"above {level(form.rate, form.bound)}"
    change = f"it is {form.otherwise.text()}"
    if form.step is not None:
        change = f"it is {short(abs(form.step))} {'lower' if form.step < 0 else 'higher'}"
    side = "keeps this bound" if kept else "is beyond this bound"
    return (
        f"Where {form.rate.text()} is {beyond}, {change}; the model {side} with "
        f"{level(form.rate, now)}."
    )


def capped_sentences(form: Capped, base: Floats64) -> Iterator[str]:
    """Yield where a formula is flat."""
    now = float(form.of.values(base)[0])
    for end, side in ((form.high, "above"), (form.low, "below")):
        if end is not None:
            there = now > end if side == "above" else now < end
            yield (
                f"It is flat {side} {short(end)}: what would be {side} counts as {short(end)}"
                + ("; the model is there." if there else ".")
            )


def hinge_sentence(factor: float, part: Hinge, base: Floats64) -> str:
    """Return what every step beyond a bound costs."""
    side, now = "above" if part.above else "below", float(part.of.values(base)[0])
    more = "adds" if factor > 0 else "takes off"
    return (
        f"{part.of.text().capitalize()} {side} {level(part.of, part.bound)} {more} "
        f"{short(abs(factor) * 0.01)} for every 0.01; the model has {level(part.of, now)}."
    )


def group_sentence(form: RateOf, found: Finding) -> str:
    """Return which group it is that counts."""
    values = rate(form.name, found.base[form.measure])
    place = int(np.argmin(values) if form.over == "worst group" else np.argmax(values))
    names = found.sample.cells.groups
    listed = ", ".join(f"{g} {v:.3g}" for g, v in zip(names, values, strict=True))
    return f"Only the {form.over} counts: here {names[place]} ({form.name}: {listed})."


def plateau_sentences(found: Finding) -> Iterator[str]:
    """Yield values that many answers share, and where these are."""
    sample = found.sample
    if sample.noise > 0.0 or len(sample) < 8:
        return
    places = limiting(sample)
    for value in plateaus(sample):
        flat = np.abs(sample.values - value) <= sample.each
        if flat.sum() < 5 or flat.all():
            continue
        where = ""
        for k, above in separating(sample.columns[:, places], flat)[:1]:
            column = sample.columns[flat, places[k]]
            edge = column.min() if above else column.max()
            text = sample.library[places[k]].text()
            where = f" for {text} {'above' if above else 'below'} {level(None, float(edge))}"
        yield f"It is flat at {short3(value)}{where}: {flat.sum()} of {len(sample)} answers."


def unread(metric_decides: bool, found: Finding) -> Iterator[str]:
    """Yield what a metric does not read."""
    cells, form = found.sample.cells, found.form
    if metric_decides:
        yield "scores and their order: decisions alone"
    if not found.reads_rows and len(found.sample):
        yield "which rows of a class and group are decided so: their number alone"
    if form is None or not found.understood:
        return
    if len(cells.groups) > 1 and not reads_groups(form, cells):
        yield f"groups ({', '.join(cells.columns)})"
    for place, name in enumerate(cells.classes):
        if not reads_class(form, cells, place):
            yield f"decisions about rows of class {name}"


def level(of: Form | None, value: float) -> str:
    """Return a value of a rate; shares of rows as per cent.

    Examples
    --------
    >>> level(RateOf("share flagged"), 0.2), level(RateOf("recall"), 0.8)
    ('20 %', '0.8')
    """
    if isinstance(of, RateOf) and of.name == "share flagged":
        return f"{100.0 * value:.3g} %"
    return f"{value:.4g}"


def short3(number: float) -> str:
    """Return a number with three digits."""
    return f"{number:.3g}"
