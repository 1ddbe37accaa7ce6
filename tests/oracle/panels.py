"""Small random universes: tickers that start late, miss sessions, break into segments, lack features."""

import datetime
import math

import numpy as np
import polars as pl

from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel

FIRST_DAY = datetime.date(2020, 1, 1)


def day(session: int) -> datetime.date:
    return FIRST_DAY + datetime.timedelta(days=session)


# A split of 60 sessions: train before 34, validation before 44, test from then on.
CONFIG = WindowsConfig(
    length=4,
    horizon=2,
    test_start=day(44),
    validation_days=10,
    folds=1,
    fold=0,
    embargo=0,
    stride=1,
    clip=8.0,
)


def universe_frame(
    seed: int,
    *,
    tickers: int = 3,
    sessions: int = 60,
    features: int = 3,
    horizon: int = 2,
    missing: float = 0.0,
    breaks: float = 0.0,
    unknown: float = 0.0,
) -> tuple[pl.DataFrame, pl.Series]:
    """Return a features frame and its target; the three rates are chances a bar is absent, starts a new
    segment, or lacks one feature.
    """
    random = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    for index in range(tickers):
        segment, close = 0, 100.0
        for session in range(sessions):
            if random.random() < missing:
                continue
            segment += int(random.random() < breaks)
            close *= math.exp(random.normal(0, 0.02))
            values: list[float | None] = list(random.normal(1.0, 3.0, features))
            if random.random() < unknown:
                values[random.integers(features)] = None
            rows.append(
                {
                    "ticker": f"T{tickers - index}",
                    "date": day(session),
                    "segment": segment,
                    "close": close,
                    **{f"feature_{position}": value for position, value in enumerate(values)},
                }
            )
    schema = {"ticker": pl.String, "date": pl.Date, "segment": pl.Int32, "close": pl.Float64}
    schema |= {f"feature_{position}": pl.Float32 for position in range(features)}
    return pl.DataFrame(rows, schema=schema), pl.Series(_targets(rows, horizon), dtype=pl.Float64)


def universe(seed: int, *, horizon: int = 2, **shape: float) -> Panel:
    frame, target = universe_frame(seed, horizon=horizon, **shape)
    return Panel.from_frame(frame, target, horizon)


def _targets(rows: list[dict[str, object]], horizon: int) -> list[float | None]:
    targets: list[float | None] = []
    for index, row in enumerate(rows):
        later = rows[index + horizon] if index + horizon < len(rows) else None
        if later is None or any(later[key] != row[key] for key in ("ticker", "segment")):
            targets.append(None)
        else:
            targets.append(math.log(later["close"] / row["close"]))
    return targets
