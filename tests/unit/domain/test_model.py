"""What a model says about itself."""

from gpupanel.domain.model import CnnModel, MlpModel, PythonModel, saved_model


def test_that_statistics_are_those_of_all_replicas_where_nothing_else_is_chosen() -> None:
    for model in (MlpModel(), CnnModel(), PythonModel(path="model.py")):
        assert model.synchronizes_batch_norm
        apart = model.model_copy(update={"batch_norm_synchronized": False})
        assert not apart.synchronizes_batch_norm


def test_that_a_saved_model_synchronises_nothing() -> None:
    assert not saved_model("model.keras").synchronizes_batch_norm
