"""What an indicator is: one record, from which the build, the tests and the documentation all read."""

from dataclasses import dataclass

import polars as pl

from candlecast.features.config import Family


@dataclass(frozen=True, kw_only=True, slots=True)
class Indicator:
    """One causal, scale-free number a bar.

    `expression` reads the bars of one history in the order of their dates, and the columns of
    `candlecast.features.derived`. Its row t uses rows up to and including t, and nothing of it changes
    when every price, or every volume, is multiplied by a constant.
    """

    name: str
    family: Family
    expression: pl.Expr
    warmup: int  # rows at the start of a history for which it is null: row `warmup` is the first value
    unit: str
    formula: str
    source: str
