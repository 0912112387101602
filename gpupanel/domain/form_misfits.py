"""What a training does with one label an example, and cannot with arrays or several inputs."""

from collections.abc import Iterator, Sequence

from gpupanel.domain.data_source import ClassWeights, Target
from gpupanel.domain.example_form import ExampleForm, form_refused, takes_any_form
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile


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
