"""The economic view written out: one tranche at a time, one ticker at a time."""

import polars as pl


def slow_paths(
    frame: pl.DataFrame, closes: pl.DataFrame, horizon: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return gross daily returns and turnover of the long/short and long/flat strategies."""
    first = frame["date"].min()
    dates = sorted({date for date in closes["date"] if date >= first})
    price: dict[tuple[str, int], float] = {}
    tickers = sorted(set(frame["ticker"]))
    known = {(row["ticker"], row["date"]): row["close"] for row in closes.iter_rows(named=True)}
    for ticker in tickers:
        last = None
        for index, date in enumerate(dates):
            last = known.get((ticker, date), last)
            price[ticker, index] = last
    last_forecast = dates.index(max(frame["date"]))
    num_days = min(last_forecast + 1 + horizon, len(dates) - 1)
    gross, turnover = {}, {}
    for name in ("long/short", "long/flat"):
        holding = [dict.fromkeys(tickers, 0.0) for _ in range(num_days + 1)]  # over the day from s to s + 1
        for (date,), day in frame.group_by("date"):
            made = dates.index(date)
            for row in day.iter_rows(named=True):
                up = row["probability_up"]
                side = (1 if up > 0.5 else -1 if up < 0.5 else 0) if name == "long/short" else int(up > 0.5)
                for held in range(made + 1, made + 1 + horizon):
                    if held < num_days:
                        holding[held][row["ticker"]] += side / day.height / horizon
        gross[name], turnover[name] = [], []
        before = dict.fromkeys(tickers, 0.0)
        for day in range(num_days):
            gross[name].append(
                sum(holding[day][t] * (price[t, day + 1] / price[t, day] - 1) for t in tickers)
            )
            traded = sum(abs(holding[day][t] - before[t]) for t in tickers)
            if day == num_days - 1:
                traded += sum(abs(holding[day][t]) for t in tickers)
            turnover[name].append(traded)
            before = holding[day]
    return gross, turnover
