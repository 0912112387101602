"""Says to the gpupanels of other users which GPUs a run holds, and until about when."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.gpu_claim import LAST_MOMENT_S
from gpupanel.domain.plan import LaunchPlan
from gpupanel.files.gpu_claims import HeldClaim, claims_folder, remove_left_behind
from gpupanel.files.process_log import write_to_process_log

INTERVAL_S: Final = 20.0
"""Between two estimates of the end: people read minutes."""


class GpuClaims:
    """The claims of one run, in the folder that an administrator made for them.

    Without that folder nobody is told, which is as it was; one that is made later is found. A run
    goes on whatever becomes of its claims: that they could not be made stands in its log, once.

    Args:
        folder: The folder of claims; where it is on this machine when left out.
        clock: Seconds since the epoch (UTC).
        seconds: A clock that only grows.
    """

    def __init__(
        self,
        folder: Path | None = None,
        clock: Callable[[], float] = time.time,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder or claims_folder()
        self._clock = clock
        self._seconds = seconds
        self._since_s = clock()
        self._gpus: frozenset[str] = frozenset()
        self._held: dict[str, HeldClaim] = {}
        self._due_s = 0.0
        self._has_logged = False

    def hold(self, plan: LaunchPlan) -> None:
        """Hold the GPUs of a plan, and no others; those of other machines are theirs to say."""
        devices = () if plan.is_on_nodes else plan.devices
        self._gpus = frozenset(each.key for each in devices if each.kind is DeviceKind.GPU)
        for gpu in self._held.keys() - self._gpus:
            self._held.pop(gpu).release()
        self._keep(None)

    def expect_end(self, seconds_left: float | None) -> None:
        """Say when the run is likely to end; cheap, as others are told now and then only.

        Args:
            seconds_left: As far as it is known.
        """
        if self._seconds() >= self._due_s:
            until_s = None if seconds_left is None else self._clock() + seconds_left
            is_known = until_s is not None and until_s <= LAST_MOMENT_S
            self._keep(until_s if is_known else None)

    def release(self) -> None:
        """Let all of them go."""
        self._gpus = frozenset()
        while self._held:
            self._held.popitem()[1].release()

    def _keep(self, until_s: float | None) -> None:
        """Make the claims that are missing, and say in all of them until when."""
        self._due_s = self._seconds() + INTERVAL_S
        try:
            for gpu in [gpu for gpu, claim in self._held.items() if not claim.is_there]:
                self._held.pop(gpu).release()
            missing = self._gpus - self._held.keys()
            if missing:
                remove_left_behind(self._folder)
            for gpu in missing:
                self._held[gpu] = HeldClaim(gpu, self._since_s, self._folder)
            for claim in self._held.values():
                claim.expect_end(until_s)
        except FileNotFoundError:
            return  # no administrator has made it
        except (OSError, ValueError) as error:
            if not self._has_logged:
                self._has_logged = True
                write_to_process_log(f"supervisor: other users are not told of its GPUs: {error}")
