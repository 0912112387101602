"""The whole script: configuration, data, model, and what is done with them."""

from dataclasses import dataclass

from gpupanel import __version__
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.script_document import own_program
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.script.augmentation_section import augmentation_section
from gpupanel.planning.script.class_names import classes_to_train, kept_classes
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.planning.script.inference_section import inference_data_section, inference_section
from gpupanel.planning.script.model_section import model_section
from gpupanel.planning.script.one_process import in_one_process
from gpupanel.planning.script.own_code import is_own_code
from gpupanel.planning.script.sections import joined, with_imports_first
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
keras.config.set_epsilon(1e-7)
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

_ON_ONE_DEVICE = (
    "# A run has the layers on several devices. The mathematics is that of one, which has them all."
)


@dataclass(frozen=True, slots=True)
class ScriptSection:
    """A part of a script under a heading of its own.

    Attributes:
        title: One line.
        code: Lines without an end after the last one.
    """

    title: str
    code: str


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
        ProblemError: A model that is still to be trained is to be evaluated, or to predict; or the
            training has a time limit, holds a fold out, or has several inputs or outputs in data
            that is no Python code; or it runs a program of the person's own.
    """
    title = f"{profile.name}: written by gpupanel {__version__}; it runs without gpupanel."
    sections = (f"# {each.title}\n{each.code}" for each in script_sections(profile, plan))
    return "\n\n".join((repr(title), *sections)) + "\n"


def script_sections(profile: Profile, plan: LaunchPlan) -> tuple[ScriptSection, ...]:
    """The parts of :func:`stand_alone_script`, in their order: each uses what is before it.

    Args:
        profile: As there.
        plan: As there.

    Raises:
        ProblemError: As there.
    """
    if profile.script is not None:
        raise ProblemError(own_program("that is a script already"))
    model, data = profile.model, profile.data
    trains = profile.task == "train"
    if not (trains or model.is_saved):
        raise ProblemError(_NOT_STARTABLE)
    if trains and profile.training.time_limit is not None:
        raise ProblemError(_NO_TIME_LIMIT)
    if data.fold is not None:
        raise ProblemError(_NO_FOLDS)
    if not data.is_plain:
        raise ProblemError(_NO_ARRAYS)
    alone, note = in_one_process(plan), ""
    if plan.strategy in GANG_KINDS:
        note = _IN_ONE_PROCESS[plan.strategy]
    elif plan.places and model.stack is None:
        whole = alone.replicas[0].model_copy(update={"share": alone.global_batch_size})
        one = {"strategy": StrategyKind.ONE_DEVICE, "places": (), "replicas": (whole,)}
        alone, note = alone.model_copy(update=one), _ON_ONE_DEVICE
    is_mixed = trains and profile.training.mixed_precision
    policy = f"mixed_{plan.half_precision.value}" if is_mixed else "float32"
    settings = _SETTINGS.format(policy=policy, seed=profile.training.seed).strip("\n")
    calls = "\n".join(filter(None, [note, tensorflow_calls(alone).strip("\n")]))
    found = [("Devices and strategy", f"{calls}\n\n{settings}")]
    if data.is_code or model.is_code:
        found.append(("Python files of your own", CODE_SECTION))
    if trains:
        training = f"{_NO_CHECKPOINTS}\n{training_section(profile, alone)}".strip("\n")
        kept = script_of(data).kept_in_model(data, from_model=model.is_saved)
        found += [
            ("Data", _read_to_train(profile)),
            ("Model", model_section(profile, alone)),
            ("Augmentation", augmentation_section(data)),
            (
                "Training",
                "\n\n".join(
                    filter(
                        None,
                        [training, kept_classes(model, data, are_own=is_own_code(profile)), kept],
                    )
                ),
            ),
        ]
    else:
        found += [
            ("Data", inference_data_section(profile)),
            ("Model", inference_section(profile, alone)),
        ]
    devices, *others = ((title, code.strip("\n")) for title, code in found if code)
    # Only of the first does it matter when something is imported.
    return (
        ScriptSection(*devices),
        *(ScriptSection(title, with_imports_first(code)) for title, code in others),
    )


def _read_to_train(profile: Profile) -> str:
    model, data = profile.model, profile.data
    read = data_section(data, model, is_own_code=is_own_code(profile))
    return joined(read, classes_to_train(model, data))


_NOT_STARTABLE = Problem(
    code="export_not_available",
    field="model.source",
    message="Only a saved model can be evaluated or can predict: other runs cannot start, and so "
    "they are no scripts.",
    hint="Check the profile: that shows what to change.",
)
_NO_TIME_LIMIT = Problem(
    code="script_without_time_limit",
    field="training.time_limit",
    message="A script knows no time limit: how many epochs fit is decided while it trains.",
    hint="Take training.time_limit out, and set training.epochs to as many as fit.",
)
_NO_ARRAYS = Problem(
    code="script_without_arrays",
    field="data.source",
    message="A script takes several inputs or outputs, and examples that are to be predicted "
    "themselves, from Python code only, and the profile names them in data of another kind.",
    hint='Train it with gpupanel, or read the file in load() of your own (data.source = "python").',
)
_NO_FOLDS = Problem(
    code="script_without_folds",
    field="data.fold",
    message="A script does not divide examples into folds, as cross-validation does.",
    hint="Take data.fold out: a part of the same size is then held out.",
)
