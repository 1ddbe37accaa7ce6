import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.panels import CONFIG, universe

from candlecast.errors import DataError
from candlecast.windows import split as split_module
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore, load_windows


@pytest.fixture
def store() -> WindowStore:
    return WindowStore.build(universe(1, missing=0.05, unknown=0.02), CONFIG)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_panel_of_a_store_is_standardised_over_training() -> None:
    panel = universe(1)
    store = WindowStore.build(panel, CONFIG)

    np.testing.assert_array_equal(store.panel.features, store.standardizer.apply(panel.features))
    training = store.panel.features[: store.split.train[panel.ticker[store.split.train] == 0].max() + 1]
    assert abs(training.mean()) < 0.3
    np.testing.assert_array_equal(store.panel.target, panel.target)


@pytest.mark.parametrize("mmap", [True, False])
def test_a_saved_store_reads_back_the_same(store: WindowStore, tmp_path: Path, mmap: bool) -> None:
    store.save(tmp_path / "windows")
    loaded = load_windows(tmp_path / "windows", mmap=mmap)

    for name in ("features", "target", "date", "session", "ticker", "segment"):
        read, written = getattr(loaded.panel, name), getattr(store.panel, name)
        np.testing.assert_array_equal(read, written)
        assert read.dtype == written.dtype
    assert (loaded.panel.tickers, loaded.panel.feature_names) == (
        store.panel.tickers,
        store.panel.feature_names,
    )
    for part in split_module.PARTS:
        assert loaded.split.part(part).tolist() == store.split.part(part).tolist()
    assert loaded.split.boundaries == store.split.boundaries
    assert (loaded.panel.horizon, loaded.length) == (2, 4)
    assert isinstance(loaded.panel.features, np.memmap) is mmap


def test_the_same_store_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        WindowStore.build(universe(2, missing=0.05), CONFIG).save(tmp_path / name)

    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def test_nothing_saved_is_a_pickle(store: WindowStore, tmp_path: Path) -> None:
    store.save(tmp_path / "windows")

    for path in (tmp_path / "windows").iterdir():
        if path.suffix == ".npy":
            np.load(path, allow_pickle=False)
        else:
            json.loads(path.read_text(encoding="utf-8"))


def test_writing_into_a_mapped_panel_leaves_the_file_as_it_was(store: WindowStore, tmp_path: Path) -> None:
    store.save(tmp_path / "windows")
    before = contents(tmp_path / "windows")
    load_windows(tmp_path / "windows").panel.features[:] = 0.0

    assert contents(tmp_path / "windows") == before


def test_a_store_is_replaced_with_all_its_files(store: WindowStore, tmp_path: Path) -> None:
    folder = tmp_path / "windows"
    folder.mkdir()
    (folder / "stale.npy").write_bytes(b"")
    store.save(folder)
    expected = contents(folder)
    store.save(folder)

    assert "stale.npy" not in expected
    assert contents(folder) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["windows"]


def test_a_store_that_cannot_be_written_leaves_the_last_one(
    store: WindowStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(tmp_path / "windows")
    before = contents(tmp_path / "windows")

    def fail(*arguments: object, **options: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(split_module, "save_array", fail)
    with pytest.raises(OSError, match="No space left"):
        WindowStore.build(universe(3), CONFIG).save(tmp_path / "windows")

    assert contents(tmp_path / "windows") == before
    assert [path.name for path in tmp_path.iterdir()] == ["windows"]


@pytest.mark.parametrize("name", ["features.npy", "train.npy", "panel.json", "split.json", "windows.json"])
@pytest.mark.parametrize("damage", ["missing", "short"])
def test_a_damaged_file_is_named(store: WindowStore, tmp_path: Path, name: str, damage: str) -> None:
    store.save(tmp_path)
    path = tmp_path / name
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-4])

    with pytest.raises(DataError, match=rf"{name}: cannot be read .* dvc repro windows") as error:
        load_windows(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("test.npy", lambda ends: np.append(ends, 10_000)),
        ("train.npy", lambda ends: np.append(-1, ends)),
        ("train.npy", lambda ends: np.append(CONFIG.length - 2, ends)),  # its window would begin before row 0
        ("session.npy", lambda rows: np.append(rows[:-1], 10_000)),
        ("session.npy", lambda rows: np.append(-1, rows[1:])),
        ("histories.npy", lambda rows: rows[:, :2]),
        ("histories.npy", lambda rows: rows[::-1]),
        ("histories.npy", lambda rows: np.add(rows, [1, 0, 0])),
        ("histories.npy", lambda rows: np.add(rows, [0, 99, 0])),
        ("histories.npy", lambda rows: np.multiply(rows, [10_000, 1, 1])),
    ],
)
def test_indices_that_point_nowhere_name_their_file(
    store: WindowStore, tmp_path: Path, name: str, change: Callable[[Any], Any]
) -> None:
    store.save(tmp_path)
    changed = change(np.load(tmp_path / name)).astype(np.int32)
    np.save(tmp_path / name, np.ascontiguousarray(changed))
    with pytest.raises(DataError, match=rf"{re.escape(name)}: .* dvc repro windows"):
        load_windows(tmp_path)


@pytest.mark.parametrize("name", ["panel.json", "split.json", "windows.json", "standardizer.json"])
@pytest.mark.parametrize("text", ["[]", "{}", '{"length": 5, "other": 1}'])
def test_a_record_of_another_form_is_named(store: WindowStore, tmp_path: Path, name: str, text: str) -> None:
    store.save(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=rf"{re.escape(name)}: does not hold .* dvc repro windows"):
        load_windows(tmp_path)


def test_an_array_of_objects_is_refused(store: WindowStore, tmp_path: Path) -> None:
    store.save(tmp_path)
    with (tmp_path / "target.npy").open("wb") as file:
        np.save(file, np.array([{}], dtype=object), allow_pickle=True)

    with pytest.raises(DataError, match=r"target\.npy: cannot be read"):
        load_windows(tmp_path)
    (tmp_path / "target.npy").write_bytes(pickle.dumps([0.0]))
    with pytest.raises(DataError, match=r"target\.npy: cannot be read"):
        load_windows(tmp_path)


def test_an_array_of_another_type_or_length_is_refused(store: WindowStore, tmp_path: Path) -> None:
    store.save(tmp_path)
    np.save(tmp_path / "session.npy", store.panel.session.astype(np.int64))
    with pytest.raises(DataError, match=r"session\.npy: holds int64, expected int32"):
        load_windows(tmp_path)

    np.save(tmp_path / "session.npy", store.panel.session)
    np.save(tmp_path / "target.npy", store.panel.target[:-1])
    with pytest.raises(DataError, match="different lengths"):
        load_windows(tmp_path)


def test_a_scale_of_another_panel_is_refused(store: WindowStore, tmp_path: Path) -> None:
    store.save(tmp_path)
    WindowStore.build(universe(1, features=5), CONFIG).standardizer.save(tmp_path / "standardizer.json")

    with pytest.raises(DataError, match="a scale of 5 features for a panel of 3"):
        load_windows(tmp_path)


def test_a_panel_saves_alone(tmp_path: Path) -> None:
    panel = universe(4, features=2)
    panel.save(tmp_path)

    assert Panel.load(tmp_path).features.shape == (180, 2)


def test_a_panel_of_several_histories_reads_back_the_same(tmp_path: Path) -> None:
    panel = universe(5, missing=0.1, breaks=0.1)
    panel.save(tmp_path)
    loaded = Panel.load(tmp_path)

    for name in ("date", "session", "ticker", "segment"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(panel, name))
    assert panel.history_starts().sum() > 6
