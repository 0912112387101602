"""The run's profile, as whoever started this process has checked it."""

import os

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.process_environment import CHECKED_VARIABLE
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file


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
    content = read_file(layout.profile)
    checked.check(layout.profile.name, content)
    return parse_profile(content.decode())
