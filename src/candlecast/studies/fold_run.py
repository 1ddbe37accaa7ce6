"""One fold of a walk-forward as its run left it: in a folder, or in a DVC revision."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, Final

import polars as pl
from ruamel.yaml import YAML

from candlecast.errors import EvaluationError
from candlecast.schema import FORECASTS, check

Read = Callable[[str], bytes]

_FORECASTS: Final = ("data/predictions/predictions.parquet", "data/baselines/predictions.parquet")


@dataclass(frozen=True, slots=True)
class FoldRun:
    """What the judgement of several folds needs of each."""

    name: str
    fold: int
    folds: int
    boundaries: Mapping[str, str]  # Split.boundaries: test_start, test_end, ...
    params: Mapping[str, Any]  # params.yaml as read
    data_sha256: str
    training_mean: float  # realised log-return of the training windows
    forecasts: pl.DataFrame  # schema.FORECASTS: the network's and the baselines'
    closes: pl.DataFrame  # ticker, date and close of every session


def read_fold_run(root: Path, name: str) -> FoldRun:
    """Return the run called `name`: a folder if there is one, otherwise a revision as DVC knows it.

    A revision is an experiment, branch, tag or commit of the repository at `root`; its files come from
    git and from DVC's cache.

    Raises
    ------
    EvaluationError
        There is neither, or a file of it is missing or cannot be read.
    """
    folder = Path(name)
    read: Read = (lambda path: (folder / path).read_bytes()) if folder.is_dir() else _revision(root, name)
    path = ""
    try:
        path = "data/windows/split.json"
        split = json.loads(read(path))
        path = "data/windows/standardizer.json"
        training_mean = float(json.loads(read(path))["target_mean"])
        path = "data/raw/manifest.json"
        data_sha256 = str(json.loads(read(path))["content_sha256"])
        path = "params.yaml"
        params = YAML(typ="safe", pure=True).load(StringIO(read(path).decode()))
        frames = []
        for path in _FORECASTS:
            frames.append(check(pl.read_parquet(BytesIO(read(path))), FORECASTS, f"{name}: {path}"))
        path = "data/features/features.parquet"
        closes = pl.read_parquet(BytesIO(read(path)), columns=["ticker", "date", "close"])
    except EvaluationError:
        raise
    except (OSError, ValueError, KeyError, pl.exceptions.PolarsError) as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise EvaluationError(
            f"{name}: {path} {' '.join(reason.split())}; run the whole pipeline there, or fetch what it left "
            "with: dvc pull --all-commits"
        ) from None
    return FoldRun(
        name=name,
        fold=split["fold"],
        folds=split["folds"],
        boundaries=split["boundaries"],
        params=params,
        data_sha256=data_sha256,
        training_mean=training_mean,
        forecasts=pl.concat(frames),
        closes=closes,
    )


def _revision(root: Path, name: str) -> Read:
    from dvc.api import DVCFileSystem  # takes a second, and folders do without it
    from dvc.exceptions import DvcException
    from dvc.scm import RevError

    files = DVCFileSystem(url=str(root), rev=name)  # looks for the revision at the first read

    def read(path: str) -> bytes:
        try:
            content: bytes = files.read_bytes(path)
        except RevError:
            raise EvaluationError(
                f"{name}: neither a folder nor an experiment, branch, tag or commit; dvc exp list names the "
                "experiments"
            ) from None
        except DvcException as error:  # not in the cache, and no remote has it
            raise FileNotFoundError(str(error)) from None
        return content

    return read
