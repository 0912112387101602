"""Continuing the run that a name was given for, as a job does that starts again."""

from gpupanel.cli.device_table import print_gpu_processes
from gpupanel.cli.output import EXIT_BAD_PROFILE, EXIT_FAILED, print_problems, progress, refuse
from gpupanel.cli.preparation import startable_as_allocated
from gpupanel.cli.run_end import follow_unless
from gpupanel.cli.run_hours import say_hours
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import resume
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_run


def continue_run(
    layout: RunLayout, *, allocated: bool, trust: bool, now: bool, detach: bool, json: bool
) -> None:
    """Resume the run, follow it to its end and leave with the exit status of how it ended.

    One that has come to its end already is not started again: how it ended is said once more.

    Args:
        layout: The run.
        allocated: Let it go on with the GPUs that a batch system has given to this job.
        trust: Trust the Python code that the run holds.
        now: Let it go on though its hours have not begun.
        detach: Return at once.
        json: Answer in JSON.
    """
    try:
        profile = read_run_profile(layout)
        if summarize_run(layout).outcome is not Outcome.COMPLETED:
            if trust:
                trust_code(code_of_run(layout, profile))
            changed = _on_allocated(layout, profile, json=json) if allocated else None
            resume(layout, changed, outside_hours=now)
            say_hours(profile)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    follow_unless(detach, layout, profile.epochs_to_train, json=json)


def _on_allocated(
    layout: RunLayout, profile: Profile, *, json: bool
) -> tuple[Profile, LaunchPlan] | None:
    """The run's own profile on the GPUs of this job; ``None``: they are those that it had."""
    try:
        moved, plan, preparation = startable_as_allocated(profile)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    print_problems(preparation.problems)
    print_gpu_processes(preparation.other_processes, progress)
    is_as_before = moved == profile and plan.is_like(plan_if_readable(layout))
    return None if is_as_before else (moved, plan)
