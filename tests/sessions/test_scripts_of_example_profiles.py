"""The script that is exported of each profile that comes with gpupanel trains as its run does."""

import subprocess
from pathlib import Path

import pytest

from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.prepare import mended
from gpupanel.runs.directory.profile_file import read_profile
from tests.fakes.devices import CPU_ONLY
from tests.fakes.small_mnist import write_small_mnist
from tests.sessions.both import Both, carry_out_both, plan_of

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PROFILES = sorted((Path(__file__).parents[2] / "resources" / "profiles").glob("*.toml"))
NAMES = [path.stem for path in PROFILES]
GANGS = (StrategyKind.MULTI_WORKER, StrategyKind.PARAMETER_SERVER)
"""Their runs are several processes; a script is one, which trains what one process would."""


def here(path: Path) -> Profile:
    """The profile for this machine, with one epoch."""
    profile = mended(read_profile(path), CPU_ONLY)
    # A greater epsilon: of gradients near 0 rounding alone would decide about the sign of a step.
    short = profile.training.model_copy(update={"epochs": 1, "epsilon": 1e-3})
    profile = profile.model_copy(update={"training": short})
    if profile.strategy.kind not in GANGS:
        return profile
    one = profile.strategy.model_copy(
        update={"kind": StrategyKind.MIRRORED, "workers": None, "shares": "equal"}
    )
    devices = profile.devices.model_copy(update={"cpu_replicas": 2})
    return profile.model_copy(update={"strategy": one, "devices": devices})


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Both]:
    home = tmp_path_factory.mktemp("keras")
    write_small_mnist(home)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("KERAS_HOME", str(home))
        sessions = {path.stem: here(path) for path in PROFILES}
        # A script asks Keras where its data sets are, which a forked process has asked already.
        root = tmp_path_factory.mktemp("examples")
        return carry_out_both(root, sessions, start=subprocess.run)


@pytest.mark.parametrize("name", NAMES)
def test_that_the_script_of_an_example_ends_with_the_weights_of_its_run(
    both: dict[str, Both], name: str
) -> None:
    one = both[name]
    assert (one.error("run"), one.error("script")) == (None, None)
    one.assert_same_epochs()
    assert one.furthest() < 1e-5
    if len(plan_of(here(PROFILES[NAMES.index(name)])).replicas) == 1:
        one.assert_same_bits()
