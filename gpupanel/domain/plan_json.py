"""A plan from the JSON text in which a run keeps it."""

from gpupanel.domain.integer_bounds import json_has_integer_beyond_64_bits
from gpupanel.domain.plan import LaunchPlan


def parse_plan(content: bytes) -> LaunchPlan:
    """The plan in the content of ``plan.json``.

    Raises:
        ValueError: It is no plan that this version knows.
    """
    if json_has_integer_beyond_64_bits(content):
        raise ValueError("a number in it is one that 64 bits cannot hold")
    return LaunchPlan.model_validate_json(content)
