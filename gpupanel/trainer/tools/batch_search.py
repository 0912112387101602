"""``python -m gpupanel.trainer.tools.batch_search``: training steps of more and more examples.

A :class:`~gpupanel.domain.batch_search.BatchSearchRequest` as JSON on standard input is answered by
lines of JSON on standard output: ``begun`` with each number before it is tried, ``trial`` with what
came of it, and last ``ended``. A process that dies in between was asked for too much. One that runs
out of a GPU's memory ends, since what its allocator is like afterwards says nothing of a training;
the host's memory goes back to the system, and the process continues with less.

The steps are the loop's own, with accumulation, precision, XLA and augmentation of the profile, on
one device; nothing is kept. The process ends with the one that asked, and when its time is up.
"""

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from gpupanel.domain.batch_search import (
    BatchSearchRequest,
    BatchTrial,
    BegunTrial,
    EndedSearch,
    SearchEnd,
    next_examples,
    search_end,
)
from gpupanel.domain.data import DataCache
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.process_limits import limit_further_memory
from gpupanel.trainer.datasets.examples import Examples, held_rows
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.progress_lines import ProgressLines
from gpupanel.trainer.quick_import import quick_import
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.tools.dry_run import DryRun, divided, some_of

_TIMED_S: Final = 0.5
_MOST_TIMED: Final = 20
"""Steps, after the first one."""
_SLOW_S: Final = 2.0
"""A step that takes longer is timed once: it is not lengthened much by a moment."""
_GRACE_S: Final = 10
"""After its time the process ends itself, wherever it is."""
_REFUSED: Final = "Status:1, message: could not"
"""oneDNN's words for ``dnnl_out_of_memory`` (``dnnl_common_types.h``), through TensorFlow's
``mkl_*_op.cc``: an ``AbortedError``."""
_BYTES_PER_MIB: Final = 2**20


class _Steps:
    """Training steps of any number of examples."""

    def __init__(self, run: StartedRun, split: Split) -> None:
        import tensorflow as tf

        from gpupanel.trainer.device_configuration import configure_devices
        from gpupanel.trainer.learner import make_learner
        from gpupanel.trainer.strategies.make_strategy import make_strategy

        configure_devices(run.plan)
        (device,) = run.plan.devices
        kind = "GPU" if device.kind is DeviceKind.GPU else "CPU"
        self._memory = tf.config.experimental
        self._device = f"{kind}:0"
        self._learner = make_learner(run, split, make_strategy(run.plan))
        self._count = len(split.training)
        self._before_mib = self._memory_mib("current")

    def once(self, examples: int) -> None:
        """One step with so many."""
        calls = self._learner.calls
        calls.shares = (examples,)
        batch = (np.arange(examples, dtype=np.int32) % self._count)[np.newaxis]
        calls.of(examples)(batch)

    def forget_peak(self) -> None:
        """Measure the peak from now on."""
        if self._before_mib is not None:
            self._memory.reset_memory_stats(self._device)

    def peak_mib(self) -> float | None:
        """The most that was held since, beside what is there between steps: see the trial's."""
        peak = self._memory_mib("peak")
        if peak is None or self._before_mib is None:
            return None
        return round(max(0.0, peak - self._before_mib), 2)

    def _memory_mib(self, which: str) -> float | None:
        try:
            info = self._memory.get_memory_info(self._device)
        except ValueError:  # with TF_ENABLE_ONEDNN_OPTS=0 the CPU's allocator does not count
            return None
        return float(info[which]) / _BYTES_PER_MIB


class _Search:
    """Tries one number after the other."""

    def __init__(self, request: BatchSearchRequest, lines: ProgressLines, until_s: float) -> None:
        self._request = request
        self._lines = lines
        self._until_s = until_s
        self._trials = list(request.trials)
        self._took_s: dict[int, float] = {}

    def run(self, steps: _Steps, most: int) -> SearchEnd:
        """Gives why no more is to be tried by this process."""
        while True:
            examples = next_examples(self._request.first, most, self._trials)
            if examples is None:
                return search_end(most, self._trials)
            if self._expected_s(examples) > self._until_s - time.monotonic():
                return SearchEnd.TIME
            self._lines.end_when_orphaned()
            self._lines.write("begun", BegunTrial(examples=examples))
            trial = self._tried(steps, examples)
            self._lines.write("trial", trial)
            self._trials.append(trial)
            if not trial.fits and self._request.memory_limit_bytes is None:
                return SearchEnd.OUT_OF_MEMORY

    def _expected_s(self, examples: int) -> float:
        """How long a trial will take, by the largest of this process."""
        largest = max(self._took_s, default=0)
        return self._took_s[largest] * examples / largest if largest else 0.0

    def _tried(self, steps: _Steps, examples: int) -> BatchTrial:
        begin_s = time.monotonic()
        try:
            steps.forget_peak()
            steps.once(examples)
            is_slow = time.monotonic() - begin_s > _SLOW_S
            seconds = self._timed(lambda: steps.once(examples), least=1 if is_slow else 2)
        except Exception as error:
            if not (is_out_of_memory(error) or _REFUSED in str(error)):
                raise
            return BatchTrial(examples=examples, fits=False)
        self._took_s[examples] = time.monotonic() - begin_s
        return BatchTrial(
            examples=examples,
            fits=True,
            step_seconds=round(seconds, 6),
            examples_per_second=round(examples / max(seconds, 1e-9), 1),
            peak_mib=steps.peak_mib(),
        )

    def _timed(self, once: Callable[[], None], least: int) -> float:
        seconds: list[float] = []
        while len(seconds) < _MOST_TIMED and (len(seconds) < least or sum(seconds) < _TIMED_S):
            start_s = time.perf_counter()
            once()
            self._lines.end_when_orphaned()
            seconds.append(time.perf_counter() - start_s)
            if time.monotonic() + seconds[-1] > self._until_s:
                break  # what fits was seen; its speed is known well enough
        return median(seconds)


def _some_of(training: Examples) -> Examples:
    """All that are in memory, as a training holds them; of those on disk the first ones."""
    return training if held_rows(training.features) is not None else some_of(training)


def search(request: BatchSearchRequest, lines: ProgressLines) -> EndedSearch:
    """Try numbers of examples; what is wrong with data or model is in the answer."""
    data = request.profile.data.model_copy(update={"cache": DataCache.NONE})
    # As it needs most memory; which weights it begins with changes nothing of that.
    model = request.profile.model.with_all_learning()
    profile = request.profile.model_copy(update={"data": data, "model": model})
    run = DryRun(RunLayout(Path()), profile, request.plan)
    most, until_s = 0, time.monotonic() + request.seconds
    try:
        with quick_import():
            import tensorflow  # noqa: F401 - takes seconds

        if request.memory_limit_bytes is not None:
            limit_further_memory(request.memory_limit_bytes)
        parts = divided(profile)
        most = min(request.most, len(parts.training))
        some = Split(parts.data, _some_of(parts.training), None)
        found = _Search(request, lines, until_s)
        return EndedSearch(end=found.run(_Steps(run, some), most), example_count=most)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in training
        problems = problems_of(error, what="Trying batches")
        return EndedSearch(end=SearchEnd.FAILED, example_count=most, problems=problems)


def main() -> int:
    """Answer the request on standard input."""
    request = BatchSearchRequest.model_validate_json(sys.stdin.buffer.read())
    # A step that never ends hears nothing: the kernel ends the process then.
    signal.alarm(int(request.seconds) + _GRACE_S)
    lines = ProgressLines()
    lines.write("ended", search(request, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
