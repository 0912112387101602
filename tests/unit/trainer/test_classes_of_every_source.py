"""Every source that names classes has them matched with those of the model, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import (
    DataSettings,
    ImagesData,
    PythonData,
    TableData,
    TextData,
    TfdsData,
    TfrecordData,
)
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.task import Task
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.source import Reading, no_download
from gpupanel.trainer.inference.examples import InferenceExamples, read_inference_examples
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.user_code import RunCode
from tests.fakes.checked_files import trusted
from tests.unit.trainer.image_folders import make_images
from tests.unit.trainer.record_files import example, image, write_records
from tests.unit.trainer.test_learned_examples import model_of
from tests.unit.trainer.test_tfds_source import CLASSES, FEATURES, make_prepared
from tests.unit.trainer.text_folders import make_texts

PETS = ("dog", "cat", "wolf")
"""As they come in the data; every model sorts them, but for those whose data numbers them."""
Kinds = Sequence[str]
Made = tuple[DataSettings, RunCode | None]


def table(folder: Path, kinds: Kinds | None) -> Made:
    shown = [f",{kind}" for kind in kinds] if kinds else [""] * 3
    lines = [f"{row * 1.5},{'xy'[row % 2]}{kind}" for row, kind in enumerate(shown)]
    path = folder / "t.csv"
    path.write_text("\n".join([f"size,shape{',kind' if kinds else ''}", *lines]) + "\n")
    return TableData(path=str(path), target="kind"), None


def texts(folder: Path, kinds: Kinds | None) -> Made:
    shown = [f",{kind}" for kind in kinds] if kinds else [""] * 3
    lines = [f"some words {row}{kind}" for row, kind in enumerate(shown)]
    path = folder / "t.csv"
    path.write_text("\n".join([f"review{',kind' if kinds else ''}", *lines]) + "\n")
    return TextData(path=str(path), text="review", target="kind", length=4), None


def text_folders(folder: Path, kinds: Kinds | None) -> Made:
    of_class: dict[str, list[str]] = {}
    for row, kind in enumerate(kinds or [".", ".", "."]):
        of_class.setdefault(kind, []).append(f"some words {row}")
    return TextData(path=str(make_texts(folder / "texts", of_class)), length=4), None


def image_folders(folder: Path, kinds: Kinds | None) -> Made:
    named = kinds or [".", ".", "."]
    values = {f"{kind}/{row}.png": row * 9 for row, kind in enumerate(named)}
    return ImagesData(path=str(make_images(folder / "images", values)), image_size=(4, 4)), None


def image_labels(folder: Path, kinds: Kinds | None) -> Made:
    count = len(kinds or [1, 2, 3])
    make_images(folder / "images", {f"{row}.png": row * 9 for row in range(count)})
    if kinds is None:
        return ImagesData(path=str(folder / "images"), image_size=(4, 4)), None
    lines = [f"{row}.png,{kind}" for row, kind in enumerate(kinds)]
    (folder / "images" / "labels.csv").write_text("\n".join(["file,kind", *lines]) + "\n")
    path = str(folder / "images")
    return ImagesData(path=path, labels_csv="labels.csv", image_size=(4, 4)), None


def records(folder: Path, kinds: Kinds | None) -> Made:
    named = [{"label": kind.encode()} for kind in kinds] if kinds else [{}, {}, {}]
    written = [example(image=image(9 * row), **label) for row, label in enumerate(named)]
    path = write_records(folder / "a.tfrecord", written)
    return TfrecordData(path=str(path), image_size=(4, 4)), None


def catalogue(folder: Path, kinds: Kinds | None) -> Made:
    names = sorted(set(kinds or ()))
    count = {"classLabel": {"numClasses": str(len(names))}}
    features = {**FEATURES, "label": count if kinds else CLASSES}
    place = folder / "tiny_cats/small/1.0.0"
    make_prepared(place, {"train": 3}, features, "\n".join(names) if kinds else None)
    labels = [{"label": names.index(kind)} for kind in kinds] if kinds else [{}, {}, {}]
    written = [example(image=image(9 * row), **label) for row, label in enumerate(labels)]
    write_records(place / "tiny_cats-train.tfrecord-00000-of-00001", written)
    info = place / "dataset_info.json"
    info.write_text(info.read_text().replace('["3"]', f'["{len(written)}"]'))
    return TfdsData(name="tiny_cats/small", path=str(folder), image_size=(4, 4)), None


def code(folder: Path, kinds: Kinds | None) -> Made:
    # Numbered as its author liked, and with one that no example is of.
    names = [*sorted(set(kinds or ()), reverse=True), "unicorn"]
    labels = [names.index(kind) for kind in kinds] if kinds else [0, 0, 0]
    named = f', "class_names": {names!r}' if kinds else ""
    path = folder / "load.py"
    path.write_text(
        "import numpy as np\n"
        f"def load(): return {{'x': np.ones(({len(labels)}, 3)), 'y': {labels}{named}}}\n"
    )
    return PythonData(path=str(path)), trusted("data.path", str(path), path)


@dataclass(frozen=True)
class Source:
    """How one source's data is written: the class of each example, or none of them."""

    make: Callable[[Path, Kinds | None], Made]
    needs_labels: bool = False


SOURCES = {
    "table": Source(table),
    "texts": Source(texts),
    "text folders": Source(text_folders),
    "image folders": Source(image_folders),
    "image labels": Source(image_labels),
    "records": Source(records),
    "catalogue": Source(catalogue, needs_labels=True),
    "code": Source(code, needs_labels=True),
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest) -> Source:
    return SOURCES[request.param]


@pytest.fixture
def model(source: Source, tmp_path: Path) -> SavedModel:
    """Of a training on two examples of each class."""
    (tmp_path / "learned").mkdir()
    data, run_code = source.make(tmp_path / "learned", PETS * 2)
    return model_of(tmp_path, data, code=run_code, samples=False)


class Other:
    """Data that the model did not learn from, and what is made of it."""

    def __init__(self, source: Source, folder: Path, model: SavedModel) -> None:
        folder.mkdir()
        self._make, self._folder, self._model = source.make, folder, model

    def profile(self, kinds: Kinds | None, task: Task = "evaluate", **chosen: str) -> Profile:
        data, self._code = self._make(self._folder, kinds)
        inference = InferenceSettings.model_validate(chosen)
        return Profile(task=task, data=data, model=self._model, inference=inference)

    def read(self, profile: Profile) -> InferenceExamples:
        reading = replace(Reading(no_download), code=self._code)
        return read_inference_examples(profile, reading)


@pytest.fixture
def other(source: Source, tmp_path: Path, model: SavedModel) -> Other:
    return Other(source, tmp_path / "other", model)


def said(examples: InferenceExamples) -> list[str]:
    assert examples.labels is not None
    return sorted(examples.class_names[int(label)] for label in examples.labels)


def previewed(profile: Profile) -> list[Problem]:
    request = PreviewRequest(
        data=profile.data, model=profile.model, task=profile.task, inference=profile.inference
    )
    shown = preview(request)
    assert not shown.is_refused, shown.problems
    # The file of these tests has no weights.
    return [each for each in shown.model_problems if each.code != "model_file_damaged"]


def test_that_two_of_three_classes_in_another_order_are_those_of_the_model(other: Other) -> None:
    profile = other.profile(("wolf", "dog", "dog", "wolf"))
    found = other.read(profile)
    assert set(found.class_names) >= set(PETS)
    assert said(found) == ["dog", "dog", "wolf", "wolf"]
    assert (found.notes, previewed(profile)) == ((), [])


def test_that_a_renamed_class_is_refused_by_name_left_out_or_predicted(other: Other) -> None:
    profile = other.profile(("dog", "fox", "cat", "fox", "dog"))
    with pytest.raises(ProblemError) as raised:
        other.read(profile)
    (problem,) = raised.value.problems
    assert (problem.code, '"fox"' in problem.message) == ("class_unknown", True)
    assert problem.fix is not None
    if not profile.data.is_code:  # which only a run carries out
        assert previewed(profile) == [problem]

    left_out = apply_fix(profile, problem.fix)
    found = other.read(left_out)
    assert (len(found), said(found)) == (3, ["cat", "dog", "dog"])
    assert [note.code for note in found.notes] == ["classes_left_out"]
    if not profile.data.is_code:
        assert [note.code for note in previewed(left_out)] == ["classes_left_out"]

    (predict,) = problem.alternatives
    found = other.read(apply_fix(profile, predict))
    assert (len(found), found.labels) == (5, None)
    assert set(found.class_names) >= set(PETS)


def test_that_nothing_that_the_model_knows_is_nothing_to_evaluate(other: Other) -> None:
    profile = other.profile(("fox", "hen", "fox"), unknown_classes="leave_out")
    with pytest.raises(ProblemError) as raised:
        other.read(profile)
    (problem,) = raised.value.problems
    assert problem.code == "class_unknown"
    assert problem.fix is not None
    assert (problem.fix.changes[0].path, problem.alternatives) == (("task",), ())


@pytest.mark.parametrize(
    "source", [name for name, each in SOURCES.items() if not each.needs_labels], indirect=True
)
def test_that_predicting_wants_no_labels(other: Other) -> None:
    found = other.read(other.profile(None, "predict"))
    assert (len(found), found.labels) == (3, None)
    assert set(found.class_names) == set(PETS)
    assert np.isfinite(found.read(0, 3)).all()
