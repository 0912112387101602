"""Adding the trials of sweeps to the queue, by the queue's own scheduler, and what they come to.

Each step is written into the sweep's record before the next one is done: a trial's values and the
id of its entry, then the entry itself, then that it was added. Whoever is killed in between, the
next scheduler finds how far it came. A trial is added as soon as one of the sweep's places has
none that waits or goes on, so the queue stays short and no device waits.
"""

import secrets
import time

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.sweep import SweepMethod, SweptValue
from gpupanel.files.guarded_files import size_of, status
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.sweep_trials import (
    axes_of,
    repeats_of,
    runs_of,
    sweep_of,
    trial_profile,
)
from gpupanel.runs.directory.profile_file import anchored, read_sweep_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.running_runs import ended_entry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.sweeps.bayesian import next_values
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import (
    SweepEnded,
    SweepEvent,
    SweepTrial,
    TrialChosen,
    TrialContinued,
    TrialEnded,
    TrialPaused,
    TrialPruned,
    TrialQueued,
    TrialStarted,
    append_event,
    read_state,
)
from gpupanel.runs.sweeps.trial_rules import TrialRules
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_profile


class RunningSweep:
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
        self._repeats = repeats_of(self._profile)
        self._planned = () if is_bayesian else runs_of(self._profile)
        self._state = read_state(layout)
        begun = self._state.begun
        self._count = len(self._planned)
        if is_bayesian:
            known = self._sweep.trials if begun is None else begun.trial_count
            self._count = min(self._sweep.trials, known) * len(self._repeats)
        self._places = (begun.places if begun is not None else ()) or ((),)
        self._cuda_variables = None if begun is None else begun.cuda_variables
        self._rules = TrialRules(layout, self._profile)
        self._asked = set[str]()

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
            self._ask_where_due(trial, entries.get(trial.entry), is_stopped=is_stopped)
        if not is_stopped and not line.paused:
            self._feed()
        have_all_begun = len(self._state.trials) >= self._count
        may_continue = bool(self._state.paused_trials) and line.paused
        if not self._state.open_trials and (is_stopped or (have_all_begun and not may_continue)):
            self._end_paused(is_stopped=is_stopped)
            was_cut = is_stopped and not have_all_begun
            self._append(SweepEnded(time_s=time.time(), stopped=was_cut))
        return self._state.ended is not None

    def _note(self, trial: SweepTrial, entry: QueueEntry | None, *, is_stopped: bool) -> None:
        """Record what became of a trial since the last look."""
        if entry is None:
            self._note_missing(trial, is_stopped=is_stopped)
            return
        if not trial.is_queued:
            self._append(TrialQueued(time_s=time.time(), number=trial.number))
        is_begun = entry.run is not None and entry.is_filled and not entry.is_waiting
        if not trial.is_started and is_begun and entry.run is not None:
            run = entry.run.name
            self._append(TrialStarted(time_s=time.time(), number=trial.number, run=run))
        if entry.state in (EntryState.ENDED, EntryState.REFUSED):
            self._end(trial.number, entry)

    def _note_missing(self, trial: SweepTrial, *, is_stopped: bool) -> None:
        """A trial without an entry: not added yet, or somebody took the entry out of the queue."""
        if trial.run is not None and self._has_begun(trial, trial.run):
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

    def _has_begun(self, trial: SweepTrial, run: str) -> bool:
        """Whether a trial's run has been started, or continued where that was the last thing."""
        return trial.events_bytes is None or self._events_bytes(run) > trial.events_bytes

    def _events_bytes(self, run: str) -> int:
        return size_of(RunLayout(self._layout.runs_dir / run).events)

    def _end(self, number: int, entry: QueueEntry | None) -> None:
        """Record that a trial's run has ended: it is paused at its rung, or over."""
        trial = self._state.trials[number - 1]
        outcome = None if entry is None else entry.outcome
        rung, past = self._rules.rung_of(trial), self._rules.epochs_past_rung(trial)
        if rung is not None and past is not None and past >= 0 and outcome is Outcome.SUSPENDED:
            best = self._rules.best_of(trial)
            self._append(
                TrialPaused(
                    time_s=time.time(),
                    number=number,
                    epoch=rung,
                    value=None if best is None else best[1],
                    value_epoch=None if best is None else best[0],
                )
            )
            return
        problem = entry.problems[-1] if entry is not None and entry.problems else None
        self._append_end(trial, outcome, _removed(trial) if entry is None else problem)

    def _append_end(
        self, trial: SweepTrial, outcome: Outcome | None, problem: Problem | None = None
    ) -> None:
        best = self._rules.best_of_model(trial)
        if outcome is None and trial.paused is not None:
            outcome = Outcome.SUSPENDED  # its run stays so
        self._append(
            TrialEnded(
                time_s=time.time(),
                number=trial.number,
                outcome=outcome,
                epoch=None if best is None else best[0],
                value=None if best is None else best[1],
                problem=problem,
            )
        )

    def _end_paused(self, *, is_stopped: bool) -> None:
        """End the trials that are paused, since none of them goes on any more."""
        places = self._rules.paused_standings(self._state)
        for trial in self._state.paused_trials:
            place = places.get(trial.number)
            if place is not None and not is_stopped and trial.pruned is None:
                self._append(
                    TrialPruned(
                        time_s=time.time(),
                        number=trial.number,
                        epoch=place.epoch,
                        best=place.best,
                        rank=place.rank,
                        among=place.among,
                        continued=place.continued,
                    )
                )
            self._append_end(trial, Outcome.SUSPENDED)

    def _ask_where_due(
        self, trial: SweepTrial, entry: QueueEntry | None, *, is_stopped: bool
    ) -> None:
        """Ask a trial to stop that is poor, or whose sweep is to stop, or to suspend; once."""
        if trial.entry in self._asked or entry is None:
            return
        if entry.is_waiting:
            if is_stopped:
                self._files.change(lambda line: _without_waiting(line, entry))
            return
        if trial.run is None:
            return
        request = Request.STOP
        if not is_stopped and trial.pruned is None and not self._is_poor(trial):
            past = self._rules.epochs_past_rung(trial)
            if past is None or past <= 0:
                return
            # Its trainer, on another node, has not read after which epoch it should.
            request = Request.SUSPEND
        self._asked.add(trial.entry)
        try:
            ask(RunLayout(self._layout.runs_dir / trial.run), request)
        except ProblemError as error:
            write_to_process_log(
                f"scheduler: trial {trial.number} cannot be asked to {request.value}: {error}"
            )

    def _is_poor(self, trial: SweepTrial) -> bool:
        """Whether the trial is worse than the others; recorded where it is."""
        poor = self._rules.newly_poor(trial, self._state)
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

    def _feed(self) -> None:
        """Continue and add trials until each place has one that waits or goes on."""
        while self._state.ended is None:
            taken = {trial.devices for trial in self._state.open_trials}
            free = next((place for place in self._places if place not in taken), None)
            if free is None or not (self._continue_one(free) or self._begin_one(free)):
                return

    def _continue_one(self, place: tuple[str, ...]) -> bool:
        """Let a paused trial go on, if one is good enough; says whether one does."""
        is_last = not self._state.open_trials and len(self._state.trials) >= self._count
        number = self._rules.to_continue(self._state, is_last=is_last)
        if number is None:
            return False
        run = self._state.trials[number - 1].run
        self._append(
            TrialContinued(
                time_s=time.time(),
                number=number,
                entry=secrets.token_hex(4),
                events_bytes=0 if run is None else self._events_bytes(run),
                devices=place,
            )
        )
        self._queue(self._state.trials[number - 1])
        return True

    def _begin_one(self, place: tuple[str, ...]) -> bool:
        """Let another trial begin, if there is one; says whether one does."""
        if len(self._state.trials) >= self._count:
            return False
        values = self._next_values()
        if values is None:
            return False
        number = len(self._state.trials) + 1
        self._append(
            TrialChosen(
                time_s=time.time(),
                number=number,
                values=values,
                entry=secrets.token_hex(4),
                devices=place,
            )
        )
        self._queue(self._state.trials[number - 1])
        return True

    def _next_values(self) -> dict[str, SweptValue] | None:
        """The values of the next trial; ``None``: there is none, and the sweep is as long as it is.

        A Bayesian one ends here, too, where Optuna was removed meanwhile.
        """
        if self._planned:
            return dict(self._planned[len(self._state.trials)])
        place = len(self._state.trials) % len(self._repeats)
        own = self._repeats[place]
        if place:
            return {**self._state.trials[-1].values, **own}
        try:
            values = next_values(self._axes, self._sweep, self._state.trials)
        except ProblemError as error:
            self._append(SweepEnded(time_s=time.time(), problem=error.problems[0]))
            return None
        if values is None:
            self._count = len(self._state.trials)
        return None if values is None else {**values, **own}

    def _queue(self, trial: SweepTrial) -> None:
        """Add a trial's entry to the queue, once; one that cannot be made has ended."""
        try:
            profile = self._profile_of(trial)
        except ProblemError as error:
            self._append_end(trial, None, error.problems[0])
            return
        entry = QueueEntry(
            id=trial.entry,
            name=profile.name,
            runs_dir=self._layout.runs_dir,
            added_s=time.time(),
            run=self._layout.runs_dir / trial.run if trial.run is not None else None,
            is_filled=trial.run is not None,
            suspend_after_epoch=self._rules.rung_of(trial),
            continues_from=trial.events_bytes,
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
        number = (trial.number - 1) // len(self._repeats) + 1
        profile = trial_profile(self._profile, number, trial.values)
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
        message=f"Trial {trial.number} was taken out of the queue before it "
        f"{'began' if trial.paused is None else 'was continued'}.",
        hint="Start the sweep again to try its values.",
    )
