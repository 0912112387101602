"""What of a run was written and cannot be shown, as a problem."""

from gpupanel.domain.problem import Problem, Severity


def unread_problem(lines: int) -> Problem | None:
    """A problem: lines of the events could not be read; ``None`` if all were.

    Args:
        lines: How many could not be read.
    """
    if not lines:
        return None
    many = lines > 1
    left_out = f"{lines:,} lines of this run were" if many else "1 line of this run was"
    return Problem(
        code="events_unread",
        severity=Severity.HINT,
        message=f"{left_out} written by a newer gpupanel, or {'are' if many else 'is'} damaged, "
        f"and {'are' if many else 'is'} left out.",
        hint="Nothing is lost: events.jsonl in the run's folder has all of them. Update gpupanel "
        "if a newer one wrote them.",
    )


def unread_file_problem(part: str) -> Problem:
    """A problem: the run's ``profile`` or its ``plan`` cannot be read."""
    return Problem(
        code=f"{part}_unread",
        severity=Severity.HINT,
        message=f"Its {part} cannot be read: a newer gpupanel wrote it, or it is damaged or gone.",
        hint="Everything else of the run is shown. Update gpupanel if a newer one wrote it.",
    )
