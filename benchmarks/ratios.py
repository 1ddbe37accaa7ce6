"""What every benchmark leaves: ratios against a goal, with the figures and the machine they come from."""

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import torch

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One row of the table of ratios."""

    what: str
    against: str
    value: float
    goal: float
    reached: Literal["at least", "at most"] = "at least"

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.value >= self.goal if self.reached == "at least" else self.value <= self.goal

    def __str__(self) -> str:
        verdict = "reached" if self.met else "NOT reached"
        return (
            f"{self.what} / {self.against}: {self.value:.3g} (goal {self.reached} {self.goal:g}, {verdict})"
        )


def machine() -> str:
    """Return processor, operating system and the versions that decide speed."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", "polars", "numpy"))
    return (
        f"{_processor()}, {os.cpu_count()} logical processors, torch on {torch.get_num_threads()} threads "
        f"({torch.backends.cpu.get_cpu_capability()}); {platform.system()}, Python "
        f"{platform.python_version()}, {libraries}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def leave(path: Path | None, ratios: Sequence[Ratio], figures: Mapping[str, Any]) -> None:
    """Print the ratios, and write them with the figures behind them as JSON where a path is given."""
    for ratio in ratios:
        print(ratio)
    if path is not None:
        result = {
            "machine": machine(),
            "command": " ".join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}"]),
            "ratios": [asdict(ratio) for ratio in ratios],
            "figures": figures,
        }
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def read_ratios(path: Path) -> list[Ratio]:
    """Return the ratios that a benchmark left in a file."""
    return [Ratio(**row) for row in json.loads(path.read_text(encoding="utf-8"))["ratios"]]
