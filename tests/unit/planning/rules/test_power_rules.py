"""GPUs whose limits pass what a person said the supply gives, with limits that fit."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import TWO_UNEQUAL

LIMITS = {"GPU-4090": (450.0, 150.0), "GPU-3060": (170.0, 100.0)}
LIMITED = TWO_UNEQUAL.model_copy(
    update={
        "devices": tuple(
            each.model_copy(
                update={
                    "power_limit_w": LIMITS[each.key][0],
                    "power_limit_least_w": LIMITS[each.key][1],
                }
            )
            if each.key in LIMITS
            else each
            for each in TWO_UNEQUAL.devices
        )
    }
)
BOTH = Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED))


def found(
    machine: MachineSettings, profile: Profile = BOTH, inventory: DeviceInventory = LIMITED
) -> list[Problem]:
    problems = prepare(profile, inventory, Known(machine=machine)).problems
    return [each for each in problems if each.code == "power_above_supply"]


def test_that_limits_that_pass_the_supply_are_warned_of_with_those_that_fit() -> None:
    (problem,) = found(MachineSettings(supply_w=750.0, rest_w=250.0))

    assert problem.severity is Severity.WARNING
    assert "450 W" in problem.message
    assert "With 250 W for the rest of the machine that is 870 W" in problem.message
    assert "the supply gives 750 W" in problem.message
    assert "362 W" in problem.hint
    assert problem.command == (
        "sudo nvidia-smi -i GPU-4090 -pl 362 && sudo nvidia-smi -i GPU-3060 -pl 137"
    )


def test_that_what_nobody_said_of_the_rest_is_said_plainly() -> None:
    (problem,) = found(MachineSettings(supply_w=600.0))

    assert "That is 620 W, the rest of the machine not counted" in problem.message


def test_that_least_limits_that_do_not_fit_are_said_to_be_too_much() -> None:
    (problem,) = found(MachineSettings(supply_w=400.0, rest_w=200.0))

    assert "Not even their least limits fit" in problem.hint
    assert not problem.command


def test_that_nothing_is_said_where_they_fit_or_nobody_knows() -> None:
    assert not found(MachineSettings(supply_w=1000.0, rest_w=250.0))
    assert not found(MachineSettings())
    mute = tuple(each.model_copy(update={"power_limit_w": None}) for each in TWO_UNEQUAL.devices)
    silent = TWO_UNEQUAL.model_copy(update={"devices": mute})
    assert not found(MachineSettings(supply_w=300.0), inventory=silent)
    one = Profile(devices=DeviceSettings(visible=("GPU-3060",)))
    assert not found(MachineSettings(supply_w=300.0), one)
    on_nodes = LIMITED.model_copy(
        update={
            "devices": tuple(each.model_copy(update={"node": "node-1"}) for each in LIMITED.devices)
        }
    )
    assert not found(MachineSettings(supply_w=300.0), inventory=on_nodes)
