"""Downloads a file that Keras publishes once, into Keras's cache, complete or not at all."""

import gzip
import hashlib
import shutil
import tarfile
import tempfile
import time
import zlib
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath

from gpupanel.domain.data import DataSettings
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.keras_cache import is_here, place_of
from gpupanel.trainer.downloads.progress import OnDownload
from gpupanel.trainer.downloads.transfer import TooLargeError, TransferError, transfer

_LARGEST_BYTES = 2**31
"""Of a download, and of what it unpacks to: the greatest of Keras's files has 1.3 GiB."""
_MD5_DIGITS = 32
_BEGINNINGS = {".h5": b"\x89HDF\r\n\x1a\n", ".gz": b"\x1f\x8b", ".npz": b"PK"}
"""First bytes of files by suffix: a login page in their place has others."""
_LEAST_OF_WEIGHTS = 0.9
"""Least fraction of the expected size of published weights."""
_PREFIX = ".download-"
_LEFT_BEHIND_S = 24 * 3600.0
"""What was not written to for so long belongs to a download that was killed."""

_DAMAGED = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)
_DEEPEST = 64
"""Folders within each other in an archive: Python makes and removes them one call in the other."""


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
    _remove_left_behind(place.parent)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=_PREFIX) as folder:
        fetched = Path(folder) / "file"
        _fetch(name, file, fetched, on_progress)
        _check(name, file, fetched)
        if not file.holds:
            fetched.replace(place)
            return
        unpacked = Path(folder) / "unpacked"
        try:
            with tarfile.open(fetched, "r:gz") as archive:
                _unpack(archive, unpacked)
        except _DAMAGED as error:
            raise _damaged(name, file, f"{type(error).__name__}: {error}") from error
        if is_here(file):
            return  # another run was faster, and may be reading it
        shutil.rmtree(place, ignore_errors=True)
        try:
            unpacked.replace(place)
        except OSError:
            if not is_here(file):
                raise


def _remove_left_behind(folder: Path) -> None:
    """Remove what downloads left that were killed: up to gigabytes each."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            newest_s = max(each.lstat().st_mtime for each in (path, *path.iterdir()))
            if newest_s < time.time() - _LEFT_BEHIND_S:
                shutil.rmtree(path)


def _check(name: str, file: KerasFile, fetched: Path) -> None:
    """Hold what came against what is known of the file.

    Raises:
        ProblemError: It is another one.
    """
    found = digest_of(fetched, file.digest)
    if found != file.digest:
        raise _damaged(name, file, f"its hash is {found}, expected {file.digest}")
    if file.digest:
        return
    size, least = fetched.stat().st_size, file.size_bytes
    if file.folder == "models":
        least = int(_LEAST_OF_WEIGHTS * least)
    if size < least:
        raise _damaged(name, file, f"it has {size:,} bytes, expected {file.size_bytes:,}")
    beginning = _BEGINNINGS.get(PurePosixPath(file.place).suffix, b"")
    with fetched.open("rb") as content:
        head = content.read(len(beginning))
    if head != beginning:
        raise _damaged(name, file, f"it begins with {head!r}, expected {beginning!r}")


def _most_bytes(file: KerasFile) -> int:
    """How many the download may have; the sizes of weights are known nearly."""
    return file.size_bytes if file.size_bytes and file.folder == "datasets" else _LARGEST_BYTES


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
    with target.open("wb") as output:
        try:
            transfer(file.url, output, _most_bytes(file), partial(on_progress, name))
        except TransferError as error:
            raise _failed(name, file, error) from error
        except TooLargeError as error:
            raise _too_large(name, file) from error


def _named(name: str, file: KerasFile) -> tuple[str, str]:
    """What the file is, within a sentence, and the profile key that asks for it."""
    if file.folder == "models":
        return f"the published weights of {name}", "model.weights"
    return f'the data set "{name}"', "data.source"


def _failed(name: str, file: KerasFile, error: TransferError) -> ProblemError:
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
            f"not be downloaded: {error}.",
            hint=f"Connect to the network and start again, {instead}.{place}",
            detail=f"{file.url}\n{type(error.__cause__ or error).__name__}: {error}",
        )
    )


def _are(file: KerasFile) -> str:
    return "are" if file.folder == "models" else "is"


def _too_large(name: str, file: KerasFile) -> ProblemError:
    return _damaged(name, file, f"it has more than {_most_bytes(file):,} bytes")


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
