"""How much memory a large universe takes to read.

    python -m benchmarks.market_data_memory [--tickers 2000] [--bars 5000] [--json FILE]

Writes a universe of random numbers as Parquet, once as one long file and once as a file a ticker, and takes a
snapshot of each in a process of its own. Prints the peak of that process beyond what the imports took, beside
the size of the snapshot's table; the promise is at most twice the table.
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.process_memory import status_bytes
from benchmarks.ratios import Ratio, leave

from candlecast.data.config import DataConfig
from candlecast.data.snapshot import take_snapshot
from candlecast.params import load_params

ROOT = Path(__file__).parent.parent


def write(folder: Path, tickers: int, bars: int) -> None:
    generator = np.random.default_rng(1)
    dates = pl.Series(np.busday_offset("2000-01-03", np.arange(bars)))
    (folder / "each").mkdir()
    parts = []
    for number in range(tickers):
        close = 50 * np.exp(np.cumsum(generator.normal(0, 0.01, bars)))
        frame = pl.DataFrame(
            {
                "ticker": pl.repeat(f"T{number:04d}", bars, eager=True),
                "date": dates,
                "open": close * 0.999,
                "high": close * 1.01,
                "low": close * 0.99,
                "close": close,
                "volume": generator.integers(1, 10**6, bars),
            }
        )
        frame.drop("ticker").write_parquet(folder / "each" / f"T{number:04d}.parquet")
        parts.append(frame)
    pl.concat(parts).write_parquet(folder / "long.parquet")


def measure(path: Path, out: Path) -> None:
    """Take and save one snapshot; print its peak memory and time as JSON."""
    usual = load_params("data", DataConfig, ROOT / "params.yaml")
    config = replace(usual, source="files", path=str(path), tickers=(), end=datetime.date(2100, 1, 1))
    before = status_bytes("VmRSS")
    began = time.monotonic()
    snapshot = take_snapshot(config)
    taken = status_bytes("VmHWM")
    snapshot.save(out)
    saved = status_bytes("VmHWM")
    table = snapshot.bars.estimated_size()
    result = {"table": table, "taken": taken - before, "saved": saved - before}
    print(json.dumps({**result, "seconds": time.monotonic() - began, "rows": snapshot.bars.height}))


def compare(tickers: int, bars: int) -> dict[str, dict[str, float]]:
    """Return what a universe in one long file, and in a file a ticker, took; in bytes and seconds."""
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, tickers, bars)
        for way, path in {
            "one long file": folder / "long.parquet",
            "a file a ticker": folder / "each",
        }.items():
            module = [sys.executable, "-m", "benchmarks.market_data_memory"]
            command = [*module, "--measure", str(path), str(folder / "snapshot")]
            output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
            figures[way] = json.loads(output)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tickers", type=int, default=2000)
    parser.add_argument("--bars", type=int, default=5000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", type=Path, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    figures = compare(options.tickers, options.bars)
    print(f"{options.tickers} tickers x {options.bars} bars, MiB")
    for way, found in figures.items():
        table = found["table"]
        print(
            f"{way:16} table {table / 2**20:7.0f}   peak {found['taken'] / 2**20:7.0f}   with saving "
            f"{found['saved'] / 2**20:7.0f}   {found['seconds']:.0f} s   {found['rows']} rows"
        )
    ratios = [
        Ratio(
            what=f"peak memory of reading {options.tickers} tickers x {options.bars} bars, {way}",
            against="the table's bytes",
            value=max(found["taken"], found["saved"]) / found["table"],
            goal=2,
            reached="at most",
        )
        for way, found in figures.items()
    ]
    leave(options.json, ratios, figures)


if __name__ == "__main__":
    main()
