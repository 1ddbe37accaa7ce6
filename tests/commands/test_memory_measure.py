import pytest
import torch
from training.memory_settings import setting
from training.test_auto_micro_batch import WORKLOAD

from candlecast.commands.memory_measure import Comparison, Measured, comparison_table, measure, measure_plan
from candlecast.errors import TrainingError
from candlecast.training.memory import predict
from candlecast.training.memory_plan import MIB, plan_settings


def test_a_processor_cannot_be_measured_and_the_error_says_so() -> None:
    with pytest.raises(
        TrainingError, match="on a CUDA device only, and there is none at cpu; leave --measure out"
    ):
        measure(WORKLOAD, "fp32", 2, 4, torch.device("cpu"))


def test_predictions_stand_beside_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []

    def fake(*arguments: object) -> Measured:
        calls.append(arguments)
        return Measured(allocated=44 * MIB, reserved=60 * MIB)

    monkeypatch.setattr("candlecast.commands.memory_measure.measure", fake)
    plan = plan_settings((setting(checkpoint=True),), 53 * MIB, effective_batch=4, margin=0.0)
    comparisons = measure_plan(WORKLOAD, plan, torch.device("cuda"))
    # Of 1, 2 and 4 windows only one fits: 52 MiB, of which 10 are copies that one update does not make.
    assert [call[1:4] for call in calls] == [("fp32", 1, 4)]
    assert [(row.predicted, row.measured.allocated) for row in comparisons] == [(42 * MIB, 44 * MIB)]
    line = comparison_table(comparisons).splitlines()[1]
    assert line.split() == ["fp32", "on", "1", "42.0", "MiB", "44.0", "MiB", "1.05", "60.0", "MiB"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("micro_batch", [16, 64])
def test_prediction_is_close_to_what_a_gpu_holds(micro_batch: int) -> None:
    predicted = predict(WORKLOAD, "fp32").peak(micro_batch, 128)
    comparison = Comparison(
        precision="fp32",
        checkpoint_activations=False,
        micro_batch=micro_batch,
        predicted=predicted.total - predicted.copies,
        measured=measure(WORKLOAD, "fp32", micro_batch, 128, torch.device("cuda")),
    )
    assert comparison.measured.allocated == pytest.approx(comparison.predicted, rel=0.25)
