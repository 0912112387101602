"""Finds out what each replica can do, before the first step."""

from collections.abc import Callable, Sequence
from statistics import median

from gpupanel.trainer.balancing.balanced_shares import SharesDoNotFit, balanced_shares
from gpupanel.trainer.balancing.speed_curve import SpeedCurve, fit_curve
from gpupanel.trainer.steps.trial import Trial

Try = Callable[[Sequence[int], int], Trial]
"""Tries a step with so many examples on each replica, and takes the mean of so many repeats."""

TRIAL_S = 0.1
"""How long the same is tried to be measured once."""
_TRIALS = 3
_LONGEST_STEP_S = 2.0
"""Parts that take longer are not made greater: the line is known by then."""

_HALVINGS = 3
"""Towards the largest share that fits, between one that did and one that did not."""

_KEPT_FREE = 0.1
"""Of the largest share that was seen to fit: an update needs some memory beside the gradients."""


class Measuring:
    """Tries parts of growing size on all replicas at once, up to the whole global batch.

    All that is decided follows from trials, which are the same in every process of the run.
    """

    def __init__(
        self, attempt: Try, replicas: int, global_batch_size: int, least_share: int
    ) -> None:
        self._try = attempt
        self._batch = global_batch_size
        self._least = least_share
        self._points: list[list[tuple[int, float]]] = [[] for _ in range(replicas)]
        self._held = [0] * replicas
        self._too_many: list[int | None] = [None] * replicas

    def curves(self) -> tuple[SpeedCurve, ...]:
        """What each replica does, most exactly near the share that it gets.

        Raises:
            SharesDoNotFit: A replica cannot hold the least share, or all of them the batch.
        """
        for size in self._sizes():
            if self._measure(size) > _LONGEST_STEP_S:
                break
        for _ in range(_HALVINGS):
            self._halve()
        curves = tuple(
            fit_curve(points, self._largest(replica)) for replica, points in enumerate(self._points)
        )
        # A line is not the whole truth, so its height is taken where it will be used.
        shares = balanced_shares(curves, self._batch, self._least)
        seconds = self._timed(shares)
        return tuple(
            curve.slower(took_s / curve.seconds(share))
            for curve, share, took_s in zip(curves, shares, seconds, strict=True)
        )

    def _sizes(self) -> list[int]:
        """Batch sizes to measure: a quarter of an equal share, doubled up to the global batch."""
        equal = self._batch / len(self._held)
        sizes = {max(self._least, round(equal / 4))}
        while max(sizes) < self._batch:
            sizes.add(min(2 * max(sizes), self._batch))
        return sorted(sizes)

    def _measure(self, size: int) -> float:
        """Measure that size where it fits; gives the seconds of the slowest replica's step."""
        parts = self._fitting(size)
        seconds = self._timed(parts)
        for replica, part in enumerate(parts):
            self._points[replica].append((part, seconds[replica]))
        return max(seconds)

    def _fitting(self, size: int) -> list[int]:
        """The size for each replica, limited to what fitted into its memory."""
        while True:
            parts = [
                size if too_many is None else held
                for held, too_many in zip(self._held, self._too_many, strict=True)
            ]
            failed = self._failed(parts)
            if not failed:
                self._held = parts
                return parts
            for replica in failed:
                self._too_many[replica] = parts[replica]

    def _failed(self, parts: Sequence[int]) -> frozenset[int]:
        if min(parts) < self._least:
            raise SharesDoNotFit(f"a replica cannot hold {self._least} examples")
        return self._try(parts, 1).failed

    def _halve(self) -> None:
        """Try a part between what fitted and what did not, where there is such a replica."""
        parts = [
            held if too_many is None else (held + too_many) // 2
            for held, too_many in zip(self._held, self._too_many, strict=True)
        ]
        if parts == self._held:
            return
        failed = self._failed(parts)
        for replica, part in enumerate(parts):
            if replica in failed:
                self._too_many[replica] = part
            elif not failed:
                self._held[replica] = part

    def _largest(self, replica: int) -> int | None:
        if self._too_many[replica] is None:
            return None
        return max(self._least, int(self._held[replica] * (1.0 - _KEPT_FREE)))

    def _timed(self, parts: Sequence[int]) -> tuple[float, ...]:
        """Seconds of a step; as many steps as take long enough to be measured.

        Of several trials the middle one counts, for each replica by itself: something else that
        the machine does for a moment is not taken for a slow replica.
        """
        once_s = max(self._try(parts, 1).seconds)
        repeats = max(1, min(round(TRIAL_S / max(once_s, 1e-6)), 100))
        # What takes long is not lengthened much by a moment.
        trials = [self._try(parts, repeats).seconds for _ in range(_TRIALS if repeats > 1 else 1)]
        return tuple(median(seconds) for seconds in zip(*trials, strict=True))
