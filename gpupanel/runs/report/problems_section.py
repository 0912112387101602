"""What went wrong in a run, and what of it cannot be shown."""

from gpupanel.domain.problem import Problem
from gpupanel.runs.report.markup import Html, element, section, text
from gpupanel.runs.report.material import ReportMaterial

_LONGEST_DETAIL = 4_000


def problems_section(material: ReportMaterial) -> Html:
    """Each problem once, that which ended the run first."""
    ended = [] if material.summary.problem is None else [material.summary.problem]
    found: list[Problem] = []
    for problem in (*ended, *material.events.problems, *material.problems):
        if problem not in found:
            found.append(problem)
    more = material.events.more_problems
    rest = element("p", f"and {more:,} more", class_="muted") if more else Html()
    return section("Problems", *map(_shown, found), rest) if found else Html()


def _shown(problem: Problem) -> Html:
    return element(
        "div",
        element("p", element("strong", str(problem.severity).capitalize()), " ", problem.message),
        element("p", problem.hint, class_="muted") if problem.hint else Html(),
        element(
            "details",
            element("summary", "Detail"),
            element("pre", text(problem.detail, _LONGEST_DETAIL)),
        )
        if problem.detail
        else Html(),
        class_=f"problem {problem.severity.value}",
    )
