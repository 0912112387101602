"""What measured speeds say about ways to train."""

import pytest

from gpupanel.domain.bench import (
    Bench,
    BenchCandidate,
    BenchDivision,
    BenchResult,
    bench_request,
    bench_sentence,
    fastest_of,
    with_efficiency,
)
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.training import TrainingSettings


def result(
    name: str,
    speed: float | None,
    keys: tuple[str, ...] = ("a",),
    division: BenchDivision = BenchDivision.ALONE,
    variant: str = "",
    problem: Problem | None = None,
) -> BenchResult:
    candidate = BenchCandidate(
        division=division,
        device_keys=keys,
        visible=keys,
        strategy=StrategySettings(),
        variant=variant,
    )
    return BenchResult(candidate=candidate, name=name, examples_per_second=speed, problem=problem)


def test_that_efficiency_is_of_what_the_devices_reach_alone() -> None:
    found = with_efficiency(
        (
            result("a", 100.0),
            result("b", 300.0, ("b",)),
            result("all", 200.0, ("a", "b"), BenchDivision.EQUAL),
            result("all, XLA", 800.0, ("a", "b"), BenchDivision.EQUAL, "with XLA"),
            result("a, XLA", 150.0, variant="with XLA"),
            result("with c", 200.0, ("a", "c"), BenchDivision.EQUAL),
            result("failed", None, ("b",), BenchDivision.EQUAL),
        )
    )
    efficiencies = [each.efficiency for each in found]
    assert efficiencies == [1.0, 1.0, 0.5, 2.0, 1.5, None, None]


def test_that_of_nearly_equal_ones_the_simplest_is_the_fastest() -> None:
    near = (result("a", 98.0), result("all", 100.0, ("a", "b")))
    fastest = fastest_of(near)
    assert fastest is not None
    assert fastest.name == "a"
    assert "less than 3 %" in bench_sentence(Bench(results=near))
    far = (result("a", 90.0), result("all", 100.0, ("a", "b")))
    assert bench_sentence(Bench(results=far)) == "The fastest is all, with 100 ex/s."
    assert fastest_of((result("a", None),)) is None
    assert bench_sentence(Bench()) == "No speed could be measured."


def test_that_what_several_candidates_say_is_said_once() -> None:
    problem = Problem(code="x", message="No space.")
    both = (result("a", None, problem=problem), result("b", None, problem=problem))
    (failure,) = Bench(results=both).failures
    assert (failure.problem, failure.sentence) == (problem, "Failed: a; b.")


@pytest.mark.parametrize("speed", [0.0, -1.0, float("inf"), float("nan")])
def test_that_no_speed_is_none(speed: float) -> None:
    with pytest.raises(ValueError, match="examples_per_second"):
        result("a", 1.0).model_validate(
            {**result("a", 1.0).model_dump(), "examples_per_second": speed}
        )


def test_that_what_is_compared_depends_on_nothing_that_leaves_the_speed_as_it_is() -> None:
    plain = Profile()
    longer = TrainingSettings(epochs=99, learning_rate=0.5, seed=3)
    named = plain.model_copy(update={"name": "another", "training": longer})
    assert bench_request(named) == bench_request(plain)
    larger = plain.model_copy(update={"training": TrainingSettings(global_batch_size=512)})
    assert bench_request(larger) != bench_request(plain)
