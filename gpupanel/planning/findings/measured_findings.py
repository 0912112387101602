"""What comparing devices has shown on this machine, and the training does not use."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.bench import Bench, BenchResult
from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Fix
from gpupanel.planning.findings.context import FindingContext, hint

_LEAST_GAIN: Final = 0.1
"""Of the speed; and more than the runs that were measured differ among each other. Compiling with
XLA costs tens of seconds at each start, which less would hardly bring back."""


def xla_helps(context: FindingContext) -> Iterator[Finding]:
    """XLA made the same training faster on the same devices, when it was measured here.

    Nothing else says it: whether XLA helps depends on the model (TensorFlow's guide "XLA:
    Optimizing Compiler for Machine Learning" says to measure).
    """
    if context.profile.training.jit_compile or context.bench is None or not context.has_settled:
        return
    gains = [gain for gain in _gains(context, context.bench) if gain is not None]
    gain = max(gains, default=0.0)
    if gain < _LEAST_GAIN:
        return
    yield Finding(
        problem=hint(
            "xla_helps",
            f"With XLA the same training was {1.0 + gain:.2f} times as fast on these devices when "
            "they were compared.",
            "Switch XLA on: the first steps take longer, while it compiles.",
            (context.fix(Fix.of("Use XLA", "training.jit_compile", value=True)),),
            "training.jit_compile",
        ),
        since_s=context.reports[0].begun_s,
        cost_fraction=gain / (1.0 + gain),
    )


def _gains(context: FindingContext, bench: Bench) -> Iterator[float | None]:
    """What XLA gained in each pair of results that differ in nothing else."""
    keys = frozenset(replica.device_key for replica in context.plan.replicas)
    precision = context.profile.training.mixed_precision
    alike = [
        each
        for each in bench.results
        if frozenset(each.candidate.device_keys) == keys
        and each.candidate.replicas == len(context.plan.replicas)
        and each.candidate.mixed_precision == precision
    ]
    for plain in alike:
        if plain.candidate.jit_compile:
            continue
        compiled = plain.candidate.model_copy(update={"jit_compile": True})
        for other in alike:
            variant = other.candidate.model_copy(update={"variant": plain.candidate.variant})
            if variant == compiled:
                yield _gain(plain, other)


def _gain(plain: BenchResult, compiled: BenchResult) -> float | None:
    """How much faster the second is; ``None``: the difference is within the noise."""
    before, after = plain.examples_per_second, compiled.examples_per_second
    if before is None or after is None or plain.spread is None or compiled.spread is None:
        return None  # one run alone does not say how much runs differ
    gain = after / before - 1.0
    return gain if gain > max(plain.spread, compiled.spread) else None
