import polars as pl

from candlecast.report.plots import write_plots


def test_the_files_have_the_columns_their_templates_ask_for(inputs, tmp_path):
    write_plots(tmp_path, inputs.forecasts, 10)
    columns = {path.stem: pl.read_csv(path).columns for path in tmp_path.iterdir()}
    assert columns["confusion"] == ["realised", "forecast"]
    assert {"forecast_return", "realised_return"} <= set(columns["predictions"])
    assert columns["reliability"][:2] == ["forecast_probability", "realised_share"]
    assert columns["accuracy_by_year"][:2] == ["year", "directional_accuracy"]


def test_they_hold_the_networks_test_windows_each_once(inputs, tmp_path):
    write_plots(tmp_path, inputs.forecasts, 10)
    expected = inputs.forecasts.filter(model="candlecast", part="test").height
    assert pl.read_csv(tmp_path / "predictions.csv").height == expected
    assert pl.read_csv(tmp_path / "confusion.csv").height == expected


def test_writing_twice_gives_the_same_bytes(inputs, tmp_path):
    for folder in ("a", "b"):
        write_plots(tmp_path / folder, inputs.forecasts, 10)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
