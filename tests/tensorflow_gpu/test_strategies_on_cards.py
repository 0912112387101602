"""Each strategy and memory policy on two unequal cards learns what one CPU device learns."""

from pathlib import Path

import pytest

from gpupanel.domain.events import DevicesReady
from gpupanel.domain.run_layout import RunLayout
from tests.forked import terminal
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, memory, mirrored
from tests.unit.trainer.trained_runs import all_events, furthest

pytestmark = pytest.mark.tensorflow

TRAINING = """
[data]
source = "digits"
[model]
source = "mlp"
hidden = [32]
[training]
epochs = 2
global_batch_size = 64
"""

SPLIT = memory(LARGE, policy="split", split_mib=[1024, 2048])
LIMIT = memory(SMALL, policy="limit", limit_mib=2048)

# What TensorFlow says that it may take of each logical GPU; of the cards that are whole all but
# what the driver keeps (400 MiB here), the context (256 MiB here) and what TensorFlow leaves to
# others (1,536 MiB).
WHOLE = {LARGE: 24_564 - 400 - 256 - 1_536, SMALL: 12_288 - 400 - 256 - 1_536}
TAKEN = [(LARGE, WHOLE[LARGE]), (SMALL, WHOLE[SMALL])]
Taken = list[tuple[str, int]]

CASES: dict[str, tuple[str, Taken]] = {
    "one device": (BOTH, TAKEN[:1]),
    "mirrored, NCCL": (BOTH + mirrored([48, 16], "nccl"), TAKEN),
    "mirrored, hierarchical copy, all memory": (
        BOTH
        + mirrored("equal", "hierarchical_copy")
        + memory(LARGE, policy="all")
        + memory(SMALL, policy="all"),
        TAKEN,
    ),
    "mirrored, one split and one limited": (
        BOTH + mirrored([16, 32, 16], "reduction_to_one_device") + SPLIT + LIMIT,
        [(LARGE, 1024), (LARGE, 2048), (SMALL, 2048)],
    ),
    "central storage": (BOTH + '[strategy]\nkind = "central_storage"\nshares = [40, 24]\n', TAKEN),
    "layers placed": (
        BOTH + '[strategy]\nkind = "model_parallel"\nplacement = {dense_1 = 0, outputs = 1}\n',
        TAKEN,
    ),
    "replicas of two parts of each card": (
        BOTH
        + '[strategy]\nkind = "model_parallel"\ndevices_per_replica = 2\nshares = [48, 16]\n'
        + "placement = {dense_1 = 0, outputs = 1}\n"
        + SPLIT
        + memory(SMALL, policy="split", split_mib=[1024, 1536]),
        [(LARGE, 1024), (LARGE, 2048), (SMALL, 1024), (SMALL, 1536)],
    ),
    "workers": (BOTH + '[strategy]\nkind = "multi_worker"\nshares = [40, 24]\n', TAKEN),
}


FURTHER = ("mirrored, NCCL", "mirrored, hierarchical copy, all memory", "workers")
"""For ``make test-slow``: other tests have NCCL, other reductions, and workers on cards."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> RunLayout:
    """A run on the CPU alone."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(folder / "runs"))
        profile = folder / "profile.toml"
        profile.write_text('[devices]\nvisible = ["cpu"]\n' + TRAINING)
        done = terminal.gpupanel("run", profile)
    assert done.returncode == 0, done.stderr
    (root,) = (folder / "runs").iterdir()
    return RunLayout(root)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in FURTHER else ()) for name in CASES],
)
@pytest.mark.long
def test_that_the_cards_learn_what_one_cpu_device_learns(
    name: str,
    cards_in_process: CardsOfThisProcess,
    alone: RunLayout,
    tmp_path: Path,
) -> None:
    tables, taken = CASES[name]
    layout = cards_in_process.run(tables + TRAINING, tmp_path / "run")
    answers = [
        (each.device_key, each.memory_taken_mib)
        for event in all_events(layout)
        if isinstance(event, DevicesReady)
        for each in event.logical_devices
        if each.device_key != "cpu"
    ]
    assert sorted(answers) == sorted(taken)
    assert furthest(alone, layout) < 1e-5
