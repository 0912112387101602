"""The layers of a model that is built in a process of its own, without being trained."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData, KerasData, NpzData, PythonData
from gpupanel.domain.model import (
    ApplicationModel,
    MlpModel,
    PythonModel,
    ResNetModel,
    TransformerModel,
)
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE, cache_folder
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.trainer.tools.model_summary import summarize
from tests.fakes.questions import asked_of
from tests.forked.answers import forked_answers
from tests.forked.processes import run_forked


def kept() -> set[Path]:
    return set(cache_folder("summaries").iterdir())


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_layers_are_listed_and_kept_so_that_tensorflow_is_imported_once() -> None:
    before = kept()
    request = SummaryRequest(data=DigitsData(), model=MlpModel(hidden=(11, 5), batch_norm=True))
    found = summarize_model(request)
    assert found.problems == ()
    listed = [(each.name, each.kind, each.output_shape, each.parameters) for each in found.layers]
    assert ("dense_1", "Dense", (11,), 64 * 11) in listed
    assert ("dense_2_norm", "BatchNormalization", (5,), 20) in listed
    assert ("outputs", "Dense", (10,), 60) in listed
    assert found.parameters.trainable == 64 * 11 + 22 + 55 + 10 + 60
    assert found.parameters.frozen == 22 + 10

    (file,) = kept() - before
    code = (
        "import sys\n"
        "from gpupanel.trainer.tools import model_summary\n"
        "model_summary.main()\n"
        "assert not {'tensorflow', 'keras'} & set(sys.modules)"
    )
    assert asked_of(summarize_model, code)(request) == found

    file.write_text("{")  # damaged: it is built anew
    other = request.model_copy(update={"model": MlpModel(hidden=(11, 5), batch_norm=True)})
    with forked_answers():
        assert summarize_model(other) == found


@pytest.mark.tensorflow
def test_that_layers_within_an_architecture_are_listed_with_what_is_frozen(tmp_path: Path) -> None:
    path = tmp_path / "pictures.npz"
    np.savez(path, x=np.zeros((8, 32, 32, 3), np.uint8), y=np.arange(8) % 2)
    model = ApplicationModel(source="MobileNetV2", frozen_layers="base", weights="imagenet")
    with forked_answers():
        found = summarize_model(SummaryRequest(data=NpzData(path=str(path)), model=model))
    assert found.problems == ()
    within = [each for each in found.layers if each.within == "base"]
    assert len(within) > 100
    assert sum(each.trainable for each in within) == 0
    assert found.parameters.trainable == 1280 * 2 + 2
    assert found.parameters.frozen == 2_257_984  # without its head, as Keras documents it


@pytest.mark.tensorflow
def test_that_layers_are_listed_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "file"))
    with forked_answers():
        found = summarize_model(SummaryRequest(data=DigitsData(), model=MlpModel(hidden=(7,))))
    assert found.problems == ()
    assert [each.name for each in found.layers][-1] == "outputs"


@pytest.mark.tensorflow
def test_that_a_model_that_fits_nowhere_is_listed_all_the_same() -> None:
    model = MlpModel(hidden=(1_000_000, 1_000_000), batch_norm=True)
    with forked_answers():
        found = summarize_model(SummaryRequest(data=DigitsData(), model=model))
    assert found.problems == ()
    assert found.parameters.total > 10**12


COUNT = """
import sys
import keras
from gpupanel.domain.data import NpzData, TextData
from gpupanel.domain.model import ResNetModel, TabularModel, TransformerModel
from gpupanel.domain.model_summary import SummaryRequest
from gpupanel.trainer.tools.model_summary import summarize

# As a keras.json of the person's may have it, which a training does not obey.
keras.config.set_image_data_format("channels_first")
keras.config.set_epsilon(0.5)
folder = sys.argv[1]
images, greys, columns = (NpzData(path=f"{folder}/{name}.npz") for name in ("c", "g", "t"))
texts = TextData(path=f"{folder}/texts", vocabulary=50, length=7)
for model, data, shape, tokens in (
    (ResNetModel(filters=(4, 8, 8), blocks=2), images, (16, 12, 3), 0),
    (ResNetModel(filters=(3,), blocks=1), greys, (16, 12), 0),
    (TransformerModel(width=10, heads=4, blocks=3, hidden_units=11), texts, (7,), 50),
    (TabularModel(hidden=(6, 5), batch_norm=True), columns, (4,), 0),
    (TabularModel(hidden=(6, 5)), columns, (4,), 0),
):
    found = summarize(SummaryRequest(data=data, model=model))
    print(found.parameters.total, model.least_weights(shape, 2, tokens), found.problems)
assert keras.config.epsilon() == 1e-7
"""


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_the_weights_that_a_check_counts_on_are_those_that_are_built(tmp_path: Path) -> None:
    for name, shape in (("c", (16, 12, 3)), ("g", (16, 12)), ("t", (4,))):
        np.savez(tmp_path / f"{name}.npz", x=np.ones((8, *shape), np.float32), y=np.arange(8) % 2)
    for name in ("good", "bad"):
        (tmp_path / "texts" / name).mkdir(parents=True)
        for number in range(9):
            words = " ".join(f"{name}{number}{each}" for each in range(40))
            (tmp_path / "texts" / name / f"{number}.txt").write_text(words)
    done = run_forked(
        [sys.executable, "-c", COUNT, str(tmp_path)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert [problems for *_, problems in lines] == ["()"] * 5
    built, least = ([int(line[place]) for line in lines] for place in (0, 1))
    assert least[:3] == built[:3]  # all of them
    # As if the four columns were one; each unit of the first layer has a weight for each.
    assert [more - fewer for more, fewer in zip(built[3:], least[3:], strict=True)] == [18, 18]


def test_that_what_is_not_known_yet_is_said_without_building() -> None:
    code = PythonModel(path="/model.py")
    assert summarize(SummaryRequest(data=DigitsData(), model=code)).needs_start
    data = PythonData(path="/data.py")
    assert summarize(SummaryRequest(data=data, model=MlpModel())).needs_start
    missing = KerasData(source="cifar100")
    assert summarize(SummaryRequest(data=missing, model=MlpModel())).needs_download


def test_that_data_that_the_model_does_not_take_and_missing_files_are_problems() -> None:
    found = summarize(SummaryRequest(data=DigitsData(), model=TransformerModel()))
    assert [problem.code for problem in found.problems] == ["model_needs_words"]
    small = summarize(SummaryRequest(data=DigitsData(), model=ResNetModel(filters=(4,) * 5)))
    assert [problem.code for problem in small.problems] == ["model_pictures_too_small"]
    gone = summarize(SummaryRequest(data=NpzData(path="/gone.npz"), model=MlpModel()))
    assert [problem.code for problem in gone.problems] == ["data_file_missing"]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os; os.abort()", "summary_died"),
        ("raise SystemExit(3)", "summary_died"),
        ("print('nothing')", "summary_unreadable"),
        ("import time; time.sleep(60)", "summary_too_slow"),
    ],
)
def test_that_the_end_of_the_process_is_a_problem(code: str, problem: str) -> None:
    request = SummaryRequest(data=DigitsData(), model=MlpModel())
    found = replace(asked_of(summarize_model, code), limit_s=1.0)(request)
    assert isinstance(found, ModelSummary)
    assert [each.code for each in found.problems] == [problem]


def test_that_a_process_that_cannot_be_started_is_a_problem() -> None:
    request = SummaryRequest(data=DigitsData(), model=MlpModel())
    found = replace(summarize_model, command=("/no/such/program",))(request)
    assert [each.code for each in found.problems] == ["summary_not_started"]


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_step_is_known_in_every_way_and_layer_by_layer() -> None:
    request = SummaryRequest(
        data=DigitsData(), model=ResNetModel(filters=(8, 16)), with_variants=True
    )
    with forked_answers():
        found = summarize_model(request)
        plain = summarize_model(request.model_copy(update={"with_variants": False}))
    ways = {(each.mixed_precision, each.recomputes): each.step for each in found.variants}
    assert len(ways) == 4
    kept, again = ways[False, False], ways[False, True]
    assert kept is not None
    assert again is not None
    assert plain.step == kept.model_copy(update={"layers": ()})
    assert plain.variants == ()
    # Fewer activations, and more to compute.
    assert again.held_bytes(256) < 0.8 * kept.held_bytes(256)
    assert 1.15 * kept.operations < again.operations < 1.5 * kept.operations
    half = ways[True, False]
    assert half is not None
    assert half.held_bytes(256) < kept.held_bytes(256)

    names = [layer.name for layer in kept.layers]
    assert names == [layer.name for layer in found.layers]
    assert sum(layer.weight_bytes for layer in kept.layers) == kept.weight_bytes
    assert sum(layer.operations for layer in kept.layers) == kept.operations
    assert sum(layer.launches for layer in kept.layers) == kept.launches
    # Together they keep what a step holds between its two passes: most of its peak.
    together = sum(layer.kept.at(256) for layer in kept.layers)
    assert 0.6 * kept.held_bytes(256) < together < kept.held_bytes(256)
    of_blocks = sum(layer.kept.at(256) for layer in again.layers)
    assert of_blocks < 0.6 * together
    assert len({layer.block for layer in again.layers}) < len(again.layers)
