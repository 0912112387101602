"""Records of ``tf.train.Example`` in TFRecord files, read row by row."""

import contextlib
from dataclasses import replace

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import Scaling, Target, TfrecordData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import AllExamples, DataSet, Examples, chained
from gpupanel.trainer.datasets.records.first_records import read_first_records
from gpupanel.trainer.datasets.records.layout import detected_layout
from gpupanel.trainer.datasets.records.listing import PATHS, files_of, with_detected_sets
from gpupanel.trainer.datasets.records.named_features import read_named
from gpupanel.trainer.datasets.records.reader import (
    class_names_of_sets,
    labels_of_sets,
    record_reader,
    without_unlabelled,
)
from gpupanel.trainer.datasets.source import Found, Reading, Source, all_examples


class _Records(Source[TfrecordData]):
    """Records in the order of their files."""

    @override
    def read(self, data: TfrecordData, reading: Reading) -> DataSet:
        reader = record_reader(data, reading)
        if not data.is_plain:
            return read_named(reader, data)
        layout = reader.layout(needs_labels=True)
        reader, note = without_unlabelled(reader, data, [layout.labels])
        prints = reader.prints()
        scanned = reader.scanned(layout)
        labels = labels_of_sets(reader, layout, scanned)
        skipped = reader.skipped(layout, scanned)
        examples = {}
        for name, found in scanned.items():
            features, unreadable_rows = reader.features(layout, found, skipped)
            examples[name] = Examples(features, labels[name].array, unreadable_rows)
        return DataSet(
            training=examples["training"],
            validation=examples.get("validation"),
            test=examples.get("test"),
            class_names=class_names_of_sets(data, labels, scanned),
            scaling=Scaling.DIVIDE if layout.are_bytes else Scaling.NONE,
            greatest=255.0 if layout.are_bytes else 1.0,
            files=prints,
            notes=(
                *(note for each in reader.files.values() for note in each.notes),
                *note,
                *reader.notes_on_images(layout),
            ),
            skipped=skipped,
        )

    @override
    def read_all(self, data: TfrecordData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        reading = replace(reading, must_differ=False)
        if data.inputs or (data.outputs and needs_labels):
            return all_examples(self.read(data, reading))
        data = data.model_copy(update={"outputs": {}})  # they are not read
        reader = record_reader(data, reading)
        layout = reader.layout(needs_labels=needs_labels)
        are_all_labelled = not without_unlabelled(reader, data, [layout.labels])[1]
        if layout.labels and (needs_labels or are_all_labelled):
            try:
                found = self.read(data, reading)
            except ProblemError as error:
                if needs_labels or not {each.field for each in error.problems} <= {"data.labels"}:
                    raise
            else:
                are_counted = found.target is Target.LABELS or not data.counts_classes_by_labels
                are_counted = are_counted or layout.labels_kind == "bytes"
                return replace(all_examples(found), class_count_is_known=are_counted)
        layout = replace(layout, labels="")
        scanned = reader.scanned(layout)
        skipped = reader.skipped(layout, scanned)
        parts = []
        for each in scanned.values():
            features, unreadable_rows = reader.features(layout, each, skipped)
            parts.append(Examples(features, np.zeros(len(each), np.int32), unreadable_rows))
        whole = chained(parts)
        left_out = None if skipped is None else skipped.note(are_left_out=True)
        notes = tuple(note for each in reader.files.values() for note in each.notes)
        return AllExamples(
            features=whole.features,
            unreadable=whole.unreadable,
            labels=None,
            target=data.predicts or Target.CLASSES,
            class_names=tuple(str(number) for number in range(data.class_count or 0)),
            training_count=len(scanned["training"]),
            validation_count=len(scanned.get("validation", ())),
            class_count_is_known=not data.counts_classes_by_labels,
            notes=notes if left_out is None else (*notes, left_out),
        )

    @override
    def find(self, data: TfrecordData, reading: Reading) -> Found:
        if not data.path:
            return Found()
        found = with_detected_sets(data)
        taken: dict[str, str | tuple[str, ...]] = {
            key: getattr(found, key)
            for key in PATHS.values()
            if getattr(found, key) != getattr(data, key)
        }
        first = read_first_records(files_of(found.path, "data.path").paths, "data.path")
        with contextlib.suppress(ProblemError):  # reading says it
            layout = detected_layout(found, first, needs_labels=False)
            named = {
                "features": "" if data.inputs else layout.features,
                "labels": "" if data.outputs else layout.labels,
            }
            taken |= {key: name for key, name in named.items() if name}
            reader = record_reader(data, reading)
            if reading.needs_labels:
                reader, _ = without_unlabelled(reader, data, [layout.labels])
            left = {key for name, key in PATHS.items() if name not in reader.files}
            taken = {key: value for key, value in taken.items() if key not in left}
            if layout.shape_features:
                taken["shape_features"] = layout.shape_features
            if layout.raw_type not in (None, "uint8"):
                taken["raw_type"] = str(layout.raw_type)
        offers = {
            "features": first.choices(),
            "inputs": first.choices(),
            "labels": first.label_choices(),
            "shape_features": first.choices("int64"),
        }
        return Found(offers=offers, found=taken)


SOURCE = _Records()
