"""Examples and labels are found in TFRecord files of every usual kind."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import Scaling, Target, TfrecordData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets import cache_file, checks
from gpupanel.trainer.datasets.examples import AllExamples, DataSet, Examples, read_features
from gpupanel.trainer.datasets.fingerprint import compare, take_fingerprint
from gpupanel.trainer.datasets.records import rows as rows_module
from gpupanel.trainer.datasets.records.rows import RecordRows
from gpupanel.trainer.datasets.source import Found, Reading, source_of
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.record_files import Value, example, example_of, image, write_records
from tests.unit.trainer.whole_prints import whole_print

READING = Reading(print)


def data_of(path: Path, **chosen: object) -> TfrecordData:
    return TfrecordData(path=str(path), **chosen)


def read(path: Path, **chosen: object) -> DataSet:
    data = data_of(path, **chosen)
    return source_of(data).read(data, READING)


def found(path: Path, **chosen: object) -> Found:
    data = data_of(path, **chosen)
    return source_of(data).find(data, READING)


def read_all(path: Path, *, needs_labels: bool = False, **chosen: object) -> AllExamples:
    data = data_of(path, **chosen)
    return source_of(data).read_all(data, READING, needs_labels=needs_labels)


def problem_of(path: Path, **chosen: object) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read(path, **chosen)
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


def all_of(examples: Examples) -> np.ndarray:
    return examples.read(np.arange(len(examples), dtype=np.int32))


def one_file(folder: Path, *features: dict[str, Value], packed: bool = False) -> Path:
    return write_records(folder / "a.tfrecord", map(example_of, features), packed=packed)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("cache", ["memory", "none", "disk"])
@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_that_encoded_images_are_decoded(
    tmp_path: Path, packed: bool, cache: str, form: str
) -> None:
    records = [
        {
            "image/encoded": image(30 * number, side=8 + number, form=form),
            "image/class/label": number % 3,
            "image/class/text": b"cat",
            "image/height": 8 + number,
            "image/format": form.encode(),
        }
        for number in range(6)
    ]
    path = one_file(tmp_path, *records, packed=packed)
    data = read(path, image_size=(4, 5), cache=cache)
    assert all_of(data.training)[:, 2, 3, 1].tolist() == [0, 30, 60, 90, 120, 150]
    assert data.training.labels.tolist() == [0, 1, 2, 0, 1, 2]
    assert (data.training.feature_shape, data.class_names) == ((4, 5, 3), ("0", "1", "2"))
    assert (data.scaling, data.greatest) == (Scaling.DIVIDE, 255.0)
    grey = read(path, image_size=(4, 5), color="grayscale")
    assert grey.training.feature_shape == (4, 5, 1)
    assert (data.training.in_memory is None) == (cache != "memory")


def test_that_raw_bytes_have_the_shape_that_the_record_says(tmp_path: Path) -> None:
    sizes = {"height": 2, "width": 3, "depth": 2}
    rows = [{"image_raw": bytes([n] * 12), "label": n % 2, **sizes} for n in range(4)]
    path = one_file(tmp_path, *rows)
    data = read(path)
    assert all_of(data.training)[:, 1, 2, 0].tolist() == [0, 1, 2, 3]
    assert data.training.feature_shape == (2, 3, 2)
    assert (data.training.features.dtype, data.scaling) == (np.uint8, Scaling.DIVIDE)
    assert found(path).found == {
        "features": "image_raw",
        "labels": "label",
        "shape_features": ("height", "width", "depth"),
    }
    assert read(path, shape=(4, 3)).training.feature_shape == (4, 3)
    assert read(path, shape_features=("width", "depth", "height")).training.feature_shape == (
        3,
        2,
        2,
    )


def test_that_a_feature_may_say_the_whole_shape(tmp_path: Path) -> None:
    rows = [{"x": [0.5 * n] * 6, "x_shape": [2, 3], "y": n % 2} for n in range(3)]
    data = read(one_file(tmp_path, *rows))
    assert data.training.feature_shape == (2, 3)
    assert (data.training.features.dtype, data.scaling) == (np.float32, Scaling.NONE)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float16", "float32", "float64"])
def test_that_raw_bytes_are_numbers_of_the_type_that_was_chosen(tmp_path: Path, dtype: str) -> None:
    values = np.arange(12).reshape(3, 2, 2).astype(np.dtype(dtype).newbyteorder("<"))
    rows = [{"x": each.tobytes(), "y": n % 2} for n, each in enumerate(values)]
    data = read(one_file(tmp_path, *rows), raw_type=dtype, shape=(2, 2))
    assert np.array_equal(all_of(data.training), values.astype(np.float32))
    assert data.training.features.dtype == (np.uint8 if dtype == "uint8" else np.float32)


def test_that_numbers_are_rows_of_float32(tmp_path: Path) -> None:
    for values in ([-1.5, 2.0, 0.25], [-1, 2**40, 3]):
        rows = [{"features": values, "target": n % 2} for n in range(3)]
        data = read(one_file(tmp_path, *rows))
        assert all_of(data.training).tolist() == [[float(each) for each in values]] * 3


@pytest.mark.parametrize(
    ("labels", "target", "expected"),
    [
        ([[2], [0], [1]], Target.CLASSES, [2, 0, 1]),
        ([[0, 0, 1], [1, 0, 0], [0, 1, 0]], Target.CLASSES, [2, 0, 1]),
        ([[0, 1, 1], [1, 0, 0], [0, 0, 0]], Target.LABELS, [[0, 1, 1], [1, 0, 0], [0, 0, 0]]),
        ([[0.5], [1.5], [-2.0]], Target.VALUES, [0.5, 1.5, -2.0]),
        ([[0.5, 1.0], [1.5, 2.0], [3.0, 4.0]], Target.VALUES, [[0.5, 1], [1.5, 2], [3, 4]]),
    ],
)
def test_that_labels_are_what_they_look_like(
    tmp_path: Path, labels: list[list[float]], target: Target, expected: list[float]
) -> None:
    path = one_file(tmp_path, *({"x": [1.0, 2.0, 3.0, 4.0], "y": each} for each in labels))
    data = read(path)
    assert (data.target, data.training.labels.tolist()) == (target, expected)
    shown = preview(PreviewRequest(data=data_of(path)))
    assert (shown.problems, shown.found["predicts"]) == ((), target)


def test_that_a_feature_with_an_odd_name_can_be_chosen(tmp_path: Path) -> None:
    name = 'a "b"\n\u202e'
    rows = [{name: [n, n, n], "c": n % 2, "d": [5, 6, 7]} for n in range(4)]
    path = one_file(tmp_path, *rows)
    assert problem_of(path).code == "record_features_ambiguous"
    offers = found(path).offers
    assert [each.value for each in offers["features"]] == sorted([name, "c", "d"])
    assert "\u202e" not in offers["features"][0].label
    data = read(path, features=name, labels="c")
    assert all_of(data.training)[:, 0].tolist() == [0, 1, 2, 3]


def test_that_features_are_offered_with_type_and_length(tmp_path: Path) -> None:
    path = one_file(
        tmp_path,
        {"image": image(3), "label": 1, "box": [0.5] * 4, "name": b"abc", "few": [b"a", b"b"]},
        {"image": image(4), "label": 0, "box": [0.5] * 8, "name": b"a", "few": [b"a"]},
    )
    labels = {each.value: each.label for each in found(path).offers["features"]}
    assert labels == {
        "image": "image: image, PNG 11 x 9",
        "label": "label: int64, one number",
        "box": "box: float, 4 to 8",
        "name": "name: 1 to 3 bytes",
        "few": "few: 1 bytes in 1 to 2 texts",
    }
    assert {each.value for each in found(path).offers["labels"]} == {"label", "box", "name"}
    assert {each.value for each in found(path).offers["shape_features"]} == {"label"}


def test_that_rows_are_read_in_any_order_over_several_files(tmp_path: Path) -> None:
    for shard in range(3):
        records = [example(x=[float(10 * shard + n), 0.0], y=n % 2) for n in range(shard + 1)]
        write_records(tmp_path / f"d-{shard:05}-of-00003", records, packed=shard == 1)
    rows = read(tmp_path, cache="none").training
    assert isinstance(rows.features, RecordRows)
    asked = np.array([5, 0, 3, 3, 1, 2, 4], np.int32)
    assert rows.read(asked)[:, 0].tolist() == [22, 0, 20, 20, 10, 11, 21]
    assert rows.read(asked[:0]).shape == (0, 2)
    assert rows.subset(asked[:3]).read(np.array([2, 0], np.int32))[:, 0].tolist() == [20, 22]


def test_that_what_is_too_large_for_memory_stays_in_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = one_file(tmp_path, *({"x": [1.0, 2.0], "y": n % 2} for n in range(9)))
    monkeypatch.setattr(checks, "_PART_OF_MEMORY", 2**50)
    assert read(path).training.in_memory is None


def test_that_predicting_needs_no_labels(tmp_path: Path) -> None:
    path = one_file(tmp_path, *({"x": [float(n), 2.0]} for n in range(5)))
    assert problem_of(path).code == "record_features_ambiguous"
    assert problem_of(path, labels="y").code == "record_feature_missing"
    for chosen in ({}, {"labels": "y"}, {"test_path": str(path)}):
        everything = read_all(path, **chosen)
        assert everything.labels is None
        assert len(everything) == 5 * (1 + ("test_path" in chosen))
        rows = np.arange(5, dtype=np.int32)
        assert read_features(everything.features, rows)[:, 0].tolist() == [0, 1, 2, 3, 4]
    shown = preview(PreviewRequest(data=data_of(path, labels="y"), task="predict"))
    assert (shown.example_count, len(shown.examples)) == (5, 5)


def test_that_labels_of_all_sets_are_evaluated(tmp_path: Path) -> None:
    path = one_file(tmp_path, *({"x": [float(n), 2.0], "y": n % 2} for n in range(5)))
    everything = read_all(path, validation_path=str(path), needs_labels=True)
    assert everything.labels is not None
    assert everything.labels.tolist() == [0, 1, 0, 1, 0] * 2
    assert (everything.training_count, everything.validation_count) == (5, 5)
    assert not everything.class_count_is_known
    assert read_all(path, class_count=4, needs_labels=True).class_count_is_known


def test_that_sets_of_their_own_are_held_against_the_training_set(tmp_path: Path) -> None:
    train = one_file(tmp_path, *({"x": [float(n), 2.0], "y": n % 3} for n in range(9)))
    test = one_file(tmp_path / "t", *({"x": [5.0, 2.0], "y": n + 1} for n in range(3)))
    data = read(train, test_path=str(test), validation_path=str(test))
    assert data.class_names == ("0", "1", "2", "3")
    assert data.test is not None
    assert data.test.labels.tolist() == [1, 2, 3]
    longer = one_file(tmp_path / "longer", {"x": [5.0, 2.0, 3.0], "y": 1})
    problem = problem_of(train, test_path=str(longer))
    assert (problem.code, problem.field) == ("record_features_differ", "data.test_path")
    assert "3 numbers, and that of the first 2" in problem.message
    alike = problem_of(train, test_path=str(test), class_count=3)
    assert (alike.code, alike.field) == ("data_labels_out_of_range", "data.test_path")
    assert 'Feature "y"' in alike.message


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        ({"features": "none"}, "record_feature_missing"),
        ({"labels": "none"}, "record_feature_missing"),
        ({"shape_features": "none"}, "record_feature_missing"),
        ({"shape_features": "h"}, "record_shape_misfit"),
        ({"shape_features": "x"}, "record_shape_misfit"),
        ({"shape": (5,)}, "record_shape_misfit"),
        ({"features": "raw", "raw_type": "float32"}, "record_shape_misfit"),
        ({"features": "texts"}, "record_feature_unfit"),
        ({"features": "empty"}, "record_feature_unfit"),
        ({"labels": "hidden"}, "record_feature_unfit"),
        ({"predicts": "labels"}, "data_labels_not_zero_or_one"),
        ({"class_count": 2}, "data_labels_out_of_range"),
        ({"labels": "h"}, "data_one_class"),
    ],
)
def test_that_what_does_not_fit_is_reported_with_its_setting(
    tmp_path: Path, chosen: dict[str, object], code: str
) -> None:
    rows = [
        {
            "x": [1.0, 2.0],
            "y": n,
            "h": 3,
            "raw": b"abc",
            "texts": [b"a", b"b"],
            "empty": b"",
            "hidden": [],
        }
        for n in range(3)
    ]
    path = one_file(tmp_path, *rows)
    problem = problem_of(path, **{"features": "x", "labels": "y", **chosen})
    assert problem.code == code
    (key, *_) = [key for key in chosen if key not in ("class_count", "predicts")] or ["labels"]
    if chosen.keys() != {"features", "raw_type"}:
        assert problem.field == f"data.{key}"


def test_that_numbers_that_are_not_finite_are_reported(tmp_path: Path) -> None:
    rows = [{"x": [1.0, float("nan") if n == 2 else 2.0], "y": n % 2} for n in range(4)]
    problem = problem_of(one_file(tmp_path, *rows))
    assert problem.code == "data_features_not_finite"
    assert 'Feature "x"' in problem.message
    assert "example 2" in problem.message


def test_that_a_preview_shows_the_records(tmp_path: Path) -> None:
    path = one_file(tmp_path, *({"image": image(n), "label": n % 2} for n in range(30)))
    data = data_of(path, validation_fraction=0.2, image_size=(6, 7))
    shown = preview(PreviewRequest(data=data))
    assert (shown.example_count, shown.feature_shape, shown.problems) == (30, (6, 7, 3), ())
    assert shown.class_counts == (("0", 15), ("1", 15))
    assert shown.examples[0].width == 7
    filled = with_detected(Profile(data=data), shown).data
    assert filled == data.model_copy(
        update={"features": "image", "labels": "label", "predicts": Target.CLASSES}
    )


def test_that_a_preview_leaves_what_takes_long_to_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = one_file(tmp_path, *({"x": [1.0, 2.0], "y": n % 2} for n in range(3000)))
    monkeypatch.setattr("gpupanel.trainer.datasets.records.reader._LONGEST_PREVIEW_S", 0.0)
    shown: DataPreview = preview(PreviewRequest(data=data_of(path)))
    assert [problem.code for problem in shown.problems] == ["records_not_counted"]
    assert not shown.is_refused
    assert shown.found == {"features": "x", "labels": "y"}
    assert read(path).training.features.shape == (3000, 2)


def test_that_changed_records_are_seen_when_a_run_goes_on(tmp_path: Path) -> None:
    rows = [{"x": [1.0, 2.0], "y": n % 2} for n in range(4)]
    path = one_file(tmp_path, *rows)
    before = read(path)
    was = whole_print(before)
    one_file(tmp_path, *rows[:2], {"x": [1.0, 3.0], "y": 0}, rows[3])
    now = read(path)
    differences, _ = compare(was, take_fingerprint(now), now.files)
    assert differences.changed == ("a.tfrecord",)


def test_that_progress_is_reported_and_may_end_the_reading(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    done: list[tuple[str, int, int]] = []
    path = one_file(tmp_path, *({"x": [1.0, 2.0], "y": n % 2} for n in range(2500)), packed=True)
    data = data_of(path)
    reading = Reading(print, on_progress=lambda *each: done.append(each))
    source_of(data).read(data, reading)
    assert list(dict.fromkeys(doing for doing, *_ in done)) == [
        "unpacking the records",
        "counting the records",
        "reading the records",
    ]
    assert all(part <= whole for _, part, whole in done)

    def stop(*_: object) -> None:
        raise StopError

    with pytest.raises(StopError):
        source_of(data).read(data, Reading(print, on_progress=stop))


def test_that_decoded_images_are_kept_on_disk_for_later_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache_file, "_RECENT_NS", 0)  # as if the file had been there for long
    rows = [{"image": image(20 * n), "label": n % 2} for n in range(6)]
    path = one_file(tmp_path, *rows)
    chosen = {"image_size": (4, 5), "cache": "disk"}
    expected = [0, 20, 40, 60, 80, 100]
    assert all_of(read(path, **chosen).training)[:, 0, 0, 0].tolist() == expected
    (kept,) = (tmp_path / "cache" / "records").glob("*.kept")
    assert kept.stat().st_size == 6 * 4 * 5 * 3
    with monkeypatch.context() as patch:
        patch.setattr(rows_module, "pixels_of", None)
        again = read(path, **chosen).training
        assert again.read(np.array([5, 0, 2], np.int32))[:, 3, 4, 2].tolist() == [100, 0, 40]
    assert again.subset(np.array([4], np.int32)).read(np.array([0], np.int32))[0, 0, 0, 0] == 80
    assert read(path, **{**chosen, "image_size": (2, 2)}).training.feature_shape == (2, 2, 3)
    one_file(tmp_path, *rows[::-1])
    assert all_of(read(path, **chosen).training)[:, 0, 0, 0].tolist() == expected[::-1]
    kept.write_bytes(b"few")
    with pytest.raises(ProblemError) as raised:
        again.read(np.array([1], np.int32))
    assert raised.value.problems[0].code == "records_not_kept"


def test_that_decoded_images_that_have_no_room_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = one_file(tmp_path, *({"image": image(n), "label": n % 2} for n in range(3)))
    usage = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(rows_module.shutil, "disk_usage", lambda _: usage)
    problem = problem_of(path, cache="disk")
    assert (problem.code, problem.field) == ("decoded_images_no_space", "data.cache")
