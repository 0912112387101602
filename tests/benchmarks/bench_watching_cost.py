"""What window and telemetry cost a run; bound 2 % of its throughput.

The same training (784-128-10, 60,000 examples, batch 64, one logical CPU device) alone, and with
its supervisor sampling the devices and a window drawing it live. Repetitions are interleaved;
examples per second are the trainer's own, of training only.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.data import NpzData
from gpupanel.domain.events import TrainingEnded
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run, launch

REPETITIONS = 9
EPOCHS = 20
BOUND_PERCENT = 2.0
RUN_SECONDS_AT_MOST = 300


def throughput(layout: RunLayout) -> float:
    """Examples per second of a run, once it has ended."""
    follower, end_s = RunFollower(layout), time.monotonic() + RUN_SECONDS_AT_MOST
    while time.monotonic() < end_s:
        for event in follower.poll().events:
            if isinstance(event, TrainingEnded):
                if event.examples_per_second is None:
                    raise SystemExit(f"the run failed: {event.problem}")
                return event.examples_per_second
        time.sleep(0.05)
    raise SystemExit("the run did not end in time")


def alone(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> float:
    """The trainer by itself: nobody samples, nobody watches."""
    layout = create_run(profile, plan, runs_dir)
    environment = {**os.environ, **plan.environment, SUPERVISOR_PID_VARIABLE: str(os.getpid())}
    with layout.trainer_log.open("wb") as log:
        subprocess.run(
            [sys.executable, "-m", "gpupanel.trainer", str(layout.root)],
            env=environment,
            stdout=log,
            stderr=log,
            check=True,
        )
    return throughput(layout)


def watched(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> float:
    """The run as a person starts it, with a window that draws it."""
    layout = launch(profile, plan, runs_dir)
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    window = subprocess.Popen(
        [sys.executable, "-m", "gpupanel", "open", str(layout.root)], env=environment
    )
    try:
        return throughput(layout)
    finally:
        # Not SIGINT, which a shell has ignored in what it starts in the background.
        window.terminate()
        window.wait(timeout=20)


def main() -> None:
    """Print both throughputs and what watching costs."""
    with tempfile.TemporaryDirectory() as folder, DeviceSampler() as sampler:
        data = Path(folder) / "pictures.npz"
        random = np.random.default_rng(7)
        labels = random.integers(0, 10, 60_000).astype(np.int32)
        images = random.integers(0, 256, (60_000, 28, 28), np.uint8)
        np.savez(data, x=images, y=labels)
        profile = Profile(
            devices=DeviceSettings(visible=("cpu",)),
            data=NpzData(path=str(data)),
            training=TrainingSettings(epochs=EPOCHS, checkpoint_every_epochs=0),
        )
        plan = prepare(profile, sampler.inventory()).plan
        if plan is None:
            raise SystemExit("this profile cannot start here")
        pairs = [
            (alone(profile, plan, Path(folder)), watched(profile, plan, Path(folder)))
            for _ in range(REPETITIONS)
        ]
    cost = statistics.median(100.0 * (1.0 - seen / unseen) for unseen, seen in pairs)
    for name, speeds in zip(("alone", "watched"), zip(*pairs, strict=True), strict=True):
        shown = ", ".join(f"{speed:,.0f}" for speed in speeds)
        print(f"{name:<8} {statistics.median(speeds):>10,.0f} examples/s  ({shown})")
    print(f"watching costs {cost:.1f} % of throughput, median of pairs (bound {BOUND_PERCENT} %)")


if __name__ == "__main__":
    main()
