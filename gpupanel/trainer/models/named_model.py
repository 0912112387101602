"""A Keras model whose inputs and outputs have names: the one place that knows how they stand."""

from collections.abc import Mapping, Sequence

import keras
import numpy as np

from gpupanel.domain.example_form import inputs_text
from gpupanel.trainer.datasets.examples import Array, PackedInput
from gpupanel.trainer.models.model_file_problems import problem
from gpupanel.trainer.models.output_ending import ModelMisfitError
from gpupanel.trainer.parts.given_models import named_inputs, named_outputs, structure_of
from gpupanel.trainer.parts.input_shape import is_taken

Named = Mapping[str, Array]
"""Arrays by the names of inputs or outputs, first axis the examples."""
_ENDS = ("input", "output")


def with_inputs(model: keras.Model, shapes: Mapping[str, tuple[int, ...]]) -> keras.Model:
    """The model with its inputs in a list, in that order.

    Args:
        model: Of several inputs, in whatever structure.
        shapes: Of the inputs of an example, by their names.

    Raises:
        ModelMisfitError: It has others.
    """
    inputs = named_inputs(model)
    taken = {name: tuple(each.shape[1:]) for name, each in inputs.items()}
    are_taken = taken.keys() == shapes.keys() and all(
        is_taken(taken[name], shape) for name, shape in shapes.items()
    )
    if not are_taken:
        raise ModelMisfitError(
            f"its inputs are {inputs_text(taken)}, but examples have {inputs_text(shapes)}"
        )
    outputs = model.outputs[0] if len(model.outputs) == 1 else model.outputs
    return keras.Model([inputs[name] for name in shapes], outputs, name=model.name)


def on_rows(model: keras.Model, inputs: Sequence[PackedInput]) -> keras.Model:
    """The model as one that takes its inputs in a row of numbers.

    Args:
        model: With its inputs in a list, and one output.
        inputs: Where each stands in the row, in the order of that list.
    """
    rows = keras.Input((inputs[-1].end,), name="features")
    given = [
        keras.ops.cast(taken_apart(rows, each), taken.dtype)
        for each, taken in zip(inputs, model.inputs, strict=True)
    ]
    return keras.Model(rows, model(given), name=model.name)


def taken_apart(rows: keras.KerasTensor, one: PackedInput) -> keras.KerasTensor:
    """One of several inputs out of a row of all of them, its numbers as they are."""
    # In float32 also under mixed precision, as they are read.
    shaped = keras.layers.Reshape(one.shape, name=f"input_{one.name}", dtype="float32")
    return shaped(rows[:, one.start : one.end])


class NamedModel:
    """A model that is called with arrays by their names.

    Attributes:
        model: Takes a tensor, or a dictionary of its inputs; and gives likewise.
        inputs: By their names.
        outputs: Likewise.
        takes_one: It takes a tensor.
        gives_one: It gives one.
    """

    def __init__(self, model: keras.Model) -> None:
        """Calls nothing yet.

        Args:
            model: With its ends in a dictionary, a list, or each alone.

        Raises:
            ProblemError: They are nested, or two have the same name.
        """
        inputs, outputs = named_inputs(model), named_outputs(model)
        for end, names in (("input", inputs), ("output", outputs)):
            tensors = _tensors(model, end)
            are_plain = all(isinstance(each, keras.KerasTensor) for each in tensors)
            if not are_plain or len(names) != len(tensors):
                raise problem(
                    "model_ends_unnamed",
                    f"The {end}s of the model are nested, or two of them have the same name.",
                    f"Save it with a dictionary of its {end}s.",
                )
        given = inputs if _are_several(model, "input") else _only(inputs)
        found = outputs if _are_several(model, "output") else _only(outputs)
        is_listed = any(isinstance(structure_of(model, end), list | tuple) for end in _ENDS)
        self.model = keras.Model(given, found, name=model.name) if is_listed else model
        self.inputs, self.outputs = inputs, outputs
        self.takes_one, self.gives_one = given is not inputs, found is not outputs

    def __call__(self, inputs: Named) -> dict[str, Array]:
        """What the model gives, by names, ``float32``.

        Args:
            inputs: All of them.
        """
        return self.by_names(self.model(self.given(inputs), training=False))

    def given(self, inputs: Named) -> Array | dict[str, Array]:
        """Inputs as the model takes them."""
        if self.takes_one:
            (only,) = inputs.values()
            return only
        return dict(inputs)

    def by_names(self, outputs: object) -> dict[str, Array]:
        """Outputs by names, of a tensor or a dictionary; ``float32``."""
        if not isinstance(outputs, dict):
            outputs = dict.fromkeys(self.outputs, outputs)
        return {name: np.asarray(outputs[name], np.float32) for name in self.outputs}


def _tensors(model: keras.Model, end: str) -> list[object]:
    whole = structure_of(model, end)
    if isinstance(whole, dict):
        return list(whole.values())
    return list(whole) if isinstance(whole, list | tuple) else [whole]


def _are_several(model: keras.Model, end: str) -> bool:
    whole = structure_of(model, end)
    return isinstance(whole, dict) or (isinstance(whole, list | tuple) and len(whole) > 1)


def _only(tensors: Mapping[str, keras.KerasTensor]) -> keras.KerasTensor:
    return next(iter(tensors.values()))
