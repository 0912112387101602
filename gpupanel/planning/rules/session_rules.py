"""What task and training settings need, as problems with stable codes."""

from gpupanel.domain.data import KerasData, PythonData
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import SHARING_KINDS
from gpupanel.domain.training import Optimizer
from gpupanel.planning.rules.inference_rules import inference_problems

MANY_ACCUMULATION_STEPS = 128
"""Of a thousand the small network of the tests is not traced within six minutes."""
BFLOAT16_FROM = (8, 0)
"""Compute capability from which NVIDIA GPUs calculate with bfloat16 (Ampere)."""


def session_problems(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """Every problem of task and training settings."""
    problems = inference_problems(profile)
    if profile.task != "train":
        return problems
    on_gpus = any(device.is_gpu for device in devices)
    return [
        *problems,
        *_precision_on_cpu(profile, on_gpus=on_gpus),
        *_precision_on_old_gpus(profile, devices),
        *_momentum_unused(profile),
        *_accumulation_with_batch_norm(profile),
        *_stopping_without_validation(profile),
    ]


def accumulation_problems(profile: Profile, shares: tuple[int, ...]) -> list[Problem]:
    """More micro-batches than a replica has examples, or than TensorFlow traces in time."""
    steps, smallest = profile.training.accumulation_steps, min(filter(None, shares))
    if steps <= smallest:
        return [_accumulation_is_slow(steps)] if steps > MANY_ACCUMULATION_STEPS else []
    return [
        Problem(
            code="accumulation_above_share",
            field="training.accumulation_steps",
            message=f"A share of {smallest} examples cannot be taken in {steps} micro-batches.",
            hint=f"Use at most {smallest} accumulation steps, or a larger global batch.",
            fix=Fix(
                label=f"Use {smallest}",
                changes=(Change(path=("training", "accumulation_steps"), value=smallest),),
            ),
        )
    ]


def _accumulation_is_slow(steps: int) -> Problem:
    return Problem(
        code="accumulation_traced_slowly",
        severity=Severity.WARNING,
        field="training.accumulation_steps",
        message=f"TensorFlow traces each of the {steps:,} micro-batches of a step by itself before "
        "the first one: that takes minutes, and may take longer than a first step is waited for.",
        hint=f"Use {MANY_ACCUMULATION_STEPS} accumulation steps at most.",
    )


def _precision_on_cpu(profile: Profile, *, on_gpus: bool) -> list[Problem]:
    if on_gpus or not profile.training.mixed_precision:
        return []
    return [
        Problem(
            code="mixed_precision_on_cpu",
            severity=Severity.WARNING,
            field="training.mixed_precision",
            message="Mixed precision makes most CPUs slower, not faster.",
            hint="Switch it off for a run on the CPU.",
            fix=_switch_off("mixed_precision"),
        )
    ]


def _precision_on_old_gpus(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> list[Problem]:
    """Mixed precision is bfloat16 here: it needs no loss scaling, but newer GPUs."""
    too_old = [
        device.name
        for device in devices
        if device.compute_capability is not None and device.compute_capability < BFLOAT16_FROM
    ]
    if not too_old or not profile.training.mixed_precision:
        return []
    return [
        Problem(
            code="mixed_precision_not_supported",
            field="training.mixed_precision",
            message=f"{', '.join(too_old)} cannot calculate with bfloat16: that takes compute "
            "capability 8.0.",
            hint="Switch mixed precision off, or use newer GPUs only.",
            fix=_switch_off("mixed_precision"),
        )
    ]


def batch_norm_problems(profile: Profile, replica_count: int) -> list[Problem]:
    """XLA cannot compile statistics that are taken over several replicas."""
    if replica_count == 1 or profile.strategy.kind not in SHARING_KINDS:
        return []
    if not (profile.training.jit_compile and profile.synchronizes_batch_norm):
        return []
    return [
        Problem(
            code="jit_compile_with_batch_norm",
            field="training.jit_compile",
            message="XLA cannot compile batch normalisation that takes its statistics over "
            "several replicas.",
            hint="Switch XLA off, or let each replica normalise by its own part of the batch.",
            fix=_switch_off("jit_compile"),
        )
    ]


def _accumulation_with_batch_norm(profile: Profile) -> list[Problem]:
    """Accumulation is the same mathematics except for what looks at the batch itself."""
    if profile.training.accumulation_steps == 1 or not profile.normalises_batches:
        return []
    return [
        Problem(
            code="accumulation_with_batch_norm",
            severity=Severity.HINT,
            field="training.accumulation_steps",
            message="Batch normalisation sees one micro-batch at a time: the result differs from "
            "that without accumulation.",
            hint="Use fewer accumulation steps, or leave batch normalisation out.",
        )
    ]


def _switch_off(key: str) -> Fix:
    return Fix(label="Switch it off", changes=(Change(path=("training", key), value=False),))


def _momentum_unused(profile: Profile) -> list[Problem]:
    training = profile.training
    if not training.momentum or training.optimizer in (Optimizer.SGD, Optimizer.RMSPROP):
        return []
    return [
        Problem(
            code="momentum_unused",
            severity=Severity.HINT,
            field="training.momentum",
            message=f"{training.optimizer} has no momentum setting; the value is not used.",
            hint="Set it to 0, or use sgd.",
            fix=Fix(label="Set to 0", changes=(Change(path=("training", "momentum"), value=0.0),)),
        )
    ]


def _stopping_without_validation(profile: Profile) -> list[Problem]:
    data, patience = profile.data, profile.training.early_stopping_patience
    # Whether Python code brings a test set is known when it runs.
    may_have_test_set = data.validation_fraction is None and isinstance(
        data, KerasData | PythonData
    )
    if patience is None or data.validation_fraction or may_have_test_set:
        return []
    return [
        Problem(
            code="early_stopping_without_validation",
            severity=Severity.WARNING,
            field="training.early_stopping_patience",
            message="Early stopping will watch the training loss: nothing is held back for "
            "validation.",
            hint="Hold back a fraction of the examples.",
            fix=Fix(
                label="Hold back 20 %",
                changes=(Change(path=("data", "validation_fraction"), value=0.2),),
            ),
        )
    ]
