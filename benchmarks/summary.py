"""All ratios in one table and one figure, from what the benchmarks left in benchmarks/results/.

python -m benchmarks.summary
"""

import json
from pathlib import Path

import matplotlib as mpl
from benchmarks.ratios import RESULTS, Ratio, read_ratios
from matplotlib.figure import Figure

from candlecast.files import replacing, write_text

REACHED, MISSED = "#2060c1", "#b06812"


def table(ratios: list[Ratio], machines: list[str]) -> str:
    """Return the ratios in Markdown, with the machines that gave them."""
    rows = [
        f"| {ratio.what} | {ratio.against} | {ratio.value:.3g} | {ratio.reached} {ratio.goal:.3g} "
        f"| {'reached' if ratio.met else '**not reached**'} |"
        for ratio in ratios
    ]
    met = sum(ratio.met for ratio in ratios)
    head = "| what | against | ratio | goal | |\n|---|---|---|---|---|\n"
    measured = "\n".join(f"- {machine}" for machine in machines)
    return (
        f"{met} of {len(ratios)} goals reached.\n\n{head}" + "\n".join(rows) + f"\n\nMachine:\n\n{measured}\n"
    )


def draw(ratios: list[Ratio], path: Path) -> None:
    """Write the figure: how far each ratio is from its goal, to the right of the line if it is reached."""
    rows = ratios[::-1]
    reach = [r.value / r.goal if r.reached == "at least" else r.goal / max(r.value, 1e-3) for r in rows]
    with mpl.rc_context({"svg.hashsalt": "benchmarks", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(9, 0.26 * len(rows) + 0.9), layout="constrained", facecolor="white")
        axes = figure.subplots()
        colours = [REACHED if ratio.met else MISSED for ratio in rows]
        axes.hlines(range(len(rows)), 1, reach, color=colours, linewidth=1.5)
        axes.scatter(reach, range(len(rows)), color=colours, s=22, zorder=3)
        axes.axvline(1, color="black", linewidth=1)
        axes.set_xscale("log")
        axes.set_yticks(range(len(rows)), [f"{ratio.what} / {ratio.against}" for ratio in rows], fontsize=8)
        axes.set_xlabel(
            "times the goal: right of the line (blue) it is reached, left of it (brown) it is not"
        )
        with replacing(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})


def main() -> None:
    """Write ratios.md and ratios.svg."""
    files = sorted(RESULTS.glob("*.json"))
    ratios = [ratio for file in files for ratio in read_ratios(file)]
    machines = sorted({json.loads(file.read_text(encoding="utf-8"))["machine"] for file in files})
    text = table(ratios, machines)
    write_text(RESULTS / "ratios.md", text)
    draw(ratios, RESULTS / "ratios.svg")
    print(text)


if __name__ == "__main__":
    main()
