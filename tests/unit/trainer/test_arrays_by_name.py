"""Several arrays of NumPy's files by name: inputs, outputs, labels that are arrays, and none.

What is read is what the same data is as Python code.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataCache, NpzData, PythonData, Scaling, Target
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import ScanRequest
from gpupanel.trainer.datasets.array_labels import checked_arrays
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.example_previews import label_texts
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.fingerprint import compare, take_fingerprint
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.sources.npz import read_npz
from gpupanel.trainer.datasets.sources.python_data import read_python_data
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.fakes.checked_files import trusted
from tests.unit.trainer.array_code import FLAGS, INPUTS, MASKS, PIXELS, SERIES, TASKS, TWO_PICTURES
from tests.unit.trainer.test_array_sources import in_one, in_several

X = np.arange(6 * 4 * 3, dtype="uint8").reshape(6, 4, 3)
ROW = np.arange(12.0).reshape(6, 2)
MASK = np.arange(6 * 4).reshape(6, 2, 2, 1) % 3
Y = np.arange(6) % 2

SAME = {
    "inputs": (INPUTS, {"inputs": ["words", "scene", "row"]}),
    "two pictures": (TWO_PICTURES, {"inputs": ["left", "right"]}),
    "tasks": (
        TASKS,
        {
            "outputs": {
                "mask": "classes",
                "spread": "values",
                "tags": "labels",
                "corner": "classes",
            }
        },
    ),
    "masks": (MASKS, {"predicts": "classes"}),
    "flags": (FLAGS, {"predicts": "labels"}),
    "series": (SERIES, {"predicts": "values"}),
    "pixels": (PIXELS, {"autoencoder": True}),
}
"""Python code, and the settings by which its arrays are the same data."""


def arrays_of_code(code: str) -> dict[str, Any]:
    """What ``load`` gives, by the names that arrays have."""
    there: dict[str, Any] = {}
    exec(code, there)
    loaded = there["load"]()
    loaded = loaded if isinstance(loaded, dict) else dict(zip("xy", loaded, strict=True))
    found = {}
    for name in ("x", "y"):
        part = loaded.get(name)
        found |= part if isinstance(part, dict) else {} if part is None else {name: part}
    return found


def same_as_code(folder: Path, name: str) -> DataSet:
    code, _ = SAME[name]
    path = folder / "data.py"
    path.write_text(code)
    predicts = {"series": Target.VALUES, "flags": Target.LABELS, "pixels": Target.VALUES}
    data = PythonData(path=str(path), predicts=predicts.get(name, Target.CLASSES))
    return read_python_data(data, trusted("data.path", path.name, path), 7)


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("save", [in_one, in_several])
@pytest.mark.parametrize("cache", DataCache)
def test_that_arrays_by_name_are_the_data_that_code_gives(
    tmp_path: Path, name: str, save: Any, cache: DataCache
) -> None:
    code, settings = SAME[name]
    expected = same_as_code(tmp_path, name)

    path = save(tmp_path / "arrays", **arrays_of_code(code))
    found = read_npz(NpzData(path=str(path), cache=cache, **settings))

    some = np.array([5, 0, 299, 7], np.int32)
    one, other = (each.training.read(some) for each in (found, expected))
    assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
    assert found.training.labels.dtype == expected.training.labels.dtype
    np.testing.assert_array_equal(found.training.labels, expected.training.labels)
    assert (found.form, found.inputs) == (expected.form, expected.inputs)
    assert (found.scaling, found.greatest) == (expected.scaling, expected.greatest)
    assert len(found.class_names) == len(expected.class_names)
    assert [each.output_shape for each in found.outputs] == [
        each.output_shape for each in expected.outputs
    ]
    streamed = save is in_several and cache is not DataCache.MEMORY
    assert (found.training.in_memory is None) is streamed


def problem_of(path: Path, **settings: object) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_npz(NpzData(path=str(path), **settings))
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


@pytest.mark.parametrize(
    ("settings", "code", "field", "words"),
    [
        ({"inputs": ["x", "x"]}, "data_names_misfit", "data.inputs", "'x' is named twice"),
        ({"inputs": [""]}, "data_names_misfit", "data.inputs", "'' is no name of an input"),
        ({"inputs": ["a/b"]}, "data_names_misfit", "data.inputs", "'a/b' is no name"),
        ({"outputs": {"Kind": "classes"}}, "data_names_misfit", "data.outputs", "'Kind' is no"),
        ({"outputs": {"a" * 25: "classes"}}, "data_names_misfit", "data.outputs", "up to 24"),
        ({"outputs": {"val_y": "classes"}}, "data_names_misfit", "data.outputs", "'val_y' is no"),
        ({"inputs": ["x", "other"]}, "data_array_missing", "data.inputs", 'no array "other"'),
        ({"outputs": {"other": "values"}}, "data_array_missing", "data.outputs", '"other"'),
        (
            {"inputs": ["x", "short"], "labels": "y"},
            "data_lengths_differ",
            "data.inputs",
            '"short" has 5 examples',
        ),
        (
            {"outputs": {"y": "classes", "short": "values"}, "features": "x"},
            "data_lengths_differ",
            "data.outputs",
            '"short" has 5 labels',
        ),
        ({"inputs": ["x", "text"], "labels": "y"}, "data_features_not_numbers", "data.inputs", "U"),
        ({"inputs": ["x", "nothing"], "labels": "y"}, "data_empty", "data.inputs", "(6, 0)"),
        ({"inputs": ["x", "nan"], "labels": "y"}, "data_features_not_finite", "data.inputs", "nan"),
        (
            {"inputs": ["x", "great"], "labels": "y"},
            "data_numbers_not_exact",
            "data.inputs",
            "16,777,216 and more, such as 16,777,216",
        ),
        (
            {"inputs": ["x", "least"], "labels": "y"},
            "data_numbers_not_exact",
            "data.inputs",
            "-2,147,483,648",
        ),
        (
            {"outputs": {"nan": "values"}, "features": "x"},
            "data_labels_not_finite",
            "data.outputs",
            "nan",
        ),
        (
            {"outputs": {"mask": "labels"}, "features": "x"},
            "data_labels_not_zero_or_one",
            "data.outputs",
            "other values than 0 and 1",
        ),
        ({"labels": "mask", "features": "x"}, "data_labels_not_one_each", "data.labels", "predict"),
    ],
)
@pytest.mark.parametrize("save", [in_one, in_several])
def test_that_arrays_that_cannot_be_used_are_named(
    tmp_path: Path, settings: Any, code: str, field: str, words: str, save: Any
) -> None:
    path = save(
        tmp_path,
        x=X,
        row=ROW,
        mask=MASK,
        y=Y,
        short=ROW[:5],
        text=np.array(["a"] * 6),
        nothing=np.zeros((6, 0)),
        nan=np.where(ROW == 3, np.nan, ROW),
        great=np.arange(6) + 2**24 - 4,
        least=np.array([0, -(2**31)] * 3, np.int32),
    )

    problem = problem_of(path, **settings)

    assert (problem.code, problem.field) == (code, field)
    assert words in problem.message


def test_that_arrays_of_objects_are_refused_as_inputs_and_outputs(tmp_path: Path) -> None:
    path = in_one(tmp_path, x=X, y=Y, any=np.array([{}] * 6, object))

    assert problem_of(path, inputs=["x", "any"], labels="y").code == "data_array_of_objects"
    assert problem_of(path, outputs={"any": "values"}, features="x").code == "data_array_of_objects"


def test_that_floats_and_small_whole_numbers_are_inputs_as_they_are(tmp_path: Path) -> None:
    path = in_one(tmp_path, a=ROW * 1e9, b=np.full((6, 1), 65535, np.uint16), y=Y)

    data = read_npz(NpzData(path=str(path), inputs=["a", "b"]))

    assert data.training.read_all()[1].tolist() == [2e9, 3e9, 65535.0]


def test_that_whole_numbers_that_are_not_exact_are_refused_of_code_too(tmp_path: Path) -> None:
    path = tmp_path / "data.py"

    def read(x: str) -> DataSet:
        path.write_text(
            "import numpy as np\na = np.array([[1], [2**25]])\n"
            f"def load(): return {{'x': {x}, 'y': [0, 1]}}\n"
        )
        code = trusted("data.path", path.name, path)
        return read_python_data(PythonData(path=str(path)), code, 7)

    with pytest.raises(ProblemError) as caught:
        read("{'a': a}")
    assert caught.value.problems[0].code == "data_numbers_not_exact"
    for fine in ("{'a': a * 1.0}", "a"):
        assert read(fine).training.read_all().tolist() == [[1.0], [2.0**25]]


def test_that_rows_of_class_numbers_are_arrays_of_classes(tmp_path: Path) -> None:
    rows = np.array([[0, 2], [1, 1], [2, 0]] * 2)
    path = in_one(tmp_path, x=X, y=rows)

    data = read_npz(NpzData(path=str(path), predicts="classes"))

    assert (data.arrays_of, data.output_shape) == (Target.CLASSES, (2, 3))
    # Nothing says so: as before they are values.
    assert read_npz(NpzData(path=str(path))).target is Target.VALUES


@pytest.mark.parametrize("beside", [True, False])
def test_that_sets_held_out_have_the_same_arrays(tmp_path: Path, beside: bool) -> None:
    training = {"picture": X, "row": ROW, "kind": Y, "size": ROW[:, 0]}
    held = {"picture": X[:3] + 1, "row": ROW[:3], "kind": np.array([3, 0, 0]), "size": ROW[:3, 1]}
    settings: dict[str, Any] = {
        "inputs": ["picture", "row"],
        "outputs": {"kind": "classes", "size": "values"},
    }
    if beside:
        # Called as those that are trained on, or after them.
        settings["test_path"] = str(in_one(tmp_path / "test", **held))
        renamed = {f"val_{name}": array for name, array in held.items()}
        settings["validation_path"] = str(in_one(tmp_path / "val", **renamed))
        path = in_one(tmp_path, **training)
    else:
        test = {f"{name}_test": array for name, array in held.items()}
        validation = {f"valid_{name}": array for name, array in held.items()}
        path = in_one(tmp_path, **training, **test, **validation)

    data = read_npz(NpzData(path=str(path), **settings))

    assert data.test is not None
    assert data.validation is not None
    assert (len(data.training), len(data.test), len(data.validation)) == (6, 3, 3)
    expected = np.concatenate([held["picture"].reshape(3, -1), held["row"]], axis=1)
    np.testing.assert_array_equal(data.test.read_all(), expected)
    assert data.test.labels.tolist() == [[3, 1], [0, 3], [0, 5]]
    # A class of the test set is one, too.
    assert data.outputs[0].class_names == ("0", "1", "2", "3")
    assert data.notes == ()


def test_that_part_of_a_set_is_left_out_and_said(tmp_path: Path) -> None:
    path = in_one(tmp_path, picture=X, row=ROW, y=Y, picture_test=X, y_test=Y)

    data = read_npz(NpzData(path=str(path), inputs=["picture", "row"]))

    assert data.test is None
    (note,) = data.notes
    assert (note.code, note.severity) == ("data_set_incomplete", Severity.HINT)
    assert '"picture_test", "y_test" seem to be a test set' in note.message
    assert 'none of it for "row"' in note.message


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ({"a": ROW[:, :1], "b": X, "y": Y}, "a (1,), b (4, 3) of bytes, and one that is trained"),
        ({"a": ROW, "b": X * 1.0, "y": Y}, "a (2,), b (4, 3), and one that is trained"),
        ({"a": ROW, "b": X, "y": MASK}, '"y" in'),
    ],
)
def test_that_a_set_that_differs_is_refused(tmp_path: Path, test: Any, words: str) -> None:
    path = in_one(tmp_path, a=ROW, b=X, y=MASK[:, :1])

    problem = problem_of(
        path,
        inputs=["a", "b"],
        outputs={"y": "classes"},
        test_path=str(in_one(tmp_path / "test", **test)),
    )

    assert problem.field == "data.test_path"
    assert words in problem.message


def test_that_an_autoencoder_has_no_labels_whatever_arrays_are_called(tmp_path: Path) -> None:
    path = in_one(tmp_path, x_train=X, y_train=Y, x_test=X[:2])

    data = read_npz(NpzData(path=str(path), autoencoder=True))

    assert data.learns_inputs
    assert (data.form.label_shape, data.scaling) == ((4, 3), Scaling.DIVIDE)
    assert data.test is not None
    assert data.test.labels.tolist() == [0, 0]
    beside = NpzData(
        path=str(in_one(tmp_path / "x", x=X)),
        autoencoder=True,
        test_path=str(in_one(tmp_path / "test", images=X[:4])),
    )
    held = read_npz(beside).test
    assert held is not None
    assert len(held) == 4


def test_that_text_names_the_classes_of_an_output(tmp_path: Path) -> None:
    path = in_one(tmp_path, x=X, kind=np.array(["dog", "cat"] * 3), size=ROW[:, 0])

    data = read_npz(NpzData(path=str(path), outputs={"size": "values", "kind": "classes"}))

    assert [each.class_names for each in data.outputs] == [(), ("cat", "dog")]
    assert data.training.labels[:, 1].tolist() == [1, 0] * 3
    assert label_texts(data, data.training.labels[:2]) == ["size 0; kind dog", "size 2; kind cat"]


def test_that_changed_arrays_are_noticed_when_a_run_goes_on(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"inputs": ["a", "b"], "outputs": {"y": "classes"}, "cache": "none"}
    for save in (in_one, in_several):
        path = save(tmp_path / save.__name__, a=ROW, b=X, y=Y)
        before = take_fingerprint(read_npz(NpzData(path=str(path), **settings)))
        save(tmp_path / save.__name__, a=ROW, b=X, y=1 - Y)

        data = read_npz(NpzData(path=str(path), **settings))

        differences, _ = compare(before, take_fingerprint(data), data.files)
        assert differences


def request(data: NpzData, task: Any = "train") -> PreviewRequest:
    return PreviewRequest(data=data, task=task, example_limit=3)


def test_that_a_preview_shows_what_examples_are_made_of(tmp_path: Path) -> None:
    arrays = {"picture": X, "row": ROW, "mask": MASK, "size": ROW[:, 0]}
    path = in_one(tmp_path, **arrays)
    outputs = {"mask": "classes", "size": "values"}
    data = NpzData(path=str(path), inputs=["picture", "row"], outputs=outputs)

    found = preview(request(data))

    assert found.problems == ()
    assert found.form.inputs == {"picture": (4, 3), "row": (2,)}
    assert found.form.outputs == ("mask", "size")
    assert (found.class_counts, found.value_count, found.feature_shape) == ((), 0, (14,))
    assert {each.label for each in found.examples} <= {
        f"mask 2 x 2; size {size}" for size in (0, 2, 4, 6, 8, 10)
    }
    assert [(each.width, each.height) for each in found.examples] == [(3, 4)] * 3
    assert [each.value for each in found.offers["inputs"]] == list(arrays)
    # What means nothing beside names is not filled in.
    assert found.found == {}
    assert with_detected(Profile(data=data), found).data == data


def test_that_a_preview_refuses_nothing_that_planning_says(tmp_path: Path) -> None:
    path = in_one(tmp_path, x=X, mask=MASK)
    data = NpzData(
        path=str(path),
        labels="mask",
        predicts="classes",
        stratify=True,
        oversample=True,
        validation_fraction=0.5,
        augmentation=Augmentation(mixup=0.2),
    )

    found = preview(request(data))

    assert [each.code for each in found.problems] == []
    assert (found.form.label_shape, found.trained_count, found.held_out_count) == ((2, 2), 3, 3)
    assert {each.label for each in found.examples} == {"2 x 2"}
    of_itself = preview(request(NpzData(path=str(path), features="x", autoencoder=True)))
    assert {each.label for each in of_itself.examples} == {"itself"}


def test_that_all_examples_say_their_form_and_may_lack_labels(tmp_path: Path) -> None:
    path = in_one(tmp_path, x=X, row=ROW, y=Y, mask=MASK)
    unlabelled = in_one(tmp_path / "new", x=X, row=ROW)
    several = {"inputs": ["x", "row"], "labels": "y"}
    masks = {"features": "x", "outputs": {"mask": "classes"}}
    itself = {"features": "x", "autoencoder": True}
    reading = Reading(print)
    for settings, code in (
        (several, "examples_have_inputs"),
        (masks, "labels_are_arrays"),
        (itself, "labels_are_arrays"),
    ):
        data = NpzData.model_validate({"path": str(path), **settings})
        found = source_of(data).read_all(data, reading, needs_labels=True)
        assert found.whole is not None
        assert found.inputs == found.whole.inputs
        assert not found.whole.form.is_plain
        assert code in [each.code for each in preview(request(data, "evaluate")).problems]
        new = data.model_copy(update={"path": str(unlabelled)})
        found = source_of(new).read_all(new, reading, needs_labels=False)
        assert (found.labels, found.whole, len(found)) == (None, None, 6)
        assert [each.name for each in found.inputs] == list(data.inputs)


def test_that_a_scan_reads_inputs_and_arrays(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    row = random.normal(size=(40, 2))
    row[7, 1] = 1e6
    picture = random.integers(0, 256, (40, 4, 3), dtype="uint8")
    mask = random.integers(0, 3, (40, 2, 2))
    picture[1], row[1] = picture[0], row[0]
    path = in_one(tmp_path, picture=picture, row=row, mask=mask)
    data = NpzData(
        path=str(path),
        inputs=["picture", "row"],
        outputs={"mask": "classes"},
        validation_fraction=0.25,
        stratify=True,
    )

    found = scan(ScanRequest(data=data))

    assert [each.name for each in found.columns] == ["row 1", "row 2"]
    assert (found.copies, found.feature_shape) == (1, ())
    assert [(each.examples, each.class_counts) for each in found.sets] == [(30, ()), (10, ())]
    outliers = next(each for each in found.problems if each.code == "scan_values_far_outside")
    assert "row 2 holds" in outliers.message
    masks = NpzData(path=str(path), features="picture", labels="mask", predicts="classes")
    assert [each.examples for each in scan(ScanRequest(data=masks)).sets] == [40]
    flags = in_one(tmp_path / "flags", x=picture, y=mask > 0)
    of_labels = NpzData(path=str(flags), predicts="labels")
    assert "scan_labels_differ" in [
        each.code for each in scan(ScanRequest(data=of_labels)).problems
    ]


def test_that_a_mask_of_one_channel_is_one_without(tmp_path: Path) -> None:
    name = ArrayName("a file", "mask")
    checked = checked_arrays(MASK, name, Target.CLASSES)
    path = in_one(tmp_path, x=X, y=MASK)

    data = read_npz(NpzData(path=str(path), predicts="classes"))

    np.testing.assert_array_equal(data.training.labels, checked.array)
    assert data.training.labels.shape == (6, 2, 2)
