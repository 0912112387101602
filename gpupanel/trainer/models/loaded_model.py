"""A model that was read from a ``.keras`` file, and whether the data fits it."""

import keras
import numpy as np

from gpupanel.trainer.file_errors import chain, is_no_space
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.models.model_file_problems import check_ends, problem

_NUMBERS = ("float", "bfloat", "int", "uint", "bool")


def load_saved(path: str) -> keras.Model:
    """The model in a file; :func:`check_model_file` has accepted it.

    Raises:
        ProblemError: Keras cannot load it.
    """
    try:
        # Without its loss and optimizer, which evaluation does not need and may be custom.
        return with_plain_ends(keras.saving.load_model(path, compile=False, safe_mode=True))
    except Exception as error:
        if is_out_of_memory(error) or any(is_no_space(cause) for cause in chain(error)):
            raise
        # Whatever is wrong inside the file, Keras raises the error of where it stumbles.
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise problem(
            "model_not_loaded",
            f"Keras cannot load {path}: {first[:200]}",
            "Check that it loads with keras.models.load_model in this environment; a newer Keras "
            "than the one here may have saved it.",
            f"{type(error).__name__}: {error}",
        ) from error


def with_plain_ends(model: keras.Model) -> keras.Model:
    """The model as one that takes a tensor and gives a tensor, where it has one of each.

    Keras keeps the names of inputs and outputs, so that one alone may be a dictionary or a list.
    """
    inputs, outputs = list(model.inputs or ()), list(model.outputs or ())
    if len(inputs) != 1 or len(outputs) != 1:
        return model
    are_plain = isinstance(model, keras.Sequential) or (
        isinstance(model.input, keras.KerasTensor) and isinstance(model.output, keras.KerasTensor)
    )
    if are_plain:
        return model
    return keras.Model(inputs[0], outputs[0], name=model.name)


def check_single(model: keras.Model) -> None:
    """Refuse a model that does not take numbers, or has several inputs or outputs.

    Raises:
        ProblemError: It is none that is used here.
    """
    check_ends((len(model.inputs or ()), len(model.outputs or ())))
    dtype = str(model.inputs[0].dtype)
    if not dtype.startswith(_NUMBERS):
        raise problem(
            "model_input_not_numbers",
            f"The model takes {dtype} values, and the examples are numbers.",
            "Save the model without its preprocessing of texts.",
        )


def fitting_shape(model: keras.Model, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that examples get before the model takes them.

    Images without a channel axis fit a model that wants one, and the other way round; a model
    that takes flat rows gets flat rows: the same numbers in the same order.

    Args:
        model: With one input.
        shape: Of one example as the source has it.

    Raises:
        ProblemError: The model takes something else.
    """
    wanted = tuple(model.inputs[0].shape)[1:]
    if _matches(wanted, shape):
        return shape
    count = int(np.prod(shape))
    for candidate in ((*shape, 1), shape[:-1] if shape[-1:] == (1,) else (), (count,)):
        if candidate and _matches(wanted, candidate):
            return candidate
    shown = "x".join("any" if side is None else str(side) for side in wanted)
    raise problem(
        "model_input_does_not_fit",
        f"The model takes examples of the shape {shown or 'of one number'}, but those of the data "
        f"have the shape {'x'.join(map(str, shape))}.",
        "Choose the data that the model was trained for, or another model.",
    )


def _matches(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    return len(wanted) == len(shape) and all(
        side is None or side == there for side, there in zip(wanted, shape, strict=True)
    )
