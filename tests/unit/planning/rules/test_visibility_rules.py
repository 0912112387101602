"""What a person is told about ``CUDA_VISIBLE_DEVICES`` of the shell."""

import pytest

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import mended, prepare
from gpupanel.planning.visible_gpus import cuda_variables_of
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

CODES = {"gpus_hidden_by_shell", "shell_numbers_not_sure", "profile_overrules_shell"}
SLOW_FIRST = DeviceInventory(driver="580.65", devices=(RTX_3060, RTX_4090, CPU))


def said(
    inventory: DeviceInventory, visible: str | None, *named: str, order: str = ""
) -> list[Problem]:
    variables = CudaVariables(visible_devices=visible, device_order=order)
    shown = inventory.model_copy(update={"cuda_variables": variables})
    profile = Profile(devices=DeviceSettings(visible=named))
    return [each for each in prepare(profile, shown).problems if each.code in CODES]


@pytest.mark.parametrize("visible", [None, "0,1", "1,0"])
def test_that_nothing_is_said_where_the_shell_leaves_every_gpu(visible: str | None) -> None:
    assert said(TWO_UNEQUAL, visible) == []


def test_that_nothing_is_said_of_a_machine_without_gpus() -> None:
    assert said(CPU_ONLY, "1") == []


@pytest.mark.parametrize(
    ("visible", "what"),
    [
        ("1", "uses RTX 3060 and leaves out RTX 4090"),
        ("-1", "is on the CPU and leaves out RTX 4090, RTX 3060"),
    ],
)
def test_that_it_is_said_which_gpus_the_shell_leaves(visible: str, what: str) -> None:
    (hint,) = said(TWO_UNEQUAL, visible)
    assert (hint.code, hint.severity) == ("gpus_hidden_by_shell", Severity.HINT)
    assert hint.message == f'CUDA_VISIBLE_DEVICES is "{visible}" in the shell: the run {what}.'


@pytest.mark.parametrize(
    ("visible", "hidden", "shown"),
    [("0,7", "RTX 3060", "7"), ("gpu\x1b1", "RTX 3060", r"gpu\x1b1")],
)
def test_that_an_entry_that_names_no_gpu_is_a_warning(
    visible: str, hidden: str, shown: str
) -> None:
    (warning,) = said(TWO_UNEQUAL, visible)
    assert warning.severity is Severity.WARNING
    assert warning.message.endswith(
        f'{hidden}. CUDA reads no further than "{shown}", which names no GPU.'
    )


@pytest.mark.parametrize("visible", ["1,1", "0,1,1", "1,GPU-3060"])
def test_that_a_gpu_that_is_named_twice_leaves_none(visible: str) -> None:
    (warning,) = said(TWO_UNEQUAL, visible)
    assert warning.severity is Severity.WARNING
    assert warning.message.endswith(
        f"the run is on the CPU and leaves out RTX 4090, RTX 3060. "
        f'"{visible.split(",")[-1]}" names a GPU for the second time, and CUDA leaves none then.'
    )


def test_that_a_job_without_gpus_is_not_taken_for_a_variable_of_the_shell() -> None:
    job = cuda_variables_of({"SLURM_JOB_ID": "7"})
    in_job = TWO_UNEQUAL.model_copy(update={"cuda_variables": job})
    (hint,) = (each for each in prepare(Profile(), in_job).problems if each.code in CODES)
    assert (hint.code, hint.severity) == ("gpus_hidden_by_shell", Severity.HINT)
    assert hint.message == (
        "Slurm has given this job no GPU: the run is on the CPU and leaves out RTX 4090, RTX 3060."
    )
    assert "#SBATCH --gres=gpu:1" in hint.hint
    named = Profile(devices=DeviceSettings(visible=("GPU-4090",)))
    (warning,) = (each for each in prepare(named, in_job).problems if each.code in CODES)
    assert (warning.code, warning.severity) == ("profile_overrules_shell", Severity.WARNING)
    assert warning.message == (
        "The profile names RTX 4090, and Slurm has given this job no GPU: what the profile names "
        "is used."
    )
    assert "#SBATCH --gres=gpu:1" in warning.hint


def test_that_a_wrong_entry_behind_every_gpu_is_said_alone() -> None:
    (warning,) = said(TWO_UNEQUAL, "0,1,2")
    assert "the run uses RTX 4090, RTX 3060. CUDA reads no further" in warning.message


def test_that_it_is_said_which_gpu_a_number_was_taken_for_where_cuda_may_take_another() -> None:
    hidden, unsure = said(SLOW_FIRST, "0")
    assert hidden.code == "gpus_hidden_by_shell"
    assert (unsure.code, unsure.severity) == ("shell_numbers_not_sure", Severity.HINT)
    assert "in the order of nvidia-smi: RTX 3060." in unsure.message
    assert unsure.command == "export CUDA_VISIBLE_DEVICES=GPU-3060"
    assert [each.code for each in said(SLOW_FIRST, "0", order="PCI_BUS_ID")] == [hidden.code]


def test_that_nothing_is_said_of_the_order_of_gpus_that_do_not_answer() -> None:
    lost = [DeviceReading(key=gpu.key, state=DeviceState.LOST) for gpu in SLOW_FIRST.gpus]
    shown = SLOW_FIRST.model_copy(update={"cuda_variables": CudaVariables(visible_devices="0")})
    sample = TelemetrySample(time_s=0.0, readings=tuple(lost))
    codes = {each.code for each in prepare(Profile(), shown, Known(sample)).problems}
    assert "shell_numbers_not_sure" not in codes


def test_that_a_profile_that_names_gpus_is_followed_and_the_shell_is_not() -> None:
    (hint,) = said(TWO_UNEQUAL, "1", "GPU-4090")
    assert (hint.code, hint.severity) == ("profile_overrules_shell", Severity.HINT)
    assert hint.message == (
        'The profile names RTX 4090, and CUDA_VISIBLE_DEVICES is "1" in the shell: what the '
        "profile names is used."
    )
    assert said(TWO_UNEQUAL, "1", "GPU-3060") == []
    assert said(TWO_UNEQUAL, None, "GPU-3060") == []
    assert said(TWO_UNEQUAL, "1", "cpu") == []


def test_that_no_fix_takes_a_gpu_that_the_shell_leaves_out() -> None:
    two = CudaVariables(visible_devices="1")
    shown = TWO_UNEQUAL.model_copy(update={"cuda_variables": two})
    elsewhere = Profile(devices=DeviceSettings(visible=("GPU-of-another-machine",)))
    assert mended(elsewhere, shown).devices.visible == ("GPU-3060",)
    none = TWO_UNEQUAL.model_copy(update={"cuda_variables": CudaVariables(visible_devices="")})
    assert mended(elsewhere, none).devices.visible == ("cpu",)
    # Nearly full: the other one would have room.
    full = DeviceReading(key="GPU-3060", memory_used_mib=12_280, memory_free_mib=8)
    sample = TelemetrySample(time_s=0.0, readings=(full,))
    for profile in (Profile(), Profile(devices=DeviceSettings(visible=("GPU-3060",)))):
        after = mended(profile, shown, Known(sample))
        assert "GPU-4090" not in after.devices.visible
    free = mended(
        Profile(devices=DeviceSettings(visible=("GPU-3060",))), TWO_UNEQUAL, Known(sample)
    )
    assert free.devices.visible == ("GPU-4090",)
