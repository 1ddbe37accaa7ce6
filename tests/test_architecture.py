"""The layout's rules: who may import whom, and what DVC must watch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from dvc_deps import PACKAGE, ROOT, imports, reachable, watched
from ruamel.yaml import YAML

STAGES = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]

# Lowest first: a module imports only from its own layer or a lower one.
LAYERS = [
    {"errors"},
    {"schema", "params", "files"},
    {"stage", "seeding"},
    {"data"},
    {"features"},
    {"windows"},
    {"models"},
    {"training"},
    {"evaluation"},
    {"forecasting"},
    {"tracking"},
    {"report"},
    {"settings"},
    {"studies"},
    {"commands"},
    {"cli"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# Third parties stay at the edges.
ONLY_IN = {
    "mlflow": {"tracking"},
    "yfinance": {"data"},
    "exchange_calendars": {"data"},
    "bokeh_sampledata": {"data"},
    "polars": {
        "schema",
        "data",
        "features",
        "windows",
        "evaluation",
        "forecasting",
        "report",
        "studies",
        "commands",
        "cli",
    },
    "torch": {"seeding", "windows", "models", "training", "evaluation", "commands"},
    "dvc": {"studies"},
    "ray": {"studies"},
    "submitit": {"studies"},
}
# polars stops at Panel.from_frame; torch starts at WindowDataset.
POLARS_IN_WINDOWS = {"panel.py"}


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    if path == PACKAGE / "__init__.py":
        assert not imports(path)
        return
    for module in imports(path):
        top, *rest = module.split(".")
        assert layer(path) in ONLY_IN.get(top, {layer(path)}), f"{top} is imported in {path}"
        assert top not in {"pipeline", "tests", "benchmarks"}
        if top == "candlecast" and rest:
            assert RANK[rest[0]] <= RANK[layer(path)], f"{path} imports {module}, which is above it"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_import_is_relative(path: Path) -> None:
    # The layer of what is imported should stand in the line.
    nodes = ast.walk(ast.parse(path.read_text()))
    assert not [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level]


def test_polars_stops_at_the_panel() -> None:
    inside = {path.name for path in (PACKAGE / "windows").glob("*.py") if "polars" in imports(path)}
    assert inside <= POLARS_IN_WINDOWS


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_package_runs_nothing_when_it_is_imported(path: Path) -> None:
    if path.name == "__init__.py":
        body = ast.parse(path.read_text()).body
        assert [type(node) for node in body] == [ast.Expr], f"{path} holds more than a docstring"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_library_reads_no_environment_and_no_parameters_file_by_itself(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            assert node.attr not in {"environ", "getenv"} or layer(path) in {"cli", "commands"}, (
                f"{path}:{node.lineno}"
            )


def test_folders_are_at_most_two_levels_deep_and_named_for_a_purpose() -> None:
    for path in MODULES:
        assert len(path.relative_to(PACKAGE).parts) <= 2, path
        assert not {"utils", "util", "base", "common", "helpers", "misc"} & {*path.parts[-2:], path.stem}, (
            path
        )


def test_a_stage_starts_without_the_libraries_that_judge_and_draw() -> None:
    # Each is as large as torch: a wrong parameter or a missing file is to be told before any is waited for.
    started = (
        "import runpy, sys\n"
        "for stage in ('audit', 'evaluate'): runpy.run_path(f'pipeline/{stage}.py', run_name='imported')\n"
        "print(sorted({'arch', 'matplotlib', 'mlflow', 'pandas', 'sklearn', 'statsmodels'} & {*sys.modules}))"
    )
    command = [sys.executable, "-c", started]
    assert subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("stage", STAGES)
def test_dvc_watches_exactly_the_modules_the_stage_runs(stage: str) -> None:
    named = [dep for dep in STAGES[stage]["deps"] if dep.startswith("src/")]
    assert named == watched(stage), "bring dvc.yaml up to date with: make deps"
    assert f"pipeline/{stage}.py" in STAGES[stage]["deps"]


def test_a_module_behind_a_package_and_inside_a_function_is_reached() -> None:
    reached = {path.relative_to(ROOT).as_posix() for path in reachable(ROOT / "pipeline" / "train.py")}
    assert (
        "src/candlecast/tracking/training.py" in reached
    )  # imported inside a function of tracking/session.py
    assert "src/candlecast/evaluation/baselines.py" not in reached


@pytest.mark.parametrize("stage", STAGES)
def test_dvc_watches_the_sections_the_stage_loads_and_no_others(stage: str) -> None:
    tree = ast.parse((ROOT / "pipeline" / f"{stage}.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    loaded = {
        node.args[0].value
        for node in calls
        if getattr(node.func, "id", "") == "load_params" and isinstance(node.args[0], ast.Constant)
    }
    if any(getattr(node.func, "id", "") == "load_settings" for node in calls):
        loaded = set(YAML(typ="safe").load((ROOT / "params.yaml").read_text()))
    assert loaded == set(STAGES[stage].get("params", []))
