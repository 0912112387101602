"""All that is known of a run before it starts: what the rules ask, and the launch plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from gpupanel.domain.data_source import LABEL_FIELDS
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.machine import DEFAULT_MACHINE, MachineSettings
from gpupanel.domain.plan import LaunchPlan, PlannedReplica
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import SelfTest
from gpupanel.domain.step_memory import StepMemory, StepVariant
from gpupanel.domain.strategy import GANG_KINDS
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.domain.training import HalfPrecision
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.all_reduce import all_reduce, sums_gradients
from gpupanel.planning.chosen_devices import chosen_devices
from gpupanel.planning.device_layout import logical_devices, planned_devices
from gpupanel.planning.device_room import room_mib
from gpupanel.planning.half_precision import half_precision
from gpupanel.planning.layout import Layout, device_groups, lay_out
from gpupanel.planning.optimizer_quotas import optimizer_quotas
from gpupanel.planning.shares import is_balanced, planned_batch_size, planned_shares
from gpupanel.planning.tensorflow_build import refused_by_build, without_machine_code


@dataclass(frozen=True, slots=True)
class Known:
    """What else is known of a machine and a run before it is planned; ``None``: that is not known.

    Attributes:
        sample: The latest readings of the devices, for what is free now.
        preview: What the preview found in the profile's data and model file.
        support: What TensorFlow answered about the GPUs.
        step: What a training step holds in memory, where the model was built.
        self_test: What is remembered of tests of this machine.
        variants: What a step of the same model holds computed in other ways.
        speeds: Examples a second of devices alone with the same model, by their keys.
        machine: What the person set for this machine.
    """

    sample: TelemetrySample | None = None
    preview: DataPreview | None = None
    support: GpuSupport | None = None
    step: StepMemory | None = None
    self_test: SelfTest | None = None
    variants: tuple[StepVariant, ...] = ()
    speeds: Mapping[str, float] = field(default_factory=dict)
    machine: MachineSettings = DEFAULT_MACHINE


NOTHING_KNOWN = Known()


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """A profile on this machine, and what follows from both; :func:`planning_context` makes it.

    Attributes:
        profile: What the person chose.
        inventory: The devices of this machine.
        known: What else is known of it and of the run.
        devices: Those that the profile means and this machine has, in the profile's order; empty
            where it has none of them.
        gpus: The GPUs and MIG instances among them.
        gpu_groups: Those that share a process: a group for each worker of several processes, else
            one group of all, also of those that ``one_device`` leaves idle. Groups are empty on
            the CPU.
        refused_gpus: The keys of the chosen GPUs that this build of TensorFlow cannot use; empty
            while the build is not known.
        layout: What the strategy makes of the devices; ``None`` without devices.
        logical_device_count: Of all chosen devices, also of those that ``one_device`` leaves idle;
            0 without devices.
        shares: Of each replica of the layout; ``None`` without devices, and while the shares of
            the profile do not fit the replicas.
        working_replicas: Those with a share of the batch; all while the shares do not fit, 0
            without devices.
        plan: What would be launched; ``None`` where there are no shares.
    """

    profile: Profile
    inventory: DeviceInventory
    known: Known
    devices: tuple[PhysicalDevice, ...]
    gpus: tuple[PhysicalDevice, ...]
    gpu_groups: tuple[tuple[PhysicalDevice, ...], ...]
    refused_gpus: frozenset[str]
    layout: Layout | None
    logical_device_count: int
    shares: tuple[int, ...] | None
    working_replicas: int
    plan: LaunchPlan | None

    @property
    def known_data(self) -> DataPreview | None:
        """The preview that read examples of the data and found nothing wrong; else ``None``."""
        return None if self.known.preview is None else self._known(self.known.preview)

    @property
    def known_features(self) -> DataPreview | None:
        """The same, where labels that are missing or wrong do not matter: to predict."""
        preview = self.known.preview
        if preview is None or self.profile.task != "predict":
            return self.known_data
        refused = [each for each in preview.problems if each.field not in LABEL_FIELDS]
        return self._known(preview.model_copy(update={"problems": tuple(refused)}))

    def _known(self, preview: DataPreview) -> DataPreview | None:
        if preview.is_refused or self.profile.data.lacks_path:
            return None
        return preview if preview.feature_shape else None

    @property
    def step(self) -> StepMemory | None:
        """What a step of the profile holds in memory; ``None``: it is not known."""
        training = self.profile.training
        way = training.mixed_precision, training.recomputes
        for variant in self.known.variants:
            if (variant.mixed_precision, variant.recomputes) == way:
                return None if variant.step is None else self._as_measured(variant.step)
        return None if self.known.variants else self.known.step

    def relative_speed(self, key: str) -> float:
        """Of a device, over the fastest of those that were measured; 1: it was not."""
        speeds = self.known.speeds
        return speeds[key] / max(speeds.values()) if key in speeds else 1.0

    def _as_measured(self, step: StepMemory) -> StepMemory:
        """The step; what was measured of another way says of it that it may take as much more."""
        steps = (each.step for each in self.known.variants if each.step is not None)
        of_others = {each.device: each for other in steps for each in other.measured}
        if step.measured or not of_others:
            return step
        measured = (each.model_copy(update={"is_least": True}) for each in of_others.values())
        return step.model_copy(update={"measured": tuple(measured)})

    @property
    def trains(self) -> bool:
        """Whether the task is to train."""
        return self.profile.task == "train"

    @property
    def is_on_nodes(self) -> bool:
        """Whether the devices are those of several machines."""
        return any(device.node is not None for device in self.inventory.devices)

    @property
    def build(self) -> TensorFlowBuild | None:
        """What TensorFlow was built for; ``None`` while it is not known."""
        return None if self.known.support is None else self.known.support.build

    @property
    def sums_gradients(self) -> bool:
        """Whether gradients are summed over replicas in a way that can be chosen."""
        return sums_gradients(self.profile, self.working_replicas)

    @property
    def has_validation_set(self) -> bool:
        """Whether there is a validation set of its own: chosen, or found in the data."""
        found = self.known.preview is not None and self.known.preview.validation_example_count > 0
        return found or self.profile.data.has_validation_set

    @property
    def may_validate(self) -> bool:
        """Whether there are validation examples, as far as is known before the data is read."""
        data, preview = self.profile.data, self.known.preview
        if self.has_validation_set:
            return True
        is_read = preview is not None and preview.example_count > 0
        if data.may_validate_on_test_set and preview is not None and is_read:
            return preview.test_example_count > 0
        return data.may_validate

    def with_profile(self, profile: Profile) -> "PlanningContext":
        """The same machine and answers with another profile."""
        return planning_context(profile, self.inventory, self.known)


def planning_context(
    profile: Profile, inventory: DeviceInventory, known: Known = NOTHING_KNOWN
) -> PlanningContext:
    """Work out once what follows from a profile and a machine; see :class:`PlanningContext`.

    Of several equal GPUs each has a number in its name, for the sentences of rules; the plan has
    their names as they are, which runs of several machines are compared by.
    """
    devices = chosen_devices(profile, inventory, known.sample)
    gpus = tuple(device for device in devices if device.is_gpu)
    in_gang = profile.strategy.kind in GANG_KINDS
    layout = lay_out(profile, devices) if devices else None
    replica_count = 0 if layout is None else len(layout.spots)
    shares = None if layout is None else planned_shares(profile, replica_count)
    working = replica_count if shares is None else sum(share > 0 for share in shares)
    support = known.support
    build = None if support is None else support.build
    plan = None
    if layout is not None and shares is not None:
        slow = () if build is None else without_machine_code(gpus, build)
        compiles_for = frozenset(gpu.key for gpu in slow)
        lacks_nccl = support is not None and support.without_nccl is not None
        half = half_precision(profile.training, gpus)
        room = partial(room_mib, profile, inventory, known.sample)
        replicas = layout.replicas(shares, optimizer_quotas(profile, layout, shares, room))
        plan = _plan(profile, layout, replicas, working, compiles_for, half, lacks_nccl=lacks_nccl)
    inventory = inventory.numbered()
    devices, gpus = _of(inventory, devices), _of(inventory, gpus)
    return PlanningContext(
        profile=profile,
        inventory=inventory,
        known=known,
        devices=devices,
        gpus=gpus,
        gpu_groups=device_groups(profile, gpus) if in_gang else (gpus,),
        refused_gpus=refused_by_build(gpus, build),
        layout=layout,
        logical_device_count=len(logical_devices(planned_devices(profile, devices))),
        shares=shares,
        working_replicas=working,
        plan=plan,
    )


def _of(
    inventory: DeviceInventory, devices: tuple[PhysicalDevice, ...]
) -> tuple[PhysicalDevice, ...]:
    """The same devices as an inventory has them."""
    known = {each.key: each for each in inventory.devices}
    return tuple(known[device.key] for device in devices)


def _plan(
    profile: Profile,
    layout: Layout,
    replicas: tuple[PlannedReplica, ...],
    working_replicas: int,
    compiles_for: frozenset[str],
    half: HalfPrecision,
    *,
    lacks_nccl: bool,
) -> LaunchPlan:
    trains = profile.task == "train"
    way = all_reduce(profile, layout.devices, working_replicas, lacks_nccl=lacks_nccl)
    return LaunchPlan(
        environment=layout.environment,
        devices=layout.devices,
        strategy=profile.strategy.kind,
        all_reduce=way,
        replicas=replicas,
        places=layout.places,
        global_batch_size=planned_batch_size(profile, len(replicas)),
        accumulation_steps=profile.training.accumulation_steps if trains else 1,
        balanced=trains and is_balanced(profile, len(replicas)),
        processes=layout.processes,
        cluster=profile.cluster if layout.processes else None,
        half_precision=half,
        communicates=trains,
        program="" if profile.script is None else visible_line(profile.script.name),
        compiles_for=tuple(each.key for each in layout.devices if each.key in compiles_for),
    )
