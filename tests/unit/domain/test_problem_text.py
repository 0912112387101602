"""A problem as text, for rows, tooltips, dialogs and the clipboard."""

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.problem_text import (
    SEVERITY_NAMES,
    problem_sentences,
    problem_text,
    problem_title,
    problems_text,
)

BARE = Problem(code="disk_full", message="The disk is full.")
WHOLE = Problem(
    code="driver_too_old",
    severity=Severity.WARNING,
    field="devices.visible",
    message="The driver is too old.",
    hint="Update it.",
    detail="470.57\n525.60",
    command="sudo apt install nvidia-driver-560",
)


def test_that_every_severity_has_a_name():
    assert set(SEVERITY_NAMES) == set(Severity)
    assert problem_title(WHOLE) == "Warning: The driver is too old."


def test_that_the_sentences_are_what_happened_and_what_to_do():
    assert problem_sentences(WHOLE) == "The driver is too old. Update it."
    assert problem_sentences(BARE) == "The disk is full."


def test_that_the_text_has_all_that_a_report_needs():
    assert problem_text(WHOLE) == (
        "Warning: The driver is too old.\n"
        "Update it.\n"
        "sudo apt install nvidia-driver-560\n"
        "(driver_too_old, devices.visible)\n"
        "470.57\n525.60"
    )
    assert problem_text(BARE) == "Error: The disk is full.\n(disk_full)"


def test_that_several_problems_are_numbered_and_one_is_not():
    assert problems_text((BARE,)) == problem_text(BARE)
    assert problems_text((BARE, WHOLE)) == f"1. {problem_text(BARE)}\n\n2. {problem_text(WHOLE)}"
    assert not problems_text(())
