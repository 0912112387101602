"""The names inside a sweep's folder, and where sweeps are."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.visible_text import visible_line

SWEEPS: Final = "sweeps"
"""The folder of sweeps, inside that of runs; it is no run."""


@dataclass(frozen=True, slots=True)
class SweepLayout:
    """The paths of one sweep.

    Attributes:
        root: Its folder, ``runs/sweeps/2026-11-21T10-15-02-digits``.
    """

    root: Path

    @property
    def name(self) -> str:
        """The name of its folder, as :attr:`RunLayout.name` is that of a run's."""
        return visible_line(self.root.name.replace("\\", "\\\\"))

    @property
    def runs_dir(self) -> Path:
        """The folder of its trials' runs, beside those of others."""
        return self.root.parent.parent

    @property
    def profile(self) -> Path:
        """The profile with its ``[sweep]`` table, as it was when the sweep was started."""
        return self.root / "sweep.toml"

    @property
    def record(self) -> Path:
        """What became of each trial, a line each time; it only grows."""
        return self.root / "trials.jsonl"

    @property
    def stop(self) -> Path:
        """There once somebody asked that no further trial begins."""
        return self.root / "stop"
