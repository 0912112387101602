"""The plan of a run, as whoever looks at the run reads it."""

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.plan_json import parse_plan
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file


def read_plan(layout: RunLayout) -> LaunchPlan | None:
    """What was decided when the run was started; ``None``: it cannot be read any more."""
    try:
        return parse_plan(read_file(layout.plan))
    except (OSError, ValueError):
        return None
