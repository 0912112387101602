"""Batches that are too small for the device."""

from collections.abc import Iterator
from statistics import fmean
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.finding import Finding
from gpupanel.domain.time_spent import TimeCategory
from gpupanel.planning.findings.context import FindingContext, TimedReport, hint, since
from gpupanel.planning.rules.suggestion_rules import batch_for, use_batch

_SHORT_STEP_S: Final = 0.4e-3
"""On a processor. Measured with TensorFlow 2.21 and the digits' network: a step takes 0.25 ms with
1 example, 0.26 with 8, 0.34 with 32, 0.42 with 64 and 1.5 with 256. Below that it is starting
operations that takes the time, not the examples."""
_FEW_EXAMPLES: Final = 16
"""The largest share of a replica that counts as small."""
_SHORT_GPU_STEP_S: Final = 20e-3
"""Starting a kernel takes the host some 5 us (NVIDIA, "CUDA C++ Best Practices Guide"), a step of
a large model has a few thousand: a longer step does not wait for them."""
_IDLE_PERCENT: Final = 50.0
"""Mean utilization of a GPU below which it waits for the host more than it works."""
_MOST_ELSEWHERE: Final = 0.2
"""Of the time, what waits for something else: then the batch is not what leaves a GPU idle."""
_LARGER: Final = 4
"""Times the batch, for a GPU that is idle for half of the time or more."""


def batch_too_small(context: FindingContext) -> Iterator[Finding]:
    """Steps so short that starting them takes longer than their examples.

    On a processor by the length of a step and the examples in it; on a GPU where NVML's
    utilization is low, too. Silent where a larger batch would leave an epoch few updates.
    """
    steps = context.reports[-1].step - context.reports[0].step if context.reports else 0
    if not context.has_settled or steps <= 0:
        return
    # Of the first report the steps are not known: they are those since the one before it.
    known = context.reports[1:]
    computing_s = sum(_computing_s(each) for each in known) / steps
    if context.is_on_cpu:
        yield from _on_cpu(context, computing_s)
    else:
        seconds = sum(each.spent.seconds for each in known)
        yield from _on_gpus(context, computing_s, seconds / steps)


def _on_cpu(context: FindingContext, step_s: float) -> Iterator[Finding]:
    most = max(context.shares, default=0) // context.plan.accumulation_steps
    batch = context.plan.global_batch_size
    larger = _larger_batch(context, batch_for(_examples(context)))
    if step_s >= _SHORT_STEP_S or most > _FEW_EXAMPLES or larger is None:
        return
    yield Finding(
        problem=hint(
            "batch_too_small",
            f"A step computes for {step_s * 1e3:.2f} ms only: on {context.name(CPU_KEY)} starting "
            f"its operations takes longer than a batch of {batch:,}.",
            f"A batch of {larger:,} takes little longer; the learning rate may have to be raised "
            "with it.",
            (context.fix(use_batch(larger)),),
            "training.global_batch_size",
        ),
        since_s=context.reports[0].begun_s,
        device_key=CPU_KEY,
    )


def _on_gpus(context: FindingContext, computing_s: float, step_s: float) -> Iterator[Finding]:
    fractions = context.spent.fractions()
    elsewhere = sum(
        fractions.get(activity, 0.0)
        for activity in TimeCategory
        if activity not in (TimeCategory.COMPUTING, TimeCategory.HOST)
    )
    batch = context.plan.global_batch_size
    larger = _larger_batch(context, min(_LARGER * batch, _most_of(context)))
    if step_s >= _SHORT_GPU_STEP_S or elsewhere >= _MOST_ELSEWHERE or larger is None:
        return
    for gpu in context.gpus:
        known = [
            reading.gpu_utilization_percent
            for _, reading in context.readings(gpu.key)
            if reading.gpu_utilization_percent is not None
        ]
        if not known or fmean(known) >= _IDLE_PERCENT:
            continue
        percent = fmean(known)
        yield Finding(
            problem=hint(
                "batch_too_small",
                f"{context.name(gpu.key)} is busy for {percent:.0f} % of the time: a step of "
                f"{batch:,} examples computes for {computing_s * 1e3:.1f} ms, and the host takes "
                "longer to start it.",
                f"A batch of {larger:,} gives each step more to do; the learning rate may have to "
                "be raised with it.",
                (context.fix(use_batch(larger)),),
                "training.global_batch_size",
            ),
            since_s=since(context.reports, lambda _: True),
            cost_fraction=min(1.0, max(0.0, 1.0 - percent / 100.0)),
            device_key=gpu.key,
        )


def _computing_s(report: TimedReport) -> float:
    replicas = report.spent.replicas
    return max((each.computing_s for each in replicas), default=0.0)


def _examples(context: FindingContext) -> int:
    return 0 if context.data is None else context.data.training_examples


def _most_of(context: FindingContext) -> int:
    """The largest batch, a power of two, with which an epoch has eight updates."""
    return int(2 ** max(0, (_examples(context) // 8).bit_length() - 1))


def _larger_batch(context: FindingContext, wanted: int) -> int | None:
    return wanted if wanted > context.plan.global_batch_size else None
