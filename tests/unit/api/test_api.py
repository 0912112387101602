"""A notebook or a script uses what the window uses: devices, check, run, and a run's curves."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import gpupanel
from gpupanel import api
from gpupanel.domain.events import EpochDone, RunEnded, StepsDone
from gpupanel.domain.request import Request
from tests.fakes.run_directory import WrittenRun
from tests.forked.terminal import forked_trainers

TABLES = {
    "name": "from a notebook",
    "devices": {"visible": ["cpu"], "cpu_replicas": 2},
    "strategy": {"kind": "mirrored"},
    "data": {"source": "digits", "validation_fraction": 0.2},
    "model": {"source": "mlp", "hidden": [8]},
    "training": {"epochs": 2, "global_batch_size": 64, "tensorboard": False},
}


def changed(**training: object) -> dict[str, object]:
    return {**TABLES, "training": {**TABLES["training"], **training}}


def test_that_the_devices_of_this_machine_are_listed() -> None:
    assert [each.key for each in api.devices().devices if not each.is_gpu] == ["cpu"]


def test_that_a_check_plans_and_starts_nothing(runs_dir: Path) -> None:
    found = api.check(TABLES)
    assert found.is_startable
    assert found.plan.shares == (32, 32)
    assert not runs_dir.exists()


@pytest.mark.parametrize("kind", ["tables", "profile", "text", "path"])
def test_that_a_profile_is_named_as_one_likes(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('[devices]\nvisible = ["cpu"]\n')
    given = {
        "tables": {"devices": {"visible": ["cpu"]}},
        "profile": api.Profile(devices={"visible": ("cpu",)}),
        "text": str(path),
        "path": path,
    }
    assert api.check(given[kind]).is_startable


def test_that_each_mistake_in_a_profile_is_a_problem() -> None:
    with pytest.raises(api.ProblemError) as refused:
        api.check(changed(epochs=-1, batch=3))
    fields = {each.field for each in refused.value.problems}
    assert fields == {"training.epochs", "training.batch"}


def test_that_what_may_not_start_is_refused_with_its_problems(runs_dir: Path) -> None:
    missing = {**TABLES, "devices": {"visible": ["GPU-none"]}}
    with pytest.raises(api.ProblemError) as refused:
        api.run(missing)
    assert "device_not_found" in {each.code for each in refused.value.problems}
    assert not runs_dir.exists()


@pytest.mark.tensorflow
def test_that_a_run_trains_and_its_curves_are_arrays(runs_dir: Path) -> None:
    with forked_trainers():
        run = api.run(TABLES)
    assert (run.outcome, run.problem, run.is_running) == (api.Outcome.COMPLETED, None, False)
    assert run.profile.name == "from a notebook"
    assert run.model is not None
    assert run.folder.parent == runs_dir
    curves = run.metrics()
    assert len(curves["val_accuracy"].values) == 2
    assert curves["val_accuracy"].values[-1] == pytest.approx(run.last_metrics.val_accuracy)
    assert curves["loss"].values.dtype == np.float64
    assert curves["loss"].steps[-1] == 46
    assert (np.diff(curves["loss"].seconds) >= 0).all()
    events = list(run.events())
    assert isinstance(events[-1], RunEnded)
    assert sum(isinstance(each, EpochDone) for each in events) == 2
    (listed,) = api.runs()
    assert listed.folder == run.folder
    assert api.open_run(run.folder).outcome is api.Outcome.COMPLETED


@pytest.mark.tensorflow
def test_that_a_run_is_followed_while_it_goes_on_and_stopped() -> None:
    with forked_trainers():
        run = api.run(changed(epochs=100_000), wait=False)
        assert run.wait(0.2) is None
        for event in run.events():
            if isinstance(event, StepsDone) and not (run.folder / "requests" / "stop").exists():
                run.stop()
        assert run.wait() is api.Outcome.STOPPED
    assert run.model is not None


def test_that_requests_reach_a_run_that_goes_on_and_no_other(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as written:
        written.begin()
        run = api.open_run(written.layout.root)
        run.checkpoint()
        run.suspend()
        assert {path.name for path in written.layout.requests.iterdir()} == {
            Request.CHECKPOINT,
            Request.SUSPEND,
        }
        written.step()
        written.end()
    run.stop()
    assert not (written.layout.requests / Request.STOP).exists()
    assert [type(each) for each in run.events(follow=False)][-1] is RunEnded


def test_that_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(api.ProblemError) as refused:
        api.open_run(tmp_path)
    assert [each.code for each in refused.value.problems] == ["run_not_found"]


def test_that_what_is_promised_is_documented_and_typed() -> None:
    assert set(api.__all__) <= set(dir(api))
    assert (Path(gpupanel.__file__).parent / "py.typed").is_file()
    for name in ("check", "devices", "open_run", "run", "runs"):
        function = getattr(api, name)
        assert function.__doc__
        signature = inspect.signature(function)
        assert signature.return_annotation is not signature.empty
    for name, member in vars(api.Run).items():
        if not name.startswith("_"):
            assert (member.fget if isinstance(member, property) else member).__doc__, name


def test_that_nothing_of_qt_or_tensorflow_is_needed() -> None:
    folder = Path(api.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] in ("PySide6", "tensorflow") for name in names)
            assert not any(name.startswith(("gpupanel.ui", "gpupanel.cli")) for name in names)
