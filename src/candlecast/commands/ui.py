"""`candlecast ui`: MLflow on the repository's store."""

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from candlecast.commands.place import repository_root
from candlecast.errors import TrackingError

if TYPE_CHECKING:
    from candlecast.tracking.store import Store


PORT = 5000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the port."""
    parser.add_argument("--port", type=int, default=PORT, help="0: any that is free (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    """Serve until interrupted."""
    from candlecast.tracking.store import quiet, tracking_store

    quiet(os.environ)
    root = repository_root(Path.cwd())
    show(root, tracking_store(os.environ, root), arguments.port)


def show(root: Path, store: "Store", port: int, page: str | None = None) -> None:
    """Serve the store and name the `page` to open, the charts of all runs if None, until interrupted."""
    from candlecast.tracking.server import address, charts_page, choose_port, serve

    if store.is_server:
        print(f"MLFLOW_TRACKING_URI names a server; open {address(store, port)}{page or ''}")
        return
    port = choose_port(port)
    from candlecast.studies.experiments import add_missing_runs
    from candlecast.tracking.backend import connect, sweep
    from candlecast.tracking.pending import deliver

    client, experiment = connect(store)
    deliver(client, store.root)
    sweep(client, experiment)
    if restored := add_missing_runs(root, store):
        print(f"DVC restored {', '.join(restored)} without training: added as light runs")
    print(f"Starting MLflow on {store.name} ...", flush=True)
    try:
        with serve(store, os.environ, port) as (process, url):
            print(f"Open {url}{page or charts_page(experiment)}   (Ctrl-C ends it)", flush=True)
            while process.poll() is None:
                time.sleep(0.5)  # a signal that reaches another thread does not interrupt a longer wait
            raise TrackingError(f"MLflow ended by itself with status {process.returncode}")
    except KeyboardInterrupt:
        print("MLflow has ended.")
