"""What the gradient noise scale says of the effective batch, in words, and how sure it is."""

from math import isfinite
from typing import Final

import numpy as np
import polars as pl

# Beside the interval's own width: what it takes for granted.
CAVEAT: Final = (
    "The interval takes measurements as independent; windows overlap and the network changes while it "
    "trains, so in truth it is wider."
)


def noise_sentences(history: pl.DataFrame) -> list[str]:
    """Return the effective batch that the noise scale suggests and how sure that is; none where unmeasured.

    `history` is history.csv. At an effective batch equal to the noise scale a training takes twice the
    updates of the fewest possible and twice the windows of the fewest possible (McCandlish et al. 2018).
    """
    if "noise_low" not in history.columns:
        return []
    measured = history.filter(pl.col("noise_low").is_not_null())
    if measured.is_empty():
        return []
    last, batch = measured.row(-1, named=True), effective_batch(history)
    scale, low, high = last["noise_scale"], last["noise_low"], last["noise_high"]
    if scale is None:
        return [_dominated(low, batch), CAVEAT]
    bounded = high is not None and isfinite(high)
    suggestion = (
        f"The gradient noise scale suggests an effective batch of about {windows(scale)} windows: there a "
        "training takes twice the fewest possible updates and twice the fewest possible windows."
    )
    sure = (
        f"It lies between {windows(low)} and {windows(high)} windows in 9 cases of 10, "
        f"{'a factor of ' + format(high / low, ',.1f') if low > 0 else 'nothing and that'}."
        if bounded
        else f"It is above {windows(low)} windows in 9 cases of 10 and has no upper bound: the gradient's "
        "signal cannot be told from none."
    )
    return [suggestion, sure, _beside(batch, low, high if bounded else np.inf), CAVEAT]


def effective_batch(history: pl.DataFrame) -> int:
    """Return the windows of an update; the last of an epoch may be fewer."""
    return int(np.median(np.diff(history["samples_seen"].to_numpy(), prepend=0)))


def windows(count: float) -> str:
    """Return a number of windows to two digits, which is more than the measurement has.

    >>> windows(1234.0), windows(87.6), windows(0.4)
    ('1,200', '88', '0.4')
    """
    return f"{float(f'{count:.1e}'):,.0f}" if count >= 1 else f"{count:.1g}"


def _beside(batch: int, low: float, high: float) -> str:
    used = f"This training used {batch:,}, "
    if batch < low:
        return used + "below all of that: a larger effective batch would take fewer updates at little cost."
    if batch > high:
        return used + "above all of that: a smaller effective batch would spend fewer windows for the same."
    return used + "inside that: the measurement gives no reason to change it."


def _dominated(low: float, batch: int) -> str:
    bound = f" It is above {windows(low)} windows in 9 cases of 10." if isfinite(low) and low > 0 else ""
    return (
        "The gradient is noise-dominated: its signal could not be told from none, so the noise scale has no "
        f"estimate and suggests no effective batch; {batch:,} windows are too few to see a signal in.{bound}"
    )
