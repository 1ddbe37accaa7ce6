from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from candlecast.errors import ParamsError
from candlecast.studies.study import Decision, Study, load_study

ROOT = Path(__file__).parents[2]


def values() -> dict[str, Any]:
    return {
        "name": "007-widths",
        "question": "Is wide better?",
        "prediction": "No.",
        "arms": {
            "narrow": {"description": "8 channels", "overrides": {"model.width": 8}},
            "wide": {"description": "16 channels", "overrides": {"model.width": 16}},
        },
        "tuning": {"key": "train.peak_lr", "values": [1e-4, 1e-3, 1e-2], "seeds": [101, 102]},
        "seeds": [0, 1, 2, 3, 4],
        "settings": {"data.source": "synthetic"},
        "budget": {"samples": 256},
        "decision": {
            "metric": "val/best_loss",
            "direction": "lower",
            "arm": "wide",
            "against": "narrow",
            "smallest_effect": 0.01,
            "confidence": 0.9,
        },
    }


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def save(content: dict[str, Any], name: str = "study.yaml") -> Path:
        YAML().dump(content, tmp_path / name)
        return tmp_path / name

    return save


def load(write: Write, key: str = "", value: Any = None) -> Study:
    """Load the study with the dotted key set to a value."""
    content = values()
    *parts, last = key.split(".") if key else [""]
    place = content
    for part in parts:
        place = place[part]
    if key:
        place[last] = value
    return load_study(write(content))


def test_a_study_is_read_whole(write: Write) -> None:
    study = load(write)
    assert study.arms["wide"].overrides == {"model.width": 16}
    assert study.tuning.values == (0.0001, 0.001, 0.01)
    assert study.seeds == (0, 1, 2, 3, 4)
    assert study.controls == ()


def test_a_budget_sets_the_other_three_to_null(write: Write) -> None:
    budget = load(write).budget
    assert budget == {
        "train.epochs": None,
        "train.updates": None,
        "train.samples": 256,
        "train.seconds": None,
    }


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("colour", 1, "colour: unknown key; a study has name"),
        ("arms.wide.tuned_as", "widest", "arms.wide.tuned_as: widest is no arm with a value of its own"),
        ("arms.wide.tuned_as", "wide", "arms.wide.tuned_as: wide is no arm with a value of its own"),
        ("name", "a study", "name: 'a study' is not letters"),
        ("question", 3, "question: expected text"),
        ("seeds", [0, 1, 2, 3], "seeds: give at least 5 different ones"),
        ("seeds", [0, 1, 2, 3, 3], "seeds: give at least 5 different ones"),
        ("seeds", [0, 1, 2, 3, 101], "seeds: 101 also tuned"),
        ("tuning.values", [1e-3, 1e-4, 1e-2], "tuning.values: give at least three, rising"),
        ("tuning.values", [1e-3, 1e-2], "tuning.values: give at least three"),
        ("tuning.seeds", [], "tuning.seeds: give at least one"),
        ("budget", {"samples": 1, "epochs": 1}, "budget: give exactly one of epochs, updates"),
        ("budget", {"train.samples": 1}, "budget: give exactly one"),
        ("settings", {"model": {"width": 8}}, "settings.model: expected a dotted key"),
        ("settings", {"train.peak_lr": 1e-3}, "settings.train.peak_lr: set by tuning"),
        ("settings", {"train.epochs": 1}, "settings.train.epochs: set by budget"),
        ("settings", {"model.width": 4}, "arms.narrow.overrides.model.width: already fixed in settings"),
        ("arms.wide.overrides", {"seed.x": 3, "a": 1}, "arms.wide.overrides.a: expected a dotted key"),
        ("arms.wide", {"overrides": {}}, "arms.wide.description: missing"),
        ("arms.wide", 5, "arms.wide: expected keys and values, found 5"),
        ("decision.against", "huge", "decision: no arm huge; there are narrow, wide"),
        ("decision.against", "wide", "decision.against: wide is set against itself"),
        ("decision.smallest_effect", 0, "decision.smallest_effect: must be above 0"),
        ("decision.direction", "up", "decision.direction: expected one of lower, higher"),
        ("controls", [{"metric": "m", "arm": "wide", "against": "x", "tolerance": 1}], "no arm x"),
    ],
)
def test_a_fault_is_one_line_with_file_and_key(write: Write, key: str, value: Any, message: str) -> None:
    with pytest.raises(ParamsError) as caught:
        load(write, key, value)
    said = str(caught.value)
    assert "study.yaml: " in said
    assert message in said
    assert "\n" not in said


def test_a_missing_part_is_named(write: Write) -> None:
    content = values()
    del content["decision"]
    with pytest.raises(ParamsError, match=r"study\.yaml: decision: missing; add it"):
        load_study(write(content))


def test_a_study_that_extends_another_changes_what_it_names(write: Write) -> None:
    write(values())
    other = {"extends": "study.yaml", "name": "007-more", "settings": {"data.synthetic.signal": 0.2}}
    study = load_study(write(other, "more.yaml"))
    assert study.name == "007-more"
    assert study.settings == {"data.source": "synthetic", "data.synthetic.signal": 0.2}
    assert study.question == "Is wide better?"


def test_what_is_extended_must_be_there_and_not_come_back(write: Write) -> None:
    with pytest.raises(ParamsError, match=r"extends: .*absent\.yaml is not there"):
        load(write, "extends", "absent.yaml")
    with pytest.raises(ParamsError, match=r"extends: study\.yaml extends this file in turn"):
        load(write, "extends", "study.yaml")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.011, 0.02, "better"),
        (-0.03, -0.011, "worse"),
        (-0.009, 0.01, "equivalent"),
        (0.005, 0.02, "undecided"),
        (-0.02, 0.02, "undecided"),
    ],
)
def test_the_rule_judges_an_interval(low: float, high: float, verdict: str) -> None:
    rule = Decision(metric="m", direction="lower", arm="a", against="b", smallest_effect=0.01, confidence=0.9)
    assert rule.verdict(low, high) == verdict


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_repository_s_studies_are_named_as_their_files(path: Path) -> None:
    assert load_study(path).name == path.stem
