"""Classes, their weights and how they are held out, and metrics that need certain labels."""

import unicodedata
from collections.abc import Iterator

from gpupanel.domain.data import ClassWeights, Holdout, Target
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.planning.context import PlanningContext


def stratify_unused(context: PlanningContext) -> Iterator[Problem]:
    """Classes that are to be held out in proportion where none are, or nothing is drawn."""
    data = context.profile.data
    if not data.stratify:
        return
    if _target(context) not in (Target.CLASSES, None):
        message = "Only classes can be stratified, and the labels are not classes."
    elif not data.held_out_fraction or context.has_validation_set:
        message = "No examples are held out at random, so there is nothing to stratify."
    elif data.chosen_group:
        message = "Groups are held out as a whole, whatever their classes."
    elif data.holdout is Holdout.LAST:
        message = "The last examples are held out, whatever their classes."
    else:
        return
    yield Problem(
        code="stratify_unused",
        severity=Severity.HINT,
        field="data.stratify",
        message=message,
        hint="Turn stratification off; or hold out a fraction of examples with classes.",
        fix=Fix.of("Leave it out", "data.stratify", value=False),
    )


def class_weights_unused(context: PlanningContext) -> Iterator[Problem]:
    """Weights of classes where none are predicted, or nothing is trained."""
    data = context.profile.data
    if data.class_weights is ClassWeights.NONE or not context.trains:
        return
    if _target(context) not in (Target.CLASSES, None):
        yield Problem(
            code="class_weights_without_classes",
            field="data.class_weights",
            message="Only classes can be weighted, and the labels are not classes.",
            hint="Weight all classes equally.",
            fix=Fix.of("Weight all classes equally", "data.class_weights", ClassWeights.NONE.value),
        )


def loss_of_values_changed(context: PlanningContext) -> Iterator[Problem]:
    """A loss of classes or labels where values are predicted."""
    training = context.profile.training
    if not context.trains or not training.changes_loss or _target(context) is not Target.VALUES:
        return
    unset = Change(path=("training", "loss")), Change(path=("training", "label_smoothing"))
    yield Problem(
        code="loss_without_classes",
        field="training.loss" if training.focal_power else "training.label_smoothing",
        message="A focal loss and label smoothing are of classes or several labels, and the data "
        "has values to be predicted.",
        hint="Leave them out: values are learned by their squared error.",
        fix=Fix(label="Leave them out", changes=unset),
    )


def best_metric_unmeasured(context: PlanningContext) -> Iterator[Problem]:
    """The best epoch is that of a metric that is not measured of what is predicted."""
    validates = context.trains and context.may_validate
    preview = context.known_data
    outputs = None if preview is None else preview.output_count
    misfit = context.profile.training.best_metric.misfit(_target(context), outputs)
    if validates and misfit is not None:
        yield misfit


def unknown_classes_weighted(context: PlanningContext) -> Iterator[Problem]:
    """Weights of classes that the data does not have."""
    weights, preview = context.profile.data.class_weights, context.known_data
    if not isinstance(weights, dict) or preview is None or not context.trains:
        return
    names = {name for name, _ in preview.class_counts}
    unknown = [name for name in weights if name not in names]
    if unknown and _target(context) is Target.CLASSES:
        known = {name: weight for name, weight in weights.items() if name in names}
        yield Problem(
            code="class_weights_unknown_class",
            field="data.class_weights",
            message=f"The data has no class {', '.join(map(repr, unknown[:_MOST_NAMED]))}, which "
            "is to be weighted.",
            hint=f"Its classes are {', '.join(sorted(names)[:_MOST_NAMED])}.",
            fix=Fix.of("Leave out what is not there", "data.class_weights", known)
            if known
            else Fix.of(
                "Weight all classes equally", "data.class_weights", ClassWeights.NONE.value
            ),
        )


_MOST_NAMED = 10


def classes_alike(context: PlanningContext) -> Iterator[Problem]:
    """Classes of several names that a person reads as one."""
    preview = context.known_data
    if preview is None or not context.trains:
        return
    alike: dict[str, list[str]] = {}
    for name, _ in preview.class_counts:
        alike.setdefault(_as_read(name), []).append(name)
    several = [names for names in alike.values() if len(names) > 1]
    if several:
        shown = "; ".join(map(_shown, several[:_MOST_NAMED]))
        yield Problem(
            code="data_classes_alike",
            severity=Severity.WARNING,
            field="data.path",
            message=f"Names of different classes are read alike: {shown}.",
            hint="Give one class one name in the data; or keep them, where they are two classes.",
        )


def _as_read(name: str) -> str:
    """The name without what is hardly seen: spaces, capitals, a last point, and the Unicode form.

    Names of one letter keep their case: "a" and "A" are classes of handwriting.
    """
    plain = "".join(unicodedata.normalize("NFKC", name).split()).rstrip(".")
    if plain.isdecimal():
        return plain.lstrip("0")
    return plain.casefold() if len(plain) > 1 else plain


def _shown(names: list[str]) -> str:
    seen = dict.fromkeys(unicodedata.normalize("NFC", name) for name in names)
    shown = " and ".join(f'"{name}"' for name in seen)
    return shown if len(seen) == len(names) else f"{shown} in different Unicode forms"


def oversample_unused(context: PlanningContext) -> Iterator[Problem]:
    """Rare classes are to be repeated where there are none, or they count more besides."""
    data = context.profile.data
    if not data.oversample or not context.trains:
        return
    fix = Fix.of("Take each example once", "data.oversample", value=False)
    if _target(context) not in (Target.CLASSES, None):
        yield Problem(
            code="oversample_without_classes",
            field="data.oversample",
            message="Only classes can be oversampled, and the labels are not classes.",
            hint="Take each example once an epoch.",
            fix=fix,
        )
    elif data.class_weights is not ClassWeights.NONE:
        yield Problem(
            code="oversample_with_class_weights",
            severity=Severity.HINT,
            field="data.oversample",
            message="Rare classes are oversampled, and class weights are set as well. The weights "
            "already make up for the number of examples, so rare classes would count "
            "twice.",
            hint="Use one of the two.",
            fix=fix,
        )


def last_classes_held_out(context: PlanningContext) -> Iterator[Problem]:
    """The last examples of data that comes class by class: whole classes are never trained on."""
    data = context.profile.data
    holds_out = data.held_out_fraction and not context.has_validation_set
    if data.is_in_class_order and holds_out and data.holdout is Holdout.LAST:
        yield Problem(
            code="last_classes_held_out",
            field="data.holdout",
            message=f"The examples of {data.source} are sorted by class: the last ones are all of "
            "the last classes, which would never be trained on.",
            hint="Hold out examples at random.",
            fix=Fix.of("Hold out at random", "data.holdout", "random"),
        )


def _target(context: PlanningContext) -> Target | None:
    """What was detected in the data; before it was read, what the profile says.

    Of arrays nothing is said here: ``data_rules.form_does_not_fit`` does.
    """
    preview = context.known_data
    if preview is not None and preview.form.arrays_of is not None:
        return None
    return context.profile.data.target_kind if preview is None else preview.target
