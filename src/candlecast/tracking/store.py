"""Where the tracking store lies, and MLflow's own settings. Imports no mlflow, which takes seconds.

A stage of `dvc exp run --temp` or `--queue` runs in a temporary clone that is deleted afterwards. A
relative path, or git's idea of the repository's root, would put the store there and lose it; DVC_ROOT
names the repository the experiment was started from, in every mode.
"""

import re
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from candlecast.errors import TrackingError

EXPERIMENT = "candlecast"
ROLE = "candlecast.role"  # tag of a run that is no training: `study` on the parent of a study's cells
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Store:
    """An MLflow tracking store.

    `artifacts` is the absolute URI of a local store's artifacts and None where a server decides. `root`
    is the repository that local files belong to.
    """

    uri: str = field(repr=False)  # may hold a password
    root: Path
    artifacts: str | None

    @property
    def database(self) -> Path | None:
        """Return the sqlite file of a local store, None for a server or another database."""
        if not self.uri.startswith("sqlite:///"):
            return None
        return Path(unquote(self.uri.removeprefix("sqlite:///").partition("?")[0]))

    @property
    def is_server(self) -> bool:
        """Return whether runs go over HTTP to a server that has pages of its own."""
        return self.uri.startswith(("http://", "https://"))

    @property
    def name(self) -> str:
        """Return scheme, host, port and path of the URI; `***` where that could show a secret."""
        scheme, separator, rest = self.uri.partition("://")
        if not separator or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
            return HIDDEN
        return f"{scheme}://{_address(rest, local=scheme.startswith(('sqlite', 'file')))}"


def _address(rest: str, *, local: bool) -> str:
    # A password that is not percent-encoded may hold '/', '?', '#' and '@', so no parser can be trusted here.
    if local and rest.startswith("/") and ":" not in rest:
        return re.split(r"[?#]", rest)[0]  # a file, whose name may hold '@'
    before, _, after = rest.rpartition("@")
    if re.search(r"[?#]", before):
        # The '@' may end a password with '?' in it, or belong to a query: only `user:word` excludes a query.
        user = re.match(r"[^:@/?#\[]*:(?!\d*[/?#])[^@/?#]*", rest)
        if user is None or "@" in before:
            return HIDDEN
    return re.split(r"[?#]", after)[0]


def tracking_store(environ: Mapping[str, str], root: Path) -> Store:
    """Return the store that all runs of the repository share.

    MLFLOW_TRACKING_URI wins; without it the store is `mlflow.db` in DVC_ROOT, or in `root` outside DVC.
    """
    home = Path(environ.get("DVC_ROOT") or root).resolve()
    uri = environ.get("MLFLOW_TRACKING_URI") or _sqlite(home / "mlflow.db")
    if "://" not in uri:
        raise TrackingError(
            "MLFLOW_TRACKING_URI: names a folder, which MLflow no longer writes to, or lacks http://; "
            "give sqlite:////absolute/path/mlflow.db or the address of a server, or unset it"
        )
    store = Store(uri, home, None)
    if store.database is None:
        return store
    if not store.database.is_absolute():
        raise TrackingError(
            f"MLFLOW_TRACKING_URI: {store.name} is relative, and a queued experiment's folder is deleted "
            f"with it; give {_sqlite(home / 'mlflow.db')} or unset it"
        )
    return Store(uri, home, (store.database.parent / "mlartifacts").as_uri())


def _sqlite(path: Path) -> str:
    # The driver decodes the path, and takes what follows a question mark for settings.
    return f"sqlite:///{re.sub('[%?#]', lambda found: quote(found[0]), str(path))}"


def quiet(environ: MutableMapping[str, str]) -> None:
    """Set MLflow's own settings in the process's environment: no telemetry, and short waits.

    Call it before the first use of MLflow. What the user set is kept, telemetry excepted.
    """
    environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    # A training waits for a server that is away; MLflow's default would hold it for minutes at each flush.
    environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    if (telemetry := sys.modules.get("mlflow.telemetry")) is not None:
        telemetry.set_telemetry_client()  # reads the setting again
