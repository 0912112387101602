"""What the trainer was started with: profile and plan."""

from dataclasses import dataclass

from pydantic import ValidationError

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A run's directory with what stands in it at the start."""

    layout: RunLayout
    profile: Profile
    plan: LaunchPlan


def read_started_run(layout: RunLayout) -> StartedRun:
    """Read ``profile.toml`` and ``plan.json``.

    Raises:
        ProblemError: One of them is missing or cannot be read.
    """
    try:
        profile = parse_profile(layout.profile.read_text(encoding="utf-8"))
        plan = LaunchPlan.model_validate_json(layout.plan.read_bytes())
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise ProblemError(
            Problem(
                code="run_unreadable",
                message=f"The run {layout.root} cannot be started, because its profile or its "
                "plan cannot be read.",
                hint="Start the profile again; that makes a new run.",
                detail=f"{type(error).__name__}: {error}",
            )
        ) from error
    return StartedRun(layout, profile, plan)
