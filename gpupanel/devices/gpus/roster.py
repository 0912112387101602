"""Which GPUs are there, which were there and are lost, and when to look again."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from gpupanel.devices.gpus.driver_problem import driver_problem
from gpupanel.devices.gpus.introduction import introduce, see_instances
from gpupanel.devices.gpus.known_gpus import KnownGpu, KnownGpus
from gpupanel.devices.gpus.links import gpu_links
from gpupanel.devices.nvml import DriverGoneError, GpuLostError, NvmlGpu, NvmlLibrary
from gpupanel.devices.slow_calls import SlowCall
from gpupanel.domain.device import DeviceLink, PhysicalDevice
from gpupanel.domain.problem import Problem

_LOG = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 0.4
"""How often to see whether GPUs, MIG instances or the driver came or went: at each sample of two
a second, so that it is shown within two seconds whatever the driver needs to be opened anew."""

_KERNEL_GPUS: Final = Path("/proc/driver/nvidia/gpus")


def one_after_the_other(calls: Sequence[SlowCall]) -> None:
    """Make all calls in this thread, however long they take."""
    for call in calls:
        call.work()


class GpuRoster:
    """Every GPU seen so far, in PCI bus order, and the driver's life with them.

    A GPU once seen stays in the roster: lost is a state, not an absence. The MIG instances of a
    GPU stand right behind it, for as long as it has them. Nothing here raises for a sick device
    or driver. One thread looks, any may ask.
    """

    def __init__(
        self,
        library: NvmlLibrary | None = None,
        clock: Callable[[], float] = time.monotonic,
        kernel_gpus: Path = _KERNEL_GPUS,
        make_calls: Callable[[Sequence[SlowCall]], None] = one_after_the_other,
    ) -> None:
        """The driver is first asked by :meth:`look`.

        Args:
            library: The driver's management library.
            clock: Seconds that only grow.
            kernel_gpus: The kernel module's folder with an entry for each GPU.
            make_calls: Makes calls, each of which one GPU may hold up; may leave one behind.
        """
        self._library = library or NvmlLibrary()
        self._clock = clock
        self._kernel_gpus = kernel_gpus
        self._make_calls = make_calls
        self._lock = threading.Lock()
        self._gpus = KnownGpus()
        self._is_open = False
        self._introductions = 0
        self._listing: tuple[int, tuple[str, ...]] | None = None
        self._linked: set[NvmlGpu] = set()
        self._looked_at: float | None = None
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
        return self._gpus.in_order()

    @property
    def links(self) -> tuple[DeviceLink, ...]:
        """How the GPUs are connected, for each pair of which it is known."""
        return self._gpus.links()

    @property
    def is_look_due(self) -> bool:
        """Whether :data:`LOOK_INTERVAL_S` has passed since the last look."""
        return self._looked_at is None or self._clock() - self._looked_at >= LOOK_INTERVAL_S

    @property
    def is_introducing(self) -> bool:
        """Whether GPUs that answer slowly are still being asked who they are."""
        return self._introductions > 0

    def look(self) -> None:
        """See what came and went, if :data:`LOOK_INTERVAL_S` has passed since the last look.

        A driver that was absent is tried again; one whose list of GPUs changed, or of whose GPUs
        none answers any more, is initialised anew, since NVML lists GPUs when it initialises.
        """
        if not self.is_look_due:
            return
        try:
            self._look()
        except DriverGoneError as gone:
            self.driver_gone(gone)
        finally:
            # From the end: a driver that takes long to answer is not asked without a pause.
            self._looked_at = self._clock()

    def lose(self, gpu: KnownGpu) -> None:
        """Note that a GPU does not answer; it comes back with the next listing that has it."""
        for lost in self._gpus.lose(gpu):
            _LOG.info("%s (%s) does not answer any more", lost.device.name, lost.device.key)

    def driver_gone(self, gone: DriverGoneError, told_by: KnownGpu | None = None) -> None:
        """Note that the driver does not answer; the next look tries to open it again.

        Args:
            gone: What NVML said.
            told_by: The GPU that was asked. Where it was lost or listed anew meanwhile, the
                answer is about a driver that was let go, and means nothing.
        """
        if told_by is not None and not self._gpus.is_current(told_by):
            return
        if self._failure is None or self._failure.failure is not gone.failure:
            _LOG.debug("The NVIDIA driver does not answer: %s", gone.detail)
        self.close()
        self._failure = gone

    def close(self) -> None:
        """Let the driver go; GPUs seen so far are lost until it is opened again."""
        with self._lock:
            was_open, self._is_open = self._is_open, False
            self._introductions = 0
            self._driver = None
            self._gpus.lose_all()
        if was_open:
            self._library.close()

    def _look(self) -> None:
        if self._is_open and (self._nobody_answers() or self._list_now() != self._listing):
            self.close()
        if not self._is_open:
            self._open()
        elif self._listing is not None and len(self._gpus.answering()) < self._listing[0]:
            self._introduce_all()
        self._see_all_instances()
        self._learn_links()

    def _nobody_answers(self) -> bool:
        """Whether GPUs were seen of which none answers, nor is still being asked who it is."""
        return bool(self.gpus) and not self._gpus.answering() and not self._introductions

    def _list_now(self) -> tuple[int, tuple[str, ...]]:
        """What tells that a GPU came or went: NVML's count, and the kernel's own list.

        NVML's may be that of its initialisation; the kernel's knows a GPU as soon as it is there.
        """
        try:
            entries = tuple(sorted(entry.name for entry in self._kernel_gpus.iterdir()))
        except OSError:
            entries = ()
        return self._library.gpu_count(), entries

    def _open(self) -> None:
        self._library.open()
        self._is_open = True
        self._failure = None
        self._driver = self._library.driver_version()
        self._listing = self._list_now()
        self._introduce_all()

    def _introduce_all(self) -> None:
        opening = self._gpus.opening
        self._make_calls(
            [
                SlowCall(("introduction", place), partial(self._introduce, nvml, opening))
                for place, nvml in enumerate(self._library.gpus())
            ]
        )

    def _introduce(self, nvml: NvmlGpu, opening: int) -> None:
        self._count_introduction(1, opening)
        try:
            introduce(nvml, self._gpus, opening, self._driver)
        except GpuLostError as lost:
            _LOG.debug("A GPU was lost while it was looked at: %s", lost)
        except DriverGoneError as gone:
            self._gone_during(opening, gone)
        finally:
            self._count_introduction(-1, opening)

    def _count_introduction(self, more: int, opening: int) -> None:
        with self._lock:
            if opening == self._gpus.opening:
                self._introductions += more

    def _see_all_instances(self) -> None:
        """MIG instances come and go without a new listing."""
        opening = self._gpus.opening
        self._make_calls(
            [
                SlowCall(("instances", gpu.device.key), partial(self._see_instances, gpu, opening))
                for gpu in self.gpus
                if gpu.nvml is not None and gpu.nvml.can_be_partitioned
            ]
        )

    def _see_instances(self, gpu: KnownGpu, opening: int) -> None:
        try:
            see_instances(gpu, self._gpus, opening)
        except GpuLostError:
            self.lose(gpu)
        except DriverGoneError as gone:
            self._gone_during(opening, gone)

    def _learn_links(self) -> None:
        """Links are asked for when other GPUs answer than those of the last time."""
        gpus = self._gpus.answering()
        if len(gpus) > 1 and {nvml for _, nvml in gpus} != self._linked:
            self._make_calls(
                [SlowCall("links", partial(self._find_links, gpus, self._gpus.opening))]
            )

    def _find_links(self, gpus: tuple[tuple[PhysicalDevice, NvmlGpu], ...], opening: int) -> None:
        try:
            self._gpus.put_links(gpu_links(gpus), opening)
        except DriverGoneError as gone:
            self._gone_during(opening, gone)
        else:
            self._linked = {nvml for _, nvml in gpus}

    def _gone_during(self, opening: int, gone: DriverGoneError) -> None:
        if opening == self._gpus.opening:
            self.driver_gone(gone)
