"""What training settings need, as problems with stable codes."""

from collections.abc import Iterator

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.optimizer import Optimizer, optimizers_taking
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.schedule import ScheduleKind, ScheduleSettings
from gpupanel.domain.setting import setting_of, settings_of
from gpupanel.domain.strategy import SHARING_KINDS, StrategyKind
from gpupanel.domain.training import HalfPrecision, Recompute, TrainingSettings
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.half_precision import BFLOAT16_FROM, TENSOR_CORES_FROM, below
from gpupanel.planning.rules.placement_rules import placeable_layers

MANY_ACCUMULATION_STEPS = 128
"""Of a thousand the small network of the tests is not traced within six minutes."""
_OF_OPTIMIZERS = tuple(dict.fromkeys(name for each in Optimizer for name in each.traits.takes))
"""What not every optimizer takes."""


def mixed_precision_on_cpu(context: PlanningContext) -> Iterator[Problem]:
    """Mixed precision without a GPU."""
    if context.trains and context.profile.training.mixed_precision and not context.gpus:
        yield Problem(
            code="mixed_precision_on_cpu",
            severity=Severity.WARNING,
            field="training.mixed_precision",
            message="Mixed precision makes most CPUs slower, not faster.",
            hint="Switch it off for a run on the CPU.",
            fix=_switch_off("mixed_precision"),
        )


def mixed_precision_on_old_gpus(context: PlanningContext) -> Iterator[Problem]:
    """GPUs before Ampere do not calculate with bfloat16, those before Volta slowly with float16."""
    training, plan = context.profile.training, context.plan
    if not (context.trains and training.mixed_precision):
        return
    too_old = below(BFLOAT16_FROM, context.gpus)
    names = ", ".join(dict.fromkeys(gpu.name for gpu in too_old))
    if too_old and training.half_precision is HalfPrecision.BFLOAT16:
        yield Problem(
            code="mixed_precision_not_supported",
            field="training.half_precision",
            message=f"{names} cannot calculate with bfloat16, which needs compute capability 8.0.",
            hint="Let the GPUs decide: all of them then compute in float16.",
            fix=Fix.of("By the GPUs", "training.half_precision", HalfPrecision.AUTO.value),
        )
        return
    if plan is None or plan.half_precision is HalfPrecision.BFLOAT16:
        return
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        yield Problem(
            code="float16_with_parameter_server",
            field="training.mixed_precision",
            message="Mixed precision would compute in float16, whose loss is scaled by what all "
            "replicas find together, and with parameter servers each worker updates alone.",
            hint="Switch mixed precision off, or use a synchronous strategy, such as mirrored.",
            fix=_switch_off("mixed_precision"),
        )
    elif slow := below(TENSOR_CORES_FROM, context.gpus):
        yield Problem(
            code="mixed_precision_without_tensor_cores",
            severity=Severity.WARNING,
            field="training.mixed_precision",
            message=f"{', '.join(dict.fromkeys(gpu.name for gpu in slow))}: without tensor cores "
            "mixed precision takes less memory, and is hardly faster.",
            hint="Switch it off if the model fits without it.",
            fix=_switch_off("mixed_precision"),
        )
    elif too_old and training.half_precision is HalfPrecision.AUTO:
        yield Problem(
            code="mixed_precision_in_float16",
            severity=Severity.HINT,
            field="training.mixed_precision",
            message=f"Mixed precision computes in float16 with a scaled loss, because {names} "
            "cannot calculate with bfloat16.",
            hint="Nothing has to be done: all replicas compute in the same 16-bit floats.",
        )


def recompute_after_no_layer(context: PlanningContext) -> Iterator[Problem]:
    """Blocks that are to end after named layers, and no name, or one that the model has not."""
    model, after = context.profile.model, context.profile.training.recompute
    if not context.trains or isinstance(after, Recompute):
        return
    names = placeable_layers(model, context.profile.data)
    missing = [name for name in after if name not in names] if names else []
    if after and not missing:
        return
    message = "No layer is named after which a block of the model ends."
    if missing:
        has = f"The {model.source} has no layer {', '.join(missing)}"
        message = f"{has}, after which a block is to end; its layers: {', '.join(names)}."
    yield Problem(
        code="recompute_without_blocks",
        field="training.recompute",
        message=message,
        hint="Name layers of the model, or have the blocks found.",
        fix=Fix.of("Find the blocks", "training.recompute", Recompute.BLOCKS.value),
    )


def determinism_without_effect(context: PlanningContext) -> Iterator[Problem]:
    """The same bits, of a run that depends on when something comes."""
    if context.plan is None or not context.profile.training.deterministic:
        return
    off = _switch_off("deterministic")
    if context.plan.strategy is StrategyKind.PARAMETER_SERVER:
        yield Problem(
            code="deterministic_with_workers_by_turns",
            severity=Severity.WARNING,
            field="training.deterministic",
            message="With parameter servers a step begins with the weights that it finds then, so "
            "no two runs give the same bits, whatever the operations do.",
            hint="Use a synchronous strategy, such as mirrored, or switch determinism off.",
            fix=off,
        )
    if context.plan.balanced:
        yield Problem(
            code="deterministic_with_measured_shares",
            severity=Severity.WARNING,
            field="training.deterministic",
            message="Measured shares differ from run to run, and with them the order in which "
            "gradients are summed: the last bits of the weights will differ.",
            hint="Use equal shares, or ones of your own.",
            fix=Fix.of("Use equal shares", "strategy.shares", "equal"),
            alternatives=(off,),
        )


def optimizer_settings_unused(context: PlanningContext) -> Iterator[Problem]:
    """What the optimizer has no setting for, such as a momentum; codes as ``momentum_unused``."""
    training = context.profile.training
    takes = training.optimizer.traits.takes
    for name in _OF_OPTIMIZERS if context.trains else ():
        one = setting_of(TrainingSettings, name)
        if name in takes or getattr(training, name) == one.default:
            continue
        yield Problem(
            code=f"{name}_unused",
            severity=Severity.HINT,
            field=f"training.{name}",
            message=f"{training.optimizer.label} has no setting training.{name}; the value is not "
            "used.",
            hint=f"Leave it out, or use {' or '.join(optimizers_taking(name))}.",
            fix=Fix.of("Leave it out", f"training.{name}"),
        )


def nesterov_without_momentum(context: PlanningContext) -> Iterator[Problem]:
    """A step where the momentum leads, and none that leads."""
    training = context.profile.training
    takes = "nesterov" in training.optimizer.traits.takes
    if context.trains and takes and training.nesterov and not training.momentum:
        yield Problem(
            code="nesterov_without_momentum",
            severity=Severity.HINT,
            field="training.nesterov",
            message="Nesterov momentum changes nothing without a momentum.",
            hint="Set training.momentum above 0, such as 0.9.",
            fix=Fix.of("Set momentum to 0.9", "training.momentum", 0.9),
        )


def schedule_unused(context: PlanningContext) -> Iterator[Problem]:
    """What means nothing to the kind of schedule."""
    schedule = context.profile.training.schedule
    for each in settings_of(ScheduleSettings) if context.trains else ():
        if getattr(schedule, each.name) == each.default or each.applies_in(schedule):
            continue
        kinds = " or ".join(f'"{kind}"' for kind in each.applies["kind"])
        yield Problem(
            code="schedule_key_unused",
            severity=Severity.HINT,
            field=f"training.schedule.{each.name}",
            message=f'{each.name} has no effect with a schedule of kind "{schedule.kind}".',
            hint=f"Leave it out, or choose {kinds}.",
            fix=Fix.of("Leave it out", f"training.schedule.{each.name}"),
        )


def schedule_beyond_training(context: PlanningContext) -> Iterator[Problem]:
    """A rate that is to rise or to fall when the training is over."""
    training = context.profile.training
    schedule, epochs = training.schedule, training.epochs
    if not context.trains:
        return
    if schedule.kind is ScheduleKind.COSINE and schedule.warmup_epochs >= epochs:
        yield Problem(
            code="warmup_beyond_training",
            severity=Severity.WARNING,
            field="training.schedule.warmup_epochs",
            message=f"The learning rate would rise for {schedule.warmup_epochs:g} epochs, and the "
            f"training has {epochs:,}: it would never be what training.learning_rate says.",
            hint="Warm up for fewer epochs, or train longer.",
        )
    if schedule.kind is ScheduleKind.STEP and schedule.every_epochs >= epochs:
        yield Problem(
            code="schedule_beyond_training",
            severity=Severity.HINT,
            field="training.schedule.every_epochs",
            message=f"The learning rate would fall after {schedule.every_epochs:,} epochs, and the "
            f"training has {epochs:,}: it stays what it is.",
            hint="Let it fall more often, or train longer.",
        )
    patience = training.early_stopping_patience
    if schedule.follows_loss and patience is not None and patience <= schedule.patience_epochs:
        yield Problem(
            code="plateau_after_early_stopping",
            severity=Severity.HINT,
            field="training.schedule.patience_epochs",
            message=f"Early stopping ends the training after {patience:,} epochs without progress, "
            f"before {schedule.patience_epochs:,} of them lower the learning rate.",
            hint="Wait for fewer epochs here, or for more in training.early_stopping_patience.",
        )


def plateau_without_validation(context: PlanningContext) -> Iterator[Problem]:
    """A rate that follows the validation loss, without validation examples."""
    follows = context.trains and context.profile.training.schedule.follows_loss
    if follows and not context.may_validate:
        yield Problem(
            code="plateau_without_validation",
            severity=Severity.WARNING,
            field="training.schedule.kind",
            message="The learning rate will follow the training loss: nothing is held out for "
            "validation.",
            hint="Hold out a fraction of the examples.",
            fix=Fix.of("Hold out 20 %", "data.validation_fraction", 0.2),
        )


def accumulation_with_batch_norm(context: PlanningContext) -> Iterator[Problem]:
    """Accumulation is the same mathematics except for what depends on the batch itself."""
    accumulates = context.trains and context.profile.training.accumulation_steps > 1
    if accumulates and context.profile.normalises_batches:
        yield Problem(
            code="accumulation_with_batch_norm",
            severity=Severity.HINT,
            field="training.accumulation_steps",
            message="Batch normalisation sees one micro-batch at a time: the result differs from "
            "that without accumulation, and depends on the shares, which decide what is in each "
            "micro-batch.",
            hint="Use fewer accumulation steps, or leave batch normalisation out.",
        )


def stopping_without_validation(context: PlanningContext) -> Iterator[Problem]:
    """Early stopping without validation examples.

    Whether arrays or Python code bring a test set is known when they are read.
    """
    patience = context.profile.training.early_stopping_patience
    if not context.trains or patience is None or context.may_validate:
        return
    yield Problem(
        code="early_stopping_without_validation",
        severity=Severity.WARNING,
        field="training.early_stopping_patience",
        message="Early stopping will watch the training loss: nothing is held out for validation.",
        hint="Hold out a fraction of the examples.",
        fix=Fix.of("Hold out 20 %", "data.validation_fraction", 0.2),
    )


def seldom_validated(context: PlanningContext) -> Iterator[Problem]:
    """Validations that are too rare for what goes by them; codes by which of it does."""
    training = context.profile.training
    every, patience = training.validate_every, training.early_stopping_patience
    if not context.trains or not context.may_validate or every == 1:
        return
    if every >= training.epochs:
        waits = [
            *(["early stopping never ends the training"] if patience is not None else []),
            *(["the learning rate never falls"] if training.schedule.follows_loss else []),
        ]
        if waits and training.epochs > 1:
            yield Problem(
                code="validated_only_at_the_end",
                severity=Severity.WARNING,
                field="training.validate_every",
                message=f"The model is validated after the last epoch only: {' and '.join(waits)}.",
                hint="Validate more often.",
                fix=Fix.of("Validate each epoch", "training.validate_every", 1),
            )
    elif patience is not None and patience < every:
        yield Problem(
            code="patience_below_validation",
            severity=Severity.HINT,
            field="training.early_stopping_patience",
            message=f"The model is validated after every {every:,} epochs, and early stopping "
            f"waits for {patience:,}: the first validation that is no better ends the training.",
            hint="Wait for more epochs, or validate more often.",
            fix=Fix.of(
                f"Wait for {2 * every:,} epochs", "training.early_stopping_patience", 2 * every
            ),
            alternatives=(Fix.of("Validate each epoch", "training.validate_every", 1),),
        )


def best_without_validation(context: PlanningContext) -> Iterator[Problem]:
    """The best epoch's weights are to be kept, and nothing shows which one is the best."""
    training = context.profile.training
    is_chosen = training.keep is Keep.BEST
    if not context.trains or not is_chosen or context.may_validate:
        return
    yield Problem(
        code="best_epoch_without_validation",
        severity=Severity.HINT,
        field="training.keep",
        message="The model will have the last weights: nothing is held out for validation, so no "
        "epoch is known to be the best one.",
        hint="Hold out a fraction of the examples, or keep the last weights.",
        fix=Fix.of("Hold out 20 %", "data.validation_fraction", 0.2),
        alternatives=(Fix.of("Keep the last weights", "training.keep", Keep.LAST.value),),
    )


def accumulation_beyond_share(context: PlanningContext) -> Iterator[Problem]:
    """More micro-batches than a replica has examples, or than TensorFlow traces in time."""
    if context.shares is None or not context.trains:
        return
    steps, smallest = context.profile.training.accumulation_steps, min(filter(None, context.shares))
    if steps > smallest:
        yield Problem(
            code="accumulation_above_share",
            field="training.accumulation_steps",
            message=f"A share of {smallest:,} examples cannot be taken in {steps:,} micro-batches.",
            hint=f"Use at most {smallest:,} accumulation steps, or a larger global batch.",
            fix=Fix.of(f"Use {smallest:,}", "training.accumulation_steps", smallest),
        )
    elif steps > MANY_ACCUMULATION_STEPS:
        yield Problem(
            code="accumulation_traced_slowly",
            severity=Severity.WARNING,
            field="training.accumulation_steps",
            message=f"TensorFlow traces each of the {steps:,} micro-batches of a step by itself "
            "before the first one: that takes minutes, and may take longer than a first step is "
            "waited for.",
            hint=f"Use {MANY_ACCUMULATION_STEPS} accumulation steps at most.",
        )


def jit_compile_with_batch_norm(context: PlanningContext) -> Iterator[Problem]:
    """XLA cannot compile statistics that are taken over several replicas."""
    profile, plan = context.profile, context.plan
    if plan is None or not context.trains or profile.strategy.kind not in SHARING_KINDS:
        return
    # Idle replicas are left out of one process; workers stay.
    several = len(plan.without_idle_replicas().replicas) > 1
    if several and profile.training.jit_compile and profile.synchronizes_batch_norm:
        yield Problem(
            code="jit_compile_with_batch_norm",
            field="training.jit_compile",
            message="XLA cannot compile batch normalisation that takes its statistics over "
            "several replicas.",
            hint="Switch XLA off, or let each replica normalise by its own part of the batch.",
            fix=_switch_off("jit_compile"),
        )


def _switch_off(key: str) -> Fix:
    return Fix.of("Switch it off", f"training.{key}", value=False)
