"""Programs of a person's own that tests write and run under the panel, and in a terminal."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from gpupanel.domain.events import Event, ProblemReported
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import RunFollower
from tests.patience import PATIENCE_S


@dataclass(frozen=True)
class Ran:
    """A program that has ended under the panel.

    Attributes:
        status: The exit status of ``gpupanel run``.
        document: What it printed as JSON.
    """

    status: int
    document: dict[str, Any]

    @property
    def layout(self) -> RunLayout:
        return RunLayout(Path(self.document["run"]))

    @property
    def log(self) -> str:
        return self.layout.trainer_log.read_text()

    @property
    def events(self) -> list[Event]:
        return events_of(self.layout)

    @property
    def reported(self) -> list[str]:
        """The codes of the problems that were reported."""
        found = (event for event in self.events if isinstance(event, ProblemReported))
        return [event.problem.code for event in found]

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@dataclass
class Programs:
    """Writes programs into a folder, and runs them.

    Attributes:
        folder: In which they lie, and in which the terminal is.
        variables: Of the terminal, beside those of the tests.
    """

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, text: str, name: str = "train.py") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        if path.suffix != ".py":
            path.chmod(0o755)
        return path

    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", **self.variables}

    def gpupanel(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "gpupanel", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            cwd=self.folder,
            env=self.environment(),
        )

    def run(self, text: str, *arguments: str, name: str = "train.py") -> Ran:
        """Under the panel, with the Python of the tests."""
        return self.run_file(self.write(text, name), *arguments)

    def run_file(self, path: Path, *arguments: str) -> Ran:
        python = ("--python", sys.executable) if path.suffix == ".py" else ()
        done = self.gpupanel("run", path, *python, "--json", "--", *arguments)
        assert done.stdout, done.stderr
        return Ran(done.returncode, json.loads(done.stdout))

    def start(self, text: str, *arguments: str, name: str = "train.py") -> RunLayout:
        """Under the panel, and do not wait for its end."""
        path = self.write(text, name)
        python = ("--python", sys.executable) if path.suffix == ".py" else ()
        done = self.gpupanel("run", path, *python, "--json", "--detach", "--", *arguments)
        assert done.stdout, done.stderr
        return RunLayout(Path(json.loads(done.stdout)["run"]))

    def wait(self, layout: RunLayout) -> Ran:
        done = self.gpupanel("watch", layout.root, "--json")
        return Ran(done.returncode, json.loads(done.stdout))

    def in_a_terminal(self, path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """As ``python train.py`` does it, without the panel."""
        python = [sys.executable] if path.suffix == ".py" else []
        # Where these tests are started in the background, SIGINT is ignored, as in no terminal.
        return subprocess.run(
            [*python, str(path), *arguments],
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            cwd=self.folder,
            env=self.environment(),
        )


def events_of(layout: RunLayout) -> list[Event]:
    follower = RunFollower(layout)
    news = follower.poll()
    events = list(news.events)
    while news.has_more:
        news = follower.poll()
        events += news.events
    return events


def until(is_so: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.1)


def text_in(path: Path) -> str:
    """What stands in a file; nothing while it is not there yet."""
    return path.read_text(errors="replace") if path.exists() else ""
