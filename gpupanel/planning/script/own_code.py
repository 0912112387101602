"""What a script finds only when it runs, where data and model are Python code of the person's own.

Nobody runs that code to write a script. So the script itself sees whether labels are arrays, and
which loss and metrics stand beside ``build_model``.
"""

from gpupanel.domain.data import Target
from gpupanel.domain.example_form import ExampleForm, form_misfits
from gpupanel.domain.profile import Profile


def is_own_code(profile: Profile) -> bool:
    """Whether data and model are code, and nothing in the profile needs one label an example.

    What does, such as class weights, keeps to a row of labels: such a script refuses arrays, and a
    loss of the person's own.
    """
    form = ExampleForm(arrays_of=profile.data.target_kind or Target.CLASSES)
    are_code = profile.model.is_code and profile.data.is_code
    return are_code and not any(form_misfits(profile, form))
