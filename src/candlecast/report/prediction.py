"""A forecast as text for a terminal and as JSON, never without what the model's test span said of it."""

import datetime
import json
import math
from dataclasses import asdict
from typing import Final

from candlecast.forecasting.card import Card, Measured
from candlecast.forecasting.latest import Prediction
from candlecast.report.scores import SCORES, inside, minus

NOTICE: Final = "Research software, not investment advice."


def prediction_text(prediction: Prediction) -> str:
    """Return the warnings, the table, and the model's age and evidence."""
    card = prediction.card
    bars = "bar" if card.horizon == 1 else f"{card.horizon} bars"
    rows = [("ticker", "last bar", "expected return", "probability of up")]
    rows += [
        (ticker, str(date), f"{math.expm1(value):+.2%}", f"{probability:.1%}")
        for ticker, date, value, probability in prediction.forecasts.iter_rows()
    ]
    width = max(len(row[0]) for row in rows)
    lines = [f"Warning: {warning}" for warning in prediction.warnings]
    lines += [""] if lines else []
    lines += [f"Over the next {bars}, from {prediction.source}:", ""]
    lines += [f"  {row[0]:<{width}}  {row[1]:<10}  {row[2]:>15}  {row[3]:>17}" for row in rows]
    newest = max(prediction.forecasts["date"])
    lines += ["", _age(card, newest), *evidence_lines(card), ""]
    return "\n".join([*lines, NOTICE]) + "\n"


def prediction_json(prediction: Prediction) -> str:
    """Return the same as JSON; returns are log-returns over `horizon` bars."""
    card, proof = prediction.card, prediction.card.proof
    record = {
        "horizon": card.horizon,
        "source": prediction.source,
        "forecasts": [
            {**row, "date": str(row["date"])} for row in prediction.forecasts.iter_rows(named=True)
        ],
        "model": {
            "mlflow_run_id": card.run_id,
            "tickers": list(card.tickers),
            **asdict(card.spans),
            "evidence": asdict(proof),
        },
        "warnings": list(prediction.warnings),
        "notice": NOTICE,
    }
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def evidence_lines(card: Card) -> list[str]:
    """Return what the test span said of the model, a line each; the headline first."""
    proof, spans = card.proof, card.spans
    lines = [f"Evidence, {spans.test_start} to {spans.test_end}: {proof.answer}"]
    return lines + [_measured(score, proof.confidence or 0.0) for score in proof.scores]


def _measured(score: Measured, confidence: float) -> str:
    shown = next(each for each in SCORES if each.name == score.name)
    own = (
        f"  {shown.label} {shown.show(score.value)} ({confidence:.0%} interval {shown.show(score.low)} to "
        f"{shown.show(score.high)})."
    )
    baseline = f"The best baseline, {inside(score.baseline)}, has"
    apart = score.difference, score.difference_low, score.difference_high
    difference, low, high = (minus(f"{100 * each:+.2f}") for each in apart)
    if not any(apart):
        return f"{own} {baseline} exactly the same."
    return (
        f"{own} {baseline} {shown.show(score.value - score.difference)}: a difference of {difference} "
        f"percentage points ({confidence:.0%} interval {low} to {high})."
    )


def _age(card: Card, newest: datetime.date) -> str:
    chosen = datetime.date.fromisoformat(card.spans.validation_end)
    days = (newest - chosen).days
    age = f"{days / 365.25:.1f} years" if days >= 365 else f"{days} days"
    return (
        f"Model: trained on windows to {card.spans.train_end} and chosen on windows to {chosen}, {age} "
        f"before the newest bar here; MLflow run {card.run_id}"
    )
