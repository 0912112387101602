"""A model that was read from a ``.keras`` file, and whether the data fits it."""

import keras

from gpupanel.domain.problem import ProblemError
from gpupanel.files.named_descriptors import named_file
from gpupanel.trainer.file_errors import chain, is_no_space
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.models.input_shape import input_misfit
from gpupanel.trainer.models.model_file import still_file
from gpupanel.trainer.models.model_file_problems import check_ends, problem
from gpupanel.trainer.models.named_model import NamedModel
from gpupanel.trainer.parts.given_models import with_plain_ends
from gpupanel.trainer.parts.input_shape import fitting

_NUMBERS = ("float", "bfloat", "int", "uint", "bool")


def load_saved(path: str) -> keras.Model:
    """The model in a file, as one that takes a tensor and gives one.

    Raises:
        ProblemError: The file cannot be used, or Keras cannot load it.
    """
    return with_plain_ends(_still_loaded(path, any_ends=False))


def load_named(path: str, *, keeps_names: bool) -> NamedModel:
    """The model in a file, whatever it takes and gives.

    Args:
        path: The file.
        keeps_names: An only input, or output, that has a name in a dictionary keeps it.

    Raises:
        ProblemError: The file cannot be used, Keras cannot load it, or its inputs and outputs have
            no names of their own.
    """
    model = _still_loaded(path, any_ends=True)
    return NamedModel(model if keeps_names else with_plain_ends(model))


def _still_loaded(path: str, *, any_ends: bool) -> keras.Model:
    """What is in a file, which nobody can change between its check and its use."""
    with (
        still_file(path, any_ends=any_ends) as copy,
        named_file(copy.fileno(), "model.keras") as still,
    ):
        return _loaded(path, str(still))


def _loaded(path: str, still: str) -> keras.Model:
    try:
        # Without its loss and optimizer, which evaluation does not need and may be custom.
        model: keras.Model = keras.saving.load_model(still, compile=False, safe_mode=True)
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
    return model


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

    Args:
        model: With one input.
        shape: Of one example as the source has it.

    Raises:
        ProblemError: The model takes something else.
    """
    wanted = tuple(model.inputs[0].shape)[1:]
    found = fitting(wanted, shape)
    if found is None:
        raise ProblemError(input_misfit(wanted, shape))
    return found
