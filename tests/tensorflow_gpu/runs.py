"""Runs on the cards of the stand-in, by the terminal's command."""

import os
import subprocess
import sys
from pathlib import Path

from gpupanel.domain.run_layout import RunLayout
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import Cards


def gpupanel(cards: Cards, *words: str) -> str:
    """What the command prints."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", *words],
        env={**os.environ, **cards.environment()},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    ).stdout


def run(cards: Cards, folder: Path, runs_dir: Path, profile: str) -> RunLayout:
    """A run of the profile, ended; the first one in that folder of runs."""
    file = folder / "profile.toml"
    file.write_text(profile)
    gpupanel(cards, "run", str(file))
    (root,) = runs_dir.iterdir()
    return RunLayout(root)
