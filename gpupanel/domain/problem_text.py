"""A problem as text, the same wherever it is shown or copied."""

from collections.abc import Sequence
from typing import Final

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_lines

SEVERITY_NAMES: Final = {
    Severity.ERROR: "Error",
    Severity.WARNING: "Warning",
    Severity.HINT: "Hint",
}
"""Each severity as people read it."""


def problem_title(problem: Problem) -> str:
    """Severity and message: "Error: The GPU does not answer."."""
    return f"{SEVERITY_NAMES[problem.severity]}: {problem.message}"


def problem_sentences(problem: Problem) -> str:
    """What happened and what to do, as one paragraph."""
    return f"{problem.message} {problem.hint}".rstrip()


def problem_text(problem: Problem) -> str:
    """The whole problem as lines to be pasted elsewhere: its code, command and detail, too."""
    about = f", {problem.field}" if problem.field else ""
    code = f"({problem.code}{about})"
    lines = (problem_title(problem), problem.hint, problem.command, code, problem.detail)
    return visible_lines("\n".join(line for line in lines if line))


def problems_text(problems: Sequence[Problem]) -> str:
    """Several problems, one paragraph each, numbered when there are several."""
    numbers = [f"{number}. " for number in range(1, len(problems) + 1)]
    marks = numbers if len(problems) > 1 else [""] * len(problems)
    paragraphs = zip(marks, problems, strict=True)
    return "\n\n".join(f"{mark}{problem_text(problem)}" for mark, problem in paragraphs)
