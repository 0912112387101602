"""What a script finds only when it runs, where data and model are Python code of the person's own.

Nobody runs that code to write a script. So the script itself sees which inputs and outputs there
are, whether labels are arrays, and which loss and metrics stand beside ``build_model``.
"""

from gpupanel.domain.data import Target
from gpupanel.domain.example_form import ExampleForm
from gpupanel.domain.form_misfits import form_misfits
from gpupanel.domain.profile import Profile


def settings_of_rows(profile: Profile) -> tuple[str, ...]:
    """The keys of what the profile sets, and is of one label an example: class weights, say.

    With these a script keeps to one input and a row of labels.
    """
    form = ExampleForm(arrays_of=profile.data.target_kind or Target.CLASSES)
    return tuple(each.field or "" for each in form_misfits(profile, form))


def is_own_code(profile: Profile) -> bool:
    """Whether data and model are code, of whatever form the examples turn out to be."""
    are_code = profile.model.is_code and profile.data.is_code
    return are_code and not settings_of_rows(profile)
