"""The whole script: configuration, data, model, the loop."""

from gpupanel import __version__
from gpupanel.domain.data import PythonData
from gpupanel.domain.model import PythonModel, SavedModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.script.data_section import data_section
from gpupanel.planning.script.loop_section import loop_section
from gpupanel.planning.script.model_section import model_section
from gpupanel.planning.tensorflow_calls import tensorflow_calls

_SCRIPTED = (StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED)
_IMPORTS = "import keras\nimport numpy as np\n"
_PYTHON = Problem(
    code="export_not_available",
    field="model.source",
    message="A run of Python code of your own cannot be exported as a script: the code is not "
    "looked into before a run starts.",
    hint="Call your functions from a script that was exported with a model and data of gpupanel's.",
)


def stand_alone_script(profile: Profile, plan: LaunchPlan) -> str:
    """A Python script that trains what the profile says, as the plan says, and nothing else.

    It needs TensorFlow, Keras and NumPy (scikit-learn for the digits, Pillow for images). The
    order of examples, the validation examples, the shares and the mathematics are those of a
    run; requests, checkpoints, telemetry and TensorBoard files are not in it.

    Raises:
        ProblemError: A run of this kind is more than a script.
    """
    model, data = profile.model, profile.data
    if isinstance(model, PythonModel) or isinstance(data, PythonData):
        raise ProblemError(_PYTHON)
    if isinstance(model, SavedModel) or plan.strategy not in _SCRIPTED:
        raise ProblemError(_not_available(profile, plan))
    title = profile.name.replace("\\", "/").replace('"', "'")
    sections = (
        f'"""{title}: written by gpupanel {__version__}; it runs without gpupanel."""',
        f"# Devices and strategy\n{tensorflow_calls(plan)}",
        f"{_IMPORTS}\nSEED = {profile.training.seed}\nkeras.utils.set_random_seed(SEED)",
        f"# Data\n{data_section(data)}",
        f"# Model\n{model_section(profile, model)}",
        f"# Training\n{loop_section(profile, plan)}",
    )
    return "\n\n".join(section.strip("\n") for section in sections) + "\n"


def _not_available(profile: Profile, plan: LaunchPlan) -> Problem:
    what = "evaluation or prediction" if isinstance(profile.model, SavedModel) else plan.strategy
    return Problem(
        code="export_not_available",
        field="strategy.kind",
        message=f"A run of the kind {what} cannot be exported as a script.",
        hint="Export one_device or mirrored training.",
    )
