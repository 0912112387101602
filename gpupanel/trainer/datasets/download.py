"""Downloads a data set's file once, into Keras's cache, complete or not at all."""

import hashlib
import http.client
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.data import DataSettings
from gpupanel.domain.data_source import KerasFile
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.keras_files import damaged_files, is_here, place_of

_PIECE_BYTES = 256 * 1024
_LARGEST_BYTES = 2**30
"""Of a download, and of what it unpacks to: the greatest of Keras's data sets has 178 MiB."""
_TIMEOUT_S = 30.0
_NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    TimeoutError,
    ConnectionError,
)

OnDownload = Callable[[str, int, int | None], None]


def fetch(data: DataSettings, on_download: OnDownload) -> None:
    """Download what is not in Keras's cache yet.

    Raises:
        ProblemError: It cannot be downloaded, or what came does not hold the data set.
    """
    for file in data.downloads:
        if not is_here(file):
            download(data.source, file, on_download)
            if not is_here(file):
                missing = place_of(file) / file.holds
                raise damaged_files(data, FileNotFoundError(f"{missing} did not come"))


def download(name: str, file: KerasFile, on_progress: OnDownload) -> None:
    """Fetch a file, check it, and put it (an archive: what is in it) in its place.

    Args:
        name: The data set's name, for the words.
        file: Which.
        on_progress: Called with the name, bytes done and bytes in all (``None``: unknown).

    Raises:
        ProblemError: There is no network, the server refuses, or what came is damaged.
        OSError: It cannot be written.
    """
    place = place_of(file)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".download-") as folder:
        fetched = Path(folder) / "file"
        digest = _fetch(name, file.url, fetched, on_progress)
        if file.sha256 and digest != file.sha256:
            raise _damaged(name, file, f"sha256 {digest}, expected {file.sha256}")
        if not file.holds:
            fetched.replace(place)
            return
        unpacked = Path(folder) / "unpacked"
        try:
            with tarfile.open(fetched) as archive:
                _unpack(archive, unpacked)
        except tarfile.TarError as error:
            raise _damaged(name, file, f"{type(error).__name__}: {error}") from error
        shutil.rmtree(place, ignore_errors=True)
        unpacked.replace(place)


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack it into the folder, and nothing beside it.

    Raises:
        tarfile.TarError: It holds more than a data set, or a member whose place is elsewhere.
    """
    size = 0
    for member in archive:
        # One after the other: a list of all would be read to the end first, however long it is.
        size += member.size
        if size > _LARGEST_BYTES:
            raise tarfile.TarError(f"it unpacks to more than {_LARGEST_BYTES:,} bytes")
        archive.extract(member, folder, filter="data")


def _fetch(name: str, url: str, target: Path, on_progress: OnDownload) -> str:
    hasher = hashlib.sha256()
    done = 0
    with target.open("wb") as output:
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - https
                length = answer.headers.get("Content-Length")
                total = int(length) if length else None
                while piece := answer.read(_PIECE_BYTES):
                    if done + len(piece) > _LARGEST_BYTES:
                        raise ProblemError(_too_large(name, url))
                    output.write(piece)
                    hasher.update(piece)
                    done += len(piece)
                    on_progress(name, done, total)
        except _NETWORK_ERRORS as error:
            raise _failed(name, url, error) from error
    if total is not None and done != total:
        raise _failed(name, url, EOFError(f"{done:,} of {total:,} bytes came"))
    return hasher.hexdigest()


def _failed(name: str, url: str, error: Exception) -> ProblemError:
    reason = getattr(error, "reason", None) or error
    if isinstance(error, urllib.error.HTTPError):
        error.close()  # it holds the connection
    return ProblemError(
        Problem(
            code="data_download_failed",
            field="data.source",
            message=f'The data set "{name}" is not on this machine yet and could not be '
            f"downloaded: {reason}.",
            hint="Connect to the network and start again, or choose the embedded digits, which "
            "need none.",
            detail=f"{url}\n{type(error).__name__}: {error}",
        )
    )


def _too_large(name: str, url: str) -> Problem:
    return Problem(
        code="data_download_damaged",
        field="data.source",
        message=f'What comes for the data set "{name}" is larger than {_LARGEST_BYTES // 2**20:,} '
        "MiB, which none of Keras's data sets is.",
        hint="Start again; if it stays so, something between here and the server changes "
        "downloads.",
        detail=url,
    )


def _damaged(name: str, file: KerasFile, detail: str) -> ProblemError:
    return ProblemError(
        Problem(
            code="data_download_damaged",
            field="data.source",
            message=f'What was downloaded for the data set "{name}" is not the file that Keras '
            "knows under this name.",
            hint="Start again; if it stays so, something between here and the server changes "
            "downloads.",
            detail=f"{file.url}\n{detail}",
        )
    )
