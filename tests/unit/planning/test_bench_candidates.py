"""What is compared to find the fastest way to train a profile."""

from collections.abc import Sequence
from functools import partial

from gpupanel.domain.bench import BenchDivision
from gpupanel.domain.data import DigitsData, NpzData
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.bench.candidates import (
    Candidates,
    divisions,
    measured_profile,
    variants,
)
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

BOTH = (RTX_4090, RTX_3060)
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)


def on(
    devices: Sequence[PhysicalDevice],
    inventory: DeviceInventory = TWO_UNEQUAL,
    cpu_replicas: int = 1,
    **parts: object,
) -> Candidates:
    visible = tuple(device.key for device in devices)
    settings = DeviceSettings(visible=visible, cpu_replicas=cpu_replicas)
    profile = Profile.model_validate({"devices": settings, **parts})
    return divisions(profile, devices, partial(prepare, inventory=inventory))


def names(found: Candidates) -> list[str]:
    return [each.name for each in found.tried]


def test_that_each_device_is_tried_alone_and_all_in_two_ways() -> None:
    found = on(BOTH, strategy=MIRRORED)
    assert names(found) == [
        "RTX 4090 alone",
        "RTX 3060 alone",
        "all, equal shares",
        "all, balanced",
    ]
    assert found.left_out == ()
    alone, other, equal, balanced = found.tried
    assert [device.key for device in alone.plan.devices] == [RTX_4090.key]
    assert [device.key for device in other.plan.devices] == [RTX_3060.key]
    assert equal.plan.shares == (32, 32)
    assert balanced.plan.balanced
    assert balanced.candidate.replicas == 2


def test_that_a_profile_of_one_device_is_compared_with_all_of_its_devices() -> None:
    found = on(BOTH)
    assert names(found)[2:] == ["all, equal shares", "all, balanced"]
    assert found.tried[2].plan.strategy is StrategyKind.MIRRORED


def test_that_a_division_of_the_profiles_own_is_tried_too() -> None:
    uneven = MIRRORED.model_copy(update={"shares": (48, 16)})
    found = on(BOTH, strategy=uneven)
    assert names(found)[-1] == "as in the profile"
    assert found.tried[-1].plan.shares == (48, 16)
    servers = StrategySettings(kind=StrategyKind.PARAMETER_SERVER)
    found = on(BOTH, strategy=servers)
    assert names(found)[-1] == "as in the profile"
    assert found.tried[-1].plan.strategy is StrategyKind.PARAMETER_SERVER


def test_that_one_device_is_tried_once() -> None:
    for strategy in (StrategySettings(), MIRRORED):
        assert names(on((CPU,), CPU_ONLY, strategy=strategy)) == ["a CPU alone"]


def test_that_replicas_of_one_device_are_tried_against_it_alone() -> None:
    found = on((CPU,), CPU_ONLY, cpu_replicas=2)
    assert names(found) == ["a CPU alone", "2 replicas, equal shares", "2 replicas, balanced"]
    assert found.tried[0].profile.devices.cpu_replicas == 1


def test_that_devices_of_one_name_are_counted() -> None:
    twin = RTX_4090.model_copy(update={"key": "GPU-twin"})
    inventory = DeviceInventory(devices=(RTX_4090, twin, CPU))
    assert names(on((RTX_4090, twin), inventory))[:2] == [
        "RTX 4090 (1) alone",
        "RTX 4090 (2) alone",
    ]


def test_that_what_the_rules_refuse_is_left_out_with_the_reason() -> None:
    too_much = {RTX_3060.key: LimitedMemory(limit_mib=99_000)}
    found = on(BOTH, strategy=MIRRORED, memory=too_much)
    assert names(found) == ["RTX 4090 alone"]
    left = [each.name for each in found.left_out]
    assert left[:3] == ["RTX 3060 alone", "all, equal shares", "all, balanced"]
    assert all(each.problem.is_error for each in found.left_out)
    nobody = on((), TWO_UNEQUAL)
    assert (nobody.tried, nobody.left_out[0].problem.code) == ((), "bench_without_device")


def test_that_xla_and_mixed_precision_are_tried_the_other_way() -> None:
    def tried(**training: bool) -> dict[str, tuple[bool, bool]]:
        profile = Profile(
            devices=DeviceSettings(visible=(RTX_4090.key,)),
            training=TrainingSettings(**training),
        )
        asked = partial(prepare, inventory=TWO_UNEQUAL)
        fastest = divisions(profile, (RTX_4090,), asked).tried[0].candidate
        found = variants(profile, fastest, (RTX_4090,), asked)
        return {
            each.name: (each.profile.training.jit_compile, each.profile.training.mixed_precision)
            for each in found.tried
        }

    assert tried() == {
        "RTX 4090 alone, with XLA": (True, False),
        "RTX 4090 alone, with mixed precision": (False, True),
        "RTX 4090 alone, with XLA and mixed precision": (True, True),
    }
    assert "RTX 4090 alone, without XLA, with mixed precision" in tried(jit_compile=True)
    assert tried(jit_compile=True, mixed_precision=True) == {
        "RTX 4090 alone, without XLA": (False, True),
        "RTX 4090 alone, without mixed precision": (True, False),
        "RTX 4090 alone, without XLA and mixed precision": (False, False),
    }


def test_that_runs_of_candidates_do_nothing_but_steps() -> None:
    training = TrainingSettings(
        checkpoint_every_minutes=1.0, early_stopping_patience=1, max_restarts=3
    )
    data = NpzData(path="/a.npz", validation_path="/b.npz", validation_fraction=0.5)
    measured = measured_profile(Profile(training=training, data=data))
    assert measured.data.validation_fraction == 0.0
    assert not measured.data.has_validation_set
    kept = measured.training
    assert (kept.checkpoint_every_epochs, kept.checkpoint_every_minutes) == (0, None)
    assert (kept.early_stopping_patience, kept.max_restarts, kept.tensorboard) == (None, 0, False)
    assert measured_profile(measured) == measured
    # Two profiles that differ by no more than that are the same.
    assert measured_profile(Profile(data=DigitsData(validation_fraction=0.1))) == measured_profile(
        Profile(data=DigitsData(), training=TrainingSettings(epochs=9))
    )


def test_that_the_fastest_is_used_with_all_else_as_it_was() -> None:
    profile = Profile(
        name="mine",
        devices=DeviceSettings(visible=(RTX_4090.key, RTX_3060.key)),
        training=TrainingSettings(epochs=9, tensorboard=False),
    )
    found = divisions(profile, BOTH, partial(prepare, inventory=TWO_UNEQUAL))
    used = found.tried[-1].candidate.applied(profile)
    assert (used.strategy.kind, used.strategy.shares) == (StrategyKind.MIRRORED, "balanced")
    assert (used.name, used.training, used.data) == ("mine", profile.training, profile.data)
    assert found.tried[-1].candidate.division is BenchDivision.BALANCED


def test_that_no_more_candidates_are_compared_than_a_table_can_hold() -> None:
    many = tuple(RTX_4090.model_copy(update={"key": f"GPU-{number}"}) for number in range(40))
    found = on(many, DeviceInventory(driver="570", devices=(*many, CPU)))
    assert len(found.tried) == 32
    assert {each.problem.code for each in found.left_out} == {"bench_too_many"}
