"""A trainer without TensorFlow, for tests of what watches a trainer.

``python tests/fakes/trainer.py MODE... RUN_DIR`` writes the events that a trainer would, then does
what its mode says.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.events import (
    CheckpointSaved,
    DataReady,
    EpochDone,
    Event,
    Phase,
    PhaseChanged,
    RequestAnswered,
    StepsDone,
    TrainingEnded,
    encode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout

_START_A_GRANDCHILD = (
    "import subprocess, sys; "
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
)


ENOUGH = "enough"
"""A file in the run's directory: a trainer that trains on ends its epoch then, and completes."""
STEPS_PER_EPOCH = 10
WHAT_IT_TRAINS_ON = DataReady(
    time_s=0.0,
    training_examples=64 * 1_000,
    validation_examples=0,
    feature_shape=(8, 8),
    class_count=10,
    steps_per_epoch=1_000,
)
"""So much that the epochs of a profile end after minutes."""


def train_on(layout: RunLayout, say: Callable[[Event], None]) -> None:
    """Fifty steps a second, each with an event, and five epochs."""
    step = STEPS_PER_EPOCH
    while step % STEPS_PER_EPOCH or not (layout.root / ENOUGH).exists():
        if not layout.root.exists():
            sys.exit("the test has ended")  # without its supervisor, which it had killed
        time.sleep(0.02)
        step += 1
        epoch, in_epoch = divmod(step - 1, STEPS_PER_EPOCH)
        say(
            StepsDone(
                time_s=time.time(),
                step=step,
                steps=1,
                epoch=epoch + 1,
                step_in_epoch=in_epoch + 1,
                examples=64,
                loss=10.0 / step,
                accuracy=0.5,
                examples_per_second=3200.0,
            )
        )
        if step % STEPS_PER_EPOCH == 0:
            metrics = Metrics(loss=10.0 / step, accuracy=0.5)
            say(
                EpochDone(
                    time_s=time.time(), epoch=epoch + 1, step=step, metrics=metrics, seconds=0.2
                )
            )
            print(f"the fake trainer has done epoch {epoch + 1}", flush=True)


def save_checkpoint(layout: RunLayout, say: Callable[[Event], None]) -> None:
    (layout.checkpoints / "step-000000010").mkdir(parents=True)
    say(
        CheckpointSaved(
            time_s=time.time(), path="checkpoints/step-000000010", epoch=1, step=10, seconds=0.1
        )
    )


def main(mode: str, layout: RunLayout) -> int:
    log = os.open(layout.events, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(event: Event) -> None:
        os.write(log, encode_event(event).encode() + b"\n")

    print(f"the fake trainer says {mode}", flush=True)
    say(PhaseChanged(time_s=time.time(), phase=Phase.IMPORTING_TENSORFLOW))
    if mode == "hang_at_start":
        time.sleep(60)
    if mode == "compile_at_start":
        say(PhaseChanged(time_s=time.time(), phase=Phase.TRACING))
        # However little of the processor a busy machine has for it.
        until_s = time.monotonic() + 60.0
        while b"first_step_takes_long" not in layout.events.read_bytes():
            if time.monotonic() > until_s:
                break
    say(PhaseChanged(time_s=time.time(), phase=Phase.TRAINING))
    say(
        StepsDone(
            time_s=time.time(),
            step=10,
            steps=10,
            epoch=1,
            step_in_epoch=10,
            examples=640,
            loss=1.0,
            accuracy=0.5,
            examples_per_second=1000.0,
        )
    )
    if mode == "ignore_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    if mode == "hang_in_a_step":
        time.sleep(60)
    if mode == "train_to_an_end":
        say(WHAT_IT_TRAINS_ON)
    if mode in ("train_on", "train_to_an_end"):
        train_on(layout, say)
    if mode == "leave_a_child":
        if os.fork() == 0:
            time.sleep(60)
        return 0
    if mode == "leave_a_grandchild":
        # Out of the group and of the session, and its parent is gone: only its environment tells.
        subprocess.run(
            [sys.executable, "-c", _START_A_GRANDCHILD], start_new_session=True, check=True
        )
        time.sleep(60)
    if mode == "vanish":
        return 3
    if mode == "kill_itself":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "fail":
        problem = Problem(code="loss_not_finite", message="The loss became NaN at step 11.")
        say(TrainingEnded(time_s=time.time(), outcome=Outcome.FAILED, problem=problem))
        return 1
    if mode == "save_when_alone":
        while os.getppid() == int(os.environ[SUPERVISOR_PID_VARIABLE]):
            time.sleep(0.01)
        save_checkpoint(layout, say)
        say(TrainingEnded(time_s=time.time(), outcome=Outcome.STOPPED))
        return 0
    if mode == "save_slowly":
        while not (layout.requests / Request.SUSPEND).exists():
            time.sleep(0.01)
        say(RequestAnswered(time_s=time.time(), request=Request.SUSPEND))
        say(PhaseChanged(time_s=time.time(), phase=Phase.SAVING))
        time.sleep(1.5)
        save_checkpoint(layout, say)
        say(TrainingEnded(time_s=time.time(), outcome=Outcome.SUSPENDED))
        return 0
    if mode == "wait_for_stop":
        while not (layout.requests / Request.STOP).exists():
            time.sleep(0.01)
        say(RequestAnswered(time_s=time.time(), request=Request.STOP))
        say(TrainingEnded(time_s=time.time(), outcome=Outcome.STOPPED))
        return 0
    if mode == "wait_for_any":
        ends = {Request.STOP: Outcome.STOPPED, Request.SUSPEND: Outcome.SUSPENDED}
        while not (asked := [each for each in ends if (layout.requests / each).exists()]):
            time.sleep(0.01)
        say(RequestAnswered(time_s=time.time(), request=asked[0]))
        say(TrainingEnded(time_s=time.time(), outcome=ends[asked[0]]))
        return 0
    if mode == "find_no_space":
        for _ in range(30):
            time.sleep(0.1)
            os.utime(layout.events)
    if mode == "say_much":
        # As an evaluation of a thousand classes did, with its whole matrix in one event.
        os.write(log, json.dumps({"kind": "much", "numbers": [0] * 2**20}).encode() + b"\n")
    metrics = Metrics(loss=0.5, accuracy=0.9)
    say(
        TrainingEnded(
            time_s=time.time(),
            outcome=Outcome.COMPLETED,
            metrics=metrics,
            examples_per_second=1234.0,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], RunLayout(Path(sys.argv[2]))))
