"""The 32 features beside TA-Lib and other packages, in one process, and from a million rows to many.

    python -m benchmarks.features [--json FILE] [--scale 1 10 50]

The peers give raw outputs, these are scale-free, checked and cut to their warm-up. Rounds alternate, so that
another load on the machine hits all; a ratio is of the best rounds. A peer too slow for the whole universe
runs on part of it and is counted by rows. Memory is the rise of the resident set, against the size of the
result. Scaling reads bars from a file, a chunk at a time, in a process of its own for each size. Seconds of
the processor count all threads and are the fairer figure on a machine that has other work.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from benchmarks.features_market import peak_memory, random_bars, write_copies
from benchmarks.features_peers import Peer, installed_peers, talib_same_groupby
from benchmarks.ratios import Ratio, leave, machine

from candlecast.features.build import CHUNK_ROWS, build_features, feature_chunks
from candlecast.features.config import FeaturesConfig
from candlecast.schema import FEATURE_KEYS

CONFIG = FeaturesConfig(families=("trend", "momentum", "volatility", "volume"), warmup_bars=120)
OURS = "candlecast, 32 features"
SLOW = {"ta, pandas groupby, 28 raw outputs": 20}  # times fewer tickers


def part_of(bars: pl.DataFrame, one_in: int) -> pl.DataFrame:
    return bars if one_in == 1 else bars.head(bars.height // one_in)


def compare(bars: pl.DataFrame, rounds: int) -> dict[str, dict[str, float]]:
    runs: dict[str, tuple[Peer, pl.DataFrame, pd.DataFrame]] = {}
    ours: Peer = lambda frame, _: build_features(frame, CONFIG)  # noqa: E731
    for name, run in {OURS: ours, **installed_peers()}.items():
        frame = part_of(bars, SLOW.get(name, 1))
        runs[name] = (run, frame, frame.to_pandas())
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    processor: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (run, frame, table) in runs.items():
            times = bars.height / frame.height
            start, start_processor = time.perf_counter(), time.process_time()
            run(frame, table)
            processor[name].append((time.process_time() - start_processor) * times)
            seconds[name].append((time.perf_counter() - start) * times)
    best = {name: min(values) for name, values in seconds.items()}
    return {
        name: {
            "seconds": best[name],
            "slowest_round": max(seconds[name]),
            "processor_seconds": min(processor[name]),
            "candlecast_is_times_faster": best[name] / best[OURS],
        }
        for name in runs
    }


def check_same(bars: pl.DataFrame) -> None:
    """The peer that claims the same 32 gives the same 32."""
    ours = build_features(bars, CONFIG).select(pl.all().exclude(*FEATURE_KEYS))
    theirs = talib_same_groupby(bars, bars.to_pandas())
    assert ours.columns == list(theirs.columns)
    for name in ours.columns:
        column = ours[name].to_numpy()
        known = np.isfinite(column)
        np.testing.assert_allclose(theirs[name].to_numpy()[known], column[known], rtol=1e-5, atol=1e-6)


def run_whole(path: Path) -> dict[str, float]:
    bars = pl.read_parquet(path)
    features: list[pl.DataFrame] = []
    peak = peak_memory(lambda: features.append(build_features(bars, CONFIG)))
    size = features[0].estimated_size()
    return {"result_bytes": size, "peak_bytes": peak, "peak_over_result": peak / size}


def run_chunks(path: Path, chunk_rows: int) -> dict[str, float]:
    rows = 0

    def build() -> None:
        nonlocal rows
        for chunk in feature_chunks(pl.scan_parquet(path), CONFIG, chunk_rows):
            rows += chunk.height

    start, start_processor = time.perf_counter(), time.process_time()
    peak = peak_memory(build)
    return {
        "rows": rows,
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - start_processor,
        "peak_bytes": peak,
    }


def in_own_process(path: Path, chunk_rows: int) -> dict[str, float]:
    """Run a file of bars in a fresh process; 0 rows a chunk: all of it at once, with the result kept."""
    command = [sys.executable, "-m", "benchmarks.features", "--file", str(path), str(chunk_rows)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, float] = json.loads(output)
    return figures


def scale(bars: pl.DataFrame, millions: list[int]) -> dict[str, Any]:
    figures: dict[str, Any] = {"chunks": []}
    with tempfile.TemporaryDirectory() as folder:
        for copies in millions:
            path = Path(folder) / f"{copies}.parquet"
            write_copies(bars, copies, path)
            if copies == millions[0]:
                figures["memory"] = in_own_process(path, 0)
            sizes = [CHUNK_ROWS // 4, CHUNK_ROWS, CHUNK_ROWS * 4] if copies == millions[-1] else [CHUNK_ROWS]
            for chunk_rows in sizes:
                figures["chunks"].append({"chunk_rows": chunk_rows, **in_own_process(path, chunk_rows)})
            path.unlink()
    return figures


def report(result: dict[str, Any], write: Callable[[str], None]) -> None:
    write(f"{machine()}: {result['rows']:,} rows, {result['tickers']} tickers")
    for name, figures in result["speed"].items():
        write(
            f"{name:<38}{figures['seconds']:>8.2f} s (slowest round {figures['slowest_round']:.2f}, "
            f"processor {figures['processor_seconds']:.2f}), "
            f"candlecast is {figures['candlecast_is_times_faster']:.2f} x as fast"
        )
    use = result["scale"]["memory"]
    peak, size = use["peak_bytes"] / 1e6, use["result_bytes"] / 1e6
    write(f"memory: {peak:,.0f} MB at most for a result of {size:,.0f} MB, {use['peak_over_result']:.2f} x")
    for run in result["scale"]["chunks"]:
        write(
            f"{run['rows'] / 1e6:>6.0f} M rows from a file, {run['chunk_rows']:>7,} rows a chunk: "
            f"{run['seconds']:>7.2f} s, {run['seconds'] / run['rows'] * 1e6:.3f} s a million "
            f"(processor {run['processor_seconds'] / run['rows'] * 1e6:.3f}), "
            f"{run['peak_bytes'] / 1e6:,.0f} MB"
        )


def ratios(result: dict[str, Any]) -> Iterator[Ratio]:
    what = f"32 features, {result['rows'] / 1e6:g} M rows"
    for name, figures in result["speed"].items():
        if name != OURS:
            yield Ratio(what=what, against=name, value=figures["candlecast_is_times_faster"], goal=1.5)
    memory = result["scale"]["memory"]["peak_over_result"]
    yield Ratio(
        what=f"{what}, peak memory", against="their own bytes", value=memory, goal=3, reached="at most"
    )
    whole = {run["rows"]: run for run in result["scale"]["chunks"] if run["chunk_rows"] == CHUNK_ROWS}
    least = min(whole)
    for rows in sorted(whole)[1:]:
        yield Ratio(
            what=f"seconds a row, {rows / 1e6:g} M rows from a file",
            against=f"{least / 1e6:g} M rows",
            value=whole[rows]["seconds"] / whole[least]["seconds"] * least / rows,
            goal=1.1,
            reached="at most",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tickers", type=int, default=200)
    parser.add_argument("--bars", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=int, nargs="+", default=[1, 10, 50], help="how many such universes")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--file", nargs=2, metavar=("FILE", "ROWS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.file:
        path, chunk_rows = Path(options.file[0]), int(options.file[1])
        sys.stdout.write(json.dumps(run_chunks(path, chunk_rows) if chunk_rows else run_whole(path)))
        return
    bars = random_bars(options.tickers, options.bars)
    check_same(bars.head(2 * options.bars))
    result = {
        "rows": bars.height,
        "tickers": options.tickers,
        "speed": compare(bars, options.rounds) if options.rounds else {},
        "scale": scale(bars, options.scale),
    }
    report(result, print)
    leave(options.json, list(ratios(result)), result)


if __name__ == "__main__":
    main()
