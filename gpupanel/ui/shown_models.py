"""The models of the run that is shown, as far as there are any."""

from pathlib import Path

from gpupanel.ui.run_control import RunControl


def model_of_shown(control: RunControl) -> str:
    """Path of the model that the shown run saved, or took; empty where there is none."""
    facts, status = control.shown_facts, control.shown_status
    if facts is None or facts.profile is None or status is None:
        return ""
    if facts.profile.task != "train":
        return facts.profile.model.chosen_path
    return str(facts.layout.model) if status.model is not None else ""


def other_model(control: RunControl) -> Path | None:
    """The model with the weights that the shown run did not keep; ``None`` where there is none."""
    facts, status = control.shown_facts, control.shown_status
    saved = None if status is None else status.model_saved
    if facts is None or saved is None or not saved.other_path:
        return None
    return facts.layout.other_model(is_best=not saved.is_best)
