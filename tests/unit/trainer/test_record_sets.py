"""Which files a path of records means, and which sets are found in a folder of them."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import TfrecordData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import ScanRequest
from gpupanel.files.cache_folder import cache_root
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.records import listing
from gpupanel.trainer.datasets.records.listing import files_of, with_detected_sets
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.record_files import example, write_records


def make(folder: Path, *names: str) -> Path:
    """A file of each name, with two records that hold its number."""
    for number, name in enumerate(names):
        records = [example(x=[float(number), n], y=n) for n in range(2)]
        write_records(folder / name, records, packed=name.endswith(".gz"))
    return folder


def names_of(path: Path | str, root: Path) -> list[str]:
    return [str(each.relative_to(root)) for each in files_of(str(path), "data.path").paths]


def read(path: Path, **chosen: object) -> DataSet:
    return read_data(TfrecordData(path=str(path), cache="none", **chosen), Reading(print))


def numbers(data: DataSet, part: str) -> list[float]:
    examples = getattr(data, part)
    return sorted(set(examples.read(np.arange(len(examples), dtype=np.int32))[:, 0].tolist()))


def test_that_a_folder_means_its_record_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    names = ("b.tfrecord", "a.TFRECORDS", "c.tfrec", "d-00000-of-00001", "e.tfrecord.gz", "f.tfr")
    make(tmp_path, *names, "deep/g.tfrecord", "train.tfrecord-00000-of-00001")
    make(tmp_path, "notes.txt", ".hidden.tfrecord", ".git/a.tfrecord", "deep/er/h.tfrecord")
    assert names_of(tmp_path, tmp_path) == [
        *("a.TFRECORDS", "b.tfrecord", "c.tfrec", "d-00000-of-00001", "deep/g.tfrecord"),
        *("e.tfrecord.gz", "f.tfr", "train.tfrecord-00000-of-00001"),
    ]


def test_that_a_pattern_means_names_in_one_folder_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "a[b]", "x1", "x2", "y1", ".x3", "[z]*", "deep/x4")
    monkeypatch.setenv("HOME", str(folder))
    assert names_of(folder / "x*", folder) == ["x1", "x2"]
    assert names_of(folder / "[xy]1", folder) == ["x1", "y1"]
    assert names_of(folder / "?2", folder) == ["x2"]
    assert names_of(folder / ".*", folder) == [".x3"]
    assert names_of(folder / "[z]*", folder) == ["[z]*"]  # a file of that name
    for path in ("~/x*", "$HOME/x*", str(folder / "*/x*"), str(folder / "{x1,x2}")):
        try:
            found = files_of(path, "data.path").paths
        except ProblemError:
            continue
        assert not any(each.exists() for each in found), path


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "data_path_missing"),
        ("{}/none*", "data_file_missing"),
        ("{}/none/a*", "data_file_missing"),
        ("{}", "data_empty"),
    ],
)
def test_that_a_path_without_files_is_reported(tmp_path: Path, path: str, code: str) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ProblemError) as raised:
        files_of(path.format(tmp_path), "data.test_path")
    (problem,) = raised.value.problems
    assert (problem.code, problem.field) == (code, "data.test_path")


def test_that_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, *(f"{number}.tfrecord" for number in range(5)))
    monkeypatch.setattr(listing, "_MOST_FILES", 4)
    for path in (tmp_path, tmp_path / "*"):
        with pytest.raises(ProblemError, match="more than 4 files"):
            files_of(str(path), "data.path")


def test_that_missing_shards_are_reported(tmp_path: Path) -> None:
    make(tmp_path, "t-00000-of-00004", "t-00003-of-00004", "u-00000-of-00001", "v-00009-of-00002")
    (note,) = read(tmp_path, predicts="values").notes
    assert note.code == "record_shards_missing"
    assert note.message.startswith("2 of 4 files are not there")
    assert '"t" 00001-of-00004' in note.message


@pytest.mark.parametrize(
    "names",
    [
        ["train.tfrecord", "val.tfrecord", "test.tfrecord"],
        ["train-00000-of-00002", "train-00001-of-00002", "validation-0.tfrecord", "test.tfrecord"],
        [
            *(f"mnist-train.tfrecord-0000{n}-of-00003" for n in range(3)),
            *(f"mnist-test.tfrecord-0000{n}-of-00002" for n in range(2)),
        ],
        ["train/a.tfrecord", "train/b.tfrecord", "dev/a.tfrecord.gz", "testing/c.tfrecord"],
        ["x[1]*train_1.tfrecord", "x[1]*train_2.tfrecord", "x[1]*val_1.tfrecord"],
        ["TRAIN_a.tfrecord", "TRAIN_b.tfrecord", "Test_a.tfrecord", "Test_b.tfrecord"],
    ],
)
def test_that_sets_are_found_by_words_of_names(tmp_path: Path, names: list[str]) -> None:
    make(tmp_path, *names)
    words = {"training": ("train",), "validation": ("val", "dev"), "test": ("test",)}
    data = read(tmp_path)
    for part, its in words.items():
        of_part = [
            number for number, name in enumerate(names) if any(word in name.lower() for word in its)
        ]
        assert (getattr(data, part) is None) == (not of_part)
        assert not of_part or numbers(data, part) == of_part
    everything = read(tmp_path, find_sets=False)
    assert (everything.validation, everything.test) == (None, None)
    assert numbers(everything, "training") == list(range(len(names)))
    # What a preview finds means the same files.
    asked = TfrecordData(path=str(tmp_path))
    shown = preview(PreviewRequest(data=asked))
    filled = with_detected(Profile(data=asked), shown).data
    assert isinstance(filled, TfrecordData)
    again = read_data(filled, Reading(print))
    for part in words:
        assert (getattr(again, part) is None) == (getattr(data, part) is None)
        if getattr(again, part) is not None:
            assert numbers(again, part) == numbers(data, part)


@pytest.mark.parametrize(
    ("names", "validation", "test"),
    [
        (["myTrain.tfrecord", "myTest.tfrecord"], "", "myTest.tfrecord"),
        (["traindata.tfrecord", "testdata.tfrecord"], "", "testdata.tfrecord"),
        (["training.tfrec", "testing.tfrec", "eval.tfrec"], "eval.tfrec", "testing.tfrec"),
        (["train.tfr", "val.tfr", "eval.tfr"], "val.tfr", "eval.tfr"),
    ],
)
def test_that_sets_are_found_in_the_spellings_of_folders(
    tmp_path: Path, names: list[str], validation: str, test: str
) -> None:
    root = make(tmp_path, *names)
    found = with_detected_sets(TfrecordData(path=str(root)))
    chosen = [found.path, found.validation_path, found.test_path]
    assert chosen == [str(root / each) if each else "" for each in (names[0], validation, test)]


def test_that_a_found_set_without_labels_is_left_out_and_said(tmp_path: Path) -> None:
    make(tmp_path, "train.tfrec", "val.tfrec")
    write_records(tmp_path / "test.tfrec", [example(x=[0.0, 1.0], id=b"a")])
    asked = TfrecordData(path=str(tmp_path))
    shown = preview(PreviewRequest(data=asked))
    (note,) = shown.problems
    assert (note.code, note.severity) == ("data_sets_left_out", Severity.HINT)
    assert note.message.startswith("The records of the test set are not used")
    filled = with_detected(Profile(data=asked), shown).data
    assert isinstance(filled, TfrecordData)
    assert (filled.test_path, filled.validation_path) == ("", str(tmp_path / "val.tfrec"))
    assert read_data(filled, Reading(print)).test is None
    # One that was chosen has to have labels, and no feature is named by a path.
    with pytest.raises(ProblemError) as raised:
        read(tmp_path / "train.tfrec", test_path=str(tmp_path / "test.tfrec"))
    assert raised.value.problems[0].hint.startswith("Choose records that all have it.")


def test_that_a_set_that_was_chosen_is_not_searched_for(tmp_path: Path) -> None:
    make(tmp_path / "a", "train.tfrecord", "test.tfrecord")
    other = make(tmp_path / "b", "o.tfrecord") / "o.tfrecord"
    found = with_detected_sets(TfrecordData(path=str(tmp_path / "a"), test_path=str(other)))
    assert (found.path, found.test_path) == (str(tmp_path / "a" / "train.tfrecord"), str(other))


def test_that_files_that_are_of_no_set_are_no_sets(tmp_path: Path) -> None:
    for names in (["a.tfrecord", "b.tfrecord"], ["test.tfrecord"], ["train.tfrecord", "more.tfr"]):
        folder = make(tmp_path / names[0], *names)
        data = TfrecordData(path=str(folder))
        assert with_detected_sets(data) is data


@pytest.mark.parametrize(
    "names",
    [
        ["train.tfrecord", "test.tfrecord", "more.tfrecord"],
        ["train_test.tfrecord", "train.tfrecord", "test.tfrecord"],
        ["train_a.tfrecord", "b/train.tfrecord", "test.tfrecord"],
        ["a_train_x.tfr", "b_train_y.tfrecord", "c_test_z.tfrecord"],
    ],
)
def test_that_unclear_sets_are_not_guessed(tmp_path: Path, names: list[str]) -> None:
    make(tmp_path, *names)
    with pytest.raises(ProblemError) as raised:
        read(tmp_path)
    assert raised.value.problems[0].code == "data_sets_ambiguous"


def test_that_a_scan_finds_records_that_are_in_two_sets(tmp_path: Path) -> None:
    make(tmp_path, "train.tfrecord", "more.tfrecord", "test.tfrecord")
    again = [example(x=[0.0, 1.0], y=1), example(x=[7.0, 1.0], y=0)]
    write_records(tmp_path / "test.tfrecord", again)
    path, test = str(tmp_path / "train.tfrecord"), str(tmp_path / "test.tfrecord")
    found = scan(ScanRequest(data=TfrecordData(path=path, test_path=test)))
    assert (found.leaked, [each.examples for each in found.sets]) == (1, [2, 2])


def test_that_a_file_that_another_process_unpacks_anew_stays_readable(tmp_path: Path) -> None:
    folder = make(tmp_path / "packed", "a.tfrecord.gz", "b.tfrecord.gz")
    first = read(folder)
    kept = sorted((cache_root() / "records").glob("*.kept"))
    assert kept
    held = [path.open("rb") for path in kept]  # so that no number of a file is given again
    for path in kept:
        path.with_suffix(".json").unlink()
    read(folder)
    assert numbers(first, "training") == [0.0, 1.0]
    for file in held:
        file.close()
