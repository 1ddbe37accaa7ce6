"""The layout's rules: who may import whom, and what DVC must watch."""

import ast
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "candlecast"
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
    {"tracking"},
    {"report"},
    {"settings"},
    {"studies"},
    {"cli"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# Third parties stay at the edges.
ONLY_IN = {
    "mlflow": {"tracking"},
    "yfinance": {"data"},
    "exchange_calendars": {"data"},
    "bokeh_sampledata": {"data"},
    "polars": {"schema", "data", "features", "windows", "evaluation", "report", "studies", "cli"},
    "torch": {"seeding", "windows", "models", "training", "evaluation"},
    "dvc": {"studies"},
}
# polars stops at Panel.from_frame; torch starts at WindowDataset.
POLARS_IN_WINDOWS = {"panel.py"}


def imports(path: Path) -> set[str]:
    """Return the modules that a file imports, at its top or inside a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: a relative import hides where it points"
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def own_file(module: str) -> Path | None:
    path = ROOT / "src" / Path(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def reachable(path: Path, seen: set[Path]) -> set[Path]:
    """Return every first-party file that running `path` may execute."""
    for module in imports(path):
        file = own_file(module) if module.startswith("candlecast") else None
        if file and file not in seen:
            seen.add(file)
            reachable(file, seen)
    return seen


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


def test_polars_stops_at_the_panel() -> None:
    inside = {path.name for path in (PACKAGE / "windows").glob("*.py") if "polars" in imports(path)}
    assert inside <= POLARS_IN_WINDOWS


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_package_runs_nothing_when_it_is_imported(path: Path) -> None:
    if path.name == "__init__.py":
        body = ast.parse(path.read_text()).body
        assert len(body) == 1, f"{path} holds more than a docstring"
        assert isinstance(body[0], ast.Expr)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_library_reads_no_environment_and_no_parameters_file_by_itself(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            assert node.attr not in {"environ", "getenv"} or layer(path) in {"cli"}, f"{path}:{node.lineno}"


def test_folders_are_at_most_two_levels_deep_and_named_for_a_purpose() -> None:
    for path in MODULES:
        assert len(path.relative_to(PACKAGE).parts) <= 2, path
        assert not {"utils", "util", "base", "common", "helpers", "misc"} & {*path.parts[-2:], path.stem}, (
            path
        )


@pytest.mark.parametrize("stage", STAGES)
def test_dvc_watches_every_module_the_stage_runs(stage: str) -> None:
    entry = ROOT / "pipeline" / f"{stage}.py"
    watched = [ROOT / dep for dep in STAGES[stage]["deps"]]
    for file in reachable(entry, {entry}):
        if file.name == "__init__.py":  # holds a docstring and nothing to run, tested above
            continue
        assert any(file == dep or dep in file.parents for dep in watched), (
            f"dvc.yaml: stage {stage} runs {file.relative_to(ROOT)} and does not watch it"
        )


@pytest.mark.parametrize("stage", STAGES)
def test_dvc_watches_no_module_the_stage_does_not_run(stage: str) -> None:
    entry = ROOT / "pipeline" / f"{stage}.py"
    run = reachable(entry, {entry})
    for dep in STAGES[stage]["deps"]:
        path = ROOT / dep
        if path.suffix == ".py":
            assert path in run, f"dvc.yaml: stage {stage} watches {dep} and does not run it"
        elif PACKAGE in path.parents:
            idle = {file for file in path.rglob("*.py") if file.name != "__init__.py"} - run
            assert not idle, f"dvc.yaml: stage {stage} watches {dep} and does not run {idle}"


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
