"""What the trainer was started with: profile and plan, as whoever started it has checked them."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.process_environment import PROCESS_VARIABLE
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.files.plan_file import plan_in
from gpupanel.trainer.checked_profile import (
    handed_over_checks,
    read_checked,
    read_checked_profile,
)
from gpupanel.trainer.user_code import RunCode


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A run's directory with what stands in it at the start.

    Attributes:
        plan: Each of its replicas has a share of every global batch.
        place: Of this process in the plan's gang.
        checked: What was checked of the run's files when it was started.
    """

    layout: RunLayout
    profile: Profile
    plan: LaunchPlan
    place: int = 0
    checked: CheckedFiles = field(default_factory=CheckedFiles)

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
        return self._code("data.path", data.chosen_path, self.layout.data_code)

    @property
    def model_code(self) -> RunCode | None:
        """The Python code that builds the model, or measures it; ``None``: there is none."""
        model, layout = self.profile.model, self.layout
        if self.profile.task == "evaluate" and model.measures_path:
            return self._code("model.measures", model.measures_path, layout.model_code)
        if not model.is_code:
            return None
        return self._code("model.path", model.chosen_path, self.layout.model_code)

    def _code(self, key: str, named: str, kept: Path) -> RunCode:
        name = str(kept.relative_to(self.layout.root))
        return RunCode(key, named, kept, self.checked.digests.get(name))

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


def read_started_run(layout: RunLayout, checked: CheckedFiles | None = None) -> StartedRun:
    """Read ``profile.toml`` and ``plan.json``.

    Args:
        layout: The run.
        checked: What was checked of it; ``None``: what was handed over to this process.

    Raises:
        ProblemError: One of them is missing, cannot be read, or is not what was checked.
    """
    try:
        checked = handed_over_checks() if checked is None else checked
        profile = read_checked_profile(layout, checked)
        plan = plan_in(read_checked(layout.plan, checked))
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
    return StartedRun(layout, profile, plan.without_idle_replicas(), process_place(), checked)


def process_place() -> int:
    """Which process of its run this is: its place in the plan's gang."""
    return int(os.environ.get(PROCESS_VARIABLE) or 0)
