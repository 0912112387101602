"""What a self-test before has shown to be wrong with what a session would do."""

from collections.abc import Iterator

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.self_test_text import date_text
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.self_test_findings import self_test_findings


def self_test_failed(context: PlanningContext) -> Iterator[Problem]:
    """A failed test of the devices that are chosen; it can be repeated, so it refuses no start."""
    test = context.known.self_test
    if test is None or not context.trains:
        return
    when = date_text(test.tested_s)
    for found in self_test_findings(context, test.outcomes):
        if found.concerns:
            hint = f"{found.problem.hint} Seen by the self-test of {when}; it can be repeated."
            changes = {"severity": Severity.WARNING, "hint": hint}
            yield found.problem.model_copy(update=changes)
