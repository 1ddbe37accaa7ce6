from dataclasses import replace

import pytest
import torch
from training.small import CONFIG, Recorder, Small, recipe, small

from candlecast.errors import TrainingError
from candlecast.training.average import WeightAverage
from candlecast.training.config import TrainConfig
from candlecast.training.loop import TrainingResult, train
from candlecast.training.records import TrainingEvent, TrainingPlan, TrainingSummary
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore


def run(
    store: WindowStore,
    config: TrainConfig = CONFIG,
    model: Small | None = None,
    **accum: int,
) -> tuple[TrainingResult, Small, Recorder]:
    model, recorder = model or small(), Recorder()
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    return train(model, *sets, recipe(config, **accum), [recorder]), model, recorder


def windows_in(store: WindowStore) -> int:
    return len(store.split.train)


def test_an_epoch_is_every_window_once_in_ceil_n_over_b_updates(store: WindowStore) -> None:
    result, _, _ = run(store, replace(CONFIG, epochs=3), micro_batch=4, steps=3)
    per_epoch = -(-windows_in(store) // 12)

    assert windows_in(store) % 12 != 0  # so that the tail is short
    assert result.counters.samples_seen == 3 * windows_in(store)
    assert result.counters.update == 3 * per_epoch
    assert [record.update for record in result.updates] == list(range(1, 3 * per_epoch + 1))


def test_fewer_windows_than_an_effective_batch_still_train(store: WindowStore) -> None:
    result, model, _ = run(store, micro_batch=16, steps=64)
    assert result.counters.update == 2
    assert not torch.equal(model.conv.weight, small().conv.weight)


def test_micro_steps_are_counted_apart_from_updates(store: WindowStore) -> None:
    result, _, _ = run(store, replace(CONFIG, epochs=1), micro_batch=4, steps=3)
    full, rest = divmod(windows_in(store), 12)
    assert result.counters.micro_step == 3 * full + -(-rest // 4)
    assert result.updates[0].micro_step == 3


def test_how_an_effective_batch_is_cut_changes_neither_the_loss_curve_nor_the_weights(
    store: WindowStore,
) -> None:
    """16 x 8 and 128 x 1, scaled down: 4 x 8 and 32 x 1."""
    accumulated, cut, _ = run(store, micro_batch=4, steps=8)
    at_once, whole, _ = run(store, micro_batch=32, steps=1)

    for ours, theirs in zip(accumulated.updates, at_once.updates, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-5)
        assert ours.grad_norm == pytest.approx(theirs.grad_norm, rel=1e-4)
        assert (ours.update, ours.samples_seen, ours.lr) == (theirs.update, theirs.samples_seen, theirs.lr)
    for mine, other in zip(cut.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)
    assert accumulated.updates[0].micro_step == 8
    assert at_once.updates[0].micro_step == 1


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(store: WindowStore) -> None:
    models = []
    for seed in (7, 7, 8):
        result, model, _ = run(store, model=small(dropout=0.3), seed=seed)
        models.append(model.state_dict() | {f"best {name}": t for name, t in result.best_state.items()})
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
    assert not all(torch.equal(models[0][name], models[2][name]) for name in models[0])


def test_the_learning_rate_warms_up_and_ends_at_its_fraction(store: WindowStore) -> None:
    result, _, _ = run(store, replace(CONFIG, epochs=4))
    rates = [record.lr for record in result.updates]
    peak = rates.index(max(rates))
    assert rates[0] == pytest.approx(CONFIG.peak_lr / (0.2 * len(rates)))
    assert rates[: peak + 1] == sorted(rates[: peak + 1])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert rates[-1] == pytest.approx(0.1 * CONFIG.peak_lr)


def test_validation_falls_on_update_boundaries_at_intervals_in_windows(store: WindowStore) -> None:
    by_batch = {}
    for steps in (1, 3):
        result, _, _ = run(store, replace(CONFIG, validate_every=30), micro_batch=4, steps=steps)
        ends = {record.samples_seen for record in result.updates}
        seen = [record.samples_seen for record in result.validations]
        assert set(seen) <= ends
        assert seen[-1] == 2 * windows_in(store)
        by_batch[steps] = seen
    assert len(by_batch[1]) == len(by_batch[3])
    assert all(abs(a - b) < 12 for a, b in zip(by_batch[1], by_batch[3], strict=True))


def test_the_best_weights_are_those_of_the_lowest_validation_loss(store: WindowStore) -> None:
    result, _, _ = run(store, replace(CONFIG, epochs=6, validate_every=12, peak_lr=0.05))
    losses = [record.loss for record in result.validations]
    best = [record.best for record in result.validations]
    assert best == [loss < min(losses[:index], default=float("inf")) for index, loss in enumerate(losses)]
    assert losses[-1] > min(losses)

    judge = small()
    judge.load_state_dict(result.best_state)
    frozen = replace(CONFIG, peak_lr=1e-30, weight_decay=0.0, epochs=1)
    again, _, _ = run(store, frozen, model=judge)
    assert again.validations[-1].loss == pytest.approx(min(losses), rel=1e-6)


def test_validation_scores_do_not_depend_on_the_micro_batch(store: WindowStore) -> None:
    frozen = replace(CONFIG, peak_lr=1e-30, weight_decay=0.0, epochs=1)
    scores = [run(store, frozen, micro_batch=size, steps=1)[0].validations[-1] for size in (3, 1000)]
    assert scores[0].loss == pytest.approx(scores[1].loss, rel=1e-6)
    assert scores[0].return_rmse_error == pytest.approx(scores[1].return_rmse_error, rel=1e-6)
    assert scores[0].directional_accuracy == pytest.approx(scores[1].directional_accuracy)


def test_observers_hear_the_plan_then_updates_before_each_validation_then_the_end(store: WindowStore) -> None:
    result, _, recorder = run(store)
    plan, *middle, end = recorder.told
    assert isinstance(plan, TrainingPlan)
    assert (plan.effective_batch, plan.total_updates) == (12, result.counters.update)
    assert isinstance(end, TrainingSummary)
    assert (end.outcome, end.update) == ("finished", result.counters.update)
    heard = 0
    for item in middle:
        if isinstance(item, list):
            assert len(item) <= CONFIG.log_every
            heard = item[-1].update
        else:
            assert item.update == heard
    assert [r for item in middle if isinstance(item, list) for r in item] == result.updates


def test_a_gradient_that_is_not_finite_stops_the_run_before_any_weight_is_touched(store: WindowStore) -> None:
    model = small()
    with torch.no_grad():
        model.mean_head.bias.fill_(float("nan"))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(TrainingError, match="update 1"):
        run(store, model=model)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]) or name == "mean_head.bias"


def test_float16_skips_an_overflow_and_neither_the_schedule_nor_the_update_moves(store: WindowStore) -> None:
    """The initial scale of 65536 overflows float16 once the loss is large."""
    model = small()
    with torch.no_grad():
        model.mean_head.weight.mul_(3e2)  # gradients of the hidden layer times the scale pass 65504
    result, _, recorder = run(store, replace(CONFIG, precision="fp16", epochs=4), model=model)
    skips = [told for told in recorder.told if isinstance(told, TrainingEvent)]

    assert result.counters.skipped_updates == len(skips) > 0
    assert all(skip.name == "update_skipped" for skip in skips)
    assert result.counters.samples_seen == 4 * windows_in(store)
    assert [record.update for record in result.updates] == list(range(1, result.counters.update + 1))
    untouched, _, _ = run(store, replace(CONFIG, epochs=4))
    for fp16, fp32 in zip(result.updates, untouched.updates, strict=False):
        assert fp16.lr == fp32.lr
    assert all(torch.isfinite(tensor).all() for tensor in result.best_state.values())


def test_the_moving_average_stays_where_it_was_on_a_skipped_update(
    store: WindowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves: list[int] = []
    move = WeightAverage.update
    monkeypatch.setattr(
        WeightAverage, "update", lambda self, windows: (moves.append(windows), move(self, windows))
    )
    model = small()
    with torch.no_grad():
        model.mean_head.weight.mul_(3e2)
    result, _, _ = run(store, replace(CONFIG, precision="fp16", ema_half_life=20), model=model)
    assert result.counters.skipped_updates > 0
    assert len(moves) == result.counters.update


def test_bfloat16_follows_float32_to_its_own_rounding(store: WindowStore) -> None:
    full, _, _ = run(store)
    half, _, _ = run(store, replace(CONFIG, precision="bf16"))
    for ours, theirs in zip(half.updates, full.updates, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=0.02)


@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_running_out_of_memory_halves_the_micro_batch_and_changes_nothing_else(
    store: WindowStore, monkeypatch: pytest.MonkeyPatch, norm: str
) -> None:
    """At random micro-steps; with batch norm only what is retried whole can be compared: its statistics."""
    short = {5, 12, 40}
    passes = 0

    def run_out(module: torch.nn.Module, inputs: object, outputs: object) -> None:
        nonlocal passes
        passes += module.training
        if module.training and passes in short:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    undisturbed, expected, _ = run(store, model=small(norm), micro_batch=8, steps=3)
    model = small(norm)
    model.register_forward_hook(run_out)
    result, model, heard = run(store, model=model, micro_batch=8, steps=3)

    events = [told for told in heard.told if isinstance(told, TrainingEvent)]
    assert [event.detail["micro_batch"] for event in events] == [4, 2, 1]
    assert result.micro_batch == 1
    assert result.counters.update == undisturbed.counters.update
    assert [r.samples_seen for r in result.updates] == [r.samples_seen for r in undisturbed.updates]
    if norm == "layer":
        for ours, theirs in zip(model.parameters(), expected.parameters(), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    else:
        tracked = model.get_buffer("norm.num_batches_tracked").item()
        assert tracked == result.counters.micro_step  # the failed passes left no trace


def test_memory_that_does_not_carry_one_window_is_an_error_with_the_plan(store: WindowStore) -> None:
    model = small()

    def run_out(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    model.conv.register_forward_hook(run_out)
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    with pytest.raises(TrainingError, match=r"does not carry one window(.|\n)*the table"):
        train(model, *sets, recipe(), memory_plan=lambda: "the table")
