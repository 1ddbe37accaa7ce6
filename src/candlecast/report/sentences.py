"""The tests in words, each with its p-value, and what the span could have found."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from candlecast.evaluation.assess import Economics
from candlecast.evaluation.backtest import Trading
from candlecast.evaluation.calibration import Calibrated, Power
from candlecast.evaluation.claims import LOSSES, Claim
from candlecast.evaluation.evaluate import MODEL
from candlecast.evaluation.evidence import LEVEL, Evidence
from candlecast.report.scores import inside, p_value, percent, share

_P_VALUE: Final = re.compile("p\u00a0[<=]\u00a0[0-9.]+[0-9]")


def claim_sentences(evidence: Evidence) -> list[str]:
    """Return the answers of the tests, from the direction to all forecasts together."""
    families: dict[str, list[Claim]] = {}
    for claim in evidence.claims:
        families.setdefault(claim.family, []).append(claim)
    together = dict(zip(LOSSES, families.get("any", []), strict=False))
    return [
        *(_direction(claim) for claim in families.get("direction", [])),
        *_tickers(families.get("ticker", []), evidence.horizon),
        *(_order(claim, evidence.tickers) for claim in families.get("order", [])),
        *_losses({loss: families.get(loss, []) for loss in LOSSES}, together, evidence),
    ]


def method_sentence(evidence: Evidence) -> str:
    """Return how intervals and p-values came about."""
    trials = (
        "When this was written it was the only finished training in the tracking store."
        if evidence.trials == 1
        else f"The tracking store holds {evidence.trials} finished trainings; p-values are multiplied by "
        "their number."
    )
    return f"{resampling_sentence(evidence)} {trials}"


def resampling_sentence(evidence: Evidence) -> str:
    """Return what the intervals resample and what the p-values withstand."""
    return (
        f"Intervals resample whole days, all tickers together, in blocks of {evidence.block} on average, "
        f"{evidence.replications:,} times. Better and worse go by one-sided p-values, robust to "
        "overlapping outcomes and to tickers that move together."
    )


def power_sentence(evidence: Evidence, power: Power) -> str:
    """Return what accuracy the span could tell from one half, and what it could not."""
    detectable, reach = power.detectable_accuracy, 1.96 * power.standard_error
    return (
        f"What this span can see: its {evidence.windows:,} windows lie on {evidence.days} days, outcomes "
        f"last {evidence.horizon} bars and tickers move together. Calls without skill that change as the "
        f"network's probabilities do would be right in {share(0.5 - reach)} to {share(0.5 + reach)} of "
        f"windows, 19 times in 20. A true accuracy of {share(detectable)} would be found four times in five, "
        f"one of {share(0.5 + (detectable - 0.5) / 3)} mostly missed."
    )


def calibration_sentence(calibrated: Iterable[Calibrated]) -> str:
    """Return which tests find skill too often where there is none, as far as the simulations can say."""
    eager = [each for each in calibrated if each.size_interval.low > LEVEL]
    if not eager:
        return f"None is shown to find skill more often than in {LEVEL:.0%} of markets that have none."
    named = ", ".join(f"{each.test} ({share(each.size)})" for each in eager)
    return (
        f"Too eager on a span like this, finding skill in more than {LEVEL:.0%} of markets that have none: "
        f"{named}. What it alone calls better is no evidence."
    )


def one_sided_sentence(frame: pl.DataFrame) -> str | None:
    """Return that only one direction was ever called, where that is so."""
    called = frame["probability_up"] > 0.5
    if called.any() and not called.all():
        return None
    direction = "up" if called.all() else "down"
    return (
        f"The network called {direction} in every window of the test span. As a direction that is no "
        f"forecast: what it got right is the share of windows that went {direction}, which moves with the "
        "market and has a wide interval."
    )


def economics_sentences(economics: Economics, confidence: float) -> list[str]:
    """Return break-even costs, turnover, and how far luck alone moves a year's return."""
    dearest = max(outcome.cost_bp for outcome in economics.outcomes)
    sentences = []
    followed = distinct_paths(economics)
    for name, path in followed:
        interval = economics.annual_return[path.strategy]
        sentences.append(
            f"{name.capitalize()} returned {percent(float(path.gross.mean()) * 252)} a year before costs "
            f"({confidence:.0%} interval {percent(interval.low)} to {percent(interval.high)}), trading the "
            f"capital {path.turnover_a_year:.1f} times a year; {_costs(path, dearest)}."
        )
    equals = "one that equals it, as here," if len(followed) < len(economics.paths) else "one that equals it"
    sentences.append(
        f"What always long returned is the market's and took no forecast; {equals} shows no skill, whatever "
        "its ratios."
    )
    return sentences


def distinct_paths(economics: Economics) -> list[tuple[str, Trading]]:
    """Return each strategy that differs day by day from those before it, named with those that do not."""
    found: list[tuple[list[str], Trading]] = []
    for path in economics.paths:
        twin = next((names for names, other in found if np.array_equal(other.gross, path.gross)), None)
        if twin is None:
            found.append(([path.strategy], path))
        else:
            twin.append(path.strategy)
    return [(_listed(names), path) for names, path in found]


def _costs(path: Trading, dearest: float) -> str:
    if path.break_even_bp is None:
        return "there was nothing before costs to pay them from"
    if path.break_even_bp > 10 * dearest:
        taken = percent(path.turnover_a_year * dearest / 10_000).lstrip("+")
        return f"it hardly traded: costs of {dearest:g} bp would have taken {taken} a year"
    return f"costs of {path.break_even_bp:,.0f} bp would have taken all of it"


def _direction(claim: Claim) -> str:
    if claim.statistic == 0:
        return "Direction: nothing to test, as only one direction was called or only one came."
    found = claim.adjusted < LEVEL
    return (
        f"Direction: ups {'came more often' if found else 'are not shown to have come more often'} when up "
        f"was called ({p_value(claim.adjusted)}; {claim.test}, all windows)."
    )


def _tickers(claims: list[Claim], horizon: int) -> Iterable[str]:
    claims = [claim for claim in claims if claim.statistic != 0]
    if not claims:
        return []
    best = min(claims, key=lambda claim: claim.adjusted)
    found = [claim.question.split(":")[0] for claim in claims if claim.adjusted < LEVEL]
    every = f"every {horizon}th window, so that outcomes do not overlap" if horizon > 1 else "every window"
    answer = f"shown for {', '.join(found)}" if found else "shown for none"
    return [
        f"The same ticker by ticker (Pesaran\u2013Timmermann, {every}; Holm over {len(claims)}): {answer}; "
        f"the smallest is {p_value(best.adjusted)}, {best.question.split(':')[0]}."
    ]


def _order(claim: Claim, tickers: int) -> str:
    found = claim.adjusted < LEVEL
    thin = "" if tickers >= 30 else f" {tickers} tickers make a thin cross-section."
    return (
        "Order of tickers within a day: the mean rank correlation is "
        f"{'' if found else 'not shown to be '}above 0 ({p_value(claim.adjusted)}; {claim.test}).{thin}"
    )


def _losses(
    claims: Mapping[str, list[Claim]], together: Mapping[str, Claim], evidence: Evidence
) -> Iterable[str]:
    """Yield each, in short where it differs from the one before in its subject and p-values alone."""
    before = ""
    for loss, named in LOSSES.items():
        text = _loss(loss, claims[loss], together.get(loss), evidence)
        words = _P_VALUE.sub("p", text.replace(named, ""))
        if words == before:
            found = _p_values(loss, claims[loss], together.get(loss), evidence)
            yield f"All of this holds for the {named} too, where the p-values are: {'; '.join(found)}."
        else:
            yield text
        before = words


def _p_values(loss: str, claims: list[Claim], together: Claim | None, evidence: Evidence) -> Iterable[str]:
    """Yield each p-value of a loss with what it was tested against."""
    beaten, rest = _split(claims)
    for each in beaten:
        yield f"{p_value(each.adjusted)} against {inside(each.question)}"
    if rest:
        smallest = p_value(min(each.adjusted for each in rest))
        others = f"the {len(rest)} {'others' if beaten else 'baselines'}, at the smallest"
        yield f"{smallest} against {inside(rest[0].question) if len(rest) == 1 else others}"
    yield f"{p_value(evidence.beats_every_baseline(loss))} against all of them together"
    if together is not None:
        yield f"{p_value(together.adjusted)} in Hansen's test"


def _split(claims: list[Claim]) -> tuple[list[Claim], list[Claim]]:
    """Return the baselines that are beaten, and the rest."""
    beaten, rest = ([each for each in claims if (each.adjusted < LEVEL) == found] for found in (True, False))
    return beaten, rest


def _loss(loss: str, claims: list[Claim], together: Claim | None, evidence: Evidence) -> str:
    parts = []
    beaten, rest = _split(claims)
    if beaten:
        named = [f"{inside(each.question)} ({p_value(each.adjusted)})" for each in beaten]
        parts.append(f"below that of {_listed(named)}")
    if rest:
        smallest = p_value(min(each.adjusted for each in rest))
        named = [inside(each.question) for each in rest]
        which = f"{smallest} at the smallest" if len(rest) > 1 else smallest
        parts.append(f"not shown to be below that of {_listed(named)} ({which})")
    every = p_value(evidence.beats_every_baseline(loss))
    return (
        f"The {LOSSES[loss]} is {', and '.join(parts)}; below every one of them: {every}. "
        f"{_together(together)}{_set(loss, evidence)}"
    )


def _together(claim: Claim | None) -> str:
    if claim is None:
        return ""
    shown = "Some forecast here is" if claim.adjusted < LEVEL else "No forecast here is shown to be"
    return f"{shown} below the training mean (Hansen's test, {p_value(claim.adjusted)}). "


def _set(loss: str, evidence: Evidence) -> str:
    size = 1 - evidence.confidence
    p_values = evidence.confidence_sets[loss]
    others = [inside(name) for name, each in p_values.items() if each >= size and name != MODEL]
    if p_values[MODEL] < size:
        return f"The model confidence set leaves the network out and keeps {_listed(others)}."
    beside = f", with {_listed(others)}" if others else " alone"
    return f"The model confidence set keeps the network{beside}."


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def training_sentence(
    history: pl.DataFrame, validation: pl.DataFrame, accum: Mapping[str, Any], train: Mapping[str, Any]
) -> str:
    """Say how the judged network was trained: the two batches, updates, learning rate and checkpoint.

    What was done is read from the history, not from the parameters: `micro_batch: auto` is resolved there.
    """
    first, last = history.row(0, named=True), history.row(-1, named=True)
    steps, effective = first["micro_step"], first["samples_seen"]
    micro = accum["micro_batch"] if isinstance(accum["micro_batch"], int) else -(-effective // steps)
    best = validation.filter("best").row(-1, named=True)
    return (
        f"Trained {micro} x {steps}: {effective} windows an update, {last['update']:,} updates over "
        f"{last['samples_seen']:,} windows, peak learning rate {train['peak_lr']:g}. Judged is the "
        f"checkpoint of update {best['update']}, after {best['samples_seen']:,} windows."
    )
