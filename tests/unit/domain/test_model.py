"""What a model says about itself."""

from gpupanel.domain.model import (
    ApplicationModel,
    CnnModel,
    Head,
    Inputs,
    MlpModel,
    Outputs,
    PythonModel,
    SavedModel,
    TransformerModel,
    saved_model,
)


def test_that_statistics_are_those_of_all_replicas_where_nothing_else_is_chosen() -> None:
    for model in (
        MlpModel(),
        CnnModel(),
        ApplicationModel(source="ResNet50"),
        PythonModel(path="model.py"),
    ):
        assert model.synchronizes_batch_norm
        apart = model.model_copy(update={"batch_norm_synchronized": False})
        assert not apart.synchronizes_batch_norm


def test_that_a_saved_model_begins_with_what_it_learned() -> None:
    saved = saved_model("model.keras")
    assert saved.is_saved
    assert saved.synchronizes_batch_norm
    assert saved.begins_with != "none"
    assert not saved.keeps_layers
    assert not TransformerModel().synchronizes_batch_norm
    assert saved.model_copy(update={"frozen_layers": 3}).keeps_layers
    new = saved.model_copy(update={"head": Head.NEW})
    assert [each.has_new_head for each in (MlpModel(), saved, new)] == [False, False, True]


def test_that_weights_that_stand_in_a_file_are_known_from_others() -> None:
    model = ApplicationModel(source="ResNet50")
    assert (model.begins_with, model.weights_path, model.downloads) == ("none", "", ())
    published = model.model_copy(update={"weights": "imagenet"})
    assert published.weights_path == ""
    assert [file.folder for file in published.downloads] == ["models"]
    own = model.model_copy(update={"weights": "/own.h5"})
    assert (own.weights_path, own.downloads, own.lacks_path) == ("/own.h5", (), False)
    assert not MlpModel().keeps_layers
    assert MlpModel().begins_with == "none"


def test_that_a_model_is_the_same_where_all_of_it_learns_at_once() -> None:
    model = ApplicationModel(
        source="ResNet50", weights="/own.h5", frozen_layers=3, fine_tune_from_epoch=4
    )
    assert model.fine_tuning is not None
    whole = model.with_all_learning()
    assert (whole.begins_with, whole.fine_tuning, whole.keeps_layers) == ("none", None, True)
    assert saved_model("m.keras").with_all_learning() == saved_model("m.keras")
    assert MlpModel().with_all_learning() == MlpModel()


def test_that_only_models_from_elsewhere_have_words_of_a_person_about_their_outputs() -> None:
    saved = SavedModel(path="m.keras", outputs=Outputs.LOGITS, class_names=("cat", "dog"))
    assert (saved.chosen_outputs, saved.chosen_class_names) == (Outputs.LOGITS, ("cat", "dog"))
    assert PythonModel(path="m.py", outputs=Outputs.LOGITS).chosen_outputs is Outputs.LOGITS
    assert SavedModel(path="m.keras", inputs=Inputs.DIVIDED).chosen_inputs is Inputs.DIVIDED
    assert MlpModel().chosen_inputs is None
    assert (MlpModel().chosen_outputs, MlpModel().chosen_class_names) == (None, ())
