"""What training settings need, as problems with stable codes."""

from collections.abc import Iterator

from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.strategy import SHARING_KINDS
from gpupanel.planning.context import PlanningContext

MANY_ACCUMULATION_STEPS = 128
"""Of a thousand the small network of the tests is not traced within six minutes."""
BFLOAT16_FROM = (8, 0)
"""Compute capability from which NVIDIA GPUs calculate with bfloat16 (Ampere)."""


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
    """Mixed precision is bfloat16 here: it needs no loss scaling, but newer GPUs."""
    too_old = [
        gpu.name
        for gpu in context.gpus
        if gpu.compute_capability is not None and gpu.compute_capability < BFLOAT16_FROM
    ]
    if context.trains and context.profile.training.mixed_precision and too_old:
        yield Problem(
            code="mixed_precision_not_supported",
            field="training.mixed_precision",
            message=f"{', '.join(too_old)} cannot calculate with bfloat16, which needs compute "
            "capability 8.0.",
            hint="Switch mixed precision off, or use newer GPUs only.",
            fix=_switch_off("mixed_precision"),
        )


def momentum_unused(context: PlanningContext) -> Iterator[Problem]:
    """A momentum that the optimizer has no setting for."""
    training = context.profile.training
    has_momentum = training.optimizer.traits.has_momentum
    if context.trains and training.momentum and not has_momentum:
        yield Problem(
            code="momentum_unused",
            severity=Severity.HINT,
            field="training.momentum",
            message=f"{training.optimizer.label} has no momentum setting; the value is not used.",
            hint="Set it to 0, or use SGD.",
            fix=Fix.of("Set to 0", "training.momentum", 0.0),
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
            "that without accumulation.",
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


def accumulation_beyond_share(context: PlanningContext) -> Iterator[Problem]:
    """More micro-batches than a replica has examples, or than TensorFlow traces in time."""
    if context.shares is None or not context.trains:
        return
    steps, smallest = context.profile.training.accumulation_steps, min(filter(None, context.shares))
    if steps > smallest:
        yield Problem(
            code="accumulation_above_share",
            field="training.accumulation_steps",
            message=f"A share of {smallest} examples cannot be taken in {steps} micro-batches.",
            hint=f"Use at most {smallest} accumulation steps, or a larger global batch.",
            fix=Fix.of(f"Use {smallest}", "training.accumulation_steps", smallest),
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
