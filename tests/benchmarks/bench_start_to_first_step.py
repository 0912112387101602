"""Start to first step, against a plain script that does the same; bound 1.25.

Both are timed from outside, from the moment that somebody asks for the run to the first
optimizer update: the run through launcher, supervisor and trainer, the script (the one that
``gpupanel export`` writes) in a Python of its own. Repetitions are interleaved.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.events import RunEnded, StepsDone
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import launch

REPETITIONS = 5
BOUND = 1.25
DIGITS = Path(__file__).parents[2] / "resources" / "profiles" / "digits.toml"
FIRST_STEP = """
float(train_step(x[:BATCH], y[:BATCH])[0])
import time
print(time.time())
"""


def seconds_of_a_run(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> float:
    """From the launch to the first step that the run reports."""
    started_s = time.time()
    follower = RunFollower(launch(profile, plan, runs_dir))
    first_step_s: float | None = None
    while True:
        for event in follower.poll().events:
            if isinstance(event, StepsDone) and first_step_s is None:
                first_step_s = event.time_s
            if isinstance(event, RunEnded):
                if first_step_s is None:
                    raise SystemExit(f"the run failed: {event.problem}")
                return first_step_s - started_s
        time.sleep(0.02)


def seconds_of_a_script(script: Path) -> float:
    """From the start of Python to the end of the first step."""
    started_s = time.time()
    completed = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    )
    return float(completed.stdout.splitlines()[-1]) - started_s


def main() -> None:
    """Print medians and their ratio."""
    digits = read_profile(DIGITS)
    training = digits.training.model_copy(update={"epochs": 1})
    profile = digits.model_copy(update={"training": training})
    with DeviceSampler() as sampler:
        plan = prepare(profile, sampler.inventory()).plan
    if plan is None:
        raise SystemExit("the example profile cannot start here")
    whole = stand_alone_script(profile, plan)
    runs, scripts = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "plain.py"
        script.write_text(whole.partition("for epoch in")[0] + FIRST_STEP)
        for _ in range(REPETITIONS):
            runs.append(seconds_of_a_run(profile, plan, Path(folder) / "runs"))
            scripts.append(seconds_of_a_script(script))
    ratio = statistics.median(run / plain for run, plain in zip(runs, scripts, strict=True))
    print(f"run to first step     {statistics.median(runs):6.2f} s  {[f'{s:.2f}' for s in runs]}")
    print(
        f"script to first step  {statistics.median(scripts):6.2f} s  "
        f"{[f'{s:.2f}' for s in scripts]}"
    )
    print(f"median ratio          {ratio:6.2f}    (bound {BOUND})")


if __name__ == "__main__":
    main()
