"""What agents on nodes answer to the driver of a run, read as of somebody who may be mistaken.

An agent of another version, or one that nobody of gpupanel's wrote, answers what it likes. It
speaks of the processes of its own node, and of no others.
"""

from collections.abc import Collection
from typing import TypeVar

from gpupanel.runs.cluster.messages import AgentReady, NodeSeen

_AnswerT = TypeVar("_AnswerT", AgentReady, NodeSeen)

UNREADABLE = "its gpupanel answers what this one cannot read, as one of another version does"


class UnreadableAnswerError(ValueError):
    """An answer is none that was asked for."""


def read_ready(text: str, count: int) -> AgentReady:
    """Parse an agent's answer that its node is ready, or why it is not.

    Raises:
        UnreadableAnswerError: It is neither.
    """
    ready = _read(AgentReady, text)
    if ready.problem is None and len(ready.ports) != count:
        raise UnreadableAnswerError
    return ready


def read_started(text: str, places: Collection[int]) -> dict[int, int]:
    """The pids of the processes that a node was to start, by their places in the gang.

    Raises:
        UnreadableAnswerError: It is of others, or not of all of them.
    """
    pids = {process.place: process.pid for process in _read(NodeSeen, text).processes}
    if pids.keys() != set(places):
        raise UnreadableAnswerError
    return pids


def read_seen(text: str, places: Collection[int]) -> NodeSeen:
    """What a node has seen of the processes that it has.

    Raises:
        UnreadableAnswerError: It is nothing of that kind, or of processes of another node, too.
    """
    seen = _read(NodeSeen, text)
    if not {process.place for process in seen.processes} <= set(places):
        raise UnreadableAnswerError
    return seen


def _read(kind: type[_AnswerT], text: str) -> _AnswerT:
    try:
        return kind.model_validate_json(text)
    except ValueError as error:
        raise UnreadableAnswerError from error
