"""The whole script: configuration, data, model, and what is done with them."""

from gpupanel import __version__
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.script.augmentation_section import augmentation_section
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.planning.script.inference_section import inference_data_section, inference_section
from gpupanel.planning.script.model_section import model_section
from gpupanel.planning.script.one_process import in_one_process
from gpupanel.planning.script.training_section import training_section
from gpupanel.planning.tensorflow_calls import tensorflow_calls

CODE_SECTION = """
import random
import sys
import types
from pathlib import Path


def carried_out(path, name):
    \"\"\"Your own Python file, as a module: to run this script is to run it.\"\"\"
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module  # where Keras and dataclasses look its classes up
    exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    return module
"""
"""How a script carries out Python files of the person's own, as a run does."""

_SETTINGS = """
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np

keras.config.set_floatx("float32")
keras.config.set_image_data_format("channels_last")
keras.config.set_dtype_policy("{policy}")
SEED = {seed}
"""
"""All that a ``keras.json`` of the person's may say otherwise."""

_NO_CHECKPOINTS = (
    "# A run also saves checkpoints and writes TensorBoard files; this script does neither."
)
_IN_ONE_PROCESS = {
    StrategyKind.MULTI_WORKER: "# A run has a process for each worker. The mathematics is that of "
    "replicas in one process.",
    StrategyKind.PARAMETER_SERVER: "# The workers of a run take steps by turns, with weights that "
    "other workers changed meanwhile: no\n# two runs give the same. Here each step follows the one "
    "before it, on one device.",
}


def stand_alone_script(profile: Profile, plan: LaunchPlan) -> str:
    """A Python script that does what the profile says, as the plan says, and nothing else.

    It needs TensorFlow, Keras and NumPy (scikit-learn for the digits, Pillow for images, pyarrow
    for tables). The
    order of examples, the initial weights, the shares and the mathematics are those of a run, and
    so are the weights at the end; requests, checkpoints, telemetry and TensorBoard files are not
    in it. Python files of the person's own are run where they are, by whoever runs the script.

    Args:
        profile: One that may start; paths in it are absolute.
        plan: Made from it.

    Raises:
        ProblemError: A saved model is to be trained, or one that is to be built is not to be.
    """
    model, data = profile.model, profile.data
    alone = in_one_process(plan)
    title = f"{profile.name}: written by gpupanel {__version__}; it runs without gpupanel."
    policy = "mixed_bfloat16" if profile.training.mixed_precision else "float32"
    settings = _SETTINGS.format(policy=policy, seed=profile.training.seed).strip("\n")
    if (profile.task == "train") is not model.is_trainable:
        raise ProblemError(_NOT_STARTABLE)
    if model.is_trainable:
        augmentation = augmentation_section(data)
        sections = [
            f"# Data\n{data_section(data)}",
            f"# Model\n{model_section(profile, alone)}",
            *([f"# Augmentation\n{augmentation}"] if augmentation else []),
            f"# Training\n{_NO_CHECKPOINTS}\n{training_section(profile, alone)}",
            *filter(None, [script_of(data).kept_in_model(data)]),
        ]
    else:
        settings = settings.replace(policy, "float32")
        sections = [
            f"# Data\n{inference_data_section(profile)}",
            f"# Model\n{inference_section(profile, alone)}",
        ]
    if data.is_code or model.is_code:
        sections.insert(0, f"# Python files of your own{CODE_SECTION}")
    note = f"{_IN_ONE_PROCESS[plan.strategy]}\n" if plan.strategy in GANG_KINDS else ""
    whole = [repr(title), f"# Devices and strategy\n{note}{tensorflow_calls(alone)}", settings]
    return "\n\n".join(section.strip("\n") for section in [*whole, *sections]) + "\n"


_NOT_STARTABLE = Problem(
    code="export_not_available",
    field="model.source",
    message="A saved model is evaluated or predicts, and one that is built is trained: other runs "
    "cannot start, and so they are no scripts.",
    hint="Check the profile: that shows what to change.",
)
