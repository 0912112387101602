"""Files of the run, as whoever started this process has checked them."""

import os
import time
from pathlib import Path
from typing import Final

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.process_environment import CHECKED_VARIABLE, LISTEN_VARIABLE
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file

_LATE_S: Final = 90.0
_LOOK_S: Final = 0.5


def handed_over_checks() -> CheckedFiles:
    """What was checked of the run's files, as it was handed to this process; nothing where not.

    Raises:
        ValueError: It is damaged.
    """
    handed_over = os.environ.get(CHECKED_VARIABLE)
    return CheckedFiles.model_validate_json(handed_over) if handed_over else CheckedFiles()


def read_checked_profile(layout: RunLayout, checked: CheckedFiles) -> Profile:
    """The run's profile.

    Raises:
        ProblemError: It holds something else than a profile, or is not what was checked.
        OSError: It cannot be read.
        ValueError: It is no text.
    """
    return parse_profile(read_checked(layout.profile, checked).decode())


def read_checked(path: Path, checked: CheckedFiles) -> bytes:
    """All that stands in a file in the run's folder.

    On another node the file system of a network may show for a while what stood there before the
    supervisor wrote it (``acdirmax`` in nfs(5)): there it is waited for.

    Raises:
        ProblemError: It is not what was checked.
        OSError: It cannot be read.
    """
    until_s = time.monotonic() + (_LATE_S if os.environ.get(LISTEN_VARIABLE) else 0.0)
    while True:
        content = read_file(path)
        try:
            checked.check(path.name, content)
        except ProblemError:
            if time.monotonic() >= until_s:
                raise
            time.sleep(_LOOK_S)
        else:
            return content
