"""Whether a run that has ended can go on with the devices that are chosen in the session."""

from dataclasses import dataclass

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.resuming import changes_between, with_devices_of
from gpupanel.runs.following.change_words import change_words
from gpupanel.ui.session import Session


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """With what the run would go on.

    Attributes:
        order: Profile and plan; ``None``: it cannot.
        tip: What changes, or why it cannot.
    """

    order: tuple[Profile, LaunchPlan] | None
    tip: str


def elsewhere(session: Session, started: Profile | None) -> Elsewhere:
    """What going on with the session's devices would mean for a run.

    Args:
        session: Its devices, memory, strategy and accumulation are taken; the rest stays the run's.
        started: The run's profile; ``None``: it cannot be read.
    """
    if started is None:
        return Elsewhere(None, "The run's profile cannot be read.")
    wanted = with_devices_of(started, session.profile)
    changes = changes_between(started, wanted)
    if not changes:
        return Elsewhere(
            None, "The Session tab has what the run had: choose other devices or shares there."
        )
    preparation = session.prepare_other(wanted)
    if preparation.plan is None or not preparation.is_startable:
        errors = [problem.message for problem in preparation.problems if problem.is_error]
        return Elsewhere(None, errors[0] if errors else "Looking for devices…")
    return Elsewhere(
        (wanted, preparation.plan),
        f"Goes on from the last checkpoint with {change_words(changes)}, as chosen in the Session "
        "tab. The training itself stays the same.",
    )
