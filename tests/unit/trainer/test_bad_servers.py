"""Downloads from servers that lie, break off, redirect and drip."""

import io
import os
import socket
import tarfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.downloads import transfer
from gpupanel.trainer.downloads.download import download

Serve = Callable[[bytes], str]
WEIGHTS = b"\x89HDF\r\n\x1a\n" + bytes(992)
PORTAL = b"<html>please log in to the airport's network</html>"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keras's folder of weights, empty."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    return tmp_path / "models"


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Answers every request with these bytes, slowly where they hold "|", and breaks off then."""
    listening = socket.create_server(("127.0.0.1", 0))
    answers: list[bytes] = []

    def answer() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(2**16)
                try:
                    for number, part in enumerate(answers[-1].split(b"|")):
                        time.sleep(0.02 if number else 0)
                        connection.sendall(part)
                except OSError:
                    continue  # who asked had enough

    thread = threading.Thread(target=answer)
    thread.start()

    def address(content: bytes) -> str:
        answers.append(content)
        return f"http://127.0.0.1:{listening.getsockname()[1]}/weights.h5"

    yield address
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


def weights(url: str, size_bytes: int = 0) -> KerasFile:
    """Published weights of which Keras knows no hash."""
    return KerasFile(url, "weights.h5", size_bytes=size_bytes, folder="models")


def failure(file: KerasFile) -> Problem:
    with pytest.raises(ProblemError) as caught:
        download("MobileNet", file, lambda *_: None)
    (problem,) = caught.value.problems
    return problem


def ok(*headers: bytes, body: bytes = WEIGHTS) -> bytes:
    return b"\r\n".join((b"HTTP/1.1 200 OK", *headers, b"", body))


@pytest.mark.parametrize(
    "length",
    [b"many", b"-1", "²".encode(), b"9" * 5000],
    ids=["word", "negative", "superscript", "digits"],
)
def test_that_a_length_that_is_none_keeps_no_file_from_coming(
    cache: Path, serve: Serve, length: bytes
) -> None:
    download("MobileNet", weights(serve(ok(b"Content-Length: " + length))), lambda *_: None)
    assert (cache / "weights.h5").read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ok(b"Content-Length: 2000"), "1,000 of 2,000 bytes came"),
        (ok(b"Transfer-Encoding: chunked", body=b"ff\r\nshort"), ""),
        (ok(b"Transfer-Encoding: chunked", body=b"many\r\nshort"), ""),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "headers"),
        (b"HTTP/1.1 200 " + b"x" * 2**17, ""),
        (b"\x00\xff\x1b[2J no HTTP", ""),
        (b"", ""),
        (b"HTTP/1.1 404 \x1b[31mgone\r\n\r\n", r"\x1b[31mgone"),
        (b"HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\n\r\n", "file:///etc/passwd"),
        (b"HTTP/1.1 302 F\r\nLocation: ftp://127.0.0.1/x\r\n\r\n", "ftp://127.0.0.1/x"),
        (b"HTTP/1.1 302 F\r\nLocation: data:text/plain,x\r\n\r\n", "data:text/plain"),
        (b"HTTP/1.1 302 F\r\nLocation: http://a..b/\r\n\r\n", ""),
        (b"HTTP/1.1 302 F\r\nLocation: http://127.0.0.1:x/\r\n\r\n", ""),
        (b"HTTP/1.1 302 F\r\nLocation: /weights.h5\r\n\r\n", "infinite loop"),
    ],
)
def test_that_an_answer_that_is_none_is_a_download_that_failed(
    cache: Path, serve: Serve, answer: bytes, why: str
) -> None:
    problem = failure(weights(serve(answer)))
    assert (problem.code, problem.field) == ("data_download_failed", "model.weights")
    assert why in problem.message
    assert problem.message.endswith(".")
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "why"),
    [(PORTAL, "it begins with"), (WEIGHTS[:500], "it has 500 bytes, expected 1,000")],
    ids=["portal", "truncated"],
)
def test_that_weights_without_a_hash_are_held_against_what_is_known_of_them(
    cache: Path, serve: Serve, body: bytes, why: str
) -> None:
    size = 1000 if body != PORTAL else 10
    problem = failure(weights(serve(ok(body=body)), size))
    assert problem.code == "data_download_damaged"
    assert why in problem.detail
    assert list(cache.iterdir()) == []


def test_that_no_more_is_taken_than_a_data_set_has(cache: Path, serve: Serve) -> None:
    url = serve(ok(body=b"\x1f\x8b" + bytes(2000)))
    problem = failure(KerasFile(url, "labels.gz", size_bytes=1500))
    assert problem.code == "data_download_damaged"
    assert "more than 1,500 bytes" in problem.detail


def test_that_an_encrypted_download_is_not_redirected_to_one_that_is_not() -> None:
    request = urllib.request.Request("https://example.org/weights.h5")
    follow = transfer._Redirects().redirect_request
    with pytest.raises(OSError, match="not encrypted"):
        follow(request, None, 302, "Found", {}, "http://example.org/weights.h5")  # type: ignore[arg-type]
    followed = follow(request, None, 302, "Found", {}, "https://a.example/w.h5")  # type: ignore[arg-type]
    assert followed is not None
    assert followed.full_url == "https://a.example/w.h5"


def test_that_a_server_that_drips_comes_to_an_end(
    cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "_SLOW_S", 0.05)
    problem = failure(weights(serve(ok(body=b"x|" * 1000))))
    assert problem.code == "data_download_failed"
    assert "bytes came within" in problem.message


def test_that_every_byte_of_a_slow_server_lets_a_stop_through(cache: Path, serve: Serve) -> None:
    class StopError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StopError

    with pytest.raises(StopError):
        download("MobileNet", weights(serve(ok(body=b"x|" * 1000))), stop)
    assert list(cache.iterdir()) == []


def test_that_what_a_killed_download_left_is_removed_a_day_later(cache: Path, serve: Serve) -> None:
    for name, age_s in (("old", 25 * 3600), ("new", 3600)):
        left = cache / f".download-{name}" / "file"
        left.parent.mkdir(parents=True)
        left.touch()
        for path in (left, left.parent):
            os.utime(path, (time.time() - age_s,) * 2)

    download("MobileNet", weights(serve(ok())), lambda *_: None)

    assert sorted(path.name for path in cache.iterdir()) == [".download-new", "weights.h5"]


def test_that_an_archive_that_another_run_unpacked_meanwhile_stays_as_it_is(
    cache: Path, serve: Serve, tmp_path: Path
) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        packed.addfile(tarfile.TarInfo("inner"))
    there = tmp_path / "datasets" / "cifar" / "inner"

    def other_run(*_: object) -> None:
        there.parent.mkdir(exist_ok=True)
        there.with_suffix(".read").touch()
        there.touch()

    url = serve(ok(body=archive.getvalue()))
    download("cifar10", KerasFile(url, "cifar", holds="inner"), other_run)

    assert there.with_suffix(".read").exists()
