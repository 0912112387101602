"""An enemy in the folders of runs while these start, train, resume and are exported.

Whatever it does, in whichever instant: nothing is executed that nobody trusted, and nothing is
written, changed or removed outside of the runs' folders. What becomes of the runs does not matter;
each comes to an end.
"""

import json
import random
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData, PythonData
from gpupanel.domain.model import MlpModel, PythonModel, SavedModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from tests.forked.terminal import gpupanel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7_200)]

BLOCKS, ROUNDS = 20, 50
"""A thousand rounds in all."""
ENEMY = Path(__file__).with_name("enemy.py")
KEYS = "ssh-ed25519 of the person's\n"
DATA = """
import numpy

def load():
    numbers = numpy.arange(640.0).reshape(320, 2)
    return numbers, (numbers[:, 0] > 300).astype(int)
"""
MODEL = """
import keras

def build_model(input_shape, outputs):
    return keras.Sequential([keras.Input(input_shape), keras.layers.Dense(outputs)])
"""
BRIEF = TrainingSettings(epochs=1, global_batch_size=256)
CPU = DeviceSettings(visible=("cpu",))


@dataclass
class Ground:
    """Folders of a test: what the enemy may touch, and what it may not.

    Attributes:
        runs: The enemy's.
        own: The person's profiles, and their code.
        kept: Runs that nobody has touched yet; copies of them are resumed and exported.
    """

    runs: Path
    own: Path
    kept: Path
    victim: Path
    mark: Path

    def profile(self, name: str, profile: Profile) -> Path:
        path = self.own / f"{name}.toml"
        write_profile(path, profile.model_copy(update={"devices": CPU}))
        return path

    def outside(self) -> dict[str, tuple[int, bytes]]:
        """All that stands outside, with its content."""
        found = {}
        for folder in (self.own, self.kept, self.victim):
            for path in (folder, *folder.rglob("*")):
                is_file = path.is_file() and not path.is_symlink()
                found[str(path)] = (path.lstat().st_mode, path.read_bytes() if is_file else b"")
        return found


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    ground = Ground(*(tmp_path / name for name in ("runs", "own", "kept", "victim", "mark")))
    for folder in (ground.runs, ground.own, ground.kept, ground.victim):
        folder.mkdir()
    (ground.victim / "keys").write_text(KEYS)
    # What a link in the place of a folder reaches: names that a run writes, renames and removes.
    for name in ("stop", "0", "data.py", "model.py"):
        (ground.victim / name).write_text("kept")
    for name in ("step-000000001", ".step-000000001.partial", "train", "validation"):
        (ground.victim / name).mkdir()
        (ground.victim / name / "kept").write_text("kept")
    (ground.own / "data.py").write_text(DATA)
    (ground.own / "model.py").write_text(MODEL)
    return ground


@contextmanager
def enemy_in(ground: Ground, seed: int, done: Counter[str]) -> Iterator[None]:
    command = [sys.executable, ENEMY, ground.runs, ground.victim, ground.mark, str(seed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as enemy:
        try:
            yield
        finally:
            output, _ = enemy.communicate()
    assert enemy.returncode == 0
    done.update(json.loads(output))


class Person:
    """Does one thing with a run, among all that a person does with runs."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        code = Profile(
            training=BRIEF,
            data=PythonData(path=str(ground.own / "data.py")),
            model=PythonModel(path=str(ground.own / "model.py")),
        )
        trust(code_of_profile(code))
        bundled = Profile(training=BRIEF, data=DigitsData(), model=MlpModel(hidden=(8,)))
        self.bundled = ground.profile("bundled", bundled)
        self.code = ground.profile("code", code)
        longer = TrainingSettings(epochs=2, global_batch_size=256)
        self.longer = {
            "bundled": ground.profile("bundled2", bundled.model_copy(update={"training": longer})),
            "code": ground.profile("code2", code.model_copy(update={"training": longer})),
        }
        for name, profile in (("bundled", self.bundled), ("code", self.code)):
            done = gpupanel("run", profile, "--runs-dir", ground.kept, "--run-name", name)
            assert done.returncode == 0, done.stderr
        shutil.copy(ground.kept / "bundled" / "model.keras", ground.own)
        saved = bundled.model_copy(
            update={"model": SavedModel(path=str(ground.own / "model.keras"))}
        )
        self.further = ground.profile("further", saved)
        attacked = SavedModel(path=str(ground.runs / "bundled" / "model.keras"))
        self.evaluated = ground.profile(
            "evaluated", bundled.model_copy(update={"model": attacked, "task": "evaluate"})
        )

    def start(self, _: random.Random) -> int:
        return self._do("run", self.bundled)

    def start_code(self, _: random.Random) -> int:
        return self._do("run", self.code)

    def start_further(self, _: random.Random) -> int:
        return self._do("run", self.further)

    def resume(self, draw: random.Random) -> int:
        name = draw.choice(("bundled", "code"))
        self._copy(name)
        return self._do("resume", name, "--with", self.longer[name])

    def export(self, draw: random.Random) -> int:
        name = draw.choice(("bundled", "code"))
        self._copy(name)
        output = self.ground.own.parent / "script.py"
        return self._do("export", name, "-o", output)

    def evaluate(self, _: random.Random) -> int:
        self._copy("bundled")
        return self._do("run", self.evaluated)

    def _copy(self, name: str) -> None:
        # Under a name that the enemy leaves alone: links of its own would lead the copy elsewhere.
        aside = self.ground.runs / f".{name}"
        shutil.copytree(self.ground.kept / name, aside)
        aside.rename(self.ground.runs / name)

    def _do(self, *arguments: str | Path) -> int:
        return gpupanel(*arguments, "--runs-dir", self.ground.runs).returncode


def deeds(person: Person) -> tuple[Callable[[random.Random], int], ...]:
    starts = (person.start, person.start_code, person.start_further)
    return (*starts, person.resume, person.export, person.evaluate)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_that_an_enemy_in_the_folders_of_runs_executes_and_reaches_nothing(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    person, done, ended = Person(ground), Counter[str](), Counter[str]()
    crashed = Counter[str]()
    # A supervisor is a thread here: what would end its process ends the thread.
    monkeypatch.setattr(threading, "excepthook", lambda each: crashed.update([repr(each)]))
    before = ground.outside()
    for number in range(block * ROUNDS, (block + 1) * ROUNDS):
        draw = random.Random(number)
        deed = draw.choice(deeds(person))
        with enemy_in(ground, number, done):
            status = deed(draw)
        ended[f"{deed.__name__}: {status}"] += 1
        assert not ground.mark.exists(), (number, deed.__name__)
        assert ground.outside() == before, (number, deed.__name__)
        shutil.rmtree(ground.runs)
        ground.runs.mkdir()
    print(f"{ROUNDS} rounds; ended {dict(ended)}; {done.total()} acts {dict(done)}")
    print(f"supervisors crashed: {dict(crashed)}")
    assert done.total() > ROUNDS
