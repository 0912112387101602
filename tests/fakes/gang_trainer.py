"""One process of a gang without TensorFlow: each does what the mode of its place says.

``python tests/fakes/gang_trainer.py MODE,MODE RUN_DIR``: the first mode is the leader's.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from gpupanel.domain.events import Event, Phase, PhaseChanged, TrainingEnded, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.process_environment import PORT_TAKEN_STATUS
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.heartbeat import start_heartbeat
from gpupanel.trainer.started_run import process_place


class Process:
    def __init__(self, layout: RunLayout) -> None:
        self.layout = layout
        self.place = process_place()
        self.log = os.open(layout.events, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(self, event: Event) -> None:
        os.write(self.log, encode_event(event).encode() + b"\n")

    def end(self, outcome: Outcome, problem: Problem | None = None) -> int:
        self.say(
            TrainingEnded(time_s=time.time(), process=self.place, outcome=outcome, problem=problem)
        )
        return int(outcome is Outcome.FAILED)

    def wait_for_others(self) -> None:
        """Until every process of the gang that means to has begun."""
        count = sum(len(each) for each in json.loads(os.environ["TF_CONFIG"])["cluster"].values())
        (self.layout.root / f"begun-{self.place}").touch()
        while len(list(self.layout.root.glob("begun-*"))) < count:
            time.sleep(0.01)
        time.sleep(0.3)  # until they do what their mode says

    def act(self, mode: str) -> int:
        if mode == "never_begin":
            time.sleep(60)
        if mode == "be_busy":
            begun_s = time.monotonic()
            while time.monotonic() - begun_s < 10.0:
                pass
        start_heartbeat(self.layout.root)
        print(f"place {self.place} does {mode}", flush=True)
        if self.place == 0:
            self.say(PhaseChanged(time_s=time.time(), phase=Phase.TRAINING))
        if mode == "need_another_port":
            ports = self.layout.root / "ports"
            with ports.open("a") as file:
                file.write(os.environ["TF_CONFIG"] + "\n")
            if len(ports.read_text().splitlines()) == 1:
                return PORT_TAKEN_STATUS
            return self.end(Outcome.COMPLETED)
        if mode == "never_get_a_port":
            return PORT_TAKEN_STATUS
        # Before the others can know that it has begun: one of them ends the attempt then.
        again = self.layout.root / f"again-{self.place}"
        is_first_attempt = not again.exists()
        again.touch()
        self.wait_for_others()
        match mode:
            case "complete":
                return self.end(Outcome.COMPLETED)
            case "leave":
                return 0
            case "kill_itself":
                os.kill(os.getpid(), signal.SIGKILL)
            case "kill_itself_once":
                if not list(self.layout.root.glob("killed")):
                    (self.layout.root / "killed").touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            case "abort":
                os.kill(os.getpid(), signal.SIGABRT)
            case "freeze":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "fail":
                time.sleep(0.3)  # the others told first that they lost it
                problem = Problem(code="no_space", message="No space is left.")
                return self.end(Outcome.FAILED, problem)
            case "lose_a_peer":
                problem = Problem(code="peer_lost", message="Another process went away.")
                return self.end(Outcome.FAILED, problem)
            case "complete_at_the_second_attempt":
                if not is_first_attempt:
                    return self.end(Outcome.COMPLETED)
                time.sleep(60)
            case "stop_when_asked":
                while not (self.layout.requests / Request.STOP).exists():
                    time.sleep(0.01)
                return self.end(Outcome.STOPPED)
        time.sleep(60)
        return 0


if __name__ == "__main__":
    process = Process(RunLayout(Path(sys.argv[2])))
    sys.exit(process.act(sys.argv[1].split(",")[process.place]))
