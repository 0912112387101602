"""Records whose classes are named, and images in records that cannot be read."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataCache, Target, TfrecordData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import ScanRequest
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.trainer.datasets.examples import DataSet, Examples, read_features
from gpupanel.trainer.datasets.replaced_examples import with_replacements
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.tfrecord import SOURCE
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.record_files import Value, example, image, write_records

READING = Reading(print)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))


def named(
    folder: Path, *labels: Value, name: str = "a.tfrecord", key: str = "label"
) -> TfrecordData:
    records = [example(image=image(10 * n), **{key: each}) for n, each in enumerate(labels)]
    path = write_records(folder / name, records)
    return TfrecordData(path=str(path), image_size=(4, 5))


def refused(data: TfrecordData) -> Problem:
    with pytest.raises(ProblemError) as caught:
        SOURCE.read(data, READING)
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


def test_that_names_are_sorted_as_those_of_folders_are(tmp_path: Path) -> None:
    data = named(tmp_path, b"dog", b"cat", "ж".encode(), b"caf\xe9", b"cat")
    found = SOURCE.read(data, READING)
    assert found.class_names == (r"caf\xe9", "cat", "dog", "ж")
    assert found.training.labels.tolist() == [2, 1, 3, 0, 1]
    assert found.training.labels.dtype == np.int32
    seen = preview(PreviewRequest(data=data))
    assert dict(seen.class_counts)["cat"] == 2
    assert seen.found["labels"] == "label"
    assert "label: 2 to 4 bytes" in [choice.label for choice in seen.offers["labels"]]
    assert [choice.value for choice in seen.offers["labels"]] == ["label"]
    whole = SOURCE.read_all(data, READING, needs_labels=True)
    assert whole.class_count_is_known


@pytest.mark.parametrize("key", ["image__class", "category", "Y"])
def test_that_a_name_is_found_by_what_it_is_called(tmp_path: Path, key: str) -> None:
    found = SOURCE.read(named(tmp_path, b"b", b"a", key=key), READING)
    assert found.class_names == ("a", "b")


def test_that_numbers_come_before_names_and_a_name_can_be_chosen(tmp_path: Path) -> None:
    records = [
        example(image=image(n), label=1 - n, class__text=name)
        for n, name in enumerate((b"tea", b"cup"))
    ]
    data = TfrecordData(path=str(write_records(tmp_path / "a.tfrecord", records)))
    assert SOURCE.read(data, READING).class_names == ("0", "1")
    chosen = data.model_copy(update={"labels": "class/text"})
    found = SOURCE.read(chosen, READING)
    assert (found.class_names, found.training.labels.tolist()) == (("cup", "tea"), [1, 0])


def test_that_further_sets_have_the_numbers_of_the_same_names(tmp_path: Path) -> None:
    data = named(tmp_path, b"b", b"a", b"c", name="train.tfrecord")
    named(tmp_path, b"c", b"b", name="val.tfrecord")
    data = data.model_copy(update={"path": str(tmp_path)})
    found = SOURCE.read(data, READING)
    assert found.validation is not None
    assert found.validation.labels.tolist() == [2, 1]
    named(tmp_path, b"d", name="val.tfrecord")
    problem = refused(data)
    assert (problem.code, problem.field) == ("data_classes_differ", "data.validation_path")
    assert '"d"' in problem.message


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ([b"a", b"a"], "data_one_class"),
        ([b"a", b""], "record_features_differ"),
        ([b"a", b"x" * 1001], "record_features_differ"),
        ([b"a", [b"b", b"c"]], "record_features_differ"),
        ([b"a", 1], "record_features_differ"),
        ([b"x" * 2000, b"b"], "record_feature_unfit"),
        ([b"a", b"b\0"], "record_features_differ"),
        ([b"a", b"\x7f"], "record_features_differ"),
        ([b"\x02", b"\x05"], "record_feature_unfit"),
        ([b"\x03\0\0\0", b"\x41\0\0\0"], "record_feature_unfit"),
        ([[b"a", b"b"], [b"a", b"b"]], "record_feature_unfit"),
    ],
)
def test_that_what_is_no_name_is_refused(tmp_path: Path, labels: list[Value], code: str) -> None:
    # More than those that are looked at first.
    filled = [*labels[:1], *([b"b"] * 12 if code == "record_features_differ" else []), *labels[1:]]
    data = named(tmp_path, *filled).model_copy(update={"labels": "label"})
    assert refused(data).code == code


@pytest.mark.parametrize("chosen", [{"predicts": Target.VALUES}, {"class_count": 5}])
def test_that_names_are_nothing_but_classes(tmp_path: Path, chosen: dict[str, object]) -> None:
    data = named(tmp_path, b"a", b"b").model_copy(update=chosen)
    assert refused(data).code == "record_names_are_classes"


def test_that_a_script_finds_the_same_names(tmp_path: Path) -> None:
    data = named(tmp_path, b"dog", b"caf\xe9", b"dog", name="train.tfrecord")
    named(tmp_path, b"dog", name="test.tfrecord")
    data = data.model_copy(update={"path": str(tmp_path)})
    filled = with_detected(Profile(data=data), preview(PreviewRequest(data=data))).data
    assert isinstance(filled, TfrecordData)
    text = f"{data_section(filled)}\n{script_of(filled).class_names(filled)}"
    assert "NAMES = sorted" in text
    compile(text, "script", "exec")


# -- images that cannot be read


def images(folder: Path, bad: set[int], count: int = 200) -> TfrecordData:
    records = [
        example(image=b"\x89PNG\r\n\x1a\n cut" if n in bad else image(n % 250), label=n % 2)
        for n in range(count)
    ]
    path = write_records(folder / "p.tfrecord", records)
    return TfrecordData(path=str(path), image_size=(4, 5), features="image")


def brightness(examples: Examples) -> list[int]:
    rows = np.arange(len(examples), dtype=np.int32)
    return [int(each.mean()) for each in with_replacements(examples).read(rows)]


@pytest.mark.parametrize("cache", list(DataCache))
def test_that_the_next_of_the_same_label_stands_in_for_a_bad_image(
    tmp_path: Path, cache: DataCache
) -> None:
    data = images(tmp_path, {5, 199}).model_copy(update={"cache": cache})
    wanted = [7 if n == 5 else 1 if n == 199 else n for n in range(200)]
    for _ in range(2):  # from the cache the second time
        found = SOURCE.read(data, READING)
        assert brightness(found.training) == wanted
        (note,) = found.all_notes()
        assert note.code == "data_images_skipped"
        assert (
            'At least 2 of 200 images cannot be read: "p.tfrecord, record 200", '
            '"p.tfrecord, record 6"' in (note.message)
        )


def test_that_a_part_of_the_records_has_replacements_of_its_own(tmp_path: Path) -> None:
    data = images(tmp_path, {5}).model_copy(
        update={"cache": DataCache.NONE, "validation_fraction": 0.5}
    )
    parts = split(SOURCE.read(data, READING), data, 1)
    assert parts.validation is not None
    seen = [*brightness(parts.training), *brightness(parts.validation)]
    assert len(seen) == 200
    assert 5 not in seen


@pytest.mark.parametrize("cache", list(DataCache))
def test_that_more_bad_images_than_may_be_end_it(tmp_path: Path, cache: DataCache) -> None:
    data = images(tmp_path, {5, 6, 7}).model_copy(update={"cache": cache})
    with pytest.raises(ProblemError) as caught:
        brightness(SOURCE.read(data, READING).training)
    assert caught.value.problems[0].code == "data_images_unreadable"
    none = images(tmp_path, {5}).model_copy(update={"cache": cache, "unreadable_share": 0.0})
    with pytest.raises(ProblemError) as caught:
        brightness(SOURCE.read(none, READING).training)
    assert caught.value.problems[0].code == "record_picture_unreadable"


def test_that_predictions_leave_a_bad_image_out_and_a_scan_names_it(tmp_path: Path) -> None:
    data = images(tmp_path, {5})
    for needs_labels in (True, False):
        whole = SOURCE.read_all(data, READING, needs_labels=needs_labels)
        assert list(whole.unreadable) == [5]
        assert [note.code for note in whole.notes] == ["data_images_skipped"]
    unlabelled = [example(image=image(n)) for n in range(150)]
    unlabelled[7] = example(image=b"\x89PNG\r\n\x1a\n cut")
    write_records(tmp_path / "u.tfrecord", unlabelled)
    other = data.model_copy(update={"path": str(tmp_path / "u.tfrecord")})
    whole = SOURCE.read_all(other, READING, needs_labels=False)
    assert list(whole.unreadable) == [7]
    assert int(read_features(whole.features, np.int32([8])).mean()) == 8
    report = scan(ScanRequest(data=data))
    assert any("1 of" in each.message for each in report.problems), json.dumps(
        [each.message for each in report.problems]
    )


def test_that_a_damaged_record_still_ends_it(tmp_path: Path) -> None:
    data = images(tmp_path, set()).model_copy(update={"cache": DataCache.NONE})
    found: DataSet = SOURCE.read(data, READING)
    path = Path(data.path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    status = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ProblemError):
        brightness(found.training)
