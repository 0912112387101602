"""Data that is other than what a run has learned from is found, named, and refused."""

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import DataCache, DataSettings, DigitsData, ImagesData, NpzData
from gpupanel.domain.events import ProblemReported, decode_event
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets import file_prints
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.fingerprint import Fingerprint, compare, take_fingerprint
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.sources.digits import read_digits
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.saving.data_record import DataRecord
from gpupanel.trainer.started_run import StartedRun
from tests.fakes.small_disks import fill, small_disk  # noqa: F401 - a fixture
from tests.unit.trainer.conftest import cpu_plan
from tests.unit.trainer.whole_prints import whole_print

X = np.arange(48, dtype=np.float32).reshape(12, 2, 2)
Y = np.arange(12, dtype=np.int32) % 3


def data_of(x: np.ndarray = X, y: np.ndarray = Y, **others: object) -> DataSet:
    return DataSet(training=Examples(x, y), class_names=("a", "b", "c"), **others)


def differences(before: DataSet, now: DataSet) -> list[str]:
    found, _ = compare(take_fingerprint(before), take_fingerprint(now), now.files)
    return [*found.arrays, *found.changed, *found.missing, *found.added, *found.unknown]


def test_that_the_same_numbers_are_the_same_data_however_they_lie_in_memory() -> None:
    other_order = np.asfortranarray(X)

    assert differences(data_of(), data_of(x=other_order)) == []
    assert differences(data_of(), data_of(x=np.repeat(X, 2, axis=0)[::2])) == []
    assert differences(read_digits(), read_digits()) == []


@pytest.mark.parametrize(
    ("now", "reported"),
    [
        (data_of(x=X + np.eye(2, dtype=np.float32) * 1e-5), ["the training examples differ"]),
        (data_of(x=X[::-1]), ["the training examples differ"]),
        (data_of(y=Y[::-1]), ["the training labels differ"]),
        (
            data_of(x=X[:-1], y=Y[:-1]),
            [
                "the training examples are 11 x 2 x 2 float32 now and were 12 x 2 x 2 float32",
                "the training labels are 11 int32 now and were 12 int32",
            ],
        ),
        (
            data_of(x=X.astype(np.uint8)),
            ["the training examples are 12 x 2 x 2 uint8 now and were 12 x 2 x 2 float32"],
        ),
        (replace(data_of(), class_names=("a", "c", "b")), ["the class names differ"]),
        (
            data_of(test=Examples(X, Y)),
            ["there are test examples now", "there are test labels now"],
        ),
        (
            data_of(validation=Examples(X, Y)),
            ["there are validation examples now", "there are validation labels now"],
        ),
    ],
)
def test_that_arrays_that_differ_are_named(now: DataSet, reported: list[str]) -> None:
    assert differences(data_of(), now) == reported


def test_that_a_change_anywhere_in_a_large_array_is_found() -> None:
    large = np.zeros((70_000, 100), np.float32)  # of several pieces
    labels = np.zeros(70_000, np.int32)
    for row in (0, 33_333, 69_999):
        changed = large.copy()
        changed[row, 99] = 1e-30
        assert differences(data_of(large, labels), data_of(changed, labels)) == [
            "the training examples differ"
        ]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Four of each of two classes, looked at long after they were made."""
    root = tmp_path / "pictures"
    for brightness, name in ((40, "cat"), (90, "dog")):
        (root / name).mkdir(parents=True)
        for number in range(4):
            pixels = np.full((4, 4, 3), brightness + number, np.uint8)
            Image.fromarray(pixels).save(root / name / f"{number}.bmp")
    return root


@pytest.fixture(autouse=True)
def _files_of_now_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test cannot wait until a file counts as not just changed."""
    monkeypatch.setattr(file_prints, "_RECENT_NS", -(10**12))


def read(root: Path) -> DataSet:
    return read_data(
        ImagesData(path=str(root), image_size=(4, 4), cache=DataCache.NONE), Reading(print)
    )


def named(before: Fingerprint, root: Path) -> dict[str, list[str]]:
    now = read(root)
    found, known = compare(before, take_fingerprint(now), now.files)
    assert [file.path for file in known.files] == [
        file.path for file in take_fingerprint(now).files
    ]
    return {name: list(files) for name, files in found.model_dump().items() if files}


def rewritten(path: Path) -> None:
    """Another content of the same size, with the times of before."""
    was, content = path.stat(), bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def test_that_files_nobody_touched_are_not_read_again(
    images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = take_fingerprint(read(images))
    monkeypatch.setattr(file_prints, "_digest", lambda *_: pytest.fail("it was read"))

    assert named(before, images) == {}


def test_that_a_file_of_the_same_size_and_time_with_another_content_is_found(
    images: Path,
) -> None:
    before = whole_print(read(images))
    rewritten(images / "dog" / "2.bmp")

    assert named(before, images) == {"changed": ["dog/2.bmp"]}


def test_that_a_file_changed_within_the_grain_of_its_times_is_found(
    images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_prints, "_RECENT_NS", 2 * 10**9)
    before = whole_print(read(images))
    now = read(images)
    (images / "dog" / "2.bmp").write_bytes((images / "dog" / "1.bmp").read_bytes())
    # As if the second change had come within the same tick of the file system's clock.
    found, _ = compare(before, take_fingerprint(now), now.files)

    assert found.changed == ("dog/2.bmp",)


def test_that_a_copy_elsewhere_is_the_same_data(images: Path, tmp_path: Path) -> None:
    before = whole_print(read(images))
    shutil.copytree(images, tmp_path / "elsewhere", copy_function=shutil.copyfile)
    shutil.rmtree(images)

    assert named(before, tmp_path / "elsewhere") == {}


def test_that_added_missing_renamed_and_longer_files_are_named(images: Path) -> None:
    before = whole_print(read(images))
    (images / "cat" / "1.bmp").rename(images / "dog" / "1b.bmp")
    (images / "dog" / "3.bmp").unlink()
    with (images / "cat" / "0.bmp").open("ab") as file:
        file.write(b"more")
    shutil.copyfile(images / "cat" / "2.bmp", images / "cat" / "9.bmp")

    assert named(before, images) == {
        "changed": ["cat/0.bmp"],
        "missing": ["cat/1.bmp", "dog/3.bmp"],
        "added": ["cat/9.bmp", "dog/1b.bmp"],
    }


def test_that_files_of_a_validation_and_a_test_set_are_compared(
    images: Path, tmp_path: Path
) -> None:
    def read_sets() -> DataSet:
        sets = {f"{name}_path": str(tmp_path / name) for name in ("validation", "test")}
        data = ImagesData(path=str(images), image_size=(4, 4), cache=DataCache.NONE, **sets)
        return read_data(data, Reading(print))

    for name in ("validation", "test"):
        shutil.copytree(images, tmp_path / name)
    before = whole_print(read_sets())
    assert len(before.files) == 24
    rewritten(tmp_path / "test" / "dog" / "2.bmp")
    (tmp_path / "validation" / "cat" / "1.bmp").unlink()
    shutil.copyfile(images / "cat" / "2.bmp", images / "cat" / "9.bmp")
    now = read_sets()
    found, _ = compare(before, take_fingerprint(now), now.files)

    assert {name: list(files) for name, files in found.model_dump().items() if files} == {
        "changed": ["test://dog/2.bmp"],
        "missing": ["validation://cat/1.bmp"],
        "added": ["cat/9.bmp"],
    }


def test_that_a_file_touched_before_anybody_had_read_it_is_not_called_the_same(
    images: Path,
) -> None:
    before = take_fingerprint(read(images))
    (images / "cat" / "1.bmp").touch()

    assert named(before, images) == {"unknown": ["cat/1.bmp"]}


def test_that_names_that_are_no_text_are_distinguished(images: Path) -> None:
    odd = [images / "cat" / os.fsdecode(name) for name in (b"\xff.bmp", b"\xfe.bmp")]
    for path in odd:
        shutil.copyfile(images / "cat" / "0.bmp", path)
    before = whole_print(read(images))
    read_again = Fingerprint.from_json(b"".join(before.to_json()))
    assert read_again == before
    odd[0].unlink()

    assert named(before, images) == {"missing": ["cat/\\xff.bmp"]}


# The record in the run's folder


@pytest.fixture
def npz(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    np.savez(path, x=X, y=Y)
    return path


class Kept:
    """A run whose trainer begins again and again, without the training."""

    def __init__(self, root: Path, data: DataSettings) -> None:
        root.mkdir()
        profile = Profile(data=data)
        plan = cpu_plan(profile, [4])
        self.run = StartedRun(RunLayout(root), profile, plan)
        self.layout = self.run.layout

    def trained(self, during: Callable[[], object] = lambda: None) -> None:
        """Begin, save a checkpoint, end."""
        data = self.run.profile.data
        examples = split(read_data(data, Reading(print)), data, 0)
        taken = take_fingerprint(examples.data) if self.run.leads else None
        with (
            EventWriter(self.layout.events) as events,
            DataRecord(self.run, replace(examples, fingerprint=taken), events),
        ):
            during()
        (self.layout.checkpoints / "step-000000001").mkdir(parents=True, exist_ok=True)

    def refused(self) -> Problem:
        with pytest.raises(ProblemError) as caught:
            self.trained()
        (problem,) = caught.value.problems
        return problem

    @property
    def reported(self) -> list[str]:
        lines = self.layout.events.read_text().splitlines()
        events = [decode_event(line) for line in lines]
        return [event.problem.code for event in events if isinstance(event, ProblemReported)]

    @property
    def record(self) -> Fingerprint:
        return Fingerprint.from_json(self.layout.data_fingerprint.read_bytes())


@pytest.fixture
def kept(tmp_path: Path, npz: Path) -> Kept:
    return Kept(tmp_path / "run", NpzData(path=str(npz)))


def test_that_a_run_keeps_what_its_data_was_for_its_owner_only(kept: Kept) -> None:
    kept.trained()
    first = kept.record
    kept.trained()

    assert kept.reported == []
    assert kept.record.arrays == first.arrays
    assert kept.layout.data_fingerprint.stat().st_mode & 0o777 == 0o600


def test_that_changed_arrays_are_refused_by_name_until_somebody_accepts_them(
    kept: Kept, npz: Path
) -> None:
    kept.trained()
    np.savez(npz, x=X, y=(Y + 1) % 3)

    for _ in range(2):
        problem = kept.refused()
        assert (problem.code, problem.is_error) == ("data_changed", True)
        assert f"({npz}): the training labels differ." in problem.message
        assert problem.command == f"gpupanel resume {kept.layout.root} --accept-changed-data"
        assert "Nothing was trained" in problem.hint

    kept.layout.accepted_data.touch()
    kept.trained()
    assert kept.reported == ["data_changed_accepted"]
    assert not kept.layout.accepted_data.exists()
    kept.trained()
    assert kept.reported == ["data_changed_accepted"]
    np.savez(npz, x=X, y=Y)
    assert kept.refused().code == "data_changed"


def test_that_a_run_without_a_checkpoint_begins_with_the_data_that_is_there(
    kept: Kept, npz: Path
) -> None:
    kept.trained()
    shutil.rmtree(kept.layout.checkpoints)
    np.savez(npz, x=X + 1, y=Y)

    kept.trained()

    assert kept.reported == []


def test_that_a_run_of_an_earlier_version_goes_on_and_says_that_nothing_was_compared(
    kept: Kept, npz: Path
) -> None:
    kept.trained()
    kept.layout.data_fingerprint.unlink()
    np.savez(npz, x=X + 1, y=Y)

    kept.trained()

    assert kept.reported == ["data_not_compared"]
    np.savez(npz, x=X, y=Y)
    assert kept.refused().code == "data_changed"


@pytest.mark.parametrize(
    "damage",
    [b"", b"\xff", b"{}", b'{"looked_ns": 1, "files": [[1]]}', b"[" * 10_000, b"1" * 10_000],
)
def test_that_a_damaged_record_is_reported_and_written_anew(kept: Kept, damage: bytes) -> None:
    kept.trained()
    kept.layout.data_fingerprint.write_bytes(damage)

    kept.trained()

    assert kept.reported == ["data_not_compared"]
    assert kept.record.arrays


def test_that_a_disk_without_space_for_the_record_ends_no_training(
    small_disk: Path,  # noqa: F811
    npz: Path,
) -> None:
    kept = Kept(small_disk / "run", NpzData(path=str(npz)))
    kept.layout.events.write_bytes(b"\n" * 100)
    filler = fill(small_disk)

    kept.trained(during=filler.unlink)

    assert kept.reported == ["data_not_recorded"]
    assert kept.record.arrays, "it was written once there was space"


def test_that_a_link_in_its_place_is_not_followed(kept: Kept, tmp_path: Path) -> None:
    kept.trained()
    kept.layout.data_fingerprint.rename(tmp_path / "elsewhere")
    kept.layout.data_fingerprint.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()

    kept.trained()

    assert kept.reported == ["data_not_compared"]
    assert (tmp_path / "elsewhere").read_bytes() == before
    assert not kept.layout.data_fingerprint.is_symlink()


def test_that_only_the_process_that_leads_keeps_a_record(kept: Kept) -> None:
    kept.run = replace(kept.run, place=1)
    kept.trained()

    assert not kept.layout.data_fingerprint.exists()


@pytest.fixture
def of_images(tmp_path: Path, images: Path) -> Kept:
    data = ImagesData(path=str(images), image_size=(4, 4), cache=DataCache.NONE)
    return Kept(tmp_path / "run", data)


def until_read(kept: Kept) -> None:
    end_s = time.monotonic() + 20.0
    while not kept.record.is_complete:
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_that_images_are_read_while_the_training_goes_on(of_images: Kept) -> None:
    of_images.trained(during=lambda: until_read(of_images))

    assert [file.path for file in of_images.record.files][:2] == ["cat/0.bmp", "cat/1.bmp"]
    of_images.trained()
    assert of_images.record.is_complete


def test_that_changed_images_are_refused_by_name(of_images: Kept, images: Path) -> None:
    of_images.trained(during=lambda: until_read(of_images))
    rewritten(images / "dog" / "2.bmp")
    (images / "cat" / "3.bmp").unlink()

    problem = of_images.refused()

    assert problem.code == "data_changed"
    assert f"({images}): 1 file has changed (dog/2.bmp); 1 file is missing (cat/3.bmp)." in (
        problem.message
    )
    assert problem.detail.splitlines() == ["Changed: dog/2.bmp", "Missing: cat/3.bmp"]


def test_that_a_image_touched_before_the_run_had_read_it_is_not_called_changed(
    of_images: Kept, images: Path
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        # As where the training ends before it is their turn.
        monkeypatch.setattr(DataFiles, "digest_of", lambda *_: "")
        of_images.trained()
    assert not of_images.record.is_complete
    (images / "dog" / "2.bmp").touch()

    problem = of_images.refused()

    assert "1 file was touched before the run had read all of it" in problem.message
    assert "changed" not in problem.detail


def test_that_a_record_is_readable_by_people(of_images: Kept) -> None:
    of_images.trained(during=lambda: until_read(of_images))

    document = json.loads(of_images.layout.data_fingerprint.read_bytes())

    assert document["schema_version"] == 1
    assert [row[0] for row in document["files"]][-1] == "dog/3.bmp"


def test_that_digits_are_known(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "run", DigitsData())
    kept.trained()

    assert [each.name for each in kept.record.arrays] == [
        "training examples",
        "training labels",
        "class names",
    ]
