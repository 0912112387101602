"""Lets replicas work on their parts of the examples, also where others are on other nodes."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TypeVar

from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.gathered_outputs import (
    Origin,
    OutputsReader,
    OutputsWriter,
    origin_of,
)
from gpupanel.trainer.inference.replicas import DeviceModel
from gpupanel.trainer.inference.spread import Digest, Others, Spread
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.models.model_file import saved_model_path
from gpupanel.trainer.parts.output_meaning import Floats
from gpupanel.trainer.progress import ExampleReports, TrainingRecord
from gpupanel.trainer.started_run import StartedRun

Result = TypeVar("Result")


class _Interrupted(Exception):  # noqa: N818 - no error: somebody asked
    """Ends the wait for outputs of other processes."""

    def __init__(self, interruption: Interruption) -> None:
        super().__init__(interruption.name)
        self.interruption = interruption


class InferenceWork:
    """The part of this process; one that leads takes the others' outputs, too.

    Attributes:
        own_replicas: Those of this process, by their places among all.
    """

    def __init__(
        self,
        run: StartedRun,
        examples: InferenceExamples,
        events: EventWriter,
        interruptions: Interruptions,
        record: TrainingRecord,
    ) -> None:
        self._run = run
        self._examples = examples
        self._events = events
        self._interruptions = interruptions
        self._record = record
        planned = enumerate(run.plan.replicas)
        self.own_replicas = tuple(place for place, each in planned if each.process == run.place)

    def spread(
        self,
        replicas: Sequence[DeviceModel],
        digest: Digest[Result],
        take: Callable[[int, list[Result]], None],
    ) -> Interruption | None:
        """Compute all outputs, and take what is made of them in input order.

        Args:
            replicas: Of this process, which leads.
            digest: What is made of a part's outputs, wherever they were computed.
            take: Called with each batch's number of examples and its parts.

        Returns:
            What ended it early; ``None`` when it came to its end.

        Raises:
            OSError: Outputs of another process cannot be read.
            ProblemError: An example cannot be read, or another process has other files.
        """
        others = self._others(replicas) if self._run.plan.processes else None
        try:
            return self._take_all(replicas, digest, others, take)
        except _Interrupted as interrupted:
            return interrupted.interruption

    def hand_over(self, replicas: Sequence[DeviceModel]) -> Interruption | None:
        """Compute the outputs of this process for the one that leads.

        Returns:
            As :meth:`spread`.

        Raises:
            OSError: They cannot be written.
            ProblemError: An example cannot be read.
        """
        path = self._run.layout.process_outputs(self._run.place)
        writer = OutputsWriter(path, self._origin(replicas))

        def take(_examples: int, parts: list[Floats]) -> None:
            for outputs in parts:
                writer.add(outputs)

        ended = self._take_all(replicas, lambda outputs, _first: outputs, None, take)
        writer.flush()
        return ended

    def _take_all(
        self,
        replicas: Sequence[DeviceModel],
        digest: Digest[Result],
        others: Others | None,
        take: Callable[[int, list[Result]], None],
    ) -> Interruption | None:
        examples, plan = self._examples, self._run.plan
        placed: list[DeviceModel | None] = [None] * len(plan.replicas)
        for place, replica in zip(self.own_replicas, replicas, strict=True):
            placed[place] = replica
        spread = Spread(placed, plan.shares, examples.read, digest, others)
        progress = ExampleReports(self._events, len(examples))
        with closing(spread.batches(len(examples))) as batches:
            for count, parts in batches:
                take(count, parts)
                progress.add(count)
                ending = self._interruptions.ending()
                if ending is not None and progress.examples < len(examples):
                    return ending
        self._record.examples, self._record.training_s = progress.examples, progress.seconds
        return None

    def _origin(self, replicas: Sequence[DeviceModel]) -> Origin:
        path = saved_model_path(self._run.profile.model)
        return origin_of(self._examples, path, replicas[0].outputs)

    def _others(self, replicas: Sequence[DeviceModel]) -> Others:
        run, origin = self._run, self._origin(replicas)
        readers = {
            place: OutputsReader(
                run.layout.process_outputs(place), each.name, origin, self._stay_if_wanted
            )
            for place, each in enumerate(run.plan.gang)
        }
        return lambda replica, rows: readers[run.plan.replicas[replica].process].take(rows)

    def _stay_if_wanted(self) -> None:
        ending = self._interruptions.ending()
        if ending is not None:
            raise _Interrupted(ending)
