"""Why a training is slow, or learns badly, as it was found while it went on."""

from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line

_LONGEST_TITLE: Final = 40
_ABBREVIATIONS: Final = {"cpu": "CPU", "gpu": "GPU", "pcie": "PCIe"}


class Finding(Value):
    """What is wrong with a training, with what to do about it.

    Attributes:
        problem: With a stable code, the figures, and a fix where a change of the profile is one.
        since_s: Since when it has been so, as far as that was seen; seconds since the epoch (UTC).
        cost_fraction: How much of the training's time it costs, 0 to 1; ``None``: not known.
        device_key: The physical device that it is about; ``None``: the run as a whole.
    """

    problem: Problem
    since_s: float
    cost_fraction: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    device_key: str | None = None

    @property
    def title(self) -> str:
        """What it is, in a few words: "training waits for data"."""
        words = visible_line(self.problem.code[:_LONGEST_TITLE]).split("_")
        return " ".join(_ABBREVIATIONS.get(word, word) for word in words)

    @property
    def cost_text(self) -> str:
        """What it costs, within a sentence; empty where that is not known."""
        if self.cost_fraction is None:
            return ""
        return f"it takes about {self.cost_fraction * 100:.0f} % of the training's time"

    @property
    def identity(self) -> tuple[str, str | None]:
        """What makes it the same one when it is found again: its code and its device."""
        return self.problem.code, self.device_key
