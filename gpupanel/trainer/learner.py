"""Model, optimizer and compiled calls of one run, put together in the one order that works."""

from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.events import PlacedLayer
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.loop.calls import Calls
from gpupanel.trainer.loop.feeds import make_feed
from gpupanel.trainer.loop.replica_steps import EvaluationStep, TrainingStep
from gpupanel.trainer.models.build import BuiltModel, build_model
from gpupanel.trainer.models.objectives import Objective, make_objective
from gpupanel.trainer.models.optimizers import make_optimizer
from gpupanel.trainer.models.precision import set_precision
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.strategies.placed_layers import choose_places

_NOT_TRAINABLE = Problem(
    code="saved_model_not_trainable",
    field="model.source",
    message="A saved model can be evaluated and predict, but not be trained on here.",
    hint='Choose the mlp or cnn, or set task to "evaluate" or "predict".',
)


@dataclass(frozen=True, slots=True)
class Learner:
    """What learns, on every replica.

    Attributes:
        calls: Training steps.
        small_batch_calls: For a last batch that is too small for so many micro-batches.
        validation_calls: ``None`` when nothing is validated.
        placed: Where each layer is; ``model_parallel`` only.
    """

    built: BuiltModel
    objective: Objective
    optimizer: keras.optimizers.Optimizer
    calls: Calls
    small_batch_calls: Calls
    validation_calls: Calls | None
    placed: tuple[PlacedLayer, ...] = ()

    def state(self) -> dict[str, Array]:
        """Every variable of model and optimizer, by name."""
        variables = {f"model/{var.path}": var for var in self.built.trained.variables}
        variables |= {f"optimizer/{var.path}": var for var in self.optimizer.variables}
        return {name: np.asarray(variable.value) for name, variable in variables.items()}


def make_learner(run: StartedRun, split: Split, strategy: tf.distribute.Strategy) -> Learner:
    """Build everything; no step is traced or run yet.

    Raises:
        ProblemError: These settings do not work together.
    """
    training, plan = run.profile.training, run.plan
    across_replicas = len(plan.replicas) > 1
    if isinstance(run.profile.model, SavedModel):
        raise ProblemError(_NOT_TRAINABLE)
    _check_jit(run)
    set_precision(training)
    keras.config.set_image_data_format("channels_last")
    places = choose_places(run, run.profile.model, split) if plan.places else None
    keras.utils.set_random_seed(training.seed)
    with strategy.scope():
        built = build_model(
            run.profile.model,
            split.data,
            split.training,
            across_replicas=across_replicas,
            hook=places,
        )
        optimizer = make_optimizer(training)
        optimizer.build(built.trained.trainable_variables)
    objective = make_objective(split.data.target, built.value_unit, built.value_mean)

    def training_calls(accumulation_steps: int) -> Calls:
        step = TrainingStep(
            built.trained,
            objective,
            optimizer,
            accumulation_steps=accumulation_steps,
            jit_compile=training.jit_compile,
            clip_norm=training.clip_norm,
            timed=plan.balanced,
        )
        return Calls(strategy, feed, plan.shares, step, timed=plan.balanced)

    feed = make_feed(split.training, plan)
    calls = training_calls(plan.accumulation_steps)
    validation_calls = None
    if split.validation is not None:
        step = EvaluationStep(built.trained, objective)
        validation_calls = Calls(strategy, make_feed(split.validation, plan), plan.shares, step)
    small = calls if plan.accumulation_steps == 1 else training_calls(1)
    placed = places.told(built.trained) if places is not None else ()
    return Learner(built, objective, optimizer, calls, small, validation_calls, placed)


def _check_jit(run: StartedRun) -> None:
    model = run.profile.model
    if (
        run.profile.training.jit_compile
        and not isinstance(model, SavedModel)
        and model.batch_norm
        and model.batch_norm_synchronized
        and len(run.plan.replicas) > 1
    ):
        raise ProblemError(
            Problem(
                code="jit_compile_with_batch_norm",
                field="training.jit_compile",
                message="XLA cannot compile a model whose batch normalisation takes its "
                "statistics over several replicas.",
                hint="Turn off training.jit_compile, or model.batch_norm_synchronized: each "
                "replica then normalises by its own part.",
            )
        )
