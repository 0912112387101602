"""Adding the trials of sweeps to the queue, by the queue's own scheduler, and what they come to.

Each step is written into the sweep's record before the next one is done: a trial's values and the
id of its entry, then the entry itself, then that it was added. Whoever is killed in between, the
next scheduler finds how far it came. A trial is added as soon as one of the sweep's places has
none that waits or goes on, so the queue stays short and no device waits.
"""

import secrets
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.sweep import SweepMethod, SweptValue
from gpupanel.files.guarded_files import status
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.sweep_pruning import best_of, poor_trial
from gpupanel.planning.sweep_trials import axes_of, sweep_of, trial_profile, trials_of
from gpupanel.runs.directory.profile_file import anchored, read_sweep_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.running_runs import ended_entry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.sweeps.bayesian import next_values
from gpupanel.runs.sweeps.epoch_values import EpochValues
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import (
    SweepEnded,
    SweepEvent,
    SweepTrial,
    TrialChosen,
    TrialEnded,
    TrialPruned,
    TrialQueued,
    TrialStarted,
    append_event,
    read_state,
)
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_profile


class SweepFeeder:
    """Looks after the sweeps of a queue; knows nothing that files do not say.

    Args:
        files: The queue.
    """

    def __init__(self, files: QueueFiles) -> None:
        self._files = files
        self._sweeps: dict[Path, _Sweep] = {}
        self._troubles: dict[Path, str] = {}

    def step(self) -> None:
        """Do what is to be done now for each sweep.

        Raises:
            ProblemError: The queue cannot be read or changed.
        """
        for folder in self._files.read().sweeps:
            try:
                is_over = self._follow(folder)
            except OSError as error:
                # Such as a full disk: it may pass, and the other sweeps go on.
                self._log(folder, str(error))
                continue
            if is_over:
                self._sweeps.pop(folder, None)
                self._files.change(partial(WaitingLine.without_sweep, folder=folder))

    def _follow(self, folder: Path) -> bool:
        """Says whether the sweep is over."""
        layout = SweepLayout(folder)
        if status(layout.record) is None:
            self._log(folder, "its folder was removed")
            return True
        try:
            if folder not in self._sweeps:
                self._sweeps[folder] = _Sweep(self._files, layout)
        except ProblemError as error:
            # Its profile: that does not pass by itself.
            append_event(layout, SweepEnded(time_s=time.time(), problem=error.problems[0]))
            self._log(folder, str(error))
            return True
        return self._sweeps[folder].step(self._files.read())

    def _log(self, folder: Path, what: str) -> None:
        """Log a sweep's trouble, once for each sweep and cause."""
        if self._troubles.get(folder) != what:
            self._troubles[folder] = what
            write_to_process_log(f"scheduler: the sweep {SweepLayout(folder).name}: {what}")


class _Sweep:
    """One sweep that goes on.

    Raises:
        OSError: Its record cannot be read.
        ProblemError: Its profile cannot be read, or has no sweep that can be started.
    """

    def __init__(self, files: QueueFiles, layout: SweepLayout) -> None:
        self._files = files
        self._layout = layout
        self._profile = read_sweep_profile(layout.profile)
        self._sweep = sweep_of(self._profile)
        self._axes = axes_of(self._profile)
        is_bayesian = self._sweep.method is SweepMethod.BAYESIAN
        self._planned = () if is_bayesian else trials_of(self._profile)
        self._state = read_state(layout)
        begun = self._state.begun
        self._count = self._sweep.trials if is_bayesian else len(self._planned)
        if is_bayesian and begun is not None:
            self._count = min(self._count, begun.trial_count)
        self._places = (begun.places if begun is not None else ()) or ((),)
        self._cuda_variables = None if begun is None else begun.cuda_variables
        self._values: dict[int, EpochValues] = {}
        self._final: dict[int, Mapping[int, float]] = {}
        self._compared: dict[int, int] = {}
        self._asked = set[int]()

    def step(self, line: WaitingLine) -> bool:
        """Do what is to be done now; says whether the sweep is over.

        Raises:
            OSError: The record cannot be written, or a run's events not be read.
            ProblemError: The queue cannot be changed.
        """
        if self._state.ended is not None:
            return True
        is_stopped = status(self._layout.stop) is not None
        entries = {entry.id: entry for entry in line.entries}
        for trial in self._state.trials:
            if _was_removed(trial) and trial.entry in entries:
                self._append(TrialQueued(time_s=time.time(), number=trial.number))
        for trial in self._state.open_trials:
            self._note(trial, entries.get(trial.entry), is_stopped=is_stopped)
        for trial in self._state.open_trials:
            self._stop_where_due(trial, entries.get(trial.entry), is_stopped=is_stopped)
        if not is_stopped and not line.paused:
            self._feed()
        is_done = is_stopped or len(self._state.trials) >= self._count
        if is_done and not self._state.open_trials:
            was_cut = is_stopped and len(self._state.trials) < self._count
            self._append(SweepEnded(time_s=time.time(), stopped=was_cut))
        return self._state.ended is not None

    def _note(self, trial: SweepTrial, entry: QueueEntry | None, *, is_stopped: bool) -> None:
        """Record what became of a trial since the last look."""
        if entry is None:
            self._note_missing(trial, is_stopped=is_stopped)
            return
        if not trial.is_queued:
            self._append(TrialQueued(time_s=time.time(), number=trial.number))
        if trial.run is None and entry.run is not None and entry.is_filled:
            run = entry.run.name
            self._append(TrialStarted(time_s=time.time(), number=trial.number, run=run))
        if entry.state in (EntryState.ENDED, EntryState.REFUSED):
            self._end(trial.number, entry)

    def _note_missing(self, trial: SweepTrial, *, is_stopped: bool) -> None:
        """A trial without an entry: not added yet, or somebody took the entry out of the queue."""
        if trial.run is not None:
            run = self._layout.runs_dir / trial.run
            cleared = QueueEntry(
                id=trial.entry, name="", runs_dir=run.parent, added_s=0.0, run=run, is_filled=True
            )
            ended = ended_entry(cleared)
            if ended is not None:
                self._end(trial.number, ended)
        elif trial.is_queued or is_stopped:
            self._end(trial.number, None)
        else:
            self._queue(trial)

    def _end(self, number: int, entry: QueueEntry | None) -> None:
        trial = self._state.trials[number - 1]
        values = self._values_of(trial)
        followed = self._values.get(number)
        kept = None if followed is None else followed.kept_epoch
        if kept is not None and kept in values:
            # What its model is worth, which may have been chosen by another metric.
            values = {kept: values[kept]}
        best = best_of(values, more_is_better=self._sweep.more_is_better)
        problem = entry.problems[-1] if entry is not None and entry.problems else None
        self._append(
            TrialEnded(
                time_s=time.time(),
                number=number,
                outcome=None if entry is None else entry.outcome,
                epoch=None if best is None else best[0],
                value=None if best is None else best[1],
                problem=_removed(trial) if entry is None else problem,
            )
        )

    def _stop_where_due(
        self, trial: SweepTrial, entry: QueueEntry | None, *, is_stopped: bool
    ) -> None:
        """Ask a trial to stop that is poor, or whose sweep is to stop; once."""
        if trial.number in self._asked or entry is None:
            return
        if entry.is_waiting:
            if is_stopped:
                self._files.change(lambda line: _without_waiting(line, entry))
            return
        if trial.run is None:
            return
        if not is_stopped and trial.pruned is None and not self._is_poor(trial):
            return
        self._asked.add(trial.number)
        try:
            ask(RunLayout(self._layout.runs_dir / trial.run), Request.STOP)
        except ProblemError as error:
            write_to_process_log(f"scheduler: trial {trial.number} cannot be stopped: {error}")

    def _is_poor(self, trial: SweepTrial) -> bool:
        """Whether the trial is worse than the others; recorded where it is."""
        if not self._sweep.prune:
            return False
        own = self._values_of(trial)
        epoch = max(own, default=0)
        # Asked once for each epoch; at its end it is not stopped any more.
        is_known = epoch == self._compared.get(trial.number, 0)
        self._compared[trial.number] = epoch
        if is_known or epoch >= self._epochs_of(trial):
            return False
        others = [self._values_of(each) for each in self._state.trials if each != trial]
        poor = poor_trial(own, others, self._sweep)
        if poor is None:
            return False
        self._append(
            TrialPruned(
                time_s=time.time(),
                number=trial.number,
                epoch=poor.epoch,
                best=poor.best,
                median=poor.median,
            )
        )
        return True

    def _epochs_of(self, trial: SweepTrial) -> int:
        epochs = trial.values.get("training.epochs")
        return epochs if isinstance(epochs, int) else self._profile.training.epochs

    def _values_of(self, trial: SweepTrial) -> Mapping[int, float]:
        """The metric of a trial by epoch; none where its run cannot be read any more."""
        if trial.run is None:
            return {}
        if trial.number in self._final:
            return self._final[trial.number]
        if trial.number not in self._values:
            layout = RunLayout(self._layout.runs_dir / trial.run)
            self._values[trial.number] = EpochValues(layout, self._sweep.metric)
        try:
            values = self._values[trial.number].read()
        except OSError:
            values = {}  # a run that somebody removed, or put something else in the place of
        if not trial.is_open:
            self._final[trial.number] = values
        return values

    def _feed(self) -> None:
        """Add trials until each place has one that waits or goes on."""
        while len(self._state.trials) < self._count:
            taken = {trial.devices for trial in self._state.open_trials}
            free = next((place for place in self._places if place not in taken), None)
            values = None if free is None else self._next_values()
            if free is None or values is None:
                return
            number = len(self._state.trials) + 1
            self._append(
                TrialChosen(
                    time_s=time.time(),
                    number=number,
                    values=values,
                    entry=secrets.token_hex(4),
                    devices=free,
                )
            )
            self._queue(self._state.trials[number - 1])

    def _next_values(self) -> dict[str, SweptValue] | None:
        """The values of the next trial; ``None``: there is none, and the sweep is as long as it is.

        A Bayesian one ends here, too, where Optuna was removed meanwhile.
        """
        if self._planned:
            return dict(self._planned[len(self._state.trials)])
        try:
            values = next_values(self._axes, self._sweep, self._state.trials)
        except ProblemError as error:
            self._append(SweepEnded(time_s=time.time(), problem=error.problems[0]))
            return None
        if values is None:
            self._count = len(self._state.trials)
        return values

    def _queue(self, trial: SweepTrial) -> None:
        """Add a trial's entry to the queue, once; one that cannot be made has ended."""
        try:
            profile = self._profile_of(trial)
        except ProblemError as error:
            ended = TrialEnded(time_s=time.time(), number=trial.number, problem=error.problems[0])
            self._append(ended)
            return
        entry = QueueEntry(
            id=trial.entry,
            name=profile.name,
            runs_dir=self._layout.runs_dir,
            added_s=time.time(),
            cuda_variables=self._cuda_variables,
        )

        def added(line: WaitingLine) -> WaitingLine:
            if any(each.id == entry.id for each in line.entries):
                return line
            self._files.write_profile(entry.id, profile)
            return line.with_added(entry)

        self._files.change(added)
        self._append(TrialQueued(time_s=time.time(), number=trial.number))

    def _profile_of(self, trial: SweepTrial) -> Profile:
        """What a trial trains.

        Raises:
            CodeNotTrustedError: It names Python code that was changed since it was trusted.
            ProblemError: Its values do not go together.
        """
        profile = trial_profile(self._profile, trial.number, trial.values)
        if trial.devices:
            devices = profile.devices.model_copy(update={"visible": trial.devices})
            profile = profile.model_copy(update={"devices": devices})
        check_trusted(code_of_profile(profile))
        return anchored(profile, self._layout.root)

    def _append(self, event: SweepEvent) -> None:
        append_event(self._layout, event)
        self._state = self._state.with_event(event)


def _without_waiting(line: WaitingLine, entry: QueueEntry) -> WaitingLine:
    """The queue without an entry, unless the entry was started meanwhile."""
    still_waits = any(each.id == entry.id and each.is_waiting for each in line.entries)
    return line.with_removed(entry.id) if still_waits else line


def _was_removed(trial: SweepTrial) -> bool:
    problem = None if trial.ended is None else trial.ended.problem
    return problem is not None and problem.code == "sweep_trial_removed"


def _removed(trial: SweepTrial) -> Problem:
    return Problem(
        code="sweep_trial_removed",
        message=f"Trial {trial.number} was taken out of the queue before it began.",
        hint="Start the sweep again to try its values.",
    )
