"""What the guide shows can be done: profiles pass, commands run, Python runs.

Of the commands those run here that train nothing, need no GPU and leave the machine as it is; all
others are understood by the real command line, which starts nothing.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from typer.core import TyperGroup

from gpupanel import api
from gpupanel.cli.app import app, with_verb
from gpupanel.cli.verb_group import OPEN
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.trainer.exports import predict
from tests.forked.terminal import answered, forked_trainers, gpupanel
from tests.guide.pages import ROOT, Block, blocks_of, guide_blocks
from tests.unit.trainer.record_files import example, image, write_records

PROFILES = guide_blocks("toml")
PYTHON = guide_blocks("python")
README = blocks_of("README.md", (ROOT / "README.md").read_text(encoding="utf-8"))
COMMANDS = [
    (block.page, line.split("  #")[0].strip())
    for block in [*guide_blocks("sh"), *(block for block in README if block.language == "sh")]
    for line in block.text.splitlines()
    if line.strip()
]

RUN = {
    "check": 0,
    "devices": 0,
    "runs": 0,
    "queue": 0,
    "queue pause": 0,
    "queue resume": 0,
    "queue clear": 0,
    "queue edit": 1,  # there is no entry of that id
    "queue move": 1,
    "queue remove": 1,
    "scan": 0,
    "sweep --dry-run": 0,
    "stop": 1,  # there is no run of that name
    "watch": 1,
    "suspend": 1,
    "checkpoint": 1,
    "resume": 1,
    "bench --remembered": 1,  # nothing was measured
    "--version": 0,
}
"""What is really done, and the exit status."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that a run has trained on the bundled digits."""
    home = tmp_path_factory.mktemp("trained")
    profile = home / "digits.toml"
    profile.write_text('[devices]\nvisible = ["cpu"]\n[training]\nepochs = 1\n')
    done = answered(gpupanel("run", profile, "--runs-dir", home / "runs", "--json"))
    return Path(done["run"]) / "model.keras"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Path:
    """A person's folder with all that the guide's profiles name; runs and queue are elsewhere."""
    for name in ("GPUPANEL_RUNS_DIR", "GPUPANEL_STATE_DIR", "GPUPANEL_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(tmp_path / "config"))
    here = tmp_path / "here"
    numbers = np.random.default_rng(0)
    for label in ("cat", "dog"):
        (here / "photos" / label).mkdir(parents=True)
        for number in range(8):
            pixels = numbers.integers(0, 256, (64, 64, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(here / "photos" / label / f"{number}.png")
    lines = [f"L{n // 2},{name}/{n},{name},{n % 3}" for name in ("cat", "dog") for n in range(8)]
    head = "lesion_id,image_id,dx,age"
    (here / "photos" / "metadata.csv").write_text("\n".join([head, *lines]) + "\n")
    rows = [f"{n},{n % 5},{'north' if n % 2 else 'south'},{1000 + n % 7}" for n in range(40)]
    (here / "houses.csv").write_text("\n".join(["id,rooms,side,price", *rows]) + "\n")
    texts = [f'"it was {"good" if n % 2 else "bad"} number {n}",{n % 2}' for n in range(40)]
    (here / "reviews.csv").write_text("\n".join(["review,stars", *texts]) + "\n")
    x, y = numbers.normal(size=(40, 8)), np.arange(40) % 2
    pictures = numbers.integers(0, 256, (40, 16, 16, 3), dtype=np.uint8)
    np.savez(here / "arrays.npz", x=x, y=y)
    np.savez(here / "rooms.npz", picture=pictures, facts=x[:, :4], kind=y)
    scenes = [
        example(
            picture=image(number),
            facts=x[number, :4].tolist(),
            mask=(pictures[number, ..., 0] % 2).astype(np.uint8).tobytes(),
            mask__shape=[16, 16],
        )
        for number in range(40)
    ]
    write_records(here / "scenes.tfrecord", scenes)
    np.savez(here / "tasks.npz", x=pictures, mask=pictures[..., 0] % 2, mean=x[:, 0])
    shutil.copy(model, here / "model.keras")
    for block in PYTHON:
        name = re.match(r"# (\w+\.py)\n", block.text)
        if name:
            (here / name[1]).write_text(block.text)
    (here / "profile.toml").write_text(
        '[devices]\nvisible = ["cpu"]\n[sweep.values]\n"training.seed" = [1, 2]\n'
    )
    monkeypatch.chdir(here)
    return here


def test_that_there_is_much_to_try() -> None:
    assert len(PROFILES) > 15
    assert len(COMMANDS) > 30
    assert len(PYTHON) > 4


@pytest.mark.parametrize("block", PROFILES, ids=lambda block: block.page)
def test_that_every_profile_of_the_guide_passes_the_check(block: Block, folder: Path) -> None:
    """What is left out has its default, as where a person pastes it into a file of their own."""
    (folder / "pasted.toml").write_text(block.text)
    found = answered(gpupanel("check", "pasted.toml", "--json"))
    wrong = [
        each
        for each in found["problems"]
        if each["severity"] == "error" or each["code"].endswith("_unused")
    ]
    assert wrong == []
    assert found["plan"] is not None


def test_that_keys_in_the_text_are_keys() -> None:
    """Such as `files = ["a.jpg"]`, which is said within a sentence."""
    profile = parse_profile('[data]\nsource = "images"\npath = "x"\nfiles = ["a.jpg", "b.png"]')
    assert profile.data.files == ("a.jpg", "b.png")  # type: ignore[union-attr]


def _understood(arguments: Sequence[str]) -> None:
    """As Typer understands them, with the types and bounds of each; nothing is started."""
    command, names = typer.main.get_command(app), ["gpupanel"]
    rest = list(arguments)
    while rest and isinstance(command, TyperGroup):
        context = typer.Context(command, info_name=" ".join(names))
        name, command, rest = command.resolve_command(context, rest)
        names.append(str(name))
    command.make_context(" ".join(names), rest)


def _as_called(command: str) -> tuple[str, list[str]]:
    """What it is called in RUN, and its arguments."""
    words = with_verb(shlex.split(command)[1:])
    verb = " ".join(words[:2]) if words[0] == "queue" and len(words) > 1 else words[0]
    named = next((f"{verb} {each}" for each in words if f"{verb} {each}" in RUN), verb)
    return named, words


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_that_every_command_is_understood(page: str, command: str) -> None:
    program, *arguments = shlex.split(command)
    if program == "gpupanel":
        words = with_verb(arguments)
        assert words[0] != OPEN or arguments[0].endswith(".toml"), "no such verb"
        if "--version" not in arguments:
            _understood(words)
    elif program == "make":
        target = re.escape(arguments[-1])
        assert re.search(rf"^{target}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif program == "pip":
        extra = re.search(r"gpupanel\[(\w+)\]", arguments[-1])
        assert extra
        assert (
            extra[1]
            in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
                "optional-dependencies"
            ]
        )
    else:
        assert program == "python", page
        assert arguments[0] == Path(predict.__file__).name
        options = {each for each in arguments if each.startswith("--")}
        source = Path(predict.__file__).read_text()
        assert options <= set(re.findall(r'add_argument\(\s*"(--\w+)"', source))


@pytest.mark.parametrize(
    "command", ["check", "check x.toml --fixd y.toml", "trace RUN --steps 0", "queue mvoe 1"]
)
def test_that_a_command_that_is_wrong_is_seen(command: str) -> None:
    with pytest.raises(typer.BadParameter.__base__):
        _understood(with_verb(command.split()))


@pytest.mark.parametrize(
    "command",
    sorted({command for _, command in COMMANDS if command.startswith("gpupanel")}),
)
def test_that_cheap_commands_run(command: str, folder: Path) -> None:
    name, words = _as_called(command)
    if name not in RUN:
        assert words[0] in {
            *(
                "bench",
                "desktop",
                "doctor",
                "export",
                "fit",
                "fit-batch",
                "lr-find",
                "open",
                "queue",
            ),
            *("read-speed", "run", "selftest", "summary", "sweep", "trace"),
        }
        return
    done = gpupanel(*words)
    assert done.returncode == RUN[name], done.stderr
    if RUN[name]:
        # Only because what is named is not there.
        assert re.search(r"There is no run|no entry|not compared", done.stderr + done.stdout)


def test_that_all_that_is_said_to_run_runs() -> None:
    called = {_as_called(command)[0] for _, command in COMMANDS if command.startswith("gpupanel")}
    assert RUN.keys() - called == set()


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.page)
def test_that_every_block_of_python_compiles(block: Block) -> None:
    compile(block.text, block.page, "exec")


@pytest.mark.tensorflow
def test_that_the_blocks_of_the_python_page_run(folder: Path, capsys) -> None:
    for block in PYTHON:
        if block.page == "python.md":
            with forked_trainers():
                exec(compile(block.text, block.page, "exec"), {})
    printed = capsys.readouterr().out
    assert "Outcome.COMPLETED" in printed or "completed" in printed
    assert "profile_value_invalid training.epochs" in printed
    assert len(api.runs()) == 1


@pytest.mark.tensorflow
def test_that_code_of_ones_own_trains_as_the_guide_shows_it(folder: Path) -> None:
    (folder / "own.toml").write_text(
        '[devices]\nvisible = ["cpu"]\n[data]\nsource = "python"\npath = "data.py"\n'
        '[model]\nsource = "python"\npath = "model.py"\n[training]\nepochs = 1\n'
    )
    done = gpupanel("run", "own.toml", "--trust", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "completed"


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_programs_of_ones_own_run_as_the_guide_shows_them(folder: Path) -> None:
    python = str(Path(sys.executable).parent)
    for words, epochs in ((["train.py"], 3), (["train.py", "--", "--epochs", "1"], 1)):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gpupanel", "run", "--json", *words],
            capture_output=True,
            cwd=folder,
            env={**os.environ, "PATH": f"{python}:{os.environ['PATH']}"},
            check=True,
        )
        document = json.loads(done.stdout)
        assert document["metrics"]["val_loss"] > 0.0
        assert document["best_epoch"] <= epochs
    assert (folder / "model.keras").exists()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", "run", "--json", "loop.py"],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PATH": f"{python}:{os.environ['PATH']}"},
        check=True,
    )
    assert json.loads(done.stdout)["figures"]["largest"] > 0.0
