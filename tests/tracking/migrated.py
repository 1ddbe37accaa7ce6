"""Databases that are migrated already: doing it to a fresh one takes seconds."""

import shutil
import sqlite3
from pathlib import Path

from candlecast.tracking.backend import connect
from candlecast.tracking.store import Store, tracking_store


def migrate(root: Path) -> Path:
    """Make a store in `root` with every table and the experiment; return its database."""
    connect(tracking_store({}, root))
    return root / "mlflow.db"


def migrated_store(database: Path, root: Path) -> Store:
    """Return a store in `root` that begins as a copy of `database`."""
    shutil.copy(database, root / "mlflow.db")
    with sqlite3.connect(root / "mlflow.db") as connection:
        connection.execute(
            "update experiments set artifact_location = replace(artifact_location, ?, ?)",
            (database.parent.as_uri(), root.as_uri()),
        )
    connection.close()
    return tracking_store({}, root)
