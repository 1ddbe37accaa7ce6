"""The network and its training see what they may: no later bar, no other window, nothing of the test part."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from candlecast.evaluation.audit import Check, verdict
from candlecast.evaluation.audit_split import after_training
from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import Hybrid, build_model
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.loop import train
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.split import Part
from candlecast.windows.store import WindowStore

# From a model, windows, a part and a batch size to forecasts in `schema.FORECASTS`.
Forecaster = Callable[[nn.Module, WindowStore, Part, int], pl.DataFrame]
# From windows to the weights that training on them ends with.
Trainer = Callable[[WindowStore], dict[str, Tensor]]
# From features [B, T, F] to one output a bar [B, T, C].
Steps = Callable[[Tensor], Tensor]

AREA: Final = "model"
TOLERANCE: Final = 1e-4  # relative; a matrix product of another size rounds differently
_TRAINED_WINDOWS: Final = 24
_SHORT: Final = TrainConfig(
    epochs=None,
    updates=2,
    samples=None,
    seconds=None,
    peak_lr=1e-3,
    final_lr_fraction=0.1,
    warmup_fraction=0.0,
    lr_scaling="none",
    reference_batch=12,
    weight_decay=0.01,
    beta1=0.9,
    beta2=0.999,
    beta2_half_life=None,
    clip_norm=1.0,
    direction_weight=0.5,
    huber_delta=2.0,
    precision="fp32",
    ema_half_life=None,
    validate_every=1,
    patience=None,
    log_every=1,
    noise_every=None,
    noise_probe=0,
    checkpoint_seconds=0.0,
    fused_optimizer=False,
    compile=False,
    cudnn_benchmark=False,
    tf32=False,
    processes=1,
)
_COLUMNS: Final = ("forecast_return", "probability_up")


def audit_model(model: Hybrid, store: WindowStore, make_forecasts: Forecaster) -> list[Check]:
    """Return the checks of the network; `model` may be trained or fresh."""
    model.eval()
    windows = (
        WindowDataset(store, store.split.test[:6]).batch(torch.arange(min(6, len(store.split.test)))).inputs
    )
    return [
        causal_steps(model.tcn, windows, model.config.norm),
        lone_windows(model, windows),
        batch_sizes(model, store, make_forecasts),
    ]


def causal_steps(steps: Steps, windows: Tensor, norm: str) -> Check:
    """Check by gradient that the convolutions' output at a bar has no way from later bars."""
    inputs = windows[:2].clone().requires_grad_()
    outputs, length = steps(inputs), inputs.shape[1]
    fault = None
    last = length - 2  # with a bar after it; a window of two bars has but one such
    for bar in {0, length // 3, length // 2, last} & set(range(last + 1)):
        (gradient,) = torch.autograd.grad(outputs[:, bar].square().sum(), inputs, retain_graph=True)
        if gradient[:, bar + 1 :].abs().max() > 0:
            fault = f"the output at bar {bar} of {length} moves with later bars"
            break
    name = "a convolution's output knows no later bar"
    if fault and norm == "group":
        note = (
            "group norm averages over the window's bars; the forecast is read at the last, so none lies later"
        )
        return Check(AREA, name, "note", note)
    return verdict(AREA, name, fault, "its gradient with respect to every later bar is exactly 0")


def lone_windows(model: nn.Module, windows: Tensor) -> Check:
    """Check that a window's forecast is the same alone and beside other windows."""
    with torch.inference_mode():
        together = torch.stack(tuple(model(windows)))
        alone = torch.cat(
            [torch.stack(tuple(model(windows[row : row + 1]))) for row in range(len(windows))], dim=1
        )
    distance = float(((together - alone).abs() / (together.abs() + 1e-3)).max())
    fault = (
        f"a forecast moves by {distance:.2g} of itself with the windows beside it"
        if distance > TOLERANCE
        else None
    )
    return verdict(
        AREA,
        "a forecast depends on its own window alone",
        fault,
        f"alone or beside {len(windows) - 1} others it is the same to {distance:.1g}",
    )


def batch_sizes(model: nn.Module, store: WindowStore, make_forecasts: Forecaster) -> Check:
    """Check that there is one forecast a window, and that no number depends on the evaluation batch."""
    name = "one forecast a window, whatever the batch"
    ends = store.split.test
    part = replace(store, split=replace(store.split, test=ends[:: max(len(ends) // 40, 1)]))
    expected, fault, worst = len(part.split.test), None, 0.0
    first = make_forecasts(model, part, "test", expected)
    for batch in (expected, 7):
        frame = make_forecasts(model, part, "test", batch)
        if frame.height != expected:
            return Check(
                AREA,
                name,
                "finding",
                f"{frame.height} forecasts for {expected} windows in batches of {batch}",
            )
        for column in _COLUMNS:
            distance = (frame[column] - first[column]).abs() / (first[column].abs() + 1e-3)
            worst = max(worst, float(distance.to_numpy().max()))
    if worst > TOLERANCE:
        fault = f"a forecast moves by {worst:.2g} of itself with the size of the batch"
    return verdict(
        AREA, name, fault, f"{expected} forecasts for {expected} windows; they differ by {worst:.1g}"
    )


def audit_training(store: WindowStore, trainer: Trainer) -> Check:
    """Check that training ends with the same weights whatever the test part holds."""
    panel = store.panel
    last = panel.session[panel.label_row()[store.split.validation]].max()
    later = after_training(store) & (panel.session > last)
    features, target = panel.features.copy(), panel.target.copy()
    features[later] = -features[later]
    target[later & np.isfinite(target)] = 1e3
    weights = trainer(store)
    other = trainer(replace(store, panel=replace(panel, features=features, target=target)))
    moved = [name for name, value in weights.items() if not torch.equal(value, other[name])]
    return verdict(
        "training",
        "it does not see the test part",
        f"{moved[0]} ends elsewhere when bars and outcomes of the test part change" if moved else None,
        "with every bar and outcome of the test part replaced, training ends with the same bits",
    )


def short_training(config: ModelConfig, seed: int) -> Trainer:
    """Return a trainer of two updates on a few windows, with the parts as the pipeline uses them.

    Its recipe is its own: what is looked for does not depend on the batch or the learning rate, and an
    ablation of those need not audit again.
    """
    few = Recipe(train=_SHORT, accum=AccumConfig(micro_batch=6, steps=2, effective_batch=None), seed=seed)

    def trainer(store: WindowStore) -> dict[str, Tensor]:
        torch.manual_seed(seed)
        model = build_model(config, len(store.panel.feature_names), store.length)
        parts = [_some(store.split.train), _some(store.split.validation)]
        train_set, validation_set = (WindowDataset(store, ends) for ends in parts)
        return dict(train(model, train_set, validation_set, few).best_state)

    return trainer


def _some(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    few = min(len(ends), _TRAINED_WINDOWS)
    chosen: NDArray[np.int64] = ends[np.linspace(0, len(ends) - 1, few).astype(np.int64)]
    return chosen
