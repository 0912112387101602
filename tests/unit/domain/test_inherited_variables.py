"""What becomes of the variables of a shell that Python, TensorFlow and others would read."""

from pathlib import Path

import pytest
from references.environment import environment_reference

from gpupanel.domain.inherited_variables import (
    INHERITED_VARIABLES,
    Treatment,
    deciding_variables,
    inherited,
    is_cleared,
    known_variable,
    of_window,
    reported_variables,
)

GUIDE = Path(__file__).parents[3] / "resources" / "guide"


def test_that_the_page_in_the_repository_is_current() -> None:
    is_current = (GUIDE / "environment.md").read_text(encoding="utf-8") == environment_reference()
    assert is_current, "environment.md was not written since a variable changed: make docs"


@pytest.mark.parametrize(
    ("name", "treatment"),
    [
        ("TF_CONFIG", Treatment.CLEARED),
        ("TF_XLA_FLAGS", Treatment.CLEARED),
        ("TF_ENABLED_DEVICE_TYPES", Treatment.CLEARED),
        ("TF_PER_DEVICE_MEMORY_LIMIT_MB", Treatment.CLEARED),
        ("TF_FORCE_UNIFIED_MEMORY", Treatment.CLEARED),
        ("TF_USE_LEGACY_KERAS", Treatment.CLEARED),
        ("KERAS_MAX_EPOCHS", Treatment.CLEARED),
        ("PYTHONWARNINGS", Treatment.CLEARED),
        ("PYTHONOPTIMIZE", Treatment.CLEARED),
        ("TF_FORCE_GPU_ALLOW_GROWTH", Treatment.SET),
        ("TF_GPU_ALLOCATOR", Treatment.SET),
        ("KERAS_BACKEND", Treatment.SET),
        ("XLA_FLAGS", Treatment.NAMED),
        ("TF_DETERMINISTIC_OPS", Treatment.NAMED),
        ("TF_ENABLE_ONEDNN_OPTS", Treatment.NAMED),
        ("TF_CPP_MAX_VLOG_LEVEL", Treatment.NAMED),
        ("TF_OF_SOME_LATER_VERSION", Treatment.NAMED),
        ("NCCL_ALGO", Treatment.NAMED),
        ("NVIDIA_TF32_OVERRIDE", Treatment.NAMED),
        ("CUDA_LAUNCH_BLOCKING", Treatment.NAMED),
        ("NCCL_DEBUG_FILE", Treatment.OBEYED),
        ("PYTHONHASHSEED", Treatment.OBEYED),
        ("TF_VAR_region", Treatment.OBEYED),
        ("QT_PLUGIN_PATH", Treatment.CLEARED),
    ],
)
def test_that_each_variable_is_treated_as_it_changes_a_run(name: str, treatment: Treatment) -> None:
    known = known_variable(name)
    assert known is not None
    assert known.treatment is treatment
    assert known.reason


def test_that_nothing_is_decided_of_what_nobody_knows() -> None:
    assert known_variable("EDITOR") is None
    assert known_variable("TF") is None


def test_that_it_is_known_which_a_process_begins_without() -> None:
    assert is_cleared("TF_CONFIG")
    assert not is_cleared("XLA_FLAGS")
    assert not is_cleared("EDITOR")


def test_that_no_line_stands_behind_one_that_means_all_of_its_variables() -> None:
    for place, variable in enumerate(INHERITED_VARIABLES):
        before = INHERITED_VARIABLES[:place]
        assert not any(each.means(variable.beginning) for each in before), variable.name


def test_that_a_process_begins_without_what_is_cleared_and_with_what_is_set() -> None:
    shell = {"TF_CONFIG": "{", "QT_PLUGIN_PATH": "/qt5", "KERAS_BACKEND": "torch", "A": "1"}
    assert inherited(shell) == {"QT_PLUGIN_PATH": "/qt5", "KERAS_BACKEND": "tensorflow", "A": "1"}


def test_that_the_window_begins_without_what_would_end_it() -> None:
    shell = {"TF_CONFIG": "{", "QT_PLUGIN_PATH": "/qt5", "PYQTGRAPH_QT_LIB": "PyQt5"}
    assert of_window(shell) == {
        "TF_CONFIG": "{",
        "PYQTGRAPH_QT_LIB": "PySide6",
        "QT_API": "pyside6",
    }


def test_that_what_changes_a_run_is_said_and_nothing_else() -> None:
    shell = {
        "XLA_FLAGS": "--xla_cpu_use_fusion_emitters=false",
        "TF_CONFIG": "{}",
        "TF_XLA_FLAGS": "",  # says nothing
        "KERAS_HOME": "/data",
        "QT_PLUGIN_PATH": "/qt5",
        "EDITOR": "vi",
    }
    assert reported_variables(shell) == ("TF_CONFIG", "XLA_FLAGS")


@pytest.mark.parametrize("name", ["SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE"])
def test_that_how_often_a_command_was_started_is_said_where_it_is_more_than_once(name: str) -> None:
    assert reported_variables({name: "1"}) == reported_variables({name: ""}) == ()
    assert reported_variables({name: "4"}) == reported_variables({name: "x"}) == (name,)
    assert deciding_variables({name: "4"}) == ()
    assert inherited({name: "1"}) == {**inherited({}), name: "1"}


def test_that_an_answer_of_tensorflow_depends_on_what_its_process_obeys() -> None:
    shell = {
        "XLA_FLAGS": "x",
        "HOME": "/root",
        "LD_PRELOAD": "y",
        "TF_CONFIG": "{}",
        "CUDA_VISIBLE_DEVICES": "1",
        "QT_QPA_PLATFORM": "xcb",
        "EDITOR": "vi",
    }
    assert deciding_variables(shell) == (
        ("HOME", "/root"),
        ("LD_PRELOAD", "y"),
        ("XLA_FLAGS", "x"),
    )


@pytest.mark.parametrize(
    ("text", "is_obeyed"),
    [("1.5", True), ("0.01", False), ("-3", False), ("nan", False), ("x", False)],
)
def test_that_a_window_is_scaled_by_what_can_be_read(text: str, is_obeyed: bool) -> None:
    assert ("QT_SCALE_FACTOR" in of_window({"QT_SCALE_FACTOR": text})) is is_obeyed
    assert inherited({"QT_SCALE_FACTOR": text})["QT_SCALE_FACTOR"] == text
