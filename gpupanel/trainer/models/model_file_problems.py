"""What is said of a saved model that cannot be used."""

from pathlib import Path

from gpupanel.domain.model import Head
from gpupanel.domain.problem import Fix, Problem, ProblemError

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


def data_misfit(path: str, why: str) -> ProblemError:
    """The problem of a model with several inputs, or that gives arrays, and of other data.

    Args:
        path: Of its file.
        why: As the end of a sentence.
    """
    return problem(
        "model_data_misfit",
        f"The model in {path} does not fit this data: {why}.",
        "Choose data of the kind that it was trained on: the same inputs, outputs and classes.",
    )


def problem(code: str, message: str, hint: str, detail: str = "") -> ProblemError:
    """A problem with the saved model."""
    return ProblemError(
        Problem(code=code, field="model.path", message=message, hint=hint, detail=detail)
    )


def not_keras(path: Path, *, is_saved_model: bool | None = None) -> ProblemError:
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


def damaged(path: Path, detail: str) -> ProblemError:
    """The problem of a file that is none, or no longer; ``detail`` is what a library said."""
    return problem(
        "model_file_damaged",
        f"{path} is truncated or is not a Keras model.",
        "Save or copy it again; an interrupted copy looks like this.",
        detail,
    )


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
            "Export it, and predict with predict.py beside it; or save a model with one input and "
            "one output.",
        )
