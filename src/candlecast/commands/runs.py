"""`candlecast open` and `candlecast promote`: find a run, and say which model is worth using."""

import argparse
import os
from pathlib import Path

from candlecast.commands import ui
from candlecast.commands.place import repository_root


def open_options(parser: argparse.ArgumentParser) -> None:
    """Add the name and whether to start MLflow."""
    parser.description = "Say which MLflow run belongs to a DVC experiment, and the other way round."
    parser.add_argument("name", help="a DVC experiment, its commit, or an MLflow run's id or name")
    parser.add_argument("--ui", action="store_true", help="also start MLflow, and name the run's page")
    parser.add_argument("--port", type=int, default=ui.PORT, help="of MLflow's pages (default: %(default)s)")


def run_open(arguments: argparse.Namespace) -> None:
    """Print the run, its experiment and its page."""
    from candlecast.tracking.store import quiet, tracking_store

    quiet(os.environ)
    from candlecast.studies.trace import trace
    from candlecast.tracking.server import address

    root = repository_root(Path.cwd())
    store = tracking_store(os.environ, root)
    traced = trace(root, store, arguments.name)
    print("\n".join(traced.lines()))
    if arguments.ui:
        ui.show(root, store, arguments.port, traced.page)
        return
    port = arguments.port or ui.PORT
    print(f"page            {address(store, port)}{traced.page}")
    if not store.is_server:
        option = "" if port == ui.PORT else f" --port {port}"
        both = f"candlecast open {arguments.name} --ui{option}"
        print(f"                while candlecast ui{option} runs; or: {both}")


def promote_options(parser: argparse.ArgumentParser) -> None:
    """Add the run, or the study whose winner is asked for."""
    parser.description = (
        "Register the model of a run and make it the champion, if its test span shows skill beyond every "
        "baseline; refuse with the reason otherwise. Of a study it is the winner's model, if the study's own "
        "rule names a winner: the run with the lowest validation loss among the winning arm's seeds."
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("name", nargs="?", help="a DVC experiment, or an MLflow run's id or name")
    what.add_argument("--study", help="a study's YAML, or its name: the model of the arm that its rule names")


def run_promote(arguments: argparse.Namespace) -> None:
    """Promote, and say how to serve the model."""
    from candlecast.tracking.store import quiet, tracking_store

    quiet(os.environ)
    from candlecast.studies.champion import promote_winner
    from candlecast.tracking.lookup import find_run
    from candlecast.tracking.registry import promote

    root = repository_root(Path.cwd())
    store = tracking_store(os.environ, root)
    if arguments.study is None:
        promoted = promote(find_run(store, arguments.name))
    else:
        winner, promoted = promote_winner(root, store, arguments.study)
        print(winner.sentence)
    print(f"{promoted.uri} is version {promoted.version} now: {promoted.proof.answer}")
    print(
        f"Serve it with: MLFLOW_TRACKING_URI={store.name} mlflow models serve -m {promoted.uri} "
        f"--env-manager local --host 127.0.0.1"
    )
