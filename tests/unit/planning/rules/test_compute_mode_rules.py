"""GPUs on which nobody may compute, or one process at a time."""

import pytest

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import ComputeMode, DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import Preparation, prepare
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
TRAINER = DeviceProcess(pid=77, name="python", memory_used_mib=900)
SCREEN = DeviceProcess(pid=12, name="Xorg", memory_used_mib=80, only_draws=True)


def sample(
    mode: ComputeMode | None, *keys: str, processes: tuple[DeviceProcess, ...] = ()
) -> TelemetrySample:
    """What the GPUs of these keys report; the other one can be used by anybody."""
    readings = (
        DeviceReading(
            key=gpu.key,
            compute_mode=mode if gpu.key in keys else ComputeMode.DEFAULT,
            processes=processes if gpu.key in keys else (),
        )
        for gpu in TWO_UNEQUAL.gpus
    )
    return TelemetrySample(time_s=0.0, readings=tuple(readings))


def prepared(
    reported: TelemetrySample,
    *named: str,
    strategy: StrategySettings = MIRRORED,
    inventory: DeviceInventory = TWO_UNEQUAL,
) -> Preparation:
    profile = Profile(devices=DeviceSettings(visible=named), strategy=strategy)
    return prepare(profile, inventory, Known(reported))


def the_problem(preparation: Preparation) -> Problem:
    codes = ("gpu_compute_prohibited", "gpu_held_exclusively")
    (problem,) = (each for each in preparation.problems if each.code in codes)
    return problem


def labels(problem: Problem) -> list[str]:
    fixes = () if problem.fix is None else (problem.fix, *problem.alternatives)
    return [fix.label for fix in fixes]


def test_that_a_named_gpu_on_which_nobody_may_compute_keeps_the_run_from_starting() -> None:
    reported = sample(ComputeMode.PROHIBITED, "GPU-4090")
    both = prepared(reported, "GPU-4090", "GPU-3060")
    problem = the_problem(both)
    assert not both.is_startable
    assert problem.code == "gpu_compute_prohibited"
    assert problem.message == (
        "No process may compute on RTX 4090: the compute mode is “prohibited”."
    )
    assert problem.command == "sudo nvidia-smi -i GPU-4090 -c DEFAULT"
    assert labels(problem) == ["Leave RTX 4090 out", "Train on the CPU"]


def test_that_another_gpu_of_the_machine_takes_its_place_with_its_settings() -> None:
    reported = sample(ComputeMode.PROHIBITED, "GPU-3060")
    profile = Profile(
        devices=DeviceSettings(visible=("GPU-3060",)),
        memory={"GPU-3060": LimitedMemory(limit_mib=4096)},
    )
    problem = the_problem(prepare(profile, TWO_UNEQUAL, Known(reported)))
    assert labels(problem) == ["Use RTX 4090", "Train on the CPU"]
    assert problem.fix is not None
    fixed = apply_fix(profile, problem.fix)
    assert fixed.devices.visible == ("GPU-4090",)
    assert fixed.memory == {"GPU-4090": LimitedMemory(limit_mib=4096)}
    assert prepare(fixed, TWO_UNEQUAL, Known(reported)).is_startable


def test_that_a_gpu_that_the_shell_leaves_out_is_not_offered_in_its_place() -> None:
    shown = TWO_UNEQUAL.model_copy(update={"cuda_variables": CudaVariables(visible_devices="1")})
    reported = sample(ComputeMode.PROHIBITED, "GPU-3060")
    one = prepared(reported, "GPU-3060", strategy=StrategySettings(), inventory=shown)
    assert labels(the_problem(one)) == ["Train on the CPU"]


def test_that_numbers_of_the_shell_count_all_gpus_also_where_one_is_to_be_replaced() -> None:
    shown = TWO_UNEQUAL.model_copy(update={"cuda_variables": CudaVariables(visible_devices="1,0")})
    reported = sample(ComputeMode.PROHIBITED, "GPU-4090")
    one = prepared(reported, "GPU-4090", strategy=StrategySettings(), inventory=shown)
    assert labels(the_problem(one)) == ["Use RTX 3060", "Train on the CPU"]


def test_that_a_profile_that_names_none_does_without_it_and_says_so() -> None:
    fewer = prepared(sample(ComputeMode.PROHIBITED, "GPU-4090"), strategy=StrategySettings())
    problem = the_problem(fewer)
    assert problem.severity is Severity.WARNING
    assert problem.message.endswith("“prohibited”, and the run does without.")
    assert labels(problem) == []
    assert fewer.is_startable
    assert fewer.plan is not None
    assert [device.key for device in fewer.plan.devices] == ["GPU-3060"]


def test_that_gpus_that_all_are_prohibited_are_not_silently_the_cpu() -> None:
    none = prepared(sample(ComputeMode.PROHIBITED, "GPU-4090", "GPU-3060"))
    problem = the_problem(none)
    assert problem.is_error
    assert labels(problem) == ["Train on the CPU"]
    assert problem.command.count("nvidia-smi") == 2


def test_that_nothing_is_said_of_modes_that_keep_nobody_from_computing() -> None:
    for mode in (None, ComputeMode.DEFAULT):
        reported = sample(mode, "GPU-4090", processes=(TRAINER,))
        assert prepared(reported, "GPU-4090", "GPU-3060").problems == ()
    free = sample(ComputeMode.EXCLUSIVE_PROCESS, "GPU-4090", processes=(SCREEN,))
    assert prepared(free, "GPU-4090", "GPU-3060").problems == ()


def test_that_who_holds_a_gpu_for_one_process_is_named() -> None:
    reported = sample(ComputeMode.EXCLUSIVE_PROCESS, "GPU-4090", processes=(SCREEN, TRAINER))
    both = prepared(reported, "GPU-4090", "GPU-3060")
    problem = the_problem(both)
    # It may end at any moment.
    assert (problem.code, problem.severity) == ("gpu_held_exclusively", Severity.WARNING)
    assert "python (77) has it now" in problem.message
    assert labels(problem) == ["Leave RTX 4090 out", "Train on the CPU"]
    assert labels(the_problem(prepared(reported, "GPU-4090"))) == [
        "Use RTX 3060",
        "Train on the CPU",
    ]


def test_that_gpus_that_others_hold_exclusively_are_not_offered() -> None:
    reported = sample(
        ComputeMode.EXCLUSIVE_PROCESS,
        "GPU-4090",
        "GPU-3060",
        processes=(DeviceProcess(pid=5),),
    )
    problem = the_problem(prepared(reported, "GPU-3060"))
    assert "a process (5) has it now" in problem.message
    assert labels(problem) == ["Train on the CPU"]


@pytest.mark.parametrize("bus", ["00000000:01:00.0", None])
def test_that_the_command_names_the_gpu_as_nvidia_smi_knows_it(bus: str | None) -> None:
    gpu = RTX_4090.model_copy(update={"pci_bus_id": bus})
    inventory = DeviceInventory(devices=(gpu, RTX_3060))
    reported = sample(ComputeMode.PROHIBITED, "GPU-4090")
    problem = the_problem(prepared(reported, "GPU-4090", inventory=inventory))
    assert problem.command == f"sudo nvidia-smi -i {bus or 'GPU-4090'} -c DEFAULT"
