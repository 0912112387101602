"""Whose memory is whose on one device."""

from dataclasses import dataclass
from itertools import accumulate

from gpupanel.ui import formatting


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What a memory bar shows, in MiB.

    Attributes:
        total_mib: The device's memory; ``None`` draws an empty bar.
        other_processes_mib: Held by other processes.
        ours_mib: Held by the run shown.
        reserved_mib: Kept by the driver for itself.
        limits_mib: The most that each logical device of the run may take: one for a limit,
            several for a split; empty where nothing bounds it.
        context_mib: What CUDA takes besides the limits.
    """

    total_mib: int | None = None
    other_processes_mib: int = 0
    ours_mib: int = 0
    reserved_mib: int = 0
    limits_mib: tuple[int, ...] = ()
    context_mib: int = 0

    @property
    def cap_mib(self) -> int | None:
        """The most that the run may take; ``None`` where nothing bounds it."""
        return sum(self.limits_mib) if self.limits_mib else None

    @property
    def free_mib(self) -> int:
        """What nobody holds."""
        held = self.other_processes_mib + self.ours_mib + self.reserved_mib
        return max(0, (self.total_mib or 0) - held)

    @property
    def most_mib(self) -> int:
        """The greatest limit that is given out whole: what other processes and the driver leave."""
        held = self.other_processes_mib + self.reserved_mib + self.context_mib
        return max(0, (self.total_mib or 0) - held)

    @property
    def borders_mib(self) -> tuple[int, ...]:
        """Where the memory of each logical device ends.

        The run's memory begins where that of other processes ends; what does not fit into the
        device ends with it.
        """
        if self.total_mib is None:
            return ()
        ends = accumulate(self.limits_mib, initial=self.other_processes_mib)
        return tuple(min(self.total_mib, end) for end in ends)[1:]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The same in words, a line each."""
        if self.total_mib is None:
            return ("The memory size is not known.",)
        held = f"{formatting.mib(self.ours_mib)} held by this run"
        lines = [
            f"{held}, {formatting.mib(self.other_processes_mib)} by other processes",
            f"{formatting.mib(self.free_mib)} free of {formatting.mib(self.total_mib)}",
        ]
        if self.reserved_mib:
            lines.append(f"{formatting.mib(self.reserved_mib)} reserved by the driver")
        if self.limits_mib:
            lines += self._limit_sentences()
        return tuple(lines)

    def _limit_sentences(self) -> tuple[str, ...]:
        if len(self.limits_mib) == 1:
            limit = f"The line: this run's limit of {formatting.mib(self.cap_mib)}"
        else:
            parts = " + ".join(formatting.mib(part) for part in self.limits_mib)
            limit = f"The lines: {len(self.limits_mib)} logical devices of {parts}"
        context = f"Behind it, hatched: {formatting.mib(self.context_mib)} for the CUDA context"
        return (limit, context) if self.context_mib else (limit,)
