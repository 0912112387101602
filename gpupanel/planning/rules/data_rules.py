"""What data and model need of each other, as problems with stable codes."""

from gpupanel.domain.data import ImagesData, KerasData, NpzData, PythonData
from gpupanel.domain.model import CnnModel, PythonModel, SavedModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.rules.inference_rules import matters_to_task

_WITHOUT_PICTURES = ("imdb", "reuters", "boston_housing", "california_housing")


def data_problems(profile: Profile, preview: DataPreview | None) -> list[Problem]:
    """Every problem of the data, and of a model that does not fit it.

    Args:
        profile: What the person chose.
        preview: What a look at that data found; ``None`` while nobody looked.
    """
    missing = _path_missing(profile)
    if missing:
        return missing
    if preview is None or preview.problems or not preview.feature_shape:
        told = preview.problems if preview else ()
        return [
            *(problem for problem in told if matters_to_task(profile, problem)),
            *_source_has_no_pictures(profile),
        ]
    if profile.task != "train":
        return []
    return [
        *_model_does_not_fit(profile, preview.feature_shape),
        *_batch_above_examples(profile, preview),
    ]


def model_file_problems(profile: Profile, preview: DataPreview | None) -> tuple[Problem, ...]:
    """Why the file that holds the model, or its code, cannot be used by the task.

    Args:
        profile: What the person chose.
        preview: What a look at that file found; ``None`` while nobody looked.
    """
    uses_file = isinstance(profile.model, PythonModel if profile.task == "train" else SavedModel)
    return preview.model_problems if preview is not None and uses_file else ()


def _path_missing(profile: Profile) -> list[Problem]:
    data = profile.data
    if not isinstance(data, NpzData | ImagesData | PythonData) or data.path:
        return []
    what = {"npz": "file", "images": "folder of images", "python": "Python file"}[data.source]
    return [
        Problem(
            code="data_path_missing",
            field="data.path",
            message=f"No {what} was chosen.",
            hint=f"Choose a {what}.",
        )
    ]


def _source_has_no_pictures(profile: Profile) -> list[Problem]:
    data = profile.data
    if not isinstance(profile.model, CnnModel) or not isinstance(data, KerasData):
        return []
    return [_needs_pictures(data.source)] if data.source in _WITHOUT_PICTURES else []


def _model_does_not_fit(profile: Profile, feature_shape: tuple[int, ...]) -> list[Problem]:
    model = profile.model
    if not isinstance(model, CnnModel):
        return []
    if len(feature_shape) not in (2, 3):
        return [_needs_pictures(profile.data.source)]
    smallest = min(feature_shape[:2])
    if smallest >= model.smallest_side:
        return []
    most = smallest.bit_length() - 1
    if most < 1:
        return [_needs_pictures(profile.data.source)]
    return [
        Problem(
            code="model_pictures_too_small",
            field="model.filters",
            message=f"Pictures of {feature_shape[0]}x{feature_shape[1]} pixels are too small for "
            f"{len(model.filters)} convolutions: each halves both sides.",
            hint=f"Use at most {most} of them.",
            fix=Fix(
                label=f"Keep the first {most}",
                changes=(Change(path=("model", "filters"), value=list(model.filters[:most])),),
            ),
        )
    ]


def _needs_pictures(source: str) -> Problem:
    return Problem(
        code="model_needs_pictures",
        field="model.source",
        message=f"A convolutional network needs pictures, and {source} has none.",
        hint="Use dense layers (mlp).",
        fix=Fix(label="Use mlp", changes=(Change(path=("model",), value={"source": "mlp"}),)),
    )


def _batch_above_examples(profile: Profile, preview: DataPreview) -> list[Problem]:
    held_back = round(preview.example_count * (profile.data.validation_fraction or 0.0))
    trained_on = preview.example_count - held_back
    batch = profile.training.global_batch_size
    if batch <= trained_on:
        return []
    return [
        Problem(
            code="batch_above_examples",
            severity=Severity.WARNING,
            field="training.global_batch_size",
            message=f"The global batch size is {batch:,}, but only {trained_on:,} examples are "
            "trained on: each epoch is one smaller step.",
            hint="Use a smaller global batch.",
        )
    ]
