"""Prepares data sets of the catalogue of tensorflow-datasets, in a process of their own.

``python -m gpupanel.trainer.datasets.catalogue.preparing NAME FOLDER``: a problem, as JSON, stands
on its standard output where it exits with 1.
"""

import contextlib
import errno
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from gpupanel.domain.child_command import (
    WORKING_DIRECTORY,
    child_environment,
    python_module_command,
)
from gpupanel.domain.data import TfdsData
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.bounded_log import bound_unnamed
from gpupanel.files.file_obstacles import NO_SPACE, file_obstacle, number_of
from gpupanel.files.locks import locked_patiently
from gpupanel.trainer.datasets.catalogue.bounded_requests import bound_requests
from gpupanel.trainer.datasets.catalogue.prepared_sets import (
    data_folder,
    find_prepared,
    name_parts,
    problem_with,
)
from gpupanel.trainer.datasets.source import Reading

PREPARE_COMMAND: Final = python_module_command("gpupanel.trainer.datasets.catalogue.preparing")
"""Prepares the set whose name and folder stand behind it; problems are on standard output."""
_LARGEST_ANSWER = 2**20
_MOST_ENTRIES = 10_000
_LOOK_S = 0.5
_GRACE_S = 10.0
_LAST_LINES = 12
_LONGEST_DETAIL = 10_000
_INSTALL = 'pip install "gpupanel[tfds]"'
_HALF_DONE = re.compile(r".+\.tmp\.[0-9a-f]{32}|incomplete\..+", re.DOTALL)
"""How the package calls the folder of a download and of an archive that it has not done with."""
_OF_FILES = NO_SPACE | {errno.EFBIG, errno.EROFS}
"""What can only be said of files: a network, too, is denied or times out."""


def is_installed() -> bool:
    """Whether the package that prepares data sets is there."""
    return importlib.util.find_spec("tensorflow_datasets") is not None


def prepare_here(data: TfdsData, reading: Reading) -> None:
    """Download and prepare the set, which another process of the run may be doing.

    Raises:
        ProblemError: It cannot be, or is not to be now.
    """
    root = data_folder(data)
    if not is_installed():
        raise ProblemError(
            Problem(
                code="tfds_not_installed",
                field="data.name",
                message=f"{data.described} is not prepared in {root}, and the package "
                "tensorflow-datasets, which prepares it, is not installed.",
                hint="Install it, or choose the data folder that the data set was prepared in.",
                command=_INSTALL,
            )
        )
    try:
        reading.on_download(data.name, 0, None)
    except RuntimeError as error:  # of who only looks
        raise ProblemError(
            Problem(
                code="tfds_not_prepared",
                severity=Severity.WARNING,
                field="data.name",
                message=f"{data.described} is not prepared in {root} yet: the start of a run "
                "downloads and prepares it.",
                hint="Start the run; or choose the data folder that it was prepared in.",
            )
        ) from error
    try:
        root.mkdir(parents=True, exist_ok=True)
        wait = partial(reading.on_download, data.name, 0, None)
        with locked_patiently(root / ".gpupanel-prepares.lock", wait):
            if find_prepared(data) is None:
                _prepare_in_child(data, root, reading)
    except OSError as error:
        obstacle = file_obstacle(error, root)
        raise problem_with(
            "data_file_unreadable" if obstacle is None else obstacle.code,
            f"The data folder {root} cannot be written to: {error.strerror}."
            if obstacle is None
            else obstacle.message,
            "Choose another one." if obstacle is None else obstacle.hint,
            "data.path",
        ) from error


def _prepare_in_child(data: TfdsData, root: Path, reading: Reading) -> None:
    # Preparing initialises TensorFlow's devices, and takes the memory of the GPUs it sees.
    without_gpus = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    others = _half_done(data, root)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as log:
        child = subprocess.Popen(
            [*PREPARE_COMMAND, data.name, str(root.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=log,
            env=child_environment(os.environ, without_gpus),
            cwd=WORKING_DIRECTORY,
            start_new_session=True,
        )
        try:
            while child.poll() is None:
                time.sleep(_LOOK_S)
                bound_unnamed(log.fileno())
                reading.on_download(data.name, _bytes_below(root), None)
        finally:
            _end(child)
            # Gigabytes each, which nobody would ever use again.
            for folder in _half_done(data, root) - others:
                shutil.rmtree(folder, ignore_errors=True)
        output.seek(0)
        answer = output.read(_LARGEST_ANSWER)
        log.seek(max(0, log.seek(0, os.SEEK_END) - 2**16))
        lines = log.read().decode(errors="replace").splitlines()[-_LAST_LINES:]
    if child.returncode == 0:
        return
    try:
        raise ProblemError(Problem.model_validate_json(answer))
    except ValidationError as error:
        raise _failed(data.name, f"its process ended with {child.returncode}", lines) from error


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Let the process remove what is half done, where it still goes on."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _half_done(data: TfdsData, root: Path) -> set[Path]:
    """Folders of this set's downloads that go on or were broken off."""
    downloads = root / "downloads"
    found = set()
    for folder in (downloads, downloads / "extracted", downloads / str(name_parts(data)["name"])):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            found |= {
                Path(entry.path)
                for entry in entries
                if _HALF_DONE.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            }
    return found


def _bytes_below(root: Path) -> int:
    """How much was downloaded and prepared since the last hour, of the first of many files."""
    since_s, size, count = time.time() - 3600, 0, 0
    for folder, _, names in os.walk(root):
        for name in names:
            count += 1
            with contextlib.suppress(OSError):
                found = os.lstat(os.path.join(folder, name))  # noqa: PTH118
                size += found.st_size if found.st_mtime > since_s else 0
            if count > _MOST_ENTRIES:
                return size
    return size


def _failed(name: str, why: str, lines: list[str]) -> ProblemError:
    return problem_with(
        "data_download_failed",
        f'The data set "{name}" is not on this machine yet and could not be downloaded and '
        f"prepared: {visible_line(why)}.",
        "Connect to the network and start again; or prepare it elsewhere (tfds build), and choose "
        "the folder that it is in then as data.path.",
        detail="\n".join(lines),
    )


def _altered(name: str, detail: str) -> ProblemError:
    return problem_with(
        "data_download_damaged",
        f'A file of the data set "{name}" is not the one that tensorflow-datasets knows: its '
        "checksum is another one. It was not used.",
        "Try again; where it stays so, the server has a newer file: update tensorflow-datasets, or "
        "prepare the data set elsewhere and choose its folder as data.path.",
        detail=detail[:_LONGEST_DETAIL],
    )


def prepare(name: str, root: Path) -> None:
    """Download and prepare a set of the catalogue, as TFRecord files.

    Args:
        name: With its config and version, where one is meant.
        root: The data folder.

    Raises:
        ProblemError: It cannot be, and why.
    """
    import tensorflow_datasets as tfds

    parts = name_parts(TfdsData(name=name))
    tfds.disable_progress_bar()
    try:
        # By its class: a builder of that name would be made of what lies in the folder.
        made = tfds.builder_cls(str(parts["name"]))
    except tfds.core.DatasetNotFoundError as error:
        near = get_close_matches(str(parts["name"]), tfds.list_builders())
        meant = f"There is {', '.join(near)}." if near else "Search its catalogue."
        raise problem_with(
            "tfds_name_unknown", f'tensorflow-datasets has no data set "{name}".', meant
        ) from error
    chosen: dict[str, Any] = {key: parts[key] for key in ("config", "version") if parts[key]}
    try:
        builder = made(data_dir=str(root), file_format="tfrecord", **chosen)
        builder.download_and_prepare()
    except Exception as error:
        if type(error).__name__ == "NonMatchingChecksumError":  # which the package does not export
            raise _altered(name, str(error)) from error
        if number_of(error) in _OF_FILES and (obstacle := file_obstacle(error, root)) is not None:
            message = f'The data set "{name}" could not be prepared: {obstacle.because}.'
            raise problem_with(
                obstacle.code, message, obstacle.hint, "data.path", str(error)[:_LONGEST_DETAIL]
            ) from error
        # Whatever the sources of a data set and the network happen to make of its code.
        why = (str(error).strip().splitlines() or [""])[0][:300] or type(error).__name__
        raise _failed(
            name,
            f"{type(error).__name__}: {why}",
            str(error)[:_LONGEST_DETAIL].splitlines()[:40],
        ) from error


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


def main() -> int:
    """Prepare the set named on the command line."""
    # TensorFlow, imported while an example is encoded, would abort the process at a stop, and what
    # is half done would stay. So it comes first, when a stop may end the process at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    importlib.import_module("tensorflow")
    # A shell has background jobs ignore it, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answer, sys.stdout = sys.stdout, sys.stderr  # the sources of data sets print
    bound_requests()
    try:
        prepare(sys.argv[1], Path(sys.argv[2]))
    except ProblemError as error:
        json.dump(error.problems[0].model_dump(mode="json"), answer)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
