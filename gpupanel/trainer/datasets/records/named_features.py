"""Features of records by name: several inputs, and several outputs, of a model."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from itertools import chain

import numpy as np

from gpupanel.domain.data import Scaling, Target, TfrecordData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.array_labels import checked_arrays
from gpupanel.trainer.datasets.checks import ArrayName, check_exact
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import (
    DataSet,
    Examples,
    Features,
    PackedInput,
    PackedOutput,
)
from gpupanel.trainer.datasets.labels import checked_labels
from gpupanel.trainer.datasets.packed_inputs import input_misfit, packed
from gpupanel.trainer.datasets.packed_outputs import (
    class_names_of,
    output_misfit,
    packed_labels,
)
from gpupanel.trainer.datasets.records.example_shape import example_number_count
from gpupanel.trainer.datasets.records.first_records import FirstRecords, read_first_records
from gpupanel.trainer.datasets.records.layout import RecordLayout, detected_layout
from gpupanel.trainer.datasets.records.listing import PATHS
from gpupanel.trainer.datasets.records.reader import (
    LabelsOfSets,
    RecordReader,
    class_names_of_sets,
    labels_by_names,
    labels_of_sets,
    without_unlabelled,
)
from gpupanel.trainer.datasets.records.rows import RecordRows
from gpupanel.trainer.datasets.records.scan import ScannedRecords
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.parts.loaded_parts import are_arrays

_Layouts = dict[str, RecordLayout]
_Scanned = dict[str, ScannedRecords]
"""The records of each set."""


def read_named(reader: RecordReader, data: TfrecordData) -> DataSet:
    """The records of all sets, with inputs or outputs by the names that the settings have.

    Args:
        reader: Has the sets.
        data: As it was chosen.

    Raises:
        ProblemError: They cannot be used.
    """
    first = read_first_records(reader.files["training"].paths, "data.path")
    _check_names(data.outputs, output_misfit, "data.outputs")
    outputs = {name: _feature_of(first, name, "data.outputs") for name in data.outputs}
    inputs = _inputs(data, first, outputs.values())
    labels = list(outputs.values()) or [next(iter(inputs.values())).labels]
    reader, left_out = without_unlabelled(reader, data, labels)
    prints = reader.prints()
    scanned = {name: reader.scanned(layout) for name, layout in inputs.items()}
    base, *_ = scanned.values()
    layout, *_ = inputs.values()
    if outputs:
        found = {
            name: _labels_of_output(reader, first, layout, feature, data.outputs[name])
            for name, feature in outputs.items()
        }
        packed_sets, packed_outputs, names = _packed_sets(found)
    else:
        of_one = labels_of_sets(reader, layout, base)
        packed_sets, packed_outputs = of_one, ()
        names = class_names_of_sets(data, of_one, base)
    images = sum(
        len(records)
        for name, each in inputs.items()
        if each.is_image
        for records in scanned[name].values()
    )
    skipped = SkippedFiles(images, data.unreadable_share) if images else None
    examples, packed_inputs = _examples(reader, inputs, scanned, packed_sets, skipped)
    pixels = not packed_inputs and layout.are_bytes
    training = packed_sets["training"]
    return DataSet(
        training=examples["training"],
        validation=examples.get("validation"),
        test=examples.get("test"),
        class_names=names,
        arrays_of=training.target if training.are_arrays else None,
        inputs=packed_inputs,
        outputs=packed_outputs,
        scaling=Scaling.DIVIDE if pixels else Scaling.NONE,
        greatest=255.0 if pixels else 1.0,
        files=prints,
        notes=(
            *chain.from_iterable(each.notes for each in reader.files.values()),
            *left_out,
            *chain.from_iterable(map(reader.notes_on_images, inputs.values())),
        ),
        skipped=skipped,
    )


def _inputs(data: TfrecordData, first: FirstRecords, predicted: Collection[str]) -> _Layouts:
    """What is read for each input; for the first one the labels, too, where they are one feature.

    Of one input the name is empty.

    Args:
        data: What was chosen.
        first: The first records.
        predicted: The features of outputs.
    """
    if not data.inputs:
        plain = data.model_copy(update={"outputs": {}, "labels": None})
        others = {*predicted} - {data.features}  # one that was chosen may be predicted itself
        layout = detected_layout(plain, _without(first, others), needs_labels=False)
        return {"": replace(layout, labels="")}
    _check_names(data.inputs, input_misfit, "data.inputs")
    features = {name: _feature_of(first, name, "data.inputs") for name in data.inputs}
    layouts = {
        name: _layout_of(data, first, feature, "data.inputs") for name, feature in features.items()
    }
    if not data.outputs:
        name, *_ = features
        alone = data.model_copy(update={"inputs": (), "features": features[name], **_UNSHAPED})
        others = {*features.values()} - {features[name]}
        found = detected_layout(alone, _without(first, others), needs_labels=True)
        layouts[name] = replace(
            layouts[name],
            labels=found.labels,
            labels_kind=found.labels_kind,
            labels_count=found.labels_count,
        )
    return layouts


def _without(first: FirstRecords, names: Collection[str | None]) -> FirstRecords:
    """The first records without features of which it is known what they are."""
    left = {name: facts for name, facts in first.features.items() if name not in names}
    return replace(first, features=left)


_UNSHAPED: Mapping[str, object] = {"shape": (), "shape_features": None, "raw_type": None}
"""What is chosen of one feature means nothing where there are several."""


def _layout_of(data: TfrecordData, first: FirstRecords, feature: str, field: str) -> RecordLayout:
    """What is read of a feature that is an array, whatever its name says of it."""
    alone = data.model_copy(
        update={"inputs": (), "outputs": {}, "features": feature, "labels": None, **_UNSHAPED}
    )
    try:
        layout = detected_layout(alone, first, needs_labels=False)
    except ProblemError as error:
        raise ProblemError(*(_of_named(each, field) for each in error.problems)) from error
    return replace(layout, labels="")


def _of_named(problem: Problem, field: str) -> Problem:
    """A problem with a feature that was chosen by its name; its type cannot be chosen."""
    hint = problem.hint.replace("data.features", field)
    if problem.code == "record_type_ambiguous":
        hint = "Write it by tf.io.serialize_tensor, which says type and shape."
    named = {"field": field, "hint": hint, "fix": None, "alternatives": ()}
    return problem.model_copy(update=named)


def _feature_of(first: FirstRecords, name: str, field: str) -> str:
    """The feature of that name, or the only one that has it behind its last slash."""
    if name in first.features:
        return name
    found = [each for each in first.features if each.rpartition("/")[2] == name]
    if len(found) == 1:
        return found[0]
    there = ", ".join(f'"{visible_line(each)}"' for each in list(first.features)[:20])
    what = "several features of that name" if found else "no feature of that name"
    raise data_problem(
        "record_feature_missing",
        f'The records in {first.path} have {what}: "{visible_line(name)}"; their features: '
        f"{there or 'none'}.",
        f"Call each of {field} as a feature, or as what stands behind its last slash.",
        field=field,
    )


def _check_names(names: Collection[str], misfit: Callable[[str], str], field: str) -> None:
    seen = set[str]()
    for name in names:
        why = "is named twice" if name in seen else misfit(name)
        if why:
            raise data_problem(
                "data_names_misfit",
                f"{name!r} {why}.",
                "Features are called as the inputs and outputs of the model: call them otherwise "
                "in both.",
                field=field,
            )
        seen.add(name)


def _examples(
    reader: RecordReader,
    inputs: _Layouts,
    scanned: Mapping[str, _Scanned],
    labels: LabelsOfSets,
    skipped: SkippedFiles | None,
) -> tuple[dict[str, Examples], tuple[PackedInput, ...]]:
    """The examples of each set, and of which inputs they are; none where they are one."""
    found, packed_inputs = dict[str, Examples](), tuple[PackedInput, ...]()
    for of_set in reader.files:
        parts, unreadable = dict[str, Features](), dict[int, ProblemError]()
        for name, layout in inputs.items():
            records = scanned[name][of_set]
            features, bad = reader.features(layout, records, skipped if layout.is_image else None)
            if name:
                of = _name(reader, of_set, layout.features, "data.inputs")
                check_exact(features, _stored(layout), of)
            parts[name], unreadable = features, {**bad, **unreadable}
        whole = parts.get("")
        if whole is None:
            whole, packed_inputs = packed(parts)
        found[of_set] = Examples(whole, labels[of_set].array, unreadable)
    return found, packed_inputs


def _stored(layout: RecordLayout) -> np.dtype[np.generic]:
    """The type of the numbers of a feature as they are written."""
    if layout.dtype is not None:
        return layout.dtype
    written = {"int64": np.int64, "float": np.float32, "bytes": np.uint8}
    return np.dtype(written[layout.kind])


def _labels_of_output(
    reader: RecordReader, first: FirstRecords, base: RecordLayout, feature: str, target: Target
) -> LabelsOfSets:
    """The labels of an output in each set.

    Args:
        reader: Reads the sets.
        first: The first records.
        base: Of an input.
        feature: Has the labels.
        target: What they are.
    """
    data, must_differ = reader.data, reader.reading.must_differ
    if target is Target.CLASSES and _is_name(data, first, feature):
        return _names_of_output(reader, replace(base, labels=feature, labels_kind="bytes"))
    layout = _layout_of(data, first, feature, "data.outputs")
    if layout.is_image:
        raise data_problem(
            "record_labels_are_images",
            f'Feature "{visible_line(feature)}" of the records in {first.path} is an encoded '
            "image, and labels are numbers: pixels that are scaled to another size are others.",
            "Write the array itself, by tf.io.serialize_tensor.",
            field="data.outputs",
        )
    found: LabelsOfSets = {}
    for of_set, records in reader.scanned(layout).items():
        raw, _ = RecordRows(records.files, layout).in_memory(_ignore)
        of = _name(reader, of_set, feature, "data.outputs")
        if of_set == "training":
            is_array = are_arrays(raw, of_classes=target is Target.CLASSES)
            checked = checked_arrays if is_array else checked_labels
            found[of_set] = checked(raw, of, target, must_differ=must_differ)
        else:
            checked = checked_arrays if found["training"].are_arrays else checked_labels
            found[of_set] = checked(raw, of, target, must_differ=False)
    return found


def _is_name(data: TfrecordData, first: FirstRecords, feature: str) -> bool:
    """Whether a feature names a class: raw bytes may be read as text, too, but say their shape."""
    facts = first.features[feature]
    numbers = example_number_count(data.model_copy(update=_UNSHAPED), first, feature)
    has_shape = numbers > 1 and facts.lengths[0] == facts.lengths[1]
    return facts.may_be_name and not (has_shape and facts.lengths[0] % numbers == 0)


def _names_of_output(reader: RecordReader, layout: RecordLayout) -> LabelsOfSets:
    """The labels of an output that names classes."""
    plain = {"predicts": None, "class_count": None}
    alone = replace(reader, data=reader.data.model_copy(update=plain))
    scanned = alone.scanned(replace(layout, labels_count=1))
    try:
        found = labels_by_names(alone, layout, scanned)
    except ProblemError as error:
        raise ProblemError(*(_of_named(each, "data.outputs") for each in error.problems)) from error
    names = class_names_of_sets(alone.data, found, scanned)
    return {of_set: replace(labels, names=names) for of_set, labels in found.items()}


def _ignore(done: int, total: int) -> None:
    del done, total  # counting the records said it


def _packed_sets(
    found: Mapping[str, LabelsOfSets],
) -> tuple[LabelsOfSets, tuple[PackedOutput, ...], tuple[str, ...]]:
    """The labels of all outputs in a row, of each set."""
    names = {
        output: class_names_of(sets["training"], sets.values()) for output, sets in found.items()
    }
    first = next(iter(found.values()))
    whole = {
        of_set: packed_labels({output: sets[of_set] for output, sets in found.items()}, names)
        for of_set in first
    }
    return {name: labels for name, (labels, _) in whole.items()}, whole["training"][1], ()


def _name(reader: RecordReader, of_set: str, feature: str, field: str) -> ArrayName:
    key = field if of_set == "training" else f"data.{PATHS[of_set]}"
    return ArrayName(getattr(reader.data, PATHS[of_set]), feature, key, "Feature")
