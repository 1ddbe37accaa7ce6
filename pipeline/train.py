"""Train the network, and leave the weights of its best validation."""

import os
from pathlib import Path

import torch

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.params import load_params, read_params
from candlecast.seeding import seed_everything
from candlecast.stage import run_stage
from candlecast.tracking.identity import folder_hash
from candlecast.tracking.run_file import write_run
from candlecast.tracking.session import training_run
from candlecast.training.artifact import ModelDescription, save_model
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.history import write_history
from candlecast.training.loop import train
from candlecast.training.progress import Progress
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import load_windows


def main() -> None:
    """Train on the training part, choose by the validation part; the test part is never read."""
    recipe = Recipe(
        train=load_params("train", TrainConfig),
        accum=load_params("accum", AccumConfig),
        seed=load_params("seed", int),
    )
    config = load_params("model", ModelConfig)
    seed_everything(recipe.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    store = load_windows(Path("data/windows"))
    description = ModelDescription(model=config, feature_names=store.panel.feature_names, length=store.length)
    model = build_model(config, len(description.feature_names), description.length).to(device)
    train_set, validation_set = (WindowDataset(store, part, device) for part in ("train", "validation"))
    # The run is described by every section, also by those that act through the windows.
    params, data_hash = read_params(Path("params.yaml")), folder_hash(Path("data/windows"))
    with training_run(os.environ, Path.cwd(), params, data_hash) as log:
        result = train(model, train_set, validation_set, recipe, [Progress(), log.observer])
        save_model(Path("data/model"), result.best_state, description)
        write_run(Path("data/model/run.json"), log.run_id)
        write_history(Path("reports/training"), result.updates, result.validations)
        log.files(Path("data/model"), Path("reports/training"))


if __name__ == "__main__":
    run_stage(main)
