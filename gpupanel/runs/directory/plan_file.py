"""The plan of a run, as whoever looks at the run reads it."""

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.run_layout import RunLayout


def read_plan(layout: RunLayout) -> LaunchPlan | None:
    """What was decided when the run was started; ``None``: it cannot be read any more."""
    try:
        return LaunchPlan.model_validate_json(layout.plan.read_bytes())
    except (OSError, ValueError):
        return None
