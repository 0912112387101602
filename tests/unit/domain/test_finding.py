"""Why a training is slower than it could be, in a few words."""

import pytest

from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Problem, Severity


def finding(code: str, cost: float | None = None) -> Finding:
    problem = Problem(code=code, severity=Severity.HINT, message="It is slow.", hint="Wait.")
    return Finding(problem=problem, since_s=1.0, cost_fraction=cost, device_key="cpu")


def test_that_a_title_is_the_code_in_words() -> None:
    assert finding("training_waits_for_data").title == "training waits for data"


def test_that_a_strangers_code_makes_a_short_line() -> None:
    title = finding("a\x1b[31m" + "x" * 10_000).title
    assert len(title) < 200
    assert "\x1b" not in title


@pytest.mark.parametrize(
    ("cost", "words"),
    [(None, ""), (0.123, "it takes about 12 % of the training's time")],
    ids=["unknown", "known"],
)
def test_that_what_it_costs_is_said_where_it_is_known(cost: float | None, words: str) -> None:
    assert finding("straggler", cost).cost_text == words


def test_that_the_same_code_on_the_same_device_is_the_same_finding() -> None:
    assert finding("straggler", 0.5).identity == finding("straggler").identity
