"""What is asked about a profile's data, and the profile with what the answer fills in."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.preview import DataPreview, EvaluatedPreview, PreviewRequest
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import SettingType, settings_of


def preview_request(profile: Profile, example_limit: int = 0) -> PreviewRequest:
    """What to preview before that profile starts."""
    model = profile.model if profile.model.chosen_paths else None
    return PreviewRequest(
        data=profile.data,
        model=model,
        task=profile.task,
        seed=profile.training.seed,
        example_limit=example_limit,
        inference=profile.inference,
    )


def with_detected(profile: Profile, preview: DataPreview) -> Profile:
    """The profile with everything filled in that a preview of its data detected.

    A path that was found is that of a set: within the one that was chosen, or where none was.
    """
    data = profile.data
    paths = {each.name for each in settings_of(type(data)) if each.type is SettingType.PATH}
    taken = {
        name: value
        for name, value in preview.found.items()
        if name in paths or _takes(data, name, value)
    }
    if taken:
        chosen = type(data).model_validate({**data.model_dump(), **taken})
        profile = profile.model_copy(update={"data": chosen})
    return _with_evaluated(profile, preview.evaluated)


def _with_evaluated(profile: Profile, evaluated: EvaluatedPreview | None) -> Profile:
    """The profile with the examples that are evaluated, if it leaves them open."""
    if evaluated is None or not profile.leaves_examples_open:
        return profile
    inference = profile.inference.model_copy(update={"examples": evaluated.which})
    profile = profile.model_copy(update={"inference": inference})
    how = evaluated.held_out
    if how is None or not how.held_out_fraction:
        return profile
    # As its training divided the same examples, whatever the profile says of that.
    divided = {"validation_fraction": how.held_out_fraction, "validation_path": ""}
    divided |= {"holdout": how.holdout, "stratify": how.stratify, "fold": how.fold}
    known = {key: value for key, value in divided.items() if hasattr(profile.data, key)}
    data = profile.data.model_copy(update=known)
    training = profile.training.model_copy(update={"seed": how.seed})
    return profile.model_copy(update={"data": data, "training": training})


def _takes(data: DataSettings, name: str, found: int | str | tuple[str, ...]) -> bool:
    """Whether what was found stands in place of nothing, or of a list that is part of it."""
    chosen = getattr(data, name, "")
    is_part = isinstance(chosen, tuple) and isinstance(found, tuple) and set(chosen) < set(found)
    return chosen is None or is_part
