"""Answers of agents that are of another version, hostile, or of another node."""

import pytest

from gpupanel.runs.cluster.agent_answers import (
    UnreadableAnswerError,
    read_ready,
    read_seen,
    read_started,
)

NONE = [
    *("", "null", "[]", "{", '{"kind": "seen", "later": 1}', "\x00\x1b[2J"),
    *("9" * 5_000, "[" * 9_999),
]


@pytest.mark.parametrize(
    "text",
    [*NONE, '{"gpupanel": "1", "ports": [1, 2, 3]}', '{"gpupanel": "1"}', '{"gpupanel": 1.5}'],
)
def test_that_a_node_that_answers_anything_is_not_ready(text: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        read_ready(text, 2)
    assert read_ready('{"gpupanel": "1", "ports": [1, 2]}', 2).ports == (1, 2)


@pytest.mark.parametrize(
    "processes", ["", '{"place": 1}', '{"place": 0}, {"place": 1}', '{"place": 1}, {"place": -1}']
)
def test_that_a_node_starts_all_of_its_own_processes_and_no_others(processes: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        read_started(f'{{"processes": [{processes}]}}', (1, 2))
    both = '{"processes": [{"place": 1, "pid": 5}, {"place": 2, "pid": 6}]}'
    assert read_started(both, (1, 2)) == {1: 5, 2: 6}


@pytest.mark.parametrize(
    "text", [*NONE, *(f'{{"processes": [{{"place": {n}}}]}}' for n in (0, 3, -1, 2**70))]
)
def test_that_a_node_says_nothing_of_processes_of_another(text: str) -> None:
    """Else it could say that the leader has ended, or bring the supervisor to a fall."""
    with pytest.raises(UnreadableAnswerError):
        read_seen(text, (1, 2))
    assert read_seen('{"processes": [{"place": 2, "exit_code": -9}]}', (1, 2)).processes
