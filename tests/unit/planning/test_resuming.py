"""With what else a run can go on, and what is reported where it cannot."""

import pytest

from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    ImagesData,
    NpzData,
    PythonData,
)
from gpupanel.domain.memory import GrowingMemory, LimitedMemory
from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import DeviceDescription, DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.resuming import changes_between, resume_differences, with_devices_of

STARTED = Profile(
    name="as started",
    devices=DeviceSettings(visible=("GPU-1",)),
    memory={"GPU-1": LimitedMemory(limit_mib=4096)},
    strategy=StrategySettings(kind=StrategyKind.ONE_DEVICE),
    training=TrainingSettings(epochs=3, global_batch_size=64),
)
ELSEWHERE = Profile(
    name="on two",
    devices=DeviceSettings(visible=("GPU-2", "GPU-3")),
    memory={"GPU-2": GrowingMemory()},
    strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
    training=TrainingSettings(
        epochs=9, accumulation_steps=2, mixed_precision=True, checkpoint_every_minutes=5.0
    ),
)


def training(**keys: object) -> Profile:
    return STARTED.model_copy(update={"training": STARTED.training.model_copy(update=keys)})


def test_that_a_run_may_go_on_on_other_devices_with_other_shares() -> None:
    assert resume_differences(STARTED, ELSEWHERE) is None
    assert resume_differences(STARTED, STARTED) is None


def test_that_decoded_examples_may_be_kept_elsewhere() -> None:
    images = STARTED.model_copy(update={"data": ImagesData(path="/data", cache=DataCache.MEMORY)})
    on_disk = images.data.model_copy(update={"cache": DataCache.DISK})
    assert resume_differences(images, images.model_copy(update={"data": on_disk})) is None


def test_that_what_would_make_it_another_training_is_named_key_by_key() -> None:
    other = ELSEWHERE.model_copy(
        update={
            "data": NpzData(path="/data/x.npz"),
            "training": TrainingSettings(seed=8, optimizer=Optimizer.SGD, global_batch_size=32),
        }
    )
    problem = resume_differences(STARTED, other)
    assert problem is not None
    assert problem.code == "resume_does_not_fit"
    for key in ("data.source", "data.path", "training.seed", "training.global_batch_size"):
        assert key in problem.message
    assert "strategy" not in problem.message
    assert "training.seed: 7 in the run, 8 here" in problem.detail
    assert "data.path: not set in the run, /data/x.npz here" in problem.detail
    assert "Give these keys the run's values" in problem.hint


@pytest.mark.parametrize(
    ("update", "key"),
    [
        ({"task": "evaluate"}, "task"),
        ({"model": MlpModel(hidden=(7,))}, "model.hidden"),
        ({"data": DigitsData(validation_fraction=0.5)}, "data.validation_fraction"),
    ],
)
def test_that_one_key_alone_is_named(update: dict[str, object], key: str) -> None:
    problem = resume_differences(STARTED, STARTED.model_copy(update=update))
    assert problem is not None
    assert problem.field == key
    assert f"{key} differs" in problem.message


def test_that_epochs_may_only_grow() -> None:
    assert resume_differences(STARTED, training(epochs=4)) is None
    problem = resume_differences(STARTED, training(epochs=2))
    assert problem is not None
    assert problem.field == "training.epochs"
    assert "not for fewer" in problem.hint


def test_that_what_changes_is_reported_in_the_order_of_the_keys() -> None:
    assert changes_between(STARTED, ELSEWHERE) == (
        Change(path=("name",), value="on two"),
        Change(path=("devices", "visible"), value=["GPU-2", "GPU-3"]),
        Change(path=("memory", "GPU-1"), value=None),
        Change(path=("memory", "GPU-2", "policy"), value="growth"),
        Change(path=("strategy", "kind"), value="mirrored"),
        Change(path=("strategy", "shares"), value=[48, 16]),
        Change(path=("training", "epochs"), value=9),
        Change(path=("training", "accumulation_steps"), value=2),
        Change(path=("training", "mixed_precision"), value=True),
        Change(path=("training", "checkpoint_every_minutes"), value=5.0),
    )


PLACED = STARTED.model_copy(update={"strategy": StrategySettings(placement={"dense": 1})})
PLACED_NOWHERE = STARTED.model_copy(update={"strategy": StrategySettings(placement={})})


@pytest.mark.parametrize("other", [STARTED, ELSEWHERE, PLACED, PLACED_NOWHERE])
def test_that_the_changes_made_to_the_first_give_the_second(other: Profile) -> None:
    for before, after in ((STARTED, other), (other, STARTED), (other, PLACED)):
        changes = changes_between(before, after)
        assert apply_fix(before, Fix(label="Change", changes=changes)) == after


SETS = ImagesData(path="/here", test_path="/here/test")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (ImagesData(path="/there", test_path="/there/test"), None),
        (ImagesData(path="/here", test_path=""), "data.test_path"),
        (SETS.model_copy(update={"validation_path": "/here/more"}), "data.validation_path"),
    ],
)
def test_that_sets_may_be_in_another_place_but_neither_come_nor_go(
    data: ImagesData, field: str | None
) -> None:
    started, moved = (STARTED.model_copy(update={"data": each}) for each in (SETS, data))
    problem = resume_differences(started, moved, may_move_data=True)
    assert (problem and problem.field) == field


NPZ = STARTED.model_copy(update={"data": NpzData(path="/here/x.npz")})


@pytest.mark.parametrize(
    ("data", "barred"),
    [
        (NpzData(path="/there/x.npz"), None),
        (NpzData(path="/there/x.npz", labels="z"), "data.labels"),
        (ImagesData(path="/here/x.npz"), "data.source"),
        (PythonData(path="/there/x.py"), "data.source"),
    ],
)
def test_that_the_same_data_may_be_elsewhere_where_it_is_compared(
    data: DataSettings, barred: str | None
) -> None:
    moved = NPZ.model_copy(update={"data": data})

    problem = resume_differences(NPZ, moved, may_move_data=True)

    assert (None if problem is None else problem.field) == barred
    assert resume_differences(NPZ, moved) is not None


def test_that_code_is_the_runs_own_wherever_it_was_taken_from() -> None:
    here, there = (
        STARTED.model_copy(update={"data": PythonData(path=path)}) for path in ("/a.py", "/b.py")
    )
    problem = resume_differences(here, there, may_move_data=True)
    assert problem is not None
    assert problem.field == "data.path"


def test_that_the_descriptions_of_devices_are_no_change() -> None:
    described = {"GPU-1": DeviceDescription(name="RTX 4090")}
    devices = STARTED.devices.model_copy(update={"described": described})
    assert not changes_between(STARTED, STARTED.model_copy(update={"devices": devices}))


def test_that_a_run_takes_the_devices_of_another_profile_and_stays_the_same_training() -> None:
    other = ELSEWHERE.model_copy(update={"data": NpzData(path="/data/x.npz")})
    moved = with_devices_of(STARTED, other)
    assert resume_differences(STARTED, moved) is None
    assert (moved.devices, moved.memory, moved.strategy) == (
        ELSEWHERE.devices,
        ELSEWHERE.memory,
        ELSEWHERE.strategy,
    )
    assert moved.training == STARTED.training.model_copy(update={"accumulation_steps": 2})
    assert (moved.name, moved.data) == (STARTED.name, STARTED.data)
