"""How scripts build residual networks, transformers and networks for tables.

That they train as the runs do is seen in ``tests/sessions/test_scripts_of_networks.py``.
"""

from gpupanel.domain.data import DataSettings, DigitsData, TableData, TextData, WineData
from gpupanel.domain.model import ModelSettings, ResNetModel, TabularModel, TransformerModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY

TEXTS = TextData(path="/texts", vocabulary=1000, length=50, predicts="classes")
TABLE = TableData(
    path="/t.csv",
    target="price",
    predicts="values",
    numbers=("size",),
    categories=("city",),
    dates=(),
)


def exported(model: ModelSettings, data: DataSettings, replicas: int = 1) -> str:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=replicas),
        strategy=StrategySettings(
            kind=StrategyKind.MIRRORED if replicas > 1 else StrategyKind.ONE_DEVICE
        ),
        data=data,
        model=model,
    )
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = stand_alone_script(profile, plan)
    compile(text, "script.py", "exec")
    return text


def test_that_a_residual_network_is_built_stage_by_stage() -> None:
    text = exported(ResNetModel(filters=(8, 16), blocks=3), DigitsData())
    assert "hidden = residual_network(hidden, [8, 16], 3)" in text
    assert "prepare_batch_norms(model, across_replicas=False)" in text
    assert "Dropout" not in text


def test_that_statistics_of_several_replicas_are_those_of_the_whole_batch() -> None:
    model = ResNetModel(dropout=0.25)
    text = exported(model, DigitsData(), replicas=2)
    assert "prepare_batch_norms(model, across_replicas=True)" in text
    assert 'Dropout(0.25, name="dropout")' in text
    alone = model.model_copy(update={"batch_norm_synchronized": False})
    assert "across_replicas=False)" in exported(alone, DigitsData(), replicas=2)


def test_that_a_transformer_is_built_block_by_block() -> None:
    text = exported(TransformerModel(width=10, heads=4, blocks=3, dropout=0.1), TEXTS)
    sizes = ("words=1000", "width=10", "heads=4", "units_of_head=2", "blocks=3", "dropout=0.1")
    assert [size for size in sizes if f"    {size},\n" not in text] == []
    assert "hidden = transformer(inputs, size)" in text
    assert "NORMS" not in text


def test_that_a_head_is_never_without_numbers() -> None:
    assert TransformerModel(width=2, heads=8).units_of_head == 1


def test_that_categories_become_numbers_that_are_learned() -> None:
    text = exported(TabularModel(hidden=(8,)), TABLE)
    assert "min(600, round(1.6 * width**0.56))" in text
    assert 'Dense(8, name="dense_1")' in text
    assert "norm" not in text.partition("keras.utils.set_random_seed")[2].partition("optimizer")[0]
    chosen = exported(TabularModel(hidden=(8,), embedding_units=5), TABLE)
    assert "embedded_columns(hidden, categories, lambda width: 5)" in chosen


def test_that_a_table_without_categories_goes_straight_to_the_dense_layers() -> None:
    text = exported(TabularModel(batch_norm=True, dropout=0.5), WineData(), replicas=2)
    assert "embedded_columns" not in text
    assert 'BatchNormalization(momentum=0.9, name="dense_2_norm")' in text
    assert "prepare_batch_norms(model, across_replicas=True)" in text
    assert 'Dropout(0.5, name="dense_1_dropout")' in text


def test_that_the_numbers_for_a_category_follow_from_how_many_there_are() -> None:
    assert [TabularModel().units_of(count) for count in (1, 2, 10, 100, 10**6)] == [
        2,
        2,
        6,
        21,
        600,
    ]
    assert TabularModel(embedding_units=3).units_of(100) == 3
