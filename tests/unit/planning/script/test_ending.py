"""What a script does about a softmax or sigmoid that a model ends in."""

import pytest

from gpupanel.domain.data import NpzData, Target
from gpupanel.domain.model import Head, Outputs, PythonModel, SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.ending import with_logits
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY


@pytest.mark.parametrize(
    ("target", "ending", "of_labels"),
    [
        (Target.CLASSES, "softmax", False),
        (None, "softmax", False),
        (Target.LABELS, "sigmoid", True),
    ],
)
def test_that_an_ending_is_taken_off_and_said_probabilities_get_logarithms(
    target: Target | None, ending: str, *, of_labels: bool
) -> None:
    plain = with_logits(SavedModel(path="/m.keras"), target)
    assert f'if ending == "{ending}":' in plain
    assert "with_logarithms" not in plain
    said = with_logits(PythonModel(path="/m.py", outputs=Outputs.PROBABILITIES), target)
    assert said.endswith(f"network = with_logarithms(network, of_labels={of_labels})")
    assert with_logits(SavedModel(path="/m.keras", outputs=Outputs.LOGITS), target) == plain


def test_that_values_are_left_as_they_are() -> None:
    assert not with_logits(SavedModel(path="/m.keras"), Target.VALUES)


@pytest.mark.parametrize(
    ("model", "task", "is_needed"),
    [
        (SavedModel(path="/m.keras"), "train", True),
        (SavedModel(path="/m.keras", head=Head.NEW), "train", False),
        (SavedModel(path="/m.keras", outputs=Outputs.PROBABILITIES), "evaluate", True),
        (PythonModel(path="/m.py"), "train", True),
    ],
)
def test_that_a_script_looks_for_an_ending_where_it_keeps_the_last_layer(
    model: SavedModel | PythonModel, task: str, *, is_needed: bool
) -> None:
    data = NpzData(path="/x.npz", predicts=Target.CLASSES)
    profile = Profile.model_validate({"task": task, "data": data, "model": model})
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = stand_alone_script(profile, plan)
    compile(text, "script.py", "exec")
    assert ("def ending_of(" in text) is is_needed
    assert ("'probabilities'" in text) is (task == "evaluate")
