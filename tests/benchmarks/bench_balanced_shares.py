"""Balanced shares against equal ones: two workers, one held to half speed; 0.9 of the ideal.

Each worker is pinned to a core of its own, and the second has a CPU quota of a half. (A busy
neighbour on its core would not do: whoever sleeps between steps is let through at once when it
wakes.) Where this user may make no control group, it is stopped and continued instead. The ideal
follows from the speeds that the trainer itself measured last: equal shares wait for the slower
worker, the best shares for nobody, so it is ``(speed1 + speed2) / (2 * slower)``. Repetitions are
interleaved; every run goes through launcher, supervisor and trainer like any other. Needs two
cores with little else to do.
"""

import contextlib
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

import numpy as np
import psutil

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.data import NpzData
from gpupanel.domain.events import RunEnded, SharesChosen, TrainerStarted
from gpupanel.domain.model import CnnModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import launch

REPETITIONS = int(os.environ.get("REPETITIONS", "3"))
BOUND = 0.9
EXAMPLES = 12_800
PATIENCE_S = 300.0
PERIOD_S = 0.01
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
"""Of version 1 of the kernel's control groups; version 2 leaves none to a process as it is."""


def profile_with(shares: str, data: Path) -> Profile:
    """Two workers that train a network of much arithmetic and few weights."""
    return Profile(
        name=f"{shares} shares",
        devices=DeviceSettings(visible=("cpu",)),
        strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2, shares=shares),
        data=NpzData(path=str(data), validation_fraction=0.0),
        model=CnnModel(filters=(32, 64)),
        training=TrainingSettings(
            epochs=6, global_batch_size=1024, tensorboard=False, checkpoint_every_epochs=0
        ),
    )


def examples_per_second(
    profile: Profile, plan: LaunchPlan, runs_dir: Path
) -> tuple[float, list[SharesChosen]]:
    """Of one run whose workers are pinned to the first two cores, with the shares it chose."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    follower = RunFollower(launch(profile, plan, runs_dir))
    chosen: list[SharesChosen] = []
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        for event in follower.poll().events:
            if isinstance(event, TrainerStarted):
                # TensorFlow is not imported yet: its threads will be pinned like this one.
                psutil.Process(event.pid).cpu_affinity([cores[event.process]])
                if event.process == 1:
                    hold_to_half_speed(event.pid)
            elif isinstance(event, SharesChosen):
                chosen.append(event)
            elif isinstance(event, RunEnded):
                if event.examples_per_second is None:
                    raise SystemExit(f"the run failed: {event.problem}")
                return event.examples_per_second, chosen
        time.sleep(0.01)
    raise SystemExit("the run did not end in time")


def hold_to_half_speed(pid: int) -> None:
    """By a CPU quota; where there can be none, by stopping it half of the time."""
    group = CPU_GROUPS / f"gpupanel-bench-{os.getpid()}"
    try:
        group.mkdir(exist_ok=True)
        (group / "cpu.cfs_period_us").write_text(f"{PERIOD_S * 1e6:.0f}")
        (group / "cpu.cfs_quota_us").write_text(f"{PERIOD_S * 1e6 / 2:.0f}")
        (group / "cgroup.procs").write_text(str(pid))
    except OSError:
        Thread(target=stop_and_continue, args=(pid,), daemon=True).start()


def leave_no_group() -> None:
    """Remove the control group, which is empty when the runs have ended."""
    with contextlib.suppress(OSError):
        (CPU_GROUPS / f"gpupanel-bench-{os.getpid()}").rmdir()


def stop_and_continue(pid: int) -> None:
    """Stop a process half of the time, until it has ended."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(PERIOD_S / 2)
            os.kill(pid, signal.SIGCONT)
            time.sleep(PERIOD_S / 2)


def main() -> None:
    """Measure and print."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("two cores are needed")
    random = np.random.default_rng(0)
    speed: dict[str, list[float]] = {"equal": [], "balanced": []}
    ideals: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        pixels = random.integers(0, 256, (EXAMPLES, 28, 28), dtype=np.uint8)
        np.savez(data, x=pixels, y=random.integers(0, 10, EXAMPLES))
        inventory = DeviceSampler().inventory()
        for _ in range(REPETITIONS):
            for shares, speeds in speed.items():
                profile = profile_with(shares, data)
                prepared = prepare(profile, inventory)
                if prepared.plan is None:
                    raise SystemExit(f"cannot be planned: {prepared.problems}")
                figure, chosen = examples_per_second(profile, prepared.plan, Path(folder) / "runs")
                speeds.append(figure)
                told = " -> ".join(str(list(event.shares)) for event in chosen)
                print(f"{shares:<9} {figure:>8,.0f} examples/s  {told}", flush=True)
                if chosen:
                    alone = [one.examples_per_second for one in chosen[-1].speeds]
                    ideals.append(sum(alone) / (len(alone) * min(alone)))
    leave_no_group()
    pairs = zip(speed["balanced"], speed["equal"], strict=True)
    gain = statistics.median(balanced / equal for balanced, equal in pairs)
    ideal = statistics.median(ideals)
    print(f"balanced over equal shares {gain:.2f}, ideal {ideal:.2f}: {gain / ideal:.2f} of it")
    print(f"at least {BOUND} is wanted: {'reached' if gain / ideal >= BOUND else 'NOT reached'}")


if __name__ == "__main__":
    main()
