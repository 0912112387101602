"""The whole page of a report."""

from collections.abc import Callable
from typing import Final

from gpupanel import __version__
from gpupanel.runs.report.calibration_section import calibration_section
from gpupanel.runs.report.columns_section import columns_section
from gpupanel.runs.report.confusion_section import confusion_section
from gpupanel.runs.report.curves_section import curves_section
from gpupanel.runs.report.devices_section import devices_section
from gpupanel.runs.report.heading import heading
from gpupanel.runs.report.markup import Html, element, joined
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.metrics_section import metrics_section
from gpupanel.runs.report.origin_section import data_section, origin_section
from gpupanel.runs.report.problems_section import findings_section, problems_section
from gpupanel.runs.report.settings_section import settings_section
from gpupanel.runs.report.style import STYLE
from gpupanel.runs.report.thresholds_section import thresholds_section
from gpupanel.runs.report.values_section import values_section

_HEAD: Final = """<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""
"""No script, no picture and no style from anywhere: the file is all that a browser opens."""
_SECTIONS: Final[tuple[Callable[[ReportMaterial], Html], ...]] = (
    heading,
    problems_section,
    findings_section,
    metrics_section,
    curves_section,
    confusion_section,
    thresholds_section,
    calibration_section,
    values_section,
    columns_section,
    data_section,
    devices_section,
    settings_section,
    origin_section,
)


def report_page(material: ReportMaterial) -> str:
    """The report as one HTML file: no scripts, and nothing is loaded.

    Every text of the run's is escaped, whatever stands in it, and the page has a bounded size.
    """
    parts = (element("main", *(each(material) for each in _SECTIONS)), _footer())
    head = joined(
        Html(_HEAD),
        element("title", f"{material.summary.title[:200]}: report"),
        element("style", Html(STYLE)),
    )
    page = element("html", element("head", head), element("body", *parts), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _footer() -> Html:
    return element("footer", f"Written by gpupanel {__version__} from the files of the run.")
