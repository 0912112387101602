"""Whether a run that has ended can go on with the devices that are chosen in the session."""

from dataclasses import dataclass

from gpupanel.domain.change_text import changes_text
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.resuming import changes_between, with_devices_of
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.session import Session


@dataclass(frozen=True, slots=True)
class ResumeOnSelected:
    """With what the run would go on.

    Attributes:
        order: Profile and plan; ``None``: it cannot.
        tip: What changes, or why it cannot.
    """

    order: tuple[Profile, LaunchPlan] | None
    tip: str


def resume_on_selected(session: Session, started: Profile | None) -> ResumeOnSelected:
    """What going on with the session's devices would mean for a run.

    Args:
        session: Its devices, memory, strategy and accumulation are taken; the rest stays the run's.
        started: The run's profile; ``None``: it cannot be read.
    """
    if started is None:
        return ResumeOnSelected(None, "The run's profile cannot be read.")
    wanted = with_devices_of(started, session.profile)
    changes = changes_between(started, wanted)
    if not changes:
        return ResumeOnSelected(
            None,
            (
                "The Session tab has the same settings as the run: choose other devices or "
                "shares there."
            ),
        )
    preparation = session.prepare_other(wanted)
    if preparation.plan is None or not preparation.is_startable:
        errors = [problem.message for problem in preparation.problems if problem.is_error]
        return ResumeOnSelected(None, errors[0] if errors else "Looking for devices…")
    names = DeviceLabels(session.inventory).names()
    return ResumeOnSelected(
        (wanted, preparation.plan),
        "Continues from the last checkpoint with what the Session tab has now. "
        f"{changes_text(changes, names)}. The result of the training does not depend on it.",
    )
