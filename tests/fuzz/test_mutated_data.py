"""Data files that something has happened to: read, or refused with a reason; never a crash."""

import contextlib
import gzip
import io
import itertools
import random
import struct
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    Target,
)
from gpupanel.domain.event_details import names_for_event
from gpupanel.domain.events import DataReady, encode_event
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.confusion_file import ConfusionCells, read_confusion, write_confusion
from gpupanel.files.score_counts_file import ScoreCounts, read_score_counts
from gpupanel.files.slices_file import ExampleSlices, read_slices_file
from gpupanel.files.value_pairs_file import ValuePairs, read_value_pairs
from gpupanel.files.worst_file import WorstExamples, write_worst
from gpupanel.trainer import size_limits
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.fingerprint import take_fingerprint
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.sources.npz import read_all_npz
from gpupanel.trainer.datasets.sources.python_data import read_python_data
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.user_code import RunCode
from tests.fuzz.mutations import damaged

LONGEST_S = 10.0
FEW = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MANY = settings(FEW, max_examples=3_000)

CLASSES = np.arange(12) % 3
ODD_LABELS: tuple[Any, ...] = (
    0, 1, 2, 3, -1, 7, 255, 10**6, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**63), 0.5, 1e30, -1e30,
    1e300, float("nan"), float("inf"), float("-inf"), -0.0, True, "cat", b"dog", None, 1 + 2j,
)  # fmt: skip
TYPES: tuple[Any, ...] = (
    "u1", "i1", "<i2", ">i4", "<i8", "<u8", "<f2", ">f4", "<f8", "<f16", "?", "<c8", "U3", "S3",
    "<M8[s]", "<m8[s]", "O", [("a", "<f4"), ("b", "O")], "V5",
)  # fmt: skip
SHAPES = ((), (0,), (12,), (12, 1), (12, 4), (12, 2, 2), (11, 4), (12, 0), (1, 12), (12, 2, 2, 1),
          (12, 1, 1, 1, 1), (3,), (2, 6))  # fmt: skip


@pytest.fixture(autouse=True)
def _small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What says that it is larger than a quarter GiB is refused as on a machine with so much."""
    monkeypatch.setattr(size_limits, "memory_bytes", lambda: 2**28)


def assert_told(problems: tuple[Problem, ...]) -> None:
    assert problems
    for problem in problems:
        assert problem.message
        assert problem.hint
        problem.model_dump_json()


def assert_right(data: DataSet) -> None:
    """What is trained on is what the loop relies on."""
    for part in filter(None, (data.training, data.test)):
        assert len(part) > 0
        features = part.read(np.array([0, len(part) - 1], np.int32))
        assert features.dtype in (np.uint8, np.float32)
        assert features.ndim >= 2
        assert np.isfinite(features).all()
        assert np.isfinite(part.labels).all()
        if data.target is Target.CLASSES:
            assert part.labels.dtype == np.int32
            assert 0 <= part.labels.min() <= part.labels.max() < len(data.class_names)
        elif data.learns_inputs:
            assert not part.labels.any()  # each example is its own label
        else:
            assert part.labels.dtype == np.float32
    assert b"".join(take_fingerprint(data).to_json())
    assert encode_event(
        DataReady(
            time_s=1.0,
            training_examples=len(data.training),
            validation_examples=0,
            feature_shape=data.training.feature_shape,
            class_names=names_for_event(data.class_names),
            steps_per_epoch=1,
        )
    )


def read_or_told(read: Callable[[], DataSet]) -> DataSet | None:
    """What is read, right as it is; ``None`` where it was refused as the trainer would tell."""
    start_s = time.monotonic()
    try:
        data = read()
    except ProblemError as error:
        assert_told(error.problems)
        return None
    finally:
        assert time.monotonic() - start_s < LONGEST_S
    return data


def read_all(data: DataSettings) -> DataSet:
    """The data, its first and last examples with it: what stays on disk may fail then."""
    found = read_data(data, Reading(print))
    assert_right(found)
    return found


def read(data: DataSettings) -> DataSet | None:
    return read_or_told(lambda: read_all(data))


def split_too(data: DataSettings) -> None:
    found = read(data)
    if found is not None:
        read_or_told(lambda: split(found, data, 3).data)


# Archives of arrays


def npy(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def archived(method: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(f"{name}.npy", member)
    return content.getvalue()


GOOD = {"x": npy(np.arange(48, dtype=np.float32).reshape(12, 4)), "y": npy(CLASSES)}
ARCHIVES = [
    archived(**GOOD),
    archived(zipfile.ZIP_DEFLATED, **GOOD),
    archived(**GOOD | {"x": npy(np.asfortranarray(np.ones((12, 4, 4), np.uint8)))}),
]


def with_flags(content: bytes, flags: int, method: int) -> bytes:
    """The same archive, said to be encrypted, or packed in another way."""
    edited = bytearray(content)
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = edited.find(sign)
        while place >= 0:
            struct.pack_into("<HH", edited, place + at, flags, method)
            place = edited.find(sign, place + 4)
    return bytes(edited)


def assert_archive(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    split_too(NpzData(path=str(path), validation_fraction=0.25))
    for needs_labels in (True, False):
        try:
            read_all_npz(NpzData(path=str(path)), needs_labels=needs_labels)
        except ProblemError as error:
            assert_told(error.problems)


@FEW
@given(content=damaged(ARCHIVES))
def test_that_damaged_archives_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    assert_archive(tmp_path / "data.npz", content)


@pytest.mark.slow
@MANY
@given(content=damaged(ARCHIVES))
def test_that_three_thousand_damaged_archives_are_read_or_refused(
    tmp_path: Path, content: bytes
) -> None:
    assert_archive(tmp_path / "data.npz", content)


MEMBERS = st.one_of(
    damaged(list(GOOD.values())),
    st.builds(
        lambda header, rest: b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + rest,
        st.sampled_from(
            [
                b"{'descr': '<f4', 'fortran_order': False, 'shape': (1125899906842624,), }\n",
                b"{'descr': '<f4', 'fortran_order': False, 'shape': (-12, 4), }\n",
                b"{'descr': '<f4', 'fortran_order': 7, 'shape': (12, 4), }\n",
                b"{'descr': '|O', 'fortran_order': False, 'shape': (12,), }\n",
                b"{'descr': [('a', '<f4', (10,)*9)], 'fortran_order': False, 'shape': (12,), }\n",
                b"{'descr': '<f4', 'fortran_order': False, 'shape': (True, 4), }\n",
                b"{'descr': 'nonsense', 'fortran_order': False, 'shape': (12, 4), }\n",
                b"{'descr': '<U999999999', 'fortran_order': False, 'shape': (1,), }\n",
                b"{'descr': '<V0', 'fortran_order': False, 'shape': (12, 4), }\n",
                b"[" * 5_000,
                b"{" + b"'a': {" * 400,
                b"12",
                b"",
            ]
        ),
        st.binary(max_size=300),
    ),
    st.binary(max_size=200),
)


def assert_members(path: Path, x: bytes, y: bytes, method: int, flags: int) -> None:
    content = archived(zipfile.ZIP_DEFLATED, x=x, y=y)
    assert_archive(path, with_flags(content, flags, method) if flags or method != 8 else content)


KINDS_OF_ARCHIVES = {
    "x": MEMBERS | st.just(GOOD["x"]),
    "y": MEMBERS | st.just(GOOD["y"]),
    "method": st.sampled_from([8, 8, 8, 0, 12, 14, 99]),
    "flags": st.sampled_from([0, 0, 0, 0x1, 0x8, 0x20, 0x40, 0x41, 0x800]),
}


@FEW
@given(**KINDS_OF_ARCHIVES)
def test_that_archives_of_damaged_arrays_are_read_or_refused(
    tmp_path: Path, x: bytes, y: bytes, method: int, flags: int
) -> None:
    assert_members(tmp_path / "data.npz", x, y, method, flags)


@pytest.mark.slow
@MANY
@given(**KINDS_OF_ARCHIVES)
def test_that_three_thousand_archives_of_damaged_arrays_are_read_or_refused(
    tmp_path: Path, x: bytes, y: bytes, method: int, flags: int
) -> None:
    assert_members(tmp_path / "data.npz", x, y, method, flags)


# Arrays that are whole, and strange


def odd_array(seed: int) -> np.ndarray:
    """Any shape, any type, a few odd values."""
    draw = random.Random(seed)
    shape, kind = draw.choice(SHAPES), draw.choice(TYPES)
    with np.errstate(all="ignore"):
        array = np.zeros(shape, np.dtype(kind))
        if draw.random() < 0.6 and array.ndim and array.size:
            array = (np.arange(array.size) % 3).reshape(shape)
        for _ in range(draw.randrange(4)):
            try:
                array = array.astype(kind)
                if array.size:
                    array.flat[draw.randrange(array.size)] = draw.choice(ODD_LABELS)
            except (TypeError, ValueError, OverflowError):
                continue
        if draw.random() < 0.2 and array.ndim:
            array = array[::-1]
        if draw.random() < 0.2:
            array = np.asfortranarray(array)
    return array


def assert_arrays(folder: Path, seed: int) -> None:
    draw = random.Random(seed)
    x = odd_array(seed) if draw.random() < 0.5 else np.arange(48.0).reshape(12, 4)
    y = odd_array(seed + 1) if draw.random() < 0.7 else CLASSES
    path = folder / "data.npz"
    path.write_bytes(archived(x=npy(x), y=npy(y)))
    count = draw.choice([None, None, 1, 3, 1_000])
    split_too(
        NpzData(path=str(path), class_count=count, validation_fraction=draw.choice([None, 0.5]))
    )
    assert_python_result(folder, draw, x, y)


def assert_python_result(folder: Path, draw: random.Random, x: np.ndarray, y: np.ndarray) -> None:
    """What a person's code might give in its place."""
    results: list[object] = [
        (x, y), {"x": x, "y": y}, ((x, y), (x, y)), {"x": x, "y": y, "x_test": y, "y_test": x},
        {"x": x.tolist(), "y": y.tolist()}, {"x": x, "y": y, "class_names": draw.choice(NAMES)},
        {"x": iter([x]), "y": y}, {"x": [x, y], "y": y}, [x, y], (x,), None, 7, "xy", {}, {"x": x},
        {1: x}, {"x": x, "y": y, "z": y}, (x, y, x, y), Odd(), (Odd(), y), (x, Odd()),
    ]  # fmt: skip
    code = GivenCode("data.path", str(folder / "code.py"), folder / "code.py", draw.choice(results))
    settings_ = PythonData(path=code.named, predicts=draw.choice([*Target]))
    found = read_or_told(lambda: read_python_data(settings_, code, draw.randrange(5)))
    if found is not None:
        assert_right(found)


NAMES: tuple[object, ...] = (
    ["a", "b", "c"], (), [], "abc", ["a"], [None, 1, 2], ["a"] * 5_000, ["\ud800", "b", "c"],
    ["x" * 10**6, "", ""], {"a": 1}, np.array(["a", "b", "c"]),
)  # fmt: skip


class Odd:
    """An object that is no array and does not like to be made one."""

    def __array__(self, *_args: object, **_kwargs: object) -> np.ndarray:
        raise RuntimeError("no")


class GivenCode(RunCode):
    """Code that gives what a test says, without being carried out."""

    def __init__(self, key: str, named: str, kept: Path, given_: object) -> None:
        super().__init__(key, named, kept)
        object.__setattr__(self, "given", given_)

    def function(self, name: str) -> Callable[..., object]:
        assert name == "load"
        return lambda: object.__getattribute__(self, "given")


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_that_odd_arrays_are_taken_or_refused(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + 100):
        assert_arrays(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 9_000, 1_000))
def test_that_eight_thousand_odd_arrays_are_taken_or_refused(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + 1_000):
        assert_arrays(tmp_path, seed)


# Images


def image(kind: str, mode: str) -> bytes:
    content = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 255, (6, 5, 3), np.uint8)
    Image.fromarray(pixels).convert(mode).save(content, kind)
    return content.getvalue()


IMAGES = [
    image(kind, mode)
    for kind, mode in (
        ("PNG", "RGB"), ("PNG", "P"), ("PNG", "1"), ("PNG", "RGBA"), ("JPEG", "RGB"),
        ("JPEG", "CMYK"), ("JPEG", "L"), ("BMP", "RGB"), ("GIF", "P"), ("TIFF", "RGB"),
        ("TIFF", "F"), ("WEBP", "RGB"), ("PPM", "RGB"),
    )
]  # fmt: skip
SUFFIXES = st.sampled_from([".png", ".jpg", ".bmp", ".gif", ".tif", ".webp", ".ppm"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.png").write_bytes(IMAGES[0])
    return tmp_path


def assert_image(folder: Path, content: bytes, suffix: str) -> None:
    path = folder / "dog" / f"b{suffix}"
    path.write_bytes(content)
    try:
        for color, cache in itertools.product(
            ("rgb", "grayscale"), (DataCache.MEMORY, DataCache.NONE)
        ):
            read(ImagesData(path=str(folder), image_size=(4, 3), color=color, cache=cache))
    finally:
        path.unlink()


@FEW
@given(content=damaged(IMAGES), suffix=SUFFIXES)
@pytest.mark.filterwarnings("ignore")  # Pillow warns of what it makes up for
def test_that_damaged_images_are_read_or_refused(folder: Path, content: bytes, suffix: str) -> None:
    assert_image(folder, content, suffix)


@pytest.mark.slow
@MANY
@given(content=damaged(IMAGES), suffix=SUFFIXES)
@pytest.mark.filterwarnings("ignore")
def test_that_three_thousand_damaged_images_are_read_or_refused(
    folder: Path, content: bytes, suffix: str
) -> None:
    assert_image(folder, content, suffix)


# Keras's sets in its cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    folder = tmp_path / "keras" / "datasets"
    (folder / "fashion-mnist").mkdir(parents=True)
    return folder


DIVIDED = archived(
    zipfile.ZIP_DEFLATED,
    x_train=npy(np.zeros((12, 28, 28), np.uint8)), y_train=npy(CLASSES),
    x_test=npy(np.zeros((12, 28, 28), np.uint8)), y_test=npy(CLASSES),
)  # fmt: skip
WORDS = archived(
    **{
        name: npy(np.array([[1, 2], [3], [4, 5, 6]] * 4, object) if name[0] == "x" else CLASSES % 2)
        for name in ("x_train", "y_train", "x_test", "y_test")
    }
)
IDX = gzip.compress(bytes(16 + 12 * 784))


def assert_cached(cache: Path, name: Any, content: bytes) -> None:
    if name == "fashion_mnist":
        for part in (
            "train-images-idx3",
            "train-labels-idx1",
            "t10k-images-idx3",
            "t10k-labels-idx1",
        ):
            (cache / "fashion-mnist" / f"{part}-ubyte.gz").write_bytes(content)
    else:
        (cache / f"{name}.npz").write_bytes(content)
    read(KerasData(source=name))


CACHED = st.one_of(
    st.tuples(st.just("mnist"), damaged([DIVIDED])),
    st.tuples(st.just("imdb"), damaged([WORDS])),
    st.tuples(st.just("fashion_mnist"), damaged([IDX])),
    st.tuples(st.just("boston_housing"), damaged([archived(x=GOOD["x"], y=GOOD["y"])])),
)


@FEW
@given(cached=CACHED)
def test_that_damaged_sets_in_the_cache_are_read_or_refused(
    cache: Path, cached: tuple[str, bytes]
) -> None:
    assert_cached(cache, *cached)


@pytest.mark.slow
@MANY
@given(cached=CACHED)
def test_that_three_thousand_damaged_sets_in_the_cache_are_read_or_refused(
    cache: Path, cached: tuple[str, bytes]
) -> None:
    assert_cached(cache, *cached)


# What an evaluation leaves behind


def confusion(folder: Path) -> bytes:
    path = folder / "whole.npz"
    cells = ConfusionCells(np.array([0, 1]), np.array([1, 1]), np.array([3, 4]), ("cat", "dog"))
    write_confusion(path, cells)
    return path.read_bytes()


def assert_confusion(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        cells = read_confusion(path)
    except (OSError, ValueError):
        return
    assert all(0 <= row < len(cells.class_names) for row in cells.rows)


@FEW
@given(data=st.data())
def test_that_damaged_confusion_matrices_are_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    whole = confusion(tmp_path)
    assert_confusion(tmp_path / "evaluation.npz", data.draw(damaged([whole])))


@FEW
@given(data=st.data())
def test_that_damaged_values_of_an_evaluation_are_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    path, true = tmp_path / "evaluation.npz", np.float32([[1.0], [2.0]])
    worst = WorstExamples(np.int32([0, 1]), np.float32([0.5, 0.5]), true, true + 0.5)
    write_worst(path, worst, ValuePairs(true, true + 0.5))
    path.write_bytes(data.draw(damaged([path.read_bytes()])))
    try:
        pairs = read_value_pairs(path)
    except (OSError, ValueError):
        return
    assert np.isfinite(pairs.true - pairs.predicted.astype(np.float64)).all()


@FEW
@given(data=st.data())
def test_that_damaged_thresholds_and_slices_of_an_evaluation_are_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "evaluation.npz"
    cells = ConfusionCells(np.array([0, 1]), np.array([1, 1]), np.array([3, 4]), ("cat", "dog"))
    counts = np.zeros((2, 1_001), np.int64)
    counts[:, 7] = 7
    two, half = np.array([0, 0]), np.array([0.5, 0.25])
    slices = ExampleSlices(("town",), two, ("Oslo", "empty"), np.array([3, 4]), half, 1)
    write_confusion(path, cells, None, ScoreCounts(counts, counts), slices)
    path.write_bytes(data.draw(damaged([path.read_bytes()])))
    for read in (read_score_counts, read_slices_file):
        with contextlib.suppress(OSError, ValueError):
            found = read(path)
            assert found is None or all(len(each) for each in found.arrays().values())


@pytest.mark.slow
@MANY
@given(data=st.data())
def test_that_three_thousand_damaged_confusion_matrices_are_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    whole = confusion(tmp_path)
    assert_confusion(tmp_path / "evaluation.npz", data.draw(damaged([whole])))
