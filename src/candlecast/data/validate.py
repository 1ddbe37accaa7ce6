"""Hold a history against the checks and do what the parameters say: stop, drop, or keep and count."""

from collections.abc import Mapping
from datetime import date

import polars as pl

from candlecast.data.checks import ROW_CHECKS
from candlecast.data.config import ChecksConfig
from candlecast.data.quality import MEANING, Finding
from candlecast.data.source import RAW_BARS, Fetched
from candlecast.errors import DataError
from candlecast.schema import check


class LeftOutError(DataError):
    """A history does not pass a check whose policy is drop_ticker; the message is the reason."""


class Judge:
    """Applies the policies to one ticker and keeps what was found."""

    def __init__(self, ticker: str, checks: ChecksConfig) -> None:
        self._ticker = ticker
        self._checks = checks
        self.findings: list[Finding] = []

    def rule(self, name: str, count: int, dates: pl.Series, detail: str = "") -> str:
        """Record a finding and return its policy; raise where the policy is not to go on.

        Raises
        ------
        DataError
            The policy is `error`.
        LeftOutError
            The policy is `drop_ticker`.
        """
        policy: str = getattr(self._checks, name)
        what = f"{count} {MEANING[name]}" + (f" ({detail})" if detail else "")
        first, last = (str(dates.min()), str(dates.max())) if len(dates) else ("", "")
        if policy == "error":
            span = first if first == last else f"{first} to {last}"
            raise DataError(f"{self._ticker}: {what}, {span}; correct them or change data.checks.{name}")
        self.findings.append(
            Finding(
                check=name,
                ticker=self._ticker,
                policy=policy,
                count=count,
                first=first,
                last=last,
                detail=detail,
            )
        )
        if policy == "drop_ticker":
            raise LeftOutError(what)
        return policy


def validate(
    judge: Judge, fetched: Fetched, checks: ChecksConfig, sessions: pl.Series | None
) -> pl.DataFrame:
    """Return the bars that pass, ascending in date; `RAW_BARS`, every value finite and every price above 0.

    `sessions` are those of `data.calendar`, or None without one. Raises as `Judge.rule` does.
    """
    bars = _sorted(judge, check(fetched.bars, RAW_BARS, "a source's bars"))
    for name, find in ROW_CHECKS.items():
        bars = _apply(judge, name, bars, find(bars, checks), fetched.splits)
    if sessions is not None:
        bars = _apply(judge, "outside_calendar", bars, ~bars["date"].is_in(sessions.implode()), {})
    return bars


def _sorted(judge: Judge, bars: pl.DataFrame) -> pl.DataFrame:
    dates = bars["date"]
    if dates.is_sorted() or dates.is_sorted(descending=True):  # newest first is an order too
        return bars.sort("date", maintain_order=True)
    earlier = dates.filter((dates < dates.shift()).fill_null(value=False))
    judge.rule("unsorted_dates", len(earlier), earlier)
    return bars.sort("date", maintain_order=True)


def _apply(
    judge: Judge, name: str, bars: pl.DataFrame, faulty: pl.Series, splits: Mapping[date, float]
) -> pl.DataFrame:
    count = int(faulty.sum())
    if not count:
        return bars
    rows = bars.filter(faulty)
    policy = judge.rule(name, count, rows["date"], _detail(name, rows, splits))
    return bars.filter(~faulty) if policy == "drop_row" else bars


def _detail(name: str, rows: pl.DataFrame, splits: Mapping[date, float]) -> str:
    """Say of the first faulty row what helps to judge it."""
    first = rows.row(0, named=True)
    if name == "non_positive_price":
        return f"{min(first[price] for price in ('open', 'high', 'low', 'close', 'adjusted_close')):g}"
    if name == "unadjusted_split" and first["date"] in splits:
        return f"a split of {splits[first['date']]:g} is listed that day and missing from earlier prices"
    if name == "conflicting_rows":
        return f"{first['date']} has more than one; intraday bars are not read"
    return ""
