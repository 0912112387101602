"""Tools that are carried out on a host: its devices are tried, its models asked."""

import re
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.batch_fit import BatchFit
from gpupanel.domain.bench import Bench
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.number_text import byte_size
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.paths import CopiedPaths
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.tools import (
    BATCHES,
    BENCH,
    POWER,
    PREDICT,
    PRETRAINED,
    TRACES,
    BatchesWanted,
    BenchWanted,
    PowerWanted,
    PredictionWanted,
    TracesWanted,
)
from gpupanel.planning.own_data import Pretrained, pretrained_networks
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.questions.question import OnProgress, ignore_progress
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.tracing.tracing import RunTraces, Trace, processes_of

_MOST_SENT: Final = 12 * 2**20
"""Of a file that goes with a question."""
_SUFFIX: Final = re.compile(r"\.\w{1,16}", re.ASCII)


class HostPredictor:
    """Asks models there about files of this machine, which are sent with the question.

    Args:
        link: To the host.
        paths: Exchanges those of runs there for those of their copies.
    """

    def __init__(self, link: Link, paths: CopiedPaths) -> None:
        self._link, self._paths = link, paths

    def ask(self, asked: PredictionAsked, cancelled: Event | None = None) -> PredictionAnswer:
        """Ask, and wait for the answer.

        Raises:
            ProblemError: There is no connection, or the file cannot be sent.
        """
        file, content, suffix = _file_of(asked), None, ""
        if file is not None:
            content, suffix = _content(file), _suffix(file)
            # Its path means nothing there, and one that is no UTF-8 could not be told.
            asked = asked.about_file(f"/sent{suffix}")
        document = self._paths.there(asked.model_dump_json())
        wanted = PredictionWanted(
            asked=PredictionAsked.model_validate_json(document), content=content, suffix=suffix
        )
        return self._link.call(PREDICT, wanted, cancelled=cancelled)

    def close(self) -> None:
        """Let the process there end; without a connection it has."""
        with suppress(ProblemError):
            self._link.call(PREDICT, PredictionWanted())


class HostTools:
    """What is tried and measured there, with what is there now.

    Args:
        link: To the host.
        paths: Exchanges those of runs there for those of their copies.
    """

    def __init__(self, link: Link, paths: CopiedPaths) -> None:
        self._link, self._paths = link, paths

    def predictor(self) -> HostPredictor:
        """What asks models there about single examples."""
        return HostPredictor(self._link, self._paths)

    def find_batches(
        self, profile: Profile, _machine: Machine, *, cancelled: Event, on_progress: OnProgress
    ) -> BatchFit:
        """Try which batches fit."""
        wanted = BatchesWanted(profile=self._paths.document(profile))
        return self._link.call(BATCHES, wanted, on_part=on_progress, cancelled=cancelled)

    def compare_devices(
        self,
        profile: Profile,
        _machine: Machine,
        _runs_dir: Path,
        *,
        recalls: bool,
        cancelled: Event,
        on_progress: OnProgress,
    ) -> Bench:
        """Compare the devices, or recall what that showed before."""
        wanted = BenchWanted(profile=self._paths.document(profile), recalls=recalls)
        return self._link.call(BENCH, wanted, on_part=on_progress, cancelled=cancelled)

    def pretrained_at_hand(self) -> Pretrained | None:
        """The pretrained network that can be had there."""
        found = self._link.call(PRETRAINED, Nothing())
        known = (each for each in pretrained_networks() if each.name == found.name)
        network = next(known, None)
        return None if network is None else Pretrained(network, is_here=found.is_here)

    def set_power_limit(self, device: PhysicalDevice, limit_w: float) -> None:
        """Set the power limit of a GPU."""
        self._link.call(POWER, PowerWanted(device=device, limit_w=limit_w))

    def traces(self, layout: RunLayout) -> RunTraces:
        """Which traces there are of a run."""
        return self._traces(layout, TracesWanted(name=layout.root.name))

    def take_trace(
        self,
        layout: RunLayout,
        steps: int,
        process: int | None,
        *,
        cancelled: Event,
        on_progress: OnProgress,
    ) -> RunTraces:
        """Have the next steps of a run traced."""
        wanted = TracesWanted(name=layout.root.name, steps=steps, process=process)
        return self._traces(layout, wanted, cancelled, on_progress)

    def read_trace(self, layout: RunLayout, number: int, *, cancelled: Event) -> RunTraces:
        """Have a trace of a run read again."""
        wanted = TracesWanted(name=layout.root.name, number=number)
        return self._traces(layout, wanted, cancelled)

    def _traces(
        self,
        layout: RunLayout,
        wanted: TracesWanted,
        cancelled: Event | None = None,
        on_progress: OnProgress = ignore_progress,
    ) -> RunTraces:
        found = self._link.call(
            TRACES, wanted, on_part=lambda part: on_progress(part.stage), cancelled=cancelled
        )
        plan = plan_if_readable(layout)
        trace = None
        if found.trace is not None:
            told = found.trace
            trace = Trace(
                layout,
                plan,
                record=told.record,
                devices=told.devices,
                notes=told.notes,
                problems=told.problems,
                warning=told.warning,
            )
        return RunTraces(layout, found.records, processes_of(plan), trace)


def _file_of(asked: PredictionAsked) -> Path | None:
    """The file of this machine that the question is about; ``None``: there is none."""
    data = asked.profile.data
    # Where no single file was chosen the path is that of the training's data, on the host.
    name = asked.file or next((Path(data.chosen_path, each) for each in data.chosen_files), None)
    return Path(name) if name is not None and Path(name).is_file() else None


def _suffix(file: Path) -> str:
    suffix = file.suffix.lower()
    return suffix if _SUFFIX.fullmatch(suffix) else ""


def _content(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_SENT + 1)
    except OSError as error:
        raise ProblemError(disk_problem(error, file)) from error
    if len(content) <= _MOST_SENT:
        return content.decode("latin-1")
    raise ProblemError(
        Problem(
            code="file_too_large_to_send",
            message=f"{visible_line(file.name)} has more than {byte_size(_MOST_SENT)}, which is "
            "too much to go with a question.",
            hint="Copy it to the host, and predict on it by a run.",
        )
    )
