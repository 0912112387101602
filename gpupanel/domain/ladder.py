"""Ways in which a training fits the memory of its devices, with what each of them costs."""

from pydantic import Field

from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.value import Value


class Rung(Value):
    """One way.

    Attributes:
        title: What is done ("Mixed precision + 4 accumulation steps").
        result: How what is learned differs from the training as it is, in a few words; empty: it
            does not.
        fix: What does it; ``None``: nothing, it is the training as it is.
        memory: What it takes of each device, and what there is.
        time: How long a step takes, over one of the training as it is; ``None``: not known.
        fits: Whether there is room for it everywhere.
        largest_batch: The largest global batch that fits so; ``None``: not known.
    """

    title: str
    result: str = ""
    fix: Fix | None = None
    memory: tuple[DeviceMemory, ...] = ()
    time: float | None = None
    fits: bool = False
    largest_batch: int | None = None


class Ladder(Value):
    """All of them for one training.

    Attributes:
        rungs: The training as it is; then what fits, the quickest first; then what alone does not.
        largest_side: Pixels of the largest square images that fit with the first rung that does;
            ``None``: not known, or there are none.
        problems: Why nothing can be said.
        device_names: What each device is called, by its key.
    """

    rungs: tuple[Rung, ...] = ()
    largest_side: int | None = None
    problems: tuple[Problem, ...] = ()
    device_names: dict[str, str] = Field(default_factory=dict)

    @property
    def fitting(self) -> tuple[Rung, ...]:
        """Those that fit."""
        return tuple(each for each in self.rungs if each.fits)
