"""What a person chooses about the task, and what has to change with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.data import DEFAULT_DATA, DataSettings
from gpupanel.domain.hours import HoursText
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.kind import Kind
from gpupanel.domain.model import DEFAULT_MODEL, ModelSettings, saved_model
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.setting import settings_of
from gpupanel.domain.strategy import PROGRAM_KINDS, StrategyKind, StrategySettings
from gpupanel.domain.task import Task
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import as_utf8
from gpupanel.planning.rules.inference_rules import inference_kinds
from gpupanel.ui.dropped_files import IMAGE_FILES, is_folder, kind_of_files, kind_to_predict_on

_REPLACED: Final = {
    "data": DEFAULT_DATA,
    "model": DEFAULT_MODEL,
    "training": TrainingSettings(),
    "inference": InferenceSettings(),
    "cluster": None,
}
"""What a program of the person's own stands in the place of, as its profile has it: not at all."""


class TaskChoices(Value):
    """What the task panel edits: the keys ``task`` and ``hours``, and the ``[inference]`` table."""

    task: Task = "train"
    inference: InferenceSettings = InferenceSettings()
    hours: HoursText | None = None

    @classmethod
    def of(cls, profile: Profile) -> "TaskChoices":
        """Those of a profile."""
        return cls(task=profile.task, inference=profile.inference, hours=profile.hours)


class TaskSwitch:
    """Takes a profile from one task to another, and gives back what training was set to.

    Training may be divided in six ways; evaluating and predicting take a saved model and put it on
    one device or on each. A program of the person's own has neither data nor model.
    """

    def __init__(self) -> None:
        self._model: ModelSettings = DEFAULT_MODEL
        self._strategy: StrategySettings | None = None
        self._saved = saved_model()
        self._replaced: Profile | None = None
        self._script = ScriptSettings(path="")
        self._script_strategy: StrategySettings | None = None

    @property
    def task_before_program(self) -> Task:
        """What was to be done before a program was to run."""
        return "train" if self._replaced is None else self._replaced.task

    def remember(self, profile: Profile) -> None:
        """Keep what this profile says about its task, for when a person comes back to it."""
        if profile.script is not None:
            self._script, self._script_strategy = profile.script, profile.strategy
            return
        if profile.model.is_saved:
            self._saved = profile.model
        if profile.task == "train":
            self._model = profile.model

    def switched(self, profile: Profile, choices: TaskChoices) -> Profile:
        """The profile with that task, and with the model and strategy that it can have."""
        profile = profile.model_copy(update={"hours": choices.hours})
        if choices.task == "script":
            return self._with_program(profile)
        if profile.script is not None:
            profile = self._without_program(profile)
            choices = choices.model_copy(update={"inference": profile.inference})
        update: dict[str, object] = {"task": choices.task, "inference": choices.inference}
        trains = choices.task == "train"
        if trains and profile.task != "train":
            update["model"] = self._model
            update["strategy"] = self._strategy or profile.strategy
        elif not trains and profile.task == "train":
            self._strategy = profile.strategy
            update["model"] = self._saved
            update["strategy"] = _for_inference(profile)
        return profile.model_copy(update=update)

    def _with_program(self, profile: Profile) -> Profile:
        if profile.script is not None:
            return profile
        self._replaced = profile
        of_program = {"task": "script", "script": self._script}
        strategy = self._script_strategy or _for_program(profile.strategy)
        return profile.model_copy(update={**_REPLACED, **of_program, "strategy": strategy})

    def _without_program(self, profile: Profile) -> Profile:
        """As it was before the program; the devices, and what else both have, stay."""
        before = self._replaced
        if before is None:
            return profile.model_copy(update={"task": "train", "script": None})
        kept = {name: getattr(before, name) for name in (*_REPLACED, "task", "strategy")}
        return profile.model_copy(update={**kept, "script": None})


def name_after_model(what: str, trained: Profile | None, model_path: str) -> str:
    """What an evaluation or prediction with the model of a run is called.

    Args:
        what: "evaluation", "predictions".
        trained: As the run was started; ``None`` when that cannot be read any more.
        model_path: The model that the run saved.
    """
    name = as_utf8(Path(model_path).parent.name) if trained is None else trained.name
    while name.startswith(_NAMED):
        name = name.partition(" of ")[2]
    return f"{what} of {name or 'a model'}"


_NAMED = ("evaluation of ", "predictions of ")


def evaluating(
    profile: Profile, trained: Profile | None, model_path: str, *, was_measured: bool = False
) -> Profile:
    """The profile that measures what a run has learned, on the data that it learned from.

    Args:
        profile: One whose task is ``evaluate``.
        trained: As the run was started; ``None`` when that cannot be read any more.
        model_path: The model that the run saved.
        was_measured: The run had a validation or a test set, found in its data if not chosen.
    """
    measures = ""
    if trained is not None and trained.model.is_code:
        # As it was trained: the file that the person has may be another one by now.
        kept = RunLayout(Path(model_path).parent).model_code
        measures = str(kept) if kept.is_file() else ""
    update: dict[str, object] = {"model": saved_model(model_path, measures)}
    if trained is not None:
        data = trained.data
        has_set = data.held_out_fraction or data.has_validation_set or data.chosen_test_path
        held_back = "validation" if has_set or was_measured else "automatic"
        update["data"] = data
        # The same seed, so that the same examples are held back.
        update["training"] = trained.training
        update["inference"] = profile.inference.model_copy(update={"examples": held_back})
    return profile.model_copy(update=update)


def predicting(
    profile: Profile, trained: Profile | None, model_path: str, paths: Sequence[str]
) -> Profile:
    """The profile that predicts on these, made ready as the examples that the model knows.

    Args:
        profile: One whose task is ``predict``.
        trained: As the run was started; ``None`` when that cannot be read any more.
        model_path: The model.
        paths: Files, or a folder alone; none: a person chooses them then.
    """
    data = _examples(profile.data if trained is None else trained.data, trained, paths)
    if data is None:
        return profile
    whole = profile.inference.model_copy(update={"examples": "automatic"})
    update = {"model": saved_model(model_path), "data": data, "inference": whole}
    return profile.model_copy(update=update)


def predicting_with(trained: Profile, model_path: str, paths: Sequence[str] = ()) -> Profile:
    """The profile that predicts with the model of a run as the run itself was set up.

    Args:
        trained: As the run was started.
        model_path: The model that it saved.
        paths: As :func:`predicting` takes them.
    """
    choices = TaskChoices(task="predict", inference=trained.inference)
    return predicting(TaskSwitch().switched(trained, choices), trained, model_path, paths)


def _examples(
    known: DataSettings, trained: Profile | None, paths: Sequence[str]
) -> DataSettings | None:
    """The data with these files, read as what is known; ``None``: no data is read from them.

    Args:
        known: What the model learned from, or the data of the session.
        trained: See :func:`predicting`.
        paths: None: the data as it is.
    """
    if not paths:
        return known
    place = known.path_setting
    if trained is not None and place is not None and _are_read_alike(known, paths):
        # Nothing is predicted on the sets that the training had beside.
        without = {name: "" for name in _FURTHER_SETS if hasattr(known, name)}
        return known.model_copy(update={place.name: paths[0], **without})
    kind = kind_to_predict_on(paths)
    if kind is None:
        return None
    data: DataSettings = kind.new(**_shared(known, kind))
    if data.path_setting is None:
        return None
    if kind_of_files(paths) is None:
        return data.model_copy(update={data.path_setting.name: paths[0]})
    return data.with_files(tuple(paths))


def predicted_files(data: DataSettings) -> tuple[str, ...]:
    """How files end on which a model that learned from that data can predict.

    Of a table or arrays those of the same kind; else images.
    """
    return _suffixes(data) or IMAGE_FILES


def can_predict_on(trained: Profile | None, paths: Sequence[str]) -> bool:
    """Whether a model can be given these files: pictures, or data such as that of its training.

    Args:
        trained: As the run was started; ``None`` when that cannot be read any more.
        paths: What somebody gives it.
    """
    is_alike = trained is not None and _are_read_alike(trained.data, paths)
    return is_alike or kind_to_predict_on(paths) is not None


def _are_read_alike(data: DataSettings, paths: Sequence[str]) -> bool:
    """Whether that is one file, or a folder, of the kind that the data was read from."""
    if len(paths) != 1:
        return False
    # Other folders are of images, also where the training's examples were records of these.
    is_of_texts = data.asked_kind is AskedKind.TEXT and is_folder(paths[0])
    return is_of_texts or Path(paths[0]).suffix.lower() in _suffixes(data)


def _suffixes(data: DataSettings) -> tuple[str, ...]:
    """How the files end that this data is read from; none: it is a folder, or no file."""
    chosen = data.path_setting
    return () if chosen is None or chosen.path is None else chosen.path.suffixes


def _shared(data: DataSettings, kind: Kind) -> dict[str, object]:
    """What both kinds ask for about an example, such as its size."""
    if data.picture is not None and data.picture.is_as_in_files:
        return {"image_size": data.picture.size, "color": data.picture.color}
    names = {each.name for each in settings_of(kind.values) if each.name in _OF_AN_EXAMPLE}
    return {name: getattr(data, name) for name in names if hasattr(data, name)}


_FURTHER_SETS = ("validation_path", "test_path")
_OF_AN_EXAMPLE = ("image_size", "color")


def _for_program(strategy: StrategySettings) -> StrategySettings:
    """The same kind where a program can have it; else it runs as it is."""
    is_possible = strategy.kind in PROGRAM_KINDS
    return StrategySettings(kind=strategy.kind if is_possible else StrategyKind.ONE_DEVICE)


def _for_inference(profile: Profile) -> StrategySettings:
    strategy, kinds = profile.strategy, inference_kinds(profile)
    if strategy.kind not in kinds:
        return StrategySettings(kind=kinds[-1])
    # A batch of another size cannot be divided into the numbers that were given for training.
    return strategy.model_copy(update={"shares": "equal"})
