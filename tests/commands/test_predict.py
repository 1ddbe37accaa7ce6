import json
import shutil
from pathlib import Path

import pytest
from forecasting.made import Made
from parameters import write_params

from candlecast.cli import main


@pytest.fixture
def project(repository: Path, made: Made) -> Path:
    """A folder after `dvc repro`, and a file of bars beside it."""
    write_params(repository / "params.yaml", {"data.start": "2020-01-01", "data.end": "2021-01-01"})
    shutil.copytree(made.folder, repository / "data" / "forecaster")
    made.bars.drop("segment").write_csv(repository / "bars.csv")
    return repository


def test_a_file_of_bars_is_forecast_with_the_model_of_the_last_run(
    project: Path, made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["predict", "--bars", "bars.csv", "--json", "AAA"])
    record = json.loads(capsys.readouterr().out)
    expected = made.forecaster.latest(made.bars).row(0, named=True)
    assert [row["ticker"] for row in record["forecasts"]] == ["AAA"]
    assert record["forecasts"][0]["forecast_return"] == pytest.approx(expected["forecast_return"], abs=1e-6)


def test_the_table_names_its_source_and_its_limits(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["predict", "--bars", "bars.csv"])
    text = capsys.readouterr().out
    assert "from files:" in text
    assert "Warning: AAA, BBB, CCC: the last bar is of 2021-01-01" in text
    assert "not investment advice" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "elsewhere"], "error: elsewhere: no such folder; make it with: dvc repro"),
        (["--bars", "none.csv"], "error: data.path: none.csv does not exist"),
        (["--params", "none.yaml"], "error: none.yaml: no such file"),
        (["QQQQ"], "error: data.tickers: sample has no QQQQ"),
    ],
)
def test_what_is_not_there_is_one_line(project: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["predict", *arguments])
    assert str(ended.value).startswith(message)
    assert "\n" not in str(ended.value)
