"""The ways in which published pipelines leaked, planted one by one.

Each is a fault reported in real projects (kinds L1 to L27; "start" is a trace of where history began).
`plant` puts it into an otherwise clean pipeline; `fires` is the check of the audit that must find it.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import torch
from parameters import ROOT, SMALL_MODEL
from torch import Tensor, nn
from training.small import recipe

from candlecast.data.config import DataConfig, UniverseConfig
from candlecast.data.manifest import Manifest, Universe
from candlecast.data.quality import Quality
from candlecast.data.sources import universe_of
from candlecast.errors import EvaluationError
from candlecast.evaluation.audit import Check
from candlecast.evaluation.audit_model import (
    audit_training,
    batch_sizes,
    causal_steps,
    lone_windows,
    short_training,
)
from candlecast.evaluation.claims import loss_claims
from candlecast.evaluation.forecast import forecast
from candlecast.evaluation.metrics import scores
from candlecast.evaluation.run_audit import audit_universe
from candlecast.features.target import forward_log_return
from candlecast.models.hybrid import Forecast, build_model
from candlecast.params import load_params
from candlecast.schema import FORECASTS, HISTORY
from candlecast.training.loop import train
from candlecast.windows.config import WindowsConfig
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.panel import Panel
from candlecast.windows.scaling import Standardizer
from candlecast.windows.split import Part, Split
from candlecast.windows.store import WindowStore

LENGTH, HORIZON, WARMUP, DAYS, TICKERS = 9, 4, 30, 260, ("AAA", "BBB", "CCC")

CUT, CORRUPTED = (
    "what comes later changes nothing: bars cut off",
    "what comes later changes nothing: bars corrupted",
)
START = "where history began is forgotten after the warm-up"
GAP, SCALE, ORDER = (
    "no value reaches across a gap",
    "no level of prices or volume is a feature",
    "the order of rows changes nothing",
)
ALONE, FILLED = "no ticker's features depend on another's bars", "nothing is filled in before it is known"
DEFINITION, TAIL = (
    f"it is the log-return from bar t to bar t + {HORIZON}",
    "what is not known yet stays unknown",
)
REACH, DISGUISE = f"it depends on bars t and t + {HORIZON} alone", "no feature is the label in disguise"
PURGE, EDGE, SHARED = (
    "outcomes end before the next part begins",
    "the purge is exact at its edge",
    "no date is in two parts",
)
WINDOW, OUTCOME = "a window is consecutive bars of one history", "every scored window has its outcome"
MEASURED, UNSEEN = "it is measured on training alone", "it does not see the test part"
CAUSAL, LONE, BATCH = (
    "a convolution's output knows no later bar",
    "a forecast depends on its own window alone",
    "one forecast a window, whatever the batch",
)
CHOSEN, BASELINES, STOPS = (
    "how the tickers were chosen",
    "the baselines: no change is one of them",
    "the evaluation stops and names the window",
)


@dataclass(frozen=True)
class Leak:
    """A planted fault."""

    kind: str
    planted: str
    fires: str
    plant: Callable[..., object]


def make_manifest(universe: Universe) -> Manifest:
    """Return a manifest that says how the tickers were chosen, and nothing else of interest."""
    return Manifest(
        source="made up",
        versions={},
        start="2010-01-01",
        end="2011-01-01",
        content_sha256="0",
        universe=universe,
        histories={},
        left_out={},
        quality=Quality(policies={}, findings=()),
        revisions=(),
        retrieved_at=None,
    )


def make_bars(days: int = DAYS, seed: int = 0) -> pl.DataFrame:
    """Return bars of three random walks, one history each."""
    generator = np.random.default_rng(seed)
    frames = []
    for ticker in TICKERS:
        close = 50 * np.exp(np.cumsum(generator.normal(0, 0.02, days)))
        spread = np.exp(np.abs(generator.normal(0, 0.01, days)))
        frames.append(
            pl.DataFrame(
                {
                    "ticker": [ticker] * days,
                    "date": [datetime.date(2010, 1, 1) + datetime.timedelta(day) for day in range(days)],
                    "segment": pl.Series([0] * days, dtype=pl.Int32),
                    "open": close * np.exp(generator.normal(0, 0.005, days)) / 1.0,
                    "high": close * spread * 1.02,
                    "low": close / spread / 1.02,
                    "close": close,
                    "volume": np.exp(generator.normal(10, 0.5, days)),
                }
            )
        )
    return pl.concat(frames)


def clean_build(bars: pl.DataFrame) -> pl.DataFrame:
    """Return three honest features."""
    return build_with(bars, None)


def build_with(
    bars: pl.DataFrame,
    leak: Callable[[pl.DataFrame], pl.DataFrame] | None,
    sort: bool = True,
    warmup: int = WARMUP,
) -> pl.DataFrame:
    """Return three honest features, and one more that `leak` adds as column `leak` to sorted bars."""
    frame = bars.sort("ticker", "date") if sort else bars
    if leak is not None:
        frame = leak(frame)
    close, volume = pl.col("close"), pl.col("volume")
    known = pl.int_range(pl.len()).over(HISTORY) >= warmup
    features = {
        "momentum": (close / close.shift(5)).log().over(HISTORY),
        "spread": (pl.col("high") / pl.col("low")).log(),
        "busy": (volume / volume.rolling_mean(10)).over(HISTORY),
    }
    if leak is not None:
        features["leak"] = pl.col("leak")
    settled = (pl.when(known).then(value).cast(pl.Float32).alias(name) for name, value in features.items())
    built = frame.select("ticker", "date", "segment", "close", *settled)
    return built if sort else built.sort("ticker", "date")


def feature(expression: pl.Expr, over: bool = True) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a build with one more feature."""

    def build(bars: pl.DataFrame) -> pl.DataFrame:
        leak = expression.over(HISTORY) if over else expression
        return build_with(bars, lambda frame: frame.with_columns(leak.alias("leak")))

    return build


_CLOSE = pl.col("close")
_RETURN = (_CLOSE / _CLOSE.shift(1)).log()


def _weekly_bars_by_their_start(bars: pl.DataFrame) -> pl.DataFrame:
    def leak(frame: pl.DataFrame) -> pl.DataFrame:
        week = pl.col("date").dt.truncate("1w")
        weekly = (_CLOSE.last() / _CLOSE.first()).log().over("ticker", week)
        return frame.with_columns(weekly.alias("leak"))

    return build_with(bars, leak)


def _average_seeded_by_the_whole_series(bars: pl.DataFrame) -> pl.DataFrame:
    def leak(frame: pl.DataFrame) -> pl.DataFrame:
        true_range = pl.col("high") - pl.col("low")
        seeded = pl.when(pl.int_range(pl.len()) == 0).then(true_range.mean()).otherwise(true_range)
        return frame.with_columns(
            (seeded.ewm_mean(alpha=1 / 14, adjust=False) / _CLOSE).over(HISTORY).alias("leak")
        )

    return build_with(bars, leak)


def _started_by_the_number_of_rows(bars: pl.DataFrame) -> pl.DataFrame:
    def leak(frame: pl.DataFrame) -> pl.DataFrame:
        row, count = pl.int_range(pl.len()), pl.len()
        started = pl.when(row >= count % 26).then(_RETURN).otherwise(None)
        return frame.with_columns(started.ewm_mean(alpha=0.02, adjust=False).over(HISTORY).alias("leak"))

    return build_with(bars, leak)


def _as_of_without_sorting(bars: pl.DataFrame) -> pl.DataFrame:
    return build_with(bars, lambda frame: frame.with_columns(_RETURN.over(HISTORY).alias("leak")), sort=False)


def _back_filled(bars: pl.DataFrame) -> pl.DataFrame:
    built = feature(_RETURN.rolling_mean(20))(bars)
    return built.with_columns(pl.col("leak").backward_fill().over(HISTORY))


def _outcome_as_feature(bars: pl.DataFrame) -> pl.DataFrame:
    outcome = (_CLOSE.shift(-HORIZON) / _CLOSE).log()
    return feature(outcome)(bars)


FEATURE_LEAKS = (
    Leak("L1", "a feature shifted one bar into the future", CUT, feature(_RETURN.shift(-1))),
    Leak(
        "L2", "a column divided by its mean over all of history", CORRUPTED, feature(_RETURN / _RETURN.std())
    ),
    Leak(
        "L3",
        "a recursive average seeded by the mean of the whole series",
        CUT,
        _average_seeded_by_the_whole_series,
    ),
    Leak("L4", "the warm-up filled backwards with the first value", FILLED, _back_filled),
    Leak("L5", "a lookup that trusts the order of rows", ORDER, _as_of_without_sorting),
    Leak(
        "L6", "a centred window, as a library's default", CUT, feature(_RETURN.rolling_mean(11, center=True))
    ),
    Leak(
        "L7",
        "an average whose first row depends on how many rows there are",
        CUT,
        _started_by_the_number_of_rows,
    ),
    Leak(
        "L8",
        "the day of the highest close, over a window that reaches ahead",
        CORRUPTED,
        feature((_CLOSE.shift(-2).rolling_max(9) == _CLOSE).cast(pl.Float64)),
    ),
    Leak("L9", "a weekly bar stamped with the week's first day", CUT, _weekly_bars_by_their_start),
    Leak(
        "L18",
        "a rolling mean across the border between tickers",
        ALONE,
        feature(_RETURN.rolling_mean(60), over=False),
    ),
    Leak("L20", "the price level", SCALE, feature(_CLOSE / 100)),
    Leak(
        "L20",
        "on-balance volume, which depends on the first row",
        START,
        feature((_RETURN.sign() * pl.col("volume")).fill_null(0).cum_sum() / 1e5),
    ),
    Leak(
        "L25",
        "a rolling mean across a trading halt",
        GAP,
        feature(_RETURN.rolling_mean(60).over("ticker"), over=False),
    ),
    Leak(
        "L26",
        "a value filled forward where the newest bar has none yet",
        CUT,
        feature(_RETURN.shift(-1).forward_fill()),
    ),
    Leak(
        "start",
        "smoothing so slow that earlier rows never settle",
        START,
        feature(_RETURN.ewm_mean(alpha=0.002, adjust=False)),
    ),
)

LABEL_LEAKS = (
    Leak(
        "L10",
        "a label that looks backwards",
        DEFINITION,
        lambda frame, horizon: frame.select((_CLOSE / _CLOSE.shift(horizon)).log().over(HISTORY)).to_series(),
    ),
    Leak(
        "L11",
        "the last bars labelled 0",
        TAIL,
        lambda frame, horizon: forward_log_return(frame, horizon).fill_null(0.0),
    ),
    Leak(
        "L17",
        "a label that starts one bar late, at a price not yet known",
        DEFINITION,
        lambda frame, horizon: frame.select(
            (_CLOSE.shift(-horizon - 1) / _CLOSE.shift(-1)).log().over(HISTORY)
        ).to_series(),
    ),
    Leak(
        "L10",
        "a label divided by volatility measured after it",
        REACH,
        lambda frame, horizon: frame.select(
            ((_CLOSE.shift(-horizon) / _CLOSE).log() / _RETURN.std()).over(HISTORY)
        ).to_series(),
    ),
)

DISGUISED = (Leak("L10", "the outcome itself as a feature", DISGUISE, _outcome_as_feature),)


def small_config(**changes: object) -> WindowsConfig:
    """Return a split of the bars' 260 days: 130 train, 60 validation, 70 test."""
    config = WindowsConfig(
        length=LENGTH,
        horizon=HORIZON,
        test_start=datetime.date(2010, 1, 1) + datetime.timedelta(190),
        validation_days=60,
        folds=1,
        fold=0,
        embargo=0,
        stride=1,
        clip=8.0,
    )
    return replace(config, **changes)


def small_panel(bars: pl.DataFrame | None = None) -> Panel:
    """Return the raw panel of the clean features."""
    features = clean_build(make_bars() if bars is None else bars)
    return Panel.from_frame(features, forward_log_return(features, HORIZON), HORIZON)


def _with_split(change: Callable[[WindowStore], Split]) -> Callable[[Panel], WindowStore]:
    def build(panel: Panel) -> WindowStore:
        store = WindowStore.build(panel, small_config())
        return replace(store, split=change(store))

    return build


def _unpurged(bars: int) -> Callable[[WindowStore], Split]:
    def change(store: WindowStore) -> Split:
        panel, split = store.panel, store.split
        first = panel.session[split.validation].min()
        ends = panel.window_ends(LENGTH)
        ends = ends[np.isfinite(panel.target[ends])]
        return replace(split, train=ends[panel.session[ends] < first - HORIZON + bars])

    return change


def _overpurged(store: WindowStore) -> Split:
    ends = store.split.train
    session = store.panel.session[ends]
    return replace(store.split, train=ends[session < session.max()])


def _shuffled(store: WindowStore) -> Split:
    ends = np.concatenate([store.split.train, store.split.validation])
    ends = np.random.default_rng(0).permutation(ends)
    count = len(store.split.train)
    return replace(store.split, train=np.sort(ends[:count]), validation=np.sort(ends[count:]))


def _across_tickers(store: WindowStore) -> Split:
    first = np.flatnonzero(np.diff(store.panel.ticker))[0] + 3
    return replace(store.split, train=np.sort(np.append(store.split.train, first)))


def _without_outcome(store: WindowStore) -> Split:
    last = np.flatnonzero(np.isnan(store.panel.target))[-1]
    return replace(store.split, test=np.append(store.split.test, last))


def _dropped_tail(store: WindowStore) -> Split:
    sessions = store.panel.session[store.split.test]
    lost = np.flatnonzero(sessions == sessions.min() + 3)[-1]
    return replace(store.split, test=np.delete(store.split.test, lost))


def _scaled_on(*parts: str) -> Callable[[Panel], WindowStore]:
    def build(panel: Panel) -> WindowStore:
        store = WindowStore.build(panel, small_config())
        ends = np.sort(np.concatenate([store.split.part(part) for part in parts]))
        scale = Standardizer.fit(panel, replace(store.split, train=ends), LENGTH, 8.0)
        return replace(store, standardizer=scale, panel=replace(panel, features=scale.apply(panel.features)))

    return build


SPLIT_LEAKS = (
    Leak("L12", "no purge between training and validation", PURGE, _with_split(_unpurged(HORIZON))),
    Leak("L12", "a purge one bar too short", PURGE, _with_split(_unpurged(1))),
    Leak("L12", "a purge one bar too long", EDGE, _with_split(_overpurged)),
    Leak("L13", "overlapping windows shuffled before the split", SHARED, _with_split(_shuffled)),
    Leak("L14", "a window over the border of two tickers", WINDOW, _with_split(_across_tickers)),
    Leak("L11", "a scored window whose outcome is not known", OUTCOME, _with_split(_without_outcome)),
    Leak("L22", "a window lost on the way to the scores", OUTCOME, _with_split(_dropped_tail)),
    Leak("L15", "the scale measured on everything", MEASURED, _scaled_on("train", "validation", "test")),
    Leak("L16", "the scale measured on training and validation", MEASURED, _scaled_on("train", "validation")),
)


def _padded_on_both_sides(store: WindowStore) -> Check:
    class Symmetric(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv1d(3, 4, 3, padding=1)

        def forward(self, inputs: Tensor) -> Tensor:
            return self.conv(inputs.transpose(1, 2)).transpose(1, 2)

    torch.manual_seed(0)
    return causal_steps(Symmetric(), _windows(store), "layer")


def _mixing_windows(store: WindowStore) -> Check:
    class Mixing(nn.Module):
        def forward(self, inputs: Tensor) -> Forecast:
            last = inputs[:, -1]
            return Forecast(last[:, 0] - inputs[:, -1, 0].mean(), last[:, 1])

    return lone_windows(Mixing(), _windows(store))


def _dropping_the_last_batch(store: WindowStore) -> Check:
    def dropping(model: nn.Module, windows: WindowStore, part: Part, batch: int) -> pl.DataFrame:
        frame = forecast(model, windows, part, batch)
        return frame[: frame.height // batch * batch]

    return batch_sizes(build_model(SMALL_MODEL, 3, LENGTH).eval(), store, dropping)


def _averaging_over_batches(store: WindowStore) -> Check:
    def centring(model: nn.Module, windows: WindowStore, part: Part, batch: int) -> pl.DataFrame:
        return forecast(model, windows, part, batch).with_columns(pl.col("forecast_return") * batch)

    return batch_sizes(build_model(SMALL_MODEL, 3, LENGTH).eval(), store, centring)


def _chosen_on_the_test_part(store: WindowStore) -> Check:
    def choosing(windows: WindowStore) -> dict[str, Tensor]:
        torch.manual_seed(0)
        model = build_model(SMALL_MODEL, 3, LENGTH)
        train_set, test_set = (WindowDataset(windows, part) for part in ("train", "test"))
        updates = replace(recipe().train, epochs=None, updates=6, validate_every=12, peak_lr=0.1)
        return dict(train(model, train_set, test_set, replace(recipe(), train=updates)).best_state)

    return audit_training(store, choosing)


def _trained_on_the_test_part(store: WindowStore) -> Check:
    def peeking(windows: WindowStore) -> dict[str, Tensor]:
        ends = np.sort(np.concatenate([windows.split.train, windows.split.test[-9:]]))
        return short_training(SMALL_MODEL, 3)(replace(windows, split=replace(windows.split, train=ends)))

    return audit_training(store, peeking)


def _windows(store: WindowStore) -> Tensor:
    return WindowDataset(store, "test").batch(torch.arange(4)).inputs


# These return the check itself.
MODEL_LEAKS = (
    Leak("L21", "a convolution padded on both sides, as for images", CAUSAL, _padded_on_both_sides),
    Leak("L22", "a forecast that moves with the other windows of its batch", LONE, _mixing_windows),
    Leak("L22", "an evaluation that drops its last, short batch", BATCH, _dropping_the_last_batch),
    Leak("L22", "a number that depends on the size of the batch", BATCH, _averaging_over_batches),
    Leak("L23", "the checkpoint chosen on the test part", UNSEEN, _chosen_on_the_test_part),
    Leak("L23", "training on some windows of the test part", UNSEEN, _trained_on_the_test_part),
)


def _members_of_the_last_day() -> str:
    config = load_params("data", DataConfig, ROOT / "params.yaml")
    universe = universe_of(replace(config, universe=UniverseConfig(chosen="an index", as_of=config.end)))
    check = audit_universe(make_manifest(universe))
    return check.name if check.status == "note" and "what failed since may be missing" in check.detail else ""


def _last_price_again() -> str:
    moves = np.random.default_rng(3).normal(0, 0.02, 400)
    price, later = np.exp(np.cumsum(moves))[:-5], np.exp(np.cumsum(moves))[5:]
    assert np.corrcoef(price, later)[0, 1] > 0.9  # what such a forecast is praised for
    loss = np.log(later / price) ** 2
    (claim,) = loss_claims({"squared": {"candlecast": loss, "zero_return": loss.copy()}}, 5, 1)
    return BASELINES if claim.adjusted == 1 and claim.question == "zero_return" else ""


def _not_a_number() -> str:
    days = [datetime.date(2010, 1, 1) + datetime.timedelta(day) for day in range(4)]
    values = {"model": ["candlecast"] * 4, "part": ["test"] * 4, "ticker": ["AAA"] * 4, "date": days}
    numbers = {"realised_return": [0.1, np.nan, -0.1, 0.2], "forecast_return": [0.1] * 4}
    frame = pl.DataFrame({**values, **numbers, "probability_up": [0.6] * 4}, schema=FORECASTS)
    try:
        scores(frame, 0.0)
    except EvaluationError as error:
        return STOPS if "realised_return is nan" in str(error) else ""
    return ""


# Not to be seen in bars or weights: these return what answers them.
ELSEWHERE = (
    Leak("L19", "an index's members of the last day, over all of history", CHOSEN, _members_of_the_last_day),
    Leak("L24", "the last price again, praised for its fit to price levels", BASELINES, _last_price_again),
    Leak("L27", "an outcome that is not a number", STOPS, _not_a_number),
)

LEAKS = (*FEATURE_LEAKS, *LABEL_LEAKS, *DISGUISED, *SPLIT_LEAKS, *MODEL_LEAKS, *ELSEWHERE)
