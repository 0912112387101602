"""What an exported script measures of a whole set is what scikit-learn does."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.data import Target
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.script_parts import part_text
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.figure_section import figure_section
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY

COUNT = 200
RANDOM = np.random.default_rng(4)


def figure(metric: BestMetric, target: Target, outputs: Any, labels: Any, **names: Any) -> float:
    text = figure_section(metric, target, "BATCH", averages=False)
    script: dict[str, Any] = {"np": np, **names}
    # Without what asks the model.
    exec(f"{part_text('scores')}\n{text[text.index('def figure(') :]}", script)
    return float(script["figure"](outputs, labels))


_MEASURED = """
import json, sys
from sklearn import metrics

asked = json.load(sys.stdin)
print(json.dumps([float(getattr(metrics, name)(*given, **more)) for name, *given, more in asked]))
"""


def by_scikit_learn(*asked: tuple[str, Any, Any, dict[str, str]]) -> list[float]:
    """What scikit-learn finds, in a process of its own: it sets what forked ones inherit."""
    questions = [(name, truth.tolist(), given.tolist(), more) for name, truth, given, more in asked]
    command = [sys.executable, "-P", "-c", _MEASURED]
    done = subprocess.run(
        command, input=json.dumps(questions), capture_output=True, text=True, check=True
    )
    found: list[float] = json.loads(done.stdout)
    return found


def test_that_the_f1_is_that_of_scikit_learn() -> None:
    classes = RANDOM.integers(0, 3, COUNT)  # the last one of four is only predicted
    outputs = RANDOM.normal(size=(COUNT, 4)).astype(np.float32)
    labels = (RANDOM.random((COUNT, 4)) < 0.3).astype(np.uint8)
    macro = {"average": "macro"}
    of_classes, of_labels = by_scikit_learn(
        ("f1_score", classes, outputs.argmax(axis=1), macro),
        ("f1_score", labels, outputs > 0, macro),
    )
    assert figure(BestMetric.F1, Target.CLASSES, outputs, classes) == pytest.approx(of_classes)
    assert figure(BestMetric.F1, Target.LABELS, outputs, labels) == pytest.approx(of_labels)


@pytest.mark.slow
def test_that_the_area_is_that_of_scikit_learn() -> None:
    outputs = RANDOM.integers(0, 9, (COUNT, 2)).astype(np.float32)  # with many ties
    classes = RANDOM.integers(0, 2, COUNT)
    labels = (RANDOM.random((COUNT, 2)) < 0.3).astype(np.uint8)
    of_classes, of_first, of_both = by_scikit_learn(
        ("roc_auc_score", classes, outputs[:, 1] - outputs[:, 0], {}),
        ("roc_auc_score", labels[:, 0], outputs[:, 0], {}),
        ("roc_auc_score", labels, outputs, {}),
    )
    assert figure(BestMetric.AUC, Target.CLASSES, outputs, classes) == pytest.approx(of_classes)
    assert figure(BestMetric.AUC, Target.LABELS, outputs, labels) == pytest.approx(of_both)
    labels[:, 1] = 1  # a label that all have has none
    assert figure(BestMetric.AUC, Target.LABELS, outputs, labels) == pytest.approx(of_first)


def test_that_the_coefficient_of_determination_is_that_of_scikit_learn() -> None:
    values = (RANDOM.normal(size=(COUNT, 2)) * (3.0, 20.0) + (50.0, -900.0)).astype(np.float32)
    mean, unit = values.mean(axis=0), values.std(axis=0)
    outputs = ((values - mean) / unit + RANDOM.normal(size=values.shape) * 0.5).astype(np.float32)
    found = figure(BestMetric.R2, Target.VALUES, outputs, values, MEAN=mean, UNIT=unit)
    (wanted,) = by_scikit_learn(("r2_score", values, outputs * unit + mean, {}))
    assert found == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    ("training", "has_figure"),
    [
        (TrainingSettings(best_metric=BestMetric.F1), True),
        (TrainingSettings(best_metric=BestMetric.F1, keep=Keep.LAST), False),
        (
            TrainingSettings(
                best_metric=BestMetric.F1, keep=Keep.LAST, early_stopping_patience=2, ema=0.9
            ),
            True,
        ),
        (TrainingSettings(best_metric=BestMetric.ACCURACY), False),
    ],
)
def test_that_a_script_measures_what_decides(training: TrainingSettings, has_figure: bool) -> None:
    profile = Profile(devices=DeviceSettings(visible=("cpu",)), training=training)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    script = stand_alone_script(profile, plan)
    compile(script, "script.py", "exec")
    assert ("value = -figure(outputs_of(x_val), y_val)" in script) is has_figure
    assert ("def figure(" in script) is has_figure


def test_that_what_accumulates_is_measured_in_parts() -> None:
    for steps, size in ((1, "BATCH"), (4, "15")):
        training = TrainingSettings(
            global_batch_size=63, accumulation_steps=steps, best_metric=BestMetric.F1
        )
        profile = Profile(devices=DeviceSettings(visible=("cpu",)), training=training)
        plan = prepare(profile, CPU_ONLY).plan
        assert plan is not None
        script = stand_alone_script(profile, plan)
        assert f"range(0, len(features), {size})" in script
        assert ("np.arange(len(x_val)), size=15)" in script) is (steps > 1)


def test_that_what_was_validated_is_asked() -> None:
    for averages in (True, False):
        text = figure_section(BestMetric.F1, None, "BATCH", averages=averages)
        assert ("for average in averages" in text) is averages
