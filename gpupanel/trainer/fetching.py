"""What a run has to download, seen before it enters a network that leads nowhere.

Imported while the process has one thread, so without NumPy, whose libraries start some.
"""

from pathlib import Path

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.keras_files import needs_download


def must_fetch(root: Path) -> bool:
    """Whether a file that the run in that directory needs is not on this machine yet."""
    try:
        profile = parse_profile(RunLayout(root).profile.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ProblemError):
        return False  # reported when the run is read
    return needs_download(profile.data) or needs_download(profile.model)
