"""Limits of the shell are said before a run meets them."""

import resource
from collections.abc import Callable

import pytest

from gpupanel.devices import shell_limits as module
from gpupanel.devices.shell_limits import shell_limits

ALL = resource.RLIM_INFINITY
Limit = Callable[[int, int, int], None]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    """A shell without limits, but those that are set."""
    limits: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(module.resource, "getrlimit", lambda each: limits.get(each, (ALL, ALL)))
    monkeypatch.setattr(module.os, "geteuid", lambda: 1000)

    def set_limit(which: int, soft: int, hard: int) -> None:
        limits[which] = (soft, hard)

    return set_limit


@pytest.mark.parametrize(
    ("which", "soft", "words", "command"),
    [
        (resource.RLIMIT_CPU, 3_600, "3,600 s of processor time (ulimit -t)", "-St unlimited"),
        (resource.RLIMIT_AS, 2**33, "8,388,608 KiB of address space (ulimit -v)", "-Sv unlimited"),
        (resource.RLIMIT_FSIZE, 2**30, "1,048,576 KiB (ulimit -f)", "-Sf unlimited"),
        (resource.RLIMIT_NPROC, 200, "200 processes and threads", "-Su unlimited"),
        (resource.RLIMIT_NOFILE, 64, "64 files open (ulimit -n)", "-Sn unlimited"),
    ],
)
def test_that_a_limit_is_named_with_what_raises_it(
    limit: Limit, which: int, soft: int, words: str, command: str
) -> None:
    limit(which, soft, ALL)
    (problem,) = shell_limits()
    assert problem.code == "limit_of_the_shell"
    assert words in problem.message
    assert problem.command == f"ulimit {command} && gpupanel"
    limit(which, soft, soft)
    (problem,) = shell_limits()
    assert problem.command == ""
    assert "cannot raise it" in problem.hint


def test_that_nothing_is_said_of_limits_that_no_run_reaches(limit: Limit) -> None:
    limit(resource.RLIMIT_NOFILE, 1_024, 4_096)
    limit(resource.RLIMIT_NPROC, 63_000, 63_000)
    limit(resource.RLIMIT_FSIZE, 2**40, ALL)
    assert shell_limits() == ()


def test_that_the_number_of_processes_of_root_is_not_limited(
    limit: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(resource.RLIMIT_NPROC, 200, 200)
    monkeypatch.setattr(module.os, "geteuid", lambda: 0)
    assert shell_limits() == ()
