"""The whole script: configuration, data, model, the loop."""

from gpupanel import __version__
from gpupanel.domain.data import ImagesData, PythonData
from gpupanel.domain.model import PythonModel, SavedModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.script.data_section import data_section
from gpupanel.planning.script.model_section import model_section
from gpupanel.planning.script.training_section import training_section
from gpupanel.planning.tensorflow_calls import tensorflow_calls

_SETTINGS = """
import keras
import numpy as np

keras.config.set_floatx("float32")
keras.config.set_image_data_format("channels_last")
keras.config.set_dtype_policy("{policy}")
SEED = {seed}
"""


def stand_alone_script(profile: Profile, plan: LaunchPlan) -> str:
    model = profile.model
    plan = plan.without_idle_replicas()
    title = f"{profile.name}: written by gpupanel {__version__}; it runs without gpupanel."
    policy = "mixed_bfloat16" if profile.training.mixed_precision else "float32"
    sections = (
        repr(title),
        f"# Devices and strategy\n{tensorflow_calls(plan)}",
        _SETTINGS.format(policy=policy, seed=profile.training.seed) + "SUM = tf.distribute.ReduceOp.SUM",
        f"# Data\n{data_section(profile.data)}",
        f"# Model\n{model_section(profile, model, plan)}",
        f"# Training\n{training_section(profile, model, plan)}",
    )
    return "\n\n".join(section.strip("\n") for section in sections) + "\n"
