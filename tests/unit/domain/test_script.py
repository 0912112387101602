"""A program of a person's own in a profile, and what it has of a shell."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.script_environment import shell_variables_of_program

_PROGRAM = '[script]\npath = "work/train.py"\narguments = ["--epochs", "5"]\n'


def problems_of(text: str) -> list[tuple[str, str]]:
    with pytest.raises(ProblemError) as refused:
        parse_profile(text)
    return [(each.code, each.field) for each in refused.value.problems]


def test_that_a_program_is_the_task_of_its_profile() -> None:
    profile = parse_profile(_PROGRAM)
    assert profile.task == "script"
    assert profile.script is not None
    assert profile.script.arguments == ("--epochs", "5")
    assert profile.script.name == "train.py"
    assert profile.script.is_python
    assert profile.epochs_to_train == 0


def test_that_its_profile_is_written_without_the_tables_that_mean_nothing_there() -> None:
    profile = parse_profile(_PROGRAM)
    written = dump_profile(profile)
    for table in ("data", "model", "training", "inference"):
        assert f"[{table}" not in written
    assert parse_profile(written) == profile


@pytest.mark.parametrize("table", ["data", "model", "training", "inference"])
def test_that_a_table_beside_it_is_refused_by_name(table: str) -> None:
    settings = 'source = "digits"' if table == "data" else ""
    assert problems_of(f"{_PROGRAM}[{table}]\n{settings}\n") == [("script_beside_table", table)]


def test_that_another_task_beside_it_is_refused() -> None:
    assert problems_of(f'task = "train"\n{_PROGRAM}') == [("script_beside_table", "task")]
    assert problems_of('task = "script"\n') == [("script_missing", "script")]
    with pytest.raises(ValidationError, match="go together"):
        Profile(task="script")
    with pytest.raises(ValidationError, match="go together"):
        Profile(script=ScriptSettings(path="train.py"))


@pytest.mark.parametrize(
    "variable", ['"A B" = "1"', 'CUDA_VISIBLE_DEVICES = "1"', 'GPUPANEL_RUN = "x"']
)
def test_that_a_variable_that_the_panel_decides_is_refused(variable: str) -> None:
    text = f'[script]\npath = "train.py"\nenvironment = {{ {variable} }}\n'
    assert problems_of(text) == [("profile_value_invalid", "script.environment")]


def test_that_its_own_variables_are_taken() -> None:
    text = '[script]\npath = "train.py"\nenvironment = { WANDB_MODE = "offline", A = "1" }\n'
    script = parse_profile(text).script
    assert script is not None
    assert script.environment == {"WANDB_MODE": "offline", "A": "1"}


def test_that_a_nul_which_no_program_can_be_given_is_refused() -> None:
    ((_, field),) = problems_of('[script]\npath = "train.py"\narguments = ["a\\u0000b"]\n')
    assert field.startswith("script.arguments")


def test_that_a_program_has_what_gpupanel_itself_begins_without() -> None:
    shell = {
        "HOME": "/home/ada",
        "KERAS_BACKEND": "jax",
        "TF_CONFIG": "{}",
        "TF_XLA_FLAGS": "--tf_xla_auto_jit=2",
        "PYTHONWARNINGS": "error",
        "TF_ENABLED_DEVICE_TYPES": "CPU",
        "CUDA_VISIBLE_DEVICES": "1",
        "QT_PLUGIN_PATH": "/opt/qt",
        "PYTHONPATH": "src::/opt/lib",
    }
    assert shell_variables_of_program(shell, "/work") == {
        "KERAS_BACKEND": "jax",
        "TF_CONFIG": "{}",
        "TF_XLA_FLAGS": "--tf_xla_auto_jit=2",
        "PYTHONWARNINGS": "error",
        "PYTHONPATH": "/work/src:/opt/lib",
    }
    assert shell_variables_of_program({"PYTHONPATH": "/opt/lib"}, "/work") == {}


def test_that_values_stand_for_their_names_in_braces_and_other_braces_stay() -> None:
    arguments = ("--lr={lr}", "{training.size}", '{"a": {b}}', "{unknown}", "{flag}")
    script = ScriptSettings(
        path="train.py", arguments=arguments, values={"lr": 0.1, "training.size": 3, "flag": True}
    )
    assert script.filled_arguments == ("--lr=0.1", "3", '{"a": {b}}', "{unknown}", "true")
    assert script.placeholders == {"lr", "training.size", "b", "unknown", "flag"}
