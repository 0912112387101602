"""A stand-in for ``libnvidia-ml.so.1``: compiled from C, told by a file what to answer.

The real ``pynvml`` loads it: in a child through ``LD_LIBRARY_PATH``, in this process by handing
it the loaded library (see ``tests/nvml/fixtures.py``). Nothing in ``gpupanel`` knows of it.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

SOURCES = Path(__file__).with_name("standin_library")
LIBRARY_NAME = "libnvidia-ml.so.1"
STATE_VARIABLE = "GPUPANEL_TEST_NVML_STATE"

# Numbers of nvml.h, for StandinGpu.fail and StandinState.init.
UNINITIALIZED = 1
INVALID_ARGUMENT = 2
NOT_SUPPORTED = 3
NO_PERMISSION = 4
INSUFFICIENT_POWER = 8
DRIVER_NOT_LOADED = 9
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
LIB_RM_VERSION_MISMATCH = 18
UNKNOWN = 999


def compiler() -> str | None:
    """The C compiler of this machine, or ``None``."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def compile_library(folder: Path, *, age: str | None = None, more: tuple[Path, ...] = ()) -> Path:
    """Compile the stand-in into ``folder``.

    Args:
        folder: Where to put ``libnvidia-ml.so.1``.
        age: ``OLD_DRIVER`` leaves out what came with 510, ``NEW_DRIVER`` what will be taken out.
        more: Sources of functions that it has besides its own.
    """
    found = compiler()
    assert found is not None, "no C compiler"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / LIBRARY_NAME
    subprocess.run(
        [
            *(found, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"),
            *([f"-D{age}"] if age else []),
            *(f"-Wl,-soname,{LIBRARY_NAME}", "-o", str(library)),
            *(*map(str, (*sorted(SOURCES.glob("*.c")), *more)), f"-I{SOURCES}", "-pthread"),
        ],
        check=True,
        timeout=120,
    )
    return library


_HANDLES = "nvmlDeviceGetHandleBy"


def device_functions() -> tuple[str, ...]:
    """Every function of NVML that the stand-in has and that is asked of one GPU."""
    text = "".join(source.read_text(encoding="ascii") for source in SOURCES.glob("*.c"))
    found = set(re.findall(r"\bnvmlDeviceGet\w+", text))
    return tuple(
        sorted(name for name in found if not name.startswith(("nvmlDeviceGetCount", _HANDLES)))
    )


@dataclass(frozen=True)
class StandinGpu:
    """One GPU of the state file, or an instance of one in MIG mode.

    Every field is a line of the file under its own name. A reading that is ``None`` is not
    supported by this GPU. ``compute``, ``graphics`` and ``mps`` are processes as (pid, MiB); MiB
    ``None``: NVML may not tell.

    Attributes:
        architecture: NVML's number of the generation: 8 is Ada Lovelace.
        fan: The speed of each fan, in percent.
        throttle_mask: The bits of NVML's clocks event reasons.
        nvlink: What each NVLink connection leads to: a PCI bus id, or ``switch``.
        nvlink_down: The same for connections that are not up.
        nvlink_fabric: Switches of different fabrics do not reach each other.
        process_use: How much processes used it: (pid, percent, age of the sample in ms).
        near: NVML's topology level by the PCI bus id of the other GPU; 50, system, of the rest.
        cuda_hangs: What CUDA asks it to do never ends; NVML answers.
        multiprocessors: For the stand-in CUDA, which orders cards by them; ``None``: by the name.
        hangs: A function of NVML that does not come back for this GPU as long as it says so.
        compute_mode: NVML's number: 0 any process, 3 one at a time, 2 none.
        garbles: What is copied to it from another GPU is wrong there, which nobody is told.
        fail: Functions of NVML and the error number that each answers with for this GPU.
        mig_place: Of an instance, its number among those of its GPU.
        instances: Of a GPU in MIG mode.
    """

    name: str
    uuid: str
    bus: str
    memory_total_mib: int | None
    capability: str = "8.9"
    architecture: int | None = None
    memory_reserved_mib: int = 400
    memory_used_mib: int = 0
    utilization_percent: int | None = 0
    memory_utilization_percent: int | None = None
    temperature_c: int | None = 35
    temperature_slowdown_c: int | None = None
    temperature_shutdown_c: int | None = None
    power_mw: int | None = 20_000
    power_limit_mw: int | None = 450_000
    power_limit_default_mw: int | None = None
    power_limit_least_mw: int | None = None
    power_limit_most_mw: int | None = None
    energy_mj: int | None = None
    clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    throttle_mask: int | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    pcie_generation_max: int | None = None
    pcie_width_max: int | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    retired_pages_single_bit: int | None = None
    retired_pages_double_bit: int | None = None
    remapped_rows_corrected: int | None = None
    remapped_rows_uncorrected: int | None = None
    mig_mode: int | None = None
    compute_mode: int | None = 0
    mig_place: int | None = None
    nvlink_fabric: int | None = None
    lost: bool = False
    cuda_hangs: bool = False
    multiprocessors: int | None = None
    garbles: bool = False
    slow_ms: int = 0
    hangs: str | None = None
    fan: tuple[int, ...] = ()
    nvlink: tuple[str, ...] = ()
    nvlink_down: tuple[str, ...] = ()
    compute: tuple[tuple[int, int | None], ...] = ()
    graphics: tuple[tuple[int, int | None], ...] = ()
    mps: tuple[tuple[int, int | None], ...] = ()
    process_use: tuple[tuple[int, int, int], ...] = ()
    near: Mapping[str, int] = field(default_factory=dict)
    fail: Mapping[str, int] = field(default_factory=dict)
    instances: "tuple[StandinGpu, ...]" = ()

    def text(self, head: str = "[gpu]") -> str:
        """Its part of the state file, those of its instances behind it."""
        lines = [head]
        for name in (each.name for each in fields(self) if each.name != "instances"):
            lines += (f"{key} = {value}" for key, value in _lines(name, getattr(self, name)))
        instances = (instance.text("[mig]") for instance in self.instances)
        return "\n".join(lines) + "\n" + "".join(instances)


def _lines(name: str, value: object) -> Iterator[tuple[str, object]]:
    """The lines of one field: none, one, or one for each of its members."""
    match value:
        case None:
            return
        case bool():
            yield name, int(value)
        case tuple() if name in ("compute", "graphics", "mps"):
            yield from ((name, f"{pid}" + ("" if mib is None else f":{mib}")) for pid, mib in value)
        case tuple() if name == "process_use":
            yield from ((name, ":".join(map(str, use))) for use in value)
        case tuple():
            yield from ((name, member) for member in value)
        case Mapping():
            yield from ((f"{name}.{key}", member) for key, member in value.items())
        case _:
            yield name, value


@dataclass(frozen=True)
class StandinState:
    """What the stand-in answers; ``init`` is the error of every call, 0 for none."""

    gpus: tuple[StandinGpu, ...]
    driver: str = "570.86.15"
    cuda: int = 12080
    init: int = 0

    def text(self) -> str:
        """The whole state file."""
        head = f"driver = {self.driver}\ncuda = {self.cuda}\ninit = {self.init}\n"
        return head + "".join(gpu.text() for gpu in self.gpus)

    def with_gpu(self, index: int, **changes: object) -> "StandinState":
        """The same with one GPU changed."""
        gpus = list(self.gpus)
        gpus[index] = replace(gpus[index], **changes)  # type: ignore[arg-type]
        return replace(self, gpus=tuple(gpus))


RTX_4090 = StandinGpu(
    name="NVIDIA GeForce RTX 4090",
    architecture=8,
    memory_utilization_percent=12,
    temperature_slowdown_c=88,
    temperature_shutdown_c=91,
    clock_mhz=2_520,
    memory_clock_mhz=10_501,
    throttle_mask=0x4,
    pcie_generation=4,
    pcie_width=16,
    pcie_generation_max=4,
    pcie_width_max=16,
    fan=(30, 34),
    uuid="GPU-11111111-aaaa-4aaa-8aaa-000000004090",
    bus="00000000:01:00.0",
    memory_total_mib=24_564,
    memory_used_mib=1_200,
    utilization_percent=37,
    temperature_c=51,
    power_mw=120_500,
    power_limit_mw=450_000,
    power_limit_default_mw=450_000,
    power_limit_least_mw=10_000,
    power_limit_most_mw=600_000,
)
RTX_3060 = StandinGpu(
    name="NVIDIA GeForce RTX 3060",
    architecture=7,
    memory_utilization_percent=1,
    temperature_slowdown_c=90,
    temperature_shutdown_c=93,
    clock_mhz=210,
    memory_clock_mhz=405,
    throttle_mask=0x1,
    pcie_generation=1,
    pcie_width=8,
    pcie_generation_max=4,
    pcie_width_max=16,
    fan=(0,),
    uuid="GPU-22222222-bbbb-4bbb-8bbb-000000003060",
    bus="00000000:02:00.0",
    capability="8.6",
    memory_total_mib=12_288,
    memory_used_mib=310,
    utilization_percent=4,
    temperature_c=44,
    power_mw=18_250,
    power_limit_mw=170_000,
    power_limit_default_mw=170_000,
    power_limit_least_mw=100_000,
    power_limit_most_mw=187_000,
)
TWO_UNEQUAL_GPUS = StandinState(gpus=(RTX_4090, RTX_3060))
EIGHT_GPUS = StandinState(
    gpus=tuple(
        StandinGpu(
            name="NVIDIA H100 80GB HBM3",
            uuid=f"GPU-{index:08x}-cccc-4ccc-8ccc-0000000a0100",
            bus=f"00000000:{0x10 + index:02X}:00.0",
            capability="9.0",
            memory_total_mib=81_559,
            memory_used_mib=1_000 * index,
            utilization_percent=12 * index,
            temperature_c=40 + index,
            power_mw=90_000 + 10_000 * index,
            power_limit_mw=700_000,
            compute=((1_000_000 + index, 900 * index),),
        )
        for index in range(8)
    )
)


class Standin:
    """A compiled stand-in with its state file, for the length of a test."""

    def __init__(self, library: Path, state_file: Path, state: StandinState) -> None:
        self.library = library
        self.state_file = state_file
        self.state = state
        self.tell(state)

    def tell(self, state: StandinState) -> None:
        """From the next call on it answers this."""
        self.state = state
        # Renamed into place, so that nobody reads half a file, and a new inode tells of a change
        # that the clock of the file system would not.
        beside = self.state_file.with_suffix(".new")
        # A lone surrogate stands for a byte that is no text, as a damaged GPU may answer.
        beside.write_text(state.text(), encoding="utf-8", errors="surrogateescape")
        beside.replace(self.state_file)

    @property
    def environment(self) -> dict[str, str]:
        """What a child needs besides its parent's environment to find these GPUs."""
        there = os.environ.get("LD_LIBRARY_PATH")
        path = str(self.library.parent) + (f":{there}" if there else "")
        return {"LD_LIBRARY_PATH": path, STATE_VARIABLE: str(self.state_file)}
