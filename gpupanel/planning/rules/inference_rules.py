"""What the tasks ``evaluate`` and ``predict`` need, and what a saved model is good for."""

from gpupanel.domain.data import KerasData, PythonData
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind

INFERENCE_KINDS = (StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED)
"""The strategies that hold a whole model on each device of one process."""

_WORDS = {"evaluate": "Evaluating", "predict": "Predicting"}


def inference_problems(profile: Profile) -> list[Problem]:
    """Every problem of a saved model, and of the tasks that use one."""
    if profile.task == "train":
        return _not_trainable(profile)
    return [*_no_saved_model(profile), *_strategy(profile), *_nothing_held_back(profile)]


def matters_to_task(profile: Profile, problem: Problem) -> bool:
    """Whether what a look at the data found matters to what the profile does with it.

    Predicting needs no labels.
    """
    if profile.task == "train":
        return True
    if problem.code == "data_validation_fraction":
        return profile.inference.examples != "all"
    is_labels = problem.code == "data_array_missing" and problem.field == "data.labels"
    return profile.task == "evaluate" or not is_labels


def _not_trainable(profile: Profile) -> list[Problem]:
    if not isinstance(profile.model, SavedModel):
        return []
    return [
        Problem(
            code="saved_model_not_trainable",
            field="model.source",
            message="A saved model can be evaluated and can predict, but is not trained further.",
            hint="Evaluate it, or choose a model that is built and trained here.",
            fix=Fix(label="Evaluate it", changes=(Change(path=("task",), value="evaluate"),)),
        )
    ]


def _no_saved_model(profile: Profile) -> list[Problem]:
    doing = _WORDS[profile.task]
    if not isinstance(profile.model, SavedModel):
        return [
            Problem(
                code="inference_needs_saved_model",
                field="model.source",
                message=f"{doing} takes a model that was trained and saved before.",
                hint="Choose a saved model: a .keras file, such as model.keras of a run.",
                fix=Fix(
                    label="Use a saved model",
                    changes=(Change(path=("model",), value={"source": "saved"}),),
                ),
            )
        ]
    if profile.model.path:
        return []
    return [
        Problem(
            code="model_path_missing",
            field="model.path",
            message="No saved model was chosen.",
            hint="Choose a .keras file, such as model.keras in the folder of a run.",
        )
    ]


def _strategy(profile: Profile) -> list[Problem]:
    kind = profile.strategy.kind
    if kind not in INFERENCE_KINDS:
        return [
            Problem(
                code="strategy_not_for_inference",
                field="strategy.kind",
                message=f"{_WORDS[profile.task]} puts the whole model on each device, in one "
                f"process; the strategy {kind} is for training.",
                hint="Use mirrored for several devices, one_device for one.",
                fix=Fix(
                    label="Use mirrored",
                    changes=(Change(path=("strategy", "kind"), value=StrategyKind.MIRRORED.value),),
                ),
            )
        ]
    if profile.strategy.shares != "balanced":
        return []
    return [
        Problem(
            code="balanced_is_for_training",
            severity=Severity.HINT,
            field="strategy.shares",
            message="Shares are measured in training only; here every device takes an equal one.",
            hint="Set shares by hand if one device is faster.",
            fix=Fix(
                label="Use equal shares",
                changes=(Change(path=("strategy", "shares"), value="equal"),),
            ),
        )
    ]


def _nothing_held_back(profile: Profile) -> list[Problem]:
    """Sources with a test set of their own validate on it when no fraction is given.

    Whether Python code brings one is known when it runs.
    """
    fraction, data = profile.data.validation_fraction, profile.data
    may_have_test_set = fraction is None and isinstance(data, KerasData | PythonData)
    if profile.inference.examples != "validation" or fraction or may_have_test_set:
        return []
    return [
        Problem(
            code="inference_no_validation_examples",
            field="inference.examples",
            message="There are no validation examples: the data holds none back.",
            hint="Take all examples, or hold back the fraction that training did.",
            fix=Fix(
                label="Take all examples",
                changes=(Change(path=("inference", "examples"), value="all"),),
            ),
        )
    ]
