"""Whether a training takes several inputs, and labels that are arrays."""

from gpupanel.domain.form_misfits import form_misfits
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import DataSet


def check_form(profile: Profile, data: DataSet) -> None:
    """Refuse what would take several inputs, or labels that are arrays, for numbers or rows.

    Args:
        profile: Trains.
        data: What it was read as.

    Raises:
        ProblemError: Everything of the profile that would.
    """
    misfits = tuple(form_misfits(profile, data.form))
    if misfits:
        raise ProblemError(*misfits)
