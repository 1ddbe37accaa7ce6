import pytest

from candlecast.studies.roles import batch_sizes
from candlecast.tracking.runs import TrackedRun


@pytest.mark.parametrize(
    ("params", "sizes"),
    [
        ({"plan.micro_batch": "8", "plan.effective_batch": "20", "accum.micro_batch": "auto"}, (8, 20)),
        ({"accum.micro_batch": "16", "accum.steps": "8", "accum.effective_batch": "null"}, (16, 128)),
        ({"accum.micro_batch": "16", "accum.steps": "null", "accum.effective_batch": "40"}, (16, 40)),
        ({"accum.micro_batch": "auto", "accum.steps": "null", "accum.effective_batch": "40"}, None),
        ({}, None),
    ],
)
def test_the_batches_are_those_resolved_or_else_those_asked_for(
    params: dict[str, str], sizes: tuple[int, int] | None
) -> None:
    run = TrackedRun(run_id="", name="", status="FINISHED", started=0, params=params, metrics={}, tags={})
    assert batch_sizes(run) == sizes
