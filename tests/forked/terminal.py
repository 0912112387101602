"""The terminal in this process, its runs supervised in a thread and trained in forked processes.

Previews of data are made in this process, too.

For tests of what a run comes to. Those of how processes start, stop, die and are found keep the
real ones: a forked process is known by no environment of its own in ``/proc``.
"""

import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpupanel.cli import preparation
from gpupanel.cli.app import main
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs import launcher
from gpupanel.runs.directory.private_files import PRIVATE_UMASK
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.processes import trainer_process
from gpupanel.runs.supervision.process import supervisor_of
from gpupanel.trainer.tools.preview.preview import preview
from tests.forked.processes import ForkedProcess, ForkServer
from tests.patience import PATIENCE_S


@contextmanager
def forked_trainers(server: ForkServer | None = None) -> Iterator[None]:
    """What is launched in this process meanwhile is supervised by a thread of it.

    Whoever leaves waits for these runs; one who leaves because of an error ends them.

    Args:
        server: Who forks them; left out, the one that forks for everybody.
    """
    supervisors: dict[threading.Thread, RunLayout] = {}

    def start_supervisor(command: Sequence[str], _: Path, name: str) -> None:
        root, checked = command[-2:]
        layout = RunLayout(Path(root))
        supervisor = threading.Thread(target=supervisor_of((root, checked)).run, name=name)
        supervisors[supervisor] = layout
        supervisor.start()

    def start_trainer(*arguments: Any, **options: Any) -> ForkedProcess:
        # As the supervisor's own process is started.
        return ForkedProcess(*arguments, umask=PRIVATE_UMASK, server=server, **options)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(launcher, "start_detached", start_supervisor)
        monkeypatch.setattr(
            trainer_process,
            "subprocess",
            SimpleNamespace(**{**vars(subprocess), "Popen": start_trainer}),
        )
        try:
            yield
        except BaseException:
            for supervisor, layout in supervisors.items():
                if supervisor.is_alive():
                    ask(layout, Request.END)
            raise
        finally:
            for supervisor in supervisors:
                supervisor.join(PATIENCE_S)
    assert not any(supervisor.is_alive() for supervisor in supervisors)


def gpupanel(
    *arguments: str | Path, server: ForkServer | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What the command does and prints, followed to the end of its run.

    Args:
        arguments: Of ``gpupanel``.
        server: Who forks its trainers; left out, the one that forks for everybody.
        environment: Variables besides those of this process.
    """
    with forked_trainers(server):
        return verb(*arguments, **environment)


def verb(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """As :func:`gpupanel`, and what it started may go on: inside of :func:`forked_trainers`."""
    command = ["gpupanel", *map(str, arguments)]
    output, errors = io.StringIO(), io.StringIO()
    before = set(threading.enumerate())
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(sys, "argv", command)
        monkeypatch.setattr(preparation, "preview_data", preview)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with redirect_stdout(output), redirect_stderr(errors), pytest.raises(SystemExit) as left:
            main()
    # Rich does not wait for the thread that draws its progress; a process would end with it.
    for thread in set(threading.enumerate()) - before:
        # Those of a supervisor go on, or are only about to start.
        if type(thread).__module__.startswith("rich."):
            thread.join(5.0)
    status = left.value.code
    assert status is None or isinstance(status, int)
    return subprocess.CompletedProcess(command, status or 0, output.getvalue(), errors.getvalue())


def answered(completed: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The document that was printed for ``--json``."""
    assert completed.stdout, completed.stderr
    document: dict[str, Any] = json.loads(completed.stdout)
    return document
