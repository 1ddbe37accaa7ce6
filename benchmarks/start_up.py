"""What a stage costs before it does anything, and what `dvc repro` costs when nothing is to do.

    python -m benchmarks.start_up [--rounds 5] [--json FILE]

A stage's imports, in a process of its own, beside a process that imports torch alone; and `dvc repro` here
beside `dvc repro` of a repository with one stage that prints nothing. Rounds alternate, and the least of
each counts. Run `make repro` first: what is out of date would be run, not measured.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.ratios import Ratio, leave

STAGES = ("check", "download", "features", "windows", "baselines", "train", "audit", "evaluate")
ROOT = Path(__file__).parents[1]
DVC = [sys.executable, "-m", "dvc"]


def seconds(command: list[str], folder: Path) -> float:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "DVC_NO_ANALYTICS": "1"}
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def imports_of(stage: str) -> list[str]:
    run = f"import runpy; runpy.run_path('pipeline/{stage}.py', run_name='imported')"
    return [sys.executable, "-c", run]


def make_empty_pipeline(folder: Path) -> None:
    for command in (["git", "init", "--quiet"], [*DVC, "init", "--quiet"]):
        subprocess.run(command, cwd=folder, check=True)
    (folder / "input.txt").write_text("nothing\n")
    (folder / "dvc.yaml").write_text("stages:\n  nothing:\n    cmd: 'true'\n    deps: [input.txt]\n")
    seconds([*DVC, "repro"], folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    status = subprocess.run([*DVC, "status", "--quiet"], cwd=ROOT, check=False)
    if status.returncode:
        sys.exit("the pipeline is not up to date here; run: make repro")
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder)
        make_empty_pipeline(empty)
        commands = {
            "import torch": ([sys.executable, "-c", "import torch"], ROOT),
            **{f"imports of {stage}": (imports_of(stage), ROOT) for stage in STAGES},
            "dvc repro, empty": ([*DVC, "repro"], empty),
            "dvc repro, nothing to do": ([*DVC, "repro"], ROOT),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(arguments.rounds):
            for name, (command, where) in commands.items():
                times[name].append(seconds(command, where))
    least = {name: min(values) for name, values in times.items()}
    for name, value in least.items():
        print(f"{name:28}{value:7.2f} s (at most {max(times[name]):.2f})")
    ratios = [
        Ratio(
            what=f"start of {stage}",
            against="import torch",
            value=least[f"imports of {stage}"] / least["import torch"],
            goal=1.5,
            reached="at most",
        )
        for stage in STAGES
    ]
    ratios.append(
        Ratio(
            what="dvc repro, nothing to do",
            against="seconds above DVC's floor, an empty pipeline",
            value=least["dvc repro, nothing to do"] - least["dvc repro, empty"],
            goal=0.5,
            reached="at most",
        )
    )
    leave(arguments.json, ratios, {"seconds": times})


if __name__ == "__main__":
    main()
