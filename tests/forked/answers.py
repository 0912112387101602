"""Children that are asked for an answer, with TensorFlow in them already.

For tests of what they answer; those of how such a process starts and dies keep the real one.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event
from types import ModuleType

import pytest

from gpupanel.devices.child_process import ChildAnswer, ChildEnd
from gpupanel.domain.child_command import child_environment
from gpupanel.runs.questions import question as questions
from tests.forked.processes import ForkServer, run_forked


@contextmanager
def forked_answers(
    asks: ModuleType = questions, server: ForkServer | None = None
) -> Iterator[None]:
    """Who is asked meanwhile is a forked process.

    Args:
        asks: The module that asks by :func:`gpupanel.devices.child_process.ask_child`.
        server: Who forks it; left out, the one that forks for everybody.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(asks, "ask_child", partial(_ask_forked, server=server))
        yield


def _ask_forked(
    command: Sequence[str],
    time_limit_s: float,
    _: Event | None = None,
    environment: Mapping[str, str] | None = None,
    question: bytes = b"",
    *,
    on_output: Callable[[bytes], None] | None = None,
    grace_s: float = 0.0,
    server: ForkServer | None,
) -> ChildAnswer:
    """What is printed is heard at the end only: for a child that ends by itself."""
    done = run_forked(
        command,
        input=question,
        capture_output=True,
        env=child_environment(os.environ, environment),
        timeout=time_limit_s,
        server=server,
    )
    if on_output is not None:
        on_output(done.stdout)
    log = done.stderr.decode(errors="replace")
    return ChildAnswer(ChildEnd.BY_ITSELF, done.stdout, done.returncode, log)
