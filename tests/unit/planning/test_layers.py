import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.planning.layers import ModelLayer, model_layers, places_of, split_evenly


def test_that_every_layer_with_weights_is_listed_in_order():
    layers = model_layers(CnnModel(filters=(32, 64), hidden=(100,), batch_norm=True))
    assert [layer.name for layer in layers] == [
        "convolution_1",
        "convolution_1_norm",
        "convolution_2",
        "convolution_2_norm",
        "dense_1",
        "dense_1_norm",
        "outputs",
    ]
    assert [layer.parameters for layer in layers if "norm" not in layer.name][1:3] == [18432, None]


@pytest.mark.parametrize(
    ("model", "shape", "sizes"),
    [
        (MlpModel(hidden=(128, 64)), (28, 28), [784 * 128 + 128, 128 * 64 + 64, 650]),
        (MlpModel(hidden=(128,), batch_norm=True), (784,), [784 * 128, 4 * 128, 1290]),
        (CnnModel(filters=(32,)), (28, 28), [9 * 32 + 32, 14 * 14 * 32 * 10 + 10]),
        (CnnModel(filters=(8, 4)), (9, 9, 3), [27 * 8 + 8, 72 * 4 + 4, 2 * 2 * 4 * 10 + 10]),
        (CnnModel(filters=(8,)), (), [None, None]),
        (MlpModel(hidden=()), (), [None]),
    ],
)
def test_that_parameters_are_counted_as_far_as_the_data_is_known(model, shape, sizes):
    assert [layer.parameters for layer in model_layers(model, shape, 10)] == sizes


def test_that_an_unknown_number_of_classes_leaves_the_last_layer_unknown():
    assert model_layers(MlpModel(), (64,))[-1].parameters is None


def test_that_a_layer_that_is_not_named_goes_with_the_one_before_it():
    layers = model_layers(MlpModel(hidden=(9, 9, 9)))
    assert places_of(layers, {"dense_2": 1, "outputs": 0}) == (
        ("dense_1", 1),
        ("dense_2", 1),
        ("dense_3", 1),
        ("outputs", 0),
    )
    assert places_of(layers, {"another": 1}) == ()


def test_that_a_split_gives_each_place_about_as_many_parameters():
    layers = model_layers(MlpModel(hidden=(8, 4096, 64, 64)), (8, 8), 10)
    assert split_evenly(layers, 3) == {
        "dense_1": 0,
        "dense_2": 0,
        "dense_3": 1,
        "dense_4": 2,
        "outputs": 2,
    }


def test_that_layers_of_unknown_size_count_alike():
    assert list(split_evenly(model_layers(MlpModel(hidden=(9, 9, 9))), 2).values()) == [0, 0, 1, 1]


@given(st.lists(st.none() | st.integers(1, 10**9), min_size=1, max_size=12), st.integers(1, 12))
def test_that_a_split_goes_forward_and_leaves_no_place_empty_needlessly(sizes, places):
    layers = tuple(
        ModelLayer(name=str(index), what="", parameters=size) for index, size in enumerate(sizes)
    )
    chosen = list(split_evenly(layers, places).values())
    assert chosen == sorted(chosen)
    assert set(chosen) == set(range(min(places, len(layers))))
