"""Downloads a file that Keras publishes once, into Keras's cache, complete or not at all."""

import gzip
import hashlib
import http.client
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from gpupanel.domain.data import DataSettings
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.downloads.keras_cache import is_here, place_of

_PIECE_BYTES = 256 * 1024
_LARGEST_BYTES = 2**31
"""Of a download, and of what it unpacks to: the greatest of Keras's files has 1.3 GiB."""
_MD5_DIGITS = 32
_TIMEOUT_S = 30.0
_NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    TimeoutError,
    ConnectionError,
)

_DAMAGED = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)
_DEEPEST = 64
"""Folders within each other in an archive: Python makes and removes them one call in the other."""

OnDownload = Callable[[str, int, int | None], None]


def fetch(settings: DataSettings | ModelSettings, on_download: OnDownload) -> None:
    """Download what is not in Keras's cache yet.

    Raises:
        ProblemError: It cannot be downloaded, or what came does not hold the data set.
    """
    for file in settings.downloads:
        if not is_here(file):
            download(settings.source, file, on_download)
            if not is_here(file):
                missing = place_of(file) / file.holds
                raise _damaged(settings.source, file, f"{missing} did not come")


def download(name: str, file: KerasFile, on_progress: OnDownload) -> None:
    """Fetch a file, check it, and put it (an archive: what is in it) in its place.

    Args:
        name: The name of the data set or the model, for the words.
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
        _fetch(name, file, fetched, on_progress)
        found = digest_of(fetched, file.digest)
        if found != file.digest:
            raise _damaged(name, file, f"its hash is {found}, expected {file.digest}")
        if not file.holds:
            fetched.replace(place)
            return
        unpacked = Path(folder) / "unpacked"
        try:
            with tarfile.open(fetched) as archive:
                _unpack(archive, unpacked)
        except _DAMAGED as error:
            raise _damaged(name, file, f"{type(error).__name__}: {error}") from error
        shutil.rmtree(place, ignore_errors=True)
        unpacked.replace(place)


def digest_of(path: Path, like: str) -> str:
    """The hexadecimal hash of a file, of the same kind as another one.

    Args:
        path: The file.
        like: An MD5 or a SHA-256; empty: none is wanted, and none is found.
    """
    if not like:
        return ""
    kind = "md5" if len(like) == _MD5_DIGITS else "sha256"
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack its files into the folder, and nothing beside it.

    Without the filters of :mod:`tarfile`: Debian 12 has Python 3.11.2, and they came with 3.11.4.

    Raises:
        tarfile.TarError: It holds more than a data set, something that is neither a file nor a
            folder, or a member whose place is elsewhere or taken.
        OSError: It cannot be written.
    """
    folder.mkdir()
    size = 0
    for member in archive:
        # One after the other: a list of all would be read to the end first, however long it is.
        size += member.size
        if size > _LARGEST_BYTES:
            raise tarfile.TarError(f"it unpacks to more than {_LARGEST_BYTES:,} bytes")
        try:
            _unpack_member(archive, member, _place_in(folder, member.name))
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            raise tarfile.TarError(f"{member.name!r}: {error.strerror}") from error


def _place_in(folder: Path, name: str) -> Path:
    parts = PurePosixPath(name.lstrip("/")).parts
    if ".." in parts or "\0" in name:
        raise tarfile.TarError(f"{name!r} is elsewhere")
    if len(parts) > _DEEPEST:
        raise tarfile.TarError(f"it has folders {len(parts)} deep")
    return folder.joinpath(*parts)


def _unpack_member(archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
        return
    content = archive.extractfile(member) if member.isfile() else None
    if content is None:
        raise tarfile.TarError(f"{member.name!r} is neither a file nor a folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    with content, place.open("xb") as file:
        shutil.copyfileobj(content, file)


def _fetch(name: str, file: KerasFile, target: Path, on_progress: OnDownload) -> None:
    url, done = file.url, 0
    with target.open("wb") as output:
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - https
                length = answer.headers.get("Content-Length")
                total = int(length) if length else None
                while piece := answer.read(_PIECE_BYTES):
                    if done + len(piece) > _LARGEST_BYTES:
                        raise ProblemError(_too_large(name, file))
                    output.write(piece)
                    done += len(piece)
                    on_progress(name, done, total)
        except _NETWORK_ERRORS as error:
            raise _failed(name, file, error) from error
    if total is not None and done != total:
        raise _failed(name, file, EOFError(f"{done:,} of {total:,} bytes came"))


def _named(name: str, file: KerasFile) -> tuple[str, str]:
    """What the file is, within a sentence, and the profile key that asks for it."""
    if file.folder == "models":
        return f"the published weights of {name}", "model.weights"
    return f'the data set "{name}"', "data.source"


def _failed(name: str, file: KerasFile, error: Exception) -> ProblemError:
    reason = getattr(error, "reason", None) or error
    if isinstance(error, urllib.error.HTTPError):
        error.close()  # it holds the connection
    what, field = _named(name, file)
    instead = (
        "or choose the bundled digits, which need none"
        if file.folder == "datasets"
        else 'or set model.weights to "none", which needs none'
    )
    place = (
        ""
        if file.holds
        else f" You can also fetch {file.url} elsewhere; it is kept as {place_of(file)}."
    )
    return ProblemError(
        Problem(
            code="data_download_failed",
            field=field,
            message=f"{what[0].upper()}{what[1:]} {_are(file)} not on this machine yet and could "
            f"not be downloaded: {reason}.",
            hint=f"Connect to the network and start again, {instead}.{place}",
            detail=f"{file.url}\n{type(error).__name__}: {error}",
        )
    )


def _are(file: KerasFile) -> str:
    return "are" if file.folder == "models" else "is"


def _too_large(name: str, file: KerasFile) -> Problem:
    what, field = _named(name, file)
    return Problem(
        code="data_download_damaged",
        field=field,
        message=f"The download of {what} is larger than {_LARGEST_BYTES // 2**20:,} MiB, and none "
        "of Keras's files is.",
        hint="Start again; if it stays so, something between this machine and the server alters "
        "downloads.",
        detail=file.url,
    )


def _damaged(name: str, file: KerasFile, detail: str) -> ProblemError:
    what, field = _named(name, file)
    return ProblemError(
        Problem(
            code="data_download_damaged",
            field=field,
            message=f"What was downloaded for {what} is not the file that Keras knows under this "
            "name.",
            hint="Start again; if it stays so, something between this machine and the server "
            "alters downloads.",
            detail=f"{file.url}\n{detail}",
        )
    )
