"""What went wrong in a run, what of it cannot be shown, and what held it up."""

from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Problem
from gpupanel.runs.report.markup import Html, element, note, section, text
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.run_texts import moment_text

_LONGEST_DETAIL = 4_000


def problems_section(material: ReportMaterial) -> Html:
    """Each problem once, that which ended the run first."""
    found: list[Problem] = []
    events = material.events
    for problem in (material.summary.problem, *events.problems, *material.problems):
        if problem is not None and problem not in found:
            found.append(problem)
    more = f"and {events.more_problems:,} more" if events.more_problems and found else ""
    return section("Problems", *map(_problem, found), note(more))


def findings_section(material: ReportMaterial) -> Html:
    """What was found about a training, each with since when and what it cost."""
    return section("Findings", *map(_finding, material.events.findings))


def _problem(problem: Problem) -> Html:
    severity = element("strong", str(problem.severity).capitalize())
    detail = element("pre", text(problem.detail, _LONGEST_DETAIL))
    return _boxed(
        problem,
        element("p", severity, " ", problem.message),
        note(problem.hint),
        element("details", element("summary", "Detail"), detail) if problem.detail else Html(),
    )


def _finding(finding: Finding) -> Html:
    problem, cost = finding.problem, finding.cost_text
    since = f"Since {moment_text(finding.since_s)}" + (f"; {cost}." if cost else ".")
    return _boxed(problem, element("p", problem.message), note(f"{problem.hint} {since}".strip()))


def _boxed(problem: Problem, *content: Html) -> Html:
    return element("div", *content, class_=f"problem {problem.severity.value}")
