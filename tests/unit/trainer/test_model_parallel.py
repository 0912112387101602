"""Layers on several devices learn what one device learns, and work where they were put."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.data import DataSettings, DigitsData, TableData, TextData
from gpupanel.domain.event_details import PlacedLayer
from gpupanel.domain.events import LayersPlaced
from gpupanel.domain.model import (
    CnnModel,
    MlpModel,
    ModelSettings,
    ResNetModel,
    TabularModel,
    TransformerModel,
)
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.plan import LaunchPlan, LogicalPlace
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.rules.placement_rules import placeable_layers
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.following.validation_history import read_validation_history
from tests.benchmarks.bench_pipeline import measured
from tests.forked.processes import run_forked
from tests.grouped import Grouped
from tests.unit.trainer.conftest import MakeRun, cpu_plan
from tests.unit.trainer.test_the_rule_for_networks import write_prices
from tests.unit.trainer.text_folders import reviews, write_table
from tests.unit.trainer.trained_runs import (
    all_events,
    evaluation,
    furthest,
    gradient_norm,
    last_metrics,
    variables,
)

pytestmark = pytest.mark.tensorflow

SGD = TrainingSettings(
    epochs=3,
    optimizer=Optimizer.SGD,
    learning_rate=0.1,
    momentum=0.9,
    clip_norm=0.5,
    keep=Keep.LAST,
)
ADAM = TrainingSettings(
    epochs=3,
    optimizer=Optimizer.ADAMW,
    learning_rate=3e-3,
    clip_norm=0.5,
    ema=0.9,
    schedule=ScheduleSettings(kind="one_cycle"),
)
MLP = MlpModel(hidden=(48, 24))
EVERYTHING = CnnModel(filters=(4,), hidden=(24,), batch_norm=True, dropout=0.2)
FEW = SGD.model_copy(update={"learning_rate": 0.02, "epochs": 1})
RESNET = ResNetModel(filters=(4, 8), blocks=1)
TRANSFORMER = TransformerModel(width=8, heads=2, hidden_units=16, dropout=0.0)
TABLE = TabularModel(hidden=(8, 8), embedding_units=3)
DIGITS = DigitsData(validation_fraction=0.2)
TEXTS = TextData(path="reviews.csv", vocabulary=30, length=9, validation_fraction=0.2)
PRICES = TableData(path="prices.csv", validation_fraction=0.2)
BY_HAND = {"dense_1": 2, "dense_2": 0, "outputs": 1}


def profile(
    training: TrainingSettings,
    model: ModelSettings = MLP,
    placement: object = None,
    data: DataSettings = DIGITS,
    *,
    pipeline: bool = False,
) -> Profile:
    kind = StrategyKind.MODEL_PARALLEL
    return Profile(
        data=data,
        model=model,
        training=training,
        strategy=StrategySettings(kind=kind, placement=placement, pipeline=pipeline),
    )


IN_PARTS = FEW.model_copy(update={"accumulation_steps": 5, "ema": 0.9, "clip_norm": 0.3})
AGAIN = IN_PARTS.model_copy(
    update={"recompute": "blocks", "mixed_precision": True, "half_precision": "float16"}
)
RUNS = {
    "adam, by hand": profile(ADAM, placement=BY_HAND),
    "adam, one device": profile(ADAM),
    "sgd, auto": profile(SGD, placement="auto"),
    "sgd, accumulated": profile(SGD.model_copy(update={"accumulation_steps": 3})),
    "sgd, one device": profile(SGD),
    "sgd, computed again": profile(SGD.model_copy(update={"recompute": "blocks"})),
    "resnet, by hand": profile(FEW, RESNET, {"first": 0, "stage_2_block_1_1": 1, "outputs": 2}),
    "resnet, one device": profile(FEW, RESNET),
    "transformer, auto": profile(FEW, TRANSFORMER, "auto", TEXTS),
    "transformer, one device": profile(FEW, TRANSFORMER, data=TEXTS),
    "table, auto": profile(FEW, TABLE, "auto", PRICES),
    "table, one device": profile(FEW, TABLE, data=PRICES),
    "everything": profile(ADAM.model_copy(update={"mixed_precision": True}), EVERYTHING),
    "in turn": profile(IN_PARTS, EVERYTHING),
    "pipeline": profile(IN_PARTS, EVERYTHING, pipeline=True),
    "computed again in turn": profile(AGAIN, EVERYTHING),
    "computed again in a pipeline": profile(AGAIN, EVERYTHING, pipeline=True),
    "texts in turn": profile(IN_PARTS, TRANSFORMER, "auto", TEXTS),
    "texts in a pipeline": profile(IN_PARTS, TRANSFORMER, "auto", TEXTS, pipeline=True),
}


QUICK = ("adam, by hand", "adam, one device")
FURTHER = (
    *("sgd, auto", "sgd, accumulated", "sgd, computed again", "sgd, one device"),
    *("resnet, by hand", "resnet, one device"),
    *("transformer, auto", "transformer, one device"),
    *("computed again in turn", "computed again in a pipeline"),
    *("texts in turn", "texts in a pipeline"),
)
"""For ``make test-slow``."""


def placed_plan(plan: LaunchPlan) -> LaunchPlan:
    """The plan with three logical CPUs that layers can be placed on."""
    (cpu,) = plan.devices
    return plan.model_copy(
        update={
            "strategy": StrategyKind.MODEL_PARALLEL,
            "devices": (cpu.model_copy(update={"logical_limits_mib": (None, None, None)}),),
            "places": tuple(
                LogicalPlace(device_key="cpu", logical_device=f"/device:CPU:{index}")
                for index in range(3)
            ),
        }
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    """All runs but the further ones; those that are quick by themselves."""

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        return trained(tmp_path_factory.mktemp("placed"), make_run, names)

    return Grouped(train, QUICK, [name for name in RUNS if name not in (*QUICK, *FURTHER)])


def trained(root: Path, make_run: MakeRun, names: Iterable[str]) -> dict[str, RunLayout]:
    layouts = {}
    write_table(root / "reviews.csv", reviews(300), "review,stars")
    write_prices(root / "prices.csv")
    for number, name in enumerate(names):
        one = anchored(RUNS[name], root)
        layouts[name] = make_run(root / f"{number}", one, [64])
        if "one device" not in name:
            plan = placed_plan(cpu_plan(one, [64]))
            layouts[name].plan.write_text(plan.model_dump_json(), encoding="utf-8")
    # One trains as the other, and says where the graph of its first run works.
    program = "placed_graph.py" if "adam, by hand" in layouts else "train_several.py"
    done = run_forked(
        [
            sys.executable,
            str(Path(__file__).with_name(program)),
            *(str(layout.root) for layout in layouts.values()),
            "--as-written",
            *([f"--evaluated={layouts['everything'].root}"] if "everything" in layouts else []),
        ],
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "GPUPANEL_SUPERVISOR_PID": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return layouts


def graph(runs: dict[str, RunLayout]) -> dict[str, Any]:
    """Where the graph of the layers placed by hand works."""
    path = runs["adam, by hand"].root / "graph.json"
    reported: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return reported


def placed(layout: RunLayout) -> tuple[PlacedLayer, ...]:
    (event,) = [event for event in all_events(layout) if isinstance(event, LayersPlaced)]
    return event.layers


@pytest.mark.parametrize(
    ("name", "one_device"),
    [
        ("adam, by hand", "adam, one device"),
        pytest.param("table, auto", "table, one device", marks=pytest.mark.long),
    ],
)
def test_that_placed_layers_learn_what_one_device_learns(
    runs: dict[str, RunLayout], name: str, one_device: str
) -> None:
    assert_alike(runs[one_device], runs[name])


@pytest.mark.slow
def test_that_placed_layers_of_further_runs_learn_what_one_device_learns(
    tmp_path: Path, make_run: MakeRun
) -> None:
    further = trained(tmp_path, make_run, FURTHER)
    for name in ("sgd, auto", "sgd, accumulated", "sgd, computed again"):
        assert_alike(further["sgd, one device"], further[name])
    assert_alike(further["resnet, one device"], further["resnet, by hand"])
    assert_alike(further["transformer, one device"], further["transformer, auto"])

    for one, other in (
        ("computed again in turn", "computed again in a pipeline"),
        ("texts in turn", "texts in a pipeline"),
    ):
        assert_equal_bits(further[one], further[other])


@pytest.mark.long
def test_that_a_pipeline_learns_to_the_bit_what_devices_learn_in_turn(
    runs: dict[str, RunLayout],
) -> None:
    assert_equal_bits(runs["in turn"], runs["pipeline"])


def assert_equal_bits(one: RunLayout, other: RunLayout) -> None:
    before, after = variables(one), variables(other)
    assert before.keys() == after.keys()
    assert [name for name in before if before[name].tobytes() != after[name].tobytes()] == []


@pytest.mark.long
def test_that_devices_of_a_pipeline_are_busy_and_others_wait_for_each_other() -> None:
    in_turn, pipeline = (measured(2, pipelined=pipelined) for pipelined in (False, True))
    assert in_turn["learned"] == pipeline["learned"]
    # Two devices, eight micro-batches: 1.8 s would be ideal, and 3.2 s are in turn.
    assert pipeline["seconds"] < 0.75 * in_turn["seconds"]
    assert (in_turn["held"], pipeline["held"]) == ([1, 1], [2, 1])


def assert_alike(one_device: RunLayout, other: RunLayout) -> None:
    assert furthest(one_device, other) < 1e-5
    assert len({layer.place for layer in placed(other)}) == 3
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    assert last_metrics(other).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)
    assert gradient_norm(other) == pytest.approx(gradient_norm(one_device), rel=1e-5)
    said, alone = (read_validation_history(each).epochs[-1] for each in (other, one_device))
    assert [each.predicted[0].name for each in said.predictions] == [
        each.predicted[0].name for each in alone.predictions
    ]


@pytest.mark.long
def test_that_dropout_normalisation_and_half_precision_work_on_placed_layers(
    runs: dict[str, RunLayout],
) -> None:
    metrics = last_metrics(runs["everything"])
    loss, accuracy = evaluation(runs["everything"])["validation"]

    assert len({layer.place for layer in placed(runs["everything"])}) == 3
    assert metrics.val_accuracy is not None
    assert metrics.val_accuracy > 0.5  # guessing: 0.1
    assert metrics.val_accuracy == pytest.approx(accuracy, abs=0.01)
    assert metrics.val_loss == pytest.approx(loss, rel=0.02)


def test_that_the_places_of_the_layers_are_reported(runs: dict[str, RunLayout]) -> None:
    layers = placed(runs["adam, by hand"])

    assert [(layer.name, layer.place, layer.parameters) for layer in layers] == [
        ("pixels", 2, 0),
        ("flatten", 2, 0),
        ("dense_1", 2, 64 * 48 + 48),
        ("dense_1_relu", 2, 0),
        ("dense_2", 0, 48 * 24 + 24),
        ("dense_2_relu", 0, 0),
        ("outputs", 1, 24 * 10 + 10),
    ]
    assert layers[2].logical_device == "/device:CPU:2"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("adam, by hand", MLP),
        pytest.param("everything", EVERYTHING, marks=pytest.mark.long),
    ],
)
def test_that_layers_have_the_names_that_planning_knows(
    runs: dict[str, RunLayout], name: str, model: ModelSettings
) -> None:
    known = placeable_layers(model, DigitsData())

    assert tuple(layer.name for layer in placed(runs[name])) == known


def test_that_weights_and_what_the_optimizer_keeps_for_them_are_on_one_device(
    runs: dict[str, RunLayout],
) -> None:
    devices = graph(runs)["variables"]

    for name, place in BY_HAND.items():
        of_layer = {path: device for path, device in devices.items() if name in path}
        assert len(of_layer) == 8  # kernel and bias, each with two moments and an average
        assert all(device.endswith(f"CPU:{place}") for device in of_layer.values()), of_layer


def test_that_matrix_products_of_both_directions_are_where_their_layer_is(
    runs: dict[str, RunLayout],
) -> None:
    products = [op for op in graph(runs)["operations"] if op["type"] == "MatMul"]
    by_place = [
        sum(product["device"].endswith(f"CPU:{place}") for product in products)
        for place in range(3)
    ]

    # Two micro-batches, each forward, and backward for the weights and for the inputs.
    assert by_place == [6, 6, 6]
    assert len(products) == 18


def test_that_the_optimizer_calculates_where_the_weight_is(runs: dict[str, RunLayout]) -> None:
    operations = graph(runs)["operations"]
    updates = [op["device"] for op in operations if op["type"] == "ResourceApplyAdam"]

    # Kernel and bias of one layer on each.
    for place in range(3):
        assert sum(device.endswith(f"CPU:{place}") for device in updates) == 2
    # Weight decay and clipping multiply, and micro-batches are added up.
    for shape, place in {(64, 48): 2, (48, 24): 0, (24, 10): 1}.items():
        for kind in ("Mul", "AddV2"):
            devices = [
                op["device"]
                for op in operations
                if op["type"] == kind and tuple(op["size"]) == shape
            ]
            assert devices
            assert all(device.endswith(f"CPU:{place}") for device in devices), devices
