"""Model, optimizer and compiled calls of one run, put together in the one order that works."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import keras
import tensorflow as tf

from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.event_details import PlacedLayer
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.schedule import RateCurve
from gpupanel.domain.training import HalfPrecision, TrainingSettings
from gpupanel.trainer.augmentation.augmenter import Augmenter, make_augmenter
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.metrics.evaluation_objective import EvaluationObjective
from gpupanel.trainer.models.array_classes import kept_weights
from gpupanel.trainer.models.build import BuiltModel, build_model
from gpupanel.trainer.models.divided_optimizer import LearningOptimizer, whole_of
from gpupanel.trainer.models.gathering import Gathering
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.models.objectives import Objective
from gpupanel.trainer.models.optimizers import learning_rate_of
from gpupanel.trainer.models.own_measures import OwnMeasures, check_own_loss, own_measures
from gpupanel.trainer.models.precision import set_precision
from gpupanel.trainer.models.recomputed import recomputed_segments
from gpupanel.trainer.models.variable_state import assign_variables, by_name, read_variables
from gpupanel.trainer.models.weight_averages import WeightAverages
from gpupanel.trainer.parts.loss_scale import LossScale
from gpupanel.trainer.periods import (
    Period,
    count_parameters,
    gathering_of,
    make_optimizers,
    make_periods,
)
from gpupanel.trainer.run_objectives import objectives_of
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.steps.calls_over import calls_over
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.data_on_gpu import with_data_placed
from gpupanel.trainer.steps.order import make_epoch_order, steps_per_epoch
from gpupanel.trainer.steps.replica_steps import EvaluationStep, TrainingStep
from gpupanel.trainer.steps.step_calls import StepCalls, TrainingCalls
from gpupanel.trainer.steps.trials import Trials
from gpupanel.trainer.strategies.placed_layers import PlacedLayers, choose_places

_LOSS_SCALE = "loss_scale/"
"""How names of its variables begin."""
_NOT_DIVIDED = Problem(
    code="model_not_divided",
    field="strategy.kind",
    message="The layers of this model cannot be placed on several devices: they are built before "
    "anything could place them.",
    hint="Use a strategy that keeps the model whole, such as mirrored.",
)
_JIT_WITH_BATCH_NORM = Problem(
    code="jit_compile_with_batch_norm",
    field="training.jit_compile",
    message="XLA cannot compile a model whose batch normalisation takes its statistics over "
    "several replicas.",
    hint="Turn off training.jit_compile, or model.batch_norm_synchronized: each replica then "
    "normalises by its own part of the batch.",
)


@dataclass(slots=True)
class Learner:
    """What learns, on every replica.

    Attributes:
        objective: What is measured of training examples.
        measured: What is measured of whole sets.
        training: As the profile says.
        steps_an_epoch: Optimizer updates of each.
        curve: The learning rate over the steps.
        periods: In their order; the last one has most weights that learn.
        validation_calls: ``None`` when nothing is validated.
        test_calls: ``None`` where no test set is left for the end.
        placed: Where each layer is; ``model_parallel`` only.
        augmenter: Changes the training examples; ``None``: they stay as they are.
        averages: Of the weights, which are measured and saved in their place; ``None``: the weights
            themselves are.
        loss_scale: Of float16; ``None`` in other floats.
        gathering: Of several processes that keep the optimizer's state together: each has to call
            :meth:`state` when one does. ``None``: each has all of it.
        own: Loss and metrics of the person's own.
        period: The one that goes on.
    """

    built: BuiltModel
    objective: Objective
    measured: EvaluationObjective
    training: TrainingSettings
    steps_an_epoch: int
    curve: RateCurve
    periods: tuple[Period, ...]
    validation_calls: StepCalls | None
    test_calls: StepCalls | None
    placed: tuple[PlacedLayer, ...] = ()
    augmenter: Augmenter | None = None
    averages: WeightAverages | None = None
    loss_scale: LossScale | None = None
    gathering: Gathering | None = None
    own: OwnMeasures = field(default_factory=OwnMeasures)
    period: Period = field(init=False)

    def __post_init__(self) -> None:
        self.period = self.periods[0]

    @property
    def calls(self) -> TrainingCalls:
        """Training steps of the period that goes on."""
        return self.period.calls

    @property
    def trials(self) -> Trials | None:
        """The trials of these steps; ``None`` where shares are not balanced."""
        return self.period.trials

    def turn_to(self, epoch: int) -> bool:
        """Have those weights learn that do in this epoch, counted from 1.

        Returns:
            Whether they are others than before: their steps are not traced yet.
        """
        period = next(each for each in reversed(self.periods) if epoch >= each.from_epoch)
        if period is self.period:
            return False
        period.calls.shares = self.calls.shares
        period.begin(self.built)
        self.period = period
        return True

    def begin_epoch(self, epoch: int, examples: int) -> None:
        """Train on so many examples as they are in that epoch, counted from 1."""
        if self.augmenter is not None:
            self.augmenter.begin_epoch(epoch, examples)

    def train_for(self, epochs: int) -> bool:
        """Follow the learning rate of a training of so many epochs from now on.

        Returns:
            Whether it is another than before: the steps are not traced yet.
        """
        training = self.training.model_copy(update={"epochs": epochs})
        fine_tuning = self.periods[-1].fine_tuning
        curve = training.rate_curve(self.steps_an_epoch, fine_tuning)
        if curve == self.curve:
            return False
        self.curve = curve
        for period in self.periods:
            period.optimizer.learning_rate = learning_rate_of(
                training, self.steps_an_epoch, period.fine_tuning
            )
            period.calls.renew()
        return True

    def lower_rate(self, factor: float) -> None:
        """Train at this part of the learning rate from now on, where the loss decides about it."""
        for period in self.periods:
            period.optimizer.learning_rate = period.rate * factor

    def close(self) -> None:
        """Read no more examples."""
        # All periods read from the same.
        for calls in (self.calls, self.validation_calls, self.test_calls):
            if calls is not None:
                calls.close()

    def state(self) -> dict[str, Array]:
        """Every variable of model and optimizer, by name."""
        return read_variables(self._variables())

    def weights(self) -> dict[str, Array]:
        """What a model is measured and saved with now: a part of :meth:`state`.

        Its weights, statistics of batch normalisations among them; of those that are averaged, the
        averages.
        """
        return read_variables(self._measured_variables())

    def weights_in(self, state: Mapping[str, Array]) -> dict[str, Array]:
        """The same of what :meth:`state` or :meth:`weights` gave earlier.

        Raises:
            KeyError: It is of another model.
        """
        return {name: state[name] for name in self._measured_variables()}

    def put_weights(self, weights: Mapping[str, Array]) -> None:
        """Measure and save with these from now on.

        Args:
            weights: As :meth:`weights` gave them.

        Raises:
            ProblemError: They are of another model; nothing is changed.
        """
        assign_variables(self._measured_variables(), weights)

    def plain_model(self) -> keras.Model:
        """The model as people use it; see :meth:`~BuiltModel.plain`."""
        return self.built.plain({} if self.averages is None else self.averages.by_weight())

    def restore(self, state: Mapping[str, Array]) -> None:
        """Give every variable of model and optimizer what it held.

        Raises:
            ProblemError: The state is one of another model or optimizer; nothing is changed.
        """
        variables = self._variables()
        both = variables.keys() & state.keys()

        def counts(name: str) -> bool:
            # A run may go on in other floats, whose loss is scaled only now, or not any more.
            return name in both or not name.startswith(_LOSS_SCALE)

        assign_variables(
            {name: each for name, each in variables.items() if counts(name)},
            {name: array for name, array in state.items() if counts(name)},
        )

    def _measured_variables(self) -> dict[str, keras.Variable]:
        averages = {} if self.averages is None else self.averages.variables_by_weight()
        measured = {id(averages.get(id(each), each)) for each in self.built.trained.weights}
        return {name: each for name, each in self._variables().items() if id(each) in measured}

    def _variables(self) -> dict[str, keras.Variable]:
        model = self.built.trained
        variables = by_name("model", model.weights)
        # Keras numbers these through the whole process, so that their names say nothing.
        known = {id(weight) for weight in model.weights}
        # No step changes them; a checkpoint has always had them.
        seeds = [each for each in model.variables if id(each) not in known]
        variables |= {f"random/{number}": seed for number, seed in enumerate(seeds)}
        of_optimizers = [each for period in self.periods for each in period.optimizer.variables]
        variables |= by_name("optimizer", of_optimizers)
        if self.loss_scale is not None:
            scale = self.loss_scale
            variables[f"{_LOSS_SCALE}scale"] = scale.scale
            variables[f"{_LOSS_SCALE}updates"] = scale.updates
        return variables


def make_learner(run: StartedRun, split: Split, strategy: tf.distribute.Strategy) -> Learner:
    """Build everything; no step is traced or run yet.

    Raises:
        ProblemError: These settings do not work together.
    """
    training, plan = run.profile.training, run.plan
    across_replicas = strategy.num_replicas_in_sync > 1
    half = plan.half_precision if training.mixed_precision else None
    set_precision(half)
    own = own_measures(run.model_code)
    if own.code is None:
        own = replace(own, weights=kept_weights(run.profile.model, run.start_model))
    check_own_loss(own, run.profile)
    building = Building(
        split.data,
        split.training,
        run.model_code,
        across_replicas,
        start_model=run.start_model,
        has_own_loss=own.loss is not None,
    )
    places = _places(run, split)
    if places is not None:
        building = replace(building, hook=places)
    keras.utils.set_random_seed(training.seed)
    fine_tuning = run.profile.model.fine_tuning
    with strategy.scope():
        built = build_model(run.profile.model, building)
        order = make_epoch_order(run.profile.data, split, training.seed)
        steps_an_epoch = steps_per_epoch(len(order), plan.global_batch_size)
        weights = built.trained.trainable_variables
    gathering = gathering_of(run, strategy)
    optimizers = make_optimizers(run, strategy, built, steps_an_epoch, gathering)
    with strategy.scope():
        averages = None
        if training.ema is not None:
            averages = WeightAverages(whole_of(optimizers[0]), weights, training.ema)
        loss_scale = LossScale() if half is HalfPrecision.FLOAT16 else None
    segments = recomputed_segments(built.trained, training.recompute)
    if training.jit_compile and built.waits_within:
        raise ProblemError(_JIT_WITH_BATCH_NORM)
    objective, learned = objectives_of(run.profile, split, built, own)
    learns_inputs = split.data.learns_inputs
    augmenter = make_augmenter(
        run.profile.data.chosen_augmentation,
        split.training,
        split.data.target,
        class_count=len(split.data.class_names),
        greatest=split.data.greatest,
        seed=training.seed,
    )

    plan = with_data_placed(plan, (split.training, split.validation, split.test), weights)
    # One replica waits for no other: from its calls all is known.
    timed = plan.balanced or across_replicas
    copies = DataCopies()
    over_training = calls_over(
        split.training,
        strategy,
        plan,
        objective.size,
        copies,
        timed=timed,
        augmenter=augmenter,
    )

    def period_of(optimizer: LearningOptimizer, later: FineTuning | None) -> Period:
        """The period of the weights that are trainable now."""

        def training_step(micro_batches: int) -> TrainingStep:
            return TrainingStep(
                built.trained,
                learned,
                optimizer,
                seed=training.seed,
                micro_batches=micro_batches,
                pipelined=places is not None and run.profile.strategy.pipeline,
                jit_compile=training.jit_compile,
                clip_norm=training.clip_norm,
                averages=averages,
                timed=timed,
                segments=segments,
                loss_scale=loss_scale,
                learns_inputs=learns_inputs,
            )

        calls = TrainingCalls(
            lambda micro_batches: over_training.make(training_step(micro_batches)),
            plan.accumulation_steps,
        )
        trials = None
        if plan.balanced and across_replicas and over_training.feed is not None:
            tried = training_step(plan.accumulation_steps).tried
            trials = Trials(strategy, over_training.feed, tried, plan)
        rate = None if later is None else later.learning_rate
        return Period(
            count_parameters(built.trained.trainable_variables),
            sum(layer.trainable for layer in built.base_layers),
            training.learning_rate if rate is None else rate,
            optimizer,
            calls,
            trials,
            later,
        )

    with strategy.scope():
        measured = EvaluationObjective(
            objective,
            split.data.target if built.gives_rows else None,
            building.output_count,
            built.value_units,
            built.value_means,
            exact_area=training.best_metric is BestMetric.AUC,
        )
    evaluation = EvaluationStep(built.trained, measured, averages, learns_inputs=learns_inputs)
    validation_calls, test_calls = (
        None
        if part is None
        else calls_over(part, strategy, plan, measured.size, copies).make(evaluation)
        for part in (split.validation, split.test)
    )
    placed = places.placed(built.trained) if places is not None else ()
    periods = make_periods(built, optimizers, fine_tuning, period_of)
    return Learner(
        built,
        objective,
        measured,
        training,
        steps_an_epoch,
        training.rate_curve(steps_an_epoch, fine_tuning),
        periods,
        validation_calls,
        test_calls,
        placed,
        augmenter,
        averages,
        loss_scale,
        gathering,
        own,
    )


def _places(run: StartedRun, split: Split) -> PlacedLayers | None:
    if not run.plan.places:
        return None
    if not run.profile.model.is_divided:
        raise ProblemError(_NOT_DIVIDED)
    return choose_places(run, split)
