"""Several inputs or outputs an example, and labels that are arrays: what takes them, what cannot.

Only a model of code, or one that was saved and is trained as it is, takes such. Whatever else takes
an example for one array, or a label for a number or a row of numbers, refuses them here, by name.
"""

from collections.abc import Iterator, Mapping, Sequence

from gpupanel.domain.data_source import ClassWeights, DataSource, Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
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


def form_misfits(profile: Profile, form: ExampleForm) -> Iterator[Problem]:
    """What of a profile that trains would take such examples for others.

    Args:
        profile: Trains.
        form: Of its examples.
    """
    if not takes_any_form(profile.model):
        yield from form_refused(profile.data, form, f"a model of {profile.model.source} takes")
    if form.arrays_of is not None:
        yield from _misfits_of_arrays(profile, form, form.arrays_of)
    elif form.inputs and profile.data.chosen_augmentation.changes_anything:
        yield Problem(
            code="augmentation_of_inputs",
            field="data.augmentation",
            message="Each example has several inputs, and which of them is to be changed at "
            "random nobody says.",
            hint="Leave it out, and have layers of your model change what should be.",
            fix=Fix.of("Leave it out", "data.augmentation"),
        )


def _misfits_of_arrays(profile: Profile, form: ExampleForm, target: Target) -> Iterator[Problem]:
    settings, training = profile.data, profile.training
    what = "the examples themselves" if form.learns_inputs else "arrays"
    if form.outputs:
        what = "of several outputs"
    for keys, doing, is_done in (
        (["data.stratify"], "hold out examples by class", settings.stratify),
        (["data.oversample"], "repeat examples of rare classes", settings.oversample),
        (
            ["data.class_weights"],
            "weight examples by class",
            settings.class_weights is not ClassWeights.NONE,
        ),
        (
            ["data.augmentation"],
            "change examples at random",
            settings.chosen_augmentation.changes_anything,
        ),
        (
            ["training.loss", "training.label_smoothing"],
            "smooth labels or use a focal loss",
            training.changes_loss,
        ),
    ):
        if is_done:
            yield _of_one_label(keys, what, doing)
    unmeasured = training.best_metric.misfit_of_arrays(None if form.outputs else target)
    if unmeasured is not None and settings.may_validate:
        yield unmeasured


def _of_one_label(keys: Sequence[str], what: str, doing: str) -> Problem:
    unset = tuple(Change(path=tuple(key.split("."))) for key in keys)
    return Problem(
        code="setting_not_of_arrays",
        field=keys[0],
        message=f"The labels are {what}, and to {doing} is possible where an example has one "
        "label, or a row of them.",
        hint="Leave it out; a loss of your own can weight places, and your own code change "
        "examples together with their labels.",
        fix=Fix(label="Leave it out", changes=unset),
    )
