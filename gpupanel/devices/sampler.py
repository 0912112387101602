"""Reads all devices together, again and again."""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from gpupanel.devices.gpus.facts import KnownGpu
from gpupanel.devices.gpus.introductions import SILENT_S
from gpupanel.devices.gpus.processes import ProcessNames
from gpupanel.devices.gpus.reader import GpuReader
from gpupanel.devices.gpus.registry import GpuRegistry
from gpupanel.devices.host import Host, disk_reading
from gpupanel.devices.nvml import GpuLostError
from gpupanel.devices.slow_calls import SlowCall, SlowCallThreads
from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.gpu_claim import GpuClaim
from gpupanel.domain.gpu_failure import NO_ANSWER
from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.telemetry import DeviceReading, DeviceState, DiskReading, TelemetrySample
from gpupanel.files.gpu_claims import claims_of_others

PATIENT_S: Final = 10.0
"""How long to wait for slow drivers where one asks only once; one that must load takes seconds."""

_CLOSE_WAIT_S: Final = 0.5
IDLE_S: Final = 10.0
"""GPUs that nobody used for so long, and that may fall asleep then, are left alone for a while."""
_REOPENING_S: Final = 1.5
"""A GPU that is out of the list for longer while the driver is opened anew counts as lost."""
_REFRESH: Final = "refresh"
_DISK: Final = "disk"
_CLAIMS: Final = "claims"
_NETWORK: Final = "network"
_NO_ANSWER: Final = (
    "The NVIDIA driver has not answered yet. If it never does, restart the machine and examine "
    "the kernel's log."
)


Claims = Mapping[str, tuple[GpuClaim, ...]]
"""Of the runs of other users, by the keys of the GPUs that they hold."""


class DeviceSampler:
    """The devices of this machine and what they report: GPUs in PCI bus order, then the CPU.

    Never raises for a sick device: a GPU that stopped answering has the state ``LOST``, a reading
    that cannot be had is ``None``. Works without a driver, and notices one that comes.

    The driver is asked in a thread of the sampler's own. A GPU, a driver or a disk that answers
    slowly or never holds up neither the others nor, after the first refresh, the caller for long:
    its last reading is repeated with its age. Call always from the same thread.
    """

    def __init__(
        self,
        registry: GpuRegistry | None = None,
        clock: Callable[[], float] = time.time,
        folder: Path | None = None,
        *,
        threads: SlowCallThreads | None = None,
        wait_s: float = 0.0,
        ask_network: Callable[[], NetworkAccess] | None = None,
        keys: frozenset[str] | None = None,
        wakes: bool = False,
        seconds: Callable[[], float] = time.monotonic,
        cuda_variables: CudaVariables | None = None,
        shell_variables: tuple[str, ...] = (),
        environment_problems: tuple[Problem, ...] = (),
        find_claims: Callable[[], Claims] | None = claims_of_others,
    ) -> None:
        """Cheap, a millisecond: the driver is first asked by :meth:`inventory` or :meth:`sample`.

        Args:
            registry: The GPUs.
            clock: Seconds since the epoch (UTC).
            folder: Of which a sample says how full its disk is.
            threads: The threads in which the driver is asked; closed with the sampler.
            wait_s: How long a sample waits for what is slow; :data:`PATIENT_S` where one asks
                only once.
            ask_network: Asked once, for the inventory, who could reach the ports of a run.
            keys: The devices that are read; all others are listed only. Where no GPU is among
                them the driver is asked once which there are, and let go. ``None``: all are read.
            wakes: Ask sleeping GPUs, too, which wakes them: for who is about to use them.
            seconds: A clock that only grows, for ages and pauses.
            cuda_variables: What the inventory says that the shell leaves of the GPUs.
            shell_variables: Which others of the shell change a run, as the inventory says.
            environment_problems: What of elsewhere stands before what is installed, as it says.
            find_claims: Asked with each sample which GPUs the runs of other users hold; ``None``:
                nobody wants to know.
        """
        self._threads = threads or SlowCallThreads()
        self._registry = registry or GpuRegistry(
            make_calls=self._threads.make_calls, wakes=wakes, keys=keys
        )
        self._keys = keys
        self._seconds = seconds
        self._idle_since_s: float | None = None
        self._is_listed = False
        self._clock = clock
        self._folder = folder
        self._wait_s = wait_s
        self._ask_network = ask_network
        self._network: NetworkAccess | None = None
        self._cuda_variables = cuda_variables
        self._shell_variables = shell_variables
        self._environment_problems = environment_problems
        self._find_claims = find_claims
        self._claims: Claims = {}
        self._host = Host()
        self._names = ProcessNames()
        self._readers: dict[str, GpuReader] = {}
        self._listed_s: dict[str, float] = {}
        self._lost: frozenset[str] = frozenset()
        self._asleep: frozenset[str] = frozenset()
        self._inventory: DeviceInventory | None = None
        self._disk: DiskReading | None = None
        self._is_first_refresh = True
        self._is_patient = True
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the driver go and end the threads that ask it, which takes 1.5 s at most.

        A thread whose call has not come back until then is left behind: it asks nothing more,
        and NVML is let go when its call comes back.
        """
        self._is_closed = True
        self._registry.close()
        self._threads.close(_CLOSE_WAIT_S)

    def wake(self) -> None:
        """Ask sleeping GPUs, too, the next time; may be called in any thread."""
        self._registry.wake()

    def stop_waiting(self) -> None:
        """Wait for nothing slow any more; may be called in any thread, before :meth:`close`."""
        self._is_patient = False
        self._threads.wake()

    def inventory(self) -> DeviceInventory:
        """Every device seen since the start, with what does not change about it.

        The first time it waits up to :data:`PATIENT_S` for GPUs that answer slowly; later ones
        are in the list as soon as they have answered. The same object until something changed.
        """
        self._refresh()
        self._ask_for_network()
        if self._is_listed and self._inventory is not None:
            return self._inventory
        inventory = DeviceInventory(
            driver=self._registry.driver,
            devices=(*(gpu.device for gpu in self._registry.gpus), self._host.device),
            links=self._registry.links,
            problem=self._problem(),
            unresponsive=self._registry.unresponsive,
            network=self._network,
            cuda_variables=self._cuda_variables,
            shell_variables=self._shell_variables,
            environment_problems=self._environment_problems,
        )
        if inventory != self._inventory:
            self._inventory = inventory
        return self._inventory

    def sample(self) -> TelemetrySample:
        """What every device reports now."""
        self._refresh()
        since_s = self._seconds()
        calls = self._reading_calls()
        self._threads.make_calls(calls)
        if self._wait_s:
            is_done = partial(self._are_done, [call.key for call in calls])
            self._wait_until(is_done, self._wait_s)
        self._take_failures()
        # Asked before the list is taken: when it ends in between, the list has all of them.
        is_reopening = self._threads.is_busy(_REFRESH) or self._registry.is_introducing
        gpus = tuple(
            self._with_claims(self._reading(gpu, since_s, is_reopening=is_reopening))
            for gpu in self._registry.gpus
            if self._is_read(gpu)
        )
        self._rest_where_idle(gpus)
        self._lost = frozenset(gpu.key for gpu in gpus if gpu.state is DeviceState.LOST)
        self._names.forget_all_but(process.pid for gpu in gpus for process in gpu.processes)
        return TelemetrySample(
            time_s=self._clock(), readings=(*gpus, self._host.read()), disk=self._disk
        )

    def _refresh(self) -> None:
        if self._is_listed or not self._registry.is_refresh_due:
            return
        self._threads.make_calls([SlowCall(_REFRESH, self._refresh_registry)])
        if self._is_first_refresh:
            self._is_first_refresh = False
            self._wait_until(self._has_refreshed, PATIENT_S)
            if self._keys is not None and not self._keys - {CPU_KEY}:
                self.inventory()
                self._is_listed = True
                self._registry.close()

    def _ask_for_network(self) -> None:
        """Once; a directory of users that is slow to answer is in a later inventory."""
        if self._ask_network is None:
            return
        ask, self._ask_network = self._ask_network, None
        self._threads.make_calls([SlowCall(_NETWORK, partial(self._take_network, ask))])
        if self._wait_s:
            self._wait_until(lambda: not self._threads.is_busy(_NETWORK), self._wait_s)

    def _take_network(self, ask: Callable[[], NetworkAccess]) -> None:
        self._network = ask()

    def _wait_until(self, holds: Callable[[], bool], timeout_s: float) -> None:
        self._threads.wait_until(lambda: not self._is_patient or holds(), timeout_s)

    def _has_refreshed(self) -> bool:
        return not self._threads.is_busy(_REFRESH) and not self._registry.is_introducing

    def _refresh_registry(self) -> None:
        self._registry.refresh()
        if self._is_closed or self._is_listed:
            # It was opened while nobody waited any more.
            self._registry.close()

    def _problem(self) -> str | None:
        problem = self._registry.problem
        if problem is not None:
            return problem_sentences(problem)
        is_waiting = self._registry.driver is None and self._threads.is_busy(_REFRESH)
        return _NO_ANSWER if is_waiting and not self._registry.gpus else None

    def _reading_calls(self) -> list[SlowCall]:
        read = [gpu for gpu in self._registry.gpus if self._is_read(gpu)]
        self._asleep = frozenset(gpu.device.key for gpu in read if self._registry.is_asleep(gpu))
        gpus = {
            gpu.device.key: None if gpu.device.key in self._asleep else gpu.nvml for gpu in read
        }
        # The instances of a GPU in MIG mode come and go for good.
        self._readers = {key: each for key, each in self._readers.items() if key in gpus}
        calls = []
        for key, nvml in gpus.items():
            if nvml is None:
                continue
            self._listed_s[key] = self._seconds()
            reader = self._readers.get(key)
            if reader is None or reader.nvml is not nvml:
                reader = self._readers[key] = GpuReader(
                    key, nvml, self._names, self._seconds, before=reader
                )
            calls.append(SlowCall(nvml, reader.read))
        if self._folder is not None:
            calls.append(SlowCall(_DISK, partial(self._read_disk, self._folder)))
        if gpus and self._find_claims is not None:
            calls.append(SlowCall(_CLAIMS, partial(self._read_claims, self._find_claims)))
        return calls

    def _is_read(self, gpu: KnownGpu) -> bool:
        """Whether it is to be read: it is one of those meant, or has an instance that is."""
        if self._keys is None:
            return True
        return not self._is_listed and (
            gpu.device.key in self._keys
            or any(
                each.device.key in self._keys
                for each in self._registry.gpus
                if each.device.parent_key == gpu.device.key
            )
        )

    def _rest_where_idle(self, gpus: Sequence[DeviceReading]) -> None:
        """Leave GPUs alone that nobody uses and that may fall asleep: being asked keeps them up."""
        now_s = self._seconds()
        is_idle = bool(gpus) and all(
            gpu.state is DeviceState.OK and gpu.gpu_utilization_percent == 0.0 for gpu in gpus
        )
        if not is_idle or not self._registry.may_all_sleep:
            self._idle_since_s = None
        elif self._idle_since_s is None:
            self._idle_since_s = now_s
        elif now_s - self._idle_since_s >= IDLE_S:
            self._idle_since_s = None
            self._registry.rest()

    def _are_done(self, keys: Sequence[Hashable]) -> bool:
        return not any(self._threads.is_busy(key) for key in keys)

    def _read_disk(self, folder: Path) -> None:
        self._disk = disk_reading(folder)

    def _read_claims(self, find: Callable[[], Claims]) -> None:
        self._claims = find()

    def _with_claims(self, reading: DeviceReading) -> DeviceReading:
        claims = self._claims.get(reading.key)
        return reading if claims is None else reading.model_copy(update={"claims": claims})

    def _take_failures(self) -> None:
        for gpu in self._registry.gpus:
            reader = self._readers.get(gpu.device.key)
            if reader is None or reader.nvml is not gpu.nvml or reader.failure is None:
                continue
            if isinstance(reader.failure, GpuLostError):
                self._registry.lose(gpu, reader.failure.failure)
            else:
                # Not in this thread: it waits for calls that are under way. A refresh that goes on
                # just now finds it out itself.
                gone = partial(self._registry.driver_gone, reader.failure, gpu)
                self._threads.make_calls([SlowCall(_REFRESH, gone)])

    def _reading(self, gpu: KnownGpu, since_s: float, *, is_reopening: bool) -> DeviceReading:
        device, reader = gpu.device, self._readers.get(gpu.device.key)
        total = device.memory_total_mib
        if self._registry.driver is not None and device.key in self._asleep:
            return DeviceReading(key=device.key, state=DeviceState.ASLEEP, memory_total_mib=total)
        if self._registry.is_resting:
            last = DeviceReading(key=device.key) if reader is None else reader.reading(since_s)
            return last.model_copy(update={"state": DeviceState.RESTING})
        if gpu.nvml is None and not (is_reopening and self._is_awaited(device.key)):
            return DeviceReading(
                key=device.key,
                state=DeviceState.LOST,
                failure=gpu.failure,
                memory_total_mib=device.memory_total_mib,
            )
        if reader is None:
            # Listed this very moment.
            return DeviceReading(key=device.key, memory_total_mib=device.memory_total_mib)
        reading = reader.reading(since_s)
        if reader.nvml.waits_s < SILENT_S:
            return reading
        return reading.model_copy(update={"state": DeviceState.NO_ANSWER, "failure": NO_ANSWER})

    def _is_awaited(self, key: str) -> bool:
        """Whether a GPU that is out of the list while the driver is opened anew comes back."""
        reader = self._readers.get(key)
        if reader is None or reader.is_lost or key in self._lost:
            return False
        return self._seconds() - self._listed_s[key] < _REOPENING_S
