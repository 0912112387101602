"""What profile and plan tell of a run in a list: read fast, and as far as they can be read.

Neither is validated whole: that would take longer than all the rest of a list of a thousand runs,
and a run of a newer version is listed, too.
"""

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.toml_text import read_toml
from gpupanel.files.guarded_files import open_to_read, read_file
from gpupanel.runs.directory.profile_file import LARGEST_PROFILE_BYTES

_FIRST_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


class ProfileHead(BaseModel):
    """The keys above the tables of a profile."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = 1
    name: str = ""
    task: str = "train"


class DeviceHead(BaseModel):
    """Who a planned device is."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    name: str


class PlanHead(BaseModel):
    """What is used, and how the work is divided."""

    model_config = ConfigDict(frozen=True, extra="allow")

    devices: tuple[DeviceHead, ...] = ()
    strategy: str = ""

    @property
    def is_newer(self) -> bool:
        """Whether the plan says something that this version knows nothing of."""
        return not LaunchPlan.model_fields.keys() >= (self.model_extra or {}).keys()


def read_profile_head(layout: RunLayout) -> ProfileHead:
    """The keys above the tables of the run's profile.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no profile.
    """
    with open_to_read(layout.profile) as file:
        text = file.read(LARGEST_PROFILE_BYTES).decode().replace("\r\n", "\n")
    try:
        return ProfileHead.model_validate(_document_above_tables(text))
    except ValidationError as error:
        raise ValueError(str(error)) from error


def read_plan_head(layout: RunLayout) -> PlanHead:
    """The devices and the strategy of the run's plan.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no plan.
    """
    try:
        return PlanHead.model_validate_json(read_file(layout.plan))
    except ValidationError as error:
        raise ValueError(str(error)) from error


def _document_above_tables(text: str) -> dict[str, Any]:
    table = _FIRST_TABLE.search(text)
    if table is not None:
        try:
            return read_toml(text[: table.start()])
        except ValueError:
            pass  # what looks like a table is inside of a value
    return read_toml(text)
