"""Predicts the same validation examples after epochs, so that people see what is learned."""

import time

import keras
import numpy as np

from gpupanel.domain.data import Target
from gpupanel.domain.events import ProblemReported
from gpupanel.domain.number_text import short_number
from gpupanel.domain.shown_examples import ShownCell, ShownClass, ShownExample
from gpupanel.domain.validation_examples import (
    MOST_FOLLOWED,
    EpochPredictions,
    ExamplePrediction,
    FollowedExamples,
)
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.line_log import LineLog
from gpupanel.trainer.datasets.example_previews import (
    example_name,
    example_preview,
    label_texts,
    seen,
)
from gpupanel.trainer.datasets.examples import Array, Examples, Indices
from gpupanel.trainer.datasets.shown_cells import shown_cells
from gpupanel.trainer.datasets.shown_labels import top_classes
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.parts.output_meaning import Floats, Meaning, predicted_numbers, said_labels
from gpupanel.trainer.saving.saving_problems import examples_not_predicted
from gpupanel.trainer.started_run import StartedRun

_MOST_SHARE = 0.05
"""Of the time of a training: after epochs too short for that nothing is predicted."""
_EACH_EPOCH = 200
"""So many validated epochs are all written; of more every second one, of twice as many every
fourth."""
_VALUES, _DIGITS = 8, 5
_LONGEST_SIDE = 80
"""Of an image: a run's folder has all of them, and a sweep has many runs."""
_MOST_BYTES = 2**28
"""The features of all examples that are followed: fewer of large ones."""
_DRAWN = 10_000
"""Among so many a class is looked for: of millions that would take long."""


class ValidationPredictions:
    """Writes what the model says of some validation examples.

    The model computes beside the steps and changes nothing, so a training is the same to the last
    bit however often this is done. No failure of it ends a training: the first one is reported, and
    nothing more is predicted.

    Args:
        run: Trains; only the process that leads predicts.
        split: The data; there may be no validation examples.
        learner: What learns.
        events: Where a failure is reported.
        from_epoch: The first epoch that is trained now.
    """

    def __init__(
        self,
        run: StartedRun,
        split: Split,
        learner: Learner,
        events: EventWriter,
        from_epoch: int,
    ) -> None:
        self._run, self._split, self._learner, self._events = run, split, learner, events
        self._from_epoch = from_epoch
        self._log: LineLog | None = None
        self._features: Array | None = None
        self._labels: Array | None = None
        # Of arrays, and of what the person's own loss alone knows, nothing is said.
        says_something = split.validation is not None and learner.built.gives_rows
        self._is_over = not says_something or not run.leads
        self._took_s = 0.0
        self._ended_s: float | None = None
        self._written_epoch = 0
        # No more than the smallest part of a batch that a device has room for.
        plan = run.plan
        parts = [share // plan.accumulation_steps for share in plan.shares if share]
        least = min(parts, default=plan.measured_at_a_time // max(1, len(plan.replicas)))
        self._at_once = max(1, min(MOST_FOLLOWED, least))

    def end_epoch(self, epoch: int) -> None:
        """An epoch, counted from 1, was validated: predict, unless that would take too long."""
        if not self._is_over and self._is_time(epoch):
            self._try(epoch)

    def finish(self, epoch: int | None) -> None:
        """The training ends.

        Args:
            epoch: The last one, which is never left out; ``None``: it ends within one.
        """
        is_new = epoch is not None and epoch > self._written_epoch and epoch >= self._from_epoch
        if epoch is not None and is_new and not self._is_over:
            self._try(epoch)
        self._is_over = True
        if self._log is not None:
            self._log.close()

    def _is_time(self, epoch: int) -> bool:
        # Of many validations, not of many epochs: few of these may be validated.
        validated = -(-epoch // self._run.profile.training.validate_every)
        if validated % _every(validated):
            return False
        if self._ended_s is None:
            return True
        return time.monotonic() - self._ended_s >= self._took_s / _MOST_SHARE

    def _try(self, epoch: int) -> None:
        is_first, began_s = self._features is None, time.monotonic()
        try:
            self._predict(epoch)
        except Exception as error:  # noqa: BLE001 - whatever a device or a layer says, it trains on
            self._is_over = True
            problem = examples_not_predicted(error)
            self._events.write(ProblemReported(time_s=time.time(), problem=problem))
        self._ended_s = time.monotonic()
        # What the first one takes longer is never taken again.
        self._took_s = 0.0 if is_first else self._ended_s - began_s

    def _predict(self, epoch: int) -> None:
        if self._log is None:
            self._begin()
        assert self._features is not None
        assert self._log is not None
        outputs = self._outputs(self._features)
        if np.isfinite(outputs).all():
            predictions = tuple(self._said(outputs))
            line = EpochPredictions(epoch=epoch, predictions=predictions)
            self._log.append(line.model_dump_json(exclude_none=True))
            self._written_epoch = epoch

    def _begin(self) -> None:
        """Read the examples, and write what they are."""
        validation, data = self._split.validation, self._split.data
        assert validation is not None
        chosen = _chosen(validation, data.target, self._run.profile.training.seed)
        self._features, self._labels = validation.read(chosen), validation.labels[chosen]
        shown_of_each, greatest = seen(self._features, data, data.greatest)
        texts = label_texts(data, self._labels)
        cells: list[tuple[ShownCell, ...]] = [()] * len(chosen)
        if data.cells is not None:
            cells = shown_cells(data.cells, self._split.places_of(chosen))
        shown = (
            ShownExample(
                index=place,
                name=example_name(validation.features, place),
                label=as_utf8(label),
                image=example_preview(
                    "", features, greatest, data.words, longest_side=_LONGEST_SIDE
                ),
                cells=of_row,
            )
            for place, label, features, of_row in zip(
                chosen.tolist(), texts, shown_of_each, cells, strict=True
            )
        )
        line = FollowedExamples(
            from_epoch=self._from_epoch,
            validation_examples=len(validation),
            examples=tuple(shown),
        )
        self._log = LineLog(self._run.layout.validation_examples)
        self._log.append(line.model_dump_json())

    def _outputs(self, features: Array) -> Floats:
        """What the model gives: logits of classes or labels, or standardised values."""
        averages, model = self._learner.averages, self._learner.built.trained
        # What a layer assigns while it predicts is dropped with the scope.
        scope = averages.in_place_of_weights() if averages else keras.StatelessScope()
        parts = range(0, len(features), self._at_once)
        with scope:
            found = [model(features[at : at + self._at_once], training=False) for at in parts]
        return np.concatenate([np.asarray(each, np.float32) for each in found])

    def _said(self, outputs: Floats) -> list[ExamplePrediction]:
        data = self._split.data
        match data.target:
            case Target.CLASSES:
                return self._said_classes(predicted_numbers(outputs, Meaning.LOGITS))
            case Target.LABELS:
                return self._said_labels(outputs)
        return self._said_values(outputs)

    def _said_classes(self, probabilities: Floats) -> list[ExamplePrediction]:
        assert self._labels is not None
        return [
            ExamplePrediction(
                predicted=top_classes(row, self._split.data.class_names),
                label_probability=float(row[label]),
                is_right=int(row.argmax()) == label,
            )
            for row, label in zip(probabilities, self._labels.astype(int).tolist(), strict=True)
        ]

    def _said_labels(self, logits: Floats) -> list[ExamplePrediction]:
        assert self._labels is not None
        names = self._split.data.class_names
        numbers = predicted_numbers(logits, Meaning.LABEL_LOGITS)
        said = said_labels(logits, Meaning.LABEL_LOGITS)
        return [
            ExamplePrediction(
                predicted=tuple(
                    ShownClass(name=as_utf8(names[place]), probability=float(row[place]))
                    for place in np.flatnonzero(is_said)[:_VALUES].tolist()
                ),
                is_right=bool(np.array_equal(is_said, label > 0)),
            )
            for row, is_said, label in zip(numbers, said, self._labels, strict=True)
        ]

    def _said_values(self, outputs: Floats) -> list[ExamplePrediction]:
        assert self._labels is not None
        built = self._learner.built
        values = outputs.astype(np.float64) * built.value_units + built.value_means
        labels = np.asarray(self._labels, np.float64).reshape(values.shape)
        errors = np.abs(values - labels).mean(axis=1)
        return [
            ExamplePrediction(
                predicted=tuple(
                    ShownClass(name=short_number(value, _DIGITS)) for value in row[:_VALUES]
                ),
                error=float(error),
            )
            for row, error in zip(values.tolist(), errors, strict=True)
        ]


def _every(validated: int) -> int:
    """Of how many validated epochs one is written about: a training may be longer than a file."""
    every = 1
    while validated > _EACH_EPOCH * every:
        every *= 2
    return every


def _chosen(examples: Examples, target: Target, seed: int) -> Indices:
    """Some of them, drawn; of classes each in turn, so that a rare one is seen, too."""
    drawn = np.random.default_rng(seed).permutation(len(examples))
    order = drawn[:_DRAWN].astype(np.int32)
    if target is Target.CLASSES:
        turn = np.empty(len(order), np.int64)
        seen: dict[int, int] = {}
        for place, label in enumerate(examples.labels[order].astype(int).tolist()):
            turn[place] = seen[label] = seen.get(label, -1) + 1
        order = order[np.argsort(turn, kind="stable")]
    return order[: max(1, min(MOST_FOLLOWED, _MOST_BYTES // max(1, examples.example_bytes)))]
