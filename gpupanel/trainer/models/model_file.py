"""What is wrong with a ``.keras`` file, found without TensorFlow and without running its code."""

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py

from gpupanel.domain.model import Head, ModelSettings
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.files.regular_files import open_regular
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
_CODE_LAYERS = frozenset({"Lambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"})
"""Layers of Keras's own that carry code or a program of somebody else's."""
_OTHER_FORMATS = {
    ".h5": "Keras's older HDF5 format",
    ".hdf5": "Keras's older HDF5 format",
    ".tflite": "TensorFlow Lite",
    ".onnx": "ONNX",
    ".pb": "a TensorFlow graph",
    ".pt": "PyTorch",
    ".pth": "PyTorch",
    ".safetensors": "safetensors, which holds weights alone",
}
_OPENED_BY_KERAS = (".h5", ".hdf5")
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError)


@dataclass(frozen=True, slots=True)
class _Part:
    """A layer, function or other object that the file's configuration names."""

    module: str | None
    class_name: str
    name: str
    is_registered: bool

    @property
    def runs_code(self) -> bool:
        return self.class_name in _CODE_LAYERS or self.class_name == "__lambda__"

    @property
    def is_keras_own(self) -> bool:
        if self.module is None:
            return not self.is_registered or self.class_name.startswith("__")
        if self.module == "builtins":
            return self.class_name != "function"
        return self.module.partition(".")[0] == "keras"


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


def check_model_file(path: str, *, most_bytes: int | None = None) -> None:
    """Refuse a file that is not there, damaged, or whose model would need code to be run.

    Keras's safe mode refuses such code too; here it is a sentence, and comes before TensorFlow is
    imported.

    Args:
        path: The file.
        most_bytes: The weights of a larger file are not read: gigabytes would take long.
            ``None``: they are read whatever their size.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    if not path:
        raise problem("model_path_missing", "No saved model is chosen.", "Choose a .keras file.")
    file = Path(path)
    size = _check_is_file(file)
    reads_weights = most_bytes is None or size <= most_bytes
    try:
        with zipfile.ZipFile(file) as archive:
            check_unpacked(archive, file, "model.path")
            missing = [name for name in _MEMBERS if name not in archive.namelist()]
            broken = archive.testzip() if reads_weights else None
            config = None if missing or broken else _configuration(archive)
    except _DAMAGE as error:
        raise _damaged(file, f"{type(error).__name__}: {error}") from error
    if config is None:
        raise _damaged(file, f"missing: {', '.join(missing)}" if missing else f"broken: {broken}")
    _check_parts(file, list(_parts(config)))
    check_ends(ends_in(config))
    if not reads_weights:
        return
    try:
        with zipfile.ZipFile(file) as archive:
            _check_weights(archive, file)
    except _DAMAGE as error:
        raise _damaged(file, f"{type(error).__name__}: {error}") from error


def check_ends(ends: tuple[int, int] | None) -> None:
    """Refuse a model with several inputs or outputs.

    Args:
        ends: How many it has of each; ``None``: nobody knows yet.

    Raises:
        ProblemError: It is none that is used here.
    """
    if ends is not None and ends != (1, 1):
        raise problem(
            "model_not_single",
            f"The model has {ends[0]} inputs and {ends[1]} outputs; one of each is needed.",
            "Save a model with one input and one output.",
        )


def outputs_of_file(path: str) -> int | None:
    """Numbers that the model gives an example; ``None``: only Keras can say.

    Raises:
        ProblemError: The file cannot be read.
    """
    file = Path(path)
    _check_is_file(file)
    try:
        with open_regular(file) as opened, zipfile.ZipFile(opened) as archive:
            check_unpacked(archive, file, "model.path")
            return outputs_in(_configuration(archive))
    except (*_DAMAGE, KeyError) as error:
        raise _damaged(file, f"{type(error).__name__}: {error}") from error


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
        raise _damaged(Path(path), f"{TRAINED_ON_MEMBER}: {error}") from error


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
        raise _damaged(file, f"{type(error).__name__}: {error}") from error


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


def saved_model_misfit(path: str, why: str) -> ProblemError:
    """The problem of a model whose last layer cannot be trained further on the data.

    Args:
        path: Of its file.
        why: As the end of a sentence.
    """
    return ProblemError(
        Problem(
            code="saved_model_misfit",
            field="model.head",
            message=f"The model in {path} cannot be trained further on this data: {why}.",
            hint="Give it a new last layer for this data, or choose the data that it was trained "
            "for.",
            fix=Fix.of("Give it a new last layer", "model.head", Head.NEW.value),
        )
    )


def problem(code: str, message: str, hint: str, detail: str = "") -> ProblemError:
    """A problem with the saved model."""
    return ProblemError(
        Problem(code=code, field="model.path", message=message, hint=hint, detail=detail)
    )


def _check_is_file(path: Path) -> int:
    """Refuse what is no readable ``.keras`` file; gives its size in bytes."""
    try:
        if path.is_dir():
            raise _not_keras(path, is_saved_model=(path / "saved_model.pb").is_file())
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
        raise _not_keras(path)
    return size


def _not_keras(path: Path, *, is_saved_model: bool | None = None) -> ProblemError:
    """The problem of a file of another format, or of a folder.

    Args:
        path: The file or folder.
        is_saved_model: Of a folder: whether TensorFlow's ``SavedModel`` is in it.
    """
    again = "Save it once more where it was made: model.save('model.keras')."
    if is_saved_model is not None:
        what = "a folder, not a .keras file"
        if is_saved_model:
            # https://keras.io/guides/migrating_to_keras_3/ (Loading a SavedModel)
            what = "a SavedModel, which Keras cannot open as a model since Keras 3"
            again += (
                " Where only the folder is left, Keras 2 opens it (pip install tf_keras): save its "
                "weights, and load them into the same layers in Keras 3."
            )
        return problem("model_file_not_keras", f"{path} is {what}.", again)
    suffix = path.suffix.lower()
    if suffix in _OPENED_BY_KERAS:
        again = "Open it in Keras and save it as a .keras file: model.save('model.keras')."
    means = f" ({_OTHER_FORMATS[suffix]})" if suffix in _OTHER_FORMATS else ""
    return problem(
        "model_file_not_keras",
        f'{path} is not a .keras file: its name ends in "{path.suffix}"{means}.',
        again,
    )


def _damaged(path: Path, detail: str) -> ProblemError:
    return problem(
        "model_file_damaged",
        f"{path} is truncated or is not a Keras model.",
        "Save or copy it again; an interrupted copy looks like this.",
        detail,
    )


def _check_parts(path: Path, parts: list[_Part]) -> None:
    unsafe = [part.name for part in parts if part.runs_code]
    if unsafe:
        raise problem(
            "model_runs_code",
            f"{path} holds code in its layers ({_listed(unsafe)}), and code from a file is not "
            "run here: it could do anything.",
            "Save the model without Lambda and wrapper layers, for example with layers of Keras's "
            "own in their place.",
        )
    foreign = [part.name for part in parts if not part.is_keras_own]
    if foreign:
        raise problem(
            "model_needs_code",
            f"{path} needs classes or functions that are not Keras's own ({_listed(foreign)}), "
            "and their code is not in the file.",
            "Save the model with layers of Keras's own only.",
        )


def _listed(names: list[str]) -> str:
    # What stands inside a layer ("__lambda__") says less than the layer.
    several = list(dict.fromkeys(name for name in names if not name.startswith("__"))) or names
    return ", ".join(several[:3]) + (", ..." if len(several) > 3 else "")


def _parts(config: object) -> Iterator[_Part]:
    """Every object that the configuration names, however deep."""
    waiting = [config]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
            if isinstance(one.get("class_name"), str):
                yield _part(one)


def _part(one: dict[str, object]) -> _Part:
    module, inside = one.get("module"), one.get("config")
    own_name = inside.get("name") if isinstance(inside, dict) else inside
    class_name = str(one["class_name"])
    return _Part(
        module=module if isinstance(module, str) else None,
        class_name=class_name,
        name=f"{class_name} {own_name}" if isinstance(own_name, str) else class_name,
        is_registered=isinstance(one.get("registered_name"), str),
    )
