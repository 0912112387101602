"""Several inputs or outputs an example, and labels that are arrays: what takes them, what cannot.

Only a model of code, or one that was saved and is trained as it is, takes such. Whatever else takes
an example for one array, or a label for a number or a row of numbers, refuses them here, by name.
"""

from collections.abc import Mapping, Sequence

from gpupanel.domain.data_source import DataSource, Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value


class ExampleForm(Value):
    """What examples are made of.

    Attributes:
        inputs: The shape of each of several inputs by its name; none: there is one.
        outputs: The names of several outputs, whose labels are arrays; none: there is one.
        arrays_of: What each place of labels is that are arrays; ``None``: an example has one label,
            or a row of them.
        label_shape: Of what is to be predicted of one example.
        learns_inputs: That is the example itself.
    """

    inputs: Mapping[str, tuple[int, ...]] = {}
    outputs: tuple[str, ...] = ()
    arrays_of: Target | None = None
    label_shape: tuple[int, ...] = ()
    learns_inputs: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether an example is one array with a label, or a row of them."""
        return not self.inputs and self.arrays_of is None


def takes_any_form(model: ModelSettings) -> bool:
    """Whether a model may have several inputs and outputs: one of code, or as it was saved."""
    return model.is_code or (model.is_saved and not model.has_new_head)


def inputs_text(shapes: Mapping[str, Sequence[int | None]]) -> str:
    """Inputs with their shapes, within a sentence."""
    return ", ".join(f"{name} {tuple(shape)}" for name, shape in shapes.items())


def form_refused(data: DataSource, form: ExampleForm, who: str) -> tuple[Problem, ...]:
    """What is said of examples that are not plain where they have to be; nothing of others.

    Args:
        data: Where they come from.
        form: Theirs.
        who: Takes no others, as the subject of a sentence with its verb: "a model of mlp takes".
    """
    found = []
    if form.inputs:
        found.append(
            Problem(
                code="examples_have_inputs",
                field="data.source",
                message=f"Each example of {data.described} has the inputs "
                f"{inputs_text(form.inputs)}, and {who} one.",
                hint='Train a Python model on them (model.source = "python") whose inputs have '
                "these names; or give one array of examples.",
            )
        )
    if form.arrays_of is not None:
        found.append(arrays_refused(data, form.label_shape, who))
    return tuple(found)


def arrays_refused(data: DataSource, shape: tuple[int, ...], who: str) -> Problem:
    """What is said of labels that are arrays where a number or a row an example is needed.

    Args:
        data: Where they come from.
        shape: Of the labels of one example.
        who: Takes no arrays, as the subject of a sentence with its verb: "the model gives".
    """
    return Problem(
        code="labels_are_arrays",
        field="data.source",
        message=f"The labels of {data.described} are arrays of the shape {shape} for each "
        f"example, and {who} a number or a row of numbers.",
        hint='Train a Python model on them (model.source = "python"); or give one label an '
        'example. Rows of 0 and 1 are several labels (data.predicts = "labels"), others values '
        '("values").',
    )
