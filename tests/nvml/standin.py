"""A stand-in for ``libnvidia-ml.so.1``: compiled from ``standin.c``, told what to answer by a file.

The real ``pynvml`` loads it: in a child through ``LD_LIBRARY_PATH``, in this process by handing
it the loaded library (see ``tests/nvml/fixtures.py``). Nothing in ``gpupanel`` knows of it.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

SOURCE = Path(__file__).with_name("standin.c")
LIBRARY_NAME = "libnvidia-ml.so.1"
STATE_VARIABLE = "GPUPANEL_TEST_NVML_STATE"

# Numbers of nvml.h, for StandinGpu.fail and StandinState.init.
NOT_SUPPORTED = 3
NO_PERMISSION = 4
DRIVER_NOT_LOADED = 9
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
LIB_RM_VERSION_MISMATCH = 18
UNKNOWN = 999


def compiler() -> str | None:
    """The C compiler of this machine, or ``None``."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def compile_library(folder: Path, *, old_driver: bool = False) -> Path:
    """Compile the stand-in into ``folder``; ``old_driver`` leaves out what came with 510."""
    found = compiler()
    assert found is not None, "no C compiler"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / LIBRARY_NAME
    subprocess.run(
        [
            *(found, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"),
            *(["-DOLD_DRIVER"] if old_driver else []),
            *(f"-Wl,-soname,{LIBRARY_NAME}", "-o", str(library), str(SOURCE), "-pthread"),
        ],
        check=True,
        timeout=120,
    )
    return library


@dataclass(frozen=True)
class StandinGpu:
    """One GPU of the state file.

    ``compute``, ``graphics`` and ``mps`` are processes as (pid, MiB); MiB ``None``: NVML may not
    tell. ``fail`` maps a function of NVML to the error number that it answers with for this GPU.
    """

    name: str
    uuid: str
    bus: str
    memory_total_mib: int
    capability: str = "8.9"
    memory_reserved_mib: int = 400
    memory_used_mib: int = 0
    utilization_percent: int = 0
    temperature_c: int = 35
    power_mw: int = 20_000
    power_limit_mw: int = 450_000
    lost: bool = False
    slow_ms: int = 0
    compute: tuple[tuple[int, int | None], ...] = ()
    graphics: tuple[tuple[int, int | None], ...] = ()
    mps: tuple[tuple[int, int | None], ...] = ()
    fail: Mapping[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """Its part of the state file."""
        plain = ("name", "uuid", "bus", "capability", "memory_total_mib", "memory_reserved_mib")
        plain += ("memory_used_mib", "utilization_percent", "temperature_c", "power_mw")
        lines = ["[gpu]", *(f"{key} = {getattr(self, key)}" for key in plain)]
        lines.append(f"power_limit_mw = {self.power_limit_mw}")
        lines += [f"lost = {int(self.lost)}", f"slow_ms = {self.slow_ms}"]
        for kind in ("compute", "graphics", "mps"):
            for pid, mib in getattr(self, kind):
                lines.append(f"{kind} = {pid}" + ("" if mib is None else f":{mib}"))
        lines += [f"fail.{function} = {code}" for function, code in self.fail.items()]
        return "\n".join(lines) + "\n"


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
    uuid="GPU-11111111-aaaa-4aaa-8aaa-000000004090",
    bus="00000000:01:00.0",
    memory_total_mib=24_564,
    memory_used_mib=1_200,
    utilization_percent=37,
    temperature_c=51,
    power_mw=120_500,
    power_limit_mw=450_000,
)
RTX_3060 = StandinGpu(
    name="NVIDIA GeForce RTX 3060",
    uuid="GPU-22222222-bbbb-4bbb-8bbb-000000003060",
    bus="00000000:02:00.0",
    capability="8.6",
    memory_total_mib=12_288,
    memory_used_mib=310,
    utilization_percent=4,
    temperature_c=44,
    power_mw=18_250,
    power_limit_mw=170_000,
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
