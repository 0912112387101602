"""From configured devices and read examples to an evaluation or a file of predictions."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import tensorflow as tf

from gpupanel.domain.event_details import names_for_event
from gpupanel.domain.events import (
    DataReady,
    EvaluationDone,
    ModelReady,
    Phase,
    PredictionsSaved,
    ProblemReported,
)
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.files.confusion_file import write_confusion
from gpupanel.files.label_metrics_file import write_label_metrics
from gpupanel.files.slices_file import ExampleSlices
from gpupanel.files.worst_file import write_worst
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.evaluation import Evaluation
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.inference_work import InferenceWork
from gpupanel.trainer.inference.meaning import OutputMeaning, check_finite, read_outputs
from gpupanel.trainer.inference.predictions import write_predictions
from gpupanel.trainer.inference.replicas import (
    DeviceModel,
    Replica,
    load_replicas,
    reshaped_hint,
)
from gpupanel.trainer.inference.slices import example_slices
from gpupanel.trainer.inference.spread import Digest
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.models.model_file import saved_model_path
from gpupanel.trainer.parts.output_meaning import Floats, predicted_numbers
from gpupanel.trainer.parts.predictions import Predictions
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.saving.saving_problems import confusion_not_saved
from gpupanel.trainer.started_run import StartedRun

_FIRST_EXAMPLES = 64
"""They show what outputs mean where the model does not, and trace every replica."""
_NO_LABELS = Problem(
    code="inference_needs_labels",
    field="data.labels",
    message="The data has no labels to compare predictions with.",
    hint='Choose data with labels, or set task to "predict".',
)

Result = TypeVar("Result")


class Inference:
    """Evaluates or predicts with the saved model of a run; devices are configured.

    Attributes:
        run: Says what is done.
        examples: On these.
        events: Where it is reported.
        interruptions: Heard between batches.
        record: Filled with what was reached.
        work: Spreads the examples.
    """

    def __init__(
        self,
        run: StartedRun,
        examples: InferenceExamples,
        events: EventWriter,
        interruptions: Interruptions,
        record: TrainingRecord,
    ) -> None:
        self.run = run
        self.examples = examples
        self.events = events
        self.interruptions = interruptions
        self.record = record
        self.work = InferenceWork(run, examples, events, interruptions, record)

    def infer(self) -> Interruption | None:
        """Do the task.

        Returns:
            What ended it early; ``None`` when it came to its end.

        Raises:
            ProblemError: The model or the data cannot be used.
            OSError: Something cannot be written.
        """
        try:
            return self.do()
        except tf.errors.ResourceExhaustedError as error:
            if not is_out_of_memory(error):
                raise  # a full disk has the same error
            raise ProblemError(_out_of_memory(error)) from error

    def do(self) -> Interruption | None:
        """The same, whatever the devices' memory does."""
        replicas = self._load()
        reading = self._read_outputs(replicas)
        self.interruptions.listen_to_sigterm()
        if reading is None:
            return self.work.hand_over(replicas)
        if self.run.profile.task == "evaluate":
            return self._evaluate(replicas, reading)
        return self._predict(replicas, reading)

    def _load(self) -> list[Replica]:
        self.events.phase(Phase.BUILDING_MODEL)
        path = saved_model_path(self.run.profile.model)
        model = self.run.profile.model
        said, given = model.chosen_outputs, model.chosen_inputs
        run = self.run
        replicas = load_replicas(path, run.plan, self.examples, run.place, said, given)
        self.report_model(replicas[0])
        return replicas

    def report_model(self, first: DeviceModel) -> None:
        """Say what was loaded.

        Args:
            first: On the first device of this process.
        """
        self.events.write(
            ModelReady(
                time_s=time.time(),
                parameters=first.parameters,
                trainable_parameters=first.trainable_parameters,
            )
        )
        self._report(reshaped_hint(first.shape, self.examples.feature_shape))

    def _read_outputs(self, replicas: list[Replica]) -> OutputMeaning | None:
        """What outputs mean; ``None`` where another process of the run asks that."""
        self.events.phase(Phase.TRACING)
        examples, ending = self.examples, replicas[0].ending
        features = examples.read(0, min(_FIRST_EXAMPLES, len(examples)))
        # Never more at once than what each is to take: it may have no room for that.
        shares = [max(1, self.run.plan.shares[index]) for index in self.work.own_replicas]
        for replica, share in zip(replicas[1:], shares[1:], strict=True):
            replica(features[:share])
        if not self.run.leads:
            replicas[0](features[: shares[0]])
            return None
        parts = np.split(features, range(shares[0], len(features), shares[0]))
        first = np.concatenate([replicas[0](part) for part in parts])
        check_finite(first, self.examples.indices)
        classes = len(examples.class_names) or None
        reading = read_outputs(ending.activation, first, classes, examples.target)
        self._report(reading.hint)
        return reading

    def _evaluate(self, replicas: list[Replica], reading: OutputMeaning) -> Interruption | None:
        labels = self.examples.labels
        if labels is None:
            raise ProblemError(_NO_LABELS)
        self.events.phase(Phase.EVALUATING)
        columns = self.examples.columns
        evaluation = Evaluation(labels, reading, keeps_measures=columns is not None)
        ended = self.spread(replicas, evaluation.digest, evaluation.add)
        if ended is not None:
            return ended
        self.record.metrics = evaluation.metrics
        slices = self._slices(evaluation)
        figures_file = self._save_figures(evaluation, reading, slices)
        self.events.write(
            EvaluationDone(
                time_s=time.time(),
                examples=len(self.examples),
                which=self.examples.which,
                learned=self.examples.learned,
                learned_is_estimate=self.examples.learned_is_estimate,
                metrics=evaluation.metrics,
                class_count=reading.class_count,
                confusion_file=self._save_confusion(evaluation, reading, slices),
                labels_file=figures_file if reading.of_labels else "",
                values_file="" if reading.of_labels else figures_file,
            )
        )
        return None

    def _slices(self, evaluation: Evaluation) -> ExampleSlices | None:
        """How good the model is for each value of a column; ``None``: there are no columns."""
        columns, measures = self.examples.columns, evaluation.measures
        if columns is None or measures is None:
            return None
        try:
            return example_slices(columns, self.examples.indices, measures)
        except ProblemError as error:
            # The metrics over all examples were reached.
            for problem in error.problems:
                self._report(problem.model_copy(update={"severity": Severity.WARNING}))
            return None

    def _save_confusion(
        self, evaluation: Evaluation, reading: OutputMeaning, slices: ExampleSlices | None
    ) -> str:
        """The name of its file; empty where there are no classes, or it cannot be written."""
        if not reading.class_count:
            return ""
        path = self.run.layout.confusion
        try:
            examples = evaluation.examples(self.examples.indices)
            cells = evaluation.confusion.cells(reading.class_names(self.examples.class_names))
            write_confusion(path, cells, examples, evaluation.scores.counts, slices)
        except OSError as error:
            # The metrics over all examples were reached, and need little space.
            self._report(confusion_not_saved(error))
            return ""
        return path.name

    def _save_figures(
        self, evaluation: Evaluation, reading: OutputMeaning, slices: ExampleSlices | None
    ) -> str:
        """The name of the file with the metrics of several labels, or with values.

        Empty where there are classes, or it cannot be written.
        """
        if reading.class_count:
            return ""
        path = self.run.layout.confusion
        names = reading.class_names(self.examples.class_names) if reading.of_labels else ()
        pairs = evaluation.value_pairs()
        worst = evaluation.worst(self.examples.indices, names)
        try:
            if reading.of_labels:
                more = (worst, evaluation.scores.counts, slices)
                write_label_metrics(path, names, evaluation.label_counts, *more)
            elif worst is not None:
                write_worst(path, worst, pairs, slices)
        except OSError as error:
            self._report(confusion_not_saved(error))
            return ""
        return path.name if reading.of_labels or pairs is not None else ""

    def _predict(self, replicas: list[Replica], reading: OutputMeaning) -> Interruption | None:
        self.events.phase(Phase.PREDICTING)
        kept: list[Floats] = []

        def digest(outputs: Floats, _first: int) -> Floats:
            return predicted_numbers(outputs, reading.meaning)

        ended = self.spread(replicas, digest, lambda _examples, parts: kept.extend(parts))
        if ended is not None:
            return ended
        self._save(np.concatenate(kept), reading)
        return None

    def _save(self, numbers: Floats, reading: OutputMeaning) -> None:
        self.events.phase(Phase.SAVING)
        profile = self.run.profile
        path = self.run.layout.predictions(profile.inference.output_of(profile.data))
        predictions = Predictions(
            indices=self.examples.indices,
            labels=self.examples.labels,
            class_names=reading.class_names(self.examples.class_names),
            numbers=numbers,
            of_labels=reading.of_labels,
            file_names=self.examples.file_names,
        )
        write_predictions(predictions, path)
        self.events.write(
            PredictionsSaved(time_s=time.time(), path=path.name, examples=len(numbers))
        )

    def spread(
        self,
        replicas: Sequence[DeviceModel],
        digest: Digest[Result],
        take: Callable[[int, list[Result]], None],
    ) -> Interruption | None:
        """Let every replica work on its part of the examples; results are taken in input order."""

        def checked(outputs: Floats, first: int) -> Result:
            check_finite(outputs, self.examples.indices[first:])
            return digest(outputs, first)

        return self.work.spread(replicas, checked, take)

    def _report(self, problem: Problem | None) -> None:
        if problem is not None and self.run.leads:
            self.events.write(ProblemReported(time_s=time.time(), problem=problem))


def _out_of_memory(error: tf.errors.OpError) -> Problem:
    return Problem(
        code="out_of_memory",
        field="inference.batch_size",
        message="The memory of a device is not enough for this model and batch.",
        hint="Set a smaller inference.batch_size, give this device a smaller share, or raise its "
        "memory limit.",
        detail=str(error),
    )


def report_data(run: StartedRun, examples: InferenceExamples, events: EventWriter) -> None:
    """Report what was read."""
    held_back = examples.which == "validation"
    events.write(
        DataReady(
            time_s=time.time(),
            training_examples=0 if held_back else len(examples),
            validation_examples=len(examples) if held_back else 0,
            feature_shape=examples.feature_shape,
            class_count=len(examples.class_names),
            class_names=names_for_event(examples.class_names),
            steps_per_epoch=0,
        )
    )
    for note in examples.notes if run.leads else ():
        events.write(ProblemReported(time_s=time.time(), problem=note))
