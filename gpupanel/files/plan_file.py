"""The plan of a run in its ``plan.json``: written, read whole, or read as far as a list shows."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json

from gpupanel.domain.document_bounds import OF_A_RECORD, check_json
from gpupanel.domain.plan import LaunchPlan, parse_plan
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.value import PerPlace
from gpupanel.files.guarded_files import read_file
from gpupanel.files.whole_files import write_whole


class NewerPlanError(ValueError):
    """The plan is whole, and says more than this version knows."""


def read_plan(layout: RunLayout) -> LaunchPlan:
    """What was decided when the run was started.

    Raises:
        OSError: It cannot be read.
        NewerPlanError: It was written by a newer version.
        ValueError: It is damaged.
    """
    return plan_in(read_file(layout.plan))


def plan_in(content: bytes) -> LaunchPlan:
    """The plan that all of a file says.

    Raises:
        NewerPlanError: It was written by a newer version.
        ValueError: It is damaged.
    """
    try:
        return parse_plan(content)
    except ValueError as error:
        if isinstance(from_json(content), dict):
            raise NewerPlanError(str(error)) from error
        raise


def write_plan(layout: RunLayout, plan: LaunchPlan) -> bytes:
    """Write it all or nothing, for the run's owner only; gives what was written.

    Raises:
        OSError: It cannot be written.
    """
    content = plan.model_dump_json(indent=2).encode()
    write_whole(layout.plan, content, private=True)
    return content


def plan_if_readable(layout: RunLayout) -> LaunchPlan | None:
    """The same; ``None``: it cannot be read any more."""
    try:
        return read_plan(layout)
    except (OSError, ValueError):
        return None


class DeviceHead(BaseModel):
    """What identifies a planned device."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    name: str


class PlanHead(BaseModel):
    """What is used, and how the work is divided; of a plan of a newer version, too."""

    model_config = ConfigDict(frozen=True, extra="allow")

    devices: Annotated[tuple[DeviceHead, ...], PerPlace] = ()
    strategy: str = ""

    @property
    def is_newer(self) -> bool:
        """Whether the plan says something that this version knows nothing of."""
        return not LaunchPlan.model_fields.keys() >= (self.model_extra or {}).keys()


def read_plan_head(layout: RunLayout) -> PlanHead:
    """The devices and the strategy of the run's plan.

    The rest is not validated: that would take longer than all else of a list of a thousand runs.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no plan.
    """
    content = read_file(layout.plan)
    check_json(content, OF_A_RECORD)
    return PlanHead.model_validate_json(content)
