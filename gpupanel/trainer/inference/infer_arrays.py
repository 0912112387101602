"""Evaluates, or predicts with, a saved model that gives arrays, or several outputs."""

import time

from typing_extensions import override

from gpupanel.domain.events import EvaluationDone, Phase, PredictionsSaved
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.array_evaluation import (
    ArrayEvaluation,
    evaluated_arrays,
    load_array_models,
    tried_outputs,
)
from gpupanel.trainer.inference.array_outputs import load_giving_arrays
from gpupanel.trainer.inference.array_predictions import ArrayPredictions
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.infer import Inference
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.models.model_file import saved_model_path, trained_on_in
from gpupanel.trainer.parts.output_meaning import Floats
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.started_run import StartedRun


def inference_of(
    run: StartedRun,
    examples: InferenceExamples,
    events: EventWriter,
    interruptions: Interruptions,
    record: TrainingRecord,
) -> Inference:
    """What evaluates or predicts with the model of a run, whatever that gives."""
    kind = Inference if examples.gives_row else _ArrayInference
    return kind(run, examples, events, interruptions, record)


class _ArrayInference(Inference):
    """Of a model that gives no row of classes, labels or values."""

    @override
    def do(self) -> Interruption | None:
        self.events.phase(Phase.BUILDING_MODEL)
        if self.run.profile.task == "predict":
            return self._predict_arrays()
        data = self.examples.arrays
        assert data is not None  # others are refused
        return self._evaluate_arrays(data)

    def _predict_arrays(self) -> Interruption | None:
        run, examples = self.run, self.examples
        models, given = load_giving_arrays(run.profile.model, run.plan, examples, run.place)
        self.report_model(models[0])
        self.interruptions.listen_to_sigterm()
        if not run.leads:
            return self.work.hand_over(models)
        self.events.phase(Phase.PREDICTING)
        path = run.layout.predictions("npz")
        with ArrayPredictions(path, given.shapes) as predictions:

            def keep(_examples: int, parts: list[Floats]) -> None:
                for rows in parts:
                    predictions.add(rows)

            ended = self.spread(models, lambda outputs, _first: outputs, keep)
            if ended is not None:
                return ended
            self.events.phase(Phase.SAVING)
            predictions.save(examples.indices)
        saved = PredictionsSaved(time_s=time.time(), path=path.name, examples=len(examples))
        self.events.write(saved)
        return None

    def _evaluate_arrays(self, data: DataSet) -> Interruption | None:
        """Measure what the training measured of the model."""
        run, examples = self.run, self.examples
        model = run.profile.model
        trained = trained_on_in(saved_model_path(model))
        assert trained is not None  # it says that it gives arrays
        evaluated = evaluated_arrays(examples, data, trained, run.model_code)
        models, built = load_array_models(model, run.plan, evaluated, run.place)
        self.report_model(models[0])
        self.interruptions.listen_to_sigterm()
        if not run.leads:
            return self.work.hand_over(models)
        evaluation = ArrayEvaluation(evaluated, built)
        evaluation.try_own(tried_outputs(models, examples))
        self.events.phase(Phase.EVALUATING)
        ended = self.spread(models, evaluation.digest, evaluation.add)
        if ended is not None:
            return ended
        self.record.metrics = evaluation.metrics
        self.events.write(
            EvaluationDone(
                time_s=time.time(),
                examples=len(examples),
                which=examples.which,
                learned=examples.learned,
                learned_is_estimate=examples.learned_is_estimate,
                metrics=evaluation.metrics,
                of_arrays=True,
            )
        )
        return None
