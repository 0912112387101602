"""What is measured of a run's examples, and what its training makes small."""

from collections.abc import Sequence

from gpupanel.domain.data import ClassWeights, DataSettings, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.datasets.split import Split, check_best_metric
from gpupanel.trainer.models.array_objectives import array_objective
from gpupanel.trainer.models.build import BuiltModel
from gpupanel.trainer.models.joint_objective import JointObjective
from gpupanel.trainer.models.objectives import (
    Classification,
    Floats,
    Objective,
    make_objective,
    named_weights,
)
from gpupanel.trainer.models.own_measures import OwnMeasures, check_fits_outputs
from gpupanel.trainer.models.own_objective import with_own
from gpupanel.trainer.models.training_objective import TrainingObjective
from gpupanel.trainer.parts.losses import balanced_weights

_NO_CLASSES = Problem(
    code="class_weights_without_classes",
    field="data.class_weights",
    message="Only classes can be weighted, and the labels are not classes.",
    hint='Set data.class_weights to "none".',
)
_LOSS_OF_VALUES = Problem(
    code="loss_without_classes",
    field="training.loss",
    message="A focal loss and label smoothing are of classes or several labels, and the data has "
    "values to be predicted.",
    hint='Set training.loss to "auto" and training.label_smoothing to 0.',
)


def objectives_of(
    profile: Profile, split: Split, built: BuiltModel, own: OwnMeasures
) -> tuple[Objective, Objective]:
    """What is measured, and what is made small, each with the person's own loss and metrics.

    Raises:
        ProblemError: The labels are no classes, and these were weighted, or their loss chosen; or
            what decides which epoch is the best is not measured of them.
    """
    data, training = split.data, profile.training
    if built.gives_rows:
        check_best_metric(training.best_metric, split)
    plain, measured = _plain_objective(built, own)
    check_fits_outputs(own, data, measured)
    learned = trained_objective(profile.data, training, split, plain)
    return with_own(own, plain, built), with_own(own, learned, built)


def _plain_objective(built: BuiltModel, own: OwnMeasures) -> tuple[Objective, Sequence[str]]:
    """What follows from the labels alone, and the names of what it measures of each output."""
    data = built.building.data
    if data.outputs:
        joint = JointObjective(data.outputs, own.weights)
        return joint, joint.names
    if data.arrays_of is not None:
        return array_objective(data), ()
    return make_objective(data.target, built.value_units, built.value_means), ()


def trained_objective(
    data: DataSettings, training: TrainingSettings, split: Split, measured: Objective
) -> Objective:
    """What is made small: what is measured, but for class weights and another loss.

    Raises:
        ProblemError: The labels are no classes, and these were weighted, or their loss chosen.
    """
    target, weights = split.data.target, _class_weights(data, split)
    if training.changes_loss:
        if target is Target.VALUES:
            raise ProblemError(_LOSS_OF_VALUES)
        return TrainingObjective(measured, target, training, weights)
    return measured if weights is None else Classification(weights)


def _class_weights(data: DataSettings, split: Split) -> Floats | None:
    """What an example of each class counts; ``None``: they count alike."""
    weights, names = data.class_weights, split.data.class_names
    if weights is ClassWeights.NONE:
        return None
    if split.data.target is not Target.CLASSES:
        raise ProblemError(_NO_CLASSES)
    if isinstance(weights, dict):
        return named_weights(weights, names)
    return balanced_weights(split.training.labels, len(names))
