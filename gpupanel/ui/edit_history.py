"""What a profile was before each change, so that changes can be undone and done again."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

from gpupanel.domain.profile import Profile

MOST_STEPS = 100
"""More are forgotten, the oldest first: some kilobytes each."""
PAUSE_S = 2.0
"""Changes of the same settings that follow each other more quickly are one step, such as typing."""


@dataclass(frozen=True, slots=True)
class _Step:
    before: Profile
    keys: frozenset[str]


class EditHistory:
    """The steps that can be undone, and those that were.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._done: deque[_Step] = deque(maxlen=MOST_STEPS)
        self._undone: list[_Step] = []
        self._last_s = float("-inf")

    def note(self, before: Profile, after: Profile) -> None:
        """Take down a change that a person made; what was undone cannot be done again then."""
        keys = frozenset(changed_keys(before, after))
        now_s = self._clock()
        is_same = bool(self._done) and not self._undone and self._done[-1].keys == keys
        if not (is_same and now_s - self._last_s < PAUSE_S):
            self._done.append(_Step(before, keys))
        self._undone.clear()
        self._last_s = now_s

    def undo(self, now: Profile) -> Profile | None:
        """The profile before the last step; ``None``: there is none.

        Args:
            now: The profile as it is.
        """
        return self._move(self._done, self._undone, now)

    def redo(self, now: Profile) -> Profile | None:
        """The profile after the step that was undone last; ``None``: there is none.

        Args:
            now: The profile as it is.
        """
        return self._move(self._undone, self._done, now)

    def clear(self) -> None:
        """Forget all steps: they were of another profile."""
        self._done.clear()
        self._undone.clear()
        self._last_s = float("-inf")

    @property
    def undoes(self) -> frozenset[str]:
        """The keys that undoing changes; empty: nothing can be undone."""
        return self._done[-1].keys if self._done else frozenset()

    @property
    def redoes(self) -> frozenset[str]:
        """The keys that doing again changes; empty: nothing was undone."""
        return self._undone[-1].keys if self._undone else frozenset()

    def _move(
        self,
        source: "deque[_Step] | list[_Step]",
        target: "deque[_Step] | list[_Step]",
        now: Profile,
    ) -> Profile | None:
        if not source:
            return None
        step = source.pop()
        target.append(_Step(now, step.keys))
        # What is changed next is a step of its own, however soon.
        self._last_s = float("-inf")
        return step.before


def changed_keys(before: Profile, after: Profile) -> Iterator[str]:
    """The dotted keys whose values differ; of a table that appears or goes, its own key."""
    return _changed(before.model_dump(), after.model_dump(), "")


def _changed(before: dict[str, object], after: dict[str, object], within: str) -> Iterator[str]:
    for key in {**before, **after}:
        one, other = before.get(key), after.get(key)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _changed(one, other, f"{within}{key}.")
        else:
            yield f"{within}{key}"
