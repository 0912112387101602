"""Labels that are arrays, losses and metrics of one's own: what does not fit is said, by name."""

import json
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import StepsDone
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from tests.forked.processes import run_forked
from tests.unit.trainer.array_code import (
    BOTH_PICTURES,
    CHAINED_TASKS,
    CODER,
    DIGITS,
    FLAGS,
    FLAT,
    FOUR_TASKS,
    INPUTS,
    JOINED,
    LINE,
    LISTED_TASKS,
    MASKS,
    OWN,
    OWN_TASKS,
    PIXELS,
    SEQUENCE,
    SERIES,
    TASKS,
    TO_CLASSES,
    TO_FLAG,
    TWICE_TASKS,
    TWO_PICTURES,
    array_profile,
    with_code,
)
from tests.unit.trainer.conftest import MakeRun, StartTrainer
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT, SGD

pytestmark = pytest.mark.tensorflow

ROWS = "import numpy as np\ndef load(): return np.ones((6, 8)), np.arange(6) % 3\n"


def with_loss(body: str, more: str = "") -> str:
    return f"{SEQUENCE}\ndef loss(labels, outputs):\n    {body}\n{more}"


def with_metrics(metrics: str) -> str:
    near = "def near(labels, outputs):\n    return outputs[:, 0, 0]"
    return f"{SEQUENCE}\n{near}\nmetrics = {metrics}\n"


SAID: dict[str, tuple[str, str, str, str, str]] = {
    "masks": (MASKS, TO_CLASSES, "classes", "fine", ""),
    "logits of masks": (MASKS, TO_CLASSES.replace('"softmax"', "None"), "classes", "fine", ""),
    "masks with another number of classes": (
        MASKS,
        TO_CLASSES.replace("outputs[-1]", "2"),
        "classes",
        "user_code_model_misfit",
        "it gives (8, 8, 2) an example, but labels (8, 8) of 3 classes need (8, 8, 3)",
    ),
    "masks that end in a sigmoid": (
        MASKS,
        TO_CLASSES.replace('"softmax"', '"sigmoid"'),
        "classes",
        "user_code_model_misfit",
        "it ends in sigmoid, but logits or a softmax are needed",
    ),
    "masks with a softmax over a side": (
        MASKS,
        TO_CLASSES.replace(
            'layers.Conv2D(outputs[-1], 1, activation="softmax")(both)',
            "layers.Softmax(axis=1)(layers.Conv2D(3, 1)(both))",
        ),
        "classes",
        "model_outputs_unknown",
        "probabilities or logits",
    ),
    "a mask with one channel": (FLAGS, TO_FLAG, "labels", "fine", ""),
    "a mask of other sides": (
        FLAGS,
        TO_FLAG.replace("(both))", "(layers.MaxPooling2D()(both)))"),
        "labels",
        "user_code_model_misfit",
        "it gives (4, 4, 1) an example, but labels (8, 8) of 0 or 1 need (8, 8)",
    ),
    "a mask for values": (FLAGS, TO_FLAG, "values", "fine", ""),
    "classes that are none": (
        SERIES,
        TO_CLASSES,
        "classes",
        "data_labels_not_integer",
        "but the class of each place must be a whole number",
    ),
    "flags that are none": (
        MASKS,
        TO_FLAG,
        "labels",
        "data_labels_not_zero_or_one",
        "each place of its arrays is true or not",
    ),
    "an autoencoder": (PIXELS, CODER, "values", "fine", ""),
    "an autoencoder of another shape": (
        PIXELS,
        CODER.replace("Reshape(outputs)", "Reshape((4, 16, 1))"),
        "values",
        "user_code_model_misfit",
        "but examples (8, 8, 1), which are what is to be predicted, need (8, 8, 1)",
    ),
    "no labels, and classes": (
        PIXELS,
        CODER,
        "classes",
        "user_code_data_misfit",
        'there is no "y"',
    ),
    "own": (SERIES, OWN, "values", "fine", ""),
    "a metric beside what follows from the labels": (ROWS, DIGITS, "classes", "fine", ""),
    "several inputs": (INPUTS, JOINED, "classes", "fine", ""),
    "several inputs in a dictionary": (TWO_PICTURES, BOTH_PICTURES, "classes", "fine", ""),
    "several inputs that end in a sigmoid": (
        INPUTS,
        JOINED.replace('"softmax"', '"sigmoid"'),
        "classes",
        "user_code_model_misfit",
        "it ends in sigmoid",
    ),
    "an input of another name": (
        INPUTS,
        JOINED.replace('name="row"', 'name="table"'),
        "classes",
        "user_code_model_misfit",
        (
            "its inputs are scene (8, 8, 1), table (3,), words (5,), but examples have "
            "words (5,), scene (8, 8, 1), row (3,)"
        ),
    ),
    "an input of another shape": (
        INPUTS,
        JOINED.replace('keras.Input(input_shape["row"]', "keras.Input((4,)"),
        "classes",
        "user_code_model_misfit",
        "its inputs are scene (8, 8, 1), row (4,), words (5,), but examples have",
    ),
    "one input for several": (
        INPUTS,
        DIGITS.replace("keras.Input(input_shape)", "keras.Input((3,), name='row')"),
        "classes",
        "user_code_model_misfit",
        "its inputs are row (3,), but examples have words (5,), scene (8, 8, 1), row (3,)",
    ),
    "several inputs for one": (
        ROWS,
        BOTH_PICTURES.replace("input_shape.items()", '[("a", (8,)), ("b", (8,))]'),
        "classes",
        "user_code_model_misfit",
        "it has 2 inputs and 1 outputs",
    ),
    "a sequential model for several": (
        INPUTS,
        DIGITS.replace("keras.Input(input_shape),", ""),
        "classes",
        "user_code_model_misfit",
        "it is sequential, and its input has no name",
    ),
    "a mask of any size": (
        MASKS,
        TO_CLASSES.replace("keras.Input(input_shape)", "keras.Input((None, None, 1))"),
        "classes",
        "fine",
        "",
    ),
    "several outputs": (TASKS, FOUR_TASKS, "classes", "fine", ""),
    "several outputs in a list, by the names of layers": (
        TASKS,
        LISTED_TASKS,
        "classes",
        "fine",
        "",
    ),
    "outputs behind what another one is made of": (TASKS, TWICE_TASKS, "classes", "fine", ""),
    "a loss of several outputs": (TASKS, OWN_TASKS, "classes", "fine", ""),
    "outputs of which one is made of another": (TASKS, CHAINED_TASKS, "classes", "fine", ""),
    "an output of another name": (
        TASKS,
        FOUR_TASKS.replace('"tags": layers', '"flags": layers'),
        "classes",
        "user_code_model_misfit",
        (
            "its outputs are corner (3,), mask (8, 8, 3), spread (1,), flags (2,), but the labels "
            "need mask (8, 8, 3), spread (1,), tags (2,), corner (3,)"
        ),
    ),
    "an output of another shape": (
        TASKS,
        FOUR_TASKS.replace("layers.Dense(1)", "layers.Dense(2)"),
        "classes",
        "user_code_model_misfit",
        "spread (2,), tags (2,), but the labels need mask (8, 8, 3), spread (1,)",
    ),
    "an output that ends in something else": (
        TASKS,
        FOUR_TASKS.replace('"sigmoid"', '"softmax"'),
        "classes",
        "user_code_model_misfit",
        "of its output tags, it ends in softmax, but logits or a sigmoid are needed",
    ),
    "one output for several": (
        TASKS,
        TO_CLASSES.replace("outputs[-1]", "3"),
        "classes",
        "user_code_model_misfit",
        "but the labels need mask (8, 8, 3), spread (1,)",
    ),
    "weights of no output": (
        TASKS,
        FOUR_TASKS.replace('"spread": 0.25', '"age": 0.25'),
        "classes",
        "user_code_loss_misfit",
        "it names age, and the outputs with labels of their own are mask, spread, tags, corner",
    ),
    "weights that are none": (
        TASKS,
        FOUR_TASKS.replace("0.25", "-1"),
        "classes",
        "user_code_loss_misfit",
        "is not a dictionary of numbers of at least 0",
    ),
    "weights beside a loss": (
        TASKS,
        OWN_TASKS.replace("ignored", "loss_weights"),
        "classes",
        "user_code_loss_misfit",
        "a loss of your own weights its parts itself",
    ),
    "weights of one output": (
        MASKS,
        TO_CLASSES + "loss_weights = {'mask': 2}\n",
        "classes",
        "user_code_loss_misfit",
        "it names mask, and the outputs with labels of their own are none",
    ),
    "a metric that is measured": (
        TASKS,
        FOUR_TASKS + "metrics = {'mask_loss': lambda labels, outputs: labels['spread']}\n",
        "classes",
        "user_code_loss_misfit",
        "mask_loss is measured of an output already",
    ),
    "a metric of the whole batch": (
        TASKS,
        OWN_TASKS.replace(
            "def off(labels, outputs):",
            "def off(labels, outputs):\n    labels = {'spread': keras.ops.mean(labels['spread'])}",
        ),
        "classes",
        "user_code_loss_misfit",
        "off of model-",
    ),
    "a metric of several inputs": (
        INPUTS,
        JOINED + "\nmetrics = {'sure': lambda labels, outputs: keras.ops.max(outputs, axis=1)}\n",
        "classes",
        "fine",
        "",
    ),
    "one number for the batch": (
        SERIES,
        with_loss("return ops.mean(ops.abs(labels - outputs))"),
        "values",
        "user_code_loss_misfit",
        "gives () float32 numbers for labels (1, 6, 2) and outputs (1, 6, 2); one number for each",
    ),
    "a number for each place": (
        SERIES,
        with_loss("return ops.mean(ops.abs(labels - outputs), axis=2)"),
        "values",
        "user_code_loss_misfit",
        "gives (1, 6) float32 numbers",
    ),
    "means over the examples": (
        SERIES,
        with_loss("return ops.mean(ops.abs(labels - outputs), axis=(0, 2))"),
        "values",
        "user_code_loss_misfit",
        "gives (6,) numbers for labels (1, 6, 2)",
    ),
    "of the whole batch": (
        SERIES,
        with_loss("return ops.mean(ops.abs(labels - ops.mean(labels, axis=0)), axis=(1, 2))"),
        "values",
        "user_code_loss_misfit",
        "the number of an example depends on the others",
    ),
    "of all pairs of examples": (
        FLAT,
        LINE.replace("square(outputs[:, 0] - labels)", "mean(outputs - labels, axis=1)"),
        "values",
        "user_code_loss_misfit",
        "labels (2,) and outputs (2, 1): the number of an example depends on the others",
    ),
    "two numbers": (
        SERIES,
        with_loss("return labels[:, 0], outputs"),
        "values",
        "user_code_loss_misfit",
        "gives a tuple for labels",
    ),
    "nothing": (SERIES, with_loss("pass"), "values", "user_code_loss_misfit", "gives a NoneType"),
    "an error": (
        SERIES,
        with_loss("return labels @ outputs.missing"),
        "values",
        "user_code_failed",
        "failed in line 13, in loss: AttributeError:",
    ),
    "other shapes": (
        SERIES,
        with_loss("return ops.mean(labels - outputs[:, :5], axis=(1, 2))"),
        "values",
        "user_code_failed",
        "failed in line 13, in loss:",
    ),
    "a loss that is no function": (
        SERIES,
        f"{SEQUENCE}\nloss = 'mse'\n",
        "values",
        "user_code_loss_misfit",
        "is a str, not a function",
    ),
    "metrics in a list": (
        SERIES,
        with_metrics("[near]"),
        "values",
        "user_code_loss_misfit",
        "is not a dictionary of functions",
    ),
    "a metric of a known name": (
        SERIES,
        with_metrics("{'accuracy': near}"),
        "values",
        "user_code_loss_misfit",
        "the program measures one of that name",
    ),
    "a metric of the validation": (
        SERIES,
        with_metrics("{'val_near': near}"),
        "values",
        "user_code_loss_misfit",
        "those of other sets",
    ),
    "too many metrics": (
        SERIES,
        with_metrics("{f'near_{n}': near for n in range(21)}"),
        "values",
        "user_code_loss_misfit",
        "has 21 functions",
    ),
    "metrics that are imported": (SERIES, SEQUENCE, "values", "fine", ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder, arguments = tmp_path_factory.mktemp("own"), list[str]()
    for number, (data, model, predicts, *_) in enumerate(SAID.values()):
        for text, of in ((data, "data"), (model, "model")):
            path = folder / f"{of}-{number}.py"
            path.write_text(text)
            arguments.append(str(path))
        arguments.append(predicts)
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("try_own_code.py")), *arguments],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(zip(SAID, json.loads(done.stdout), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("name", SAID)
def test_that_what_does_not_fit_is_said_before_anything_is_learned(
    said: dict[str, list[str]], name: str
) -> None:
    code, message = said[name]
    *_, wanted, words = SAID[name]
    assert (code, words in message) == (wanted, True), message


def test_that_an_error_while_a_loss_is_traced_is_shown_at_its_line(
    tmp_path: Path, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    profile = array_profile("own", tmp_path, SGD, mirrored)
    model = Path(profile.model.chosen_path)
    # Without a graph a tensor is true or not.
    model.write_text(with_loss("return ops.mean(outputs if outputs[0, 0, 0] else 0.0, (1, 2))"))
    trainer = start_trainer(with_code(make_run)(tmp_path / "run", profile, [48, 16]))

    problem = trainer.ended().problem
    assert problem is not None
    assert (problem.code, problem.field) == ("user_code_failed", "model.path")
    assert f"{model} failed in line 13, in loss" in problem.message
    assert not [event for event in trainer.events() if isinstance(event, StepsDone)]
