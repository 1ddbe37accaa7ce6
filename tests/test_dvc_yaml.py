"""dvc.yaml read as a reader and as DVC would."""

import subprocess
from pathlib import Path

from ruamel.yaml import YAML

from candlecast.params import read_params

ROOT = Path(__file__).parent.parent
PIPELINE = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
STAGES = PIPELINE["stages"]


def outputs(stage: dict[str, object]) -> set[str]:
    entries = [*stage.get("outs", []), *stage.get("metrics", []), *stage.get("plots", [])]  # type: ignore[misc]
    return {next(iter(entry)) if isinstance(entry, dict) else entry for entry in entries}


def test_every_stage_says_what_it_does_and_runs_the_script_of_its_name() -> None:
    for name, stage in STAGES.items():
        assert stage["desc"], name
        assert f"pipeline/{name}.py" in stage["cmd"]
        assert (ROOT / "pipeline" / f"{name}.py").exists()


def test_every_dependency_exists_or_is_made_by_a_stage() -> None:
    made = set().union(*(outputs(stage) for stage in STAGES.values()))
    for name, stage in STAGES.items():
        for dep in stage["deps"]:
            inside = any(dep == out or dep.startswith(out + "/") for out in made)
            assert inside or (ROOT / dep).exists(), f"stage {name} depends on {dep}"


def test_no_output_is_tracked_by_git_as_well() -> None:
    # DVC notices only after the stage has run, and then fails.
    tracked = set(subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines())
    for stage in STAGES.values():
        for entry in stage.get("outs", []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            cached = isinstance(entry, str) or next(iter(entry.values())).get("cache", True)
            if cached:
                assert not {file for file in tracked if file == path or file.startswith(path + "/")}, path


def test_no_stage_is_frozen_persistent_or_always_changed() -> None:
    # persist disables the run-cache and lets one configuration's files leak into another's;
    # frozen silently ignores changed parameters; always_changed never lets a rerun be up to date.
    text = (ROOT / "dvc.yaml").read_text()
    assert not [word for word in ("persist:", "frozen:", "always_changed:") if word in text]


def test_training_depends_on_nothing_made_from_the_test_span_alone() -> None:
    assert not {
        dep for dep in STAGES.get("train", {}).get("deps", []) if "predictions" in dep or "metrics" in dep
    }


def test_a_stage_that_writes_a_page_runs_again_when_its_templates_change() -> None:
    templates = {f"src/candlecast/report/{name}" for name in ("report.html", "frame.html", "report.css")}
    assert templates <= set(STAGES["evaluate"]["deps"])
    assert not templates & set(STAGES["train"]["deps"])


def test_dvc_s_quick_parser_reads_the_parameters_as_the_stages_do() -> None:
    path = ROOT / "params.yaml"
    quick = YAML(typ="safe")
    assert "clib" in quick.Parser.__module__  # libyaml, which reads YAML 1.1 and leaves the types to ruamel
    assert repr(quick.load(path.read_text())) == repr(read_params(path))
