"""What is known of devices, data and model, and what would happen with a profile on that."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.ladder import Ladder
from gpupanel.domain.machine import DEFAULT_MACHINE, MachineSettings
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest, summary_request
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import SelfTest
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.planning.context import Known
from gpupanel.planning.ladder.rungs import ladder
from gpupanel.planning.prepare import Preparation, prepare

if TYPE_CHECKING:
    from gpupanel.domain.step_memory import StepMemory, StepVariant

_NOTICED_MIB: Final = 64
"""A change of a device's memory in use that plans anew."""
_NOTICED_PART_OF_HOST: Final = 64
"""Of the machine's own memory, which changes all the time, a part of it."""

Preparer = Callable[[Profile, DeviceInventory, Known], Preparation]


@dataclass
class SessionFacts:
    """What was found out so far; what is about another profile than the one asked for is left out.

    Attributes:
        inventory: The devices of this machine, or of a cluster; ``None``: not known.
        address: Of the cluster whose they are; empty: they are this machine's.
        no_devices: Why there are none.
        of_nodes: What is said of the nodes of the cluster besides its plan.
        of_folder: Why no run can be kept in the folder of runs.
        of_import: What keeps TensorFlow from being imported here.
        sample: What the devices reported last, while no run went on.
        previewed: What was asked of the data, and found.
        built: What was asked of the process that builds a model, and its answer.
        speeds: Of devices alone, as they were measured with some model.
        gpu_support: Which GPUs TensorFlow can use.
        self_test: What is remembered of tests of this machine.
        machine: What the person set for this machine.
        of_machine: Why that cannot be read.
        input_errors: Why what was typed is no value, as a sentence, by the profile key.
    """

    preparer: Preparer = prepare
    inventory: DeviceInventory | None = None
    address: str = ""
    no_devices: tuple[Problem, ...] = ()
    of_nodes: tuple[Problem, ...] = ()
    of_folder: tuple[Problem, ...] = ()
    of_import: tuple[Problem, ...] = ()
    sample: TelemetrySample | None = None
    previewed: tuple[PreviewRequest, DataPreview] | None = None
    built: tuple[SummaryRequest, ModelSummary] | None = None
    speeds: Mapping[str, float] = field(default_factory=dict)
    gpu_support: GpuSupport | None = None
    self_test: SelfTest | None = None
    machine: MachineSettings = DEFAULT_MACHINE
    of_machine: tuple[Problem, ...] = ()
    input_errors: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, profile: Profile) -> Preparation:
        """What would happen with the profile that is edited, with all that is against a start."""
        if self.inventory is None:
            preparation = Preparation(problems=self.no_devices)
        else:
            preparation = self.prepare_other(profile)
            # Of a cluster TensorFlow is imported on its nodes.
            of_devices = self.of_nodes if self.address else self.of_import
            others = (*self.of_folder, *self.of_machine, *of_devices)
            if others:
                # Behind the errors, before the hints.
                problems = sorted((*preparation.problems, *others), key=_gravity)
                preparation = preparation.model_copy(update={"problems": tuple(problems)})
        wrong = tuple(_input_problem(*each) for each in self.input_errors.items())
        if not wrong:
            return preparation
        return preparation.model_copy(update={"problems": (*wrong, *preparation.problems)})

    def prepare_other(self, profile: Profile) -> Preparation:
        """What would happen with another profile on these devices; nothing where they are unknown.

        Of a profile of other machines nothing is known but that.
        """
        if self.inventory is None:
            return Preparation(problems=self.no_devices)
        if self.address and cluster_address(profile) != self.address:
            return Preparation(problems=(_other_machines(profile),))
        return self.preparer(profile, self.inventory, self._known(profile))

    def ladder(self, profile: Profile) -> Callable[[], Ladder] | None:
        """Finds the ways in which the profile's training fits; ``None``: its model is not known.

        It takes a tenth of a second, and may be called in any thread.
        """
        known = self._known(profile)
        if self.inventory is None or not known.variants:
            return None
        return partial(ladder, profile, self.inventory, known)

    def _known(self, profile: Profile) -> Known:
        step: StepMemory | None = None
        variants: tuple[StepVariant, ...] = ()
        if self.built is not None:
            asked, found = self.built
            request = summary_request(profile)
            if asked.model_copy(update={"with_variants": False}) == request:
                step = found.step
            if asked.in_every_way == request.in_every_way:
                variants = found.variants
        return Known(
            sample=self.sample,
            preview=self.preview_of(profile),
            # Of other machines nobody asked TensorFlow.
            support=None if self.address else self.gpu_support,
            step=step,
            self_test=self.self_test,
            variants=variants,
            speeds=self.speeds,
            machine=self.machine,
        )

    def preview_of(self, profile: Profile) -> DataPreview | None:
        """What is known of the data and the model's file that a profile names."""
        if self.previewed is None:
            return None
        looked_at, preview = self.previewed
        wanted = preview_request(profile)
        if (wanted.data, wanted.task) != (looked_at.data, looked_at.task):
            return None
        if (wanted.model, wanted.inference) == (looked_at.model, looked_at.inference):
            return preview
        of_model = ("model_problems", "model_scales", "model_divides_pixels", "model_expects")
        unknown = {key: DataPreview.model_fields[key].default for key in of_model}
        return preview.model_copy(update=unknown)


def cluster_address(profile: Profile) -> str:
    """Of the cluster that a profile trains on; empty: it trains on this machine."""
    return "" if profile.cluster is None else profile.cluster.address


def is_used_alike(before: TelemetrySample | None, now: TelemetrySample) -> bool:
    """Whether a plan would find the devices as before: who answers, who uses them, what is free.

    A little more or less memory in use plans nothing anew: on a desktop that would be each second.
    """
    if before is None or len(before.readings) != len(now.readings):
        return False
    return all(map(_is_alike, before.readings, now.readings))


def _is_alike(before: DeviceReading, now: DeviceReading) -> bool:
    if (before.key, before.state, before.claims) != (now.key, now.state, now.claims):
        return False
    if [each.pid for each in before.processes] != [each.pid for each in now.processes]:
        return False
    if before.memory_used_mib is None or now.memory_used_mib is None:
        return before.memory_used_mib is now.memory_used_mib
    noticed = _NOTICED_MIB
    if now.key == CPU_KEY:
        noticed = max(noticed, (now.memory_total_mib or 0) // _NOTICED_PART_OF_HOST)
    return abs(now.memory_used_mib - before.memory_used_mib) < noticed


def _gravity(problem: Problem) -> int:
    return list(Severity).index(problem.severity)


def _other_machines(profile: Profile) -> Problem:
    where = f"the cluster at {profile.cluster.address}" if profile.cluster else "this machine"
    return Problem(
        code="cluster_not_asked",
        field="cluster",
        message=f"That trains on {where}, and the session has the devices of another cluster.",
        hint="Choose the same machines in the session first: Cluster in the Session tab.",
    )


def _input_problem(field: str, error: str) -> Problem:
    return Problem(
        code="input_invalid",
        field=field,
        message=error,
        hint="Correct it, or press Escape in it to go back to the last value.",
    )
