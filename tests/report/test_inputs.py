import polars as pl

from candlecast.report.inputs import read_training
from candlecast.training.history import write_history
from candlecast.training.records import NoiseEstimate, UpdateRecord, ValidationRecord


def update(number: int, noise: NoiseEstimate | None = None) -> UpdateRecord:
    return UpdateRecord(
        update=number,
        micro_step=number * 4,
        skipped_updates=0,
        samples_seen=number * 64,
        epoch=number / 10,
        loss=1 / number,
        grad_norm=1.0,
        lr=1e-3,
        seconds=1.0,
        windows_per_second=64.0,
        noise=noise,
    )


def test_the_trainings_own_files_are_read_with_their_types(tmp_path):
    noise = NoiseEstimate(trace=2.0, signal=0.5, scale=4.0, low=1.0, high=float("inf"))
    validation = ValidationRecord(
        update=150, samples_seen=9600, loss=0.7, return_rmse_error=1.0, directional_accuracy=0.5, best=True
    )
    updates = [update(number) for number in range(1, 150)] + [update(150, noise)]
    write_history(tmp_path, updates, [validation])
    history, validations = read_training(tmp_path)
    assert history["samples_seen"].dtype == pl.Int64
    assert history["noise_scale"].to_list()[-2:] == [None, 4.0]
    assert history["noise_high"][-1] == float("inf")
    assert history["loss"][3] == 0.25
    assert validations["best"].to_list() == [True]


def test_no_measurement_of_the_noise_is_a_column_of_nothing(tmp_path):
    write_history(tmp_path, [update(1)], [])
    history, validations = read_training(tmp_path)
    assert history["noise_scale"].dtype == pl.Float64
    assert validations.is_empty()
