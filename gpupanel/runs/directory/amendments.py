"""A run's profile and plan written anew, together, with the former ones kept.

Two files cannot be replaced at once. So what is to stand there is first written whole into a file
of its own; from then on it holds, and whoever starts the run carries it out to its end, however
often that is cut short.
"""

from itertools import count

from gpupanel.domain.checked_files import CheckedFiles, digest_of
from gpupanel.domain.document_bounds import OF_A_RECORD, check_json
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.value import PositiveInt, Value
from gpupanel.files.guarded_files import read_file, remove, rename, status
from gpupanel.files.plan_file import write_plan
from gpupanel.files.whole_files import write_whole


class _Amendment(Value):
    """What is to stand in the run's directory; ``number`` names what stood there before."""

    number: PositiveInt
    profile: Profile
    plan: LaunchPlan


def amend(layout: RunLayout, profile: Profile, plan: LaunchPlan) -> CheckedFiles:
    """Let the run be started with that profile and plan from now on.

    The former ones are kept as ``profile-1.toml`` and ``plan-1.json``, then ``-2`` and so on.
    Whoever calls this holds the run's lock, or the one for resuming it.

    Args:
        layout: A run that does not go on now.
        profile: Its paths are absolute.
        plan: What was decided from it.

    Returns:
        What the files hold that it wrote: these values, whatever stands in the folder.

    Raises:
        OSError: It cannot be written; profile and plan are both the former ones.
        ProblemError: A change that was begun before is damaged.
    """
    finish_amendment(layout)
    number = next(each for each in count(1) if status(layout.former_profile(each)) is None)
    amendment = _Amendment(number=number, profile=profile, plan=plan)
    write_whole(layout.amendment, amendment.model_dump_json(), private=True)
    try:
        # Not read again: somebody else may have put another one there meanwhile.
        return _carry_out(layout, amendment)
    except OSError:
        _take_back(layout, number)
        raise


def finish_amendment(layout: RunLayout) -> None:
    """Carry out to its end what was begun to be changed, if something was.

    Raises:
        OSError: It cannot be written.
        ProblemError: What was begun is damaged.
    """
    try:
        content = read_file(layout.amendment)
    except FileNotFoundError:
        return
    try:
        check_json(content, OF_A_RECORD)
        amendment = _Amendment.model_validate_json(content)
    except ValueError as error:
        raise ProblemError(_damaged(layout, str(error))) from error
    _carry_out(layout, amendment)


def _carry_out(layout: RunLayout, amendment: _Amendment) -> CheckedFiles:
    for current, former in (
        (layout.profile, layout.former_profile(amendment.number)),
        (layout.plan, layout.former_plan(amendment.number)),
    ):
        # Kept once: when this is done again the current one may be the new one already.
        if status(former) is None:
            write_whole(former, read_file(current), private=True)
    profile = dump_profile(amendment.profile).encode()
    write_whole(layout.profile, profile, private=True)
    plan = write_plan(layout, amendment.plan)
    remove(layout.amendment)
    digests = {layout.profile.name: digest_of(profile), layout.plan.name: digest_of(plan)}
    return CheckedFiles(digests=digests)


def _take_back(layout: RunLayout, number: int) -> None:
    """Put the former profile and plan back where the new ones could not be written.

    Renaming needs no space on the disk, which is what was missing.
    """
    for current, former in (
        (layout.profile, layout.former_profile(number)),
        (layout.plan, layout.former_plan(number)),
    ):
        if status(former) is not None:
            rename(former, current)
    remove(layout.amendment)


def _damaged(layout: RunLayout, detail: str) -> Problem:
    return Problem(
        code="amendment_damaged",
        message=f"{layout.amendment} is damaged: what {layout.name} was to continue with instead "
        "cannot be read.",
        hint="Remove that file; the run then continues with its profile.",
        detail=detail,
    )
