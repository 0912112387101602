"""A profile with everything filled in that a preview of its data detects."""

from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.previewed_profile import preview_request, with_detected
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.rules.data_rules import matters_to_task
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.questions.data_preview import preview_data


def with_detected_data(
    profile: Profile, preview_of: Callable[[PreviewRequest], DataPreview] = preview_data
) -> Profile:
    """The profile with everything filled in that a preview of its data detects.

    Args:
        profile: Relative paths in it are taken from the working directory.
        preview_of: Reads the data.

    Raises:
        ProblemError: The data cannot be read.
    """
    if not (profile.data.needs_detection or profile.leaves_examples_open):
        return profile
    preview = preview_of(preview_request(anchored(profile, Path.cwd())))
    filled = with_detected(profile, preview)
    mattering = [each for each in preview.problems if matters_to_task(profile, each)]
    if mattering and filled.data.target_kind is None:
        raise ProblemError(*mattering)  # what the script is to predict is not known
    return filled
