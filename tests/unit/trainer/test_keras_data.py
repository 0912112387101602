"""Keras's data sets, read from a cache like the one Keras keeps, and downloaded into it."""

import gzip
import hashlib
import http.server
import io
import json
import pickle
import signal
import socket
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from gpupanel.domain.data import KerasData, Target
from gpupanel.domain.data_download import DownloadRequest
from gpupanel.domain.keras_data import KERAS_CLASS_NAMES, KERAS_FILES, KerasDataName
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Scaling
from gpupanel.trainer.datasets.sources.keras_data import read_keras_data
from gpupanel.trainer.downloads.download import download
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.parts.restricted_pickle import read_pickled
from gpupanel.trainer.tools import data_download

RANDOM = np.random.default_rng(5)


def no_download(name: str, done: int, total: int | None) -> None:
    raise AssertionError(f"{name} is in the cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keras's folder of data sets, empty."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    folder = tmp_path / "keras" / "datasets"
    folder.mkdir(parents=True)
    return folder


def pixels(count: int, *shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, (count, *shape), dtype=np.uint8)


def labels(count: int, classes: int) -> np.ndarray:
    return np.arange(count) % classes


def texts(count: int) -> np.ndarray:
    made = np.empty(count, dtype=object)
    made[:] = [[1, 5_000, 5_001, row + 2] for row in range(count)]
    return made


def fill_mnist(cache: Path) -> None:
    np.savez(
        cache / "mnist.npz",
        x_train=pixels(20, 28, 28),
        y_train=labels(20, 10),
        x_test=pixels(10, 28, 28),
        y_test=labels(10, 10),
    )


def fill_fashion_mnist(cache: Path) -> None:
    folder = cache / "fashion-mnist"
    folder.mkdir()
    for part, count in (("train", 20), ("t10k", 10)):
        with gzip.open(folder / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(b"\0" * 16 + pixels(count, 28, 28).tobytes())
        with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(b"\0" * 8 + labels(count, 10).astype(np.uint8).tobytes())


def fill_cifar(folder: Path, names: list[str], key: bytes, classes: int) -> None:
    folder.mkdir(parents=True)
    for name in names:
        batch = {b"data": pixels(classes, 3072), key: labels(classes, classes).tolist()}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))


def fill_cifar10(cache: Path) -> None:
    names = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
    folder = cache / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    fill_cifar(folder, names, b"labels", 10)


def fill_cifar100(cache: Path) -> None:
    folder = cache / "cifar-100-python-target" / "cifar-100-python"
    fill_cifar(folder, ["train", "test"], b"fine_labels", 100)


def fill_imdb(cache: Path) -> None:
    np.savez(
        cache / "imdb.npz",
        x_train=texts(20),
        y_train=labels(20, 2),
        x_test=texts(10),
        y_test=labels(10, 2),
    )


def fill_reuters(cache: Path) -> None:
    np.savez(cache / "reuters.npz", x=texts(460), y=labels(460, 46))


def fill_housing(name: str) -> Callable[[Path], None]:
    def fill(cache: Path) -> None:
        np.savez(cache / f"{name}.npz", x=RANDOM.random((50, 8)), y=RANDOM.random(50) * 1e5)

    return fill


FILLED: dict[KerasDataName, tuple[Callable[[Path], None], tuple[int, ...], int, int]] = {
    "mnist": (fill_mnist, (28, 28), 20, 10),
    "fashion_mnist": (fill_fashion_mnist, (28, 28), 20, 10),
    "cifar10": (fill_cifar10, (32, 32, 3), 50, 10),
    "cifar100": (fill_cifar100, (32, 32, 3), 100, 100),
    "imdb": (fill_imdb, (5_000,), 20, 10),
    "reuters": (fill_reuters, (5_000,), 368, 92),
    "boston_housing": (fill_housing("boston_housing"), (8,), 40, 10),
    "california_housing": (fill_housing("california_housing"), (8,), 40, 10),
}


def test_that_every_name_is_covered() -> None:
    assert set(FILLED) == set(KERAS_FILES) == set(get_args(KerasDataName))


@pytest.mark.parametrize("name", list(FILLED))
def test_that_a_data_set_in_the_cache_is_read(cache: Path, name: KerasDataName) -> None:
    fill, shape, training, test = FILLED[name]
    settings = KerasData(source=name)
    assert needs_download(settings)
    fill(cache)
    assert not needs_download(settings)

    data = read_keras_data(settings, no_download)

    assert data.test is not None
    assert data.training.feature_shape == data.test.feature_shape == shape
    assert (len(data.training), len(data.test)) == (training, test)
    assert data.target is settings.target_kind
    if data.target is Target.VALUES:
        assert data.scaling is Scaling.STANDARDISE
        assert data.training.labels.dtype == np.float32
    else:
        assert data.class_names == KERAS_CLASS_NAMES[name]
        assert set(data.training.labels.tolist()) == set(range(len(data.class_names)))


def test_that_texts_become_the_words_that_occur_in_them(cache: Path) -> None:
    fill_imdb(cache)

    row = read_keras_data(KerasData(source="imdb"), no_download).training.features[4]

    assert np.flatnonzero(row).tolist() == [0, 5, 4_999]


def test_that_a_damaged_file_in_the_cache_is_reported(cache: Path) -> None:
    (cache / "mnist.npz").write_bytes(b"PK\x03\x04 and then nothing")

    with pytest.raises(ProblemError) as caught:
        read_keras_data(KerasData(source="mnist"), no_download)

    (problem,) = caught.value.problems
    assert problem.code == "data_file_damaged"
    assert str(cache / "mnist.npz") in problem.message


def test_that_code_in_a_pickle_is_not_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (ran,))

    with pytest.raises(pickle.UnpicklingError):
        read_pickled(io.BytesIO(pickle.dumps(Bomb())))
    assert not ran.exists()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Serves a folder on this machine."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{serving.server_address[1]}", folder
        serving.shutdown()
        thread.join()


def failure(file: KerasFile) -> Problem:
    with pytest.raises(ProblemError) as caught:
        download("mnist", file, lambda *_: None)
    (problem,) = caught.value.problems
    return problem


def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """What the process that only downloads answers, line by line."""
    request = DownloadRequest(data=KerasData(source="mnist"))
    question = io.TextIOWrapper(io.BytesIO(request.model_dump_json().encode()))
    monkeypatch.setattr(sys, "stdin", question)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert data_download.main() == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_that_a_process_of_its_own_downloads_before_a_run(
    cache: Path,
    server: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, served = server
    fill_mnist(served)
    size = (served / "mnist.npz").stat().st_size
    monkeypatch.setitem(KERAS_FILES, "mnist", (KerasFile(f"{url}/mnist.npz", "mnist.npz"),))

    *progress, end = asked(monkeypatch, capsys)

    assert progress[-1] == {"progress": {"done": size, "total": size}}
    assert end == {"end": {"problems": []}}
    assert (cache / "mnist.npz").stat().st_size == size
    # It is there: nothing is fetched again.
    assert asked(monkeypatch, capsys) == [end]


def test_that_a_download_that_fails_is_a_problem_of_the_answer(
    cache: Path,
    server: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, _ = server
    monkeypatch.setitem(KERAS_FILES, "mnist", (KerasFile(f"{url}/mnist.npz", "mnist.npz"),))
    (end,) = asked(monkeypatch, capsys)
    assert [each["code"] for each in end["end"]["problems"]] == ["data_download_failed"]
    assert list(cache.rglob("*.npz")) == []


def test_that_a_download_reports_how_far_it_is_and_is_kept(
    cache: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, served = server
    fill_mnist(served)
    content = (served / "mnist.npz").read_bytes() + b"\0" * 600_000
    (served / "mnist.npz").write_bytes(content)
    file = KerasFile(f"{url}/mnist.npz", "mnist.npz", hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(KERAS_FILES, "mnist", (file,))
    reported: list[tuple[str, int, int | None]] = []

    with pytest.raises(ProblemError):  # zeros behind the archive: read as damaged, yet kept
        read_keras_data(KerasData(source="mnist"), lambda *progress: reported.append(progress))

    assert [name for name, _, _ in reported] == ["mnist"] * len(reported)
    assert len(reported) > 1
    assert reported[-1][1:] == (len(content), len(content))
    assert (cache / "mnist.npz").read_bytes() == content
    assert [path.name for path in cache.iterdir()] == ["mnist.npz"]


def test_that_an_archive_is_unpacked_into_its_place(cache: Path, server: tuple[str, Path]) -> None:
    url, served = server
    fill_cifar10(served)
    inner = served / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    with tarfile.open(served / "cifar.tar.gz", "w:gz") as archive:
        archive.add(inner, arcname="cifar-10-batches-py")
    (known,) = KERAS_FILES["cifar10"]

    download("cifar10", KerasFile(f"{url}/cifar.tar.gz", known.place, "", known.holds), print)

    assert not needs_download(KerasData(source="cifar10"))


def test_that_a_download_that_is_not_the_known_file_is_refused(
    cache: Path, server: tuple[str, Path]
) -> None:
    url, served = server
    (served / "mnist.npz").write_bytes(b"please log in to the airport's network")

    problem = failure(KerasFile(f"{url}/mnist.npz", "mnist.npz", "0" * 64))

    assert problem.code == "data_download_damaged"
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("what", ["no server", "no such file"])
def test_that_a_download_that_fails_is_reported(
    cache: Path, server: tuple[str, Path], what: str
) -> None:
    url, _ = server
    if what == "no server":
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"

    problem = failure(KerasFile(f"{url}/mnist.npz", "mnist.npz"))

    assert problem.code == "data_download_failed"
    assert "network" in problem.hint
    assert url in problem.detail
    assert list(cache.iterdir()) == []
