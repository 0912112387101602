"""Small files that were made to do harm: each is refused, and nothing of it is carried out."""

import gzip
import io
import json
import os
import struct
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import ImagesData, KerasData, NpzData
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer import size_limits
from gpupanel.trainer.datasets.sources.images import read_images
from gpupanel.trainer.datasets.sources.keras_data import read_keras_data
from gpupanel.trainer.datasets.sources.npz import read_npz
from gpupanel.trainer.downloads.download import download
from gpupanel.trainer.models.model_file import check_model_file
from tests.forked.processes import run_forked

MIB = 2**20
DENSE = {"module": "keras.layers", "class_name": "Dense", "config": {}, "registered_name": None}


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 64 MiB, so that a bomb for it can be made in an instant."""
    monkeypatch.setattr(size_limits, "memory_bytes", lambda: 64 * MIB)


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self._marker,))


def problem_of_npz(path: Path) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_npz(NpzData(path=str(path)))
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


def problem_of_model(path: Path) -> Problem:
    with pytest.raises(ProblemError) as caught:
        check_model_file(str(path))
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


def npy(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def write_npz(path: Path, method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def write_model(path: Path, config: object, weights: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", config if isinstance(config, bytes) else json.dumps(config))
        archive.writestr("model.weights.h5", weights)
    return path


def hdf5(**datasets: tuple[int, ...]) -> bytes:
    """Datasets that hold no numbers: all of them are zero."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for name, shape in datasets.items():
            file.create_dataset(name, shape, np.float32, chunks=(1024,), compression="gzip")
    return content.getvalue()


def test_that_objects_within_records_are_refused_without_running_their_code(
    tmp_path: Path,
) -> None:
    ran = tmp_path / "ran"
    kind = np.dtype([("number", "f4"), ("inner", [("thing", "O")])])
    array = np.zeros(4, kind)
    array["inner"]["thing"] = Bomb(ran)
    path = write_npz(tmp_path / "data.npz", x=npy(array), y=npy(np.arange(4)))

    assert problem_of_npz(path).code == "data_array_of_objects"
    assert not ran.exists()


def test_that_a_bare_pickle_as_a_member_is_damage_and_not_run(tmp_path: Path) -> None:
    import pickle

    ran = tmp_path / "ran"
    path = write_npz(tmp_path / "data.npz", x=pickle.dumps(Bomb(ran)), y=npy(np.arange(4)))

    assert problem_of_npz(path).code == "data_file_damaged"
    assert not ran.exists()


@pytest.mark.usefixtures("small_memory")
def test_that_an_archive_that_unpacks_to_more_than_the_memory_is_reported_with_both_sizes(
    tmp_path: Path,
) -> None:
    path = write_npz(tmp_path / "data.npz", x=npy(np.zeros(80 * MIB, np.uint8)))
    assert path.stat().st_size < MIB

    problem = problem_of_npz(path)

    assert problem.code == "file_too_large"
    assert "0.1 GiB unpacked, more than the 0.1 GiB" in problem.message


def test_that_an_array_that_says_it_is_larger_than_its_file_makes_no_room(tmp_path: Path) -> None:
    header = io.BytesIO()
    said = {"descr": "<f4", "fortran_order": False, "shape": (2**50, 4)}
    np.lib.format.write_array_header_1_0(header, said)
    path = write_npz(tmp_path / "data.npz", x=header.getvalue(), y=npy(np.arange(4)))

    assert problem_of_npz(path).code == "data_file_damaged"


def test_that_a_member_that_hides_its_size_is_read_no_further_than_it_says(tmp_path: Path) -> None:
    array = npy(np.zeros(MIB, np.uint8))
    path = write_npz(tmp_path / "data.npz", x=array, y=npy(np.arange(4)))
    content = path.read_bytes()
    # In the member's own header and in the archive's list.
    path.write_bytes(content.replace(struct.pack("<I", len(array)), struct.pack("<I", 4096)))

    assert problem_of_npz(path).code == "data_file_damaged"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_that_ways_of_packing_without_a_bound_are_refused(tmp_path: Path, method: int) -> None:
    path = write_npz(tmp_path / "data.npz", method, x=npy(np.zeros((4, 2))), y=npy(np.arange(4)))

    assert problem_of_npz(path).code == "data_file_damaged"


@pytest.mark.usefixtures("small_memory")
def test_that_a_model_that_unpacks_to_more_than_the_memory_is_reported(tmp_path: Path) -> None:
    path = write_model(tmp_path / "m.keras", DENSE, bytes(80 * MIB))
    assert path.stat().st_size < MIB

    assert problem_of_model(path).code == "file_too_large"


def test_that_weights_that_say_they_are_larger_than_the_memory_are_reported(tmp_path: Path) -> None:
    path = write_model(tmp_path / "m.keras", DENSE, hdf5(kernel=(2**45,)))
    assert path.stat().st_size < MIB

    assert problem_of_model(path).code == "file_too_large"


def test_that_a_configuration_nested_without_end_is_damage(tmp_path: Path) -> None:
    path = write_model(tmp_path / "m.keras", b"[" * 200_000, hdf5(kernel=(1024,)))

    assert problem_of_model(path).code == "model_file_damaged"


def png(path: Path, width: int, height: int) -> None:
    """An image that says it is so large, in some dozen bytes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(64)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [9_460, 20_000, 2**30])
def test_that_a_image_of_too_many_pixels_is_not_decoded(tmp_path: Path, side: int) -> None:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / name / "a.png")
    png(tmp_path / "dog" / "b.png", side, side)

    with pytest.raises(ProblemError) as caught:
        read_images(ImagesData(path=str(tmp_path)))
    (problem,) = caught.value.problems
    assert problem.code == "data_image_too_large"
    assert str(tmp_path / "dog" / "b.png") in problem.message


@pytest.mark.usefixtures("small_memory")
def test_that_images_that_fill_the_memory_when_they_are_scaled_up_are_reported(
    tmp_path: Path,
) -> None:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / name / "a.png")

    for size, field in (((4096, 4096), "data.cache"), ((16_384, 16_384), "data.image_size")):
        with pytest.raises(ProblemError) as caught:
            read_images(ImagesData(path=str(tmp_path), image_size=size))
        assert [(each.code, each.field) for each in caught.value.problems] == [
            ("file_too_large", field)
        ]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    return tmp_path / "keras" / "datasets"


def test_that_a_image_set_in_the_cache_is_read_no_further_than_it_can_be(cache: Path) -> None:
    folder = cache / "fashion-mnist"
    folder.mkdir(parents=True)
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        with gzip.open(folder / f"{name}-ubyte.gz", "wb", compresslevel=1) as file:
            file.write(bytes(48 * MIB if name.startswith("train-images") else 16))

    with pytest.raises(ProblemError) as caught:
        read_keras_data(KerasData(source="fashion_mnist"), print)
    assert "holds more than the data set has" in caught.value.problems[0].detail


def archive_with(path: Path, *members: tarfile.TarInfo) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return path.as_uri()


@pytest.mark.parametrize(
    "place",
    ["../beside", "/tmp/gpupanel-beside", "inner/../../beside", "link", "hard link", "FIFO"],
)
def test_that_an_archive_writes_nothing_beside_its_place(
    tmp_path: Path, cache: Path, place: str
) -> None:
    member = tarfile.TarInfo(place)
    if place == "FIFO":
        member.type = tarfile.FIFOTYPE
    elif "link" in place:
        member.type = tarfile.SYMTYPE if place == "link" else tarfile.LNKTYPE
        member.linkname = str(tmp_path)
    else:
        member.size = 4
    url = archive_with(tmp_path / "data.tar.gz", member)

    file = KerasFile(url, "cifar", "", holds="inner")
    if place.startswith("/"):
        # The name's leading slash is taken off: it lands inside.
        download("cifar10", file, lambda *_: None)
        assert (cache / "cifar" / "tmp" / "gpupanel-beside").is_file()
    else:
        with pytest.raises(ProblemError) as caught:
            download("cifar10", file, lambda *_: None)
        assert caught.value.problems[0].code == "data_download_damaged"
        assert list(cache.iterdir()) == []
    assert not Path("/tmp/gpupanel-beside").exists()
    assert not (tmp_path / "keras" / "beside").exists()


@pytest.mark.parametrize("places", [("one", "one"), ("one", "one/two"), (".",)])
def test_that_an_archive_whose_files_cannot_be_beside_each_other_is_refused(
    tmp_path: Path, cache: Path, places: tuple[str, ...]
) -> None:
    url = archive_with(tmp_path / "data.tar.gz", *map(tarfile.TarInfo, places))
    with pytest.raises(ProblemError) as caught:
        download("cifar10", KerasFile(url, "cifar", "", holds="inner"), lambda *_: None)
    assert caught.value.problems[0].code == "data_download_damaged"
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("what", ["cut short", "other bytes", "no archive", "deep folders"])
def test_that_an_archive_that_is_damaged_or_deep_is_refused(
    tmp_path: Path, cache: Path, what: str
) -> None:
    member = tarfile.TarInfo("/".join(["folder"] * 500) if what == "deep folders" else "one")
    member.size = MIB
    url, path = archive_with(tmp_path / "data.tar.gz", member), tmp_path / "data.tar.gz"
    content = path.read_bytes()
    if what == "cut short":
        path.write_bytes(content[: len(content) // 2])
    elif what == "other bytes":
        path.write_bytes(content[:300] + bytes(range(256)) + content[556:])
    elif what == "no archive":
        path.write_bytes(b"please log in to the airport's network")
    with pytest.raises(ProblemError) as caught:
        download("cifar10", KerasFile(url, "cifar", "", holds="inner"), lambda *_: None)
    assert caught.value.problems[0].code == "data_download_damaged"
    assert list(cache.iterdir()) == []


def test_that_an_archive_that_unpacks_to_more_than_any_data_set_is_refused(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpupanel.trainer.downloads import download as downloading

    monkeypatch.setattr(downloading, "_LARGEST_BYTES", MIB)
    members = [tarfile.TarInfo(f"part-{number}") for number in range(3)]
    for member in members:
        member.size = MIB // 2
    url = archive_with(tmp_path / "data.tar.gz", *members)

    with pytest.raises(ProblemError) as caught:
        download("cifar10", KerasFile(url, "cifar", "", holds="inner"), lambda *_: None)
    assert caught.value.problems[0].code == "data_download_damaged"
    assert list(cache.iterdir()) == []


_MAKE_AND_LOAD = """
import sys, zipfile, json, keras
from pathlib import Path
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.models.model_file import check_model_file
from gpupanel.trainer.models.loaded_model import _loaded

folder, marker = Path(sys.argv[1]), sys.argv[2]
layer = keras.layers.Lambda(lambda x, m=marker: (open(m, "w").close(), x)[1])
model = keras.Sequential([keras.Input((2,)), layer])
Path(marker).unlink()  # building it has called it
model.save(folder / "lambda.keras")

plain = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
plain.save(folder / "plain.keras")
with zipfile.ZipFile(folder / "plain.keras") as archive:
    members = {name: archive.read(name) for name in archive.namelist()}
config = json.loads(members["config.json"])
config["config"]["layers"][1]["config"]["activation"] = {
    "module": "os", "class_name": "function", "config": "system", "registered_name": "system",
}
members["config.json"] = json.dumps(config).encode()
with zipfile.ZipFile(folder / "custom.keras", "w") as archive:
    for name, content in members.items():
        archive.writestr(name, content)

reported = []
for name in ("lambda.keras", "custom.keras"):
    path = str(folder / name)
    # Ours, and behind it Keras's own safe mode.
    for refuse in (check_model_file, lambda path: _loaded(path, path)):
        try:
            refuse(path)
        except ProblemError as error:
            reported.append(error.problems[0].code)
        else:
            reported.append("taken")
print(json.dumps(reported))
"""


@pytest.mark.tensorflow
def test_that_code_in_real_model_files_is_refused_twice_and_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    done = run_forked(
        [sys.executable, "-c", _MAKE_AND_LOAD, str(tmp_path), str(marker)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [
        "model_runs_code",
        "model_not_loaded",
        "model_needs_code",
        "model_not_loaded",
    ]
    assert not marker.exists()
