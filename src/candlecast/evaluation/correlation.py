"""Information coefficients: how well forecasts order what was realised.

Three views, because a universe may be too thin for the usual one. *Daily* is the practitioner's: the
correlation across tickers on one day, averaged over days. With 4 tickers its standard deviation under no
skill is 1/sqrt(3) a day, so it needs years of days to say anything, and with 2 it is +1 or -1 whatever the
forecast; below `MIN_TICKERS` a day has none. *Pooled* takes all windows as one sample: it also rewards
a forecast of the market's level, which the daily view cannot see. *Ticker* is the correlation along time
within each ticker, averaged over tickers.

A forecast that is constant within a group orders nothing there: its coefficient counts as 0.
"""

from typing import Final

import polars as pl

MIN_TICKERS: Final = 3
MIN_DAYS: Final = 3
RATIOS: Final = {
    "daily_information_coefficient_ratio_score": "pearson",
    "daily_rank_information_coefficient_ratio_score": "spearman",
}

_FORECAST, _REALISED = "forecast_return", "realised_return"


def daily_coefficients(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row a day with at least `MIN_TICKERS` tickers: date, pearson, spearman, tickers.

    `frame` holds one model's forecasts of one part, in `schema.FORECASTS`.
    """
    return (
        _coefficients(frame, "date").filter(pl.col("windows") >= MIN_TICKERS).rename({"windows": "tickers"})
    )


def ticker_coefficients(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row a ticker with at least `MIN_DAYS` days: ticker, pearson, spearman, windows."""
    return _coefficients(frame, "ticker").filter(pl.col("windows") >= MIN_DAYS)


def information_scores(frame: pl.DataFrame) -> dict[str, float]:
    """Return the mean daily, the pooled and the mean ticker coefficient, linear and by rank, and the ICIR.

    ICIR is the mean of the daily coefficients over their standard deviation (ddof 1), not annualised.
    The daily ones are left out when no day has `MIN_TICKERS` tickers, the ticker ones when no ticker has
    `MIN_DAYS` days: a coefficient of two points says nothing, and a made-up 0 would look like a finding.
    """
    pooled = _coefficients(frame.with_columns(pl.lit(0).alias("all")), "all")
    views = {"daily": daily_coefficients(frame), "pooled": pooled, "ticker": ticker_coefficients(frame)}
    scores = {}
    for view, table in views.items():
        if table.height:
            scores[f"{view}_information_coefficient_score"] = _mean(table["pearson"])
            scores[f"{view}_rank_information_coefficient_score"] = _mean(table["spearman"])
    if views["daily"].height > 1:
        for name, kind in RATIOS.items():
            scores[name] = _ratio(views["daily"][kind])
    return scores


def _coefficients(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    ranks = {
        name: pl.col(name).rank("average").over(by).alias(f"{name}_rank") for name in (_FORECAST, _REALISED)
    }
    constant = pl.min_horizontal(pl.col(name).n_unique() for name in (_FORECAST, _REALISED)) == 1
    return (
        frame.with_columns(ranks.values())
        .group_by(by, maintain_order=True)
        .agg(
            pl.corr(_FORECAST, _REALISED).alias("pearson"),
            pl.corr(f"{_FORECAST}_rank", f"{_REALISED}_rank").alias("spearman"),
            constant.alias("constant"),
            pl.len().alias("windows"),
        )
        .with_columns(
            pl.when("constant").then(0.0).otherwise(pl.col(name)).alias(name)
            for name in ("pearson", "spearman")
        )
        .drop("constant")
        .sort(by)
    )


def _mean(series: pl.Series) -> float:
    mean = series.mean()
    assert isinstance(mean, float)
    return mean


def _ratio(daily: pl.Series) -> float:
    spread = daily.std()
    assert isinstance(spread, float)
    return _mean(daily) / spread if spread > 0 else 0.0
