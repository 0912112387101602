"""Two nodes of a Ray cluster, which are two raylets on this machine, against one machine or node.

Start to first step against two workers of one machine; throughput of two nodes over one, each
worker with a CPU quota of its own (without the right to make control groups: each pinned to a
core); and what an agent sends of its node's devices. Repetitions are interleaved, every run goes
through launcher, supervisor and trainer like any other. ``REPETITIONS`` says how many.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpupanel.domain.cluster import ClusterSettings  # noqa: E402
from gpupanel.domain.data import NpzData  # noqa: E402
from gpupanel.domain.events import RunEnded, StepsDone, TrainerStarted  # noqa: E402
from gpupanel.domain.model import CnnModel  # noqa: E402
from gpupanel.domain.profile import DeviceSettings, Profile  # noqa: E402
from gpupanel.domain.strategy import StrategyKind, StrategySettings  # noqa: E402
from gpupanel.domain.training import TrainingSettings  # noqa: E402
from gpupanel.planning.context import Known  # noqa: E402
from gpupanel.planning.prepare import prepare  # noqa: E402
from gpupanel.runs.following.follower import RunFollower  # noqa: E402
from gpupanel.runs.launcher import launch  # noqa: E402
from gpupanel.runs.readiness import read_machines_for  # noqa: E402
from tests.clusters import real_cluster  # noqa: E402
from tests.nvml.standin import (  # noqa: E402
    EIGHT_GPUS,
    TWO_UNEQUAL_GPUS,
    Standin,
    StandinState,
    compile_library,
    compiler,
)

REPETITIONS = int(os.environ.get("REPETITIONS", "3"))
EXAMPLES = 5_120
EPOCHS = int(os.environ.get("EPOCHS", "3"))
PATIENCE_S = 600.0
QUOTA, PERIOD_S = 0.4, 0.05
"""Of a core, for each worker: two of them fit on a machine whose cores have other work, too."""
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
"""Of version 1 of the kernel's control groups; version 2 leaves none to a process as it is."""

# In a child: LD_LIBRARY_PATH is read when a process starts.
SENT = """
import os, sys, tempfile, time
from pathlib import Path
from gpupanel.runs.cluster.messages import AgentCommand
from gpupanel.runs.cluster.node_agent import NodeAgent
seconds, agent = float(sys.argv[1]), NodeAgent()
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "profile.toml").touch()
    order = AgentCommand(root=folder, network="lo", address="127.0.0.1", count=1)
    agent.make_ready(order.model_dump_json())
    agent.poll()
    sent, until_s, cpu_s = 0, time.monotonic() + seconds, time.process_time()
    while time.monotonic() < until_s:
        time.sleep(0.25)
        sent += len(agent.poll())
    print(sent / seconds, 100.0 * (time.process_time() - cpu_s) / seconds)
    agent.end()
"""


def profile_of(data: Path, address: str, visible: tuple[str, ...], epochs: int) -> Profile:
    """Workers that train a network of much arithmetic and few weights."""
    workers = None if len(visible) > 1 else 2 if not address else 1
    return Profile(
        name="cluster",
        cluster=ClusterSettings(address=address) if address else None,
        devices=DeviceSettings(visible=visible),
        strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=workers),
        data=NpzData(path=str(data), validation_fraction=0.0),
        model=CnnModel(filters=(32, 64)),
        training=TrainingSettings(
            epochs=epochs, global_batch_size=512, tensorboard=False, checkpoint_every_epochs=0
        ),
    )


def carried_out(
    profile: Profile, runs_dir: Path, on_started: Callable[[int, int], None]
) -> tuple[float, float]:
    """Seconds to the first step, asking for devices included, and examples a second, of a run."""
    started_s, first_step_s = time.time(), None
    machine = read_machines_for(profile)
    prepared = prepare(profile, machine.inventory, Known(machine.sample))
    if prepared.plan is None or not prepared.is_startable:
        raise SystemExit(f"cannot be started: {prepared.problems}")
    follower = RunFollower(launch(profile, prepared.plan, runs_dir))
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        for event in follower.poll().events:
            if isinstance(event, TrainerStarted):
                on_started(event.process, event.pid)
            elif isinstance(event, StepsDone) and first_step_s is None:
                first_step_s = event.time_s
            elif isinstance(event, RunEnded):
                if event.examples_per_second is None or first_step_s is None:
                    raise SystemExit(f"the run failed: {event.problem}")
                return first_step_s - started_s, event.examples_per_second
        time.sleep(0.02)
    raise SystemExit("the run did not end in time")


def leave_alone(_place: int, _pid: int) -> None:
    """Let a worker have what the machine gives it."""


def hold(place: int, pid: int) -> None:
    """Give a worker its part of a core; without the right to do so, a core of its own."""
    group = CPU_GROUPS / f"gpupanel-bench-{os.getpid()}-{place}"
    try:
        group.mkdir(exist_ok=True)
        (group / "cpu.cfs_period_us").write_text(f"{PERIOD_S * 1e6:.0f}")
        (group / "cpu.cfs_quota_us").write_text(f"{QUOTA * PERIOD_S * 1e6:.0f}")
        (group / "cgroup.procs").write_text(str(pid))
    except OSError:
        cores = sorted(os.sched_getaffinity(0))
        psutil.Process(pid).cpu_affinity([cores[place % len(cores)]])


def leave_no_groups() -> None:
    """Remove the control groups, which are empty when the runs have ended."""
    for place in range(2):
        with contextlib.suppress(OSError):
            (CPU_GROUPS / f"gpupanel-bench-{os.getpid()}-{place}").rmdir()


def compare_on_nodes(folder: Path) -> None:
    """Start to first step, and throughput."""
    random = np.random.default_rng(0)
    data = folder / "data.npz"
    pixels = random.integers(0, 256, (EXAMPLES, 28, 28), dtype=np.uint8)
    np.savez(data, x=pixels, y=random.integers(0, 10, EXAMPLES))
    first_step: dict[str, list[float]] = {"one machine": [], "two nodes": []}
    speed: dict[str, list[float]] = {"one node": [], "two nodes": []}
    both, alone = ("cpu@alpha", "cpu@beta"), ("cpu@alpha",)
    with real_cluster("alpha", "beta") as cluster:
        for number in range(REPETITIONS):
            here = profile_of(data, "", ("cpu",), 1)
            there = profile_of(data, cluster.address, both, 1)
            for name, profile in (("one machine", here), ("two nodes", there)):
                seconds, _ = carried_out(profile, folder / "runs", leave_alone)
                first_step[name].append(seconds)
                print(f"{number + 1}: {name}, to first step {seconds:.1f} s", flush=True)
            for name, visible in (("one node", alone), ("two nodes", both)):
                profile = profile_of(data, cluster.address, visible, EPOCHS)
                _, examples = carried_out(profile, folder / "runs", hold)
                speed[name].append(examples)
                print(f"{number + 1}: {name}, {examples:,.0f} examples/s", flush=True)
            leave_no_groups()
    print("start to first step, medians:")
    for name, each in first_step.items():
        print(f"  {name:<12} {statistics.median(each):6.2f} s")
    print(f"  two nodes over one machine {ratio(*reversed(first_step.values())):.2f}")
    print("throughput, medians:")
    for name, each in speed.items():
        print(f"  {name:<12} {statistics.median(each):8,.0f} examples/s")
    print(f"  two nodes over one {ratio(*reversed(speed.values())):.2f}, where 2 is the ideal")


def ratio(these: list[float], those: list[float]) -> float:
    """The median of the ratios of what was measured beside each other."""
    return statistics.median(one / other for one, other in zip(these, those, strict=True))


def measure_agents(folder: Path) -> None:
    """What an agent sends of its node, and takes of a core."""
    if compiler() is None:
        print("no C compiler: what agents send of GPUs is left out")
        return
    library = compile_library(folder / "library")
    for state in (StandinState(gpus=()), TWO_UNEQUAL_GPUS, EIGHT_GPUS):
        gpus = len(state.gpus)
        standin = Standin(library, folder / f"{gpus}.txt", state)
        answer = subprocess.run(
            [sys.executable, "-c", SENT, "10"],
            cwd=ROOT,
            env=os.environ | standin.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        sent, percent = map(float, answer.stdout.split()[-2:])
        print(f"agent of {gpus} GPUs: {sent / 1000:.1f} kB/s, {percent:.1f} % of a core")


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        measure_agents(Path(name))
        compare_on_nodes(Path(name))


if __name__ == "__main__":
    main()
