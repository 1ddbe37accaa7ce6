import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from forecasting.made import LENGTH, WARMUP, Made
from forecasting.made_bars import made_bars

from candlecast.errors import DataError
from candlecast.evaluation.forecast import forecast
from candlecast.forecasting.card import CARD, Card, Proof
from candlecast.forecasting.forecaster import Forecaster

KEYS = ["ticker", "date"]


def test_the_folder_forecasts_what_the_evaluation_forecasts(made: Made) -> None:
    evaluated = forecast(made.forecaster.model, made.store, "test", 7).sort(KEYS)
    every = made.forecaster.every(made.bars)
    same = evaluated.join(every, on=KEYS, how="left", suffix="_folder").sort(KEYS)
    assert same.height > 60
    for name in ("forecast_return", "probability_up"):
        assert (same[name] - same[f"{name}_folder"]).abs().max() < 1e-6, name  # type: ignore[operator]


def test_the_last_bar_s_forecast_is_the_newest_of_all_and_needs_no_outcome(made: Made) -> None:
    latest = made.forecaster.latest(made.bars)
    every = made.forecaster.every(made.bars)
    assert latest["ticker"].to_list() == ["AAA", "BBB", "CCC"]
    assert set(latest["date"]) == {made.bars["date"].max()}
    newest = every.group_by("ticker", maintain_order=True).last()
    for name in ("forecast_return", "probability_up"):
        assert (latest[name] - newest[name]).abs().max() < 1e-6, name  # type: ignore[operator]


def test_forecasts_differ_between_tickers_and_days(made: Made) -> None:
    every = made.forecaster.every(made.bars)
    assert every["forecast_return"].n_unique() > 0.9 * every.height
    assert every["probability_up"].is_between(0, 1).all()


def test_a_bar_after_the_forecast_changes_nothing(made: Made) -> None:
    cut = made.bars.filter(pl.col("date") <= made.bars["date"].unique().sort()[200])
    before = made.forecaster.latest(cut)
    later = made.forecaster.every(made.bars).join(before.select(KEYS), on=KEYS)
    assert (before["forecast_return"] - later["forecast_return"]).abs().max() < 1e-6  # type: ignore[operator]


def test_as_many_bars_as_it_asks_for_are_enough_and_one_less_is_not(made: Made) -> None:
    needed = made.forecaster.bars_needed
    assert needed >= LENGTH + WARMUP
    enough = made_bars(["AAA"], needed)
    assert made.forecaster.latest(enough).height == 1
    with pytest.raises(DataError, match=rf"AAA: {needed - 1} bars without a gap .* needs {needed}"):
        made.forecaster.latest(enough.tail(needed - 1))
    with pytest.raises(DataError, match=rf"AAA: {needed - 1} bars"):
        made.forecaster.every(enough.tail(needed - 1))


def test_tickers_that_are_too_short_are_named_together(made: Made) -> None:
    names = [f"T{index}" for index in range(9)]
    with pytest.raises(DataError, match=r"T0: 30 bars .*likewise T1, T2, T3, T4, T5 and 3 more"):
        made.forecaster.latest(made_bars(names, 30))


def test_a_gap_starts_the_count_again(made: Made) -> None:
    second = pl.when(pl.col("date") > made.bars["date"].unique().sort()[250]).then(1).otherwise(0)
    gapped = made.bars.with_columns(second.cast(pl.Int32).alias("segment"))
    with pytest.raises(DataError, match=r"AAA: 9 bars without a gap"):
        made.forecaster.latest(gapped)


def test_the_card_reads_back_as_it_was(made: Made, tmp_path: Path) -> None:
    card = made.forecaster.card
    card.save(tmp_path)
    assert Card.load(tmp_path) == card
    assert Card.load(tmp_path).settling_bars >= WARMUP


def test_a_span_too_short_for_intervals_proves_nothing() -> None:
    proof = Proof.of(None, "This test span is too short to tell skill from luck.", ())
    assert (proof.skills, proof.confidence, proof.scores) == ((), None, ())


@pytest.mark.parametrize("name", [CARD, "model.json", "standardizer.json", "model.safetensors"])
@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_damaged_folder_is_an_error_that_names_the_file(
    made: Made, tmp_path: Path, name: str, damage: str
) -> None:
    folder = tmp_path / "forecaster"
    shutil.copytree(made.folder, folder)
    if damage == "missing":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes((folder / name).read_bytes()[:40])
    with pytest.raises(DataError, match=name):
        Forecaster.load(folder)


def test_a_scale_of_another_model_is_refused(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "forecaster"
    shutil.copytree(made.folder, folder)
    scale = json.loads((folder / "standardizer.json").read_text())
    scale["mean"], scale["std"] = scale["mean"][:-1], scale["std"][:-1]
    (folder / "standardizer.json").write_text(json.dumps(scale))
    with pytest.raises(DataError, match="a scale of 31 features for a model of 32"):
        Forecaster.load(folder)


def test_no_file_of_the_folder_is_a_pickle(made: Made) -> None:
    assert {path.suffix for path in made.folder.iterdir()} == {".json", ".safetensors"}
