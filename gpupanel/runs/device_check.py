"""Whether the GPUs of a plan still answer at the moment of a start: time passed since it was made.

CUDA hides every device that stands behind an invalid one in ``CUDA_VISIBLE_DEVICES``: a run would
start on other devices than its plan says.
"""

from collections.abc import Callable

from gpupanel.domain.device import DeviceInventory, DeviceKind
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.planning.chosen_devices import answering_gpus
from gpupanel.runs.readiness import Machine, look_at_machine


def check_devices_answer(plan: LaunchPlan, look: Callable[[], Machine] = look_at_machine) -> None:
    """Ask the driver once; a plan without GPUs asks nobody.

    Raises:
        ProblemError: A GPU of the plan stopped answering, or is not there any more.
    """
    gpus = [device for device in plan.devices if device.kind is DeviceKind.GPU]
    if not gpus:
        return
    machine = look()
    answering = {gpu.key for gpu in answering_gpus(machine.inventory, machine.sample)}
    gone = [gpu.name for gpu in gpus if gpu.key not in answering]
    if gone:
        raise ProblemError(_gone(gone, machine.inventory))


def _gone(names: list[str], inventory: DeviceInventory) -> Problem:
    return Problem(
        code="device_lost",
        field="devices.visible",
        message=f"{', '.join(dict.fromkeys(names))} stopped answering: it fell off the bus or its "
        "driver went away.",
        hint="Choose other devices, or restart the machine, which usually brings it back.",
        detail=inventory.problem or "",
    )
