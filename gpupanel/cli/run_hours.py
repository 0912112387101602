"""What a run's hours mean for it, said when it has started, and when it was suspended for them."""

import time
from contextlib import suppress

from rich.console import Console

from gpupanel.cli.output import progress
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.machine_settings import hours_sentence, work_hours_now
from gpupanel.runs.queue.ended_hours import hours_entry
from gpupanel.runs.queue.queue_files import QueueFiles


def say_hours(profile: Profile, console: Console = progress) -> None:
    """Say what its hours mean for a run that starts now, or could, where it has any."""
    with suppress(ProblemError):  # who cannot read the settings starts nothing
        words = hours_sentence(work_hours_now(profile), profile.task, time.time())
        if words:
            console.print(words, highlight=False)


def continues_s(layout: RunLayout, status: RunStatus) -> float | None:
    """When a run continues that was suspended for its hours, seconds since the epoch (UTC).

    ``None``: it was not, or nothing continues it, since somebody has taken it out of the queue.
    """
    if status.hours_ended is None or status.outcome is not Outcome.SUSPENDED:
        return None
    with suppress(ProblemError):  # a queue that cannot be read continues nothing
        if hours_entry(QueueFiles(queue_dir()).read(), layout.root) is not None:
            return status.hours_ended.begin_s
    return None
