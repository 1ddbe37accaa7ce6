"""What a store's refusal means, in words a person can act on."""

import re
from typing import Final

from candlecast.errors import TrackingError
from candlecast.tracking.identity import first_line
from candlecast.tracking.store import Store

# What a driver or the system says, and what to do about it; the first that fits.
_REMEDIES: Final = (
    (
        r"no module named '(?P<module>[\w.]+)'",
        "the address needs the package that brings {module}; install it with pip into this environment",
    ),
    (
        r"database is locked",
        "another program holds the database; end it, such as a browser of sqlite files, and run again",
    ),
    (r"disk is full|no space left|disk quota", "free the disk and run again"),
    (
        r"readonly database|read-only|permission denied|unable to open database",
        "make the file and its folder writable, or name another place in MLFLOW_TRACKING_URI",
    ),
    (
        r"not a database|malformed",
        "the file is no database or a broken one; move it away, and a new one is made",
    ),
    (
        r"out-of-date database schema|can't locate revision",
        "another version of MLflow made it; run mlflow db upgrade, or use that version",
    ),
)
_OTHERWISE: Final = "start the server, correct MLFLOW_TRACKING_URI, or unset it for a store in the repository"


def refusal(store: Store, error: Exception) -> TrackingError:
    """Return the error to raise for what opening or asking the store gave."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return TrackingError(
            f"{error.filename}: {error.strerror}; what belongs to the tracking store is kept there, so make "
            f"it writable"
        )
    said = first_line(error)
    for pattern, remedy in _REMEDIES:
        if found := re.search(pattern, said, re.IGNORECASE):
            return TrackingError(
                f"{store.name}: the tracking store does not answer ({said}); "
                f"{remedy.format(**found.groupdict())}"
            )
    return TrackingError(f"{store.name}: the tracking store does not answer ({said}); {_OTHERWISE}")
