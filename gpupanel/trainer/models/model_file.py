"""What is wrong with a ``.keras`` file, found without TensorFlow and without running its code."""

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import h5py

from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.files.named_descriptors import still_copy
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.models.model_file_problems import check_ends, damaged, not_keras, problem
from gpupanel.trainer.models.model_parts import check_parts
from gpupanel.trainer.models.saved_outputs import (
    begins_with_division,
    begins_with_scaling,
    ends_in,
    outputs_in,
)
from gpupanel.trainer.models.weights_file import check_weights
from gpupanel.trainer.size_limits import check_unpacked

_CONFIGURATION, _WEIGHTS = "config.json", "model.weights.h5"
_MEMBERS = (_CONFIGURATION, _WEIGHTS)
_LARGEST_CONFIGURATION_BYTES = 64 * 2**20
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError)


def saved_model_path(model: ModelSettings) -> str:
    """The path of the saved model.

    Raises:
        ProblemError: The settings name a model that is not saved yet.
    """
    if model.is_saved:
        return model.chosen_path
    raise ProblemError(
        Problem(
            code="inference_needs_saved_model",
            field="model.source",
            message="Only a saved model can be evaluated, or can predict.",
            hint='Set model.source to "saved" and model.path to a .keras file, or task to "train".',
        )
    )


def check_model_file(path: str, *, most_bytes: int | None = None, any_ends: bool = False) -> None:
    """Refuse a file that is not there, damaged, or whose model would need code to be run.

    Keras's safe mode refuses such code too; here it is a sentence, and comes before TensorFlow is
    imported.

    Args:
        path: The file.
        most_bytes: The weights of a larger file are not read: gigabytes would take long.
            ``None``: they are read whatever their size.
        any_ends: The model may have several inputs and outputs.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    if not path:
        raise problem("model_path_missing", "No saved model is chosen.", "Choose a .keras file.")
    file = Path(path)
    size = _check_is_file(file)
    try:
        with open_regular(file) as opened:
            reads_weights = most_bytes is None or size <= most_bytes
            _check_opened(opened, file, reads_weights=reads_weights, any_ends=any_ends)
    except OSError as error:
        raise damaged(file, f"{type(error).__name__}: {error}") from error


@contextmanager
def still_file(path: str, *, any_ends: bool = False) -> Iterator[BinaryIO]:
    """A copy of a model's file that nobody can change, and that is not refused.

    Args:
        path: The file.
        any_ends: As :func:`check_model_file`.

    Raises:
        ProblemError: As :func:`check_model_file`.
    """
    file = Path(path)
    _check_is_file(file)
    try:
        copied = ExitStack()
        copy = copied.enter_context(still_copy(file))
    except OSError as error:
        raise damaged(file, f"{type(error).__name__}: {error}") from error
    with copied:
        _check_opened(copy, file, reads_weights=True, any_ends=any_ends)
        yield copy


def _check_opened(opened: BinaryIO, file: Path, *, reads_weights: bool, any_ends: bool) -> None:
    try:
        with zipfile.ZipFile(opened) as archive:
            check_unpacked(archive, file, "model.path")
            missing = [name for name in _MEMBERS if name not in archive.namelist()]
            broken = archive.testzip() if reads_weights else None
            config = None if missing or broken else _configuration(archive)
    except _DAMAGE as error:
        raise damaged(file, f"{type(error).__name__}: {error}") from error
    if config is None:
        raise damaged(file, f"missing: {', '.join(missing)}" if missing else f"broken: {broken}")
    check_parts(file, config)
    if not any_ends:
        check_ends(ends_in(config))
    if not reads_weights:
        return
    try:
        with zipfile.ZipFile(opened) as archive:
            _check_weights(archive, file)
    except _DAMAGE as error:
        raise damaged(file, f"{type(error).__name__}: {error}") from error


def outputs_of_file(path: str) -> int | None:
    """Numbers that the model gives an example; ``None``: only Keras can say.

    Raises:
        ProblemError: The file cannot be read.
    """
    return outputs_in(configuration_in(path))


def configuration_in(path: str) -> object:
    """What ``config.json`` says of the model in a file; a stranger's may say anything.

    Raises:
        ProblemError: The file cannot be read.
    """
    file = Path(path)
    _check_is_file(file)
    try:
        with open_regular(file) as opened, zipfile.ZipFile(opened) as archive:
            check_unpacked(archive, file, "model.path")
            return _configuration(archive)
    except (*_DAMAGE, KeyError) as error:
        raise damaged(file, f"{type(error).__name__}: {error}") from error


def scales_of_file(path: str) -> tuple[bool | None, bool]:
    """Whether the model begins with a layer that scales, and with one that divides pixels.

    ``None``: nothing shows it.
    """
    file = Path(path)
    try:
        with open_regular(file) as opened, zipfile.ZipFile(opened) as archive:
            check_unpacked(archive, file, "model.path")
            configuration = _configuration(archive)
            return begins_with_scaling(configuration), begins_with_division(configuration)
    except (*_DAMAGE, KeyError, ProblemError):
        return None, False  # said by whoever checks the file


def recipe_in(path: str) -> str:
    """What a model's file says of how its features were made; empty where it says nothing.

    Raises:
        ProblemError: The file cannot be read.
    """
    return _record_in(path, RECIPE_MEMBER)


def trained_on_in(path: str) -> TrainedOn | None:
    """What a model's file says of the data that it was trained on; ``None``: nothing.

    Raises:
        ProblemError: The file cannot be read.
    """
    text = _record_in(path, TRAINED_ON_MEMBER)
    try:
        return TrainedOn.model_validate_json(text) if text else None
    except ValueError as error:
        raise damaged(Path(path), f"{TRAINED_ON_MEMBER}: {error}") from error


def _record_in(path: str, member: str) -> str:
    """What a run wrote into the model's file beside what Keras did; empty: no run did."""
    file = Path(path)
    _check_is_file(file)
    try:
        with open_regular(file) as opened, zipfile.ZipFile(opened) as archive:
            if member not in archive.namelist():
                return ""
            check_unpacked(archive, file, "model.path")
            if archive.getinfo(member).file_size > _LARGEST_CONFIGURATION_BYTES:
                raise ValueError(f"{member} is larger than that of any model")
            return archive.read(member).decode()
    except _DAMAGE as error:
        raise damaged(file, f"{type(error).__name__}: {error}") from error


def _configuration(archive: zipfile.ZipFile) -> object:
    """What ``config.json`` says.

    Raises:
        ValueError: It is no JSON, or more than a model has to say.
    """
    if archive.getinfo(_CONFIGURATION).file_size > _LARGEST_CONFIGURATION_BYTES:
        raise ValueError(f"{_CONFIGURATION} is larger than that of any model")
    try:
        return json.loads(archive.read(_CONFIGURATION))
    except RecursionError as error:
        raise ValueError(f"{_CONFIGURATION} is nested too deeply") from error


def _check_weights(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse weights that say that they are larger than this machine's memory.

    A file of HDF5 can say so of numbers that it does not hold: they are zero, and yet take room.

    Raises:
        ProblemError: They are too large.
        OSError: They are damaged.
    """
    with h5py.File(io.BytesIO(archive.read(_WEIGHTS)), "r") as weights:
        check_weights(weights, str(path), "model.path")


def _check_is_file(path: Path) -> int:
    """Refuse what is no readable ``.keras`` file; gives its size in bytes."""
    try:
        if path.is_dir():
            raise not_keras(path, is_saved_model=(path / "saved_model.pb").is_file())
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError as error:
        raise problem(
            "model_file_missing",
            f"The saved model {path} does not exist.",
            "Choose another file, or put it back in its place.",
        ) from error
    except OSError as error:
        raise problem(
            "model_file_unreadable",
            f"The saved model {path} cannot be opened: {error.strerror}.",
            "Choose a file that you may read.",
        ) from error
    if path.suffix != ".keras":
        raise not_keras(path)
    return size
