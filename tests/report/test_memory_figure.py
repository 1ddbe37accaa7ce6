import re

from training.memory_settings import setting

from candlecast.report.drawing import standalone
from candlecast.report.memory_figure import memory_figure
from candlecast.training.memory_plan import MIB, MemoryPlan, plan_settings


def plan(budget: float) -> MemoryPlan:
    settings = (setting(), setting(checkpoint=True, per_window=1.0), setting("bf16", per_window=1.2))
    return plan_settings(settings, budget * MIB, 64, margin=0.0)


def test_the_figure_has_a_line_a_setting_and_says_what_it_shows() -> None:
    drawing = memory_figure(plan(10_000))
    assert drawing.svg.startswith("<svg")
    for label in ("fp32", "fp32, recomputed activations", "bf16"):
        assert re.search(rf">{label}</text>", drawing.svg)
    assert "bf16, recomputed activations" not in drawing.svg
    assert "fp32 from 52.0 MiB at 1 to 178.0 MiB at 64 windows" in drawing.alt
    assert "one copy of the gradient, 10.0 MiB" in drawing.caption


def test_the_budget_is_drawn_where_it_is_in_reach() -> None:
    assert "budget less margin" in memory_figure(plan(120)).svg
    assert "budget less margin" not in memory_figure(plan(10_000)).svg


def test_as_a_file_of_its_own_the_figure_brings_its_colours() -> None:
    text = standalone(memory_figure(plan(120)))
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg" style="--ink:#')
    used, given = (set(re.findall(pattern, text)) for pattern in (r"var\(--(\w+)\)", r"--(\w+):#"))
    assert used <= given


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert memory_figure(plan(120)) == memory_figure(plan(120))
