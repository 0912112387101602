"""Every profile that comes with gpupanel, from its file to a trained model on this machine."""

from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.events import CheckpointSaved, EpochDone, LayersPlaced, SharesChosen
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.following.follower import RunFollower
from tests.fakes.small_mnist import write_small_mnist
from tests.forked.terminal import answered, gpupanel

pytestmark = pytest.mark.tensorflow

PROFILES = sorted((Path(__file__).parents[2] / "resources" / "profiles").glob("*.toml"))

TRAINED_ALIKE = {
    "balanced-shares": "test_balancing.py measures, divides and learns with such shares",
    "parameter-servers": "test_parameter_server.py trains with such a gang, forked and real",
    "multi-worker-with-two-workers": "test_multi_worker.py, and test_private_runs.py by real ones",
    "central-storage-for-a-large-model": "test_the_rule.py trains with weights on the host",
    "digits": "test_terminal.py trains it with the real command",
    "cnn-over-two-replicas": "test_layers_with_state.py trains such a network on two replicas",
    "different-caps-on-different-gpus": "two CPU replicas, 48 and 16: data-sharded-by-device",
    "memory-growth-on-all-gpus": "one CPU without anything special: as mnist-with-a-dense-network",
    "gradient-accumulation": "test_the_rule.py adds up gradients, on one device and on several",
    "one-gpu-split-in-several": "two CPU replicas with dropout: as mirrored-over-chosen-devices",
    "mirrored-over-chosen-devices": "data-sharded-by-device, and dropout: test_multi_worker.py",
}
"""What becomes of them on a machine without GPUs is trained all the same, as is said here."""
QUICK = "data-sharded-by-device"


def marks_of(name: str) -> tuple[pytest.MarkDecorator, ...]:
    if name in TRAINED_ALIKE:
        return (pytest.mark.slow,)
    return () if name == QUICK else (pytest.mark.long,)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("keras")
    write_small_mnist(home)
    return {"KERAS_HOME": str(home)}


def events_of(answer: dict[str, Any], kind: type[Any]) -> list[Any]:
    events = RunFollower(RunLayout(Path(answer["run"]))).poll().events
    return [event for event in events if isinstance(event, kind)]


def mended(path: Path, folder: Path, environment: dict[str, str]) -> Path:
    """The profile for this machine."""
    here = folder / "here.toml"
    checked = answered(gpupanel("check", path, "--fixed", here, "--json", **environment))
    assert checked["ok"], checked
    return here


@pytest.fixture(
    scope="module",
    params=[pytest.param(path, marks=marks_of(path.stem)) for path in PROFILES],
    ids=lambda path: path.stem,
)
def trained(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    environment: dict[str, str],
) -> tuple[Path, dict[str, Any]]:
    """The profile and what the terminal answered to running it, mended for this machine."""
    folder = tmp_path_factory.mktemp("example")
    here = mended(request.param, folder, environment)
    answer = answered(gpupanel("run", here, "--runs-dir", folder / "runs", "--json", **environment))
    assert answer["outcome"] == "completed", answer
    return request.param, answer


def test_that_an_example_profile_trains_well(trained: tuple[Path, dict[str, Any]]) -> None:
    path, answer = trained
    profile = read_profile(path)
    # Few epochs are for MNIST's 60,000 examples; here it has 1,500.
    bound = 0.8 if profile.data.source == "mnist" else 0.93
    assert answer["metrics"]["val_accuracy"] > bound
    assert RunLayout(Path(answer["run"])).model.is_file()
    epochs = [event.epoch for event in events_of(answer, EpochDone)]
    assert epochs == list(range(1, profile.training.epochs + 1))
    checkpoints = [event.epoch for event in events_of(answer, CheckpointSaved)]
    # Unless a profile says otherwise, epochs as short as these share one.
    is_each = profile.training.checkpoint_every_epochs == 1
    assert checkpoints == epochs if is_each else checkpoints[-1] == epochs[-1]
    if profile.strategy.placement is not None:
        (placed,) = events_of(answer, LayersPlaced)
        assert {layer.place for layer in placed.layers} == {0, 1}
    assert bool(events_of(answer, SharesChosen)) is (profile.strategy.shares == "balanced")


@pytest.mark.parametrize("name", TRAINED_ALIKE)
def test_that_an_example_profile_is_mended_for_this_machine(
    name: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    (path,) = (path for path in PROFILES if path.stem == name)
    before, here = read_profile(path), read_profile(mended(path, tmp_path, environment))

    assert (here.data, here.model, here.training) == (before.data, before.model, before.training)


def test_that_a_profile_for_gpus_that_are_not_here_says_so_and_offers_what_is(
    environment: dict[str, str],
) -> None:
    path = next(path for path in PROFILES if path.stem == "different-caps-on-different-gpus")
    completed = gpupanel("check", path, "--json", **environment)
    status, checked = completed.returncode, answered(completed)
    (problem,) = (each for each in checked["problems"] if each["code"] == "device_not_found")
    assert status == 1
    assert not checked["ok"]
    assert problem["fix"]["changes"][0]["path"] == ["devices", "visible"]
