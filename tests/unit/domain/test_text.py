"""Text that comes from names of files, which may be any bytes."""

import os

import pytest

from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import as_utf8


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("café \N{SNOWMAN}", "café \N{SNOWMAN}"),
        (os.fsdecode(b"caf\xe9"), r"caf\xe9"),
        ("half a \ud83d", r"half a \ud83d"),
        ("", ""),
    ],
)
def test_that_what_utf_8_cannot_hold_is_written_out(text: str, readable: str) -> None:
    assert as_utf8(text) == readable


def test_that_a_problem_about_any_file_can_be_written_down() -> None:
    name = os.fsdecode(b"/data/caf\xe9/1.png")
    problem = Problem(code="a", message=name, hint=name, detail=name, command=name)

    assert Problem.model_validate_json(problem.model_dump_json()) == problem
    assert r"/data/caf\xe9/1.png" in problem.message
