"""XLA is proposed where it was measured to help here, and nowhere else."""

from dataclasses import replace

import pytest

from gpupanel.domain.bench import Bench, BenchCandidate, BenchDivision, BenchResult
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.findings.context import FindingContext
from gpupanel.planning.fixes import apply_fix
from tests.fakes.devices import CPU_ONLY
from tests.unit.planning.findings.recorded import (
    context_of,
    found_in,
    profile_of,
    reports_of,
    spent,
)


def result(speed: float | None, spread: float | None = 0.02, **parts: object) -> BenchResult:
    given = {
        "division": BenchDivision.ALONE,
        "device_keys": (CPU_KEY,),
        "visible": (CPU_KEY,),
        "strategy": StrategySettings(kind=StrategyKind.ONE_DEVICE),
        **parts,
    }
    candidate = BenchCandidate(**given)
    return BenchResult(candidate=candidate, name="x", examples_per_second=speed, spread=spread)


PLAIN = result(1_000.0)
COMPILED = result(1_350.0, jit_compile=True, variant="with XLA")

ELSEWHERE = {"device_keys": ("GPU-1",)}


def training(*results: BenchResult, **settings: object) -> FindingContext:
    context = context_of(profile_of(), CPU_ONLY, reports=reports_of(lambda _: spent()))
    chosen = TrainingSettings(global_batch_size=256, epochs=200, **settings)
    profile = context.profile.model_copy(update={"training": chosen})
    return replace(context, profile=profile, bench=Bench(results=results))


def test_that_xla_is_proposed_where_it_was_measured_to_help() -> None:
    context = training(PLAIN, COMPILED)
    finding = found_in(context)["xla_helps"]
    assert "1.35 times as fast" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(0.35 / 1.35)
    assert finding.problem.fix is not None
    assert apply_fix(context.profile, finding.problem.fix).training.jit_compile


@pytest.mark.parametrize(
    "results",
    [
        (),
        (PLAIN,),
        (COMPILED,),
        (PLAIN, result(1_080.0, jit_compile=True)),
        (PLAIN, result(1_350.0, 0.4, jit_compile=True)),
        (result(1_000.0, 0.4), COMPILED),
        (PLAIN, result(1_350.0, None, jit_compile=True)),
        (result(1_000.0, None), COMPILED),
        (result(None), COMPILED),
        (PLAIN, result(None, jit_compile=True)),
        (PLAIN, result(1_350.0, jit_compile=True, mixed_precision=True)),
        (PLAIN, result(1_350.0, jit_compile=True, division=BenchDivision.EQUAL)),
        (
            result(1_000.0, device_keys=("GPU-1",)),
            result(2_000.0, device_keys=("GPU-1",), jit_compile=True),
        ),
        (result(1_000.0, replicas=2), result(2_000.0, replicas=2, jit_compile=True)),
    ],
    ids=[
        "nothing",
        "only without",
        "only with",
        "too little",
        "its runs differ by more",
        "those without differ by more",
        "one run with",
        "one run without",
        "failed without",
        "failed with",
        "other precision",
        "other division",
        "other device",
        "other replicas",
    ],
)
def test_that_xla_is_not_proposed_on_a_guess(results: tuple[BenchResult, ...]) -> None:
    assert "xla_helps" not in found_in(training(*results))


def test_that_xla_that_is_on_is_not_proposed() -> None:
    assert "xla_helps" not in found_in(training(PLAIN, COMPILED, jit_compile=True))


def test_that_nothing_is_said_before_the_training_has_settled() -> None:
    early = replace(training(PLAIN, COMPILED), reports=reports_of(lambda _: spent(), count=5))
    assert "xla_helps" not in found_in(early)


def test_that_the_same_precision_is_compared() -> None:
    both = tuple(
        each.model_copy(
            update={"candidate": each.candidate.model_copy(update={"mixed_precision": True})}
        )
        for each in (PLAIN, COMPILED)
    )
    assert "xla_helps" in found_in(training(*both, mixed_precision=True))
    assert "xla_helps" not in found_in(training(*both))
