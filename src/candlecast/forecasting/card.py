"""What a forecaster needs beside its weights, and what its test span said of it: one JSON file."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from candlecast.data.config import ChecksConfig
from candlecast.errors import DataError, ParamsError
from candlecast.features.catalogue import select
from candlecast.features.config import FeaturesConfig
from candlecast.files import write_text
from candlecast.params import parse

if TYPE_CHECKING:  # their libraries take seconds to import, and a forecast needs none of them
    from candlecast.evaluation.assess import Assessment
    from candlecast.evaluation.evidence import ScoreEvidence

CARD: Final = "card.json"
PROVEN_BY: Final = ("directional_accuracy", "out_of_sample_r2_score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One test score, its interval, and its distance to the best baseline's."""

    name: str
    value: float
    low: float
    high: float
    baseline: str
    difference: float
    difference_low: float
    difference_high: float

    @classmethod
    def of(cls, score: "ScoreEvidence") -> Self:
        """Take it from the evidence."""
        return cls(
            name=score.name,
            value=score.value,
            low=score.interval.low,
            high=score.interval.high,
            baseline=score.baseline,
            difference=score.difference,
            difference_low=score.difference_interval.low,
            difference_high=score.difference_interval.high,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the test span said: nothing here is a promise for other days."""

    answer: str  # the report's headline
    skills: tuple[str, ...]  # in what the model beat every baseline beyond luck; mostly empty
    confidence: float | None  # of the intervals; None where the span was too short for any
    windows: int
    scores: tuple[Measured, ...]

    @classmethod
    def of(cls, assessment: "Assessment | None", answer: str, skills: tuple[str, ...]) -> Self:
        """Take it from an evaluation's judgement and the report's words for it."""
        if assessment is None:
            return cls(answer=answer, skills=(), confidence=None, windows=0, scores=())
        evidence = assessment.evidence
        return cls(
            answer=answer,
            skills=skills,
            confidence=evidence.confidence,
            windows=evidence.windows,
            scores=tuple(Measured.of(evidence.score(name)) for name in PROVEN_BY),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """First and last window end of each part, ISO dates."""

    train_start: str
    train_end: str
    validation_start: str
    validation_end: str
    test_start: str
    test_end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """How bars become the model's windows, what it was made from, and how it did."""

    features: FeaturesConfig
    checks: ChecksConfig  # the tolerances its bars were held against
    max_gap: int  # missing sessions a history may span
    horizon: int  # bars ahead
    tickers: tuple[str, ...]  # in its panel
    spans: Spans
    run_id: str  # of its training, in MLflow
    proof: Proof

    @property
    def settling_bars(self) -> int:
        """Bars at the start of a history before every indicator is known."""
        return max(self.features.warmup_bars, *(each.warmup for each in select(self.features.families)))

    def save(self, folder: Path) -> None:
        """Write it into `folder`; the same card gives the same bytes."""
        write_text(folder / CARD, json.dumps(asdict(self), indent=2, allow_nan=False) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the card in `folder`, or raise `DataError` naming the file."""
        path = folder / CARD
        try:
            values: Any = json.loads(path.read_text(encoding="utf-8"))
            card: Self = parse(values, cls, CARD)
        except (OSError, ValueError, ParamsError) as error:
            raise DataError(f"{path}: cannot be read ({error}); make it with: dvc repro") from None
        return card
