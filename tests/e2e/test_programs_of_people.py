"""Programs as people write them print the same digits with and without the panel."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import EpochDone, FiguresReported, FitBegan, StepsDone
from gpupanel.domain.request import Request
from gpupanel.runs.directory.requests import ask
from tests.fakes.own_programs import Programs, Ran, text_in, until

FOLDER = Path(__file__).with_name("programs_of_people")
ARGUMENTS = {
    "arguments.py": ("--epochs", "2", "--hidden", "8", "4", "--name", "a b"),
    "configuration.py": ("rate=0.01",),
    "script.sh": ("two words",),
}
FITS = {
    "arguments.py": {"loss"},
    "autoencoder.py": {"cosine_similarity", "val_cosine_similarity"},
    "callbacks_of_all_kinds.py": {"loss"},
    "custom_train_step.py": {"own_loss"},
    "fine_tuning.py": {"accuracy"},
    "fit_with_arrays.py": {"auc", "val_auc"},
    "generator.py": {"loss"},
    "own_mirrored_strategy.py": {"loss"},
    "relative_paths.py": {"loss"},
    "several_inputs_and_outputs.py": {"sign_loss", "sum_loss"},
    "subclassed_and_eager.py": {"loss"},
    "tf_data.py": {"val_accuracy"},
}
"""Those that call Keras's fit, and some of what is drawn of it."""
_OTHERS = ("jax_loop.py", "pytorch.py")
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.is_file())


@pytest.fixture
def programs(
    tmp_path: Path,
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Programs:
    del runs_dir
    monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(tmp_path / "config"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # Where a program finds the PyTorch and the JAX of these tests: Keras looks for both, too.
    frameworks = (
        {"PYTHONPATH": "frameworks"} if request.node.callspec.params["name"] in _OTHERS else {}
    )
    return Programs(tmp_path / "under the panel", {"PATH": path, **frameworks})


def test_that_there_are_twenty() -> None:
    assert len(NAMES) >= 20
    assert FITS.keys() <= set(NAMES)


@pytest.mark.long
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NAMES)
def test_that_a_program_prints_what_it_prints_in_a_terminal(programs: Programs, name: str) -> None:
    arguments = ARGUMENTS.get(name, ())
    shutil.copytree(FOLDER, programs.folder)
    ran = programs.run_file(programs.folder / name, *arguments)
    assert ran.document["outcome"] == "completed", ran.log
    assert ran.document["unread_lines"] == 0
    under_the_panel = results(ran.log)

    programs.folder = programs.folder.with_name("in a terminal")
    shutil.copytree(FOLDER, programs.folder)
    alone = programs.in_a_terminal(programs.folder / name, *arguments)
    assert alone.returncode == 0, alone.stderr
    assert under_the_panel == results(alone.stdout)
    assert under_the_panel
    if name in FITS:
        assert drawn(ran) >= FITS[name]
        assert ran.of(FitBegan)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "name",
    [
        "autoencoder.py",
        "callbacks_of_all_kinds.py",
        "generator.py",
        "several_inputs_and_outputs.py",
        "tf_data.py",
    ],
)
def test_that_a_program_that_is_suspended_after_each_epoch_prints_the_same(
    programs: Programs, name: str
) -> None:
    shutil.copytree(FOLDER, programs.folder)
    layout = programs.start((FOLDER / name).read_text(), name=name)
    suspensions = 0
    while True:
        until(lambda began=suspensions: text_in(layout.events).count("script_started") > began)
        ask(layout, Request.SUSPEND)
        ran = programs.wait(layout)
        if ran.document["outcome"] != "suspended":
            break
        suspensions += 1
        assert suspensions < 30
        programs.gpupanel("resume", layout.root, "--detach")
    assert ran.document["outcome"] == "completed", ran.log
    assert suspensions >= 1
    programs.folder = programs.folder.with_name("in a terminal")
    shutil.copytree(FOLDER, programs.folder)
    assert results(ran.log) == results(programs.in_a_terminal(programs.folder / name).stdout)


def results(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("RESULT")]


def drawn(ran: Ran) -> set[str]:
    """The names of all curves of a run."""
    names = {name for event in ran.of(FiguresReported) for name in event.figures}
    for event in (*ran.of(StepsDone), *ran.of(EpochDone)):
        measured = event.metrics if isinstance(event, EpochDone) else event
        known = measured.model_dump(exclude_none=True)
        names |= {name for name, value in known.items() if isinstance(value, float)}
    return names
