"""The exported script is the run: both are carried out, and what they leave is compared."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gpupanel.domain.augmentation import Augmentation, Fill, Flip
from gpupanel.domain.data import (
    DigitsData,
    ImagesData,
    NpzData,
    PythonData,
    TableData,
    Target,
)
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import CnnModel, MlpModel, PythonModel, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import Loss, TrainingSettings
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.models.model_file import recipe_in
from tests.grouped import Grouped, others_long
from tests.sessions.both import Both, carry_out_both
from tests.sessions.material import FEATURES, LABELS, Material

pytestmark = pytest.mark.tensorflow

ROUNDING = 1e-5
SGD = TrainingSettings(
    epochs=2, optimizer=Optimizer.SGD, learning_rate=0.1, momentum=0.9, tensorboard=False
)
BLENDED = Augmentation(mixup=0.4)
CHANGED = Augmentation(
    flip=Flip.BOTH,
    rotate_degrees=20,
    zoom=0.2,
    shift=0.1,
    brightness=0.2,
    contrast=0.2,
    hue=0.1,
    cutout=0.4,
    mixup=0.2,
)
FEW_DIGITS = DigitsData(validation_fraction=0.9)


def changed(**changes: object) -> TrainingSettings:
    return SGD.model_copy(update=changes)


def session(
    kind: StrategyKind, replicas: int, shares: object = "equal", **parts: object
) -> Profile:
    return Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=replicas),
        strategy=StrategySettings(
            kind=kind,
            shares=shares,
            placement=parts.pop("placement", None),
            pipeline=parts.pop("pipeline", False),
            devices_per_replica=parts.pop("devices_per_replica", None),
            optimizer_state=parts.pop("optimizer_state", "replicated"),
        ),
        **{"training": SGD, **parts},
    )


def images_in_sets(material: Material, **changes: object) -> ImagesData:
    """The same three times: each set is read by a line of its own."""
    return ImagesData(
        path=str(material.images),
        validation_path=str(material.images),
        test_path=str(material.images),
        image_size=(6, 5),
        **changes,
    )


TABLE_SESSION = "a table with empty cells, categories and dates"
LABELS_SESSION = "several labels, validated on the test set, micro-batches"
VALUES_SESSION = "several values, in files that stay on disk"
PICTURES_SESSION = "pictures with a validation and a test set"


def chosen_sessions(material: Material) -> dict[str, Profile]:
    """Few, that hold much of what a script could get wrong."""
    mirrored = StrategyKind.MIRRORED
    return {
        # The second batch is a remainder of one: it is taken whole by both, at once.
        "idle replica, remainder of one, micro-batches, clipping, balanced classes": session(
            mirrored,
            3,
            (40, 0, 24),
            data=NpzData(
                path=str(material.columns), class_weights="balanced", augmentation=BLENDED
            ),
            model=MlpModel(hidden=(8,)),
            training=changed(
                accumulation_steps=3, clip_norm=0.3, loss=Loss.FOCAL, label_smoothing=0.1
            ),
        ),
        "Python code, values, early stopping, weights on the host": session(
            StrategyKind.CENTRAL_STORAGE,
            2,
            data=PythonData(path=str(material.values_code), predicts=Target.VALUES),
            model=PythonModel(path=str(material.model_code)),
            training=changed(
                epochs=9,
                # Of 80 examples none are left over: steps of a remainder are traced apart.
                global_batch_size=40,
                learning_rate=0.13,
                validate_every=2,
                early_stopping_patience=2,
                accumulation_steps=2,
                schedule=ScheduleSettings(
                    kind="reduce_on_plateau", factor=0.5, least=0.2, patience_epochs=1
                ),
            ),
        ),
        TABLE_SESSION: session(
            mirrored,
            2,
            (40, 24),
            data=TableData(
                path=str(material.table),
                test_path=str(material.table),
                validation_fraction=0.2,
                stratify=True,
                oversample=True,
            ),
            model=MlpModel(hidden=(8,), batch_norm=True),
            # An epoch is longer than the set: rare classes are repeated.
            training=changed(learning_rate=0.01, schedule=ScheduleSettings(kind="one_cycle")),
        ),
    }


def further_sessions(material: Material) -> dict[str, Profile]:
    """What those do not have, or have beside much else."""
    mirrored, ones = StrategyKind.MIRRORED, StrategyKind.ONE_DEVICE
    return {
        "activations computed again, normalised over two replicas, dropout": session(
            mirrored,
            2,
            (40, 24),
            data=FEW_DIGITS,
            model=CnnModel(filters=(4,), batch_norm=True, dropout=0.2),
            training=changed(recompute="blocks"),
        ),
        "float16 with a scaled loss, micro-batches, clipping, averages": session(
            mirrored,
            2,
            (40, 24),
            data=FEW_DIGITS,
            model=MlpModel(hidden=(8,), batch_norm=True, dropout=0.2),
            training=changed(
                mixed_precision=True,
                half_precision="float16",
                accumulation_steps=2,
                clip_norm=0.3,
                ema=0.75,
            ),
        ),
        PICTURES_SESSION: session(
            mirrored,
            2,
            (11, 5),
            data=images_in_sets(material, cache="none", augmentation=CHANGED),
            model=CnnModel(filters=(4,), batch_norm=True),
            training=changed(global_batch_size=16, learning_rate=0.01),
        ),
        LABELS_SESSION: session(
            mirrored,
            2,
            (40, 24),
            data=NpzData(path=str(material.tags), augmentation=BLENDED),
            model=MlpModel(hidden=(8,)),
            training=changed(accumulation_steps=2, loss=Loss.FOCAL, label_smoothing=0.1),
        ),
        VALUES_SESSION: session(
            mirrored,
            2,
            (40, 24),
            data=NpzData(
                path=str(material.several),
                validation_fraction=0.2,
                cache="none",
                augmentation=BLENDED,
            ),
            model=MlpModel(hidden=(8,)),
            training=changed(
                learning_rate=0.01,
                schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5, least=0.1),
                nesterov=True,
                weight_decay=0.1,
                ema=0.75,
            ),
        ),
        # The third batch is a remainder of five: 3 and 2, in two micro-batches.
        "remainder of five of uneven shares, micro-batches, statistics over replicas": session(
            mirrored,
            2,
            (59, 3),
            data=NpzData(path=str(material.columns), class_weights={"1": 2.5}),
            model=MlpModel(hidden=(8,), batch_norm=True),
            training=changed(global_batch_size=62, accumulation_steps=3, learning_rate=0.01),
        ),
        "XLA, micro-batches, statistics and random numbers of each replica": session(
            mirrored,
            2,
            (46, 24),
            data=NpzData(
                path=str(material.pixels),
                features=FEATURES,
                labels=LABELS,
                augmentation=Augmentation(flip=Flip.VERTICAL, shift=0.2, fill=Fill.ZERO),
            ),
            model=MlpModel(
                hidden=(8,), batch_norm=True, batch_norm_synchronized=False, dropout=0.4
            ),
            # XLA compiles each size of a part for itself: so all batches are full.
            training=changed(
                jit_compile=True, accumulation_steps=2, global_batch_size=70, epochs=5
            ),
        ),
        "pictures in nested and hidden folders, statistics over replicas": session(
            mirrored,
            2,
            (11, 5),
            data=ImagesData(
                path=str(material.images), image_size=(6, 5), cache="none", augmentation=CHANGED
            ),
            model=CnnModel(filters=(4,), batch_norm=True),
            training=changed(global_batch_size=16, learning_rate=0.01),
        ),
        "several values of pictures, in a CSV": session(
            mirrored,
            2,
            (11, 5),
            data=ImagesData(
                path=str(material.images),
                labels_csv=str(material.images / "labels.csv"),
                predicts=Target.VALUES,
                image_size=(6, 5),
                cache="none",
                unreadable_share=0.05,
                validation_fraction=0.2,
            ),
            model=MlpModel(hidden=(4,)),
            training=changed(global_batch_size=16, learning_rate=0.01),
        ),
        "values of a test set that is left for the end": session(
            mirrored,
            2,
            (40, 24),
            data=PythonData(
                path=str(material.values_code), predicts=Target.VALUES, validation_fraction=0.2
            ),
            model=MlpModel(hidden=(8,)),
            training=changed(
                learning_rate=0.01,
                schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5, least=0.1),
                nesterov=True,
                weight_decay=0.1,
                ema=0.75,
                accumulation_steps=2,
            ),
        ),
        "a test set that may be there and is not": session(
            ones,
            1,
            data=PythonData(path=str(material.pixels_code), validation_fraction=0.0),
            model=MlpModel(hidden=(8,)),
            training=changed(
                optimizer=Optimizer.LION, learning_rate=1e-3, beta_2=0.95, weight_decay=0.1
            ),
        ),
        # Its gradient comes as rows, which have to be added up and clipped.
        "an embedding, micro-batches, clipping": session(
            mirrored,
            2,
            (40, 24),
            data=PythonData(path=str(material.pixels_code), validation_fraction=0.1),
            model=PythonModel(path=str(material.embedding_code)),
            training=changed(accumulation_steps=2, clip_norm=0.01),
        ),
        "layers on two devices, AdamW": session(
            StrategyKind.MODEL_PARALLEL,
            2,
            data=FEW_DIGITS,
            model=CnnModel(filters=(3,), hidden=(6,)),
            name='\x00\u202e\'"""\n',
            placement={"dense_1": 1},
            training=changed(
                optimizer=Optimizer.ADAMW,
                learning_rate=1e-3,
                seed=2**31 - 1,
                weight_decay=0.05,
                beta_1=0.8,
                beta_2=0.95,
                ema=0.9,
            ),
        ),
        "the optimizer's state divided, which a script keeps whole": session(
            mirrored,
            3,
            (40, 20, 4),
            data=FEW_DIGITS,
            optimizer_state=(60, 20, 20),
            training=changed(optimizer=Optimizer.ADAM, learning_rate=1e-3, clip_norm=0.5, ema=0.9),
        ),
        "a pipeline over two devices, micro-batches, dropout": session(
            StrategyKind.MODEL_PARALLEL,
            2,
            data=FEW_DIGITS,
            model=CnnModel(filters=(3,), hidden=(6,), batch_norm=True, dropout=0.2),
            placement={"dense_1": 1},
            pipeline=True,
            training=changed(accumulation_steps=4, recompute="blocks"),
        ),
        "two replicas of two devices, a pipeline in each, averages": session(
            StrategyKind.MODEL_PARALLEL,
            4,
            (40, 24),
            data=FEW_DIGITS,
            model=CnnModel(filters=(3,), hidden=(6,), batch_norm=True, dropout=0.2),
            placement={"dense_1": 1},
            pipeline=True,
            devices_per_replica=2,
            training=changed(accumulation_steps=4, ema=0.9, clip_norm=0.5),
        ),
        "two replicas of three devices, placed at the start": session(
            StrategyKind.MODEL_PARALLEL,
            6,
            data=FEW_DIGITS,
            model=MlpModel(hidden=(24, 16)),
            devices_per_replica=3,
        ),
        "one device": session(
            ones,
            1,
            data=FEW_DIGITS,
            training=changed(schedule=ScheduleSettings(kind="step", every_epochs=1, factor=0.3)),
        ),
    }


_NOWHERE = Material(*[Path("/")] * 11)
TRAININGS = list(chosen_sessions(_NOWHERE))
FURTHER = list(further_sessions(_NOWHERE))


@pytest.fixture(scope="module")
def trust_in_code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="module")
def sessions(
    material: Material, trust_in_code: None, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Both]:
    """The first one by itself; a model of the others is evaluated by the child that trained it."""
    root = tmp_path_factory.mktemp("sessions")
    chosen = chosen_sessions(material)
    # The script of a training leaves its model in the folder of that session.
    others = (*TRAININGS[1:], *(f"{task} {TABLE_SESSION}" for task in ("evaluate", "predict")))
    trained = root / "others" / f"{others.index(TABLE_SESSION):03}" / "model.keras"
    evaluated = {"model": SavedModel(path=str(trained))}
    for task, path in (("evaluate", material.table), ("predict", material.rows)):
        chosen[f"{task} {TABLE_SESSION}"] = session(
            StrategyKind.ONE_DEVICE,
            1,
            task=task,
            # The model is not there yet when its script is written, so that nothing is known of it.
            data=TableData(
                path=str(path),
                test_path=str(material.table),
                target="kind",
                predicts=Target.CLASSES,
            ),
            **evaluated,
            inference=InferenceSettings(batch_size=64, examples="all"),
        )

    def carry_out(names: Sequence[str]) -> dict[str, Both]:
        folder = root / ("others" if names is others else "first")
        return carry_out_both(folder, {name: chosen[name] for name in names})

    return Grouped(carry_out, TRAININGS[:1], others)


def assert_trained_alike(both: Both) -> None:
    assert (both.error("run"), both.error("script")) == (None, None)
    assert both.furthest() < ROUNDING
    both.assert_same_epochs()


@pytest.mark.parametrize("name", others_long(TRAININGS, TRAININGS[0]))
def test_that_a_script_ends_with_the_weights_and_measures_of_the_run(
    sessions: dict[str, Both], name: str
) -> None:
    assert_trained_alike(sessions[name])


@pytest.fixture(scope="module")
def further(
    material: Material, trust_in_code: None, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Both]:
    root = tmp_path_factory.mktemp("further")
    chosen = further_sessions(material)
    for name, data in (
        (LABELS_SESSION, NpzData(path=str(material.tags))),
        (VALUES_SESSION, NpzData(path=str(material.several), cache="none")),
    ):
        trained = root / f"{FURTHER.index(name):03}" / "model.keras"
        task = {"data": data, "model": SavedModel(path=str(trained))}
        devices = (StrategyKind.MIRRORED, 2, (50, 14))
        everything = {"inference": InferenceSettings(batch_size=64, examples="all")}
        chosen[f"evaluation of {name}"] = session(*devices, task="evaluate", **task, **everything)
        for output in ("csv", "npz"):
            settings = InferenceSettings(batch_size=64, examples="all", output=output)
            chosen[f"prediction of {name}, {output}"] = session(
                *devices, task="predict", **task, inference=settings
            )
    trained = root / f"{FURTHER.index('one device'):03}" / "model.keras"
    evaluated = {"data": FEW_DIGITS, "model": SavedModel(path=str(trained))}
    validated = InferenceSettings(examples="validation", batch_size=64)
    kept = InferenceSettings(examples="training", batch_size=64, output="csv")
    chosen["evaluation"] = session(
        StrategyKind.ONE_DEVICE, 1, task="evaluate", **evaluated, inference=validated
    )
    chosen["prediction"] = session(
        StrategyKind.ONE_DEVICE, 1, task="predict", **evaluated, inference=kept
    )
    place = FURTHER.index(PICTURES_SESSION)
    chosen["evaluation of a validation set"] = session(
        StrategyKind.MIRRORED,
        2,
        (50, 14),
        task="evaluate",
        data=images_in_sets(material),
        model=SavedModel(path=str(root / f"{place:03}" / "model.keras")),
        inference=InferenceSettings(examples="validation", batch_size=64),
    )
    chosen["prediction on pictures alone"] = session(
        StrategyKind.ONE_DEVICE,
        1,
        task="predict",
        data=ImagesData(path=str(material.images / "b" / "nested" / "deep"), image_size=(6, 5)),
        model=SavedModel(path=str(root / f"{place:03}" / "model.keras")),
        inference=InferenceSettings(batch_size=64, examples="all", output="csv"),
    )
    return carry_out_both(root, chosen)


@pytest.mark.slow
@pytest.mark.parametrize("name", FURTHER)
def test_that_a_script_ends_with_what_further_runs_end_with(
    further: dict[str, Both], name: str
) -> None:
    assert_trained_alike(further[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [LABELS_SESSION, VALUES_SESSION])
def test_that_a_script_evaluates_and_predicts_several_at_once_as_the_run_does(
    further: dict[str, Both], name: str
) -> None:
    evaluated = further[f"evaluation of {name}"]
    assert (evaluated.error("run"), evaluated.error("script")) == (None, None)
    evaluated.assert_same_evaluation()
    for output in ("csv", "npz"):
        both = further[f"prediction of {name}, {output}"]
        assert (both.error("run"), both.error("script")) == (None, None)
        both.assert_same_predictions()


@pytest.mark.long
def test_that_early_stopping_ends_both_after_the_same_epoch(sessions: dict[str, Both]) -> None:
    both = sessions["Python code, values, early stopping, weights on the host"]
    assert 1 < len(both.epochs()) < 9
    assert len(both.printed()) == len(both.epochs())


@pytest.mark.slow
def test_that_a_script_evaluates_and_predicts_as_the_run_does(further: dict[str, Both]) -> None:
    evaluated = further["evaluation of a validation set"]
    predicted = further["prediction on pictures alone"]
    for both in (evaluated, predicted):
        assert (both.error("run"), both.error("script")) == (None, None)
    evaluated.assert_same_evaluation()
    predicted.assert_same_predictions()


@pytest.mark.slow
def test_that_a_script_does_so_with_a_part_of_the_examples(further: dict[str, Both]) -> None:
    evaluated, predicted = further["evaluation"], further["prediction"]
    for both in (evaluated, predicted):
        assert (both.error("run"), both.error("script")) == (None, None)
    evaluated.assert_same_evaluation()
    predicted.assert_same_predictions()


@pytest.mark.long
def test_that_a_table_without_the_target_is_predicted_with_what_training_found(
    sessions: dict[str, Both],
) -> None:
    evaluated, predicted = (sessions[f"{task} {TABLE_SESSION}"] for task in ("evaluate", "predict"))
    for both in (evaluated, predicted):
        assert (both.error("run"), both.error("script")) == (None, None)
    evaluated.assert_same_evaluation()
    predicted.assert_same_predictions()


@pytest.mark.long
def test_that_both_models_of_a_table_say_how_its_features_were_made(
    sessions: dict[str, Both],
) -> None:
    both = sessions[TABLE_SESSION]
    kept = [recipe_in(str(path)) for path in (both.run.model, both.folder / "model.keras")]
    of_run, of_script = map(TableRecipe.model_validate_json, kept)
    # What a person is offered who types a row is kept by runs alone.
    unseen = {"least": None, "greatest": None, "usual": ""}
    features = tuple(each.model_copy(update=unseen) for each in of_run.features)
    assert of_run.model_copy(update={"features": features}) == of_script
    assert [column.name for column in of_run.features] == ["size", "colour", "day"]
