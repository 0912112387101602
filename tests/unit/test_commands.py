"""Every test is run by a command, and what every change has to pass by ``.ci/run``."""

import itertools
import re

import pytest

from tests.guide.pages import ROOT

MARKS = ("slow", "long", "alone")
COMMANDS = {
    target: re.findall(r'-m pytest -m "?([^"$\n]+)"?', recipe)
    for target, recipe in re.findall(
        r"^(test[a-z-]*):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
}
"""Which tests they select, by their marks."""


def selected_by(marks: tuple[str, ...]) -> list[str]:
    has = {mark: mark in marks for mark in MARKS}
    return [
        target
        for target, expressions in COMMANDS.items()
        for each in expressions
        if eval(each, {}, has)
    ]


@pytest.mark.parametrize(
    "marks", [each for count in range(4) for each in itertools.combinations(MARKS, count)]
)
def test_that_each_test_is_run_by_one_command(marks: tuple[str, ...]) -> None:
    (target,) = selected_by(marks)
    assert (target == "test-slow") is ("slow" in marks)


def test_that_what_a_change_has_to_pass_is_all_but_what_takes_minutes() -> None:
    run = re.findall(r"^make (\S+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert set(run) == {"check", "guide", *(COMMANDS.keys() - {"test-slow"})}
    assert "test-long" in COMMANDS
