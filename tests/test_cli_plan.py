from pathlib import Path

import pytest
from parameters import write_params

from candlecast.cli import main

SMALL = {
    "model.width": 8,
    "model.tcn_blocks": 1,
    "windows.length": 24,
    "baselines.summary_bars": [8],
    "accum.micro_batch": 2,
    "accum.steps": 4,
}


@pytest.fixture
def params(tmp_path: Path) -> Path:
    """A model small enough to be rehearsed in seconds."""
    return write_params(tmp_path / "params.yaml", SMALL)


def test_a_plan_is_printed_and_drawn(
    params: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "memory.svg"
    main(["plan", "--params", str(params), "--budget", "1GiB", "--figure", str(figure)])
    printed = capsys.readouterr().out
    assert "Effective batch 8, budget 1.0 GiB" in printed
    assert printed.startswith(
        f"{params} has accum.micro_batch 2, accum.steps 4, model.width 8, windows.length 24"
    )
    assert figure.read_text().startswith("<svg ")


def test_the_effective_batch_can_be_asked_for(params: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--params", str(params), "--effective-batch", "6", "--budget", "300 KiB"])
    assert "Effective batch 6, budget 300.0 KiB" in capsys.readouterr().out


@pytest.mark.parametrize("asked", ["fp32", "bf16", "fp16"])
def test_it_answers_first_for_the_precision_that_would_be_trained_in(
    asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    params = write_params(tmp_path / "params.yaml", {**SMALL, "train.precision": asked})
    main(["plan", "--params", str(params), "--budget", "1GiB"])
    read, first, *others = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert read.endswith(f"train.precision {asked}.")
    assert first.startswith(f"{asked}: all 8 windows fit at once, peak ")
    assert [line.split(":")[0] for line in others] == [
        f"also {name}" for name in ("fp32", "bf16") if name != asked
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--budget", "24XB"],
            "error: budget: '24XB' is no size in memory; give one such as 24GiB or 512MiB",
        ),
        (["--params", "nowhere.yaml"], "error: nowhere.yaml: no such file"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(
    params: Path, options: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["plan", "--params", str(params), *options])
    assert str(exit_.value.code).startswith(message)
