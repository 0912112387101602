"""Which GPUs are there, which were there and are lost, and when to ask the driver again."""

import logging
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from gpupanel.devices.gpus.driver_problem import driver_problem
from gpupanel.devices.gpus.facts import (
    KnownGpu,
    gpu_facts,
    gpu_links,
    instance_facts,
    mig_instances,
    sleeping_facts,
)
from gpupanel.devices.gpus.introductions import Introductions
from gpupanel.devices.gpus.known_gpus import KnownGpus
from gpupanel.devices.gpus.power_states import GpuSleep
from gpupanel.devices.gpus.unresponsive_gpus import named_by_kernel, unresponsive_gpu, without_known
from gpupanel.devices.nvml import DriverGoneError, GpuLostError, NvmlGpu, NvmlLibrary
from gpupanel.devices.slow_calls import SlowCall, one_after_the_other
from gpupanel.domain.device import DeviceLink, PhysicalDevice, UnresponsiveGpu
from gpupanel.domain.gpu_failure import ASLEEP, GpuFailure
from gpupanel.domain.problem import Problem

_LOG = logging.getLogger(__name__)

REFRESH_INTERVAL_S: Final = 0.4
"""How often to see whether GPUs, MIG instances or the driver came or went: at each sample of two
a second, so that it is shown within two seconds whatever the driver needs to be opened anew."""


class GpuRegistry:
    """Every GPU seen so far, in PCI bus order, and the driver's life with them.

    A GPU once seen stays: lost is a state, not an absence. The MIG instances of a GPU stand right
    behind it, for as long as it has them. Nothing here raises for a sick device or driver. One
    thread refreshes, any may read. What a slow call finds is taken only while the opening of the
    driver lasts in which it began.
    """

    def __init__(
        self,
        library: NvmlLibrary | None = None,
        clock: Callable[[], float] = time.monotonic,
        kernel_gpus: Path | None = None,
        make_calls: Callable[[Sequence[SlowCall]], None] = one_after_the_other,
        *,
        pci_devices: Path | None = None,
        wakes: bool = False,
        keys: frozenset[str] | None = None,
    ) -> None:
        """The driver is first asked by :meth:`refresh`.

        Args:
            library: The driver's management library.
            clock: Seconds that only grow.
            kernel_gpus: The kernel module's folder with an entry for each GPU.
            make_calls: Makes calls, each of which one GPU may hold up; may leave one behind.
            pci_devices: The kernel's folder with an entry for each device of the PCI bus.
            wakes: Ask sleeping GPUs, too, which wakes them.
            keys: The devices whose MIG mode matters; ``None``: all.
        """
        self._library = library or NvmlLibrary()
        self._clock = clock
        self._sleep = GpuSleep(kernel_gpus, pci_devices, clock, wakes=wakes)
        self._keys = keys
        self._make_calls = make_calls
        self._known = KnownGpus()
        self._lock = self._known.lock
        self._links: dict[frozenset[str], DeviceLink] = {}
        self._linked: set[NvmlGpu] = set()
        self._opening = 0
        self._is_open = False
        self._introductions = Introductions(clock)
        self._listing: tuple[int, tuple[str, ...]] | None = None
        self._refreshed_s: float | None = None
        self._failure: DriverGoneError | None = None
        self._driver: str | None = None

    @property
    def driver(self) -> str | None:
        """The driver's version, ``None`` while no driver answers."""
        return self._driver

    @property
    def problem(self) -> Problem | None:
        """Why no GPU can be read although a driver is expected; ``None`` when all is well."""
        failure = self._failure
        return None if failure is None else driver_problem(failure)

    @property
    def cuda_version(self) -> tuple[int, int] | None:
        """The newest CUDA version that the driver can run."""
        return self._library.cuda_version() if self._is_open else None

    @property
    def gpus(self) -> tuple[KnownGpu, ...]:
        """Every GPU seen since the start, in PCI bus order, instances behind their GPU."""
        return self._known.all()

    @property
    def links(self) -> tuple[DeviceLink, ...]:
        """How the GPUs are connected, for each pair of which it is known."""
        with self._lock:
            places = {gpu.device.key: place for place, gpu in enumerate(self.gpus)}
            links = self._links.values()
            return tuple(sorted(links, key=lambda link: [places[key] for key in link.keys]))

    @property
    def unresponsive(self) -> tuple[UnresponsiveGpu, ...]:
        """GPUs that the driver counts and that have not answered since they were first listed."""
        with self._lock:
            if not self._is_open:
                return ()
            found = self._introductions.unresponsive
            known = self._known.all()
        answering = tuple(gpu.device.pci_bus_id for gpu in known if gpu.nvml is not None)
        # Those that were seen before are known, and do not say either who they are.
        lost = [
            gpu.device.pci_bus_id
            for gpu in known
            if gpu.nvml is None and not gpu.device.is_mig_instance and not self.is_asleep(gpu)
        ]
        return without_known(named_by_kernel(found, self._sleep.kernel_gpus, answering), lost)

    @property
    def is_refresh_due(self) -> bool:
        """Whether :data:`REFRESH_INTERVAL_S` has passed since the last refresh."""
        begun_s = self._refreshed_s
        return begun_s is None or self._clock() - begun_s >= REFRESH_INTERVAL_S

    @property
    def is_introducing(self) -> bool:
        """Whether GPUs that answer slowly are still being asked who they are."""
        with self._lock:
            return self._introductions.are_going_on

    @property
    def is_resting(self) -> bool:
        """Whether the driver is let go for a while so that the GPUs can fall asleep."""
        return self._sleep.is_resting

    @property
    def may_all_sleep(self) -> bool:
        """Whether the kernel suspends every GPU when nobody uses it: so on laptops."""
        return self._sleep.may_all_sleep(self._known.bus_ids())

    def is_asleep(self, gpu: KnownGpu) -> bool:
        """Whether a GPU sleeps, and is not to be asked."""
        return self._sleep.is_left(gpu.device.pci_bus_id)

    def rest(self) -> None:
        """Let the driver go for some time, and for as long as the GPUs then sleep.

        While NVML is open on a GPU the kernel does not suspend it.
        """
        driver = self._driver
        self.close()
        self._driver = driver
        self._sleep.rest()

    def wake(self) -> None:
        """Ask sleeping GPUs, too, the next time: who they are is known then."""
        self._sleep.wake()

    def refresh(self) -> None:
        """See what came and went, if it is due.

        A driver that was absent is tried again; one whose list of GPUs changed, or of whose GPUs
        none answers any more, is initialised anew, since NVML lists GPUs when it initialises.
        """
        if not self.is_refresh_due:
            return
        try:
            self._refresh()
        except DriverGoneError as gone:
            self.driver_gone(gone)
        finally:
            # From the end: a driver that takes long to answer is not asked without a pause.
            self._refreshed_s = self._clock()

    def lose(self, gpu: KnownGpu, failure: GpuFailure) -> None:
        """Note that a GPU does not answer; it comes back with the next listing that has it."""
        self._known.lose(gpu, failure)

    def driver_gone(self, gone: DriverGoneError, asked: KnownGpu | None = None) -> None:
        """Note that the driver does not answer; the next refresh tries to open it again.

        Args:
            gone: What NVML said.
            asked: The GPU that was asked. Where it was lost or listed anew meanwhile, the
                answer is about a driver that was let go, and means nothing.
        """
        if asked is not None and not self._known.is_current(asked):
            return
        if self._failure is None or self._failure.failure is not gone.failure:
            _LOG.debug("The NVIDIA driver does not answer: %s", gone.detail)
        self.close()
        self._failure = gone

    def close(self) -> None:
        """Let the driver go; GPUs seen so far are lost until it is opened again."""
        with self._lock:
            was_open, self._is_open = self._is_open, False
            self._opening += 1
            self._introductions.forget()
            self._driver = None
            self._known.lose_all()
        if was_open:
            self._library.close()

    def _refresh(self) -> None:
        if self._sleep.goes_on_resting(self._known.bus_ids()):
            return
        is_silent = not self._known.whole_answering() and not self.is_introducing
        nobody_answers = is_silent and any(not self.is_asleep(gpu) for gpu in self.gpus)
        if self._is_open and (nobody_answers or self._list_now() != self._listing):
            self.close()
        if not self._is_open:
            self._open()
        elif self._listing is not None and len(self._known.whole_answering()) < self._listing[0]:
            self._introduce_all()
        # MIG instances come and go without a new listing.
        self._ask_slowly(
            (("instances", gpu.device.key), partial(self._see_instances, gpu))
            for gpu in self.gpus
            if gpu.nvml is not None and gpu.nvml.can_be_partitioned and self._may_be_split(gpu)
        )
        gpus = self._known.whole_answering()
        if len(gpus) > 1 and {nvml for _, nvml in gpus} != self._linked:
            self._ask_slowly([("links", partial(self._find_links, gpus))])

    def _list_now(self) -> tuple[int, tuple[str, ...]]:
        """What changes when a GPU comes or goes: NVML's count, and the kernel's own list.

        NVML's may be that of its initialisation; the kernel's knows a GPU as soon as it is there.
        """
        return self._library.gpu_count(), self._sleep.entries()

    def _open(self) -> None:
        self._library.open()
        self._is_open = True
        self._failure = None
        self._driver = self._library.driver_version()
        self._listing = self._list_now()
        self._introduce_all()

    def _introduce_all(self) -> None:
        """Ask each GPU who it is that has not answered in this opening of the driver.

        Those that sleep are listed by the kernel's word alone.
        """
        count = self._library.gpu_count()
        asleep = self._sleep.left(count)
        with self._lock:
            keys = {index: self._introductions.key(index) for index in range(count)}
            silent = [index for index, key in keys.items() if not self._known.answers(key)]
            asked = [index for index in silent if index not in asleep]
            for index in asked:
                self._introductions.begin(index)
            for index in asleep.keys() & silent:
                self._list_asleep(index, asleep[index])
        self._ask_slowly(
            (("introduction", index), partial(self._introduce, index)) for index in asked
        )

    def _list_asleep(self, index: int, bus_id: str) -> None:
        if self._known.at(bus_id) is not None:
            self._introductions.end(index, None)
            return
        gpu = UnresponsiveGpu(failure=ASLEEP, index=index, pci_bus_id=bus_id)
        (gpu,) = named_by_kernel([gpu], self._sleep.kernel_gpus, ())
        device = sleeping_facts(gpu)
        self._introductions.end(index, gpu if device is None else None)
        if device is not None:
            self._known.put(KnownGpu(device, None, None))

    def _may_be_split(self, gpu: KnownGpu) -> bool:
        """Whether its MIG instances are looked for: it is awake, and they matter."""
        if self.is_asleep(gpu):
            return False
        return self._keys is None or not self._known.keys_within(gpu).isdisjoint(self._keys)

    def _ask_slowly(self, questions: Iterable[tuple[Hashable, Callable[[int], None]]]) -> None:
        """Make calls that a GPU may hold up, each by its key and with this opening's number."""
        ask, opening = self._ask, self._opening
        self._make_calls([SlowCall(key, partial(ask, each, opening)) for key, each in questions])

    def _ask(self, question: Callable[[int], None], opening: int) -> None:
        try:
            question(opening)
        except DriverGoneError as gone:
            if opening == self._opening:
                self.driver_gone(gone)

    def _introduce(self, index: int, opening: int) -> None:
        found: str | UnresponsiveGpu | None = None
        nvml = None
        try:
            nvml = self._library.gpu(index)
            found = None if nvml is None else nvml.identity()
            if nvml is not None and found is not None:
                self._list(found, nvml, opening)
        except GpuLostError as lost:
            _LOG.debug("GPU %d does not answer: %s", index, lost)
            found = unresponsive_gpu(index, nvml, lost.failure)
        finally:
            with self._lock:
                if opening == self._opening:
                    self._introductions.end(index, found)

    def _list(self, key: str, nvml: NvmlGpu, opening: int) -> None:
        known, driver = self._known.get(key), self._driver
        if known is not None and known.nvml is not None:
            return
        # A slow GPU takes seconds: what the same driver reported before is not asked for again.
        before = known.device if known is not None and known.driver == driver else None
        gpu = KnownGpu(gpu_facts(key, nvml, before), nvml, driver)
        if self._put(gpu, opening):
            self._update_instances(gpu, nvml, opening)

    def _put(self, gpu: KnownGpu, opening: int) -> bool:
        """Add it, in place of an earlier one; answers whether the opening still lasts."""
        with self._lock:
            if opening == self._opening:
                self._known.put(gpu)
            return opening == self._opening

    def _see_instances(self, gpu: KnownGpu, opening: int) -> None:
        try:
            if (nvml := gpu.nvml) is not None:
                self._update_instances(gpu, nvml, opening)
        except GpuLostError as lost:
            self.lose(gpu, lost.failure)

    def _update_instances(self, gpu: KnownGpu, nvml: NvmlGpu, opening: int) -> None:
        """See whether a GPU is in MIG mode now, and which instances it has."""
        is_partitioned = nvml.is_partitioned()
        instances = mig_instances(nvml) if is_partitioned else {}
        if is_partitioned is None or instances is None:
            return  # It has no MIG mode, or errs this time: what is known stays.
        if is_partitioned != gpu.device.is_partitioned:
            gpu.device = gpu.device.model_copy(update={"is_partitioned": is_partitioned})
        for key, instance in instances.items():
            if not self._known.answers(key):
                device = instance_facts(key, instance, gpu.device)
                self._put(KnownGpu(device, instance, gpu.driver), opening)
        self._known.keep_instances(gpu, instances)

    def _find_links(self, gpus: tuple[tuple[PhysicalDevice, NvmlGpu], ...], opening: int) -> None:
        links = gpu_links(gpus)
        self._linked = {nvml for _, nvml in gpus}
        with self._lock:
            if opening == self._opening:
                self._links |= {frozenset(link.keys): link for link in links}
