"""What the trainer was started with: profile and plan."""

import os
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.process_environment import PROCESS_VARIABLE
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.files.guarded_files import read_file
from gpupanel.files.plan_file import read_plan
from gpupanel.trainer.user_code import RunCode


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A run's directory with what stands in it at the start.

    Attributes:
        plan: Each of its replicas has a share of every global batch.
        place: Of this process in the plan's gang.
    """

    layout: RunLayout
    profile: Profile
    plan: LaunchPlan
    place: int = 0

    @property
    def process(self) -> PlannedProcess:
        """What this process is there for."""
        return self.plan.gang[self.place]

    @property
    def data_code(self) -> RunCode | None:
        """The Python code that loads the data; ``None``: no code of the person's own does."""
        data = self.profile.data
        if not data.is_code:
            return None
        return RunCode("data.path", data.chosen_path, self.layout.data_code)

    @property
    def model_code(self) -> RunCode | None:
        """The Python code that builds the model; ``None``: no code of the person's own does."""
        model = self.profile.model
        if not model.is_code:
            return None
        return RunCode("model.path", model.chosen_path, self.layout.model_code)

    @property
    def start_model(self) -> Path | None:
        """The run's copy of the saved model that it trains further; ``None``: it builds one."""
        return self.layout.start_model if self.profile.model.is_saved else None

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes events and saves."""
        return self.place == 0

    @property
    def serves(self) -> bool:
        """Whether this process only does what its coordinator says."""
        return self.plan.strategy is StrategyKind.PARAMETER_SERVER and not self.leads


def read_started_run(layout: RunLayout) -> StartedRun:
    """Read ``profile.toml`` and ``plan.json``.

    Raises:
        ProblemError: One of them is missing or cannot be read.
    """
    try:
        profile = parse_profile(read_file(layout.profile).decode())
        plan = read_plan(layout)
    except (OSError, ValueError) as error:
        raise ProblemError(
            Problem(
                code="run_unreadable",
                message=f"The run {layout.root} cannot be started, because its profile or its "
                "plan cannot be read.",
                hint="Start the profile again; that makes a new run.",
                detail=f"{type(error).__name__}: {error}",
            )
        ) from error
    return StartedRun(layout, profile, plan.without_idle_replicas(), process_place())


def process_place() -> int:
    """Which process of its run this is: its place in the plan's gang."""
    return int(os.environ.get(PROCESS_VARIABLE) or 0)
