from training.memory_settings import setting

from candlecast.training.memory_plan import MIB, plan_settings
from candlecast.training.memory_table import plan_table


def table(budget: float, effective_batch: int = 128) -> str:
    settings = (setting(), setting("bf16", checkpoint=True, per_window=0.5))
    return plan_table(plan_settings(settings, budget * MIB, effective_batch, margin=0.0))


def test_a_row_says_what_each_part_holds_and_whether_it_fits() -> None:
    lines = table(50 + 2 * 32).splitlines()
    assert "budget 114.0 MiB, of which 114.0 MiB may be used (margin 0%)" in lines[3]
    rows = {tuple(line.split()[:3]): line.split() for line in lines if line.strip()[:4] in ("fp32", "bf16")}
    parts = ["20.0", "MiB", "10.0", "MiB", "20.0", "MiB", "64.0", "MiB", "0", "B", "114.0", "MiB"]
    assert rows["fp32", "off", "32"][3:] == ["4", *parts, "<-", "use"]
    assert rows["fp32", "off", "16"][-1] == "fits"
    assert rows["fp32", "off", "64"][-2:] == ["too", "large"]
    assert rows["bf16", "on", "128"][-2:] == ["<-", "use"]


def test_columns_line_up() -> None:
    lines = table(50 + 2 * 32).splitlines()
    header = next(line for line in lines if "gradients" in line)
    end = header.index("activations") + len("activations")
    rows = [line for line in lines[lines.index(header) + 1 :] if line.strip()[:4] in ("fp32", "bf16")]
    assert len(rows) == 2 * 8
    assert all(row[end - 1] in "Bi" and row[end : end + 2] == "  " for row in rows)


def test_it_begins_with_what_to_set_and_then_says_it_of_the_other_precision() -> None:
    lines = table(50 + 2 * 50).splitlines()
    assert lines[0] == (
        "fp32: set accum.micro_batch 43, accum.steps null, accum.effective_batch 128: 3 steps an update, "
        "peak 136.0 MiB; at most 50 windows fit at once."
    )
    assert lines[1] == (
        "also bf16 with model.checkpoint_activations true: all 128 windows fit at once, peak 114.0 MiB; "
        "accumulation has nothing to add."
    )
    assert lines[2] == ""
    assert "More than one step costs at most one gradient copy, 10.0 MiB." in lines


def test_activations_are_computed_twice_only_where_nothing_fits_otherwise() -> None:
    settings = (setting(), setting(checkpoint=True, per_window=0.5))
    narrow, wide = (
        plan_table(plan_settings(settings, budget * MIB, 128, margin=0.0)).splitlines()[0]
        for budget in (51, 60)
    )
    assert narrow.startswith("fp32 with model.checkpoint_activations true: set accum.micro_batch 2,")
    assert wide.startswith("fp32: set accum.micro_batch 5,")


def test_it_begins_with_a_refusal_where_not_one_window_fits() -> None:
    lines = table(20).splitlines()
    assert lines[0].startswith("fp32: not even one window fits; take a smaller model")
    assert lines[1].startswith("also bf16: not even one window fits")
