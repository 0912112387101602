"""What data and model need of each other, as problems with stable codes."""

import posixpath
import unicodedata
from collections.abc import Iterator

from gpupanel.domain.data import ClassWeights, Holdout, Target
from gpupanel.domain.data_source import LABEL_FIELDS
from gpupanel.domain.files_below import MOST_FILES, are_too_many
from gpupanel.domain.model_fit import kind_misfit, shape_misfit
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import settings_of
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.rules.suggestion_rules import batch_for, use_batch


def path_missing(context: PlanningContext) -> Iterator[Problem]:
    """Data from a file or folder that was not chosen."""
    data = context.profile.data
    if data.path_setting is not None and data.lacks_path:
        yield Problem(
            code="data_path_missing",
            field=f"data.{data.path_setting.name}",
            message=f"No {data.path_noun} was chosen.",
            hint=f"Choose a {data.path_noun}.",
        )


def too_many_files(context: PlanningContext) -> Iterator[Problem]:
    """More files named one by one than a profile can hold."""
    files = context.profile.data.chosen_files
    if are_too_many(files):
        yield Problem(
            code="data_files_too_many",
            field="data.files",
            message=f"{len(files):,} files are named one by one, and a profile holds the names of "
            f"{MOST_FILES:,} at most, fewer where these are long.",
            hint="Put them into a folder of their own, and choose that.",
        )


def keys_unused(context: PlanningContext) -> Iterator[Problem]:
    """Keys that mean nothing beside others: what a person said with them is not done."""
    data = context.profile.data
    for each in settings_of(type(data)):
        beside = each.hindered_by(data)
        is_default = getattr(data, each.name) == each.default
        if is_default or beside is None or each.name in _WITH_OWN_RULE:
            continue
        yield Problem(
            code="data_key_unused",
            severity=Severity.WARNING,
            field=f"data.{each.name}",
            message=f"data.{each.name} is not used: it has no effect with data.{beside} as it is "
            "set.",
            hint=f"Remove it, or change data.{beside}.",
            fix=Fix.of(f"Remove {each.name}", f"data.{each.name}"),
        )


_WITH_OWN_RULE = ("stratify", "holdout")
"""The first has a rule of its own; the second stays as it is until something is held out."""


def problems_of_data(context: PlanningContext) -> Iterator[Problem]:
    """What the preview found in the data, as far as it matters to the task."""
    if context.known.preview is not None and not context.profile.data.lacks_path:
        for problem in context.known.preview.problems:
            if matters_to_task(context.profile, problem):
                yield problem


def matters_to_task(profile: Profile, problem: Problem) -> bool:
    """Whether what the preview found in the data matters to what the profile does with it.

    Predicting needs no labels.
    """
    if profile.task == "train":
        return True
    if problem.code == "data_validation_fraction":
        return profile.inference.takes_part
    codes = (
        "data_array_missing",
        "data_arrays_ambiguous",
        "data_csv_one_column",
        "data_file_column_unclear",
        "data_label_columns_unclear",
        "data_labels_missing",
        "table_class_unknown",
        "table_column_missing",
        "record_feature_missing",
        "record_features_ambiguous",
        "text_without_target",
    )
    # Labels of arrays and records that cannot be used are not read; nothing else has that setting.
    is_labels = problem.field == "data.labels" or (
        problem.code in codes and problem.field in LABEL_FIELDS
    )
    return profile.task == "evaluate" or not is_labels


def source_does_not_fit(context: PlanningContext) -> Iterator[Problem]:
    """Data known to hold what the model does not take, while no example was read."""
    profile = context.profile
    if not profile.model.is_saved and context.known_data is None:
        problem = kind_misfit(profile.model, profile.data)
        if problem is not None:
            yield problem


def examples_do_not_fit(context: PlanningContext) -> Iterator[Problem]:
    """A model that does not take examples of this kind, or of this size."""
    preview, profile = context.known_data, context.profile
    if preview is None or not context.trains:
        return
    problem = shape_misfit(profile.model, profile.data, preview.feature_shape)
    if problem is not None:
        yield problem


def batch_above_examples(context: PlanningContext) -> Iterator[Problem]:
    """A global batch of more examples than are trained on."""
    preview, profile = context.known_data, context.profile
    if preview is None or not context.trains:
        return
    fraction = 0.0 if context.has_validation_set else profile.data.held_out_fraction
    held_back = round(preview.example_count * fraction)
    trained_on = preview.example_count - held_back
    batch = profile.training.global_batch_size
    if batch > trained_on:
        yield Problem(
            code="batch_above_examples",
            severity=Severity.WARNING,
            field="training.global_batch_size",
            message=f"The global batch size is {batch:,}, but only {trained_on:,} examples are "
            "trained on: each epoch is one smaller step.",
            hint="Use a smaller global batch.",
            fix=use_batch(batch_for(trained_on)) if trained_on else None,
        )


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


def fraction_beside_validation_set(context: PlanningContext) -> Iterator[Problem]:
    """A part that is to be held out where a validation set validates."""
    data = context.profile.data
    if context.has_validation_set and data.validation_fraction:
        chosen = "in data.validation_path" if data.chosen_validation_path else "found in data.path"
        yield Problem(
            code="validation_fraction_unused",
            severity=Severity.HINT,
            field="data.validation_fraction",
            message=f"The {data.path_noun} {chosen} validates, so no part of the training "
            "examples is held out.",
            hint="Leave the fraction out; or leave the path empty, to hold that part out."
            if data.chosen_validation_path
            else "Leave the fraction out.",
            fix=Fix.of("Hold out none", "data.validation_fraction", 0.0),
        )


def sets_of_same_examples(context: PlanningContext) -> Iterator[Problem]:
    """A validation or test set that is the training examples, or both of them the same."""
    named: dict[str, str] = {}
    for key, path in context.profile.data.chosen_paths.items():
        other = named.setdefault(posixpath.normpath(path), key)
        if other != key:
            yield Problem(
                code="data_sets_alike",
                field=f"data.{key}",
                message=f"data.{key} and data.{other} are the same "
                f"{context.profile.data.path_noun}: examples that were learned from "
                "cannot show how well the model generalises.",
                hint="Choose examples that are used for nothing else, or leave it empty.",
                fix=Fix.of("Leave it empty", f"data.{key}", ""),
            )


def _target(context: PlanningContext) -> Target | None:
    """What was detected in the data; before it was read, what the profile says."""
    preview = context.known_data
    return context.profile.data.target_kind if preview is None else preview.target
