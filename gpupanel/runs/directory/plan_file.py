"""The plan of a run, as whoever looks at the run reads it."""

from gpupanel.domain.integer_bounds import json_has_integer_beyond_64_bits
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file


def read_plan(layout: RunLayout) -> LaunchPlan | None:
    """What was decided when the run was started; ``None``: it cannot be read any more."""
    try:
        return whole_plan(read_file(layout.plan))
    except (OSError, ValueError):
        return None


def whole_plan(content: bytes) -> LaunchPlan:
    """The plan in the content of its file.

    Raises:
        ValueError: It is no plan that this version knows.
    """
    if json_has_integer_beyond_64_bits(content):
        raise ValueError("a number in it is beyond 64 bits")
    return LaunchPlan.model_validate_json(content)
