"""Runs found by their values, settings and tags."""

from pathlib import Path

import pytest

from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_filter import parse_run_filter
from gpupanel.runs.history.finding import needs_settings, run_finder
from gpupanel.runs.history.run_settings import RunSettings
from gpupanel.runs.history.run_summary import RunSummary


def run(name: str, accuracy: float | None, *tags: str, **more: object) -> RunSummary:
    return RunSummary(
        name=name,
        path=Path(name),
        profile_name=name,
        outcome=Outcome.COMPLETED,
        metrics=Metrics(accuracy=0.99, val_accuracy=accuracy),
        started_s=1_790_000_000.0,
        ended_s=1_790_000_060.0,
        tags=tags,
    ).model_copy(update=more)


RUNS = (
    run("good", 0.95, "Baseline"),
    run("poor", 0.5, "baseline", "old"),
    run("going", None, is_running=True, outcome=None, ended_s=None, started_s=1e300),
    run("bare", None, started_s=None, outcome=None),
)
SETTINGS = {
    "good": RunSettings((("model.source", "cnn"), ("training.epochs", 10.0))),
    "poor": RunSettings((("model.source", "mlp"), ("training.epochs", 3.0))),
}


def found(text: str) -> list[str]:
    is_found = run_finder(parse_run_filter(text), RUNS, SETTINGS)
    return [each.name for each in RUNS if is_found(each)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["good", "poor", "going", "bare"]),
        ("poor", ["poor"]),
        ("val_accuracy > 0.9", ["good"]),
        ("accuracy > 90 %", ["good"]),
        ("training_accuracy > 0.9", ["good", "poor", "going", "bare"]),
        ("model = CNN", ["good"]),
        ("model != cnn", ["poor"]),
        ("epochs >= 3", ["good", "poor"]),
        ("epochs >= 3 and val_accuracy < 0.9", ["poor"]),
        ("tag:baseline", ["good", "poor"]),
        ("tag:baseline and tag:old", ["poor"]),
        ("tag:base", []),
        ("outcome = running", ["going"]),
        ("outcome = completed", ["good", "poor"]),
        ("duration >= 60", ["good", "poor"]),
        ("started >= 2026-01-01", ["good", "poor"]),
        ("started < 2026-01-01", []),
        ("test_loss < 5", []),
        ("speed > 5", []),
    ],
)
def test_that_runs_are_found(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("val_acuracy > 0.9", "run_filter_unknown", "Did you mean val_accuracy?"),
        ("epoch > 3", "run_filter_unknown", "Did you mean epochs?"),
        ("zzz = 3", "run_filter_unknown", "in quotes"),
        ("epochs > many", "run_filter_not_a_number", "epochs > 10"),
        ("epochs > 1e999", "run_filter_not_a_number", "epochs > 10"),
    ],
)
def test_that_what_cannot_be_compared_is_reported(text: str, code: str, part: str) -> None:
    with pytest.raises(ProblemError) as caught:
        found(text)
    (problem,) = caught.value.problems
    assert problem.code == code
    assert part in problem.hint


def test_that_what_was_typed_is_quoted_no_longer_than_a_line() -> None:
    for text in (f"{'x' * 900} > 5", f"epochs > {'9' * 900}"):
        with pytest.raises(ProblemError) as caught:
            found(text)
        assert len(caught.value.problems[0].message) < 120


def test_that_settings_are_only_needed_for_settings() -> None:
    assert needs_settings(parse_run_filter("epochs > 3"))
    assert not needs_settings(parse_run_filter("accuracy > 3 and tag:x and word"))


def test_that_no_runs_make_no_name_wrong() -> None:
    is_found = run_finder(parse_run_filter("epochs > 3"), (), {})
    assert not is_found(RUNS[0])
