"""A script leaves the examples of classes out that its model does not know, as a run does."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gpupanel.domain.data import DataSettings, TableData, TextData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.strategy import StrategySettings
from gpupanel.files.confusion_file import read_confusion
from tests.sessions.one_source import assert_same_sessions, filled, session, trained_with
from tests.unit.trainer.text_folders import make_texts, reviews

pytestmark = pytest.mark.tensorflow

PETS = ("cat", "dog", "wolf")
WITH_FOXES = ("fox", *PETS)


def table(path: Path, kinds: tuple[str, ...]) -> TableData:
    lines = (f"{row * 7 % 11},{row % 3},{kinds[row % len(kinds)]}" for row in range(48))
    path.write_text("\n".join(["size,segments,kind", *lines]) + "\n")
    return TableData(path=str(path), target="kind")


def texts(path: Path, kinds: tuple[str, ...]) -> TextData:
    lines = (f'"{text}",{kinds[row % len(kinds)]}' for row, (text, _) in enumerate(reviews(48, 1)))
    path.write_text("\n".join(["text,kind", *lines]) + "\n")
    return TextData(path=str(path), text="text", target="kind", length=8, vocabulary=50)


def folders(path: Path, kinds: tuple[str, ...]) -> TextData:
    words = [text for text, _ in reviews(48, seed=3)]
    make_texts(path, {kind: words[number::4] for number, kind in enumerate(kinds)})
    return TextData(path=str(path), length=8, vocabulary=50)


def test_that_run_and_script_evaluate_without_what_the_model_does_not_know(tmp_path: Path) -> None:
    known, more = (table(tmp_path / f"{len(kinds)}.csv", kinds) for kinds in (PETS, WITH_FOXES))
    assert_left_out(tmp_path, {"table": known}, {"table": more})


@pytest.mark.slow
def test_that_they_do_so_with_texts(tmp_path: Path) -> None:
    known, more = (
        {
            "texts": texts(tmp_path / f"{len(kinds)}.csv", kinds),
            "folders": folders(tmp_path / f"{len(kinds)}", kinds),
        }
        for kinds in (PETS, WITH_FOXES)
    )
    assert_left_out(tmp_path, known, more)


def assert_left_out(
    folder: Path, learned: Mapping[str, DataSettings], other: Mapping[str, DataSettings]
) -> None:
    alone = {"devices": DeviceSettings(visible=("cpu",)), "strategy": StrategySettings()}
    sgd, leaving_out = (
        trained_with(1e-2, epochs=1),
        InferenceSettings(batch_size=64, unknown_classes="leave_out"),
    )
    model = MlpModel(hidden=(8,))
    trained = {
        name: session(data=filled(data), model=model, training=sgd, **alone)
        for name, data in learned.items()
    }
    inferred = [(name, "evaluate", filled(data), leaving_out) for name, data in other.items()]
    both = assert_same_sessions(folder / "both", trained, inferred)
    for name in learned:
        cells = read_confusion(both[f"evaluate {name}"].run.confusion)
        assert (cells.class_names, cells.counts.sum()) == (PETS, 36)
