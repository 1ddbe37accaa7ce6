"""Run every benchmark, one after another, and keep the figures: make bench.

Each is a script of its own and prints a table of ratios; what it measured lies in benchmarks/results/.
Peers that are not installed are left out and named (pip install -r benchmarks/requirements.txt).
"""

import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
WITH_FIGURES = ("features", "batches", "training_step", "trainer_overhead")
PRINTED_ONLY = ("market_data_memory",)


def main() -> None:
    """Run them all; end with the first failure's status."""
    RESULTS.mkdir(exist_ok=True)
    for name in (*WITH_FIGURES, *PRINTED_ONLY):
        print(f"\n== {name}", flush=True)
        keep = ["--json", str(RESULTS / f"{name}.json")] if name in WITH_FIGURES else []
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *keep], check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
