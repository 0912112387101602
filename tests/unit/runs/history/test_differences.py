"""What runs were told differently, and only that."""

from pathlib import Path

from gpupanel.domain.data import DigitsData
from gpupanel.domain.energy import DeviceEnergy, RunEnergy
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import CnnModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceDescription, DeviceSettings, Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.history.differences import differences, taken
from gpupanel.runs.history.run_summary import RunSummary
from tests.fakes.devices import CPU_ONLY, RTX_4090, TWO_UNEQUAL

PLAIN = Profile(name="plain")


def found(*profiles: Profile | None) -> dict[str, tuple[str | None, ...]]:
    nothing = [None] * len(profiles)
    return {each.key: each.values for each in differences(profiles, nothing)}


def plan(profile: Profile) -> LaunchPlan:
    prepared = prepare(profile, TWO_UNEQUAL).plan
    assert prepared is not None
    return prepared


def planned(*plans: LaunchPlan | None) -> dict[str, tuple[str | None, ...]]:
    nothing = [None] * len(plans)
    return {each.key: each.values for each in differences(nothing, plans)}


def test_that_equal_profiles_differ_in_nothing():
    assert found(PLAIN, PLAIN.model_copy()) == {}


def test_that_only_what_differs_is_reported_with_its_dotted_key():
    other = PLAIN.model_copy(
        update={
            "training": TrainingSettings(learning_rate=1e-2, jit_compile=True),
            "strategy": StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
        }
    )
    assert found(PLAIN, other, PLAIN) == {
        "strategy.kind": ("one_device", "mirrored", "one_device"),
        "strategy.shares": ("equal", "[48, 16]", "equal"),
        "training.learning_rate": ("0.001", "0.01", "0.001"),
        "training.jit_compile": ("false", "true", "false"),
    }


def test_that_a_key_that_only_one_kind_of_model_has_is_absent_in_the_other():
    convolutions = PLAIN.model_copy(update={"model": CnnModel(filters=(8, 16), hidden=(128,))})
    assert found(PLAIN, convolutions) == {
        "model.source": ("mlp", "cnn"),
        "model.filters": (None, "[8, 16]"),
    }


def test_that_a_key_that_was_left_out_is_absent():
    held_back = PLAIN.model_copy(update={"data": DigitsData(validation_fraction=None)})
    assert found(PLAIN, held_back) == {"data.validation_fraction": ("0.2", None)}


def test_that_keys_which_need_quotes_get_them():
    capped = PLAIN.model_copy(update={"memory": {"GPU 1.2": LimitedMemory(limit_mib=4096)}})
    assert found(PLAIN, capped)['memory."GPU 1.2".limit_mib'] == (None, "4096")


def test_that_what_a_device_was_called_is_no_difference():
    described = DeviceSettings(described={"GPU-1": DeviceDescription(name="RTX 4090")})
    assert found(PLAIN, PLAIN.model_copy(update={"devices": described})) == {}


def test_that_a_profile_that_cannot_be_read_makes_no_difference_and_is_absent_in_others():
    assert found(PLAIN, None) == {}
    renamed = PLAIN.model_copy(update={"name": "another"})
    assert found(PLAIN, None, renamed) == {"name": ("plain", None, "another")}


def test_that_devices_and_shares_of_the_plans_are_reported():
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))
    both = plan(PLAIN.model_copy(update={"strategy": mirrored}))
    one = plan(PLAIN.model_copy(update={"devices": DeviceSettings(visible=("GPU-4090",))}))
    assert planned(both, one, None) == {
        "plan.devices": ("RTX 4090, RTX 3060", "RTX 4090", None),
        "plan.shares": ("48 + 16", "64", None),
    }


def test_that_two_devices_of_one_name_are_distinguished_by_their_keys():
    first = plan(PLAIN.model_copy(update={"devices": DeviceSettings(visible=("GPU-4090",))}))
    device = first.devices[0].model_copy(update={"key": "GPU-other"})
    other = first.model_copy(update={"devices": (device,)})
    assert planned(first, other) == {
        "plan.devices": (f"RTX 4090 ({RTX_4090.key})", "RTX 4090 (GPU-other)")
    }


def test_that_workers_that_take_whole_batches_are_counted():
    def served(workers: int) -> LaunchPlan:
        strategy = StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=workers)
        prepared = prepare(PLAIN.model_copy(update={"strategy": strategy}), CPU_ONLY).plan
        assert prepared is not None
        return prepared

    assert planned(served(2), served(3)) == {"plan.workers": ("2", "3")}


def test_that_what_runs_took_is_compared_where_any_of_them_knows_it():
    spent = TimeSpent(
        seconds=10.0,
        host_s=1.0,
        replicas=(ReplicaTime(computing_s=7.0, waiting_for_data_s=2.0),),
    )
    device = DeviceEnergy(device_key="GPU-a", watt_hours=3.0, measured_by="power")
    measured = RunSummary(
        name="a",
        path=Path("a"),
        profile_name="a",
        time_spent=spent,
        energy=RunEnergy(devices=(device,), epochs=2),
    )
    older = RunSummary(name="b", path=Path("b"), profile_name="b")
    rows = {each.key: each.values for each in taken([measured, older])}
    assert rows["time.computing"] == ("70 %", None)
    assert rows["time.waiting_for_data"] == ("20 %", None)
    assert rows["energy.watt_hours"] == ("3.00 Wh", None)
    assert rows["energy.per_epoch"] == ("1.50 Wh", None)
    assert "energy.per_million_examples" not in rows
    assert taken([older, older]) == ()


def test_that_programs_differ_in_what_they_are_given_and_in_nothing_else():
    first = Profile(name="a", task="script", script=ScriptSettings(path="/a.py"))
    second = Profile(
        name="a", task="script", script=ScriptSettings(path="/a.py", arguments=("--x",))
    )
    on_one = first.model_copy(update={"devices": DeviceSettings(visible=(RTX_4090.key,))})
    assert found(first, second) == {"script.arguments": ("[]", '["--x"]')}
    planned_both = differences((first, on_one), (plan(first), plan(on_one)))
    assert {each.key for each in planned_both} == {"devices.visible", "plan.devices"}
