"""The tests in words, each with its p-value, and what the span could have found."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from candlecast.evaluation.assess import Economics
from candlecast.evaluation.calibration import Calibrated, Power
from candlecast.evaluation.claims import LOSSES, Claim
from candlecast.evaluation.evaluate import MODEL
from candlecast.evaluation.evidence import LEVEL, Evidence
from candlecast.report.scores import label, p_value, percent, share


def claim_sentences(evidence: Evidence) -> list[str]:
    """Return the answers of the tests, from the direction to all forecasts together."""
    families: dict[str, list[Claim]] = {}
    for claim in evidence.claims:
        families.setdefault(claim.family, []).append(claim)
    return [
        *(_direction(claim) for claim in families.get("direction", [])),
        *_tickers(families.get("ticker", []), evidence.horizon),
        *(_order(claim, evidence.tickers) for claim in families.get("order", [])),
        *(_losses(loss, families.get(loss, []), evidence) for loss in LOSSES),
        *(_together(claim) for claim in families.get("any", [])),
        *(_set(loss, evidence) for loss in LOSSES),
    ]


def method_sentence(evidence: Evidence) -> str:
    """Return how intervals and p-values came about."""
    trials = (
        "This was the only training in the tracking store."
        if evidence.trials == 1
        else f"The tracking store holds {evidence.trials} trainings; p-values are multiplied by that."
    )
    return f"{resampling_sentence(evidence)} {trials}"


def resampling_sentence(evidence: Evidence) -> str:
    """Return what the intervals resample and what the p-values withstand."""
    return (
        f"Intervals resample whole days, all tickers together, in blocks of {evidence.block} on average, "
        f"{evidence.replications:,} times. P-values are one-sided, robust to overlapping outcomes and to "
        "tickers that move together."
    )


def power_sentence(evidence: Evidence, power: Power) -> str:
    """Return what accuracy the span could tell from one half, and what it could not."""
    detectable = power.detectable_accuracy
    return (
        f"What this span can see: its {evidence.windows:,} windows lie on {evidence.days} days, outcomes "
        f"last {evidence.horizon} bars and tickers move together. Calls without skill would be right in 50% "
        f"of windows give or take {100 * power.standard_error:.1f} points, so a true accuracy of "
        f"{share(detectable)} would be found four times in five and one of "
        f"{share(0.5 + (detectable - 0.5) / 3)} mostly missed."
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
        f"The network called {direction} in every window of the test span: as a direction it is the same as "
        f"always calling {direction}, and nothing in it can be tested."
    )


def economics_sentences(economics: Economics, confidence: float) -> list[str]:
    """Return break-even costs, turnover, and how far luck alone moves a year's return."""
    sentences = []
    for path in economics.paths:
        interval = economics.annual_return[path.strategy]
        broken = (
            "there was nothing before costs"
            if path.break_even_bp is None
            else f"costs of {path.break_even_bp:,.0f} bp would have taken all of it"
        )
        sentences.append(
            f"{path.strategy.capitalize()} returned {percent(float(path.gross.mean()) * 252)} a year before "
            f"costs ({confidence:.0%} interval {percent(interval.low)} to {percent(interval.high)}), trading "
            f"the capital {path.turnover_a_year:.1f} times a year; {broken}."
        )
    sentences.append(
        "What always long returned is the market's and took no forecast; a strategy that equals it shows no "
        "skill, whatever its ratios."
    )
    return sentences


def _direction(claim: Claim) -> str:
    if claim.statistic == 0:
        return "Direction: nothing to test, as the calls or the outcomes never change."
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


def _losses(loss: str, claims: list[Claim], evidence: Evidence) -> str:
    beaten = [
        f"{label(each.question)} ({p_value(each.adjusted)})" for each in claims if each.adjusted < LEVEL
    ]
    rest = [f"{label(each.question)} ({p_value(each.adjusted)})" for each in claims if each.adjusted >= LEVEL]
    parts = []
    if beaten:
        parts.append(f"below that of {', '.join(beaten)}")
    if rest:
        parts.append(f"not shown to be below that of {', '.join(rest)}")
    every = evidence.beats_every_baseline(loss)
    return (
        f"The {LOSSES[loss]} is {' and '.join(parts)} (Diebold\u2013Mariano with Harvey's factor, on daily "
        f"means; Holm over the baselines). Below every one of them: {p_value(every)}."
    )


def _together(claim: Claim) -> str:
    answer = "yes" if claim.adjusted < LEVEL else "not shown"
    return f"{claim.question} {answer.capitalize()} ({p_value(claim.adjusted)}; {claim.test})."


def _set(loss: str, evidence: Evidence) -> str:
    size = 1 - evidence.confidence
    p_values = evidence.confidence_sets[loss]
    inside = [label(name) for name, each in p_values.items() if each >= size]
    network = "is" if p_values[MODEL] >= size else "is not"
    return (
        f"Models that the span cannot tell from the best by {LOSSES[loss]} (model confidence set at "
        f"{evidence.confidence:.0%}): {', '.join(inside)}. The network {network} among them."
    )


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
