"""What the doctor found, as people and scripts read it."""

from collections.abc import Iterable, Sequence

from gpupanel.devices.doctor.environment import HostEnvironment
from gpupanel.devices.doctor.visibility import GpuVisibility, Kernels, Unseen
from gpupanel.domain.device import PhysicalDevice, UnresponsiveGpu
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowFacts
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line

_WHY_NOT = {
    Unseen.PARTITIONED: "in MIG mode: its instances are used",
    Unseen.HIDDEN: "hidden by CUDA_VISIBLE_DEVICES",
    Unseen.TOO_FEW_MULTIPROCESSORS: "it has too few multiprocessors",
    Unseen.TOO_OLD: "it is too old",
    Unseen.REFUSED: "TensorFlow ignores it",
    Unseen.ANOTHER_INSTANCE: "CUDA shows a process one MIG instance",
    Unseen.UNKNOWN: "see the problems",
}
_KERNELS = {
    Kernels.MACHINE_CODE: "in the build",
    Kernels.COMPILED_AT_START: "compiled at the first start",
    Kernels.NONE: "none in the build",
}


def worst_first(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The problems by how bad they are."""
    severities = tuple(Severity)
    return tuple(sorted(problems, key=lambda problem: severities.index(problem.severity)))


class PackageVersion(Value):
    """A package of this Python; its version is ``None`` when it is not installed."""

    name: str
    version: str | None = None


class Fact(Value):
    """One line of what was found.

    Attributes:
        is_well: ``None`` where that is not the question.
    """

    name: str
    value: str
    is_well: bool | None = None


class FactGroup(Value):
    """Facts that belong together."""

    title: str
    facts: tuple[Fact, ...]


class ExaminedFolder(Value):
    """A folder that gpupanel works in.

    Attributes:
        path: Where it is, or will be made; empty where nobody knows.
        problem: Why nothing can be kept there.
    """

    name: str
    path: str
    problem: Problem | None = None


class DoctorReport(Value):
    """What was found.

    Attributes:
        driver: Version of the NVIDIA driver; ``None`` where none answers.
        driver_cuda_version: The newest CUDA that the driver can run ("12.8").
        gpus: As NVML lists them.
        unresponsive: Those that NVML counts and that do not answer.
        sights: How TensorFlow stands to each of them.
        tensorflow: ``None`` when the process that probes TensorFlow did not get to answer.
        folders: Those that gpupanel works in.
        problems: What is wrong and what mends it, and hints; the worst first.
        command: The one command that does all that commands can mend; empty when none can.
    """

    python_version: str
    python_path: str
    system: str
    packages: tuple[PackageVersion, ...]
    surroundings: HostEnvironment = HostEnvironment()
    driver: str | None = None
    driver_cuda_version: str | None = None
    gpus: tuple[PhysicalDevice, ...] = ()
    unresponsive: tuple[UnresponsiveGpu, ...] = ()
    sights: tuple[GpuVisibility, ...] = ()
    tensorflow: TensorFlowFacts | None = None
    folders: tuple[ExaminedFolder, ...] = ()
    problems: tuple[Problem, ...] = ()
    command: str = ""

    @property
    def is_well(self) -> bool:
        """Whether every device that is there can train; a hint is no illness."""
        return all(problem.severity is Severity.HINT for problem in self.problems)

    def with_folders(self, folders: tuple[ExaminedFolder, ...]) -> "DoctorReport":
        """The same with folders, and what is wrong with them."""
        found = (folder.problem for folder in folders if folder.problem is not None)
        return self.with_problems(found).model_copy(update={"folders": folders})

    def with_problems(self, found: Iterable[Problem]) -> "DoctorReport":
        """The same with further problems, each once: one cause may spoil several things."""
        distinct = {(each.code, each.message): each for each in (*self.problems, *found)}
        return self.model_copy(update={"problems": worst_first(list(distinct.values()))})

    def groups(self) -> tuple[FactGroup, ...]:
        """What was found as lines for people, what matters most first."""
        groups = [FactGroup(title="Driver and system", facts=self._driver_facts())]
        sights = {visibility.key: visibility for visibility in self.sights}
        groups += [_gpu_group(gpu, sights.get(gpu.key)) for gpu in self.gpus]
        groups += [_unresponsive_group(gpu) for gpu in self.unresponsive]
        facts = self.tensorflow
        if facts is not None and facts.version is not None:
            groups.append(FactGroup(title="TensorFlow", facts=_tensorflow_facts(facts)))
            if facts.libraries:
                groups.append(
                    FactGroup(title="Libraries that TensorFlow loads", facts=self._libraries(facts))
                )
        if self.folders:
            facts_of = tuple(_folder_fact(folder) for folder in self.folders)
            groups.append(FactGroup(title="Folders", facts=facts_of))
        groups.append(FactGroup(title="Python and packages", facts=self._python_facts()))
        return tuple(groups)

    def _driver_facts(self) -> tuple[Fact, ...]:
        facts = [Fact(name="NVIDIA driver", value=self.driver or "none")]
        if self.driver_cuda_version is not None:
            facts.append(Fact(name="Newest CUDA it runs", value=self.driver_cuda_version))
        nodes = [node.path.removeprefix("/dev/") for node in self.surroundings.nodes]
        if nodes:
            facts.append(Fact(name="Device nodes", value=", ".join(nodes)))
        if not self.gpus and self.surroundings.gpus_on_the_bus:
            places = ", ".join(self.surroundings.gpus_on_the_bus)
            facts.append(Fact(name="GPUs on the PCI bus", value=places))
        facts.append(Fact(name="System", value=f"{self.system}{self._inside()}"))
        return tuple(facts)

    def _libraries(self, facts: TensorFlowFacts) -> tuple[Fact, ...]:
        # Without a GPU none of them is missed.
        return tuple(
            _library_fact(library, is_wanted=bool(self.gpus)) for library in facts.libraries
        )

    def _inside(self) -> str:
        if self.surroundings.is_wsl:
            return ", in WSL"
        container = self.surroundings.container
        return "" if container is None else f", in a {container} container"

    def _python_facts(self) -> tuple[Fact, ...]:
        python = Fact(name="Python", value=f"{self.python_version} ({self.python_path})")
        packages = (
            Fact(name=package.name, value=package.version or "not installed")
            for package in self.packages
        )
        return (python, *packages)


def _gpu_group(gpu: PhysicalDevice, visibility: GpuVisibility | None) -> FactGroup:
    facts = []
    if visibility is not None and visibility.is_seen is not None:
        why = "" if visibility.why_not is None else f"no: {_WHY_NOT[visibility.why_not]}"
        # A GPU in MIG mode is not meant to be seen: its instances are.
        is_well = None if gpu.is_partitioned else visibility.is_seen
        facts.append(Fact(name="Seen by TensorFlow", value=why or "yes", is_well=is_well))
    if gpu.compute_capability is not None:
        major, minor = gpu.compute_capability
        facts.append(Fact(name="Compute capability", value=f"{major}.{minor}"))
    if visibility is not None and visibility.kernels is not None:
        facts.append(
            Fact(
                name="TensorFlow's kernels for it",
                value=_KERNELS[visibility.kernels],
                is_well=visibility.kernels is not Kernels.NONE,
            )
        )
    if visibility is not None and visibility.multiprocessor_count is not None:
        facts.append(Fact(name="Multiprocessors", value=str(visibility.multiprocessor_count)))
    if gpu.pci_bus_id is not None:
        facts.append(Fact(name="PCI bus id", value=gpu.pci_bus_id))
    facts.append(Fact(name="UUID", value=gpu.key))
    return FactGroup(title=gpu.name, facts=tuple(facts))


def _unresponsive_group(gpu: UnresponsiveGpu) -> FactGroup:
    facts = [Fact(name="Answers", value=f"no: {gpu.failure.words}", is_well=False)]
    if gpu.index is not None:
        facts.append(Fact(name="Number", value=str(gpu.index)))
    if gpu.pci_bus_id is not None:
        facts.append(Fact(name="PCI bus id", value=gpu.pci_bus_id))
    if gpu.key is not None:
        facts.append(Fact(name="UUID", value=gpu.key))
    return FactGroup(title=gpu.title, facts=tuple(facts))


def _folder_fact(folder: ExaminedFolder) -> Fact:
    path = visible_line(folder.path) or "not known"
    return Fact(name=folder.name, value=path, is_well=folder.problem is None)


def _tensorflow_facts(facts: TensorFlowFacts) -> tuple[Fact, ...]:
    version = Fact(name="Version", value=facts.version or "")
    if not facts.is_cuda_build:
        return (version, Fact(name="Built for", value="the CPU alone, without CUDA"))
    built = f"CUDA {facts.cuda_version or '?'}, cuDNN {facts.cudnn_version or '?'}"
    seen = ", ".join(gpu.name for gpu in facts.gpus) or "none"
    return (
        version,
        Fact(name="Built for", value=built),
        Fact(name="Compute capabilities", value=", ".join(facts.compute_capabilities) or "?"),
        Fact(name="GPUs that it sees", value=seen),
    )


def _library_fact(library: SharedLibrary, *, is_wanted: bool) -> Fact:
    source = library.package or "the NVIDIA driver"
    return Fact(
        name=library.soname,
        value=library.path or f"not found (comes with {source})",
        is_well=library.was_found if is_wanted else None,
    )
