"""Runs that a window starts on a host, and the code that they would carry out."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value
from gpupanel.hosts.operations.operation import Bytes, Nothing, Operation, RunName


class CodeThere(Value):
    """A file of Python code on the host at one moment; see ``UserCode``."""

    key: Annotated[str, Field(max_length=64)]
    path: Annotated[str, Field(max_length=4096)]
    content: Bytes


class StartWanted(Value):
    """A run to be started, or started again.

    Attributes:
        profile: As a document; of a run that is started again instead of its own, if any.
        plan: What was decided from it here.
        name: Of the run that is started again; empty: it is a new one.
        accepts_changed_data: Also where its data is other than before.
        outside_hours: Also where its hours have not begun.
        trusted: Code that the person has read and trusts.
    """

    profile: dict[str, Any] | None = None
    plan: LaunchPlan | None = None
    name: RunName | Literal[""] = ""
    accepts_changed_data: bool = False
    outside_hours: bool = False
    trusted: tuple[CodeThere, ...] = ()


class HoursThere(Value):
    """Why a run was not started before its hours; see ``OutsideHoursError``."""

    problem: Problem
    begin_s: float
    words: Annotated[str, Field(max_length=1_024)]


class StartOutcome(Value):
    """What came of it.

    Attributes:
        name: The run that was started; empty: none was.
        untrusted: The code because of which none was: nobody has trusted it there yet.
        hours: Its hours, because of which none was: they have not begun there.
    """

    hours: HoursThere | None = None

    name: RunName | Literal[""] = ""
    untrusted: tuple[CodeThere, ...] = ()


START: Final = Operation("start", StartWanted, Nothing, StartOutcome)
