"""What data and model need of each other, as problems with stable codes."""

import posixpath
from collections.abc import Iterator

from gpupanel.domain.data_source import LABEL_FIELDS
from gpupanel.domain.files_below import MOST_FILES, are_too_many
from gpupanel.domain.form_misfits import form_misfits
from gpupanel.domain.model_fit import kind_misfit, shape_misfit
from gpupanel.domain.problem import Fix, Problem, Severity
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
    if problem is not None and preview.form.is_plain:
        yield problem


def form_does_not_fit(context: PlanningContext) -> Iterator[Problem]:
    """Several inputs, or labels that are arrays, before what takes numbers or rows."""
    preview = context.known_data
    if preview is not None and context.trains:
        yield from form_misfits(context.profile, preview.form)


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
