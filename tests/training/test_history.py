from pathlib import Path

from candlecast.training.history import write_history
from candlecast.training.records import NoiseEstimate, UpdateRecord, ValidationRecord


def update(number: int, noise: NoiseEstimate | None = None, seconds: float = 1.0) -> UpdateRecord:
    return UpdateRecord(
        update=number, micro_step=8 * number, skipped_updates=0, samples_seen=128 * number, epoch=number / 3,
        loss=0.1 + 0.2, grad_norm=1e-17, lr=1e-3, seconds=seconds, windows_per_second=seconds, noise=noise,
    )  # fmt: skip


VALIDATION = ValidationRecord(
    update=2, samples_seen=256, loss=1 / 3, return_rmse_error=1.0, directional_accuracy=0.5, best=True
)


def test_a_row_an_update_with_every_digit(tmp_path: Path) -> None:
    noise = NoiseEstimate(trace=2.0, signal=-0.5, scale=None, low=4.0, high=float("inf"))
    write_history(tmp_path, [update(1), update(2, noise)], [VALIDATION])
    head, first, second = (tmp_path / "history.csv").read_text().splitlines()
    assert head == (
        "update,micro_step,skipped_updates,samples_seen,epoch,loss,grad_norm,lr,"
        "noise_trace,noise_signal,noise_scale,noise_low,noise_high"
    )
    assert first == "1,8,0,128,0.3333333333333333,0.30000000000000004,1e-17,0.001,,,,,"
    assert second.endswith(",2.0,-0.5,,4.0,inf")
    assert (tmp_path / "validation.csv").read_text() == (
        "update,samples_seen,loss,return_rmse_error,directional_accuracy,best\n"
        "2,256,0.3333333333333333,1.0,0.5,1\n"
    )


def test_the_wall_clock_leaves_no_trace(tmp_path: Path) -> None:
    for name, seconds in (("slow", 9.0), ("fast", 1.0)):
        write_history(tmp_path / name, [update(1, seconds=seconds)], [VALIDATION])
    assert (tmp_path / "slow/history.csv").read_bytes() == (tmp_path / "fast/history.csv").read_bytes()
