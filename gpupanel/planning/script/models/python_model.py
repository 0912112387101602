"""A model that a Python file of the person's builds, checked by the run alone."""

from string import Template

from typing_extensions import override

from gpupanel.domain.model import PythonModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.ending import ending_functions, with_logits
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of, scaled
from gpupanel.planning.script.own_code import is_own_code, settings_of_rows
from gpupanel.planning.script.own_model_section import own_model
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_PYTHON = """
code = carried_out($path, "model_code")
if callable(getattr(code, "loss", None)):
    raise SystemExit($beside_loss)
network = code.build_model(tuple(x.shape[1:]), $outputs)
if isinstance(network, keras.Sequential) and not network.built:
    network.build((None, *x.shape[1:]))
network = with_plain_ends(network)
$with_logits
network.name = "python_model"
hidden = network(hidden)
outputs = keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)
"""


class _PythonModel(ModelScript[PythonModel]):
    """Python that carries the file out."""

    @override
    def built(self, model: PythonModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        if is_own_code(profile):
            return own_model(model, profile)
        without_ending = with_logits(model, profile.data.target_kind)
        definitions = joined(
            part("given_models", "with_plain_ends"), ending_functions() if without_ending else ""
        )
        values = {
            "path": repr(model.path),
            "outputs": outputs_of(profile.data),
            "with_logits": without_ending,
            "beside_loss": repr(_beside_loss(profile)),
        }
        text = Template(_PYTHON).substitute(values)
        return BuiltText(definitions, in_scope=joined(scaled(profile.data), text))


def _beside_loss(profile: Profile) -> str:
    found = ", ".join(settings_of_rows(profile)) or "data of another source"
    return f"A script of {found} does not know a loss of your own: train it with gpupanel."


SCRIPT = _PythonModel()
