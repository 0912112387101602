"""Children that are asked for an answer, with TensorFlow in them already.

For tests of what they answer; those of how such a process starts and dies keep the real one.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event

import pytest

from gpupanel.devices.child_process import ChildAnswer, ChildEnd
from gpupanel.domain.child_command import child_environment
from gpupanel.runs import child_answer
from tests.forked.processes import run_forked


@contextmanager
def forked_answers() -> Iterator[None]:
    """Who is asked meanwhile by :func:`answer_of_child` is a forked process."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(child_answer, "ask_child", _ask_forked)
        yield


def _ask_forked(
    command: Sequence[str],
    time_limit_s: float,
    _: Event | None = None,
    environment: Mapping[str, str] | None = None,
    question: bytes = b"",
) -> ChildAnswer:
    done = run_forked(
        command,
        input=question,
        capture_output=True,
        env=child_environment(os.environ, environment),
        timeout=time_limit_s,
    )
    log = done.stderr.decode(errors="replace")
    return ChildAnswer(ChildEnd.BY_ITSELF, done.stdout, done.returncode, log)
