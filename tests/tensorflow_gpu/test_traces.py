"""A trace of a run on cards, where TensorFlow's profiler does not find CUPTI."""

from pathlib import Path

import pytest

from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from tests.forked.terminal import answered, forked_trainers, verb
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess

pytestmark = pytest.mark.tensorflow

PROFILE = """
[strategy]
kind = "mirrored"
[model]
source = "mlp"
[training]
epochs = 100000
global_batch_size = 64
checkpoint_every_epochs = 0
"""


@pytest.mark.slow
def test_that_cards_are_not_said_to_be_traced_where_the_host_alone_was(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text(PROFILE)
    with forked_trainers(cards_in_process.server):
        started = answered(verb("run", profile, "--detach", "--json"))
        layout = RunLayout(Path(started["run"]))
        try:
            shown = verb("trace", layout.root, "--steps", "3", "--json")
        finally:
            ask(layout, Request.STOP)
    found = answered(shown)
    assert found["trace"]["problem"] is None
    assert [each["label"] for each in found["devices"]] == ["CPU, for GPU:0", "CPU, for GPU:1"]
    assert found["warning"]["code"] == "gpus_not_traced"
    assert "does not find libcupti.so.12, NVIDIA's" in found["warning"]["message"]
    assert "tensorflow[and-cuda]==" in found["warning"]["command"]
    said = " ".join(shown.stderr.split())
    assert shown.returncode == 0
    assert "The GPUs were not traced: TensorFlow does not find libcupti.so.12" in said
