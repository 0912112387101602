"""What is said of a saved model that is to be trained further before Keras has loaded it."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, DigitsData, ImagesData, NpzData, TableData, Target
from gpupanel.domain.model import Head, ModelSettings, SavedModel
from gpupanel.domain.model_summary import SummaryRequest
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.planning.fixes import apply_fix
from gpupanel.runs.directory.start_model import keep_start_model
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.tools.export.exported_run import profile_of_export
from gpupanel.trainer.models.model_file import outputs_of_file, recipe_in
from gpupanel.trainer.models.saved_outputs import ends_in, mixing_layers_in, outputs_in
from gpupanel.trainer.tools.preview.preview import preview
from tests.fakes.run_directory import WrittenRun
from tests.forked.answers import forked_answers
from tests.unit.trainer.image_folders import make_classes, make_images
from tests.unit.trainer.saved_models import make_saved_models, with_recipe


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_saved_models(tmp_path_factory.mktemp("saved"))


def model_problems(model: ModelSettings, data: DataSettings) -> list[Problem]:
    return list(preview(PreviewRequest(data=data, model=model)).model_problems)


def three(folder: Path) -> NpzData:
    path = folder / "three.npz"
    np.savez(path, x=np.ones((30, 8, 8), np.float32), y=np.arange(30) % 3)
    return NpzData(path=str(path))


def pets(folder: Path) -> ImagesData:
    make_classes(folder / "pets", {"cow": 2, "fox": 1, "hen": 2})
    return ImagesData(path=str(folder / "pets"), image_size=(8, 8), color="grayscale")


def test_that_a_last_layer_for_other_classes_is_reported_with_a_fix(
    saved: Path, tmp_path: Path
) -> None:
    model = SavedModel(path=str(saved / "classifier.keras"))
    data = three(tmp_path)
    assert model_problems(model, DigitsData()) == []
    (problem,) = model_problems(model, data)
    assert (problem.code, problem.field) == ("saved_model_misfit", "model.head")
    assert "gives 10, and the data has 3 classes" in problem.message
    assert problem.fix is not None
    mended = apply_fix(Profile(model=model, data=data), problem.fix).model
    assert mended == model.model_copy(update={"head": Head.NEW})
    assert model_problems(mended, data) == []


def test_that_a_model_without_a_record_of_its_features_takes_no_table(
    saved: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n3,x\n4,y\n")
    model = SavedModel(path=str(saved / "classifier.keras"))
    (problem,) = model_problems(model, TableData(path=str(tmp_path / "t.csv")))
    assert problem.code == "model_without_recipe"


def test_that_a_last_layer_that_predicts_something_else_is_reported_with_a_fix(
    saved: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("".join(f"{row},{row / 2}\n" for row in range(30)))
    values = TableData(path=str(tmp_path / "t.csv"), header="none", predicts="values")
    classes = values.model_copy(update={"predicts": Target.CLASSES})
    path = shutil.copy(saved / "columns.keras", tmp_path)
    model = SavedModel(path=str(with_recipe(Path(path), values)))
    assert model_problems(model, values) == []
    (problem,) = model_problems(model, classes)
    assert (problem.code, problem.fix is not None) == ("saved_model_misfit", True)
    assert "predicts values, and data.predicts says classes" in problem.message
    assert model_problems(model.model_copy(update={"head": Head.NEW}), classes) == []
    # Of a record that says something odd the data is said to be wrong, not the model.
    for number, text in enumerate(('{"predicts": ["classes"]}', "[1]", "{", "[" * 100_000)):
        odd = shutil.copy(saved / "columns.keras", tmp_path / f"{number}.keras")
        with zipfile.ZipFile(odd, "a") as archive:
            archive.writestr(RECIPE_MEMBER, text)
        assert model_problems(SavedModel(path=str(odd)), classes) == []


def test_that_the_layers_of_a_saved_model_are_listed_with_what_learns(
    saved: Path, tmp_path: Path
) -> None:
    def summary(name: str, data: DataSettings, **settings: Any) -> Any:
        model = SavedModel(path=str(saved / f"{name}.keras"), **settings)
        with forked_answers():
            return summarize_model(SummaryRequest(data=data, model=model))

    kept = summary("classifier", DigitsData())
    assert kept.problems == ()
    assert kept.parameters.frozen == 8  # the moving statistics of four channels
    new = summary("classifier", three(tmp_path), head="new", frozen_layers="base")
    # 6 x 6 places of 4 channels; weights and a bias for each of three classes.
    assert new.parameters.trainable == (144 + 1) * 3
    (refused,) = summary("classifier", three(tmp_path)).problems
    assert (refused.code, refused.fix is not None) == ("saved_model_misfit", True)
    assert "gives (10,) an example, but 3 are needed" in refused.message
    # By name it has all of its classes, though the data has three of them.
    named = summary("classifier", pets(tmp_path), class_names=("fox", *"bcdefg", "cow", "hen", "j"))
    assert (named.problems, named.parameters) == ((), kept.parameters)
    (refused,) = summary("two_outputs", DigitsData()).problems
    assert refused.code == "model_not_single"


@pytest.mark.parametrize("task", ["train", "evaluate", "predict"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two_inputs", "2 inputs and 1 outputs"),
        ("named_inputs", "2 inputs and 1 outputs"),
        ("two_outputs", "1 inputs and 2 outputs"),
        ("one_named_input", ""),
        ("classifier", ""),
    ],
)
def test_that_a_model_with_several_inputs_or_outputs_is_refused_before_a_run(
    saved: Path, name: str, words: str, task: Any
) -> None:
    model = SavedModel(path=str(saved / f"{name}.keras"))
    asked = PreviewRequest(data=DigitsData(), model=model, task=task)
    found = [each.message for each in preview(asked).model_problems if each.is_error]
    assert found == ([f"The model has {words}; one of each is needed."] if words else [])


def functional(*layers: dict[str, Any], output: object = ("last", 0, 0)) -> dict[str, Any]:
    listed = [{"name": each["config"]["name"], **each} for each in layers]
    return {"class_name": "Functional", "config": {"layers": listed, "output_layers": output}}


def layer(kind: str, name: str, after: str = "", **config: object) -> dict[str, Any]:
    place = {"config": {"keras_history": [after, 0, 0]}}
    nodes = [{"args": [place]}] if after else []
    return {"class_name": kind, "config": {"name": name, **config}, "inbound_nodes": nodes}


DENSE = layer("Dense", "dense", units=7)
SEQUENTIAL = {"class_name": "Sequential", "config": {"layers": [layer("Flatten", "f"), DENSE]}}


@pytest.mark.parametrize(
    ("configuration", "outputs"),
    [
        (SEQUENTIAL, 7),
        (functional(DENSE, layer("Softmax", "last", "dense"), output=["last", 0, 0]), 7),
        (functional(DENSE, layer("Softmax", "last", "dense"), output=[["last", 0, 0]]), 7),
        (functional({**SEQUENTIAL, "config": {**SEQUENTIAL["config"], "name": "last"}},
                    output=["last", 0, 0]), 7),
        (functional(DENSE, layer("Conv2D", "last", "dense"), output=["last", 0, 0]), None),
        (functional(layer("Softmax", "last", "last"), output=["last", 0, 0]), None),
        (functional(layer("Dense", "last", units=True), output=["last", 0, 0]), 1),
        (functional(layer("Dense", "last", units="7"), output=["last", 0, 0]), None),
        (functional(layer("Dense", "last", units=-1), output=["last", 0, 0]), None),
        (functional(DENSE, output=["gone", 0, 0]), None),
        (functional(DENSE, output=None), None),
        ({"class_name": "Functional", "config": {"layers": [3, None], "output_layers": []}}, None),
        ({"class_name": "Functional"}, None),
        ([1], None),
        (None, None),
    ],
)  # fmt: skip
def test_that_outputs_are_read_from_what_a_file_says_whatever_it_says(
    configuration: object, outputs: int | None
) -> None:
    assert outputs_in(json.loads(json.dumps(configuration))) == outputs


def test_that_layers_that_mix_examples_are_found_in_what_a_file_says_whatever_it_says() -> None:
    inside = {"class_name": "Sequential", "config": {"layers": [layer("MixUp", "deep")]}}
    wrapped = layer("TimeDistributed", "each", layer=layer("Equalization", "even"))
    model = functional(layer("RandomFlip", "a"), layer("CutMix", "b"), wrapped, output=None)
    model["config"]["layers"].append(inside)
    assert mixing_layers_in(json.loads(json.dumps(model))) == ("b", "even", "deep")
    odd: tuple[object, ...] = (None, [1], {"class_name": "MixUp"}, {"class_name": ["MixUp"]})
    assert [mixing_layers_in(each) for each in odd] == [()] * 4


@pytest.mark.parametrize(("task", "names"), [("train", ("mixed",)), ("evaluate", ())])
def test_that_a_preview_names_layers_that_mix_examples(
    saved: Path, task: Any, names: tuple[str, ...]
) -> None:
    model = SavedModel(path=str(saved / "mixing.keras"))
    asked = PreviewRequest(data=DigitsData(), model=model, task=task)
    assert preview(asked).mixing_layers == names


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    root = tmp_path / "run"
    root.mkdir()
    return RunLayout(root)


def kept(layout: RunLayout, path: Path, **parts: Any) -> bytes | None:
    keep_start_model(layout, Profile(model=SavedModel(path=str(path)), **parts))
    return layout.start_model.read_bytes() if layout.start_model.exists() else None


def test_that_a_run_keeps_the_model_that_it_trains_further(
    layout: RunLayout, tmp_path: Path
) -> None:
    path = tmp_path / "model.keras"
    path.write_bytes(b"a model")
    assert kept(layout, path, task="evaluate") is None
    assert kept(layout, path) == b"a model"
    assert layout.start_model.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"another one")
    assert layout.start_model.read_bytes() == b"a model"


def test_that_a_model_that_cannot_be_kept_is_refused_at_once(
    layout: RunLayout, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo.keras")
    (tmp_path / "folder.keras").mkdir()
    with (tmp_path / "huge.keras").open("wb") as huge:
        huge.truncate(2**42)
    wanted = {
        "fifo": "model_file_unreadable",
        "folder": "model_file_unreadable",
        "gone": "model_file_missing",
        "huge": "file_too_large",
    }
    for name, code in wanted.items():
        with pytest.raises(ProblemError) as refused:
            kept(layout, tmp_path / f"{name}.keras")
        assert refused.value.problems[0].code == code
    assert not layout.start_model.exists()


def test_that_a_script_of_a_run_names_its_own_copy_of_the_model(
    saved: Path, runs_dir: Path
) -> None:
    named = saved / "classifier.keras"
    run = WrittenRun(runs_dir, Profile(model=SavedModel(path=str(named))))
    assert run.layout.start_model.read_bytes() == named.read_bytes()
    profile, _, _ = profile_of_export(run.layout)
    assert profile.model.path == str(run.layout.start_model)
    run.layout.start_model.unlink()
    with pytest.raises(ProblemError) as refused:
        profile_of_export(run.layout)
    assert refused.value.problems[0].code == "model_file_missing"


@pytest.mark.parametrize("read", [recipe_in, outputs_of_file])
def test_that_a_file_that_is_gone_is_said_to_be_gone(
    tmp_path: Path, read: Callable[[str], object]
) -> None:
    with pytest.raises(ProblemError) as refused:
        read(str(tmp_path / "gone.keras"))
    assert refused.value.problems[0].code == "model_file_missing"


@pytest.mark.parametrize(
    ("configuration", "ends"),
    [
        ({"class_name": "Sequential", "config": {"layers": []}}, (1, 1)),
        ({"class_name": "F", "config": {"input_layers": ["a", 0, 0], "output_layers": []}}, None),
        ({"class_name": "F", "config": {"input_layers": {"x": 3}, "output_layers": "y"}}, None),
        ({"class_name": "MyModel", "config": {}}, None),
        ([1], None),
    ],
)
def test_that_a_configuration_of_a_stranger_says_how_many_inputs_there_are_or_nothing(
    configuration: object, ends: object
) -> None:
    assert ends_in(configuration) == ends


def test_that_a_model_without_names_is_asked_what_range_it_takes_all_the_same(
    saved: Path, tmp_path: Path
) -> None:
    images = make_images(tmp_path, {f"{name}/{n}.png": 9 for name in "abc" for n in range(4)})
    data = ImagesData(path=str(images), image_size=(8, 8), color="grayscale")
    model = SavedModel(path=str(saved / "classifier.keras"))
    found = preview(PreviewRequest(data=data, model=model, task="evaluate"))
    said = {each.code for each in found.model_problems}
    assert said == {"model_without_class_names", "learned_from_unknown"}
    assert found.model_scales is not None
