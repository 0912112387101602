"""Where what a window orders is done: on this machine, or on a host that it is connected to.

A window works on one machine as long as it is there, and so does its process. What reads devices
and folders, starts runs and asks for them goes through here; what is on the screen is the same.
Whatever one of the two kinds of machine can do the other can, too, by a method of the same name.
"""

from typing import TYPE_CHECKING

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.workers.this_machine import ThisMachine

if TYPE_CHECKING:
    from gpupanel.hosts.here.host import OtherMachine
    from gpupanel.hosts.here.queue import HostQueue
    from gpupanel.hosts.here.tools import HostPredictor
    from gpupanel.runs.tools.prediction.predictor import Predictor
    from gpupanel.runs.user_queue import UserQueue

    Workplace = ThisMachine | OtherMachine
    Queue = UserQueue | HostQueue
    ExamplePredictor = Predictor | HostPredictor

_place: list["Workplace"] = [ThisMachine()]


def check_is_here(what: str) -> None:
    """Refuse what cannot be done over a connection.

    Args:
        what: Begins the sentence ("The queue").

    Raises:
        ProblemError: The window works on another machine.
    """
    host = workplace().host
    if host:
        raise ProblemError(only_there(what, host))


def only_there(what: str, host: str) -> Problem:
    """The problem of what cannot be done over a connection yet."""
    return Problem(
        code="not_over_connection",
        message=f"{what} cannot be used over the connection to {host} yet.",
        hint=f"Use it on {host} itself: `ssh {host}`, then gpupanel there.",
    )


def workplace() -> "Workplace":
    """The machine that this process works on."""
    return _place[0]


def machine_name() -> str:
    """What the machine that is worked on is called in a sentence: "this machine", or the host."""
    return visible_line(workplace().host) or "this machine"


def other_machine() -> "OtherMachine":
    """The host that is worked on; asked only by what is shown where there is one."""
    place = workplace()
    assert not isinstance(place, ThisMachine)
    return place


def work_on(place: "Workplace") -> None:
    """Work on that machine from now on; said before there is a window."""
    _place[0] = place
