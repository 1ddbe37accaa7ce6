"""What the checks found: the same record in the manifest, the report and the tracking store."""

from dataclasses import dataclass, fields
from typing import Final, get_args, get_type_hints

from candlecast.data.config import ChecksConfig

# Every check, in the order in which they are made; their policies are `data.checks.<name>`.
CHECKS: Final = tuple(
    field.name for field in fields(ChecksConfig) if get_args(get_type_hints(ChecksConfig)[field.name])
)
# What each counts, for a person.
MEANING: Final = {
    "unsorted_dates": "bars before an earlier one",
    "repeated_row": "bars that say again what another says",
    "conflicting_rows": "bars of a date that has another, different bar",
    "missing_price": "bars with a price that is null, NaN or infinite",
    "non_positive_price": "bars with a price of zero or below, which has no logarithm",
    "missing_volume": "bars with a volume that is null, NaN, infinite or negative",
    "price_order": "bars whose high is below, or low above, another of their prices",
    "unit_jump": "bars at about 100 times, or a hundredth of, the others' level",
    "unadjusted_split": "bars that open at a split's ratio to the last close",
    "zero_volume": "bars in a run without any trade",
    "flat_prices": "bars in a run of unchanged prices",
    "outside_calendar": "bars on days without a session",
    "missing_sessions": "sessions without a bar",
    "stale_tail": "sessions after the last bar",
    "too_short": "bars, in the longest stretch without a gap",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One check's finding in one history."""

    check: str
    ticker: str
    policy: str  # what was done about it: drop_row, drop_ticker or flag
    count: int  # of what `MEANING` says
    first: str  # first date concerned, ISO
    last: str
    detail: str  # more, where there is more to say


@dataclass(frozen=True, kw_only=True, slots=True)
class Quality:
    """The policies in force and every finding, in the order of tickers and checks."""

    policies: dict[str, str]
    findings: tuple[Finding, ...]

    def counts(self) -> dict[str, int]:
        """Return the total of every check, in order, zeros included."""
        totals = dict.fromkeys(CHECKS, 0)
        for finding in self.findings:
            totals[finding.check] += finding.count
        return totals

    def summary(self) -> list[str]:
        """Return one line for each check that found something."""
        lines = []
        for check in CHECKS:
            found = [finding for finding in self.findings if finding.check == check]
            if found and check != "too_short":  # each of those has its own line
                where = ", ".join(f"{finding.ticker} {finding.count}" for finding in found[:5])
                more = f", {len(found) - 5} more" if len(found) > 5 else ""
                total = sum(finding.count for finding in found)
                lines.append(f"{check} ({found[0].policy}): {total} {MEANING[check]} ({where}{more})")
        return lines


def policies(config: ChecksConfig) -> dict[str, str]:
    """Return each check's policy."""
    return {name: getattr(config, name) for name in CHECKS}
