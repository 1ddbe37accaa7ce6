"""Keep dvc.yaml's dependencies equal to what each stage's script can reach: make deps.

DVC hashes the files it is told about. A module that a stage imports and dvc.yaml does not name could change
and leave a stale result in place; one it names for nothing would rerun the stage for nothing.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "candlecast"
PIPELINE = ROOT / "dvc.yaml"
TEMPLATES = (".html", ".css")


def imports(path: Path) -> set[str]:
    """Return the modules that a file imports, at its top or inside a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _own_file(module: str) -> Path | None:
    path = ROOT / "src" / Path(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def reachable(path: Path) -> set[Path]:
    """Return every first-party file with code in it that running `path` may execute, itself included."""
    found, waiting = {path}, [path]
    while waiting:
        for module in imports(waiting.pop()):
            file = _own_file(module)
            if file is not None and file not in found:
                found.add(file)
                waiting.append(file)
    # A package's __init__.py holds a docstring and nothing to run; the architecture test sees to that.
    return {file for file in found if file.name != "__init__.py"}


def watched(stage: str) -> list[str]:
    """Return the first-party dependencies of a stage: whole packages where it runs all of one."""
    entry = ROOT / "pipeline" / f"{stage}.py"
    run = reachable(entry) - {entry}
    dependencies: list[Path] = [file for file in run if file.parent == PACKAGE]
    for package in {file.parent for file in run} - {PACKAGE}:
        modules = {file for file in package.glob("*.py") if file.name != "__init__.py"}
        # What a package's code reads beside it, as templates, is found by no import.
        templates = [file for file in package.iterdir() if file.suffix in TEMPLATES]
        dependencies += [package] if modules <= run else [*(modules & run), *templates]
    return sorted(str(path.relative_to(ROOT)) for path in dependencies)


def rewrite(text: str) -> str:
    """Return dvc.yaml's text with each stage's dependencies under src/ brought up to date."""

    def section(match: re.Match[str]) -> str:
        kept = [line for line in match["deps"].splitlines(keepends=True) if "- src/" not in line]
        return (
            match["head"] + "".join(kept) + "".join(f"      - {path}\n" for path in watched(match["stage"]))
        )

    pattern = r"(?P<head>^  (?P<stage>\w+):\n(?:    .*\n)*?    deps:\n)(?P<deps>(?:      - .*\n)+)"
    return re.sub(pattern, section, text, flags=re.MULTILINE)


if __name__ == "__main__":
    PIPELINE.write_text(rewrite(PIPELINE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit()
