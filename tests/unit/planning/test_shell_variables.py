"""What is said of a shell's variables before a run starts."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import prepare
from gpupanel.planning.shell_variables import shell_problems
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL


def said(inventory: DeviceInventory, *names: str) -> dict[str, str]:
    shown = inventory.model_copy(update={"shell_variables": names})
    return {
        each.code: f"{each.message} {each.hint}"
        for each in prepare(Profile(), shown).problems
        if each.code.startswith("shell_variables")
    }


def test_that_nothing_is_said_of_a_shell_that_changes_nothing() -> None:
    assert said(CPU_ONLY) == {}


def test_that_what_a_run_begins_without_is_named_with_the_reason() -> None:
    (text,) = said(CPU_ONLY, "TF_CONFIG", "TF_CPU_BFC_MEM_LIMIT_IN_MB").values()
    assert "sets TF_CONFIG, TF_CPU_BFC_MEM_LIMIT_IN_MB: a run begins without." in text
    assert "TF_CONFIG: a run makes its own cluster" in text


def test_that_what_a_run_obeys_is_named_with_the_command_that_starts_without() -> None:
    (problem,) = shell_problems(("TF_CPP_VMODULE", "XLA_FLAGS"), has_gpus=False)
    assert problem.code == "shell_variables_obeyed"
    assert problem.severity is Severity.HINT
    assert problem.command == "env -u TF_CPP_VMODULE -u XLA_FLAGS gpupanel"
    assert "XLA_FLAGS: it changes how XLA compiles" in problem.hint


def test_that_what_only_concerns_gpus_is_said_where_some_are_used() -> None:
    assert said(CPU_ONLY, "NCCL_ALGO", "NVIDIA_TF32_OVERRIDE") == {}
    (text,) = said(TWO_UNEQUAL, "NCCL_ALGO", "NVIDIA_TF32_OVERRIDE").values()
    assert "sets NCCL_ALGO, NVIDIA_TF32_OVERRIDE, which a run obeys." in text


def test_that_a_reason_stands_once_behind_all_that_it_is_given_for() -> None:
    (problem,) = shell_problems(("TF_CPP_MAX_VLOG_LEVEL", "TF_CPP_VMODULE"), has_gpus=False)
    assert problem.hint.count("it fills the log") == 1
    assert "TF_CPP_MAX_VLOG_LEVEL, TF_CPP_VMODULE: it fills" in problem.hint


def test_that_a_command_that_was_started_several_times_is_warned_of() -> None:
    names = ("PMI_SIZE", "SLURM_STEP_NUM_TASKS", "XLA_FLAGS")
    several, obeyed = shell_problems(names, has_gpus=False)
    assert several.code == "started_several_times"
    assert several.severity is Severity.WARNING
    assert "PMI_SIZE, SLURM_STEP_NUM_TASKS says" in several.hint
    assert "XLA_FLAGS, which" in obeyed.message
    (alone,) = shell_problems(("LOCAL_WORLD_SIZE",), has_gpus=True)
    assert alone.message.startswith("torchrun started")
