"""Cards that each have a process of their own: policies that one process cannot combine."""

from pathlib import Path

import pytest

from gpupanel.domain.events import DevicesReady, MemoryReturned
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.readiness import read_machine
from gpupanel.runs.scheduling.scheduler import Scheduler
from tests.forked.terminal import answered, forked_trainers
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, memory, mirrored
from tests.tensorflow_gpu.test_cards import CONTEXT_MIB
from tests.tensorflow_gpu.test_strategies_on_cards import TRAINING, WHOLE
from tests.unit.trainer.trained_runs import all_events

pytestmark = pytest.mark.tensorflow

GROWS_AND_LIMITED = memory(LARGE, policy="growth") + memory(SMALL, policy="limit", limit_mib=1024)
PLACES = {
    "multi_worker": [(0, LARGE), (1, SMALL)],
    # The first process has no device, and the last one keeps the weights.
    "parameter_server": [(1, LARGE), (2, SMALL)],
}


@pytest.mark.parametrize(
    "kind", ["multi_worker", pytest.param("parameter_server", marks=pytest.mark.slow)]
)
@pytest.mark.long
def test_that_one_worker_grows_beside_another_with_a_limit(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, kind: str
) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text(BOTH + mirrored() + GROWS_AND_LIMITED + TRAINING)
    # Of one process TensorFlow says: "Memory growth cannot differ between GPU devices".
    refused = answered(cards_in_process.gpupanel("check", profile, "--json"))
    assert not refused["ok"]
    strategy = f'[strategy]\nkind = "{kind}"\n'
    profile.write_text(BOTH + strategy + GROWS_AND_LIMITED + TRAINING)
    done = cards_in_process.gpupanel("run", profile, "--json")
    found = answered(done)
    assert found["outcome"] == "completed", done.stderr
    events = all_events(RunLayout(Path(found["run"])))
    answers = [
        (event.process, each.device_key, each.memory_taken_mib)
        for event in events
        if isinstance(event, DevicesReady)
        for each in event.logical_devices
        if each.device_key != "cpu"
    ]
    taken = {LARGE: WHOLE[LARGE], SMALL: 1024}
    assert sorted(answers) == [(place, key, taken[key]) for place, key in PLACES[kind]]
    (returned,) = (event for event in events if isinstance(event, MemoryReturned))
    # One has grown by its first 2 MiB, the other one took its limit at once.
    freed = {each.device_key: each.freed_mib - CONTEXT_MIB for each in returned.devices}
    assert freed == {LARGE: 2, SMALL: 1024}


@pytest.mark.slow
def test_that_two_runs_of_a_queue_train_beside_each_other_on_a_card_each(
    cards_in_process: CardsOfThisProcess, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = QueueFiles(queue_dir())
    # The scheduler is one of this process, whose runs find the cards.
    monkeypatch.setattr(orders, "ensure_scheduler", lambda _: False)
    for key in (LARGE, SMALL):
        one = f'[devices]\nvisible = ["{key}"]\n' + TRAINING.replace("epochs = 2", "epochs = 30")
        orders.add(files, parse_profile(one), runs_dir)
    with forked_trainers(cards_in_process.server):
        Scheduler(files, read_machine, poll_s=0.05).run()
    ended = files.read().entries
    assert [(each.state, each.outcome) for each in ended] == [
        (EntryState.ENDED, Outcome.COMPLETED)
    ] * 2
    times = {}
    for each in ended:
        assert each.run is not None
        events = all_events(RunLayout(each.run))
        (ready,) = (event for event in events if isinstance(event, DevicesReady))
        (key,) = (one.device_key for one in ready.logical_devices if one.device_key != "cpu")
        times[key] = (ready.time_s, events[-1].time_s)
    assert list(times) == [LARGE, SMALL]
    begins, ends = zip(*times.values(), strict=True)
    assert max(begins) < min(ends)
