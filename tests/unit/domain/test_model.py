"""What a model says about itself."""

from gpupanel.domain.model import CnnModel, MlpModel, PythonModel, saved_model


def test_that_a_model_that_is_trained_takes_its_statistics_over_all_replicas_unless_chosen() -> (
    None
):
    for model in (MlpModel(), CnnModel(), PythonModel(path="model.py")):
        assert model.synchronizes_batch_norm
        apart = model.model_copy(update={"batch_norm_synchronized": False})
        assert not apart.synchronizes_batch_norm


def test_that_a_saved_model_synchronises_nothing() -> None:
    assert not saved_model("model.keras").synchronizes_batch_norm
