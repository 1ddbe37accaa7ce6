"""`candlecast predict`: a forecast from the latest bars."""

import argparse
import datetime
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from candlecast.errors import DataError

if TYPE_CHECKING:
    from candlecast.forecasting.forecaster import Forecaster

FOLDER = Path("data/forecaster")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add tickers, where bars come from, and which model is asked."""
    parser.description = (
        "Forecast at the last bar of each ticker, with the bars that the source of params.yaml has today, or "
        "with those of a file. What the model's test span said of it is always shown: mostly, that no skill "
        "was found. Research software, not investment advice."
    )
    parser.add_argument("ticker", nargs="*", help="default: all of data.tickers, or all in the file")
    parser.add_argument("--bars", type=Path, help="a file or folder of daily bars instead of the source")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--model", type=Path, default=FOLDER, help="its folder (default: %(default)s)")
    which.add_argument("--experiment", help="the model of a DVC experiment, from the tracking store")
    which.add_argument("--run", dest="run_id", help="the model of an MLflow run, from the tracking store")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="default: %(default)s")


def run(arguments: argparse.Namespace) -> None:
    """Print the forecast."""
    from candlecast.data.config import DataConfig
    from candlecast.data.sources import make_source
    from candlecast.forecasting.latest import predict
    from candlecast.params import load_params
    from candlecast.report.prediction import prediction_json, prediction_text

    config = load_params("data", DataConfig, arguments.params)
    if arguments.bars is not None:
        config = replace(config, source="files", path=str(arguments.bars), tickers=())
    cache = Path(os.environ.get("DVC_ROOT", ".")) / ".cache" / "bars"
    prediction = predict(
        _forecaster(arguments),
        make_source(config, cache),
        config,
        tuple(sorted(set(arguments.ticker))),
        datetime.datetime.now(datetime.UTC).date(),
    )
    print(prediction_json(prediction) if arguments.json else prediction_text(prediction), end="")


def _forecaster(arguments: argparse.Namespace) -> "Forecaster":
    from candlecast.forecasting.forecaster import Forecaster

    if arguments.experiment is None and arguments.run_id is None:
        if not arguments.model.exists():
            raise DataError(
                f"{arguments.model}: no such folder; make it with: dvc repro, or name one with --model"
            )
        return Forecaster.load(arguments.model)
    from candlecast.tracking.store import quiet, tracking_store

    quiet(os.environ)
    from candlecast.tracking.lookup import find_run
    from candlecast.tracking.run_model import fetch_forecaster

    found = find_run(tracking_store(os.environ, Path.cwd()), arguments.run_id or arguments.experiment)
    with tempfile.TemporaryDirectory() as temporary:
        return Forecaster.load(fetch_forecaster(found, Path(temporary)))
