"""The trained model in the store, in the form that MLflow serves: no pickle, its own code beside it.

The model carries the modules it runs, not the name of a package: no index has Candlecast, and a model served
next year should make its windows as they were made when it was trained.
"""

import ast
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import mlflow.pyfunc
import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import LoggedModel, LoggedModelOutput
from mlflow.entities.logged_model_status import LoggedModelStatus
from mlflow.models import Model, ModelSignature
from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema

import candlecast
from candlecast.tracking import served_model
from candlecast.tracking.identity import folder_hash

NAME: Final = "candlecast"  # of the logged model, and of the registered one
CONTENT: Final = "content.sha256"  # tag: hash of the forecaster's folder
# What the code beside the model imports.
REQUIREMENTS: Final = (
    "mlflow",
    "numpy",
    "pandas",
    "polars",
    "ruamel-yaml",
    "safetensors",
    "scipy",
    "torch",
)
SIGNATURE: Final = ModelSignature(
    inputs=Schema(
        [
            ColSpec(DataType.string, "ticker"),
            ColSpec(DataType.string, "date"),  # as ISO text: MLflow takes no other from CSV
            *(ColSpec(DataType.double, name) for name in ("open", "high", "low", "close")),
            ColSpec(DataType.double, "volume"),
            ColSpec(DataType.double, "adjusted_close", required=False),
        ]
    ),
    outputs=Schema(
        [
            ColSpec(DataType.string, "ticker"),
            ColSpec(DataType.string, "date"),
            ColSpec(DataType.double, "forecast_return"),
            ColSpec(DataType.double, "probability_up"),
        ]
    ),
    params=ParamSchema([ParamSpec("every_date", DataType.boolean, False)]),
)


def log_forecaster(
    client: MlflowClient, run_id: str, folder: Path, example: Mapping[str, Sequence[Any]]
) -> LoggedModel:
    """Store the forecaster in `folder` as a model of the run and return it; the same folder is stored once.

    Parameters
    ----------
    example
        A table of bars as `forecasting.table.bars_of_table` takes it, for whoever looks at the model.
    """
    run = client.get_run(run_id)
    content = folder_hash(folder)
    for known in models_of(client, run.info.experiment_id, run_id):
        if known.tags.get(CONTENT) == content:
            return known
    logged = client.create_logged_model(
        run.info.experiment_id,
        name=NAME,
        source_run_id=run_id,
        tags={CONTENT: content},
        params=run.data.params,
        model_type="forecaster",
    )
    with tempfile.TemporaryDirectory() as temporary:
        saved = Path(temporary, "model")
        record = Model(
            artifact_path=logged.artifact_location,
            model_uuid=logged.model_id,
            run_id=run_id,
            model_id=logged.model_id,
        )
        save_served(saved, folder, example, record)
        client.log_model_artifacts(logged.model_id, str(saved))
    client.log_outputs(run_id, [LoggedModelOutput(logged.model_id, step=0)])
    return client.finalize_logged_model(logged.model_id, LoggedModelStatus.READY)


def save_served(
    path: Path, folder: Path, example: Mapping[str, Sequence[Any]], record: Model | None = None
) -> None:
    """Write what `mlflow models serve` takes: the forecaster, the code it runs and what that needs."""
    table = pd.DataFrame({**example, "date": [str(date) for date in example["date"]]})
    with tempfile.TemporaryDirectory() as temporary:
        code = Path(temporary, candlecast.__name__)
        package = Path(candlecast.__file__).parent
        for module in modules_of(Path(served_model.__file__), package):
            target = code / module.relative_to(package)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(module, target)
        with warnings.catch_warnings():
            # What MLflow says of its own use of pandas is nothing a user can act on.
            warnings.simplefilter("ignore", DeprecationWarning)
            mlflow.pyfunc.save_model(
                str(path),
                python_model=served_model.__file__,
                artifacts={served_model.ARTIFACT: str(folder)},
                signature=SIGNATURE,
                input_example=table,
                pip_requirements=requirements(),
                code_paths=[str(code)],
                mlflow_model=record,
            )


def modules_of(script: Path, package: Path) -> list[Path]:
    """Return the package's files that running `script` imports, their packages' own included.

    What is imported for type checking alone is not run. A store over HTTP takes a request a file.
    """
    found, waiting = {package / "__init__.py"}, [script]
    while waiting:
        tree = _WithoutTypes().visit(ast.parse(waiting.pop().read_text(encoding="utf-8")))
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(package.name):
                continue
            module = package.parent.joinpath(*(node.module or "").split(".")).with_suffix(".py")
            if module.exists() and module not in found:
                found |= {module, module.parent / "__init__.py"}
                waiting.append(module)
    return sorted(found)


class _WithoutTypes(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else node


def requirements() -> list[str]:
    """Return the packages the model runs with, at the versions here, without a build's local label."""
    return [f"{name}=={version(name).partition('+')[0]}" for name in REQUIREMENTS]


def models_of(client: MlflowClient, experiment: str, run_id: str) -> list[LoggedModel]:
    """Return the whole models that a run left, the newest first."""
    found = client.search_logged_models([experiment], f"source_run_id = '{run_id}'")
    return [model for model in found if model.status == LoggedModelStatus.READY and model.name == NAME]
