"""Starting a sweep, stopping it, and letting one go on that was left alone."""

import os
import shutil
import time
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.sweep import SweepMethod
from gpupanel.files.guarded_files import touch
from gpupanel.files.whole_files import write_whole
from gpupanel.planning.chosen_devices import chosen_devices
from gpupanel.planning.sweep_trials import (
    repeats_of,
    runs_of,
    sweep_of,
    trial_count,
    trial_profile,
    trials_of,
)
from gpupanel.planning.visible_gpus import cuda_variables_of
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.launcher import reserve_run
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import ensure_scheduler
from gpupanel.runs.readiness import Machine, prepared_on
from gpupanel.runs.sweeps.bayesian import check_optuna
from gpupanel.runs.sweeps.sweep_layout import SWEEPS, SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepBegun, append_event, read_state
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_profile

Places = tuple[tuple[str, ...], ...]
_DECIDES_DEVICES: Final = ("devices.", "strategy.", "memory.")


def check_sweep(profile: Profile, *, is_here: bool = True) -> int:
    """How many trials the profile's sweep has at most.

    Args:
        profile: With its sweep.
        is_here: It is to be started on this machine, whose packages count.

    Raises:
        ProblemError: It cannot be started: mistakes of the table, values that do not go together,
            or Optuna is missing where it is needed.
    """
    sweep = sweep_of(profile)
    if sweep.method is SweepMethod.BAYESIAN:
        if is_here:
            check_optuna()
        return trial_count(profile)
    trials = trials_of(profile)
    for number, values in enumerate(trials, 1):
        trial_profile(profile, number, {**values, **repeats_of(profile)[0]})
    return len(trials)


def first_trial(profile: Profile) -> Profile:
    """The first of a sweep's trainings; of a Bayesian one, that of the profile itself.

    Raises:
        ProblemError: The sweep cannot be started.
    """
    if sweep_of(profile).method is SweepMethod.BAYESIAN:
        return profile.for_one_run
    return trial_profile(profile, 1, runs_of(profile)[0])


def check_first_trial(machine: Machine, profile: Profile) -> tuple[Problem, ...]:
    """What is to be known of the first trial on that machine, and keeps it not from starting.

    Raises:
        ProblemError: No trial could start: devices are not there, a path is wrong.
    """
    preparation = prepared_on(machine, first_trial(profile))
    if not preparation.is_startable:
        raise ProblemError(*preparation.problems)
    # The devices that a trial leaves unused have trials of their own.
    return tuple(each for each in preparation.problems if each.code != "devices_unused")


def places_on(machine: Machine, profile: Profile) -> Places:
    """The devices of each trial, by their keys, where trials can share those of the profile.

    A training on one device leaves the others of the profile free: each takes a trial. Else, and
    where the sweep itself says which devices, trials take all that the profile says: empty.
    """
    swept = profile.sweep.values if profile.sweep is not None else {}
    decides = any(key.startswith(_DECIDES_DEVICES) for key in swept)
    if profile.strategy.kind is not StrategyKind.ONE_DEVICE or decides:
        return ()
    devices = chosen_devices(profile, machine.inventory, machine.sample)
    return tuple((device.key,) for device in devices) if len(devices) > 1 else ()


def start_sweep(
    files: QueueFiles, profile: Profile, runs_dir: Path, places: Places = ()
) -> SweepLayout:
    """Make the sweep's folder and hand it to the scheduler of the queue, which adds its trials.

    Args:
        files: The queue.
        profile: With its ``[sweep]`` table; relative paths are taken from the working directory.
        runs_dir: The folder of the trials' runs, in which that of sweeps is, too.
        places: As :func:`places_on` gives them.

    Raises:
        CodeNotTrustedError: The profile names Python code that nobody trusted yet.
        ProblemError: The sweep cannot be started, its folder not be made, or the queue not be
            changed. Nothing of it is left, unless only the scheduler could not be started.
    """
    count = check_sweep(profile)
    check_trusted(code_of_profile(profile))
    layout = SweepLayout(reserve_run(profile.name, runs_dir.absolute() / SWEEPS).root)
    try:
        text = dump_profile(anchored(profile, Path.cwd()))
        write_whole(layout.profile, text, private=True)
        begun = SweepBegun(
            time_s=time.time(),
            trial_count=count,
            places=places,
            cuda_variables=cuda_variables_of(os.environ),
        )
        append_event(layout, begun)
        files.change(lambda line: line.with_sweep(layout.root))
    except OSError as error:
        shutil.rmtree(layout.root, ignore_errors=True)
        raise ProblemError(disk_problem(error, layout.root)) from error
    except BaseException:
        shutil.rmtree(layout.root, ignore_errors=True)
        raise
    ensure_scheduler(files)
    return layout


def stop_sweep(files: QueueFiles, layout: SweepLayout) -> None:
    """Ask that no further trial begins, and that those that go on are stopped; they save.

    Raises:
        ProblemError: The folder cannot be written, or is none of a sweep.
    """
    _check_sweep_folder(layout)
    try:
        touch(layout.stop)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.stop)) from error
    ensure_scheduler(files)


def resume_sweep(files: QueueFiles, layout: SweepLayout) -> None:
    """Let a sweep go on that the queue does not know any more, unless it has ended.

    Raises:
        CodeNotTrustedError: Its profile names Python code that nobody trusted yet.
        ProblemError: It has ended, or cannot be read; or the queue cannot be changed.
    """
    _check_sweep_folder(layout)
    try:
        state = read_state(layout)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.record)) from error
    if state.ended is not None:
        raise ProblemError(
            Problem(
                code="sweep_has_ended",
                message=f"The sweep {layout.name} has ended, so it cannot be continued.",
                hint="Start its profile again with `gpupanel sweep`.",
            )
        )
    files.change(lambda line: line.with_sweep(layout.root))
    ensure_scheduler(files)


def _check_sweep_folder(layout: SweepLayout) -> None:
    if not layout.record.is_file():
        raise ProblemError(
            Problem(
                code="sweep_missing",
                message=f"{layout.root} is not the folder of a sweep: it has no trials.jsonl.",
                hint="`gpupanel sweep PROFILE` prints the folder of the sweep that it starts.",
            )
        )
