"""What of a run's folder a start relies on, and whether the person trusts what it would execute."""

from gpupanel.domain.checked_files import CheckedFiles, digest_of
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import profile_in, read_profile_content
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import code_of_run, digests_of_code


def check_start(layout: RunLayout) -> tuple[Profile, CheckedFiles]:
    """Check a run as it lies in its folder now.

    Returns:
        Its profile, and the digests of the very bytes that were checked: whoever starts the run
        hands them on, and nothing else is obeyed or executed.

    Raises:
        CodeNotTrustedError: The profile names Python code, and nobody trusts what the folder holds.
        ProblemError: Profile, plan or code cannot be read.
    """
    content = read_profile_content(layout.profile)
    profile = profile_in(content, layout.profile)
    code = code_of_run(layout, profile)
    check_trusted(code)
    try:
        plan = read_file(layout.plan)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.plan)) from error
    return profile, checked_files(layout, content, plan).and_of(digests_of_code(layout, code))


def checked_files(layout: RunLayout, profile: bytes, plan: bytes) -> CheckedFiles:
    """What was checked of a run without code: the content of its profile and of its plan."""
    digests = {layout.profile.name: digest_of(profile), layout.plan.name: digest_of(plan)}
    return CheckedFiles(digests=digests)
