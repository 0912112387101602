"""Why a training was slower than it could be."""

from gpupanel.domain.finding import Finding
from gpupanel.runs.report.markup import Html, element, section
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.run_words import moment_text


def findings_section(material: ReportMaterial) -> Html:
    """What held the training up, each with since when and what it cost."""
    return section("What held it up", *map(_shown, material.events.findings))


def _shown(finding: Finding) -> Html:
    problem, cost = finding.problem, finding.cost_words
    since = f"Since {moment_text(finding.since_s)}" + (f"; {cost}." if cost else ".")
    return element(
        "div",
        element("p", problem.message),
        element("p", " ".join(filter(None, (problem.hint, since))), class_="muted"),
        class_=f"problem {problem.severity.value}",
    )
