"""Whether a profile can start on this machine as it is now, and what would happen then."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from gpupanel.domain.cluster import devices_of, sample_of
from gpupanel.domain.device import CPU_KEY, DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.step_memory import StepMemory
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.chosen_devices import answering_gpus, chosen_devices
from gpupanel.planning.context import Known
from gpupanel.planning.description import described
from gpupanel.planning.device_answers import (
    nameless,
    never_answered,
    stopped_answering,
    unresponsive_among,
)
from gpupanel.planning.prepare import Preparation, mended, prepare
from gpupanel.runs.machine_settings import MACHINE_FILE
from gpupanel.runs.self_test_memory import recall_self_test

# What asks the driver and TensorFlow is imported when it is needed: the window, which imports this
# module, is on the screen before.
if TYPE_CHECKING:
    from gpupanel.devices.sampler import DeviceSampler

_DOUBTFUL: Final = "packages_of_elsewhere"

AskSupport = Callable[[tuple[PhysicalDevice, ...], str | None], GpuSupport | None]
"""Asks TensorFlow about GPUs that answer, under that driver."""


AskImport = Callable[[], Problem | None]
"""Asks what keeps TensorFlow from being imported."""


@dataclass(frozen=True, slots=True)
class Machine:
    """This machine at one moment: its devices, and what they report."""

    inventory: DeviceInventory
    sample: TelemetrySample | None = None


class MachineWatch:
    """Keeps the door to the driver open between readings: opening it can take seconds.

    Args:
        wakes: Sleeping GPUs are woken: who asks is about to start something on them.
    """

    def __init__(self, *, wakes: bool = True) -> None:
        self._wakes = wakes
        self._sampler: DeviceSampler | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._sampler is not None:
            self._sampler.close()

    def read(self) -> Machine:
        """The devices and what they report now."""
        from gpupanel.devices.machine_devices import machine_devices
        from gpupanel.devices.sampler import PATIENT_S

        if self._sampler is None:
            self._sampler = machine_devices(wait_s=PATIENT_S, wakes=self._wakes)
        return Machine(self._sampler.inventory(), self._sampler.sample())


def read_machine(*, wakes: bool = True) -> Machine:
    """Ask once; waits some seconds for drivers that must load first.

    Args:
        wakes: See :class:`MachineWatch`.
    """
    with MachineWatch(wakes=wakes) as machine:
        return machine.read()


def read_machines_for(profile: Profile) -> Machine:
    """The devices that a profile can train on: this machine's, or those of its cluster's nodes.

    Raises:
        ProblemError: There is no such cluster, or it cannot be used.
    """
    if profile.cluster is None:
        return read_machine(wakes=profile.devices.visible != (CPU_KEY,))
    from gpupanel.runs.cluster.reading import read_cluster

    reading = read_cluster(profile.cluster.address)
    return Machine(devices_of(reading), sample_of(reading))


def ask_doctor(gpus: tuple[PhysicalDevice, ...], driver: str | None) -> GpuSupport:
    """Whether TensorFlow can use these GPUs: by the doctor, who remembers it."""
    from gpupanel.devices.doctor.gpu_support import gpu_support

    return gpu_support(gpus, driver)


def ask_import() -> Problem | None:
    """What of elsewhere keeps TensorFlow from being imported here: by trying it."""
    from gpupanel.devices.doctor.spoiled_import import import_problem

    return import_problem()


def known_support(machine: Machine) -> GpuSupport | None:
    """What TensorFlow answered before about the GPUs; ``None``: it was not asked."""
    from gpupanel.devices.doctor.gpu_support import remembered_support

    gpus = answering_gpus(machine.inventory, machine.sample)
    return remembered_support(gpus, machine.inventory.driver) if gpus else None


def prepared_on(
    machine: Machine,
    profile: Profile,
    preview: DataPreview | None = None,
    ask_support: AskSupport = ask_doctor,
    step: StepMemory | None = None,
    try_import: AskImport = ask_import,
) -> Preparation:
    """What would happen with a profile on that machine, and everything that is wrong with it.

    Args:
        machine: As it was read.
        profile: What somebody chose.
        preview: Of the profile's data, where there is one.
        ask_support: Asks which GPUs TensorFlow can use; only where one is chosen.
        step: What a training step holds in memory, where the model was built.
        try_import: Asks whether TensorFlow can be imported; only where packages of elsewhere make
            that doubtful, and nobody was asked about GPUs, which answers it.
    """
    known = known_on(machine, profile, preview, ask_support, step)
    found = prepare(profile, machine.inventory, known)
    try:
        MACHINE_FILE.read()
    except ProblemError as error:
        found = found.model_copy(update={"problems": (*error.problems, *found.problems)})
    doubted = [each for each in found.problems if each.code == _DOUBTFUL]
    is_here = found.plan is not None and not found.plan.is_on_nodes
    spoiled = try_import() if doubted and known.support is None and is_here else None
    if spoiled is None:
        return found
    others = [each for each in found.problems if each not in doubted]
    return found.model_copy(update={"problems": (spoiled, *others)})


def mended_on(
    machine: Machine,
    profile: Profile,
    preview: DataPreview | None = None,
    ask_support: AskSupport = ask_doctor,
) -> Profile:
    """The profile with every fix that is offered for errors and warnings on that machine."""
    known = known_on(machine, profile, preview, ask_support)
    return described(mended(profile, machine.inventory, known), machine.inventory)


def known_on(
    machine: Machine,
    profile: Profile,
    preview: DataPreview | None,
    ask_support: AskSupport,
    step: StepMemory | None = None,
) -> Known:
    """What is known of that machine and of a run on it; arguments as of :func:`prepared_on`."""
    support = _support_for(machine, profile, ask_support)
    try:
        settings = MACHINE_FILE.read()
    except ProblemError:
        settings = MachineSettings()  # that is said beside what is planned
    self_test = recall_self_test(machine.inventory)
    return Known(machine.sample, preview, support, step, self_test, machine=settings)


def check_devices_answer(plan: LaunchPlan, read: Callable[[], Machine] = read_machine) -> None:
    """Ask the driver once whether a plan's GPUs still answer; a plan without GPUs asks nobody.

    CUDA hides every device that stands behind an invalid one in ``CUDA_VISIBLE_DEVICES``: a run
    would start on other devices than its plan says.

    Raises:
        ProblemError: A GPU of the plan does not answer, or is not there any more.
    """
    gpus = [device for device in plan.devices if device.kind is DeviceKind.GPU]
    # Nodes of a cluster were asked when the plan was made for them.
    if not gpus or plan.is_on_nodes:
        return
    machine = read()
    answering = {gpu.key for gpu in answering_gpus(machine.inventory, machine.sample)}
    gone = [gpu for gpu in gpus if gpu.key not in answering]
    if gone:
        raise ProblemError(_gone(gone, machine))


def _support_for(machine: Machine, profile: Profile, ask_support: AskSupport) -> GpuSupport | None:
    devices = chosen_devices(profile, machine.inventory, machine.sample)
    if not any(device.is_gpu for device in devices) or devices[0].node:
        return None  # nor is known what TensorFlow can do on another machine
    gpus = answering_gpus(machine.inventory, machine.sample)
    return ask_support(gpus, machine.inventory.driver)


def _gone(gpus: list[PlannedDevice], machine: Machine) -> Problem:
    """What is true now of GPUs that a plan was made for."""
    inventory, keys = machine.inventory, [gpu.key for gpu in gpus]
    names = ", ".join(f"{gpu.name} ({gpu.key})" for gpu in gpus)
    seen = [key for key in keys if inventory.device(key) is not None]
    silent = tuple(unresponsive_among(keys, inventory).values()) or nameless(inventory)
    if seen:
        code, (said, hint) = "device_lost", stopped_answering(seen, inventory, machine.sample)
    elif inventory.problem:
        code, said, hint = "device_lost", f"{names} cannot be reached", inventory.problem
    elif silent:
        code, (said, hint) = "device_not_answering", never_answered(silent)
        said = said if silent[0].key else f"{names} is not among the GPUs that answer. {said}"
    else:
        code, said = "device_not_found", f"{names} is no longer in this machine"
        hint = "The driver does not count it: it was taken out, is switched off, or sits loose."
    return Problem(
        code=code,
        field="devices.visible",
        message=f"{said}.",
        hint=f"Choose other devices. {hint}",
        detail=(inventory.problem or "") if seen else "",
    )
