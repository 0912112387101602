"""What of runs and profiles is exported, and what of a stranger's run is not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.data import PythonData
from gpupanel.domain.model import PythonModel
from gpupanel.domain.process_environment import PLANNED_VARIABLES
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, Plant, put_in_place
from tests.fakes.run_directory import WrittenRun

pytestmark = pytest.mark.timeout(60)

ON_CPU = Profile(name="on the CPU", devices=DeviceSettings(visible=("cpu",)))


def exported(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *(str(argument) for argument in arguments)])


def problem_of(*arguments: object) -> dict[str, Any]:
    refused = exported(*arguments, "--json")
    assert refused.exit_code == 1, refused.output
    (problem,) = json.loads(refused.stdout)["problems"]
    assert isinstance(problem, dict)
    return problem


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    return WrittenRun(runs_dir, ON_CPU).layout


def test_that_a_run_is_exported_by_its_name_and_by_its_folder_as_its_profile(
    layout: RunLayout, tmp_path: Path
) -> None:
    profile = tmp_path / "profile.toml"
    write_profile(profile, ON_CPU)
    scripts = []
    for source in (profile, layout.name, layout.root):
        script = tmp_path / "script.py"
        assert exported(source, "-o", script).exit_code == 0
        scripts.append(script.read_text().split("import keras")[1])
        script.unlink()
    assert scripts == scripts[:1] * 3


def test_that_the_format_is_named_or_read_off_the_file(layout: RunLayout, tmp_path: Path) -> None:
    cells, text, named = (tmp_path / name for name in ("a.ipynb", "a.py", "a.txt"))
    document = json.loads(exported(layout.name, "-o", cells, "--json").stdout)
    assert document == {"notebook": str(cells)}
    assert json.loads(cells.read_text())["nbformat_minor"] == 5
    document = json.loads(exported(layout.name, "-o", text, "--json").stdout)
    assert document == {"script": str(text)}
    assert exported(layout.name, "-o", named, "--format", "notebook").exit_code == 0
    assert named.read_text() == cells.read_text()


def test_that_neither_run_nor_profile_is_said_by_its_name(runs_dir: Path, tmp_path: Path) -> None:
    problem = problem_of("nothing-of-that-name", "-o", tmp_path / "x.py")
    assert problem["code"] == "run_not_found"
    assert "nothing-of-that-name" in problem["message"]


def test_that_the_script_of_a_run_runs_the_runs_own_copy_of_the_code(
    runs_dir: Path, tmp_path: Path
) -> None:
    code = tmp_path / "model.py"
    code.write_text("def build_model(shape, outputs): ...\n")
    profile = ON_CPU.model_copy(
        update={
            "model": PythonModel(path=str(code)),
            "data": PythonData(path=str(code), predicts="values"),
        }
    )
    trust(code_of_profile(profile))
    layout = WrittenRun(runs_dir, profile).layout
    code.write_text("import somebody_elses\n")
    script = tmp_path / "script.py"
    assert exported(layout.name, "-o", script).exit_code == 0
    assert str(layout.model_code) in script.read_text()
    assert str(layout.data_code) in script.read_text()
    assert str(code) not in script.read_text()

    layout.model_code.write_text("import a_strangers\n")
    assert problem_of(layout.name, "-o", script)["code"] == "code_not_trusted"


def change_plan(layout: RunLayout, change: Callable[[dict[str, Any]], object]) -> None:
    plan = json.loads(layout.plan.read_text())
    change(plan)
    layout.plan.write_text(json.dumps(plan))


BREAKS_OUT = '/device:CPU:0")\n__import__("os").system("touch /tmp/x")  # '
STRANGERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a device that ends its string": lambda plan: plan["replicas"][0].update(
        logical_device=BREAKS_OUT
    ),
    "a place that ends its string": lambda plan: plan.update(
        places=[{"device_key": "cpu", "logical_device": BREAKS_OUT}]
    ),
    "a variable that loads a library": lambda plan: plan["environment"].update(
        LD_PRELOAD="/home/stranger/library.so"
    ),
    "a variable of a process": lambda plan: plan.update(
        processes=[{"role": "worker", "environment": {"PATH": "/home/stranger"}, "devices": []}]
    ),
    "processes without devices": lambda plan: plan.update(
        processes=[{"role": "worker", "environment": {}, "devices": []}]
    ),
    "processes that do not work": lambda plan: plan.update(
        processes=[{"role": "coordinator", "environment": {}, "devices": []}]
    ),
}


@pytest.mark.parametrize("change", STRANGERS.values(), ids=STRANGERS)
def test_that_a_plan_that_no_planner_made_becomes_no_script(
    layout: RunLayout, tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    change_plan(layout, change)
    script = tmp_path / "script.py"
    problem = problem_of(layout.name, "-o", script)
    assert (problem["code"], "plan.json" in problem["message"]) == ("run_damaged", True)
    assert not script.exists()


def test_that_every_variable_that_a_planner_sets_is_in_the_script(
    layout: RunLayout, tmp_path: Path
) -> None:
    change_plan(layout, lambda plan: plan.update(environment=dict.fromkeys(PLANNED_VARIABLES, "1")))
    script = tmp_path / "script.py"
    assert exported(layout.name, "-o", script).exit_code == 0
    written = script.read_text()
    assert all(f'os.environ["{name}"] = "1"' in written for name in PLANNED_VARIABLES)


def test_that_the_name_of_a_device_stays_in_its_comment(layout: RunLayout, tmp_path: Path) -> None:
    change_plan(
        layout,
        lambda plan: plan["devices"][0].update(
            name="CPU\nraise SystemExit", logical_limits_mib=[None]
        ),
    )
    script = tmp_path / "script.py"
    assert exported(layout.name, "-o", script).exit_code == 0
    assert r"# CPU\nraise SystemExit" in script.read_text()


def test_that_a_newer_or_damaged_plan_is_named(layout: RunLayout, tmp_path: Path) -> None:
    whole = layout.plan.read_text()
    change_plan(layout, lambda plan: plan.update(qubits=7))
    assert problem_of(layout.root, "-o", tmp_path / "x.py")["code"] == "run_newer"
    layout.plan.write_text(whole[: len(whole) // 2])
    assert problem_of(layout.root, "-o", tmp_path / "x.py")["code"] == "run_damaged"
    layout.plan.unlink()
    assert problem_of(layout.root, "-o", tmp_path / "x.py")["code"] == "file_missing"


@pytest.mark.parametrize("name", ["profile.toml", "plan.json"])
@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values(), ids=IN_PLACE_OF_A_FILE)
def test_that_what_is_no_file_of_the_runs_is_neither_read_nor_waited_for(
    layout: RunLayout, tmp_path: Path, name: str, plant: Plant
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    put_in_place(plant, layout.root / name, kept)
    problem = problem_of(layout.root, "-o", tmp_path / "x.py")
    assert problem["code"] == "run_folder_unsafe"
    assert kept.read_text() == "kept"


def test_that_workers_of_a_run_become_one_process(runs_dir: Path, tmp_path: Path) -> None:
    workers = StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2)
    layout = WrittenRun(runs_dir, ON_CPU.model_copy(update={"strategy": workers})).layout
    cells = tmp_path / "cells.ipynb"
    assert exported(layout.name, "-o", cells).exit_code == 0
    assert "MirroredStrategy" in cells.read_text()


ON_A_WORKSTATION = ON_CPU.model_copy(
    update={"devices": DeviceSettings(visible=("GPU-not-on-the-login-node",))}
)


@pytest.mark.parametrize(
    "options",
    [
        ("job.txt", "--slurm"),
        ("job.sbatch",),
        ("job.txt", "--format", "slurm"),
        ("job.py", "--slurm", "--format", "script"),
    ],
)
def test_that_a_profile_becomes_a_batch_script_on_a_machine_without_its_gpus(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    profile = tmp_path / "p.toml"
    write_profile(profile, ON_A_WORKSTATION)
    name, *rest = options
    written = exported(profile, "-o", tmp_path / name, *rest, "--json")
    assert json.loads(written.stdout) == {"slurm": str(tmp_path / name)}
    script = (tmp_path / name).read_text()
    assert script.startswith("#!/bin/bash\n")
    assert "GPU-not-on-the-login-node" in script


def test_that_a_run_becomes_a_batch_script_with_its_own_copy_of_the_code(
    runs_dir: Path, tmp_path: Path
) -> None:
    code = tmp_path / "model.py"
    code.write_text("def build_model(shape, outputs): ...\n")
    profile = ON_CPU.model_copy(update={"model": PythonModel(path=str(code))})
    trust(code_of_profile(profile))
    layout = WrittenRun(runs_dir, profile).layout
    assert exported(layout.name, "-o", tmp_path / "job.sbatch").exit_code == 0
    assert str(layout.model_code) in (tmp_path / "job.sbatch").read_text()
    layout.model_code.write_text("import a_strangers\n")
    problem = problem_of(layout.name, "--slurm", "-o", tmp_path / "job.sbatch")
    assert problem["code"] == "code_not_trusted"


def test_that_a_batch_script_takes_code_only_that_is_trusted(tmp_path: Path) -> None:
    code = tmp_path / "model.py"
    code.write_text("def build_model(shape, outputs): ...\n")
    profile = tmp_path / "p.toml"
    write_profile(profile, ON_CPU.model_copy(update={"model": PythonModel(path=str(code))}))
    script = tmp_path / "job.sbatch"
    assert problem_of(profile, "--slurm", "-o", script)["code"] == "code_not_trusted"
    assert not script.exists()
    assert exported(profile, "--slurm", "--trust", "-o", script).exit_code == 0
    assert exported(profile, "--slurm", "-o", script).exit_code == 0


@pytest.mark.parametrize("other", ["notebook", "report", "keras", "savedmodel", "tflite"])
def test_that_slurm_and_another_format_are_not_both_written(
    layout: RunLayout, tmp_path: Path, other: str
) -> None:
    problem = problem_of(layout.name, "--slurm", "--format", other, "-o", tmp_path / "x")
    assert problem["code"] == "export_not_for_slurm"
    assert f"--format {other}" in problem["message"]
    assert not (tmp_path / "x").exists()


def test_that_a_batch_script_has_no_weights_to_quantize(layout: RunLayout, tmp_path: Path) -> None:
    options = ("--slurm", "--quantize", "int8", "-o", tmp_path / "x")
    assert problem_of(layout.name, *options)["code"] == "export_not_quantized"


def test_that_a_batch_script_needs_a_file_and_replaces_one_but_nothing_else(
    layout: RunLayout, tmp_path: Path
) -> None:
    assert exported(layout.name, "--slurm").exit_code == 2
    script = tmp_path / "job.sbatch"
    script.write_text("of yesterday")
    assert exported(layout.name, "-o", script).exit_code == 0
    assert script.read_text().startswith("#!/bin/bash")
    assert problem_of(layout.name, "--slurm", "-o", tmp_path)["code"]
    assert problem_of(layout.name, "--slurm", "-o", layout.plan)["code"] == "inside_a_run"


def test_that_a_training_with_workers_becomes_a_batch_script_for_several_nodes(
    runs_dir: Path, tmp_path: Path
) -> None:
    workers = StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=4)
    chosen = ON_CPU.model_copy(update={"strategy": workers})
    profile, script = tmp_path / "p.toml", tmp_path / "job.sbatch"
    write_profile(profile, chosen)
    for source in (profile, WrittenRun(runs_dir, chosen).layout.root):
        assert exported(source, "--nodes", "2", "-o", script).exit_code == 0
        assert "\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=2\n" in script.read_text()
        script.unlink()


def test_that_nodes_are_for_batch_scripts_of_trainings_with_workers(
    layout: RunLayout, tmp_path: Path
) -> None:
    problem = problem_of(layout.name, "--nodes", "2", "-o", tmp_path / "x.py")
    assert problem["code"] == "export_not_for_slurm"
    problem = problem_of(layout.name, "--slurm", "--nodes", "2", "-o", tmp_path / "x")
    assert problem["code"] == "nodes_need_workers"
    for count in ("0", "-1", "100000", "many"):
        assert exported(layout.name, "--slurm", "--nodes", count, "-o", "x").exit_code == 2
    assert not (tmp_path / "x").exists()
