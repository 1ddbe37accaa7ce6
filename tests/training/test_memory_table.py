from training.memory_settings import setting

from candlecast.training.memory_plan import MIB, plan_settings
from candlecast.training.memory_table import plan_table


def table(budget: float, effective_batch: int = 128) -> str:
    settings = (setting(), setting("bf16", checkpoint=True, per_window=0.5))
    return plan_table(plan_settings(settings, budget * MIB, effective_batch, margin=0.0))


def test_a_row_says_what_each_part_holds_and_whether_it_fits() -> None:
    lines = table(50 + 2 * 32).splitlines()
    assert "budget 114.0 MiB, of which 114.0 MiB may be used (margin 0%)" in lines[0]
    rows = {tuple(line.split()[:3]): line.split() for line in lines if line.strip()[:4] in ("fp32", "bf16")}
    parts = ["20.0", "MiB", "10.0", "MiB", "20.0", "MiB", "64.0", "MiB", "0", "B", "114.0", "MiB"]
    assert rows["fp32", "off", "32"][3:] == ["4", *parts, "<-", "use"]
    assert rows["fp32", "off", "16"][-1] == "fits"
    assert rows["fp32", "off", "64"][-2:] == ["too", "large"]
    assert rows["bf16", "on", "128"][-2:] == ["<-", "use"]


def test_columns_line_up() -> None:
    lines = table(50 + 2 * 32).splitlines()
    header = next(line for line in lines if "activations" in line)
    end = header.index("activations") + len("activations")
    rows = [line for line in lines if line.strip()[:4] in ("fp32", "bf16") and "," not in line]
    assert len(rows) == 2 * 8
    assert all(row[end - 1] in "Bi" and row[end : end + 2] == "  " for row in rows)


def test_the_words_say_which_parameters_to_set() -> None:
    text = table(50 + 2 * 50)
    assert (
        "fp32, activation checkpointing off: 50 windows fit at once. Set accum.micro_batch 43, "
        "accum.steps null, accum.effective_batch 128: 3 steps." in text
    )
    assert "bf16, activation checkpointing on: all 128 windows fit at once" in text
    assert "More than one step costs at most one gradient copy, 10.0 MiB." in text


def test_the_words_say_when_all_or_nothing_fits() -> None:
    assert "all 128 windows fit at once; accumulation has nothing to add." in table(10_000)
    assert "not even one window fits" in table(20)
