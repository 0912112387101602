"""Features of records by name: inputs and outputs of a model.

What is read is what the same numbers are as arrays by name.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DataCache, NpzData, Scaling, Target, TfrecordData
from gpupanel.domain.model import PythonModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.scan import ScanRequest
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.fingerprint import compare, take_fingerprint
from gpupanel.trainer.datasets.packed_inputs import apart
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.sources.npz import read_npz
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.array_code import array_profile, with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.record_files import example, image, tensor, write_records
from tests.unit.trainer.test_array_sources import in_one
from tests.unit.trainer.test_the_rule import MIRRORED
from tests.unit.trainer.test_the_rule_for_arrays import apart as apart_by
from tests.unit.trainer.trained_runs import changed, last_metrics, profile, state, train_all

COUNT = 12
RANDOM = np.random.default_rng(5)
FACTS = RANDOM.normal(size=(COUNT, 4)).astype(np.float32)
WORDS = RANDOM.integers(0, 20, (COUNT, 3))
SERIES = RANDOM.normal(size=(COUNT, 5, 2)).astype(np.float32)
MASK = RANDOM.integers(0, 3, (COUNT, 2, 2)).astype(np.uint8)
KIND = np.arange(COUNT) % 3
TAGS = RANDOM.integers(0, 2, (COUNT, 2))
NAMES = [(b"dog", b"cat")[number % 2] for number in range(COUNT)]


def records(count: int = COUNT, **more: Any) -> list[bytes]:
    return [
        example(
            **{
                "in__facts": FACTS[row].tolist(),
                "words": WORDS[row].tolist(),
                "series": tensor(SERIES[row]),
                "picture": image(row * 20),
                "seen__mask": MASK[row].tobytes(),
                "seen__mask__shape": [2, 2],
                "size": [float(FACTS[row, 0])],
                "tags": TAGS[row].tolist(),
                "animal": NAMES[row],
                "label": int(KIND[row]),
                **{name: value(row) for name, value in more.items()},
            }
        )
        for row in range(count)
    ]


def write(folder: Path, name: str = "data.tfrecord", *args: Any, **more: Any) -> str:
    return str(write_records(folder / name, records(*args, **more)))


def read(data: TfrecordData, **reading: Any) -> DataSet:
    return source_of(data).read(data, Reading(print, **reading))


def refused(data: TfrecordData) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read(data)
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


@pytest.mark.parametrize("cache", DataCache)
@pytest.mark.parametrize("packed", [True, False])
def test_that_features_by_name_are_the_arrays_of_the_same_names(
    tmp_path: Path, cache: DataCache, packed: bool
) -> None:
    path = write_records(tmp_path / "a.tfrecord", records(), packed=packed)
    outputs = {"mask": "classes", "size": "values", "tags": "labels"}
    inputs = ["facts", "words", "series"]
    arrays = {"facts": FACTS, "words": WORDS, "series": SERIES}
    labels = {"mask": MASK, "size": FACTS[:, 0], "tags": TAGS}
    expected = read_npz(
        NpzData(
            path=str(in_one(tmp_path / "npz", **arrays, **labels)), inputs=inputs, outputs=outputs
        )
    )

    found = read(TfrecordData(path=str(path), inputs=inputs, outputs=outputs, cache=cache))

    some = np.array([7, 0, 11], np.int32)
    np.testing.assert_array_equal(found.training.read(some), expected.training.read(some))
    np.testing.assert_array_equal(found.training.labels, expected.training.labels)
    assert (found.form, found.inputs, found.outputs) == (
        expected.form,
        expected.inputs,
        expected.outputs,
    )
    assert (found.training.in_memory is None) is (cache is not DataCache.MEMORY)
    assert found.scaling is Scaling.NONE


def test_that_images_are_inputs_beside_numbers(tmp_path: Path) -> None:
    data = TfrecordData(
        path=write(tmp_path), inputs=["picture", "facts"], labels="label", image_size=(8, 8)
    )

    found = read(data)

    inputs = apart(found.training.read_all(), found.inputs)
    assert (inputs["picture"].dtype, inputs["picture"].shape) == (np.uint8, (COUNT, 8, 8, 3))
    assert inputs["picture"][:, 0, 0, 0].tolist() == [row * 20 for row in range(COUNT)]
    np.testing.assert_array_equal(inputs["facts"], FACTS)
    assert (found.target, found.class_names) == (Target.CLASSES, ("0", "1", "2"))
    assert found.training.labels.tolist() == KIND.tolist()
    # One input of images is scaled as it always is.
    alone = read(TfrecordData(path=data.path, outputs={"label": "classes"}, image_size=(8, 8)))
    assert (alone.inputs, alone.scaling, alone.greatest) == ((), Scaling.DIVIDE, 255.0)
    assert alone.training.feature_shape == (8, 8, 3)


def test_that_names_of_classes_are_labels_of_an_output(tmp_path: Path) -> None:
    data = TfrecordData(path=write(tmp_path), outputs={"animal": "classes", "size": "values"})

    found = read(data)

    assert [each.class_names for each in found.outputs] == [("cat", "dog"), ()]
    assert found.training.labels[:4, 0].tolist() == [1, 0, 1, 0]


def test_that_examples_may_be_an_output_themselves(tmp_path: Path) -> None:
    found = read(TfrecordData(path=write(tmp_path), features="words", outputs={"words": "values"}))

    np.testing.assert_array_equal(found.training.read_all(), found.training.labels)


def test_that_bytes_with_a_shape_are_no_names_though_they_are_letters(tmp_path: Path) -> None:
    letters = [bytes([48 + (row + place) % 2 for place in range(4)]) for row in range(COUNT)]
    path = write(
        tmp_path, "o.tfrecord", COUNT, letter=lambda row: letters[row], letter_shape=lambda _: [4]
    )

    found = read(TfrecordData(path=path, features="words", outputs={"letter": "classes"}))

    assert found.outputs[0].shape == (4,)
    assert found.training.labels[0].tolist() == [48, 49, 48, 49]


def test_that_what_is_no_input_may_be_the_label_and_no_input_is(tmp_path: Path) -> None:
    found = read(TfrecordData(path=write(tmp_path), inputs=["facts", "tags"]))
    assert found.training.labels.tolist() == KIND.tolist()
    path = write_records(
        tmp_path / "few.tfrecord",
        [example(facts=FACTS[row].tolist(), age=row, note=b"a\0b") for row in range(COUNT)],
    )
    problem = refused(TfrecordData(path=str(path), inputs=["facts", "age"]))
    assert (problem.code, problem.field) == ("record_features_ambiguous", "data.labels")


def test_that_sets_held_out_are_read_alike(tmp_path: Path) -> None:
    write(tmp_path, "train.tfrecord")
    write(tmp_path, "test.tfrecord", 5, label=lambda row: 3)
    settings: dict[str, Any] = {
        "path": str(tmp_path),
        "inputs": ["facts", "words"],
        "outputs": {"label": "classes"},
    }

    found = read(TfrecordData(**settings))

    assert found.test is not None
    assert (len(found.training), len(found.test)) == (COUNT, 5)
    np.testing.assert_array_equal(found.test.read_all(), found.training.read_all()[:5])
    # A class of the test set is one, too.
    assert found.outputs[0].class_names == ("0", "1", "2", "3")
    # One that was found, and lacks what is predicted, is left out, and said.
    write_records(tmp_path / "test.tfrecord", [example(in__facts=[1.0] * 4, words=[1, 2, 3])])
    left = read(TfrecordData(**settings))
    assert left.test is None
    assert "data_sets_left_out" in [each.code for each in left.notes]


@pytest.mark.parametrize(
    ("settings", "code", "field", "words"),
    [
        ({"inputs": ["facts", "facts"]}, "data_names_misfit", "data.inputs", "'facts' is named"),
        ({"inputs": ["in/facts"]}, "data_names_misfit", "data.inputs", "'in/facts' is no name"),
        ({"outputs": {"Tags": "labels"}}, "data_names_misfit", "data.outputs", "'Tags' is no"),
        ({"inputs": ["age"]}, "record_feature_missing", "data.inputs", "no feature of that name"),
        ({"inputs": ["twice"]}, "record_feature_missing", "data.inputs", "several features"),
        ({"outputs": {"age": "values"}}, "record_feature_missing", "data.outputs", '"age"'),
        ({"inputs": ["great"]}, "data_numbers_not_exact", "data.inputs", "16,777,216 and more"),
        ({"inputs": ["nan"]}, "data_features_not_finite", "data.path", '"nan"'),
        ({"outputs": {"nan": "values"}}, "data_features_not_finite", "data.path", '"nan"'),
        ({"outputs": {"words": "labels"}}, "data_labels_not_zero_or_one", "data.outputs", "than 0"),
        (
            {"outputs": {"picture": "classes"}, "features": "words"},
            "record_labels_are_images",
            "data.outputs",
            "an encoded image",
        ),
        ({"inputs": ["raw"]}, "record_type_ambiguous", "data.inputs", "raw bytes"),
        ({"outputs": {"empty": "values"}}, "record_feature_unfit", "data.outputs", "0 texts"),
    ],
)
def test_that_features_that_cannot_be_used_are_named(
    tmp_path: Path, settings: dict[str, Any], code: str, field: str, words: str
) -> None:
    nan = FACTS.copy()
    nan[3] = np.nan
    raw = RANDOM.integers(0, 2**16, (COUNT, 8), dtype=np.uint16)
    more: dict[str, Any] = {
        "great": lambda row: [2**24 + row],
        "nan": lambda row: nan[row].tolist(),
        "a__twice": lambda row: row,
        "b__twice": lambda row: row,
        "raw": lambda row: raw[row].tobytes(),
        "empty": lambda row: [],
    }
    path = write(tmp_path, "odd.tfrecord", COUNT, **more)
    given = {"labels": "label", **settings} if "inputs" in settings else settings

    problem = refused(TfrecordData(path=path, **given))

    assert (problem.code, problem.field) == (code, field)
    assert words in problem.message
    assert problem.fix is None


def test_that_a_preview_offers_features_and_a_scan_reads_them(tmp_path: Path) -> None:
    data = TfrecordData(
        path=write(tmp_path),
        inputs=["picture", "facts"],
        outputs={"mask": "classes", "animal": "classes"},
        image_size=(8, 8),
        validation_fraction=0.25,
    )

    found = preview(PreviewRequest(data=data, example_limit=2))

    assert [each for each in found.problems if each.is_error] == []
    assert found.form.inputs == {"picture": (8, 8, 3), "facts": (4,)}
    assert {each.label for each in found.examples} <= {
        "mask 2 x 2; animal cat",
        "mask 2 x 2; animal dog",
    }
    assert "in/facts" in [each.value for each in found.offers["inputs"]]
    assert not {"features", "labels", "predicts"} & found.found.keys()
    assert with_detected(Profile(data=data), found).data == data
    scanned = scan(ScanRequest(data=data))
    assert [each.examples for each in scanned.sets] == [9, 3]
    assert [each.name for each in scanned.columns] == [f"facts {place}" for place in range(1, 5)]


def test_that_all_records_say_their_form(tmp_path: Path) -> None:
    path, reading = write(tmp_path), Reading(print)
    several = TfrecordData(path=path, inputs=["facts", "words"], labels="label")
    mask = TfrecordData(path=path, features="words", outputs={"mask": "classes"})
    for data in (several, mask):
        found = source_of(data).read_all(data, reading, needs_labels=True)
        assert found.whole is not None
        assert found.inputs == found.whole.inputs
        assert not found.whole.form.is_plain
    # Without labels one input is one.
    found = source_of(mask).read_all(mask, reading, needs_labels=False)
    assert (len(found), found.inputs) == (COUNT, ())


def test_that_changed_records_are_noticed_when_a_run_goes_on(tmp_path: Path) -> None:
    data = TfrecordData(path=write(tmp_path), inputs=["facts"], outputs={"tags": "labels"})
    before = take_fingerprint(read(data))
    write(tmp_path, "data.tfrecord", COUNT - 1)

    found = read(data)

    differences, _ = compare(before, take_fingerprint(found), found.files)
    assert differences


def test_that_an_image_that_cannot_be_read_is_replaced_in_all_inputs(tmp_path: Path) -> None:
    pictures = [image(row * 20) for row in range(COUNT)]
    pictures[4] = b"\x89PNG but no more"
    path = write(tmp_path, "cut.tfrecord", COUNT, picture=lambda row: pictures[row])
    data = TfrecordData(path=path, inputs=["facts", "picture"], labels="label", image_size=(8, 8))

    assert refused(data).code == "record_picture_unreadable"
    found = read(data.model_copy(update={"unreadable_share": 0.2}))

    assert list(found.training.unreadable) == [4]
    assert found.skipped is not None


TRAINING = changed(learning_rate=0.02, epochs=2, global_batch_size=64)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    folder = tmp_path_factory.mktemp("records")
    of_code = array_profile("inputs", folder, TRAINING, MIRRORED)
    there: dict[str, Any] = {}
    exec(of_code.data.chosen_path and Path(of_code.data.chosen_path).read_text(), there)
    loaded = there["load"]()
    scene, row, words = (loaded["x"][name] for name in ("scene", "row", "words"))
    path = write_records(
        folder / "same.tfrecord",
        [
            example(
                view__scene=scene[number].tobytes(),
                view__scene__shape=list(scene.shape[1:]),
                row=row[number].tolist(),
                words=words[number].tolist(),
                label=int(loaded["y"][number]),
            )
            for number in range(len(row))
        ],
    )
    data = TfrecordData(
        path=str(path), inputs=["words", "scene", "row"], validation_fraction=0.2, cache="none"
    )
    model = PythonModel(path=of_code.model.chosen_path)
    plans = {
        "code": (of_code, [40, 24]),
        "records": (profile(TRAINING, MIRRORED, data=data, model=model), [40, 24]),
    }
    return train_all(folder, with_code(make_run), plans)


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_features_by_name_are_learned_as_those_of_code(runs: dict[str, RunLayout]) -> None:
    pairs = zip(state(runs["records"]), state(runs["code"]), strict=True)
    assert max(apart_by(*pair) for pair in pairs) < 1e-6
    expected = last_metrics(runs["code"]).model_dump(exclude_none=True)
    assert last_metrics(runs["records"]).model_dump(exclude_none=True) == pytest.approx(
        expected, rel=1e-6
    )
