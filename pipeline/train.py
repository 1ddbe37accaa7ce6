"""Train the network, and leave the weights of its best validation."""

import os
from dataclasses import asdict
from functools import partial
from pathlib import Path

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.params import load_params, read_params
from candlecast.seeding import seed_everything
from candlecast.stage import run_stage
from candlecast.tracking.identity import folder_hash
from candlecast.tracking.run_file import write_run
from candlecast.tracking.session import training_run
from candlecast.training.artifact import ModelDescription, save_model
from candlecast.training.auto_micro_batch import device_plan, settle
from candlecast.training.checkpoint import Checkpoints, checkpoint_key
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.distributed import own_device, process_group, relaunch
from candlecast.training.history import write_history
from candlecast.training.loop import train
from candlecast.training.memory_record import record_memory, write_memory
from candlecast.training.memory_table import plan_table
from candlecast.training.progress import Progress
from candlecast.training.rehearsal import Workload
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import load_windows
from candlecast.windows.transfer import panel_device

WINDOWS, MODEL, HISTORY = Path("data/windows"), Path("data/model"), Path("reports/training")


def main() -> None:
    """Train on the training part, choose by the validation part; the test part is never read."""
    recipe = Recipe(
        train=load_params("train", TrainConfig),
        accum=load_params("accum", AccumConfig),
        seed=load_params("seed", int),
    )
    config = load_params("model", ModelConfig)
    relaunch(__file__, recipe.train.processes, os.environ)
    # The run is described by every section, also by those that act through the windows.
    params, data_hash = read_params(Path("params.yaml")), folder_hash(WINDOWS)
    # Unknown to DVC, which would delete it before a rerun, and in the repository, not in a temporary clone.
    root = Path(os.environ.get("DVC_ROOT", "."), ".cache", "checkpoints")
    code = Path("src/candlecast").rglob("*.py")
    key = checkpoint_key({"recipe": asdict(recipe), "model": asdict(config), "data": data_hash}, code)
    checkpoints = Checkpoints(root, key)
    with process_group(os.environ) as processes:
        seed_everything(recipe.seed)
        device, store = own_device(os.environ), load_windows(WINDOWS)
        names = store.panel.feature_names
        model = build_model(config, len(names), store.length).to(device)
        home = panel_device(store, device)
        train_set, validation_set = (WindowDataset(store, part, home) for part in ("train", "validation"))
        workload = Workload(model=config, recipe=recipe, num_features=len(names), length=store.length)
        run = partial(
            train,
            model,
            train_set,
            validation_set,
            checkpoints=checkpoints,
            memory_plan=lambda: plan_table(device_plan(workload, device)),
        )
        if not processes.first:
            run(settle(workload, device))
            return
        resume_file = checkpoints.folder / "run.json"
        with training_run(os.environ, Path.cwd(), params, data_hash, resume_file) as log:
            observers = (Progress(), log.observer)
            result = run(settle(workload, device, observers), observers)
            description = ModelDescription(model=config, feature_names=names, length=store.length)
            save_model(MODEL, result.best_state, description)
            write_run(MODEL / "run.json", log.run_id)
            write_history(HISTORY, result.updates, result.validations)
            write_memory(HISTORY, record_memory(workload, result.micro_batch, device))
            log.files(MODEL, HISTORY)
        checkpoints.remove()


if __name__ == "__main__":
    run_stage(main)
