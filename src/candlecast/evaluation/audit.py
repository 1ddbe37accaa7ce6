"""What a leakage audit found: one record a check, and the table of them."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from candlecast.errors import EvaluationError
from candlecast.files import write_text

Status = Literal["ok", "finding", "note"]


@dataclass(frozen=True, slots=True)
class Check:
    """One question of the audit, and its answer."""

    area: str  # "features", "label", "split", "model", "canary", "data"
    name: str  # what must hold
    status: Status  # "finding": it does not hold; "note": worth knowing, no fault
    detail: str  # what was compared, or where it fails first


@dataclass(frozen=True, slots=True)
class Audit:
    """All checks of one audit."""

    checks: tuple[Check, ...]

    @property
    def findings(self) -> tuple[Check, ...]:
        """Return the checks that failed."""
        return tuple(check for check in self.checks if check.status == "finding")

    @property
    def summary(self) -> str:
        """Return one sentence."""
        if not self.findings:
            notes = sum(check.status == "note" for check in self.checks)
            noted = f" ({notes} {'is a note' if notes == 1 else 'are notes'})" if notes else ""
            return f"None of {len(self.checks)} checks{noted} found a way from the future to a forecast."
        names = "; ".join(check.name for check in self.findings)
        return f"{len(self.findings)} of {len(self.checks)} checks failed: {names}."

    def lines(self) -> list[str]:
        """Return the table as text for a terminal, one check a line."""
        marks = {"ok": "ok     ", "finding": "FINDING", "note": "note   "}
        width = max(len(f"{check.area}: {check.name}") for check in self.checks)
        return [
            f"{marks[check.status]}  {f'{check.area}: {check.name}':<{width}}  {check.detail}"
            for check in self.checks
        ]

    def save(self, path: Path) -> None:
        """Write the checks as JSON, the same bytes for the same checks."""
        write_text(path, json.dumps([dataclasses.asdict(check) for check in self.checks], indent=2) + "\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote, or raise `EvaluationError`."""
        try:
            return cls(tuple(Check(**values) for values in json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError) as error:
            raise EvaluationError(
                f"{path}: not an audit ({error}); make it again with: candlecast audit"
            ) from None


def verdict(area: str, name: str, fault: str | None, otherwise: str) -> Check:
    """Return a finding that tells the `fault`, or a passed check that tells what was compared."""
    return Check(area, name, "ok" if fault is None else "finding", otherwise if fault is None else fault)
