"""Run every benchmark, one after another, then put all ratios into one table and one figure: make bench.

Each is a script of its own; what it measured lies in benchmarks/results/. Peers that are not installed are
left out and named (pip install -r benchmarks/requirements.txt).
"""

import subprocess
import sys

from benchmarks.ratios import RESULTS
from benchmarks.summary import main as summarise

BENCHMARKS = (
    "features",
    "batches",
    "training_step",
    "trainer_overhead",
    "peak_memory",
    "logging_share",
    "market_data_memory",
    "start_up",
    "inference",
)


def main() -> None:
    """Run them all; end with the first failure's status."""
    RESULTS.mkdir(exist_ok=True)
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        keep = ["--json", str(RESULTS / f"{name}.json")]
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *keep], check=False)
        if done.returncode:
            sys.exit(done.returncode)
    summarise()


if __name__ == "__main__":
    main()
