"""Every profile that may start is a script that Python reads."""

import ast
import symtable

import pytest

from gpupanel.domain.data import DataSettings, DigitsData, ImagesData, KerasData, NpzData
from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings, SavedModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import Optimizer, TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY

EVERY_SOURCE: list[DataSettings] = [
    DigitsData(validation_fraction=0.25, shuffle=False),
    DigitsData(),
    KerasData(source="mnist"),
    KerasData(source="cifar10", validation_fraction=0.1),
    KerasData(source="imdb"),
    KerasData(source="boston_housing"),
    NpzData(path="/data/it's.npz", class_count=7),
    NpzData(path="/data/x.npz"),
    ImagesData(path="/data/images"),
    ImagesData(path="/data/images", color="grayscale", image_size=(32, 48)),
]


def script(**parts: object) -> str:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
        **parts,
    )
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = stand_alone_script(profile, plan)
    ast.parse(text)
    return text


def names_used_and_bound(text: str) -> tuple[set[str], set[str]]:
    module = symtable.symtable(text, "script", "exec")
    used = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_referenced()}
    bound = {
        symbol.get_name()
        for symbol in module.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    return used, bound


@pytest.mark.parametrize("data", EVERY_SOURCE, ids=repr)
def test_that_every_source_makes_a_script_whose_names_are_all_bound(data: DataSettings) -> None:
    used, bound = names_used_and_bound(script(data=data))
    assert used - bound <= set(dir(__builtins__)) | set(__builtins__)


@pytest.mark.parametrize(
    "model",
    [
        MlpModel(hidden=(32, 16), dropout=0.5, batch_norm=True),
        CnnModel(filters=(8, 16), hidden=(32,), dropout=0.5, batch_norm=True),
        CnnModel(dropout=0.25),
    ],
    ids=repr,
)
def test_that_every_layer_of_a_model_is_in_the_script(model: MlpModel | CnnModel) -> None:
    text = script(model=model)
    for units in model.hidden:
        assert f"Dense({units})" in text
    assert f"Dropout({model.dropout})" in text
    assert ("BatchNormalization" in text) is model.batch_norm


@pytest.mark.parametrize("optimizer", Optimizer)
def test_that_training_settings_are_in_the_script(optimizer: Optimizer) -> None:
    training = TrainingSettings(
        optimizer=optimizer,
        learning_rate=0.125,
        accumulation_steps=2,
        mixed_precision=True,
        early_stopping_patience=4,
        momentum=0.5,
        jit_compile=True,
    )
    text = script(training=training)
    assert "(0.125" in text
    assert ("momentum=0.5" in text) is (optimizer in (Optimizer.SGD, Optimizer.RMSPROP))
    assert "PARTS = 3, 64, [48, 16], 2" in text
    assert "mixed_bfloat16" in text
    assert "waited >= 4" in text


def test_that_xla_is_used_on_one_device() -> None:
    profile = Profile(training=TrainingSettings(jit_compile=True))
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    assert "jit_compile=True" in stand_alone_script(profile, plan)


def test_that_a_name_cannot_break_out_of_the_scripts_first_line() -> None:
    text = script(name='"""; import os; os.remove("x")  # \\')
    assert isinstance(ast.parse(text).body[0], ast.Expr)
    assert "os.remove" not in ast.unparse(ast.parse(text).body[1:3])


def test_that_a_clipped_gradient_is_that_of_the_whole_batch() -> None:
    text = script(training=TrainingSettings(clip_norm=0.5))
    summed, clipped = (
        text.index("context.all_reduce"),
        text.index("clip_by_global_norm(whole, 0.5)"),
    )
    assert summed < clipped < text.index("optimizer.apply")
    assert "clip_by_global_norm" not in script()


@pytest.mark.parametrize("synchronized", [True, False])
def test_that_the_script_normalises_batches_as_the_run_does(*, synchronized: bool) -> None:
    text = script(model=CnnModel(batch_norm=True, batch_norm_synchronized=synchronized))
    assert f"BatchNormalization(synchronized={synchronized})" in text


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        (StrategyKind.MULTI_WORKER, MlpModel()),
        (StrategyKind.ONE_DEVICE, SavedModel(path="model.keras")),
    ],
)
def test_that_a_run_that_is_more_than_a_script_is_not_exported(
    kind: StrategyKind, model: ModelSettings
) -> None:
    profile = Profile(strategy=StrategySettings(kind=kind))
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    with pytest.raises(ProblemError) as refused:
        stand_alone_script(profile.model_copy(update={"model": model}), plan)
    assert refused.value.problems[0].code == "export_not_available"
