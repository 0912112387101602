"""A process that has used its processor time says so before the system ends it."""

import subprocess
import sys

import pytest

from gpupanel.files import process_limits
from gpupanel.files.process_limits import processor_time_limit

WORKS = """
import os, resource, sys
from gpupanel.files.process_limits import hear_of_used_time, processor_time_limit, time_limit_text

resource.setrlimit(resource.RLIMIT_CPU, (2, 2))  # as `ulimit -t 2` does

def end():
    print(time_limit_text("This"), flush=True)
    sys.exit(7)

hear_of_used_time(end)
assert processor_time_limit() == 2
while True:
    pass
"""


def test_that_a_process_has_its_last_word_before_it_is_killed() -> None:
    done = subprocess.run([sys.executable, "-c", WORKS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 7
    assert "a process may use here, 2 s (ulimit -t)" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("soft", "hard", "expected"),
    [(10, 12, 12), (11, 12, 12), (9, 12, 9), (9, -1, 9), (-1, -1, None)],
)
def test_that_the_limit_is_the_shells_also_after_it_was_heard_of(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, expected: int | None
) -> None:
    monkeypatch.setattr(process_limits.resource, "getrlimit", lambda _: (soft, hard))
    assert processor_time_limit() == expected
